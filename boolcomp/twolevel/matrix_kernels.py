"""Compiled loops that set up covering matrices; importing this module imports numba."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


@njit(cache=True, nogil=True)
def columns_of(
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    row_start: NDArray[np.int64],
    row_columns: NDArray[np.int32],
) -> None:
    """Turn the lists round: the columns of each row."""
    row_start[:] = 0
    for r in rows:
        row_start[r + 1] += 1
    for r in range(len(row_start) - 1):
        row_start[r + 1] += row_start[r]
    at = row_start.copy()
    for c in range(len(starts) - 1):
        for k in range(starts[c], starts[c + 1]):
            r = rows[k]
            row_columns[at[r]] = c
            at[r] += 1


@njit(cache=True, nogil=True)
def _within(columns: NDArray[np.int32], a: int, a_end: int, b: int, b_end: int) -> bool:
    """Tell whether the sorted list at a:a_end lies in the one at b:b_end."""
    while a < a_end:
        while b < b_end and columns[b] < columns[a]:
            b += 1
        if b == b_end or columns[b] != columns[a]:
            return False
        a += 1
    return True


@njit(cache=True, nogil=True)
def _digests(start: NDArray[np.int64], items: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return a word per list such that a list within another has its bits among the other's."""
    digest = np.zeros(len(start) - 1, np.uint64)
    for i in range(len(digest)):
        for k in range(start[i], start[i + 1]):
            hashed = np.uint64(items[k]) * np.uint64(0x9E3779B97F4A7C15)
            digest[i] |= np.uint64(1) << (hashed >> np.uint64(58))
    return digest


@njit(cache=True, nogil=True)
def contained(
    start: NDArray[np.int64],
    items: NDArray[np.int32],
    other_start: NDArray[np.int64],
    other_items: NDArray[np.int32],
    larger: NDArray[np.int32],
) -> None:
    """Set larger[a] to some list that holds list a (of two equal ones the later is held), or -1.

    The lists at `other_start` are the same matrix turned round: who has each item.
    """
    digest = _digests(start, items)
    for a in range(len(digest)):
        larger[a] = -1
        if start[a] == start[a + 1]:
            continue
        rare = items[start[a]]
        for k in range(start[a], start[a + 1]):
            i = items[k]
            if other_start[i + 1] - other_start[i] < other_start[rare + 1] - other_start[rare]:
                rare = i
        size = start[a + 1] - start[a]
        for k in range(other_start[rare], other_start[rare + 1]):
            b = other_items[k]
            excess = start[b + 1] - start[b] - size
            if digest[a] & ~digest[b] or excess < 0 or (excess == 0 and b >= a):
                continue
            if _within(items, start[a], start[a + 1], start[b], start[b + 1]):
                larger[a] = b
                break


@njit(cache=True, nogil=True)
def containing(
    start: NDArray[np.int64],
    items: NDArray[np.int32],
    other_start: NDArray[np.int64],
    other_items: NDArray[np.int32],
    needless: NDArray[np.bool_],
) -> None:
    """Mark the lists that hold another list (of two equal ones the later)."""
    digest = _digests(start, items)
    for a in range(len(digest)):
        if needless[a] or start[a] == start[a + 1]:
            continue
        rare = items[start[a]]
        for k in range(start[a], start[a + 1]):
            i = items[k]
            if other_start[i + 1] - other_start[i] < other_start[rare + 1] - other_start[rare]:
                rare = i
        size = start[a + 1] - start[a]
        for k in range(other_start[rare], other_start[rare + 1]):
            b = other_items[k]
            excess = start[b + 1] - start[b] - size
            if needless[b] or digest[a] & ~digest[b] or excess < 0 or (excess == 0 and b <= a):
                continue
            if _within(items, start[a], start[a + 1], start[b], start[b + 1]):
                needless[b] = True


@njit(cache=True, nogil=True)
def keep(
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
    new_number: NDArray[np.int32],
    gone: NDArray[np.bool_],
) -> int:
    """Renumber the rows of the columns, in place; returns the number of entries left.

    Rows of new number -1 go, and all rows of columns that are `gone`.
    """
    at = 0
    first = starts[0]
    for c in range(len(gone)):
        end = starts[c + 1]
        starts[c] = at
        for k in range(first, end):
            r = new_number[rows[k]]
            if r >= 0 and not gone[c]:
                rows[at] = r
                at += 1
        first = end
    starts[len(gone)] = at
    return at


@njit(cache=True, nogil=True)
def independent(
    row_start: NDArray[np.int64],
    row_columns: NDArray[np.int32],
    order: NDArray[np.int64],
    used: NDArray[np.bool_],
) -> int:
    """Count rows, taken greedily in that order, of which no two have a column in common."""
    count = 0
    for r in order:
        free = True
        for k in range(row_start[r], row_start[r + 1]):
            if used[row_columns[k]]:
                free = False
                break
        if free:
            count += 1
            for k in range(row_start[r], row_start[r + 1]):
                used[row_columns[k]] = True
    return count
