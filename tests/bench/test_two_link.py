"""The closed form of two parallel joints, and who has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from boolcomp.measure.bench.two_link import TwoLink, closed_form, two_link
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import Robot, load_robot


@pytest.fixture(name="arm")
def paper_arm() -> TwoLink:
    found = two_link(load_robot("machado-2r"))
    assert isinstance(found, TwoLink)
    return found


def turned(quarters: int) -> Robot:
    """Return the paper's arm in a field of gravity that is turned by quarter turns."""
    directions = [(0.0, -9.8, 0.0), (9.8, 0.0, 0.0), (0.0, 9.8, 0.0), (-9.8, 0.0, 0.0)]
    return replace(load_robot("machado-2r"), gravity=directions[quarters])


def test_the_papers_arm_has_the_papers_constants(arm: TwoLink) -> None:
    assert (arm.a, arm.b, arm.d, arm.e) == pytest.approx((7.75, 5.0, 4.0, 9.0))
    assert (arm.weight_a, arm.weight_b) == pytest.approx((66.15, 49.0))
    assert (arm.quarters_a, arm.quarters_b) == (0, 0)


@pytest.mark.parametrize("quarters", range(4))
def test_the_closed_form_is_newton_euler(quarters: int) -> None:
    robot = turned(quarters)
    found = two_link(robot)
    assert isinstance(found, TwoLink)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-1, 1, (3, 50, 2)) * np.array([[[np.pi]], [[1.0]], [[1.0]]])
    torques = np.stack(closed_form(found, q, qd, qdd), axis=1)
    np.testing.assert_allclose(torques, inverse_dynamics(robot, q, qd, qdd), atol=1e-9)


def test_other_arms_are_told_why_not() -> None:
    robot = load_robot("machado-2r")
    first, second = robot.links
    assert two_link(load_robot("elbow-3r")) == "not two revolute joints"
    crossed = replace(robot, links=(replace(first, alpha=np.pi / 2), second))
    assert two_link(crossed) == "the joints are not parallel"
    half = replace(robot, links=(replace(first, position=Interval(-1.0, 1.0)), second))
    assert "full turn" in str(two_link(half))
    lopsided = replace(robot, links=(replace(first, velocity=Interval(-1.0, 2.0)), second))
    assert "symmetric" in str(two_link(lopsided))
    bent = replace(robot, links=(first, replace(second, center_of_mass=(0.0, 0.1, 0.0))))
    assert isinstance(two_link(bent), str)
