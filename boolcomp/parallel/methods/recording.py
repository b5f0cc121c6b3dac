"""From a method's text to its task graph: run it on a tape, see what crosses between tasks.

A method is a function `(robot, algebra, q, qd, qdd) -> torques` that says which task it is in
(`with task(algebra, "F/3"):`). Nothing else decides the precedence of tasks: an edge is there
because a value that one task calculates is used in another.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.expressions.straight import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.expressions.tape import Tape
    from boolcomp.problem.robot.model import Robot


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
