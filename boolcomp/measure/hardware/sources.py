"""Verilog that is to be placed: a module of ports, and a frame of registers around it.

A chip has too few pins for all ports, and a clock is only known between registers. So a shift
register brings the inputs, and another takes the outputs away: every path through the module
begins and ends at a flip-flop beside it, also that of its first stage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.targets import Options, export_texts
from boolcomp.targets.gates import gates_of
from boolcomp.targets.target import design_of
from boolcomp.targets.verilog import VERILOG_SYNTAX

if TYPE_CHECKING:
    from boolcomp.program.program import Program

FRAME = "boolcomp_frame"


@dataclass(frozen=True, slots=True)
class Source:
    """A module in Verilog: its text, its ports (name, bits), its stages (0: no clock)."""

    name: str
    text: str
    top: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    stages: int = 0


def source_of(program: Program, load: float | None, level: str, stages: int, luts: int) -> Source:
    """Return a program's Verilog at a level: gates, luts (mapped by us) or words."""
    design = design_of(program, load)
    if level == "luts":
        options = Options("gates", stages, luts=luts)
    else:
        options = Options("words" if level == "words" else "gates", stages)
    ((file, text),) = export_texts(program, "verilog", load, options).items()
    gates = gates_of(design, VERILOG_SYNTAX, 0)
    name = level if not stages else f"{level}, {stages} stages"
    inputs, outputs = (
        tuple((pin.name, pin.port.bits) for pin in pins) for pins in (gates.inputs, gates.outputs)
    )
    return Source(name, str(text), file.removesuffix(".v"), inputs, outputs, stages)


def framed(source: Source) -> str:
    """Return a module with four pins around a source: a clock, bits in, a strobe, bits out."""
    given, made = (sum(bits for _, bits in ports) for ports in (source.inputs, source.outputs))
    wires = [*_slices("given", source.inputs), *_slices("made", source.outputs)]
    if source.stages:
        wires += [".clock(clock)", ".enable(1'b1)", ".valid_in(1'b1)", ".valid_out()"]
    return "\n".join([
        f"module {FRAME} (input wire clock, input wire bit_in, input wire take,",
        "    output wire bit_out);",
        f"    reg [{given - 1}:0] given;",
        f"    wire [{made - 1}:0] made;",
        f"    reg [{made - 1}:0] taken, out;",
        f"    {source.top} core ({', '.join(wires)});",
        "    always @(posedge clock) begin",
        f"        given <= {{given{f'[{given - 2}:0]' if given > 1 else ''}, bit_in}};"
        if given > 1 else "        given <= bit_in;",
        "        taken <= made;",
        f"        out <= take ? taken : {{out[{made - 2}:0], 1'b0}};"
        if made > 1 else "        out <= taken;",
        "    end",
        f"    assign bit_out = out[{made - 1}];",
        "endmodule", "",
    ])  # fmt: skip


def _slices(name: str, ports: tuple[tuple[str, int], ...]) -> list[str]:
    place, found = 0, []
    for port, bits in ports:
        found.append(f".{port}({name}[{place + bits - 1}:{place}])")
        place += bits
    return found
