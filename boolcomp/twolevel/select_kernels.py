"""Choosing few columns that meet all rows, by local search with row weights; imports numba.

Rows that stay unmet grow heavier (Gao, Weise and Li 2015, "An efficient local search heuristic with
row weighting for the unicost set covering problem"), which drives the search out of local minima.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from boolcomp.common.loops import njit
from boolcomp.twolevel.sweep_kernels import random

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Choice(NamedTuple):
    """A covering matrix, both ways round, and the columns chosen at the moment.

    `met` counts the chosen columns of a row, `owner` is the exclusive or of their numbers. `score`
    of a column is the weight of the rows that choosing it meets, or, for a chosen one, minus the
    weight of those that dropping it unmeets. `place` is a chosen column's index in `chosen`, -1 for
    others; `open_at` likewise for unmet rows in `unmet`. `sizes` is (chosen, unmet, steps, work).
    """

    row_start: NDArray[np.int64]
    row_columns: NDArray[np.int32]
    column_start: NDArray[np.int64]
    column_rows: NDArray[np.int32]
    weight: NDArray[np.int64]
    met: NDArray[np.int32]
    owner: NDArray[np.int32]
    score: NDArray[np.int64]
    moved: NDArray[np.int64]
    stirred: NDArray[np.bool_]
    chosen: NDArray[np.int32]
    place: NDArray[np.int32]
    unmet: NDArray[np.int32]
    open_at: NDArray[np.int32]
    sizes: NDArray[np.int64]
    noise: NDArray[np.uint64]


@njit(cache=True, nogil=True)
def add(m: Choice, c: int) -> None:
    """Choose a column."""
    m.score[c] = -m.score[c]
    m.place[c] = m.sizes[0]
    m.chosen[m.sizes[0]] = c
    m.sizes[0] += 1
    for k in range(m.column_start[c], m.column_start[c + 1]):
        r = m.column_rows[k]
        m.met[r] += 1
        m.owner[r] ^= c
        if m.met[r] == 1:
            at = m.open_at[r]
            last = m.unmet[m.sizes[1] - 1]
            m.unmet[at] = last
            m.open_at[last] = at
            m.sizes[1] -= 1
            for q in range(m.row_start[r], m.row_start[r + 1]):
                d = m.row_columns[q]
                m.stirred[d] = True
                if d != c:
                    m.score[d] -= m.weight[r]
            m.sizes[3] += m.row_start[r + 1] - m.row_start[r]
        elif m.met[r] == 2:
            m.score[m.owner[r] ^ c] += m.weight[r]
    m.sizes[3] += m.column_start[c + 1] - m.column_start[c]


@njit(cache=True, nogil=True)
def drop(m: Choice, c: int) -> None:
    """Undo the choice of a column."""
    m.score[c] = -m.score[c]
    at = m.place[c]
    last = m.chosen[m.sizes[0] - 1]
    m.chosen[at] = last
    m.place[last] = at
    m.place[c] = -1
    m.sizes[0] -= 1
    for k in range(m.column_start[c], m.column_start[c + 1]):
        r = m.column_rows[k]
        m.met[r] -= 1
        m.owner[r] ^= c
        if m.met[r] == 0:
            m.open_at[r] = m.sizes[1]
            m.unmet[m.sizes[1]] = r
            m.sizes[1] += 1
            for q in range(m.row_start[r], m.row_start[r + 1]):
                d = m.row_columns[q]
                m.stirred[d] = True
                if d != c:
                    m.score[d] += m.weight[r]
            m.sizes[3] += m.row_start[r + 1] - m.row_start[r]
        elif m.met[r] == 1:
            m.score[m.owner[r]] -= m.weight[r]
    m.stirred[c] = False
    m.sizes[3] += m.column_start[c + 1] - m.column_start[c]


@njit(cache=True, nogil=True)
def _cheapest(m: Choice, forbidden: int) -> int:
    """Return the chosen column whose loss weighs least, the longest unmoved of equals."""
    best = m.chosen[0]
    if best == forbidden and m.sizes[0] > 1:
        best = m.chosen[1]
    for k in range(m.sizes[0]):
        c = m.chosen[k]
        better = m.score[c] > m.score[best] or (
            m.score[c] == m.score[best] and m.moved[c] < m.moved[best]
        )
        if c != forbidden and better:
            best = c
    m.sizes[3] += m.sizes[0] // 4
    return int(best)


@njit(cache=True, nogil=True)
def _helper(m: Choice, r: int) -> int:
    """Return the best column for an unmet row among those whose surroundings have changed."""
    best = -1
    for k in range(m.row_start[r], m.row_start[r + 1]):
        c = m.row_columns[k]
        if not m.stirred[c]:
            continue
        if (
            best < 0
            or m.score[c] > m.score[best]
            or (m.score[c] == m.score[best] and m.moved[c] < m.moved[best])
        ):
            best = c
    return best


@njit(cache=True, nogil=True)
def start(m: Choice, first: NDArray[np.int32]) -> None:
    """Set all books for an empty choice, then choose the given columns."""
    m.sizes[:] = 0
    m.met[:] = 0
    m.owner[:] = 0
    m.place[:] = -1
    m.stirred[:] = True
    m.moved[:] = 0
    m.weight[:] = 1
    for r in range(len(m.weight)):
        m.unmet[r] = r
        m.open_at[r] = r
    m.sizes[1] = len(m.weight)
    for c in range(len(m.score)):
        m.score[c] = m.column_start[c + 1] - m.column_start[c]
    for c in first:
        if m.place[c] < 0:
            add(m, c)


@njit(cache=True, nogil=True)
def improve(m: Choice, best: NDArray[np.int32], size: int, budget: int) -> int:
    """Search for smaller choices during `budget` work.

    Returns the size of the smallest, kept in `best`; a call resumes where the last one ended.
    """
    end = m.sizes[3] + budget
    while m.sizes[3] < end:
        while m.sizes[1] == 0:
            if m.sizes[0] < size:
                size = m.sizes[0]
                best[:size] = m.chosen[:size]
            if size <= 1:
                m.sizes[3] = end
                return size
            drop(m, _cheapest(m, -1))
        m.sizes[2] += 1
        if m.sizes[0] > 0:
            latest = m.chosen[m.sizes[0] - 1]
            c = _cheapest(m, latest)
            drop(m, c)
            m.moved[c] = m.sizes[2]
        r = m.unmet[random(m.noise) % m.sizes[1]]
        c = _helper(m, r)
        if c < 0:
            c = m.row_columns[m.row_start[r]]
        add(m, c)
        m.moved[c] = m.sizes[2]
        for k in range(m.sizes[1]):
            r = m.unmet[k]
            m.weight[r] += 1
            for q in range(m.row_start[r], m.row_start[r + 1]):
                m.score[m.row_columns[q]] += 1
            m.sizes[3] += m.row_start[r + 1] - m.row_start[r]
    return size
