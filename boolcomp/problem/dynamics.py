"""Dynamics of an arm over any algebra: recursive Newton-Euler and the form regrouped by terms."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing, short, spelled
from boolcomp.problem.algebra import (
    Constant,
    Element,
    Folding,
    Matrix3,
    NumpyColumns,
    Vector,
    link_rotation,
    rotation_about,
    symmetric,
)
from boolcomp.problem.fourier import (
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
    HERE,
    UNIT,
    Z,
    about_axis,
    applied,
    free_fall,
    product,
    rotation_rows,
    transposed,
    with_payload,
)
from boolcomp.problem.tape import recorded, task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.algebra import Algebra
    from boolcomp.problem.fourier import Complex
    from boolcomp.problem.robot.model import Link, Pose, Robot, Rows, Triple
    from boolcomp.problem.tape import Straight, Tape
    from boolcomp.problem.words import Input

    Elements = Sequence[Element]
    Dynamics = Callable[..., list[Element]]


# --------------------------------------------------------------------------------------------------
# Recursive Newton-Euler inverse dynamics (Luh, Walker and Paul 1980) over any algebra.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Motion:
    """The results of the outward pass for a link, in the link's frame."""

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
    """Return the torque of every joint (the force of a sliding one).

    `wrench` is the (force, moment) that the tip exerts on its surroundings, at the origin and in
    the axes of the tool's frame (without a tool, of the last frame).
    """
    torques = []
    for k, motion, (force, moment), _ in _loads(
        robot, algebra, (q, qd, qdd), wrench, gravity=gravity
    ):
        link = robot.links[k]
        torque = (moment if link.revolute else force).dot(motion.axis)
        torque = torque + algebra.constant(link.joint_inertia) * qdd[k]
        torques.append(torque + _friction(link, algebra, qd[k]) if friction else torque)
    return torques[::-1]


def reactions(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, qdd: Elements
) -> list[Element]:
    """Return the forces and moments of the joints' bearings on their links, five a joint.

    They act at the joint's origin. Components are in axes fixed to the link before, with z along
    the joint's axis; that of the drive is left out.
    """
    found: list[list[Element]] = []
    for k, _, _, pair in _loads(robot, algebra, (q, qd, qdd)):
        link = robot.links[k]
        if link.pose is not None:
            turn = transposed(rotation_to(link.axis))
            pair = (known_turn(algebra, turn, pair[0]), known_turn(algebra, turn, pair[1]))  # noqa: PLW2901
        six = [*pair[0], *pair[1]]
        del six[5 if link.revolute else 2]
        found.append(six)
    return [x for five in found[::-1] for x in five]


def with_wrench(
    text: Dynamics, robot: Robot, algebra: Algebra, *state: Sequence[Element]
) -> list[Element]:
    """Return inverse dynamics plus the torques of a wrench, the last two groups of `state`."""
    *others, force, moment = state
    still = [algebra.constant(0.0)] * robot.joints
    arm = replace(robot, links=tuple(map(_weightless, robot.links)))
    pushed = newton_euler(
        arm, algebra, state[0], still, still, gravity=False, wrench=(force, moment)
    )
    return [a + b for a, b in zip(text(robot, algebra, *others), pushed, strict=True)]


