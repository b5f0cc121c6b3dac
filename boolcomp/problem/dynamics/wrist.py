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

from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics.batch import COLUMNS
from boolcomp.problem.dynamics.control import clipped
from boolcomp.problem.dynamics.kinematics import forward_kinematics
from boolcomp.problem.dynamics.planar import NEARLY, WITHIN, at_zero, two_links

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.tape import Tape
    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]
    Rows = list[list[Any]]

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
