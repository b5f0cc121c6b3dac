"""Intervals of real numbers in fixed-point arithmetic, single or in arrays.

Ends are Python integers, or object arrays of them, that count a unit of 2^-80. Sums are exact; all
other operations round outward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.checker.folder import DoesNotHoldError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import arb

PLACES = 80
ONE = 1 << PLACES  # units in 1
PRECISION = 150  # bits of balls


@dataclass(frozen=True, slots=True)
class IntegerSpan:
    """The numbers from low to high, in units; both are integers, or arrays of equal length."""

    low: Any
    high: Any

    def __add__(self, other: IntegerSpan) -> IntegerSpan:
        return IntegerSpan(self.low + other.low, self.high + other.high)

    def __neg__(self) -> IntegerSpan:
        return IntegerSpan(-self.high, -self.low)

    def __sub__(self, other: IntegerSpan) -> IntegerSpan:
        return self + -other

    def __mul__(self, other: IntegerSpan) -> IntegerSpan:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return IntegerSpan(_minimum(*ends) >> PLACES, -(-_maximum(*ends) >> PLACES))

    def times(self, factor: Fraction) -> IntegerSpan:
        """Multiply by a fraction."""
        low, high = self.low * factor.numerator, self.high * factor.numerator
        if factor < 0:
            low, high = high, low
        return IntegerSpan(low // factor.denominator, -(-high // factor.denominator))

    def meet(self, other: IntegerSpan) -> IntegerSpan:
        """Intersect two enclosures of the same number."""
        low, high = _maximum(self.low, other.low), _minimum(self.high, other.high)
        if np.any(low > high):
            raise DoesNotHoldError("two enclosures of a number have nothing in common")
        return IntegerSpan(low, high)

    def join(self, other: IntegerSpan) -> IntegerSpan:
        return IntegerSpan(_minimum(self.low, other.low), _maximum(self.high, other.high))

    @property
    def hull(self) -> IntegerSpan:
        """The smallest span of all elements."""
        if isinstance(self.low, int):
            return self
        return IntegerSpan(int(np.min(self.low)), int(np.max(self.high)))

    @property
    def size(self) -> int:
        return max(0, int(self.hull.high), -int(self.hull.low))

    @property
    def around(self) -> IntegerSpan:
        return IntegerSpan(-self.size, self.size)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.low, ONE), Fraction(self.high, ONE)


def _minimum(*ends: Any) -> Any:
    found = ends[0]
    for end in ends[1:]:
        alone = isinstance(found, int) and isinstance(end, int)
        found = min(found, end) if alone else np.minimum(found, end)
    return found


def _maximum(*ends: Any) -> Any:
    return -_minimum(*(-end for end in ends))


def exactly(value: Fraction | float) -> IntegerSpan:
    """Return the smallest span of a number."""
    units = Fraction(value) * ONE
    return IntegerSpan(math.floor(units), math.ceil(units))


def between(low: Fraction | float, high: Fraction | float) -> IntegerSpan:
    return IntegerSpan(exactly(low).low, exactly(high).high)


NOTHING = IntegerSpan(0, 0)


def balls() -> type[arb]:
    """Import the ball type with `PRECISION` bits."""
    from flint import arb, ctx  # noqa: PLC0415 (a fifth of a second that many checks do not need)

    ctx.prec = PRECISION
    return arb


def of_ball(ball: arb) -> IntegerSpan:
    """Return the span of a ball."""
    if not ball.is_finite():
        raise DoesNotHoldError("a function is undefined or unbounded there")
    ends = []
    for end in (ball.lower(), -ball.upper()):
        mantissa, exponent = map(int, end.mid().man_exp())
        gone = -exponent - PLACES
        ends.append(mantissa >> gone if gone > 0 else mantissa << -gone)
    return IntegerSpan(ends[0] - 1, 1 - ends[1])


@cache
def two_pi() -> IntegerSpan:
    return of_ball(balls().pi() * 2)


@cache
def _direction(turns: int) -> tuple[int, int]:
    """Return lower bounds of cosine and sine of an angle, each at most four units too low."""
    from flint import fmpq  # noqa: PLC0415 (see `balls`)

    sine, cosine = balls().sin_cos_pi_fmpq(fmpq(2 * turns, ONE))
    return of_ball(cosine).low, of_ball(sine).low


def waves_at(parts: Sequence[tuple[int, IntegerSpan, IntegerSpan]], turns: Any) -> IntegerSpan:
    """Return Re Σ c·exp(2πi·k·turns) over (k, Re c, Im c) at an array of exact angles."""
    total = IntegerSpan(np.zeros(len(turns), object), np.zeros(len(turns), object))
    for k, real, imaginary in parts:
        low = np.array([_direction(int(k * one) % ONE) for one in turns], object)
        cosine, sine = (IntegerSpan(low[:, place], low[:, place] + 4) for place in (0, 1))
        total = total + cosine * real - sine * imaginary
    return total
