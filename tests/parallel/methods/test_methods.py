"""Every method gives Newton-Euler's torques, on every robot, and valid graphs."""

from dataclasses import replace

import numpy as np
import pytest
from graphs import crossing, error
from samples import general_robot, random_robot, random_states

from boolcomp.base import UsageError
from boolcomp.parallel import METHODS, straight_line, task_graph
from boolcomp.problem import Operations, Robot, inverse_dynamics, load_robot, robot_names

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


def test_customising_costs_less_than_half_of_the_semi_customised_form() -> None:
    robot = load_robot("puma560")
    customised = straight_line("customised", robot).operations
    regrouped = straight_line("regrouped", robot).operations
    assert 4 * regrouped.total < 3 * customised.total
    semi = task_graph("semi-customised", robot).straight.operations
    assert (semi.multiplications, semi.additions) == (636, 504)  # 630/498 and the rotors
    assert 2 * customised.total < semi.total


def test_unknown_methods_get_the_nearest_spelling() -> None:
    with pytest.raises(UsageError, match="unknown method 'lagrange'; did you mean 'lagrangian"):
        task_graph("lagrange", load_robot("machado-2r"))
    with pytest.raises(UsageError, match="compile the robot in paper mode first"):
        task_graph("boolean", load_robot("machado-2r"))
