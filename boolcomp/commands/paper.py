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
    "plan": "Print Fig. 1 of the 1988 paper for ROBOT: range, width and input words of every term."
    "\n\nIf a term is too wide for a table, the plan is printed, and then an error message names "
    "the term (exit code 1).",
    "compile": "Compile ROBOT (its inverse dynamics, or another function of it) to AND/OR product "
    "terms.\n\nThe truth table of every term is minimised. Errors are sampled, the largest error "
    "is searched, and a bound is proved where possible. Covers in the store are reused. With "
    "several payloads the program has one network per payload, and evaluate --payload selects one.",
}


class PaperGroup(LazyGroup):
    """The commands of the 1988 method: those of the same names with --mode paper."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command in paper mode, without the options that this mode refuses."""
        from boolcomp.commands.options import LongHelp
        from boolcomp.commands.plan import COMPACT

        command = super().get_command(ctx, cmd_name)
        if command is None:
            return None
        made = copy(command)
        made.epilog = (command.epilog or "").replace("boolcomp ", "boolcomp paper ")
        if isinstance(made, LongHelp) and command.callback is not None:
            unused = {"mode", *(name for name, one in OPTIONS.items() if one.mode == "compact")}
            unused |= {*COMPACT, "store"} if cmd_name == "plan" else set()
            made.help, made.also = ABOUT[cmd_name], HEADINGS["plan"]
            made.params = [one for one in command.params if one.name not in unused]
            made.callback = functools.partial(command.callback, mode="paper")
        return made


command = PaperGroup(
    "paper",
    groups={"Commands": {**GROUPS[""], "compile": "Minimise the truth tables to a program."}},
    help="Apply the method of the 1988 paper: every term of a torque becomes a truth table.",
    epilog="Example: boolcomp paper plan machado-2r --bits 8",
)
