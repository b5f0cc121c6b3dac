"""How much of long work is done: stages with expected work, one fraction that never decreases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MOSTLY = 0.9  # of the work that is left is counted before an estimate of the time is worth saying


class Course:
    """Stages in the order in which they run, each with the work that is expected of it.

    Stages may be left out, and may come back: the fraction of all work then waits. What is told of
    a stage that nobody expected changes nothing. Expectations may change on the way (`expect`): the
    fraction then goes on from where it is, at another pace. Work is a guess unless it is `counted`.
    """

    def __init__(
        self, expected: Mapping[str, float], counted: Collection[str] | None = None
    ) -> None:
        self._work = dict(expected)
        self._counted = set(self._work if counted is None else counted)
        self._stages = list(self._work)
        self._stage, self._part = 0, 0.0
        self._done = 0.0  # work of stages that have run
        self.fraction = 0.0

    def expect(self, work: Mapping[str, float], guessed: Collection[str] = ()) -> None:
        """Take counted work, or better guesses, in place of what was expected of some stages."""
        known = {name: one for name, one in work.items() if name in self._work}
        self._work.update(known)
        self._counted.update(known.keys() - set(guessed))

    def at(self, stage: str, part: float) -> float:
        """Return the fraction of all work that is done where a part of a stage is done."""
        place = self._stages.index(stage) if stage in self._work else -1
        part = min(1.0, max(0.0, part))
        if (place, part) <= (self._stage, self._part):
            return self.fraction
        gained = part * self._work[stage]
        if place > self._stage:  # the one before is over, and those between were left out
            gained += (1 - self._part) * self._work[self._stages[self._stage]]
        else:
            gained -= self._part * self._work[stage]
        self._stage, self._part = place, part
        self._done += gained
        rest = self._rest()
        self.fraction = 1 - (1 - self.fraction) * (rest / (rest + gained) if rest else 0.0)
        return self.fraction

    @property
    def left(self) -> float:
        """The work that is left, in terms of what is done; infinite while little of it is known."""
        rest = self._rest()
        counted = self._rest(self._counted)
        return rest / self._done if self._done and counted >= MOSTLY * rest else math.inf

    def _rest(self, some: Collection[str] | None = None) -> float:
        """Return the work that is left in all stages, or some."""
        left = {name: self._work[name] for name in self._stages[self._stage :]}
        left[self._stages[self._stage]] *= 1 - self._part
        return sum(work for name, work in left.items() if some is None or name in some)
