"""Robots: a chain or a tree of links in DH form or general frames, in SI units.

Also rotations and poses, bodies and their inertias, limits of the numbers in robot files, payloads.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from boolcomp.base.errors import UsageError, angle, number, short, shown
from boolcomp.problem.words import (
    MOST_SIZE,
    RIGHT,
    USUAL_FORMAT,
    WordSpan,
    exact_cosine,
    exact_sine,
    span_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.problem.words import Interval, WordFormat


JointType = Literal["revolute", "prismatic"]
Triple = tuple[float, float, float]
Inertia = tuple[float, float, float, float, float, float]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Pose:
    """A frame in another one: its origin, and roll, pitch and yaw about the other's axes."""

    origin: Triple
    rotation: Triple


@dataclass(frozen=True, slots=True)
class Link:
    """One joint and the link it moves, in the link's own frame (standard DH).

    Frame i is frame i-1 turned by theta about z and shifted by d along z, then shifted by a along
    and turned by alpha about the new x. A revolute joint adds q to theta, a prismatic one to d. A
    `pose` replaces a, alpha, d and theta, which are zero then: the frame's pose in frame i-1 at q =
    0. The joint turns about (slides along) its `axis` through the frame's origin. Link i-1 is the
    link before, or that of `parent`, the number of an earlier joint (0: the base). Centre of mass
    and inertia (xx, yy, zz, xy, yz, xz, about the centre of mass) are in the link's frame. Rotor
    inertia and friction are those at the motor shaft; the gear ratio transforms them to the joint.
    `position` holds the joint limits. `word_range` replaces the default range of the position's
    word; `word` is the rest of its format. `torque_limit` and `encoder_step` are used in simulation
    alone; 0 means none.
    """

    type: JointType
    a: float
    alpha: float
    d: float
    theta: float
    mass: float
    center_of_mass: Triple
    inertia: Inertia
    rotor_inertia: float
    gear_ratio: float
    viscous_friction: float
    coulomb_friction: tuple[float, float]
    position: Interval
    velocity: Interval
    acceleration: Interval
    torque: Interval
    doubt: str = ""
    word_range: Interval | None = None
    pose: Pose | None = None
    axis: Triple = (0.0, 0.0, 1.0)
    parent: int | None = None
    word: WordFormat = USUAL_FORMAT
    torque_limit: float = 0.0
    encoder_step: float = 0.0

    @property
    def revolute(self) -> bool:
        return self.type == "revolute"

    @property
    def span(self) -> WordSpan:
        return span_of(self.position, self.word_range, revolute=self.revolute)

    @property
    def unit(self) -> str:
        return "rad" if self.revolute else "m"

    @property
    def torque_unit(self) -> str:
        return "N·m" if self.revolute else "N"

    @property
    def joint_inertia(self) -> float:
        return self.rotor_inertia * self.gear_ratio**2

    def __str__(self) -> str:
        return "\n".join(_link_lines(self))


@dataclass(frozen=True, slots=True, repr=False)
class Robot:
    """An arm on a fixed base, serial or branched; `gravity` is the acceleration of free fall.

    `base` is the pose of the base frame in the world, in whose axes gravity is given; without it
    the two are the same. `tool` is the pose of the tip in the last link's frame; without it the tip
    is that frame. `str(robot)` is a robot file that gives an equal robot when it is read.
    """

    name: str
    title: str
    source: str
    doubt: str
    gravity: Triple
    links: tuple[Link, ...]
    tool: Pose | None = None
    base: Pose | None = None
    control_rate: float = 0.0

    @property
    def general(self) -> bool:
        return any(link.pose is not None for link in self.links)

    @property
    def parents(self) -> tuple[int, ...]:
        return tuple(k if x.parent is None else x.parent for k, x in enumerate(self.links))

    @property
    def branched(self) -> bool:
        return self.parents != tuple(range(self.joints))

    @property
    def mechanism(self) -> Robot:
        """The arm without drives and control rate, which compiled logic does not depend on."""
        links = (replace(link, torque_limit=0.0, encoder_step=0.0) for link in self.links)
        return replace(self, links=tuple(links), control_rate=0.0)

    @property
    def joints(self) -> int:
        return len(self.links)

    @property
    def mass(self) -> float:
        return sum(link.mass for link in self.links)

    def __str__(self) -> str:
        head = [f"name = {_quoted(self.name)}"]
        for key, value in (("title", self.title), ("source", self.source), ("doubt", self.doubt)):
            if value:
                head.append(f"{key} = {_quoted(value)}")
        head.append(f"gravity = {_list(self.gravity)}")
        if self.control_rate:
            head.append(f"control_rate = {number(self.control_rate)}")
        if self.base is not None:
            head += _pose_lines(self.base, "base_")
        if self.tool is not None:
            head += _pose_lines(self.tool, "tool_")
        return "\n\n".join(["\n".join(head), *(str(link) for link in self.links)]) + "\n"

    __repr__ = __str__


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    # TOML text may not contain control characters other than tabs.
    escaped = _CONTROL.sub(lambda match: rf"\u{ord(match[0]):04x}", escaped)
    return f'"{escaped}"'


