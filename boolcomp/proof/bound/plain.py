"""Sums: what a heap adds up, digit by digit, beside the sum that it stands for.

A heap's word is half of all that its bits count, its constant, and what its parts say as digits ±½
(see `words/graph.py`). So its error is that of its addends, what their constants lack, the bits and
products that are discarded, and one constant; all of it is read off the graph.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from boolcomp.proof.bound.balls import ZERO, Enclosure, about, between, exactly
from boolcomp.proof.bound.meaning import (
    NONE,
    Bound,
    Bounds,
    Causes,
    CurveTable,
    Error,
    GivenWord,
    Known,
    Line,
    LinearPart,
    Pieces,
    PowerTable,
    ProductPart,
    Total,
    TurnSum,
    WaveTable,
    given_line,
    line_of,
)
from boolcomp.proof.bound.tables import (
    Read,
    cells_reached,
    curve_within,
    given_known,
    looked_up,
    table_known,
    turns_known,
)
from boolcomp.words.graph import Bits, Heap, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import Explained, Meaning, ResultMeaning, TableMeaning
    from boolcomp.words.graph import HeapPart, WordGraph

    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# Sums: what a heap adds up, digit by digit, beside the sum that it stands for.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# The plain bound: node by node, between which numbers words, values and errors lie.
#
#     error = [what the word says - the value at the middles of the inputs' cells]
#           + [that value - the value where the inputs are]
#
# The first depends on words alone. It is that of entries of tables, which are looked at one by one,
# and of bits that are discarded; sums add it, products A·B of α + a and β + b make A·b + B·a - a·b
# of it. The second is the same calculation without words. Any graph, any function; milliseconds.
# --------------------------------------------------------------------------------------------------


TABLES = (WaveTable, PowerTable, CurveTable)


class Forward:
    """What is known of every meaning, in their order, and which heaps may overflow."""

    def __init__(self, explained: Explained) -> None:
        self.graph, self.explained = explained.graph, explained
        self.known: list[Known] = []
        self.entries: dict[int, Words] = {}
        self.unproved: list[int] = []
        self.outputs = {result.meaning for result in explained.results}
        for place, meaning in enumerate(explained.meanings):
            self.known.append(self._known(place, meaning))

    def _known(self, place: int, meaning: Meaning) -> Known:
        if isinstance(meaning, GivenWord):
            return given_known(self.graph, meaning)
        if isinstance(meaning, TurnSum):
            items = [item for item, _ in meaning.items]
            lines = {k: found for k in items if (found := self.line(k))}
            return turns_known(self.graph, meaning, {k: self._turns(k) for k in items}, lines)
        if isinstance(meaning, TABLES):
            return self._table(meaning)
        operands = [tuple(self._operand(k) for k in _reads(addend)) for addend in meaning.addends]
        booked = self.explained.beside(meaning.word)
        total = total_known(self.graph, meaning, operands, booked, output=place in self.outputs)
        if not total.fits and meaning.word is not None:
            self.unproved.append(meaning.word)
        return total.known

    def operands(self, addend: LinearPart | ProductPart) -> tuple[Operand, ...]:
        """Return what an addend reads."""
        return tuple(self._operand(k) for k in _reads(addend))

    def _operand(self, place: int) -> Operand:
        pieces = pieces_of(self.explained.meanings[place])
        entries = {k: self.entries[k] for k in pieces.words if k in self.entries}
        return Operand(self.known[place], pieces, entries, output=place in self.outputs)

    def line(self, place: int) -> tuple[int, Line] | None:
        """Return the node of a meaning's word and what it stands for, an angle's in turns."""
        meaning = self.explained.meanings[place]
        if isinstance(meaning, GivenWord):
            return None if meaning.word is None else (meaning.word, given_line(self.graph, meaning))
        if not isinstance(meaning, TurnSum | Total) or meaning.word is None:
            return None
        found = line_of(self.graph, meaning.word)
        if place in self.outputs:
            found = replace(
                found, start=found.start - Fraction(self.graph.scales[meaning.word].offset)
            )
        if isinstance(meaning, Total) and meaning.turning:
            turn = 1 << meaning.turning
            found = Line(found.start / turn, found.step / turn, found.count)
        return meaning.word, found

    def _turns(self, place: int) -> Known:
        """Return what is known of a meaning, an angle in turns."""
        meaning, known = self.explained.meanings[place], self.known[place]
        if not isinstance(meaning, Total) or not meaning.turning:
            return known
        part = Fraction(1, 1 << meaning.turning)
        return Known(
            known.exact.times(part), known.words.times(part), known.error.times(part),
            known.inputs.times(part),
        )  # fmt: skip

    def _table(self, table: TableMeaning) -> Known:
        source, line = self._turns(table.source), self.line(table.source)
        if line is None or not table.pieces.words:
            return table_known(self.graph, table, source, None)
        angle = isinstance(table, WaveTable) or (isinstance(table, CurveTable) and table.angle)
        words = self._words(table.source, source, line[1], angle=angle)
        read = Read(line[0], line[1], words)
        both = (*table.pieces.words, *(table.pieces.product or ()))
        self.entries |= {place: looked_up(self.graph, place, read) for place in both}
        return table_known(self.graph, table, source, read)

    def _words(self, place: int, source: Known, line: Line, *, angle: bool) -> Words:
        """Return the words that a meaning may have."""
        import numpy as np  # noqa: PLC0415

        given = self.explained.meanings[place]
        if isinstance(given, GivenWord):
            first, last = cells_reached(line, given)
            return np.arange(first, last + 1, dtype=np.int64)
        return line.reached(source.words, Fraction(1) if angle else None)


def _reads(addend: LinearPart | ProductPart) -> tuple[int, ...]:
    return (addend.meaning,) if isinstance(addend, LinearPart) else (addend.a, addend.b)


def pieces_of(meaning: Meaning) -> Pieces:
    """Return the words that stand for a meaning."""
    if isinstance(meaning, TABLES):
        return meaning.pieces
    return Pieces(() if meaning.word is None else (meaning.word,))


def plain_bounds(explained: Explained) -> Bounds:
    """Return the plain bound of every output of a graph."""
    forward = Forward(explained)
    found = [
        _bound(explained, result, column, forward)
        for column, result in enumerate(explained.results)
    ]
    return Bounds(tuple(found), tuple(forward.unproved))


def _bound(explained: Explained, result: ResultMeaning, column: int, forward: Forward) -> Bound:
    known = forward.known[result.meaning]
    causes = Causes(
        known.inputs, known.error.tables, known.error.bits, rounding(explained, column, result)
    )
    low, high = causes.total.ends
    if result.rest is not None:
        resting = -at_rest(explained, result)
        low, high = min(low, resting.ends[0]), max(high, resting.ends[1])
    return Bound(result.name, result.unit, result.step, low, high, causes)


def rounding(explained: Explained, column: int, result: ResultMeaning) -> Enclosure:
    """Return what an output's word stands for beside the sum in its heap."""
    output = explained.graph.results[column]
    lsb = explained.graph.scales[output.node].lsb
    total = explained.meanings[result.meaning]
    if not isinstance(total, Total) or total.word != output.node or output.drop != -lsb:
        raise ValueError(f"{result.name} is not the sum that it is said to be")
    half = Fraction(1, 2) - Fraction(1, 2 << output.drop)
    return about(exactly(half)) + moved(explained, column, result)


