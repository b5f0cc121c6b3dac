"""`boolcomp completion`: a script for shell completion of commands, options and values."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from boolcomp.base.errors import require_name
from boolcomp.commands.group import VARIABLE, cli
from boolcomp.commands.options import completes, json_option, print_result

WHERE = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/boolcomp.fish"}


@click.command("completion", epilog="Example: boolcomp completion bash >> ~/.bashrc")
@click.argument("shell", shell_complete=completes("bash zsh fish"))
@json_option
def command(shell: str) -> None:
    """Print the completion script of SHELL (bash, zsh, fish).

    For bash and zsh put `eval "$(boolcomp completion SHELL)"` into ~/.bashrc or ~/.zshrc; for fish
    write it to ~/.config/fish/completions/boolcomp.fish. Commands, options and values such as names
    of robots, functions and targets are completed.
    """
    require_name("shell", shell, WHERE)
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 (click has these shells)
    # The method of the base class: the method for bash runs bash to find its version.
    text = ShellComplete.source(kind(cli, {}, "boolcomp", VARIABLE))
    document = {"shell": shell, "script": text, "where": WHERE[shell]}
    print_result(document, text.removesuffix("\n"), file=True)
