"""Enclosures of nodes of a sketch: of tables, inputs and sums of angles, word by word.

The error of a table's words has two parts. Their difference from the function at the value of the
source's word follows from the entries, which are enumerated. The change of the function by the
error of the source is at most a slope times this error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import DataError
from boolcomp.compact.sketch import Curve, Powers, Waves
from boolcomp.proof.bound.balls import (
    FINEST,
    ONE,
    PLACES,
    ZERO,
    Enclosure,
    Sampled,
    about,
    ball,
    between,
    exactly,
    of_ball,
    pi,
    precise,
    split_start,
    turned,
    waves_at,
)
from boolcomp.proof.bound.sketched import WordLine, line_of
from boolcomp.words.simulation import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flint import arb
    from numpy.typing import NDArray

    from boolcomp.compact.realisation import NodeWords
    from boolcomp.compact.sketch import AngleSum, Table
    from boolcomp.problem.tape import Straight
    from boolcomp.proof.bound.sketched import InputRange
    from boolcomp.words.graph import WordGraph

    Words = NDArray[np.int64]
    Whole = NDArray[np.object_]


# --------------------------------------------------------------------------------------------------
# Enclosures of a node and of the words that represent it.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Error:
    """The error of words by cause: rounding of tables, and discarded or unread bits."""

    tables: Enclosure = ZERO
    bits: Enclosure = ZERO

    def __add__(self, other: Error) -> Error:
        return Error(self.tables + other.tables, self.bits + other.bits)

    def __mul__(self, factor: Enclosure) -> Error:
        return Error(self.tables * factor, self.bits * factor)

    def times(self, factor: Fraction) -> Error:
        return Error(self.tables.times(factor), self.bits.times(factor))

    @property
    def total(self) -> Enclosure:
        return self.tables + self.bits


NONE = Error()


@dataclass(frozen=True, slots=True)
class Enclosures:
    """Enclosures of a node: its value at the middles of the inputs' cells, and differences.

    `words` is the value of its words, `error` that minus the value at the middles, and `inputs` the
    value at the middles minus the value at the inputs.
    """

    exact: Enclosure
    words: Enclosure
    error: Error
    inputs: Enclosure

    def tightened(self) -> Enclosures:
        """Intersect words and value with each other, given the error."""
        words = self.words.meet(self.exact + self.error.total)
        return replace(self, words=words, exact=self.exact.meet(words - self.error.total))


# --------------------------------------------------------------------------------------------------
# Curves: enclosures around every word.
#
# Balls enclose each step of the function; monotone steps are enclosed by their values at the ends.
# --------------------------------------------------------------------------------------------------

MONOTONE = {"exp": (None, None), "atan": (None, None), "tanh": (None, None), "sqrt": (0, None),
            "log": (0, None), "asin": (-1, 1), "acos": (-1, 1)}  # fmt: skip


def curve_known(
    table: Curve, source: Enclosures, read: Read | None, found: Sampled | None
) -> Enclosures:
    """Enclose a curve; `found` has the values of its words at all words that it reads."""
    if read is None or found is None:
        whole = curve_within(table, source.exact - source.inputs)
        return Enclosures(whole, whole, NONE, whole - whole)
    error, beside = source.error.total, source.error.total + source.inputs
    missed, passed, inputs, exact = [], [], [], []
    ends = table.low, table.high
    values = _values_of(table.function, table.unit, table.middle, table.factor, ends, table.angle)

    def within(x: Enclosure) -> Enclosure:
        if x not in values:
            values[x] = curve_within(table, x)
        return values[x]

    for word, computed in zip(read.words.tolist(), found.values, strict=True):
        at = exactly(read.line.value(word))
        here = within(at)
        moved = within(at - error) if error != ZERO else here
        near = within(at - beside)
        missed.append(Enclosure(computed, computed + found.slack) - here)
        passed.append(here - moved if error != ZERO else ZERO)
        inputs.append(here - near if error == ZERO else moved - near)
        exact.append(moved)
    errors = Error(_all(missed), _all(passed))
    return Enclosures(_all(exact), found.hull, errors, _all(inputs)).tightened()


@lru_cache(maxsize=4)
def _values_of(*curve: object) -> dict[Enclosure, Enclosure]:
    """Return the cached enclosures of a curve, which several bounds of a search share."""
    del curve
    return {}


def _all(found: list[Enclosure]) -> Enclosure:
    return Enclosure(min(one.low for one in found), max(one.high for one in found))


def curve_within(table: Curve, x: Enclosure) -> Enclosure:
    """Enclose a curve over an interval of x."""
    place = ball(x)
    if table.angle:
        place = place * 2 * precise().pi()
    place = place * table.unit + table.middle
    low, high = place.lower(), place.upper()
    if low < table.low:
        low = precise()(table.low)
    if low > table.high:
        low = precise()(table.high)
    high = max(low, high)
    if high > table.high:
        high = max(low, precise()(table.high))
    inside = _hull(low, high)
    value = evaluated(table.function, inside) * table.factor
    if not value.is_finite():
        raise DataError(
            "a curve has no bound where its function has no value, such as x / x about 0"
        )
    return of_ball(value)


def _hull(low: arb, high: arb) -> arb:
    return low.union(high)


def evaluated(function: Straight, x: arb) -> arb:
    """Evaluate a function of one input over a ball."""
    values: list[arb] = []
    for node in function.nodes:
        if node.kind == "input":
            values.append(x)
        elif node.kind == "constant":
            values.append(precise()(node.value))
        else:
            values.append(_step(node.kind, [values[k] for k in node.operands], node.operands))
    return values[function.outputs[0].node]


def _step(kind: str, read: list[arb], places: tuple[int, ...]) -> arb:
    a = read[0]
    if kind in _ARITHMETIC:
        if kind == "mul" and places[0] == places[1]:
            size = abs(a)
            return (
                _hull((size * size).lower(), (size * size).upper())
                if size.lower() > 0
                else (_hull(precise()(0), (size.upper() * size.upper()).upper()))
            )
        return _ARITHMETIC[kind](a, read[1])
    if kind in MONOTONE:
        least, most = MONOTONE[kind]
        low, high = a.lower(), a.upper()
        low = low if least is None or low > least else precise()(least)
        high = high if most is None or high < most else precise()(most)
        high = max(low, high)
        return _hull(getattr(low, kind)(), getattr(high, kind)())
    return _OTHERS[kind](*read)


_ARITHMETIC: dict[str, Callable[[arb, arb], arb]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def _sign(a: arb) -> arb:
    low = 1 if a.lower() > 0 else 0 if a.lower() >= 0 else -1
    high = -1 if a.upper() < 0 else 0 if a.upper() <= 0 else 1
    return _hull(precise()(low), precise()(high))


def _positive(a: arb) -> arb:
    return _hull(precise()(1 if a.lower() > 0 else 0), precise()(0 if a.upper() <= 0 else 1))


def _wrapped(a: arb) -> arb:
    pi = precise().pi()
    turns = (a / (2 * pi) + precise()(0.5)).floor()
    if turns.is_exact():
        return a - 2 * pi * turns
    return _hull((-pi).lower(), pi.upper())


_OTHERS: dict[str, Callable[..., arb]] = {
    "neg": lambda a: -a,
    "sin": lambda a: a.sin(),
    "cos": lambda a: a.cos(),
    "abs": abs,
    "atan2": lambda a, b: precise().atan2(a, b),
    "sign": _sign,
    "step": _positive,
    "wrap": _wrapped,
}


# --------------------------------------------------------------------------------------------------
# Tables.
# --------------------------------------------------------------------------------------------------

PLACES_WITHIN = 64  # grid points in an angle without a word, or with few words


@dataclass(frozen=True, slots=True)
class Read:
    """The word that a table reads: its node, its values, and its possible words."""

    place: int
    line: WordLine
    words: Words


def table_known(
    table: Table, source: Enclosures, read: Read | None = None, entries: Sampled | None = None
) -> Enclosures:
    """Enclose a table; `entries` are the values of its words at all words that it reads, if any."""
    if isinstance(table, Curve):
        return curve_known(table, source, read, entries)
    beside = about(source.error.total) + about(source.inputs)
    if isinstance(table, Waves):
        whole, slope = _waves_within(table, source.exact + beside)
    else:
        whole, slope = _powers_within(table, source.exact + beside)
    if read is None or entries is None:
        return Enclosures(whole, whole, NONE, source.inputs * slope)
    if isinstance(table, Waves):
        function = waves_of(table, read.line, read.words)
        slope = slope.meet(_slopes_near(table, read, beside))
    else:
        function = powers_of(table, read.line, read.words)
    missed = Sampled(entries.values - function.values, entries.slack + function.slack).hull
    passed = source.error * slope
    exact = (function.hull - passed.total).meet(whole)
    error = Error(missed, ZERO) + passed
    return Enclosures(exact, entries.hull, error, source.inputs * slope).tightened()


def computed_values(graph: WordGraph, words: NodeWords, read: Read) -> Sampled:
    """Return the values of the words of a table at all words of its source."""
    total, slack = np.zeros(len(read.words), dtype=object), 0
    for word in words.words:
        line = line_of(graph, word)
        entries, start = looked_up(graph, word, read).astype(object), exactly(line.start)
        total = total + entries * units(line.step) + start.low
        slack += start.high - start.low
    if words.product is not None:
        lines = [line_of(graph, word) for word in words.product]
        if any(graph.scales[word].offset for word in words.product):
            raise ValueError(f"words {words.product} are multiplied, and do not lie about zero")
        a, b = (
            2 * looked_up(graph, word, read).astype(object) - (line.count - 1)
            for word, line in zip(words.product, lines, strict=True)
        )
        total = total + a * b * units(lines[0].step * lines[1].step / 4)
    return Sampled(total, slack)


def looked_up(graph: WordGraph, place: int, read: Read) -> Words:
    """Return the entries of a lookup at all words of its source."""
    node = graph.table(place)
    if node.source != read.place:
        raise ValueError(f"word {place} is no table of word {read.place}")
    index = masked(read.words >> (graph.nodes[node.source].bits - node.read), node.mask)
    return np.asarray(node.entries, dtype=np.int64)[index]


def units(value: Fraction) -> int:
    """Return an exact number in units of enclosures; a fraction of a unit is a `ValueError`."""
    scaled = value * ONE
    if scaled.denominator != 1:
        raise ValueError(f"{float(value)} is no multiple of the unit of enclosures")
    return scaled.numerator


def waves_of(table: Waves, line: WordLine, words: Words, derivative: int = 0) -> Sampled:
    """Return harmonics, or their derivative by turns over (2π)^derivative, at words."""
    start, rest = split_start(line.start, line.step)
    parts = table.parts
    for _ in range(derivative):
        parts = tuple((k, -k * b, k * a) for k, a, b in parts if k)
    return waves_at(turned(parts, rest), start, line.step, words.astype(object))


def powers_of(table: Powers, line: WordLine, words: Words) -> Sampled:
    """Evaluate a polynomial at words by Horner's rule, and count the rounding errors."""
    start = exactly(line.start)
    x = words.astype(object) * units(line.step) + start.low
    largest, beside = max(abs(int(x[0])), abs(int(x[-1]))) + 1, start.high - start.low
    total, slack = np.zeros(len(words), dtype=object), 0
    for coefficient in reversed(table.coefficients):
        size = max(abs(int(total.max())), abs(int(total.min())))
        c = exactly(coefficient)
        slack = ((slack * (largest + beside) + size * beside) >> PLACES) + 2 + c.high - c.low
        total = (total * x >> PLACES) + c.low
    return Sampled(total, slack)