def _loads(
    robot: Robot, algebra: Algebra, state: tuple[Elements, Elements, Elements],
    wrench: tuple[Elements, Elements] | None = None, *, gravity: bool = True,
) -> Iterator[tuple[int, _Motion, tuple[Vector, Vector], tuple[Vector, Vector]]]:  # fmt: skip
    """Yield joints from the last (from 0), with motion, force and moment of each.

    Force and moment are those of the link before on the link, at the joint's origin: in the axes of
    the link, then in those before the joint.
    """
    zero = algebra.constant(0.0)
    nothing = Vector(zero, zero, zero)
    up = [algebra.constant(-g if gravity else 0.0) for g in free_fall(robot)]
    motion = _Motion(Matrix3((nothing,) * 3), nothing, nothing, nothing, nothing, Vector(*up))
    motions = [motion]
    for link, parent, *own in zip(robot.links, robot.parents, *state, strict=True):
        motions.append(_outward(link, algebra, motions[parent], *own))
    force, moment = (nothing, nothing) if wrench is None else (Vector(*v) for v in wrench)
    hanging = {robot.joints: _before(robot.tool, algebra, force, moment)}
    for k in range(robot.joints, 0, -1):
        link, motion, parent = robot.links[k - 1], motions[k], robot.parents[k - 1]
        force, moment = _inward(link, algebra, motion, *hanging.get(k, (nothing, nothing)))
        before = motion.rotation * force, motion.rotation * moment
        yield k - 1, motion, (force, moment), before
        force, moment = _before(link.pose, algebra, *before)
        if parent in hanging:  # add those of siblings
            force, moment = hanging[parent][0] + force, hanging[parent][1] + moment
        hanging[parent] = force, moment


def weight(
    robot: Robot, algebra: Algebra, q: Elements, dynamics: Dynamics = newton_euler
) -> list[Element]:
    """Return G(q): the torques of the arm at rest; `dynamics` is the inverse dynamics to use."""
    return bias(robot, algebra, q, [algebra.constant(0.0)] * robot.joints, dynamics)


def bias(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, dynamics: Dynamics = newton_euler
) -> list[Element]:
    """Return C(q, q̇) + G(q)."""
    return dynamics(robot, algebra, q, qd, [algebra.constant(0.0)] * robot.joints)


def inertia_columns(robot: Robot, algebra: Algebra, q: Elements) -> list[list[Element]]:
    """Return the columns of M(q): one pass of the recurrence for each unit acceleration."""
    n, zero, one = robot.joints, algebra.constant(0.0), algebra.constant(1.0)
    return [
        newton_euler(
            robot, algebra, q, [zero] * n, [one if k == j else zero for k in range(n)],
            gravity=False,
        )
        for j in range(n)
    ]  # fmt: skip


def inertia(robot: Robot, algebra: Algebra, q: Elements) -> list[Element]:
    """Return the upper triangle of M(q), row by row."""
    columns = inertia_columns(robot, algebra, q)
    return [columns[j][i] for i in range(robot.joints) for j in range(i, robot.joints)]


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


def joint_program(
    robot: Robot,
    text: Callable[..., list[Element]],
    inputs: Sequence[str],
    outputs: Sequence[str],
    tape: Tape | None = None,
) -> Straight:
    """Record `text(robot, algebra, *inputs)`; q means q1, q2, … of all joints."""
    groups, names = (
        [numbered(letters, robot.joints).members for letters in each] for each in (inputs, outputs)
    )
    return recorded(partial(text, robot), groups, [one for group in names for one in group], tape)


def link_frame(link: Link, algebra: Algebra, q: Element) -> tuple[Matrix3, Vector, Vector]:
    """Return a joint's rotation, and its step and axis in the link's frame."""
    constant, zero = algebra.constant, algebra.constant(0.0)
    if link.pose is not None:
        axis = Vector(*map(constant, link.axis))
        rest = Vector(*(constant(1 - part * part) for part in link.axis))
        turn = q if link.revolute else zero
        rotation = rotation_about(axis, rest, algebra.cosine(turn), algebra.sine(turn))
        return rotation, axis.scaled(zero if link.revolute else q), axis
    sin_alpha, cos_alpha = (f(constant(link.alpha)) for f in (algebra.sine, algebra.cosine))
    theta, d = constant(link.theta), constant(link.d)
    theta, d = (theta + q, d) if link.revolute else (theta, d + q)
    rotation = link_rotation(algebra.cosine(theta), algebra.sine(theta), cos_alpha, sin_alpha, zero)
    step = Vector(constant(link.a), d * sin_alpha, d * cos_alpha)
    return rotation, step, Vector(zero, sin_alpha, cos_alpha)


