"""Writes the section `origin`: a robot or a function, and what was asked (see `checker.origin`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from boolcomp.compact.sketch.poly import quantities
from boolcomp.problem.functions import USUAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boolcomp.compact.sketch.poly import Quantity
    from boolcomp.problem.problem import Input, Problem
    from boolcomp.proof.certificate.known import Known

_ROBOT = re.compile(r"(?:([^\n]+) of\n)?(name = .*?)(?:\nword [^\n]*)*", re.DOTALL)


def origin_section(known: Known) -> str:
    """Return the lines of a section."""
    payload = known.program.loads[known.place].payload
    return origin_text(known.compact.problem, known.compact.demand.input_bits, payload)


def origin_text(problem: Problem, bits: Mapping[str, int], payload: float = 0.0) -> str:
    """Return the section of a problem whose inputs have so many bits, of a load in kg."""
    words = quantities(problem, bits)
    lines = [
        *_robot(problem, payload),
        *(_input(one, words) for one in problem.inputs),
        *_problem_steps(problem),
    ]
    return "".join(f"{line}\n" for line in lines)


def _robot(problem: Problem, payload: float) -> Iterator[str]:
    """Yield the name of a function of a robot, what is at its tip, and its file without that."""
    if found := _ROBOT.fullmatch(problem.key):
        yield f"function {found[1] or USUAL}"
        yield f"payload {payload!r}"
        text = problem.unloaded or found[2]
        yield from (f"| {line}".rstrip() for line in text.rstrip("\n").splitlines())


def _problem_steps(problem: Problem) -> Iterator[str]:
    """Yield the steps of a function that a user wrote, and which of them are outputs."""
    if problem.recorded is not None:
        for step in problem.recorded.nodes[len(problem.inputs) :]:
            value = [repr(float(step.value))] if step.kind == "constant" else [step.kind]
            yield " ".join(["step", *value, *map(str, step.operands)])
        yield from (f"output {one.name} {one.node}" for one in problem.recorded.outputs)


def _input(one: Input, words: Mapping[str, Quantity]) -> str:
    """Return where an input may be, and its word: what its cells divide, and how many they are."""
    parts = [f"input {one.name} {one.range.low!r} {one.range.high!r}{' angle' * one.angle}"]
    if one.name in words:
        word = words[one.name]
        parts.append(f"word {word.range.low!r} {word.range.high!r} {word.bits}")
        parts.append("of all" if word.part is None else f"of {word.part}")
        parts += ["wraps"] * word.wraps + ["exact"] * word.exact
    return " ".join(parts)
