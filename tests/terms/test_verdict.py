"""Do torque ranges suit an arm? Against arms whose extremes are known by hand."""

import math
from dataclasses import replace

import pytest
from samples import problem_of

import boolcomp as bc
from boolcomp.problem import Interval, Output, Robot, parse_robot
from boolcomp.terms import Verdict, judge_outputs, per_kilogram

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
TORQUE = Output("tau1", "T1", Interval(-10.0, 10.0), "N·m", "torque 1")


def pendulum(torque: float) -> Robot:
    return parse_robot(PENDULUM.replace("[-16, 16]", f"[-{torque}, {torque}]"))


def test_the_extremes_of_a_pendulum_are_its_weight_and_its_acceleration() -> None:
    (verdict,) = judge_outputs(problem_of(pendulum(16)))
    # m g a = 10 and m a² · 4 = 2: 12 either way.
    assert (verdict.low, verdict.high) == pytest.approx((-12, 12), abs=1e-7)
    assert (verdict.wasted_bits, verdict.better, verdict.saturates) == (0, None, False)


def test_a_kilogram_at_the_tip_of_a_pendulum_adds_its_weight_and_its_inertia() -> None:
    (most,) = per_kilogram(pendulum(16), "inverse-dynamics")
    assert most == pytest.approx(10 * 0.5 + 0.5**2 * 4, rel=1e-7)
    assert per_kilogram(pendulum(16), "forward-dynamics") == ()  # not affine in the mass
    assert per_kilogram(problem_of(pendulum(16)), "inverse-dynamics") == ()  # no robot


def test_extremes_of_a_pendulum_with_stops_are_asymmetric() -> None:
    link = replace(pendulum(16).links[0], position=Interval(0.0, math.pi / 3))
    (verdict,) = judge_outputs(problem_of(replace(pendulum(16), links=(link,))))
    assert (verdict.low, verdict.high) == pytest.approx((10 * 0.5 - 2, 12), abs=1e-6)


def test_a_range_four_times_too_wide_wastes_two_bits() -> None:
    (verdict,) = judge_outputs(problem_of(pendulum(48.0)))
    assert (verdict.wasted_bits, verdict.better) == (2, 15.0)
    assert str(verdict) == "wastes 2 bits"


def test_a_narrow_range_saturates_as_often_as_in_samples() -> None:
    (verdict,) = judge_outputs(problem_of(pendulum(5)))
    assert verdict.saturates
    # |10 cos q + 2 u| > 5 for uniform q, u: near the share of |cos q| > 1/2, two thirds.
    assert verdict.beyond == pytest.approx(2 / 3, abs=0.02)
    assert verdict.better == 15.0


def test_no_range_is_advised_for_a_torque_that_is_always_zero() -> None:
    still = replace(pendulum(5), gravity=(0.0, 0.0, 0.0))
    link = replace(still.links[0], mass=0.0)
    (verdict,) = judge_outputs(problem_of(replace(still, links=(link,))))
    assert (str(verdict), verdict.better) == ("this torque is always zero", None)


@pytest.mark.parametrize("gravity", ["[0, 0, -10]", "[0, 0, 0]"])
def test_rounding_errors_are_not_taken_for_a_torque(gravity: str) -> None:
    # Sums of sines and cosines that are zero on paper leave some 1e-17 here.
    still = PENDULUM.replace("[0, -10, 0]", gravity).replace("[-4, 4]", "[0, 0]")
    still = still.replace("center_of_mass = [0, 0, 0]", "center_of_mass = [-0.1, 0.3, 0.2]")
    still = still.replace("[0, 0, 0]\nposition", "[0.2, 0.25, 0.3, 0.01, 0.02, 0.03]\nposition")
    (verdict,) = judge_outputs(problem_of(parse_robot(still)))
    assert (verdict.low, verdict.high, verdict.beyond) == (0.0, 0.0, 0.0)
    assert (str(verdict), verdict.better) == ("this torque is always zero", None)
    lying = still.replace("alpha = 0", 'alpha = "pi/2"').replace("[-1, 1]", "[0, 0]")
    second = lying[lying.index("[[joint]]") :].replace('alpha = "pi/2"', "alpha = 0.3")
    words = {"x": bc.word(-1, 1), "y": bc.word(-1, 1)}
    zero = bc.function_problem(
        lambda x, y: (1e3 * bc.sqrt(x + 2), (x + 0.3) * y - x * y - 0.3 * y),
        words, ["u", "v"],
    )  # fmt: skip
    assert [str(one) for one in judge_outputs(zero)][1] == "this v is always zero"
    first, _ = judge_outputs(problem_of(parse_robot(f"{lying}\n{second}")))
    assert (str(first), first.wasted_bits, first.better) == ("this torque is always zero", 0, None)


@pytest.mark.parametrize("reach", [1e-13, 3e12])
def test_no_range_is_advised_that_a_robot_file_may_not_have(reach: float) -> None:
    verdict = Verdict(TORQUE, -reach, reach, 1e12 if reach > 1 else 1.0, 0.5)
    assert verdict.saturates or verdict.wasted_bits
    assert verdict.better is None


def test_the_largest_range_of_a_robot_file_is_advised_up_to_where_it_holds() -> None:
    assert Verdict(TORQUE, -9.4e11, 9.4e11, 8e11, 0.5).better == 1e12
    assert Verdict(TORQUE, -9.9e11, 9.9e11, 8e11, 0.5).better is None


def test_a_verdict_counts_the_larger_side_and_bits_from_twice_the_reach_on() -> None:
    lopsided = Verdict(TORQUE, -10.0, 3.0, 10.0, 0.0)
    assert (lopsided.reach, lopsided.saturates, lopsided.tight) == (10.0, False, True)
    assert (lopsided.wasted_bits, lopsided.better) == (0, None)
    bits = [Verdict(TORQUE, -1.0, 0.5, size, 0.0).wasted_bits for size in (1, 1.99, 2, 3.99, 4, 8)]
    assert bits == [0, 0, 1, 1, 2, 3]
    assert str(Verdict(TORQUE, -1.0, 0.5, 2.0, 0.0)) == "wastes 1 bit"
    assert Verdict(TORQUE, 0.0, 0.0, 2.0, 0.0).wasted_bits == 0


@pytest.mark.parametrize("reach", [0.9530, 1.0, 3.3, 4.77, 7.9, 96.0])
def test_what_is_advised_leaves_room_for_a_word_of_compact_mode(reach: float) -> None:
    advised = Verdict(TORQUE, -reach, reach, 1000.0, 0.0).better
    assert advised is not None
    assert advised >= 1.05 * reach
    again = Verdict(TORQUE, -reach, reach, advised, 0.0)
    assert (again.tight, again.better) == (False, None)
    steps = 2.0**7  # of half a range, at 8 bits
    assert advised * (1 - 3 / steps) >= 1.02 * reach * (1 - 1e-3)


def test_a_range_that_leaves_less_is_tight() -> None:
    verdict = Verdict(TORQUE, -9.7, 9.7, 10.0, 0.0)
    assert (verdict.tight, verdict.better) == (True, None)
    assert str(verdict) == "tight: compact mode may take a bit more (97 % of it is used)"
    assert str(Verdict(TORQUE, -9.5, 9.5, 10.0, 0.0)) == "suits: 95 % of it is used"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560-stops", "desk-3r"])
def test_the_ranges_of_shipped_arms_suit_them(name: str) -> None:
    assert all(verdict.better is None for verdict in judge_outputs(problem_of(name)))
