"""The parts of a heap as they were at a look before: only those whose widths have changed are new.

A sum may have a hundred addends, and a search asks for it again after every change of one width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Knob = tuple[int, str]
    Key = bytes  # the widths that a sum depends on, as 16-bit numbers


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """An addend in a heap: nodes, variance of what it discards, noise, bits by column."""

    cost: float
    lost: float
    noise: Floats
    first: int
    counts: tuple[int, ...]


class Remembered:
    """The parts of one sum: those of the last look, and what they add up to."""

    def __init__(self, knobs: Sequence[Knob], addends: Sequence[Sequence[Knob]], rows: int) -> None:
        """Take the widths that a sum depends on, in order, and those of every addend."""
        places: dict[Knob, list[int]] = {knob: [] for knob in knobs}
        for k, own in enumerate(addends):
            for knob in own:
                places[knob].append(k)
        self._addends = [tuple(places[knob]) for knob in knobs]
        self._key: Key = b""
        self._parts: list[Contribution] = []
        self._noise = np.zeros((len(addends) + 1, rows))
        self._counts: list[int] = []

    def update(self, key: Key, size: int, make: Callable[[int], Contribution]) -> None:
        """Bring the parts to new widths; `make` makes the part of an addend."""
        if size != len(self._counts):
            self._counts = [0] * size
            self._parts = [make(k) for k in range(len(self._noise) - 1)]
            for k, part in enumerate(self._parts):
                self._noise[k + 1] = part.noise
                self._count(part, 1)
        else:
            now, then = np.frombuffer(key, np.int16), np.frombuffer(self._key, np.int16)
            moved = np.flatnonzero(now != then).tolist()
            for k in {k for i in moved for k in self._addends[i]}:
                old, new = self._parts[k], make(k)
                if new is not old:
                    self._count(old, -1)
                    self._count(new, 1)
                    self._parts[k], self._noise[k + 1] = new, new.noise
        self._key = key

    def _count(self, part: Contribution, sign: int) -> None:
        counts = self._counts
        for column, number in enumerate(part.counts, part.first):
            counts[column] += sign * number

    def total(self) -> tuple[float, float, Floats, list[int]]:
        """Return nodes, discarded variance, noise and bits by column, added up in their order."""
        cost, lost = 0.0, 0.0
        for part in self._parts:
            cost, lost = cost + part.cost, lost + part.lost
        # As a loop adds, one after the other: pairwise sums would differ in the last place.
        noise = np.add.accumulate(self._noise, axis=0)[-1]
        return cost, lost, noise, list(self._counts)
