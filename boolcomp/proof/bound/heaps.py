"""Sums: what a heap adds up, digit by digit, beside the sum that it stands for.

A heap's word is half of all that its bits count, its constant, and what its parts say as digits ±½
(see `words/graph.py`). So its error is that of its addends, what their constants lack, the bits and
products that are discarded, and one constant; all of it is read off the graph.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.proof.bound.enclosure import ZERO, Enclosure, about, between, exactly
from boolcomp.proof.bound.known import NONE, Error, Known, line_of
from boolcomp.proof.bound.meaning import LinearPart, ProductPart
from boolcomp.words.graph import Bits, Heap, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import Pieces, Total
    from boolcomp.proof.bound.plain import Forward
    from boolcomp.words.graph import HeapPart, WordGraph

    Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Operand:
    """What an addend reads: what is known of it, its words, and the values that tables have.

    Of an `output` what is known is of its digits alone: its decoder knows of no offset.
    """

    known: Known
    pieces: Pieces
    entries: Mapping[int, Words] = field(default_factory=dict)
    output: bool = False

    def offset(self, graph: WordGraph, place: int) -> Enclosure:
        """Return what is known of one of its words beside its digits."""
        return ZERO if self.output else exactly(graph.scales[place].offset)

    def lost(self, graph: WordGraph, place: int, drop: int) -> Enclosure:
        """Return what the lowest bits of one of its words count, in what the word stands for."""
        if not drop:
            return ZERO
        step, most = step_of(graph, place), (1 << drop) - 1
        if place not in self.entries:
            return about(exactly(Fraction(most, 2) * step))
        found = 2 * (self.entries[place] & most) - most
        return between(int(found.min()) * step / 2, int(found.max()) * step / 2)


@dataclass(frozen=True, slots=True)
class HeapKnown:
    """What is known of a sum, and whether its heap holds every sum there can be."""

    known: Known
    fits: bool


def step_of(graph: WordGraph, place: int) -> Fraction:
    """Return what the lowest bit of a word counts."""
    return Fraction(2) ** graph.scales[place].lsb


def total_known(
    graph: WordGraph,
    total: Total,
    operands: Sequence[tuple[Operand, ...]],
    booked: tuple[int, int] = (0, 0),
    *,
    output: bool = False,
) -> HeapKnown:
    """Return what is known of a sum; `operands` are those of its addends, one or two each.

    By how many steps its heap is more than it adds up is `booked`.

    What the decoder of an inner word adds to it (`offset`) is part of what it stands for; that of
    an output does not know it.
    """
    exact, inputs = exactly(total.constant), ZERO
    for addend, read in zip(total.addends, operands, strict=True):
        value, moved = exact_addend(addend, read)
        exact, inputs = exact + value, inputs + moved
    if total.word is None:
        return HeapKnown(Known(exact, exact, NONE, inputs), fits=True)
    heap = graph.nodes[total.word]
    if not isinstance(heap, Heap):
        raise ValueError(f"word {total.word} is no heap")  # noqa: TRY004 (of what is said of it)
    sum_ = _Sum(graph, total.word, heap)
    for k, (addend, read) in enumerate(zip(total.addends, operands, strict=True)):
        mine = [part for part, owner in zip(heap.parts, total.owners, strict=True) if owner == k]
        if isinstance(addend, LinearPart):
            sum_.linear(addend, read[0], mine)
        else:
            sum_.product(addend, read, mine)
    sum_.constant(total, output=output)
    sum_.book(*booked)
    found = Known(exact, sum_.said, sum_.error, inputs).tightened()
    return HeapKnown(found, sum_.fits(found.words, output=output))


def exact_addend(
    addend: LinearPart | ProductPart, read: Sequence[Operand]
) -> tuple[Enclosure, Enclosure]:
    """Return an addend at the middles of the inputs' cells, and how much more that is."""
    factor = Fraction(addend.factor)
    if isinstance(addend, LinearPart):
        return read[0].known.exact.times(factor), read[0].known.inputs.times(factor)
    a, b = (one.known for one in read)
    moved = a.exact * b.inputs + b.exact * a.inputs - a.inputs * b.inputs
    return (a.exact * b.exact).times(factor), moved.times(factor)


