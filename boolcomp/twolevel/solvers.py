"""What branch and bound said in floating point, proved once more in whole numbers.

A tree of our own: at every node HiGHS solves the linear relaxation, and of its answer only the
prices of rows are taken. Whatever prices p ≥ 0 are, no solution within the node's 0 ≤ l ≤ x ≤ u ≤ 1
costs less than

    Σ p_r + Σ_j min over l_j ≤ x_j ≤ u_j of (c_j - Σ_{r of j} p_r) x_j,

which whole numbers say exactly; so they say which columns are out, or in, in anything better than
what is to be proved. Nodes are counted: the same problem gives the same bound.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from boolcomp.base.errors import DataError
from boolcomp.base.processes import ONE_THREAD, Limits, Worker
from boolcomp.twolevel import cpsat_worker, milp_worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from highspy import Highs
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Bits = NDArray[np.int8]


# --------------------------------------------------------------------------------------------------
# What branch and bound said in floating point, proved once more in whole numbers.
# --------------------------------------------------------------------------------------------------


UNIT = 1 << 24  # prices are counted in such parts of a column's cost
NODES = 2000  # that are looked at
LARGEST = 1 << 62  # of a whole number


@dataclass(frozen=True, slots=True)
class Node:
    """Columns that are out (upper 0) or in (lower 1)."""

    lower: Bits
    upper: Bits


class Tree:
    """The proof that no solution costs less than `target`, as far as it gets.

    A problem is what `milp_worker` says. Rows may be missed, and the count, for more than the
    target: then every relaxation has a solution, and prices are no larger.
    """

    def __init__(self, problem: dict[str, Any], target: int) -> None:
        self.target = target
        self.cost = np.asarray(problem["cost"], np.int64)
        self.indices = np.asarray(problem["indices"], np.int64)
        starts = np.asarray(problem["starts"], np.int64)
        self.lengths: Whole = starts[1:] - starts[:-1]
        self.count: int | None = problem["count"]
        self.end = float(problem["end"])
        self.penalty = target + 1
        self._solver: Highs | None = None

    def proved(self, nodes: int = NODES) -> int:
        """Return the bound that is proved, no more than the target, after so many nodes."""
        columns = len(self.cost)
        if (len(self.indices) + 2 * columns) * self.penalty * UNIT >= LARGEST:
            return 0
        root = Node(np.zeros(columns, np.int8), np.ones(columns, np.int8))
        open_nodes: list[tuple[int, int, Node]] = [(0, 0, root)]
        seen = 0
        while open_nodes and open_nodes[0][0] < self.target:
            if seen >= nodes or time.monotonic() > self.end:
                return open_nodes[0][0]
            known, _, node = heappop(open_nodes)
            solved = self._relaxed(node)
            if solved is None:
                return known
            bound, fixed, values = self._judged(node, *solved)
            bound = max(bound, known)
            seen += 1
            if bound >= self.target:
                continue
            free = np.flatnonzero(fixed.lower < fixed.upper)
            if not len(free):  # one solution, which the prices did not judge well enough
                heappush(open_nodes, (bound, seen, fixed))
                return open_nodes[0][0]
            column = free[np.argmin(np.abs(values[free] - 0.5))]
            for k, child in enumerate(_children(fixed, int(column))):
                heappush(open_nodes, (bound, 2 * seen + k, child))
        return self.target

    def _judged(
        self, node: Node, prices: NDArray[np.float64], of_count: float, values: NDArray[np.float64]
    ) -> tuple[int, Node, NDArray[np.float64]]:
        """Return the bound that prices prove, and the node with columns out or in that must be."""
        most = self.penalty
        price = np.floor(np.clip(np.nan_to_num(prices), 0, most) * UNIT).astype(np.int64)
        extra = 0
        if self.count is not None:
            extra = int(np.floor(np.clip(np.nan_to_num(of_count), -most, most) * UNIT))
        reduced = self.cost * UNIT - extra
        np.subtract.at(reduced, self.indices, np.repeat(price, self.lengths))
        best = np.where(reduced < 0, reduced * node.upper, reduced * node.lower)
        total = int(price.sum()) + extra * (self.count or 0) + int(best.sum())
        room = (self.target - 1) * UNIT - total  # what a better solution may cost beyond the bound
        free = node.lower < node.upper
        lower, upper = node.lower.copy(), node.upper.copy()
        upper[free & (reduced > room)] = 0
        lower[free & (-reduced > room)] = 1
        return -(-total // UNIT), Node(lower, upper), values

    def _relaxed(self, node: Node) -> tuple[NDArray[np.float64], float, NDArray[np.float64]] | None:
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
        """Return the relaxation in HiGHS, made once; what rows miss are columns of their own."""
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


def _children(node: Node, column: int) -> tuple[Node, Node]:
    """Return the node with a column in, and out."""
    lower, upper = node.lower.copy(), node.upper.copy()
    lower[column], upper[column] = 1, 0
    return Node(lower, node.upper), Node(node.lower, upper)


def rechecked(problem: dict[str, Any]) -> int:
    """Return what whole numbers prove of the bound that was said of a problem, its `target`."""
    return Tree(problem, problem["target"]).proved()


# --------------------------------------------------------------------------------------------------
# Solvers under supervision: in a worker with a memory limit, ended when its time is over.
#
# CP-SAT where it is installed, then HiGHS. Neither always keeps its own time limit, and both can
# ask for more memory than there is. So they run in a worker, one for many problems, and the caller
# always gets an answer.
# --------------------------------------------------------------------------------------------------


MEMORY = 4 * 2**30
"""Bytes of address space for the child."""

SMALL = 600
"""Entries of a matrix so small that HiGHS takes milliseconds: it is solved without the child."""

CPSAT = 0.7
"""The part of the time after which HiGHS takes over from CP-SAT."""


@dataclass(frozen=True, slots=True, eq=False)
class MilpAnswer:
    """What was found in time: columns (or None), and a proved bound on their cost.

    HiGHS' branch and bound proves `bound` in floating point; whole numbers prove the `exact` one.
    """

    chosen: NDArray[np.int64] | None
    bound: int
    exact: int


def _answer(
    bound: int, exact: int, chosen: NDArray[np.int64] | None, problem: dict[str, Any]
) -> MilpAnswer:
    """Take what was found; columns that do not solve the problem are no columns."""
    if chosen is None:
        return MilpAnswer(None, bound, exact)
    taken = np.zeros(len(problem["cost"]), np.bool_)
    taken[chosen] = True
    met = np.logical_or.reduceat(taken[problem["indices"]], problem["starts"][:-1]).all()
    right = met and problem["count"] in (None, len(chosen))
    return MilpAnswer(chosen if right else None, bound, exact)


def _cheaper(
    first: NDArray[np.int64] | None, second: NDArray[np.int64] | None, cost: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return the columns of less cost, the second where they cost the same."""
    if first is None or second is None:
        return second if first is None else first
    return first if cost[first].sum() < cost[second].sum() else second


