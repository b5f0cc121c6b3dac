"""Compiled loops over covering matrices in CSR form. Imports numba, so import it late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORK = 2_000_000
"""Lists compared between two looks at the clock: at most some tenths of a second."""


@njit(cache=True, nogil=True)
def transpose(
    starts: NDArray[np.int64], indices: NDArray[np.int64], columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the CSR form of the transposed matrix, indices rising."""
    turned = np.zeros(columns + 1, np.int64)
    for k in indices:
        turned[k + 1] += 1
    for k in range(columns):
        turned[k + 1] += turned[k]
    fill = turned[:-1].copy()
    rows = np.empty(len(indices), np.int64)
    for r in range(len(starts) - 1):
        for at in range(starts[r], starts[r + 1]):
            rows[fill[indices[at]]] = r
            fill[indices[at]] += 1
    return turned, rows


@njit(cache=True, nogil=True)
def _holds(starts: NDArray[np.int64], indices: NDArray[np.int64], small: int, large: int) -> bool:
    """Tell whether list `small` is a subset of list `large` (both rise)."""
    at, end = starts[large], starts[large + 1]
    left = starts[small + 1] - starts[small]
    for k in range(starts[small], starts[small + 1]):
        wanted = indices[k]
        if end - at < left:
            return False
        high = end
        while at < high:
            middle = (at + high) // 2
            if indices[middle] < wanted:
                at = middle + 1
            else:
                high = middle
        if at == end or indices[at] != wanted:
            return False
        left -= 1
    return True


@njit(cache=True, nogil=True)
def dominated(  # noqa: PLR0917 (numba has no keyword-only arguments)
    starts: NDArray[np.int64],
    indices: NDArray[np.int64],
    turned: NDArray[np.int64],
    members: NDArray[np.int64],
    cost: NDArray[np.int64],
    drop_subset: bool,  # noqa: FBT001 (likewise)
    first: int,
    gone: NDArray[np.bool_],
) -> int:
    """Mark in `gone` the lists that another makes superfluous; `turned`, `members` transpose them.

    With `drop_subset` a list goes when a list of no greater cost holds it (a dominated column);
    else when it holds another (a dominated row). Of equal lists one of least cost stays. Lists are
    looked at from `first` on, until much was compared; return where to go on.
    """
    work = 0
    for i in range(first, len(starts) - 1):
        if work > WORK:
            return i
        if starts[i + 1] == starts[i] or gone[i]:
            continue
        rare = _rarest(indices[starts[i] : starts[i + 1]], turned)
        for at in range(turned[rare], turned[rare + 1]):
            k = members[at]
            work += 1
            if gone[k] or k == i or starts[k + 1] - starts[k] < starts[i + 1] - starts[i]:
                continue
            if drop_subset and (cost[k] > cost[i] or (k > i and cost[k] == cost[i] and (
                starts[k + 1] - starts[k] == starts[i + 1] - starts[i]))):  # fmt: skip
                continue
            if _holds(starts, indices, i, k):
                gone[i if drop_subset else k] = True
                if drop_subset:
                    break
    return len(starts) - 1


@njit(cache=True, nogil=True)
def _rarest(items: NDArray[np.int64], turned: NDArray[np.int64]) -> int:
    """Return the item with the shortest list in the transpose."""
    rare = items[0]
    for k in items:
        if turned[k + 1] - turned[k] < turned[rare + 1] - turned[rare]:
            rare = k
    return int(rare)


@njit(cache=True, nogil=True)
def components(
    starts: NDArray[np.int64], indices: NDArray[np.int64], columns: int
) -> NDArray[np.int64]:
    """Return for every row the number of its block; blocks share no column."""
    parent = np.arange(columns)
    for r in range(len(starts) - 1):
        first = indices[starts[r]]
        while parent[first] != first:
            parent[first] = parent[parent[first]]
            first = parent[first]
        for at in range(starts[r] + 1, starts[r + 1]):
            k = indices[at]
            while parent[k] != k:
                parent[k] = parent[parent[k]]
                k = parent[k]
            parent[k] = first
    labels = np.full(columns, -1, np.int64)
    result = np.empty(len(starts) - 1, np.int64)
    blocks = 0
    for r in range(len(starts) - 1):
        k = indices[starts[r]]
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
    indices: NDArray[np.int64],
    turned: NDArray[np.int64],
    members: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return an irredundant set of columns covering all rows, weighing rare rows more."""
    rows, columns = len(starts) - 1, len(turned) - 1
    leaves = 1
    while leaves < columns:
        leaves *= 2
    tree = np.zeros(2 * leaves)  # weights at the leaves, every node the larger of its two
    for r in range(rows):
        for at in range(starts[r], starts[r + 1]):
            tree[leaves + indices[at]] += 1.0 / (starts[r + 1] - starts[r])
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
                    _lower(tree, leaves + indices[k], 1.0 / (starts[r + 1] - starts[r]))
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
    members: NDArray[np.int64],
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
