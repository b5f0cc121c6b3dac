"""Kinematics, control laws, and inverse kinematics of planar arms and of arms with a wrist."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.problem.algebra import Matrix3, Vector
from boolcomp.problem.dynamics import COLUMNS, link_frame, newton_euler, pose_frame, weight
from boolcomp.problem.robot.model import Z

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Pose, Robot

    Elements = Sequence[Element]
    Dynamics = Callable[..., list[Element]]
    Floats = NDArray[np.float64]

# --------------------------------------------------------------------------------------------------
# Position and velocity of an arm's tip, over any algebra, in the world's frame.
#
# The tip is the origin of the tool, or without a tool that of the last link's frame. Joints on
# other branches do not move it. A column of the geometric Jacobian is the velocity of the tip and
# the angular velocity of the last link when one joint moves at unit speed.
# --------------------------------------------------------------------------------------------------


def forward_kinematics(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    """Return the position of the tip, and its rotation matrix, row by row."""
    _, rotation, place = _walk(robot, algebra, q)
    return [*place, *(entry for row in rotation.rows for entry in row)]


def jacobian(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    """Return the geometric Jacobian row by row: three linear and three angular velocities."""
    zero = algebra.constant(0.0)
    joints, _, tip = _walk(robot, algebra, q)
    columns: list[list[Element]] = []
    moving = with_ancestors(robot, robot.joints)
    for k, (link, (axis, place)) in enumerate(zip(robot.links, joints, strict=True), 1):
        if k not in moving:
            columns.append([zero] * 6)
        elif link.revolute:
            arm = Vector(tip.x - place.x, tip.y - place.y, tip.z - place.z)
            columns.append([*(axis @ arm), *axis])
        else:
            columns.append([*axis, zero, zero, zero])
    return [column[row] for row in range(6) for column in columns]


def with_ancestors(robot: Robot, joint: int) -> set[int]:
    """Return the numbers of a joint and its ancestors."""
    found = set[int]()
    while joint:
        found.add(joint)
        joint = robot.parents[joint - 1]
    return found


def chain_places(
    robot: Robot, algebra: Algebra, q: Sequence[Element]
) -> tuple[list[tuple[Vector, Vector]], Vector]:
    """Return every joint's axis and a point on it, and the position of the tip."""
    joints, _, tip = _walk(robot, algebra, q)
    return joints, tip


def _walk(
    robot: Robot, algebra: Algebra, q: Sequence[Element]
) -> tuple[list[tuple[Vector, Vector]], Matrix3, Vector]:
    """Return every joint's axis and a point on it, and the rotation and position of the tip."""
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    identity = Matrix3((Vector(one, zero, zero), Vector(zero, one, zero), Vector(zero, zero, one)))

    def placed(frame: tuple[Matrix3, Vector], pose: Pose | None) -> tuple[Matrix3, Vector]:
        if pose is None:
            return frame
        rotation, place = frame
        turned, step = pose_frame(pose, algebra)
        return rotation @ turned, place + rotation * step

    frames = [placed((identity, Vector(zero, zero, zero)), robot.base)]
    joints = []
    for link, parent, position in zip(robot.links, robot.parents, q, strict=True):
        rotation, place = placed(frames[parent], link.pose)
        axis = Z if link.pose is None else link.axis
        joints.append((rotation * Vector(*map(algebra.constant, axis)), place))
        turned, step, _ = link_frame(link, algebra, position)
        rotation = rotation @ turned
        frames.append((rotation, place + rotation * step))
    rotation, place = placed(frames[-1], robot.tool)
    return joints, rotation, place


# --------------------------------------------------------------------------------------------------
# Control laws over any algebra: torques from measured states and references.
# --------------------------------------------------------------------------------------------------

KP, KD = 100.0, 20.0  # gains of a joint that settles, critically damped, as exp(-10 t)
OPPOSITE = math.pi / 4  # rad: the largest distance from half a turn at which an error is reduced


def computed_torque(
    robot: Robot, algebra: Algebra, *state: Elements, dynamics: Dynamics = newton_euler
) -> list[Element]:
    """Return M(q) (q̈r + Kd ė + Kp e) + C(q, q̇) + G(q) of q, q̇, q̈r, e and ė.

    `dynamics` is the inverse dynamics to use.
    """
    q, qd, qddr, e, de = state
    kp, kd = algebra.constant(KP), algebra.constant(KD)
    commands = [r + kd * dx + kp * x for r, x, dx in zip(qddr, e, de, strict=True)]
    return dynamics(robot, algebra, q, qd, commands)


