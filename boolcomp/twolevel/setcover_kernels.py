"""Compiled loops over covering matrices: reduction, Lagrangian bounds and local search."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.sweep_kernels import random

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import F64, I32, I64, U64, Flags


# ruff: noqa: C901, PLR0917 (a compiled loop takes its arrays one by one)


WORK = 2_000_000  # comparisons between checks of the clock: at most some tenths of a second


@njit(cache=True, nogil=True)
def transpose(starts: I64, items: I32, columns: int) -> tuple[I64, I32]:
    """Return the CSR form of the transposed matrix, items ascending."""
    transposed = np.zeros(columns + 1, np.int64)
    for k in items:
        transposed[k + 1] += 1
    for k in range(columns):
        transposed[k + 1] += transposed[k]
    fill = transposed[:-1].copy()
    rows = np.empty(len(items), np.int32)
    for r in range(len(starts) - 1):
        for at in range(starts[r], starts[r + 1]):
            rows[fill[items[at]]] = r
            fill[items[at]] += 1
    return transposed, rows


@njit(cache=True, nogil=True)
def keep(starts: I64, items: I32, number: I32, kept: Flags) -> tuple[I64, I32]:
    """Return the lists with their items renumbered, without items of number -1.

    Lists that are not `kept` are empty.
    """
    left, result, at = np.zeros_like(starts), np.empty_like(items), 0
    for c in range(len(kept)):
        if kept[c]:
            for k in range(starts[c], starts[c + 1]):
                if number[items[k]] >= 0:
                    result[at] = number[items[k]]
                    at += 1
        left[c + 1] = at
    return left, result[:at].copy()


@njit(cache=True, nogil=True)
def _within(items: I32, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Tell whether the sorted list at a:a_end lies in the one at b:b_end."""
    while a < a_end:
        while b < b_end and items[b] < items[a]:
            b += 1
        if b == b_end or items[b] != items[a]:
            return False
        a += 1
    return True


@njit(cache=True, nogil=True)
def _digests(starts: I64, items: I32) -> U64:
    """Return a word per list; a sublist has a subset of the bits."""
    digest = np.zeros(len(starts) - 1, np.uint64)
    for i in range(len(digest)):
        for k in range(starts[i], starts[i + 1]):
            hashed = np.uint64(items[k]) * np.uint64(0x9E3779B97F4A7C15)
            digest[i] |= np.uint64(1) << (hashed >> np.uint64(58))
    return digest


@njit(cache=True, nogil=True)
def dominated(
    starts: I64,
    items: I32,
    transposed: I64,
    members: I32,
    cost: I64,
    drop_subset: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
    first: int,
    cause: I32,
) -> int:
    """Set `cause` of dominated lists to the dominating list; all others stay at -1.

    With `drop_subset` a list is dominated by a list of no greater cost that contains it (columns),
    otherwise by a list that it contains (rows). One of equal lists stays: the first of least cost.
    `transposed` and `members` are the transpose. Lists are compared from `first` on, up to `WORK`;
    return the next one.
    """
    digest = _digests(starts, items)
    work = 0
    for i in range(first, len(digest)):
        if work > WORK:
            return i
        if starts[i + 1] == starts[i] or cause[i] >= 0:
            continue
        rare = _rarest(items[starts[i] : starts[i + 1]], transposed)
        for at in range(transposed[rare], transposed[rare + 1]):
            k = members[at]
            work += 1
            excess = starts[k + 1] - starts[k] - starts[i + 1] + starts[i]
            if excess < 0 or digest[i] & ~digest[k]:
                continue
            if drop_subset:
                if cost[k] > cost[i] or (excess == 0 and cost[k] == cost[i] and k >= i):
                    continue
            elif cause[k] >= 0 or (excess == 0 and k <= i):
                continue
            if _within(items, starts[i], starts[i + 1], starts[k], starts[k + 1]):
                cause[i if drop_subset else k] = k if drop_subset else i
                if drop_subset:
                    break
    return len(digest)


@njit(cache=True, nogil=True)
def _rarest(items: I32, transposed: I64) -> int:
    """Return the item with the shortest list in the transpose."""
    rare = items[0]
    for k in items:
        if transposed[k + 1] - transposed[k] < transposed[rare + 1] - transposed[rare]:
            rare = k
    return int(rare)


