"""Where the tip of an arm is and how it moves, over any algebra, in the base frame.

The tip is the origin of the last link's frame. A column of the geometric Jacobian is the velocity
of the tip, and the angular velocity of the last link, of one joint that moves at unit speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.problem.dynamics.recurrence import link_frame
from boolcomp.problem.dynamics.vectors import Matrix3, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.dynamics.algebra import Algebra, Element
    from boolcomp.problem.robot import Robot


def forward_kinematics(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    """Return the place of the tip, and the rotation matrix of the last frame, row by row."""
    rotation, place = _frames(robot, algebra, q)[-1]
    return [*place, *(entry for row in rotation.rows for entry in row)]


def jacobian(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    """Return the geometric Jacobian row by row: three of the tip's velocity, three of turning."""
    zero = algebra.constant(0.0)
    frames = _frames(robot, algebra, q)
    _, tip = frames[-1]
    columns: list[list[Element]] = []
    for link, (rotation, place) in zip(robot.links, frames, strict=False):
        x, y, z = rotation.rows
        axis = Vector(x.z, y.z, z.z)
        if link.revolute:
            arm = Vector(tip.x - place.x, tip.y - place.y, tip.z - place.z)
            columns.append([*(axis @ arm), *axis])
        else:
            columns.append([*axis, zero, zero, zero])
    return [column[row] for row in range(6) for column in columns]


def _frames(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[tuple[Matrix3, Vector]]:
    """Return rotation and origin of the base's frame and of every link's."""
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    rotation = Matrix3((Vector(one, zero, zero), Vector(zero, one, zero), Vector(zero, zero, one)))
    place = Vector(zero, zero, zero)
    frames = [(rotation, place)]
    for link, position in zip(robot.links, q, strict=True):
        turned, step, _ = link_frame(link, algebra, position)
        rotation = rotation @ turned
        place = place + rotation * step
        frames.append((rotation, place))
    return frames