def moved(explained: Explained, column: int, result: ResultMeaning) -> Enclosure:
    """Return what an output's word stands for beside the middle of its cell."""
    return exactly(result.shift - (Fraction(1, 2) if explained.graph.results[column].tread else 0))


def at_rest(explained: Explained, result: ResultMeaning) -> Enclosure:
    """Return between which numbers an output is where its word is held at zero."""
    known = Forward(explained.restricted(dict(result.rest or ()))).known[result.meaning]
    return known.exact - known.inputs


# --------------------------------------------------------------------------------------------------
# Curves of sums stand still beyond their ends, which samples found: what is meant does not.
#
# A sketch tabulates a curve of a sum where samples of the sum were, and a little farther. Where it
# is not seen that the sum stays there the sketch's function may be another than what was asked for;
# by how much is enclosed here, node by node as the plain bound is, and added to a bound of any
# grade.
# --------------------------------------------------------------------------------------------------


PIECES = 64  # of what lies beyond an end: in each a curve is enclosed by itself


def beyond_ends(explained: Explained, bounds: Bounds) -> Bounds:
    """Return bounds of what was asked for, from those of the sketch's function.

    A `DataError` where a curve has no bound beyond an end.
    """
    if all(bound.of_asked for bound in bounds.outputs):
        return bounds
    if not any(_ends(explained, one) for one in explained.meanings):
        return bounds
    more = _Excess(Forward(explained)).found
    outputs = [
        _moved(bound, more[result.meaning])
        for bound, result in zip(bounds.outputs, explained.results, strict=True)
    ]
    return replace(bounds, outputs=tuple(outputs))


