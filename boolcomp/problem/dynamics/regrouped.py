"""Newton-Euler with regrouped inertial parameters: the cheapest arithmetic that we know.

None of the four papers; it is what they compete with. After Khalil and Kleinfinger 1987 and
Gautier and Khalil 1990, with frames on the joints' axes (axis j is z of frame j):

    ω = Rᵀω' + z q̇        ω̇ = Rᵀω̇' + Rᵀω' × z q̇ + z q̈        U = [ω̇×] + ω ωᵀ - |ω|² E
    v̇ = Rᵀ(v̇' + U'p)      F = m v̇ + U h                        N = I ω̇ + ω × I ω + h × v̇
    f = F + R₊f₊          n = N + R₊n₊ + p₊ × R₊f₊             τ = n_z (f_z where it slides)

with mass m, first moment h and inertia I about the frame's origin.

Its parameters are those that `boolcomp.problem.dynamics.regrouped` leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.dynamics.newton_euler import joint_frames
from boolcomp.problem.expressions.algebra import Matrix3, Vector
from boolcomp.problem.expressions.tape import task
from boolcomp.problem.robot.model import Z, about_axis, free_fall, transposed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.dynamics.newton_euler import JointFrame
    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.robot.model import Link, Robot, Rows


# --------------------------------------------------------------------------------------------------
# Inertial parameters that act: what a link may hand to the link before goes there.
#
# Whatever of a link looks the same however it turns about its joint's axis (mass and first moment
# on the axis, inertia Iyy across it) may as well belong to the link before; of a sliding link that
# is its whole tensor. So of a turning link only Ixx - Iyy, Izz, the products of inertia and two
# components of the first moment are left, and its mass is zero (Gautier and Khalil 1990). A fixed
# base takes what the first link hands on; its rotor's inertia goes to Izz.
#
# Frames lie on the joints' axes: frame i's z is the axis of joint i.
# --------------------------------------------------------------------------------------------------


ROUNDING = 1e-12  # of what was added up: less than that of a parameter is none


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass, first moment and tensor of a link about the origin of its joint's frame."""

    mass: float
    first: tuple[float, float, float]
    tensor: tuple[tuple[float, float, float], ...]


def regrouped(robot: Robot) -> tuple[Inertia, ...]:
    """Return the links' parameters after everything has gone to the link before that may."""
    frames, nothing = joint_frames(robot), _Body(0.0, np.zeros(3), np.zeros((3, 3)), 0.0)
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
        found.append(kept.parameters())
    return tuple(found[::-1])


@dataclass(frozen=True, slots=True)
class _Body:
    """`scale` is the largest size that entries of the tensor have been added up from."""

    mass: float
    first: NDArray[np.float64]
    tensor: NDArray[np.float64]
    scale: float

    def plus(self, other: _Body) -> _Body:
        return _Body(
            self.mass + other.mass,
            self.first + other.first,
            self.tensor + other.tensor,
            max(self.scale, other.scale),
        )

    def split(self, *, revolute: bool) -> tuple[_Body, _Body]:
        """Return what stays with the link, and what the link before may have."""
        none = np.zeros(3)
        if not revolute:
            kept = _Body(self.mass, self.first, np.zeros((3, 3)), self.scale)
            return kept, _Body(0.0, none, self.tensor, self.scale)
        across = self.tensor[1, 1]
        moved = _Body(
            self.mass, np.array([0.0, 0.0, self.first[2]]), np.diag([across, across, 0.0]),
            self.scale,
        )  # fmt: skip
        kept = _Body(0.0, self.first - moved.first, self.tensor - moved.tensor, self.scale)
        return kept, moved

    def seen_before(self, frame: JointFrame, *, revolute: bool) -> _Body:
        """Return this, fixed to the link before at any angle, in that link's joint frame."""
        turn = np.array(frame.turn)
        if not revolute:
            turn = turn @ np.array(about_axis(Z, frame.angle))
        tensor = turn @ self.tensor @ turn.T
        turned = _Body(self.mass, turn @ self.first, tensor, self.scale)
        # A tensor alone is no place's.
        return _moved(turned, np.array(frame.origin)) if revolute else turned

    def parameters(self) -> Inertia:
        """Return the numbers, those that are rounding errors alone as zeros."""
        tensor = np.where(abs(self.tensor) <= ROUNDING * self.scale, 0.0, self.tensor)
        first = np.where(abs(self.first) <= ROUNDING * self.scale, 0.0, self.first)
        rows = tuple(_triple(row) for row in tensor)
        return Inertia(float(self.mass), _triple(first), rows)


def _own(link: Link, frame: JointFrame) -> _Body:
    """Return a link's own inertia in the frame on its joint's axis."""
    xx, yy, zz, xy, yz, xz = link.inertia
    central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    turn = np.array(frame.link)
    centre = turn @ np.array(link.center_of_mass) + np.array(frame.place)
    tensor = turn @ central @ turn.T
    body = _Body(link.mass, np.zeros(3), tensor, float(abs(tensor).max()))
    return _moved(body, centre)


def _moved(body: _Body, p: NDArray[np.float64]) -> _Body:
    """Return a body as seen from a point from which its origin is at p."""
    px, hx = _cross(p), _cross(body.first)
    tensor = body.tensor - px @ hx - hx @ px - body.mass * px @ px
    scale = max(body.scale, float(abs(tensor).max()))
    return _Body(body.mass, body.first + body.mass * p, tensor, scale)


def _cross(v: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _triple(values: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


# --------------------------------------------------------------------------------------------------
# Newton-Euler with regrouped inertial parameters: the cheapest arithmetic that we know.
# --------------------------------------------------------------------------------------------------


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
