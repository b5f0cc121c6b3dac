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

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing, short, spelled
from boolcomp.problem.expressions.algebra import (
    Constant,
    Element,
    Folding,
    Matrix3,
    Vector,
    link_rotation,
    rotation_about,
    symmetric,
)
from boolcomp.problem.expressions.fourier import (
    Spectra,
    Summand,
    derivative,
    grid,
    sparse,
    spectra_of,
    transform,
)
from boolcomp.problem.problem import array_of, full_shapes, numbered
from boolcomp.problem.robot.library import robot_of
from boolcomp.problem.robot.model import (
    UNIT,
    about_axis,
    applied,
    free_fall,
    product,
    rotation_rows,
    transposed,
    with_payload,
)
from boolcomp.problem.words import exact_cosine, exact_sine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.expressions.algebra import Algebra, FunctionAlgebra
    from boolcomp.problem.expressions.fourier import Complex
    from boolcomp.problem.problem import Input
    from boolcomp.problem.robot.model import Link, Pose, Robot, Rows, Triple

    Elements = Sequence[Element]


# --------------------------------------------------------------------------------------------------
# Recursive Newton-Euler inverse dynamics (Luh, Walker and Paul 1980) over any algebra.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Torques of many samples at once: the recurrence over blocks of numpy columns.
# --------------------------------------------------------------------------------------------------


BLOCK = 8192  # samples whose columns stay in the second-level cache


class _Columns:
    """The algebra of numpy columns."""

    def constant(self, value: float) -> float:
        return value

    def sine(self, x: Element) -> Element:
        return np.sin(x)

    def cosine(self, x: Element) -> Element:
        return np.cos(x)

    def sign(self, x: Element) -> Element:
        return np.sign(x)


COLUMNS = Folding(_Columns())
ZERO, ONE = Constant(0.0), Constant(1.0)


