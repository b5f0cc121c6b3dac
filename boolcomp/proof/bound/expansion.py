"""Meanings as polynomials in linear inputs whose coefficients are waves of the angles.

A polynomial holds, for every monomial (input, power) and every sum of angles (input, multiple), the
coefficient c of Re c·exp(2πi·Σ multiple·turns), enclosed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.proof.bound.enclosure import ZERO, Enclosure, about, exactly
from boolcomp.proof.bound.meaning import (
    GivenWord,
    LinearPart,
    PowerTable,
    ProductPart,
    Total,
    TurnSum,
    WaveTable,
)
from boolcomp.proof.bound.waves import pi

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from boolcomp.proof.bound.meaning import Explained, Meaning

Powers = tuple[tuple[int, int], ...]  # (meaning of an input, how often), sorted
Coefficient = tuple[Enclosure, Enclosure]  # real and imaginary
Series = dict[Powers, Coefficient]  # by multiples of turns, the first of them positive
Poly = dict[Powers, Series]

MOST_COEFFICIENTS = 20_000  # coefficients of a product


class NotPlainError(Exception):
    """What is no polynomial of waves, or too large a one."""


class Expansion:
    """All meanings of a graph as polynomials, each made when it is asked for."""

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
        if isinstance(meaning, Total) and not meaning.turning:
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
        """Return an addend of a sum."""
        factor = Fraction(addend.factor)
        if isinstance(addend, LinearPart):
            return scaled(self.of(addend.meaning), factor)
        return scaled(product(self.of(addend.a), self.of(addend.b)), factor)

    def turns(self, place: int) -> dict[int, int]:
        """Return how often an angle holds every input."""
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
    """Add a wave under its own name: that of its conjugate where the first multiple is negative."""
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
    """Return a multiple of a polynomial."""
    return {
        monomial: {angle: (a.times(factor), b.times(factor)) for angle, (a, b) in series.items()}
        for monomial, series in poly.items()
    }


def product(one: Poly, two: Poly) -> Poly:
    """Return a product: that of two waves is half their sum's and half their difference's."""
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
    """Return a number that no value of a series exceeds, either way."""
    total = ZERO
    for a, b in series.values():
        total = total + about(a) + about(b)
    return total


def amplitude_of(poly: Poly, reach: Mapping[int, Enclosure]) -> Enclosure:
    """Return what no value of a polynomial exceeds."""
    total = ZERO
    for monomial, series in poly.items():
        size = amplitude(series)
        for name, often in monomial:
            for _ in range(often):
                size = size * about(reach[name])
        total = total + size
    return total


def steepness(poly: Poly, name: int, reach: Mapping[int, Enclosure], times: int) -> Enclosure:
    """Return what no derivative of this order by an input exceeds; `reach` is where inputs are."""
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
