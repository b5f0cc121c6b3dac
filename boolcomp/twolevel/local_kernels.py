"""Choosing few columns that meet all rows, by local search with row weights.

Rows that stay unmet grow heavier (Gao, Weise and Li 2015, "An efficient local search heuristic with
row weighting for the unicost set covering problem"), which drives the search out of local minima.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.loops import njit
from boolcomp.twolevel.sweep_kernels import random

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


CHOSEN, UNMET, STEPS, WORK_DONE = 0, 1, 2, 3


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
    m.place[c] = m.sizes[CHOSEN]
    m.chosen[m.sizes[CHOSEN]] = c
    m.sizes[CHOSEN] += 1
    for k in range(m.column_start[c], m.column_start[c + 1]):
        r = m.column_rows[k]
        m.met[r] += 1
        m.owner[r] ^= c
        if m.met[r] == 1:
            at = m.open_at[r]
            last = m.unmet[m.sizes[UNMET] - 1]
            m.unmet[at] = last
            m.open_at[last] = at
            m.sizes[UNMET] -= 1
            for q in range(m.row_start[r], m.row_start[r + 1]):
                d = m.row_columns[q]
                m.stirred[d] = True
                if d != c:
                    m.score[d] -= m.weight[r]
            m.sizes[WORK_DONE] += m.row_start[r + 1] - m.row_start[r]
        elif m.met[r] == 2:
            m.score[m.owner[r] ^ c] += m.weight[r]
    m.sizes[WORK_DONE] += m.column_start[c + 1] - m.column_start[c]


@njit(cache=True, nogil=True)
def drop(m: Choice, c: int) -> None:
    """Undo the choice of a column."""
    m.score[c] = -m.score[c]
    at = m.place[c]
    last = m.chosen[m.sizes[CHOSEN] - 1]
    m.chosen[at] = last
    m.place[last] = at
    m.place[c] = -1
    m.sizes[CHOSEN] -= 1
    for k in range(m.column_start[c], m.column_start[c + 1]):
        r = m.column_rows[k]
        m.met[r] -= 1
        m.owner[r] ^= c
        if m.met[r] == 0:
            m.open_at[r] = m.sizes[UNMET]
            m.unmet[m.sizes[UNMET]] = r
            m.sizes[UNMET] += 1
            for q in range(m.row_start[r], m.row_start[r + 1]):
                d = m.row_columns[q]
                m.stirred[d] = True
                if d != c:
                    m.score[d] += m.weight[r]
            m.sizes[WORK_DONE] += m.row_start[r + 1] - m.row_start[r]
        elif m.met[r] == 1:
            m.score[m.owner[r]] -= m.weight[r]
    m.stirred[c] = False
    m.sizes[WORK_DONE] += m.column_start[c + 1] - m.column_start[c]


@njit(cache=True, nogil=True)
def _cheapest(m: Choice, forbidden: int) -> int:
    """Return the chosen column whose loss weighs least, the longest unmoved of equals."""
    best = m.chosen[0]
    if best == forbidden and m.sizes[CHOSEN] > 1:
        best = m.chosen[1]
    for k in range(m.sizes[CHOSEN]):
        c = m.chosen[k]
        better = m.score[c] > m.score[best] or (
            m.score[c] == m.score[best] and m.moved[c] < m.moved[best]
        )
        if c != forbidden and better:
            best = c
    m.sizes[WORK_DONE] += m.sizes[CHOSEN] // 4
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
    m.sizes[UNMET] = len(m.weight)
    for c in range(len(m.score)):
        m.score[c] = m.column_start[c + 1] - m.column_start[c]
    for c in first:
        if m.place[c] < 0:
            add(m, c)


@njit(cache=True, nogil=True)
def improve(
    m: Choice, best: NDArray[np.int32], size: int, lower: int, budget: int, steps: int
) -> int:
    """Search for smaller choices during `budget` work and at most so many steps.

    Returns the size of the smallest, kept in `best`; a call resumes where the last one ended.
    None smaller than `lower`, at least 1, is looked for.
    """
    end, last = m.sizes[WORK_DONE] + budget, m.sizes[STEPS] + steps
    while m.sizes[WORK_DONE] < end and m.sizes[STEPS] < last:
        while m.sizes[UNMET] == 0:
            if m.sizes[CHOSEN] < size:
                size = m.sizes[CHOSEN]
                best[:size] = m.chosen[:size]
            if size <= lower:
                m.sizes[WORK_DONE] = end
                return size
            drop(m, _cheapest(m, -1))
        m.sizes[STEPS] += 1
        if m.sizes[CHOSEN] > 0:
            latest = m.chosen[m.sizes[CHOSEN] - 1]
            c = _cheapest(m, latest)
            drop(m, c)
            m.moved[c] = m.sizes[STEPS]
        r = m.unmet[random(m.noise) % m.sizes[UNMET]]
        c = _helper(m, r)
        if c < 0:
            c = m.row_columns[m.row_start[r]]
        add(m, c)
        m.moved[c] = m.sizes[STEPS]
        for k in range(m.sizes[UNMET]):
            r = m.unmet[k]
            m.weight[r] += 1
            for q in range(m.row_start[r], m.row_start[r + 1]):
                m.score[m.row_columns[q]] += 1
            m.sizes[WORK_DONE] += m.row_start[r + 1] - m.row_start[r]
    return size
