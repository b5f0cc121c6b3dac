"""The plain bound, node by node, with sums of heaps, and curves beyond the ends of their tables.

The value of a heap's word is half the weight of all its bits, plus its constant, plus the digits ±½
of its parts (see `words/graph.py`). So the error of a heap consists of errors of its addends, of
their constants, of discarded bits and products, and of one constant, which the graph determines.
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
    AddendSum,
    Bound,
    Bounds,
    Causes,
    CurveTable,
    Enclosures,
    Error,
    GivenWord,
    LinearPart,
    PowerTable,
    ProductPart,
    TurnSum,
    WaveTable,
    WordLine,
    WordPieces,
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
# Sums: the digits that a heap adds up, against the sum that it represents.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of an addend: its enclosures, its words, and the possible values of tables.

    The words of an `output` have no offset, because its decoder ignores it.
    """

    enclosures: Enclosures
    pieces: WordPieces
    entries: Mapping[int, Words] = field(default_factory=dict)
    output: bool = False

    def offset(self, graph: WordGraph, place: int) -> Enclosure:
        return ZERO if self.output else exactly(graph.scales[place].offset)

    def lost(self, graph: WordGraph, place: int, drop: int) -> Enclosure:
        """Enclose the value of the lowest `drop` bits of a word."""
        if not drop:
            return ZERO
        step, mask = step_of(graph, place), (1 << drop) - 1
        if place not in self.entries:
            return about(exactly(Fraction(mask, 2) * step))
        found = 2 * (self.entries[place] & mask) - mask
        return between(int(found.min()) * step / 2, int(found.max()) * step / 2)


@dataclass(frozen=True, slots=True)
class HeapEnclosures:
    """The enclosures of a sum, and whether its heap's word can hold all values of the sum."""

    enclosures: Enclosures
    fits: bool


def step_of(graph: WordGraph, place: int) -> Fraction:
    return Fraction(2) ** graph.scales[place].lsb


def enclose_sum(
    graph: WordGraph,
    total: AddendSum,
    operands: Sequence[tuple[Operand, ...]],
    *,
    output: bool = False,
) -> HeapEnclosures:
    """Enclose a sum; `operands` has one or two operands for each of its addends.

    The decoder of an inner word adds its `offset`, which is part of the word's value; the decoder
    of an output does not.
    """
    exact, inputs = exactly(total.constant), ZERO
    for addend, read in zip(total.addends, operands, strict=True):
        value, moved = exact_addend(addend, read)
        exact, inputs = exact + value, inputs + moved
    if total.word is None:
        return HeapEnclosures(Enclosures(exact, exact, NONE, inputs), fits=True)
    heap = graph.nodes[total.word]
    if not isinstance(heap, Heap):
        raise ValueError(f"word {total.word} is no heap")  # noqa: TRY004 (a value of the claim)
    sum_ = _Sum(graph, total.word, heap)
    for k, (addend, read) in enumerate(zip(total.addends, operands, strict=True)):
        mine = [part for part, owner in zip(heap.parts, total.owners, strict=True) if owner == k]
        if isinstance(addend, LinearPart):
            sum_.linear(addend, read[0], mine)
        else:
            sum_.product(addend, read, mine)
    sum_.constant(total, output=output)
    found = Enclosures(exact, sum_.value, sum_.error, inputs).tightened()
    return HeapEnclosures(found, sum_.fits(found.words, output=output))


def exact_addend(
    addend: LinearPart | ProductPart, read: Sequence[Operand]
) -> tuple[Enclosure, Enclosure]:
    """Enclose an addend at the middles of the inputs' cells, and that minus its exact value."""
    factor = Fraction(addend.factor)
    if isinstance(addend, LinearPart):
        own = read[0].enclosures
        return own.exact.times(factor), own.inputs.times(factor)
    a, b = (one.enclosures for one in read)
    moved = a.exact * b.inputs + b.exact * a.inputs - a.inputs * b.inputs
    return (a.exact * b.exact).times(factor), moved.times(factor)