def _along(link: Link, algebra: Algebra, x: Element) -> Vector:
    """Return a vector of length x along the joint's axis, in the frame before the joint."""
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
    """Return the motion of a frame with a fixed pose in another; None is the identity."""
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
    """Transform force and moment from a frame with a fixed pose to the frame that contains it."""
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
    """Return viscous B·G²·q̇ and Coulomb |G|·Tc·sign q̇, with a Tc for each direction."""
    viscous = algebra.constant(link.viscous_friction * link.gear_ratio**2) * speed
    if not any(link.coulomb_friction):
        return viscous  # also over algebras without signs
    mean, half = _dry_sizes(link)
    sign = algebra.sign(speed)
    return viscous + algebra.constant(mean) * sign + algebra.constant(half) * (sign * sign)


def _dry_sizes(link: Link) -> tuple[float, float]:
    """Return the mean of both directions' dry friction at the joint, and half their difference."""
    forwards, backwards = (abs(link.gear_ratio) * c for c in link.coulomb_friction)
    return (forwards + backwards) / 2, (forwards - backwards) / 2


# --------------------------------------------------------------------------------------------------
# Torques of many samples at once: the recurrence over blocks of numpy columns.
# --------------------------------------------------------------------------------------------------

BLOCK = 8192  # samples whose columns stay in the second-level cache


COLUMNS = Folding(NumpyColumns())
ZERO = Constant(0.0)


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

    `robot` is a value, a shipped name or a path. `q`, `qd`, `qdd` have the same shape, or are
    (joints,) for all samples, or a number for all joints. `wrench` is six numbers, or (n, 6): the
    force and the moment that the tip exerts on its surroundings, in the last link's frame.
    """
    arm = robot_of(robot)
    state, shape = _state(arm, {"q": q, "qd": qd, "qdd": qdd})
    tip = None if wrench is None else _wrench(wrench, len(state[0]))

    def block(rows: slice) -> list[Element]:
        columns = [[c if c.any() else ZERO for c in x[rows].T.copy()] for x in state]
        force = None if tip is None else (list(tip[rows, :3].T), list(tip[rows, 3:].T))
        return newton_euler(
            arm, COLUMNS, *columns, gravity=gravity, friction=friction, wrench=force
        )

    return _in_blocks(len(state[0]), block).reshape(shape)


def gravity_torques(robot: Robot | str | Path, q: ArrayLike) -> NDArray[np.float64]:
    """Return G(q): the torques of the arm at rest, (n, joints)."""
    arm = robot_of(robot)
    (positions,), shape = _state(arm, {"q": q})
    return evaluated_states(weight, arm, positions).reshape(shape)


def inertia_matrix(robot: Robot | str | Path, q: ArrayLike) -> NDArray[np.float64]:
    """Return M(q), (n, joints, joints)."""
    arm = robot_of(robot)
    (positions,), shape = _state(arm, {"q": q})
    return evaluated_states(_inertia_rows, arm, positions).reshape(*shape, arm.joints)


def _inertia_rows(robot: Robot, algebra: Algebra, q: Elements) -> list[Element]:
    columns = inertia_columns(robot, algebra, q)
    return [column[i] for i in range(robot.joints) for column in columns]


def evaluated_states(
    text: Callable[..., list[Element]],
    robot: Robot,
    *arrays: NDArray[np.float64],
    kept: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Evaluate a function over any algebra at samples: all outputs or `kept`, (n, outputs)."""

    def block(rows: slice) -> list[Element]:
        found = text(robot, COLUMNS, *(list(array[rows].T.copy()) for array in arrays))
        return found if kept is None else [found[k] for k in kept]

    return _in_blocks(len(arrays[0]), block)


def _in_blocks(count: int, block: Callable[[slice], list[Element]]) -> NDArray[np.float64]:
    found = np.empty((count, 0))
    for start in range(0, max(1, count), BLOCK):
        rows = slice(start, min(start + BLOCK, count))
        values = block(rows)
        if not start:
            found = np.empty((count, len(values)))
        for k, value in enumerate(values):
            found[rows, k] = value.value if isinstance(value, Constant) else value
    return found


