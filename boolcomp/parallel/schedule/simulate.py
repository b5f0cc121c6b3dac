"""Event simulation of a fixed assignment on a machine: links, channels, locks, many points.

Every processor does its list in order, each task as soon as what it needs is there. A value is
sent once to every processor that needs it, as soon as it is calculated (a message is as long as
the most that one task there needs of it); messages are served in the order in which they ask.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError
from boolcomp.parallel.schedule.indexed import Indexed, indexed
from boolcomp.parallel.schedule.machine import Shared
from boolcomp.parallel.schedule.placed import Placement, Schedule, Transfer, sorted_placements

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Assignment

_DONE, _HOP, _TRY = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Pipelined:
    """One assignment over many points of a trajectory, begun as early as possible."""

    points: int
    makespan_us: float
    sequential_us: float
    first_us: float

    @property
    def interval_us(self) -> float:
        """The mean µs between one result and the next."""
        return (self.makespan_us - self.first_us) / (self.points - 1) if self.points > 1 else 0.0

    @property
    def speedup(self) -> float:
        """How many times faster than one processor doing all points without overhead."""
        return self.sequential_us / self.makespan_us if self.makespan_us else 1.0

    def __str__(self) -> str:
        return (
            f"{self.points} points in {self.makespan_us:.2f} µs, one every {self.interval_us:.2f} "
            f"µs, speed-up {self.speedup:.3f}"
        )


def simulate(
    graph: TaskGraph, assignment: Assignment, machine: Machine, scheduler: str = "assigned"
) -> Schedule:
    """Run an assignment once; a `DataError` where its lists wait for each other."""
    tasks = indexed(graph, machine)
    assignment.check(graph)
    machine.check_processors(assignment.processors)
    run = _Simulation(tasks, assignment, machine, 1)
    run.go()
    return Schedule(
        graph=graph.name,
        machine=machine.name,
        scheduler=scheduler,
        processors=assignment.processors,
        placements=sorted_placements(run.placements),
        transfers=tuple(run.transfers),
        makespan_us=max(run.free, default=0.0),
        sequential_us=tasks.sequential,
        critical_path_us=tasks.critical_path,
    )


def pipelined(graph: TaskGraph, assignment: Assignment, machine: Machine, points: int) -> Pipelined:
    """Run an assignment over so many points: a processor begins the next when its list ends."""
    tasks = indexed(graph, machine)
    assignment.check(graph)
    machine.check_processors(assignment.processors)
    run = _Simulation(tasks, assignment, machine, points)
    run.go()
    first = max(run.ends[: len(tasks.names)], default=0.0)
    return Pipelined(points, max(run.free), points * tasks.sequential, first)


class _Simulation:
    """The state of a simulation; task k of point i has number i·tasks + k."""

    def __init__(
        self, tasks: Indexed, assignment: Assignment, machine: Machine, points: int
    ) -> None:
        self.tasks = tasks
        self.machine = machine
        self.points = points
        self.processors = assignment.processors
        number = {name: k for k, name in enumerate(tasks.names)}
        self.lists = [[number[name] for name in names] for names in assignment.lists]
        self.place = [0] * len(tasks.names)
        for processor, numbers in enumerate(self.lists):
            for k in numbers:
                self.place[k] = processor
        # What each task needs from elsewhere, and sends: known once, the same for all points.
        self.sends = [self._sends(k) for k in range(len(tasks.names))]
        self.next = [0] * self.processors
        self.running = [False] * self.processors
        self.free = [0.0] * self.processors
        self.there: dict[tuple[int, int], float] = {}  # (numbered task, processor): since when
        self.missing = [len(given) for given in tasks.before] * points
        self.ends = [0.0] * (len(tasks.names) * points)
        self.events: list[tuple[float, int, int, int, int, tuple[int, ...]]] = []
        self.count = 0
        self.channels: dict[tuple[int, int], float] = defaultdict(float)
        ports = machine.memory.count if not isinstance(machine.memory, Shared) else 0
        self.out = [[0.0] * ports for _ in range(self.processors)]
        self.into = [[0.0] * ports for _ in range(self.processors)]
        self.placements: list[Placement] = []
        self.transfers: list[Transfer] = []

    def _sends(self, k: int) -> list[tuple[int, int]]:
        most: dict[int, int] = {}
        for after, words in self.tasks.after[k]:
            target = self.place[after]
            if target != self.place[k]:
                most[target] = max(words, most.get(target, 0))
        return sorted(most.items())

    def push(self, time: float, kind: int, here: int, what: int, rest: tuple[int, ...]) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, kind, here, what, rest))

    def go(self) -> None:
        for processor in range(self.processors):
            self.attempt(processor, 0.0)
        while self.events:
            time, _, kind, here, what, rest = heapq.heappop(self.events)
            if kind == _DONE:
                self.done(here, what, time)
            elif kind == _HOP:
                self.hop(here, what, time, rest)
            self.attempt(here, time)
        for processor, numbers in enumerate(self.lists):
            if self.next[processor] < len(numbers) * self.points:
                self._deadlock(processor)

    def _deadlock(self, processor: int) -> None:
        numbers = self.lists[processor]
        task = numbers[self.next[processor] % len(numbers)]
        raise DataError(
            f"processor P{processor} waits for ever to begin task {self.tasks.names[task]!r}: the "
            "lists of the processors put tasks before others that they need"
        )

    def attempt(self, processor: int, time: float) -> None:
        """Begin the next task of a list if everything it needs is there."""
        numbers = self.lists[processor]
        position = self.next[processor]
        if self.running[processor] or position >= len(numbers) * self.points:
            return
        point, k = divmod(position, len(numbers))
        k = numbers[k] + point * len(self.tasks.names)
        if self.missing[k]:
            return
        if self.free[processor] > time:
            self.push(self.free[processor], _TRY, processor, 0, ())
            return
        start = time + self.machine.costs.dispatch
        end = start + self.tasks.times[k % len(self.tasks.names)]
        self.next[processor] += 1
        self.running[processor] = True
        self.push(end, _DONE, processor, k, ())
        if self.points == 1:
            self.placements.append(Placement(self.tasks.names[k], processor, start, end))

    def done(self, here: int, what: int, time: float) -> None:
        """Hand on what a task that has ended has calculated."""
        self.running[here] = False
        self.ends[what] = self.free[here] = time
        task = what % len(self.tasks.names)
        memory = self.machine.memory
        if isinstance(memory, Shared):
            locks = sum(memory.own or self.place[j] != here for j, _ in self.tasks.after[task])
            words = max((words for _, words in self.sends[task]), default=0)
            self.free[here] = time + locks * memory.lock + words * memory.word
        self.arrive(here, what)
        for target, words in self.sends[task]:
            if isinstance(memory, Shared):
                end = self.free[here] + memory.latency
                self._note(what, here, target, words, self.free[here], end)
                self.push(end, _HOP, target, what, (words,))
            else:
                path = memory.path(here, target, self.processors)
                self.hop(here, what, time, (words, *path[1:]))

    def hop(self, here: int, what: int, time: float, rest: tuple[int, ...]) -> None:
        """Take in a message that is at a processor, or send it on along its path."""
        words, *path = rest
        memory = self.machine.memory
        if not path:
            self.arrive(here, what)
            return
        assert not isinstance(memory, Shared)  # noqa: S101  # there all is one step
        target = path[0]
        out, into = self.out[here], self.into[target]
        one, other = out.index(min(out)), into.index(min(into))
        start = max(time, self.channels[here, target], out[one], into[other])
        sender = here == self.place[what % len(self.tasks.names)]
        if not memory.overlap and sender:
            start = max(start, self.free[here])
        end = start + memory.message(words)
        self.channels[here, target] = out[one] = into[other] = end
        if not memory.overlap and sender:
            self.free[here] = end
        self._note(what, here, target, words, start, end)
        self.push(end, _HOP, target, what, (words, *path[1:]))

    def _note(self, what: int, here: int, target: int, words: int, *times: float) -> None:
        if self.points == 1:
            name = self.tasks.names[what]
            self.transfers.append(Transfer(name, here, target, words, *times))

    def arrive(self, here: int, what: int) -> None:
        """Let the successors of a value that is there now wait for one less."""
        point, task = divmod(what, len(self.tasks.names))
        for after, _ in self.tasks.after[task]:
            if self.place[after] == here:
                self.missing[after + point * len(self.tasks.names)] -= 1