class _Sum:
    """The value of the parts of a heap, and its error."""

    def __init__(self, graph: WordGraph, place: int, heap: Heap) -> None:
        self.graph, self.place, self.heap = graph, place, heap
        self.line = line_of(graph, place)
        self.value, self.error = ZERO, NONE
        self.offsets = ZERO

    def weight_of(self, part: Bits) -> Fraction:
        """Return the factor at which a word is added."""
        shift = part.column - part.drop - self.graph.scales[part.node].lsb
        size = self.line.step * Fraction(2) ** shift
        return -size if part.negative else size

    def linear(self, addend: LinearPart, read: Operand, parts: Sequence[HeapPart]) -> None:
        """Add the parts of factor · word; each piece of the word is added for every digit."""
        rows = [part for part in parts if isinstance(part, Bits)]
        grids = [part for part in parts if isinstance(part, PartialProducts)]
        found = {place: Counter[Fraction]() for place in read.pieces.words}
        for part in rows:
            if part.node not in found:
                raise ValueError(f"heap {self.place} adds word {part.node}, which is not its own")
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
            for weight in (weights - counted).elements():  # digits that are dropped altogether
                self._discard(about(whole).times(-weight))
            self.offsets = self.offsets + offset.times(-times)
        factor = Fraction(addend.factor)
        own = read.enclosures
        self.value = self.value + own.words.times(times)
        self.error = self.error + own.error.times(times)
        self._add_error(own.exact.times(times - factor))

    def _grids(self, read: Operand, grids: Sequence[PartialProducts]) -> Counter[Fraction]:
        """Return the factors at which the product of an operand's pieces is added."""
        weights = Counter[Fraction]()
        for part in grids:
            if read.pieces.product is None or (part.a, part.b) != read.pieces.product:
                raise ValueError(f"heap {self.place} multiplies words that are not its operands")
            weights[self.times(part)] += 1
            self._discard(self.columns_lost(part))
        return weights

    def _largest(self, words: tuple[int, int]) -> Enclosure:
        """Return the largest product of two words about zero."""
        a, b = (line_of(self.graph, place) for place in words)
        return exactly(a.step * (a.count - 1) * b.step * (b.count - 1) / 4)

    def times(self, part: PartialProducts) -> Fraction:
        """Return the factor at which the product of two words is added."""
        a, b = step_of(self.graph, part.a), step_of(self.graph, part.b)
        column = part.column + 1 - part.drop_a - part.drop_b
        size = self.line.step * Fraction(2) ** column / (a * b)
        return -size if part.negative else size

    def columns_lost(self, part: PartialProducts) -> Enclosure:
        """Bound the value of partial products below column 0."""
        columns = part.layout(self.graph.nodes).diagonals()
        lost = sum((n * Fraction(2) ** (c - 1) for c, n in columns if c < 0), Fraction(0))
        return about(exactly(lost * self.line.step))

    def product(
        self, addend: ProductPart, read: Sequence[Operand], parts: Sequence[HeapPart]
    ) -> None:
        """Add the part of factor · a · b."""
        factor = Fraction(addend.factor)
        a, b = (one.enclosures for one in read)
        exact = (a.exact * b.exact).times(factor)
        if not parts:  # replaced by its mean, in a constant
            self._add_error(-exact)
            return
        (part,) = parts
        if not isinstance(part, PartialProducts) or (part.a, part.b) != tuple(
            word for one in read for word in one.pieces.words
        ):
            raise ValueError(f"heap {self.place} multiplies words that are not its operands")
        if self.times(part) != factor:
            raise ValueError(f"heap {self.place} multiplies by another factor")
        errors, words = [], []
        for one, place, drop in zip(
            read, (part.a, part.b), (part.drop_a, part.drop_b), strict=True
        ):
            lost = one.lost(self.graph, place, drop)
            offset = one.offset(self.graph, place)
            errors.append(one.enclosures.error + Error(ZERO, -(lost + offset)))
            words.append(one.enclosures.words - lost - offset)
        self.value = self.value + (words[0] * words[1]).times(factor)
        self.error = self.error + _product_error(words, errors).times(factor)
        self._discard(self.columns_lost(part))

    def _discard(self, lost: Enclosure) -> None:
        self.value = self.value + lost
        self._add_error(lost)

    def _add_error(self, more: Enclosure) -> None:
        self.error = self.error + Error(ZERO, more)

    def constant(self, total: AddendSum, *, output: bool) -> None:
        """Add the constant and its error, which is zero up to rounding."""
        weight = sum(part.layout(self.graph.nodes).weight for part in self.heap.parts)
        start = self.line.start
        if output:
            start -= Fraction(self.graph.scales[self.place].offset)
        given = exactly(start + self.line.step * (Fraction(weight, 2) + self.heap.constant))
        given = given + self.offsets
        self.value = self.value + given
        error = given - exactly(total.constant)
        if total.turning:
            error = wrapped(error, 1 << total.turning)
        self._add_error(error)

    def fits(self, value: Enclosure, *, output: bool) -> bool:
        """Tell whether the heap's word holds all values of the sum."""
        if self.heap.wraps:
            return True
        start = self.line.start
        if output:
            start -= Fraction(self.graph.scales[self.place].offset)
        low, high = value.ends
        largest = start + self.line.step * (self.line.count - 1)
        return start <= low and high <= largest


