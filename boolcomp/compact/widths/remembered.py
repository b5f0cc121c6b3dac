"""Widths as arrays, and the parts of a heap as they were at a look before: only changes are new.

A sum may have a hundred addends, and a search asks for it again after every change of one width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from boolcomp.compact.sketch.variables import WidthVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Key = bytes  # the widths that a sum depends on, as 16-bit numbers


_T = TypeVar("_T")
MOST_RESULTS = 100_000
ABSENT = -1000  # stands for a width that is not there


class Settings(dict[WidthVariable, int]):
    """Widths that are also an array, in an order given: many of them make a key at once."""

    __slots__ = ("array", "order")

    def __init__(
        self, widths: Mapping[WidthVariable, int], order: Mapping[WidthVariable, int]
    ) -> None:
        super().__init__(widths)
        self.order = order
        self.array: NDArray[np.int16] = np.full(len(order), ABSENT, np.int16)
        for variable, value in widths.items():
            if variable in order:
                self.array[order[variable]] = value

    def __setitem__(self, variable: WidthVariable, value: int) -> None:
        super().__setitem__(variable, value)
        if variable in self.order:
            self.array[self.order[variable]] = value

    def update(self, widths: Mapping[WidthVariable, int]) -> None:  # type: ignore[override]
        """Set some widths."""
        for variable, value in widths.items():
            self[variable] = value

    def copy(self) -> Settings:
        """Return widths that change apart from these."""
        made = Settings.__new__(Settings)
        dict.update(made, self)
        made.order, made.array = self.order, self.array.copy()
        return made


class Bounded(dict[tuple[int | None, ...], _T]):
    """Results by the widths that they depend on; all are forgotten when there are too many."""

    __slots__ = ()

    def __setitem__(self, key: tuple[int | None, ...], value: _T) -> None:
        if len(self) >= MOST_RESULTS:
            self.clear()
        super().__setitem__(key, value)


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """An addend in a heap: nodes, discarded variance in steps², noise, bits by column."""

    cost: float
    lost: float
    noise: Floats
    first: int
    counts: tuple[int, ...]


class Remembered:
    """The parts of one sum: those of the last look, and what they add up to."""

    def __init__(
        self,
        variables: Sequence[WidthVariable],
        addends: Sequence[Sequence[WidthVariable]],
        rows: int,
    ) -> None:
        """Take the widths that a sum depends on, in order, and those of every addend."""
        places: dict[WidthVariable, list[int]] = {variable: [] for variable in variables}
        for k, own in enumerate(addends):
            for variable in own:
                places[variable].append(k)
        self._addends = [tuple(places[variable]) for variable in variables]
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
