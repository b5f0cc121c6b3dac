"""Zalzala and Morris: sixteen jobs a link, phase 2 behind phase 1, rows of D apart."""

from __future__ import annotations

from graphs import before

from boolcomp.parallel.methods import task_graph
from boolcomp.parallel.methods.lagrangian import PHASE_ONE, PHASE_TWO, ROWS
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.robot import load_robot

LINKS = range(1, 7)


def test_there_are_ten_and_six_jobs_a_link() -> None:
    names = {task.name for task in task_graph("lagrangian", load_robot("puma560")).graph.tasks}
    assert (len(PHASE_ONE), len(PHASE_TWO)) == (10, 6)
    assert names == {f"{job}/{i}" for job in (*PHASE_ONE, *PHASE_TWO) for i in LINKS}


def test_jobs_four_six_and_seven_wait_for_the_third_as_the_paper_says() -> None:
    graph = task_graph("lagrangian", load_robot("puma560")).graph
    predecessors = graph.predecessors()
    for i in LINKS:
        for job in ("pdd", "e*", "D*"):
            assert f"Wdd/{i}" in {edge.before for edge in predecessors[f"{job}/{i}"]}


def test_jobs_of_one_link_outwards_are_otherwise_independent() -> None:
    ancestors = before(task_graph("lagrangian", load_robot("puma560")).graph)
    for i in LINKS:
        assert {f"{job}/{i}" for job in PHASE_ONE} & ancestors[f"Wdd/{i}"] <= {f"A/{i}"}
        assert f"Wd/{i}" not in ancestors[f"W/{i}"] | ancestors[f"dW/{i}"]


def test_the_gravity_chain_waits_for_no_speed() -> None:
    ancestors = before(task_graph("lagrangian", load_robot("puma560")).graph)
    assert not {name for name in ancestors["tau**/1"] if name.startswith(("Wd", "pdd", "D"))}


def test_rows_of_d_and_c_share_their_work_evenly() -> None:
    graph = task_graph("lagrangian-rows", load_robot("puma560")).graph
    cost = {task.name: task.operations for task in graph.tasks}
    assert len(graph.tasks) == 20 * 6
    for row in ROWS:
        assert cost[f"D{row}/3"] == Operations(12, 12)
        assert cost[f"c{row}/3"] == Operations(6, 5)
        assert cost[f"D{row}/6"] == Operations()


def test_folding_leaves_out_the_identity_and_the_column_of_zeros() -> None:
    graph = task_graph("lagrangian-rows", load_robot("elbow-3r"), literal=False).graph
    cost = {task.name: task.operations for task in graph.tasks}
    assert cost["ca/2"].total <= 5
    assert cost["Wdd/2"].multiplications < 44
