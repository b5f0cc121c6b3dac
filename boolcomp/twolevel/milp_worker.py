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
    from highspy import Highs, HighsVarType
    from numpy.typing import NDArray


TOLERANCE = 1e-7
"""What HiGHS takes for 0 in reduced costs (its option dual_feasibility_tolerance)."""

UNIT = 1 << 30
"""Prices are counted in such parts of a column's cost; whole sums stay below 2^63."""


def _model(problem: dict[str, Any], kind: HighsVarType) -> Highs:
    """Return HiGHS with the problem of columns of one kind, its time limit set."""
    import highspy  # noqa: PLC0415 (slow to import)

    rows, columns = len(problem["starts"]) - 1, len(problem["cost"])
    count = problem["count"]
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns, rows + (count is not None)
    model.col_cost_ = np.asarray(problem["cost"], np.float64)
    model.col_lower_, model.col_upper_ = np.zeros(columns), np.ones(columns)
    model.integrality_ = [kind] * columns
    indices, starts, low = list(problem["indices"]), list(problem["starts"]), [1.0] * rows
    high = [highspy.kHighsInf] * rows
    if count is not None:
        indices += range(columns)
        starts.append(len(indices))
        low.append(count)
        high.append(count)
    model.row_lower_, model.row_upper_ = np.array(low), np.array(high)
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_, matrix.index_ = np.array(starts, np.int32), np.array(indices, np.int32)
    matrix.value_ = np.ones(len(indices))
    solver = highspy.Highs()
    for name, value in (
        ("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0),
        ("time_limit", max(0.01, float(problem["end"]) - time.monotonic())),
    ):  # fmt: skip
        solver.setOptionValue(name, value)
    solver.passModel(model)
    return solver


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
    from highspy import HighsModelStatus, HighsVarType  # noqa: PLC0415 (slow to import)

    solver = _model(problem, HighsVarType.kContinuous)
    solver.run()
    if solver.getModelStatus() != HighsModelStatus.kOptimal:
        return 0
    prices = np.asarray(solver.getSolution().row_dual)
    rows = len(problem["starts"]) - 1
    return certified(problem, prices[:rows], float(prices[rows:].sum()))


def solved(problem: dict[str, Any]) -> tuple[NDArray[np.int64] | None, int]:
    """Return the columns of the integer problem, None where none were found, and their bound."""
    from highspy import HighsVarType, SolutionStatus  # noqa: PLC0415 (slow to import)

    solver = _model(problem, HighsVarType.kInteger)
    solver.run()
    info = solver.getInfo()
    found = info.primal_solution_status == SolutionStatus.kSolutionStatusFeasible
    values = np.asarray(solver.getSolution().col_value)
    bound = rounded_bound(info.mip_dual_bound, len(problem["cost"]))
    return (np.flatnonzero(values > 0.5) if found else None), bound
