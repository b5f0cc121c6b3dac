"""A program as a small table of HTML, for notebooks."""

from __future__ import annotations

from dataclasses import astuple, replace
from html import escape
from typing import TYPE_CHECKING

from boolcomp.base.errors import mass_text, number, short, short_above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.program.parts import CodedInput
    from boolcomp.program.program import Program

INPUTS = ("input", "range", "unit", "bits", "code")
OUTPUTS = ("output", "range", "unit", "bits", "LSB", "rms", "sampled max", "worst found", "bound")
NOTE = (
    "rms and sampled max are of random states, worst found is what a search found, bound is proved"
)


def html_of(program: Program) -> str:
    """Return name, mode, inputs, outputs with what is known of their errors, and size."""
    networks = [program.network(payload) for payload in program.payloads]
    loads = ", ".join(map(mass_text, program.payloads))
    head = f"{program.bits} bits, {program.mode} mode, loads of {loads} kg"
    nodes = ", ".join(str(len(network.nodes)) for network in networks)
    size = f"{nodes} nodes of at most three inputs, depth {max(x.depth for x in networks)}"
    return (
        f"<div><b>{escape(program.name)}</b>: {escape(f'{head}; {size}')}"
        f"{_table(INPUTS, [_input(word) for word in program.inputs])}"
        f"{_table(OUTPUTS, [_output_cells(k, program) for k in range(len(program.outputs))])}"
        f"<div>{NOTE}</div></div>"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _input(word: CodedInput) -> list[str]:
    code = word.code
    kind = f"{code.kind}{', wraps' * code.wraps}{', a cell at zero' * code.tread}"
    return [word.name, str(code.range), word.unit or "–", str(code.bits), kind]


def _output_cells(place: int, program: Program) -> list[str]:
    """Return the cells of an output; errors are the largest of all loads."""
    bound = program.bound[place]
    output = replace(program.outputs[place], bound=bound)
    found, step = program.errors.get(output.name), output.code.step
    measured = [None, None, None] if found is None else [*astuple(found)]
    missing = ("not measured", "not measured", "not sought")
    known = [
        none if value is None else f"{short(value, 4)} ({short(value / step, 3)} LSB)"
        for value, none in zip(measured, missing, strict=True)
    ]
    proved = f"{short_above(bound, 4)} ({short_above(bound / step, 3)} LSB)"
    return [
        output.name, str(output.code.range), output.unit or "–", str(output.code.bits),
        number(step), *known, output.bound_note or proved,
    ]  # fmt: skip
