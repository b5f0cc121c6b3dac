"""Zeng and Egan: their precedence tables come out of the data, and their level tables fit."""

from __future__ import annotations

from graphs import before, closure, printed

from boolcomp.parallel.methods import Recorded, task_graph
from boolcomp.problem.robot import load_robot

# Figure 2's table: the predecessors of task k of link i, as (task, links ahead).
NINETEEN = {
    1: [(1, -1)], 2: [(1, -1)], 3: [(3, -1), (2, 0)], 4: [(7, -1)], 5: [(1, 0)], 6: [(3, 0)],
    7: [(4, 0), (5, 0), (6, 0)], 8: [(1, 0)], 9: [(3, 0)], 10: [(7, 0), (8, 0), (9, 0)],
    11: [(3, 0)], 12: [(1, 0)], 13: [(11, 0), (12, 0)], 14: [(10, 0), (14, 1)], 15: [(14, 1)],
    16: [(15, 0), (18, 1)], 17: [(10, 0)], 18: [(16, 0), (17, 0), (13, 0)], 19: [(18, 0)],
}  # fmt: skip
# Figure 3's table; (2/i) is printed to follow (2/i+1), which can only be (2/i-1).
TEN = {
    1: [(1, -1)], 2: [(1, -1), (2, -1)], 3: [(3, -1), (1, 0), (2, 0)], 4: [(3, 0)],
    5: [(1, 0), (2, 0)], 6: [(4, 0), (6, 1)], 7: [(6, 1), (9, 1)], 8: [(4, 0)],
    9: [(5, 0), (7, 0), (8, 0)], 10: [(9, 0)],
}  # fmt: skip
# Version 5's levels, printed for four processors and for three.
FOUR = (
    "0|52 1 2 47|53 11 12 3|54 21 22 13|55 31 32 23|56 41 42 33|24 34 45 43|25 35 44|28 38 46 48|"
    "14 36 49|15 50 26 37|18 4 16 39|5 40 27|8 29|6 30 17|20 19|7|9|10|51"
)
THREE = (
    "0|1 2 47|11 12 3|21 22 13|31 32 23|41 42 33|34 45 43|24 35 44|14 46 48|38 36 49|25 26 37|"
    "28 16 39|15 50 27|18 40 29|4 30 17|5 20 19|8 6 7|9|10|51"
)


def zeng(name: str) -> Recorded:
    return task_graph(name, load_robot("puma560-5"))


def test_the_papers_numbers_of_tasks() -> None:
    assert len(printed(zeng("zeng-19")).tasks) == 95
    assert len(printed(zeng("zeng-10")).tasks) == 52
    assert [task.name for task in printed(zeng("zeng-52")).tasks][-1] == "51"
    assert {task.name for task in printed(zeng("zeng-52")).tasks} == {str(k) for k in range(57)}


def test_nineteen_tasks_precede_each_other_as_printed() -> None:
    table = {
        f"{k}/{i}": {f"{m}/{i + ahead}" for m, ahead in needs if 1 <= i + ahead <= 5}
        for k, needs in NINETEEN.items()
        for i in range(1, 6)
    }
    graph = printed(zeng("zeng-19"))
    found = before(graph)
    for name, expected in closure(table).items():
        assert found[name] == expected, name


def test_a_sliding_joint_takes_its_force_from_fourteen() -> None:
    graph = task_graph("zeng-19", load_robot("stanford")).graph
    assert {edge.before for edge in graph.predecessors()["19/3"]} == {"14/3"}


def test_ten_tasks_precede_each_other_as_printed() -> None:
    table = {
        str(10 * (i - 1) + k): {
            str(10 * (i + ahead - 1) + m) for m, ahead in needs if 1 <= i + ahead <= 5
        }
        for k, needs in TEN.items()
        for i in range(1, 6)
    }
    found = before(printed(zeng("zeng-10")))
    for name, expected in closure(table).items():
        assert found[name] - {"0"} == expected, name


def late(name: str, levels: str) -> set[str]:
    """Return the tasks that a level table puts no later than something they wait for."""
    level = {task: k for k, tasks in enumerate(levels.split("|")) for task in tasks.split()}
    graph = printed(zeng(name))
    tasks = {task.name for task in graph.tasks}
    assert tasks == set(level)
    return {
        edge.after
        for edge in graph.edges
        if level.get(edge.before, -1) >= level.get(edge.after, len(level))
    }


def test_the_level_tables_fit_the_graphs_but_for_one_task() -> None:
    assert late("zeng-52", FOUR) == {"20"}
    assert late("zeng-10", THREE) == {"20"}