def _product_error(words: Sequence[Enclosure], errors: Sequence[Error]) -> Error:
    """Enclose A·B - α·β, where A is α plus an error, and B is β plus an error."""
    (a, b), (da, db) = words, errors
    tables = a * db.tables + b * da.tables - da.tables * db.tables
    both = a * db.bits + b * da.bits - da.bits * db.bits
    return Error(tables, both - da.tables * db.bits - da.bits * db.tables)


def wrapped(value: Enclosure, turn: int) -> Enclosure:
    """Subtract whole turns to bring a number near zero."""
    middle = sum(value.ends) / 2
    return value - exactly(round(Fraction(middle) / turn) * turn)


# --------------------------------------------------------------------------------------------------
# The plain bound: enclosures of words, values and errors, node by node.
#
#     error = [value of the word - exact value at the middles of the inputs' cells]
#           + [exact value at the middles - exact value at the inputs]
#
# The first difference depends on words alone. It stems from entries of tables, which are
# enumerated, and from discarded bits. Sums add it up; a product A·B of α + a and β + b has the
# error A·b + B·a - a·b. The second difference is computed likewise, without words. This applies to
# any graph and any function, and takes milliseconds.
# --------------------------------------------------------------------------------------------------

TABLES = (WaveTable, PowerTable, CurveTable)


