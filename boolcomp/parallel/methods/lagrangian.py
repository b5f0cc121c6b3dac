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
from typing import TYPE_CHECKING

from boolcomp.parallel.methods import physics as of
from boolcomp.problem.dynamics.vectors import Matrix3, Vector
from boolcomp.problem.expressions.tape import task
from boolcomp.problem.robot.frames import free_fall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot

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
