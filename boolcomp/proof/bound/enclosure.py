"""Two whole numbers of a tiny unit between which a real number lies.

All that a bound is made of is kept so: sums are exact, products are rounded outward. Numbers that
are no fractions come in as balls (`arb`) and are rounded outward once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb

PLACES = 80  # the unit is 2^-80
ONE = 1 << PLACES


@dataclass(frozen=True, slots=True)
class Enclosure:
    """low .. high, in units of 2^-PLACES."""

    low: int
    high: int

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low)

    def __mul__(self, other: Enclosure) -> Enclosure:
        ends = (
            self.low * other.low, self.low * other.high,
            self.high * other.low, self.high * other.high,
        )  # fmt: skip
        return Enclosure(min(ends) >> PLACES, -(-max(ends) >> PLACES))

    def times(self, factor: Fraction) -> Enclosure:
        """Return a multiple by an exact number."""
        if not factor:
            return ZERO
        low, high = self.low * factor.numerator, self.high * factor.numerator
        if factor < 0:
            low, high = high, low
        return Enclosure(low // factor.denominator, -(-high // factor.denominator))

    def meet(self, other: Enclosure) -> Enclosure:
        """Return what both hold, of two that enclose the same."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            raise ValueError("two enclosures of one number have nothing in common")
        return Enclosure(low, high)

    def join(self, other: Enclosure) -> Enclosure:
        """Return what holds both."""
        return Enclosure(min(self.low, other.low), max(self.high, other.high))

    def holds(self, other: Enclosure) -> bool:
        """Tell whether all of another lies in it."""
        return self.low <= other.low and other.high <= self.high

    @property
    def size(self) -> int:
        """The largest absolute value, in units."""
        return max(self.high, -self.low)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Both ends as numbers."""
        return Fraction(self.low, ONE), Fraction(self.high, ONE)

    def __str__(self) -> str:
        return f"{float(self.ends[0]):.6g} .. {float(self.ends[1]):.6g}"


ZERO = Enclosure(0, 0)


def exactly(value: Fraction | float) -> Enclosure:
    """Return an enclosure of a number; of those that are multiples of the unit it is exact."""
    given = Fraction(value)
    scaled = given.numerator << PLACES
    return Enclosure(scaled // given.denominator, -(-scaled // given.denominator))


def between(low: Fraction | float, high: Fraction | float) -> Enclosure:
    """Return an enclosure of all numbers from one to another."""
    return Enclosure(exactly(low).low, exactly(high).high)


def about(size: Enclosure) -> Enclosure:
    """Return an enclosure of all numbers that are no larger than a size."""
    return Enclosure(-size.size, size.size)


def of_ball(ball: arb) -> Enclosure:
    """Return an enclosure of a ball."""
    if not ball.is_finite():
        raise ValueError("a ball without ends encloses nothing")
    (middle, up), (radius, more) = ball.mid().man_exp(), ball.rad().man_exp()
    low, high = _scaled(int(middle), int(up)), _scaled(int(radius), int(more))
    return Enclosure(low[0] - high[1], low[1] + high[1])


def _scaled(mantissa: int, exponent: int) -> tuple[int, int]:
    """Return a dyadic number in units, rounded down and up."""
    shift = exponent + PLACES
    if shift >= 0:
        return mantissa << shift, mantissa << shift
    return mantissa >> -shift, -(-mantissa >> -shift)