class Forward:
    """Enclosures of all meanings, in order, and the heaps that may overflow."""

    def __init__(self, explained: Explained) -> None:
        self.graph, self.explained = explained.graph, explained
        self.enclosures: list[Enclosures] = []
        self.entries: dict[int, Words] = {}
        self.unproved: list[int] = []
        self.outputs = {result.meaning for result in explained.results}
        for place, meaning in enumerate(explained.meanings):
            self.enclosures.append(self._enclosures(place, meaning))

    def _enclosures(self, place: int, meaning: Meaning) -> Enclosures:
        if isinstance(meaning, GivenWord):
            return given_known(self.graph, meaning)
        if isinstance(meaning, TurnSum):
            items = [item for item, _ in meaning.items]
            lines = {k: found for k in items if (found := self.line(k))}
            return turns_known(self.graph, meaning, {k: self.turns(k) for k in items}, lines)
        if isinstance(meaning, TABLES):
            return self._table(meaning)
        operands = [self.operands(addend) for addend in meaning.addends]
        total = enclose_sum(self.graph, meaning, operands, output=place in self.outputs)
        if not total.fits and meaning.word is not None:
            self.unproved.append(meaning.word)
        return total.enclosures

    def operands(self, addend: LinearPart | ProductPart) -> tuple[Operand, ...]:
        return tuple(self._operand(k) for k in _reads(addend))

    def _operand(self, place: int) -> Operand:
        pieces = pieces_of(self.explained.meanings[place])
        entries = {k: self.entries[k] for k in pieces.words if k in self.entries}
        return Operand(self.enclosures[place], pieces, entries, output=place in self.outputs)

    def line(self, place: int) -> tuple[int, WordLine] | None:
        """Return the word of a meaning and its values; those of an angle are in turns."""
        meaning = self.explained.meanings[place]
        if isinstance(meaning, GivenWord):
            return None if meaning.word is None else (meaning.word, given_line(self.graph, meaning))
        if not isinstance(meaning, TurnSum | AddendSum) or meaning.word is None:
            return None
        found = line_of(self.graph, meaning.word)
        if place in self.outputs:
            found = replace(
                found, start=found.start - Fraction(self.graph.scales[meaning.word].offset)
            )
        if isinstance(meaning, AddendSum) and meaning.turning:
            turn = 1 << meaning.turning
            found = WordLine(found.start / turn, found.step / turn, found.count)
        return meaning.word, found

    def turns(self, place: int) -> Enclosures:
        """Return the enclosures of a meaning; those of an angle are in turns."""
        meaning, own = self.explained.meanings[place], self.enclosures[place]
        if not isinstance(meaning, AddendSum) or not meaning.turning:
            return own
        part = Fraction(1, 1 << meaning.turning)
        return Enclosures(
            own.exact.times(part), own.words.times(part), own.error.times(part),
            own.inputs.times(part),
        )  # fmt: skip

    def _table(self, table: TableMeaning) -> Enclosures:
        source, line = self.turns(table.source), self.line(table.source)
        if line is None or not table.pieces.words:
            return table_known(self.graph, table, source, None)
        angle = isinstance(table, WaveTable) or (isinstance(table, CurveTable) and table.angle)
        words = self._words(table.source, source, line[1], angle=angle)
        read = Read(line[0], line[1], words)
        both = (*table.pieces.words, *(table.pieces.product or ()))
        self.entries |= {place: looked_up(self.graph, place, read) for place in both}
        return table_known(self.graph, table, source, read)

    def _words(self, place: int, source: Enclosures, line: WordLine, *, angle: bool) -> Words:
        """Return the possible words of a meaning."""
        import numpy as np  # noqa: PLC0415 (only tables of words need numpy)

        given = self.explained.meanings[place]
        if isinstance(given, GivenWord):
            first, last = cells_reached(line, given)
            return np.arange(first, last + 1, dtype=np.int64)
        return line.reached(source.words, Fraction(1) if angle else None)


def _reads(addend: LinearPart | ProductPart) -> tuple[int, ...]:
    return (addend.meaning,) if isinstance(addend, LinearPart) else (addend.a, addend.b)


def pieces_of(meaning: Meaning) -> WordPieces:
    """Return the words that represent a meaning."""
    if isinstance(meaning, TABLES):
        return meaning.pieces
    return WordPieces(() if meaning.word is None else (meaning.word,))


def plain_bounds(explained: Explained) -> Bounds:
    """Return the plain bound of every output of a graph."""
    forward = Forward(explained)
    found = [
        _bound(explained, result, column, forward)
        for column, result in enumerate(explained.results)
    ]
    return Bounds(tuple(found), tuple(forward.unproved))


def _bound(explained: Explained, result: ResultMeaning, column: int, forward: Forward) -> Bound:
    own = forward.enclosures[result.meaning]
    causes = Causes(
        own.inputs, own.error.tables, own.error.bits, rounding(explained, column, result)
    )
    low, high = causes.total.ends
    if result.rest is not None:
        resting = -at_rest(explained, result)
        low, high = min(low, resting.ends[0]), max(high, resting.ends[1])
    return Bound(result.name, result.unit, result.step, low, high, causes)


def rounding(explained: Explained, column: int, result: ResultMeaning) -> Enclosure:
    """Enclose the value of an output's word minus the sum in its heap."""
    output = explained.graph.results[column]
    lsb = explained.graph.scales[output.node].lsb
    total = explained.meanings[result.meaning]
    if not isinstance(total, AddendSum) or total.word != output.node or output.drop != -lsb:
        raise ValueError(f"the word of {result.name} is not that of its sum")
    half = Fraction(1, 2) - Fraction(1, 2 << output.drop)
    return about(exactly(half)) + moved(explained, column, result)


