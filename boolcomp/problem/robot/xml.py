"""URDF files, read to a tree of links.

What does not matter to the dynamics of an arm (pictures, collision shapes, Gazebo's tags) is
passed over. URDF has no rotors; what files say of them all the same is read: an `armature` of
<dynamics>, and the rotor inertia and gear ratio of the one actuator of a transmission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.errors import number
from boolcomp.common.errors import shown, suggestion
from boolcomp.problem.robot.frames import HERE, Z, squared
from boolcomp.problem.robot.model import Pose
from boolcomp.problem.robot.tree import (
    MOVING,
    Drive,
    Inertial,
    Limit,
    TreeJoint,
    TreeLink,
    links_of,
    tree_of,
)
from boolcomp.problem.robot.xmltext import parse_xml
from boolcomp.problem.robot.xmlvalues import (
    PRINTED,
    TEXT,
    axis_of,
    limit_size,
    name_of,
    number_of,
    positive_of,
    triple_of,
)

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Triple
    from boolcomp.problem.robot.tree import Tree
    from boolcomp.problem.robot.xmltext import Element

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
ROTORS = ("drake:rotor_inertia", "rotorInertia", "rotor_inertia", "motorInertia", "motor_inertia")
GEARS = (
    "drake:gear_ratio", "gearRatio", "gear_ratio", "mechanicalReduction", "mechanical_reduction",
)  # fmt: skip


def parse_urdf(text: str, where: str = "urdf") -> Tree:
    """Read the text of a URDF; every mistake is a `DataError` that names line and element."""
    return read_urdf(parse_xml(text, where))


def read_urdf(top: Element) -> Tree:
    """Return the tree of a URDF, given its outermost element."""
    if top.tag != "robot":
        top.fail("no URDF: its outermost element is <robot>")
    if _find(top, "xacro:"):
        top.fail("this is a xacro file: run xacro first, and give what it writes")
    links = links_of(
        TreeLink(name_of(element), _inertial(element), element) for element in top.all("link")
    )
    if not links:
        top.fail("a robot needs at least one <link>")
    motors = _motors(top)
    joints = [_joint(element, links, motors) for element in top.all("joint")]
    return tree_of(top, top.attributes.get("name", ""), links, joints)


def _find(element: Element, prefix: str) -> bool:
    return any(child.tag.startswith(prefix) or _find(child, prefix) for child in element.children)


def _joint(
    element: Element, links: dict[str, TreeLink], motors: dict[str, tuple[Element, float, float]]
) -> TreeJoint:
    name, kind = name_of(element), element.attributes.get("type", "")
    if kind not in KINDS:
        hint = suggestion(kind, KINDS) or f" (allowed: {', '.join(KINDS)})"
        element.fail(f"unknown type {shown(kind)}{hint}")
    mimic = element.one("mimic")
    return TreeJoint(
        name=name,
        kind=kind,
        parent=_end(element, "parent", links),
        child=_end(element, "child", links),
        pose=_pose(element),
        axis=_axis(element),
        limit=_limit(element, kind),
        drive=_drive(element, motors.get(name)),
        mimics=None if mimic is None else mimic.attributes.get("joint", ""),
        element=element,
    )


def _end(element: Element, tag: str, links: dict[str, TreeLink]) -> str:
    end = element.one(tag)
    if end is None:
        element.fail(f"<{tag} link=…> is missing")
    name = end.attributes.get("link")
    if name is None:
        end.fail("link is missing: the name of a link")
    if name not in links:
        end.fail(f"no link is called {shown(name)}{suggestion(name, links)}")
    return name


def _drive(joint: Element, motor: tuple[Element, float, float] | None) -> Drive:
    dynamics = joint.one("dynamics")
    damping = positive_of(dynamics, "damping", "viscous_friction")
    friction = positive_of(dynamics, "friction", "coulomb_friction")
    armature = positive_of(dynamics, "armature", "rotor_inertia")
    if armature:
        return Drive(damping, friction, armature, 1.0, "<dynamics armature=…>")
    if motor is None:
        return Drive(damping, friction)
    element, inertia, gear = motor
    return Drive(damping, friction, inertia, gear, f"the transmission in line {element.line}")


def _motors(top: Element) -> dict[str, tuple[Element, float, float]]:
    """Return rotor inertias and gear ratios by joint, of transmissions of one actuator each."""
    found: dict[str, tuple[Element, float, float]] = {}
    for transmission in top.all("transmission"):
        joints, actuators = list(transmission.all("joint")), list(transmission.all("actuator"))
        if len(joints) != 1 or len(actuators) != 1:
            continue  # gears that couple joints
        joint = joints[0].attributes.get("name") or joints[0].text.strip()
        places = (actuators[0], transmission, joints[0])
        inertia = _given(places, ROTORS, "rotor_inertia", 0.0)
        if inertia < 0:
            actuators[0].fail(f"the rotor inertia must not be negative, not {number(inertia)}")
        if inertia:
            gear = _given(places, GEARS, "gear_ratio", 1.0)
            if not gear:
                actuators[0].fail("the gear ratio must not be zero")
            found[joint] = (actuators[0], inertia, gear)
    return found


def _given(places: tuple[Element, ...], tags: tuple[str, ...], meant: str, default: float) -> float:
    """Return the first number that one of these elements gives: as its text, or as `value`."""
    for place in places:
        for element in place.children:
            if element.tag in tags:
                key = "value" if "value" in element.attributes else TEXT
                return number_of(element, key, meant)
    return default


def _inertial(link: Element) -> Inertial | None:
    element = link.one("inertial")
    if element is None:
        return None
    mass, inertia = element.one("mass"), element.one("inertia")
    if mass is None:
        element.fail("<mass value=…> is missing")
    value = number_of(mass, "value", "mass")
    if value < 0:
        mass.fail(f"value must not be negative, not {number(value)}")
    keys = ("ixx", "iyy", "izz", "ixy", "iyz", "ixz")
    xx, yy, zz, xy, yz, xz = (
        0.0 if inertia is None else number_of(inertia, key, "inertia", 0.0) for key in keys
    )
    return Inertial(_pose(element), value, (xx, yy, zz, xy, yz, xz))


def _pose(element: Element) -> Pose:
    origin = element.one("origin")
    if origin is None:
        return HERE
    pose = Pose(triple_of(origin, "xyz", "origin"), triple_of(origin, "rpy", "rotation"))
    return squared(pose, PRINTED)


def _axis(element: Element) -> Triple:
    axis = element.one("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)  # URDF's own default
    if element.attributes.get("type") not in MOVING:
        triple_of(axis, "xyz", "axis", "1 0 0")
        return Z  # written, and never read
    return axis_of(axis, "xyz", "1 0 0")


def _limit(element: Element, kind: str) -> Limit:
    limit = element.one("limit")
    if limit is None:
        if kind == "revolute":
            element.fail("<limit> is missing: where it may go (continuous joints need none)")
        return Limit()
    turning = kind != "prismatic"
    velocity, effort = (
        limit_size(number_of(limit, key, None, 0.0), meant, revolute=turning)
        for key, meant in (("velocity", "velocity_range"), ("effort", "torque_range"))
    )
    if kind == "continuous" or not {"lower", "upper"} & set(limit.attributes):
        return Limit(None, None, velocity, effort)
    lower, upper = (number_of(limit, key, None, 0.0) for key in ("lower", "upper"))
    if kind in MOVING and lower > upper:
        limit.fail(f"lower, {number(lower)}, is above upper, {number(upper)}")
    return Limit(lower, upper, velocity, effort)
