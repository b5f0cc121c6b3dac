"""What a term errs by, for every state that it shares with other terms.

Within a cell of all inputs a table's entry stands still, and its term is almost linear in every
input: the error is largest at a corner, but for the remainder Σ sup|∂²f/∂x²| h²/2 of half widths h.
Of cells only leading bits are shared; for all others, and for corners, each term takes its own
worst.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.balls import PLACES, of_ball, precise
from boolcomp.proof.bound.tables import TIE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.problem.problem import Input
    from boolcomp.terms.terms import Term

    Whole = NDArray[np.int64]
    Scope = tuple[str, ...]


# --------------------------------------------------------------------------------------------------
# Where an input may be: the cells of its words, their borders, and waves and powers there.
#
# Borders are exact numbers; of a range that ends within a cell the cell ends there. Cosines come
# from balls and are rounded once, to whole numbers of 2^-SHIFT, and so are all other numbers: each
# errs by no more than a `slack` of such units, which is counted through every product.
# --------------------------------------------------------------------------------------------------


SHIFT = 30  # numbers of size one are whole numbers of 2^-30: products have 60 bits
UNIT = 1 << SHIFT


class Numbers(NamedTuple):
    """Numbers of size one, in units; each errs by no more than `slack` units."""

    values: Whole
    slack: int


class Turning(NamedTuple):
    """Cosines and sines of angles."""

    cosine: Numbers
    sine: Numbers


@dataclass(frozen=True)
class Points:
    """Places of an input, exact, with waves and powers of them; powers are of shares of `size`."""

    at: tuple[Fraction, ...]
    size: Fraction
    _turning: dict[int, Turning] = field(default_factory=dict)

    def turning(self, k: int) -> Turning:
        """Return the cosine and the sine of k times the places."""
        if k not in self._turning:
            self._turning[k] = _turned(self.at, k)
        return self._turning[k]

    @cached_property
    def shares(self) -> Numbers:
        """The places as shares of the size."""
        shares = (place / self.size for place in self.at)
        values = [(one.numerator << SHIFT) // one.denominator for one in shares]
        return Numbers(np.array(values, np.int64), 1)

    def some(self, start: int, stop: int) -> Points:
        """Return some of the places, with the waves that are known of all."""
        if (start, stop) == (0, len(self.at)):
            return self
        known = {k: _some(turn, start, stop) for k, turn in self._turning.items()}
        return Points(self.at[start:stop], self.size, known)


def _some(turn: Turning, start: int, stop: int) -> Turning:
    cosine, sine = (Numbers(one.values[start:stop], one.slack) for one in turn)
    return Turning(cosine, sine)


def _turned(places: tuple[Fraction, ...], k: int) -> Turning:
    from flint import fmpq  # noqa: PLC0415 (see `precise`)

    arb, down = precise(), PLACES - SHIFT
    cosines, sines = [], []
    for place in places:
        angle = arb(fmpq(k * place.numerator, place.denominator))
        sine, cosine = angle.sin_cos()
        cosines.append(of_ball(cosine).low >> down)
        sines.append(of_ball(sine).low >> down)
    first, second = (Numbers(np.array(one, np.int64), 2) for one in (cosines, sines))
    return Turning(first, second)


@dataclass(frozen=True)
class Line:
    """An input's cells: where its words begin, what they span, where the input may be.

    `fewest` bits has the coarsest word that is read of it: what its encoder takes for on a border
    is a share of such a cell.
    """

    low: Fraction
    width: Fraction
    allowed: tuple[Fraction, Fraction]
    wraps: bool
    fewest: int
    _points: dict[tuple[str, int], Points] = field(default_factory=dict)

    @property
    def size(self) -> Fraction:
        """The largest size of a value, or of a cell's middle."""
        ends = (self.low, self.low + self.width, *self.allowed)
        return max(abs(end) for end in ends)

    def step(self, bits: int) -> Fraction:
        """Return how wide cells are."""
        return self.width / (1 << bits)

    def cells(self, bits: int) -> tuple[int, int]:
        """Return the first and the last cell in which the input may lie."""
        most = (1 << bits) - 1
        if self.wraps:
            return 0, most
        beside, step = TIE * self.step(self.fewest), self.step(bits)
        low = (self.allowed[0] - self.low - beside) / step
        high = (self.allowed[1] - self.low + beside) / step
        first, last = low.numerator // low.denominator, high.numerator // high.denominator
        return min(max(first, 0), most), min(max(last, 0), most)

    def borders(self, bits: int) -> Points:
        """Return where cells begin, and where the last one ends; all lie within the range."""

        def inside() -> list[Fraction]:
            found = self._from_cells(bits, Fraction(0), 1)
            if self.wraps:
                return found
            least, most = self.allowed
            return [least, *(min(max(x, least), most) for x in found[1:-1]), most]

        return self._kept("borders", bits, inside)

    def whole(self, bits: int) -> Points:
        """Return where cells begin and the last one ends, wherever the range does."""
        return self._kept("whole", bits, lambda: self._from_cells(bits, Fraction(0), 1))

    def middles(self, bits: int) -> Points:
        """Return the middles of cells."""
        return self._kept("middles", bits, lambda: self._from_cells(bits, Fraction(1, 2), 0))

    def _from_cells(self, bits: int, within: Fraction, more: int) -> list[Fraction]:
        first, last = self.cells(bits)
        step = self.step(bits)
        return [self.low + step * (k + within) for k in range(first, last + 1 + more)]

    def _kept(self, what: str, bits: int, made: Callable[[], list[Fraction]]) -> Points:
        if (what, bits) not in self._points:
            self._points[what, bits] = Points(tuple(made()), self.size)
        return self._points[what, bits]


