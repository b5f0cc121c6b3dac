"""What a program says of itself: its words, and what its outputs err by, each figure by its kind.

`rms` and `sampled_max` are of random states: they happened. `worst_found` is what a search found:
it can happen. `bound` is proved: nothing exceeds it. See docs/proof.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import short, short_above, table
from boolcomp.common.errors import listing
from boolcomp.program.parts import NOT_USEFUL, over_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.codes import Answer
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.parts import CodedInput, CodedOutput
    from boolcomp.program.program import Program

KINDS = ("rms", "sampled_max", "worst_found", "bound")
HEADER = ("LSB", "in", "rms", "sampled max", "worst found", "bound")


def described(program: Program, source: Robot | Problem, of: str) -> dict[str, Any]:
    """Return the words of a program, as `--json` tells of them, and which function it is."""
    return {
        "of": "function" if hasattr(source, "reference") else of,
        "inputs": [_word(one) for one in program.inputs],
        "outputs": [
            {**_word(one), "payload": load.payload, **figures(one), **noted(one)}
            for load in program.loads
            for one in load.outputs
        ],
    }


def figures(output: CodedOutput) -> dict[str, float | None]:
    """Return an output's LSB and what it errs by, in its unit; None is what nobody knows."""
    known = output.errors
    return {
        "lsb": output.code.step,
        "rms": None if known is None else known.rms,
        "sampled_max": None if known is None else known.sampled_max,
        "worst_found": None if known is None else known.worst_found,
        "bound": None if output.bound_note else output.bound,
        "bound_over_found": over_found(output.bound, known.worst_found if known else None),
    }


def noted(output: CodedOutput) -> dict[str, Any]:
    """Return how tight an output's bound is, or why there is none to show."""
    note = output.bound_note
    return {"grade": None if note else output.grade or None, "bound_note": note or None}


def answered(output: CodedOutput, answer: Answer) -> dict[str, Any]:
    """Return the figures of an output of which answers of a type were given.

    `rounding` is by how much these may be off beyond the bound.
    """
    return {
        "name": output.name, "unit": output.unit, **figures(output),
        "rounding": output.code.rounding(answer),
    }  # fmt: skip


def over_loads(program: Program) -> list[dict[str, float | None]]:
    """Return the figures of every output, each the largest of all loads."""
    known = program.errors
    return [
        figures(replace(output, bound=bound, errors=known.get(output.name)))
        for output, bound in zip(program.outputs, program.bound, strict=True)
    ]


def in_steps(found: dict[str, float | None]) -> dict[str, float | None]:
    """Return figures in LSB, under keys that say so."""
    lsb = found["lsb"] or 1.0
    values = {kind: found[kind] for kind in KINDS}
    return {f"{kind}_lsb": None if x is None else x / lsb for kind, x in values.items()}


def error_table(outputs: Sequence[CodedOutput], what: str, *, steps: bool) -> str:
    """Return outputs' errors as a table in their units, and in LSB where `steps` are wanted."""
    rows = []
    for output in outputs:
        found = figures(output)
        note, unit = output.bound_note, output.unit or "–"
        rows.append([output.symbol, short(output.code.step), unit, *_row(found, note)])
        if steps:
            values = in_steps(found)
            own = {kind: values[f"{kind}_lsb"] for kind in KINDS}
            rows.append(["", "", "LSB", *_row(own, note)])
    return table((what, *HEADER), rows, left=(0, 2))


def _row(found: dict[str, float | None], note: str) -> list[str]:
    unknown = {"worst_found": "not sought", "bound": note if note == NOT_USEFUL else "none"}
    return [
        unknown.get(kind, "-") if (value := found[kind]) is None
        else (short_above if kind == "bound" else short)(value, 4)
        for kind in KINDS
    ]  # fmt: skip


def promised(outputs: Sequence[CodedOutput], answer: Answer = "float64") -> str:
    """Say in a sentence what no error exceeds; of what is not proved what was found, if anything.

    It is of states within range. Of float32 answers their rounding is named.
    """
    proved, found = [], []
    for one in outputs:
        unit = f" {one.unit}" if one.unit else ""
        worst = None if one.errors is None else one.errors.worst_found
        if not one.bound_note:
            lsb = short_above(one.bound / one.code.step, 4)
            proved.append(f"{one.symbol} {short_above(one.bound, 4)}{unit} ({lsb} LSB)")
        elif worst is not None:
            lsb = short(worst / one.code.step, 4)
            found.append(f"{one.symbol} {short(worst, 4)}{unit} ({lsb} LSB)")
        else:
            found.append(f"{one.symbol} not sought")
    parts = [f"no error exceeds {listing(proved)}, proved"] if proved else []
    parts += [f"worst error found: {listing(found)}, not proved"] if found else []
    if answer == "float32":
        more = [
            f"{one.symbol} {short_above(one.code.rounding(answer), 2)} {one.unit}".rstrip()
            for one in outputs
        ]
        parts.append(f"rounding to float32 adds at most {listing(more)}")
    return "; ".join(parts)


def _word(one: CodedInput | CodedOutput) -> dict[str, Any]:
    code = one.code
    ends = [code.range.low, code.range.high]
    return {
        "name": one.name, "bits": code.bits, "code": code.kind, "range": ends, "unit": one.unit,
        "zero": "tread" if code.tread else "rise",
    }  # fmt: skip