class Milp:
    """A context that solves covering problems in one child process, started when first needed."""

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
        """End the child, whatever it is doing."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def solve(
        self,
        starts: NDArray[np.int64],
        indices: NDArray[np.int64],
        cost: NDArray[np.int64],
        seconds: float,
        count: int | None = None,
        *,
        idle: Callable[[], None] | None = None,
        hint: NDArray[np.int64] | None = None,
    ) -> MilpAnswer:
        """Return columns of least cost that meet every row, with exactly `count` of them if given.

        `hint` are columns to begin with, mostly a solution.

        The answer comes within `seconds` and a few hundredths; when the child died or had to be
        ended it holds the bound of the linear relaxation, or 0. While waiting, `idle` is called
        again and again; it should return within some hundredths of a second.
        """
        end = time.monotonic() + seconds
        if seconds <= 0:
            return MilpAnswer(None, 0, 0)
        problem = {
            "starts": starts,
            "indices": indices,
            "cost": cost,
            "count": count,
            "end": end - 0.05 * seconds,
        }

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
            exact = bound = call(milp_worker.relaxed, problem)
            if len(indices) > SMALL and cpsat_worker.is_there():
                begun: list[int] = [] if hint is None else hint.tolist()
                own = {**problem, "end": end - (1 - CPSAT) * seconds, "hint": begun}
                chosen, sure, done = call(cpsat_worker.solved, own)
                exact = bound = max(bound, sure)
                if done:
                    return _answer(bound, exact, chosen, problem)
            found, said = call(milp_worker.solved, problem)
            chosen = _cheaper(chosen, found, cost)
            bound = max(bound, said)
            if bound > exact:
                asked = {**problem, "target": bound, "end": end - 0.02 * seconds}
                exact = max(exact, call(rechecked, asked))
        except (EOFError, TimeoutError, DataError, MemoryError, ValueError):
            self.close()
        return _answer(bound, exact, chosen, problem)
