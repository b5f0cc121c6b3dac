"""Solvers of covering problems in worker processes, and proofs of their bounds in whole numbers.

For any prices p ≥ 0 of rows no solution with 0 ≤ l ≤ x ≤ u ≤ 1 costs less than

    Σ p_r + Σ_j min over l_j ≤ x_j ≤ u_j of (c_j - Σ_{r of j} p_r) x_j,

which is computed exactly in whole numbers. HiGHS solves linear relaxations; only its prices are
used. A proof is a branch-and-bound tree: the prices at a node prove its bound, and fix columns at 0
or 1 in all solutions below the target. Nodes are counted, so the same problem gives the same bound.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import cache
from heapq import heappop, heappush
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from boolcomp.base.errors import DataError
from boolcomp.base.processes import ONE_THREAD, Limits, Worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from highspy import Highs
    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import F64, I64

    Bits = NDArray[np.int8]
    Columns = I64 | None


@dataclass(frozen=True, slots=True, eq=False)
class CoverProblem:
    """Rows in CSR form, the cost of every column, the exact number of columns (or None).

    `end` is a time of `time.monotonic`.
    """

    starts: I64
    indices: I64
    cost: I64
    count: int | None
    end: float

    @property
    def rows(self) -> int:
        return len(self.starts) - 1

    def solved_by(self, chosen: I64) -> bool:
        """Tell whether columns meet every row, and the count."""
        taken = np.zeros(len(self.cost), np.bool_)
        taken[chosen] = True
        met = np.logical_or.reduceat(taken[self.indices], self.starts[:-1]).all()
        return bool(met) and self.count in (None, len(chosen))

    def bound(
        self,
        prices: F64,
        of_count: float,
        most: float,
        lower: Bits | int = 0,
        upper: Bits | int = 1,
    ) -> tuple[int, I64]:
        """Return the bound that prices prove, and reduced costs, as multiples of 1 / `UNIT`.

        Prices of the rows are limited to `most`, that of the count to ± `most`.
        """
        price = np.floor(np.clip(np.nan_to_num(prices), 0, most) * UNIT).astype(np.int64)
        extra = 0
        if self.count is not None:
            extra = int(np.floor(np.clip(np.nan_to_num(of_count), -most, most) * UNIT))
        reduced = self.cost * UNIT - extra
        np.subtract.at(reduced, self.indices, np.repeat(price, np.diff(self.starts)))
        least = np.where(reduced < 0, reduced * upper, reduced * lower)
        return int(price.sum()) + extra * (self.count or 0) + int(least.sum()), reduced


# --------------------------------------------------------------------------------------------------
# HiGHS.
# --------------------------------------------------------------------------------------------------

TOLERANCE = 1e-7  # of HiGHS for 0 in reduced costs (its option dual_feasibility_tolerance)
UNIT = 1 << 24  # prices are multiples of 1 / UNIT
NODES = 2000  # at most
LARGEST = 1 << 62  # integer
MOST_PRICE = 1 << 16  # at least; no useful price of a row exceeds the largest cost


def _model(problem: CoverProblem, *, whole: bool = False, penalty: int = 0) -> Highs:
    """Return HiGHS with a problem, in whole numbers or relaxed.

    With a penalty, rows and the count may be violated at this cost, by columns after the others.
    """
    import highspy  # noqa: PLC0415 (slow to import)

    columns, rows, counted = len(problem.cost), problem.rows, problem.count is not None
    slacks = rows + 2 * counted if penalty else 0
    indices, starts, values = problem.indices, problem.starts, np.ones(len(problem.indices))
    low, high = np.ones(rows), np.full(rows, highspy.kHighsInf)
    if penalty:
        indices = np.insert(indices, starts[1:], columns + np.arange(rows))
        starts, values = starts + np.arange(rows + 1), np.ones(len(indices))
    if problem.count is not None:
        both = [columns + rows, columns + rows + 1] if penalty else []
        indices = np.concatenate([indices, np.arange(columns), both])
        values = np.concatenate([values, np.ones(columns), [1.0, -1.0][: len(both)]])
        starts = np.append(starts, len(indices))
        low, high = np.append(low, problem.count), np.append(high, problem.count)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns + slacks, rows + counted
    model.col_cost_ = np.append(problem.cost, np.full(slacks, penalty)).astype(np.float64)
    model.col_lower_ = np.zeros(columns + slacks)
    model.col_upper_ = np.append(np.ones(columns), np.full(slacks, highspy.kHighsInf))
    if whole:
        model.integrality_ = [highspy.HighsVarType.kInteger] * columns
    model.row_lower_, model.row_upper_ = low.astype(np.float64), high.astype(np.float64)
    matrix = model.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_, matrix.index_ = starts.astype(np.int32), indices.astype(np.int32)
    matrix.value_ = values
    solver = highspy.Highs()
    for name, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0)):
        solver.setOptionValue(name, value)
    solver.passModel(model)
    return solver


def _run(solver: Highs, problem: CoverProblem) -> tuple[F64, float, F64] | None:
    """Return prices of rows and of the count, and the columns; None if the time did not suffice."""
    from highspy import HighsModelStatus  # noqa: PLC0415 (slow to import)

    left = max(0.01, problem.end - time.monotonic())
    solver.setOptionValue("time_limit", solver.getRunTime() + left)
    solver.run()
    if solver.getModelStatus() != HighsModelStatus.kOptimal:
        return None
    solution = solver.getSolution()
    prices, columns = np.asarray(solution.row_dual), len(problem.cost)
    rows = problem.rows
    return prices[:rows], float(prices[rows:].sum()), np.asarray(solution.col_value)[:columns]


def relaxed(problem: CoverProblem) -> int:
    """Return the bound of the linear relaxation, 0 if it was not solved in time."""
    found = _run(_model(problem), problem)
    if found is None:
        return 0
    total, _ = problem.bound(*found[:2], max(MOST_PRICE, int(problem.cost.max(initial=1))))
    return max(0, -(-total // UNIT))


def highs(problem: CoverProblem) -> tuple[Columns, int]:
    """Return the columns found (or None) and a bound for the integer problem."""
    from highspy import SolutionStatus  # noqa: PLC0415 (slow to import)

    solver = _model(problem, whole=True)
    _run(solver, problem)
    info = solver.getInfo()
    found = info.primal_solution_status == SolutionStatus.kSolutionStatusFeasible
    values = np.asarray(solver.getSolution().col_value)
    bound = rounded_bound(info.mip_dual_bound, len(problem.cost))
    return (np.flatnonzero(values > 0.5) if found else None), bound


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


@dataclass(frozen=True, slots=True)
class BranchNode:
    """Bounds of columns: excluded (upper 0), included (lower 1) or free."""

    lower: Bits
    upper: Bits

    def children(self, column: int) -> tuple[BranchNode, BranchNode]:
        """Return the nodes with a column included and excluded."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[column], upper[column] = 1, 0
        return BranchNode(lower, self.upper), BranchNode(self.lower, upper)


