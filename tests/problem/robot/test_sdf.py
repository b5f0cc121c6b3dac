"""SDF files: random arms written as such by Pinocchio's poses, and read; mistakes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import after_joint, placed
from samples import branched_robot, random_states
from sdf_texts import ARM, BODY

import boolcomp as bc
from boolcomp.problem import Interval, Link, Pose, Robot, load_urdf


def arm_of(folder: Path, text: str, tip: str | Sequence[str] | None = None) -> Any:
    path = folder / "arm.sdf"
    path.write_text(text)
    return load_urdf(path, tip=tip)


def words(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def pose_text(place: Any, upon: str = "") -> str:
    """Return a pose as roll, pitch and yaw, or as a quaternion where it lies in something."""
    relative = f' relative_to="{upon}"' if upon else ""
    if upon:
        numbers = words([*place.translation, *pin.Quaternion(place.rotation).coeffs()])
        return f'<pose{relative} rotation_format="quat_xyzw">{numbers}</pose>'
    return f"<pose>{words([*place.translation, *pin.rpy.matrixToRpy(place.rotation)])}</pose>"


def body_text(link: Link, inside: Any) -> str:
    place = inside * pin.SE3(np.eye(3), np.array(link.center_of_mass))
    xx, yy, zz, xy, yz, xz = link.inertia
    moments = {"ixx": xx, "iyy": yy, "izz": zz, "ixy": xy, "iyz": yz, "ixz": xz}
    entries = "".join(f"<{key}>{value!r}</{key}>" for key, value in moments.items())
    inertia = f"<mass>{link.mass!r}</mass><inertia>{entries}</inertia>"
    return f"<inertial>{pose_text(place)}{inertia}</inertial>"


def sdf_of(robot: Robot, seed: int) -> str:
    """Write an arm in general frames as SDF: links lie anywhere, in the model or in one another."""
    rng = np.random.default_rng(seed)
    assert robot.base is not None
    at_zero, lies, parts = [pin.SE3.Identity()], [pin.SE3.Identity()], []
    model = placed(robot.base)
    for k, (link, before) in enumerate(zip(robot.links, robot.parents, strict=True), 1):
        assert link.pose is not None
        here = at_zero[before] * placed(link.pose)  # where the joint is, in the model
        offset = pin.SE3.Random() if rng.uniform() < 2 / 3 else pin.SE3.Identity()
        own = here * offset
        at_zero.append(here)
        lies.append(own)
        upon = int(rng.integers(k)) if rng.uniform() < 1 / 2 else 0
        shown = pose_text(lies[upon].inverse() * own, f"link{upon}") if upon else pose_text(own)
        parts.append(f'<link name="link{k}">{shown}{body_text(link, offset.inverse())}</link>')
        inside = pose_text(offset.inverse())
        axis = f"<xyz>{words(link.axis)}</xyz>"
        if rng.uniform() < 1 / 2:
            turned = here.rotation @ np.array(link.axis)
            axis = f'<xyz expressed_in="__model__">{words(turned)}</xyz>'
        kind = "revolute" if link.revolute else "prismatic"
        limit = "<limit><lower>-1</lower><upper>1</upper></limit>"
        parent = f"link{before}" if before else "world"
        if parent == "world":  # which the model's own pose does not move
            parent = "foot"
        parts.append(
            f'<joint name="joint{k}" type="{kind}">{inside}<parent>{parent}</parent>'
            f"<child>link{k}</child><axis>{axis}{limit}</axis></joint>"
        )
    still = f"<inertial><mass>1</mass><inertia>{'<ixx>1</ixx><iyy>1</iyy><izz>1</izz>'}</inertia>"
    gravity = f"<gravity>{words(robot.gravity)}</gravity>"
    foot = f'<link name="foot">{still}</inertial></link>'
    return (
        f'<sdf version="1.9"><world name="w">{gravity}<model name="arm">{pose_text(model)}{foot}'
        f"{''.join(parts)}</model></world></sdf>"
    )


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_written_as_sdf_have_the_torques_that_they_had(
    tmp_path: Path, seed: int
) -> None:
    made = branched_robot(seed, 5)
    links = [
        replace(
            link, a=0.0, alpha=0.0, d=0.0, theta=0.0, rotor_inertia=0.0, gear_ratio=1.0,
            pose=link.pose or Pose((link.a, 0.1, link.d), (0.3, link.theta, link.alpha)),
        )
        for link in made.links
    ]  # fmt: skip
    robot = replace(made, links=tuple(links), tool=None)
    pin.seed(seed)
    tips = [f"link{k}" for k in range(1, 6) if k not in robot.parents]
    arm = arm_of(tmp_path, sdf_of(robot, seed), tips)
    order = [int(joint.name.removeprefix("joint")) - 1 for joint in arm.chain.joints]
    q, qd, qdd = random_states(robot, 20, seed)
    expected = bc.inverse_dynamics(robot, q, qd, qdd)[:, order]
    found = bc.inverse_dynamics(arm.robot, q[:, order], qd[:, order], qdd[:, order])
    assert np.allclose(found, expected, rtol=0, atol=1e-11 * (1 + np.abs(expected).max()))
    assert after_joint(arm.robot.links[0]).isIdentity()


def test_joints_have_the_ranges_and_rotors_of_the_file(tmp_path: Path) -> None:
    arm = arm_of(tmp_path, ARM)
    turn, slide = arm.robot.links
    assert (turn.type, turn.position) == ("revolute", Interval(-math.pi, math.pi))
    assert (slide.position, slide.velocity) == (Interval(0.0, 0.2), Interval(-2.0, 2.0))
    assert slide.torque == Interval(-30.0, 30.0)
    assert slide.joint_inertia == pytest.approx(0.1, rel=1e-15)
    # The file's friction is felt at the joint, a robot's is at the motor's shaft.
    assert slide.viscous_friction * slide.gear_ratio**2 == pytest.approx(0.4, rel=1e-15)
    assert slide.coulomb_friction[0] * slide.gear_ratio == pytest.approx(0.2, rel=1e-15)
    notes = "; ".join(arm.notes)
    assert "torque ranges are proposed for turn:" in notes
    assert "slide has a rotor inertia of 0.001 at a gear ratio of 10, from <drake:rotor" in notes


MISTAKES = [
    ('version="1.9"', 'version="1.4"', r"arm\.sdf:2: <sdf>: version must be 1\.5 or"),
    ("</model>", '</model><model name="b"/>', r"<sdf>: it must hold one <model>, not 2"),
    ("<frame", "<include/><frame", r":6: <include>: models in models are not read"),
    ('type="revolute"', 'type="revolut"', ":7: .*: unknown type 'revolut'; did you mean 'revolu"),
    ('type="revolute"', 'type="universal"', r":7: .*: a universal joint between foot and two: no"),
    ("<child>one", "<child>on", r":7: .*: no link is called 'on'; did you"),
    ('relative_to="foot"', 'relative_to="fot"', r":7: .*: no link, joint or frame is called 'fot'"),
    ('relative_to="foot"', 'relative_to="one"', r"<\w+ name=\"\w+\">: its pose is relative to it"),
    ('attached_to="one"', "", ":6: .*: attached_to is missing"),
    ('attached_to="one"', 'attached_to="mount"', r":6: .*: it is attached to itself"),
    ("<xyz>1 0 0</xyz>", "<xyz>0 0 0</xyz>", r":10: <xyz>: its text must not be zero"),
    ("<xyz>1 0 0</xyz>", "<xyz>1 0</xyz>", r":10: <xyz>: its text must be three numbers, not '1 "),
    ("<upper>0.2</upper>", "<upper>-1</upper>", r":10: <limit>: lower, 0, is above upper, -1"),
    ("<upper>0.2<", "<upper>0<", r"equal lower and upper limits .*give them"),
    ("<upper>0.2</upper>", "", ":9: .*it has no limits of its position; give them"),
    ("<damping>0.4", "<damping>-1", r":11: <damping>: its text must not be negative, not -1"),
    ("0 0 1 0 0 0</pose>", "0 0 1</pose>", r":7: <pose>: its text must be 6 numbers, not '0 0 1'"),
    (f'"/>{BODY}', '"/>', r":4: <link name=\"one\">: <inertial> is missing \(the default is 1 kg"),
    (">10<", ">0<", r":9: <joint name=\"slide\">: the gear ratio must not be zero"),
    ('frame name="mount"', 'frame name="two"', r":6: .*: its name is also that of <link name="),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_are_named_with_line_and_element(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in ARM
    with pytest.raises(bc.DataError, match=message):
        arm_of(tmp_path, ARM.replace(old, new, 1))
