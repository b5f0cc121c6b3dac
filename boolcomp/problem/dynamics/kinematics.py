"""Where the tip of an arm is and how it moves, over any algebra, in the base frame.

The tip is the origin of the tool, or of the last link's frame where there is none. A column of the
geometric Jacobian is the velocity of the tip, and the angular velocity of the last link, of one
joint that moves at unit speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.problem.dynamics.recurrence import link_frame, pose_frame
from boolcomp.problem.dynamics.vectors import Matrix3, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.dynamics.algebra import Algebra, Element
    from boolcomp.problem.robot import Robot
    from boolcomp.problem.robot.model import Pose


def forward_kinematics(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    """Return the place of the tip, and its rotation matrix, row by row."""
    _, rotation, place = _walk(robot, algebra, q)
    return [*place, *(entry for row in rotation.rows for entry in row)]


def jacobian(robot: Robot, algebra: Algebra, q: Sequence[Element]) -> list[Element]:
    """Return the geometric Jacobian row by row: three of the tip's velocity, three of turning."""
    zero = algebra.constant(0.0)
    joints, _, tip = _walk(robot, algebra, q)
    columns: list[list[Element]] = []
    for link, (axis, place) in zip(robot.links, joints, strict=True):
        if link.revolute:
            arm = Vector(tip.x - place.x, tip.y - place.y, tip.z - place.z)
            columns.append([*(axis @ arm), *axis])
        else:
            columns.append([*axis, zero, zero, zero])
    return [column[row] for row in range(6) for column in columns]


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
    rotation = Matrix3((Vector(one, zero, zero), Vector(zero, one, zero), Vector(zero, zero, one)))
    place = Vector(zero, zero, zero)

    def placed(pose: Pose | None) -> None:
        nonlocal rotation, place
        if pose is not None:
            turned, step = pose_frame(pose, algebra)
            place = place + rotation * step
            rotation = rotation @ turned

    joints = []
    for link, position in zip(robot.links, q, strict=True):
        placed(link.pose)
        along = Vector(zero, zero, one)
        if link.pose is not None:
            along = Vector(*map(algebra.constant, link.axis))
        joints.append((rotation * along, place))
        turned, step, _ = link_frame(link, algebra, position)
        rotation = rotation @ turned
        place = place + rotation * step
    placed(robot.tool)
    return joints, rotation, place
