"""Every method gives Newton-Euler's torques, on every robot, and valid graphs."""

import re
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from conftest import Run
from graphs import before, closure, crossing, error, printed
from pinocchio_model import pinocchio_model
from samples import branched_robot, general_robot, random_robot, random_states

from boolcomp.base import UsageError
from boolcomp.parallel import (
    METHODS,
    RecordedMethod,
    load_machine,
    make_schedule,
    straight_line,
    task_graph,
)
from boolcomp.problem import (
    Operations,
    Robot,
    inverse_dynamics,
    load_robot,
    parse_robot,
    robot_names,
)

GRAPHS = [name for name in METHODS if name != "boolean"]
TORQUES = [name for name in GRAPHS if not METHODS[name].whole]


@pytest.mark.parametrize("name", [name for name in GRAPHS if not METHODS[name].general])
def test_a_robot_in_general_frames_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(UsageError, match=f"general frames .* {name!r} supports Denavit"):
        task_graph(name, general_robot(3, joints=4))


@pytest.mark.check
@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("name", TORQUES)
def test_torques_are_newton_eulers_on_every_arm(name: str, *, literal: bool) -> None:
    known = [robot for robot in map(load_robot, robot_names()) if not robot.general]
    for robot in (*known, *(random_robot(seed) for seed in range(6))):
        program = task_graph(name, robot, literal=literal).straight
        assert error(robot, program, random_states(robot, 20)) < 1e-11, robot.name


@pytest.mark.parametrize("name", TORQUES)
def test_torques_are_newton_eulers_on_three_kinds_of_arms(name: str) -> None:
    stanford = load_robot("stanford")
    sliding = replace(stanford, links=(next(x for x in stanford.links if not x.revolute),))
    for robot in (stanford, sliding, random_robot(2, joints=3)):
        for literal in (False, True):
            program = task_graph(name, robot, literal=literal).straight
            assert error(robot, program, random_states(robot, 5)) < 1e-12, robot.name


@pytest.mark.parametrize("robot", [load_robot("stanford"), random_robot(3, joints=4)], ids=str)
def test_symbolic_equations_solved_give_the_accelerations(robot: Robot) -> None:
    q, qd, qdd = random_states(robot, 6)
    program = straight_line("symbolic-forward", robot)
    given = [*q.T, *qd.T, *inverse_dynamics(robot, q, qd, qdd).T]
    assert np.allclose(np.stack(program.evaluate(given)), qdd.T, rtol=1e-8, atol=1e-8)
    assert (program.operations.divisions, program.operations.roots) == (robot.joints,) * 2


@pytest.mark.parametrize("name", ["machado-2r", "puma560", "stanford", "scara", "panda", "tree"])
def test_recursive_forward_dynamics_are_pinocchios(name: str) -> None:
    robot = branched_robot(2, 6) if name == "tree" else load_robot(name)
    states = np.random.default_rng(7).uniform(-1.5, 1.5, (3, 1000, robot.joints))
    program = straight_line("recursive-forward", robot)
    ours = np.stack(program.evaluate([column for x in states for column in x.T.copy()]), axis=1)
    model = pinocchio_model(robot)
    data = model.createData()
    theirs = np.array([pin.aba(model, data, *state) for state in zip(*states, strict=True)])
    assert np.abs(ours - theirs).max() < 1e-9 * np.abs(theirs).max()


@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_a_wrench_at_the_end_effector_enters_newton_euler(name: str) -> None:
    robot = load_robot(name)
    wrench = np.random.default_rng(4).uniform(-20, 20, (40, 6))
    states = random_states(robot, 40, 5)
    program = straight_line("wrench", robot)
    found = np.stack(program.evaluate([c for x in (*states, wrench) for c in x.T.copy()]), axis=1)
    expected = inverse_dynamics(robot, *states, wrench=wrench)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    counts = [task_graph(one, robot).graph.tasks for one in ("customised", "wrench")]
    with_, without = (sum(task.operations.total for task in tasks) for tasks in counts[::-1])
    assert 0 < with_ - without <= 12


def test_branches_of_a_tree_are_independent_tasks() -> None:
    robot = two_chains()
    assert robot.branched
    torques = straight_line("symbolic", robot)
    states = random_states(robot, 50, 3)
    columns = [column for x in states for column in x.T.copy()]
    expected = inverse_dynamics(robot, *states)
    found = np.stack(torques.evaluate(columns), axis=1)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
    graph, sides = task_graph("symbolic", robot).graph, ({"1", "2"}, {"3", "4", "5"})
    for edge in graph.edges:
        ends = {edge.before.split("/")[1], edge.after.split("/")[1]}
        assert any(ends <= side for side in sides)
    cycle = task_graph("symbolic-forward", robot).graph
    times = [make_schedule(cycle, load_machine("t800"), p).makespan_us for p in (1, 2)]
    assert times[1] < 0.75 * times[0]


