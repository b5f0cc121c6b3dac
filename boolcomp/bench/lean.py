"""Newton-Euler with the fewest operations known: the recurrence that the fastest rivals run.

Customised as by Khalil and Kleinfinger (1987): every link is seen from a frame on its own joint's
axis, U = [ω̇]× + [ω]×[ω]× is made once a link, and what of a turning link's mass cannot be told from
mass of the link before (its mass, its first moment along the axis and its spread along the axis)
is moved there beforehand. With m, h and K = ∫ r rᵀ dm in that frame:

    F = m a + U h         N = vee(U K - K Uᵀ) + h × a

`lean_torques` runs over any algebra, as `dynamics.recurrence.newton_euler` does; a test holds one
against the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.dynamics.algebra import exact_cosine, exact_sine
from boolcomp.dynamics.vectors import Matrix, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.dynamics.algebra import Algebra, Element
    from boolcomp.robot import Link, Robot

SMALL = 1e-13  # of a robot's largest moment: rounding noise of what was moved away


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """Mass, first moment and second moment of a link in its joint's frame."""

    m: float
    h: NDArray[np.float64]
    K: NDArray[np.float64]

    def __add__(self, other: Mass) -> Mass:
        return Mass(self.m + other.m, self.h + other.h, self.K + other.K)

    def moved(self, turn: NDArray[np.float64], way: NDArray[np.float64]) -> Mass:
        """Return the same mass in a frame in which x stands at turn·x + way."""
        h = turn @ self.h
        mixed = np.outer(h, way)
        K = turn @ self.K @ turn.T + mixed + mixed.T + self.m * np.outer(way, way)
        return Mass(self.m, h + self.m * way, K)


def lean_masses(robot: Robot) -> list[Mass]:
    """Return the links' masses after all that can be moved towards the base has been."""
    own = []
    for link in robot.links:
        xx, yy, zz, xy, yz, xz = link.inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        spread = np.trace(tensor) / 2 * np.eye(3) - tensor
        centre = np.array(link.center_of_mass)
        h = link.mass * centre
        own.append(Mass(link.mass, h, spread + np.outer(h, centre)).moved(*_placement(link)))
    for k in reversed(range(len(own))):
        if robot.links[k].revolute:
            axial = Mass(
                own[k].m, np.array([0, 0, own[k].h[2]]), np.diag([0.0, 0.0, own[k].K[2, 2]])
            )
            own[k] = own[k] + Mass(-axial.m, -axial.h, -axial.K)
            if k:
                own[k - 1] = own[k - 1] + axial.moved(*_placement(robot.links[k - 1]))
    noise = SMALL * max(float(np.abs(mass.K).max()) for mass in own)
    return [
        Mass(x.m, np.where(abs(x.h) > noise, x.h, 0), np.where(abs(x.K) > noise, x.K, 0))
        for x in own
    ]


def _placement(link: Link) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how the next joint's frame (before it turns) stands in this joint's."""
    c, s = exact_cosine(link.alpha), exact_sine(link.alpha)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]]), np.array([link.a, 0, link.d])


@dataclass(frozen=True, slots=True)
class _Frame:
    """A joint's frame on the way out: how to turn vectors back, and its motion."""

    link: Link
    cosine: Element
    sine: Element
    position: Element
    omega: Vector
    omega_dot: Vector
    U: Matrix
    acceleration: Vector


def lean_torques(
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
) -> list[Element]:
    """Return the torque of every joint (a force where it slides), without friction."""
    frames: list[_Frame] = []
    for link, *state in zip(robot.links, q, qd, qdd, strict=True):
        frames.append(_outward(robot, algebra, frames[-1] if frames else None, link, state))
    zero = algebra.constant(0.0)
    force = moment = Vector(zero, zero, zero)
    torques = []
    masses = lean_masses(robot)
    for k in reversed(range(robot.joints)):
        frame, link = frames[k], robot.links[k]
        if k + 1 < robot.joints:
            force, moment = _back(algebra, frames[k + 1], force, moment, link)
        own_force, own_moment = _own(algebra, frame, masses[k])
        force, moment = force + own_force, moment + own_moment
        torque = moment.z if link.revolute else force.z
        torques.append(torque + algebra.constant(link.joint_inertia) * qdd[k])
    return torques[::-1]


