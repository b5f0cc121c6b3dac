"""Methods of the parallel-dynamics papers: symbolic form, recursive Lagrangian, Newton-Euler.

Frames are standard Denavit-Hartenberg frames, frame i fixed to link i.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Protocol

from boolcomp.parallel.taskgraph import Edge, Task, TaskGraph
from boolcomp.problem.algebra import (
    Algebra,
    Matrix3,
    Operations,
    Vector,
    link_rotation,
    symmetric,
)
from boolcomp.problem.problem import numbered
from boolcomp.problem.robot.model import free_fall
from boolcomp.problem.tape import count, recorded, task
from boolcomp.problem.words import exact_cosine, exact_sine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

    from boolcomp.problem.algebra import Element
    from boolcomp.problem.robot.model import Link, Robot
    from boolcomp.problem.tape import Straight, Tape

    Elements = Sequence[Element]


# --------------------------------------------------------------------------------------------------
# Rotations, steps and axes of joints, and task graphs recorded from the text of a method.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JointKinematics:
    """Rotation from the link's frame to the previous frame; step and axis in the link's frame.

    `step` leads from the previous origin to the link's origin.
    """

    rotation: Matrix3
    step: Vector
    axis: Vector

    @property
    def cosine(self) -> Element:
        return self.rotation.rows[0].x

    @property
    def sine(self) -> Element:
        return self.rotation.rows[1].x


def zeros(algebra: Algebra) -> Vector:
    return constants(algebra, (0.0, 0.0, 0.0))


def base_acceleration(robot: Robot, algebra: Algebra) -> Vector:
    return constants(algebra, [-g for g in free_fall(robot)])


def constants(algebra: Algebra, values: Sequence[float]) -> Vector:
    return Vector(*(algebra.constant(v) for v in values))


def inertia_of(link: Link, algebra: Algebra) -> Matrix3:
    return symmetric(*(algebra.constant(c) for c in link.inertia))


def twist(link: Link) -> tuple[float, float]:
    return exact_sine(link.alpha), exact_cosine(link.alpha)


def times(algebra: Algebra, factor: float, x: Element) -> Element:
    """Return factor·x without a multiplication for the factors 0, 1 and -1."""
    if factor == 0:
        return algebra.constant(0.0)
    if abs(factor) == 1:
        return x if factor == 1 else -x
    return algebra.constant(factor) * x


def position(link: Link, algebra: Algebra, q: Element) -> tuple[Element, Element]:
    """Return the angle θ and the offset d at a joint position."""
    fixed, moving = (link.d, link.theta) if link.revolute else (link.theta, link.d)
    moved = algebra.constant(moving) + q if moving else q
    return (moved, algebra.constant(fixed)) if link.revolute else (algebra.constant(fixed), moved)


def rotation_of(link: Link, algebra: Algebra, q: Element) -> Matrix3:
    """Return A with four products by the sine and the cosine of the twist."""
    angle, _ = position(link, algebra, q)
    sin_alpha, cos_alpha = (algebra.constant(x) for x in twist(link))
    cosine, sine = algebra.cosine(angle), algebra.sine(angle)
    return link_rotation(cosine, sine, cos_alpha, sin_alpha, algebra.constant(0.0))


def step_of(link: Link, algebra: Algebra, q: Element) -> Vector:
    """Return p = (a, d sin α, d cos α): two products."""
    _, offset = position(link, algebra, q)
    sin_alpha, cos_alpha = (algebra.constant(x) for x in twist(link))
    return Vector(algebra.constant(link.a), offset * sin_alpha, offset * cos_alpha)


def known_step(link: Link, algebra: Algebra, q: Element) -> Vector:
    """Return p with constant products folded."""
    if link.revolute:
        sin_alpha, cos_alpha = twist(link)
        return constants(algebra, (link.a, link.d * sin_alpha, link.d * cos_alpha))
    _, offset = position(link, algebra, q)
    along, across = (times(algebra, x, offset) for x in twist(link))
    return Vector(algebra.constant(link.a), along, across)


def known_rotation(link: Link, algebra: Algebra, q: Element) -> Matrix3:
    """Return A customised for one arm: right-angled twists need no products."""
    angle, _ = position(link, algebra, q)
    sin_alpha, cos_alpha = twist(link)
    cosine, sine = algebra.cosine(angle), algebra.sine(angle)
    first = Vector(cosine, times(algebra, -cos_alpha, sine), times(algebra, sin_alpha, sine))
    second = Vector(sine, times(algebra, cos_alpha, cosine), times(algebra, -sin_alpha, cosine))
    return Matrix3((first, second, constants(algebra, (0.0, sin_alpha, cos_alpha))))


def axis_of(link: Link, algebra: Algebra) -> Vector:
    return constants(algebra, (0.0, *twist(link)))


def along_axis(link: Link, algebra: Algebra, v: Vector) -> Element:
    """Return the component of v along the joint's axis; right-angled twists need no products."""
    terms = [
        times(algebra, factor, x)
        for factor, x in zip(twist(link), (v.y, v.z), strict=True)
        if factor
    ]
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def back(rotation: Matrix3, v: Vector) -> Vector:
    """Return Aᵀv without the product by A's zero: 8 multiplications, 5 additions."""
    first, second, third = rotation.rows
    return Vector(
        first.x * v.x + second.x * v.y,
        first.y * v.x + second.y * v.y + third.y * v.z,
        first.z * v.x + second.z * v.y + third.z * v.z,
    )


