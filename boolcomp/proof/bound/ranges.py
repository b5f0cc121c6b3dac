"""Tables of ranges: the least and the largest of any entries one after another, at once.

All numbers are whole ones of 31 bits, in some unit; ends are rounded outward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.object_]
    Short = NDArray[np.int32]

MOST = (1 << 31) - 1


class Store:
    """Two long columns, of low and of high ends, to which tables are added."""

    def __init__(self) -> None:
        self._low: list[Short] = []
        self._high: list[Short] = []
        self._used = 0

    @property
    def columns(self) -> tuple[Short, Short]:
        """Both columns."""
        none = [np.zeros(1, np.int32)]
        return np.concatenate(self._low or none), np.concatenate(self._high or none)

    def plain(self, low: Whole, high: Whole) -> int:
        """Add entries as they are; return where they begin."""
        start = self._used
        for column, values in ((self._low, low), (self._high, high)):
            if len(values) and max(abs(int(values.min())), abs(int(values.max()))) > MOST:
                raise ValueError("a number that is too large for a table of ranges")
            column.append(values.astype(np.int32))
        self._used += len(low)
        return start

    def ranges(self, low: Whole, high: Whole) -> int:
        """Add entries and, level by level, the ranges of 2, 4, 8 … of them (see `between`)."""
        start = self.plain(low, high)
        span = 1
        while 2 * span <= len(low):
            low, high = _pairs(low, span, least=True), _pairs(high, span, least=False)
            self.plain(low, high)
            span *= 2
        return start


def _pairs(values: Whole, span: int, *, least: bool) -> Whole:
    other = np.concatenate([values[span:], values[-1:].repeat(span)])
    return np.asarray(np.minimum(values, other) if least else np.maximum(values, other))


def peaks(values: Whole) -> list[int]:
    """Return the places of a circle where values are larger, or smaller, than just before them.

    And not so just after them. Between two places without a peak between the largest value and
    the least are at the ends.
    """
    before, after = np.roll(values, 1), np.roll(values, -1)
    top = (values > before) & (values >= after)
    bottom = (values < before) & (values <= after)
    return [int(k) for k in np.flatnonzero(top | bottom)]


def windows(values: Whole, starts: Sequence[int], count: int) -> tuple[Whole, Whole]:
    """Return the least and the largest of `count` values of a circle from every start on."""
    places = len(values)
    if count >= places:
        ones = np.ones(len(starts), dtype=object)
        return ones * values.min(), ones * values.max()
    low = high = np.concatenate([values, values])
    span = 1
    while 2 * span <= count:
        low, high = _pairs(low, span, least=True), _pairs(high, span, least=False)
        span *= 2
    one = np.array([start % places for start in starts], dtype=np.int64)
    two = one + count - span
    return np.minimum(low[one], low[two]), np.maximum(high[one], high[two])
