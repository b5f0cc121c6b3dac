"""URDF files: the arm that they hold, what is proposed, and the sentence of every mistake."""

from __future__ import annotations

import json
import math
import random
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import pytest
from urdf_texts import ARM, LIMIT, TREE, body, damaged, joint

from boolcomp.common.errors import BoolcompError, DataError, DataWarning, UsageError
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import load_robot, load_urdf, parse_robot, xmltext

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Result

    from boolcomp.problem.robot.arm import Arm


def arm_of(
    folder: Path,
    text: str = ARM,
    base: str | None = None,
    tip: str | Sequence[str] | None = "tool0",
    *,
    right_angles: bool = False,
) -> Arm:
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
    ours = inverse_dynamics(robot, q, qd, qdd)
    for k in range(200):
        there = np.array([np.cos(q[k, 0]), np.sin(q[k, 0]), *q[k, 1:], 0.0])
        theirs = pin.rnea(model, data, there, np.append(qd[k], 0.0), np.append(qdd[k], 0.0))
        assert np.allclose(ours[k], theirs[:4], rtol=0, atol=1e-10 * (1 + np.abs(theirs).max()))


def test_the_tool_is_where_pinocchio_has_the_tip(tmp_path: Path) -> None:
    tool = arm_of(tmp_path).robot.tool
    model = pin.buildModelFromXML(ARM)
    place = model.frames[model.getFrameId("tool0")].placement
    assert tool is not None
    assert np.allclose(tool.origin, place.translation, rtol=0, atol=1e-15)
    assert np.allclose(pin.rpy.rpyToMatrix(*tool.rotation), place.rotation, rtol=0, atol=1e-15)


def test_two_points_on_rods_have_the_torques_of_the_textbook(tmp_path: Path) -> None:
    """m1 = 3 at 0.4, m2 = 2 at 0.5 of a plane arm that hangs in x and z: T2 in closed form."""
    point = '<inertial><origin xyz="{}"/><mass value="{}"/></inertial>'
    text = "".join([
        '<robot name="two">',
        '<link name="base"/>',
        f'<link name="one">{point.format("0.4 0 0", 3)}</link>',
        f'<link name="two">{point.format("0.5 0 0", 2)}</link>',
        joint("a", "revolute", "base one", "0 0 0", "0 -1 0", LIMIT),
        joint("b", "revolute", "one two", "0.4 0 0", "0 -1 0", LIMIT),
        "</robot>",
    ])  # fmt: skip
    robot = arm_of(tmp_path, text, tip=None).robot
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-3, 3, (3, 50, 2))
    (q1, q2), (u, _), (r1, r2) = q.T, qd.T, qdd.T
    m, a, b, g = 2.0, 0.4, 0.5, 9.81
    expected = (
        m * b * (a * np.cos(q2) + b) * r1 + m * b * b * r2 + m * a * b * np.sin(q2) * u * u
        + m * g * b * np.cos(q1 + q2)
    )  # fmt: skip
    assert np.allclose(inverse_dynamics(robot, q, qd, qdd)[:, 1], expected, rtol=0, atol=1e-12)


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
    torque = np.abs(inverse_dynamics(arm.robot, *states))[:, [0, 3]].max(axis=0)
    assert (torque < [waist.torque.high, slide.torque.high]).all()
    said = "; ".join(arm.notes)
    assert arm.robot.doubt == said
    for sentence in (
        "accelerations are proposed: those that give full speed within a quarter of a second",
        "speeds of up to pi rad/s are proposed for waist",
        "torque ranges are proposed for waist, slide",
        "held at zero: grip",
    ):
        assert sentence in said


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("", "no limits of its position"),
        ('lower="-99" upper="99"', "limits of more than 4 turns"),
        ('lower="0" upper="0"', "equal lower and upper limits (0)"),
        ('lower="1.5" upper="1.5"', "equal lower and upper limits (1.5)"),
    ],
)
def test_a_turning_joint_without_limits_goes_once_around(
    tmp_path: Path, limits: str, said: str
) -> None:
    arm = arm_of(tmp_path, ARM.replace('lower="-2.1" upper="1.4"', limits))
    assert arm.robot.links[1].position == Interval(-math.pi, math.pi)
    assert f"shoulder has {said}: taken as one full turn" in arm.notes


