"""Proved bounds of paper mode: sums of tables, whose terms share input bits.

Within a cell of all inputs the entry of a table is constant and its term is almost linear in every
input. The error is therefore largest at a corner, except for the remainder Σ sup|∂²f/∂x²| h²/2 with
half widths h. Terms share the leading bits of an input; for the remaining bits and for corners each
term takes its own worst case. More shared bits give a tighter bound; without shared bits it is the
sum of the worst errors of all terms. The work is counted before it is done.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.logic.adders import Addend, Sum
from boolcomp.proof.bound.balls import PLACES, Enclosure, about, between, exactly, of_ball, precise
from boolcomp.proof.bound.meaning import Bound, Causes
from boolcomp.proof.bound.tables import TIE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.problem.words import Input
    from boolcomp.terms.terms import Term

    Whole = NDArray[np.int64]
    Scope = tuple[str, ...]
    Table = tuple[Scope, Whole]

# --------------------------------------------------------------------------------------------------
# Inputs: cells of words, borders of cells, and harmonics and powers at these points.
#
# Points are exact. The first and the last cell end at the limits of the input's range. Cosines are
# balls, rounded once to integers in units of 2^-SHIFT; so are all other numbers. The error of each
# is at most a `slack` of such units, which every product propagates.
# --------------------------------------------------------------------------------------------------

SHIFT = 30  # unit 2^-30: products of numbers of size one have 60 bits
UNIT = 1 << SHIFT


class Numbers(NamedTuple):
    """Numbers of size one, in units, each with an error of at most `slack` units."""

    values: Whole
    slack: int


class CosineSine(NamedTuple):
    """Cosines and sines of the same angles."""

    cosine: Numbers
    sine: Numbers


@dataclass(frozen=True)
class InputPoints:
    """Points of an input, with harmonics, and powers of their ratio to `size`."""

    at: tuple[Fraction, ...]
    size: Fraction
    _turning: dict[int, CosineSine] = field(default_factory=dict)

    def turning(self, k: int) -> CosineSine:
        """Return the cosines and sines of k times the points."""
        if k not in self._turning:
            self._turning[k] = _turned(self.at, k)
        return self._turning[k]

    @cached_property
    def shares(self) -> Numbers:
        """The points divided by the size."""
        shares = (place / self.size for place in self.at)
        values = [(one.numerator << SHIFT) // one.denominator for one in shares]
        return Numbers(np.array(values, np.int64), 1)

    def some(self, start: int, stop: int) -> InputPoints:
        """Select points, with the harmonics computed so far."""
        if (start, stop) == (0, len(self.at)):
            return self
        turning = {k: _some(turn, start, stop) for k, turn in self._turning.items()}
        return InputPoints(self.at[start:stop], self.size, turning)


def _some(turn: CosineSine, start: int, stop: int) -> CosineSine:
    cosine, sine = (Numbers(one.values[start:stop], one.slack) for one in turn)
    return CosineSine(cosine, sine)


def _turned(places: tuple[Fraction, ...], k: int) -> CosineSine:
    from flint import fmpq  # noqa: PLC0415 (see `precise`)

    arb, down = precise(), PLACES - SHIFT
    cosines, sines = [], []
    for place in places:
        angle = arb(fmpq(k * place.numerator, place.denominator))
        sine, cosine = angle.sin_cos()
        cosines.append(of_ball(cosine).low >> down)
        sines.append(of_ball(sine).low >> down)
    first, second = (Numbers(np.array(one, np.int64), 2) for one in (cosines, sines))
    return CosineSine(first, second)


@dataclass(frozen=True)
class InputLine:
    """An input: the lowest border and the width of its words, and its possible values.

    `fewest` is the number of bits of the coarsest word that a table reads. Encoders round values
    near the border of such a cell.
    """

    low: Fraction
    width: Fraction
    allowed: tuple[Fraction, Fraction]
    wraps: bool
    fewest: int
    _points: dict[tuple[str, int], InputPoints] = field(default_factory=dict)

    @property
    def size(self) -> Fraction:
        """The largest absolute value of the input, or of a cell's middle."""
        ends = (self.low, self.low + self.width, *self.allowed)
        return max(abs(end) for end in ends)

    def step(self, bits: int) -> Fraction:
        return self.width / (1 << bits)

    def cells(self, bits: int) -> tuple[int, int]:
        """Return the first and the last cell that the input can have."""
        top = (1 << bits) - 1
        if self.wraps:
            return 0, top
        tolerance, step = TIE * self.step(self.fewest), self.step(bits)
        low = (self.allowed[0] - self.low - tolerance) / step
        high = (self.allowed[1] - self.low + tolerance) / step
        first, last = low.numerator // low.denominator, high.numerator // high.denominator
        return min(max(first, 0), top), min(max(last, 0), top)

    def borders(self, bits: int) -> InputPoints:
        """Return the borders of cells, limited to the range of the input."""

        def inside() -> list[Fraction]:
            found = self._from_cells(bits, Fraction(0), 1)
            if self.wraps:
                return found
            least, largest = self.allowed
            return [least, *(min(max(x, least), largest) for x in found[1:-1]), largest]

        return self._kept("borders", bits, inside)

    def whole(self, bits: int) -> InputPoints:
        return self._kept("whole", bits, lambda: self._from_cells(bits, Fraction(0), 1))

    def middles(self, bits: int) -> InputPoints:
        return self._kept("middles", bits, lambda: self._from_cells(bits, Fraction(1, 2), 0))

    def _from_cells(self, bits: int, within: Fraction, more: int) -> list[Fraction]:
        first, last = self.cells(bits)
        step = self.step(bits)
        return [self.low + step * (k + within) for k in range(first, last + 1 + more)]

    def _kept(self, what: str, bits: int, made: Callable[[], list[Fraction]]) -> InputPoints:
        if (what, bits) not in self._points:
            self._points[what, bits] = InputPoints(tuple(made()), self.size)
        return self._points[what, bits]