def two_chains() -> Robot:
    """Return two arms on one base, in Denavit-Hartenberg frames."""
    texts = [str(load_robot("machado-2r")), str(load_robot("planar-3r"))]
    head, *joints = texts[0].split("[[joint]]\n")
    first, *more = texts[1].split("[[joint]]\n")[1:]
    sections = [*joints, f"parent = 0\n{first}", *more]
    return parse_robot(head + "".join(f"[[joint]]\n{section}" for section in sections))


@pytest.mark.parametrize("name", ["machado-2r", "stanford"])
def test_the_control_cycle_drives_an_exact_arm_as_its_law_wants(name: str) -> None:
    robot = load_robot(name)
    n = robot.joints
    program = straight_line("symbolic-cycle", robot)
    q, qd, qr, qdr, qddr = np.random.default_rng(2).uniform(0.3, 1.0, size=(5, n, 6))
    found = np.stack(program.evaluate([c for x in (q, qd, qr, qdr, qddr) for c in x]))
    wanted = qddr + 20.0 * (qdr - qd) + 100.0 * (qr - q)
    assert np.allclose(found[n:], wanted, rtol=1e-9, atol=1e-9)
    assert np.allclose(found[:n].T, inverse_dynamics(robot, q.T, qd.T, wanted.T), atol=1e-8)
    assert [output.name for output in program.outputs][: n + 1 : n] == ["u1", "qdd1"]


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_hold_what_the_program_does(name: str) -> None:
    robot = load_robot("planar-3r")
    found = task_graph(name, robot, literal=False)
    found.graph.check()
    work = sum((task.operations for task in found.graph.tasks), Operations())
    assert work == found.straight.operations
    for edge in found.graph.edges:
        values = crossing(found, edge.before, edge.after)
        dummy = {edge.before, edge.after} & {"0", str(10 * robot.joints + 1)}
        assert len(values) == edge.words or (dummy and not values)


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_tasks_can_be_executed_one_by_one(name: str, *, literal: bool) -> None:
    """Each task calculates its nodes from what its edges bring and nothing else."""
    robot = load_robot("machado-2r")
    found = task_graph(name, robot, literal=literal)
    nodes = found.straight.nodes
    values = {k: 0.1 * (k + 1) for k, node in enumerate(nodes) if node.kind == "input"}
    values |= {k: node.value for k, node in enumerate(nodes) if node.kind == "constant"}
    local: dict[str, dict[int, float]] = {}
    for task in found.graph.order():
        known = dict(values)
        for edge in found.graph.predecessors()[task]:
            words = crossing(found, edge.before, task)
            known |= {k: local[edge.before][k] for k in words}
        for k in (k for k, node in enumerate(nodes) if node.task == task):
            known[k] = calculated(nodes[k].kind, [known[x] for x in nodes[k].operands])
        local[task] = known
    expected = found.straight.evaluate([0.1 * (k + 1) for k in range(len(found.straight.inputs))])
    for output, value in zip(found.straight.outputs, expected, strict=True):
        owner = local[nodes[output.node].task] if nodes[output.node].task else values
        assert owner[output.node] == pytest.approx(float(value), rel=1e-12)


def calculated(kind: str, operands: list[float]) -> float:
    functions = {
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "neg": np.negative, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
    }  # fmt: skip
    return float(functions[kind](*operands))


def test_unknown_methods_get_the_nearest_spelling() -> None:
    with pytest.raises(UsageError, match="unknown method 'lagrange'; did you mean 'lagrangian"):
        task_graph("lagrange", load_robot("machado-2r"))
    with pytest.raises(UsageError, match="compile the robot in paper mode first"):
        task_graph("boolean", load_robot("machado-2r"))


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


LAGRANGIAN = {"Wd, n=1": 3, "Wdd, n=1": 1, "dW, n=1": 3, "A, n>1": 2, "A, n=1": 2}
ROW = (
    r"^\S.*? {2,}(\S.*?) +(\d+)/(\d+) +(\d+)/(\d+)"
    r"(?: +printed additions include (\d+) changes.*)?$"
)


@pytest.mark.parametrize(
    ("method", "rows", "totals", "noted"),
    [
        ("newton-euler", 12, ["150/116"], {}),
        ("semi-customised", 21, ["117/95", "105/83", "40/32"], {}),
        ("lagrangian", 33, ["383/307"], LAGRANGIAN),
    ],
)
def test_every_printed_count_agrees(
    run: Run, method: str, rows: int, totals: list[str], noted: dict[str, int]
) -> None:
    text = run("schedule", "simulate", "puma560", "--method", method, "-v").out
    found = re.findall(ROW, text, re.MULTILINE)
    assert len(found) == rows
    signs = {equation: int(count) for equation, *_, count in found if count}
    assert signs == noted
    for equation, mul, add, printed_mul, printed_add, _ in found:
        assert (int(mul), int(add) + signs.get(equation, 0)) == (int(printed_mul), int(printed_add))
    ours = {f"{mul}/{add}" for equation, mul, add, *_ in found if len(equation) > 5}
    assert set(totals) <= ours