def _state(
    robot: Robot, given: Mapping[str, ArrayLike]
) -> tuple[list[NDArray[np.float64]], tuple[int, ...]]:
    """Return the arguments as (samples, joints) arrays, and the shape of the torques."""
    arrays = [array_of(name, x).astype(np.float64, copy=False) for name, x in given.items()]
    groups = [numbered(name, robot.joints) for name in given]
    return full_shapes(groups, arrays, robot.joints, robot.name, "joints")


def _wrench(given: ArrayLike, samples: int) -> NDArray[np.float64]:
    wrench = array_of("wrench", given).astype(np.float64, copy=False)
    if wrench.shape not in ((6,), (1, 6), (samples, 6)):
        raise UsageError(f"wrench has shape {wrench.shape}", f"give (6,) or ({samples}, 6)")
    return np.broadcast_to(wrench, (samples, 6))


# --------------------------------------------------------------------------------------------------
# Frames on the joints' axes, for arms and trees in DH frames and in general ones.
#
# The z of frame i is the axis of joint i, about which (along which) the joint turns (slides). At
# position zero the frame has a fixed pose in the one before.
# --------------------------------------------------------------------------------------------------

NEARLY = 1e-12  # of a component of an axis


@dataclass(frozen=True, slots=True)
class JointFrame:
    """A joint's frame in the one before: rotation `turn` and `origin`, then a rotation about z.

    The angle about z is q + `angle` (`angle` for a sliding joint), the shift of a sliding joint
    along z q + `slide`. `link` and `place` are rotation and origin of the link's frame in this one.
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
        turn, origin = UNIT, HERE.origin
        if parent:  # the pose of the link before in its joint's frame
            turn, origin = found[parent - 1].link, found[parent - 1].place
        if link.pose is not None:
            own = rotation_to(link.axis)
            rotation = product(turn, product(rotation_rows(link.pose.rotation), own))
            origin = _sum(origin, applied(turn, link.pose.origin))
            frame = JointFrame(rotation, origin, 0.0, 0.0, transposed(own), HERE.origin)
        else:  # the joint turns about z of the link frame before
            origin = _sum(origin, applied(turn, (0.0, 0.0, link.d if link.revolute else 0.0)))
            twist, slide = about_axis((1.0, 0.0, 0.0), link.alpha), 0.0 if link.revolute else link.d
            frame = JointFrame(turn, origin, link.theta, slide, twist, (link.a, 0.0, 0.0))
        found.append(frame)
    return tuple(found)


def rotation_to(axis: Triple) -> Rows:
    """Return a rotation that takes z to an axis; it is exact for the axes of the frame."""
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
# The largest torques of an arm over its ranges: found by sampling, not proved.
# --------------------------------------------------------------------------------------------------

SAMPLES = 20_000
MARGIN = 1.1  # ratio of a range to the largest sample
DUST = 1e-9  # of the largest torque: rounding


def torque_reach(robot: Robot) -> list[float]:
    """Return the least torque range of every joint; 0 where all torques are zero.

    Speeds and accelerations are at the ends of their ranges, where torques are largest.
    """
    rng = np.random.default_rng(1988)
    shape = (SAMPLES, robot.joints)
    places = [link.position for link in robot.links]
    q = rng.uniform([x.low for x in places], [x.high for x in places], shape)
    rates = [link.velocity for link in robot.links], [link.acceleration for link in robot.links]
    ends = (
        np.where(rng.integers(2, size=shape), [x.high for x in kind], [x.low for x in kind])
        for kind in rates
    )
    largest = np.abs(inverse_dynamics(robot, q, *ends)).max(axis=0)
    return [float(MARGIN * x) if x > DUST * largest.max() else 0.0 for x in largest]


# --------------------------------------------------------------------------------------------------
# A payload whose mass is an input: forces are linear in it.
# --------------------------------------------------------------------------------------------------


def with_load(
    text: Callable[..., list[Element]],
    place: int,
    robot: Robot,
    algebra: Algebra,
    *state: Sequence[Element],
) -> list[Element]:
    """Return f(robot) + mass · f(a kilogram at the tip), for a function f linear in masses.

    `place` is the index of the mass in `state`.
    """
    (mass,) = state[place]
    others = *state[:place], *state[place + 1 :]
    plain = text(robot, algebra, *others)
    more = text(one_kilogram(robot), algebra, *others)
    return [a + mass * b for a, b in zip(plain, more, strict=True)]


def one_kilogram(robot: Robot) -> Robot:
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
# Dry friction is |G|·Tc·sign q̇ with a Tc for each direction. The jump of the sign cannot be
# represented by finite words and is undesirable in control: tanh(q̇/v) replaces it. At q̇ = 2v
# it is 0.964; over speeds up to V the mean of sign - tanh is 0.69 v/V.
# --------------------------------------------------------------------------------------------------

SMOOTHING = 0.02  # of the largest speed, by default


def dry_joints(robot: Robot) -> list[int]:
    return [k for k, link in enumerate(robot.links) if any(link.coulomb_friction)]


def usual_smoothing(robot: Robot) -> tuple[float, ...]:
    return tuple(SMOOTHING * (link.velocity.magnitude or 1.0) for link in robot.links)


def smoothing_notes(robot: Robot, smoothing: Sequence[float]) -> tuple[str, ...]:
    """Return the note for users about the smoothed sign."""
    speeds = listing(
        f"{short(smoothing[k])} {robot.links[k].unit}/s (joint {k + 1})" for k in dry_joints(robot)
    )
    text = "the sign of dry friction goes over as tanh(qd/v), within 5 % of it beyond 1.83 v"
    return (f"{text}: v = {speeds}",)


def dry_friction(
    robot: Robot, algebra: Algebra, *state: Elements, smoothing: Sequence[float]
) -> list[Element]:
    """Return the dry friction of the joints that have it, at a state q, q̇, q̈."""
    found = []
    for k in dry_joints(robot):
        sign = algebra.function("tanh", state[1][k] * (1 / smoothing[k]))
        mean, half = _dry_sizes(robot.links[k])
        found.append(mean * sign + half * (sign * sign) if half else mean * sign)
    return found


def with_friction(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    """Return inverse dynamics with viscous friction, and with dry friction given in `state`."""
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
# degree 2 in every sliding position; gravity is of degree 1 in each. So 5 (3) equispaced samples
# per axis determine M(q) exactly, and 3 determine G(q). The velocity terms follow in the Fourier
# domain from Christoffel's symbols
#
#     τ_i = Σ_j M_ij q̈_j + Σ_jk c_ijk q̇_j q̇_k + G_i
#     c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i)
#
# M does not depend on a joint on the base, which moves all its descendants as a whole.
# --------------------------------------------------------------------------------------------------

MOST_BYTES = 1 << 30  # of samples of M(q) and their transforms: eight turning joints
BYTES_AN_ENTRY = 64  # of M(q) at one point: twice as float64, three times as complex128


def torque_spectra(
    robot: Robot, q: tuple[Input, ...], qd: Sequence[Input], qdd: Sequence[Input]
) -> Spectra:
    """Return all torques as spectra over the positions."""
    n = robot.joints
    sizes = [
        (5 if axis.angle else 3) if parent else 1
        for axis, parent in zip(q, robot.parents, strict=True)
    ]
    needed = math.prod(sizes) * n * n * BYTES_AN_ENTRY
    if needed > MOST_BYTES:
        raise DataError(
            f"the terms of {n} joints need {needed / 1e9:.3g} GB, and at most "
            f"{MOST_BYTES / 1e9:.2g} are used", "terms are found for up to eight turning joints",
            where=robot.name,
        )  # fmt: skip
    sampled = inertia_matrix(robot, grid(q, sizes)).reshape(*sizes, n, n)
    inertia, gravity = transform(q, sampled), _gravity(robot, q)
    scale = float(max(np.abs(inertia).max(), np.abs(gravity).max(), 1e-300))
    factors = (
        (*_velocity_summands(inertia, q, qd, qdd, i), ((), gravity[..., i])) for i in range(n)
    )
    outputs = [[Summand(factor, sparse(q, c, scale)) for factor, c in each] for each in factors]
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
    """Yield torque i's coefficients of accelerations, and of squares and products of speeds."""
    n = len(q)
    for j in range(n):
        yield (qdd[j],), inertia[..., i, j]
    pairs = [(j, j) for j in range(n)] + [(j, k) for j in range(n) for k in range(j + 1, n)]
    for j, k in pairs:
        symbol = derivative(q, inertia[..., i, j], k) + derivative(q, inertia[..., i, k], j)
        symbol = (symbol - derivative(q, inertia[..., j, k], i)) / 2
        yield (qd[j], qd[k]), symbol if j == k else 2 * symbol


