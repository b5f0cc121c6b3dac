"""Covering problems for HiGHS and for CP-SAT, as workers of `solvers` run them.

A problem is `starts`, `indices` (rows in CSR form), `cost` of every column, `count` (the
exact number of columns, or None) and `end` (of `time.monotonic`).
"""

from __future__ import annotations

import math
import time
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from highspy import Highs, HighsVarType

    from boolcomp.twolevel.cubes import F64, I64

    Columns = I64 | None


# --------------------------------------------------------------------------------------------------
# HiGHS.
# --------------------------------------------------------------------------------------------------

TOLERANCE = 1e-7  # of HiGHS for 0 in reduced costs (its option dual_feasibility_tolerance)
UNIT = 1 << 30  # integer prices are multiples of 1 / UNIT; whole sums stay below 2^63


def _model(problem: dict[str, Any], kind: HighsVarType) -> Highs:
    """Return HiGHS with a problem of columns of one kind and its time limit."""
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
    """Return an integer bound from a bound that branch and bound proved in floating point.

    The reduced cost of every column (at most 1) may be wrong by `TOLERANCE`. The bound may be too
    high by the sum of these errors and by rounding errors. It is rounded up, as costs are whole
    numbers.
    """
    if value is None or not math.isfinite(value):
        return 0
    slack = TOLERANCE * (columns + 10) + 1e-9 * abs(value)
    return max(0, math.ceil(value - slack))


def certified(problem: dict[str, Any], prices: F64, of_count: float) -> int:
    """Return the bound that prices of the rows (and of the count) prove, in whole numbers.

    Any prices of at least 0 prove that a solution costs at least their sum plus all negative
    reduced costs of columns. Prices are rounded to multiples of 1 / `UNIT`; the rest is exact.
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
    """Return the bound of the linear relaxation, 0 if it was not solved in time."""
    from highspy import HighsModelStatus, HighsVarType  # noqa: PLC0415 (slow to import)

    solver = _model(problem, HighsVarType.kContinuous)
    solver.run()
    if solver.getModelStatus() != HighsModelStatus.kOptimal:
        return 0
    prices = np.asarray(solver.getSolution().row_dual)
    rows = len(problem["starts"]) - 1
    return certified(problem, prices[:rows], float(prices[rows:].sum()))


def highs(problem: dict[str, Any]) -> tuple[Columns, int]:
    """Return the columns found (or None) and a bound for the integer problem."""
    from highspy import HighsVarType, SolutionStatus  # noqa: PLC0415 (slow to import)

    solver = _model(problem, HighsVarType.kInteger)
    solver.run()
    info = solver.getInfo()
    found = info.primal_solution_status == SolutionStatus.kSolutionStatusFeasible
    values = np.asarray(solver.getSolution().col_value)
    bound = rounded_bound(info.mip_dual_bound, len(problem["cost"]))
    return (np.flatnonzero(values > 0.5) if found else None), bound


# --------------------------------------------------------------------------------------------------
# CP-SAT of OR-tools.
#
# One thread and a linear relaxation at every node (`linearization_level` 2) are some ten times as
# fast as branch and bound of HiGHS on the cores of the Berkeley files. Several threads are slower
# than one. Bounds are proved in whole numbers.
# --------------------------------------------------------------------------------------------------


@cache
def has_cpsat() -> bool:
    return find_spec("ortools") is not None


def cpsat(problem: dict[str, Any]) -> tuple[Columns, int, bool]:
    """Return the columns found (or None), a bound, and whether the columns are optimal.

    A problem may have a `hint`: columns to begin with.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415 (an extra, slow to import)

    starts, indices = problem["starts"].tolist(), problem["indices"].tolist()
    cost = [int(value) for value in problem["cost"]]
    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in cost]
    for row in range(len(starts) - 1):
        # Sums, unlike clauses, are part of the linear relaxation.
        model.add(sum(taken[k] for k in indices[starts[row] : starts[row + 1]]) >= 1)
    if problem["count"] is not None:
        model.add(sum(taken) == int(problem["count"]))
    model.minimize(cp_model.LinearExpr.weighted_sum(taken, cost))
    hint = set(problem.get("hint", ()))
    if hint:
        for k, variable in enumerate(taken):
            model.add_hint(variable, k in hint)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = max(0.01, float(problem["end"]) - time.monotonic())
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, 0, False
    chosen = np.flatnonzero([solver.value(variable) for variable in taken])
    return chosen, max(0, round(solver.best_objective_bound)), status == cp_model.OPTIMAL
