"""URDF, SDF (the files of Gazebo) and MJCF (the files of MuJoCo), read to trees of links."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.errors import listing, number, shown, suggestion
from boolcomp.problem.robot.model import (
    HERE,
    UNIT,
    Pose,
    Z,
    about_axis,
    applied,
    composed,
    inverted,
    product,
    roll_pitch_yaw,
    rotation_rows,
    snapped,
    transposed,
    unit,
)
from boolcomp.problem.robot.tree import (
    DOWN,
    MOVING,
    Drive,
    Inertial,
    Limit,
    TreeJoint,
    TreeLink,
    fixed_joint,
    limit_size,
    links_of,
    listed,
    tree_of,
)
from boolcomp.problem.robot.xml import PRINTED, TEXT, without_dust

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from boolcomp.problem.robot.model import Inertia, Rows, Triple
    from boolcomp.problem.robot.tree import LinkTree
    from boolcomp.problem.robot.xml import Element


# --------------------------------------------------------------------------------------------------
# URDF.
#
# Parts without effect on the dynamics (pictures, collision shapes, Gazebo's tags) are ignored. URDF
# has no rotors, but common extensions are read: an `armature` of <dynamics>, and the rotor inertia
# and gear ratio of the only actuator of a transmission.
# --------------------------------------------------------------------------------------------------

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
MOMENTS = ("ixx", "iyy", "izz", "ixy", "iyz", "ixz")
ROTORS = ("drake:rotor_inertia", "rotorInertia", "rotor_inertia", "motorInertia", "motor_inertia")
GEARS = (
    "drake:gear_ratio", "gearRatio", "gear_ratio", "mechanicalReduction", "mechanical_reduction",
)  # fmt: skip


def read_urdf(top: Element) -> LinkTree:
    """Return the tree of a URDF, given its outermost element."""
    if top.tag != "robot":
        top.fail("not a URDF file, whose outermost element is <robot>")
    if any(one.tag.startswith("xacro:") for one in top.everything()):
        top.fail("this is a xacro file", "run xacro first, and give its output")
    links = links_of(
        TreeLink(element.name(), _inertial(element), element) for element in top.all("link")
    )
    if not links:
        top.fail("a robot needs at least one <link>")
    motors = _motors(top)
    joints = [_joint(element, links, motors) for element in top.all("joint")]
    bodies = [one for one in links.values() if one.inertial and one.inertial.mass]
    points = [one.name for one in bodies if one.element.some("inertial").one("inertia") is None]
    notes = [f"<inertia> is missing, taken as zero: {listed(points)}"] if points else []
    return tree_of(top, top.get("name"), links, joints, notes=notes)


def _joint(
    element: Element, links: dict[str, TreeLink], motors: dict[str, tuple[Element, float, float]]
) -> TreeJoint:
    name, kind = element.name(), element.kind(KINDS)
    parent, child = (_end(element, tag, links) for tag in ("parent", "child"))
    return TreeJoint(
        name, kind, parent, child, _origin(element), _axis(element, kind),
        _urdf_limit(element, kind), _drive(element, motors.get(name)), _mimicked(element), element,
    )  # fmt: skip


def _end(element: Element, tag: str, links: dict[str, TreeLink]) -> str:
    end = element.one(tag)
    if end is None:
        element.fail(f"<{tag} link=…> is missing")
    name = end.attributes.get("link")
    if name is None:
        end.fail("link is missing", "give the name of a link")
    if name not in links:
        end.fail(f"no link is called {shown(name)}", suggestion(name, links))
    return name


def _mimicked(element: Element) -> str | None:
    mimic = element.one("mimic")
    return None if mimic is None else mimic.get("joint")


def _drive(joint: Element, motor: tuple[Element, float, float] | None) -> Drive:
    dynamics = joint.some("dynamics")
    damping = dynamics.positive("damping", "viscous_friction")
    friction = dynamics.positive("friction", "coulomb_friction")
    armature = dynamics.positive("armature", "rotor_inertia")
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
                return element.number(key, meant)
    return default


def _inertial(link: Element) -> Inertial | None:
    element = link.one("inertial")
    if element is None:
        return None
    mass, inertia = element.one("mass"), element.some("inertia")
    if mass is None:
        element.fail("<mass value=…> is missing")
    value = mass.positive("value", "mass", None)
    xx, yy, zz, xy, yz, xz = (inertia.number(key, "inertia", 0.0) for key in MOMENTS)
    return Inertial(_origin(element), value, (xx, yy, zz, xy, yz, xz))


def _origin(element: Element) -> Pose:
    origin = element.some("origin")
    pose = Pose(origin.triple("xyz", "origin"), origin.triple("rpy", "rotation"))
    return snapped(pose, PRINTED)


def _axis(element: Element, kind: str) -> Triple:
    axis = element.one("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)  # URDF's own default
    if kind not in MOVING:
        axis.triple("xyz", "axis", "1 0 0")
        return Z  # not used
    return axis.axis("xyz", "1 0 0")


def _urdf_limit(element: Element, kind: str) -> Limit:
    limit = element.some("limit")
    if limit.absent and kind == "revolute":
        element.fail("<limit> is missing (continuous joints need none)")
    if limit.absent:
        return Limit()
    rates = limit.number("velocity", None, 0.0), limit.number("effort", None, 0.0)
    ends: tuple[float | None, float | None] = (None, None)
    if kind != "continuous" and {"lower", "upper"} & set(limit.attributes):
        given = limit.number("lower", None, 0.0), limit.number("upper", None, 0.0)
        ends = given if kind in MOVING else ends
    return _limit(limit, kind, ends, rates)


def _limit(
    element: Element,
    kind: str,
    ends: tuple[float | None, float | None],
    rates: tuple[float | None, float | None],
) -> Limit:
    """Return checked limits of a position, and sizes of the largest speed and torque."""
    lower, upper = ends
    if lower is not None and upper is not None and lower > upper:
        element.fail(f"lower, {number(lower)}, is above upper, {number(upper)}")
    sizes = (
        None if rate is None else limit_size(rate, meant, revolute=kind != "prismatic")
        for rate, meant in zip(rates, ("velocity_range", "torque_range"), strict=True)
    )
    return Limit(lower, upper, *sizes)


# --------------------------------------------------------------------------------------------------
# SDF: one model, version 1.5 or later.
#
# Poses of links, joints and frames are relative to the model or to the frame in `relative_to`,
# those of joints to the child by default. Gravity is that of the world, if the model is in one.
# --------------------------------------------------------------------------------------------------

SDF_JOINTS = (
    "revolute", "continuous", "prismatic", "fixed", "ball", "screw", "universal", "revolute2",
    "gearbox",
)  # fmt: skip
SDF_WORLD, MODEL = "world", "__model__"
ENDLESS = 1e16  # SDF's value of a limit that does not exist
WORLD_GRAVITY = (0.0, 0.0, -9.8)  # SDF's default


def read_sdf(top: Element) -> LinkTree:
    """Return the tree of the only model of an SDF, given its outermost element."""
    version = re.fullmatch(r"1\.(\d{1,3})", top.get("version").strip())
    if version is None or int(version[1]) < 5:
        top.fail("version must be 1.5 or later", "earlier ones give axes in other frames")
    worlds = [top, *top.all("world")]
    models = [(model, place) for place in worlds for model in place.all("model")]
    if len(models) != 1:
        top.fail(f"it must hold one <model>, not {len(models)}")
    model, place = models[0]
    for tag in ("model", "include"):
        for nested in model.all(tag):
            nested.fail("models in models are not read")
    gravity = DOWN
    if place.tag == "world":
        element = place.one("gravity")
        gravity = WORLD_GRAVITY if element is None else element.triple(TEXT, "gravity")
    return _SdfReader(model).tree(gravity)


class _SdfReader:
    """A model's links, joints and frames, and their poses."""

    def __init__(self, model: Element) -> None:
        self.model = model
        self.named: dict[str, Element] = {}
        for tag in ("link", "joint", "frame"):
            for element in model.all(tag):
                name = element.name()
                if name in self.named and tag != self.named[name].tag:
                    element.fail(f"its name is also that of {self.named[name].label}")
                self.named.setdefault(name, element)
        if "placement_frame" in model.attributes:
            model.fail("placement_frame is not read", "let <pose> place the model")
        self.place = _pose(model)
        self.springs: list[str] = []
        self.known: dict[str, Pose] = {}

    def tree(self, gravity: Triple) -> LinkTree:
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
            turned = rotation_rows(self.pose_of(root, self.model).rotation)
            gravity = applied(transposed(turned), gravity)
        names = {link.name for link in found}
        inner = [
            TreeLink(joint.child, None, joint.element)
            for joint in joints
            if joint.child not in names
        ]
        notes = [f"springs are left out: of {listing(self.springs)}"] if self.springs else []
        return tree_of(
            self.model, self.model.name("robot"), links_of([*found, *inner]), joints,
            gravity=gravity, notes=notes,
        )  # fmt: skip

    def pose_of(self, name: str, source: Element, way: tuple[str, ...] = ()) -> Pose:
        """Return the pose of a link, joint or frame in the world, with all joints at zero."""
        if name == SDF_WORLD:
            return HERE
        if name in (MODEL, ""):
            return self.place
        if name in self.known:
            return self.known[name]
        element = self.named.get(name)
        if element is None:
            source.fail(f"no link, joint or frame is called {shown(name)}", self.near(name))
        if name in way or len(way) > 60:
            element.fail("its pose is relative to itself")
        usual = {
            "joint": element.some("child").text.strip(),
            "frame": element.get("attached_to"),
        }
        base = element.some("pose").get("relative_to") or usual.get(element.tag, "")
        self.known[name] = composed(self.pose_of(base, element, (*way, name)), _pose(element))
        return self.known[name]

    def link_of(self, name: str, source: Element, way: tuple[str, ...] = ()) -> str:
        """Return the link of this name, or the link that the frame of this name is attached to."""
        if name == SDF_WORLD:
            return name
        element = self.named.get(name)
        if element is None or element.tag == "joint":
            source.fail(f"no link is called {shown(name)}", self.near(name))
        if element.tag == "link":
            return name
        if name in way or len(way) > 60:
            element.fail("it is attached to itself")
        base = element.get("attached_to")
        if not base or base == MODEL:
            element.fail("attached_to is missing", "give the name of a link")
        return self.link_of(base, element, (*way, name))

    def near(self, name: str) -> str:
        return suggestion(name, self.named)

    def link(self, element: Element) -> TreeLink:
        """Return a link; SDF's default inertia is not used, as no arm has it."""
        name, inertial = element.name(), element.one("inertial")
        if inertial is None:
            return TreeLink(name, None, element, "<inertial> is missing (the default is 1 kg)")
        if inertial.get("auto") in ("true", "1"):
            return TreeLink(name, None, element, "its inertia is that of shapes: give numbers")
        mass, moments = inertial.needed("mass"), inertial.needed("inertia")
        value = mass.positive(TEXT, "mass")
        xx, yy, zz = (moments.needed(key).number(TEXT, "inertia") for key in MOMENTS[:3])
        xy, yz, xz = (moments.some(key).number(TEXT, "inertia", 0.0) for key in MOMENTS[3:])
        return TreeLink(name, Inertial(_pose(inertial), value, (xx, yy, zz, xy, yz, xz)), element)

    def joint(self, element: Element) -> Iterator[TreeJoint]:
        """Yield a joint, and a fixed joint to its child if their frames differ."""
        name, kind = element.name(), element.kind(SDF_JOINTS)
        parent, child = (
            self.link_of(element.needed(end).text.strip(), element) for end in ("parent", "child")
        )
        here, above = self.pose_of(name, element), self.pose_of(parent, element)
        offset = _clean(composed(inverted(here), self.pose_of(child, element)))
        moved = child if offset == HERE else f"{child}/{name}"
        axis, moving = element.some("axis"), kind in MOVING
        if moving and axis.absent:
            element.fail("<axis> is missing")
        limit = _sdf_limit(axis.some("limit"), kind)
        if kind == "revolute" and limit.lower is None and limit.upper is None:
            kind = "continuous"
        yield TreeJoint(
            name, kind, parent, moved, _clean(composed(inverted(above), here)),
            self.axis(axis, here) if moving else Z, limit, self.drive(element, axis),
            _mimicked(axis), element,
        )  # fmt: skip
        if moved != child:
            yield fixed_joint(name, moved, child, offset, element)

    def axis(self, element: Element, here: Pose) -> Triple:
        """Return an axis in the frame of its joint."""
        xyz = element.one("xyz")
        if xyz is None:
            return Z  # SDF's default
        given = xyz.axis(TEXT)
        frame = xyz.get("expressed_in")
        if element.some("use_parent_model_frame").text.strip() in ("1", "true"):
            frame = MODEL
        if not frame:
            return given
        turned = applied(rotation_rows(self.pose_of(frame, xyz).rotation), given)
        return unit(without_dust(applied(transposed(rotation_rows(here.rotation)), turned)))

    def drive(self, joint: Element, axis: Element) -> Drive:
        """Return friction, and the rotor of Drake's tags."""
        dynamics = axis.some("dynamics")
        damping, friction, spring = (
            dynamics.some(key).positive(TEXT, meant)
            for key, meant in (
                ("damping", "viscous_friction"), ("friction", "coulomb_friction"),
                ("spring_stiffness", "viscous_friction"),
            )
        )  # fmt: skip
        self.springs += [joint.name()] * bool(spring)
        inertia = joint.some("drake:rotor_inertia").positive(TEXT, "rotor_inertia")
        ratio = joint.some("drake:gear_ratio").number(TEXT, "gear_ratio", 1.0)
        if not ratio:
            joint.fail("the gear ratio must not be zero")
        if not inertia:
            return Drive(damping, friction)
        return Drive(damping, friction, inertia, ratio, "<drake:rotor_inertia>")


