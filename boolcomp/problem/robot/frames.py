"""Frames in frames: rotations as rows, roll, pitch and yaw, and where a link's axis points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boolcomp.problem.angles import RIGHT, exact_cosine, exact_sine
from boolcomp.problem.robot.model import Pose

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Inertia, Link, Robot, Triple

    Rows = tuple[Triple, Triple, Triple]

UNIT: Rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
UNIT_ERROR = 4e-16  # of the length of an axis that counts as one: a quotient is no nearer
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
    """Return the angles of a rotation; where roll and yaw are one, they still fit together."""
    (xx, xy, xz), (yx, yy, yz), (zx, _, _) = rows
    yaw = math.atan2(yx, xx)
    s, c = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-zx, c * xx + s * yx)
    return (math.atan2(s * xz - c * yz, c * yy - s * xy), pitch, yaw)


def about_axis(axis: Triple, angle: float) -> Rows:
    """Return the rotation through an angle about an axis of length one."""
    c, s = exact_cosine(angle), exact_sine(angle)
    x, y, z = axis
    return (
        (x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s),
        (x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s),
        (x * z * (1 - c) - y * s, y * z * (1 - c) + x * s, z * z + (1 - z * z) * c),
    )


def composed(one: Pose, other: Pose) -> Pose:
    """Return where a frame lies of which the other says where it lies in the one."""
    if HERE in (one, other):
        return other if one == HERE else one
    rows = rotation_rows(one.rotation)
    x, y, z = (a + b for a, b in zip(one.origin, applied(rows, other.origin), strict=True))
    rotation = roll_pitch_yaw(product(rows, rotation_rows(other.rotation)))
    return squared(Pose((x, y, z), rotation), ROUNDING)


def inverted(pose: Pose) -> Pose:
    """Return where the other frame lies in the one that lies so in it."""
    if pose.rotation == HERE.rotation:
        a, b, c = pose.origin
        return Pose((0.0 - a, 0.0 - b, 0.0 - c), pose.rotation)
    rows = transposed(rotation_rows(pose.rotation))
    x, y, z = (0.0 - part for part in applied(rows, pose.origin))
    return squared(Pose((x, y, z), roll_pitch_yaw(rows)), ROUNDING)


def squared(pose: Pose, tolerance: float) -> Pose:
    """Return a pose whose angles are right ones where they are nearly that."""
    roll, pitch, yaw = (
        nearest if abs(angle - (nearest := round(angle / RIGHT) * RIGHT)) < tolerance else angle
        for angle in pose.rotation
    )
    return Pose(pose.origin, (roll, pitch, yaw))


def unit(axis: Triple) -> Triple:
    """Return an axis at length one, as it is where it has that already; it must not be zero."""
    length = math.hypot(*axis)
    if abs(length - 1) <= UNIT_ERROR:
        return axis
    x, y, z = (part / length for part in axis)
    return (x, y, z)


def applied(rows: Rows, v: Triple) -> Triple:
    """Return R v."""
    x, y, z = (_dot(row, v) for row in rows)
    return (x, y, z)


def product(one: Rows, other: Rows) -> Rows:
    """Return the product of two matrices."""
    columns = transposed(other)
    first, second, third = (applied(columns, row) for row in one)
    return (first, second, third)


def transposed(rows: Rows) -> Rows:
    """Return the transpose; of a rotation, the rotation back."""
    (a, b, c), (d, e, f), (g, h, i) = rows
    return ((a, d, g), (b, e, h), (c, f, i))


def turned_inertia(rows: Rows, inertia: Inertia) -> Inertia:
    """Return R I Rᵀ: an inertia in the axes of the frame that R leads to."""
    if rows == UNIT:
        return inertia
    xx, yy, zz, xy, yz, xz = inertia
    tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = product(product(rows, tensor), transposed(rows))
    return (xx, yy, zz, xy, yz, xz)


def own_axis(link: Link) -> Triple:
    """Return the axis that the link's joint turns about or slides along, in the link's frame."""
    if link.pose is not None:
        return link.axis
    return (0.0, exact_sine(link.alpha), exact_cosine(link.alpha))


def axis_before(link: Link) -> Triple:
    """Return that axis in the frame before the joint."""
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
