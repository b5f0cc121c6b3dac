"""Do torque ranges suit an arm? Against arms whose extremes are known by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from boolcomp.problem.robot import Interval, Robot, load_robot, parse_robot
from boolcomp.terms.verdict import judge_torques, round_above

PENDULUM = """\
name = "pendulum"
gravity = [0, -10, 0]

[[joint]]
type = "revolute"
a = 0.5
alpha = 0
d = 0
mass = 2
center_of_mass = [0, 0, 0]
inertia = [0, 0, 0]
position_range = ["-pi", "pi"]
velocity_range = [-1, 1]
acceleration_range = [-4, 4]
torque_range = [-16, 16]
"""


def pendulum(torque: float) -> Robot:
    return parse_robot(PENDULUM.replace("[-16, 16]", f"[-{torque}, {torque}]"))


def test_the_extremes_of_a_pendulum_are_its_weight_and_its_acceleration() -> None:
    (verdict,) = judge_torques(pendulum(16))
    # m g a = 10 and m a² · 4 = 2: 12 either way.
    assert (verdict.low, verdict.high) == pytest.approx((-12, 12), abs=1e-7)
    assert (verdict.wasted_bits, verdict.better, verdict.saturates) == (0, None, False)


def test_stops_make_extremes_lopsided() -> None:
    link = replace(pendulum(16).links[0], position=Interval(0.0, math.pi / 3))
    (verdict,) = judge_torques(replace(pendulum(16), links=(link,)))
    assert (verdict.low, verdict.high) == pytest.approx((10 * 0.5 - 2, 12), abs=1e-6)


def test_a_range_four_times_too_wide_wastes_two_bits() -> None:
    (verdict,) = judge_torques(pendulum(48.0))
    assert (verdict.wasted_bits, verdict.better) == (2, 15.0)
    assert str(verdict) == "wastes 2 bits"


def test_a_narrow_range_saturates_as_often_as_in_samples() -> None:
    (verdict,) = judge_torques(pendulum(5))
    assert verdict.saturates
    # |10 cos q + 2 u| > 5 for uniform q, u: near the share of |cos q| > 1/2, two thirds.
    assert verdict.beyond == pytest.approx(2 / 3, abs=0.02)
    assert verdict.better == 15.0


def test_a_torque_that_nothing_moves_is_no_reason_for_another_range() -> None:
    still = replace(pendulum(5), gravity=(0.0, 0.0, 0.0))
    link = replace(still.links[0], mass=0.0)
    (verdict,) = judge_torques(replace(still, links=(link,)))
    assert (str(verdict), verdict.better) == ("nothing moves it", None)


def test_a_sliding_joint_is_judged_in_newtons() -> None:
    assert [v.unit for v in judge_torques(load_robot("stanford"))][:3] == ["N·m", "N·m", "N"]


@pytest.mark.parametrize(
    ("value", "above"), [(0.99, 1.0), (1.0, 1.0), (41.2, 50.0), (0.0166, 0.02), (8.1, 10.0)]
)
def test_better_ranges_are_round_numbers(value: float, above: float) -> None:
    assert round_above(value) == above


@pytest.mark.parametrize("name", ["puma560-stops", "desk-3r"])
def test_the_ranges_of_the_new_arms_suit_them(name: str) -> None:
    assert all(verdict.better is None for verdict in judge_torques(load_robot(name)))