def forth(rotation: Matrix3, v: Vector) -> Vector:
    """Return A v without the product by A's zero."""
    first, second, third = rotation.rows
    return Vector(first.dot(v), second.dot(v), third.y * v.y + third.z * v.z)


def identity(algebra: Algebra) -> Matrix3:
    """Return the identity, the rotation after the last link."""
    rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    first, second, third = (constants(algebra, row) for row in rows)
    return Matrix3((first, second, third))


def with_rotor(link: Link, algebra: Algebra, torque: Element, rate: Element) -> Element:
    """Return the torque plus that of the rotor's inertia."""
    if not link.joint_inertia:
        return torque
    return torque + algebra.constant(link.joint_inertia) * rate


# --------------------------------------------------------------------------------------------------
# Task graphs from the text of a method, run on a tape.
#
# A method is a function `(robot, algebra, q, qd, qdd) -> torques` that states its current task
# (`with task(algebra, "F/3"):`). Edges are values that one task calculates and another one uses.
# --------------------------------------------------------------------------------------------------


class Physics(Protocol):
    """The physics of a method over any algebra."""

    def __call__(
        self, robot: Robot, algebra: Algebra, q: Elements, qd: Elements,
        qdd: Elements, /,
    ) -> list[Element]:  # fmt: skip
        """Return the torque of every joint, in N·m (N for sliding joints)."""


@dataclass(frozen=True, slots=True)
class RecordedMethod:
    """A task graph and its program."""

    graph: TaskGraph
    straight: Straight

    @property
    def task_of_node(self) -> tuple[str, ...]:
        return tuple(node.task for node in self.straight.nodes)


def recorded_method(
    name: str, straight: Straight, tasks: Sequence[str], *, dummies: tuple[str, str] | None = None
) -> RecordedMethod:
    """Return the graph of tasks, some of which may have no operations.

    `dummies` are an entry before all tasks without predecessors, which sends no words, and an exit
    that receives the program's outputs.
    """
    missing = set(straight.tasks) - set(tasks)
    assert not missing, f"tasks without a name: {missing}"  # noqa: S101 (an error of a method)
    nodes = defaultdict(list)
    for node in straight.nodes:
        nodes[node.task].append(node)
    work = [Task(task, count(nodes[task])) for task in tasks]
    crossings = _crossings(straight)
    rank = {task: k for k, task in enumerate(tasks)}
    pairs = sorted(crossings, key=lambda pair: (rank[pair[0]], rank[pair[1]]))
    edges = [Edge(before, after, crossings[before, after]) for before, after in pairs]
    if dummies is not None:
        work, edges = _between(dummies, straight, work, edges)
    graph = TaskGraph(name, tuple(work), tuple(edges))
    graph.check()
    return RecordedMethod(graph, straight)


def _crossings(straight: Straight) -> dict[tuple[str, str], int]:
    """Return the number of values that each task sends to each other task."""
    crossing: dict[tuple[str, str], set[int]] = defaultdict(set)
    for node in straight.nodes:
        for k in node.operands:
            before = straight.nodes[k]
            if not before.free and before.task != node.task:
                crossing[before.task, node.task].add(k)
    return {pair: len(nodes) for pair, nodes in crossing.items()}


def _between(
    dummies: tuple[str, str], straight: Straight, work: list[Task], edges: list[Edge]
) -> tuple[list[Task], list[Edge]]:
    entry, end = dummies
    waiting = {edge.after for edge in edges}
    first = [Edge(entry, task.name, 0) for task in work if task.name not in waiting]
    results: dict[str, set[int]] = defaultdict(set)
    for output in straight.outputs:
        task = straight.nodes[output.node].task
        results[task or entry].add(output.node)
    last = [Edge(task, end, len(nodes)) for task, nodes in results.items()]
    nothing = Operations()
    return [Task(entry, nothing), *work, Task(end, nothing)], [*first, *edges, *last]


# --------------------------------------------------------------------------------------------------
# Symbolic-form equations of motion M(y) ÿ + k(y, ẏ) = q(y, u), as in Schäfer and Schiehlen 1992.
#
# The Jacobians J_R and J_T of body i, in its own frame, give its angular velocity and the
# velocity of its centre of mass per unit speed of every joint. Its accelerations without joint
# accelerations are ᾱ and ā. With masses and inertia tensors M̄:
#
#     M = Jᵀ M̄ J        k = Jᵀ k̄, k̄ = (m ā, I ᾱ + ω × I ω)        q = Jᵀ (m g) + u
#
# J, k̄ and the weights are independent of each other (strategy 2); M is factorised by Cholesky
# while k and q are calculated (strategy 3). Rotor inertia is added to M's diagonal.
# --------------------------------------------------------------------------------------------------

