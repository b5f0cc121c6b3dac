"""Inertial parameters that act: what a link may hand to the link before goes there.

Whatever of a link looks the same however it turns about its joint's axis (mass and first moment
on the axis, inertia Iyy across it) may as well belong to the link before; of a sliding link that
is its whole tensor. So of a turning link only Ixx - Iyy, Izz, the products of inertia and two
components of the first moment are left, and its mass is zero (Gautier and Khalil 1990). A fixed
base takes what the first link hands on; its rotor's inertia goes to Izz.

Frames lie on the joints' axes: frame i's z is the axis of joint i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.dynamics.jointframes import joint_frames
from boolcomp.problem.robot.frames import Z, about_axis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.dynamics.jointframes import JointFrame
    from boolcomp.problem.robot.model import Link, Robot

ROUNDING = 1e-12  # of what was added up: less than that of a parameter is none


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass, first moment and tensor of a link about the origin of its joint's frame."""

    mass: float
    first: tuple[float, float, float]
    tensor: tuple[tuple[float, float, float], ...]


def regrouped(robot: Robot) -> tuple[Inertia, ...]:
    """Return the links' parameters after everything has gone to the link before that may."""
    frames, nothing = joint_frames(robot), _Body(0.0, np.zeros(3), np.zeros((3, 3)), 0.0)
    carried = [nothing] * (robot.joints + 1)
    found = []
    for i in range(robot.joints - 1, -1, -1):
        link = robot.links[i]
        body, parent = _own(link, frames[i]).plus(carried[i + 1]), robot.parents[i]
        kept, moved = body.split(revolute=link.revolute)
        if parent:
            more = moved.seen_before(frames[i], revolute=link.revolute)
            carried[parent] = carried[parent].plus(more)
        elif link.revolute:
            kept = replace(kept, tensor=kept.tensor + np.diag([0.0, 0.0, link.joint_inertia]))
        found.append(kept.parameters())
    return tuple(found[::-1])


@dataclass(frozen=True, slots=True)
class _Body:
    """`scale` is the largest size that entries of the tensor have been added up from."""

    mass: float
    first: NDArray[np.float64]
    tensor: NDArray[np.float64]
    scale: float

    def plus(self, other: _Body) -> _Body:
        return _Body(
            self.mass + other.mass,
            self.first + other.first,
            self.tensor + other.tensor,
            max(self.scale, other.scale),
        )

    def split(self, *, revolute: bool) -> tuple[_Body, _Body]:
        """Return what stays with the link, and what the link before may have."""
        none = np.zeros(3)
        if not revolute:
            kept = _Body(self.mass, self.first, np.zeros((3, 3)), self.scale)
            return kept, _Body(0.0, none, self.tensor, self.scale)
        across = self.tensor[1, 1]
        moved = _Body(
            self.mass, np.array([0.0, 0.0, self.first[2]]), np.diag([across, across, 0.0]),
            self.scale,
        )  # fmt: skip
        kept = _Body(0.0, self.first - moved.first, self.tensor - moved.tensor, self.scale)
        return kept, moved

    def seen_before(self, frame: JointFrame, *, revolute: bool) -> _Body:
        """Return this, fixed to the link before at any angle, in that link's joint frame."""
        turn = np.array(frame.turn)
        if not revolute:
            turn = turn @ np.array(about_axis(Z, frame.angle))
        tensor = turn @ self.tensor @ turn.T
        turned = _Body(self.mass, turn @ self.first, tensor, self.scale)
        # A tensor alone is no place's.
        return _moved(turned, np.array(frame.origin)) if revolute else turned

    def parameters(self) -> Inertia:
        """Return the numbers, those that are rounding errors alone as zeros."""
        tensor = np.where(abs(self.tensor) <= ROUNDING * self.scale, 0.0, self.tensor)
        first = np.where(abs(self.first) <= ROUNDING * self.scale, 0.0, self.first)
        rows = tuple(_triple(row) for row in tensor)
        return Inertia(float(self.mass), _triple(first), rows)


def _own(link: Link, frame: JointFrame) -> _Body:
    """Return a link's own inertia in the frame on its joint's axis."""
    xx, yy, zz, xy, yz, xz = link.inertia
    central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    turn = np.array(frame.link)
    centre = turn @ np.array(link.center_of_mass) + np.array(frame.place)
    tensor = turn @ central @ turn.T
    body = _Body(link.mass, np.zeros(3), tensor, float(abs(tensor).max()))
    return _moved(body, centre)


def _moved(body: _Body, p: NDArray[np.float64]) -> _Body:
    """Return a body as seen from a point from which its origin is at p."""
    px, hx = _cross(p), _cross(body.first)
    tensor = body.tensor - px @ hx - hx @ px - body.mass * px @ px
    scale = max(body.scale, float(abs(tensor).max()))
    return _Body(body.mass, body.first + body.mass * p, tensor, scale)


def _cross(v: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _triple(values: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
