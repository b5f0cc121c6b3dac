"""Which cells go to a worker together.

A task costs its scheduler and its client time, whatever it does (docs/cluster.md): many workers
with small tasks would wait for them. So cells that are known to be small go together, the more the
more workers there are. A cell of which nothing is known goes alone, and so does one that was lost
with its workers in the company of others: it may be what ended them.

The longest come first, so that in the end nobody waits for a long one that was begun last.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.scale.sweep_spec import Cell
    from boolcomp.sweep.estimate import Costs

LEAST = 1.0  # seconds that a task is to take
RATE = 100  # tasks a second that a scheduler is to see at most: a tenth of what it can do
TAIL = 4  # tasks for every worker are to be left, as long as there are so many cells


class Batches:
    """The cells that are left, by their places: taken batch by batch."""

    def __init__(self, cells: Sequence[Cell], places: Iterable[int], costs: Costs) -> None:
        self._cells, self._costs = cells, costs
        self._alone: deque[int] = deque()
        self._left = deque(sorted(places, key=self._rank))

    def _rank(self, place: int) -> tuple[bool, float]:
        """Order first what nothing is known of, as others may be like it; then the longest."""
        cell = self._cells[place]
        seconds = self._costs.of(cell)
        if seconds is None:
            return False, -cell.bits * len(cell.payloads)
        return True, -seconds

    def __bool__(self) -> bool:
        return bool(self._alone or self._left)

    def take(self, workers: int) -> tuple[int, ...]:
        """Return the places of the next batch, for one of so many workers."""
        if self._alone:
            return (self._alone.popleft(),)
        room = max(LEAST, workers / RATE)
        most = math.ceil(len(self._left) / (TAIL * workers))
        batch: list[int] = []
        while self._left and len(batch) < most:
            seconds = self._costs.of(self._cells[self._left[0]])
            room -= math.inf if seconds is None else seconds
            if batch and room < 0:
                break
            batch.append(self._left.popleft())
        return tuple(batch)

    def again(self, places: Iterable[int]) -> None:
        """Put back what was lost in company: each goes alone now."""
        self._alone.extend(places)
