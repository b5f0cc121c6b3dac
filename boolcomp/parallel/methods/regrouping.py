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

from boolcomp.parallel.methods import joints as of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot import Link, Robot

ROUNDING = 1e-12  # of what was added up: less than that of a parameter is none


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass, first moment and tensor of a link about the origin of its joint's frame."""

    mass: float
    first: tuple[float, float, float]
    tensor: tuple[tuple[float, float, float], ...]


def regrouped(robot: Robot) -> tuple[Inertia, ...]:
    """Return the links' parameters after everything has gone to the link before that may."""
    carried = _Body(0.0, np.zeros(3), np.zeros((3, 3)), 0.0)
    found = []
    for i in range(robot.joints - 1, -1, -1):
        link = robot.links[i]
        body = _own(link).plus(carried)
        kept, moved = body.split(revolute=link.revolute)
        if i:
            carried = moved.seen_before(link, robot.links[i - 1])
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

    def seen_before(self, link: Link, before: Link) -> _Body:
        """Return this, fixed to the link before at any angle, in that link's joint frame."""
        turn, p = _placed(link, before)
        angle = 0.0 if link.revolute else link.theta
        turn = turn @ np.array(
            [
                [np.cos(angle), -np.sin(angle), 0.0],
                [np.sin(angle), np.cos(angle), 0.0],
                [0.0, 0.0, 1.0],
            ]
        )
        tensor = turn @ self.tensor @ turn.T
        turned = _Body(self.mass, turn @ self.first, tensor, self.scale)
        return _moved(turned, p) if link.revolute else turned  # a tensor alone is no place's

    def parameters(self) -> Inertia:
        """Return the numbers, those that are rounding errors alone as zeros."""
        tensor = np.where(abs(self.tensor) <= ROUNDING * self.scale, 0.0, self.tensor)
        first = np.where(abs(self.first) <= ROUNDING * self.scale, 0.0, self.first)
        rows = tuple(_triple(row) for row in tensor)
        return Inertia(float(self.mass), _triple(first), rows)


def _own(link: Link) -> _Body:
    """Return a link's own inertia in the frame on its joint's axis."""
    xx, yy, zz, xy, yz, xz = link.inertia
    central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    turn = _twist(link)
    centre = turn @ np.array(link.center_of_mass) + np.array([link.a, 0.0, 0.0])
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


def _twist(link: Link) -> NDArray[np.float64]:
    sine, cosine = of.twist(link)
    return np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])


def _placed(link: Link, before: Link) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how a joint's frame lies in the one before, at angle and sliding offset zero."""
    sine, cosine = of.twist(before)
    offset = link.d if link.revolute else 0.0
    return _twist(before), np.array([before.a, -sine * offset, cosine * offset])


def _triple(values: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