# --------------------------------------------------------------------------------------------------
# Regrouped inertial parameters.
#
# Parameters of a link that do not change when it turns about its joint's axis can be moved to the
# link before. These are mass and first moment on the axis, and inertia Iyy across it. For a
# sliding link that is the whole tensor. A turning link keeps Ixx - Iyy, Izz, the products of
# inertia and two components of the first moment, and its mass is zero (Gautier and Khalil 1990).
# The parameters that the first link gives to the base have no effect; its rotor's inertia is added
# to Izz.
# --------------------------------------------------------------------------------------------------

ROUNDING = 1e-12  # of the largest addend: smaller parameters are rounding errors


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass, first moment and tensor of a link about the origin of its joint's frame.

    `scale` is the largest addend of the tensor's entries.
    """

    mass: float
    first: NDArray[np.float64]
    tensor: NDArray[np.float64]
    scale: float

    def plus(self, other: Inertia) -> Inertia:
        return Inertia(
            self.mass + other.mass,
            self.first + other.first,
            self.tensor + other.tensor,
            max(self.scale, other.scale),
        )

    def split(self, *, revolute: bool) -> tuple[Inertia, Inertia]:
        """Return the parameters that the link keeps, and those of the link before."""
        if not revolute:
            kept = replace(self, tensor=np.zeros((3, 3)))
            return kept, replace(self, mass=0.0, first=np.zeros(3))
        across = self.tensor[1, 1]
        moved = replace(
            self, first=self.first * [0.0, 0.0, 1.0], tensor=np.diag([across, across, 0.0])
        )
        first, tensor = self.first - moved.first, self.tensor - moved.tensor
        return replace(self, mass=0.0, first=first, tensor=tensor), moved

    def seen_before(self, frame: JointFrame, *, revolute: bool) -> Inertia:
        """Return the parameters, fixed to the link before, in that link's joint frame."""
        turn = np.array(frame.turn)
        if not revolute:
            turn = turn @ np.array(about_axis(Z, frame.angle))
        turned = replace(self, first=turn @ self.first, tensor=turn @ self.tensor @ turn.T)
        # The tensor of a sliding link has no mass and does not depend on the origin.
        return _moved(turned, np.array(frame.origin)) if revolute else turned

    def cleared(self) -> Inertia:
        """Return the parameters, with rounding errors replaced by zeros."""
        first, tensor = (
            np.where(abs(x) <= ROUNDING * self.scale, 0.0, x) for x in (self.first, self.tensor)
        )
        return replace(self, first=first, tensor=tensor)


