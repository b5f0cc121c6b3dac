"""The lean recurrence is Newton-Euler, with fewer operations."""

from __future__ import annotations

import numpy as np
import pytest
from samples import problem_of

from boolcomp.measure.bench.states import draw_states
from boolcomp.measure.bench.straight import record
from boolcomp.problem.robot import load_robot, robot_names


@pytest.mark.parametrize("name", robot_names())
def test_it_computes_the_torques_of_newton_euler(name: str) -> None:
    states = draw_states(problem_of(name), 50)
    found = np.stack(record(load_robot(name), lean=True).evaluate(states.columns), axis=1)
    np.testing.assert_allclose(found, states.outputs, rtol=1e-9, atol=1e-9)


def test_it_takes_fewer_operations() -> None:
    robot = load_robot("puma560")
    lean, plain = record(robot, lean=True).operations, record(robot).operations
    assert lean.multiplications < 0.75 * plain.multiplications
    assert lean.additions < plain.additions
