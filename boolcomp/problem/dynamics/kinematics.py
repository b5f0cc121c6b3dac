"""Inverse kinematics of six joints that turn, of which the last three meet in a point, the wrist.

The first axis crosses the second's direction at a right angle, the third is parallel to the
second: so is the PUMA built. With all joints at zero let z be the first axis, n the second, and
x = n × z; let W be the wrist there. Of a wrist that is wanted at X, Y along x and n from the first
axis, d = W·n:

    u = √(X² + Y² - d²),    q1 = atan2(Y, X) - atan2(d, u)

and q2, q3 bring two links to a point of the plane of z and x (see `planar`). What is left of the
rotation, e^(-n (q2 + q3)) e^(-z q1) R Rₒᵀ, is turned by the wrist's own axes about the fourth, the
fifth and again the fourth: their angles are those of its entries. Of eight ways there are, the arm
reaches forwards, the elbow is a choice, the fifth joint's turn from the straight wrist is not
negative. What is out of reach has roots of nothing and cosines held within ±1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.problem.choices import KD, KP
from boolcomp.problem.dynamics.newton_euler import COLUMNS, link_frame, newton_euler, pose_frame
from boolcomp.problem.expressions.algebra import Matrix3, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.algebra import Algebra, Element, FunctionAlgebra
    from boolcomp.problem.expressions.tape import Tape
    from boolcomp.problem.robot.model import Link, Pose, Robot

    Elements = Sequence[Element]
    Dynamics = Callable[..., list[Element]]
    Floats = NDArray[np.float64]
    Rows = list[list[Any]]


# --------------------------------------------------------------------------------------------------
# Where the tip of an arm is and how it moves, over any algebra, in the world's frame.
#
# The tip is the origin of the tool, or of the last link's frame where there is none; joints on
# which the last one does not hang leave it where it is. A column of the geometric Jacobian is the
# velocity of the tip, and the angular velocity of the last link, of one joint that moves at unit
# speed.
# --------------------------------------------------------------------------------------------------


def forward_kinematics(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    """Return the place of the tip, and its rotation matrix, row by row."""
    _, rotation, place = _walk(robot, algebra, q)
    return [*place, *(entry for row in rotation.rows for entry in row)]


def jacobian(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    """Return the geometric Jacobian row by row: three of the tip's velocity, three of turning."""
    zero = algebra.constant(0.0)
    joints, _, tip = _walk(robot, algebra, q)
    columns: list[list[Element]] = []
    moving = way_to(robot, robot.joints)
    for k, (link, (axis, place)) in enumerate(zip(robot.links, joints, strict=True), 1):
        if k not in moving:
            columns.append([zero] * 6)
        elif link.revolute:
            arm = Vector(tip.x - place.x, tip.y - place.y, tip.z - place.z)
            columns.append([*(axis @ arm), *axis])
        else:
            columns.append([*axis, zero, zero, zero])
    return [column[row] for row in range(6) for column in columns]


def way_to(robot: Robot, joint: int) -> set[int]:
    """Return the numbers of the joints on which one hangs, its own with them."""
    found = set[int]()
    while joint:
        found.add(joint)
        joint = robot.parents[joint - 1]
    return found


def chain_places(
    robot: Robot, algebra: Algebra, q: Sequence[Element]
) -> tuple[list[tuple[Vector, Vector]], Vector]:
    """Return every joint's axis and a place on it, and the place of the tip."""
    joints, _, tip = _walk(robot, algebra, q)
    return joints, tip


def _walk(
    robot: Robot, algebra: Algebra, q: Sequence[Element]
) -> tuple[list[tuple[Vector, Vector]], Matrix3, Vector]:
    """Return every joint's axis and place, and the rotation and the place of the tip."""
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    unturned = Matrix3((Vector(one, zero, zero), Vector(zero, one, zero), Vector(zero, zero, one)))

    def placed(frame: tuple[Matrix3, Vector], pose: Pose | None) -> tuple[Matrix3, Vector]:
        if pose is None:
            return frame
        rotation, place = frame
        turned, step = pose_frame(pose, algebra)
        return rotation @ turned, place + rotation * step

    frames = [placed((unturned, Vector(zero, zero, zero)), robot.base)]
    joints = []
    for link, parent, position in zip(robot.links, robot.parents, q, strict=True):
        rotation, place = placed(frames[parent], link.pose)
        along = Vector(zero, zero, one)
        if link.pose is not None:
            along = Vector(*map(algebra.constant, link.axis))
        joints.append((rotation * along, place))
        turned, step, _ = link_frame(link, algebra, position)
        rotation = rotation @ turned
        frames.append((rotation, place + rotation * step))
    rotation, place = placed(frames[-1], robot.tool)
    return joints, rotation, place


