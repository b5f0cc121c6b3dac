"""Robot files: what they hold, and the sentence that every mistake gets."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import branched_robot, general_robot, random_robot

from boolcomp.common.errors import BoolcompError, DataError, DataWarning, UsageError
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import Pose, load_robot, parse_robot, robot_names
from boolcomp.problem.robot.frames import roll_pitch_yaw, rotation_rows

GOOD = """\
name = "one"
gravity = [0, 0, -9.81]

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


def test_a_good_file_gives_its_values() -> None:
    link = parse_robot(GOOD).links[0]
    assert (link.type, link.a, link.alpha, link.mass) == ("revolute", 0.5, math.pi / 2, 2.0)
    assert link.position == Interval(-math.pi, math.pi)
    assert (link.theta, link.gear_ratio, link.joint_inertia) == (0.0, 1.0, 0.0)


def test_the_robots_ship() -> None:
    assert set(robot_names()) == {
        "desk-3r",
        "elbow-3r",
        "iiwa14",
        "indy7",
        "j2s6",
        "machado-2r",
        "panda",
        "planar-3r",
        "puma560",
        "puma560-5",
        "puma560-stops",
        "roarm-m2",
        "scara",
        "so100",
        "stanford",
        "stanford-scaled",
        "ur5e",
    }


@pytest.mark.parametrize("name", robot_names())
def test_shipped_robots_load_without_warning_and_print_as_files(name: str) -> None:
    robot = load_robot(name)
    assert robot.name == name
    assert parse_robot(str(robot)) == robot


@given(st.integers(0, 10_000))
def test_any_robot_survives_its_text(seed: int) -> None:
    robot = random_robot(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert parse_robot(str(robot)) == robot


@given(st.integers(0, 10_000))
def test_any_robot_in_general_frames_survives_its_text(seed: int) -> None:
    robot = general_robot(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert parse_robot(str(robot)) == robot


@given(st.integers(0, 10_000))
def test_any_tree_survives_its_text(seed: int) -> None:
    robot = branched_robot(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert parse_robot(str(robot)) == robot


@pytest.mark.parametrize("parent", ["2", "-1", "true", "1.0", '"one"'])
def test_a_parent_is_an_earlier_joint(parent: str) -> None:
    one = load_robot("machado-2r")
    text = str(one).replace("[[joint]]\n", f"[[joint]]\nparent = {parent}\n")
    with pytest.raises(DataError, match=r"joint\[1\].parent: must be 0, the base, for the first"):
        parse_robot(text)
    head, first, second = str(one).split("[[joint]]\n")
    text = f"{head}[[joint]]\n{first}[[joint]]\nparent = {parent}\n{second}"
    with pytest.raises(DataError, match=r"joint\[2\].parent: must be .* joint, 1 to 1, or 0 for"):
        parse_robot(text)


def test_a_parent_that_is_the_joint_before_makes_no_tree() -> None:
    head, first, second = str(load_robot("machado-2r")).split("[[joint]]\n")
    text = "{}[[joint]]\n{}[[joint]]\nparent = {}\n{}"
    chain, tree = (parse_robot(text.format(head, first, k, second)) for k in (1, 0))
    assert chain == load_robot("machado-2r")
    assert (chain.branched, tree.branched, tree.parents) == (False, True, (0, 0))


GENERAL = GOOD.replace('a = 0.5\nalpha = "pi/2"\nd = 0\n', "origin = [0, 1, 0]\naxis = [0, 0, 2]\n")


def test_a_general_frame_has_an_axis_of_length_one() -> None:
    link = parse_robot(GENERAL).links[0]
    assert link.pose == Pose((0.0, 1.0, 0.0), (0.0, 0.0, 0.0))
    assert (link.axis, link.alpha) == ((0.0, 0.0, 1.0), 0.0)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -2, 0), (1, 2, -3)])
def test_four_numbers_of_a_rotation_are_an_axis_and_an_angle(axis: tuple[int, ...]) -> None:
    text = GENERAL.replace("axis =", f"rotation = [{', '.join(map(str, axis))}, 1.5]\naxis =")
    pose = parse_robot(text).links[0].pose
    assert pose is not None
    expected = pin.AngleAxis(1.5, np.array(axis) / np.linalg.norm(axis)).toRotationMatrix()
    assert np.allclose(rotation_rows(pose.rotation), expected, rtol=0, atol=1e-15)


