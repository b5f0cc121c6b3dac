"""All cells of some angles: the words of what depends on them alone, and waves at their corners."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import PLACES
from boolcomp.proof.bound.waves import waves_at
from boolcomp.words.graph import InputWord, reads
from boolcomp.words.simulate import node_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.expansion import Series
    from boolcomp.words.graph import WordGraph

    Words = NDArray[np.int64]

BLOCK = 1 << 17  # cells at a time


@dataclass(frozen=True, slots=True, eq=False)
class Turning:
    """An angle: its meaning, its node, the words that it may have, and 2^places cells a turn."""

    meaning: int
    node: int
    words: Words
    places: int


@dataclass(frozen=True, slots=True, eq=False)
class LookedUp:
    """A wave: how often it holds every angle, and its values at all places of a turn."""

    often: tuple[int, ...]
    values: Words


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """A way through all cells of some angles; numbers count 2^-scale."""

    graph: WordGraph
    angles: tuple[Turning, ...]
    scale: int

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return int(np.prod([len(one.words) for one in self.angles], dtype=np.int64))

    @property
    def corners(self) -> list[tuple[int, ...]]:
        """The corners of a cell: at every angle the lower or the upper end."""
        return list(itertools.product((0, 1), repeat=len(self.angles)))

    def blocks(self) -> Iterator[list[Words]]:
        """Yield the words of the angles at all cells, some rows of the first at a time."""
        if not self.angles:
            yield []
            return
        first, *rest = (one.words for one in self.angles)
        size = max(1, BLOCK // max(1, self.cells // len(first)))
        for k in range(0, len(first), size):
            grid = np.meshgrid(first[k : k + size], *rest, indexing="ij")
            yield [axis.reshape(-1) for axis in grid]

    def values(self, block: Sequence[Words], nodes: Sequence[int]) -> list[Words]:
        """Return the words of nodes that depend on these angles alone, in their order."""
        values = [np.zeros(_count(block), np.int64)] * len(self.graph.nodes)
        for one, words in zip(self.angles, block, strict=True):
            values[one.node] = words
        for place in nodes:
            if not isinstance(self.graph.nodes[place], InputWord):
                values[place] = node_word(self.graph, place, values)[0]
        return values

    def waves(self, series: Series, scale: Fraction) -> list[LookedUp]:
        """Return the waves of a series times a number: each less than two units too low or high."""
        places = 1 << max([3, *(one.places for one in self.angles)])
        ks, step = np.arange(places, dtype=object), Fraction(1, places)
        found = []
        for angle, (a, b) in series.items():
            turns = dict(angle)
            part = (1 if angle else 0, a.times(scale), b.times(scale))
            values = waves_at([part], Fraction(0), step, ks).values >> (PLACES - self.scale)
            often = tuple(turns.get(one.meaning, 0) for one in self.angles)
            found.append(LookedUp(often, values.astype(np.int64)))
        return found

    def exact(
        self, waves: Sequence[LookedUp], block: Sequence[Words], corner: Sequence[int]
    ) -> Words:
        """Return a series at a corner of every cell."""
        total = np.zeros(_count(block), np.int64)
        for wave in waves:
            index, places = np.zeros(len(total), np.int64), len(wave.values)
            listed = zip(self.angles, block, corner, wave.often, strict=True)
            for one, words, side, times in listed:
                if times:
                    index += times * ((words + side) * (places >> one.places) - places // 2)
            total += wave.values[index & (places - 1)]
        return total


def _count(block: Sequence[Words]) -> int:
    return len(block[0]) if block else 1


def ancestors(graph: WordGraph, nodes: Sequence[int]) -> list[int]:
    """Return nodes and all that they read, in their order."""
    waiting, found = list(nodes), set[int]()
    while waiting:
        k = waiting.pop()
        if k not in found:
            found.add(k)
            waiting += reads(graph.nodes[k])
    return sorted(found)


def shape_of(whole: Sweep, cells: int) -> tuple[int, ...]:
    """Return the rows of the first angle and the cells of the others."""
    if not whole.angles:
        return (1,)
    others = [len(one.words) for one in whole.angles[1:]]
    return (cells // int(np.prod(others, dtype=np.int64)), *others)


def part_of_rows(
    whole: Sweep, sweep: Sweep, errors: Words, row: int, shape: tuple[int, ...]
) -> Words:
    """Return what a group errs by at some rows of the first angle, to be added to all of them."""
    sizes = [len(one.words) if one in sweep.angles else 1 for one in whole.angles] or [1]
    grid = errors.reshape(sizes)
    return grid[row : row + shape[0]] if sizes[0] > 1 else grid
