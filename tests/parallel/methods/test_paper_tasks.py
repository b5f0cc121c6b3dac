"""Tasks of the four papers: what precedes what, as their tables and equations say."""

from graphs import before, closure, printed

from boolcomp.parallel import RecordedMethod, task_graph
from boolcomp.problem import Operations, load_robot

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


PHASE_ONE = ("W", "Wd", "Wdd", "pdd", "dW", "e*", "D*", "g*", "A", "p*")
PHASE_TWO = ("D", "e", "tau*", "c", "tau**", "tau")
LINKS = range(1, 7)


def test_there_are_ten_and_six_jobs_a_link() -> None:
    names = {task.name for task in task_graph("lagrangian", load_robot("puma560")).graph.tasks}
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
    for row in "abc":
        assert cost[f"D{row}/3"] == Operations(12, 12)
        assert cost[f"c{row}/3"] == Operations(6, 5)
        assert cost[f"D{row}/6"] == Operations()


def test_folding_leaves_out_the_identity_and_the_column_of_zeros() -> None:
    graph = task_graph("lagrangian-rows", load_robot("elbow-3r"), literal=False).graph
    cost = {task.name: task.operations for task in graph.tasks}
    assert cost["ca/2"].total <= 5
    assert cost["Wdd/2"].multiplications < 44


def test_jacobians_biases_and_weights_wait_for_nothing_of_each_other() -> None:
    ancestors = before(task_graph("symbolic-cycle", load_robot("puma560")).graph)
    for i in range(1, 7):
        assert not {name for name in ancestors[f"J/{i}"] if name.startswith(("k", "g"))}
        assert not {name for name in ancestors[f"kbar/{i}"] if name.startswith(("J", "P", "g"))}
        assert not {name for name in ancestors[f"g/{i}"] if name.startswith(("J", "P", "k"))}
    for name in ancestors["L/6"]:
        assert name[0] in "AJPML", "the factorisation needs M alone (strategy 3)"
    assert {"L/6", "u/2", "k/2", "q/2"} <= ancestors["solve"]
