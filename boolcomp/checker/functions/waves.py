"""Sums of waves times powers, Σ c · Π exp(i k q) · Π x^p, whose coefficients are balls.

Every variable has an exponent: that of an angle counts its harmonic. Exponents of a product add up,
and so do whole numbers that hold all of them, one after the other: these are the keys of a sum.
Real functions alone are made: of a wave its conjugate is there, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import acb, arb, ctx

from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Number: TypeAlias = "int | float | arb | acb"

PRECISION = 320  # bits: products of a few doubles are exact, and what cancels is zero
DIGIT = 16  # bits of an exponent within a key
MOST_DEGREE = 1 << (DIGIT - 2)  # so that no exponent runs into the next one
MOST_PARTS = 4_000_000  # of products of two coefficients, for one sum


def precise() -> Any:
    """Return a context in which balls have enough bits."""
    return ctx.workprec(PRECISION)


class Sum:
    """Σ c · Π exp(i k q) · Π x^p; no exponent is larger than `degree`."""

    __slots__ = ("degree", "parts")

    def __init__(self, parts: Mapping[int, acb], degree: int) -> None:
        if degree > MOST_DEGREE:
            raise DataError(f"a product of {degree} factors: too many to be expanded")
        self.parts, self.degree = parts, degree

    def __add__(self, other: Sum) -> Sum:
        less, more = sorted((self.parts, other.parts), key=len)
        total = dict(more)
        for key, c in less.items():
            _add(total, key, c)
        return Sum(total, max(self.degree, other.degree))

    def __mul__(self, other: Sum) -> Sum:
        less, more = sorted((self.parts, other.parts), key=len)
        if len(less) * len(more) > MOST_PARTS:
            raise DataError(f"a product of {len(less)} and {len(more)} waves: too many to expand")
        total: dict[int, acb] = {}
        for key, c in less.items():
            for k, d in more.items():
                _add(total, key + k, c * d)
        return Sum(total, self.degree + other.degree)

    def times(self, factor: Number) -> Sum:
        """Return a multiple."""
        if factor == 0:
            return Sum({}, 0)
        return Sum({key: c * factor for key, c in self.parts.items()}, self.degree)

    def __neg__(self) -> Sum:
        return self.times(-1)

    def __sub__(self, other: Sum) -> Sum:
        return self + other.times(-1)


def _add(total: dict[int, acb], key: int, value: acb) -> None:
    if key in total:
        value = total[key] + value
    if value == 0:
        total.pop(key, None)
    else:
        total[key] = value


def number(value: Number) -> Sum:
    """Return a number as a sum."""
    return Sum({0: acb(value)} if value != 0 else {}, 0)


def total(sums: Iterator[Sum]) -> Sum:
    """Return the sum of sums."""
    found = number(0)
    for one in sums:
        found = found + one
    return found


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, and between which numbers it is; an `angle` has harmonics."""

    name: str
    angle: bool
    low: float
    high: float


class Space:
    """Sums over variables."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = {one.name: (place, one) for place, one in enumerate(variables)}

    def wave(self, name: str, k: int = 1) -> Sum:
        """Return exp(i k q): no real function, but a part of one."""
        return Sum({k << (DIGIT * self._place(name, angle=True)): acb(1)}, abs(k))

    def cosine(self, name: str) -> Sum:
        """Return cos q."""
        return (self.wave(name, 1) + self.wave(name, -1)).times(0.5)

    def sine(self, name: str) -> Sum:
        """Return sin q."""
        return (self.wave(name, -1) - self.wave(name, 1)).times(acb(0, 0.5))

    def value(self, name: str) -> Sum:
        """Return a variable that is no angle."""
        return Sum({1 << (DIGIT * self._place(name, angle=False)): acb(1)}, 1)

    def _place(self, name: str, *, angle: bool) -> int:
        if name not in self.variables or self.variables[name][1].angle != angle:
            raise DataError(
                f"there is no input {shown(name)} that is {'' if angle else 'no '}angle"
            )
        return self.variables[name][0]

    def exponents(self, key: int) -> Iterator[tuple[Variable, int]]:
        """Yield the exponents in a key that are not zero."""
        half = 1 << (DIGIT - 1)
        for _, one in self.variables.values():
            k = ((key + half) & (2 * half - 1)) - half
            key = (key - k) >> DIGIT
            if k:
                yield one, k

    def derivative(self, of: Sum, name: str) -> Sum:
        """Return the slope of a sum along a variable."""
        place, one = self.variables[name]
        found: dict[int, acb] = {}
        for key, c in of.parts.items():
            k = dict(self.exponents(key)).get(one, 0)
            if k:
                found[key if one.angle else key - (1 << (DIGIT * place))] = c * (
                    acb(0, k) if one.angle else k
                )
        return Sum(found, of.degree)

    def held(self, of: Sum) -> Sum:
        """Return a sum in which variables that are single values are these values."""
        found: dict[int, acb] = {}
        for key, c in of.parts.items():
            for one, k in self.exponents(key):
                if one.low == one.high:
                    c *= turned(arb(one.low) * k) if one.angle else arb(one.low) ** k  # noqa: PLW2901
                    key -= k << (DIGIT * self.variables[one.name][0])  # noqa: PLW2901
            _add(found, key, c)
        return Sum(found, of.degree)

    def most(self, of: Sum) -> arb:
        """Return what the size of a sum is at most."""
        found = arb(0)
        for key, c in of.parts.items():
            size = abs(c)
            for one, k in self.exponents(key):
                if not one.angle:
                    size *= arb(max(abs(one.low), abs(one.high))) ** k
            found += size
        return found


def turned(angle: arb) -> acb:
    """Return exp(i·angle)."""
    return acb(angle.cos(), angle.sin())