def _sdf_limit(limit: Element, kind: str) -> Limit:
    lower, upper, velocity, effort = (
        None if abs(value := limit.some(key).number(TEXT, None, math.inf)) >= ENDLESS else value
        for key in ("lower", "upper", "velocity", "effort")
    )
    velocity, effort = (None if x is None or x < 0 else x for x in (velocity, effort))  # -1: none
    return _limit(limit, kind, (lower, upper), (velocity, effort))


def _pose(element: Element) -> Pose:
    pose = element.some("pose")
    if not pose.text.strip():
        return HERE
    if pose.get("rotation_format") == "quat_xyzw":
        x, y, z, *vector, w = pose.numbers(TEXT, (7,), "origin")
        return snapped(Pose((x, y, z), _quaternion(pose, vector, w)), PRINTED)
    x, y, z, *angles = pose.numbers(TEXT, (6,), "origin")
    turn = math.radians if pose.get("degrees") in ("true", "1") else float
    roll, pitch, yaw = map(turn, angles)
    return snapped(Pose((x, y, z), (roll, pitch, yaw)), PRINTED)


def _quaternion(element: Element, vector: list[float], w: float) -> Triple:
    size = math.hypot(*vector)
    if not size and not w:
        element.fail("a quaternion must not be zero")
    x, y, z = vector if size else Z
    return roll_pitch_yaw(about_axis(unit((x, y, z)), 2 * math.atan2(size, w)))


