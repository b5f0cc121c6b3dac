"""URDF files: the arm that they hold, what is proposed, and the sentence of every mistake."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from conftest import Run
from urdf_texts import ARM, LIMIT, TREE, joint

import boolcomp as bc
from boolcomp.base import DataWarning
from boolcomp.problem import Interval, load_urdf


def arm_of(
    folder: Path,
    text: str = ARM,
    base: str | None = None,
    tip: str | Sequence[str] | None = "tool0",
    *,
    right_angles: bool = False,
) -> Any:
    path = folder / "arm.urdf"
    path.write_text(text)
    return load_urdf(path, base, tip, right_angles=right_angles)


def test_an_arm_of_all_kinds_agrees_with_pinocchio_to_ten_digits(tmp_path: Path) -> None:
    """Its finger, which is none of the arm's joints, stands still at zero."""
    robot = arm_of(tmp_path).robot
    model = pin.buildModelFromXML(ARM)
    assert list(model.names) == ["universe", "waist", "shoulder", "elbow", "slide", "grip"]
    data, rng = model.createData(), np.random.default_rng(1)
    q, qd, qdd = (rng.uniform(-4, 4, (200, 4)) for _ in range(3))
    ours = bc.inverse_dynamics(robot, q, qd, qdd)
    for k in range(200):
        there = np.array([np.cos(q[k, 0]), np.sin(q[k, 0]), *q[k, 1:], 0.0])
        theirs = pin.rnea(model, data, there, np.append(qd[k], 0.0), np.append(qdd[k], 0.0))
        assert np.allclose(ours[k], theirs[:4], rtol=0, atol=1e-10 * (1 + np.abs(theirs).max()))


def test_joints_have_the_ranges_of_the_file(tmp_path: Path) -> None:
    waist, shoulder, _, slide = arm_of(tmp_path).robot.links
    assert waist.position == Interval(-math.pi, math.pi)
    assert (waist.viscous_friction, waist.coulomb_friction) == (0.1, (0.2, 0.2))
    assert (shoulder.position, shoulder.velocity) == (Interval(-2.1, 1.4), Interval(-2.0, 2.0))
    assert shoulder.torque == Interval(-40.0, 40.0)
    assert (slide.type, slide.position) == ("prismatic", Interval(0.0, 0.3))


def test_what_the_file_does_not_say_is_proposed_and_said(tmp_path: Path) -> None:
    arm = arm_of(tmp_path)
    waist, shoulder, _, slide = arm.robot.links
    assert (shoulder.acceleration, slide.acceleration) == (Interval(-8.0, 8.0), Interval(-2.0, 2.0))
    assert waist.velocity == Interval(-math.pi, math.pi)
    states = [np.random.default_rng(4).uniform(-1, 1, (1000, 4)) for _ in range(3)]
    torque = np.abs(bc.inverse_dynamics(arm.robot, *states))[:, [0, 3]].max(axis=0)
    assert (torque < [waist.torque.high, slide.torque.high]).all()
    assert arm.robot.doubt == "; ".join(arm.notes)
    for sentence in (
        "accelerations are proposed: those that give full speed within a quarter of a second",
        "speeds of up to pi rad/s are proposed for waist",
        "torque ranges are proposed for waist, slide",
        "held at zero: grip",
    ):
        assert sentence in arm.robot.doubt
    with pytest.warns(DataWarning, match=r"arm.urdf#tool0: accelerations are proposed"):
        assert bc.load_robot(f"{tmp_path}/arm.urdf#tool0") == arm.robot


TIPS = ("left fore", "right hand")


def test_two_arms_on_a_trunk_are_one_robot_and_agree_with_pinocchio(tmp_path: Path) -> None:
    """Joints: the way to the first tip, then what that to the next one adds."""
    arm = arm_of(tmp_path, TREE, tip=TIPS)
    model = pin.buildModelFromXML(TREE)
    names = [joint.name for joint in arm.chain.joints]
    assert names == list(model.names)[1:]
    assert names[:3] == ["waist", "left shoulder", "left elbow"]
    assert arm.robot.parents == (0, 1, 2, 1, 4)
    assert arm.robot.title == "base to left fore, right hand"
    data, rng = model.createData(), np.random.default_rng(1)
    model.armature = np.array([0.0, 0.0, 0.4, 0.03, 0.03])  # rotors, which it does not read
    q, qd, qdd = (rng.uniform(-3, 3, (50, 5)) for _ in range(3))
    ours = bc.inverse_dynamics(arm.robot, q, qd, qdd)
    for k in range(50):
        there = np.array([np.cos(q[k, 0]), np.sin(q[k, 0]), *q[k, 1:]])
        theirs = pin.rnea(model, data, there, qd[k], qdd[k])
        assert np.allclose(ours[k], theirs, rtol=0, atol=1e-11 * (1 + np.abs(theirs).max()))
    tool = arm.robot.tool
    assert tool is not None
    assert tool.origin == (0.1, 0.0, 0.3)


THUMB = '<link name="thumb"/>' + joint("pinch", "prismatic", "rail thumb", "0 0 0", more=LIMIT)


