"""Solvers under supervision: in a worker with a memory limit, ended when its time is over.

CP-SAT where it is installed, then HiGHS. Neither always keeps its own time limit, and both can ask
for more memory than there is. So they run in a worker, one for many problems, and the caller always
gets an answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from boolcomp.base.processes import Worker
from boolcomp.common.errors import DataError
from boolcomp.common.launcher import ONE_THREAD, Limits
from boolcomp.twolevel import cpsat_worker, milp_worker, solvers

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from numpy.typing import NDArray

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
                exact = max(exact, call(solvers.rechecked, asked))
        except (EOFError, TimeoutError, DataError, MemoryError, ValueError):
            self.close()
        return _answer(bound, exact, chosen, problem)