def _list(values: tuple[float, ...]) -> str:
    return f"[{', '.join(number(value) for value in values)}]"


def _angle(value: float) -> str:
    text = angle(value)
    return _quoted(text) if "pi" in text else text


def _interval(interval: Interval) -> str:
    return f"[{_angle(interval.low)}, {_angle(interval.high)}]"


def _pose_lines(pose: Pose, prefix: str = "") -> list[str]:
    angles = ", ".join(map(_angle, pose.rotation))
    return [f"{prefix}origin = {_list(pose.origin)}", f"{prefix}rotation = [{angles}]"]


def _link_lines(link: Link) -> list[str]:
    inertia = link.inertia if any(link.inertia[3:]) else link.inertia[:3]
    frame = [f"a = {number(link.a)}", f"alpha = {_angle(link.alpha)}"]
    frame += [f"d = {number(link.d)}", f"theta = {_angle(link.theta)}"]
    if link.pose is not None:
        frame = [*_pose_lines(link.pose), f"axis = {_list(link.axis)}"]
    lines = [
        "[[joint]]",
        f'type = "{link.type}"',
        *([] if link.parent is None else [f"parent = {link.parent}"]),
        *frame,
        f"mass = {number(link.mass)}" if link.mass else "massless = true",
        f"center_of_mass = {_list(link.center_of_mass)}",
        f"inertia = {_list(inertia)}",
        f"rotor_inertia = {number(link.rotor_inertia)}",
        f"gear_ratio = {number(link.gear_ratio)}",
        f"viscous_friction = {number(link.viscous_friction)}",
        f"coulomb_friction = {_list(link.coulomb_friction)}",
        f"position_range = {_interval(link.position)}",
        f"velocity_range = {_interval(link.velocity)}",
        f"acceleration_range = {_interval(link.acceleration)}",
        f"torque_range = {_interval(link.torque)}",
    ]
    if link.word_range is not None:
        lines.insert(-3, f"word_range = {_interval(link.word_range)}")
    if link.word.bits is not None:
        lines.insert(-3, f"word_bits = {link.word.bits}")
    for key, value in (("code", link.word.code), ("zero", link.word.zero)):
        if value is not None:
            lines.insert(-3, f"word_{key} = {_quoted(value)}")
    for key, given in (("torque_limit", link.torque_limit), ("encoder_step", link.encoder_step)):
        if given:
            lines.append(f"{key} = {number(given)}")
    return [*lines, f"doubt = {_quoted(link.doubt)}"] if link.doubt else lines


# --------------------------------------------------------------------------------------------------
# Poses and rotations: matrices by rows, roll, pitch and yaw, and the axes of joints.
# --------------------------------------------------------------------------------------------------

Rows = tuple[Triple, Triple, Triple]
UNIT: Rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
UNIT_ERROR = 4e-16  # largest error of the length of a unit axis: that of a quotient
ROUNDING = 1e-14  # of angles of a product of two rotations
Z = (0.0, 0.0, 1.0)
HERE = Pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def rotation_rows(rotation: Triple) -> Rows:
    """Return R = Rz(yaw)·Ry(pitch)·Rx(roll), exact at right angles."""
    (sr, sp, sy), (cr, cp, cy) = (tuple(map(f, rotation)) for f in (exact_sine, exact_cosine))
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def roll_pitch_yaw(rows: Rows) -> Triple:
    """Return the angles of a rotation; they are also valid where roll and yaw coincide."""
    (xx, xy, xz), (yx, yy, yz), (zx, _, _) = rows
    yaw = math.atan2(yx, xx)
    s, c = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-zx, c * xx + s * yx)
    return (math.atan2(s * xz - c * yz, c * yy - s * xy), pitch, yaw)


