"""A closed interval: where a joint variable may be, or what a word spans."""

from __future__ import annotations

from dataclasses import dataclass

from boolcomp.common.text import angle

SLACK = 1e-9  # how far an interval may stick out of one that holds it


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
