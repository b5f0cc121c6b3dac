"""A program as a small table of HTML, for notebooks."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from boolcomp.common.text import number, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.program.parts import CodedInput, CodedOutput
    from boolcomp.program.program import Program

INPUTS = ("input", "range", "unit", "bits", "code")
OUTPUTS = ("output", "range", "unit", "bits", "LSB", "rms", "sampled max", "worst found", "bound")


def html_of(program: Program) -> str:
    """Return name, mode, inputs, outputs with what is known of their errors, and size."""
    networks = [program.network(payload) for payload in program.payloads]
    loads = ", ".join(map(number, program.payloads))
    head = f"{program.bits} bits, {program.mode} mode, loads of {loads} kg"
    nodes = ", ".join(str(len(network.nodes)) for network in networks)
    size = f"{nodes} nodes of at most three inputs, depth {max(x.depth for x in networks)}"
    return (
        f"<div><b>{escape(program.name)}</b>: {escape(f'{head}; {size}')}"
        f"{_table(INPUTS, [_input(word) for word in program.inputs])}"
        f"{_table(OUTPUTS, [_output(output, program) for output in program.outputs])}</div>"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _input(word: CodedInput) -> list[str]:
    code = word.code
    kind = f"{code.kind}{', wraps' * code.wraps}{', a cell at zero' * code.tread}"
    return [word.name, str(code.range), word.unit, str(code.bits), kind]


def _output(output: CodedOutput, program: Program) -> list[str]:
    found = program.errors.get(output.name)
    known = ["", "", ""] if found is None else [found.rms, found.sampled_max, found.worst_found]
    bound = short(output.bound) if math.isfinite(output.bound) else ""
    return [
        output.name, str(output.code.range), output.unit, str(output.code.bits),
        number(output.code.step), *(x if isinstance(x, str) else short(x) for x in known), bound,
    ]  # fmt: skip