# --------------------------------------------------------------------------------------------------
# Control laws over any algebra: torques from measured and wanted states.
# --------------------------------------------------------------------------------------------------


OPPOSITE = math.pi / 4  # rad from half a turn, at most, that the difference is led to zero


def computed_torque(
    robot: Robot, algebra: Algebra, *state: Elements, dynamics: Dynamics = newton_euler
) -> list[Element]:
    """Return M(q) (q̈r + Kd ė + Kp e) + C(q, q̇) + G(q) of q, q̇, q̈r, e and ė.

    `dynamics` is the text of inverse dynamics that is used.
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
    zeros = [algebra.constant(0.0)] * robot.joints
    weight = dynamics(robot, algebra, q, zeros, zeros)
    kp, kd = algebra.constant(KP), algebra.constant(KD)
    return [g + kp * x + kd * dx for g, x, dx in zip(weight, e, de, strict=True)]


def commanded(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    """Return M(q) a + C(q, q̇) + G(q) of q, q̇, the reference, and a, the commands."""
    q, qd, *_, commands = state
    return newton_euler(robot, algebra, q, qd, commands)


def commands(
    robot: Robot,
    algebra: FunctionAlgebra,
    *state: Elements,
    kp: Sequence[float],
    kd: Sequence[float],
) -> list[Element]:
    """Return a = q̈r + Kd (q̇r - q̇) + Kp (qr - q), held within the joints' accelerations.

    The difference of two angles wraps where the joint has no stops.
    """
    _, qd, _, qdr, qddr, *_ = state
    errors = position_errors(robot, algebra, *state, kp=kp, kd=kd)
    found = []
    for k, (link, e) in enumerate(zip(robot.links, errors, strict=True)):
        most = link.acceleration
        total = qddr[k] + kd[k] * (qdr[k] - qd[k]) + kp[k] * e
        found.append(clipped(algebra, total, most.low, most.high))
    return found


def position_errors(
    robot: Robot,
    algebra: FunctionAlgebra,
    *state: Elements,
    kp: Sequence[float],
    kd: Sequence[float],
) -> list[Element]:
    """Return qr - q, held where it makes the command saturate whatever else there is.

    So the sum of a command is as wide as it need be, and the command is the same.
    """
    q, _, qr, *_ = state
    found = []
    for k, link in enumerate(robot.links):
        others = link.acceleration.magnitude + kd[k] * link.velocity.width
        most = (link.acceleration.magnitude + others) / kp[k]
        found.append(_difference(algebra, link, qr[k], q[k], most))
    return found


def _difference(
    algebra: FunctionAlgebra, link: Link, wanted: Element, measured: Element, most: float
) -> Element:
    """Return how far it is from one position to the other: the short way round, if it may go so.

    Half a turn away either way is as short, and the difference jumps: near there it is led through
    zero, no steeper than where it is held, so that no torque jumps.
    """
    if not link.revolute:
        return clipped(algebra, wanted - measured, -most, most)
    if link.span.wraps:
        error = algebra.function("wrap", wanted - measured)
        near = (math.pi - algebra.function("abs", error)) * (1 / min(most, OPPOSITE))
        return clipped(algebra, error, -most, most) * clipped(algebra, near, 0.0, 1.0)
    middle = link.position.centre
    one, other = (algebra.function("wrap", x - middle) for x in (wanted, measured))
    return clipped(algebra, one - other, -most, most)


def clipped(algebra: FunctionAlgebra, x: Element, low: float, high: float) -> Element:
    """Return x held within two numbers: (|x - low| - |x - high| + low + high) / 2."""
    above, below = algebra.function("abs", x - low), algebra.function("abs", x - high)
    return (above - below) * 0.5 + (low + high) / 2


# --------------------------------------------------------------------------------------------------
# Inverse kinematics of two parallel joints that turn: the angles that bring the tip to a point.
#
# In the plane, about the first axis, with links of lengths a and b and the point at (x, y):
#
#     cos δ = (x² + y² - a² - b²) / 2ab,    θ = atan2(y, x) - atan2(b sin δ, a + b cos δ)
#
# θ is the first link's angle, δ that from the first link to the second, and its sign is a choice:
# with the elbow up δ is not above zero, so that the elbow lies to the left of the way to the tip. A
# point out of reach has the cosine held within ±1: the arm is stretched (or folded) towards it. The
# first angle is not brought into a turn, for then it would jump once more; nobody looks at stops.
# --------------------------------------------------------------------------------------------------


NEARLY = 1e-9
WITHIN = 1 - 1e-12  # of a cosine: rounding leaves it one
AXES = "xyz"


@dataclass(frozen=True, slots=True)
class Planar:
    """Two links in a plane of the base: `plane` are the places of its coordinates, x before y.

    `origin` is where the first axis meets it; `first` and `second` are the links' lengths, `turned`
    the first one's angle and that from it to the second while all joints are at zero, `senses`
    whether joints turn counterclockwise (1) or clockwise (-1) there.
    """

    plane: tuple[int, int]
    origin: tuple[float, float]
    first: float
    second: float
    turned: tuple[float, float]
    senses: tuple[float, float]


def planar(robot: Robot) -> Planar:
    """Return an arm of two parallel joints as such; a `UsageError` where it is none."""
    wrong = f"{robot.name}: inverse kinematics are compiled of two parallel joints that turn"
    if robot.joints != 2 or not all(link.revolute for link in robot.links):
        raise UsageError(f"{wrong}, and of six of which the last three meet in a point")
    axes, places, tip = at_zero(robot)
    if float(np.abs(np.cross(axes[0], axes[1])).max()) > NEARLY:
        raise UsageError(f"{wrong}: the axes of its joints are not parallel")
    upright = int(np.argmax(np.abs(axes[0])))
    if abs(axes[0][upright]) < 1 - NEARLY:
        raise UsageError(f"{wrong} about an axis of the base: these lie askew")
    plane = ((upright + 1) % 3, (upright + 2) % 3)
    inward = [np.array([p[plane[0]], p[plane[1]]]) for p in (*places, tip)]
    one, other = inward[1] - inward[0], inward[2] - inward[1]
    lengths = float(np.hypot(*one)), float(np.hypot(*other))
    if min(lengths) < NEARLY:
        raise UsageError(f"{wrong}: a link of this arm has no length")
    angles = math.atan2(one[1], one[0]), math.atan2(other[1], other[0])
    if plane[0] > plane[1]:  # z before x: told in the order x, z, turned over
        plane = plane[1], plane[0]
        inward = [p[::-1] for p in inward]
        angles = math.pi / 2 - angles[0], math.pi / 2 - angles[1]
        axes = [-axis for axis in axes]
    senses = (float(np.sign(axes[0][upright])), float(np.sign(axes[1][upright])))
    bent = (angles[1] - angles[0] + math.pi) % (2 * math.pi) - math.pi
    origin = float(inward[0][0]), float(inward[0][1])
    return Planar(plane, origin, *lengths, (angles[0], bent), senses)


def at_zero(robot: Robot) -> tuple[list[Floats], list[Floats], Floats]:
    """Return the axes and places of all joints, and the tip, while all joints are at zero."""
    zeros = [COLUMNS.constant(0.0)] * robot.joints
    joints, tip = chain_places(robot, COLUMNS, zeros)
    axes = [_numbers(axis) for axis, _ in joints]
    return axes, [_numbers(place) for _, place in joints], _numbers(tip)


def _numbers(vector: Any) -> Floats:
    return np.array([getattr(x, "value", x) for x in vector], dtype=np.float64)


def inverse_planar(
    robot: Robot, tape: Tape, point: Sequence[Any], *, elbow: Sequence[float]
) -> list[Any]:
    """Return both joints' angles, as steps, of the tip's coordinates in the plane."""
    arm = planar(robot)
    x, y = (value - zero for value, zero in zip(point, arm.origin, strict=True))
    first, bent = two_links(tape, x, y, (arm.first, arm.second), elbow[0])
    return [
        (first - arm.turned[0]) * arm.senses[0],
        (bent - arm.turned[1]) * arm.senses[1],
    ]


def two_links(
    tape: Tape, x: Any, y: Any, lengths: tuple[float, float], elbow: float
) -> tuple[Any, Any]:
    """Return the first link's angle and that from it to the second, for a point in the plane."""
    a, b = lengths
    cosine = (x * x + y * y - (a * a + b * b)) * (1 / (2 * a * b))
    bent = tape.function("acos", clipped(tape, cosine, -WITHIN, WITHIN)) * -elbow
    inside = tape.arc(tape.sine(bent) * b, tape.cosine(bent) * b + a)
    return tape.arc(y, x) - inside, bent


