"""Symbolic-form equations of motion M(y) ÿ + k(y, ẏ) = q(y, u), as in Schäfer and Schiehlen 1992.

Of body i, in its own frame, the Jacobians J_R and J_T give its angular velocity and that of its
centre of mass per unit of every joint's speed; ᾱ and ā are its accelerations while no joint
accelerates. Then, M̄ being masses and inertia tensors:

    M = Jᵀ M̄ J        k = Jᵀ k̄, k̄ = (m ā, I ᾱ + ω × I ω)        q = Jᵀ (m g) + u

J, k̄ and the weights wait for nothing of one another (strategy 2); M is factorised by Cholesky
while k and q are calculated (strategy 3). Rotor inertia stands on M's diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from boolcomp.parallel.methods import physics as of
from boolcomp.problem.expressions.algebra import Algebra, Vector
from boolcomp.problem.expressions.tape import task
from boolcomp.problem.robot.model import free_fall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.problem.expressions.algebra import Element
    from boolcomp.problem.robot.model import Link, Robot

LINK_TASKS = ("A", "J", "P", "kbar", "g")
ROW_TASKS = ("M", "k", "q")


class Rooted(Algebra, Protocol):
    """An algebra with square roots, whose elements also divide."""

    def root(self, x: Element) -> Element:
        """Return the square root of x."""


@dataclass(frozen=True, slots=True)
class Column:
    """What one joint's unit speed does to a frame: its angular velocity and that of a point."""

    joint: int
    turn: Vector
    move: Vector


@dataclass(frozen=True, slots=True)
class Frame:
    """A link's frame on its way: Jacobian columns of its origin, ω, ᾱ, ā of the origin, gravity."""

    columns: tuple[Column, ...]
    omega: Vector
    omega_dot: Vector
    acceleration: Vector
    down: Vector


@dataclass(frozen=True, slots=True)
class Body:
    """A link with its Jacobian at the centre of mass, M̄J, k̄ and weight, all in its frame."""

    label: str
    link: Link
    joint: of.Joint
    omega: Vector
    columns: tuple[Column, ...]
    momenta: tuple[Column, ...]
    force: Vector
    moment: Vector
    weight: Vector


@dataclass(frozen=True, slots=True)
class Equations:
    """M (its lower half, row by row), k, and q without the drives' u."""

    mass: tuple[tuple[Element, ...], ...]
    k: tuple[Element, ...]
    q: tuple[Element, ...]

    def entry(self, row: int, column: int) -> Element:
        """Return an entry of the whole symmetric M."""
        return self.mass[max(row, column)][min(row, column)]


def tasks(robot: Robot) -> tuple[str, ...]:
    """Return the tasks of `torques`: per link, then M, k, q and τ by rows."""
    numbers = range(1, robot.joints + 1)
    outward = [f"{name}/{i}" for i in numbers for name in LINK_TASKS]
    return (*outward, *(f"{name}/{i}" for name in (*ROW_TASKS, "tau") for i in numbers))


def cycle_tasks(robot: Robot) -> tuple[str, ...]:
    """Return the tasks of a whole control cycle: `torques`', Cholesky's and the control law's."""
    numbers = range(1, robot.joints + 1)
    rest = ("v", "u", "L", "r")
    kept = [name for name in tasks(robot) if not name.startswith("tau")]
    return (*kept, *(f"{name}/{i}" for name in rest for i in numbers), "solve")


def forward_tasks(robot: Robot) -> tuple[str, ...]:
    """Return the tasks of `forward`: a cycle's without the control law."""
    return tuple(name for name in cycle_tasks(robot) if name[0] not in "uv")


def base(robot: Robot, algebra: Algebra) -> Frame:
    """Return the frame at rest that the first link hangs on."""
    zero = of.zeros(algebra)
    return Frame((), zero, zero, zero, of.constants(algebra, free_fall(robot)))


