"""BLIF: one `.names` a node, one signal a bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic.formats import render_logic
from boolcomp.targets.mapped import mapping_of
from boolcomp.targets.netlists import netlist_of
from boolcomp.targets.target import design_of

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options


def export_blif(program: Program, load: float | None, options: Options) -> Files:
    """Return a program as BLIF."""
    netlist, comments = netlist_of(program, load)
    logic, notes = mapping_of(design_of(program, load), options)
    head = "".join(f"# {line}\n" for line in (*notes, *comments))
    text = render_logic(logic, netlist.name, netlist.inputs, netlist.outputs)
    return {f"{netlist.name}.blif": head + text}
