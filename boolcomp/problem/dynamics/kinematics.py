"""Where the tip of an arm is and how it moves, over any algebra, in the world's frame.

The tip is the origin of the tool, or of the last link's frame where there is none; joints on which
the last one does not hang leave it where it is. A column of the geometric Jacobian is the velocity
of the tip, and the angular velocity of the last link, of one joint that moves at unit speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.problem.dynamics.newton_euler import link_frame, pose_frame
from boolcomp.problem.dynamics.vectors import Matrix3, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Pose, Robot


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
