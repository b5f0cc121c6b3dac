"""Frames on the joints' axes, of arms and trees in DH frames and in general ones.

The z of frame i is the axis of joint i: what turns with the joint turns about z, and what slides
does so along z. Where the joint's position is zero, the frame lies fixed in the one before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.problem.angles import exact_cosine, exact_sine
from boolcomp.problem.robot.frames import (
    UNIT,
    about_axis,
    applied,
    product,
    rotation_rows,
    transposed,
)

if TYPE_CHECKING:
    from boolcomp.problem.robot.frames import Rows
    from boolcomp.problem.robot.model import Link, Robot, Triple

NEARLY = 1e-12  # of a component of an axis


@dataclass(frozen=True, slots=True)
class JointFrame:
    """Where a joint's frame lies in the one before: `turn` about its `origin`, then about z.

    The angle about z is q + `angle` (of a sliding joint `angle`), the way along z that a sliding
    joint goes q + `slide`. `link` and `place` say how the link's own frame lies in this one.
    """

    turn: Rows
    origin: Triple
    angle: float
    slide: float
    link: Rows
    place: Triple


def joint_frames(robot: Robot) -> tuple[JointFrame, ...]:
    """Return the frames of all joints, from the base on."""
    found: list[JointFrame] = []
    for link, parent in zip(robot.links, robot.parents, strict=True):
        # How the link before lies in its joint's frame.
        before = found[parent - 1] if parent else None
        turn, origin = (before.link, before.place) if before else (UNIT, (0.0, 0.0, 0.0))
        found.append(
            _general(link, turn, origin) if link.pose is not None else _dh(link, turn, origin)
        )
    return tuple(found)


def _dh(link: Link, turn: Rows, origin: Triple) -> JointFrame:
    """Return the frame of a joint about z of the link frame before."""
    sine, cosine = exact_sine(link.alpha), exact_cosine(link.alpha)
    twist = ((1.0, 0.0, 0.0), (0.0, cosine, -sine), (0.0, sine, cosine))
    step = (0.0, 0.0, link.d if link.revolute else 0.0)
    return JointFrame(
        turn,
        _sum(origin, applied(turn, step)),
        link.theta,
        0.0 if link.revolute else link.d,
        twist,
        (link.a, 0.0, 0.0),
    )


def _general(link: Link, turn: Rows, origin: Triple) -> JointFrame:
    """Return the frame of a joint whose link has a pose and an axis of its own."""
    pose, own = link.pose, z_to(link.axis)
    if pose is None:
        raise TypeError("a link without a pose")
    rotation = product(turn, product(rotation_rows(pose.rotation), own))
    here = _sum(origin, applied(turn, pose.origin))
    return JointFrame(rotation, here, 0.0, 0.0, transposed(own), (0.0, 0.0, 0.0))


def z_to(axis: Triple) -> Rows:
    """Return a rotation that takes z to an axis; of axes of the frame an exact one."""
    x, y, z = axis
    if math.hypot(x, y) < NEARLY:
        return UNIT if z > 0 else ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
    if abs(z) < NEARLY and min(abs(x), abs(y)) < NEARLY:  # about the other axis by a right angle
        return about_axis((-math.copysign(round(abs(y)), y), float(round(x)), 0.0), math.pi / 2)
    across = math.hypot(x, y)
    return about_axis((-y / across, x / across, 0.0), math.atan2(across, z))


def _sum(one: Triple, other: Triple) -> Triple:
    x, y, z = (a + b for a, b in zip(one, other, strict=True))
    return (x, y, z)