def _ends(explained: Explained, table: object) -> bool:
    """Tell whether a meaning is a curve that ends where it need not; inputs end where they may."""
    if not isinstance(table, CurveTable):
        return False
    given = isinstance(explained.meanings[table.source], GivenWord)
    return not given and (math.isfinite(table.low) or math.isfinite(table.high))


def _moved(bound: Bound, by: Enclosure) -> Bound:
    low, high = by.ends
    causes = replace(bound.causes, inputs=bound.causes.inputs + by)
    return replace(bound, low=bound.low + low, high=bound.high + high, causes=causes)


class _Excess:
    """How much more the sketch's function is than what is meant, for every meaning."""

    def __init__(self, forward: Forward) -> None:
        self.forward, self.meanings = forward, forward.explained.meanings
        self.found: list[Enclosure] = []
        for meaning in self.meanings:
            if isinstance(meaning, GivenWord):
                self.found.append(ZERO)
            elif isinstance(meaning, TurnSum):
                parts = (self._turns(k).times(Fraction(often)) for k, often in meaning.items)
                self.found.append(sum(parts, ZERO))
            elif isinstance(meaning, Total):
                self.found.append(self._total(meaning))
            else:
                self.found.append(self._table(meaning))

    def _values(self, place: int) -> Enclosure:
        """Return between which numbers the sketch's function lies where the inputs are."""
        known = self.forward.known[place]
        return known.exact - known.inputs

    def _turns(self, place: int) -> Enclosure:
        """Return what is found of an angle, in turns."""
        meaning = self.meanings[place]
        turning = meaning.turning if isinstance(meaning, Total) else 0
        return self.found[place].times(Fraction(1, 1 << turning))

    def _total(self, total: Total) -> Enclosure:
        more = ZERO
        for addend in total.addends:
            factor = Fraction(addend.factor)
            if isinstance(addend, LinearPart):
                more = more + self.found[addend.meaning].times(factor)
                continue
            a, b = self._values(addend.a), self._values(addend.b)
            by_a, by_b = self.found[addend.a], self.found[addend.b]
            more = more + (a * by_b + b * by_a - by_a * by_b).times(factor)
        return more

    def _table(self, table: TableMeaning) -> Enclosure:
        by = self._turns(table.source)
        if not isinstance(table, CurveTable):
            if by == ZERO:
                return ZERO
            # as if what is meant were where the inputs are, and the sketch at their cells' middles
            values = self._values(table.source)
            source = Known(values, values, NONE, by)
            return table_known(self.forward.graph, table, source, None).inputs
        free = replace(table, low=-math.inf, high=math.inf)
        if by != ZERO:
            values = self._values(table.source)
            return curve_within(table, values) - _within(free, values - by)
        if not _ends(self.forward.explained, table):
            return ZERO
        return _beyond(table, free, self._values(table.source))


def _beyond(table: CurveTable, free: CurveTable, values: Enclosure) -> Enclosure:
    """Return how much more a curve with ends is than one without, for values of its source."""
    more = ZERO
    low, high = values.ends
    middle, unit = Fraction(table.middle), Fraction(table.unit)
    for end in (table.low, table.high):
        if not math.isfinite(end):
            continue
        at = (Fraction(end) - middle) / unit
        lower = (end == table.low) == (unit > 0)
        first, last = (low, min(at, high)) if lower else (max(at, low), high)
        if first < last:
            still = curve_within(table, between(at, at))
            more = _both(more, still - _within(free, between(first, last)))
    return more


def _within(table: CurveTable, values: Enclosure) -> Enclosure:
    """Return what a curve is for all values, piece by piece."""
    low, high = values.ends
    borders = [low + (high - low) * k / PIECES for k in range(PIECES + 1)]
    found = [curve_within(table, between(*pair)) for pair in pairwise(borders)]
    return Enclosure(min(one.low for one in found), max(one.high for one in found))


def _both(one: Enclosure, two: Enclosure) -> Enclosure:
    return Enclosure(min(one.low, two.low), max(one.high, two.high))
