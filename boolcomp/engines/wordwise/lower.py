"""A word graph as straight-line code on whole numbers with signs.

The digits of words are ±1, and a partial product is whether two of them agree. With a and b for
words of m and n bits less their middles, all partial products together are

    Σ 2^(i+j) [a_i = b_j] = a (2b + 1) + b + ((2^m - 1)(2^n - 1) + 1) / 2

one multiplication. Where the lowest columns are discarded, what stands there is a triangle of
partial products of low digits, which tables say, and is taken off first; small ones are tables
altogether.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.engines.words_lower import Maker, Taste
from boolcomp.engines.wordwise.tables import table_width
from boolcomp.engines.wordwise.values import Field, Inside, Made
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.engines.wiring import Wiring, WordLogic
    from boolcomp.engines.wordwise.values import Straightened
    from boolcomp.words.graph import HeapPart, OutputWord, PartialProducts

# Loads are cheap as long as tables stay in the first-level cache: the first of these where they do.
SINGLE = tuple(Taste(alike=11, apart=apart, triangle=6, parts=True) for apart in (12, 11, 10))
CACHE = 1 << 15  # bytes
LANES = Taste(alike=8, apart=8, triangle=4)  # permutes of 256 entries are the largest cheap ones

Terms = list[tuple[int, int]]


def single(wiring: Wiring, logic: WordLogic) -> Straightened:
    """Return the code of one sample."""
    for taste in SINGLE:
        found = lowered(wiring, logic, taste)
        if sum(len(x) * table_width(x) // 8 for x in found.tables) <= CACHE:
            break
    return found


def lowered(wiring: Wiring, logic: WordLogic, taste: Taste) -> Straightened:
    """Return the code of a word graph between the cells of a wiring's ports and results."""
    return _Lowering(wiring, logic, Maker(taste)).done()


