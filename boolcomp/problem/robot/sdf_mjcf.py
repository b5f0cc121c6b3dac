"""SDF (SDFormat, the files of Gazebo), read to a tree of links: one model, from version 1.5 on.

Links, joints and frames lie in the model, or in each other as `relative_to` says; a joint by itself
lies in its child. Gravity is the world's, where the model stands in one.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from boolcomp.base.errors import number
from boolcomp.common.errors import listing, shown, suggestion
from boolcomp.problem.robot.frames import (
    HERE,
    about_axis,
    applied,
    composed,
    inverted,
    roll_pitch_yaw,
    rotation_rows,
    squared,
    transposed,
    unit,
)
from boolcomp.problem.robot.model import Pose
from boolcomp.problem.robot.tree import (
    DOWN,
    MOVING,
    Drive,
    Inertial,
    Limit,
    TreeJoint,
    TreeLink,
    links_of,
    tree_of,
)
from boolcomp.problem.robot.xmlvalues import (
    PRINTED,
    TEXT,
    axis_of,
    limit_size,
    name_of,
    number_of,
    numbers_of,
    positive_of,
    triple_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.problem.robot.model import Triple
    from boolcomp.problem.robot.tree import Tree
    from boolcomp.problem.robot.xmltext import Element

SDF_JOINTS = (
    "revolute", "continuous", "prismatic", "fixed", "ball", "screw", "universal", "revolute2",
    "gearbox",
)  # fmt: skip
SDF_WORLD, MODEL = "world", "__model__"
ENDLESS = 1e16  # a limit that SDF gives where there is none
WORLD_GRAVITY = (0.0, 0.0, -9.8)  # of a world that says nothing


def read_sdf(top: Element) -> Tree:
    """Return the tree of the only model of an SDF, given its outermost element."""
    version = re.fullmatch(r"1\.(\d{1,3})", top.attributes.get("version", "").strip())
    if version is None or int(version[1]) < 5:
        top.fail("version must be 1.5 or later: axes stood in other frames before")
    worlds = [top, *top.all("world")]
    models = [(model, place) for place in worlds for model in place.all("model")]
    if len(models) != 1:
        top.fail(f"it must hold one <model>, not {len(models)}")
    model, place = models[0]
    for tag in ("model", "include"):
        for nested in model.all(tag):
            nested.fail("models in models are not read: give one without them")
    gravity = DOWN
    if place.tag == "world":
        element = place.one("gravity")
        gravity = WORLD_GRAVITY if element is None else triple_of(element, TEXT, "gravity")
    return _SdfReader(model).tree(gravity)


class _SdfReader:
    """A model's links, joints and frames, and where they lie."""

    def __init__(self, model: Element) -> None:
        self.model = model
        self.named: dict[str, Element] = {}
        for tag in ("link", "joint", "frame"):
            for element in model.all(tag):
                name = name_of(element)
                if name in self.named and tag != self.named[name].tag:
                    element.fail(f"its name is that of another: {self.named[name].label}")
                self.named.setdefault(name, element)
        if "placement_frame" in model.attributes:
            model.fail("placement_frame is not read: let <pose> place the model")
        self.place = _pose(model)
        self.springs: list[str] = []
        self.known: dict[str, Pose] = {}

    def tree(self, gravity: Triple) -> Tree:
        """Return the tree of links."""
        found = [self.link(element) for element in self.model.all("link")]
        if not found:
            self.model.fail("a robot needs at least one <link>")
        joints = [one for element in self.model.all("joint") for one in self.joint(element)]
        children = {joint.child for joint in joints}
        grounded = any(joint.parent == SDF_WORLD for joint in joints)
        root = next((link.name for link in found if link.name not in children), SDF_WORLD)
        if grounded:
            found.insert(0, TreeLink(SDF_WORLD, None, self.model))
        else:
            turned = rotation_rows(self.lies(root, self.model).rotation)
            gravity = applied(transposed(turned), gravity)
        names = {link.name for link in found}
        inner = [
            TreeLink(joint.child, None, joint.element)
            for joint in joints
            if joint.child not in names
        ]
        notes = [f"springs are left out: of {listing(self.springs)}"] if self.springs else []
        return tree_of(
            self.model, name_of(self.model, "robot"), links_of([*found, *inner]), joints,
            gravity=gravity, notes=notes,
        )  # fmt: skip

    def lies(self, name: str, asking: Element, way: tuple[str, ...] = ()) -> Pose:
        """Return where a link, a joint or a frame lies in the world, all joints at zero."""
        if name == SDF_WORLD:
            return HERE
        if name in (MODEL, ""):
            return self.place
        if name in self.known:
            return self.known[name]
        element = self.named.get(name)
        if element is None:
            asking.fail(f"no link, joint or frame is called {shown(name)}{self.near(name)}")
        if name in way or len(way) > 60:
            element.fail("where it lies is said in a circle")
        pose = element.one("pose")
        usual = {"joint": _text(element, "child"), "frame": element.attributes.get("attached_to")}
        upon = (pose.attributes.get("relative_to") if pose else "") or usual.get(element.tag) or ""
        self.known[name] = composed(self.lies(upon, element, (*way, name)), _pose(element))
        return self.known[name]

    def carrier(self, name: str, asking: Element, way: tuple[str, ...] = ()) -> str:
        """Return the link that a name stands for: its own, or the one that a frame is part of."""
        if name == SDF_WORLD:
            return name
        element = self.named.get(name)
        if element is None or element.tag == "joint":
            asking.fail(f"no link is called {shown(name)}{self.near(name)}")
        if element.tag == "link":
            return name
        if name in way or len(way) > 60:
            element.fail("what it is attached to is said in a circle")
        upon = element.attributes.get("attached_to", "")
        if not upon or upon == MODEL:
            element.fail("attached_to is missing: a link")
        return self.carrier(upon, element, (*way, name))

    def near(self, name: str) -> str:
        """Return a hint to the nearest name."""
        return suggestion(name, self.named)

    def link(self, element: Element) -> TreeLink:
        """Return a link; SDF has masses for what is not said, which are no arm's."""
        name, inertial = name_of(element), element.one("inertial")
        if inertial is None:
            return TreeLink(name, None, element, "<inertial> is missing (SDF means 1 kg by that)")
        if inertial.attributes.get("auto") in ("true", "1"):
            return TreeLink(name, None, element, "its inertia is said in shapes: give it")
        mass, moments = _needed(inertial, "mass"), _needed(inertial, "inertia")
        value = positive_of(mass, TEXT, "mass")
        xx, yy, zz = (
            number_of(_needed(moments, key), TEXT, "inertia") for key in ("ixx", "iyy", "izz")
        )
        xy, yz, xz = (
            0.0 if (one := moments.one(key)) is None else number_of(one, TEXT, "inertia")
            for key in ("ixy", "iyz", "ixz")
        )
        return TreeLink(name, Inertial(_pose(inertial), value, (xx, yy, zz, xy, yz, xz)), element)

    def joint(self, element: Element) -> Iterator[TreeJoint]:
        """Yield a joint, and what fixes its child where that does not lie in the joint's frame."""
        name, kind = name_of(element), element.attributes.get("type", "")
        if kind not in SDF_JOINTS:
            hint = suggestion(kind, SDF_JOINTS) or f" (allowed: {', '.join(SDF_JOINTS)})"
            element.fail(f"unknown type {shown(kind)}{hint}")
        parent, child = (
            self.carrier(_needed(element, end).text.strip(), element) for end in ("parent", "child")
        )
        here, above = self.lies(name, element), self.lies(parent, element)
        offset = _clean(composed(inverted(here), self.lies(child, element)))
        moved = child if offset == HERE else f"{child}/{name}"
        axis = element.one("axis")
        if kind in MOVING and axis is None:
            element.fail("<axis> is missing: what it turns about, or slides along")
        mimic = None if axis is None else axis.one("mimic")
        yield TreeJoint(
            name, _endless(kind, axis), parent, moved, _clean(composed(inverted(above), here)),
            self.axis(axis, here) if axis is not None and kind in MOVING else (0.0, 0.0, 1.0),
            Limit() if axis is None else _limit(axis, kind), self.drive(element, axis),
            None if mimic is None else mimic.attributes.get("joint", ""), element,
        )  # fmt: skip
        if moved != child:
            still = (0.0, 0.0, 1.0)
            yield TreeJoint(
                f"{name}/fixed", "fixed", moved, child, offset, still, Limit(), Drive(), None,
                element,
            )  # fmt: skip

    def axis(self, element: Element, here: Pose) -> Triple:
        """Return an axis in the frame of its joint."""
        xyz = element.one("xyz")
        if xyz is None:
            return (0.0, 0.0, 1.0)  # SDF's own default
        given = axis_of(xyz, TEXT, "")
        frame = xyz.attributes.get("expressed_in", "")
        if _text(element, "use_parent_model_frame") in ("1", "true"):
            frame = MODEL
        if not frame:
            return given
        turned = rotation_rows(self.lies(frame, xyz).rotation)
        x, y, z = applied(transposed(rotation_rows(here.rotation)), applied(turned, given))
        x, y, z = (0.0 if abs(part) < PRINTED else part for part in (x, y, z))
        return unit((x, y, z))

    def drive(self, joint: Element, axis: Element | None) -> Drive:
        """Return friction, and the rotor that Drake's tags give a joint."""
        dynamics = None if axis is None else axis.one("dynamics")
        damping, friction = (
            0.0 if dynamics is None else positive_of(dynamics.one(key), TEXT, meant)
            for key, meant in (("damping", "viscous_friction"), ("friction", "coulomb_friction"))
        )
        if dynamics is not None and positive_of(
            dynamics.one("spring_stiffness"), TEXT, "viscous_friction"
        ):
            self.springs.append(name_of(joint))
        rotor, gear = joint.one("drake:rotor_inertia"), joint.one("drake:gear_ratio")
        inertia = positive_of(rotor, TEXT, "rotor_inertia")
        ratio = 1.0 if gear is None else number_of(gear, TEXT, "gear_ratio")
        if not ratio:
            joint.fail("the gear ratio must not be zero")
        if not inertia:
            return Drive(damping, friction)
        return Drive(damping, friction, inertia, ratio, "<drake:rotor_inertia>")


