"""What every method needs of a joint before its equations begin: rotation, step and axis.

Frames are those of `problem.robot`: standard Denavit-Hartenberg, frame i fixed to link i.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.problem.expressions.algebra import (
    Matrix3,
    Operations,
    Vector,
    link_rotation,
    symmetric,
)
from boolcomp.problem.expressions.tape import count
from boolcomp.problem.robot.model import free_fall
from boolcomp.problem.words import exact_cosine, exact_sine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.expressions.tape import Straight, Tape
    from boolcomp.problem.robot.model import Link, Robot


# --------------------------------------------------------------------------------------------------
# What every method needs of a joint before its equations begin: rotation, step and axis.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Joint:
    """`rotation` takes link vectors to the frame before; the rest is in the link's own frame.

    `step` leads from the origin before to the link's own, `axis` is the joint's.
    """

    rotation: Matrix3
    step: Vector
    axis: Vector

    @property
    def cosine(self) -> Element:
        """The cosine of the joint's angle."""
        return self.rotation.rows[0].x

    @property
    def sine(self) -> Element:
        """The sine of the joint's angle."""
        return self.rotation.rows[1].x


def zeros(algebra: Algebra) -> Vector:
    """Return the vector of zeros."""
    return constants(algebra, (0.0, 0.0, 0.0))


def up(robot: Robot, algebra: Algebra) -> Vector:
    """Return the acceleration of the base that stands for gravity."""
    return constants(algebra, [-g for g in free_fall(robot)])


def constants(algebra: Algebra, values: Sequence[float]) -> Vector:
    """Return a known vector."""
    return Vector(*(algebra.constant(v) for v in values))


def inertia_of(link: Link, algebra: Algebra) -> Matrix3:
    """Return the inertia tensor about the centre of mass."""
    return symmetric(*(algebra.constant(c) for c in link.inertia))


def twist(link: Link) -> tuple[float, float]:
    """Return sin α and cos α, exact at right angles."""
    return exact_sine(link.alpha), exact_cosine(link.alpha)


def times(algebra: Algebra, factor: float, x: Element) -> Element:
    """Return factor·x as somebody who knows the factor would write it: nothing for 0, 1 and -1."""
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
    """Return A: four products with the sine and the cosine of the twist, whatever these are."""
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
    """Return p with what is known beforehand calculated beforehand."""
    if link.revolute:
        sin_alpha, cos_alpha = twist(link)
        return constants(algebra, (link.a, link.d * sin_alpha, link.d * cos_alpha))
    _, offset = position(link, algebra, q)
    along, across = (times(algebra, x, offset) for x in twist(link))
    return Vector(algebra.constant(link.a), along, across)


def known_rotation(link: Link, algebra: Algebra, q: Element) -> Matrix3:
    """Return A as written down for one arm: right-angled twists need no products."""
    angle, _ = position(link, algebra, q)
    sin_alpha, cos_alpha = twist(link)
    cosine, sine = algebra.cosine(angle), algebra.sine(angle)
    zero, known = algebra.constant(0.0), algebra.constant
    return Matrix3(
        (
            Vector(cosine, times(algebra, -cos_alpha, sine), times(algebra, sin_alpha, sine)),
            Vector(sine, times(algebra, cos_alpha, cosine), times(algebra, -sin_alpha, cosine)),
            Vector(zero, known(sin_alpha), known(cos_alpha)),
        )
    )


def axis_of(link: Link, algebra: Algebra) -> Vector:
    """Return the joint's axis in the link's frame, (0, sin α, cos α)."""
    return constants(algebra, (0.0, *twist(link)))


def along_axis(link: Link, algebra: Algebra, v: Vector) -> Element:
    """Return the component of v along the joint's axis; right-angled twists only choose one."""
    terms = [
        times(algebra, factor, x)
        for factor, x in zip(twist(link), (v.y, v.z), strict=True)
        if factor
    ]
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


def back(rotation: Matrix3, v: Vector) -> Vector:
    """Return Aᵀv without the product by A's one zero: 8 multiplications, 5 additions."""
    first, second, third = rotation.rows
    return Vector(
        first.x * v.x + second.x * v.y,
        first.y * v.x + second.y * v.y + third.y * v.z,
        first.z * v.x + second.z * v.y + third.z * v.z,
    )


def forth(rotation: Matrix3, v: Vector) -> Vector:
    """Return A v, likewise."""
    first, second, third = rotation.rows
    return Vector(first.dot(v), second.dot(v), third.y * v.y + third.z * v.z)


def identity(algebra: Algebra) -> Matrix3:
    """Return the rotation after the last link."""
    rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    first, second, third = (constants(algebra, row) for row in rows)
    return Matrix3((first, second, third))


def with_rotor(link: Link, algebra: Algebra, torque: Element, rate: Element) -> Element:
    """Return the torque with what the rotor's inertia adds, where there is one."""
    if not link.joint_inertia:
        return torque
    return torque + algebra.constant(link.joint_inertia) * rate


# --------------------------------------------------------------------------------------------------
# From a method's text to its task graph: run it on a tape, see what crosses between tasks.
#
# A method is a function `(robot, algebra, q, qd, qdd) -> torques` that says which task it is in
# (`with task(algebra, "F/3"):`). Nothing else decides the precedence of tasks: an edge is there
# because a value that one task calculates is used in another.
# --------------------------------------------------------------------------------------------------


class Physics(Protocol):
    """The physics of a method over any algebra."""

    def __call__(
        self,
        robot: Robot,
        algebra: Algebra,
        q: Sequence[Element],
        qd: Sequence[Element],
        qdd: Sequence[Element],
        /,
    ) -> list[Element]:
        """Return the torque of every joint, in N·m (N where it slides)."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A task graph and the program whose nodes its tasks calculate."""

    graph: TaskGraph
    straight: Straight

    @property
    def task_of_node(self) -> tuple[str, ...]:
        """For every node of the program its task, `""` for inputs and constants."""
        return tuple(node.task for node in self.straight.nodes)


def record(robot: Robot, torques: Physics, tape: Tape) -> Straight:
    """Run a method on a tape; inputs are q1.., qd1.., qdd1.., outputs tau1.. ."""
    joints = range(1, robot.joints + 1)
    q, qd, qdd = ([tape.input(f"{name}{k}") for k in joints] for name in ("q", "qd", "qdd"))
    found = torques(robot, tape, q, qd, qdd)
    outputs = [(f"tau{k}", torque) for k, torque in zip(joints, found, strict=True)]
    return tape.finish(outputs, prune=tape.fold)


def recorded(
    name: str,
    straight: Straight,
    tasks: Sequence[str],
    *,
    dummies: tuple[str, str] | None = None,
) -> Recorded:
    """Return the graph of these tasks; those that turn out to have nothing to do cost nothing.

    `dummies` are an entry before every task that waits for nothing, which sends nothing, and an
    exit that takes the program's outputs.
    """
    missing = set(straight.tasks) - set(tasks)
    assert not missing, f"tasks without a name: {missing}"  # noqa: S101 (our own mistake)
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
    return Recorded(graph, straight)


def _crossings(straight: Straight) -> dict[tuple[str, str], int]:
    """Return how many values each task hands to each other."""
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