LINK_TASKS = ("A", "J", "P", "kbar", "g")
ROW_TASKS = ("M", "k", "q")


@dataclass(frozen=True, slots=True)
class JacobianColumn:
    """The angular velocity of a frame and the velocity of a point per unit speed of a joint."""

    joint: int
    turn: Vector
    move: Vector


@dataclass(frozen=True, slots=True)
class LinkFrame:
    """A link's frame: Jacobian columns of its origin, ω, ᾱ, ā of the origin, gravity."""

    columns: tuple[JacobianColumn, ...]
    omega: Vector
    omega_dot: Vector
    acceleration: Vector
    down: Vector


@dataclass(frozen=True, slots=True)
class MovingBody:
    """A link with its Jacobian at the centre of mass, M̄J, k̄ and weight, all in its frame."""

    label: str
    link: Link
    joint: JointKinematics
    omega: Vector
    columns: tuple[JacobianColumn, ...]
    momenta: tuple[JacobianColumn, ...]
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
        return self.mass[max(row, column)][min(row, column)]


def tasks(robot: Robot) -> tuple[str, ...]:
    """Return the tasks of `torques`: per link, then M, k, q and τ by rows."""
    numbers = range(1, robot.joints + 1)
    outward = [f"{name}/{i}" for i in numbers for name in LINK_TASKS]
    return (*outward, *(f"{name}/{i}" for name in (*ROW_TASKS, "tau") for i in numbers))


def cycle_tasks(robot: Robot) -> tuple[str, ...]:
    """Return the tasks of a control cycle: those of `torques`, Cholesky's and the control law's."""
    numbers = range(1, robot.joints + 1)
    rest = ("v", "u", "L", "r")
    kept = [name for name in tasks(robot) if not name.startswith("tau")]
    return (*kept, *(f"{name}/{i}" for name in rest for i in numbers), "solve")


def forward_tasks(robot: Robot) -> tuple[str, ...]:
    return tuple(name for name in cycle_tasks(robot) if name[0] not in "uv")


def base(robot: Robot, algebra: Algebra) -> LinkFrame:
    """Return the frame at rest of the first link's base."""
    zero = zeros(algebra)
    return LinkFrame((), zero, zero, zero, constants(algebra, free_fall(robot)))


def advance(
    label: str, number: int, link: Link, algebra: Algebra, before: LinkFrame,
    state: tuple[Element, Element],
) -> tuple[LinkFrame, MovingBody]:  # fmt: skip
    """Return the next frame and the body fixed to it; `number` is the number of its joint."""
    q, qd = state
    with task(algebra, f"A/{label}"):
        joint = JointKinematics(
            known_rotation(link, algebra, q),
            known_step(link, algebra, q),
            axis_of(link, algebra),
        )
    r = constants(algebra, link.center_of_mass)
    with task(algebra, f"J/{label}"):
        columns = [_carried(column, joint) for column in before.columns]
        none = zeros(algebra)
        turn = joint.axis if link.revolute else none
        move = joint.axis @ joint.step if link.revolute else joint.axis
        columns.append(JacobianColumn(number, turn, move))
        central = tuple(JacobianColumn(c.joint, c.turn, c.move + c.turn @ r) for c in columns)
    inertia, mass = inertia_of(link, algebra), algebra.constant(link.mass)
    with task(algebra, f"P/{label}"):
        momenta = tuple(
            JacobianColumn(c.joint, inertia * c.turn, c.move.scaled(mass)) for c in central
        )
    with task(algebra, f"kbar/{label}"):
        omega, omega_dot, acceleration = _biased(link, algebra, joint, before, qd)
        force = (acceleration + omega_dot @ r + omega @ (omega @ r)).scaled(mass)
        moment = inertia * omega_dot + omega @ (inertia * omega)
    with task(algebra, f"g/{label}"):
        down = back(joint.rotation, before.down)
        weight = down.scaled(mass)
    frame = LinkFrame(tuple(columns), omega, omega_dot, acceleration, down)
    return frame, MovingBody(label, link, joint, omega, central, momenta, force, moment, weight)


def _carried(column: JacobianColumn, joint: JointKinematics) -> JacobianColumn:
    turn = back(joint.rotation, column.turn)
    return JacobianColumn(column.joint, turn, back(joint.rotation, column.move) + turn @ joint.step)


def _biased(
    link: Link, algebra: Algebra, joint: JointKinematics, before: LinkFrame, qd: Element
) -> tuple[Vector, Vector, Vector]:
    """Return ω, ᾱ and ā of the link's origin, as Newton-Euler without joint accelerations."""
    zero = algebra.constant(0.0)
    omega, omega_dot, acceleration = before.omega, before.omega_dot, before.acceleration
    speed = Vector(zero, zero, qd)
    if link.revolute:
        omega_dot = omega_dot + omega @ speed
        omega = omega + speed
    else:
        acceleration = acceleration + (omega @ speed).scaled(algebra.constant(2.0))
    omega = back(joint.rotation, omega)
    omega_dot = back(joint.rotation, omega_dot)
    turning = omega_dot @ joint.step + omega @ (omega @ joint.step)
    return omega, omega_dot, back(joint.rotation, acceleration) + turning


