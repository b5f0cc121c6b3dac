"""Newton-Euler with regrouped inertial parameters: the cheapest arithmetic that we know.

None of the four papers; it is what they compete with. After Khalil and Kleinfinger 1987 and
Gautier and Khalil 1990, with frames on the joints' axes (axis j is z of frame j):

    ω = Rᵀω' + z q̇        ω̇ = Rᵀω̇' + Rᵀω' × z q̇ + z q̈        U = [ω̇×] + ω ωᵀ - |ω|² E
    v̇ = Rᵀ(v̇' + U'p)      F = m v̇ + U h                        N = I ω̇ + ω × I ω + h × v̇
    f = F + R₊f₊          n = N + R₊n₊ + p₊ × R₊f₊             τ = n_z (f_z where it slides)

with mass m, first moment h and inertia I about the frame's origin.

Its parameters are those that `boolcomp.parallel.methods.regrouping` leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.parallel.methods import joints as of
from boolcomp.parallel.methods.regrouping import Inertia, regrouped
from boolcomp.problem.dynamics.vectors import Matrix3, Vector
from boolcomp.problem.expressions.tape import task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.dynamics.algebra import Algebra, Element
    from boolcomp.problem.robot import Link, Robot

TASKS = ("A", "w", "wd", "U", "vd", "F", "N", "f", "n", "tau")


def tasks(robot: Robot) -> tuple[str, ...]:
    """Return the tasks, link by link."""
    return tuple(f"{name}/{i}" for i in range(1, robot.joints + 1) for name in TASKS)


@dataclass(frozen=True, slots=True)
class _Place:
    """A joint's frame in the one before: the twist of the link before, the angle, the step."""

    twist: tuple[float, float]
    cosine: Element
    sine: Element
    step: Vector
    algebra: Algebra

    def back(self, v: Vector) -> Vector:
        """Take a vector of the frame before to this one."""
        v = _about_x(self.algebra, self.twist, v, -1)
        c, s = self.cosine, self.sine
        return Vector(c * v.x + s * v.y, c * v.y - s * v.x, v.z)

    def forth(self, v: Vector) -> Vector:
        """Take a vector of this frame to the one before."""
        c, s = self.cosine, self.sine
        turned = Vector(c * v.x - s * v.y, s * v.x + c * v.y, v.z)
        return _about_x(self.algebra, self.twist, turned, 1)


def _about_x(algebra: Algebra, twist: tuple[float, float], v: Vector, sense: int) -> Vector:
    sine, cosine = sense * twist[0], twist[1]

    def part(factor: float, x: Element) -> Element:
        return of.times(algebra, factor, x)

    if not sine or not cosine:
        y, z = (v.y, v.z) if cosine else (-v.z, v.y)
        sign = cosine or sine
        return Vector(v.x, part(sign, y), part(sign, z))
    return Vector(v.x, part(cosine, v.y) - part(sine, v.z), part(sine, v.y) + part(cosine, v.z))


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
    zero = of.zeros(algebra)
    motion = _Spreading(zero, zero, Matrix3((zero, zero, zero)), of.up(robot, algebra))
    places, loads = [], []
    parameters = regrouped(robot)
    for i, (link, *state) in enumerate(zip(robot.links, q, qd, qdd, strict=True), 1):
        before = robot.links[i - 2] if i > 1 else None
        with task(algebra, f"A/{i}"):
            places.append(_place(algebra, link, before, state[0]))
        motion = _outward(i, link, places[-1], motion, (state[1], state[2]))
        loads.append(_load(i, parameters[i - 1], algebra, motion))
    return _inward(robot, algebra, places, loads, qdd)


def _place(algebra: Algebra, link: Link, before: Link | None, q: Element) -> _Place:
    angle, offset = of.position(link, algebra, q)
    sine, cosine = (0.0, 1.0) if before is None else of.twist(before)
    step = Vector(
        algebra.constant(0.0 if before is None else before.a),
        of.times(algebra, -sine, offset),
        of.times(algebra, cosine, offset),
    )
    return _Place((sine, cosine), algebra.cosine(angle), algebra.sine(angle), step, algebra)


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
    first = of.constants(algebra, body.first)
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
    force, moment = of.zeros(algebra), of.zeros(algebra)
    found = []
    for i in range(robot.joints, 0, -1):
        link, (own, spin) = robot.links[i - 1], loads[i - 1]
        after = places[i] if i < robot.joints else None
        with task(algebra, f"f/{i}"):
            pulled = force if after is None else after.forth(force)
            force = own + pulled
        with task(algebra, f"n/{i}"):
            turned = moment if after is None else after.forth(moment) + after.step @ pulled
            moment = spin + turned
        with task(algebra, f"tau/{i}"):
            torque = moment.z if link.revolute else force.z
            rotor_counted = i == 1 and link.revolute
            known = torque if rotor_counted else of.with_rotor(link, algebra, torque, rates[i - 1])
            found.append(known)
    return found[::-1]