def test_a_limit_of_zeros_is_taken_as_no_limit(tmp_path: Path, run: Callable[..., Result]) -> None:
    """Such placeholders stand in many files; the warning and `boolcomp robots` list them."""
    placeholder = '<limit lower="0" upper="0" effort="0" velocity="0"/>'
    text = (
        f'<robot name="pair"><link name="a"/><link name="b">{body(1, "0.2 0 0")}</link>'
        f'<link name="c">{body(1, "0.2 0 0")}</link>'
        f"{joint('one', 'revolute', 'a b', '0 0 0', '0 1 0', placeholder)}"
        f"{joint('two', 'revolute', 'b c', '0.4 0 0', '0 1 0', placeholder)}</robot>"
    )
    arm_of(tmp_path, text, None, None)
    with pytest.warns(DataWarning) as caught:
        robot = load_robot(tmp_path / "arm.urdf")
    said = str(caught[0].message)
    for link in robot.links:
        assert link.position == Interval(-math.pi, math.pi)
        assert link.velocity == Interval(-math.pi, math.pi)
        assert link.torque.high > 0.1
    shown = run("robots", str(tmp_path / "arm.urdf")).out
    for sentence in (
        "speeds of up to pi rad/s are proposed for one, two",
        "torque ranges are proposed for one, two",
        *(f"{name} has equal lower and upper limits (0)" for name in ("one", "two")),
    ):
        assert sentence in said
        assert sentence.lower() in shown.lower()


def test_equal_limits_of_a_sliding_joint_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"equal lower and upper limits .*how far it slides"):
        arm_of(tmp_path, ARM.replace('lower="0" upper="0.3"', 'lower="0" upper="0"'))


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
    ours = inverse_dynamics(arm.robot, q, qd, qdd)
    for k in range(50):
        there = np.array([np.cos(q[k, 0]), np.sin(q[k, 0]), *q[k, 1:]])
        theirs = pin.rnea(model, data, there, qd[k], qdd[k])
        assert np.allclose(ours[k], theirs, rtol=0, atol=1e-11 * (1 + np.abs(theirs).max()))
    tool = arm.robot.tool
    assert tool is not None
    assert tool.origin == (0.1, 0.0, 0.3)


def test_tips_come_in_the_order_in_which_they_are_said(tmp_path: Path) -> None:
    arm = arm_of(tmp_path, TREE, tip="right hand,left fore")
    assert [joint.name for joint in arm.chain.joints][1:] == [
        "right shoulder", "right elbow", "left shoulder", "left elbow",
    ]  # fmt: skip
    assert arm.robot.tool is None


