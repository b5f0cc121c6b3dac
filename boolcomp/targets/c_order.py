"""In which order a procedure's steps stand in C: each just before it is read, outputs one by one.

So few values live at a time, and few registers are saved. Sums that are kept loose are added up
part by part, what a part reads before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.targets.expressions import Name, Wrapped
from boolcomp.targets.procedure import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.targets.expressions import Expression
    from boolcomp.targets.procedure import Procedure, Step


@dataclass(frozen=True, slots=True)
class Statement:
    """A step, a part of its sum (`part`, counted from 0), or an output by its place."""

    step: Step | None = None
    part: int | None = None
    output: int | None = None


def statements(procedure: Procedure) -> list[Statement]:
    """Return the statements of a procedure, in order."""
    steps = {step.name: step for step in procedure.steps}
    done: set[str] = set()
    found: list[Statement] = []

    def before(value: Expression) -> None:
        for name in _names(value):
            if name in steps and name not in done:
                done.add(name)
                make(steps[name])

    def make(step: Step) -> None:
        if step.loose and isinstance(step.value, Wrapped):
            for k, (_, part) in enumerate(step.value.parts):
                before(part)
                found.append(Statement(step, part=k))
            return
        before(step.value)
        found.append(Statement(step))

    for k, made in enumerate(procedure.outputs):
        for one in (*made.saturated, *made.rests):
            before(one.of)
        before(made.word)
        found.append(Statement(output=k))
    return found


def _names(value: Expression) -> Iterator[str]:
    """Yield the names that an expression reads, as they stand in it."""
    if isinstance(value, Name):
        yield value.name
    for part in parts_of(value):
        yield from _names(part)
