"""Newton-Euler with regrouped inertial parameters: the cheapest arithmetic that we know.

None of the four papers; it is what they compete with. After Khalil and Kleinfinger 1987 and
Gautier and Khalil 1990, with frames on the joints' axes (axis j is z of frame j):

    ω = Rᵀω' + z q̇        ω̇ = Rᵀω̇' + Rᵀω' × z q̇ + z q̈        U = [ω̇×] + ω ωᵀ - |ω|² E
    v̇ = Rᵀ(v̇' + U'p)      F = m v̇ + U h                        N = I ω̇ + ω × I ω + h × v̇
    f = F + R₊f₊          n = N + R₊n₊ + p₊ × R₊f₊             τ = n_z (f_z where it slides)

with mass m, first moment h and inertia I about the frame's origin.

Its parameters are those that `boolcomp.problem.dynamics.regrouping` leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.problem.dynamics.jointframes import joint_frames
from boolcomp.problem.dynamics.regrouping import Inertia, regrouped
from boolcomp.problem.dynamics.vectors import Matrix3, Vector
from boolcomp.problem.expressions.tape import task
from boolcomp.problem.robot.frames import free_fall, transposed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.dynamics.jointframes import JointFrame
    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.frames import Rows
    from boolcomp.problem.robot.model import Link, Robot

TASKS = ("A", "w", "wd", "U", "vd", "F", "N", "f", "n", "tau")


def tasks(robot: Robot) -> tuple[str, ...]:
    """Return the tasks, link by link."""
    return tuple(f"{name}/{i}" for i in range(1, robot.joints + 1) for name in TASKS)


@dataclass(frozen=True, slots=True)
class _Place:
    """A joint's frame in the one before: a fixed turn, sine and cosine about z, and the step."""

    turn: Rows
    cosine: Element
    sine: Element
    step: Vector
    algebra: Algebra

    def back(self, v: Vector) -> Vector:
        """Take a vector of the frame before to this one."""
        v = known_turn(self.algebra, transposed(self.turn), v)
        c, s = self.cosine, self.sine
        return Vector(c * v.x + s * v.y, c * v.y - s * v.x, v.z)

    def forth(self, v: Vector) -> Vector:
        """Take a vector of this frame to the one before."""
        c, s = self.cosine, self.sine
        turned = Vector(c * v.x - s * v.y, s * v.x + c * v.y, v.z)
        return known_turn(self.algebra, self.turn, turned)


def times(algebra: Algebra, factor: float, x: Element) -> Element:
    """Return factor·x as somebody who knows the factor would write it: nothing for 0, 1 and -1."""
    if factor == 0:
        return algebra.constant(0.0)
    if abs(factor) == 1:
        return x if factor == 1 else -x
    return algebra.constant(factor) * x


def known_turn(algebra: Algebra, rows: Rows, v: Vector) -> Vector:
    """Return R v of a known rotation; entries that are 0 or ±1 only choose components."""
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
    """Return the torques."""
    zero = _zeros(algebra)
    up = Vector(*map(algebra.constant, (-g for g in free_fall(robot))))
    motions = [_Spreading(zero, zero, Matrix3((zero, zero, zero)), up)]
    places, loads = [], []
    parameters, frames = regrouped(robot), joint_frames(robot)
    for i, (link, *state) in enumerate(zip(robot.links, q, qd, qdd, strict=True), 1):
        with task(algebra, f"A/{i}"):
            places.append(_place(algebra, link, frames[i - 1], state[0]))
        before = motions[robot.parents[i - 1]]
        motions.append(_outward(i, link, places[-1], before, (state[1], state[2])))
        loads.append(_load(i, parameters[i - 1], algebra, motions[-1]))
    return _inward(robot, algebra, places, loads, qdd)


def _place(algebra: Algebra, link: Link, frame: JointFrame, q: Element) -> _Place:
    """Return where a joint's frame lies at a position of the joint."""
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


def _outward(
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
    """Return F and N, the latter from the products that U is made of."""
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


def _inward(
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
            if link.joint_inertia and (parent or not link.revolute):  # else Izz holds it
                torque = torque + algebra.constant(link.joint_inertia) * rates[i - 1]
            found.append(torque)
    return found[::-1]


def _zeros(algebra: Algebra) -> Vector:
    zero = algebra.constant(0.0)
    return Vector(zero, zero, zero)