def _horner(coefficients: Sequence[float], x: Enclosure) -> Enclosure:
    total = ZERO
    for c in reversed(coefficients):
        total = total * x + exactly(c)
    return total


def _waves_within(table: Waves, turns: Enclosure) -> tuple[Enclosure, Enclosure]:
    """Enclose harmonics and their slope over an interval of an angle."""
    values = slopes = bends = ZERO
    for k, a, b in table.parts:
        amplitude, often = _amplitude(a, b), pi().times(Fraction(2 * k))
        values = values + (about(amplitude) if k else exactly(a))
        slopes = slopes + about(amplitude * often)
        bends = bends + about(amplitude * often * often)
    low, high = turns.ends
    if high - low >= 1:
        return values, slopes
    finest = min(FINEST, math.ceil(PLACES_WITHIN / max(high - low, Fraction(1, FINEST))))
    step = Fraction(1, 1 << (finest - 1).bit_length())
    first, last = math.floor(low / step), math.ceil(high / step)
    line, gap = WordLine(Fraction(0), step, FINEST), about(exactly(step / 2))
    places = np.arange(first, last + 1, dtype=np.int64)
    near = waves_of(table, line, places).hull + gap * slopes
    steep = waves_of(table, line, places, 1).hull * pi().times(Fraction(2)) + gap * bends
    return near.meet(values), steep.meet(slopes)