def bodies_of(robot: Robot, algebra: Algebra, q: Elements, qd: Elements) -> list[MovingBody]:
    """Return all bodies of a chain or tree; branches do not read each other."""
    frames = [base(robot, algebra)]
    bodies = []
    for i, (link, position, speed) in enumerate(zip(robot.links, q, qd, strict=True), 1):
        before = frames[robot.parents[i - 1]]
        frame, body = advance(str(i), i, link, algebra, before, (position, speed))
        frames.append(frame)
        bodies.append(body)
    return bodies


def assemble(algebra: Algebra, bodies: Sequence[MovingBody], joints: int) -> Equations:
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
    algebra: Algebra, r: int, c: int, on: Iterable[dict[int, tuple[JacobianColumn, JacobianColumn]]]
) -> Element:
    both = [(pairs[r][0], pairs[c][1]) for pairs in on if c in pairs]
    return _sum(algebra, [x.move.dot(p.move) + x.turn.dot(p.turn) for x, p in both])


def _sum(algebra: Algebra, terms: Elements) -> Element:
    return reduce(add, terms) if terms else algebra.constant(0.0)


def torques(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, qdd: Elements
) -> list[Element]:
    """Return the torques of the drives, u = M q̈ + k - q."""
    equations = assemble(algebra, bodies_of(robot, algebra, q, qd), robot.joints)
    return driven(algebra, equations, qdd, "tau")


def driven(algebra: Algebra, equations: Equations, rates: Elements, name: str) -> list[Element]:
    """Return u = M q̈ + k - q; each row is a task `name/row`."""
    found = []
    for r in range(len(equations.k)):
        with task(algebra, f"{name}/{r + 1}"):
            moved = [equations.entry(r, c) * rate for c, rate in enumerate(rates)]
            found.append(_sum(algebra, moved) + equations.k[r] - equations.q[r])
    return found


def cholesky(algebra: Algebra, equations: Equations) -> list[list[Element]]:
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


def solve(lower: Sequence[Elements], right: Elements) -> list[Element]:
    """Return x with L Lᵀ x = right, for L of `cholesky`."""
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


def accelerations(algebra: Algebra, equations: Equations, u: Elements) -> list[Element]:
    """Return ÿ of M ÿ + k = q + u."""
    lower = cholesky(algebra, equations)
    right = []
    for r, drive in enumerate(u):
        with task(algebra, f"r/{r + 1}"):
            right.append(equations.q[r] - equations.k[r] + drive)
    with task(algebra, "solve"):
        return solve(lower, right)


def forward(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, u: Elements
) -> list[Element]:
    """Return the joints' accelerations under the drives' torques."""
    equations = assemble(algebra, bodies_of(robot, algebra, q, qd), robot.joints)
    return accelerations(algebra, equations, u)


# --------------------------------------------------------------------------------------------------
# The recursive Lagrangian of Zalzala and Morris 1989 in ten plus six jobs per link.
#
# Outwards, with the rotation W of link j to the base and the derivative Q of a rotation about z:
#
#     W = W'A        Ẇ = (Ẇ' + W'Q θ̇) A        Ẅ = (Ẅ' + 2Ẇ'Q θ̇ + W'(Q²θ̇² + Q θ̈)) A
#     p̈ = p̈' + Ẅ p   ∂W = W'Q A                e* = Ẅ (m r)      D* = (m r + m p) p̈ᵀ + Ĵ Ẅᵀ
#     g* = gᵀ∂W      A, p*
#
# and inwards (₊ is the link after):
#
#     D = A₊D₊ + p e₊ᵀ + D*     e = e₊ + e* + m p̈     τ* = tr(∂W D)
#     c = A₊c₊ + (m r + M p)    τ** = g* c            τ = τ* - τ**
#
# The equations differ from the printed ones where these are physically wrong. Moments are taken
# about the previous origin, which lies on the joint's axis. So p is the link's own, constant in
# its frame, and Ĵ = J + p (m r)ᵀ; M is the mass of the link and all following ones. Equations
# (9), (11), (31), (32) print r/m for the first moment m r. In (12), (29) and (A.15) p has the
# wrong sign for this frame. (39) adds W r, a vector in base axes, to one in the link's axes.
#
# The jobs have the operations of tables 1 and 2, which are those of a literal text. For example,
# Ẅ has three products and three sums more than (A.34) to (A.38), for Q's column of zeros. The
# rotation of a constant vector in c can only be the identity.
# --------------------------------------------------------------------------------------------------

PHASE_ONE = ("W", "Wd", "Wdd", "pdd", "dW", "e*", "D*", "g*", "A", "p*")
PHASE_TWO = ("D", "e", "tau*", "c", "tau**", "tau")
ROWS = ("a", "b", "c")  # of D and c, one per processor: (42) and (43)


