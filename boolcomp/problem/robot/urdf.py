"""URDF files as small values: links with their inertias, joints with their frames and limits.

What does not matter to the dynamics of an arm (pictures, collision shapes, transmissions, Gazebo's
tags) is passed over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import shown, suggestion
from boolcomp.common.text import number
from boolcomp.problem.interval import width_problem
from boolcomp.problem.robot import limits
from boolcomp.problem.robot.frames import HERE, Z, squared, unit
from boolcomp.problem.robot.model import Pose
from boolcomp.problem.robot.xmltext import parse_xml

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Inertia, Triple
    from boolcomp.problem.robot.xmltext import Element

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
MOVING = ("revolute", "continuous", "prismatic")
PRINTED = 1e-12  # so near a right angle (or zero) a number of twelve digits was meant as one


@dataclass(frozen=True, slots=True)
class Inertial:
    """A mass and its central inertia, in the axes of a frame that lies so in the link's."""

    pose: Pose
    mass: float
    inertia: Inertia


@dataclass(frozen=True, slots=True)
class Limit:
    """Where a joint may go, how fast, and with what torque (force); None where nothing is said."""

    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None


@dataclass(frozen=True, slots=True)
class UrdfLink:
    """A link: a body, or a frame alone."""

    name: str
    inertial: Inertial | None
    element: Element


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """A joint: where the child's frame lies in the parent's, and how it may move."""

    name: str
    kind: str
    parent: str
    child: str
    pose: Pose
    axis: Triple
    limit: Limit
    damping: float
    friction: float
    mimics: str | None
    element: Element

    @property
    def moving(self) -> bool:
        """Whether an arm may have it: it turns or slides."""
        return self.kind in MOVING


@dataclass(frozen=True, slots=True)
class Urdf:
    """A tree of links: the joint above each and those below it, by the link's name."""

    name: str
    links: dict[str, UrdfLink]
    above: dict[str, UrdfJoint]
    below: dict[str, list[UrdfJoint]]
    root: str
    element: Element


def parse_urdf(text: str, where: str = "urdf") -> Urdf:
    """Read a URDF; every mistake is a `DataError` that names line and element."""
    top = parse_xml(text, where)
    if top.tag != "robot":
        top.fail("no URDF: its outermost element is <robot>")
    if _find(top, "xacro:"):
        top.fail("this is a xacro file: run xacro first, and give what it writes")
    links: dict[str, UrdfLink] = {}
    for element in top.all("link"):
        name = _name(element)
        if name in links:
            element.fail(f"a second link of this name; the first is in {_line(links[name])}")
        links[name] = UrdfLink(name, _inertial(element), element)
    if not links:
        top.fail("a robot needs at least one <link>")
    above: dict[str, UrdfJoint] = {}
    names: dict[str, UrdfJoint] = {}
    for element in top.all("joint"):
        joint = _joint(element, links)
        if joint.name in names:
            element.fail(f"a second joint of this name; the first is in {_line(names[joint.name])}")
        if joint.child in above:
            other = above[joint.child].name
            element.fail(f"link {shown(joint.child)} is moved by joint {shown(other)} already")
        above[joint.child] = names[joint.name] = joint
    below: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    for joint in above.values():
        below[joint.parent].append(joint)
    root = _root(top, links, above, below)
    return Urdf(top.attributes.get("name", ""), links, above, below, root, top)


def _find(element: Element, prefix: str) -> bool:
    return any(child.tag.startswith(prefix) or _find(child, prefix) for child in element.children)


def _line(value: UrdfLink | UrdfJoint) -> str:
    return f"line {value.element.line}"


def _root(
    top: Element,
    links: dict[str, UrdfLink],
    above: dict[str, UrdfJoint],
    below: dict[str, list[UrdfJoint]],
) -> str:
    roots = [name for name in links if name not in above]
    if not roots:
        top.fail("every link is moved by a joint: the joints go round in a circle")
    if len(roots) > 1:
        links[roots[1]].element.fail(
            f"no joint moves it, nor link {shown(roots[0])}: one link alone can be the root"
        )
    todo, left = [roots[0]], dict(links)
    while todo:
        del left[link := todo.pop()]
        todo += [joint.child for joint in below[link]]
    for lost in left.values():
        lost.element.fail("the joints above it go round in a circle")
    return roots[0]


def _joint(element: Element, links: dict[str, UrdfLink]) -> UrdfJoint:
    name, kind = _name(element), element.attributes.get("type", "")
    if kind not in KINDS:
        hint = suggestion(kind, KINDS) or f" (allowed: {', '.join(KINDS)})"
        element.fail(f"unknown type {shown(kind)}{hint}")
    dynamics, mimic = element.one("dynamics"), element.one("mimic")
    return UrdfJoint(
        name=name,
        kind=kind,
        parent=_end(element, "parent", links),
        child=_end(element, "child", links),
        pose=_pose(element),
        axis=_axis(element),
        limit=_limit(element, kind),
        damping=_positive(dynamics, "damping", "viscous_friction"),
        friction=_positive(dynamics, "friction", "coulomb_friction"),
        mimics=None if mimic is None else mimic.attributes.get("joint", ""),
        element=element,
    )