# --------------------------------------------------------------------------------------------------
# Inverse kinematics of six joints that turn, of which the last three meet in a point, the wrist.
# --------------------------------------------------------------------------------------------------


LEAST = 1e-12  # of a rotation's entry: less is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Wrist:
    """An arm with a wrist, while all joints are at zero: axes, the places of what is needed."""

    axes: tuple[Floats, ...]
    across: Floats  # x
    foot: Floats  # a place on the first axis
    shoulder: Floats
    elbow: Floats
    centre: Floats
    tip: Floats
    rotation: Floats
    bend: float  # from the fourth axis to the sixth, about the fifth

    @property
    def reach(self) -> float:
        """How far the tip may be from the shoulder."""
        parts = (self.elbow - self.shoulder, self.centre - self.elbow, self.tip - self.centre)
        return float(sum(np.linalg.norm(part) for part in parts))


def wrist(robot: Robot) -> Wrist:
    """Return an arm with a wrist as such; a `UsageError` where it is none."""
    wrong = f"{robot.name}: inverse kinematics of six joints are compiled where"
    if robot.joints != 6 or not all(link.revolute for link in robot.links):
        raise UsageError(f"{wrong} all of them turn")
    axes, places, tip = at_zero(robot)
    if not (_parallel(axes[1], axes[2]) and _upright(axes[0], axes[1])):
        raise UsageError(
            f"{wrong} the second and third axes are parallel, and at right angles to the first"
        )
    centre = _meeting(axes[3:], places[3:])
    if centre is None:
        raise UsageError(f"{wrong} the last three axes meet in a point")
    if not (_upright(axes[3], axes[4]) and _upright(axes[4], axes[5])):
        raise UsageError(f"{wrong} the fifth axis is at right angles to the fourth and the sixth")
    pose = [getattr(x, "value", x) for x in forward_kinematics(robot, COLUMNS, _zeros(robot))]
    turned = np.cross(axes[3], axes[5]) @ axes[4]
    return Wrist(
        tuple(axes), np.cross(axes[1], axes[0]), places[0], places[1], places[2], centre, tip,
        np.array(pose[3:], dtype=np.float64).reshape(3, 3),
        math.atan2(float(turned), float(axes[3] @ axes[5])),
    )  # fmt: skip