@njit(cache=True, nogil=True)
def components(starts: I64, items: I32, columns: int) -> I64:
    """Return the number of the block of every row; blocks have no common columns."""
    parent = np.arange(columns)
    for r in range(len(starts) - 1):
        first = items[starts[r]]
        while parent[first] != first:
            parent[first] = parent[parent[first]]
            first = parent[first]
        for at in range(starts[r] + 1, starts[r + 1]):
            k = items[at]
            while parent[k] != k:
                parent[k] = parent[parent[k]]
                k = parent[k]
            parent[k] = first
    labels = np.full(columns, -1, np.int64)
    result = np.empty(len(starts) - 1, np.int64)
    blocks = 0
    for r in range(len(starts) - 1):
        k = items[starts[r]]
        while parent[k] != k:
            k = parent[k]
        if labels[k] < 0:
            labels[k] = blocks
            blocks += 1
        result[r] = labels[k]
    return result


@njit(cache=True, nogil=True)
def independent(starts: I64, items: I32, order: I64, used: Flags) -> int:
    """Count disjoint lists, taken greedily in an order."""
    count = 0
    for r in order:
        free = True
        for k in range(starts[r], starts[r + 1]):
            free = free and not used[items[k]]
        if free:
            count += 1
            used[items[starts[r] : starts[r + 1]]] = True
    return count


# --------------------------------------------------------------------------------------------------
# Compiled Lagrangian bounds for covering problems of unit cost.
# --------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def reduced_costs(
    starts: I64, indices: I32, prices: F64 | I64, reduced: F64 | I64, unit: float
) -> float:
    """Fill the reduced costs of columns of cost `unit`; return the Lagrangian bound of the prices.

    All numbers are floats or integers, as `unit` is.
    """
    reduced[:] = unit
    bound = zero = 0 * unit
    for r in range(len(prices)):
        bound += prices[r]
        for at in range(starts[r], starts[r + 1]):
            reduced[indices[at]] -= prices[r]
    for k in range(len(reduced)):
        bound += min(zero, reduced[k])
    return bound


class Ascent(NamedTuple):
    """The state of an ascent: prices, the best prices so far, and three numbers.

    `state` holds the bound of the best prices, the length of a step (the ascent ends below
    `SHORTEST`), and the number of steps since the last gain.
    """

    prices: F64
    best: F64
    state: F64


BOUND, STEP, IDLE = 0, 1, 2
SHORTEST = 1e-4
PATIENCE = 60


@njit(cache=True, nogil=True)
def ascend(starts: I64, indices: I32, columns: int, upper: int, iterations: int, a: Ascent) -> None:
    """Improve row prices by subgradient steps towards `upper`; a call resumes the ascent.

    After `PATIENCE` steps without a gain, steps shrink and restart from the best prices.
    """
    reduced, slope = np.empty(columns), np.empty(len(starts) - 1)
    for _ in range(iterations):
        bound = reduced_costs(starts, indices, a.prices, reduced, 1.0)
        a.state[IDLE] = 0 if bound > a.state[BOUND] + 1e-3 else a.state[IDLE] + 1
        if bound > a.state[BOUND]:
            a.state[BOUND] = bound
            a.best[:] = a.prices
        if a.state[BOUND] > upper - 1 + 1e-6 or a.state[STEP] < SHORTEST:
            return
        if a.state[IDLE] == PATIENCE:
            a.state[STEP] *= 0.6
            a.state[IDLE] = 0
            a.prices[:] = a.best
            bound = reduced_costs(starts, indices, a.prices, reduced, 1.0)
        norm = _slopes(starts, indices, a.prices, reduced, slope)
        if norm == 0:
            a.state[STEP] = 0
            return
        length = a.state[STEP] * (1.02 * upper - bound) / norm
        for r in range(len(slope)):
            a.prices[r] = max(0.0, a.prices[r] + length * slope[r])


@njit(cache=True, nogil=True)
def _slopes(starts: I64, indices: I32, prices: F64, reduced: F64, slope: F64) -> float:
    """Fill the subgradient of the bound; return the square of its length."""
    norm = 0.0
    for r in range(len(prices)):
        slope[r] = 1.0
        for at in range(starts[r], starts[r + 1]):
            if reduced[indices[at]] < 0:
                slope[r] -= 1.0
        if prices[r] > 0 or slope[r] > 0:
            norm += slope[r] * slope[r]
    return norm


