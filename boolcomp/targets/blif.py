"""BLIF: one `.names` a node, one signal a bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic.blif import render_netlist
from boolcomp.targets.netlists import netlist_of

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options


def export(program: Program, load: float | None, options: Options) -> Files:
    """Return a program as BLIF."""
    del options
    netlist, comments = netlist_of(program, load)
    head = "".join(f"# {line}\n" for line in comments)
    return {f"{netlist.name}.blif": head + render_netlist(netlist)}