def pd_gravity(
    robot: Robot,
    algebra: Algebra,
    q: Elements,
    e: Elements,
    de: Elements,
    dynamics: Dynamics = newton_euler,
) -> list[Element]:
    """Return Kp e + Kd ė + G(q)."""
    held = weight(robot, algebra, q, dynamics)
    kp, kd = algebra.constant(KP), algebra.constant(KD)
    return [g + kp * x + kd * dx for g, x, dx in zip(held, e, de, strict=True)]


def commanded(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    """Return M(q) a + C(q, q̇) + G(q) of q, q̇, the reference, and the commands a."""
    q, qd, *_, commands = state
    return newton_euler(robot, algebra, q, qd, commands)


def commands(
    robot: Robot,
    algebra: Algebra,
    *state: Elements,
    kp: Sequence[float],
    kd: Sequence[float],
) -> list[Element]:
    """Return a = q̈r + Kd (q̇r - q̇) + Kp (qr - q), clipped to the joints' acceleration ranges.

    The difference of two angles wraps if the joint has no limits.
    """
    _, qd, _, qdr, qddr, *_ = state
    errors = position_errors(robot, algebra, *state, kp=kp, kd=kd)
    found = []
    for k, (link, e) in enumerate(zip(robot.links, errors, strict=True)):
        total = qddr[k] + kd[k] * (qdr[k] - qd[k]) + kp[k] * e
        found.append(clipped(algebra, total, link.acceleration.low, link.acceleration.high))
    return found


def position_errors(
    robot: Robot,
    algebra: Algebra,
    *state: Elements,
    kp: Sequence[float],
    kd: Sequence[float],
) -> list[Element]:
    """Return qr - q, clipped where the command saturates for all other values.

    So the sum of a command has the least necessary range, and the command is the same.
    """
    q, _, qr, *_ = state
    found = []
    for k, link in enumerate(robot.links):
        others = link.acceleration.magnitude + kd[k] * link.velocity.width
        limit = (link.acceleration.magnitude + others) / kp[k]
        found.append(_difference(algebra, link, qr[k], q[k], limit))
    return found


def _difference(
    algebra: Algebra, link: Link, reference: Element, measured: Element, limit: float
) -> Element:
    """Return the difference of two positions, of a joint without limits the shorter one.

    Such a difference jumps at half a turn. Near there it is reduced to zero, so that no torque
    jumps.
    """
    if not link.revolute:
        return clipped(algebra, reference - measured, -limit, limit)
    if link.span.wraps:
        error = algebra.function("wrap", reference - measured)
        near = (math.pi - algebra.function("abs", error)) * (1 / min(limit, OPPOSITE))
        return clipped(algebra, error, -limit, limit) * clipped(algebra, near, 0.0, 1.0)
    middle = link.position.centre
    one, other = (algebra.function("wrap", x - middle) for x in (reference, measured))
    return clipped(algebra, one - other, -limit, limit)


def clipped(algebra: Algebra, x: Element, low: float, high: float) -> Element:
    """Return x clipped to low .. high: (|x - low| - |x - high| + low + high) / 2."""
    above, below = algebra.function("abs", x - low), algebra.function("abs", x - high)
    return (above - below) * 0.5 + (low + high) / 2


# --------------------------------------------------------------------------------------------------
# Inverse kinematics of two parallel revolute joints.
#
# In the plane, about the first axis, with links of lengths a and b and the point at (x, y):
#
#     cos δ = (x² + y² - a² - b²) / 2ab,    θ = atan2(y, x) - atan2(b sin δ, a + b cos δ)
#
# θ is the first link's angle, δ that from the first link to the second. The sign of δ is a choice:
# with the elbow up it is not positive, so that the elbow is to the left of the line to the tip. The
# cosine is clipped to ±1: the arm stretches (or folds) towards a point out of reach. The first
# angle does not wrap, as a wrapped one would jump once more. Joint limits are ignored.
# --------------------------------------------------------------------------------------------------

NEARLY = 1e-9
WITHIN = 1 - 1e-12  # limit of a cosine, which rounding does not exceed


@dataclass(frozen=True, slots=True)
class Planar:
    """Two links in a plane of the base: `plane` has the indices of its coordinates, x before y.

    `origin` is the intersection of the first axis and the plane; `first` and `second` are the
    links' lengths. `turned` has the angles of the first link, and from it to the second, with all
    joints at zero. `senses` are 1 for counterclockwise joints and -1 for others.
    """

    plane: tuple[int, int]
    origin: tuple[float, float]
    first: float
    second: float
    turned: tuple[float, float]
    senses: tuple[float, float]


def planar(robot: Robot) -> Planar:
    """Return the geometry of an arm of two parallel joints; a `UsageError` for other arms."""
    needed = f"{robot.name}: inverse kinematics need two parallel revolute joints"
    if robot.joints != 2 or not all(link.revolute for link in robot.links):
        raise UsageError(f"{needed}, or six whose last three axes meet in a point")
    axes, places, tip, _ = _at_zero(robot)
    if float(np.abs(np.cross(axes[0], axes[1])).max()) > NEARLY:
        raise UsageError("the axes of its joints are not parallel", where=needed)
    upright = int(np.argmax(np.abs(axes[0])))
    if abs(axes[0][upright]) < 1 - NEARLY:
        raise UsageError(f"{needed}, parallel to an axis of the base")
    plane = ((upright + 1) % 3, (upright + 2) % 3)
    inward = [np.array([p[plane[0]], p[plane[1]]]) for p in (*places, tip)]
    one, other = inward[1] - inward[0], inward[2] - inward[1]
    lengths = float(np.hypot(*one)), float(np.hypot(*other))
    if min(lengths) < NEARLY:
        raise UsageError("a link of this arm has no length", where=needed)
    angles = math.atan2(one[1], one[0]), math.atan2(other[1], other[0])
    if plane[0] > plane[1]:  # z before x: swapped, which mirrors the plane
        plane = plane[1], plane[0]
        inward = [p[::-1] for p in inward]
        angles = math.pi / 2 - angles[0], math.pi / 2 - angles[1]
        axes = [-axis for axis in axes]
    senses = (float(np.sign(axes[0][upright])), float(np.sign(axes[1][upright])))
    bent = (angles[1] - angles[0] + math.pi) % (2 * math.pi) - math.pi
    origin = float(inward[0][0]), float(inward[0][1])
    return Planar(plane, origin, *lengths, (angles[0], bent), senses)


def _at_zero(robot: Robot) -> tuple[list[Floats], list[Floats], Floats, Floats]:
    """Return axes and points of all joints, and the tip's position and rotation, at zero."""
    joints, rotation, tip = _walk(robot, COLUMNS, [COLUMNS.constant(0.0)] * robot.joints)
    axes, places = ([_numbers(pair[k]) for pair in joints] for k in (0, 1))
    return axes, places, _numbers(tip), np.array([_numbers(row) for row in rotation.rows])


def _numbers(vector: Vector) -> Floats:
    return np.array([getattr(x, "value", x) for x in vector], dtype=np.float64)


def inverse_planar(
    robot: Robot, algebra: Algebra, point: Elements, *, elbow: Sequence[float]
) -> list[Element]:
    """Return both joints' angles from the tip's coordinates in the plane."""
    arm = planar(robot)
    x, y = (value - zero for value, zero in zip(point, arm.origin, strict=True))
    angles = two_links(algebra, x, y, (arm.first, arm.second), elbow[0])
    turns = zip(angles, arm.turned, arm.senses, strict=True)
    return [(angle - zero) * sense for angle, zero, sense in turns]


def two_links(
    algebra: Algebra, x: Element, y: Element, lengths: tuple[float, float], elbow: float
) -> tuple[Element, Element]:
    """Return the first link's angle, and that from it to the second, for a tip at (x, y)."""
    a, b = lengths
    cosine = (x * x + y * y - (a * a + b * b)) * (1 / (2 * a * b))
    bent = algebra.function("acos", clipped(algebra, cosine, -WITHIN, WITHIN)) * -elbow
    inside = algebra.arc(algebra.sine(bent) * b, algebra.cosine(bent) * b + a)
    return algebra.arc(y, x) - inside, bent


# --------------------------------------------------------------------------------------------------
# Inverse kinematics of six revolute joints, the last three of which meet in a point, the wrist.
#
# The second axis is at a right angle to the first and parallel to the third, as in the PUMA. With
# all joints at zero let z be the first axis, n the second, and x = n × z; let W be the wrist there.
# If the wrist is to be at X, Y along x and n from the first axis, then, with d = W·n,
#
#     u = √(X² + Y² - d²),    q1 = atan2(Y, X) - atan2(d, u)
#
# and q2, q3 bring two links to a point of the plane of z and x (see `planar`). The rest of the
# rotation is e^(-n (q2 + q3)) e^(-z q1) R Rₒᵀ, a product of rotations about the fourth, the fifth
# and again the fourth axis. Their angles follow from its entries. There are eight solutions: here
# the arm reaches forwards, the elbow is a choice, and the fifth joint's angle from the straight
# wrist is not negative. Outside of the reach, roots are 0 and cosines are clipped to ±1.
# --------------------------------------------------------------------------------------------------

LEAST = 1e-12  # smaller entries of a rotation are rounding errors


@dataclass(frozen=True, slots=True, eq=False)
class Wrist:
    """The geometry of an arm with a wrist, with all joints at zero."""

    axes: tuple[Floats, ...]
    across: Floats  # x
    foot: Floats  # a point on the first axis
    shoulder: Floats
    elbow: Floats
    centre: Floats
    tip: Floats
    rotation: Floats
    bend: float  # from the fourth axis to the sixth, about the fifth

    @property
    def reach(self) -> float:
        """The largest distance of the tip from the shoulder."""
        parts = (self.elbow - self.shoulder, self.centre - self.elbow, self.tip - self.centre)
        return float(sum(np.linalg.norm(part) for part in parts))


def wrist(robot: Robot) -> Wrist:
    """Return the geometry of an arm with a wrist; a `UsageError` for other arms."""
    needed = f"{robot.name}: inverse kinematics of six joints need"
    if robot.joints != 6 or not all(link.revolute for link in robot.links):
        raise UsageError(f"{needed} revolute joints")
    axes, places, tip, rotation = _at_zero(robot)
    if not (_parallel(axes[1], axes[2]) and _upright(axes[0], axes[1])):
        raise UsageError(f"{needed} parallel second and third axes, at right angles to the first")
    centre = _meeting(axes[3:], places[3:])
    if centre is None:
        raise UsageError(f"{needed} last three axes that meet in a point")
    if not (_upright(axes[3], axes[4]) and _upright(axes[4], axes[5])):
        raise UsageError(f"{needed} a fifth axis at right angles to the fourth and the sixth")
    turned = np.cross(axes[3], axes[5]) @ axes[4]
    bend = math.atan2(float(turned), float(axes[3] @ axes[5]))
    across = np.cross(axes[1], axes[0])
    foot, shoulder, elbow = places[:3]
    return Wrist(tuple(axes), across, foot, shoulder, elbow, centre, tip, rotation, bend)


def inverse_wrist(
    robot: Robot, algebra: Algebra, point: Elements, turn: Elements, *, elbow: Sequence[float]
) -> list[Element]:
    """Return all joints' angles from the tip's position and its roll, pitch and yaw."""
    arm = wrist(robot)
    turns = zip(np.eye(3)[::-1], turn[::-1], strict=True)  # yaw, pitch, roll about z, y, x
    rotation = _times(*(_about(algebra, axis, angle) for axis, angle in turns))
    offset = _constants(algebra, arm.rotation.T @ (arm.tip - arm.centre))
    moved = zip(point, _applied(rotation, offset), arm.foot, strict=True)
    place = Vector(*(p - by - float(foot) for p, by, foot in moved))
    z, n = arm.axes[0], arm.axes[1]
    x_, y_, z_ = _applied(_matrix(algebra, np.stack([arm.across, n, z])), place)
    centre = arm.centre - arm.foot
    d = float(centre @ n)
    square = x_ * x_ + y_ * y_ - d * d
    u = algebra.root((square + algebra.function("abs", square)) * 0.5)
    q1 = algebra.arc(y_, x_) - (algebra.arc(d, u) if abs(d) > NEARLY else 0.0)
    one, other = (_in_plane(arm, v) for v in (arm.elbow - arm.shoulder, arm.centre - arm.elbow))
    start = _in_plane(arm, arm.shoulder - arm.foot)
    lengths = math.hypot(*one), math.hypot(*other)
    first, bent = two_links(algebra, z_ - start[0], u - start[1], lengths, elbow[0])
    zero = math.atan2(one[1], one[0])
    q2 = first - zero
    sense = float(np.sign(n @ arm.axes[2]))
    fore = math.atan2(other[1], other[0])
    q3 = (bent - (fore - zero)) * sense
    back = _about(algebra, n, -(first + bent - fore)), _about(algebra, z, -q1)
    return [q1, q2, q3, *_hand(algebra, arm, _times(*back, rotation))]


def _hand(algebra: Algebra, arm: Wrist, rest: Matrix3) -> list[Element]:
    """Return the wrist's angles for the rest of the rotation."""
    fourth, fifth = arm.axes[3], arm.axes[4]
    basis = np.stack([np.cross(fifth, fourth), fifth, fourth], axis=1)
    outer, cross = _outer_and_cross(fifth)
    c, s = math.cos(arm.bend), math.sin(arm.bend)
    after = arm.rotation.T @ (outer + c * (np.eye(3) - outer) + s * cross) @ basis
    first, second, third = _times(_matrix(algebra, basis.T), rest, _matrix(algebra, after)).rows
    bent = algebra.function("acos", clipped(algebra, third.z, -WITHIN, WITHIN))
    return [algebra.arc(second.z, first.z), bent - arm.bend, algebra.arc(third.y, -third.x)]


def _about(algebra: Algebra, axis: Floats, angle: Element) -> Matrix3:
    """Return the rotation about a unit axis (Rodrigues)."""
    c, s = algebra.cosine(angle), algebra.sine(angle)
    outer, cross = _outer_and_cross(axis)
    parts = (_matrix(algebra, one).rows for one in (outer, np.eye(3) - outer, cross))
    first, second, third = (
        Vector(*(a + b * c + d * s for a, b, d in zip(*rows, strict=True)))
        for rows in zip(*parts, strict=True)
    )
    return Matrix3((first, second, third))


def _outer_and_cross(axis: Floats) -> tuple[Floats, Floats]:
    """Return the matrices n nᵀ and [n]×."""
    a, b, c = axis
    return np.outer(axis, axis), np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])


