"""A load held at the tip: a point mass at the tool's origin (or that of the last frame), or a body.

In a tree the tip is that of the last joint.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.errors import number
from boolcomp.common.errors import UsageError
from boolcomp.problem.robot.bodies import Body, merged, point_inertia
from boolcomp.problem.robot.limits import MOST_MASS

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Inertia, Robot


LAST = (-0.0, -0.0, -0.0)  # adding it changes nothing, no sign of a zero either


def with_payload(robot: Robot, mass: float) -> Robot:
    """Return the robot holding a point mass (kg) at its tip; ranges stay as they are."""
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
    """Return the robot holding a body, which is said in the tool's frame; ranges stay."""
    link = robot.links[-1]
    held = body if robot.tool is None else body.seen_from(robot.tool)
    whole = merged([Body(link.mass, link.center_of_mass, link.inertia), held])
    loaded = replace(link, mass=whole.mass, center_of_mass=whole.centre, inertia=whole.inertia)
    return replace(robot, links=(*robot.links[:-1], loaded))


def _added(one: Inertia, other: Inertia) -> Inertia:
    xx, yy, zz, xy, yz, xz = (a + b for a, b in zip(one, other, strict=True))
    return (xx, yy, zz, xy, yz, xz)