def inverse_wrist(
    robot: Robot, tape: Tape, point: Sequence[Any], turn: Sequence[Any], *, elbow: Sequence[float]
) -> list[Any]:
    """Return all joints' angles, as steps, of the tip's place and its roll, pitch and yaw."""
    arm = wrist(robot)
    rotation = _rotation(tape, *turn)
    offset = arm.rotation.T @ (arm.tip - arm.centre)
    place = [
        p - moved - float(f)
        for p, moved, f in zip(point, _times(rotation, offset.tolist()), arm.foot, strict=True)
    ]
    z, n = arm.axes[0], arm.axes[1]
    x_, y_, z_ = (_dot(axis.tolist(), place) for axis in (arm.across, n, z))
    centre = arm.centre - arm.foot
    d = float(centre @ n)
    square = x_ * x_ + y_ * y_ - d * d
    u = tape.root((square + tape.function("abs", square)) * 0.5)
    q1 = tape.arc(y_, x_) - (tape.arc(tape.constant(d), u) if abs(d) > NEARLY else 0.0)
    one, other = (_in_plane(arm, v) for v in (arm.elbow - arm.shoulder, arm.centre - arm.elbow))
    start = _in_plane(arm, arm.shoulder - arm.foot)
    lengths = math.hypot(*one), math.hypot(*other)
    first, bent = two_links(tape, z_ - start[0], u - start[1], lengths, elbow[0])
    zero = math.atan2(one[1], one[0])
    q2 = first - zero
    sense = float(np.sign(n @ arm.axes[2]))
    fore = math.atan2(other[1], other[0])
    q3 = (bent - (fore - zero)) * sense
    left = _times_all(_about(tape, n, -(first + bent - fore)), _about(tape, z, -q1), rotation)
    return [q1, q2, q3, *_hand(tape, arm, left)]


def _hand(tape: Tape, arm: Wrist, left: Rows) -> list[Any]:
    """Return the wrist's angles, of the rotation that is left to it but for the one at zero."""
    fourth, fifth = arm.axes[3], arm.axes[4]
    basis = np.stack([np.cross(fifth, fourth), fifth, fourth], axis=1)
    straight = np.array(_numbers_about(fifth, arm.bend))
    after = arm.rotation.T @ straight @ basis
    h = _times_all(_cleared(basis.T), left, _cleared(after))
    bent = tape.function("acos", clipped(tape, h[2][2], -WITHIN, WITHIN))
    return [
        tape.arc(h[1][2], h[0][2]),
        bent - arm.bend,
        tape.arc(h[2][1], -h[2][0]),
    ]


