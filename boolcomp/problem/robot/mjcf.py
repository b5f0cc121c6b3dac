"""MJCF, the files of MuJoCo, read to a tree of links.

Bodies nest; the joints in one come before its own frame, each about an axis through its `pos`.
Attributes that an element does not have are those of its default class. Inertias are those of
<inertial>; where a body's are to be found from its shapes they are not known, and the arm that
carries it is refused. Armature is the rotor inertia as the joint feels it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.errors import number
from boolcomp.common.errors import listing, shown, suggestion
from boolcomp.problem.robot.chain import listed
from boolcomp.problem.robot.frames import (
    HERE,
    about_axis,
    composed,
    inverted,
    roll_pitch_yaw,
    squared,
)
from boolcomp.problem.robot.mjcfdefaults import ACTUATORS, Defaults, compiler_of, rotation_of
from boolcomp.problem.robot.model import Pose
from boolcomp.problem.robot.tree import (
    DOWN,
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

    from boolcomp.problem.robot.model import Inertia, Triple
    from boolcomp.problem.robot.tree import Tree
    from boolcomp.problem.robot.xmltext import Element

MJCF_JOINTS = ("hinge", "slide", "ball", "free")
MADE = ("include", "replicate", "attach", "composite", "flexcomp")  # what MuJoCo makes bodies of
MJCF_WORLD = "world"
BOUNDS = ("boundmass", "boundinertia", "settotalmass", "balanceinertia")
SHAPES = "its inertia is to be found from its shapes, which is not done: give it an <inertial>"


def read_mjcf(top: Element) -> Tree:
    """Return the tree of an MJCF, given its outermost element."""
    for element in _everywhere(top):
        if element.tag in MADE:
            element.fail("not read: let MuJoCo expand it, and give the model that it saves")
    reader = _MjcfReader(top)
    for world in top.all("worldbody"):
        reader.bodies(world, MJCF_WORLD, HERE, None)
    if not reader.links:
        top.fail("a robot needs at least one <body>")
    links = links_of([TreeLink(MJCF_WORLD, None, top), *reader.links])
    joints = _coupled(top, reader.joints)
    return tree_of(
        top, top.attributes.get("model", ""), links, joints,
        gravity=_gravity(top), notes=_left_out(top, reader),
    )  # fmt: skip


def _everywhere(element: Element) -> Iterator[Element]:
    todo = [element]
    while todo:
        yield (one := todo.pop())
        todo += one.children


class _MjcfReader:
    """Goes through the bodies and gathers links and joints."""

    def __init__(self, top: Element) -> None:
        self.compiler = compiler_of(top)
        self.defaults = Defaults(top)
        self.efforts = _efforts(top, self.defaults)
        self.links: list[TreeLink] = []
        self.joints: list[TreeJoint] = []
        self.springs: list[str] = []
        self.floating: list[str] = []

    def bodies(self, element: Element, parent: str, pose: Pose, style: str | None) -> None:
        """Read what hangs on a body; a <frame> only shifts it."""
        for child in element.children:
            if child.tag == "frame":
                place = composed(pose, self.pose(child))
                self.bodies(child, parent, place, child.attributes.get("childclass", style))
            elif child.tag == "body":
                self.body(child, parent, composed(pose, self.pose(child)), style)

    def body(self, element: Element, parent: str, pose: Pose, style: str | None) -> None:
        """Read a body whose frame lies so in its parent's, and all that hangs on it."""
        style = element.attributes.get("childclass", style)
        name = name_of(element, f"body-{len(self.links) + 1}")
        before, place = parent, pose
        moved = [child for child in element.children if child.tag in ("joint", "freejoint")]
        for k, own in enumerate(moved, 1):
            joint = self.defaults.filled(own, style)
            at = Pose(triple_of(joint, "pos", "origin"), HERE.rotation)
            after = name if k == len(moved) and at == HERE else f"{name}/{k}"
            self.joints.append(self.joint(joint, f"{name}-{k}", (before, after), place, at))
            if after != name:
                self.links.append(TreeLink(after, None, own))
            before, place = after, inverted(at)
        if before != name:
            self.joints.append(
                TreeJoint(
                    f"{name}/fixed", "fixed", before, name, place, (0.0, 0.0, 1.0), Limit(),
                    Drive(), None, element,
                )
            )  # fmt: skip
        self.links.append(self.link(element, name, style))
        if positive_of(element, "gravcomp", "mass"):
            self.floating.append(name)
        self.bodies(element, name, HERE, style)

    def link(self, element: Element, name: str, style: str | None) -> TreeLink:
        """Return a body's link, with its inertia if that is given."""
        inertial = element.one("inertial")
        source = self.compiler.get("inertiafromgeom", "auto")
        shapes = [] if source == "false" else list(self.heavy(element, style))
        if (source == "true" and shapes) or (inertial is None and any(shapes)):
            return TreeLink(name, None, element, SHAPES)
        if inertial is None:
            return TreeLink(name, None, element)
        mass = number_of(inertial, "mass", "mass")
        if mass < 0:
            inertial.fail(f"mass must not be negative, not {number(mass)}")
        pose = self.pose(inertial)
        return TreeLink(name, Inertial(pose, mass, _inertia(inertial)), element)

    def heavy(self, element: Element, style: str | None) -> Iterator[bool]:
        """Yield for every shape of a body whether it has a mass."""
        for child in element.children:
            if child.tag == "frame":
                yield from self.heavy(child, child.attributes.get("childclass", style))
            elif child.tag == "geom":
                geom = self.defaults.filled(child, style)
                key = "mass" if "mass" in geom.attributes else "density"
                yield number_of(geom, key, None, 1000.0) != 0

    def joint(
        self, element: Element, name: str, ends: tuple[str, str], body: Pose, at: Pose
    ) -> TreeJoint:
        """Return a joint through a place `at` of the body, whose frame lies so before it moves."""
        name = name_of(element, name)
        kind = element.attributes.get("type", "free" if element.tag == "freejoint" else "hinge")
        if kind not in MJCF_JOINTS:
            hint = suggestion(kind, MJCF_JOINTS) or f" (allowed: {listing(MJCF_JOINTS)})"
            element.fail(f"unknown type {shown(kind)}{hint}")
        hinge, moving = kind == "hinge", kind in ("hinge", "slide")
        axis = axis_of(element, "axis", "0 0 1") if moving else (0.0, 0.0, 1.0)
        lower, upper = self.range(element, hinge=hinge) if moving else (None, None)
        if positive_of(element, "stiffness", "viscous_friction"):
            self.springs.append(name)
        armature = positive_of(element, "armature", "rotor_inertia")
        return TreeJoint(
            name=name,
            kind={"hinge": "revolute" if lower is not None else "continuous",
                  "slide": "prismatic"}.get(kind, kind),
            parent=ends[0],
            child=ends[1],
            pose=composed(composed(body, at), self.zero(element, axis, hinge=hinge)),
            axis=axis,
            limit=Limit(lower, upper, None, self.effort(element, name, hinge=hinge)),
            drive=Drive(
                positive_of(element, "damping", "viscous_friction"),
                positive_of(element, "frictionloss", "coulomb_friction"),
                armature, 1.0, "its armature" if armature else "",
            ),
            mimics=None,
            element=element,
        )  # fmt: skip

    def zero(self, element: Element, axis: Triple, *, hinge: bool) -> Pose:
        """Return where the joint's frame lies at zero: bodies are drawn where it is at `ref`."""
        back = -self.angle(number_of(element, "ref", "position_range", 0.0), hinge=hinge)
        if not back:
            return HERE
        if hinge:
            return Pose(HERE.origin, roll_pitch_yaw(about_axis(axis, back)))
        x, y, z = (back * part for part in axis)
        return Pose((x, y, z), HERE.rotation)

    def range(self, element: Element, *, hinge: bool) -> tuple[float | None, float | None]:
        """Return where a joint may go, in rad or m, if it is limited."""
        limited = element.attributes.get("limited", "auto")
        auto = "range" in element.attributes and self.compiler.get("autolimits") != "false"
        if limited == "false" or (limited == "auto" and not auto):
            return None, None
        lower, upper = (
            self.angle(end, hinge=hinge) for end in numbers_of(element, "range", (2,), None)
        )
        if lower > upper:
            element.fail(f"range must rise, not go from {number(lower)} to {number(upper)}")
        return lower, upper

    def effort(self, element: Element, name: str, *, hinge: bool) -> float | None:
        """Return the largest torque of a joint: its own limit, or its actuator's."""
        most = self.efforts.get(name)
        if "actuatorfrcrange" in element.attributes:
            most = max(map(abs, numbers_of(element, "actuatorfrcrange", (2,), None)))
        return None if most is None else limit_size(most, "torque_range", revolute=hinge)

    def angle(self, value: float, *, hinge: bool) -> float:
        """Return an angle in radians as the compiler's `angle` says it is."""
        degrees = hinge and self.compiler.get("angle", "degree") == "degree"
        return math.radians(value) if degrees else value

    def pose(self, element: Element) -> Pose:
        """Return where an element's frame lies: pos, and one of five ways to say how it turns."""
        rotation = rotation_of(element, self.compiler)
        return squared(Pose(triple_of(element, "pos", "origin"), rotation), PRINTED)