@njit(cache=True, nogil=True)
def greedy(
    starts: I64, indices: I32, transposed: I64, members: I32, prices: F64,
    per_row: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
) -> Flags:  # fmt: skip
    """Return an irredundant set of columns that meets all rows, chosen by prices of rows.

    The next column has the highest sum of prices of unmet rows or, if `per_row`, the least reduced
    cost per unmet row.
    """
    columns = len(transposed) - 1
    reduced, left = np.empty(columns), transposed[1:] - transposed[:-1]
    reduced_costs(starts, indices, prices, reduced, 1.0 if per_row else 0.0)
    order = np.argsort(-reduced) if per_row else np.arange(columns)
    heap = [_score(reduced[c], left[c], c, per_row) for c in range(columns)]
    heapq.heapify(heap)
    times, chosen, unmet = np.zeros(len(prices), np.int64), np.zeros(columns, np.bool_), len(prices)
    while unmet:
        known = heapq.heappop(heap)
        c = known[2]
        now = _score(reduced[c], left[c], c, per_row)
        if known != now:
            heapq.heappush(heap, now)
            continue
        chosen[c] = True
        for at in range(transposed[c], transposed[c + 1]):
            r = members[at]
            times[r] += 1
            if times[r] == 1:
                unmet -= 1
                for k in range(starts[r], starts[r + 1]):
                    left[indices[k]] -= 1
                    reduced[indices[k]] += prices[r]
    for c in order:
        if chosen[c] and (times[members[transposed[c] : transposed[c + 1]]] > 1).all():
            chosen[c] = False
            times[members[transposed[c] : transposed[c + 1]]] -= 1
    return chosen


@njit(cache=True, nogil=True)
def _score(cost: float, rows: int, c: int, per_row: bool) -> tuple[float, int, int]:  # noqa: FBT001 (numba)
    if not per_row:
        return cost, 0, c
    if rows == 0:
        return np.inf, 0, c
    return (cost / rows if cost > 0 else cost * rows), rows, c


# --------------------------------------------------------------------------------------------------
# Local search for few columns that meet all rows, with row weights.
#
# Weights of unmet rows grow, so that the search leaves local minima. See Gao, Weise and Li 2015,
# "An efficient local search heuristic with row weighting for the unicost set covering problem".
# --------------------------------------------------------------------------------------------------

CHOSEN, UNMET, STEPS, WORK_DONE = 0, 1, 2, 3


class CoverState(NamedTuple):
    """A covering matrix, its transpose, and the columns chosen at present.

    `met` counts the chosen columns of a row, `owner` is the exclusive or of their numbers. `score`
    of a column is the weight of the rows that it would newly meet or, for a chosen one, minus the
    weight of the rows that only it meets. `place` is a chosen column's index in `chosen`, or -1;
    `open_at` likewise for unmet rows in `unmet`. `sizes` is (chosen, unmet, steps, work).
    """

    row_start: I64
    row_columns: I32
    column_start: I64
    column_rows: I32
    weight: I64
    met: I32
    owner: I32
    score: I64
    moved: I64
    changed: Flags
    chosen: I32
    place: I32
    unmet: I32
    open_at: I32
    sizes: I64
    noise: U64


@njit(cache=True, nogil=True)
def add(m: CoverState, c: int) -> None:
    """Add a column to the choice."""
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
                m.changed[d] = True
                if d != c:
                    m.score[d] -= m.weight[r]
            m.sizes[WORK_DONE] += m.row_start[r + 1] - m.row_start[r]
        elif m.met[r] == 2:
            m.score[m.owner[r] ^ c] += m.weight[r]
    m.sizes[WORK_DONE] += m.column_start[c + 1] - m.column_start[c]


@njit(cache=True, nogil=True)
def drop(m: CoverState, c: int) -> None:
    """Remove a column from the choice."""
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
                m.changed[d] = True
                if d != c:
                    m.score[d] += m.weight[r]
            m.sizes[WORK_DONE] += m.row_start[r + 1] - m.row_start[r]
        elif m.met[r] == 1:
            m.score[m.owner[r]] -= m.weight[r]
    m.changed[c] = False
    m.sizes[WORK_DONE] += m.column_start[c + 1] - m.column_start[c]


@njit(cache=True, nogil=True)
def _cheapest(m: CoverState, forbidden: int) -> int:
    """Return the chosen column of least weight; of equal ones the one unchanged for longest."""
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
def _best_for_row(m: CoverState, r: int) -> int:
    """Return the best column for an unmet row among columns with changed neighbours."""
    best = -1
    for k in range(m.row_start[r], m.row_start[r + 1]):
        c = m.row_columns[k]
        if not m.changed[c]:
            continue
        if (
            best < 0
            or m.score[c] > m.score[best]
            or (m.score[c] == m.score[best] and m.moved[c] < m.moved[best])
        ):
            best = c
    return best


@njit(cache=True, nogil=True)
def start(m: CoverState, first: I32) -> None:
    """Initialise an empty choice, then add columns."""
    m.sizes[:] = 0
    m.met[:] = 0
    m.owner[:] = 0
    m.place[:] = -1
    m.changed[:] = True
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
def improve(m: CoverState, best: I32, size: int, lower: int, budget: int, steps: int) -> int:
    """Search for smaller choices within `budget` work and `steps`; a call resumes the search.

    Return the size of the smallest, stored in `best`. The search ends at `lower` (at least 1).
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
        c = _best_for_row(m, r)
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
