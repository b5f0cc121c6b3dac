"""Covering problems for HiGHS, as a worker of `milp` solves them.

A problem is `starts`, `indices` (rows in CSR form), `cost` of every column, `count` (exactly so
many columns, or None) and `end` (of `time.monotonic`).
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


TOLERANCE = 1e-7
"""What HiGHS takes for 0 in reduced costs (its option dual_feasibility_tolerance)."""

UNIT = 1 << 30
"""Prices are counted in such parts of a column's cost; whole sums stay below 2^63."""


def _matrix(problem: dict[str, Any], columns: int) -> csr_array:
    from scipy.sparse import csr_array  # noqa: PLC0415 (slow to import)

    indices = np.asarray(problem["indices"], np.int32)
    starts = np.asarray(problem["starts"], np.int32)
    return csr_array((np.ones(len(indices)), indices, starts), shape=(len(starts) - 1, columns))


def rounded_bound(value: float | None, columns: int) -> int:
    """Return the integer bound of what branch and bound proved in floating point.

    HiGHS lets the reduced cost of every column be wrong by `TOLERANCE`, and a column is at most 1,
    so its bound may be too high by that much for each of them, and by rounding in proportion to
    its size. As costs are whole numbers the bound rounds up.
    """
    if value is None or not math.isfinite(value):
        return 0
    slack = TOLERANCE * (columns + 10) + 1e-9 * abs(value)
    return max(0, math.ceil(value - slack))


def certified(problem: dict[str, Any], prices: NDArray[np.float64], of_count: float) -> int:
    """Return the bound that prices of the rows (and of the count) prove, in whole numbers.

    Whatever the prices are, those not below 0 prove that a solution costs at least their sum, plus
    the reduced cost of every column where that is below 0. They are rounded to multiples of
    1 / `UNIT`, and all else is exact.
    """
    indices, starts = np.asarray(problem["indices"], np.int64), np.asarray(problem["starts"])
    cost = np.asarray(problem["cost"], np.int64)
    highest = float(cost.max(initial=1))
    price = np.floor(np.clip(prices, 0, highest) * UNIT).astype(np.int64)
    count = problem["count"] or 0
    extra = 0 if problem["count"] is None else math.floor(max(-1e6, min(1e6, of_count)) * UNIT)
    reduced = cost * UNIT - extra
    np.subtract.at(reduced, indices, np.repeat(price, np.diff(starts)))
    total = int(price.sum()) + extra * count + int(np.minimum(reduced, 0).sum())
    return max(0, -(-total // UNIT))


def relaxed(problem: dict[str, Any]) -> int:
    """Return the bound of the linear relaxation, 0 where it was not solved in time."""
    from scipy.optimize import linprog  # noqa: PLC0415 (slow to import)

    cost = np.asarray(problem["cost"], np.float64)
    rows = -_matrix(problem, len(cost))
    count = problem["count"]
    equal = (None, None) if count is None else (np.ones((1, len(cost))), [count])
    solve: Any = linprog  # whose types know no sparse matrices
    found = solve(
        cost, rows, -np.ones(rows.shape[0]), *equal, bounds=(0, 1), method="highs",
        options={"time_limit": _left(problem)},
    )  # fmt: skip
    if found.status != 0:
        return 0
    of_count = 0.0 if count is None else float(found.eqlin.marginals[0])
    return certified(problem, -found.ineqlin.marginals, of_count)


def solved(problem: dict[str, Any]) -> tuple[NDArray[np.int64] | None, int]:
    """Return the columns of the integer problem, None where none were found, and their bound."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 (slow to import)

    cost = np.asarray(problem["cost"], np.float64)
    constraints = [LinearConstraint(_matrix(problem, len(cost)), lb=1)]
    count = problem["count"]
    if count is not None:
        constraints.append(LinearConstraint(np.ones((1, len(cost))), lb=count, ub=count))
    found = milp(
        cost, constraints=constraints, bounds=Bounds(0, 1),
        integrality=np.ones(len(cost), np.int64),
        options={"time_limit": _left(problem), "mip_rel_gap": 0.0},
    )  # fmt: skip
    chosen = None if found.x is None else np.flatnonzero(found.x > 0.5)
    return chosen, rounded_bound(found.mip_dual_bound, len(cost))


def _left(problem: dict[str, Any]) -> float:
    return max(0.01, float(problem["end"]) - time.monotonic())