def about_axis(axis: Triple, angle: float) -> Rows:
    """Return the rotation by an angle about a unit axis."""
    c, s = exact_cosine(angle), exact_sine(angle)
    x, y, z = axis
    return (
        (x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s),
        (x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s),
        (x * z * (1 - c) - y * s, y * z * (1 - c) + x * s, z * z + (1 - z * z) * c),
    )


def composed(one: Pose, other: Pose) -> Pose:
    """Return the product of two poses: `other` is given in the frame of `one`."""
    if HERE in (one, other):
        return other if one == HERE else one
    rows = rotation_rows(one.rotation)
    x, y, z = (a + b for a, b in zip(one.origin, applied(rows, other.origin), strict=True))
    rotation = roll_pitch_yaw(product(rows, rotation_rows(other.rotation)))
    return snapped(Pose((x, y, z), rotation), ROUNDING)


def inverted(pose: Pose) -> Pose:
    """Return the inverse of a pose."""
    if pose.rotation == HERE.rotation:
        a, b, c = pose.origin
        return Pose((0.0 - a, 0.0 - b, 0.0 - c), pose.rotation)
    rows = transposed(rotation_rows(pose.rotation))
    x, y, z = (0.0 - part for part in applied(rows, pose.origin))
    return snapped(Pose((x, y, z), roll_pitch_yaw(rows)), ROUNDING)


def snapped(pose: Pose, tolerance: float) -> Pose:
    """Replace angles of a pose that are within a tolerance of a right angle by that angle."""
    roll, pitch, yaw = (
        nearest if abs(angle - (nearest := round(angle / RIGHT) * RIGHT)) < tolerance else angle
        for angle in pose.rotation
    )
    return Pose(pose.origin, (roll, pitch, yaw))


def unit(axis: Triple) -> Triple:
    """Scale an axis, which must not be zero, to length one; a unit axis is not changed."""
    length = math.hypot(*axis)
    if abs(length - 1) <= UNIT_ERROR:
        return axis
    x, y, z = (part / length for part in axis)
    return (x, y, z)


def applied(rows: Rows, v: Triple) -> Triple:
    """Return the product R v of a matrix and a vector."""
    x, y, z = (_dot(row, v) for row in rows)
    return (x, y, z)


def product(one: Rows, other: Rows) -> Rows:
    """Return the product of two matrices."""
    columns = transposed(other)
    first, second, third = (applied(columns, row) for row in one)
    return (first, second, third)


def transposed(rows: Rows) -> Rows:
    """Return the transpose, which is the inverse of a rotation."""
    (a, b, c), (d, e, f), (g, h, i) = rows
    return ((a, d, g), (b, e, h), (c, f, i))


def turned_inertia(rows: Rows, inertia: Inertia) -> Inertia:
    """Return R I Rᵀ: an inertia in the axes of another frame."""
    if rows == UNIT:
        return inertia
    xx, yy, zz, xy, yz, xz = inertia
    tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = product(product(rows, tensor), transposed(rows))
    return (xx, yy, zz, xy, yz, xz)


def own_axis(link: Link) -> Triple:
    """Return the axis of the link's joint in the link's frame."""
    if link.pose is not None:
        return link.axis
    return (0.0, exact_sine(link.alpha), exact_cosine(link.alpha))


def axis_before(link: Link) -> Triple:
    """Return the axis of the link's joint in the frame before the joint."""
    if link.pose is not None:
        return applied(rotation_rows(link.pose.rotation), link.axis)
    return Z


def free_fall(robot: Robot) -> Triple:
    """Return the acceleration of free fall in the axes of the base frame."""
    if robot.base is None:
        return robot.gravity
    return applied(transposed(rotation_rows(robot.base.rotation)), robot.gravity)


def _dot(one: Triple, other: Triple) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


# --------------------------------------------------------------------------------------------------
# Rigid bodies: links that are fixed to each other are merged.
# --------------------------------------------------------------------------------------------------

NO_INERTIA: Inertia = (0.0,) * 6


@dataclass(frozen=True, slots=True)
class Body:
    """A mass, its centre, and its inertia about the centre, all in one frame."""

    mass: float
    centre: Triple
    inertia: Inertia

    def in_frame(self, pose: Pose) -> Body:
        """Return the body in the frame in which its own frame has this pose."""
        if pose == HERE:
            return self
        rows = rotation_rows(pose.rotation)
        x, y, z = (a + b for a, b in zip(pose.origin, applied(rows, self.centre), strict=True))
        return Body(self.mass, (x, y, z), turned_inertia(rows, self.inertia))


