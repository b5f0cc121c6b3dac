"""That heaps have bits enough: no sum is larger or smaller than its word can say.

A heap is looked at for all words of its inputs at once, then for halves of them, and so on, until
ranges of words alone show that its sum fits (`wordranges.py`), or too many boxes were looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.inputs import cells_reached
from boolcomp.proof.bound.known import given_line
from boolcomp.proof.bound.meaning import GivenWord
from boolcomp.proof.bound.wordranges import Range, WordRanges
from boolcomp.words.graph import Heap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.words.graph import WordGraph

    Words = NDArray[np.int64]

BOXES = 1 << 13  # at a time
LOOKED_AT = 32  # boxes that say which input is halved


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


def overflowing(explained: Explained, places: Sequence[int], effort: int) -> tuple[int, ...]:
    """Return those heaps of which it is not proved that they have bits enough.

    That holds while none of these overflows: their words are taken for what they can say. At most
    `effort` boxes of each are looked at.
    """
    words = input_words(explained)
    return tuple(place for place in places if not fits(explained.graph, place, words, effort))


def fits(graph: WordGraph, place: int, words: Mapping[int, tuple[int, int]], effort: int) -> bool:
    """Tell whether a heap is proved to hold every sum there can be."""
    heap = graph.nodes[place]
    if not isinstance(heap, Heap):
        raise TypeError(f"word {place} is no heap")
    ranges, most = WordRanges(graph, place), (1 << heap.bits) - 1
    ends = np.array([words[k] for k in ranges.inputs], np.int64).reshape(-1, 2, 1)
    waiting = [Boxes(ends[:, 0], ends[:, 1])]
    while waiting:
        boxes = waiting.pop()
        effort -= boxes.low.shape[1]
        if effort < 0:
            return False
        above = _above(ranges, boxes, most)
        boxes = boxes.some(np.flatnonzero(above > 0))
        if not boxes.low.shape[1]:
            continue
        if (boxes.low == boxes.high).all(axis=0).any():
            return False  # words that overflow, or products of which nothing is known
        halves = boxes.halved(_axis(ranges, boxes, most))
        count = halves.low.shape[1]
        waiting += [
            halves.some(np.arange(start, min(start + BOXES, count)))
            for start in range(0, count, BOXES)
        ]
    return True


def _above(ranges: WordRanges, boxes: Boxes, most: int) -> Words:
    """Return by how much a heap's sum may be too large or too small."""
    inputs = {k: Range(boxes.low[j], boxes.high[j]) for j, k in enumerate(ranges.inputs)}
    found = ranges.sum(inputs)
    return np.maximum(found.high - most, -found.low)


def _axis(ranges: WordRanges, boxes: Boxes, most: int) -> int:
    """Return the input whose halves leave the least."""
    count = boxes.low.shape[1]
    sample = boxes.some(np.linspace(0, count - 1, min(count, LOOKED_AT)).astype(np.int64))
    best, left = 0, np.inf
    for axis in range(len(boxes.low)):
        if (sample.low[axis] == sample.high[axis]).all():
            continue
        above = np.maximum(_above(ranges, sample.halved(axis), most), 0)
        if above.sum() < left:
            best, left = axis, float(above.sum())
    if not np.isfinite(left):
        best = int(np.argmax((boxes.high > boxes.low).any(axis=1)))
    return best
