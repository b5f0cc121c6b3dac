"""What tests of task graphs ask of them."""

import numpy as np
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.parallel import RecordedMethod, TaskGraph
from boolcomp.problem import Robot, Straight


def before(graph: TaskGraph) -> dict[str, frozenset[str]]:
    """Return everything that each task waits for, directly or not."""
    return closure({n: {e.before for e in edges} for n, edges in graph.predecessors().items()})


def printed(found: RecordedMethod) -> TaskGraph:
    """Return a graph without what no paper counts: sines, cosines, rotations and steps."""
    graph = found.graph
    kept = {t.name for t in graph.tasks if t.name.split("/")[0] not in ("A", "p")}
    tasks = tuple(task for task in graph.tasks if task.name in kept)
    edges = tuple(edge for edge in graph.edges if {edge.before, edge.after} <= kept)
    return TaskGraph(graph.name, tasks, edges)


def crossing(found: RecordedMethod, before: str, after: str) -> set[int]:
    """Return the nodes that one task hands to another."""
    nodes = found.straight.nodes
    read = {k for node in nodes if node.task == after for k in node.operands}
    return {k for k in read if nodes[k].task == before and not nodes[k].free}


def closure(direct: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    """Return all predecessors from the direct ones."""
    found: dict[str, frozenset[str]] = {}

    def all_of(name: str) -> frozenset[str]:
        if name not in found:
            ends = direct.get(name, set())
            found[name] = frozenset(ends).union(*(all_of(end) for end in ends))
        return found[name]

    return {name: all_of(name) for name in direct}


def error(robot: Robot, program: Straight, state: tuple[NDArray[np.float64], ...]) -> float:
    """Return the largest error of a program's torques, relative to the largest torque."""
    expected = bc.inverse_dynamics(robot, *state)
    found = np.stack(program.evaluate([column for x in state for column in x.T]), axis=-1)
    return float(abs(found - expected).max() / max(1.0, abs(expected).max()))
