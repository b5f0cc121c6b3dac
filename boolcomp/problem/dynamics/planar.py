"""Inverse kinematics of two parallel joints that turn: the angles that bring the tip to a point.

In the plane, about the first axis, with links of lengths a and b and the point at (x, y):

    cos δ = (x² + y² - a² - b²) / 2ab,    θ = atan2(y, x) - atan2(b sin δ, a + b cos δ)

θ is the first link's angle, δ that from the first link to the second, and its sign is a choice:
with the elbow up δ is not above zero, so that the elbow lies to the left of the way to the tip. A
point out of reach has the cosine held within ±1: the arm is stretched (or folded) towards it. The
first angle is not brought into a turn, for then it would jump once more; nobody looks at stops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics.batch import COLUMNS
from boolcomp.problem.dynamics.control import clipped
from boolcomp.problem.dynamics.kinematics import chain_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.tape import Tape
    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]

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
