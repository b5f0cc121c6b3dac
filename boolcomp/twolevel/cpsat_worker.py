"""Covering problems for CP-SAT of OR-tools, as a worker of `milp` solves them.

One thread and a linear relaxation at every node (`linearization_level` 2): on the cores of the
Berkeley files that is some ten times as fast as branch and bound of HiGHS, and several threads are
slower than one. Its bounds are whole numbers, proved in whole numbers.
"""

from __future__ import annotations

import time
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = NDArray[np.int64] | None
SEED = 1


@cache
def is_there() -> bool:
    """Tell whether OR-tools are installed."""
    return find_spec("ortools") is not None


def solved(problem: dict[str, Any]) -> tuple[Columns, int, bool]:
    """Return columns of the problem, None where none were found, their bound, and if they meet.

    A problem is what `milp_worker` says; `hint`, if it has one, are columns to begin with.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415 (an extra, slow to import)

    starts, indices = problem["starts"].tolist(), problem["indices"].tolist()
    cost = [int(value) for value in problem["cost"]]
    model = cp_model.CpModel()
    taken = [model.new_bool_var("") for _ in cost]
    for row in range(len(starts) - 1):
        # As a sum: clauses are not part of the linear relaxation.
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
    solver.parameters.random_seed = SEED
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = max(0.01, float(problem["end"]) - time.monotonic())
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, 0, False
    chosen = np.flatnonzero([solver.value(variable) for variable in taken])
    return chosen, max(0, round(solver.best_objective_bound)), status == cp_model.OPTIMAL