def regrouped(robot: Robot) -> tuple[Inertia, ...]:
    """Return the links' parameters, regrouped from the last link to the first."""
    frames, nothing = joint_frames(robot), Inertia(0.0, np.zeros(3), np.zeros((3, 3)), 0.0)
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
        found.append(kept.cleared())
    return tuple(found[::-1])


def _own(link: Link, frame: JointFrame) -> Inertia:
    """Return a link's own inertia in the frame on its joint's axis."""
    xx, yy, zz, xy, yz, xz = link.inertia
    central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    turn = np.array(frame.link)
    centre = turn @ np.array(link.center_of_mass) + np.array(frame.place)
    tensor = turn @ central @ turn.T
    body = Inertia(link.mass, np.zeros(3), tensor, float(abs(tensor).max()))
    return _moved(body, centre)


def _moved(body: Inertia, p: NDArray[np.float64]) -> Inertia:
    """Return a body about a point from which its origin is at p."""
    px, hx = _cross(p), _cross(body.first)
    tensor = body.tensor - px @ hx - hx @ px - body.mass * px @ px
    scale = max(body.scale, float(abs(tensor).max()))
    return Inertia(body.mass, body.first + body.mass * p, tensor, scale)


def _cross(v: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


# --------------------------------------------------------------------------------------------------
# The recurrence.
# --------------------------------------------------------------------------------------------------

TASKS = ("A", "w", "wd", "U", "vd", "F", "N", "f", "n", "tau")


def tasks(robot: Robot) -> tuple[str, ...]:
    return tuple(f"{name}/{i}" for i in range(1, robot.joints + 1) for name in TASKS)


@dataclass(frozen=True, slots=True)
class _Place:
    """A joint's frame in the one before: a fixed rotation, one about z, and the origin."""

    turn: Rows
    cosine: Element
    sine: Element
    step: Vector
    algebra: Algebra

    def back(self, v: Vector) -> Vector:
        """Transform a vector of the frame before to this one."""
        v = known_turn(self.algebra, transposed(self.turn), v)
        c, s = self.cosine, self.sine
        return Vector(c * v.x + s * v.y, c * v.y - s * v.x, v.z)

    def forth(self, v: Vector) -> Vector:
        """Transform a vector of this frame to the one before."""
        c, s = self.cosine, self.sine
        turned = Vector(c * v.x - s * v.y, s * v.x + c * v.y, v.z)
        return known_turn(self.algebra, self.turn, turned)


def times(algebra: Algebra, factor: float, x: Element) -> Element:
    """Return factor·x without a multiplication for factors 1 and -1."""
    if abs(factor) == 1:
        return x if factor == 1 else -x
    return algebra.constant(factor) * x


def known_turn(algebra: Algebra, rows: Rows, v: Vector) -> Vector:
    """Return R v for a constant rotation; entries 0 and ±1 take no multiplication."""
    parts = []
    for row in rows:
        terms = [times(algebra, factor, x) for factor, x in zip(row, v, strict=True) if factor]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        parts.append(total)
    return Vector(*parts)


@dataclass(frozen=True, slots=True)
class _Spreading:
    """ω, ω̇, U and v̇ of a joint's frame."""

    omega: Vector
    omega_dot: Vector
    spread: Matrix3
    acceleration: Vector


def torques(
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
) -> list[Element]:
    """Return the torque of every joint (the force of a sliding one)."""
    zero = Vector(*[algebra.constant(0.0)] * 3)
    up = Vector(*map(algebra.constant, (-g for g in free_fall(robot))))
    motions = [_Spreading(zero, zero, Matrix3((zero, zero, zero)), up)]
    places, loads = [], []
    parameters, frames = regrouped(robot), joint_frames(robot)
    for i, (link, *state) in enumerate(zip(robot.links, q, qd, qdd, strict=True), 1):
        with task(algebra, f"A/{i}"):
            places.append(_place(algebra, link, frames[i - 1], state[0]))
        before = motions[robot.parents[i - 1]]
        motions.append(_regrouped_outward(i, link, places[-1], before, (state[1], state[2])))
        loads.append(_load(i, parameters[i - 1], algebra, motions[-1]))
    return _regrouped_inward(robot, algebra, places, loads, qdd)


def _place(algebra: Algebra, link: Link, frame: JointFrame, q: Element) -> _Place:
    """Return a joint's frame at a position of the joint."""
    constant, origin = algebra.constant, frame.origin
    if link.revolute:
        angle = constant(frame.angle) + q if frame.angle else q
        step = Vector(*map(constant, origin))
    else:
        angle = constant(frame.angle)
        way = constant(frame.slide) + q if frame.slide else q
        along = (row[2] for row in frame.turn)
        step = Vector(
            *(
                constant(x) + times(algebra, part, way) if x else times(algebra, part, way)
                for x, part in zip(origin, along, strict=True)
            )
        )
    return _Place(frame.turn, algebra.cosine(angle), algebra.sine(angle), step, algebra)


def _regrouped_outward(
    i: int, link: Link, place: _Place, before: _Spreading, rates: tuple[Element, Element]
) -> _Spreading:
    algebra = place.algebra
    qd, qdd = rates
    with task(algebra, f"w/{i}"):
        w = omega = place.back(before.omega)
        if link.revolute:
            omega = Vector(w.x, w.y, w.z + qd)
    with task(algebra, f"wd/{i}"):
        omega_dot = place.back(before.omega_dot)
        if link.revolute:
            x, y = omega_dot.x + w.y * qd, omega_dot.y - w.x * qd
            omega_dot = Vector(x, y, omega_dot.z + qdd)
    with task(algebra, f"U/{i}"):
        spread = _spread(omega, omega_dot)
    with task(algebra, f"vd/{i}"):
        acceleration = place.back(before.acceleration + before.spread * place.step)
        if not link.revolute:
            twice = algebra.constant(2.0) * qd
            x, y = acceleration.x + w.y * twice, acceleration.y - w.x * twice
            acceleration = Vector(x, y, acceleration.z + qdd)
    return _Spreading(omega, omega_dot, spread, acceleration)


def _spread(w: Vector, a: Vector) -> Matrix3:
    """Return U = [a×] + w wᵀ - |w|² E: 6 multiplications, 9 additions."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    xy, yz, xz = w.x * w.y, w.y * w.z, w.x * w.z
    return Matrix3(
        (
            Vector(-(yy + zz), xy - a.z, xz + a.y),
            Vector(xy + a.z, -(xx + zz), yz - a.x),
            Vector(xz - a.y, yz + a.x, -(xx + yy)),
        )
    )


def _load(i: int, body: Inertia, algebra: Algebra, motion: _Spreading) -> tuple[Vector, Vector]:
    """Return F and N; N uses the products in U."""
    first = Vector(*map(algebra.constant, body.first))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.tensor
    constant = algebra.constant
    w, wd, u = motion.omega, motion.omega_dot, motion.spread.rows
    with task(algebra, f"F/{i}"):
        force = motion.acceleration.scaled(constant(body.mass)) + motion.spread * first
    with task(algebra, f"N/{i}"):
        slow = Vector(constant(xx) * wd.x, constant(yy) * wd.y, constant(zz) * wd.z)
        fast = Vector(
            constant(zz - yy) * (w.y * w.z),
            constant(xx - zz) * (w.x * w.z),
            constant(yy - xx) * (w.x * w.y),
        )
        products = Vector(
            constant(xz) * u[1].x - constant(xy) * u[2].x + constant(yz) * (u[1].y - u[2].z),
            constant(xy) * u[2].y - constant(yz) * u[0].y + constant(xz) * (u[2].z - u[0].x),
            constant(yz) * u[0].z - constant(xz) * u[1].z + constant(xy) * (u[0].x - u[1].y),
        )
        return force, slow + fast + products + first @ motion.acceleration


def _regrouped_inward(
    robot: Robot,
    algebra: Algebra,
    places: Sequence[_Place],
    loads: Sequence[tuple[Vector, Vector]],
    rates: Sequence[Element],
) -> list[Element]:
    found = []
    after: dict[int, list[tuple[_Place, Vector, Vector]]] = {}
    for i in range(robot.joints, 0, -1):
        link, (force, moment), parent = robot.links[i - 1], loads[i - 1], robot.parents[i - 1]
        for place, pulled, turned in after.get(i, ()):
            with task(algebra, f"f/{i}"):
                pull = place.forth(pulled)
                force = force + pull
            with task(algebra, f"n/{i}"):
                moment = moment + (place.forth(turned) + place.step @ pull)
        after.setdefault(parent, []).append((places[i - 1], force, moment))
        with task(algebra, f"tau/{i}"):
            torque = moment.z if link.revolute else force.z
            if link.joint_inertia and (parent or not link.revolute):  # else Izz contains it
                torque = torque + algebra.constant(link.joint_inertia) * rates[i - 1]
            found.append(torque)
    return found[::-1]
