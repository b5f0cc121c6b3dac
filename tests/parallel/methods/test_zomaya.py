"""Zomaya and Morris: tasks are equations 5 to 13, in the order that their symbols demand."""

from __future__ import annotations

from graphs import before, error, printed
from samples import random_robot, random_states

from boolcomp.parallel.methods import task_graph, zomaya
from boolcomp.parallel.methods.recording import record
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.robot import load_robot

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


def test_the_chain_of_links_is_the_critical_path() -> None:
    ancestors = before(task_graph("newton-euler", load_robot("puma560")).graph)
    assert {f"vd/{i}" for i in range(1, 7)} <= ancestors["tau/1"]
    assert {f"n/{i}" for i in range(2, 7)} <= ancestors["tau/1"]
    assert "tau/2" not in ancestors["tau/1"]


def test_only_the_component_along_the_axis_is_sent() -> None:
    graph = task_graph("customised", load_robot("puma560")).graph
    (edge,) = [e for e in graph.edges if e.after == "tau/2"]
    assert edge.words == 1  # Aᵀz = (0, 0, 1) chooses one component of n


def test_full_tensors_are_kept_where_there_are_some() -> None:
    robot = random_robot(1, joints=3)
    for dense in (None, True):
        program = record(
            robot, lambda *a, d=dense: zomaya.semi_customised_torques(*a, dense=d), Tape(fold=False)
        )
        assert error(robot, program, random_states(robot, 4)) < 1e-12
