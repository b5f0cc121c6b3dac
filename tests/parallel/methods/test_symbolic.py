"""Equations of motion in symbolic form: M, k, q, their solution, and what bearings take."""

from __future__ import annotations

import math
from dataclasses import replace
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
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.dynamics.tape import Tape
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.dynamics.straight import Straight
    from boolcomp.problem.robot import Link, Robot
    from boolcomp.problem.robot.model import JointType


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


def still(link: Link, kind: JointType, alpha: float = 0.0) -> Link:
    """Return a massless joint, of the same sort as a link, that does not move."""
    return replace(
        link, type=kind, a=0.0, alpha=alpha, d=0.0, theta=0.0, mass=0.0,
        center_of_mass=(0.0, 0.0, 0.0), inertia=(0.0,) * 6, rotor_inertia=0.0,
    )  # fmt: skip


@pytest.mark.parametrize("turned", [0.0, math.pi / 2])
@pytest.mark.parametrize("kind", ["prismatic", "revolute"])
def test_bearings_take_what_a_joint_that_stands_still_would(kind: JointType, turned: float) -> None:
    """Before each joint a massless one is put that holds: its drive gives that component."""
    robot = random_robot(5, joints=3)
    q, qd, qdd = random_states(robot, 4)
    tape = Tape()
    state = [[tape.input(f"{n}{k}") for k in range(3)] for n in ("q", "qd", "qdd")]
    pairs = symbolic.reactions(robot, tape, *state)
    flat = [x for force, moment in pairs for v in (force, moment) for x in (v.x, v.y, v.z)]
    found = run(tape.finish([(f"r{k}", x) for k, x in enumerate(flat)]), q, qd, qdd)
    for i, link in enumerate(robot.links):
        # To hold along -y instead of z, turn there and back again.
        held = [still(link, kind)]
        if turned:
            held = [still(link, "revolute", turned), still(link, kind, -turned)]
        longer = replace(robot, links=(*robot.links[:i], *held, *robot.links[i:]))
        zero = np.zeros((4, len(held)))
        torque = inverse_dynamics(
            longer, *(np.hstack([x[:, :i], zero, x[:, i:]]) for x in (q, qd, qdd))
        )[:, i + len(held) - 1]
        own = found[:, 6 * i + (3 if kind == "revolute" else 0) :][:, :3]
        theta = link.theta + q[:, i] if link.revolute else np.full(4, link.theta)
        component = along(link, theta, own, turned=bool(turned))
        if not turned and (kind == "revolute") == link.revolute:
            assert np.allclose(component, 0.0, atol=1e-9)  # that is the drive's, not the bearing's
        else:
            assert np.allclose(component, torque, rtol=1e-9, atol=1e-9)


def along(
    link: Link, theta: NDArray[np.float64], v: NDArray[np.float64], *, turned: bool
) -> NDArray[np.float64]:
    """Return the component along z (or -y) of the frame before of a vector of the link's."""
    sine, cosine = math.sin(link.alpha), math.cos(link.alpha)
    if not turned:
        return sine * v[:, 1] + cosine * v[:, 2]
    y: NDArray[np.float64] = np.sin(theta) * v[:, 0] + np.cos(theta) * (
        cosine * v[:, 1] - sine * v[:, 2]
    )
    return -y


def test_reactions_cost_less_than_the_torques_again() -> None:
    robot = load_robot("puma560")
    tape = Tape()
    state = [[tape.input(f"{n}{k}") for k in range(6)] for n in ("q", "qd", "qdd")]
    pairs = symbolic.reactions(robot, tape, *state)
    flat = [x for force, moment in pairs for v in (force, moment) for x in (v.x, v.y, v.z)]
    operations = tape.finish([(f"r{k}", x) for k, x in enumerate(flat)]).operations
    assert Operations() != operations
    assert operations.total < task_graph("symbolic", robot, literal=True).straight.operations.total
