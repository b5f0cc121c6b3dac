"""All cells of some angles: words there, and waves at their corners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.errors.parts import word_of
from boolcomp.checker.spans import PLACES, waves_at
from boolcomp.checker.steps import NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from boolcomp.checker.errors.expand import Series
    from boolcomp.words.graph import WordGraph

    Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class AngleWord:
    """An angle: its word, the values that it may have, and 2^places cells in a turn."""

    name: str
    word: int
    at: Words
    places: int


def sweep(graph: WordGraph, angles: Sequence[AngleWord], nodes: Iterable[int]) -> dict[int, Words]:
    """Return words at all cells of some angles, side by side."""
    grid = np.meshgrid(*(one.at for one in angles), indexing="ij")
    words = {one.word: axis.reshape(-1) for one, axis in zip(angles, grid, strict=True)}
    for k in nodes:
        if k not in words:
            words[k] = word_of(graph, k, words)
    return words


class Corners:
    """A series times a number at corners of cells, in 2^-scale: at most `error` too low."""

    def __init__(
        self, series: Series, factor: Fraction, angles: Sequence[AngleWord], scale: int
    ) -> None:
        self.angles, self.places = angles, max([3, *(one.places for one in angles)])
        gone = PLACES - self.places
        at = np.array([k << gone for k in range(1 << self.places)], object)
        self.tables: list[tuple[list[int], Words]] = []
        self.error = 0
        for turned, (a, b) in series.items():
            if turned and turned[0][1] < 0:
                continue  # its conjugate counts twice
            often, times = dict(turned), factor * (2 if turned else 1)
            if set(often) - {one.name for one in angles}:
                raise NotCoveredError("an angle has no word")
            found = waves_at([(1 if turned else 0, a.times(times), b.times(times))], at)
            low = found.low >> (PLACES - scale)
            self.error += int(np.max((found.high >> (PLACES - scale)) + 1 - low))
            self.tables.append(([often.get(one.name, 0) for one in angles], low.astype(np.int64)))

    def at(self, words: Mapping[int, Words], corner: Sequence[int]) -> Words:
        """Return the values at a corner of every cell."""
        total, mask = np.zeros(1, np.int64), (1 << self.places) - 1
        for often, table in self.tables:
            index = np.zeros(1, np.int64)
            for one, side, k in zip(self.angles, corner, often, strict=True):
                place = (words[one.word] + side) << (self.places - one.places)
                index = index + k * (place - (1 << self.places >> 1))
            total = total + table[index & mask]
        return total
