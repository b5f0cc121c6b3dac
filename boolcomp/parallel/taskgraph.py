"""Task graphs, schedules, and a checker of schedules that is independent of all schedulers.

The checker treats the times of a schedule as claims and looks for a contradiction.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataError, short, suggestion
from boolcomp.parallel.machine import SharedMemory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.parallel.machine import Machine
    from boolcomp.problem.algebra import Operations


@dataclass(frozen=True, slots=True)
class Task:
    """Work that one processor does without interruption: its name and its operations."""

    name: str
    operations: Operations

    def __str__(self) -> str:
        return f"{self.name}: {self.operations}"


@dataclass(frozen=True, slots=True)
class Edge:
    """A number of words (floats) that task `before` sends to task `after`."""

    before: str
    after: str
    words: int

    def __str__(self) -> str:
        return f"{self.before} -> {self.after} ({self.words} words)"


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """Tasks and the words that they send each other."""

    name: str
    tasks: tuple[Task, ...]
    edges: tuple[Edge, ...]

    def check(self) -> None:
        """Raise a `DataError` unless names are unique, edges join known tasks, without cycles."""
        names = [task.name for task in self.tasks]
        for name, times in Counter(names).items():
            if times > 1:
                raise DataError(f"graph {self.name}: {times} tasks are named {name!r}")
        known = set(names)
        pairs = set()
        for edge in self.edges:
            for end in (edge.before, edge.after):
                if end not in known:
                    text = f"edge {edge} names the unknown task {end!r}"
                    raise DataError(text, suggestion(end, names), where=f"graph {self.name}")
            if edge.words < 0:
                raise DataError(f"graph {self.name}: edge {edge} sends a negative number of words")
            if (edge.before, edge.after) in pairs:
                raise DataError(f"graph {self.name}: edge {edge} occurs twice")
            pairs.add((edge.before, edge.after))
        self.order()

    def predecessors(self) -> dict[str, tuple[Edge, ...]]:
        return _grouped(self.tasks, ((edge.after, edge) for edge in self.edges))

    def successors(self) -> dict[str, tuple[Edge, ...]]:
        return _grouped(self.tasks, ((edge.before, edge) for edge in self.edges))

    def order(self) -> tuple[str, ...]:
        """Return the tasks in topological order, else as listed; `DataError` names a cycle."""
        successors = self.successors()
        missing = Counter(edge.after for edge in self.edges)
        done = [task.name for task in self.tasks if not missing[task.name]]
        for name in done:  # `done` grows
            for edge in successors[name]:
                missing[edge.after] -= 1
                if not missing[edge.after]:
                    done.append(edge.after)
        if len(done) < len(self.tasks):
            cycle = self._cycle(frozenset(done))
            raise DataError(f"graph {self.name} has a cycle: " + " -> ".join(cycle))
        return tuple(done)

    def _cycle(self, done: frozenset[str]) -> list[str]:
        """Return a cycle among the tasks that are not done."""
        predecessors = self.predecessors()
        name = next(task.name for task in self.tasks if task.name not in done)
        path: dict[str, None] = {}
        while name not in path:
            path[name] = None
            name = next(edge.before for edge in predecessors[name] if edge.before not in done)
        names = list(path)
        back = [*names[names.index(name) :], name]
        return back[::-1]

    def __str__(self) -> str:
        words = sum(edge.words for edge in self.edges)
        head = f"graph {self.name}: {len(self.tasks)} tasks, {len(self.edges)} edges, {words} words"
        predecessors = self.predecessors()
        lines = [head]
        for task in self.tasks:
            needs = ", ".join(f"{edge.before} ({edge.words})" for edge in predecessors[task.name])
            lines.append(f"  {task}{f'; needs {needs}' if needs else ''}")
        return "\n".join(lines)


def _grouped(
    tasks: Iterable[Task], items: Iterable[tuple[str, Edge]]
) -> dict[str, tuple[Edge, ...]]:
    groups: dict[str, list[Edge]] = {task.name: [] for task in tasks}
    for name, edge in items:
        groups.setdefault(name, []).append(edge)
    return {name: tuple(edges) for name, edges in groups.items()}


# --------------------------------------------------------------------------------------------------
# A task graph on a machine as numbers, for schedulers and simulators.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexedTasks:
    """Tasks by number, in topological order.

    `times` are in µs; `before[k]` and `after[k]` are (task, words) pairs. `levels[k]` is the
    longest path from the beginning of task k to the end of the graph. `heads[k]` is the longest
    path from the beginning of the graph to that of task k. Both are without communication.
    """

    names: tuple[str, ...]
    times: tuple[float, ...]
    before: tuple[tuple[tuple[int, int], ...], ...]
    after: tuple[tuple[tuple[int, int], ...], ...]
    levels: tuple[float, ...]
    heads: tuple[float, ...]

    @property
    def sequential(self) -> float:
        return sum(self.times)

    @property
    def critical_path(self) -> float:
        return max(self.levels, default=0.0)


def indexed(graph: TaskGraph, machine: Machine) -> IndexedTasks:
    """Return a graph's tasks by number; `DataError` if the graph is invalid."""
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
    return IndexedTasks(names, times, before, after, tuple(levels), tuple(heads))