def test_roll_pitch_and_yaw_hold_any_rotation_to_fifteen_digits() -> None:
    rng = np.random.default_rng(5)
    turns = [
        rng.choice((0.0, 1e-9, math.pi / 2, -math.pi / 2, 1.0, math.pi), 3) for _ in range(500)
    ]
    for turn in (*turns, *rng.uniform(-4, 4, (500, 3))):
        rows = pin.rpy.rpyToMatrix(*turn)
        (a, b, c), (d, e, f), (g, h, i) = rows.tolist()
        found = rotation_rows(roll_pitch_yaw(((a, b, c), (d, e, f), (g, h, i))))
        assert np.allclose(found, rows, rtol=0, atol=1.2e-15)


def test_a_right_angle_printed_to_five_digits_is_a_right_angle() -> None:
    assert parse_robot(GOOD.replace('"pi/2"', "1.5708")).links[0].alpha == math.pi / 2
    assert parse_robot(GOOD.replace('"pi/2"', "1.571")).links[0].alpha == 1.571


def test_rotor_inertia_reaches_the_joint_through_the_gear_squared() -> None:
    text = GOOD + "rotor_inertia = 0.002\ngear_ratio = -50\n"
    assert parse_robot(text).links[0].joint_inertia == 5.0


MISTAKES = [
    ("a = 0.5", "a = 0.5\norigin = [0, 0, 0]",
     r"joint\[1\].a: given beside origin: a joint has a, al"),
    ("a = 0.5", "axis = [0, 0, 1]",
     r"joint\[1\].alpha: given beside axis: a joint has a, alpha, d"),
    ('a = 0.5\nalpha = "pi/2"\nd = 0\n', "axis = [0, 0, 1]\n", r"joint\[1\].origin: missing"),
    ('a = 0.5\nalpha = "pi/2"\nd = 0\n', "origin = [0, 0, 0]\naxis = [0, 0, 0]\n",
     r"joint\[1\].axis: an axis must not be zero: give its direction"),
    ("a = 0.5", "a == 0.5", r"r.toml: not a TOML file: .*\(at line 6, column 4\)"),
    ("a = 0.5", "a = 0.5\na = 1", r"not a TOML file: .*line 7"),
    ("mass = 2", "mas = 2", r"r.toml:9: joint\[1\].mas: unknown key \(did you mean 'mass'"),
    ("mass = 2\n", "", r"joint\[1\].mass: missing \(massless = true"),
    ("mass = 2", "mass = 0", r"r.toml:9: joint\[1\].mass: must be positive, not 0"),
    ("mass = 2", "mass = -2", r"joint\[1\].mass: must be positive, not -2"),
    ("mass = 2", "mass = nan", r"joint\[1\].mass: must be finite"),
    ("mass = 2", "mass = true", r"joint\[1\].mass: must be a number .* not True"),
    ("mass = 2", 'mass = "two"', r"joint\[1\].mass: must be a number .* not 'two'"),
    ("mass = 2", "mass = 2\nmassless = true", r"joint\[1\].mass: given for a link that is"),
    ("mass = 2", "massless = 1", r"joint\[1\].massless: must be true or false, not 1"),
    ("a = 0.5\n", "", r"r.toml:4: joint\[1\].a: missing"),
    ("[-1, 1]", "[1, -1]", r"r.toml:13: joint\[1\].velocity_range: must rise, not go from 1 to -1"),
    ("[-8, 8]", "[8, 8]", r"torque_range: must rise, not go from 8 to 8"),
    ("[-1, 1]", "[1]", r"velocity_range: must be a list of 2 numbers, not \[1\]"),
    ("[-8, 8]", "[-4, 8]", r"torque_range: must be symmetric about zero .*give \[-8, 8\]"),
    ("[0, 0.04, 0.04]", "[0, -0.04, 0.04]", r"inertia: not positive semidefinite"),
    ("[0, 0.04, 0.04]", "[0, 0.04]", r"inertia: must be a list of 3 or 6 numbers"),
    ("[0, 0.04, 0.04]", "[1, 1, 1, 2, 0, 0]", r"inertia: not positive semidefinite"),
    ('"revolute"', '"revolut"', r"joint\[1\].type: unknown joint type 'revolut' \(did you mean"),
    ('"revolute"', '"screw"', r"unknown joint type 'screw' \(allowed: revolute, prismatic\)"),
    ('name = "one"\n', "", r"r.toml: name: missing"),
    ('name = "one"', 'name = "a b"', r"r.toml:1: name: 'a b' may hold letters, digits"),
    ('name = "one"', "name = 1", r"name: must be text, not 1"),
    ("gravity = [0, 0, -9.81]", "gravity = 9.81", r"r.toml:2: gravity: must be a list of 3"),
    ("gravity", "gravitas", r"r.toml:2: gravitas: unknown key \(did you mean 'gravity'"),
    ("[[joint]]", "[[joints]]", r"joints: unknown key \(did you mean 'joint'"),
    ("d = 0\n", "d = 0\nrotor_inertia = -1\n", r"rotor_inertia: must not be negative, not -1"),
    ("d = 0\n", "d = 0\ncoulomb_friction = [1]\n", r"coulomb_friction: must be one number, or two"),
    ("d = 0\n", "d = 0\ncoulomb_friction = -1\n", r"coulomb_friction: must not be negative"),
]  # fmt: skip


