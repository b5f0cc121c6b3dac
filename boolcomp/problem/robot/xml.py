"""XML elements with their line numbers, checked values of them, and URDF read to a tree of links.

Parts of a URDF without effect on the dynamics (pictures, collision shapes, Gazebo's tags) are
ignored. URDF has no rotors, but common extensions are read: an `armature` of <dynamics>, and the
rotor inertia and gear ratio of the only actuator of a transmission.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from xml.parsers import expat

from boolcomp.base.errors import DataError, listing, number, shown, suggestion
from boolcomp.problem.robot import model
from boolcomp.problem.robot.model import HERE, Pose, Z, snapped, unit
from boolcomp.problem.robot.tree import (
    MOVING,
    Drive,
    Element,
    Inertial,
    Limit,
    TreeJoint,
    TreeLink,
    links_of,
    tree_of,
)
from boolcomp.problem.words import width_problem

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Triple
    from boolcomp.problem.robot.tree import LinkTree


# --------------------------------------------------------------------------------------------------
# XML as elements with line numbers: without entities and document types, limited in size.
# --------------------------------------------------------------------------------------------------

MOST_BYTES = 1 << 23
MOST_ELEMENTS = 20_000
MOST_DEPTH = 64
MOST_TEXT = 4096  # characters of an element's text that are kept


def parse_xml(text: str, where: str) -> Element:
    """Parse an XML text and return its outermost element."""
    if len(text) > MOST_BYTES:
        raise DataError(f"{where}: too large: at most {MOST_BYTES} characters are read")
    reader = _XmlReader(where)
    try:
        reader.parser.Parse(text, True)  # noqa: FBT003 (the interface of expat)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise DataError(f"{where}:{error.lineno}: not XML: {problem}") from error
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: not XML: an invalid character") from error
    assert reader.root is not None  # noqa: S101 (expat has refused an empty document)
    return reader.root


class _XmlReader:
    """The callbacks of an expat parser, which build the elements."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.root: Element | None = None
        self.count = 0
        self.open: list[Element] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.document_type

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        element = Element(tag, attributes, self.where, self.parser.CurrentLineNumber)
        if self.count > MOST_ELEMENTS:
            element.fail(f"more than {MOST_ELEMENTS} elements")
        if len(self.open) >= MOST_DEPTH:
            element.fail(f"elements nested more than {MOST_DEPTH} deep")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        del tag
        self.open.pop()

    def characters(self, data: str) -> None:
        inner = self.open[-1]
        if len(inner.text) < MOST_TEXT:
            inner.text += data

    def document_type(self, *_: object) -> None:
        raise DataError(
            f"{self.where}:{self.parser.CurrentLineNumber}: a document type (<!DOCTYPE …>) is not "
            "read: remove that line and its entities"
        )


# --------------------------------------------------------------------------------------------------
# Names and numbers of XML elements, checked: every error names line and element.
#
# `meant` is the key of robot files whose limits apply to a number; without one it may be infinite.
# A key is an attribute's name, or `TEXT` for the text between an element's tags.
# --------------------------------------------------------------------------------------------------

TEXT = "its text"
PRINTED = 1e-12  # numbers that differ less from a right angle (or zero) were printed with 12 digits


def name_of(element: Element, default: str = "") -> str:
    """Return an element's name, which must be printable."""
    name = element.attributes.get("name", default)
    if not name:
        element.fail("name is missing")
    if not name.isprintable():
        element.fail(f"name {shown(name)} holds characters that cannot be printed")
    return name


def kind_of(element: Element, kind: str, allowed: tuple[str, ...]) -> str:
    """Return the kind of an element, which must be allowed."""
    if kind not in allowed:
        hint = suggestion(kind, allowed) or f" (allowed: {listing(allowed)})"
        element.fail(f"unknown type {shown(kind)}{hint}")
    return kind


