"""How much of long work is done: stages with expected shares, one fraction that never decreases."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Course:
    """Stages in the order in which they run, each with the work that is expected of it.

    Stages may be left out, and may come back: the fraction of all work then waits. What is told of
    a stage that nobody expected changes nothing.
    """

    def __init__(self, expected: Mapping[str, float]) -> None:
        whole = sum(expected.values())
        ends = list(accumulate(expected.values()))
        pairs = zip(expected, [0.0, *ends], ends, strict=False)
        self._spans = {name: (start / whole, end / whole) for name, start, end in pairs}
        self._done = 0.0

    def at(self, stage: str, part: float) -> float:
        """Return the fraction of all work that is done where a part of a stage is done."""
        start, end = self._spans.get(stage, (self._done, self._done))
        reached = start + min(1.0, max(0.0, part)) * (end - start)
        self._done = max(self._done, reached)
        return self._done


def seconds_left(passed: float, fraction: float) -> float:
    """Return how long work will go on that has come so far, at the pace until now."""
    return passed * (1 / fraction - 1)