def addend_error(forward: Forward, total: Total, k: int, parts: Sequence[HeapPart]) -> Enclosure:
    """Return how much more the parts of an addend say, as digits, than it is where inputs are."""
    if total.word is None:
        raise ValueError("a sum without a word has no parts")
    heap = forward.graph.nodes[total.word]
    if not isinstance(heap, Heap):
        raise ValueError(f"word {total.word} is no heap")  # noqa: TRY004 (of what is said of it)
    addend = total.addends[k]
    read = forward.operands(addend)
    sum_ = _Sum(forward.graph, total.word, heap)
    if isinstance(addend, LinearPart):
        sum_.linear(addend, read[0], parts)
    else:
        sum_.product(addend, read, parts)
    return sum_.error.total + sum_.offsets + exact_addend(addend, read)[1]


class _Sum:
    """What the parts of a heap say, and how much more that is than what they stand for."""

    def __init__(self, graph: WordGraph, place: int, heap: Heap) -> None:
        self.graph, self.place, self.heap = graph, place, heap
        self.line = line_of(graph, place)
        self.said, self.error = ZERO, NONE
        self.offsets = ZERO

    def weight_of(self, part: Bits) -> Fraction:
        """Return how often a word is added."""
        shift = part.column - part.drop - self.graph.scales[part.node].lsb
        size = self.line.step * Fraction(2) ** shift
        return -size if part.negative else size

    def linear(self, addend: LinearPart, read: Operand, parts: Sequence[HeapPart]) -> None:
        """Add what stands for factor · word; the words are pieces, each added for every digit."""
        rows = [part for part in parts if isinstance(part, Bits)]
        grids = [part for part in parts if isinstance(part, PartialProducts)]
        found = {place: Counter[Fraction]() for place in read.pieces.words}
        for part in rows:
            if part.node not in found:
                raise ValueError(f"heap {self.place} adds word {part.node}, which is another's")
            weight = self.weight_of(part)
            found[part.node][weight] += 1
            self._discard(read.lost(self.graph, part.node, part.drop).times(-weight))
        weights = Counter[Fraction]()
        for counted in found.values():
            weights |= counted
        multiplied = self._grids(read, grids)
        weights |= multiplied
        times = sum(weights.elements(), Fraction(0))
        if read.pieces.product is not None:
            for weight in (weights - multiplied).elements():
                self._discard(about(self._largest(read.pieces.product)).times(-weight))
        for place, counted in found.items():
            line, offset = line_of(self.graph, place), read.offset(self.graph, place)
            whole = exactly(line.step * (line.count - 1) / 2)
            for weight in (weights - counted).elements():  # digits of which no bit is left
                self._discard(about(whole).times(-weight))
            self.offsets = self.offsets + offset.times(-times)
        factor = Fraction(addend.factor)
        known = read.known
        self.said = self.said + known.words.times(times)
        self.error = self.error + known.error.times(times)
        self._discard(known.exact.times(times - factor), said=False)

    def _grids(self, read: Operand, grids: Sequence[PartialProducts]) -> Counter[Fraction]:
        """Return how often the product of an operand's pieces is added."""
        weights = Counter[Fraction]()
        for part in grids:
            if read.pieces.product is None or (part.a, part.b) != read.pieces.product:
                raise ValueError(f"heap {self.place} multiplies words that nothing is said of")
            weights[self.times(part)] += 1
            self._discard(self.columns_lost(part))
        return weights

    def _largest(self, words: tuple[int, int]) -> Enclosure:
        """Return the largest product that two words about zero have."""
        a, b = (line_of(self.graph, place) for place in words)
        return exactly(a.step * (a.count - 1) * b.step * (b.count - 1) / 4)

    def times(self, part: PartialProducts) -> Fraction:
        """Return how often the product of two words is added."""
        a, b = step_of(self.graph, part.a), step_of(self.graph, part.b)
        column = part.column + 1 - part.drop_a - part.drop_b
        size = self.line.step * Fraction(2) ** column / (a * b)
        return -size if part.negative else size

    def columns_lost(self, part: PartialProducts) -> Enclosure:
        """Return what products below column 0 count at most, either way."""
        columns = part.layout(self.graph.nodes).diagonals()
        lost = sum((n * Fraction(2) ** (c - 1) for c, n in columns if c < 0), Fraction(0))
        return about(exactly(lost * self.line.step))

    def product(
        self, addend: ProductPart, read: Sequence[Operand], parts: Sequence[HeapPart]
    ) -> None:
        """Add what stands for factor · a · b."""
        factor = Fraction(addend.factor)
        a, b = (one.known for one in read)
        exact = (a.exact * b.exact).times(factor)
        if not parts:  # its mean stands for it, in a constant
            self._discard(-exact, said=False)
            return
        (part,) = parts
        if not isinstance(part, PartialProducts) or (part.a, part.b) != tuple(
            word for one in read for word in one.pieces.words
        ):
            raise ValueError(f"heap {self.place} multiplies other words than is said")
        if self.times(part) != factor:
            raise ValueError(f"heap {self.place} multiplies by another factor than is said")
        errors, words = [], []
        for one, place, drop in zip(
            read, (part.a, part.b), (part.drop_a, part.drop_b), strict=True
        ):
            lost = one.lost(self.graph, place, drop)
            offset = one.offset(self.graph, place)
            errors.append(one.known.error + Error(ZERO, -(lost + offset)))
            words.append(one.known.words - lost - offset)
        self.said = self.said + (words[0] * words[1]).times(factor)
        self.error = self.error + _product_error(words, errors).times(factor)
        self._discard(self.columns_lost(part))

    def _discard(self, lost: Enclosure, *, said: bool = True) -> None:
        self.error = self.error + Error(ZERO, lost)
        if said:
            self.said = self.said + lost

    def constant(self, total: Total, *, output: bool) -> None:
        """Add the constant, which is one of the errors too: but for rounding it is no error."""
        weight = sum(part.layout(self.graph.nodes).weight for part in self.heap.parts)
        start = self.line.start
        if output:
            start -= Fraction(self.graph.scales[self.place].offset)
        given = exactly(start + self.line.step * (Fraction(weight, 2) + self.heap.constant))
        given = given + self.offsets
        self.said = self.said + given
        beside = given - exactly(total.constant)
        if total.turning:
            beside = _wrapped(beside, 1 << total.turning)
        self._discard(beside, said=False)

    def book(self, low: int, high: int) -> None:
        """Add what the heap is more than it adds up."""
        self._discard(between(low * self.line.step, high * self.line.step))

    def fits(self, said: Enclosure, *, output: bool) -> bool:
        """Tell whether the heap's word is never another than the sum."""
        if self.heap.wraps:
            return True
        start = self.line.start
        if output:
            start -= Fraction(self.graph.scales[self.place].offset)
        low, high = said.ends
        most = start + self.line.step * (self.line.count - 1)
        return start <= low and high <= most


def _product_error(words: Sequence[Enclosure], errors: Sequence[Error]) -> Error:
    """Return how much more A·B is than α·β where A is α and an error, and B is β and another."""
    (a, b), (da, db) = words, errors
    tables = a * db.tables + b * da.tables - da.tables * db.tables
    both = a * db.bits + b * da.bits - da.bits * db.bits
    return Error(tables, both - da.tables * db.bits - da.bits * db.tables)


def _wrapped(value: Enclosure, turn: int) -> Enclosure:
    """Return a number less the whole turns nearest to it."""
    middle = sum(value.ends) / 2
    return value - exactly(round(Fraction(middle) / turn) * turn)
