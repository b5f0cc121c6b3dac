"""First fit and best fit."""

from __future__ import annotations

from parallel.schedule.graphs import free, random_graph

from boolcomp.parallel.schedule.packing import fit_decreasing, pack

WEIGHTS = {"a": 6.0, "b": 5.0, "c": 4.0, "d": 3.0, "e": 2.0}


def test_first_fit_and_best_fit_differ() -> None:
    groups = [("b",), ("a",), ("d",), ("e",)]
    assert pack(WEIGHTS, groups, 9.0, "first") == [["b", "d"], ["a", "e"]]
    assert pack(WEIGHTS, groups, 9.0, "best") == [["b", "e"], ["a", "d"]]


def test_a_group_stays_together_unless_no_bin_holds_it() -> None:
    assert pack(WEIGHTS, [("a",), ("c", "d"), ("e",)], 9.0, "best") == [["a"], ["c", "d", "e"]]
    assert pack(WEIGHTS, [("a", "b"), ("c",)], 9.0, "best") == [["a"], ["b", "c"]]


def test_loads_are_nearly_equal() -> None:
    graph = random_graph(40, 3)
    times = {task.name: free().time(task.operations) for task in graph.tasks}
    for rule in ("first", "best"):
        lists = fit_decreasing(graph, free(), 4, rule).lists
        loads = [sum(times[name] for name in held) for held in lists]
        assert max(loads) <= sum(loads) / 4 * 1.05
