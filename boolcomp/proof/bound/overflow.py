"""Ranges of words in boxes of inputs, and the proof by them that heaps do not overflow.

Ranges are integer arithmetic on the graph, without its sketch. The range of a word that wraps
begins within the first turn, and may end within the second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.tables import cells_reached
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, reads
from boolcomp.words.simulation import masked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.bounds import Bounds
    from boolcomp.proof.bound.sketched import SketchedGraph
    from boolcomp.words.graph import PartialProducts, Turn, WordGraph

    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# Ranges of words for many boxes of the inputs' words at a time.
# --------------------------------------------------------------------------------------------------

LONGEST = 62  # bits of a sum, or of a product with its discarded columns


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """low .. high, for every box."""

    low: Words
    high: Words

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def clipped(self, bits: int) -> Range:
        """Clip to the values of a word with `bits` bits."""
        largest = (1 << bits) - 1
        return Range(np.clip(self.low, 0, largest), np.clip(self.high, 0, largest))

    def turned(self, bits: int) -> Range:
        """Reduce modulo a turn."""
        low = self.low & ((1 << bits) - 1)
        high = low + (self.high - self.low)
        every = self.high - self.low >= (1 << bits) - 1
        return Range(np.where(every, 0, low), np.where(every, (1 << bits) - 1, high))

    def straight(self, bits: int) -> Range:
        """Return the union of both turns within one."""
        over = self.high >> bits > 0
        return Range(np.where(over, 0, self.low), np.where(over, (1 << bits) - 1, self.high))


class Extremes:
    """Minima and maxima of a table over ranges of indices, which may span two turns."""

    def __init__(self, entries: Words) -> None:
        twice = np.concatenate([entries, entries])
        self.largest, self.least = [twice], [twice]
        step = 1
        while 2 * step <= len(entries):
            self.largest.append(np.maximum(self.largest[-1][:-step], self.largest[-1][step:]))
            self.least.append(np.minimum(self.least[-1][:-step], self.least[-1][step:]))
            step *= 2

    def between(self, index: Range) -> Range:
        """Return the ranges of entries over ranges of indices."""
        low, high = np.empty_like(index.low), np.empty_like(index.low)
        levels = np.log2(index.high - index.low + 1).astype(np.int64)
        levels -= (1 << levels) > index.high - index.low + 1  # floats may round up
        for level in np.unique(levels):
            here = levels == level
            first, last = index.low[here], index.high[here] + 1 - (1 << level)
            largest, least = self.largest[level], self.least[level]
            high[here] = np.maximum(largest[first], largest[last])
            low[here] = np.minimum(least[first], least[last])
        return Range(low, high)


def ancestors(graph: WordGraph, nodes: Sequence[int]) -> list[int]:
    """Return nodes and all nodes that they depend on, in order."""
    waiting, found = list(nodes), set[int]()
    while waiting:
        k = waiting.pop()
        if k not in found:
            found.add(k)
            waiting += reads(graph.nodes[k])
    return sorted(found)


class WordRanges:
    """The ranges of a heap and of all words that it depends on."""

    def __init__(self, graph: WordGraph, place: int) -> None:
        self.graph, self.place = graph, place
        self.nodes = ancestors(graph, [place])
        self.inputs = [k for k in self.nodes if isinstance(graph.nodes[k], InputWord)]
        self._extremes = {
            k: Extremes(_entries(node))
            for k in self.nodes if isinstance(node := graph.nodes[k], Lookup)
        }  # fmt: skip

    def sum(self, inputs: Mapping[int, Range]) -> Range:
        """Return the range of the heap's sum, before it is reduced to the bits of its word."""
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
                total = self._heap(node, found)
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
        bits, mask = self.graph.nodes[turn.node].bits, (1 << turn.read) - 1
        if turn.read + turn.shift < node.bits:
            source = source.straight(bits)
        low, high = (end >> (bits - turn.read) for end in (source.low, source.high))
        if turn.negative:
            low, high = mask - high, mask - low
        return Range(low << turn.shift, high << turn.shift)

    def _heap(self, node: Heap, found: Mapping[int, Range]) -> Range:
        total = self._constant(found, node.constant)
        for part in node.parts:
            if isinstance(part, Bits):
                bits = self.graph.nodes[part.node].bits
                word = found[part.node].straight(bits)
                low, high = word.low >> part.drop, word.high >> part.drop
                if part.negative:
                    mask = (1 << (bits - part.drop)) - 1
                    low, high = mask - high, mask - low
                total += Range(low << part.column, high << part.column)
            else:
                total += self._products(part, found)
        return total

    def _products(self, part: PartialProducts, found: Mapping[int, Range]) -> Range:
        """Return the range of partial products: half of αβ plus half their weight, with odd α, β.

        Any number of the products below column 0 may be discarded.
        """
        ends, grid = [], part.layout(self.graph.nodes)
        for place, drop, bits in ((part.a, part.drop_a, grid.a), (part.b, part.drop_b, grid.b)):
            word = found[place].straight(self.graph.nodes[place].bits)
            mask = (1 << bits) - 1
            ends.append((2 * (word.low >> drop) - mask, 2 * (word.high >> drop) - mask))
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
    """Return a table's entries by all leading bits of its source."""
    index = masked(np.arange(1 << node.read, dtype=np.int64), node.mask)
    return np.asarray(node.entries, dtype=np.int64)[index]


