"""A closed interval: where a joint variable may be, or what a word spans."""

from __future__ import annotations

import math
from dataclasses import dataclass

from boolcomp.base.errors import angle, short

SLACK = 1e-9  # how far an interval may stick out of one that holds it
MOST_SIZE = 1e12  # of the ends of an output's range
LEAST_WIDTH = 1e-12  # of a range
ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
LEAST_SHARE = 1e-9  # of its larger end: narrower ranges have no cells in double precision


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval `low .. high`; a single value where both are the same."""

    low: float
    high: float

    @property
    def centre(self) -> float:
        """The middle of the interval."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """How wide it is."""
        return self.high - self.low

    @property
    def single(self) -> bool:
        """Whether it is a single value."""
        return self.low == self.high

    @property
    def magnitude(self) -> float:
        """The largest absolute value in the interval."""
        return max(abs(self.low), abs(self.high))

    def holds(self, other: Interval) -> bool:
        """Tell whether another interval lies in this one, but for rounding."""
        return self.low <= other.low + SLACK and other.high <= self.high + SLACK

    def __str__(self) -> str:
        return f"{angle(self.low)} .. {angle(self.high)}"


def width_problem(low: float, high: float) -> str:
    """Return what is wrong with a range that rises, where it is too narrow to be cut in cells."""
    least = max(LEAST_WIDTH, LEAST_SHARE * max(abs(low), abs(high)))
    return "" if high - low >= least else f"must be at least {short(least)} wide"


def round_above(value: float) -> float:
    """Return the least round number that is not below: 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8."""
    if not value:
        return 1.0
    power = math.floor(math.log10(value))
    digits = next(d for d in ROUND if d * 10.0**power >= value or d == ROUND[-1])
    return float(f"{digits:g}e{power}")
