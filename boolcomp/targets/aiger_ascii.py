"""AIGER as text, with symbols; what every word stands for is its comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic.aiger import render_ascii
from boolcomp.targets.netlists import netlist_of

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options


def export_aiger_ascii(program: Program, load: float | None, options: Options) -> Files:
    """Return a program as AIGER text."""
    del options
    netlist, comments = netlist_of(program, load)
    return {f"{netlist.name}.aag": render_ascii(netlist, comments)}
