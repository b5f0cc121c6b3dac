"""That heaps have bits enough: no sum is larger or smaller than its word can say.

A heap is looked at for all words of its inputs at once, then for halves of them, and so on, until
ranges of words alone show that its sum fits (`wordranges.py`), or too many boxes were looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.inputs import cells_reached
from boolcomp.proof.bound.known import given_line
from boolcomp.proof.bound.meaning import GivenWord
from boolcomp.proof.bound.wordranges import Range, WordRanges
from boolcomp.words.graph import Heap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.proof.bound.result import Bounds

    Words = NDArray[np.int64]

BOXES = 1 << 13  # at a time
LOOKED_AT = 32  # boxes that say which input is halved
CALL = 1000  # boxes that take as long as it takes to begin
USUAL = 10  # million words of boxes that are looked at of a heap: a third of a second
ALL = 4  # times as many of all heaps
HEAPS = 20  # of a tight bound's effort the part that heaps get


class Boxes(NamedTuple):
    """Ranges of the inputs' words, (inputs, boxes)."""

    low: Words
    high: Words

    def some(self, which: Words) -> Boxes:
        """Return some of the boxes."""
        return Boxes(self.low[:, which], self.high[:, which])

    def halved(self, axis: int) -> Boxes:
        """Return both halves of every box along an input; a single word is kept once."""
        middle = (self.low[axis] + self.high[axis]) >> 1
        more = middle < self.high[axis]
        low, high = self.low[:, more].copy(), self.high.copy()
        low[axis], high[axis] = middle[more] + 1, middle
        return Boxes(
            np.concatenate([self.low, low], axis=1),
            np.concatenate([high, self.high[:, more]], axis=1),
        )


def input_words(explained: Explained) -> dict[int, tuple[int, int]]:
    """Return the first and the last word that every input may have."""
    graph = explained.graph
    found = {k: (0, (1 << node.bits) - 1) for k, node in enumerate(graph.inputs)}
    for one in explained.meanings:
        if isinstance(one, GivenWord) and one.word is not None:
            found[one.word] = cells_reached(given_line(graph, one), one)
    return found


def without_overflow(explained: Explained, bounds: Bounds, effort: int = USUAL) -> Bounds:
    """Return bounds of which all heaps are proved that are so with some effort.

    The others are still named: what is proved holds while none of these overflows. `effort` is
    million words of boxes, of every heap; of all together `ALL` times as many.
    """
    words, left = input_words(explained), effort * ALL * 1_000_000
    unproved = []
    for place in bounds.unproved:
        search = Search(explained, place, words, min(left, effort * 1_000_000))
        if not search.fits():
            unproved.append(place)
        left -= search.spent
    return replace(bounds, unproved=tuple(unproved))


class Search:
    """A search for boxes of which ranges do not show that a heap's sum fits."""

    def __init__(
        self, explained: Explained, place: int, words: Mapping[int, tuple[int, int]], effort: int
    ) -> None:
        heap = explained.graph.nodes[place]
        if not isinstance(heap, Heap):
            raise TypeError(f"word {place} is no heap")
        self.ranges = WordRanges(explained.graph, place, explained.booked)
        self.most = (1 << heap.bits) - 1
        self.words, self.effort, self.spent = words, effort, 0

    def fits(self) -> bool:
        """Tell whether a heap is proved to hold every sum there can be."""
        ends = np.array([self.words[k] for k in self.ranges.inputs], np.int64).reshape(-1, 2, 1)
        waiting = [Boxes(ends[:, 0], ends[:, 1])]
        while waiting:
            boxes = waiting.pop()
            boxes = boxes.some(np.flatnonzero(self._above(boxes) > 0))
            if not boxes.low.shape[1]:
                continue
            if self.spent > self.effort or (boxes.low == boxes.high).all(axis=0).any():
                return False  # a box of single words overflows
            halves = boxes.halved(self._axis(boxes))
            count = halves.low.shape[1]
            waiting += [
                halves.some(np.arange(start, min(start + BOXES, count)))
                for start in range(0, count, BOXES)
            ]
        return True

    def _above(self, boxes: Boxes) -> Words:
        """Return by how much a heap's sum may be too large or too small."""
        self.spent += len(self.ranges.nodes) * (boxes.low.shape[1] + CALL)
        inputs = {k: Range(boxes.low[j], boxes.high[j]) for j, k in enumerate(self.ranges.inputs)}
        found = self.ranges.sum(inputs)
        return np.maximum(found.high - self.most, -found.low)

    def _axis(self, boxes: Boxes) -> int:
        """Return the input whose halves leave the least; of several that with the longest range."""
        count = boxes.low.shape[1]
        sample = boxes.some(np.linspace(0, count - 1, min(count, LOOKED_AT)).astype(np.int64))
        found = []
        for axis, place in enumerate(self.ranges.inputs):
            length = (boxes.high[axis] - boxes.low[axis]).max()
            if length:
                above = np.maximum(self._above(sample.halved(axis)), 0).sum()
                bits = self.ranges.graph.nodes[place].bits
                found.append((above, -length / (1 << bits), axis))
        return min(found)[2]