def _amplitude(a: float, b: float) -> Enclosure:
    """Return the amplitude of a harmonic, rounded up."""
    if not a or not b:
        return exactly(abs(a) + abs(b))
    square = Fraction(a) ** 2 + Fraction(b) ** 2
    size = exactly(Fraction(float(square) ** 0.5).limit_denominator(1 << 40))
    while size.ends[1] ** 2 < square:
        size = Enclosure(size.low, size.high + (size.high >> 30) + 1)
    return Enclosure(size.high, size.high)


def _slopes_near(table: Waves, read: Read, beside: Enclosure) -> Enclosure:
    """Enclose the slope of harmonics within a distance of the words of an angle."""
    twice = pi().times(Fraction(2))
    bend = sum((about(_amplitude(a, b).times(Fraction(k * k))) for k, a, b in table.parts), ZERO)
    at_words = waves_of(table, read.line, read.words, 1).hull * twice
    return at_words + bend * twice * twice * about(beside)


def _powers_within(table: Powers, x: Enclosure) -> tuple[Enclosure, Enclosure]:
    """Enclose a polynomial and its slope over an interval."""
    slopes = [k * c for k, c in enumerate(table.coefficients)][1:]
    return _horner(table.coefficients, x), _horner(slopes, x)


# --------------------------------------------------------------------------------------------------
# Inputs: possible words, and distances from the middles of cells.
# --------------------------------------------------------------------------------------------------