# --------------------------------------------------------------------------------------------------
# Proofs that the sums of heaps do not exceed their words.
#
# Beginning with all words of the inputs, boxes are halved until ranges of words show that the sum
# fits in each of them, or too many boxes have been visited.
# --------------------------------------------------------------------------------------------------

BOXES = 1 << 13  # at a time
SAMPLE = 32  # boxes that decide which input is halved
CALL = 1000  # boxes whose evaluation takes as long as the call
USUAL = 10  # effort for a heap: million words in boxes, a third of a second
ALL = 4  # multiple of this effort for all heaps together
HEAPS = 20  # divisor of a tight bound's effort that gives the effort for heaps


class WordBoxes(NamedTuple):
    """Ranges of the inputs' words, (inputs, boxes)."""

    low: Words
    high: Words

    def some(self, which: Words) -> WordBoxes:
        return WordBoxes(self.low[:, which], self.high[:, which])

    def halved(self, axis: int) -> WordBoxes:
        """Halve every box along an input; a single word stays as it is."""
        middle = (self.low[axis] + self.high[axis]) >> 1
        more = middle < self.high[axis]
        low, high = self.low[:, more].copy(), self.high.copy()
        low[axis], high[axis] = middle[more] + 1, middle
        return WordBoxes(
            np.concatenate([self.low, low], axis=1),
            np.concatenate([high, self.high[:, more]], axis=1),
        )


def input_words(sketched: SketchedGraph) -> dict[int, tuple[int, int]]:
    """Return the first and the last possible word of every input."""
    found = {k: (0, (1 << node.bits) - 1) for k, node in enumerate(sketched.graph.inputs)}
    for place, one in sketched.ranges.items():
        word, line = sketched.word(place), sketched.line(place)
        if word is not None and line is not None:
            found[word] = cells_reached(line, one)
    return found


def without_overflow(sketched: SketchedGraph, bounds: Bounds, effort: int = USUAL) -> Bounds:
    """Remove heaps that are proved not to overflow from the conditions of bounds.

    `effort` is the number of words in boxes for a heap, in millions; all heaps together may use
    `ALL` times as many.
    """
    words, left = input_words(sketched), effort * ALL * 1_000_000
    unproved = []
    for place in bounds.unproved:
        search = OverflowSearch(sketched.graph, place, words, min(left, effort * 1_000_000))
        if not search.fits():
            unproved.append(place)
        left -= search.spent
    return replace(bounds, unproved=tuple(unproved))


class OverflowSearch:
    """A search for boxes in which the sum of a heap may overflow."""

    def __init__(
        self, graph: WordGraph, place: int, words: Mapping[int, tuple[int, int]], effort: int
    ) -> None:
        heap = graph.nodes[place]
        if not isinstance(heap, Heap):
            raise TypeError(f"word {place} is no heap")
        self.ranges = WordRanges(graph, place)
        self.largest = (1 << heap.bits) - 1
        self.words, self.effort, self.spent = words, effort, 0

    def fits(self) -> bool:
        """Tell whether the heap is proved not to overflow."""
        ends = np.array([self.words[k] for k in self.ranges.inputs], np.int64).reshape(-1, 2, 1)
        waiting = [WordBoxes(ends[:, 0], ends[:, 1])]
        while waiting:
            boxes = waiting.pop()
            boxes = boxes.some(np.flatnonzero(self._excess(boxes) > 0))
            if not boxes.low.shape[1]:
                continue
            if self.spent > self.effort or (boxes.low == boxes.high).all(axis=0).any():
                return False  # effort spent, or a box of single words overflows
            halves = boxes.halved(self._axis(boxes))
            count = halves.low.shape[1]
            waiting += [
                halves.some(np.arange(start, min(start + BOXES, count)))
                for start in range(0, count, BOXES)
            ]
        return True

    def _excess(self, boxes: WordBoxes) -> Words:
        """Return the largest possible overflow of the sum, in either direction."""
        self.spent += len(self.ranges.nodes) * (boxes.low.shape[1] + CALL)
        inputs = {k: Range(boxes.low[j], boxes.high[j]) for j, k in enumerate(self.ranges.inputs)}
        found = self.ranges.sum(inputs)
        return np.maximum(found.high - self.largest, -found.low)

    def _axis(self, boxes: WordBoxes) -> int:
        """Return the input whose halves have the least excess; of several, the widest."""
        count = boxes.low.shape[1]
        sample = boxes.some(np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.int64))
        found = []
        for axis, place in enumerate(self.ranges.inputs):
            length = (boxes.high[axis] - boxes.low[axis]).max()
            if length:
                excess = np.maximum(self._excess(sample.halved(axis)), 0).sum()
                bits = self.ranges.graph.nodes[place].bits
                found.append((excess, -length / (1 << bits), axis))
        return min(found)[2]