def merged(bodies: Sequence[Body]) -> Body:
    """Return the union of bodies; a single body is returned unchanged."""
    acting = [body for body in bodies if body.mass or any(body.inertia)]
    if len(acting) == 1:
        return acting[0]
    mass = sum(body.mass for body in acting)
    if not mass:
        return Body(0.0, HERE.origin, _sum([body.inertia for body in acting]))
    x, y, z = (sum(body.mass * body.centre[k] for body in acting) / mass for k in range(3))
    return Body(mass, (x, y, z), _sum([_inertia_about((x, y, z), body) for body in acting]))


def point_inertia(mass: float, place: Triple) -> Inertia:
    """Return the inertia of a point mass about the origin."""
    x, y, z = place
    xx, yy, zz = mass * (y * y + z * z), mass * (x * x + z * z), mass * (x * x + y * y)
    return (xx, yy, zz, -mass * x * y, -mass * y * z, -mass * x * z)


def _inertia_about(centre: Triple, body: Body) -> Inertia:
    """Return a body's inertia about another point, by the parallel axis theorem."""
    x, y, z = (own - other for own, other in zip(body.centre, centre, strict=True))
    return _sum([body.inertia, point_inertia(body.mass, (x, y, z))])


def _sum(inertias: Sequence[Inertia]) -> Inertia:
    xx, yy, zz, xy, yz, xz = (sum(entries) for entries in zip(NO_INERTIA, *inertias, strict=True))
    return (xx, yy, zz, xy, yz, xz)


# --------------------------------------------------------------------------------------------------
# Limits of the numbers in robot files, far beyond any arm and far below overflow.
#
# The largest arms have tens of metres and tens of tonnes. The fastest joints turn at some 10⁴
# rad/s, the highest gear ratios are some 10⁴, the strongest joints make some 10⁷ N·m. Each limit is
# at least a hundred times larger. A product of the factors of a torque stays below 10⁶⁰, so no step
# of any stage can overflow.
# --------------------------------------------------------------------------------------------------

MOST_JOINTS = 64
MOST_BYTES = 1 << 18  # of a robot file: 4 kB a joint
LEAST_MASS, MOST_MASS = 1e-9, 1e7  # kg

_LENGTH, _ANGLE = (1e4, "m"), (1e4, "rad")
_LENGTHS = ("a", "d", "origin", "base_origin", "tool_origin", "center_of_mass")
_ANGLES = ("alpha", "theta", "rotation", "base_rotation", "tool_rotation")
_POSITIONS = ("position_range", "word_range", "encoder_step")
_TORQUES = ("torque_range", "torque_limit")
_TURNING: Mapping[str, tuple[float, str]] = {
    **dict.fromkeys(_LENGTHS, _LENGTH),
    **dict.fromkeys((*_ANGLES, *_POSITIONS), _ANGLE),
    **dict.fromkeys(_TORQUES, (MOST_SIZE, "N·m")),
    "velocity_range": (1e6, "rad/s"),
    "acceleration_range": (1e9, "rad/s²"),
    "gravity": (1e4, "m/s²"),
    "control_rate": (1e6, "Hz"),
    "axis": (1e4, ""),
    "mass": (MOST_MASS, "kg"),
    "inertia": (1e12, "kg·m²"),
    "rotor_inertia": (1e6, "kg·m²"),
    "gear_ratio": (1e6, ""),
    "viscous_friction": (1e9, "N·m·s/rad"),
    "coulomb_friction": (1e9, "N·m"),
}
_SLIDING: Mapping[str, tuple[float, str]] = {
    **_TURNING,
    **dict.fromkeys(_POSITIONS, _LENGTH),
    **dict.fromkeys(_TORQUES, (MOST_SIZE, "N")),
    "velocity_range": (1e6, "m/s"),
    "acceleration_range": (1e9, "m/s²"),
}


def size_problem(key: str, value: float, *, revolute: bool) -> str:
    """Return a message if the number under a key is too large, else an empty text."""
    limit, unit = (_TURNING if revolute else _SLIDING)[key]
    if abs(value) <= limit:
        return ""
    ends = f"-{short(limit)} to {short(limit)} {unit}".rstrip()
    return f"must be from {ends}, not {shown(value)}"