def line_of(variable: Input, fewest: int) -> InputLine:
    """Return the cells of an input; one that wraps may have any value in a turn."""
    word, wraps = variable.word, variable.wraps
    allowed = word if wraps else variable.range
    low = Fraction(word.low)
    ends = Fraction(allowed.low), Fraction(allowed.high)
    return InputLine(low, Fraction(word.high) - low, ends, wraps, fewest)


# --------------------------------------------------------------------------------------------------
# A term, or a derivative of it, on a grid: integers with counted errors.
#
#     f = Σ (c cos φ + s sin φ) Π x^p · Π x,  φ = Σ k·x
#
# All numbers are ratios to their largest possible value; that is multiplied at the end.
# --------------------------------------------------------------------------------------------------

MOST_SLACK = 1 << 20  # units: limit on the error of a ratio


@dataclass(frozen=True, slots=True)
class TermPart:
    """(cosine·cos φ + sine·sin φ) Π x^power with exact coefficients."""

    multiples: Mapping[str, int]
    powers: Mapping[str, int]
    cosine: Fraction
    sine: Fraction

    def height(self, sizes: Mapping[str, Fraction]) -> Fraction:
        """Bound the absolute value."""
        largest = abs(self.cosine) + abs(self.sine)
        for name, power in self.powers.items():
            largest *= sizes[name] ** power
        return largest


@dataclass(frozen=True, slots=True)
class TermFunction:
    """A sum of parts times powers of inputs; `names` are all its inputs."""

    names: tuple[str, ...]
    parts: tuple[TermPart, ...]
    factor: Mapping[str, int]

    def height(self, sizes: Mapping[str, Fraction]) -> Fraction:
        """Bound the absolute value."""
        largest = sum((part.height(sizes) for part in self.parts), Fraction(0))
        for name, power in self.factor.items():
            largest *= sizes[name] ** power
        return largest

    def slope(self, name: str) -> TermFunction:
        """Differentiate by an input."""
        power = self.factor.get(name, 0)
        sides = []
        if power:
            lower = {**self.factor, name: power - 1}
            times = tuple(
                replace(p, cosine=p.cosine * power, sine=p.sine * power) for p in self.parts
            )
            sides.append((times, lower))
        parts = tuple(one for part in self.parts for one in _slopes(part, name))
        if power and parts:  # the input occurs in factor and parts: move its power to the parts
            raised = tuple(
                replace(p, powers={**p.powers, name: p.powers.get(name, 0) + power}) for p in parts
            )
            below = tuple(
                replace(p, powers={**p.powers, name: p.powers.get(name, 0) + power - 1})
                for p in sides[0][0]
            )
            return TermFunction(self.names, (*raised, *below), {**self.factor, name: 0})
        if sides:
            return TermFunction(self.names, *sides[0])
        return TermFunction(self.names, parts, self.factor)


def function_of(term: Term) -> TermFunction:
    """Return the function of a term, with exact coefficients."""
    parts = tuple(
        TermPart(dict(w.multiples), dict(w.powers), Fraction(w.cosine), Fraction(w.sine))
        for w in term.waves()
    )
    names = tuple(variable.name for variable in term.variables)
    return TermFunction(names, parts, Counter(v.name for v in term.factor))


def _slopes(part: TermPart, name: str) -> list[TermPart]:
    found = []
    if k := part.multiples.get(name, 0):
        found.append(replace(part, cosine=k * part.sine, sine=-k * part.cosine))
    if power := part.powers.get(name, 0):
        lower = {**part.powers, name: power - 1}
        found.append(TermPart(part.multiples, lower, power * part.cosine, power * part.sine))
    return found


@dataclass(frozen=True, slots=True)
class GridValues:
    """A function's values on a grid, each with an error of at most `slack`."""

    values: Whole
    slack: int