@pytest.mark.parametrize(("text", "base", "tip", "message"), [
    (TREE, None, ("left fore", "left upper"), "the tip 'left upper' adds no joint"),
    (TREE, None, ("left fore", "left fore"), "the tip 'left fore' adds no joint"),
    (TREE, None, ("left fore", "right hnd"), "no link is called 'right hnd'; did you mean 'rig"),
    (TREE, None, ("left fore", "base"), "no joint moves between 'base' and 'base'"),
    (ARM, None, "tol0", r"no link is called 'tol0'; did you mean 'tool0'\?"),
    (ARM, "upper", "post", "'post' is not below 'upper'; it is below foot, world"),
    (ARM, "rail", "tool0", r"no joint moves between 'rail' and 'tool0'"),
    (ARM.replace("</robot>", THUMB + "</robot>"), None, None,
     r"the model has several tips; give"),
])  # fmt: skip
def test_ends_that_make_no_arm_are_refused(
    tmp_path: Path, text: str, base: str | None, tip: str | tuple[str, ...], message: str
) -> None:
    with pytest.raises(bc.UsageError, match=message):
        arm_of(tmp_path, text, base, tip)


@pytest.mark.slow
def test_the_tips_of_a_comma_are_those_of_the_command_line(run: Run) -> None:
    Path("arm.urdf").write_text(TREE)
    written = run("robots", "arm.urdf", "--tip=left fore", "--tip=right hand", "-o", "arm.toml")
    assert written.code == 0
    robot = bc.load_robot("arm.toml")
    assert "parent = 1\n" in Path("arm.toml").read_text()
    with pytest.warns(DataWarning):
        assert bc.load_robot("arm.urdf#left fore,right hand") == robot
    told = json.loads(run("robots", "arm.toml", "--json").out)["robots"][0]
    assert [joint["parent"] for joint in told["joints"]] == [0, 1, 2, 1, 4]


def test_rotors_are_those_of_transmissions_and_armatures(tmp_path: Path) -> None:
    """A rotor of 0.001 kg·m² at -20 turns a turn is 0.4 at the joint; so friction goes, too."""
    arm = arm_of(tmp_path, TREE, tip=TIPS)
    _, _, left, _, right = arm.robot.links
    assert (left.rotor_inertia, left.gear_ratio) == (0.001, -20.0)
    assert left.viscous_friction * 400 == pytest.approx(0.8, rel=1e-15)
    assert left.coulomb_friction[0] * 20 == pytest.approx(0.4, rel=1e-15)
    assert (right.joint_inertia, right.gear_ratio) == (0.03, 1.0)
    notes = "; ".join(arm.notes)
    assert "left elbow has a rotor inertia of 0.001 at a gear ratio of -20, from the trans" in notes
    assert "right elbow has a rotor inertia of 0.03, from <dynamics armature=…>" in notes


@pytest.mark.parametrize(("angle", "asked", "found"), [
    ("1.5708", False, 1.5708), ("1.5708", True, math.pi / 2),
    ("1.570796326795", False, math.pi / 2), ("1.571", True, 1.571),
])  # fmt: skip
def test_right_angles_are_those_of_twelve_digits_or_of_five_where_asked(
    tmp_path: Path, angle: str, found: float, *, asked: bool
) -> None:
    text = ARM.replace("1.57079632679489661923", angle)
    arm = arm_of(tmp_path, text, right_angles=asked)
    pose = arm.robot.links[3].pose
    assert pose is not None
    assert pose.rotation == (0.0, found, 0.0)
    near = any("1.5708 is nearly a right angle (line 17)" in note for note in arm.notes)
    assert near == (found == 1.5708)