def line_of(variable: Input, fewest: int) -> Line:
    """Return an input's cells; one that wraps may be anywhere in its turn."""
    word, wraps = variable.word, variable.wraps
    allowed = word if wraps else variable.range
    low = Fraction(word.low)
    ends = Fraction(allowed.low), Fraction(allowed.high)
    return Line(low, Fraction(word.high) - low, ends, wraps, fewest)


# --------------------------------------------------------------------------------------------------
# A term, or a slope of it, on a grid of places: whole numbers and what they err by.
#
#     f = Σ (c cos φ + s sin φ) Π x^p · Π x,  φ = Σ k·x
#
# Everything is a share of the largest that it could be, until it is multiplied with that.
# --------------------------------------------------------------------------------------------------


MOST_SLACK = 1 << 20  # of a share, in units: beyond it numbers say nothing


@dataclass(frozen=True, slots=True)
class Part:
    """(cosine·cos φ + sine·sin φ) Π x^power with exact coefficients."""

    multiples: Mapping[str, int]
    powers: Mapping[str, int]
    cosine: Fraction
    sine: Fraction

    def height(self, sizes: Mapping[str, Fraction]) -> Fraction:
        """Return what it never exceeds."""
        most = abs(self.cosine) + abs(self.sine)
        for name, power in self.powers.items():
            most *= sizes[name] ** power
        return most


@dataclass(frozen=True, slots=True)
class Function:
    """A sum of parts times a product of inputs, each so many times; `names` are its inputs."""

    names: tuple[str, ...]
    parts: tuple[Part, ...]
    factor: Mapping[str, int]

    def height(self, sizes: Mapping[str, Fraction]) -> Fraction:
        """Return what it never exceeds: the sum of the heights of its parts."""
        most = sum((part.height(sizes) for part in self.parts), Fraction(0))
        for name, power in self.factor.items():
            most *= sizes[name] ** power
        return most

    def slope(self, name: str) -> Function:
        """Return its derivative along an input."""
        power = self.factor.get(name, 0)
        sides = []
        if power:
            lower = {**self.factor, name: power - 1}
            times = tuple(
                replace(p, cosine=p.cosine * power, sine=p.sine * power) for p in self.parts
            )
            sides.append((times, lower))
        parts = tuple(one for part in self.parts for one in _slopes(part, name))
        if power and parts:  # an input of both: its power joins those of the parts
            raised = tuple(
                replace(p, powers={**p.powers, name: p.powers.get(name, 0) + power}) for p in parts
            )
            below = tuple(
                replace(p, powers={**p.powers, name: p.powers.get(name, 0) + power - 1})
                for p in sides[0][0]
            )
            return Function(self.names, (*raised, *below), {**self.factor, name: 0})
        if sides:
            return Function(self.names, *sides[0])
        return Function(self.names, parts, self.factor)


def function_of(term: Term) -> Function:
    """Return a term with its coefficients as they stand, exactly."""
    parts = tuple(
        Part(dict(w.multiples), dict(w.powers), Fraction(w.cosine), Fraction(w.sine))
        for w in term.waves()
    )
    names = tuple(variable.name for variable in term.variables)
    return Function(names, parts, Counter(v.name for v in term.factor))


