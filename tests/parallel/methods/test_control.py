"""Computed torque: an exact model accelerates as the control law wants."""

from __future__ import annotations

import numpy as np
import pytest

from boolcomp.parallel.methods.control import Gains, cycle, forward_program
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.robot import load_robot


@pytest.mark.parametrize("name", ["machado-2r", "stanford"])
def test_the_arm_accelerates_as_wanted(name: str) -> None:
    robot = load_robot(name)
    n = robot.joints
    program = cycle(robot, Tape(), Gains(proportional=30.0, derivative=7.0))
    q, qd, qr, qdr, qddr = np.random.default_rng(2).uniform(0.3, 1.0, size=(5, n, 6))
    found = np.stack(program.evaluate([c for x in (q, qd, qr, qdr, qddr) for c in x]))
    wanted = qddr + 7.0 * (qdr - qd) + 30.0 * (qr - q)
    assert np.allclose(found[n:], wanted, rtol=1e-9, atol=1e-9)
    assert np.allclose(found[:n].T, inverse_dynamics(robot, q.T, qd.T, wanted.T), atol=1e-8)
    assert [output.name for output in program.outputs][: n + 1 : n] == ["u1", "qdd1"]


def test_forward_dynamics_undo_inverse_dynamics() -> None:
    robot = load_robot("planar-3r")
    q, qd, qdd = np.random.default_rng(3).uniform(-1.0, 1.0, size=(3, 3, 6))
    torques = inverse_dynamics(robot, q.T, qd.T, qdd.T).T
    program = forward_program(robot, Tape())
    assert program.inputs == tuple(f"{name}{i}" for name in ("q", "qd", "u") for i in (1, 2, 3))
    found = np.stack(program.evaluate([c for x in (q, qd, torques) for c in x]))
    assert np.allclose(found, qdd, rtol=1e-10, atol=1e-10)
