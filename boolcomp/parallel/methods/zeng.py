"""The task graphs of Zeng and Egan 1991: nineteen tasks a link, ten, and ten with one split.

Newton-Euler as Luh, Walker and Paul wrote it, the moment taken back with p × f inside the
rotation:

    n = A₊ (n₊ + (A₊ᵀp) × f₊) + (p + s) × F + N

Two misprints are put right: task 18 adds VEC10, VEC11 and N (its printed VEC9 is inside VEC10,
and its predecessors are 16, 17 and 13), and task 2 of ten follows (2/i-1). In place of the
damping b q̇ the last task adds the rotor's inertia. Sines, cosines, A and p are tasks of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.parallel.methods import physics as of
from boolcomp.problem.dynamics.vectors import Vector
from boolcomp.problem.expressions.tape import task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot

NINETEEN = 19
# What each of the nineteen tasks is part of when there are ten a link (the paper's figure 3).
TEN = (0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 7, 7, 8, 9, 10)  # the first is no task


def nineteen_name(task_number: int, link: int, joints: int) -> str:
    """Return `7/3` for task 7 of link 3."""
    del joints
    return f"{task_number}/{link}"


def ten_name(task_number: int, link: int, joints: int) -> str:
    """Return the number in the graph of 52 tasks: 10 (link - 1) + number among ten."""
    del joints
    return str(10 * (link - 1) + TEN[task_number])


def split_name(task_number: int, link: int, joints: int) -> str:
    """Return the number in version 5's graph, where task 3 has lost its part 4 (numbers 52..56)."""
    if task_number == 4:
        return str(10 * joints + 1 + link)
    return ten_name(task_number, link, joints)


def zeng_tasks(
    robot: Robot, name: Callable[[int, int, int], str] = nineteen_name
) -> tuple[str, ...]:
    """Return all tasks under a naming, A and p of every link first."""
    links = range(1, robot.joints + 1)
    named = (name(k, i, robot.joints) for i in links for k in range(1, NINETEEN + 1))
    return (*(f"A/{i}" for i in links), *dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class _Link:
    """A link's way through the tasks: `work(7)` is the context of its task 7."""

    link: Link
    joint: of.Joint
    algebra: Algebra
    work: Callable[[int], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class _Falling:
    """`falling` is the part of the acceleration that gravity brings, where it is kept apart."""

    omega: Vector
    omega_dot: Vector
    acceleration: Vector
    falling: Vector | None


def zeng_torques(
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
    *,
    name: Callable[[int, int, int], str] = nineteen_name,
    split: bool = False,
) -> list[Element]:
    """Return the torques, task by task.

    `split`: the acceleration that gravity brings has a chain of its own, which waits for no
    speed. Only so do version 5's tasks 52..56 stand where its level table has them.
    """
    links = []
    for i, (link, position) in enumerate(zip(robot.links, q, strict=True), 1):
        with task(algebra, f"A/{i}"):
            rotation = of.known_rotation(link, algebra, position)
            step = of.known_step(link, algebra, position)
        joint = of.Joint(rotation, step, of.axis_of(link, algebra))
        links.append(_Link(link, joint, algebra, partial(_work, algebra, name, i, robot.joints)))
    zero = of.zeros(algebra)
    up = of.up(robot, algebra)
    motion = _Falling(zero, zero, zero, up) if split else _Falling(zero, zero, up, None)
    loads = []
    for this, *rates in zip(links, qd, qdd, strict=True):
        motion = _zeng_outward(this, motion, *rates)
        loads.append(_zeng_load(this, motion))
    return _zeng_inward(links, loads, qdd)


def _work(
    algebra: Algebra, name: Callable[[int, int, int], str], link: int, joints: int, number: int
) -> AbstractContextManager[None]:
    return task(algebra, name(number, link, joints))


def _zeng_outward(this: _Link, before: _Falling, qd: Element, qdd: Element) -> _Falling:
    """Tasks 1 to 7."""
    work, back, step = this.work, this.joint.rotation.transposed, this.joint.step
    zero, revolute = this.algebra.constant(0.0), this.link.revolute
    speed = Vector(zero, zero, qd)
    with work(1):
        omega = back * (before.omega + speed if revolute else before.omega)
    with work(2):
        turned = before.omega @ speed
    with work(3):
        inner = before.omega_dot
        if revolute:
            inner = inner + Vector(zero, zero, qdd) + turned
        omega_dot = back * inner
    with work(5):
        swing = omega @ step
        if not revolute:
            swing = swing + this.joint.axis.scaled(qd + qd)
    with work(6):
        jerk = omega_dot @ step
    with work(7 if before.falling else 4):
        slid = before.acceleration
        carried = back * (slid if revolute else slid + Vector(zero, zero, qdd))
    with work(4):
        falling = back * before.falling if before.falling else None
    with work(7):
        return _Falling(omega, omega_dot, omega @ swing + carried + jerk, falling)


def _zeng_load(this: _Link, motion: _Falling) -> tuple[Vector, Vector]:
    """Tasks 8 to 13: F and N."""
    work, omega, omega_dot = this.work, motion.omega, motion.omega_dot
    r = of.constants(this.algebra, this.link.center_of_mass)
    inertia = of.inertia_of(this.link, this.algebra)
    with work(8):
        inward = omega @ (omega @ r)
    with work(9):
        sideways = omega_dot @ r
    with work(10):
        total = inward + sideways + motion.acceleration
        total = total if motion.falling is None else total + motion.falling
        force = total.scaled(this.algebra.constant(this.link.mass))
    with work(11):
        slow = inertia * omega_dot
    with work(12):
        fast = omega @ (inertia * omega)
    with work(13):
        return force, slow + fast


def _zeng_inward(
    links: Sequence[_Link], loads: Sequence[tuple[Vector, Vector]], rates: Sequence[Element]
) -> list[Element]:
    """Tasks 14 to 19, from the last link."""
    algebra = links[0].algebra
    rotation, force, moment = of.identity(algebra), of.zeros(algebra), of.zeros(algebra)
    found = []
    for this, (own, spin), rate in zip(links[::-1], loads[::-1], rates[::-1], strict=True):
        work, step, axis = this.work, this.joint.step, this.joint.axis
        r = of.constants(algebra, this.link.center_of_mass)
        with work(15):
            lever = (rotation.transposed * step) @ force
        with work(16):
            carried = rotation * (moment + lever)
        with work(14):
            force = rotation * force + own
        with work(17):
            turning = (step + r) @ own
        with work(18):
            moment = carried + turning + spin
        with work(19):
            torque = (moment if this.link.revolute else force).dot(axis)
            found.append(of.with_rotor(this.link, algebra, torque, rate))
        rotation = this.joint.rotation
    return found[::-1]
