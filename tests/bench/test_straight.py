"""Newton-Euler as straight-line code in several languages."""

from __future__ import annotations

from typing import Any

import numpy as np
from samples import problem_of

from boolcomp.measure.bench import straight
from boolcomp.measure.bench.states import draw_states
from boolcomp.problem.robot import load_robot


def test_the_recorded_recurrence_is_newton_euler() -> None:
    states = draw_states(problem_of("puma560"), 100)
    found = np.stack(straight.record(load_robot("puma560")).evaluate(states.columns), axis=1)
    np.testing.assert_allclose(found, states.outputs, atol=1e-9)


def test_python_text_computes_the_torques() -> None:
    states = draw_states(problem_of("elbow-3r"), 20)
    space: dict[str, Any] = {"sin": np.sin, "cos": np.cos}
    exec(straight.python_loop(straight.record(load_robot("elbow-3r"))), space)  # noqa: S102
    results = np.zeros((3, 20))
    space["torques"](np.stack(states.columns), results)
    np.testing.assert_allclose(results.T, states.outputs, atol=1e-10)


def test_c_stores_every_torque_once_and_loads_what_it_needs() -> None:
    robot = load_robot("machado-2r")
    program = straight.record(robot)
    scalar = straight.scalar_c(program)
    assert scalar.count("[i] = ") == 2
    vector = straight.vector_c(program, robot, 1e-3)
    assert vector.count("VALUE(") == 6
    assert vector.count("PUT(") == 2
    assert "near_cosine(q2)" in vector  # its range is a full turn: nothing to reduce


def test_angles_beyond_half_a_turn_are_reduced() -> None:
    stanford = load_robot("stanford")
    text = straight.vector_c(straight.record(stanford), stanford, 1e-3)
    wide = [k for k, x in enumerate(stanford.links, 1) if x.revolute and x.position.high > np.pi]
    assert all(f"near_cosine(q{k})" not in text for k in wide)
