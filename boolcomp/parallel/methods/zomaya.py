"""Newton-Euler as in Zomaya and Morris 1989: general (table 2) and semi-customised (table 3).

Their equations, of link i+1 in its own frame (A its rotation, p its step, s its centre of mass):

    (5)  ω = Aᵀ(ω' + z θ̇)                         (8)  ψ = ω̇ × s + ω × (ω × s) + v̇
    (6)  ω̇ = Aᵀ(ω̇' + z θ̈ + ω' × z θ̇)              (9)  F = m ψ
    (7)  v̇ = Aᵀv̇' + ω̇ × p + ω × (ω × p)          (10) N = J ω̇ + ω × J ω
    (11) f = A₊ f₊ + F                           (12) n = A₊ n₊ + p × f + N + s × F
    (13) τ = n · Aᵀz

A sliding joint, which the paper leaves out, adds z d̈ + 2 ω × z ḋ to the acceleration and takes
its force from f. The tasks are the equations, `w/3` being ω of link 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.parallel.methods import physics as of
from boolcomp.problem.dynamics.vectors import Matrix3, Vector
from boolcomp.problem.expressions.tape import task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot

EQUATIONS = ("w", "wd", "vd", "psi", "F", "N", "f", "n", "tau")
PREPARATIONS = ("A", "p")


@dataclass(frozen=True, slots=True)
class _State:
    """What is known of a link on the way out."""

    joint: of.Joint
    omega: Vector
    omega_dot: Vector
    acceleration: Vector


@dataclass(frozen=True, slots=True)
class _Load:
    """F and N of a link."""

    force: Vector
    moment: Vector


@dataclass(frozen=True, slots=True)
class _Form:
    """How a form writes rotations and steps, the ways out and back, and inertia tensors."""

    rotation: Callable[[Link, Algebra, Element], Matrix3]
    step: Callable[[Link, Algebra, Element], Vector]
    out: Callable[..., _State]
    back: Callable[..., list[Element]]
    dense: bool


def zomaya_tasks(robot: Robot) -> tuple[str, ...]:
    """Return the names of all tasks: preparations first, then the equations link by link."""
    numbers = range(1, robot.joints + 1)
    prepared = [f"{name}/{i}" for i in numbers for name in PREPARATIONS]
    return (*prepared, *(f"{name}/{i}" for i in numbers for name in EQUATIONS))


def general_torques(
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
) -> list[Element]:
    """Return the torques by equations (5) to (13), every vector and matrix full.

    Over a tape that does not fold this takes 150 multiplications and 116 additions a link.
    """
    return _torques(_FULL, robot, algebra, q, qd, qdd)


def _torques(
    form: _Form,
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
) -> list[Element]:
    zero = of.zeros(algebra)
    state = _State(of.Joint(of.identity(algebra), zero, zero), zero, zero, of.up(robot, algebra))
    states = []
    for i, (link, *now) in enumerate(zip(robot.links, q, qd, qdd, strict=True), 1):
        with task(algebra, f"A/{i}"):
            rotation = form.rotation(link, algebra, now[0])
        with task(algebra, f"p/{i}"):
            step = form.step(link, algebra, now[0])
        joint = of.Joint(rotation, step, zero)
        state = form.out(i, link, algebra, joint, state, (now[1], now[2]))
        states.append(state)
    loads = [
        _zomaya_load(i, link, known, algebra, dense=form.dense)
        for i, (link, known) in enumerate(zip(robot.links, states, strict=True), 1)
    ]
    return form.back(robot, algebra, states, loads, qdd)


def _out(
    i: int,
    link: Link,
    algebra: Algebra,
    joint: of.Joint,
    before: _State,
    rates: tuple[Element, Element],
) -> _State:
    qd, qdd = rates
    back = joint.rotation.transposed
    axis = of.constants(algebra, (0.0, 0.0, 1.0))
    omega, omega_dot, acceleration = before.omega, before.omega_dot, before.acceleration
    with task(algebra, f"w/{i}"):
        speed = axis.scaled(qd) if link.revolute else None
        new_omega = back * (omega + speed if speed else omega)
    with task(algebra, f"wd/{i}"):
        inner = omega_dot + axis.scaled(qdd) + omega @ speed if speed else omega_dot
        new_omega_dot = back * inner
    with task(algebra, f"vd/{i}"):
        if speed is None:
            sliding = (omega @ axis.scaled(qd)).scaled(algebra.constant(2.0))
            acceleration = acceleration + axis.scaled(qdd) + sliding
        turning = new_omega_dot @ joint.step + new_omega @ (new_omega @ joint.step)
        acceleration = back * acceleration + turning
    return _State(joint, new_omega, new_omega_dot, acceleration)


def _zomaya_load(i: int, link: Link, state: _State, algebra: Algebra, *, dense: bool) -> _Load:
    r = of.constants(algebra, link.center_of_mass)
    inertia = of.inertia_of(link, algebra)
    w, wd = state.omega, state.omega_dot
    with task(algebra, f"psi/{i}"):
        psi = wd @ r + w @ (w @ r) + state.acceleration
    with task(algebra, f"F/{i}"):
        force = psi.scaled(algebra.constant(link.mass))
    with task(algebra, f"N/{i}"):
        if dense:
            return _Load(force, inertia * wd + w @ (inertia * w))
        x, y, z = (algebra.constant(c) for c in link.inertia[:3])
        spin = Vector(x * w.x, y * w.y, z * w.z)
        return _Load(force, Vector(x * wd.x, y * wd.y, z * wd.z) + w @ spin)


def _back(
    robot: Robot,
    algebra: Algebra,
    states: Sequence[_State],
    loads: Sequence[_Load],
    rates: Sequence[Element],
) -> list[Element]:
    rotation, force, moment = of.identity(algebra), of.zeros(algebra), of.zeros(algebra)
    torques = []
    for i in range(robot.joints, 0, -1):
        link, joint, load = robot.links[i - 1], states[i - 1].joint, loads[i - 1]
        r = of.constants(algebra, link.center_of_mass)
        with task(algebra, f"f/{i}"):
            force = rotation * force + load.force
        with task(algebra, f"n/{i}"):
            moment = rotation * moment + joint.step @ force + load.moment + r @ load.force
        with task(algebra, f"tau/{i}"):
            axis = joint.rotation.transposed * of.constants(algebra, (0.0, 0.0, 1.0))
            torque = (moment if link.revolute else force).dot(axis)
            torques.append(of.with_rotor(link, algebra, torque, rates[i - 1]))
        rotation = joint.rotation
    return torques[::-1]


def semi_customised_torques(
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
    *,
    dense: bool | None = None,
) -> list[Element]:
    """Return the torques by (5) to (13) without A's zero, with z sparse and Aᵀz known.

    `dense` says whether inertia tensors are taken as full (by default where one of them is). Over
    a tape that does not fold: 117/95 a link with full tensors, 105/83 with diagonal ones.
    """
    if dense is None:
        dense = any(any(link.inertia[3:]) for link in robot.links)
    form = _Form(of.known_rotation, of.known_step, _sparse_out, _sparse_back, dense)
    return _torques(form, robot, algebra, q, qd, qdd)


def _sparse_out(
    i: int,
    link: Link,
    algebra: Algebra,
    joint: of.Joint,
    before: _State,
    rates: tuple[Element, Element],
) -> _State:
    qd, qdd = rates
    a = joint.rotation
    omega, omega_dot, acceleration = before.omega, before.omega_dot, before.acceleration
    with task(algebra, f"w/{i}"):
        z = omega.z + qd if link.revolute else omega.z
        new_omega = of.back(a, Vector(omega.x, omega.y, z))
    with task(algebra, f"wd/{i}"):
        if link.revolute:
            x, y = omega_dot.x + omega.y * qd, omega_dot.y - omega.x * qd
            omega_dot = Vector(x, y, omega_dot.z + qdd)
        new_omega_dot = of.back(a, omega_dot)
    with task(algebra, f"vd/{i}"):
        if not link.revolute:
            twice = algebra.constant(2.0) * qd
            x, y = acceleration.x + omega.y * twice, acceleration.y - omega.x * twice
            acceleration = Vector(x, y, acceleration.z + qdd)
        turning = new_omega_dot @ joint.step + new_omega @ (new_omega @ joint.step)
        acceleration = of.back(a, acceleration) + turning
    return _State(joint, new_omega, new_omega_dot, acceleration)


def _sparse_back(
    robot: Robot,
    algebra: Algebra,
    states: Sequence[_State],
    loads: Sequence[_Load],
    rates: Sequence[Element],
) -> list[Element]:
    rotation: Matrix3 = of.identity(algebra)
    force, moment = of.zeros(algebra), of.zeros(algebra)
    torques = []
    for i in range(robot.joints, 0, -1):
        link, joint, load = robot.links[i - 1], states[i - 1].joint, loads[i - 1]
        r = of.constants(algebra, link.center_of_mass)
        with task(algebra, f"f/{i}"):
            force = of.forth(rotation, force) + load.force
        with task(algebra, f"n/{i}"):
            own = joint.step @ force + load.moment + r @ load.force
            moment = of.forth(rotation, moment) + own
        with task(algebra, f"tau/{i}"):
            torque = of.along_axis(link, algebra, moment if link.revolute else force)
            torques.append(of.with_rotor(link, algebra, torque, rates[i - 1]))
        rotation = joint.rotation
    return torques[::-1]


_FULL = _Form(of.rotation_of, of.step_of, _out, _back, dense=True)