def moved(explained: Explained, column: int, result: ResultMeaning) -> Enclosure:
    return exactly(result.shift - (Fraction(1, 2) if explained.graph.results[column].tread else 0))


def at_rest(explained: Explained, result: ResultMeaning) -> Enclosure:
    """Enclose an output where its word is held at zero."""
    own = Forward(explained.restricted(dict(result.rest or ()))).enclosures[result.meaning]
    return own.exact - own.inputs


# --------------------------------------------------------------------------------------------------
# Curves of sums beyond the ends of their tables.
#
# A sketch tabulates a curve of a sum over a range that samples of the sum reached, with a margin,
# and clamps arguments beyond. If the sum is not proved to stay in this range, the sketch may differ
# from the specified function. This difference is enclosed node by node, as the plain bound is, and
# added to a bound of any grade.
# --------------------------------------------------------------------------------------------------

PIECES = 64  # of an interval beyond an end; a curve is enclosed in each


def beyond_ends(explained: Explained, bounds: Bounds) -> Bounds:
    """Return bounds against the specified function, given bounds against the sketch.

    An unbounded curve beyond an end is a `DataError`.
    """
    if all(bound.of_specification for bound in bounds.outputs):
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
    """Tell whether a meaning is a curve with ends; ends of curves of inputs are those of inputs."""
    if not isinstance(table, CurveTable):
        return False
    given = isinstance(explained.meanings[table.source], GivenWord)
    return not given and (math.isfinite(table.low) or math.isfinite(table.high))


def _moved(bound: Bound, by: Enclosure) -> Bound:
    low, high = by.ends
    causes = replace(bound.causes, inputs=bound.causes.inputs + by)
    return replace(bound, low=bound.low + low, high=bound.high + high, causes=causes)


class _Excess:
    """The sketch's function minus the specified function, for every meaning."""

    def __init__(self, forward: Forward) -> None:
        self.forward, self.meanings = forward, forward.explained.meanings
        self.found: list[Enclosure] = []
        for meaning in self.meanings:
            if isinstance(meaning, GivenWord):
                self.found.append(ZERO)
            elif isinstance(meaning, TurnSum):
                parts = (self._turns(k).times(Fraction(multiple)) for k, multiple in meaning.items)
                self.found.append(sum(parts, ZERO))
            elif isinstance(meaning, AddendSum):
                self.found.append(self._total(meaning))
            else:
                self.found.append(self._table(meaning))

    def _values(self, place: int) -> Enclosure:
        """Enclose the sketch's function over all inputs."""
        own = self.forward.enclosures[place]
        return own.exact - own.inputs

    def _turns(self, place: int) -> Enclosure:
        """Return the difference of an angle, in turns."""
        meaning = self.meanings[place]
        turning = meaning.turning if isinstance(meaning, AddendSum) else 0
        return self.found[place].times(Fraction(1, 1 << turning))

    def _total(self, total: AddendSum) -> Enclosure:
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
            # the specified function is evaluated at inputs, the sketch at the middles of cells
            values = self._values(table.source)
            source = Enclosures(values, values, NONE, by)
            return table_known(self.forward.graph, table, source, None).inputs
        free = replace(table, low=-math.inf, high=math.inf)
        if by != ZERO:
            values = self._values(table.source)
            return curve_within(table, values) - _within(free, values - by)
        if not _ends(self.forward.explained, table):
            return ZERO
        return _beyond(table, free, self._values(table.source))


def _beyond(table: CurveTable, free: CurveTable, values: Enclosure) -> Enclosure:
    """Enclose a curve with ends minus the curve without, over values of its source."""
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
            clamped = curve_within(table, between(at, at))
            more = more.join(clamped - _within(free, between(first, last)))
    return more


def _within(table: CurveTable, values: Enclosure) -> Enclosure:
    """Enclose a curve over values, piece by piece."""
    low, high = values.ends
    borders = [low + (high - low) * k / PIECES for k in range(PIECES + 1)]
    found = [curve_within(table, between(*pair)) for pair in pairwise(borders)]
    return Enclosure(min(one.low for one in found), max(one.high for one in found))