class BranchProof:
    """A proof that no solution of a problem costs less than `target`.

    Rows and the count may be violated at a cost above the target: every relaxation has a solution,
    and prices are bounded by that cost.
    """

    def __init__(self, problem: CoverProblem, target: int) -> None:
        self.problem = problem
        self.target = target
        self.penalty = target + 1

    def proved(self, nodes: int = NODES) -> int:
        """Return the bound proved with at most `nodes` nodes; it is no more than the target."""
        problem, columns = self.problem, len(self.problem.cost)
        if (len(problem.indices) + 2 * columns) * self.penalty * UNIT >= LARGEST:
            return 0
        solver, places = _model(problem, penalty=self.penalty), np.arange(columns, dtype=np.int32)
        root = BranchNode(np.zeros(columns, np.int8), np.ones(columns, np.int8))
        open_nodes: list[tuple[int, int, BranchNode]] = [(0, 0, root)]
        seen = 0
        while open_nodes and open_nodes[0][0] < self.target:
            if seen >= nodes or time.monotonic() > problem.end:
                return open_nodes[0][0]
            known, _, node = heappop(open_nodes)
            lower, upper = node.lower.astype(np.float64), node.upper.astype(np.float64)
            solver.changeColsBounds(columns, places, lower, upper)
            found = _run(solver, problem)
            if found is None:
                return known
            bound, fixed = self.bounded(node, *found[:2])
            bound = max(bound, known)
            seen += 1
            if bound >= self.target:
                continue
            free = np.flatnonzero(fixed.lower < fixed.upper)
            if not len(free):  # one solution, whose cost exceeds the bound of the prices
                return min([bound, *(known for known, _, _ in open_nodes)])
            column = free[np.argmin(np.abs(found[2][free] - 0.5))]
            for k, child in enumerate(fixed.children(int(column))):
                heappush(open_nodes, (bound, 2 * seen + k, child))
        return self.target

    def bounded(self, node: BranchNode, prices: F64, of_count: float) -> tuple[int, BranchNode]:
        """Return the bound that prices prove, and the node with the columns fixed that they fix."""
        lower, upper = node.lower.copy(), node.upper.copy()
        total, reduced = self.problem.bound(prices, of_count, self.penalty, lower, upper)
        room = (self.target - 1) * UNIT - total  # a better solution costs at most this more
        free = lower < upper
        upper[free & (reduced > room)] = 0
        lower[free & (-reduced > room)] = 1
        return -(-total // UNIT), BranchNode(lower, upper)


def rechecked(problem: CoverProblem, target: int) -> int:
    return BranchProof(problem, target).proved()


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


def cpsat(problem: CoverProblem, hint: list[int]) -> tuple[Columns, int, bool]:
    """Return the columns found (or None), a bound, and whether the columns are optimal.

    `hint` are columns to begin with.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415 (an extra, slow to import)

    starts, indices, cost = (
        array.tolist() for array in (problem.starts, problem.indices, problem.cost)
    )
    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in cost]
    for row in range(len(starts) - 1):
        # Sums, unlike clauses, are part of the linear relaxation.
        model.add(sum(taken[k] for k in indices[starts[row] : starts[row + 1]]) >= 1)
    if problem.count is not None:
        model.add(sum(taken) == problem.count)
    model.minimize(cp_model.LinearExpr.weighted_sum(taken, cost))
    known = set(hint)
    for k, variable in enumerate(taken if hint else ()):
        model.add_hint(variable, k in known)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 1
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = max(0.01, problem.end - time.monotonic())
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, 0, False
    chosen = np.flatnonzero([solver.value(variable) for variable in taken])
    return chosen, max(0, round(solver.best_objective_bound)), status == cp_model.OPTIMAL


# --------------------------------------------------------------------------------------------------
# Solvers in a worker with a memory limit and a time limit.
#
# CP-SAT, where it is installed, then HiGHS. Both may exceed their own time limits and the memory,
# so they run in a worker, one for many problems.
# --------------------------------------------------------------------------------------------------

MEMORY = 4 * 2**30  # bytes of address space for the worker
SMALL = 600  # entries of a matrix that HiGHS solves in milliseconds, without the worker
CPSAT = 0.7  # of the time, before HiGHS starts


@dataclass(frozen=True, slots=True, eq=False)
class MilpAnswer:
    """Columns (or None) and proved bounds on the least cost.

    `exact` is proved in whole numbers, `bound` by branch and bound in floating point.
    """

    chosen: I64 | None
    bound: int
    exact: int


def _cheaper(first: I64 | None, second: I64 | None, cost: I64) -> I64 | None:
    """Return the columns of less cost, `second` if the costs are equal."""
    if first is None or second is None:
        return second if first is None else first
    return first if cost[first].sum() < cost[second].sum() else second


class Milp:
    """A context that solves covering problems in one worker, started at first use."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._worker: Worker | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def solve(
        self, starts: I64, indices: I64, cost: I64, seconds: float, count: int | None = None, *,
        idle: Callable[[], None] | None = None, hint: I64 | None = None,
    ) -> MilpAnswer:  # fmt: skip
        """Return columns of least cost that meet every row, exactly `count` of them if given.

        `hint` are columns to begin with, mostly a solution. The answer comes within `seconds` and a
        few hundredths; if the worker died or was ended, its bound is that of the linear relaxation,
        or 0. While waiting, `idle` is called repeatedly; it should return within some hundredths of
        a second.
        """
        end = time.monotonic() + seconds
        if seconds <= 0:
            return MilpAnswer(None, 0, 0)
        small = len(indices) <= SMALL
        problem = CoverProblem(starts, indices, cost, count, end - 0.05 * seconds)

        def call(function: Callable[..., Any], *given: Any) -> Any:
            if small:
                return function(*given)
            if self._worker is None:
                limits = Limits(self._memory)
                self._worker = Worker(limits=limits, environment=ONE_THREAD, quiet=True)
            return self._worker.call(function, *given, end=end, idle=idle)

        exact = bound = 0
        chosen, optimal = None, False
        try:
            exact = bound = call(relaxed, problem)
            if not small and has_cpsat():
                begun: list[int] = [] if hint is None else hint.tolist()
                own = replace(problem, end=end - (1 - CPSAT) * seconds)
                chosen, proved, optimal = call(cpsat, own, begun)
                exact = bound = max(bound, proved)
            if not optimal:
                found, claimed = call(highs, problem)
                chosen = _cheaper(chosen, found, cost)
                bound = max(bound, claimed)
            if bound > exact:
                longer = replace(problem, end=end - 0.02 * seconds)
                exact = max(exact, call(rechecked, longer, bound))
        except (EOFError, TimeoutError, DataError, MemoryError, ValueError):
            self.close()
        if chosen is not None and not problem.solved_by(chosen):
            chosen = None
        return MilpAnswer(chosen, bound, exact)
