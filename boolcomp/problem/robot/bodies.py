"""Bodies made of bodies: links that are fixed to each other are one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.problem.robot.frames import HERE, applied, rotation_rows, turned_inertia

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.robot.model import Inertia, Pose, Triple

NO_INERTIA: Inertia = (0.0,) * 6


@dataclass(frozen=True, slots=True)
class Body:
    """A mass, its centre, and its inertia about that, all in one frame."""

    mass: float
    centre: Triple
    inertia: Inertia

    def seen_from(self, pose: Pose) -> Body:
        """Return the body as seen from the frame in which its own lies so."""
        if pose == HERE:
            return self
        rows = rotation_rows(pose.rotation)
        x, y, z = (a + b for a, b in zip(pose.origin, applied(rows, self.centre), strict=True))
        return Body(self.mass, (x, y, z), turned_inertia(rows, self.inertia))


def merged(bodies: Sequence[Body]) -> Body:
    """Return the one body that all of these are; alone, a body stays as it is."""
    acting = [body for body in bodies if body.mass or any(body.inertia)]
    if len(acting) == 1:
        return acting[0]
    mass = sum(body.mass for body in acting)
    if not mass:
        return Body(0.0, HERE.origin, _sum([body.inertia for body in acting]))
    x, y, z = (sum(body.mass * body.centre[k] for body in acting) / mass for k in range(3))
    return Body(mass, (x, y, z), _sum([_about((x, y, z), body) for body in acting]))


def point_inertia(mass: float, place: Triple) -> Inertia:
    """Return the inertia of a point mass about the origin."""
    x, y, z = place
    xx, yy, zz = mass * (y * y + z * z), mass * (x * x + z * z), mass * (x * x + y * y)
    return (xx, yy, zz, -mass * x * y, -mass * y * z, -mass * x * z)


def _about(centre: Triple, body: Body) -> Inertia:
    """Return a body's inertia about another point, by the parallel axis theorem."""
    x, y, z = (own - other for own, other in zip(body.centre, centre, strict=True))
    return _sum([body.inertia, point_inertia(body.mass, (x, y, z))])


def _sum(inertias: Sequence[Inertia]) -> Inertia:
    xx, yy, zz, xy, yz, xz = (sum(entries) for entries in zip(NO_INERTIA, *inertias, strict=True))
    return (xx, yy, zz, xy, yz, xz)