def on_grid(function: TermFunction, points: Sequence[InputPoints], unit: Fraction) -> GridValues:
    """Evaluate a function at all combinations of points, in units; its inputs are the axes."""
    sizes = {name: one.size for name, one in zip(function.names, points, strict=True)}
    height = function.height(sizes) / unit
    scale = -(-height.numerator // height.denominator)
    if scale >= 1 << (62 - SHIFT):
        raise ValueError("a function is too large for 64-bit numbers")
    if not scale:
        return GridValues(np.zeros([1] * len(points), np.int64), 0)
    share = _coefficient(function, points, sizes)
    # `scale` is the height rounded up
    scaled = _shifted(share.values * scale)
    slack = (share.slack * scale >> SHIFT) + 3
    product = _product(function, points)
    if product is None:
        return GridValues(scaled, slack)
    more = (product.slack * (scale + slack) >> SHIFT) + 3
    return GridValues(_shifted(scaled * product.values), slack + more)


def _coefficient(
    function: TermFunction, points: Sequence[InputPoints], sizes: Mapping[str, Fraction]
) -> Numbers:
    """Return the sum of parts, divided by the sum of their heights."""
    whole = sum((part.height(sizes) for part in function.parts), Fraction(0))
    total: Whole = np.zeros([1] * len(points), np.int64)
    slack = 0
    for part in function.parts:
        share = part.height(sizes) / (abs(part.cosine) + abs(part.sine) or 1) / whole
        c, s = (_rounded(one * share) for one in (part.cosine, part.sine))
        cosine, sine, error = _wave(function, part, points)
        total = total + _shifted(cosine * c + sine * s)
        slack += (error * (abs(c) + abs(s)) >> SHIFT) + 5
    return _checked(Numbers(total, slack))


def _wave(
    function: TermFunction, part: TermPart, points: Sequence[InputPoints]
) -> tuple[Whole, Whole, int]:
    """Return cos φ and sin φ, each times the powers, and the error of both."""
    shape = [1] * len(points)
    cosine: Whole = np.full(shape, UNIT, np.int64)
    sine: Whole = np.zeros(shape, np.int64)
    slack, started = 0, False
    for axis, (name, place) in enumerate(zip(function.names, points, strict=True)):
        if k := part.multiples.get(name, 0):
            turn = place.turning(k)
            c, s = (_along(one.values, axis, len(points)) for one in turn)
            if started:
                cosine, sine = (_shifted(cosine * c - sine * s), _shifted(cosine * s + sine * c))
                slack = (3 * (slack + turn.cosine.slack) + 1) // 2 + 2
            else:
                cosine, sine, slack, started = c, s, turn.cosine.slack, True
        for _ in range(part.powers.get(name, 0)):
            power = _along(place.shares.values, axis, len(points))
            cosine, sine = _shifted(cosine * power), _shifted(sine * power)
            slack += place.shares.slack + 2
    return cosine, sine, slack


def _product(function: TermFunction, points: Sequence[InputPoints]) -> Numbers | None:
    """Return the product of the factor's inputs, each divided by its size."""
    found: Numbers | None = None
    for axis, (name, place) in enumerate(zip(function.names, points, strict=True)):
        for _ in range(function.factor.get(name, 0)):
            share = _along(place.shares.values, axis, len(points))
            if found is None:
                found = Numbers(share, place.shares.slack)
            else:
                values = _shifted(found.values * share)
                found = Numbers(values, found.slack + place.shares.slack + 2)
    return None if found is None else _checked(found)


def _along(values: Whole, axis: int, axes: int) -> Whole:
    shape = [1] * axes
    shape[axis] = -1
    return values.reshape(shape)


def _shifted(values: Whole) -> Whole:
    return np.asarray(values >> np.int64(SHIFT))


def _rounded(value: Fraction) -> int:
    return (value.numerator << SHIFT) // value.denominator


def _checked(numbers: Numbers) -> Numbers:
    if numbers.slack > MOST_SLACK:
        raise ValueError("a sum of harmonics is too long to be evaluated precisely enough")
    return numbers


# --------------------------------------------------------------------------------------------------
# The maximum of a sum of tables that share inputs, by bucket elimination.
#
#     max over x of Σ F(x_F)
#
# Inputs are eliminated one by one: all tables with the input are added, and maximised over it. If
# the sum would be larger than the limit, its tables are split into several sums, each maximised by
# itself (mini-buckets, R. Dechter and I. Rish), which can only increase the result. The order
# depends on sizes alone, and so does the cost.
# --------------------------------------------------------------------------------------------------

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EliminationStep:
    """Add tables, given by index, and eliminate `name`; the result is appended to the tables."""

    name: str
    tables: tuple[int, ...]
    scope: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """All steps, the numbers they process, and the number of times a bucket was split."""

    steps: tuple[EliminationStep, ...]
    cost: int
    splits: int


def order_of(scopes: Sequence[Scope], sizes: Mapping[str, int], limit: int) -> Order:
    """Choose an order of elimination: names with the smallest sums first."""
    alive: dict[int, frozenset[str]] = {k: frozenset(one) for k, one in enumerate(scopes)}
    steps: list[EliminationStep] = []
    cost = splits = 0
    left = sorted({name for one in scopes for name in one})
    while left:
        name = min(left, key=lambda one: (_size(_union(alive, one), sizes), one))
        left.remove(name)
        bucket = sorted(
            (k for k, one in alive.items() if name in one),
            key=lambda k: (-_size(alive[k], sizes), k),
        )
        parts = _mini_buckets(bucket, alive, sizes, limit)
        splits += len(parts) - 1
        for part in parts:
            union = NOTHING.union(*(alive.pop(k) for k in part))
            cost += _size(union, sizes) * len(part)
            place = len(scopes) + len(steps)
            steps.append(EliminationStep(name, tuple(part), tuple(sorted(union))))
            alive[place] = union - {name}
    return Order(tuple(steps), cost, splits)


def _union(alive: Mapping[int, frozenset[str]], name: str) -> frozenset[str]:
    return NOTHING.union(*(one for one in alive.values() if name in one))


def _size(scope: frozenset[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[name] for name in scope)


def _mini_buckets(
    bucket: Sequence[int], alive: Mapping[int, frozenset[str]], sizes: Mapping[str, int], limit: int
) -> list[list[int]]:
    """Assign each table, the largest first, to the first sum that stays within the limit."""
    parts: list[list[int]] = []
    unions: list[frozenset[str]] = []
    for place in bucket:
        for k, union in enumerate(unions):
            if _size(union | alive[place], sizes) <= limit:
                parts[k].append(place)
                unions[k] = union | alive[place]
                break
        else:
            parts.append([place])
            unions.append(alive[place])
    return parts


def largest(tables: Sequence[Table], order: Order) -> int:
    """Bound the sum of tables."""
    made: dict[int, Table] = dict(enumerate(tables))
    for place, step in enumerate(order.steps, len(tables)):
        total: Whole | None = None
        for one in step.tables:
            aligned = _aligned(made.pop(one), step.scope)
            total = aligned if total is None else total + aligned
        if total is None:
            raise ValueError("a step without tables")
        scope = tuple(name for name in step.scope if name != step.name)
        made[place] = scope, np.asarray(total.max(axis=step.scope.index(step.name)))
    return sum(int(values.reshape(())) for _, values in made.values())


def _aligned(table: Table, scope: Scope) -> Whole:
    """Return a table with an axis for every name of a scope, of length one for missing names."""
    names, values = table
    order = [names.index(name) for name in scope if name in names]
    shape = [values.shape[names.index(name)] if name in names else 1 for name in scope]
    return np.asarray(values.transpose(order).reshape(shape))


# --------------------------------------------------------------------------------------------------
# Entries of tables by cells of inputs.
#
# Rows are in the order of words; where the first bit is dropped, two cells share a row. An entry
# with one free bit may have either value. An entry with more free bits may have any value.
# --------------------------------------------------------------------------------------------------


class Entries(NamedTuple):
    """Minimum and maximum of every entry, in half steps, by cells of words."""

    low: Whole
    high: Whole

    def rows(self, first: int, last: int) -> Entries:
        return Entries(self.low[first:last], self.high[first:last])


def entries_of(
    table: TruthTable, code: Code, words: Sequence[ReadWord], lines: Sequence[InputLine]
) -> Entries:
    """Return the entries at all cells that inputs can have."""
    if table.inputs != sum(word.code.bits - word.dropped for word in words):
        raise ValueError("the inputs of a table are not the bits of its words")
    if table.outputs != code.bits:
        raise ValueError("the outputs of a table are not the bits of its code")
    least, largest = _cells(table, code)
    shape = [1 << (word.code.bits - word.dropped) for word in words]
    places = []
    for word, line in zip(words, lines, strict=True):
        first, last = line.cells(word.code.bits)
        found = word.code.word(np.arange(first, last + 1))
        places.append(found & np.uint32((1 << (word.code.bits - word.dropped)) - 1))
    at = np.ix_(*places) if places else ()
    halves = ((2 * cells.reshape(shape)[at]) - (code.cells - 1) for cells in (least, largest))
    return Entries(*halves)


def _cells(table: TruthTable, code: Code) -> tuple[Whole, Whole]:
    """Return the least and the largest cell of every row."""
    words = table.words()
    here = code.index(words).astype(np.int64)
    if not table.free:
        return here, here
    free = np.zeros(len(words), np.uint32)
    for column in table.free:
        packed = np.frombuffer(column.tobytes(), dtype=np.uint8)
        free = free << np.uint32(1) | np.unpackbits(packed)[: len(free)]
    other = code.index(words ^ free).astype(np.int64)
    one = (free & (free - np.uint32(free.any()))) == 0  # at most one bit is free
    low = np.where(one, np.minimum(here, other), 0)
    high = np.where(one, np.maximum(here, other), code.cells - 1)
    return low, high


# --------------------------------------------------------------------------------------------------
# Errors of a term, by the parts of its inputs that other terms share.
# --------------------------------------------------------------------------------------------------

CHUNK = 1 << 17  # numbers processed at a time, so that they fit in a cache
NEVER = -(1 << 60)  # less than any error


@dataclass(frozen=True, slots=True)
class SharedAxis:
    """An input of a term: cells of `bits` bits, of which other terms share the `shared` leading."""

    name: str
    line: InputLine
    bits: int
    shared: int

    @property
    def distinguished(self) -> bool:
        return self.groups > 1

    @property
    def groups(self) -> int:
        """Number of values of the shared bits."""
        first, last = self.line.cells(self.shared)
        return last - first + 1

    @property
    def cells(self) -> int:
        """Number of cells."""
        first, last = self.line.cells(self.bits)
        return last - first + 1

    def group(self) -> Whole:
        """Return the value of the shared bits for every cell, counted from the first."""
        first, last = self.line.cells(self.bits)
        leading = np.arange(first, last + 1) >> (self.bits - self.shared)
        return np.asarray(leading - self.line.cells(self.shared)[0])


@dataclass(frozen=True, slots=True)
class TermMeasures:
    """The largest errors of a term for every state of the inputs named, and their causes, in units.

    `high` bounds the table minus the term, `low` the term minus the table. Both include the
    `remainder`, which curvature within cells causes.
    """

    names: tuple[str, ...]
    high: Whole
    low: Whole
    tables: int
    inputs: int
    remainder: int


def remainders(function: TermFunction, axes: Sequence[SharedAxis]) -> list[Fraction]:
    """Bound the deviation of a term inside cells from the ends of cells, along every axis."""
    sizes = {axis.name: axis.line.size for axis in axes}
    found = []
    for axis in axes:
        curved = function.slope(axis.name).slope(axis.name).height(sizes)
        found.append(curved * (axis.line.step(axis.bits) / 2) ** 2 / 2)
    return found


def remainder(function: TermFunction, axes: Sequence[SharedAxis]) -> Fraction:
    return sum(remainders(function, axes), Fraction(0))


def ties(function: TermFunction, axes: Sequence[SharedAxis]) -> Fraction:
    """Bound the change of a term by encoders that round values near a border to the next cell."""
    sizes = {axis.name: axis.line.size for axis in axes}
    return sum(
        (
            function.slope(axis.name).height(sizes)
            * max(TIE * axis.line.step(axis.line.fewest), TIE * axis.line.wraps)
            for axis in axes
        ),
        Fraction(0),
    )


def measured(
    term: TabledTerm, axes: Sequence[SharedAxis], unit: Fraction, halves: int
) -> TermMeasures:
    """Enclose the errors of a term by all its entries, at the corners of all cells.

    `halves` is the number of units in half a step.
    """
    return _Term(term, tuple(axes), function_of(term.term), unit, halves).measured()


@dataclass(frozen=True, slots=True)
class _Block:
    """Errors for some groups of the first axis, with their causes."""

    first: int
    high: Whole
    low: Whole
    tables: int
    inputs: int
    slack: int


@dataclass(frozen=True, slots=True)
class _Term:
    """A term, its function, and the axes of its inputs."""

    term: TabledTerm
    axes: tuple[SharedAxis, ...]
    function: TermFunction
    unit: Fraction
    halves: int

    def measured(self) -> TermMeasures:
        rest = up(remainder(self.function, self.axes) / self.unit)
        slack = rest + up(ties(self.function, self.axes) / self.unit)
        shape = [axis.groups for axis in self.axes]
        high, low = (np.full(shape, NEVER, np.int64) for _ in range(2))
        tables = inputs = error = 0
        for block in self._blocks():
            for whole, found in ((high, block.high), (low, block.low)):
                part = whole[block.first : block.first + len(found)] if self.axes else whole
                np.maximum(part, found, out=part)
            tables, inputs = max(tables, block.tables), max(inputs, block.inputs)
            error = max(error, block.slack)
        names = tuple(axis.name for axis in self.axes if axis.distinguished)
        sizes, times = [n for n in shape if n > 1], self.term.times
        high, low = (times * (side.reshape(sizes) + slack + error) for side in (high, low))
        inputs = times * (inputs + slack + error)
        return TermMeasures(names, high, low, times * tables, inputs, times * rest)

    def _blocks(self) -> Iterator[_Block]:
        """Yield errors for consecutive parts of the first axis."""
        term = self.term
        if term.table is None:
            raise ValueError("a term without a table has no entries")
        lines = [axis.line for axis in self.axes]
        entries = entries_of(term.table, term.code, term.words, lines)
        if not self.axes:
            yield self._constant(entries)
            return
        first, others = self.axes[0], self.axes[1:]
        for part in self.function.parts:
            if k := part.multiples.get(first.name, 0):  # computed once, before points are selected
                first.line.borders(first.bits).turning(k)
                first.line.middles(term.words[0].code.bits).turning(k)
        rows = max(1, CHUNK // math.prod(axis.cells + 1 for axis in others))
        for start in range(0, first.cells, rows):
            yield self._block(entries, start, min(start + rows, first.cells))

    def _constant(self, entries: Entries) -> _Block:
        """Return the errors of a term without inputs."""
        field = on_grid(self.function, (), self.unit)
        value = int(field.values.reshape(()))
        low, high = (int(side) * self.halves for side in entries)
        error = max(abs(high - value), abs(low - value)) + field.slack
        return _Block(0, np.array(high - value), np.array(value - low), error, 0, field.slack)

    def _block(self, entries: Entries, start: int, stop: int) -> _Block:
        """Return the errors for some cells of the first axis."""
        points = [axis.line.borders(axis.bits) for axis in self.axes]
        points[0] = points[0].some(start, stop + 1)
        field = on_grid(self.function, points, self.unit)
        values = np.broadcast_to(field.values, [len(place.at) for place in points])
        least, most = corners(values, np.minimum), corners(values, np.maximum)
        made, middle = self._entries(entries, start, stop)
        tables = _largest(made.high - middle.values, made.low - middle.values) + middle.slack
        at = np.ix_(
            *(
                _words_of(axis, word.code.bits, (0, axis.cells) if k else (start, stop))
                for k, (axis, word) in enumerate(zip(self.axes, self.term.words, strict=True))
            )
        )
        centre = middle.values[at]
        inputs = _largest(centre - least, centre - most) + middle.slack
        groups = [axis.group() for axis in self.axes]
        groups[0] = groups[0][start:stop]
        high, low = (grouped(side, groups) for side in (made.high[at] - least, most - made.low[at]))
        return _Block(int(groups[0][0]), high, low, tables, inputs, field.slack)

    def _entries(self, entries: Entries, start: int, stop: int) -> tuple[Entries, GridValues]:
        """Return the entries of words for some cells, and the term at the middles of the words."""
        words = self.term.words
        points = [a.line.middles(w.code.bits) for a, w in zip(self.axes, words, strict=True)]
        first, last = _words(self.axes[0], words[0].code.bits, start, stop)
        points[0] = points[0].some(first, last + 1)
        middle = on_grid(self.function, points, self.unit)
        some = entries.rows(first, last + 1)
        values = np.broadcast_to(middle.values, [len(place.at) for place in points])
        made = Entries(some.low * self.halves, some.high * self.halves)
        return made, GridValues(values, middle.slack)


def _words(axis: SharedAxis, bits: int, start: int, stop: int) -> tuple[int, int]:
    """Return the first and the last word of some cells, counted from the first possible word."""
    base, down = axis.line.cells(axis.bits)[0], axis.bits - bits
    lowest = axis.line.cells(bits)[0]
    return ((base + start) >> down) - lowest, ((base + stop - 1) >> down) - lowest


def _words_of(axis: SharedAxis, bits: int, rows: tuple[int, int]) -> Whole:
    """Return the word of each of some cells, counted from the first of them."""
    base = axis.line.cells(axis.bits)[0]
    words = (base + np.arange(*rows)) >> (axis.bits - bits)
    return np.asarray(words - words[0])


def corners(values: Whole, worse: np.ufunc) -> Whole:
    """Return the worse of the values at the corners of every cell, given values at all borders."""
    for axis in range(values.ndim):
        before = (slice(None),) * axis
        values = worse(values[(*before, slice(None, -1))], values[(*before, slice(1, None))])
    return values


def grouped(values: Whole, groups: Sequence[Whole]) -> Whole:
    """Return the maximum of every group of cells."""
    for axis, group in enumerate(groups):
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        if len(starts) < len(group):
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values


def _largest(*sides: Whole) -> int:
    return max(max(int(side.max()), -int(side.min())) for side in sides)


def up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


# --------------------------------------------------------------------------------------------------
# The terms of an output and their tables.
#
#     output = decoder(floor((Σ cells of tables + C) / 2^guard_bits)) ≈ Σ terms
#
# The bound requires only that the logic has these tables: entries are compared with terms one by
# one. The entries of a table too large to be made are known only up to the rounding of values.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReadWord:
    """The word of an input that a table reads; `dropped` is 1 if the first bit is not read."""

    variable: Input
    code: Code
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class TabledTerm:
    """A term, the code of its table, the words that the table reads, and its multiplicity.

    `table` is None if it was not made. Its entries are then within `missed` steps of the term at
    the middles of cells, clamped to the code.
    """

    term: Term
    code: Code
    words: tuple[ReadWord, ...]
    table: TruthTable | None = None
    times: int = 1
    missed: Fraction = Fraction(1, 2)

    @property
    def estimated(self) -> bool:
        return self.table is None


@dataclass(frozen=True, slots=True)
class TabledSum:
    """An output: the code of its word, the guard bits of its tables, and its terms.

    `step` is the common step of all tables. The sum of tables counts from the middle of a range of
    2^guard_bits steps per cell of the word; the word's range may be displaced. Terms that are
    `left_out` have no tables.
    """

    name: str
    unit: str
    word: Code
    step: Fraction
    guard_bits: int
    terms: tuple[TabledTerm, ...]
    left_out: tuple[Term, ...] = ()


# --------------------------------------------------------------------------------------------------
# The bits of every input that terms of an output share, as many as the effort allows.
# --------------------------------------------------------------------------------------------------

FINE = 9  # bits of angles and of squared inputs: limit of refinement for curvature
BENT = Fraction(1, 256)  # of an output's step: tolerated deviation by curvature
ROUGH = 6  # bits of the cells on which derivatives of terms without tables are bounded
MOST = 1 << 22  # numbers in a table
AHEAD = 2  # additional shared bits of angles, compared with linear inputs


@dataclass(frozen=True, slots=True)
class AxisLayout:
    """The axes of every term, the order of elimination, and the cost in numbers."""

    axes: tuple[tuple[SharedAxis, ...], ...]
    order: Order
    cost: int


@dataclass(frozen=True, slots=True)
class _InputReader:
    """An input: its finest cells, whether terms are curved along it, and its number of terms."""

    line: InputLine
    finest: int
    bent: bool
    readers: int


def layout_of(
    terms: Sequence[TabledTerm],
    lines: Mapping[str, InputLine],
    lsb: Fraction,
    effort: int,
    limit: int = MOST,
) -> AxisLayout:
    """Choose the finest layout whose cost exceeds that of the coarsest by at most the effort."""
    search = _LayoutSearch(tuple(terms), _readers(terms, lines), effort, limit)
    readers = search.readers
    common = [name for name, one in readers.items() if one.readers > 1]
    finest = max((readers[name].finest for name in common), default=0)
    bits = dict.fromkeys(common, 0)
    best = search.laid(search.coarse(bits))
    least = best.cost  # every entry is processed once, whatever the effort
    for level in range(finest + 1):
        wider = {n: min(readers[n].finest, level + AHEAD * readers[n].bent) for n in common}
        found = search.laid(search.coarse(wider))
        if 2 * (found.cost - least) > effort:
            break
        bits, best = wider, found
    for name in sorted(common, key=lambda one: (not readers[one].bent, one)):
        while bits[name] < readers[name].finest:
            wider = {**bits, name: bits[name] + 1}
            found = search.laid(search.coarse(wider))
            if 2 * (found.cost - least) > effort or found.order.splits > best.order.splits:
                break
            bits, best = wider, found
    return search.laid(search.refined(search.coarse(bits), BENT * lsb, effort + least - best.cost))


def _readers(
    terms: Sequence[TabledTerm], lines: Mapping[str, InputLine]
) -> dict[str, _InputReader]:
    widest: Counter[str] = Counter()
    bent: set[str] = set()
    count: Counter[str] = Counter()
    for term in terms:
        for word in term.words:
            name = word.variable.name
            widest[name] = max(widest[name], word.code.bits)
        powers = Counter(variable.name for variable in term.term.factor)
        count.update(variable.name for variable in term.term.variables)
        bent |= {name for name, power in powers.items() if power > 1}
        bent |= {variable.name for variable in term.term.arguments}
    found = {}
    for name, line in lines.items():
        bits = max(widest[name], 1)
        fine = max(bits + 1, FINE) if name in bent else bits + 1
        found[name] = _InputReader(line, fine, name in bent, count[name])
    return found


@dataclass(frozen=True, slots=True)
class _LayoutSearch:
    """The terms and inputs of a layout, and limits on its cost."""

    terms: tuple[TabledTerm, ...]
    readers: Mapping[str, _InputReader]
    effort: int
    limit: int

    def laid(self, axes: Sequence[tuple[SharedAxis, ...]]) -> AxisLayout:
        """Return a layout of these axes, with an order and its cost."""
        cost, scopes = 0, []
        sizes: dict[str, int] = {}
        for term, own in zip(self.terms, axes, strict=True):
            cost += _cost(own) * (1 + len(own) * term.estimated)
            scopes.append(tuple(axis.name for axis in own if axis.distinguished))
            sizes |= {axis.name: axis.groups for axis in own}
        order = order_of(scopes, sizes, self.limit)
        return AxisLayout(tuple(axes), order, cost + 2 * order.cost)

    def coarse(self, shared: Mapping[str, int]) -> list[tuple[SharedAxis, ...]]:
        """Return the axes of all terms, given the shared bits, with the cells of words."""
        found = []
        for term in self.terms:
            axes = []
            for word in term.words:
                name, bits = word.variable.name, word.code.bits
                share = shared.get(name, 0)
                one = self.readers[name]
                narrow = max(bits, share)
                if term.estimated:
                    narrow = min(bits, max(share, ROUGH * one.bent))
                axes.append(SharedAxis(name, one.line, narrow, share))
            found.append(tuple(axes) if not term.estimated else self._rougher(axes))
        return found

    def _rougher(self, axes: Sequence[SharedAxis]) -> tuple[SharedAxis, ...]:
        """Widen cells, at most to the shared bits, until the cost is within the effort."""
        found = list(axes)
        while _cost(found) * (1 + len(found)) * len(self.terms) * 4 > self.effort:
            place = max(range(len(found)), key=lambda k: found[k].bits - found[k].shared)
            axis = found[place]
            if axis.bits <= max(axis.shared, 1):
                break
            found[place] = replace(axis, bits=axis.bits - 1)
        return tuple(found)

    def refined(
        self, plain: list[tuple[SharedAxis, ...]], enough: Fraction, allowed: int
    ) -> list[tuple[SharedAxis, ...]]:
        """Narrow cells where terms deviate most, as far as the cost allows."""
        found = list(plain)
        queue: list[tuple[Fraction, int]] = []
        for k, term in enumerate(self.terms):
            if not term.estimated:
                heappush(queue, (-term.times * sum(self._bends(k, found[k]), Fraction(0)), k))
        while queue and -queue[0][0] > enough:
            _, k = heappop(queue)
            bends = self._bends(k, found[k])
            place = bends.index(max(bends))
            axis = found[k][place]
            finer = (*found[k][:place], replace(axis, bits=axis.bits + 1), *found[k][place + 1 :])
            more = _cost(finer) - _cost(found[k])
            if more > allowed or axis.bits >= self.readers[axis.name].finest:
                continue
            allowed -= more
            found[k] = finer
            bent = self.terms[k].times * sum(self._bends(k, finer), Fraction(0))
            heappush(queue, (-bent, k))
        return found

    def _bends(self, place: int, axes: Sequence[SharedAxis]) -> list[Fraction]:
        return remainders(function_of(self.terms[place].term), axes)


def _cost(axes: Sequence[SharedAxis]) -> int:
    return math.prod(axis.cells + 1 for axis in axes)


# --------------------------------------------------------------------------------------------------
# Errors of a term whose table is too large to be made, by derivatives over cells.
#
#     |entry - f(x)| ≤ missed · step + Σ_v sup|∂f/∂v| · h_v
#
# Here h_v are half cells of the table's words; suprema are over the cells that terms share.
# --------------------------------------------------------------------------------------------------


def estimated(
    term: TabledTerm, axes: Sequence[SharedAxis], unit: Fraction, halves: int
) -> TermMeasures:
    """Enclose the errors of a term whose entries are known up to rounding.

    The cells of axes are no finer than those of words.
    """
    function = function_of(term.term)
    sizes = {axis.name: axis.line.size for axis in axes}
    size = min(int(_largest_units(function, axes, unit).max()), up(function.height(sizes) / unit))
    beyond = max(0, size - halves * term.code.cells)  # entries are clamped
    tables = up(term.missed * 2 * halves) + beyond
    total: Whole = np.zeros([axis.groups for axis in axes], np.int64)
    for axis, word in zip(axes, term.words, strict=True):
        half = axis.line.step(word.code.bits) / 2
        total = total + _largest_units(function.slope(axis.name), axes, unit / half)
    total = total + up(ties(function, axes) / unit)
    names = tuple(axis.name for axis in axes if axis.distinguished)
    errors = term.times * (total + tables).reshape([n for n in total.shape if n > 1])
    inputs = term.times * int(total.max())
    return TermMeasures(names, errors, errors, term.times * tables, inputs, 0)


def _largest_units(function: TermFunction, axes: Sequence[SharedAxis], unit: Fraction) -> Whole:
    """Bound the absolute value of a function in all shared cells."""
    points = [axis.line.whole(axis.bits) for axis in axes]
    field = on_grid(function, points, unit)
    values = np.abs(np.broadcast_to(field.values, [len(place.at) for place in points]))
    values = corners(values, np.maximum) + field.slack + up(remainder(function, axes) / unit)
    wide = [axis.bits < axis.shared for axis in axes]
    groups = [
        np.arange(axis.cells) if w else axis.group() for axis, w in zip(axes, wide, strict=True)
    ]
    values = grouped(values, groups)
    for k, axis in enumerate(axes):
        if wide[k]:  # all shared parts of a cell have its value
            parts = np.arange(axis.groups) + axis.line.cells(axis.shared)[0]
            cells = (parts >> (axis.shared - axis.bits)) - axis.line.cells(axis.bits)[0]
            values = np.take(values, cells, axis=k)
    return values


# --------------------------------------------------------------------------------------------------
# The bound of a sum of tables.
#
#     y(w) - τ(x) = [y(w) - Σ entries] + Σ [entry - term(x)]
#
# The first difference is the rounding of the sum, for all possible remainders. The second is at
# most the maximum of the sum of terms' errors over all states of the inputs, in either direction.
# --------------------------------------------------------------------------------------------------

EFFORT = 30  # million numbers processed for an output
SHARE_BITS = 16  # fraction bits of a step in the unit, if 64-bit numbers allow that
DECODER = Fraction(1, 1 << 16)  # of a step: exceeds the rounding of decoders


def bound_of(output: TabledSum, effort: float = EFFORT) -> Bound:
    """Return the bound of a sum of tables, in steps of its word."""
    _check(output)
    rounding = _rounding(output)
    lines = _lines(output)
    unit, halves = _unit(output, lines)
    layout = layout_of(output.terms, lines, Fraction(output.word.step), int(effort * 1_000_000))
    found = [
        (estimated if one.estimated else measured)(one, axes, unit, halves)
        for one, axes in zip(output.terms, layout.axes, strict=True)
    ]
    share = Fraction(1, 2 * halves << output.guard_bits)
    left = _left_out(output)
    high, low = (
        share * largest(sides, layout.order) + left
        for sides in ([(x.names, x.high) for x in found], [(x.names, x.low) for x in found])
    )
    above, below = rounding.ends
    bent = share * sum(one.remainder for one in found)
    inputs, tables = (
        about(exactly(share * sum(s)))
        for s in ((one.inputs for one in found), (one.tables for one in found))
    )
    return Bound(
        output.name, output.unit, output.word.step,
        min(above - low, -Fraction(1, 2)), max(below + high, Fraction(1, 2)),
        Causes(inputs, tables, about(exactly(left)), rounding), "tight", float(bent),
    )  # fmt: skip


def _left_out(output: TabledSum) -> Fraction:
    """Bound the sum of all terms without tables, in steps of the word."""
    sizes = {v.name: line_of(v, 1).size for term in output.left_out for v in term.variables}
    whole = sum((function_of(term).height(sizes) for term in output.left_out), Fraction(0))
    return whole / Fraction(output.word.step)


def _check(output: TabledSum) -> None:
    """Raise a `ValueError` for codes that do not belong to one sum, or an input used twice."""
    step = output.step
    for term in output.terms:
        names = [variable.name for variable in term.term.variables]
        if len(set(names)) < len(names):
            raise ValueError(f"{term.term.name} has an input in its coefficient and as a factor")
        if [word.variable.name for word in term.words] != names:
            raise ValueError(f"the table of {term.term.name} reads other inputs than the term")
        low = -step * term.code.cells / 2
        if Fraction(term.code.range.low) != low or Fraction(term.code.step) != step:
            raise ValueError(f"the code of {term.term.name} has another step than the sum")
        if term.code.tread or any(word.code.tread for word in term.words):
            raise ValueError(f"{term.term.name} has a zero code, which tables do not support")


def _rounding(output: TabledSum) -> Enclosure:
    """Enclose the output's word minus the sum of entries, in steps of the word."""
    addends = tuple(Addend(one.code.bits, one.code.kind, one.times) for one in output.terms)
    total = Sum(addends, output.word.bits, output.guard_bits)
    whole = 1 << output.guard_bits
    spacing = math.gcd(whole, *(one.times for one in addends))
    rests = (total.offset % spacing, total.offset % spacing + whole - spacing)
    # The sum of entries is N or N + ½ steps above the lower end, depending on the parity of halves.
    halves = (1 << (output.word.bits + output.guard_bits)) - sum(
        a.times * (a.cells - 1) for a in addends
    )
    within = Fraction(halves % 2, 2)
    above = Fraction(output.word.low) / output.step + (whole << output.word.bits) // 2
    ends = [(above + Fraction(whole, 2) - rest - within) / whole for rest in rests]
    return between(min(ends) - DECODER, max(ends) + DECODER)


def _lines(output: TabledSum) -> dict[str, InputLine]:
    """Return the cells of all inputs by name."""
    inputs: dict[str, Input] = {}
    fewest: dict[str, int] = {}
    for term in output.terms:
        for variable in term.term.variables:
            inputs.setdefault(variable.name, variable)
        for word in term.words:
            name = word.variable.name
            fewest[name] = min(fewest.get(name, word.code.bits), word.code.bits)
    return {name: line_of(one, fewest.get(name, 1)) for name, one in inputs.items()}


def _unit(output: TabledSum, lines: dict[str, InputLine]) -> tuple[Fraction, int]:
    """Return the unit of errors, and the number of units in half a step."""
    sizes = {name: line.size for name, line in lines.items()}
    heights = (function_of(one.term).height(sizes) for one in output.terms)
    steps = math.ceil(max(heights, default=Fraction(0)) / output.step)
    room = min(SHARE_BITS, 61 - SHIFT - steps.bit_length())
    if room < 1:
        raise ValueError(f"the terms of {output.name} are too large in steps for 64-bit numbers")
    return output.step / (1 << room), 1 << (room - 1)
