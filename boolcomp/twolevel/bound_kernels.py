"""Compiled Lagrangian bounds for covering problems of unit cost."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
