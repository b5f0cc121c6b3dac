"""A program's logic as a netlist, its bits named as Verilog names them: `q1[9]`.

So tools that compare by name find the same names in all exports of a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic.netlist import Netlist
from boolcomp.targets.gates import bits_of, gates_of, header
from boolcomp.targets.target import design_of
from boolcomp.targets.verilog import VERILOG_SYNTAX

if TYPE_CHECKING:
    from boolcomp.program.program import Program


def netlist_of(program: Program, load: float | None) -> tuple[Netlist, list[str]]:
    """Return the netlist of a program, and the comments on it."""
    design = design_of(program, load)
    gates = gates_of(design, VERILOG_SYNTAX, 0)
    names = [
        tuple(bit for pin in pins for bit in bits_of(pin, VERILOG_SYNTAX.bit))
        for pins in (gates.inputs, gates.outputs)
    ]
    return Netlist(gates.module, names[0], names[1], design.network), header(design, gates)
