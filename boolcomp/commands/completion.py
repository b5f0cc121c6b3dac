"""`boolcomp completion`: the script by which a shell completes commands, options and values."""

from __future__ import annotations

import click

from boolcomp.base.errors import UsageError, listing, shown, suggestion
from boolcomp.commands.group import SHELLS, script
from boolcomp.commands.options import json_option, print_json

WHERE = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/boolcomp.fish",
}


@click.command("completion", epilog="Example: boolcomp completion bash >> ~/.bashrc")
@click.argument("shell")
@json_option
def command(shell: str, *, as_json: bool) -> None:
    """Print what SHELL (bash, zsh, fish) must read to complete boolcomp's commands.

    In bash and zsh put `eval "$(boolcomp completion SHELL)"` into ~/.bashrc or ~/.zshrc; in fish
    write it to ~/.config/fish/completions/boolcomp.fish. Names of robots, functions, targets and
    the like are completed, too.
    """
    if shell not in SHELLS:
        hint = suggestion(shell, SHELLS)
        raise UsageError(f"shell {shown(shell)}{hint}: shells are {listing(SHELLS)}")
    text = script(shell)
    if as_json:
        print_json({"shell": shell, "script": text, "where": WHERE[shell]})
    else:
        click.echo(text, nl=False)