def _clean(pose: Pose) -> Pose:
    """Remove rounding errors near zero and near right angles from a composed pose."""
    return snapped(Pose(without_dust(pose.origin), pose.rotation), PRINTED)


# --------------------------------------------------------------------------------------------------
# MJCF: default classes, the compiler's attributes, and rotations.
# --------------------------------------------------------------------------------------------------

ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle",
    "dcmotor",
)  # fmt: skip
MAIN = "main"
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")


class Defaults:
    """The default attributes of elements by class; a class inherits those of its outer class."""

    def __init__(self, top: Element) -> None:
        self.classes: dict[str, dict[str, dict[str, str]]] = {MAIN: {}}
        for element in top.all("default"):
            self._read(element, element.attributes.get("class", MAIN), {})

    def _read(
        self, element: Element, name: str, inherited: Mapping[str, Mapping[str, str]]
    ) -> None:
        own = self.classes.setdefault(name, {})
        for kind, attributes in inherited.items():
            own[kind] = {**attributes, **own.get(kind, {})}
        for child in element.children:
            if child.tag != "default":
                kind = _kind(child)
                own[kind] = {**own.get(kind, {}), **child.attributes}
        for child in element.all("default"):
            if "class" not in child.attributes:
                child.fail("class is missing", "give the name of a default class")
            self._read(child, child.attributes["class"], own)

    def apply(self, element: Element, style: str | None) -> Element:
        """Return an element with the defaults of its own class, its body's, or the main class."""
        name = element.attributes.get("class", style or MAIN)
        if name not in self.classes:
            near = suggestion(name, self.classes) or f"classes are {listing(self.classes)}"
            element.fail(f"no default class is called {shown(name)}", near)
        attributes = self.classes[name].get(_kind(element), {})
        return replace(element, attributes={**attributes, **element.attributes})


