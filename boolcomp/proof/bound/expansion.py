"""Meanings as polynomials in linear inputs whose coefficients are sums of harmonics of the angles.

For every monomial (input, power) and every sum of angles (input, multiple), a polynomial has an
enclosure of the coefficient c of Re c·exp(2πi·Σ multiple·turns).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.balls import ONE, PLACES, ZERO, Enclosure, about, exactly, pi
from boolcomp.proof.bound.meaning import (
    AddendSum,
    GivenWord,
    LinearPart,
    PowerTable,
    ProductPart,
    TurnSum,
    WaveTable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.balls import BallColumns
    from boolcomp.proof.bound.meaning import Explained, Meaning
    from boolcomp.words.graph import Grid

    Whole = NDArray[np.object_]


# --------------------------------------------------------------------------------------------------
# Expansion.
# --------------------------------------------------------------------------------------------------

Powers = tuple[tuple[int, int], ...]  # (meaning of an input, exponent), sorted
Coefficient = tuple[Enclosure, Enclosure]  # real and imaginary
Series = dict[Powers, Coefficient]  # by multiples of turns, the first of which is positive
Poly = dict[Powers, Series]

MOST_COEFFICIENTS = 20_000  # coefficients of a product


class NotPlainError(Exception):
    """A meaning is no polynomial of this kind, or one with too many coefficients."""


class Expansion:
    """All meanings of a graph as polynomials, each computed at its first use."""

    def __init__(self, explained: Explained) -> None:
        self.meanings = explained.meanings
        self._found: dict[int, Poly] = {}

    def of(self, place: int) -> Poly:
        """Return a meaning that is no angle."""
        if place not in self._found:
            self._found[place] = self._poly(place, self.meanings[place])
        return self._found[place]

    def _poly(self, place: int, meaning: Meaning) -> Poly:
        if isinstance(meaning, GivenWord) and not meaning.angle:
            return {((place, 1),): {(): (exactly(1), ZERO)}}
        if isinstance(meaning, WaveTable):
            turns = self.turns(meaning.source)
            series: Series = {}
            for k, a, b in meaning.parts:
                _put(series, _multiplied(turns, k), (exactly(a), exactly(b)))
            return {(): series}
        if isinstance(meaning, PowerTable):
            return self._powers(meaning)
        if isinstance(meaning, AddendSum) and not meaning.turning:
            total: Poly = {(): {(): (exactly(meaning.constant), ZERO)}}
            for addend in meaning.addends:
                add(total, self.addend(addend))
            return total
        raise NotPlainError

    def _powers(self, table: PowerTable) -> Poly:
        x, total = self.of(table.source), Poly()
        for c in reversed(table.coefficients):
            total = product(total, x)
            add(total, {(): {(): (exactly(c), ZERO)}})
        return total

    def addend(self, addend: LinearPart | ProductPart) -> Poly:
        """Return the polynomial of an addend."""
        factor = Fraction(addend.factor)
        if isinstance(addend, LinearPart):
            return scaled(self.of(addend.meaning), factor)
        return scaled(product(self.of(addend.a), self.of(addend.b)), factor)

    def turns(self, place: int) -> dict[int, int]:
        """Return the multiple of every input in an angle."""
        meaning = self.meanings[place]
        if isinstance(meaning, GivenWord) and meaning.angle:
            return {place: 1}
        if not isinstance(meaning, TurnSum):
            raise NotPlainError
        total: dict[int, int] = {}
        for item, multiple in meaning.items:
            for name, times in self.turns(item).items():
                total[name] = total.get(name, 0) + multiple * times
        return {name: times for name, times in sorted(total.items()) if times}


def _multiplied(turns: Mapping[int, int], k: int) -> Powers:
    return tuple((name, k * times) for name, times in sorted(turns.items()) if k * times)


def _put(series: Series, angle: Powers, c: Coefficient) -> None:
    """Add a harmonic under its normal name: the first multiple is positive."""
    if angle and angle[0][1] < 0:
        angle, c = tuple((name, -k) for name, k in angle), (c[0], -c[1])
    if not angle:
        c = (c[0], ZERO)
    if angle in series:
        c = (c[0] + series[angle][0], c[1] + series[angle][1])
    series[angle] = c


def add(total: Poly, part: Poly) -> None:
    """Add a polynomial to one that is being made."""
    for monomial, series in part.items():
        into = total.setdefault(monomial, {})
        for angle, c in series.items():
            _put(into, angle, c)


def scaled(poly: Poly, factor: Fraction) -> Poly:
    return {
        monomial: {angle: (a.times(factor), b.times(factor)) for angle, (a, b) in series.items()}
        for monomial, series in poly.items()
    }


def product(one: Poly, two: Poly) -> Poly:
    """Multiply polynomials; a product of harmonics is half the sum of two harmonics."""
    if _size(one) * _size(two) > MOST_COEFFICIENTS:
        raise NotPlainError
    total: Poly = {}
    for left, series in one.items():
        for right, others in two.items():
            into = total.setdefault(_merged(left, right), {})
            for angle, c in series.items():
                for other, d in others.items():
                    for key, value in _wave_product(angle, c, other, d):
                        _put(into, key, value)
    return total


def _wave_product(
    angle: Powers, c: Coefficient, other: Powers, d: Coefficient
) -> Iterable[tuple[Powers, Coefficient]]:
    half = Fraction(1, 2)
    conjugate = (d[0], -d[1])
    for sign, factor in ((1, d), (-1, conjugate)):
        real = c[0] * factor[0] - c[1] * factor[1]
        imaginary = c[0] * factor[1] + c[1] * factor[0]
        turned = _merged(angle, tuple((name, sign * k) for name, k in other))
        yield turned, (real.times(half), imaginary.times(half))


def _merged(one: Powers, two: Powers) -> Powers:
    total = dict(one)
    for name, k in two:
        total[name] = total.get(name, 0) + k
    return tuple((name, k) for name, k in sorted(total.items()) if k)


def _size(poly: Poly) -> int:
    return sum(len(series) for series in poly.values())


def amplitude(series: Series) -> Enclosure:
    """Bound the absolute value of a series."""
    total = ZERO
    for a, b in series.values():
        total = total + about(a) + about(b)
    return total


def amplitude_of(poly: Poly, reach: Mapping[int, Enclosure]) -> Enclosure:
    """Bound the absolute value of a polynomial."""
    total = ZERO
    for monomial, series in poly.items():
        size = amplitude(series)
        for name, often in monomial:
            for _ in range(often):
                size = size * about(reach[name])
        total = total + size
    return total


def steepness(poly: Poly, name: int, reach: Mapping[int, Enclosure], times: int) -> Enclosure:
    """Bound a derivative of this order by an input, for inputs within `reach`."""
    total = ZERO
    for monomial, series in poly.items():
        for angle, (a, b) in series.items():
            size = about(a) + about(b)
            power, multiple = dict(monomial).get(name, 0), dict(angle).get(name, 0)
            for k in range(times):
                size = (
                    size.times(Fraction(max(0, power - k)))
                    if not multiple
                    else ((size * pi()).times(Fraction(2 * multiple)))
                )
            for other, often in monomial:
                left = often - times if other == name else often
                for _ in range(max(0, left)):
                    size = size * about(reach[other])
            total = total + about(size)
    return total


# --------------------------------------------------------------------------------------------------
# Integers of limited length in the unit of a slot; ends are rounded outward.
# --------------------------------------------------------------------------------------------------

TOP = 29  # of the largest number of a slot
MANTISSA = 30  # bits of a factor
FAR = 1 << 61  # larger than any number of a slot


def outward(value: Enclosure, scale: int) -> tuple[int, int]:
    """Return both ends of an enclosure in units of 2^-scale."""
    shift = PLACES - scale
    if shift >= 0:
        return value.low >> shift, -(-value.high >> shift)
    return value.low << -shift, value.high << -shift


def rounded_down(values: Whole, scale: int) -> Whole:
    """Convert numbers of enclosures to units of 2^-scale, rounded down."""
    shift = PLACES - scale
    return np.asarray(values >> shift if shift >= 0 else values << -shift)


def rounded_up(values: Whole, scale: int) -> Whole:
    return -rounded_down(-values, scale)


def ends_of(found: Sequence[Enclosure], scale: int) -> tuple[Whole, Whole]:
    """Return the ends of many enclosures in units of 2^-scale."""
    low = np.array([one.low for one in found], dtype=object)
    high = np.array([one.high for one in found], dtype=object)
    return rounded_down(low, scale), rounded_up(high, scale)


def scale_of(size: Fraction) -> int:
    return TOP - log2_up(size) if size else TOP


def scale_for(units: int) -> int:
    return scale_of(Fraction(max(1, units), ONE))


def log2_up(value: Fraction) -> int:
    """Return the least k with 2^k ≥ value."""
    k = value.numerator.bit_length() - value.denominator.bit_length() - 1
    while Fraction(2) ** k < value:
        k += 1
    return k


def power_of(value: Fraction) -> int:
    """Return k, given 2^k."""
    k = log2_up(value)
    if Fraction(2) ** k != value:
        raise NotPlainError
    return k


def unit_of(power: int) -> int:
    """Return 2^power in units of enclosures."""
    if power < -PLACES:
        raise NotPlainError
    return 1 << (PLACES + power)


def mantissa(value: Fraction) -> tuple[int, int, int]:
    """Return m, n and k such that a number lies between m·2^-k and n·2^-k."""
    if not value:
        return 0, 0, 0
    shift = MANTISSA - log2_up(abs(value))
    exact = value * Fraction(2) ** shift
    low, high = exact.numerator // exact.denominator, -(-exact.numerator // exact.denominator)
    return low, high, shift


# --------------------------------------------------------------------------------------------------
# Discarded partial products, given one of both words.
# --------------------------------------------------------------------------------------------------

MOST_LISTED_BITS = 20  # limit on the bits of two words whose products are enumerated


def discarded(
    store: BallColumns, grid: Grid, own: Fraction, scale: int, *, of_b: bool
) -> tuple[int, int] | None:
    """Tabulate discarded partial products by the low bits of one word; return the start.

    The number of these bits is returned, too. `own` is the step of the heap. None means that
    nothing is discarded, or that the enumeration would take too long.
    """
    below = -grid.column
    if below <= 0:
        return None
    a, b = min(grid.a, below), min(grid.b, below)
    if a + b > MOST_LISTED_BITS:
        return None
    low, high = _sums(a, b, below)[of_b]
    unit = own * Fraction(2) ** (grid.column - 1) * ONE
    low = low * unit.numerator // unit.denominator
    high = -(-high * unit.numerator // unit.denominator)
    start = store.ranges(rounded_down(low, scale), rounded_up(high, scale))
    return start, b if of_b else a


@lru_cache(maxsize=8)
def _sums(a: int, b: int, below: int) -> tuple[tuple[Whole, Whole], tuple[Whole, Whole]]:
    """Return limits of sums of products i·j, i + j < below, of digits ±1 · 2^k.

    They are given by the low bits of the first word, and by those of the second.
    """
    one, two = np.arange(1 << a, dtype=np.int64), np.arange(1 << b, dtype=np.int64)
    total = np.zeros((1 << a, 1 << b), np.int64)
    for i in range(a):
        ones = (1 << min(b, below - i)) - 1
        row = (2 * (two & ones) - ones) << i
        total += np.where((one >> i & 1)[:, None] > 0, row[None, :], -row[None, :])
    return (
        (total.min(axis=1).astype(object), total.max(axis=1).astype(object)),
        (total.min(axis=0).astype(object), total.max(axis=0).astype(object)),
    )
