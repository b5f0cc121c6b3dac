"""A term, or a slope of it, on a grid of places: whole numbers and what they err by.

    f = Σ (c cos φ + s sin φ) Π x^p · Π x,  φ = Σ k·x

Everything is a share of the largest that it could be, until it is multiplied with that.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.tabled.places import SHIFT, UNIT, Numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.proof.tabled.places import Points, Whole
    from boolcomp.terms.term import Term

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