def _kind(element: Element) -> str:
    return "actuator" if element.tag in ACTUATORS else element.tag


def compiler_of(top: Element) -> dict[str, str]:
    """Return the attributes of all sections of the compiler."""
    found: dict[str, str] = {}
    for element in top.all("compiler"):
        found |= element.attributes
        if element.attributes.get("coordinate", "local") != "local":
            element.fail(
                "global coordinates are not read", "let MuJoCo save the model in local ones"
            )
        sequence = element.attributes.get("eulerseq", "xyz")
        if len(sequence) != 3 or set(sequence.lower()) - set(AXES):
            element.fail(f"eulerseq must be three of x, y, z, not {shown(sequence)}")
    return found


def rotation_of(element: Element, compiler: Mapping[str, str]) -> Triple:
    """Return an element's rotation, given in one of five ways, as roll, pitch and yaw."""
    given = [key for key in TURNS if key in element.attributes]
    if not given:
        return HERE.rotation
    if len(given) > 1:
        element.fail(f"{listing(given)} say the same", "keep one of them")
    key = given[0]
    turn = math.radians if compiler.get("angle", "degree") == "degree" else float
    if key == "quat":
        w, *vector = element.numbers(key, (4,), "axis")
        return _quaternion(element, vector, w)
    if key == "axisangle":
        x, y, z, angle = element.numbers(key, (4,), "rotation")
        return roll_pitch_yaw(about_axis(_unit(element, key, [x, y, z]), turn(angle)))
    if key == "euler":
        angles = map(turn, element.numbers(key, (3,), "rotation"))
        return roll_pitch_yaw(_euler(compiler.get("eulerseq", "xyz"), tuple(angles)))
    if key == "xyaxes":
        numbers = element.numbers(key, (6,), "axis")
        x_axis, rough = _unit(element, key, numbers[:3]), numbers[3:]
        along = sum(a * b for a, b in zip(x_axis, rough, strict=True))
        y_axis = _unit(element, key, [b - along * a for a, b in zip(x_axis, rough, strict=True)])
        return roll_pitch_yaw(transposed((x_axis, y_axis, _cross(x_axis, y_axis))))
    z_axis = _unit(element, key, element.numbers(key, (3,), "axis"))
    across = _cross(AXES["z"], z_axis)
    size = math.hypot(*across)
    axis = _unit(element, key, list(across)) if size else AXES["x"]
    return roll_pitch_yaw(about_axis(axis, math.atan2(size, z_axis[2])))