@pytest.mark.parametrize(("good", "bad", "message"), MISTAKES)
def test_every_mistake_gets_a_sentence_with_its_place(good: str, bad: str, message: str) -> None:
    assert good in GOOD
    with pytest.raises(DataError, match=message):
        parse_robot(GOOD.replace(good, bad, 1), "r.toml")


def test_a_robot_needs_a_joint() -> None:
    with pytest.raises(DataError, match=r"at least one \[\[joint\]\]"):
        parse_robot('name = "none"\ngravity = [0, 0, 0]\n')


def test_an_inertia_that_no_body_has_is_a_warning_unless_its_doubt_is_stated() -> None:
    flat = GOOD.replace("[0, 0.04, 0.04]", "[0, 0.04, 0]")
    with pytest.warns(DataWarning, match=r"r.toml:11: joint\[1\].inertia: no body has"):
        parse_robot(flat, "r.toml")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_robot(flat + 'doubt = "as published"\n')


@pytest.mark.parametrize("ends", ["[-110, 110]", "[-13, 13]", "[85, 95]"])
def test_a_position_many_turns_away_is_a_warning(ends: str) -> None:
    text = GOOD.replace('["-pi", "pi"]', ends)
    with pytest.warns(DataWarning, match=r"r.toml:12: .*position_range: .* turns: is it in deg"):
        parse_robot(text, "r.toml")


@pytest.mark.parametrize("ends", ['["-4*pi", "4*pi"]', "[-10, 10]"])
def test_four_turns_and_long_slides_are_no_reason_to_warn(ends: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_robot(GOOD.replace('["-pi", "pi"]', ends))
        slides = GOOD.replace("revolute", "prismatic").replace("d = 0", "theta = 0")
        parse_robot(slides.replace('["-pi", "pi"]', "[-110, 110]"))


@given(st.binary(max_size=300))
def test_junk_is_refused_with_a_sentence(junk: bytes) -> None:
    with pytest.raises(BoolcompError):
        parse_robot(junk.decode("utf-8", errors="replace"))


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no robot named 'puma-560' \(did you mean 'puma560'"):
        load_robot("puma-560")


def test_a_file_of_the_name_that_lies_here_is_what_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("desk-4r.toml").write_text(GOOD)
    with pytest.raises(UsageError, match=r"'desk-4r' \(did you mean 'desk-4r.toml'\?\): robots"):
        load_robot("desk-4r")


def test_a_missing_path_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match=r"nowhere/machado.toml: no such robot file \(did you"):
        load_robot(Path("nowhere/machado.toml"))


def test_a_robot_loads_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    assert load_robot(path).name == "one"
    assert load_robot(str(path)) == load_robot(path)