def advance(
    label: str,
    number: int,
    link: Link,
    algebra: Algebra,
    before: Frame,
    state: tuple[Element, Element],
) -> tuple[Frame, Body]:
    """Return the next frame and the body fixed to it; `number` is its joint's among all."""
    q, qd = state
    with task(algebra, f"A/{label}"):
        joint = of.Joint(
            of.known_rotation(link, algebra, q),
            of.known_step(link, algebra, q),
            of.axis_of(link, algebra),
        )
    r = of.constants(algebra, link.center_of_mass)
    with task(algebra, f"J/{label}"):
        columns = [_carried(column, joint) for column in before.columns]
        none = of.zeros(algebra)
        turn = joint.axis if link.revolute else none
        move = joint.axis @ joint.step if link.revolute else joint.axis
        columns.append(Column(number, turn, move))
        central = tuple(Column(c.joint, c.turn, c.move + c.turn @ r) for c in columns)
    inertia, mass = of.inertia_of(link, algebra), algebra.constant(link.mass)
    with task(algebra, f"P/{label}"):
        momenta = tuple(Column(c.joint, inertia * c.turn, c.move.scaled(mass)) for c in central)
    with task(algebra, f"kbar/{label}"):
        omega, omega_dot, acceleration = _biased(link, algebra, joint, before, qd)
        force = (acceleration + omega_dot @ r + omega @ (omega @ r)).scaled(mass)
        moment = inertia * omega_dot + omega @ (inertia * omega)
    with task(algebra, f"g/{label}"):
        down = of.back(joint.rotation, before.down)
        weight = down.scaled(mass)
    frame = Frame(tuple(columns), omega, omega_dot, acceleration, down)
    return frame, Body(label, link, joint, omega, central, momenta, force, moment, weight)


def _carried(column: Column, joint: of.Joint) -> Column:
    turn = of.back(joint.rotation, column.turn)
    return Column(column.joint, turn, of.back(joint.rotation, column.move) + turn @ joint.step)


def _biased(
    link: Link, algebra: Algebra, joint: of.Joint, before: Frame, qd: Element
) -> tuple[Vector, Vector, Vector]:
    """Return ω, ᾱ and ā of the link's origin: Newton-Euler's way out while no joint accelerates."""
    zero = algebra.constant(0.0)
    omega, omega_dot, acceleration = before.omega, before.omega_dot, before.acceleration
    speed = Vector(zero, zero, qd)
    if link.revolute:
        omega_dot = omega_dot + omega @ speed
        omega = omega + speed
    else:
        acceleration = acceleration + (omega @ speed).scaled(algebra.constant(2.0))
    omega = of.back(joint.rotation, omega)
    omega_dot = of.back(joint.rotation, omega_dot)
    turning = omega_dot @ joint.step + omega @ (omega @ joint.step)
    return omega, omega_dot, of.back(joint.rotation, acceleration) + turning


def bodies_of(
    robot: Robot, algebra: Algebra, q: Sequence[Element], qd: Sequence[Element]
) -> list[Body]:
    """Return all bodies of a chain."""
    frame = base(robot, algebra)
    bodies = []
    for i, (link, *state) in enumerate(zip(robot.links, q, qd, strict=True), 1):
        frame, body = advance(str(i), i, link, algebra, frame, (state[0], state[1]))
        bodies.append(body)
    return bodies


def assemble(algebra: Algebra, bodies: Sequence[Body], joints: int) -> Equations:
    """Return M, k and q of the bodies, row by row."""
    carried = [{c.joint: (c, p) for c, p in zip(b.columns, b.momenta, strict=True)} for b in bodies]
    rotors = {b.columns[-1].joint: b.link.joint_inertia for b in bodies}
    mass, k, q = [], [], []
    for r in range(1, joints + 1):
        on = [(body, pairs) for body, pairs in zip(bodies, carried, strict=True) if r in pairs]
        with task(algebra, f"M/{r}"):
            row = [_entry(algebra, r, c, [pairs for _, pairs in on]) for c in range(1, r + 1)]
            if rotors.get(r):
                row[-1] = row[-1] + algebra.constant(rotors[r])
            mass.append(tuple(row))
        with task(algebra, f"k/{r}"):
            shares = [
                pairs[r][0].move.dot(body.force) + pairs[r][0].turn.dot(body.moment)
                for body, pairs in on
            ]
            k.append(_sum(algebra, shares))
        with task(algebra, f"q/{r}"):
            q.append(_sum(algebra, [pairs[r][0].move.dot(body.weight) for body, pairs in on]))
    return Equations(tuple(mass), tuple(k), tuple(q))