def _slopes(part: Part, name: str) -> list[Part]:
    found = []
    if k := part.multiples.get(name, 0):
        found.append(replace(part, cosine=k * part.sine, sine=-k * part.cosine))
    if power := part.powers.get(name, 0):
        lower = {**part.powers, name: power - 1}
        found.append(Part(part.multiples, lower, power * part.cosine, power * part.sine))
    return found


@dataclass(frozen=True, slots=True)
class Field:
    """A function's values on a grid; each errs by no more than `slack`."""

    values: Whole
    slack: int


def on_grid(function: Function, points: Sequence[Points], unit: Fraction) -> Field:
    """Return a function at all combinations of places, in units; axes go with its inputs."""
    sizes = {name: one.size for name, one in zip(function.names, points, strict=True)}
    most = function.height(sizes) / unit
    scale = -(-most.numerator // most.denominator)
    if scale >= 1 << (62 - SHIFT):
        raise ValueError("a function is too large for numbers of this size")
    if not scale:
        return Field(np.zeros([1] * len(points), np.int64), 0)
    share = _coefficient(function, points, sizes)
    # of its true height, which is less than the whole number above it
    scaled = _shifted(share.values * scale)
    slack = (share.slack * scale >> SHIFT) + 3
    product = _product(function, points)
    if product is None:
        return Field(scaled, slack)
    more = (product.slack * (scale + slack) >> SHIFT) + 3
    return Field(_shifted(scaled * product.values), slack + more)


def _coefficient(
    function: Function, points: Sequence[Points], sizes: Mapping[str, Fraction]
) -> Numbers:
    """Return the sum of parts, as a share of the sum of their heights."""
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


def _wave(function: Function, part: Part, points: Sequence[Points]) -> tuple[Whole, Whole, int]:
    """Return cos φ and sin φ, each times the powers, and what both err by."""
    shape = [1] * len(points)
    cosine: Whole = np.full(shape, UNIT, np.int64)
    sine: Whole = np.zeros(shape, np.int64)
    slack, started = 0, False
    for axis, (name, place) in enumerate(zip(function.names, points, strict=True)):
        if k := part.multiples.get(name, 0):
            turn = place.turning(k)
            c, s = (_along(one.values, axis, len(points)) for one in turn)
            if started:
                cosine, sine = (
                    _shifted(cosine * c - sine * s),
                    _shifted(cosine * s + sine * c),
                )
                slack = (3 * (slack + turn.cosine.slack) + 1) // 2 + 2
            else:
                cosine, sine, slack, started = c, s, turn.cosine.slack, True
        for _ in range(part.powers.get(name, 0)):
            power = _along(place.shares.values, axis, len(points))
            cosine, sine = _shifted(cosine * power), _shifted(sine * power)
            slack += place.shares.slack + 2
    return cosine, sine, slack


def _product(function: Function, points: Sequence[Points]) -> Numbers | None:
    """Return the product of the factor's inputs, each as a share of its largest value."""
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
        raise ValueError("so long a sum of waves is not known well enough")
    return numbers


# --------------------------------------------------------------------------------------------------
# The largest sum of tables that share inputs, by bucket elimination.
#
#     max over x of Σ F(x_F)
#
# One input after the other is taken out: the tables that have it are added up over all their
# inputs, and of the sum the largest over that one stays. Where a sum would be larger than allowed
# the tables are split over several (mini-buckets, R. Dechter and I. Rish): each then takes its own
# worst, so that what comes out is never too small. What is done follows from sizes alone, and so
# does what it costs.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    Table = tuple[Scope, Whole]


NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """Tables, by place, are added up, and `name` is taken out of the sum, which is put last."""

    name: str
    tables: tuple[int, ...]
    scope: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """All steps, how many numbers they look at, and how often a bucket had to be split."""

    steps: tuple[Step, ...]
    cost: int
    splits: int


def order_of(scopes: Sequence[Scope], sizes: Mapping[str, int], most: int) -> Order:
    """Return in which order names are taken out: those first whose sums are smallest."""
    alive: dict[int, frozenset[str]] = {k: frozenset(one) for k, one in enumerate(scopes)}
    steps: list[Step] = []
    cost = splits = 0
    left = sorted({name for one in scopes for name in one})
    while left:
        name = min(left, key=lambda one: (_size(_union(alive, one), sizes), one))
        left.remove(name)
        bucket = sorted(
            (k for k, one in alive.items() if name in one),
            key=lambda k: (-_size(alive[k], sizes), k),
        )
        parts = _mini_buckets(bucket, alive, sizes, most)
        splits += len(parts) - 1
        for part in parts:
            union = NOTHING.union(*(alive.pop(k) for k in part))
            cost += _size(union, sizes) * len(part)
            place = len(scopes) + len(steps)
            steps.append(Step(name, tuple(part), tuple(sorted(union))))
            alive[place] = union - {name}
    return Order(tuple(steps), cost, splits)


def _union(alive: Mapping[int, frozenset[str]], name: str) -> frozenset[str]:
    return NOTHING.union(*(one for one in alive.values() if name in one))


def _size(scope: frozenset[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[name] for name in scope)


def _mini_buckets(
    bucket: Sequence[int],
    alive: Mapping[int, frozenset[str]],
    sizes: Mapping[str, int],
    most: int,
) -> list[list[int]]:
    """Deal out tables, the largest first, to the first sum that does not grow too large."""
    parts: list[list[int]] = []
    unions: list[frozenset[str]] = []
    for place in bucket:
        for k, union in enumerate(unions):
            if _size(union | alive[place], sizes) <= most:
                parts[k].append(place)
                unions[k] = union | alive[place]
                break
        else:
            parts.append([place])
            unions.append(alive[place])
    return parts


def largest(tables: Sequence[Table], order: Order) -> int:
    """Return what no sum exceeds."""
    made: dict[int, Table] = dict(enumerate(tables))
    for place, step in enumerate(order.steps, len(tables)):
        total: Whole | None = None
        for one in step.tables:
            aligned = _aligned(made.pop(one), step.scope)
            total = aligned if total is None else total + aligned
        if total is None:
            raise ValueError("a step of nothing")
        scope = tuple(name for name in step.scope if name != step.name)
        made[place] = scope, np.asarray(total.max(axis=step.scope.index(step.name)))
    return sum(int(values.reshape(())) for _, values in made.values())


def _aligned(table: Table, scope: Scope) -> Whole:
    """Return a table with an axis for every name of a scope, of one place where it has none."""
    names, values = table
    order = [names.index(name) for name in scope if name in names]
    shape = [values.shape[names.index(name)] if name in names else 1 for name in scope]
    return np.asarray(values.transpose(order).reshape(shape))


# --------------------------------------------------------------------------------------------------
# Tables by cells: between which values of a term's code each entry lies.
#
# Rows are in the order of words, and where a first bit is dropped two cells share a row. Of an
# entry that is free in one bit either choice counts; free in more it may be any, and so may one
# that no input in range should read.
# --------------------------------------------------------------------------------------------------


class Entries(NamedTuple):
    """The least and the largest value of every entry, in half steps; axes are words' cells."""

    low: Whole
    high: Whole

    def rows(self, first: int, last: int) -> Entries:
        """Return some cells of the first axis."""
        return Entries(self.low[first:last], self.high[first:last])


def entries_of(
    table: TruthTable, code: Code, words: Sequence[ReadWord], lines: Sequence[Line]
) -> Entries:
    """Return the entries at all cells in which inputs may lie."""
    if table.inputs != sum(word.code.bits - word.dropped for word in words):
        raise ValueError("a table reads other bits than its words have")
    if table.outputs != code.bits:
        raise ValueError("a table makes other bits than its code has")
    least, most = _cells(table, code)
    shape = [1 << (word.code.bits - word.dropped) for word in words]
    places = []
    for word, line in zip(words, lines, strict=True):
        first, last = line.cells(word.code.bits)
        found = word.code.word(np.arange(first, last + 1))
        places.append(found & np.uint32((1 << (word.code.bits - word.dropped)) - 1))
    at = np.ix_(*places) if places else ()
    halves = ((2 * cells.reshape(shape)[at]) - (code.cells - 1) for cells in (least, most))
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
# What a term errs by, for every state that it shares with other terms.
# --------------------------------------------------------------------------------------------------


CHUNK = 1 << 17  # numbers that are looked at at a time: they stay in a cache
NEVER = -(1 << 60)  # below any error


@dataclass(frozen=True, slots=True)
class Axis:
    """An input as a term sees it: cells of 2^-`bits`, of which `shared` leading bits are told."""

    name: str
    line: Line
    bits: int
    shared: int

    @property
    def told(self) -> bool:
        """Whether there is anything to be told."""
        return self.groups > 1

    @property
    def groups(self) -> int:
        """How many leading parts cells have."""
        first, last = self.line.cells(self.shared)
        return last - first + 1

    @property
    def cells(self) -> int:
        """How many cells there are."""
        first, last = self.line.cells(self.bits)
        return last - first + 1

    def group(self) -> Whole:
        """Return the group of every cell."""
        first, last = self.line.cells(self.bits)
        leading = np.arange(first, last + 1) >> (self.bits - self.shared)
        return np.asarray(leading - self.line.cells(self.shared)[0])


@dataclass(frozen=True, slots=True)
class Factor:
    """The worst error of a term in either direction, for every state of the inputs named.

    `high` is of what is added less the term, `low` of the term less that, in units.
    """

    names: tuple[str, ...]
    high: Whole
    low: Whole


@dataclass(frozen=True, slots=True)
class Measured:
    """A term's errors, and the most that entries and cells make of them, each alone, in units.

    `remainder` is in `factor` already.
    """

    factor: Factor
    tables: int
    inputs: int
    remainder: int


def remainders(function: Function, axes: Sequence[Axis]) -> list[Fraction]:
    """Return by how much a term may exceed the ends of its cells along every axis."""
    sizes = {axis.name: axis.line.size for axis in axes}
    found = []
    for axis in axes:
        curved = function.slope(axis.name).slope(axis.name).height(sizes)
        found.append(curved * (axis.line.step(axis.bits) / 2) ** 2 / 2)
    return found


def remainder(function: Function, axes: Sequence[Axis]) -> Fraction:
    """Return by how much a term may exceed the largest of the corners of its cells."""
    return sum(remainders(function, axes), Fraction(0))


def ties(function: Function, axes: Sequence[Axis]) -> Fraction:
    """Return what it may change where encoders take for the next cell what is next to it."""
    sizes = {axis.name: axis.line.size for axis in axes}
    return sum(
        (
            function.slope(axis.name).height(sizes)
            * max(TIE * axis.line.step(axis.line.fewest), TIE * axis.line.wraps)
            for axis in axes
        ),
        Fraction(0),
    )


def measured(term: TabledTerm, axes: Sequence[Axis], unit: Fraction, halves: int) -> Measured:
    """Return what a term errs by: all its entries beside it, at the corners of all cells.

    `halves` is how many units half a step has.
    """
    return _Term(term, tuple(axes), function_of(term.term), unit, halves).measured()


@dataclass(frozen=True, slots=True)
class _Block:
    """Some groups of the first axis, and what their errors are made of."""

    first: int
    high: Whole
    low: Whole
    tables: int
    inputs: int
    slack: int


@dataclass(frozen=True, slots=True)
class _Term:
    """A term with its function of inputs along axes."""

    term: TabledTerm
    axes: tuple[Axis, ...]
    function: Function
    unit: Fraction
    halves: int

    def measured(self) -> Measured:
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
        names = tuple(axis.name for axis in self.axes if axis.told)
        sizes, times = [n for n in shape if n > 1], self.term.times
        high, low = (times * (side.reshape(sizes) + slack + error) for side in (high, low))
        return Measured(
            Factor(names, high, low), times * tables, times * (inputs + slack + error), times * rest
        )

    def _blocks(self) -> Iterator[_Block]:
        """Yield errors, so many cells of the first axis at a time."""
        term = self.term
        if term.table is None:
            raise ValueError("a table that was not made has no entries")
        lines = [axis.line for axis in self.axes]
        entries = entries_of(term.table, term.code, term.words, lines)
        if not self.axes:
            yield self._constant(entries)
            return
        first, others = self.axes[0], self.axes[1:]
        for part in self.function.parts:
            if k := part.multiples.get(first.name, 0):  # once, before parts are taken
                first.line.borders(first.bits).turning(k)
                first.line.middles(term.words[0].code.bits).turning(k)
        rows = max(1, CHUNK // math.prod(axis.cells + 1 for axis in others))
        for start in range(0, first.cells, rows):
            yield self._block(entries, start, min(start + rows, first.cells))

    def _constant(self, entries: Entries) -> _Block:
        """Return the errors of a term that reads nothing."""
        field = on_grid(self.function, (), self.unit)
        value = int(field.values.reshape(()))
        low, high = (int(side) * self.halves for side in entries)
        most = max(abs(high - value), abs(low - value)) + field.slack
        return _Block(0, np.array(high - value), np.array(value - low), most, 0, field.slack)

    def _block(self, entries: Entries, start: int, stop: int) -> _Block:
        """Return the errors of some cells of the first axis."""
        points = [axis.line.borders(axis.bits) for axis in self.axes]
        points[0] = points[0].some(start, stop + 1)
        field = on_grid(self.function, points, self.unit)
        values = np.broadcast_to(field.values, [len(place.at) for place in points])
        least, most = corners(values, np.minimum), corners(values, np.maximum)
        said, middle = self._said(entries, start, stop)
        tables = _largest(said.high - middle.values, said.low - middle.values) + middle.slack
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
        high, low = (grouped(side, groups) for side in (said.high[at] - least, most - said.low[at]))
        return _Block(int(groups[0][0]), high, low, tables, inputs, field.slack)

    def _said(self, entries: Entries, start: int, stop: int) -> tuple[Entries, Field]:
        """Return the entries of the words that some cells read, and the term at their middles."""
        words = self.term.words
        points = [a.line.middles(w.code.bits) for a, w in zip(self.axes, words, strict=True)]
        first, last = _words(self.axes[0], words[0].code.bits, start, stop)
        points[0] = points[0].some(first, last + 1)
        middle = on_grid(self.function, points, self.unit)
        some = entries.rows(first, last + 1)
        values = np.broadcast_to(middle.values, [len(place.at) for place in points])
        said = Entries(some.low * self.halves, some.high * self.halves)
        return said, Field(values, middle.slack)


def _words(axis: Axis, bits: int, start: int, stop: int) -> tuple[int, int]:
    """Return the first and the last word that some cells have, counted from the first there is."""
    base, down = axis.line.cells(axis.bits)[0], axis.bits - bits
    lowest = axis.line.cells(bits)[0]
    return ((base + start) >> down) - lowest, ((base + stop - 1) >> down) - lowest


def _words_of(axis: Axis, bits: int, rows: tuple[int, int]) -> Whole:
    """Return the word of every one of some cells, counted from that of the first."""
    base = axis.line.cells(axis.bits)[0]
    words = (base + np.arange(*rows)) >> (axis.bits - bits)
    return np.asarray(words - words[0])


def corners(values: Whole, worse: np.ufunc) -> Whole:
    """Return the worse of the values at the corners of every cell, of those at all borders."""
    for axis in range(values.ndim):
        before = (slice(None),) * axis
        values = worse(values[(*before, slice(None, -1))], values[(*before, slice(1, None))])
    return values


def grouped(values: Whole, groups: Sequence[Whole]) -> Whole:
    """Return the largest of every group of cells."""
    for axis, group in enumerate(groups):
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        if len(starts) < len(group):
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values


def _largest(*sides: Whole) -> int:
    return max(max(int(side.max()), -int(side.min())) for side in sides)


def up(value: Fraction) -> int:
    """Return the least whole number that is no smaller."""
    return -(-value.numerator // value.denominator)


# --------------------------------------------------------------------------------------------------
# What tables stand for: every term of an output, and the table that is added in its place.
#
#     output = decoder(floor((Σ cells of tables + C) / 2^guard_bits)) ≈ Σ terms
#
# Where a table is too large to be made, what is known of its entries is how values were rounded.
# Nothing here needs to be believed but that the logic has these tables: entries are compared with
# their terms one by one.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReadWord:
    """What a table reads of an input: its word in this code, but for the first bit if `dropped`."""

    variable: Input
    code: Code
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class TabledTerm:
    """A term, the code of its table's values, what the table reads, and how often it is added.

    `table` is None where it was not made: its entries are then within `missed` steps of the term
    at the middles of cells, where the code reaches.
    """

    term: Term
    code: Code
    words: tuple[ReadWord, ...]
    table: TruthTable | None = None
    times: int = 1
    missed: Fraction = Fraction(1, 2)

    @property
    def estimated(self) -> bool:
        """Whether nothing but how values were rounded is known of its entries."""
        return self.table is None


@dataclass(frozen=True, slots=True)
class TabledSum:
    """An output: the code of its word, the guard bits that its tables share, and its terms.

    `step` is the least significant bit that all tables share. They count from the middle of a
    range of 2^guard_bits times as many steps as the word has cells; the word may lie beside it.
    Terms that are `left_out` have no tables.
    """

    name: str
    unit: str
    word: Code
    step: Fraction
    guard_bits: int
    terms: tuple[TabledTerm, ...]
    left_out: tuple[Term, ...] = ()
