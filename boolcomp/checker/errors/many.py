"""Spans of many boxes side by side, in 64-bit whole numbers of 2^-scale, and spans by word.

All sums are exact, all else is rounded outward. What is multiplied has at most 31 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.spans import PLACES, Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.int64]

BITS = 30  # of the largest of what is multiplied
FAR = 1 << 61  # of words that there are not
_LOG = np.array([0, *(k.bit_length() - 1 for k in range(1, 1 << 16))])


@dataclass(frozen=True, slots=True, eq=False)
class Many:
    """Spans: all numbers from low to high."""

    low: Words
    high: Words
    scale: int

    def to(self, scale: int) -> Many:
        """Return the same in other units."""
        gone = self.scale - scale
        if gone <= 0:
            return Many(self.low << -gone, self.high << -gone, scale)
        return Many(self.low >> gone, -(-self.high >> gone), scale)

    def __add__(self, other: Many) -> Many:
        return Many(self.low + other.low, self.high + other.high, self.scale)

    def __sub__(self, other: Many) -> Many:
        return Many(self.low - other.high, self.high - other.low, self.scale)

    def __mul__(self, other: Many) -> Many:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        low, high = np.minimum(ends[0], ends[1]), np.maximum(ends[0], ends[1])
        for end in ends[2:]:
            low, high = np.minimum(low, end), np.maximum(high, end)
        return Many(low, high, self.scale + other.scale)

    def times(self, factor: Fraction, scale: int) -> Many:
        """Return a multiple by a number of at most 31 bits, or one near it, in other units."""
        return (self * many_of(factor)).to(scale)

    def meet(self, other: Many) -> Many:
        """Return what both hold; of what rounding alone makes empty, one of both."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        return Many(low, np.maximum(low, high), self.scale)


def many_of(value: Fraction) -> Many:
    """Return a number to 31 bits."""
    scale = BITS - size_of(abs(value))
    units = value * Fraction(2) ** scale
    return Many(np.int64(units // 1), np.int64(-(-units // 1)), scale)  # type: ignore[arg-type]


def size_of(value: Fraction) -> int:
    """Return the bits of a number before the point, negative where it is less than a half."""
    return value.numerator.bit_length() - value.denominator.bit_length() + 1


def scale_of(*spans: Span) -> int:
    """Return the units in which the largest of some spans has 31 bits at most."""
    return min(PLACES, BITS - size_of(Fraction(max(1, *(one.size for one in spans)), 1 << PLACES)))


def fixed(span: Span, scale: int) -> Many:
    """Return a span, or spans side by side, in units of many."""
    gone = PLACES - scale
    low, high = np.asarray(span.low, object) >> gone, -(-np.asarray(span.high, object) >> gone)
    return Many(np.asarray(low, np.int64), np.asarray(high, np.int64), scale)


class ByWord:
    """Spans by word: what holds those of all words from one to another; words wrap around."""

    def __init__(self, at: Words, found: Span, count: int, scale: int) -> None:
        self.scale, self.count = scale, count
        low, high = np.full(count, FAR), np.full(count, -FAR)
        ends = fixed(found, scale)
        low[at], high[at] = ends.low, ends.high
        lows, highs, reach = [low], [high], 1
        while reach < count:
            lows.append(np.minimum(lows[-1], np.roll(lows[-1], -reach)))
            highs.append(np.maximum(highs[-1], np.roll(highs[-1], -reach)))
            reach *= 2
        self.lows, self.highs = np.stack(lows), np.stack(highs)

    def over(self, first: Words, last: Words) -> Many:
        """Return what holds the spans of words from first to last."""
        long = np.minimum(last - first + 1, self.count)
        level = _LOG[long]
        one = first & (self.count - 1)
        two = (first + long - (np.int64(1) << level)) & (self.count - 1)
        low = np.minimum(self.lows[level, one], self.lows[level, two])
        high = np.maximum(self.highs[level, one], self.highs[level, two])
        return Many(low, high, self.scale)
