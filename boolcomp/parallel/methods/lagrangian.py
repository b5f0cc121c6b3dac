"""The recursive Lagrangian of Zalzala and Morris 1989 in its ten plus six jobs a link.

Outwards, W being the rotation of link j to the base and Q the derivative of a turn about z:

    W = W'A        Ẇ = (Ẇ' + W'Q θ̇) A        Ẅ = (Ẅ' + 2Ẇ'Q θ̇ + W'(Q²θ̇² + Q θ̈)) A
    p̈ = p̈' + Ẅ p   ∂W = W'Q A                e* = Ẅ (m r)      D* = (m r + m p) p̈ᵀ + Ĵ Ẅᵀ
    g* = gᵀ∂W      A, p*

and inwards (₊ is the link after):

    D = A₊D₊ + p e₊ᵀ + D*     e = e₊ + e* + m p̈     τ* = tr(∂W D)
    c = A₊c₊ + (m r + M p)    τ** = g* c            τ = τ* - τ**

Here the physics rules, not the print: moments are taken about the origin before the link, which
lies on the joint's axis (so p is the link's own, known in its frame, Ĵ = J + p (m r)ᵀ, and M is
the mass of the link and all after it); equations (9), (11), (31), (32) print r/m for the first
moment m r, (12) and (29) have the wrong sign for p in this frame, (A.15) as well, and (39) adds
W r, a vector in base axes, to one in the link's.

The jobs keep the operations of tables 1 and 2. Two of them only a literal text can explain: Ẅ has
three products and three sums more than (A.34) to (A.38), which is what Q's column of zeros costs
if it is not left out; and c has a rotation of a known vector, which can only be the identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.parallel.methods import physics as of
from boolcomp.problem.expressions.algebra import Matrix3, Vector
from boolcomp.problem.expressions.tape import task
from boolcomp.problem.robot.model import free_fall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot


# --------------------------------------------------------------------------------------------------
# The recursive Lagrangian of Zalzala and Morris 1989 in its ten plus six jobs a link.
# --------------------------------------------------------------------------------------------------


PHASE_ONE = ("W", "Wd", "Wdd", "pdd", "dW", "e*", "D*", "g*", "A", "p*")
PHASE_TWO = ("D", "e", "tau*", "c", "tau**", "tau")
ROWS = ("a", "b", "c")  # D and c by rows, on a processor each: (42) and (43)


def lagrangian_tasks(robot: Robot, *, rows: bool = False) -> tuple[str, ...]:
    """Return the jobs link by link; `rows` splits D and c in three."""
    links = range(1, robot.joints + 1)
    inward = [
        f"{job}{row}"
        for job in PHASE_TWO
        for row in (ROWS if rows and job in ("D", "c") else ("",))
    ]
    return (
        *(f"{job}/{i}" for i in links for job in PHASE_ONE),
        *(f"{job}/{i}" for i in links[::-1] for job in inward),
    )


@dataclass(frozen=True, slots=True)
class _Outward:
    """What phase 1 finds of a link; matrices and p̈ in base axes, D* from the link's frame."""

    link: Link
    rotation: Matrix3
    step: Vector
    turn: Matrix3
    turn_dot: Matrix3
    turn_ddot: Matrix3
    acceleration: Vector
    change: Matrix3
    pull: Vector
    own_force: Vector
    own_moment: Matrix3


def lagrangian_torques(
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
    *,
    rows: bool = False,
) -> list[Element]:
    """Return the torques, job by job; a sliding joint changes p and not W."""
    before: _Outward | None = None
    links = []
    for i, (link, *state) in enumerate(zip(robot.links, q, qd, qdd, strict=True), 1):
        before = _jobs_outward(robot, i, link, algebra, before, (state[0], state[1], state[2]))
        links.append(before)
    return _jobs_inward(links, algebra, qdd, rows=rows)