def _end(element: Element, tag: str, links: dict[str, UrdfLink]) -> str:
    end = element.one(tag)
    if end is None:
        element.fail(f"<{tag} link=…> is missing")
    name = end.attributes.get("link")
    if name is None:
        end.fail("link is missing: the name of a link")
    if name not in links:
        end.fail(f"no link is called {shown(name)}{suggestion(name, links)}")
    return name


def _name(element: Element) -> str:
    name = element.attributes.get("name", "")
    if not name:
        element.fail("name is missing")
    if not name.isprintable():  # it will stand in comments
        element.fail(f"name {shown(name)} holds characters that cannot be printed")
    return name


def _inertial(link: Element) -> Inertial | None:
    element = link.one("inertial")
    if element is None:
        return None
    mass, inertia = element.one("mass"), element.one("inertia")
    if mass is None:
        element.fail("<mass value=…> is missing")
    value = _number(mass, "value", "mass")
    if value < 0:
        mass.fail(f"value must not be negative, not {number(value)}")
    keys = ("ixx", "iyy", "izz", "ixy", "iyz", "ixz")
    xx, yy, zz, xy, yz, xz = (
        0.0 if inertia is None else _number(inertia, key, "inertia", 0.0) for key in keys
    )
    return Inertial(_pose(element), value, (xx, yy, zz, xy, yz, xz))


def _pose(element: Element) -> Pose:
    origin = element.one("origin")
    if origin is None:
        return HERE
    pose = Pose(_triple(origin, "xyz", "origin"), _triple(origin, "rpy", "rotation"))
    return squared(pose, PRINTED)


def _axis(element: Element) -> Triple:
    axis = element.one("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)  # URDF's own default
    given = _triple(axis, "xyz", "axis", "1 0 0")
    if not any(given):
        if element.attributes.get("type") not in MOVING:
            return Z  # written, and never read
        axis.fail("xyz must not be zero: give its direction, such as 0 0 1")
    x, y, z = (0.0 if abs(part) < PRINTED else part for part in unit(given))
    return unit((x, y, z))


def _limit(element: Element, kind: str) -> Limit:
    limit = element.one("limit")
    if limit is None:
        if kind == "revolute":
            element.fail("<limit> is missing: where it may go (continuous joints need none)")
        return Limit(None, None, None, None)
    turning = kind != "prismatic"
    velocity, effort = (
        _size(limit, key, meant, revolute=turning)
        for key, meant in (("velocity", "velocity_range"), ("effort", "torque_range"))
    )
    if kind == "continuous" or not {"lower", "upper"} & set(limit.attributes):
        return Limit(None, None, velocity, effort)
    lower, upper = (_number(limit, key, None, 0.0) for key in ("lower", "upper"))
    if kind in MOVING and lower > upper:
        limit.fail(f"lower, {number(lower)}, is above upper, {number(upper)}")
    return Limit(lower, upper, velocity, effort)


def _size(element: Element, key: str, meant: str, *, revolute: bool) -> float | None:
    """Return a limit's size; zero, nothing or more than any arm has says that there is none."""
    value = abs(_number(element, key, None, 0.0))
    unheard = width_problem(-value, value) or limits.size_problem(meant, value, revolute=revolute)
    return None if unheard else value


def _positive(element: Element | None, key: str, meant: str) -> float:
    value = 0.0 if element is None else _number(element, key, meant, 0.0)
    if value < 0 and element is not None:
        element.fail(f"{key} must not be negative, not {number(value)}")
    return value


def _triple(element: Element, key: str, meant: str, default: str = "0 0 0") -> Triple:
    words = element.attributes.get(key, default).split()
    if len(words) != 3:
        element.fail(f"{key} must be three numbers, not {shown(element.attributes[key])}")
    x, y, z = (_value(element, key, meant, word) for word in words)
    return (x, y, z)


def _number(element: Element, key: str, meant: str | None, default: float | None = None) -> float:
    """Return a number of an element; `meant` is the key whose limits it has to keep."""
    text = element.attributes.get(key)
    if text is None:
        if default is None:
            element.fail(f"{key} is missing")
        return default
    return _value(element, key, meant, text)


def _value(element: Element, key: str, meant: str | None, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        element.fail(f"{key} must be a number, not {shown(text)}")
    if math.isnan(value) or (meant and math.isinf(value)):
        element.fail(f"{key} must be finite, not {shown(text)}")
    if meant and (problem := limits.size_problem(meant, value, revolute=True)):
        element.fail(f"{key} {problem}")
    return value