# --------------------------------------------------------------------------------------------------
# Assignments, and the schedules that result from them.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assignment:
    """The tasks of every processor, in their order."""

    lists: tuple[tuple[str, ...], ...]

    @property
    def processors(self) -> int:
        return len(self.lists)

    def places(self) -> dict[str, int]:
        return {name: place for place, names in enumerate(self.lists) for name in names}

    def check(self, graph: TaskGraph) -> None:
        """Raise a `DataError` unless every task of the graph is assigned exactly once."""
        counts = Counter(name for names in self.lists for name in names)
        known = [task.name for task in graph.tasks]
        unknown = [name for name in counts if name not in set(known)]
        if unknown:
            near = suggestion(unknown[0], known)
            raise DataError(f"graph {graph.name} has no task {unknown[0]!r}", near)
        for name in known:
            if counts[name] != 1:
                times = "on no processor" if not counts[name] else f"assigned {counts[name]} times"
                raise DataError(f"task {name!r} of graph {graph.name} is {times}")

    def __str__(self) -> str:
        return "\n".join(f"P{k}: {' '.join(names)}" for k, names in enumerate(self.lists))


@dataclass(frozen=True, slots=True)
class Placement:
    """A task on a processor with its start and end (µs)."""

    task: str
    processor: int
    start_us: float
    end_us: float

    def __str__(self) -> str:
        return f"P{self.processor} {short(self.start_us)}-{short(self.end_us)} {self.task}"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A message with words of a task from one processor to a neighbour (µs)."""

    task: str
    source: int
    target: int
    words: int
    start_us: float
    end_us: float

    def __str__(self) -> str:
        return (
            f"P{self.source}->P{self.target} {short(self.start_us)}-{short(self.end_us)} "
            f"{self.words} words of {self.task}"
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """The placements and transfers of a graph on a machine.

    A placement is the calculation of a task without dispatch, locks and copying before and after
    it. `sequential_us` is the calculation on one processor, `critical_path_us` the longest chain of
    calculations.
    """

    graph: str
    machine: str
    scheduler: str
    processors: int
    placements: tuple[Placement, ...]
    transfers: tuple[Transfer, ...]
    makespan_us: float
    sequential_us: float
    critical_path_us: float

    @property
    def speedup(self) -> float:
        return self.sequential_us / self.makespan_us if self.makespan_us else 1.0

    @property
    def utilisation(self) -> tuple[float, ...]:
        """The share of the time in which each processor calculates."""
        busy = [0.0] * self.processors
        for placement in self.placements:
            busy[placement.processor] += placement.end_us - placement.start_us
        return tuple(time / self.makespan_us if self.makespan_us else 0.0 for time in busy)

    @property
    def assignment(self) -> Assignment:
        """The tasks of every processor in the order of their placements."""
        lists: list[list[str]] = [[] for _ in range(self.processors)]
        for placement in self.placements:
            lists[placement.processor].append(placement.task)
        return Assignment(tuple(tuple(names) for names in lists))


def sorted_placements(placements: list[Placement]) -> tuple[Placement, ...]:
    """Return placements ordered by start, end and processor (stable for tasks without time)."""
    return tuple(sorted(placements, key=lambda x: (x.start_us, x.end_us, x.processor)))


# --------------------------------------------------------------------------------------------------
# The checker of schedules.
# --------------------------------------------------------------------------------------------------

SLACK = 1e-9  # of the makespan, for rounding errors


def check_schedule(schedule: Schedule, graph: TaskGraph, machine: Machine) -> None:
    """Raise a `DataError` that names the first fault of a schedule."""
    slack = SLACK * max(schedule.makespan_us, 1.0)
    faults = chain(
        _tasks(schedule, graph, machine, slack),
        _exclusive(schedule, slack),
        _transfers(schedule, machine, slack),
        _precedence(schedule, graph, slack),
    )
    for fault in faults:
        raise DataError(f"schedule of {graph.name} is not valid: {fault}")


def _tasks(schedule: Schedule, graph: TaskGraph, machine: Machine, slack: float) -> Iterable[str]:
    counts = Counter(placement.task for placement in schedule.placements)
    times = {task.name: machine.time(task.operations) for task in graph.tasks}
    for name in dict.fromkeys((*times, *counts)):
        if name not in times:
            yield f"task {name!r} is not of the graph"
        elif counts[name] != 1:
            yield f"task {name!r} is done {counts[name]} times"
    for x in schedule.placements:
        if not 0 <= x.processor < schedule.processors:
            yield f"task {x.task!r} is on processor {x.processor} of {schedule.processors}"
        if x.start_us < -slack or x.end_us > schedule.makespan_us + slack:
            yield f"task {x.task!r} is outside of the schedule's time"
        took, expected = x.end_us - x.start_us, times.get(x.task, 0.0)
        if abs(took - expected) > slack:
            yield f"task {x.task!r} takes {took} µs instead of {expected} µs"


def _exclusive(schedule: Schedule, slack: float) -> Iterable[str]:
    lanes = defaultdict(list)
    for x in schedule.placements:
        lanes[x.processor].append((x.start_us, x.end_us, x.task))
    for processor, lane in sorted(lanes.items()):
        lane.sort()
        for (_, end, one), (start, _, other) in pairwise(lane):
            if start < end - slack:
                yield f"tasks {one!r} and {other!r} are on processor {processor} at the same time"


def _transfers(schedule: Schedule, machine: Machine, slack: float) -> Iterable[str]:
    memory = machine.memory
    least = (lambda _: memory.latency) if isinstance(memory, SharedMemory) else memory.message
    channels: dict[tuple[int, int], list[Transfer]] = defaultdict(list)
    for x in schedule.transfers:
        channels[x.source, x.target].append(x)
        if x.end_us - x.start_us < least(x.words) - slack:
            yield f"transfer {x} is too quick"
        if not isinstance(memory, SharedMemory) and not memory.neighbours(
            x.source, x.target, schedule.processors
        ):
            yield f"transfer {x} needs a link that the {memory.topology} topology does not have"
    if isinstance(memory, SharedMemory):
        return
    for channel in channels.values():
        channel.sort(key=lambda x: (x.start_us, x.end_us))
        for one, other in pairwise(channel):
            if other.start_us < one.end_us - slack:
                yield f"transfers {one} and {other} are on one channel at the same time"
    for ends in ("source", "target"):
        yield from _ports(schedule, ends, memory.count, slack)
    if not memory.overlap:
        yield from _no_overlap(schedule, slack)


def _ports(schedule: Schedule, ends: str, count: int, slack: float) -> Iterable[str]:
    """Yield processors that have more transfers than links at some time."""
    changes: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for x in schedule.transfers:
        if x.end_us - x.start_us > 2 * slack:
            changes[getattr(x, ends)] += [(x.start_us + slack, 1), (x.end_us - slack, -1)]
    for processor, events in sorted(changes.items()):
        now = 0
        for time, change in sorted(events):
            now += change
            if now > count:
                yield f"processor {processor} uses more than {count} links at {time} µs"
                break


def _no_overlap(schedule: Schedule, slack: float) -> Iterable[str]:
    home = {x.task: x.processor for x in schedule.placements}
    for sent in schedule.transfers:
        for x in schedule.placements:
            apart = x.end_us <= sent.start_us + slack or x.start_us >= sent.end_us - slack
            if home[sent.task] == sent.source == x.processor and not apart:
                yield f"processor {x.processor} does task {x.task!r} while it sends: {sent}"


def _precedence(schedule: Schedule, graph: TaskGraph, slack: float) -> Iterable[str]:
    placed = {x.task: x for x in schedule.placements}
    sent: dict[str, list[Transfer]] = defaultdict(list)
    for message in schedule.transfers:
        sent[message.task].append(message)
    # When words arrive, and how many: a processor may forward a message and get a longer one later.
    arrived: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for name, x in placed.items():
        arrived[name, x.processor].append((x.end_us, math.inf))
        # A message is forwarded only after its arrival: check in the order of arrival.
        for y in sorted(sent[name], key=lambda y: (y.end_us, y.start_us)):
            there = [at for at, words in arrived[name, y.source] if words >= y.words]
            if y.start_us < min(there, default=math.inf) - slack:
                yield f"transfer {y} begins before its words have arrived"
            else:
                arrived[name, y.target].append((y.end_us, y.words))
    for edge in graph.edges:
        after = placed[edge.after]
        found = arrived[edge.before, after.processor]
        there = [at for at, words in found if words >= edge.words]
        if not found:
            yield f"the words of {edge} do not arrive on processor {after.processor}"
        elif not there:
            yield f"only {max(words for _, words in found)} words arrive over {edge}"
        elif after.start_us < min(there) - slack:
            yield f"task {edge.after!r} begins before the words of {edge.before!r} have arrived"