class _Lowering:
    """Goes through the nodes of a graph."""

    def __init__(self, wiring: Wiring, logic: WordLogic, make: Maker) -> None:
        self.graph, self.logic, self.make = logic.graph, logic, make
        self.words: list[int] = []  # the value of every node
        self.cells = []
        for place, port in enumerate(wiring.ports):
            cell, half = make.cell(place, port.code.bits), port.code.cells >> 1
            if port.given.first:  # cells that no word says are not read
                cell = make.clamped(cell, port.given.first - half, half - 1)
            self.cells.append(cell)
        self.treads = [port.given.tread for port in wiring.ports]
        cuts = iter(logic.cuts)
        for node in self.graph.nodes:
            if isinstance(node, InputWord):
                cut = next(cuts)  # the leading bits of a cell
                cell = self.cells[cut.port]
                self.words.append(make.shifted(cell, cut.drop) if cut.drop else cell)
            elif isinstance(node, Lookup):
                self.words.append(self._lookup(node))
            elif isinstance(node, Angles):
                self.words.append(self._angles(node))
            else:
                self.words.append(self._heap(node))

    def done(self) -> Straightened:
        """Return all of it."""
        results = zip(self.graph.results, self.logic.rests, strict=True)
        return self.make.done([self._output(result, rests) for result, rests in results])

    def _lookup(self, node: Lookup) -> int:
        source = self.graph.nodes[node.source]
        drop = source.bits - node.read
        half = 1 << node.bits >> 1
        picked = node.picked
        fields = [Field(self.words[node.source], drop + k, 1) for k in picked]
        turned = [entry - half for entry in node.entries]
        if picked and picked[-1] == node.read - 1:  # the leading bit of k is inverted here
            middle = len(turned) >> 1
            turned = turned[middle:] + turned[:middle]
        return self.make.entry(fields, turned)

    def _part(self, place: int, drop: int, column: int, *, negative: bool) -> tuple[Terms, int]:
        """Return a word, or its inverse, without low bits and moved."""
        half = 1 << (self.graph.nodes[place].bits - drop) >> 1
        word = self.make.shifted(self.words[place], drop)
        if negative:
            return [(-1 << column, word)], half - 1 << column
        return [(1 << column, word)], half << column

    def _angles(self, node: Angles) -> int:
        """Return a sum of turns, of which only the lowest bits are right where it wraps."""
        constant, terms, loose = node.constant - (1 << node.bits >> 1), [], []
        for turn in node.turns:
            drop = self.graph.nodes[turn.node].bits - turn.read
            more, fixed = self._part(turn.node, drop, turn.shift, negative=turn.negative)
            terms += more
            constant += fixed
            right = turn.read + turn.shift >= node.bits
            word = self.make.loose(self.words[turn.node], drop) if right else more[0][1]
            loose.append((more[0][0], word))
        if self.make.fits(terms, constant, node.bits):
            return self.make.sum(terms, constant)
        return self.make.word(loose, constant, node.bits)

    def _heap(self, node: Heap) -> int:
        """Return a sum of words and products."""
        constant, terms = node.constant - (1 << node.bits >> 1), []
        for part in node.parts:
            more, fixed = self._summand(part)
            terms += more
            constant += fixed
        return self.make.word(terms, constant, node.bits)

    def _summand(self, part: HeapPart) -> tuple[Terms, int]:
        if isinstance(part, Bits):
            row = part.layout(self.graph.nodes)
            return self._part(part.node, row.drop, row.column, negative=part.negative)
        place, fixed = self._products(part)
        column = max(0, part.column)
        if part.negative:
            full = part.layout(self.graph.nodes).weight
            return [(-1 << column, place)], full - (fixed << column)
        return [(1 << column, place)], fixed << column

    def _products(self, part: PartialProducts) -> tuple[int, int]:
        """Return a value, and what is to be added to it, for a sum of partial products."""
        grid = part.layout(self.graph.nodes)
        discards = max(0, -grid.column)
        drop_a = max(0, discards - grid.b + 1)  # digits that have a part in discarded columns only
        drop_b = max(0, discards - grid.a + 1)
        m, n = grid.a - drop_a, grid.b - drop_b
        discards -= drop_a + drop_b
        if min(m, n) <= 0:
            return self.make.constant(0), 0
        a = self.make.shifted(self.words[part.a], grid.drop_a + drop_a)
        b = self.make.shifted(self.words[part.b], grid.drop_b + drop_b)
        return self._agreement((a, m), (b, n), max(0, discards))

    def _agreement(self, x: tuple[int, int], y: tuple[int, int], discards: int) -> tuple[int, int]:
        """Return a value and what is to be added: digits that agree, without the lowest columns."""
        make, (a, m), (b, n) = self.make, x, y
        most = ((1 << m) - 1) * ((1 << n) - 1)
        middle = most + 1 >> 1
        if discards and m + n <= make.taste.apart:
            fields = [Field(a, 0, m), Field(b, 0, n)]
            return make.entry(fields, _agreeing(m, n, discards)), 0
        twice = make.sum([(2, b)], 1)
        terms = [(1, make.product(a, twice)), (1, b)]
        if not discards:
            return make.sum(terms, 0, (-middle, most - middle)), middle
        terms.append((-1, self._triangle((a, 0), (b, 0), discards)))
        above, rest = divmod(middle, 1 << discards)
        least = rest - middle
        whole = make.sum(terms, rest, (least, least + most))
        return make.shifted(whole, discards), above

    def _triangle(self, x: tuple[int, int], y: tuple[int, int], side: int) -> int:
        """Return Σ 2^(i+j) over digits that agree, i + j < side, above so many of both words."""
        make, (a, low_a), (b, low_b) = self.make, x, y
        if side <= make.taste.triangle:
            fields = [Field(a, low_a, side), Field(b, low_b, side)]
            return make.entry(fields, _digits(side, side, lambda i, j: i + j < side))
        half = (side + 1) // 2
        fields = [Field(a, low_a, half), Field(b, low_b, half)]
        square = make.entry(fields, _digits(half, half, lambda _i, _j: True))
        sides = [
            self._triangle((a, low_a + half), y, side - half),
            self._triangle(x, (b, low_b + half), side - half),
        ]
        return make.sum([(1, square), *((1 << half, one) for one in sides)], 0)

    def _output(self, result: OutputWord, rests: tuple[int, ...] | None) -> Made:
        heap = self.graph.nodes[result.node]
        left = heap.bits - result.drop
        word = self.make.shifted(self.words[result.node], result.drop)
        half = 1 << result.bits >> 1
        cell = self.make.clamped(word, -half, half - 1)
        inside = None if left == result.bits or cell == word else Inside(word, -half, half - 1)
        if rests is None:
            return Made(cell, inside, ())
        zeros = tuple(Inside(self.make.signed(self.cells[k]), self.treads[k] - 1, 0) for k in rests)
        return Made(self.make.resting(cell, zeros), inside, zeros)


def _digits(m: int, n: int, counts: Callable[[int, int], bool]) -> list[int]:
    """Return Σ 2^(i+j) over some pairs of digits that agree, for all words of m and n bits.

    The first word is the lower part of the index.
    """
    a, b = np.arange(1 << m)[None, :], np.arange(1 << n)[:, None]
    total = np.zeros((1 << n, 1 << m), np.int64)
    for i in range(m):
        for j in range(n):
            if counts(i, j):
                total += ((a >> i & 1) == (b >> j & 1)).astype(np.int64) << (i + j)
    return [int(x) for x in total.ravel()]


def _agreeing(m: int, n: int, discards: int) -> list[int]:
    """Return what is left of partial products without the lowest columns, for words with signs."""
    found = np.reshape(_digits(m, n, lambda i, j: i + j >= discards), (1 << n, 1 << m))
    turned = np.roll(found >> discards, (1 << n >> 1, 1 << m >> 1), (0, 1))
    return [int(x) for x in turned.ravel()]