TIE = Fraction(
    1, 1 << 28
)  # of a cell: encoders round values this near below a border to the border


def input_known(line: WordLine | None, range_: InputRange) -> Enclosures:
    """Enclose an input; one whose word is not read is one cell."""
    if line is None:
        low, high = range_.allowed.ends
        middle, half = exactly((low + high) / 2), (high - low) / 2
        return Enclosures(middle, middle, NONE, between(-half, half))
    first, last = cells_reached(line, range_)
    middles = between(line.value(first), line.value(last))
    return Enclosures(middles, middles, NONE, -beside(line, range_))


def cells_reached(line: WordLine, range_: InputRange) -> tuple[int, int]:
    """Return the first and the last cell that an input can have."""
    most = line.count - 1
    if range_.wraps:
        return 0, most
    low, high = ((end - line.start) / line.step + Fraction(1, 2) for end in range_.allowed.ends)
    first, last = low - TIE, high + TIE
    ends = first.numerator // first.denominator, last.numerator // last.denominator
    return min(max(0, ends[0]), most), min(max(0, ends[1]), most)


def beside(line: WordLine, range_: InputRange) -> Enclosure:
    """Return how far an input may be above the middle of its cell; words saturate at the ends."""
    node = range_.node
    if node.exact:
        half = (line.step - (Fraction(1, 1 << (node.bits + node.part)) if node.angle else 1)) / 2
        return between(-half, half) if half > 0 else ZERO
    half = line.step * (Fraction(1, 2) + TIE)
    if range_.wraps:
        return between(-half, half)
    low, high = range_.allowed.ends
    below = min(-half, low - line.value(0))
    return between(below, max(half, high - line.value(line.count - 1)))


# --------------------------------------------------------------------------------------------------
# Sums of angles: leading bits of words are added modulo a turn.
# --------------------------------------------------------------------------------------------------


def turns_known(
    graph: WordGraph,
    sum_: AngleSum,
    word: int | None,
    read: Mapping[int, Enclosures],
    lines: Mapping[int, tuple[int, WordLine]],
) -> Enclosures:
    """Enclose a sum of angles; `lines` has the words of its items with their values."""
    exact = inputs = ZERO
    for item, multiple in sum_.items:
        exact = exact + read[item].exact.times(Fraction(multiple))
        inputs = inputs + read[item].inputs.times(Fraction(multiple))
    if word is None:
        return Enclosures(exact, exact, NONE, inputs)
    node = graph.angle_sum(word)
    own = line_of(graph, word)
    constant, error = own.start + own.step * node.constant, NONE
    times = {item: Fraction(0) for item, _ in sum_.items}
    for turn in node.turns:
        size = own.step * (1 << turn.shift)
        if turn.negative:
            constant, size = constant + size * ((1 << turn.read) - 1), -size
        item = next(k for k, _ in sum_.items if k in lines and lines[k][0] == turn.node)
        drop = graph.nodes[turn.node].bits - turn.read
        line = lines[item][1]
        weight = size / (line.step * (1 << drop))
        times[item] += weight
        constant -= weight * line.start
        lost = between(0, ((1 << drop) - 1) * line.step)
        error = error + Error(ZERO, lost.times(-weight))
    for item, multiple in sum_.items:
        error = error + read[item].error.times(times[item])
        if times[item] != multiple:
            error = error + Error(ZERO, read[item].exact.times(times[item] - multiple))
    error = error + Error(ZERO, _nearest(exactly(constant), error.bits))
    return Enclosures(exact, exact + error.total, error, inputs)


def _nearest(constant: Enclosure, beside: Enclosure) -> Enclosure:
    """Subtract whole turns from a constant so that its sum with an enclosure is nearest to 0."""
    middle = sum((constant + beside).ends) / 2
    return constant - exactly(round(Fraction(middle)))