def numbers_of(
    element: Element, key: str, counts: tuple[int, ...], meant: str | None, default: str = ""
) -> list[float]:
    """Return numbers separated by spaces; their count must be one of `counts`."""
    text = element.text if key == TEXT else element.attributes.get(key, default)
    if key != TEXT and key not in element.attributes and not default:
        element.fail(f"{key} is missing")
    words = text.split()
    if len(words) not in counts:
        names = {1: "a number", 2: "two numbers", 3: "three numbers"}
        allowed = " or ".join(names.get(count, f"{count} numbers") for count in counts)
        element.fail(f"{key} must be {allowed}, not {shown(text)}")
    return [_value(element, key, meant, word) for word in words]


def triple_of(element: Element, key: str, meant: str, default: str = "0 0 0") -> Triple:
    """Return three numbers of an element."""
    x, y, z = numbers_of(element, key, (3,), meant, default)
    return (x, y, z)


def number_of(element: Element, key: str, meant: str | None, default: float | None = None) -> float:
    """Return a number of an element."""
    if default is not None and key != TEXT and key not in element.attributes:
        return default
    text = element.text.strip() if key == TEXT else element.attributes.get(key)
    if text is None:
        element.fail(f"{key} is missing")
    return _value(element, key, meant, text)


def positive_of(element: Element | None, key: str, meant: str) -> float:
    """Return a number that must not be negative; 0 if it is missing."""
    value = 0.0 if element is None else number_of(element, key, meant, 0.0)
    if value < 0 and element is not None:
        element.fail(f"{key} must not be negative, not {number(value)}")
    return value


def axis_of(element: Element, key: str, default: str) -> Triple:
    """Return a direction, scaled to length one; components that are nearly zero are zero."""
    given = triple_of(element, key, "axis", default)
    if not any(given):
        element.fail(f"{key} must not be zero: give its direction, such as 0 0 1")
    x, y, z = (0.0 if abs(part) < PRINTED else part for part in unit(given))
    return unit((x, y, z))


def limit_size(value: float, meant: str, *, revolute: bool) -> float | None:
    """Return the absolute value of a limit; None if it is too small or too large for an arm."""
    size = abs(value)
    invalid = width_problem(-size, size) or model.size_problem(meant, size, revolute=revolute)
    return None if invalid else size


def _value(element: Element, key: str, meant: str | None, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        element.fail(f"{key} must be a number, not {shown(text)}")
    if math.isnan(value) or (meant and math.isinf(value)):
        element.fail(f"{key} must be finite, not {shown(text)}")
    if meant and (problem := model.size_problem(meant, value, revolute=True)):
        element.fail(f"{key} {problem}")
    return value


# --------------------------------------------------------------------------------------------------
# URDF.
# --------------------------------------------------------------------------------------------------

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
ROTORS = ("drake:rotor_inertia", "rotorInertia", "rotor_inertia", "motorInertia", "motor_inertia")
GEARS = (
    "drake:gear_ratio", "gearRatio", "gear_ratio", "mechanicalReduction", "mechanical_reduction",
)  # fmt: skip


def read_urdf(top: Element) -> LinkTree:
    """Return the tree of a URDF, given its outermost element."""
    if top.tag != "robot":
        top.fail("no URDF: its outermost element is <robot>")
    if _find(top, "xacro:"):
        top.fail("this is a xacro file: run xacro first, and give its output")
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
    name, kind = name_of(element), kind_of(element, element.attributes.get("type", ""), KINDS)
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
    """Return rotor inertias and gear ratios by joint, from transmissions with one actuator."""
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
    """Return the number in the first child with one of these tags: its text or its `value`."""
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
    return snapped(pose, PRINTED)


def _axis(element: Element) -> Triple:
    axis = element.one("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)  # URDF's own default
    if element.attributes.get("type") not in MOVING:
        triple_of(axis, "xyz", "axis", "1 0 0")
        return Z  # not used
    return axis_of(axis, "xyz", "1 0 0")


def _limit(element: Element, kind: str) -> Limit:
    limit = element.one("limit")
    if limit is None:
        if kind == "revolute":
            element.fail("<limit> is missing (continuous joints need none)")
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