@spelled
def inverse_dynamics(
    robot: Robot | str | Path,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    *,
    gravity: bool = True,
    friction: bool = False,
    wrench: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return torques in N·m (forces in N), shape (n, joints) or (joints,), by Newton-Euler.

    `robot` is a value, a shipped name or a path. `q`, `qd`, `qdd` have that shape too, or are
    (joints,) for all samples, or a number for all joints. `wrench` is six numbers, or (n, 6): the
    force and the moment that the tip exerts on its surroundings, in the last link's frame.
    """
    arm = robot_of(robot)
    state, shape = _state(arm, {"q": q, "qd": qd, "qdd": qdd})
    tip = None if wrench is None else _wrench(wrench, len(state[0]))

    def block(rows: slice) -> list[Element]:
        columns = [_fold(x[rows]) for x in state]
        force = None if tip is None else (list(tip[rows, :3].T), list(tip[rows, 3:].T))
        return newton_euler(
            arm, COLUMNS, *columns, gravity=gravity, friction=friction, wrench=force
        )

    return _in_blocks(len(state[0]), arm.joints, block).reshape(shape)


def gravity_torques(robot: Robot | str | Path, q: ArrayLike) -> NDArray[np.float64]:
    """Return G(q): the torques of the arm at rest, (n, joints)."""
    arm = robot_of(robot)
    return _with_constants(arm, q, ZERO, [ZERO] * arm.joints, gravity=True)


def bias_torques(robot: Robot | str | Path, q: ArrayLike, qd: ArrayLike) -> NDArray[np.float64]:
    """Return C(q, q̇) + G(q): the torques at zero acceleration, (n, joints)."""
    return inverse_dynamics(robot, q, qd, 0.0)


def inertia_matrix(robot: Robot | str | Path, q: ArrayLike) -> NDArray[np.float64]:
    """Return M(q), (n, joints, joints): one column of the recurrence per unit acceleration."""
    arm = robot_of(robot)
    n = arm.joints
    units = ([ONE if k == j else ZERO for k in range(n)] for j in range(n))
    columns = [_with_constants(arm, q, ZERO, unit, gravity=False) for unit in units]
    return np.stack(columns, axis=-1)


def evaluated_states(
    text: Callable[..., list[Element]],
    robot: Robot,
    *arrays: NDArray[np.float64],
    kept: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Return what a text over any algebra gives for samples, (n, outputs), or some of it."""
    blocks = []
    for start in range(0, max(1, len(arrays[0])), BLOCK):
        columns = [array[start : start + BLOCK].T.copy() for array in arrays]
        found = text(robot, COLUMNS, *map(list, columns))
        chosen = found if kept is None else [found[k] for k in kept]
        values = [x.value if isinstance(x, Constant) else x for x in chosen]
        rows = columns[0].shape[1:]
        blocks.append(np.stack([np.broadcast_to(x, rows) for x in values], axis=1))
    return np.concatenate(blocks)


def _with_constants(
    robot: Robot, q: ArrayLike, speed: Constant, rates: Sequence[Constant], *, gravity: bool
) -> NDArray[np.float64]:
    (positions,), shape = _state(robot, {"q": q})

    def block(rows: slice) -> list[Element]:
        angles = list(positions[rows].T.copy())
        return newton_euler(robot, COLUMNS, angles, [speed] * robot.joints, rates, gravity=gravity)

    return _in_blocks(len(positions), robot.joints, block).reshape(shape)


def _in_blocks(
    count: int, joints: int, block: Callable[[slice], list[Element]]
) -> NDArray[np.float64]:
    torques = np.empty((count, joints))
    for start in range(0, count, BLOCK):
        rows = slice(start, min(start + BLOCK, count))
        for joint, torque in enumerate(block(rows)):
            torques[rows, joint] = torque.value if isinstance(torque, Constant) else torque
    return torques


def _fold(samples: NDArray[np.float64]) -> list[Element]:
    """Return contiguous columns, those of zeros as a constant that folds away."""
    return [column if column.any() else ZERO for column in samples.T.copy()]


def _state(
    robot: Robot, given: Mapping[str, ArrayLike]
) -> tuple[list[NDArray[np.float64]], tuple[int, ...]]:
    """Return (samples, joints) arrays of all that is given, and the shape of the torques."""
    arrays = [array_of(name, x).astype(np.float64, copy=False) for name, x in given.items()]
    groups = [numbered(name, robot.joints) for name in given]
    return full_shapes(groups, arrays, robot.joints, robot.name, "joints")


def _wrench(given: ArrayLike, samples: int) -> NDArray[np.float64]:
    wrench = array_of("wrench", given).astype(np.float64, copy=False)
    if wrench.shape not in ((6,), (1, 6), (samples, 6)):
        raise UsageError(f"wrench has shape {wrench.shape}: give (6,) or ({samples}, 6)")
    return np.broadcast_to(wrench, (samples, 6))


# --------------------------------------------------------------------------------------------------
# Frames on the joints' axes, of arms and trees in DH frames and in general ones.
#
# The z of frame i is the axis of joint i: what turns with the joint turns about z, and what slides
# does so along z. Where the joint's position is zero, the frame lies fixed in the one before.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# How large an arm's torques become over its ranges: seen on samples, nothing proved.
# --------------------------------------------------------------------------------------------------


SAMPLES = 20_000
MARGIN = 1.1  # beyond what samples reach: they find no extremes
DUST = 1e-9  # of the largest torque: rounding


def torque_reach(robot: Robot) -> list[float]:
    """Return for every joint what a torque range should hold at least; 0 where all are zero.

    Speeds and accelerations are at the ends of their ranges, where torques are largest.
    """
    rng = np.random.default_rng(1988)
    shape = (SAMPLES, robot.joints)
    places = [link.position for link in robot.links]
    q = rng.uniform([x.low for x in places], [x.high for x in places], shape)
    ends = (
        np.where(rng.integers(2, size=shape), [x.high for x in kind], [x.low for x in kind])
        for kind in (
            [link.velocity for link in robot.links],
            [link.acceleration for link in robot.links],
        )
    )
    most = np.abs(inverse_dynamics(robot, q, *ends)).max(axis=0)
    return [float(MARGIN * x) if x > DUST * most.max() else 0.0 for x in most]


# --------------------------------------------------------------------------------------------------
# A point mass at the tip whose mass is an input: whatever forces do is linear in it.
# --------------------------------------------------------------------------------------------------


def with_load(
    text: Callable[..., list[Element]],
    place: int,
    robot: Robot,
    algebra: Algebra,
    *state: Sequence[Element],
) -> list[Element]:
    """Return f(robot) + mass · f(a kilogram at the tip), of a text f that is linear in masses.

    `place` is that of the load among what makes a state.
    """
    (mass,) = state[place]
    others = *state[:place], *state[place + 1 :]
    plain = text(robot, algebra, *others)
    more = text(one_kilogram(robot), algebra, *others)
    return [a + mass * b for a, b in zip(plain, more, strict=True)]


def one_kilogram(robot: Robot) -> Robot:
    """Return the robot's geometry with nothing that weighs, but a kilogram at its tip."""
    return with_payload(replace(robot, links=tuple(map(_weightless, robot.links))), 1.0)


def _weightless(link: Link) -> Link:
    return replace(
        link,
        mass=0.0,
        center_of_mass=(0.0, 0.0, 0.0),
        inertia=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        rotor_inertia=0.0,
        viscous_friction=0.0,
        coulomb_friction=(0.0, 0.0),
    )


# --------------------------------------------------------------------------------------------------
# Friction in joints over any algebra: viscous, and dry friction whose sign is smoothed.
#
# Dry friction is |G|·Tc·sign q̇ with a Tc for each direction. Its sign is no function that logic of
# finite words can follow, nor one that a controller should: tanh(q̇/v) takes its place. At q̇ = 2v
# that is 0.964; over speeds up to V the mean of sign - tanh is 0.69 v/V.
# --------------------------------------------------------------------------------------------------


SMOOTHING = 0.02  # of the largest speed, unless it is given


def dry_joints(robot: Robot) -> list[int]:
    """Return the joints (from 0) that have dry friction."""
    return [k for k, link in enumerate(robot.links) if any(link.coulomb_friction)]


def usual_smoothing(robot: Robot) -> tuple[float, ...]:
    """Return for every joint the speed within which the sign is smoothed if nothing is said."""
    return tuple(SMOOTHING * (link.velocity.magnitude or 1.0) for link in robot.links)


def smoothing_notes(robot: Robot, smoothing: Sequence[float]) -> tuple[str, ...]:
    """Return what users should know of a smoothed sign."""
    speeds = listing(
        f"{short(smoothing[k])} {'rad/s' if robot.links[k].revolute else 'm/s'} (joint {k + 1})"
        for k in dry_joints(robot)
    )
    text = "the sign of dry friction goes over as tanh(qd/v), within 5 % of it beyond 1.83 v"
    return (f"{text}: v = {speeds}",)


def dry_friction(
    robot: Robot, algebra: FunctionAlgebra, *state: Elements, smoothing: Sequence[float]
) -> list[Element]:
    """Return the dry friction of those joints that have it, of q, q̇ and q̈."""
    found = []
    for k in dry_joints(robot):
        link = robot.links[k]
        forwards, backwards = (abs(link.gear_ratio) * c for c in link.coulomb_friction)
        sign = algebra.function("tanh", state[1][k] * (1 / smoothing[k]))
        mean, half = (forwards + backwards) / 2, (forwards - backwards) / 2
        found.append(mean * sign + half * (sign * sign) if half else mean * sign)
    return found


def with_friction(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    """Return inverse dynamics with viscous friction, and with the dry friction that is given."""
    q, qd, qdd, *rest = state
    wet = tuple(replace(link, coulomb_friction=(0.0, 0.0)) for link in robot.links)
    torques = newton_euler(replace(robot, links=wet), algebra, q, qd, qdd, friction=True)
    for k, dry in zip(dry_joints(robot), rest[0] if rest else (), strict=False):
        torques[k] = torques[k] + dry
    return torques


# --------------------------------------------------------------------------------------------------
# Inverse dynamics as spectra: sampled and transformed, no computer algebra.
#
# The inertia matrix is a trigonometric polynomial of degree 2 in every angle and a polynomial of
# degree 2 in every sliding position; gravity is of degree 1 in each; neither the mass nor the
# choice of frames changes that. So 5 (3) equispaced samples an axis determine M(q) and 3 determine
# G(q), exactly. The velocity terms follow in the Fourier domain from Christoffel's symbols
#
#     τ_i = Σ_j M_ij q̈_j + Σ_jk c_ijk q̇_j q̇_k + G_i
#     c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i)
#
# M does not depend on a joint on the base, which moves all that hangs on it as a whole.
# --------------------------------------------------------------------------------------------------


MOST_BYTES = 1 << 30  # of samples of M(q) and their transforms: eight turning joints
BYTES_AN_ENTRY = 64  # of M(q) at one point: twice as float64, three times as complex128


def torque_spectra(
    robot: Robot, q: tuple[Input, ...], qd: Sequence[Input], qdd: Sequence[Input]
) -> Spectra:
    """Return all torques as spectra over the positions, given the inputs of every joint."""
    n = robot.joints
    sizes = [
        (5 if axis.angle else 3) if parent else 1
        for axis, parent in zip(q, robot.parents, strict=True)
    ]
    needed = math.prod(sizes) * n * n * BYTES_AN_ENTRY
    if needed > MOST_BYTES:
        raise DataError(
            f"{robot.name}: the terms of {n} joints need {needed / 1e9:.3g} GB, and at most "
            f"{MOST_BYTES / 1e9:.2g} are used: terms are found for up to eight turning joints"
        )
    sampled = inertia_matrix(robot, grid(q, sizes)).reshape(*sizes, n, n)
    inertia, gravity = transform(q, sampled), _gravity(robot, q)
    scale = float(max(np.abs(inertia).max(), np.abs(gravity).max(), 1e-300))
    outputs = [
        [
            Summand(factor, sparse(q, coefficient, scale))
            for factor, coefficient in (
                *_velocity_summands(inertia, q, qd, qdd, i),
                ((), gravity[..., i]),
            )
        ]
        for i in range(n)
    ]
    return spectra_of(q, outputs, scale)


def gravity_spectra(robot: Robot, q: tuple[Input, ...]) -> Spectra:
    """Return the torques of an arm at rest as spectra over the positions."""
    gravity = _gravity(robot, q)
    scale = float(max(np.abs(gravity).max(), 1e-300))
    outputs = [[Summand((), sparse(q, gravity[..., i], scale))] for i in range(robot.joints)]
    return spectra_of(q, outputs, scale)


def _gravity(robot: Robot, q: Sequence[Input]) -> Complex:
    sizes = [3] * robot.joints
    return transform(q, gravity_torques(robot, grid(q, sizes)).reshape(*sizes, robot.joints))


def _velocity_summands(
    inertia: Complex, q: Sequence[Input], qd: Sequence[Input], qdd: Sequence[Input], i: int
) -> Iterator[tuple[tuple[Input, ...], Complex]]:
    """Yield what torque i has of accelerations, of squares and of products of speeds."""
    n = len(q)
    for j in range(n):
        yield (qdd[j],), inertia[..., i, j]
    pairs = [(j, j) for j in range(n)] + [(j, k) for j in range(n) for k in range(j + 1, n)]
    for j, k in pairs:
        symbol = derivative(q, inertia[..., i, j], k) + derivative(q, inertia[..., i, k], j)
        symbol = (symbol - derivative(q, inertia[..., j, k], i)) / 2
        yield (qd[j], qd[k]), symbol if j == k else 2 * symbol
