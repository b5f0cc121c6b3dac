"""Recursive Newton-Euler inverse dynamics (Luh, Walker and Paul 1980) over any algebra.

In standard DH frames, with everything of link i expressed in frame i, R its rotation to frame
i-1, p the way from origin i-1 to origin i, r the centre of mass, z the joint's axis:

    ω  = Rᵀ(ω' + z q̇)                          (a sliding joint adds nothing)
    ω̇  = Rᵀ(ω̇' + z q̈ + ω' × z q̇)
    v̇  = Rᵀ v̇' + ω̇ × p + ω × (ω × p)           (a sliding one adds z q̈ + 2 ω × z q̇)
    F  = m (v̇ + ω̇ × r + ω × (ω × r))           N = I ω̇ + ω × I ω
    f  = R₊ f₊ + F                             n = R₊ n₊ + p × f + r × F + N
    τ  = n · Rᵀz, or f · Rᵀz where it slides   (plus rotor inertia and friction)

A link with a pose of its own comes in two steps: a fixed one to where its frame lies, and one in
which step is zero (or along the axis, where it slides) and z the axis, the same in both frames.

In a tree every link follows its parent on the way out; on the way in the forces of all that hang on
a link add up. Gravity enters as an acceleration of the base. Units: SI.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boolcomp.problem.dynamics.vectors import (
    Matrix3,
    Vector,
    link_rotation,
    rotation_about,
    symmetric,
)
from boolcomp.problem.robot.frames import free_fall, rotation_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Pose, Robot


@dataclass(frozen=True, slots=True)
class _Motion:
    """What the way out finds of a link, all in the link's frame."""

    rotation: Matrix3
    step: Vector
    axis: Vector
    omega: Vector
    omega_dot: Vector
    acceleration: Vector


def newton_euler(
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
    *,
    gravity: bool = True,
    friction: bool = False,
    wrench: tuple[Sequence[Element], Sequence[Element]] | None = None,
) -> list[Element]:
    """Return the torque of every joint (a force where it slides).

    `wrench` is the (force, moment) that the tip exerts on its surroundings, at the origin of the
    tool (of the last frame, where there is none) and in its axes.
    """
    zero = algebra.constant(0.0)
    nothing = Vector(zero, zero, zero)
    up = [algebra.constant(-g if gravity else 0.0) for g in free_fall(robot)]
    motion = _Motion(Matrix3((nothing,) * 3), nothing, nothing, nothing, nothing, Vector(*up))
    motions = [motion]
    for link, parent, *state in zip(robot.links, robot.parents, q, qd, qdd, strict=True):
        motions.append(_outward(link, algebra, motions[parent], *state))
    force, moment = (nothing, nothing) if wrench is None else (Vector(*v) for v in wrench)
    hanging = {robot.joints: _before(robot.tool, algebra, force, moment)}
    torques = []
    for k in range(robot.joints, 0, -1):
        link, motion, parent = robot.links[k - 1], motions[k], robot.parents[k - 1]
        force, moment = _inward(link, algebra, motion, *hanging.get(k, (nothing, nothing)))
        torque = (moment if link.revolute else force).dot(motion.axis)
        torque = torque + algebra.constant(link.joint_inertia) * qdd[k - 1]
        torques.append(torque + _friction(link, algebra, qd[k - 1]) if friction else torque)
        force, moment = motion.rotation * force, motion.rotation * moment
        force, moment = _before(link.pose, algebra, force, moment)
        if parent in hanging:  # a sibling's
            force, moment = hanging[parent][0] + force, hanging[parent][1] + moment
        hanging[parent] = force, moment
    return torques[::-1]


def _outward(
    link: Link, algebra: Algebra, before: _Motion, q: Element, qd: Element, qdd: Element
) -> _Motion:
    before = _placed(link.pose, algebra, before)
    rotation, step, axis = link_frame(link, algebra, q)
    back = rotation.transposed
    speed, rate = _along(link, algebra, qd), _along(link, algebra, qdd)
    omega, omega_dot, acceleration = before.omega, before.omega_dot, before.acceleration
    if link.revolute:
        omega_dot = omega_dot + rate + omega @ speed
        omega = omega + speed
    else:
        twice = (omega @ speed).scaled(algebra.constant(2.0))
        acceleration = acceleration + rate + twice
    omega, omega_dot = back * omega, back * omega_dot
    acceleration = back * acceleration + omega_dot @ step + omega @ (omega @ step)
    return _Motion(rotation, step, axis, omega, omega_dot, acceleration)


