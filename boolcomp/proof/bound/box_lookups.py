"""Compiled: numbers rounded outward, tables of ranges, waves between places (see `boxes.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from boolcomp.common.loops import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Short = NDArray[np.int32]
    Number: TypeAlias = int | np.int64


@njit(cache=True, inline="always")
def down(x: int, shift: int) -> int:
    """Return x · 2^-shift, rounded down."""
    if shift >= 0:
        return x >> min(shift, 62)
    return x << -shift


@njit(cache=True, inline="always")
def up(x: int, shift: int) -> int:
    """Return x · 2^-shift, rounded up."""
    if shift >= 0:
        return -((-x) >> min(shift, 62))
    return x << -shift


@njit(cache=True, inline="always")
def times(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    """Return between which numbers a product lies of one of a..b and one of c..d."""
    one, two, three, four = a * c, a * d, b * c, b * d
    return min(one, two, three, four), max(one, two, three, four)


@njit(cache=True)
def between(
    low: Short, high: Short, start: int, count: int, first: Number, last: Number
) -> tuple[int, int]:
    """Return the least and the largest entry from first to last of a table of ranges.

    Level k holds, from start + k·count on, those of 2^k entries one after another.
    """
    level, span = 0, last - first + 1
    while span >> (level + 1):
        level += 1
    one = start + level * count + first
    two = start + level * count + last + 1 - (1 << level)
    return min(low[one], low[two]), max(high[one], high[two])


@njit(cache=True)
def around(
    low: Short, high: Short, start: int, count: int, first: Number, last: Number
) -> tuple[int, int]:
    """Do the same on a circle of `count` entries, a power of two; `first` may be any number."""
    if last - first + 1 >= count:
        return between(low, high, start, count, 0, count - 1)
    one = first & (count - 1)
    two = one + last - first
    if two < count:
        return between(low, high, start, count, one, two)
    least, most = between(low, high, start, count, one, count - 1)
    other, another = between(low, high, start, count, 0, two - count)
    return min(least, other), max(most, another)


@njit(cache=True)
def wave(low: Short, start: int, places: int, peaks: int, first: int, last: int) -> tuple[int, int]:
    """Return between which grid values a wave's lie from place first to place last.

    Its values at all places, then how many peaks there are, and their places: between two places
    that have no peak between them the largest and the least value is at an end.
    """
    mask = places - 1
    a, b = low[start + (first & mask)], low[start + (last & mask)]
    least, most = min(a, b), max(a, b)
    for k in range(peaks):
        place = low[start + places + k]
        if (place - first) & mask <= last - first:
            value = low[start + place]
            least, most = min(least, value), max(most, value)
    return least, most
