"""Between which numbers words lie, for boxes of the words of the inputs; many boxes at a time.

All is whole numbers of the graph alone, whatever it stands for. Of a word that wraps the range may
pass the end of a turn: it begins within the first turn and ends within the second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.groups import ancestors
from boolcomp.proof.bound.meaning import GivenWord, given_line
from boolcomp.proof.bound.tables import cells_reached
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup
from boolcomp.words.simulation import masked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import Bounds, Explained
    from boolcomp.words.graph import PartialProducts, Turn, WordGraph

    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# Between which numbers words lie, for boxes of the words of the inputs; many boxes at a time.
# --------------------------------------------------------------------------------------------------


LONGEST = 62  # bits of a sum, or of a product with what is discarded of it


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """low .. high, for every box."""

    low: Words
    high: Words

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def clipped(self, bits: int) -> Range:
        """Return what of it a word of so many bits can say."""
        most = (1 << bits) - 1
        return Range(np.clip(self.low, 0, most), np.clip(self.high, 0, most))

    def turned(self, bits: int) -> Range:
        """Return the same modulo a turn."""
        low = self.low & ((1 << bits) - 1)
        high = low + (self.high - self.low)
        every = self.high - self.low >= (1 << bits) - 1
        return Range(np.where(every, 0, low), np.where(every, (1 << bits) - 1, high))

    def straight(self, bits: int) -> Range:
        """Return what words it holds, without a second turn."""
        over = self.high >> bits > 0
        return Range(np.where(over, 0, self.low), np.where(over, (1 << bits) - 1, self.high))


class Extremes:
    """The largest and the least entries of a table between any two places, over two turns."""

    def __init__(self, entries: Words) -> None:
        twice = np.concatenate([entries, entries])
        self.most, self.least = [twice], [twice]
        step = 1
        while 2 * step <= len(entries):
            self.most.append(np.maximum(self.most[-1][:-step], self.most[-1][step:]))
            self.least.append(np.minimum(self.least[-1][:-step], self.least[-1][step:]))
            step *= 2

    def between(self, index: Range) -> Range:
        """Return between which numbers the entries of a range of places lie."""
        low, high = np.empty_like(index.low), np.empty_like(index.low)
        levels = np.log2(index.high - index.low + 1).astype(np.int64)
        levels -= (1 << levels) > index.high - index.low + 1  # floats may round up
        for level in np.unique(levels):
            here = levels == level
            first, last = index.low[here], index.high[here] + 1 - (1 << level)
            most, least = self.most[level], self.least[level]
            high[here] = np.maximum(most[first], most[last])
            low[here] = np.minimum(least[first], least[last])
        return Range(low, high)


class WordRanges:
    """The ranges of a heap and of all that it depends on."""

    def __init__(
        self, graph: WordGraph, place: int, booked: Sequence[tuple[int, int, int]] = ()
    ) -> None:
        self.graph, self.place = graph, place
        self._booked = {word: (low, high) for word, low, high in booked}
        self.nodes = ancestors(graph, [place])
        self.inputs = [k for k in self.nodes if isinstance(graph.nodes[k], InputWord)]
        self._extremes = {
            k: Extremes(_entries(node))
            for k in self.nodes if isinstance(node := graph.nodes[k], Lookup)
        }  # fmt: skip

    def sum(self, inputs: Mapping[int, Range]) -> Range:
        """Return what the heap adds up, before it is cut to its bits."""
        found = dict(inputs)
        for k in self.nodes:
            node = self.graph.nodes[k]
            if isinstance(node, Angles):
                found[k] = self._angle(node, found).turned(node.bits)
            elif isinstance(node, Lookup):
                source = found[node.source]
                drop = self.graph.nodes[node.source].bits - node.read
                index = Range(source.low >> drop, source.high >> drop)
                whole = index.high - index.low >= (1 << node.read) - 1
                index = Range(
                    np.where(whole, 0, index.low), np.where(whole, (1 << node.read) - 1, index.high)
                )
                found[k] = self._extremes[k].between(index)
            elif isinstance(node, Heap):
                low, high = self._booked.get(k, (0, 0))
                total = self._heap(node, found)
                total = Range(total.low + low, total.high + high)
                if k == self.place:
                    return total
                found[k] = total.turned(node.bits) if node.wraps else total.clipped(node.bits)
        raise TypeError(f"word {self.place} is no heap")

    def _angle(self, node: Angles, found: Mapping[int, Range]) -> Range:
        total = self._constant(found, node.constant)
        for turn in node.turns:
            total += self._turn(node, turn, found[turn.node])
        return total

    def _constant(self, found: Mapping[int, Range], value: int) -> Range:
        like = next(iter(found.values())).low
        return Range(np.full_like(like, value), np.full_like(like, value))

    def _turn(self, node: Angles, turn: Turn, source: Range) -> Range:
        bits, most = self.graph.nodes[turn.node].bits, (1 << turn.read) - 1
        if turn.read + turn.shift < node.bits:
            source = source.straight(bits)
        low, high = (end >> (bits - turn.read) for end in (source.low, source.high))
        if turn.negative:
            low, high = most - high, most - low
        return Range(low << turn.shift, high << turn.shift)

    def _heap(self, node: Heap, found: Mapping[int, Range]) -> Range:
        total = self._constant(found, node.constant)
        for part in node.parts:
            if isinstance(part, Bits):
                bits = self.graph.nodes[part.node].bits
                word = found[part.node].straight(bits)
                low, high = word.low >> part.drop, word.high >> part.drop
                if part.negative:
                    most = (1 << (bits - part.drop)) - 1
                    low, high = most - high, most - low
                total += Range(low << part.column, high << part.column)
            else:
                total += self._products(part, found)
        return total

    def _products(self, part: PartialProducts, found: Mapping[int, Range]) -> Range:
        """Return what partial products add up to: half of αβ and of what all count, α, β odd.

        Those below column 0 are discarded, any of them.
        """
        ends, grid = [], part.layout(self.graph.nodes)
        for place, drop, bits in ((part.a, part.drop_a, grid.a), (part.b, part.drop_b, grid.b)):
            word = found[place].straight(self.graph.nodes[place].bits)
            most = (1 << bits) - 1
            ends.append((2 * (word.low >> drop) - most, 2 * (word.high >> drop) - most))
        if grid.a + grid.b + 2 > LONGEST:
            raise ValueError(f"a product of {grid.a} by {grid.b} digits is too long")
        corners = [a * b for a in ends[0] for b in ends[1]]
        low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
        if part.negative:
            low, high = -high, -low
        whole = ((1 << grid.a) - 1) * ((1 << grid.b) - 1)
        low, high = (low + whole) >> 1, (high + whole) >> 1
        if grid.column >= 0:
            return Range(low << grid.column, high << grid.column)
        down = -grid.column
        lost = sum(n << (c + down) for c, n in grid.diagonals() if c < 0)
        low = -(-(low - lost) >> down)
        return Range(np.clip(low, 0, grid.weight), np.clip(high >> down, 0, grid.weight))


def _entries(node: Lookup) -> Words:
    """Return a table's entries by the leading bits of its source, without a mask."""
    index = masked(np.arange(1 << node.read, dtype=np.int64), node.mask)
    return np.asarray(node.entries, dtype=np.int64)[index]


# --------------------------------------------------------------------------------------------------
# That heaps have bits enough: no sum is larger or smaller than its word can say.
#
# A heap is looked at for all words of its inputs at once, then for halves of them, and so on, until
# ranges of words alone show that its sum fits (`wordranges.py`), or too many boxes were looked at.
# --------------------------------------------------------------------------------------------------


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