def _jobs_outward(
    robot: Robot,
    i: int,
    link: Link,
    algebra: Algebra,
    before: _Outward | None,
    state: tuple[Element, Element, Element],
) -> _Outward:
    q, qd, qdd = state
    with task(algebra, f"A/{i}"):
        rotation = of.rotation_of(link, algebra, q)
    with task(algebra, f"p*/{i}"):
        step = of.step_of(link, algebra, q)
    turn, turn_dot, turn_ddot = _turns(i, link, algebra, before, rotation, (qd, qdd))
    with task(algebra, f"pdd/{i}"):
        start = of.zeros(algebra) if before is None else before.acceleration
        acceleration = start + turn_ddot * step
        if not link.revolute:
            acceleration = acceleration + _sliding(algebra, before, qd, qdd)
    with task(algebra, f"dW/{i}"):
        change = _change(link, algebra, before, rotation)
    with task(algebra, f"g*/{i}"):
        down = of.constants(algebra, free_fall(robot))
        pull = change.transposed * down
    with task(algebra, f"e*/{i}"):
        own_force = turn_ddot * of.constants(algebra, [link.mass * c for c in link.center_of_mass])
    with task(algebra, f"D*/{i}"):
        own_moment = _own_moment(link, algebra, step, acceleration, turn_ddot, own_force)
    return _Outward(
        link, rotation, step, turn, turn_dot, turn_ddot, acceleration, change, pull,
        own_force, own_moment,
    )  # fmt: skip


def _turns(
    i: int,
    link: Link,
    algebra: Algebra,
    before: _Outward | None,
    a: Matrix3,
    rates: tuple[Element, Element],
) -> tuple[Matrix3, Matrix3, Matrix3]:
    """Jobs 1 to 3: W, Ẇ, Ẅ."""
    qd, qdd = rates
    if before is None:
        return _first_turns(i, link, algebra, a, rates)
    w, wd, wdd = (m.rows for m in (before.turn, before.turn_dot, before.turn_ddot))
    with task(algebra, f"W/{i}"):
        turn = _times(before.turn, a)
    if not link.revolute:
        with task(algebra, f"Wd/{i}"):
            turn_dot = _times(before.turn_dot, a)
        with task(algebra, f"Wdd/{i}"):
            return turn, turn_dot, _times(before.turn_ddot, a)
    with task(algebra, f"Wd/{i}"):
        moved = [Vector(d.x + r.y * qd, d.y - r.x * qd, d.z) for r, d in zip(w, wd, strict=True)]
        turn_dot = _times(_matrix(moved), a)
    with task(algebra, f"Wdd/{i}"):
        square, twice = qd * qd, algebra.constant(2.0) * qd
        nothing = algebra.constant(0.0)
        moved = [
            Vector(
                r.y * qdd - r.x * square + d.y * twice + dd.x,
                dd.y - r.x * qdd - r.y * square - d.x * twice,
                dd.z + twice * nothing,
            )
            for r, d, dd in zip(w, wd, wdd, strict=True)
        ]
        return turn, turn_dot, _times(_matrix(moved), a)


def _first_turns(
    i: int, link: Link, algebra: Algebra, a: Matrix3, rates: tuple[Element, Element]
) -> tuple[Matrix3, Matrix3, Matrix3]:
    """Of the first link, where W' is the identity and at rest."""
    qd, qdd = rates
    none = of.zeros(algebra)
    still = Matrix3((none, none, none))
    if not link.revolute:
        return a, still, still
    first, second, _ = a.rows
    with task(algebra, f"Wd/{i}"):
        minus = Vector(-second.x, -second.y, -second.z)
        turn_dot = Matrix3((minus.scaled(qd), first.scaled(qd), none))
    with task(algebra, f"Wdd/{i}"):
        square = qd * qd
        inwards = -square
        one = (inwards * f - qdd * s for f, s in zip(first, second, strict=True))
        two = (qdd * f - square * s for f, s in zip(first, second, strict=True))
        return a, turn_dot, Matrix3((Vector(*one), Vector(*two), none))


