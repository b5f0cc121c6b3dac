"""Compiled loops over truth tables.

Cubes are (value, free) pairs over index bits, as `dense.IndexCubes` has them.
"""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Bit x of LOW_BITS[b] is index bit b of point x, within a word.
LOW_BITS = np.array(
    [sum(1 << x for x in range(64) if x >> b & 1) for b in range(6)],
    np.uint64,
)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True, inline="always")
def word_mask(value: int, free: int, inputs: int) -> np.uint64:
    """Return which points of a word a cube takes, as far as the six lowest bits decide."""
    mask = ALL
    for b in range(min(6, inputs)):
        if not free >> b & 1:
            mask &= LOW_BITS[b] if value >> b & 1 else ~LOW_BITS[b]
    if inputs < 6:
        mask &= (np.uint64(1) << np.uint64(1 << inputs)) - np.uint64(1)
    return mask


@njit(cache=True, nogil=True)
def rasterise(  # noqa: D103
    value: NDArray[np.int64],
    free: NDArray[np.int64],
    out: NDArray[np.uint64],
    inputs: int,
    target: NDArray[np.uint64],
) -> None:
    for c in range(len(value)):
        mask = word_mask(value[c], free[c], inputs)
        base = value[c] >> 6
        high = free[c] >> 6
        for j in range(len(target)):
            if not out[c, j // 64] >> np.uint64(j % 64) & np.uint64(1):
                continue
            row = target[j]
            s = 0
            while True:
                row[base | s] |= mask
                s = (s - high) & high
                if s == 0:
                    break


@njit(cache=True, nogil=True)
def signatures(
    value: NDArray[np.int64],
    free: NDArray[np.int64],
    out: NDArray[np.uint64],
    key: NDArray[np.uint64],
    sums: NDArray[np.uint64],
) -> None:
    """Add each cube's key to the points it covers: equal sums mark rows with equal columns."""
    for c in range(len(value)):
        for j in range(len(sums)):
            if out[c, j >> 6] >> np.uint64(j & 63) & np.uint64(1):
                t = 0
                while True:
                    sums[j, value[c] | t] += key[c]
                    t = (t - free[c]) & free[c]
                    if t == 0:
                        break


@njit(cache=True, nogil=True)
def rows_of(
    value: NDArray[np.int64],
    free: NDArray[np.int64],
    out: NDArray[np.uint64],
    row: NDArray[np.int32],
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
) -> int:
    """List the rows of each cube; `row` numbers the points that stand for a row, others are -1.

    With an empty `rows` only counts, into `starts`.
    """
    total = 0
    for c in range(len(value)):
        starts[c] = total
        for j in range(len(row)):
            if out[c, j >> 6] >> np.uint64(j & 63) & np.uint64(1):
                t = 0
                while True:
                    r = row[j, value[c] | t]
                    if r >= 0:
                        if len(rows):
                            rows[total] = r
                        total += 1
                    t = (t - free[c]) & free[c]
                    if t == 0:
                        break
    starts[len(value)] = total
    return total