def _inertia(inertial: Element) -> Inertia:
    if "fullinertia" in inertial.attributes:
        xx, yy, zz, xy, xz, yz = numbers_of(inertial, "fullinertia", (6,), "inertia")
        return (xx, yy, zz, xy, yz, xz)
    xx, yy, zz = triple_of(inertial, "diaginertia", "inertia")
    return (xx, yy, zz, 0.0, 0.0, 0.0)


def _efforts(top: Element, defaults: Defaults) -> dict[str, float]:
    """Return the largest torque of every joint that actuators with a limit drive, summed."""
    found: dict[str, float] = {}
    for section in top.all("actuator"):
        for own in section.children:
            actuator = defaults.filled(own, None)
            joint = actuator.attributes.get("joint")
            key = "forcerange"
            if own.tag == "motor" and key not in actuator.attributes:
                key = "ctrlrange"  # of a motor the control is its force
            if own.tag not in ACTUATORS or joint is None or key not in actuator.attributes:
                continue
            force = max(map(abs, numbers_of(actuator, key, (2,), None)))
            gear = abs(numbers_of(actuator, "gear", (1, 2, 3, 4, 5, 6), None, "1")[0])
            found[joint] = found.get(joint, 0.0) + force * gear
    return found


def _coupled(top: Element, joints: list[TreeJoint]) -> list[TreeJoint]:
    """Return the joints; those that an equality ties to another one mimic it."""
    tied = {
        one.attributes.get("joint1", ""): one.attributes.get("joint2", "a constant")
        for section in top.all("equality")
        for one in section.all("joint")
        if one.attributes.get("active") != "false"
    }
    return [replace(j, mimics=tied[j.name]) if j.name in tied else j for j in joints]


def _gravity(top: Element) -> Triple:
    gravity = DOWN
    for option in top.all("option"):
        if "gravity" in option.attributes:
            gravity = triple_of(option, "gravity", "gravity")
        if any(flag.attributes.get("gravity") == "disable" for flag in option.all("flag")):
            return (0.0, 0.0, 0.0)
    return gravity


def _left_out(top: Element, reader: _MjcfReader) -> Iterator[str]:
    if reader.springs:
        yield f"springs (stiffness) are left out: of {listed(reader.springs)}"
    if reader.floating:
        yield f"gravcomp is left out: of {listed(reader.floating)}"
    loops = [one.tag for e in top.all("equality") for one in e.children if one.tag != "joint"]
    if loops:
        yield f"equality constraints ({listing(sorted(set(loops)))}) are left out"
    bounds = [key for key in BOUNDS if reader.compiler.get(key, "0") not in ("0", "-1", "false")]
    if bounds:
        yield f"the compiler's {listing(bounds)} are left out"