def _in_plane(arm: Wrist, v: Floats) -> tuple[float, float]:
    return float(v @ arm.axes[0]), float(v @ arm.across)


def _constants(algebra: Algebra, vector: Floats) -> Vector:
    """Return three constants; those that are nearly whole numbers are whole."""
    whole = np.round(vector)
    found = np.where(abs(vector - whole) < LEAST, whole, vector)
    return Vector(*(algebra.constant(float(x)) for x in found))


def _matrix(algebra: Algebra, rows: Floats) -> Matrix3:
    first, second, third = (_constants(algebra, row) for row in rows)
    return Matrix3((first, second, third))


def _times(*several: Matrix3) -> Matrix3:
    """Return the product of matrices, from left to right, row by row."""
    found = several[0]
    for other in several[1:]:
        first, second, third = (_applied(other.transposed, row) for row in found.rows)
        found = Matrix3((first, second, third))
    return found


def _applied(matrix: Matrix3, v: Vector) -> Vector:
    """Return the product of a matrix and a vector; the products are recorded before the sums."""
    products = ([a * b for a, b in zip(row, v, strict=True)] for row in matrix.rows)
    return Vector(*(a + b + c for a, b, c in products))


def _parallel(one: Floats, other: Floats) -> bool:
    return bool(np.abs(np.cross(one, other)).max() < NEARLY)


def _upright(one: Floats, other: Floats) -> bool:
    return bool(abs(one @ other) < NEARLY)


def _meeting(axes: Sequence[Floats], places: Sequence[Floats]) -> Floats | None:
    """Return the point in which axes meet, if they do."""
    across = [np.eye(3) - np.outer(a, a) for a in axes]
    rows, right = np.concatenate(across), np.concatenate([
        m @ p for m, p in zip(across, places, strict=True)
    ])  # fmt: skip
    point, *_ = np.linalg.lstsq(rows, right, rcond=None)
    return np.asarray(point) if np.abs(rows @ point - right).max() < NEARLY else None
