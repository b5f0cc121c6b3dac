"""What a plan's tables err by, as far as anybody looked: on random states, and where climbing led.

Arithmetic that does what the logic does stands for it (`quantised`); of tables whose rounding is
free, what their covers say. Nothing here is proved; `bounds` is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.shared import Shared
from boolcomp.common.workers import ALONE
from boolcomp.paper.quantised import NOTHING, finest_codes, quantised
from boolcomp.program.parts import KnownErrors
from boolcomp.proof.worst import DIGITS, Subject, axes_of, find_worst

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.common.workers import Workers
    from boolcomp.paper.plan import Plan
    from boolcomp.paper.quantised import Said

    Floats = NDArray[np.float64]

SAMPLES, SEED, BLOCK = 100_000, 0x1988, 1 << 14
EVALUATIONS = 1_000_000  # that seek the worst error


def plan_subject(plan: Plan, said: Said = NOTHING) -> Subject:
    """Return what a plan's tables give, by arithmetic, as what is searched for its worst error."""
    codes = tuple(output.word for output in plan.outputs)
    axes = axes_of(plan.problem, finest_codes(plan))
    return Subject(plan.problem, axes, codes, PlanLogic(plan, said))


@dataclass(frozen=True, slots=True, eq=False)
class PlanLogic:
    """What a plan's tables give, as the logic of a subject."""

    plan: Plan
    said: Said

    def __call__(self, *arrays: Floats) -> Floats:
        """Return outputs in their units."""
        return quantised(self.plan, arrays, self.said).values


def known_errors(
    plan: Plan, evaluations: int | None = None, workers: Workers = ALONE, said: Said = NOTHING,
    *, told: Callable[[float], None] = lambda _: None,
) -> tuple[KnownErrors, ...]:  # fmt: skip
    """Return every output's errors in its unit; the worst is sought with so many evaluations.

    None is as many as is usual, 0 that it is not sought. An exact output beyond its word counts as
    the nearest that the word can say, in both. `told` is which part of the search is done.
    """
    subject = plan_subject(plan, said)
    given = Shared(subject)
    squares, most = np.zeros(len(plan.outputs)), np.zeros(len(plan.outputs))
    calls = [(given, place) for place in range(0, SAMPLES, BLOCK)]
    for square, largest in workers.in_order(_block, calls):
        squares += square
        most = np.maximum(most, largest)
    rms = np.round(np.sqrt(squares / SAMPLES), DIGITS)
    worst: list[float | None] = [None] * len(plan.outputs)
    searched = EVALUATIONS if evaluations is None else evaluations
    if searched:
        found = find_worst(subject, searched, workers=workers, told=told)
        worst = np.maximum(found.most, most).tolist()
    steps = [output.word.step for output in plan.outputs]
    return tuple(
        KnownErrors(float(r) * step, float(m) * step, None if w is None else w * step)
        for r, m, w, step in zip(rms, most, worst, steps, strict=True)
    )


def _block(subject: Subject, place: int) -> tuple[Floats, Floats]:
    """Return sums of squares and the largest errors of a block of states (what a worker does)."""
    drawn = subject.problem.draw(min(BLOCK, SAMPLES - place), SEED + place)
    found = subject.errors(np.concatenate(drawn, axis=1))
    return (found**2).sum(axis=0), np.abs(found).max(axis=0)