# --------------------------------------------------------------------------------------------------
# Payloads: a point mass at the tip, or a body. In a tree the tip is that of the last joint.
# --------------------------------------------------------------------------------------------------

LAST = (-0.0, -0.0, -0.0)  # adding it changes no value, not even the sign of a zero


def with_payload(robot: Robot, mass: float) -> Robot:
    """Return the robot with a point mass (kg) at its tip; its ranges do not change."""
    if not 0 <= mass <= MOST_MASS:
        most = f": at most {MOST_MASS:g}" if mass > MOST_MASS else ""
        raise UsageError(f"a payload is a mass in kg, zero or more, not {number(mass)}{most}")
    if mass == 0:
        return robot
    link = robot.links[-1]
    total = link.mass + mass
    tip = LAST if robot.tool is None else robot.tool.origin
    moments = zip(link.center_of_mass, tip, strict=True)
    x, y, z = ((link.mass * c + mass * t) / total for c, t in moments)
    centre = (x, y, z)
    a, b, c = (old - new for old, new in zip(link.center_of_mass, centre, strict=True))
    inertia = _added(link.inertia, point_inertia(link.mass, (a, b, c)))
    a, b, c = (-new + t for new, t in zip(centre, tip, strict=True))
    inertia = _added(inertia, point_inertia(mass, (a, b, c)))
    loaded = replace(link, mass=total, center_of_mass=centre, inertia=inertia)
    return replace(robot, links=(*robot.links[:-1], loaded))


def with_body(robot: Robot, body: Body) -> Robot:
    """Return the robot with a body, given in the tool's frame; its ranges do not change."""
    link = robot.links[-1]
    held = body if robot.tool is None else body.in_frame(robot.tool)
    whole = merged([Body(link.mass, link.center_of_mass, link.inertia), held])
    loaded = replace(link, mass=whole.mass, center_of_mass=whole.centre, inertia=whole.inertia)
    return replace(robot, links=(*robot.links[:-1], loaded))


def _added(one: Inertia, other: Inertia) -> Inertia:
    xx, yy, zz, xy, yz, xz = (a + b for a, b in zip(one, other, strict=True))
    return (xx, yy, zz, xy, yz, xz)


# --------------------------------------------------------------------------------------------------
# Checks of inertia tensors: positive semidefinite, and possible for a mass distribution.
# --------------------------------------------------------------------------------------------------

TOLERANCE = 1e-7  # if two moments are equal, half of the digits are lost
NO_PRODUCT = 1e-40  # squared products of inertia, relative to the largest entry, that add nothing


def principal_moments(inertia: Inertia) -> tuple[float, float, float]:
    """Return the eigenvalues in rising order (in closed form, so that numpy is not imported)."""
    scale = max(map(abs, inertia)) or 1.0  # so that no square underflows
    xx, yy, zz, xy, yz, xz = (entry / scale for entry in inertia)
    off = xy * xy + yz * yz + xz * xz
    if off < NO_PRODUCT:
        low, middle, high = sorted(inertia[:3])
        return (low, middle, high)
    mean = (xx + yy + zz) / 3
    p = math.sqrt(((xx - mean) ** 2 + (yy - mean) ** 2 + (zz - mean) ** 2 + 2 * off) / 6)
    a, b, c, d, e, f = ((xx - mean) / p, (yy - mean) / p, (zz - mean) / p, xy / p, yz / p, xz / p)
    half_determinant = (a * (b * c - e * e) - d * (d * c - e * f) + f * (d * e - b * f)) / 2
    phase = math.acos(min(1.0, max(-1.0, half_determinant))) / 3
    high = mean + 2 * p * math.cos(phase)
    low = mean + 2 * p * math.cos(phase + 2 * math.pi / 3)
    return (scale * low, scale * (3 * mean - low - high), scale * high)


def check_inertia(inertia: Inertia) -> tuple[str, str]:
    """Return why an inertia is impossible, and why it is doubtful; each is empty if it is not."""
    low, middle, high = principal_moments(inertia)
    shown = ", ".join(f"{moment:.6g}" for moment in (low, middle, high))
    slack = TOLERANCE * max(abs(low), abs(high))
    if low < -slack:
        return (f"not positive semidefinite (principal moments {shown})", "")
    if low + middle < high - slack:
        return ("", f"no body has principal moments {shown}: two must add to at least the third")
    return ("", "")
