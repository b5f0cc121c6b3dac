"""Compiled loops over covering matrices in CSR form."""
# ruff: noqa: C901, PLR0917 (a compiled loop takes its arrays one by one)

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