def _endless(kind: str, axis: Element | None) -> str:
    """Return the kind; what turns without limits is continuous."""
    if kind != "revolute" or axis is None:
        return kind
    limit = _limit(axis, kind)
    return "continuous" if limit.lower is None and limit.upper is None else kind


def _limit(axis: Element, kind: str) -> Limit:
    limit = axis.one("limit")
    if limit is None:
        return Limit()
    found: dict[str, float | None] = {}
    for key in ("lower", "upper", "velocity", "effort"):
        element = limit.one(key)
        value = None if element is None else number_of(element, TEXT, None)
        found[key] = None if value is None or abs(value) >= ENDLESS else value
    lower, upper, turning = found["lower"], found["upper"], kind != "prismatic"
    if lower is not None and upper is not None and lower > upper:
        limit.fail(f"lower, {number(lower)}, is above upper, {number(upper)}")
    sizes = []
    for key, meant in (("velocity", "velocity_range"), ("effort", "torque_range")):
        value = found[key]
        known = value is not None and value >= 0  # -1 says that there is none
        sizes.append(limit_size(value or 0.0, meant, revolute=turning) if known else None)
    return Limit(lower, upper, *sizes)


def _pose(element: Element) -> Pose:
    pose = element.one("pose")
    if pose is None or not pose.text.strip():
        return HERE
    if pose.attributes.get("rotation_format") == "quat_xyzw":
        x, y, z, *vector, w = numbers_of(pose, TEXT, (7,), "origin")
        size = math.hypot(*vector)
        if not size and not w:
            pose.fail("a quaternion must not be zero")
        a, b, c = vector if size else (0.0, 0.0, 1.0)
        turned = about_axis(unit((a, b, c)), 2 * math.atan2(size, w))
        return squared(Pose((x, y, z), roll_pitch_yaw(turned)), PRINTED)
    x, y, z, *angles = numbers_of(pose, TEXT, (6,), "origin")
    turn = math.radians if pose.attributes.get("degrees") in ("true", "1") else float
    roll, pitch, yaw = map(turn, angles)
    return squared(Pose((x, y, z), (roll, pitch, yaw)), PRINTED)


def _clean(pose: Pose) -> Pose:
    """Return a pose that was found by going there and back without the rounding of that."""
    x, y, z = (0.0 if abs(part) < PRINTED else part for part in pose.origin)
    return squared(Pose((x, y, z), pose.rotation), PRINTED)


def _text(element: Element, tag: str) -> str:
    inner = element.one(tag)
    return "" if inner is None else inner.text.strip()


def _needed(element: Element, tag: str) -> Element:
    inner = element.one(tag)
    if inner is None:
        element.fail(f"<{tag}> is missing")
    return inner