def _euler(sequence: str, angles: tuple[float, ...]) -> Rows:
    """Return a sequence of rotations: small letters are rotating axes, capitals are fixed ones."""
    rows = UNIT
    for letter, angle in zip(sequence, angles, strict=True):
        turned = about_axis(AXES[letter.lower()], angle)
        rows = product(rows, turned) if letter.islower() else product(turned, rows)
    return rows


def _unit(element: Element, key: str, vector: list[float]) -> Triple:
    x, y, z = vector
    if not any(vector):
        element.fail(f"{key} must not be zero, because it is an axis")
    return unit((x, y, z))


def _cross(one: Triple, other: Triple) -> Triple:
    (a, b, c), (x, y, z) = one, other
    return (b * z - c * y, c * x - a * z, a * y - b * x)


# --------------------------------------------------------------------------------------------------
# MJCF: the tree of links.
#
# Bodies are nested; the joints of a body precede its frame, each with an axis through its `pos`.
# Inertias are those of <inertial>. Inertias of shapes are not calculated: arms that need them are
# refused. Armature is the rotor inertia at the joint.
# --------------------------------------------------------------------------------------------------

MJCF_JOINTS = ("hinge", "slide", "ball", "free")
MADE = ("include", "replicate", "attach", "composite", "flexcomp")  # which MuJoCo expands
MJCF_WORLD = "world"
BOUNDS = ("boundmass", "boundinertia", "settotalmass", "balanceinertia")
SHAPES = "its inertia is that of its shapes, which is not calculated: give it an <inertial>"


