"""`boolcomp paper`: the method of the 1988 paper, in commands without options of compact mode."""

from __future__ import annotations

import functools
from copy import copy
from typing import TYPE_CHECKING

from boolcomp.commands import GROUPS
from boolcomp.commands.group import LazyGroup
from boolcomp.options import HEADINGS, OPTIONS

if TYPE_CHECKING:
    import click

ABOUT = {
    "plan": "",
    "compile": "Compile ROBOT (its inverse dynamics, or another function of it) to AND/OR product "
    "terms.\n\nThe truth table of every term is minimised. Errors are sampled, the largest error "
    "is searched, and a bound is proved where possible. Covers in the store are reused.",
}


def in_mode(command: click.Command, mode: str, about: str, *unused: str) -> click.Command:
    """Return a command in one mode, without its `unused` options and those of the other mode."""
    from boolcomp.commands.options import LongHelp

    made = copy(command)
    assert isinstance(made, LongHelp) and command.callback is not None  # noqa: S101, PT018 (these)
    made.help, made.also, made.without = about or command.help, HEADINGS["plan"], ""
    other = {"mode", *unused, *(x for x, one in OPTIONS.items() if one.mode not in ("", mode))}
    made.params = [one for one in command.params if one.name not in other]
    made.callback = functools.partial(command.callback, mode=mode)
    return made


class PaperGroup(LazyGroup):
    """The commands of the 1988 method: those of the same names with --mode paper."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command in paper mode, without the options that this mode refuses."""
        from boolcomp.commands.plan import COMPACT

        command = super().get_command(ctx, cmd_name)
        if command is None:
            return None
        made = copy(command)
        if cmd_name in ABOUT:
            unused = (*COMPACT, "store") if cmd_name == "plan" else ()
            made = in_mode(command, "paper", ABOUT[cmd_name], *unused)
        made.epilog = (command.epilog or "").replace("boolcomp ", "boolcomp paper ")
        return made


command = PaperGroup(
    "paper",
    groups={"Commands": {**GROUPS[""], "compile": "Minimise the truth tables to a program."}},
    help="Apply the method of the 1988 paper: every term of a torque becomes a truth table.",
    epilog="Example: boolcomp paper plan machado-2r --bits 8",
)