def lagrangian_tasks(robot: Robot, *, rows: bool = False) -> tuple[str, ...]:
    """Return the jobs link by link; `rows` splits D and c into three."""
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
    """The results of phase 1 for a link; matrices and p̈ are in base axes."""

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
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements,
    qdd: Elements, *, rows: bool = False,
) -> list[Element]:  # fmt: skip
    """Return the torques, job by job; a sliding joint changes p, not W."""
    before: _Outward | None = None
    links = []
    for i, (link, *state) in enumerate(zip(robot.links, q, qd, qdd, strict=True), 1):
        before = _jobs_outward(robot, i, link, algebra, before, (state[0], state[1], state[2]))
        links.append(before)
    return _jobs_inward(links, algebra, qdd, rows=rows)


def _jobs_outward(
    robot: Robot, i: int, link: Link, algebra: Algebra, before: _Outward | None,
    state: tuple[Element, Element, Element],
) -> _Outward:  # fmt: skip
    q, qd, qdd = state
    with task(algebra, f"A/{i}"):
        rotation = rotation_of(link, algebra, q)
    with task(algebra, f"p*/{i}"):
        step = step_of(link, algebra, q)
    turn, turn_dot, turn_ddot = _turns(i, link, algebra, before, rotation, (qd, qdd))
    with task(algebra, f"pdd/{i}"):
        start = zeros(algebra) if before is None else before.acceleration
        acceleration = start + turn_ddot * step
        if not link.revolute:
            acceleration = acceleration + _sliding(algebra, before, qd, qdd)
    with task(algebra, f"dW/{i}"):
        change = _change(link, algebra, before, rotation)
    with task(algebra, f"g*/{i}"):
        down = constants(algebra, free_fall(robot))
        pull = change.transposed * down
    with task(algebra, f"e*/{i}"):
        own_force = turn_ddot * constants(algebra, [link.mass * c for c in link.center_of_mass])
    with task(algebra, f"D*/{i}"):
        own_moment = _own_moment(link, algebra, step, acceleration, turn_ddot, own_force)
    return _Outward(
        link, rotation, step, turn, turn_dot, turn_ddot, acceleration, change, pull,
        own_force, own_moment,
    )  # fmt: skip


def _turns(
    i: int, link: Link, algebra: Algebra, before: _Outward | None, a: Matrix3,
    rates: tuple[Element, Element],
) -> tuple[Matrix3, Matrix3, Matrix3]:  # fmt: skip
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
    """Jobs 1 to 3 of the first link, whose W' is a constant identity."""
    qd, qdd = rates
    none = zeros(algebra)
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
    """Job 5: ∂W = W'Q A; for a sliding joint the direction W'z, as a first column."""
    none = zeros(algebra)
    first, second, _ = a.rows
    if not link.revolute:
        zero, one = algebra.constant(0.0), algebra.constant(1.0)
        axis = [zero, zero, one] if before is None else [row.z for row in before.turn.rows]
        return _matrix([Vector(x, zero, zero) for x in axis])
    if before is None:
        return Matrix3((Vector(-second.x, -second.y, -second.z), first, none))
    pairs = list(zip(first, second, strict=True))
    rows = [Vector(*(row.y * f - row.x * s for f, s in pairs)) for row in before.turn.rows]
    return _matrix(rows)


def _sliding(algebra: Algebra, before: _Outward | None, qd: Element, qdd: Element) -> Vector:
    """Return the term of a sliding joint in p̈: W'z d̈ + 2 Ẇ'z ḋ."""
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    if before is None:
        return Vector(zero, zero, one * qdd)
    twice = algebra.constant(2.0) * qd
    pairs = zip(before.turn.rows, before.turn_dot.rows, strict=True)
    return Vector(*(row.z * qdd + dot.z * twice for row, dot in pairs))


def _moments(link: Link) -> tuple[list[float], list[list[float]]]:
    """Return the first moment and ∫ x rᵀ dm, (20), with x relative to the previous origin.

    The step of a sliding joint varies: there both are relative to the link's own origin.
    """
    xx, yy, zz, xy, yz, xz = link.inertia
    half = (xx + yy + zz) / 2
    central = ((half - xx, -xy, -xz), (-xy, half - yy, -yz), (-xz, -yz, half - zz))
    sin_alpha, cos_alpha = twist(link)
    step = (link.a, link.d * sin_alpha, link.d * cos_alpha) if link.revolute else (0.0, 0.0, 0.0)
    first = [link.mass * (c + p) for c, p in zip(link.center_of_mass, step, strict=True)]
    second = [
        [about + lever * c for about, c in zip(row, link.center_of_mass, strict=True)]
        for row, lever in zip(central, first, strict=True)
    ]
    return first, second


def _own_moment(
    link: Link, algebra: Algebra, step: Vector, acceleration: Vector, turn_ddot: Matrix3,
    own_force: Vector,
) -> Matrix3:  # fmt: skip
    """Job 7; a variable step is not part of Ĵ."""
    first, second = _moments(link)
    rows = [
        acceleration.scaled(algebra.constant(lever)) + turn_ddot * constants(algebra, row)
        for lever, row in zip(first, second, strict=True)
    ]
    if not link.revolute:
        force = acceleration.scaled(algebra.constant(link.mass)) + own_force
        rows = [row + force.scaled(p) for row, p in zip(rows, step, strict=True)]
    return _matrix(rows)