MISTAKES = [
    ('<link name="finger">', '<link name="f"/><link name="finger">',
     r":11: .*: no joint moves it or"),
    ("<robot name", "<model name", r"arm.urdf:20: not XML: mismatched tag"),
    ("</robot>", "", r"arm.urdf:20: not XML: no element found"),
    ('<?xml version="1.0"?>', "<!DOCTYPE robot [<!ENTITY a 'b'>]>",
     r":1: a document type .* not read"),
    ('type="continuous"', 'type="continous"',
     r":13: .*: unknown type 'continous'; did you mean 'continuous'"),
    ('type="continuous"', 'type="floating"',
     r":13: .*a floating joint between world and tool0: not possible"),
    ('parent link="post"', 'parent link="past"',
     ":14: <parent>: no link is called 'past'; did you mean"),
    ('<parent link="post"/>', "", r":14: <joint name=\"shoulder\">: <parent link=…> is missing"),
    ('child link="upper"', 'child link="post"', r"link 'post' is moved by joint 'waist' already"),
    ('child link="foot"', 'child link="world"',
     r":3: <link name=\"world\">: the joints above it form a cycle"),
    ('link name="post"', 'link name="foot"',
     r":5: <link name=\"foot\">: a second link of this name"),
    ('<mass value="4"/>', '<mass value="-4"/>', r":4: <mass>: value must not be negative, not -4"),
    ('<mass value="4"/>', '<mass value="4 kg"/>',
     r":4: <mass>: value must be a number, not '4 kg'"),
    ('<mass value="4"/>', "", r":4: <inertial>: <mass value=…> is missing"),
    ('<mass value="3"/>', '<mass value="1e9"/>',
     r":5: <mass>: value must be from -1e\+07 to 1e\+07 kg"),
    ('"1 -2 3"', '"0 0 0"', ":16: <axis>: xyz must not be zero; give its direction"),
    ('"1 -2 3"', '"1 -2"', r":16: <axis>: xyz must be three numbers, not '1 -2'"),
    ('"1 -2 3"', '"1 -2 nan"', r":16: <axis>: xyz must be finite, not 'nan'"),
    ('lower="-2.1"', 'lower="2.1"', r":14: <limit>: lower, 2.1, is above upper, 1.4"),
    ('lower="0" upper="0.3"', "",
     r":17: .*: it has no limits of its position; give them"),
    ('joint name="waist"', 'joint name="wai&#10;st"', r":13: .*holds characters that cannot be"),
    (LIMIT, "", r":14: <joint name=\"shoulder\">: <limit> is missing \(continuous"),
    (LIMIT, LIMIT + '<mimic joint="waist"/>', r":14: .*it mimics joint 'waist': arms whose joints"),
    (LIMIT, LIMIT + LIMIT, r":14: <limit>: a second <limit> in <joint>"),
    ('damping="0.1"', 'damping="-1"', r":13: <dynamics>: damping must not be negative, not -1"),
    ("0.02", "-0.9", r"<joint name=\"\w+\">: the inertia of the bodies that it moves is not"),
    ('name="stand"', 'name="waist"',
     r":13: <joint name=\"waist\">: a second joint of this name; .* 12"),
    ('link name="tool0"', "link", r":10: <link>: name is missing"),
    ('  <link name="world"/>', "<xacro:arm/>", "not XML|this is a xacro file; run xacro first"),
    ('lower="0" upper="0.3"', 'lower="0" upper="0"',
     r"equal lower and upper limits .*give them"),
    ("  " + joint("stand", "fixed", "world foot", "0 0 0.3 0 0 0.5"),
     joint("stand", "fixed", "world foot", "0 0 0") + joint("r", "fixed", "tool0 world", "0 0 0"),
     "the joints form a cycle"),
    (">-20<", ">0<", r":15: <actuator name=\"m\">: the gear ratio must not be zero"),
    (">-20<", ">x<", r":16: <mechanicalReduction>: its text must be a number, not 'x'"),
    (">0.001<", ">-1<", r":15: .*: the rotor inertia must not be negative, not -1"),
    (">0.001<", ">1e9<", r":16: <rotorInertia>: its text must be from -1e\+06 to 1e\+06 kg"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), [
    ("<html/>", "", "not XML: no element found"),
    ("<html/>", "<html/>", r"arm\.urdf:1: <html>: not a robot; URDF"),
    ("<html/>", "<robot/>", "a robot needs at least one <link>"),
    ("<html/>", "<a>" * 70 + "</a>" * 70, "nested more than 64 deep"),
    ("<html/>", "<robot>" + "<a/>" * 20_001 + "</robot>", "more than 20000 elements"),
    ("<html/>", "<robot>&lol;</robot>", "not XML: undefined entity"),
    *MISTAKES,
])  # fmt: skip
def test_mistakes_are_named_with_line_and_element(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = next(text for text in (ARM, TREE, "<html/>") if old in text)
    wrong = text.replace(old, new) if old == "0.02" else text.replace(old, new, 1)
    with pytest.raises(bc.DataError, match=message):
        arm_of(tmp_path, wrong, tip=TIPS if text == TREE else "tool0")


@pytest.mark.parametrize("command", ["terms", "evaluate"])
def test_commands_take_a_base_and_a_tip(run: Run, command: str) -> None:
    Path("arm.urdf").write_text(ARM)
    Path("states.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0\n")
    more = ("-i", "states.csv") if command == "evaluate" else ()
    assert run(command, "arm.urdf", "--base", "bracket", "--tip", "tool0", *more).code == 0
    assert run(command, "machado-2r", "--tip", "tool0", *more).code == 2


def test_without_a_tip_the_only_or_longest_arm_is_meant_and_its_last_link(tmp_path: Path) -> None:
    arm = arm_of(tmp_path, tip=None)
    assert arm.chain.tips == ("finger",)
    assert arm.notes[0].startswith("the arm ends in finger; --tip may say another")
    text = re.sub('<joint name="grip".*?</joint>', "", ARM).replace('"finger"', '"tool1"')
    text = text.replace("</robot>", joint("more", "fixed", "rail tool1", "0 0 0") + "</robot>")
    assert arm_of(tmp_path, text, tip=None).chain.tips == ("rail",)
    only = re.sub('<joint name="more".*?</joint>|<link name="tool1">.*?</link>', "", text)
    assert arm_of(tmp_path, only, tip=None).chain.tips == ("tool0",)
