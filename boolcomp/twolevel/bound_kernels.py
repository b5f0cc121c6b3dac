"""Compiled Lagrangian bounds for covering problems of unit cost. Imports numba: import it late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.loops import njit

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


@njit(cache=True, nogil=True)
def ascend(  # noqa: PLR0917 (numba has no keyword-only arguments)
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    columns: int,
    upper: int,
    iterations: int,
    best_prices: NDArray[np.float64],
    step: float,
) -> tuple[float, float]:
    """Improve row prices, in place, by subgradient steps towards `upper`.

    Return the lower bound they prove and the step to go on with: it shrinks whenever 20 steps
    brought nothing, and the ascent is over once it is below 0.0001.
    """
    rows = len(starts) - 1
    prices = best_prices.copy()
    reduced, slope = np.empty(columns), np.empty(rows)
    best = reduced_costs(starts, indices, prices, reduced)
    since = 0
    for _ in range(iterations):
        bound = reduced_costs(starts, indices, prices, reduced)
        since = 0 if bound > best + 1e-3 else since + 1
        if bound > best:
            best = bound
            best_prices[:] = prices
        if best > upper - 1 + 1e-6 or step < 1e-4:
            break
        if since == 20:
            step, since = 0.6 * step, 0
            prices[:] = best_prices
            bound = reduced_costs(starts, indices, prices, reduced)
        norm = _slopes(starts, indices, prices, reduced, slope)
        if norm == 0:
            return best, 0.0
        prices = np.maximum(0.0, prices + step * (1.02 * upper - bound) / norm * slope)
    return best, step


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