def _jobs_inward(
    links: Sequence[_Outward], algebra: Algebra, rates: Elements, *, rows: bool
) -> list[Element]:
    """Phase 2, from the last link."""
    found = []
    mass = 0.0
    after: _Outward | None = None
    moment: list[Vector] = []
    force, first = zeros(algebra), zeros(algebra)
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
            found.append(with_rotor(link, algebra, moving - falling, rates[i - 1]))
        after = this
    return found[::-1]


def _moment(
    i: int, this: _Outward, after: _Outward | None, algebra: Algebra,
    behind: tuple[list[Vector], Vector], *, rows: bool,
) -> list[Vector]:  # fmt: skip
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
    i: int, this: _Outward, after: _Outward | None, algebra: Algebra, behind: tuple[Vector, float],
    *, rows: bool,
) -> Vector:  # fmt: skip
    """Job 4: c = A₊c₊ + (m r + M p), by rows; the constant part is rotated by the identity."""
    link, (first, mass) = this.link, behind
    sin_alpha, cos_alpha = twist(link)
    along = (link.a, link.d * sin_alpha, link.d * cos_alpha) if link.revolute else (0.0, 0.0, 0.0)
    pairs = zip(link.center_of_mass, along, strict=True)
    known = constants(algebra, [link.mass * c + mass * p for c, p in pairs])
    if not link.revolute:  # a variable step
        with task(algebra, f"c{ROWS[0] if rows else ''}/{i}"):
            known = known + this.step.scaled(algebra.constant(mass))
    if after is None:
        return known
    found = []
    for k, label in enumerate(ROWS):
        with task(algebra, f"c{label if rows else ''}/{i}"):
            turned = after.rotation.rows[k].dot(first)
            found.append(turned + identity(algebra).rows[k].dot(known))
    return Vector(*found)


def _matrix(rows: Sequence[Vector]) -> Matrix3:
    first, second, third = rows
    return Matrix3((first, second, third))


def _times(left: Matrix3, a: Matrix3) -> Matrix3:
    return _matrix([back(a, row) for row in left.rows])


def _trace(left: Matrix3, right: Sequence[Vector]) -> Element:
    """Return tr(left·right): 9 multiplications, 8 additions."""
    columns = zip(*(row for row in right), strict=True)
    parts = [row.dot(Vector(*column)) for row, column in zip(left.rows, columns, strict=True)]
    return parts[0] + parts[1] + parts[2]


# --------------------------------------------------------------------------------------------------
# The task graphs of Zeng and Egan 1991: nineteen tasks per link, ten, and ten with one split.
#
# Newton-Euler by Luh, Walker and Paul, with p × f inside the rotation of the moment:
#
#     n = A₊ (n₊ + (A₊ᵀp) × f₊) + (p + s) × F + N
#
# Two misprints are corrected. Task 18 adds VEC10, VEC11 and N: VEC9, as printed, is part of VEC10,
# and the predecessors are 16, 17 and 13. Task 2 of ten follows (2/i-1). The last task adds the
# rotor's inertia in place of the damping b q̇. Sines, cosines, A and p are separate tasks.
# --------------------------------------------------------------------------------------------------

NINETEEN = 19
# The task of ten (the paper's figure 3) that contains each of the nineteen tasks, from number 1 on.
TEN = (0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 7, 7, 8, 9, 10)


def nineteen_name(task_number: int, link: int, joints: int) -> str:
    """Return `7/3` for task 7 of link 3."""
    del joints
    return f"{task_number}/{link}"


def ten_name(task_number: int, link: int, joints: int) -> str:
    """Return the number in the graph of 52 tasks: 10 (link - 1) + number among ten."""
    del joints
    return str(10 * (link - 1) + TEN[task_number])


def split_name(task_number: int, link: int, joints: int) -> str:
    """Return the number in version 5's graph, where part 4 of task 3 has the numbers 52 to 56."""
    if task_number == 4:
        return str(10 * joints + 1 + link)
    return ten_name(task_number, link, joints)


