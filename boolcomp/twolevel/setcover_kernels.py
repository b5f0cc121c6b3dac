"""Compiled loops over covering matrices in CSR form."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.sweep_kernels import random

if TYPE_CHECKING:
    from numpy.typing import NDArray


# --------------------------------------------------------------------------------------------------
# Compiled loops over covering matrices in CSR form.
# --------------------------------------------------------------------------------------------------


# ruff: noqa: C901, PLR0917 (a compiled loop takes its arrays one by one)


WORK = 2_000_000
"""Lists compared between two looks at the clock: at most some tenths of a second."""


@njit(cache=True, nogil=True)
def transpose(
    starts: NDArray[np.int64], items: NDArray[np.int32], columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the CSR form of the transposed matrix, items rising."""
    turned = np.zeros(columns + 1, np.int64)
    for k in items:
        turned[k + 1] += 1
    for k in range(columns):
        turned[k + 1] += turned[k]
    fill = turned[:-1].copy()
    rows = np.empty(len(items), np.int32)
    for r in range(len(starts) - 1):
        for at in range(starts[r], starts[r + 1]):
            rows[fill[items[at]]] = r
            fill[items[at]] += 1
    return turned, rows


@njit(cache=True, nogil=True)
def keep(
    starts: NDArray[np.int64],
    items: NDArray[np.int32],
    number: NDArray[np.int32],
    kept: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
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
def _within(items: NDArray[np.int32], a: int, a_end: int, b: int, b_end: int) -> bool:
    """Tell whether the sorted list at a:a_end lies in the one at b:b_end."""
    while a < a_end:
        while b < b_end and items[b] < items[a]:
            b += 1
        if b == b_end or items[b] != items[a]:
            return False
        a += 1
    return True


@njit(cache=True, nogil=True)
def _digests(starts: NDArray[np.int64], items: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return a word per list such that a list within another has its bits among the other's."""
    digest = np.zeros(len(starts) - 1, np.uint64)
    for i in range(len(digest)):
        for k in range(starts[i], starts[i + 1]):
            hashed = np.uint64(items[k]) * np.uint64(0x9E3779B97F4A7C15)
            digest[i] |= np.uint64(1) << (hashed >> np.uint64(58))
    return digest


@njit(cache=True, nogil=True)
def dominated(
    starts: NDArray[np.int64],
    items: NDArray[np.int32],
    turned: NDArray[np.int64],
    members: NDArray[np.int32],
    cost: NDArray[np.int64],
    drop_subset: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
    first: int,
    cause: NDArray[np.int32],
) -> int:
    """Set `cause` of lists that another makes superfluous to that one; all others stay at -1.

    With `drop_subset` a list goes when a list of no greater cost holds it (a dominated column);
    else when it holds another (a dominated row). Of equal lists one of least cost stays, the first
    of several. `turned` and `members` transpose the lists. They are looked at from `first` on,
    until much was compared; return where to go on.
    """
    digest = _digests(starts, items)
    work = 0
    for i in range(first, len(digest)):
        if work > WORK:
            return i
        if starts[i + 1] == starts[i] or cause[i] >= 0:
            continue
        rare = _rarest(items[starts[i] : starts[i + 1]], turned)
        for at in range(turned[rare], turned[rare + 1]):
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
def _rarest(items: NDArray[np.int32], turned: NDArray[np.int64]) -> int:
    """Return the item with the shortest list in the transpose."""
    rare = items[0]
    for k in items:
        if turned[k + 1] - turned[k] < turned[rare + 1] - turned[rare]:
            rare = k
    return int(rare)


@njit(cache=True, nogil=True)
def components(
    starts: NDArray[np.int64], items: NDArray[np.int32], columns: int
) -> NDArray[np.int64]:
    """Return for every row the number of its block; blocks share no column."""
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
def greedy(
    starts: NDArray[np.int64],
    items: NDArray[np.int32],
    turned: NDArray[np.int64],
    members: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Return an irredundant set of columns covering all rows, weighing rare rows more."""
    rows, columns = len(starts) - 1, len(turned) - 1
    leaves = 1
    while leaves < columns:
        leaves *= 2
    tree = np.zeros(2 * leaves)  # weights at the leaves, every node the larger of its two
    for r in range(rows):
        for at in range(starts[r], starts[r + 1]):
            tree[leaves + items[at]] += 1.0 / (starts[r + 1] - starts[r])
    for node in range(leaves - 1, 0, -1):
        tree[node] = max(tree[2 * node], tree[2 * node + 1])
    times = np.zeros(rows, np.int64)
    chosen = np.zeros(columns, np.bool_)
    left = rows
    while left > 0:
        node = 1
        while node < leaves:
            node = 2 * node if tree[2 * node] >= tree[2 * node + 1] else 2 * node + 1
        best = node - leaves
        chosen[best] = True
        for at in range(turned[best], turned[best + 1]):
            r = members[at]
            if times[r] == 0:
                left -= 1
                for k in range(starts[r], starts[r + 1]):
                    _lower(tree, leaves + items[k], 1.0 / (starts[r + 1] - starts[r]))
            times[r] += 1
        _lower(tree, node, 2.0 * columns + rows)
    _thin(chosen, turned, members, times)
    return np.flatnonzero(chosen)


@njit(cache=True, nogil=True)
def _lower(tree: NDArray[np.float64], node: int, by: float) -> None:
    """Lower a leaf, and the nodes above it as far as they change."""
    tree[node] -= by
    while node > 1:
        node //= 2
        larger = max(tree[2 * node], tree[2 * node + 1])
        if tree[node] == larger:
            break
        tree[node] = larger


@njit(cache=True, nogil=True)
def _thin(
    chosen: NDArray[np.bool_],
    turned: NDArray[np.int64],
    members: NDArray[np.int32],
    times: NDArray[np.int64],
) -> None:
    """Drop chosen columns all of whose rows are met twice."""
    for k in np.flatnonzero(chosen):
        needed = False
        for at in range(turned[k], turned[k + 1]):
            needed = needed or times[members[at]] == 1
        if not needed:
            chosen[k] = False
            for at in range(turned[k], turned[k + 1]):
                times[members[at]] -= 1


@njit(cache=True, nogil=True)
def independent(
    starts: NDArray[np.int64],
    items: NDArray[np.int32],
    order: NDArray[np.int64],
    used: NDArray[np.bool_],
) -> int:
    """Count lists, taken greedily in that order, of which no two have an item in common."""
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
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    prices: NDArray[np.float64],
    reduced: NDArray[np.float64],
) -> float:
    """Fill the reduced costs of unit-cost columns; return the Lagrangian bound of the prices."""
    reduced[:] = 1.0
    bound = 0.0
    for r in range(len(prices)):
        bound += prices[r]
        for at in range(starts[r], starts[r + 1]):
            reduced[indices[at]] -= prices[r]
    for k in range(len(reduced)):
        bound += min(0.0, reduced[k])
    return bound


@njit(cache=True, nogil=True)
def exact_costs(
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    prices: NDArray[np.int64],
    reduced: NDArray[np.int64],
) -> int:
    """Turn the costs in `reduced` into reduced costs; return the bound, all in whole numbers."""
    bound = 0
    for r in range(len(prices)):
        bound += prices[r]
        for at in range(starts[r], starts[r + 1]):
            reduced[indices[at]] -= prices[r]
    for k in range(len(reduced)):
        bound += min(0, reduced[k])
    return bound


class Ascent(NamedTuple):
    """Where an ascent stands: prices, the best ones so far, and numbers in `state`.

    They are the bound of the best prices, the length of a step (the ascent is over once it is below
    `SHORTEST`), and how many steps brought nothing since the last gain.
    """

    prices: NDArray[np.float64]
    best: NDArray[np.float64]
    state: NDArray[np.float64]


BOUND, STEP, IDLE = 0, 1, 2
SHORTEST = 1e-4
PATIENCE = 60


@njit(cache=True, nogil=True)
def ascend(
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    columns: int,
    upper: int,
    iterations: int,
    a: Ascent,
) -> None:
    """Improve row prices by so many subgradient steps towards `upper`; calls go on from each other.

    Steps shrink, and go on from the best prices, whenever `PATIENCE` of them brought nothing.
    """
    reduced, slope = np.empty(columns), np.empty(len(starts) - 1)
    for _ in range(iterations):
        bound = reduced_costs(starts, indices, a.prices, reduced)
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
            bound = reduced_costs(starts, indices, a.prices, reduced)
        norm = _slopes(starts, indices, a.prices, reduced, slope)
        if norm == 0:
            a.state[STEP] = 0
            return
        length = a.state[STEP] * (1.02 * upper - bound) / norm
        for r in range(len(slope)):
            a.prices[r] = max(0.0, a.prices[r] + length * slope[r])


@njit(cache=True, nogil=True)
def _slopes(
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    prices: NDArray[np.float64],
    reduced: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> float:
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
def priced_greedy(
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    turned: NDArray[np.int64],
    members: NDArray[np.int32],
    prices: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return an irredundant set of columns that meets all rows, chosen by prices of the rows.

    Next is always the column of least cost, less the prices of rows unmet, for each such row.
    """
    columns = len(turned) - 1
    reduced, left = np.empty(columns), turned[1:] - turned[:-1]
    reduced_costs(starts, indices, prices, reduced)
    order = np.argsort(-reduced)
    heap = [(_score(reduced[c], left[c]), left[c], c) for c in range(columns)]
    heapq.heapify(heap)
    times, chosen, unmet = np.zeros(len(prices), np.int64), np.zeros(columns, np.bool_), len(prices)
    while unmet:
        _, known, c = heapq.heappop(heap)
        if known != left[c]:
            heapq.heappush(heap, (_score(reduced[c], left[c]), left[c], c))
            continue
        chosen[c] = True
        for at in range(turned[c], turned[c + 1]):
            r = members[at]
            times[r] += 1
            if times[r] == 1:
                unmet -= 1
                for k in range(starts[r], starts[r + 1]):
                    left[indices[k]] -= 1
                    reduced[indices[k]] += prices[r]
    for c in order:
        if chosen[c] and (times[members[turned[c] : turned[c + 1]]] > 1).all():
            chosen[c] = False
            times[members[turned[c] : turned[c + 1]]] -= 1
    return chosen


@njit(cache=True, nogil=True)
def _score(cost: float, rows: int) -> float:
    if rows == 0:
        return np.inf
    return cost / rows if cost > 0 else cost * rows


# --------------------------------------------------------------------------------------------------
# Choosing few columns that meet all rows, by local search with row weights.
#
# Rows that stay unmet grow heavier (Gao, Weise and Li 2015, "An efficient local search heuristic
# with row weighting for the unicost set covering problem"), which drives the search out of local
# minima.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


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