@pytest.mark.parametrize(
    ("tips", "message"),
    [
        (("left fore", "left upper"), "the tip 'left upper' adds no joint to those of left fore: "),
        (("left fore", "left fore"), "the tip 'left fore' adds no joint to those of left fore: "),
        (("left fore", "right hnd"), r"no link is called 'right hnd' \(did you mean 'right hand'"),
        (("left fore", "base"), "no joint moves between 'base' and 'base'"),
    ],
)
def test_a_tip_that_makes_no_branch_is_refused(
    tmp_path: Path, tips: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        arm_of(tmp_path, TREE, tip=tips)


@pytest.mark.slow
def test_the_tips_of_a_comma_are_those_of_the_command_line(run: Callable[..., Result]) -> None:
    Path("arm.urdf").write_text(TREE)
    written = run("robots", "arm.urdf", "--tip=left fore", "--tip=right hand", "-o", "arm.toml")
    assert written.code == 0
    robot = load_robot("arm.toml")
    assert "parent = 1\n" in Path("arm.toml").read_text()
    with pytest.warns(DataWarning):
        assert load_robot("arm.urdf#left fore,right hand") == robot
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


def test_gears_without_rotors_and_those_of_several_actuators_add_nothing(tmp_path: Path) -> None:
    for old, new in (
        ("<rotorInertia>0.001</rotorInertia>", ""),
        ("</actuator>", '</actuator><actuator name="n"/>'),
    ):
        left = arm_of(tmp_path, TREE.replace(old, new), tip=TIPS).robot.links[2]
        assert (left.joint_inertia, left.gear_ratio, left.viscous_friction) == (0.0, 1.0, 0.8)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (">-20<", ">0<", r":15: <actuator name=\"m\">: the gear ratio must not be zero"),
        (">-20<", ">x<", r":16: <mechanicalReduction>: its text must be a number, not 'x'"),
        (">0.001<", ">-1<", r":15: .*: the rotor inertia must not be negative, not -1"),
        (">0.001<", ">1e9<", r":16: <rotorInertia>: its text must be from -1e\+06 to 1e\+06 kg"),
    ],
)
def test_mistakes_in_a_transmission_are_named(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        arm_of(tmp_path, TREE.replace(old, new), tip=TIPS)


def test_python_is_warned_of_what_is_proposed(tmp_path: Path) -> None:
    arm_of(tmp_path)
    with pytest.warns(DataWarning, match=r"arm.urdf#tool0: accelerations are proposed"):
        robot = load_robot(f"{tmp_path}/arm.urdf#tool0")
    assert robot.joints == 4


def test_a_base_within_the_tree_stands_as_it_does_at_zero(tmp_path: Path) -> None:
    robot = arm_of(tmp_path, base="post").robot
    assert robot.joints == 3
    model = pin.buildModelFromXML(ARM)
    data = model.createData()
    q = np.array([0.3, -0.4, 0.1])
    theirs = pin.rnea(model, data, np.array([1, 0, *q, 0]), np.zeros(5), np.zeros(5))
    assert np.allclose(inverse_dynamics(robot, q, 0, 0), theirs[1:4], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("angle", "asked", "found"),
    [
        ("1.5708", False, 1.5708),
        ("1.5708", True, math.pi / 2),
        ("1.570796326795", False, math.pi / 2),
        ("1.571", True, 1.571),
    ],
)
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


def test_without_a_tip_the_only_arm_is_meant_and_its_last_link(tmp_path: Path) -> None:
    text = re.sub('<joint name="grip".*?</joint>', "", ARM).replace('"finger"', '"tool1"')
    text = text.replace("</robot>", joint("more", "fixed", "rail tool1", "0 0 0") + "</robot>")
    assert arm_of(tmp_path, text, tip=None).chain.tips == ("rail",)
    only = re.sub('<joint name="more".*?</joint>|<link name="tool1">.*?</link>', "", text)
    assert arm_of(tmp_path, only, tip=None).chain.tips == ("tool0",)


def test_of_several_arms_the_leaves_are_listed(tmp_path: Path) -> None:
    thumb = '<link name="thumb"/>' + joint("pinch", "prismatic", "rail thumb", "0 0 0", more=LIMIT)
    with pytest.raises(UsageError, match=r"say with --tip .* leaves are tool0, finger, thumb$"):
        arm_of(tmp_path, ARM.replace("</robot>", thumb + "</robot>"), tip=None)


def test_the_longest_arm_is_meant_and_the_leaves_on_its_way_are_named(tmp_path: Path) -> None:
    arm = arm_of(tmp_path, tip=None)
    assert arm.chain.tips == ("finger",)
    assert arm.notes[0].startswith("the arm ends in finger; --tip may say another")


@pytest.mark.parametrize(
    ("base", "tip", "message"),
    [
        (None, "tol0", r"no link is called 'tol0' \(did you mean 'tool0'\?\)"),
        ("upper", "post", r"'post' does not hang on 'upper': it hangs on foot, world"),
        ("rail", "tool0", r"no joint moves between 'rail' and 'tool0'"),
    ],
)
def test_ends_that_make_no_arm_are_refused(
    tmp_path: Path, base: str | None, tip: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        arm_of(tmp_path, base=base, tip=tip)


MISTAKES = [
    (
        '<link name="finger">',
        '<link name="f"/><link name="finger">',
        r":11: .*: no joint moves it, nor",
    ),
    ("<robot name", "<model name", r"arm.urdf:20: not XML: mismatched tag"),
    ("</robot>", "", r"arm.urdf:20: not XML: no element found"),
    (
        '<?xml version="1.0"?>',
        "<!DOCTYPE robot [<!ENTITY a 'b'>]>",
        r":1: a document type .* not read",
    ),
    (
        'type="continuous"',
        'type="continous"',
        r":13: <joint name=\"waist\">: unknown type 'continous' \(did",
    ),
    (
        'type="continuous"',
        'type="floating"',
        r":13: .*a floating joint between world and tool0: no arm",
    ),
    (
        'parent link="post"',
        'parent link="past"',
        r":14: <parent>: no link is called 'past' \(did you mean",
    ),
    ('<parent link="post"/>', "", r":14: <joint name=\"shoulder\">: <parent link=…> is missing"),
    ('child link="upper"', 'child link="post"', r"link 'post' is moved by joint 'waist' already"),
    (
        'child link="foot"',
        'child link="world"',
        r":3: <link name=\"world\">: the joints above it go",
    ),
    (
        'link name="post"',
        'link name="foot"',
        r":5: <link name=\"foot\">: a second link of this name",
    ),
    ('<mass value="4"/>', '<mass value="-4"/>', r":4: <mass>: value must not be negative, not -4"),
    (
        '<mass value="4"/>',
        '<mass value="4 kg"/>',
        r":4: <mass>: value must be a number, not '4 kg'",
    ),
    ('<mass value="4"/>', "", r":4: <inertial>: <mass value=…> is missing"),
    (
        '<mass value="3"/>',
        '<mass value="1e9"/>',
        r":5: <mass>: value must be from -1e\+07 to 1e\+07 kg",
    ),
    ('"1 -2 3"', '"0 0 0"', r":16: <axis>: xyz must not be zero: give its direction"),
    ('"1 -2 3"', '"1 -2"', r":16: <axis>: xyz must be three numbers, not '1 -2'"),
    ('"1 -2 3"', '"1 -2 nan"', r":16: <axis>: xyz must be finite, not 'nan'"),
    ('lower="-2.1"', 'lower="2.1"', r":14: <limit>: lower, 2.1, is above upper, 1.4"),
    (
        'lower="0" upper="0.3"',
        "",
        r":17: <joint name=\"slide\">: it has no limits of its position: say how far",
    ),
    ('joint name="waist"', 'joint name="wai&#10;st"', r":13: .*holds characters that cannot be"),
    (LIMIT, "", r":14: <joint name=\"shoulder\">: <limit> is missing: where it may go"),
    (LIMIT, LIMIT + '<mimic joint="waist"/>', r":14: .*it mimics joint 'waist': arms whose joints"),
    (LIMIT, LIMIT + LIMIT, r":14: <limit>: a second <limit> in <joint>"),
    ('damping="0.1"', 'damping="-1"', r":13: <dynamics>: damping must not be negative, not -1"),
    ("0.02", "-0.9", r"<joint name=\"\w+\">: the inertia of what it moves is not positive semidef"),
    (
        'name="stand"',
        'name="waist"',
        r":13: <joint name=\"waist\">: a second joint of this name; .* 12",
    ),
    ('link name="tool0"', "link", r":10: <link>: name is missing"),
    ('  <link name="world"/>', "<xacro:arm/>", r"not XML|this is a xacro file: run xacro first"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_are_named_with_line_and_element(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in ARM
    with pytest.raises(DataError, match=message):
        arm_of(tmp_path, ARM.replace(old, new) if old == "0.02" else ARM.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not XML: no element found"),
        ("<html/>", "arm.urdf:1: <html>: no robot: it begins with <robot> in URDF, <sdf> in"),
        ("<robot/>", "a robot needs at least one <link>"),
        ("<a>" * 70 + "</a>" * 70, "nested more than 64 deep"),
        ("<robot>" + "<a/>" * 20_001 + "</robot>", "more than 20000 elements"),
        ("<robot>&lol;</robot>", "not XML: undefined entity"),
    ],
)
def test_what_is_no_urdf_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        arm_of(tmp_path, text)


def test_a_circle_of_joints_is_refused(tmp_path: Path) -> None:
    text = ARM.replace("</robot>", joint("round", "fixed", "tool0 world", "0 0 0") + "</robot>")
    with pytest.raises(DataError, match="the joints go round in a circle"):
        arm_of(tmp_path, text)


def test_a_file_too_large_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xmltext, "MOST_BYTES", 100)
    with pytest.raises(DataError, match="too large: at most 100 bytes are read"):
        arm_of(tmp_path)


@pytest.mark.slow
def test_damaged_files_get_sentences(tmp_path: Path) -> None:
    rng, read = random.Random(1988), 0  # noqa: S311 (nothing secret)
    refused = []
    for _ in range(150):
        (tmp_path / "arm.urdf").write_bytes(damaged(rng).encode(errors="surrogatepass"))
        try:
            robot = load_urdf(tmp_path / "arm.urdf", tip="tool0").robot
        except BoolcompError as error:
            refused.append(str(error))
            continue
        read += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            assert parse_robot(str(robot)) == robot
    assert all("arm.urdf" in message for message in refused)
    assert min(read, len(refused)) > 10


@pytest.mark.slow
def test_a_urdf_becomes_a_robot_file_that_holds_the_same_robot(
    run: Callable[..., Result],
) -> None:
    Path("arm.urdf").write_text(ARM)
    result = run("robots", "arm.urdf", "--tip", "tool0", "-o", "arm.toml")
    assert (result.code, result.out) == (0, "")
    assert "warning: arm.urdf#..tool0: accelerations are proposed" in result.err
    text = Path("arm.toml").read_text()
    assert "# 'shoulder', revolute: 'post' to 'upper'\n[[joint]]\n" in text
    with pytest.warns(DataWarning):
        assert load_robot("arm.toml") == load_robot("arm.urdf#tool0")


@pytest.mark.slow
def test_json_says_where_a_general_frame_lies(run: Callable[..., Result]) -> None:
    Path("arm.urdf").write_text(ARM)
    document = json.loads(run("robots", "arm.urdf", "--tip=tool0", "--json").out)["robots"][0]
    shoulder = document["joints"][1]
    assert (shoulder["a"], shoulder["origin"], shoulder["axis"]) == (None, [0, 0.1, 0.2], [0, 1, 0])
    assert document["tool_origin"] == [0, 0, 0.1]


@pytest.mark.parametrize("command", ["plan", "terms", "evaluate", "robots"])
def test_commands_take_a_base_and_a_tip(run: Callable[..., Result], command: str) -> None:
    Path("arm.urdf").write_text(ARM)
    Path("states.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,0,0,0\n")
    more = ("-i", "states.csv") if command == "evaluate" else ()
    result = run(command, "arm.urdf", "--base", "bracket", "--tip", "tool0", *more)
    assert result.code == 0, result.err
    assert run(command, "machado-2r", "--tip", "tool0", *more).code == 2


@pytest.mark.check
@pytest.mark.parametrize("mode", ["compact", "paper"])
def test_three_joints_of_a_urdf_compile_from_file_to_torques(
    run: Callable[..., Result], mode: str
) -> None:
    Path("arm.urdf").write_text(THREE)
    few = ("--bits", "5", *(("--effort", "0") if mode == "compact" else ()))
    made = run("compile", "arm.urdf", "--tip", "tool0", "--mode", mode, *few, "-o", "made")
    assert made.code == 0, made.err
    header = ",".join(f"{kind}{k}" for kind in ("q", "qd", "qdd") for k in (1, 2, 3))
    Path("states.csv").write_text(f"{header}\n.5,-.4,1,1,-1,.5,2,-2,3\n")
    found, exact = (
        np.array(run("evaluate", what, "-i", "states.csv").out.split()[1].split(","), float)
        for what in ("made", "arm.urdf#tool0")
    )
    assert (np.abs(found - exact) < 4 * np.array([20, 30, 10]) / 16).all()


THREE = "\n".join([
    '<robot name="three">',
    '<link name="foot"/>',
    f'<link name="a">{body(2, "0 0 0.05", "0.01 0.01 0.01")}</link>',
    f'<link name="b">{body(1.5, "0.15 0 0", "0.01 0.01 0.01")}</link>',
    f'<link name="c">{body(1, "0.1 0 0", "0.01 0.01 0.01")}</link>',
    '<link name="tool0"/>',
    joint("waist", "revolute", "foot a", "0 0 0.2", "0 0 1", LIMIT.replace("40", "20")),
    joint("shoulder", "revolute", "a b", "0 0 0.1", "0 1 0", LIMIT.replace("40", "30")),
    joint("elbow", "revolute", "b c", "0.3 0 0", "0 1 0", LIMIT.replace("40", "10")),
    joint("flange", "fixed", "c tool0", "0.25 0 0"),
    "</robot>",
])  # fmt: skip
