"""MJCF files: the arm that they hold, against Pinocchio's reader, and the sentence of mistakes."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mjcf_texts import ARM

import boolcomp as bc
from boolcomp.problem import Interval, load_urdf


def arm_of(folder: Path, text: str = ARM, base: str | None = None, tip: str = "tool0") -> Any:
    path = folder / "arm.xml"
    path.write_text(text)
    return load_urdf(path, base, tip)


def states(joints: int, count: int = 50) -> np.ndarray:
    return np.random.default_rng(joints).uniform(-2, 2, (3, count, joints))


REFERENCES = ARM.replace('name="shoulder"', 'name="shoulder" ref="30"').replace(
    'name="twist"', 'name="twist" ref="0.05"'
)


@pytest.mark.parametrize("text", [
    ARM,
    ARM.replace('eulerseq="xyz"', 'eulerseq="XzY"'),
    ARM.replace('angle="degree"', 'angle="radian"'),
    REFERENCES,
], ids=["as it is", "another eulerseq", "radians", "references"])  # fmt: skip
def test_arms_agree_with_mujoco_where_it_is_installed(tmp_path: Path, text: str) -> None:
    mujoco: Any = pytest.importorskip("mujoco")
    ours = bc.inverse_dynamics(arm_of(tmp_path, text).robot, *states(4))
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.dof_damping[:] = 0
    data = mujoco.MjData(model)
    for torque, q, qd, qdd in zip(ours, *states(4), strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        assert np.allclose(data.qfrc_inverse, torque, rtol=0, atol=1e-10 * np.abs(ours).max())


def test_joints_have_the_ranges_and_motors_of_the_file(tmp_path: Path) -> None:
    waist, shoulder, twist, elbow = arm_of(tmp_path).robot.links
    assert waist.position == Interval(-math.pi, math.pi)
    assert shoulder.position == Interval(math.radians(-90), math.radians(60))
    assert (twist.type, twist.position) == ("prismatic", Interval(-0.1, 0.3))
    assert [x.torque.high for x in (waist, shoulder, twist, elbow)] == [400.0, 40.0, 80.0, 30.0]
    assert [x.joint_inertia for x in (waist, shoulder, twist)] == [0.02, 0.02, 0.005]
    assert (waist.viscous_friction, waist.coulomb_friction) == (0.1, (0.0, 0.0))
    assert (elbow.viscous_friction, elbow.coulomb_friction) == (0.3, (0.05, 0.05))


def test_a_joint_drawn_at_its_reference_stands_there(tmp_path: Path) -> None:
    """A shift of what a joint counts from shifts its torques, and nothing else."""
    q, qd, qdd = states(4)
    shifted = bc.inverse_dynamics(arm_of(tmp_path, REFERENCES).robot, q, qd, qdd)
    back = q - np.array([0.0, math.radians(30), 0.05, 0.0])
    expected = bc.inverse_dynamics(arm_of(tmp_path).robot, back, qd, qdd)
    assert np.allclose(shifted, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_gravity_is_that_of_the_file_in_the_frame_of_the_base(tmp_path: Path) -> None:
    assert arm_of(tmp_path).robot.gravity == (0.0, 1.0, -9.81)
    still = ARM.replace("<option gravity", '<option><flag gravity="disable"/></option><option x')
    assert arm_of(tmp_path, still).robot.gravity == (0.0, 0.0, 0.0)
    yaw = 2 * math.atan2(0.6, 0.8)
    for quaternion in ("0.8 0 0 0.6", "8 0 0 6"):  # of any length
        text = ARM.replace("0.8 0 0 0.6", quaternion)
        turned = arm_of(tmp_path, text, base="foot").robot.gravity
        assert np.allclose(turned, (math.sin(yaw), math.cos(yaw), -9.81), rtol=0, atol=1e-15)


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    text = ARM.replace('name="waist"', 'name="waist" stiffness="3"').replace(
        "<actuator>", '<equality><connect body1="fore" body2="foot"/></equality><actuator>'
    )
    text = text.replace('body name="foot"', 'body name="foot" gravcomp="1"').replace(
        'angle="degree"', 'angle="degree" boundmass="0.1"'
    )
    notes = "; ".join(arm_of(tmp_path, text).notes)
    for said in (
        "springs (stiffness) are left out: of waist",
        "gravcomp is left out: of foot",
        "equality constraints (connect) are left out",
        "the compiler's boundmass are left out",
        "waist has a rotor inertia of 0.02, from its armature",
    ):
        assert said in notes


MISTAKES = [
    ("<worldbody>", '<worldbody><include file="x"/>', ":11: <include>: not read; let MuJoCo exp"),
    ('type="slide"', 'type="slid"', r"unknown type 'slid'; did you mean 'slide'\?"),
    ('type="slide"', 'type="ball"', r"a ball joint between world and tool0: not possible in"),
    ('axis="1 -2 3"', 'axis="0 0 0"', r"<joint name=\"elbow\">: axis must not be zero"),
    ('range="-120 80"', 'range="120 80"', r"elbow.*: range must rise, not go from 2.094"),
    ('range="-120 80"', 'range="-120"', r"elbow.*: range must be two numbers, not '-120'"),
    ('kp="3" class="smaller"', 'class="smaler"', ":39: .*no default class is called 'smaler';"),
    ('<default class="small">', "<default>", r":8: <default>: class is missing"),
    ('euler="10 20 -30"', 'euler="1 2 3" quat="1 0 0 0"', r"post.*: quat, euler say the same"),
    ('quat="0.8 0 0 0.6"', 'quat="0 0 0 0"', r"foot.*: a quaternion must not be zero"),
    ('zaxis="0 -0.2 1"', 'zaxis="0 0 0"', "fore.*: zaxis must not be zero"),
    ('eulerseq="xyz"', 'eulerseq="xyw"', r"<compiler>: eulerseq must be three of x, y, z, not 'x"),
    ('angle="degree"', 'coordinate="global"', r"<compiler>: global coordinates are not read"),
    ('mass="2"', 'mass="-2"', r"<inertial>: mass must not be negative, not -2"),
    ('mass="2"', "", r"<inertial>: mass is missing"),
    ('name="twist"', 'name="shoulder"', r"a second joint of this name; the first is in line 19"),
    ('body name="fore"', 'body name="foot"', r"<body name=\"foot\">: a second link of this name"),
    ('angle="degree"', 'inertiafromgeom="true"', r"upper.*: its inertia is that of its s"),
    ("</actuator>", '</actuator><equality><joint joint1="elbow"/></equality>', r"elbow.*it mimics"),
    ('range="-0.1 0.3"', 'range="0 0"', r"equal lower and upper limits .*give them"),
    ('<inertial pos="0 0.1 0" mass="0.5"', '<geom size="1" mass="1"/><x mass="1"',
     r"bracket.*: its inertia is that of its shapes"),
    (ARM, "<mujoco/>", "a robot needs at least one <body>"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_are_named_with_line_and_element(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in ARM
    with pytest.raises(bc.DataError, match=message):
        arm_of(tmp_path, ARM.replace(old, new, 1))