def read_mjcf(top: Element) -> LinkTree:
    """Return the tree of an MJCF, given its outermost element."""
    for element in top.everything():
        if element.tag in MADE:
            element.fail("not read", "let MuJoCo expand it, and give the saved model")
    reader = _MjcfReader(top)
    for world in top.all("worldbody"):
        reader.bodies(world, MJCF_WORLD, HERE, None)
    if not reader.links:
        top.fail("a robot needs at least one <body>")
    links = links_of([TreeLink(MJCF_WORLD, None, top), *reader.links])
    joints, notes = _coupled(top, reader.joints), _left_out(top, reader)
    return tree_of(top, top.get("model"), links, joints, gravity=_gravity(top), notes=notes)


class _MjcfReader:
    """Collects the links and joints of all bodies."""

    def __init__(self, top: Element) -> None:
        self.compiler = compiler_of(top)
        self.defaults = Defaults(top)
        self.efforts = _efforts(top, self.defaults)
        self.links: list[TreeLink] = []
        self.joints: list[TreeJoint] = []
        self.springs: list[str] = []
        self.floating: list[str] = []

    def bodies(self, element: Element, parent: str, pose: Pose, style: str | None) -> None:
        """Read the bodies in a body; a <frame> only shifts its contents."""
        for child in element.children:
            if child.tag == "frame":
                place = composed(pose, self.pose(child))
                self.bodies(child, parent, place, child.attributes.get("childclass", style))
            elif child.tag == "body":
                self.body(child, parent, composed(pose, self.pose(child)), style)

    def body(self, element: Element, parent: str, pose: Pose, style: str | None) -> None:
        """Read a body with this pose in its parent's frame, and all bodies in it."""
        style = element.attributes.get("childclass", style)
        name = element.name(f"body-{len(self.links) + 1}")
        before, place = parent, pose
        moved = [child for child in element.children if child.tag in ("joint", "freejoint")]
        for k, own in enumerate(moved, 1):
            joint = self.defaults.apply(own, style)
            at = Pose(joint.triple("pos", "origin"), HERE.rotation)
            after = name if k == len(moved) and at == HERE else f"{name}/{k}"
            self.joints.append(self.joint(joint, f"{name}-{k}", (before, after), place, at))
            if after != name:
                self.links.append(TreeLink(after, None, own))
            before, place = after, inverted(at)
        if before != name:
            self.joints.append(fixed_joint(name, before, name, place, element))
        self.links.append(self.link(element, name, style))
        if element.positive("gravcomp", "mass"):
            self.floating.append(name)
        self.bodies(element, name, HERE, style)

    def link(self, element: Element, name: str, style: str | None) -> TreeLink:
        """Return a body's link, with its inertia if it is given."""
        inertial = element.one("inertial")
        source = self.compiler.get("inertiafromgeom", "auto")
        shapes = [] if source == "false" else list(self.shape_masses(element, style))
        if (source == "true" and shapes) or (inertial is None and any(shapes)):
            return TreeLink(name, None, element, SHAPES)
        if inertial is None:
            return TreeLink(name, None, element)
        mass = inertial.positive("mass", "mass", None)
        return TreeLink(name, Inertial(self.pose(inertial), mass, _inertia(inertial)), element)

    def shape_masses(self, element: Element, style: str | None) -> Iterator[bool]:
        """Yield whether it has a mass, for every shape of a body."""
        for child in element.children:
            if child.tag == "frame":
                yield from self.shape_masses(child, child.attributes.get("childclass", style))
            elif child.tag == "geom":
                geom = self.defaults.apply(child, style)
                key = "mass" if "mass" in geom.attributes else "density"
                yield geom.number(key, None, 1000.0) != 0

    def joint(
        self, element: Element, name: str, ends: tuple[str, str], body: Pose, at: Pose
    ) -> TreeJoint:
        """Return a joint at the pose `at` in a body with the pose `body` at zero."""
        name = element.name(name)
        kind = element.kind(MJCF_JOINTS, "free" if element.tag == "freejoint" else "hinge")
        hinge, moving = kind == "hinge", kind in ("hinge", "slide")
        axis = element.axis("axis", "0 0 1") if moving else Z
        lower, upper = self.range(element, hinge=hinge) if moving else (None, None)
        if element.positive("stiffness", "viscous_friction"):
            self.springs.append(name)
        armature = element.positive("armature", "rotor_inertia")
        drive = Drive(
            element.positive("damping", "viscous_friction"),
            element.positive("frictionloss", "coulomb_friction"),
            armature, 1.0, "its armature" if armature else "",
        )  # fmt: skip
        kinds = {"hinge": "continuous" if lower is None else "revolute", "slide": "prismatic"}
        return TreeJoint(
            name, kinds.get(kind, kind), *ends,
            composed(composed(body, at), self.zero(element, axis, hinge=hinge)), axis,
            Limit(lower, upper, None, self.effort(element, name, hinge=hinge)),
            drive, None, element,
        )  # fmt: skip

    def zero(self, element: Element, axis: Triple, *, hinge: bool) -> Pose:
        """Return the pose of the joint's frame at zero; poses in the file are those at `ref`."""
        back = -self.angle(element.number("ref", "position_range", 0.0), hinge=hinge)
        if not back:
            return HERE
        if hinge:
            return Pose(HERE.origin, roll_pitch_yaw(about_axis(axis, back)))
        x, y, z = (back * part for part in axis)
        return Pose((x, y, z), HERE.rotation)

    def range(self, element: Element, *, hinge: bool) -> tuple[float | None, float | None]:
        """Return the limits of a joint in rad or m, if it has any."""
        limited = element.attributes.get("limited", "auto")
        auto = "range" in element.attributes and self.compiler.get("autolimits") != "false"
        if limited == "false" or (limited == "auto" and not auto):
            return None, None
        lower, upper = (
            self.angle(end, hinge=hinge) for end in element.numbers("range", (2,), None)
        )
        if lower > upper:
            element.fail(f"range must rise, not go from {number(lower)} to {number(upper)}")
        return lower, upper

    def effort(self, element: Element, name: str, *, hinge: bool) -> float | None:
        """Return the largest torque of a joint: its own limit, or its actuator's."""
        limit = self.efforts.get(name)
        if "actuatorfrcrange" in element.attributes:
            limit = max(map(abs, element.numbers("actuatorfrcrange", (2,), None)))
        return None if limit is None else limit_size(limit, "torque_range", revolute=hinge)

    def angle(self, value: float, *, hinge: bool) -> float:
        """Convert an angle in the unit of the compiler's `angle` to radians."""
        degrees = hinge and self.compiler.get("angle", "degree") == "degree"
        return math.radians(value) if degrees else value

    def pose(self, element: Element) -> Pose:
        """Return the pose of an element's frame."""
        rotation = rotation_of(element, self.compiler)
        return snapped(Pose(element.triple("pos", "origin"), rotation), PRINTED)


