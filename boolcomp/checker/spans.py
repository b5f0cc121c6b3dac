"""Real numbers between two whole ones of a tiny unit, one at a time or many side by side.

Both ends are Python's integers, or arrays of them: sums are exact, all else is rounded outward.
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
class Span:
    """All numbers from low to high, in units; integers, or arrays of them that go together."""

    low: Any
    high: Any

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Span:
        return Span(-self.high, -self.low)

    def __sub__(self, other: Span) -> Span:
        return self + -other

    def __mul__(self, other: Span) -> Span:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Span(_least(*ends) >> PLACES, -(-_most(*ends) >> PLACES))

    def times(self, factor: Fraction) -> Span:
        """Return a multiple by a fraction."""
        low, high = self.low * factor.numerator, self.high * factor.numerator
        if factor < 0:
            low, high = high, low
        return Span(low // factor.denominator, -(-high // factor.denominator))

    def meet(self, other: Span) -> Span:
        """Return what both hold, of two that hold the same number."""
        low, high = _most(self.low, other.low), _least(self.high, other.high)
        if np.any(low > high):
            raise DoesNotHoldError("a number would have to lie in two places at once")
        return Span(low, high)

    def join(self, other: Span) -> Span:
        """Return what holds both."""
        return Span(_least(self.low, other.low), _most(self.high, other.high))

    @property
    def hull(self) -> Span:
        """What holds all numbers that stand side by side."""
        return Span(int(np.min(self.low)), int(np.max(self.high)))

    @property
    def size(self) -> int:
        """The largest absolute value of all, in units."""
        return max(0, int(self.hull.high), -int(self.hull.low))

    @property
    def around(self) -> Span:
        """The same either way: from minus its largest absolute value to plus that."""
        return Span(-self.size, self.size)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """Both ends as fractions, of a number that stands alone."""
        return Fraction(self.low, ONE), Fraction(self.high, ONE)


def _least(*ends: Any) -> Any:
    found = ends[0]
    for end in ends[1:]:
        alone = isinstance(found, int) and isinstance(end, int)
        found = min(found, end) if alone else np.minimum(found, end)
    return found


def _most(*ends: Any) -> Any:
    return -_least(*(-end for end in ends))


def exactly(value: Fraction | float) -> Span:
    """Return the span of a number."""
    units = Fraction(value) * ONE
    return Span(math.floor(units), math.ceil(units))


def between(low: Fraction | float, high: Fraction | float) -> Span:
    """Return the span of all numbers from one to another."""
    return Span(exactly(low).low, exactly(high).high)


NOTHING = Span(0, 0)


def balls() -> type[arb]:
    """Return balls, of which enough bits are kept."""
    from flint import arb, ctx  # noqa: PLC0415 (a fifth of a second, which many checks do without)

    ctx.prec = PRECISION
    return arb


def of_ball(ball: arb) -> Span:
    """Return the span of a ball."""
    if not ball.is_finite():
        raise DoesNotHoldError("a function has no value there, or one without end")
    ends = []
    for end in (ball.lower(), -ball.upper()):
        mantissa, exponent = end.mid().man_exp()
        ends.append(math.floor(Fraction(int(mantissa)) * Fraction(2) ** (int(exponent) + PLACES)))
    return Span(ends[0] - 1, 1 - ends[1])


@cache
def two_pi() -> Span:
    """Return the span of 2π."""
    return of_ball(balls().pi() * 2)


@cache
def _direction(turns: int) -> tuple[int, int]:
    """Return cosine and sine of an angle, in units, each at most four units too low."""
    from flint import fmpq  # noqa: PLC0415 (see `balls`)

    sine, cosine = balls().sin_cos_pi_fmpq(fmpq(2 * turns, ONE))
    return of_ball(cosine).low, of_ball(sine).low


def waves_at(parts: Sequence[tuple[int, Span, Span]], turns: Any) -> Span:
    """Return Re Σ c·exp(2πi·k·turns) over (k, Re c, Im c) at an array of exact angles."""
    total = Span(np.zeros(len(turns), object), np.zeros(len(turns), object))
    for k, real, imaginary in parts:
        found = np.array([_direction(int(k * one) % ONE) for one in turns], object)
        cosine, sine = (Span(found[:, place], found[:, place] + 4) for place in (0, 1))
        total = total + cosine * real - sine * imaginary
    return total
