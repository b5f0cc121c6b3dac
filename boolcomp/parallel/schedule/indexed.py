"""A task graph on a machine as plain numbers: what every scheduler and simulator works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine


@dataclass(frozen=True, slots=True)
class Indexed:
    """Tasks by number, in an order in which they can be done.

    `times` in µs; `before[k]` and `after[k]` are (task, words) pairs; `levels[k]` is the longest
    path from the beginning of task k to the end of the graph, `heads[k]` that from the beginning
    of the graph to the beginning of task k, both without communication.
    """

    names: tuple[str, ...]
    times: tuple[float, ...]
    before: tuple[tuple[tuple[int, int], ...], ...]
    after: tuple[tuple[tuple[int, int], ...], ...]
    levels: tuple[float, ...]
    heads: tuple[float, ...]

    @property
    def sequential(self) -> float:
        """The µs of all tasks one after another."""
        return sum(self.times)

    @property
    def critical_path(self) -> float:
        """The µs of the longest chain."""
        return max(self.levels, default=0.0)


def indexed(graph: TaskGraph, machine: Machine) -> Indexed:
    """Return a graph's tasks by number; a `DataError` where it is not a graph."""
    graph.check()
    names = graph.order()
    number = {name: k for k, name in enumerate(names)}
    operations = {task.name: task.operations for task in graph.tasks}
    times = tuple(machine.time(operations[name]) for name in names)
    predecessors, successors = graph.predecessors(), graph.successors()
    before = tuple(tuple((number[e.before], e.words) for e in predecessors[n]) for n in names)
    after = tuple(tuple((number[e.after], e.words) for e in successors[n]) for n in names)
    levels, heads = [0.0] * len(names), [0.0] * len(names)
    for k, given in enumerate(before):
        heads[k] = max((heads[j] + times[j] for j, _ in given), default=0.0)
    for k in reversed(range(len(names))):
        levels[k] = times[k] + max((levels[j] for j, _ in after[k]), default=0.0)
    return Indexed(names, times, before, after, tuple(levels), tuple(heads))