def link_frame(link: Link, algebra: Algebra, q: Element) -> tuple[Matrix3, Vector, Vector]:
    """Return a joint's rotation, its step and its axis, both in the link's frame."""
    constant, zero = algebra.constant, algebra.constant(0.0)
    if link.pose is not None:
        axis = Vector(*map(constant, link.axis))
        less = Vector(*(constant(1 - part * part) for part in link.axis))
        turn = q if link.revolute else zero
        rotation = rotation_about(axis, less, algebra.cosine(turn), algebra.sine(turn))
        return rotation, axis.scaled(zero if link.revolute else q), axis
    sin_alpha, cos_alpha = (f(constant(link.alpha)) for f in (algebra.sine, algebra.cosine))
    theta, d = constant(link.theta), constant(link.d)
    theta, d = (theta + q, d) if link.revolute else (theta, d + q)
    rotation = link_rotation(algebra.cosine(theta), algebra.sine(theta), cos_alpha, sin_alpha, zero)
    step = Vector(constant(link.a), d * sin_alpha, d * cos_alpha)
    return rotation, step, Vector(zero, sin_alpha, cos_alpha)


def _along(link: Link, algebra: Algebra, x: Element) -> Vector:
    """Return so much along the joint's axis, in the frame before the joint turns or slides."""
    if link.pose is not None:
        return Vector(*map(algebra.constant, link.axis)).scaled(x)
    return Vector(algebra.constant(0.0), algebra.constant(0.0), x)


def pose_frame(pose: Pose, algebra: Algebra) -> tuple[Matrix3, Vector]:
    """Return the rotation and the origin of a fixed pose."""
    first, second, third = (
        Vector(*map(algebra.constant, row)) for row in rotation_rows(pose.rotation)
    )
    return Matrix3((first, second, third)), Vector(*map(algebra.constant, pose.origin))


def _placed(pose: Pose | None, algebra: Algebra, motion: _Motion) -> _Motion:
    """Return the motion of a frame that lies fixed in another; of that one, without a pose."""
    if pose is None:
        return motion
    rotation, step = pose_frame(pose, algebra)
    back, omega, omega_dot = rotation.transposed, motion.omega, motion.omega_dot
    acceleration = motion.acceleration + omega_dot @ step + omega @ (omega @ step)
    return replace(
        motion, omega=back * omega, omega_dot=back * omega_dot, acceleration=back * acceleration
    )


def _before(
    pose: Pose | None, algebra: Algebra, force: Vector, moment: Vector
) -> tuple[Vector, Vector]:
    """Return force and moment at the origin of the frame in which another lies fixed."""
    if pose is None:
        return force, moment
    rotation, step = pose_frame(pose, algebra)
    force = rotation * force
    return force, rotation * moment + step @ force


def _inward(
    link: Link, algebra: Algebra, motion: _Motion, force: Vector, moment: Vector
) -> tuple[Vector, Vector]:
    """Return force and moment at the origin before the link, from those after it (its frame)."""
    r = Vector(*(algebra.constant(c) for c in link.center_of_mass))
    inertia = symmetric(*(algebra.constant(c) for c in link.inertia))
    omega, omega_dot = motion.omega, motion.omega_dot
    own = motion.acceleration + omega_dot @ r + omega @ (omega @ r)
    own = own.scaled(algebra.constant(link.mass))
    spin = inertia * omega_dot + omega @ (inertia * omega)
    force = force + own
    return force, moment + motion.step @ force + r @ own + spin


def _friction(link: Link, algebra: Algebra, speed: Element) -> Element:
    """Viscous B·G²·q̇ and Coulomb |G|·Tc·sign q̇, with its own Tc in each direction."""
    forwards, backwards = (abs(link.gear_ratio) * c for c in link.coulomb_friction)
    viscous = algebra.constant(link.viscous_friction * link.gear_ratio**2) * speed
    if not any(link.coulomb_friction):
        return viscous  # over any algebra, also one that has no signs
    mean, half = (forwards + backwards) / 2, (forwards - backwards) / 2
    sign = algebra.sign(speed)
    return viscous + algebra.constant(mean) * sign + algebra.constant(half) * (sign * sign)
