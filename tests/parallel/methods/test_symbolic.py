"""Equations of motion in symbolic form: M, k, q, their solution, and what bearings take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from graphs import before
from samples import random_robot, random_states

from boolcomp.parallel.methods import symbolic, task_graph
from boolcomp.problem.dynamics import (
    bias_torques,
    gravity_torques,
    inertia_matrix,
    inverse_dynamics,
)
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.robot import Robot


def program(robot: Robot, what: str) -> Straight:
    """Record a part of the equations with inputs q, qd and the drives' torques."""
    tape = Tape()
    joints = range(1, robot.joints + 1)
    q, qd, u = ([tape.input(f"{name}{k}") for k in joints] for name in ("q", "qd", "u"))
    if what == "forward":
        found = symbolic.forward(robot, tape, q, qd, u)
        return tape.finish([(f"qdd{k}", x) for k, x in enumerate(found)])
    equations = symbolic.assemble(tape, symbolic.bodies_of(robot, tape, q, qd), robot.joints)
    parts = {
        "M": [equations.entry(r, c) for r in range(robot.joints) for c in range(robot.joints)],
        "k": equations.k,
        "q": equations.q,
        "LLT": product(tape, equations),
    }
    return tape.finish([(f"{what}{k}", x) for k, x in enumerate(parts[what])])


def product(tape: Tape, equations: symbolic.Equations) -> list[object]:
    """Return L Lᵀ by rows, from L with its diagonal inverted."""
    lower = symbolic.cholesky(tape, equations)
    whole = [[1.0 / x if c == r else x for c, x in enumerate(row)] for r, row in enumerate(lower)]
    size = range(len(whole))
    return [
        sum((whole[r][m] * whole[c][m] for m in range(min(r, c) + 1)), tape.constant(0.0))
        for r in size
        for c in size
    ]


def run(part: Straight, *state: object) -> NDArray[np.float64]:
    columns = [column for x in state for column in np.asarray(x).T]
    return np.stack(part.evaluate(columns), axis=-1)


@pytest.mark.parametrize("seed", [None, 0, 3])
def test_m_k_and_q_are_newton_eulers(seed: int | None) -> None:
    robot = load_robot("stanford") if seed is None else random_robot(seed, joints=4)
    q, qd, u = random_states(robot, 6)
    inertia = inertia_matrix(robot, q)
    for what in ("M", "LLT"):
        found = run(program(robot, what), q, qd, u).reshape(inertia.shape)
        assert np.allclose(found, inertia, rtol=1e-9, atol=1e-9)
    gravity = gravity_torques(robot, q)
    assert np.allclose(run(program(robot, "q"), q, qd, u), -gravity, rtol=1e-9, atol=1e-9)
    coriolis = bias_torques(robot, q, qd) - gravity
    assert np.allclose(run(program(robot, "k"), q, qd, u), coriolis, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("name", ["puma560", "stanford", "machado-2r"])
def test_forward_dynamics_undo_inverse_dynamics(name: str) -> None:
    robot = load_robot(name)
    q, qd, qdd = random_states(robot, 6)
    torques = inverse_dynamics(robot, q, qd, qdd)
    found = run(program(robot, "forward"), q, qd, torques)
    assert np.allclose(found, qdd, rtol=1e-9, atol=1e-9)
    bias = torques - bias_torques(robot, q, qd)
    solved = np.linalg.solve(inertia_matrix(robot, q), bias[:, :, None])[:, :, 0]
    assert np.allclose(found, solved, rtol=1e-9, atol=1e-9)


def test_cholesky_takes_a_root_and_a_division_a_joint() -> None:
    operations = program(load_robot("puma560"), "forward").operations
    assert (operations.divisions, operations.roots) == (6, 6)


def test_jacobians_biases_and_weights_wait_for_nothing_of_each_other() -> None:
    ancestors = before(task_graph("symbolic-cycle", load_robot("puma560")).graph)
    for i in range(1, 7):
        assert not {name for name in ancestors[f"J/{i}"] if name.startswith(("k", "g"))}
        assert not {name for name in ancestors[f"kbar/{i}"] if name.startswith(("J", "P", "g"))}
        assert not {name for name in ancestors[f"g/{i}"] if name.startswith(("J", "P", "k"))}
    for name in ancestors["L/6"]:
        assert name[0] in "AJPML", "the factorisation needs M alone (strategy 3)"
    assert {"L/6", "u/2", "k/2", "q/2"} <= ancestors["solve"]