def _change(link: Link, algebra: Algebra, before: _Outward | None, a: Matrix3) -> Matrix3:
    """Job 5: ∂W = W'Q A; of a sliding joint the direction W'z, as a first column."""
    none = of.zeros(algebra)
    first, second, _ = a.rows
    if not link.revolute:
        zero, one = algebra.constant(0.0), algebra.constant(1.0)
        axis = [zero, zero, one] if before is None else [row.z for row in before.turn.rows]
        return _matrix([Vector(x, zero, zero) for x in axis])
    if before is None:
        return Matrix3((Vector(-second.x, -second.y, -second.z), first, none))
    return _matrix(
        [
            Vector(
                row.y * first.x - row.x * second.x,
                row.y * first.y - row.x * second.y,
                row.y * first.z - row.x * second.z,
            )
            for row in before.turn.rows
        ]
    )


def _sliding(algebra: Algebra, before: _Outward | None, qd: Element, qdd: Element) -> Vector:
    """Return what a sliding joint adds to p̈: W'z d̈ + 2 Ẇ'z ḋ."""
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    if before is None:
        return Vector(zero, zero, one * qdd)
    twice = algebra.constant(2.0) * qd
    pairs = zip(before.turn.rows, before.turn_dot.rows, strict=True)
    return Vector(*(row.z * qdd + dot.z * twice for row, dot in pairs))


def _moments(link: Link) -> tuple[list[float], list[list[float]]]:
    """Return the first moment and ∫ x rᵀ dm, (20), where x is seen from the origin before.

    A sliding joint's step is not known: there both are seen from the link's own origin.
    """
    xx, yy, zz, xy, yz, xz = link.inertia
    half = (xx + yy + zz) / 2
    central = ((half - xx, -xy, -xz), (-xy, half - yy, -yz), (-xz, -yz, half - zz))
    sin_alpha, cos_alpha = of.twist(link)
    step = (link.a, link.d * sin_alpha, link.d * cos_alpha) if link.revolute else (0.0, 0.0, 0.0)
    first = [link.mass * (c + p) for c, p in zip(link.center_of_mass, step, strict=True)]
    second = [
        [about + lever * c for about, c in zip(row, link.center_of_mass, strict=True)]
        for row, lever in zip(central, first, strict=True)
    ]
    return first, second


def _own_moment(
    link: Link,
    algebra: Algebra,
    step: Vector,
    acceleration: Vector,
    turn_ddot: Matrix3,
    own_force: Vector,
) -> Matrix3:
    """Job 7; a step that moves cannot hide in Ĵ."""
    first, second = _moments(link)
    rows = [
        acceleration.scaled(algebra.constant(lever)) + turn_ddot * of.constants(algebra, row)
        for lever, row in zip(first, second, strict=True)
    ]
    if not link.revolute:
        force = acceleration.scaled(algebra.constant(link.mass)) + own_force
        rows = [row + force.scaled(p) for row, p in zip(rows, step, strict=True)]
    return _matrix(rows)


def _jobs_inward(
    links: Sequence[_Outward], algebra: Algebra, rates: Sequence[Element], *, rows: bool
) -> list[Element]:
    """Phase 2, from the last link."""
    found = []
    mass = 0.0
    after: _Outward | None = None
    moment: list[Vector] = []
    force, first = of.zeros(algebra), of.zeros(algebra)
    for i in range(len(links), 0, -1):
        this, link = links[i - 1], links[i - 1].link
        mass += link.mass
        moment = _moment(i, this, after, algebra, (moment, force), rows=rows)
        with task(algebra, f"e/{i}"):
            own = this.acceleration.scaled(algebra.constant(link.mass))
            force = this.own_force + own if after is None else force + this.own_force + own
        with task(algebra, f"tau*/{i}"):
            if link.revolute:
                moving = _trace(this.change, moment)
            else:
                moving = Vector(*(row.x for row in this.change.rows)).dot(force)
        first = _first(i, this, after, algebra, (first, mass), rows=rows)
        with task(algebra, f"tau**/{i}"):
            weight = algebra.constant(mass)
            falling = this.pull.dot(first) if link.revolute else this.pull.x * weight
        with task(algebra, f"tau/{i}"):
            found.append(of.with_rotor(link, algebra, moving - falling, rates[i - 1]))
        after = this
    return found[::-1]