def zeng_tasks(
    robot: Robot, name: Callable[[int, int, int], str] = nineteen_name
) -> tuple[str, ...]:
    """Return all task names, A and p of every link first."""
    links = range(1, robot.joints + 1)
    named = (name(k, i, robot.joints) for i in links for k in range(1, NINETEEN + 1))
    return (*(f"A/{i}" for i in links), *dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class _Link:
    """A link and the contexts of its tasks: `work(7)` is that of task 7."""

    link: Link
    joint: JointKinematics
    algebra: Algebra
    work: Callable[[int], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class _Falling:
    """Velocities and accelerations of a link; `falling` is gravity's part if it is separate."""

    omega: Vector
    omega_dot: Vector
    acceleration: Vector
    falling: Vector | None


def zeng_torques(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements,
    qdd: Elements, *, name: Callable[[int, int, int], str] = nineteen_name,
    split: bool = False,
) -> list[Element]:  # fmt: skip
    """Return the torques, task by task.

    With `split` the acceleration by gravity has a chain of its own, without speeds, as version 5's
    level table requires for tasks 52 to 56.
    """
    links = []
    for i, (link, position) in enumerate(zip(robot.links, q, strict=True), 1):
        with task(algebra, f"A/{i}"):
            rotation = known_rotation(link, algebra, position)
            step = known_step(link, algebra, position)
        joint = JointKinematics(rotation, step, axis_of(link, algebra))

        def work(number: int, link: int = i) -> AbstractContextManager[None]:
            return task(algebra, name(number, link, robot.joints))

        links.append(_Link(link, joint, algebra, work))
    zero = zeros(algebra)
    up = base_acceleration(robot, algebra)
    motion = _Falling(zero, zero, zero, up) if split else _Falling(zero, zero, up, None)
    loads = []
    for this, *rates in zip(links, qd, qdd, strict=True):
        motion = _zeng_outward(this, motion, *rates)
        loads.append(_zeng_load(this, motion))
    return _zeng_inward(links, loads, qdd)


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
    r = constants(this.algebra, this.link.center_of_mass)
    inertia = inertia_of(this.link, this.algebra)
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
    links: Sequence[_Link], loads: Sequence[tuple[Vector, Vector]], rates: Elements
) -> list[Element]:
    """Tasks 14 to 19, from the last link."""
    algebra = links[0].algebra
    rotation, force, moment = identity(algebra), zeros(algebra), zeros(algebra)
    found = []
    for this, (own, spin), rate in zip(links[::-1], loads[::-1], rates[::-1], strict=True):
        work, step, axis = this.work, this.joint.step, this.joint.axis
        r = constants(algebra, this.link.center_of_mass)
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
            found.append(with_rotor(this.link, algebra, torque, rate))
        rotation = this.joint.rotation
    return found[::-1]


# --------------------------------------------------------------------------------------------------
# Newton-Euler by Zomaya and Morris 1989: general (table 2) and semi-customised (table 3).
#
# Their equations for link i+1 in its own frame (rotation A, step p, centre of mass s):
#
#     (5)  ω = Aᵀ(ω' + z θ̇)                         (8)  ψ = ω̇ × s + ω × (ω × s) + v̇
#     (6)  ω̇ = Aᵀ(ω̇' + z θ̈ + ω' × z θ̇)              (9)  F = m ψ
#     (7)  v̇ = Aᵀv̇' + ω̇ × p + ω × (ω × p)          (10) N = J ω̇ + ω × J ω
#     (11) f = A₊ f₊ + F                           (12) n = A₊ n₊ + p × f + N + s × F
#     (13) τ = n · Aᵀz
#
# A sliding joint, which the paper omits, adds z d̈ + 2 ω × z ḋ to the acceleration; its force is
# taken from f. The tasks are the equations: `w/3` is ω of link 3.
# --------------------------------------------------------------------------------------------------

EQUATIONS = ("w", "wd", "vd", "psi", "F", "N", "f", "n", "tau")
PREPARATIONS = ("A", "p")


@dataclass(frozen=True, slots=True)
class _State:
    """The motion of a link."""

    joint: JointKinematics
    omega: Vector
    omega_dot: Vector
    acceleration: Vector


@dataclass(frozen=True, slots=True)
class _Form:
    """The parts of a formulation: rotations, steps, outward and inward recursion, tensors."""

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
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, qdd: Elements
) -> list[Element]:
    """Return the torques by equations (5) to (13) with full vectors and matrices.

    Over a tape without folding: 150 multiplications and 116 additions per link.
    """
    return _torques(_FULL, robot, algebra, q, qd, qdd)


