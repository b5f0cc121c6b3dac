"""Numbers of a robot file that no arm has: sentences with their place, and nothing overflows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest
from samples import random_robot, terms_of

from boolcomp.common.errors import DataError, DataWarning
from boolcomp.problem.dynamics import christoffel, inverse_dynamics
from boolcomp.problem.robot import Robot, load_robot, parse_robot
from boolcomp.problem.robot.inertia import principal_moments
from boolcomp.problem.robot.limits import MOST_JOINTS

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 'name = "one"\ngravity = [0, 0, -9.81]\n'
JOINT = """
[[joint]]
type = "revolute"
a = 0.5
alpha = "pi/2"
d = 0
mass = 2
center_of_mass = [-0.25, 0, 0]
inertia = [0, 0.04, 0.04]
position_range = ["-pi", "pi"]
velocity_range = [-1, 1]
acceleration_range = [-1, 1]
torque_range = [-8, 8]
"""
GOOD = HEAD + JOINT

MISTAKES = [
    ('"pi/2"', '"pi/0.0"', r"r.toml:7: joint\[1\].alpha: must be finite, not 'pi/0.0'"),
    ('"pi/2"', '"pi/000"', r"r.toml:7: joint\[1\].alpha: must be finite, not 'pi/000'"),
    ("a = 0.5", f"a = 1{'0' * 400}",
     r"r.toml:6: joint\[1\].a: must be from -10000 to 10000 m, not"),
    ("a = 0.5", f"a = {'9' * 5000}", r"r.toml: not a TOML file: .*integer"),
    ("a = 0.5", f"a = 0x{'f' * 5000}", r"r.toml:6: .*not an integer of about 60.. digits"),
    ("a = 0.5", f"a = {'[' * 900}{']' * 900}", r"r.toml: not read: .*nested too deep"),
    ("a = 0.5", f"a = {'[' * 90}{']' * 90}",
     r"r.toml:6: joint\[1\].a: must be a number .* not \[\["),
    ("a = 0.5", f"a{'.a' * 150} = 0.5", r"r.toml:6: joint\[1\].a: must be a number .* not \{'a'"),
    ("a = 0.5", "a = 1e308",
     r"r.toml:6: joint\[1\].a: must be from -10000 to 10000 m, not 1e\+308"),
    ("mass = 2", "mass = 1e8", r"r.toml:9: .*mass: must be from -1e\+07 to 1e\+07 kg"),
    ("mass = 2", "mass = 1e-300", r"r.toml:9: .*mass: must be at least 1e-09 kg, not 1e-300"),
    ("[-1, 1]", "[-1.5e308, 1.5e308]", r"velocity_range: must be from .* 1e\+06 rad/s, not"),
    ("[-1, 1]", "[1, 1.00000000001]", r"velocity_range: must be at least 1e-09 wide"),
    ("[-8, 8]", "[-1e-13, 1e-13]", r"torque_range: must be at least 1e-12 wide"),
    ("d = 0", "d = 0\ngear_ratio = 1e200", r"gear_ratio: must be from -1e\+06 to 1e\+06, not"),
    ("d = 0", "d = 0\nd" + "x" * 9999 + " = 1", r"joint\[1\].dx{38}…x{20}: unknown key"),
    ('"revolute"', f'"{"r" * 9999}"', "unknown joint type 'rrr"),
    ('"one"', f'"{"n" * 999}"', "name: 'nnn.*60 at most"),
]  # fmt: skip


@pytest.mark.parametrize(("good", "bad", "message"), MISTAKES)
def test_what_no_arm_has_gets_a_sentence_with_its_place(good: str, bad: str, message: str) -> None:
    assert good in GOOD
    with pytest.raises(DataError, match=message) as raised:
        parse_robot(GOOD.replace(good, bad, 1), "r.toml")
    assert len(str(raised.value)) < 450  # where all keys are listed


def test_a_sliding_joint_is_told_its_own_units() -> None:
    text = GOOD.replace("revolute", "prismatic").replace("d = 0", "theta = 0")
    text = text.replace('["-pi", "pi"]', "[0, 1e5]")
    with pytest.raises(DataError, match=r"position_range: must be from -10000 to 10000 m, not"):
        parse_robot(text)


def test_two_hundred_joints_are_a_sentence() -> None:
    assert parse_robot(HEAD + JOINT * MOST_JOINTS).joints == MOST_JOINTS
    with pytest.raises(DataError, match="joint: 200 joints: a robot has at most 64"):
        parse_robot(HEAD + JOINT * 200, "r.toml")


def test_a_robot_file_of_a_megabyte_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(GOOD + "#" * 1_000_000)
    with pytest.raises(DataError, match=r"r.toml: too large: at most 262144 bytes"):
        load_robot(tmp_path / "r.toml")
    with pytest.raises(DataError, match=r"r.toml: too large"):
        parse_robot((tmp_path / "r.toml").read_text(), "r.toml")


def test_the_largest_numbers_that_are_allowed_give_finite_torques() -> None:
    text = GOOD
    for good, bad in [
        ("a = 0.5", "a = 1e4\ngear_ratio = 1e6\nrotor_inertia = 1e6"),
        ("mass = 2", "mass = 1e7"),
        ("[-0.25, 0, 0]", "[1e4, 1e4, 1e4]"),
        ("[0, 0.04, 0.04]", "[1e12, 1e12, 1e12]"),
        ("[-1, 1]\nacc", "[-1e6, 1e6]\nacc"),
        ("acceleration_range = [-1, 1]", "acceleration_range = [-1e9, 1e9]"),
    ]:
        assert good in text
        text = text.replace(good, bad)
    joint = text.removeprefix(HEAD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = parse_robot(HEAD + 4 * joint)
        torques = inverse_dynamics(robot, [1.0] * 4, [1e6] * 4, [1e9] * 4)
        assert (abs(torques) < 1e40).all()
        terms_of(robot)


def test_the_smallest_numbers_of_an_inertia_do_not_vanish_in_squares() -> None:
    assert principal_moments((1e-200, 1e-200, 1e-200, 1e-200, 0.0, 0.0)) == pytest.approx(
        (0.0, 1e-200, 2e-200), abs=1e-209
    )
    assert principal_moments((0.0,) * 6) == (0.0, 0.0, 0.0)
    assert principal_moments((5e-324, 0.0, 0.0, 5e-324, 0.0, 0.0))[0] <= 0.0


def test_terms_of_too_many_joints_are_refused_before_anything_is_allocated() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        arm = parse_robot(HEAD + 10 * JOINT)
    with pytest.raises(DataError, match=r"one: the terms of 10 joints need 12.5 GB"):
        terms_of(arm)
    assert len(terms_of(random_robot(1, 3)).outputs) == 3


def test_nine_turning_joints_are_refused_before_anything_is_sampled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class SampledError(Exception):
        pass

    def sampled(*_: object) -> None:
        raise SampledError

    monkeypatch.setattr(christoffel, "inertia_matrix", sampled)
    (link, _) = load_robot("machado-2r").links
    with pytest.raises(DataError, match=r"terms of 9 joints need 2\.02 GB.*up to eight turning"):
        terms_of(Robot("nine", "", "", "", (0.0, -9.8, 0.0), (link,) * 9))
    with pytest.raises(SampledError):
        terms_of(Robot("eight", "", "", "", (0.0, -9.8, 0.0), (link,) * 8))