def _outward(
    robot: Robot, algebra: Algebra, before: _Frame | None, link: Link, state: Sequence[Element]
) -> _Frame:
    constant, zero = algebra.constant, algebra.constant(0.0)
    position, speed, rate = state
    theta = constant(link.theta) + position if link.revolute else constant(link.theta)
    cosine, sine = algebra.cosine(theta), algebra.sine(theta)
    if before is None:
        omega = omega_dot = Vector(zero, zero, zero)
        acceleration = Vector(*(constant(-g) for g in robot.gravity))
        twist = 0.0
    else:
        step = Vector(constant(before.link.a), zero, constant(before.link.d))
        omega, omega_dot, twist = before.omega, before.omega_dot, before.link.alpha
        acceleration = before.acceleration + before.U * step

    def turned(v: Vector) -> Vector:
        """Take a vector from the frame before into this one."""
        c, s = constant(exact_cosine(twist)), constant(exact_sine(twist))
        x, y, z = v.x, c * v.y + s * v.z, c * v.z - s * v.y
        return Vector(cosine * x + sine * y, cosine * y - sine * x, z)

    omega, omega_dot, acceleration = turned(omega), turned(omega_dot), turned(acceleration)
    if link.revolute:
        omega_dot = Vector(
            omega_dot.x + omega.y * speed, omega_dot.y - omega.x * speed, omega_dot.z + rate
        )
        omega = Vector(omega.x, omega.y, omega.z + speed)
    U = _twice_crossed(omega, omega_dot)
    if not link.revolute:
        slid = Vector(zero, zero, position)
        coriolis = (omega @ Vector(zero, zero, speed)).scaled(constant(2.0))
        acceleration = acceleration + U * slid + coriolis + Vector(zero, zero, rate)
    return _Frame(link, cosine, sine, position, omega, omega_dot, U, acceleration)


def _twice_crossed(w: Vector, d: Vector) -> Matrix:
    """Return [d]× + [w]×[w]×."""
    xx, yy, zz, xy, yz, xz = w.x * w.x, w.y * w.y, w.z * w.z, w.x * w.y, w.y * w.z, w.x * w.z
    return Matrix(
        (
            Vector(-(yy + zz), xy - d.z, xz + d.y),
            Vector(xy + d.z, -(xx + zz), yz - d.x),
            Vector(xz - d.y, yz + d.x, -(xx + yy)),
        )
    )


def _own(algebra: Algebra, frame: _Frame, mass: Mass) -> tuple[Vector, Vector]:
    """Return the force and moment (about the frame's origin) that move the link."""
    h = Vector(*(algebra.constant(float(x)) for x in mass.h))
    K = Matrix(tuple(Vector(*(algebra.constant(float(x)) for x in row)) for row in mass.K))  # type: ignore[arg-type]
    first, second, third = frame.U.rows
    k1, k2, k3 = K.rows  # K is symmetric: its rows are its columns
    spin = Vector(
        third.dot(k2) - second.dot(k3),
        first.dot(k3) - third.dot(k1),
        second.dot(k1) - first.dot(k2),
    )
    pull = frame.acceleration.scaled(algebra.constant(mass.m))
    return pull + frame.U * h, spin + h @ frame.acceleration


def _back(
    algebra: Algebra, frame: _Frame, force: Vector, moment: Vector, link: Link
) -> tuple[Vector, Vector]:
    """Return force and moment of a joint's frame in that of the joint before (`link`)."""
    constant, zero = algebra.constant, algebra.constant(0.0)
    if not frame.link.revolute:
        moment = moment + Vector(zero, zero, frame.position) @ force
    c, s = constant(exact_cosine(link.alpha)), constant(exact_sine(link.alpha))

    def turned(v: Vector) -> Vector:
        x, y = frame.cosine * v.x - frame.sine * v.y, frame.sine * v.x + frame.cosine * v.y
        return Vector(x, c * y - s * v.z, s * y + c * v.z)

    force, moment = turned(force), turned(moment)
    return force, moment + Vector(constant(link.a), zero, constant(link.d)) @ force
