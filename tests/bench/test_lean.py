"""The lean recurrence is Newton-Euler, with fewer operations."""

from __future__ import annotations

import numpy as np
import pytest

from boolcomp.bench.lean import lean_masses
from boolcomp.bench.states import draw_states
from boolcomp.bench.straight import record
from boolcomp.robot import load_robot, robot_names


@pytest.mark.parametrize("name", robot_names())
def test_it_computes_the_torques_of_newton_euler(name: str) -> None:
    states = draw_states(load_robot(name), 50)
    found = np.stack(record(states.robot, lean=True).evaluate(states.columns), axis=1)
    np.testing.assert_allclose(found, states.torques, rtol=1e-9, atol=1e-9)


def test_it_takes_fewer_operations() -> None:
    robot = load_robot("puma560")
    lean, plain = record(robot, lean=True).operations, record(robot).operations
    assert lean.multiplications < 0.85 * plain.multiplications
    assert lean.additions < 1.1 * plain.additions


def test_turning_links_keep_no_mass_of_their_own() -> None:
    for mass in lean_masses(load_robot("puma560")):
        assert abs(mass.m) < 1e-12
        assert mass.h[2] == 0
        assert mass.K[2, 2] == 0