def _inertia(inertial: Element) -> Inertia:
    if "fullinertia" in inertial.attributes:
        xx, yy, zz, xy, xz, yz = inertial.numbers("fullinertia", (6,), "inertia")
        return (xx, yy, zz, xy, yz, xz)
    xx, yy, zz = inertial.triple("diaginertia", "inertia")
    return (xx, yy, zz, 0.0, 0.0, 0.0)


def _efforts(top: Element, defaults: Defaults) -> dict[str, float]:
    """Return the sum of the actuators' limits for every joint."""
    found: dict[str, float] = {}
    for section in top.all("actuator"):
        for own in section.children:
            actuator = defaults.apply(own, None)
            joint = actuator.attributes.get("joint")
            key = "forcerange"
            if own.tag == "motor" and key not in actuator.attributes:
                key = "ctrlrange"  # the control of a motor is its force
            if own.tag not in ACTUATORS or joint is None or key not in actuator.attributes:
                continue
            force = max(map(abs, actuator.numbers(key, (2,), None)))
            gear = abs(actuator.numbers("gear", (1, 2, 3, 4, 5, 6), None, "1")[0])
            found[joint] = found.get(joint, 0.0) + force * gear
    return found


def _coupled(top: Element, joints: list[TreeJoint]) -> list[TreeJoint]:
    """Return the joints, with `mimics` where an equality constrains them."""
    tied = {
        one.get("joint1"): one.attributes.get("joint2", "a constant")
        for section in top.all("equality")
        for one in section.all("joint")
        if one.attributes.get("active") != "false"
    }
    return [replace(j, mimics=tied[j.name]) if j.name in tied else j for j in joints]


def _gravity(top: Element) -> Triple:
    gravity = DOWN
    for option in top.all("option"):
        if "gravity" in option.attributes:
            gravity = option.triple("gravity", "gravity")
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