def _torques(form: _Form, robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    zero, (q, qd, qdd, *wrench) = zeros(algebra), state
    motion = _State(
        JointKinematics(identity(algebra), zero, zero),
        zero,
        zero,
        base_acceleration(robot, algebra),
    )
    states = []
    for i, (link, *now) in enumerate(zip(robot.links, q, qd, qdd, strict=True), 1):
        with task(algebra, f"A/{i}"):
            rotation = form.rotation(link, algebra, now[0])
        with task(algebra, f"p/{i}"):
            step = form.step(link, algebra, now[0])
        joint = JointKinematics(rotation, step, zero)
        motion = form.out(i, link, algebra, joint, motion, (now[1], now[2]))
        states.append(motion)
    loads = [
        _zomaya_load(i, link, known, algebra, dense=form.dense)
        for i, (link, known) in enumerate(zip(robot.links, states, strict=True), 1)
    ]
    tip = [Vector(*one) for one in wrench] if wrench else [zero, zero]
    return form.back(robot, algebra, states, loads, qdd, tip)


def _out(
    i: int, link: Link, algebra: Algebra, joint: JointKinematics, before: _State,
    rates: tuple[Element, Element],
) -> _State:  # fmt: skip
    qd, qdd = rates
    back = joint.rotation.transposed
    axis = constants(algebra, (0.0, 0.0, 1.0))
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


def _zomaya_load(
    i: int, link: Link, state: _State, algebra: Algebra, *, dense: bool
) -> tuple[Vector, Vector]:
    r = constants(algebra, link.center_of_mass)
    inertia = inertia_of(link, algebra)
    w, wd = state.omega, state.omega_dot
    with task(algebra, f"psi/{i}"):
        psi = wd @ r + w @ (w @ r) + state.acceleration
    with task(algebra, f"F/{i}"):
        force = psi.scaled(algebra.constant(link.mass))
    with task(algebra, f"N/{i}"):
        if dense:
            return force, inertia * wd + w @ (inertia * w)
        x, y, z = (algebra.constant(c) for c in link.inertia[:3])
        spin = Vector(x * w.x, y * w.y, z * w.z)
        return force, Vector(x * wd.x, y * wd.y, z * wd.z) + w @ spin


def _back(
    robot: Robot, algebra: Algebra, states: Sequence[_State],
    loads: Sequence[tuple[Vector, Vector]], rates: Elements, tip: Sequence[Vector],
) -> list[Element]:  # fmt: skip
    rotation, (force, moment) = identity(algebra), tip
    torques = []
    for i in range(robot.joints, 0, -1):
        link, joint, (own_force, spin) = robot.links[i - 1], states[i - 1].joint, loads[i - 1]
        r = constants(algebra, link.center_of_mass)
        with task(algebra, f"f/{i}"):
            force = rotation * force + own_force
        with task(algebra, f"n/{i}"):
            moment = rotation * moment + joint.step @ force + spin + r @ own_force
        with task(algebra, f"tau/{i}"):
            axis = joint.rotation.transposed * constants(algebra, (0.0, 0.0, 1.0))
            torque = (moment if link.revolute else force).dot(axis)
            torques.append(with_rotor(link, algebra, torque, rates[i - 1]))
        rotation = joint.rotation
    return torques[::-1]


def semi_customised_torques(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements,
    qdd: Elements, *wrench: Elements, dense: bool | None = None,
) -> list[Element]:  # fmt: skip
    """Return the torques by (5) to (13) without A's zero, with sparse z and constant Aᵀz.

    `wrench` is the force and the moment of the end effector on its surroundings: f and n after the
    last link, in its frame. With `dense` inertia tensors are full (by default if one of them is).
    Over a tape without folding: 117/95 operations per link with full tensors, 105/83 with diagonal
    ones.
    """
    if dense is None:
        dense = any(any(link.inertia[3:]) for link in robot.links)
    form = _Form(known_rotation, known_step, _sparse_out, _sparse_back, dense)
    return _torques(form, robot, algebra, q, qd, qdd, *wrench)


def wrench_program(robot: Robot, tape: Tape) -> Straight:
    """Record the semi-customised form: inputs q, qd, qdd, f and m, outputs tau."""
    groups = [numbered(letters, robot.joints).members for letters in ("q", "qd", "qdd")]
    groups += [("fx", "fy", "fz"), ("mx", "my", "mz")]
    names = numbered("tau", robot.joints).members
    return recorded(partial(semi_customised_torques, robot), groups, names, tape)


def _sparse_out(
    i: int, link: Link, algebra: Algebra, joint: JointKinematics, before: _State,
    rates: tuple[Element, Element],
) -> _State:  # fmt: skip
    qd, qdd = rates
    a = joint.rotation
    omega, omega_dot, acceleration = before.omega, before.omega_dot, before.acceleration
    with task(algebra, f"w/{i}"):
        z = omega.z + qd if link.revolute else omega.z
        new_omega = back(a, Vector(omega.x, omega.y, z))
    with task(algebra, f"wd/{i}"):
        if link.revolute:
            x, y = omega_dot.x + omega.y * qd, omega_dot.y - omega.x * qd
            omega_dot = Vector(x, y, omega_dot.z + qdd)
        new_omega_dot = back(a, omega_dot)
    with task(algebra, f"vd/{i}"):
        if not link.revolute:
            twice = algebra.constant(2.0) * qd
            x, y = acceleration.x + omega.y * twice, acceleration.y - omega.x * twice
            acceleration = Vector(x, y, acceleration.z + qdd)
        turning = new_omega_dot @ joint.step + new_omega @ (new_omega @ joint.step)
        acceleration = back(a, acceleration) + turning
    return _State(joint, new_omega, new_omega_dot, acceleration)


def _sparse_back(
    robot: Robot, algebra: Algebra, states: Sequence[_State],
    loads: Sequence[tuple[Vector, Vector]], rates: Elements, tip: Sequence[Vector],
) -> list[Element]:  # fmt: skip
    rotation, (force, moment) = identity(algebra), tip
    torques = []
    for i in range(robot.joints, 0, -1):
        link, joint, (own_force, spin) = robot.links[i - 1], states[i - 1].joint, loads[i - 1]
        r = constants(algebra, link.center_of_mass)
        with task(algebra, f"f/{i}"):
            force = forth(rotation, force) + own_force
        with task(algebra, f"n/{i}"):
            own = joint.step @ force + spin + r @ own_force
            moment = forth(rotation, moment) + own
        with task(algebra, f"tau/{i}"):
            torque = along_axis(link, algebra, moment if link.revolute else force)
            torques.append(with_rotor(link, algebra, torque, rates[i - 1]))
        rotation = joint.rotation
    return torques[::-1]


_FULL = _Form(rotation_of, step_of, _out, _back, dense=True)
