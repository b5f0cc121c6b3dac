"""Solvers of covering problems in worker processes, and proofs of their bounds in whole numbers.

A proof is a branch-and-bound tree. At every node HiGHS solves the linear relaxation; only its
prices of rows are used. For any prices p ≥ 0 no solution within the node's 0 ≤ l ≤ x ≤ u ≤ 1 costs
less than

    Σ p_r + Σ_j min over l_j ≤ x_j ≤ u_j of (c_j - Σ_{r of j} p_r) x_j,

which is computed exactly in whole numbers. The same numbers fix columns at 0 or 1 in all solutions
below the target. Nodes are counted, so the same problem gives the same bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from boolcomp.base.errors import DataError
from boolcomp.base.processes import ONE_THREAD, Limits, Worker
from boolcomp.twolevel import solver_workers

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from highspy import Highs
    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import F64, I64

    Bits = NDArray[np.int8]


UNIT = 1 << 24  # prices are multiples of 1 / UNIT
NODES = 2000  # at most
LARGEST = 1 << 62  # integer


@dataclass(frozen=True, slots=True)
class BranchNode:
    """Bounds of columns: excluded (upper 0), included (lower 1) or free."""

    lower: Bits
    upper: Bits


class BranchProof:
    """A proof that no solution of a problem (see `solver_workers`) costs less than `target`.

    Rows and the count may be violated at a cost above the target: every relaxation has a solution,
    and prices are bounded by that cost.
    """

    def __init__(self, problem: dict[str, Any], target: int) -> None:
        self.target = target
        self.cost = np.asarray(problem["cost"], np.int64)
        self.indices = np.asarray(problem["indices"], np.int64)
        starts = np.asarray(problem["starts"], np.int64)
        self.lengths: I64 = starts[1:] - starts[:-1]
        self.count: int | None = problem["count"]
        self.end = float(problem["end"])
        self.penalty = target + 1
        self._solver: Highs | None = None

    def proved(self, nodes: int = NODES) -> int:
        """Return the bound proved with at most `nodes` nodes; it is no more than the target."""
        columns = len(self.cost)
        if (len(self.indices) + 2 * columns) * self.penalty * UNIT >= LARGEST:
            return 0
        root = BranchNode(np.zeros(columns, np.int8), np.ones(columns, np.int8))
        open_nodes: list[tuple[int, int, BranchNode]] = [(0, 0, root)]
        seen = 0
        while open_nodes and open_nodes[0][0] < self.target:
            if seen >= nodes or time.monotonic() > self.end:
                return open_nodes[0][0]
            known, _, node = heappop(open_nodes)
            solved = self._relaxed(node)
            if solved is None:
                return known
            bound, fixed, values = self._bounded(node, *solved)
            bound = max(bound, known)
            seen += 1
            if bound >= self.target:
                continue
            free = np.flatnonzero(fixed.lower < fixed.upper)
            if not len(free):  # one solution, whose cost exceeds the bound of the prices
                heappush(open_nodes, (bound, seen, fixed))
                return open_nodes[0][0]
            column = free[np.argmin(np.abs(values[free] - 0.5))]
            for k, child in enumerate(_children(fixed, int(column))):
                heappush(open_nodes, (bound, 2 * seen + k, child))
        return self.target

    def _bounded(
        self, node: BranchNode, prices: F64, of_count: float, values: F64
    ) -> tuple[int, BranchNode, F64]:
        """Return the bound that prices prove, and the node with the columns fixed that they fix."""
        limit = self.penalty
        price = np.floor(np.clip(np.nan_to_num(prices), 0, limit) * UNIT).astype(np.int64)
        extra = 0
        if self.count is not None:
            extra = int(np.floor(np.clip(np.nan_to_num(of_count), -limit, limit) * UNIT))
        reduced = self.cost * UNIT - extra
        np.subtract.at(reduced, self.indices, np.repeat(price, self.lengths))
        best = np.where(reduced < 0, reduced * node.upper, reduced * node.lower)
        total = int(price.sum()) + extra * (self.count or 0) + int(best.sum())
        room = (self.target - 1) * UNIT - total  # a better solution costs at most this more
        free = node.lower < node.upper
        lower, upper = node.lower.copy(), node.upper.copy()
        upper[free & (reduced > room)] = 0
        lower[free & (-reduced > room)] = 1
        return -(-total // UNIT), BranchNode(lower, upper), values

    def _relaxed(self, node: BranchNode) -> tuple[F64, float, F64] | None:
        """Return prices of rows and of the count, and the columns of the relaxation."""
        from highspy import HighsModelStatus  # noqa: PLC0415 (slow to import)

        solver, columns = self._model(), len(self.cost)
        places = np.arange(columns, dtype=np.int32)
        lower, upper = node.lower.astype(np.float64), node.upper.astype(np.float64)
        solver.changeColsBounds(columns, places, lower, upper)
        solver.setOptionValue("time_limit", solver.getRunTime() + self.end - time.monotonic())
        solver.run()
        if solver.getModelStatus() != HighsModelStatus.kOptimal:
            return None
        solution = solver.getSolution()
        prices, rows = np.asarray(solution.row_dual), len(self.lengths)
        return prices[:rows], float(prices[rows:].sum()), np.asarray(solution.col_value)[:columns]

    def _model(self) -> Highs:
        """Return the relaxation in HiGHS, made once, with a slack column for every row."""
        if self._solver is not None:
            return self._solver
        import highspy  # noqa: PLC0415 (slow to import)

        columns, rows = len(self.cost), len(self.lengths)
        counted = self.count is not None
        model = highspy.HighsLp()
        whole = columns + rows + 2 * counted
        model.num_col_, model.num_row_ = whole, rows + counted
        model.col_cost_ = np.concatenate(
            [self.cost, np.full(whole - columns, self.penalty)]
        ).astype(np.float64)
        model.col_lower_ = np.zeros(whole)
        model.col_upper_ = np.concatenate([np.ones(columns), np.full(whole - columns, np.inf)])
        ends = np.cumsum(self.lengths)
        indices = np.insert(self.indices, ends, columns + np.arange(rows))
        starts = np.concatenate([[0], ends + np.arange(1, rows + 1)])
        values = np.ones(len(indices))
        low, high = np.ones(rows), np.full(rows, np.inf)
        if self.count is not None:
            indices = np.concatenate([indices, np.arange(columns), [whole - 2, whole - 1]])
            values = np.concatenate([values, np.ones(columns), [1.0, -1.0]])
            starts = np.concatenate([starts, [len(indices)]])
            low, high = np.append(low, self.count), np.append(high, self.count)
        model.row_lower_, model.row_upper_ = low.astype(np.float64), high.astype(np.float64)
        matrix = model.a_matrix_
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_, matrix.index_ = starts.astype(np.int32), indices.astype(np.int32)
        matrix.value_ = values
        self._solver = highspy.Highs()
        for name, value in (("output_flag", False), ("threads", 1)):
            self._solver.setOptionValue(name, value)
        self._solver.passModel(model)
        return self._solver


def _children(node: BranchNode, column: int) -> tuple[BranchNode, BranchNode]:
    """Return the nodes with a column included and excluded."""
    lower, upper = node.lower.copy(), node.upper.copy()
    lower[column], upper[column] = 1, 0
    return BranchNode(lower, node.upper), BranchNode(node.lower, upper)


def rechecked(problem: dict[str, Any]) -> int:
    return BranchProof(problem, problem["target"]).proved()


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


def _answer(bound: int, exact: int, chosen: I64 | None, problem: dict[str, Any]) -> MilpAnswer:
    """Return an answer; columns that do not solve the problem are replaced by None."""
    if chosen is None:
        return MilpAnswer(None, bound, exact)
    taken = np.zeros(len(problem["cost"]), np.bool_)
    taken[chosen] = True
    met = np.logical_or.reduceat(taken[problem["indices"]], problem["starts"][:-1]).all()
    valid = met and problem["count"] in (None, len(chosen))
    return MilpAnswer(chosen if valid else None, bound, exact)


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
        problem = {
            "starts": starts, "indices": indices, "cost": cost, "count": count,
            "end": end - 0.05 * seconds,
        }  # fmt: skip

        def call(function: Callable[[dict[str, Any]], Any], given: dict[str, Any]) -> Any:
            if len(indices) <= SMALL:
                return function(given)
            if self._worker is None:
                limits = Limits(self._memory)
                self._worker = Worker(limits=limits, environment=ONE_THREAD, quiet=True)
            return self._worker.call(function, given, end=end, idle=idle)

        exact = bound = 0
        chosen = None
        try:
            exact = bound = call(solver_workers.relaxed, problem)
            if len(indices) > SMALL and solver_workers.has_cpsat():
                begun: list[int] = [] if hint is None else hint.tolist()
                own = {**problem, "end": end - (1 - CPSAT) * seconds, "hint": begun}
                chosen, proved, optimal = call(solver_workers.cpsat, own)
                exact = bound = max(bound, proved)
                if optimal:
                    return _answer(bound, exact, chosen, problem)
            found, claimed = call(solver_workers.highs, problem)
            chosen = _cheaper(chosen, found, cost)
            bound = max(bound, claimed)
            if bound > exact:
                claim = {**problem, "target": bound, "end": end - 0.02 * seconds}
                exact = max(exact, call(rechecked, claim))
        except (EOFError, TimeoutError, DataError, MemoryError, ValueError):
            self.close()
        return _answer(bound, exact, chosen, problem)
