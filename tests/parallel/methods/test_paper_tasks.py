"""Tasks of the four papers: what precedes what, as their tables and equations say."""

from graphs import before, closure, printed

from boolcomp.parallel import RecordedMethod, task_graph
from boolcomp.problem import load_robot

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


def zeng(name: str) -> RecordedMethod:
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


# What each equation names on its right-hand side: (symbol, links ahead).
NEEDS = {
    "w": [("w", -1)], "wd": [("wd", -1), ("w", -1)], "vd": [("vd", -1), ("wd", 0), ("w", 0)],
    "psi": [("wd", 0), ("w", 0), ("vd", 0)], "F": [("psi", 0)], "N": [("wd", 0), ("w", 0)],
    "f": [("f", 1), ("F", 0)], "n": [("n", 1), ("f", 0), ("N", 0), ("F", 0)], "tau": [("n", 0)],
}  # fmt: skip


def test_edges_are_the_symbols_of_the_equations() -> None:
    graph = printed(task_graph("semi-customised", load_robot("puma560")))
    names = {task.name for task in graph.tasks}
    assert len(names) == 9 * 6
    for name, needs in NEEDS.items():
        for i in range(1, 7):
            expected = {f"{symbol}/{i + ahead}" for symbol, ahead in needs} & names
            found = {edge.before: edge.words for edge in graph.predecessors()[f"{name}/{i}"]}
            if i == 1 and name == "wd":
                assert found == {}
                continue
            assert set(found) == expected
            assert set(found.values()) <= {1, 2, 3}