def _entry(
    algebra: Algebra, r: int, c: int, on: Iterable[dict[int, tuple[Column, Column]]]
) -> Element:
    both = [(pairs[r][0], pairs[c][1]) for pairs in on if c in pairs]
    return _sum(algebra, [x.move.dot(p.move) + x.turn.dot(p.turn) for x, p in both])


def _sum(algebra: Algebra, terms: Sequence[Element]) -> Element:
    if not terms:
        return algebra.constant(0.0)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def torques(
    robot: Robot,
    algebra: Algebra,
    q: Sequence[Element],
    qd: Sequence[Element],
    qdd: Sequence[Element],
) -> list[Element]:
    """Return u = M q̈ + k - q: what the drives must give."""
    equations = assemble(algebra, bodies_of(robot, algebra, q, qd), robot.joints)
    return driven(algebra, equations, qdd, "tau")


def driven(
    algebra: Algebra, equations: Equations, rates: Sequence[Element], name: str
) -> list[Element]:
    """Return u = M q̈ + k - q, each row a task of this name."""
    found = []
    for r in range(len(equations.k)):
        with task(algebra, f"{name}/{r + 1}"):
            moved = [equations.entry(r, c) * rate for c, rate in enumerate(rates)]
            found.append(_sum(algebra, moved) + equations.k[r] - equations.q[r])
    return found


def cholesky(algebra: Rooted, equations: Equations) -> list[list[Element]]:
    """Return L with L Lᵀ = M, row by row; its diagonal holds the reciprocals 1/l."""
    lower: list[list[Element]] = []
    for r, entries in enumerate(equations.mass):
        row: list[Element] = []
        with task(algebra, f"L/{r + 1}"):
            for c, entry in enumerate(entries):
                left = entry
                for m in range(c):
                    left = left - row[m] * (row[m] if c == r else lower[c][m])
                if c < r:
                    row.append(left * lower[c][c])
                else:
                    row.append(algebra.constant(1.0) / algebra.root(left))
        lower.append(row)
    return lower


def solve(lower: Sequence[Sequence[Element]], right: Sequence[Element]) -> list[Element]:
    """Return x with L Lᵀ x = right, L as `cholesky` gives it."""
    size = range(len(right))
    half: list[Element] = []
    for r in size:
        left = right[r]
        for c in range(r):
            left = left - lower[r][c] * half[c]
        half.append(left * lower[r][r])
    found: dict[int, Element] = {}
    for r in reversed(size):
        left = half[r]
        for c in range(r + 1, len(right)):
            left = left - lower[c][r] * found[c]
        found[r] = left * lower[r][r]
    return [found[r] for r in size]


def accelerations(algebra: Rooted, equations: Equations, u: Sequence[Element]) -> list[Element]:
    """Return ÿ of M ÿ + k = q + u: Cholesky beside the right-hand side, then the solution."""
    lower = cholesky(algebra, equations)
    right = []
    for r, drive in enumerate(u):
        with task(algebra, f"r/{r + 1}"):
            right.append(equations.q[r] - equations.k[r] + drive)
    with task(algebra, "solve"):
        return solve(lower, right)


def forward(
    robot: Robot,
    algebra: Rooted,
    q: Sequence[Element],
    qd: Sequence[Element],
    u: Sequence[Element],
) -> list[Element]:
    """Return the joints' accelerations under the drives' torques."""
    equations = assemble(algebra, bodies_of(robot, algebra, q, qd), robot.joints)
    return accelerations(algebra, equations, u)