def _moment(
    i: int,
    this: _Outward,
    after: _Outward | None,
    algebra: Algebra,
    behind: tuple[list[Vector], Vector],
    *,
    rows: bool,
) -> list[Vector]:
    """Job 1: D = A₊D₊ + p e₊ᵀ + D*, by rows."""
    own = list(this.own_moment.rows)
    if after is None:
        return own
    moment, force = behind
    found = []
    for k, label in enumerate(ROWS):
        with task(algebra, f"D{label if rows else ''}/{i}"):
            a = after.rotation.rows[k]
            turned = moment[0].scaled(a.x) + moment[1].scaled(a.y) + moment[2].scaled(a.z)
            found.append(turned + force.scaled(tuple(this.step)[k]) + own[k])
    return found


def _first(
    i: int,
    this: _Outward,
    after: _Outward | None,
    algebra: Algebra,
    behind: tuple[Vector, float],
    *,
    rows: bool,
) -> Vector:
    """Job 4: c = A₊c₊ + (m r + M p), by rows; the rotation of what is known is the identity."""
    link, (first, mass) = this.link, behind
    sin_alpha, cos_alpha = of.twist(link)
    along = (link.a, link.d * sin_alpha, link.d * cos_alpha) if link.revolute else (0.0, 0.0, 0.0)
    pairs = zip(link.center_of_mass, along, strict=True)
    known = of.constants(algebra, [link.mass * c + mass * p for c, p in pairs])
    if not link.revolute:  # its step is not known beforehand
        with task(algebra, f"c{ROWS[0] if rows else ''}/{i}"):
            known = known + this.step.scaled(algebra.constant(mass))
    if after is None:
        return known
    found = []
    for k, label in enumerate(ROWS):
        with task(algebra, f"c{label if rows else ''}/{i}"):
            turned = after.rotation.rows[k].dot(first)
            found.append(turned + of.identity(algebra).rows[k].dot(known))
    return Vector(*found)


def _matrix(rows: Sequence[Vector]) -> Matrix3:
    first, second, third = rows
    return Matrix3((first, second, third))


def _times(left: Matrix3, a: Matrix3) -> Matrix3:
    """Return left·A without the product by A's zero: 24 multiplications, 15 additions."""
    return _matrix([of.back(a, row) for row in left.rows])


def _trace(left: Matrix3, right: Sequence[Vector]) -> Element:
    """Return tr(left·right): 9 multiplications, 8 additions."""
    columns = zip(*(row for row in right), strict=True)
    parts = [row.dot(Vector(*column)) for row, column in zip(left.rows, columns, strict=True)]
    return parts[0] + parts[1] + parts[2]


# --------------------------------------------------------------------------------------------------
# The task graphs of Zeng and Egan 1991: nineteen tasks a link, ten, and ten with one split.
#
# Newton-Euler as Luh, Walker and Paul wrote it, the moment taken back with p × f inside the
# rotation:
#
#     n = A₊ (n₊ + (A₊ᵀp) × f₊) + (p + s) × F + N
#
# Two misprints are put right: task 18 adds VEC10, VEC11 and N (its printed VEC9 is inside VEC10,
# and its predecessors are 16, 17 and 13), and task 2 of ten follows (2/i-1). In place of the
# damping b q̇ the last task adds the rotor's inertia. Sines, cosines, A and p are tasks of their
# own.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Newton-Euler as in Zomaya and Morris 1989: general (table 2) and semi-customised (table 3).
#
# Their equations, of link i+1 in its own frame (A its rotation, p its step, s its centre of mass):
#
#     (5)  ω = Aᵀ(ω' + z θ̇)                         (8)  ψ = ω̇ × s + ω × (ω × s) + v̇
#     (6)  ω̇ = Aᵀ(ω̇' + z θ̈ + ω' × z θ̇)              (9)  F = m ψ
#     (7)  v̇ = Aᵀv̇' + ω̇ × p + ω × (ω × p)          (10) N = J ω̇ + ω × J ω
#     (11) f = A₊ f₊ + F                           (12) n = A₊ n₊ + p × f + N + s × F
#     (13) τ = n · Aᵀz
#
# A sliding joint, which the paper leaves out, adds z d̈ + 2 ω × z ḋ to the acceleration and takes
# its force from f. The tasks are the equations, `w/3` being ω of link 3.
# --------------------------------------------------------------------------------------------------


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
