"""Lower bounds against optimal schedules."""

from __future__ import annotations

import pytest
from parallel.schedule.graphs import free, random_graph

from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.parallel.schedule.optimal import optimal
from boolcomp.problem.dynamics.operations import Operations


def wide_in_the_middle() -> TaskGraph:
    """One task, then six, then one: the middle needs more than work and path alone tell."""
    tasks = tuple(Task(name, Operations(2)) for name in ("a", *"123456", "z"))
    edges = [Edge("a", k, 0) for k in "123456"] + [Edge(k, "z", 0) for k in "123456"]
    return TaskGraph("wide", tasks, tuple(edges))


def test_the_bounds_of_a_wide_middle() -> None:
    bounds = lower_bounds(wide_in_the_middle(), free(), 3)
    assert bounds.work_us == pytest.approx(8 / 3)
    assert bounds.critical_path_us == pytest.approx(3)
    assert bounds.best_us == bounds.interval_us == pytest.approx(4)  # 1 + 6/3 + 1
    assert optimal(wide_in_the_middle(), free(), 3).makespan_us == pytest.approx(4)


def test_no_optimum_is_below_the_bounds() -> None:
    for seed in range(6):
        graph = random_graph(8, seed)
        found = optimal(graph, free(), 3, seconds=1)
        assert found.makespan_us >= lower_bounds(graph, free(), 3).best_us * (1 - 1e-9)
