"""List scheduling by hand-made graphs."""

from __future__ import annotations

from parallel.schedule.graphs import free, linked

from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.listing import cp_misf
from boolcomp.parallel.schedule.simulate import simulate
from boolcomp.problem.dynamics.operations import Operations


def graph(times: dict[str, int], *pairs: str) -> TaskGraph:
    tasks = tuple(Task(name, Operations(2 * time)) for name, time in times.items())
    return TaskGraph("g", tasks, tuple(Edge(pair[0], pair[1], 4) for pair in pairs))


def test_the_longest_path_goes_first() -> None:
    # b, the last, has the longest path behind it.
    lists = cp_misf(graph({"a": 1, "c": 2, "b": 1, "z": 5}, "bz"), free(), 1).lists
    assert lists == (("b", "z", "c", "a"),)


def test_of_equal_paths_the_one_with_most_successors_goes_first() -> None:
    g = graph({"a": 1, "b": 1, "x": 1, "y": 1, "w": 1}, "aw", "bx", "by")
    assert cp_misf(g, free(), 1).lists[0][0] == "b"


def test_a_task_stays_where_its_words_are_if_they_travel_slowly() -> None:
    g = graph({"a": 1, "b": 1, "c": 1}, "ab", "ac")
    assert sorted(map(len, cp_misf(g, linked(), 2).lists)) == [0, 3]
    assert sorted(map(len, cp_misf(g, free(), 2).lists)) == [1, 2]
    assert simulate(g, cp_misf(g, linked(), 2), linked()).makespan_us == 3