def _rotation(tape: Tape, roll: Any, pitch: Any, yaw: Any) -> Rows:
    """Return Rz(yaw) Ry(pitch) Rx(roll)."""
    x, y, z = np.eye(3)
    return _times_all(_about(tape, z, yaw), _about(tape, y, pitch), _about(tape, x, roll))


def _about(tape: Tape, axis: Floats, angle: Any) -> Rows:
    """Return the rotation about an axis of length one (Rodrigues)."""
    c, s = tape.cosine(angle), tape.sine(angle)
    a, b, e = axis
    cross = np.array([[0.0, -e, b], [e, 0.0, -a], [-b, a, 0.0]])
    outer = np.outer(axis, axis)
    return [
        [
            _sum([
                _scaled(float(outer[i, j]), None),
                _scaled(float((i == j) - outer[i, j]), c),
                _scaled(float(cross[i, j]), s),
            ])
            for j in range(3)
        ]
        for i in range(3)
    ]  # fmt: skip


def _numbers_about(axis: Floats, angle: float) -> Floats:
    """Return the same of a known angle, as numbers."""
    a, b, e = axis
    cross = np.array([[0.0, -e, b], [e, 0.0, -a], [-b, a, 0.0]])
    outer = np.outer(axis, axis)
    return np.asarray(outer + math.cos(angle) * (np.eye(3) - outer) + math.sin(angle) * cross)


def _in_plane(arm: Wrist, v: Floats) -> tuple[float, float]:
    """Return a vector's coordinates along z and x."""
    return float(v @ arm.axes[0]), float(v @ arm.across)


def _scaled(factor: float, x: Any) -> Any:
    """Return factor · x, or the factor itself; 0 where it is rounding."""
    tidy = round(factor) if abs(factor - round(factor)) < LEAST else factor
    if not tidy:
        return 0.0
    return tidy * x if x is not None else tidy


def _sum(parts: Sequence[Any]) -> Any:
    """Return a sum without zeros."""
    total: Any = 0.0
    for part in parts:
        if not (isinstance(part, (int, float)) and part == 0):
            total = part if isinstance(total, float) and total == 0 else total + part
    return total


def _product(a: Any, b: Any) -> Any:
    if isinstance(a, (int, float)):
        return _scaled(float(a), None if isinstance(b, (int, float)) else b) * (
            float(b) if isinstance(b, (int, float)) else 1.0
        )
    return _scaled(float(b), a) if isinstance(b, (int, float)) else a * b


def _dot(one: Sequence[Any], other: Sequence[Any]) -> Any:
    return _sum([_product(float(a), b) for a, b in zip(one, other, strict=True)])


def _times(rows: Rows, v: Sequence[Any]) -> list[Any]:
    return [_sum([_product(a, b) for a, b in zip(row, v, strict=True)]) for row in rows]


def _times_all(*several: Rows) -> Rows:
    """Return a product of matrices, from the left."""
    found = several[0]
    for rows in several[1:]:
        columns = [[row[j] for row in rows] for j in range(3)]
        found = [[_sum([_product(a, b) for a, b in zip(row, column, strict=True)])
                  for column in columns] for row in found]  # fmt: skip
    return found


def _cleared(matrix: Floats) -> Rows:
    return [[float(_scaled(float(x), None)) for x in row] for row in matrix]


def _zeros(robot: Robot) -> list[Any]:
    return [COLUMNS.constant(0.0)] * robot.joints


def _parallel(one: Floats, other: Floats) -> bool:
    return bool(np.abs(np.cross(one, other)).max() < NEARLY)


def _upright(one: Floats, other: Floats) -> bool:
    return bool(abs(one @ other) < NEARLY)


def _meeting(axes: Sequence[Floats], places: Sequence[Floats]) -> Floats | None:
    """Return the point in which axes meet, if they do."""
    across = [np.eye(3) - np.outer(a, a) for a in axes]
    wanted = np.concatenate([m @ p for m, p in zip(across, places, strict=True)])
    point, *_ = np.linalg.lstsq(np.concatenate(across), wanted, rcond=None)
    near = np.abs(np.concatenate(across) @ point - wanted).max()
    return np.asarray(point) if near < NEARLY else None
