"""A dynamic schedule: one queue that all processors share, first in, first out.

On shared memory every put and get holds the queue's lock, every successor's counter is lowered
under its own, and idle processors that poll make everybody wait (Zeng & Egan 1991, section 5).
With links there is no lock: the queue hands a ready task to whoever has been idle longest; who
did what is then simulated with its messages as any other assignment.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING

from boolcomp.parallel.schedule.indexed import Indexed, indexed
from boolcomp.parallel.schedule.listing import Delays, assignment_of
from boolcomp.parallel.schedule.machine import Shared
from boolcomp.parallel.schedule.placed import Placement, Schedule, Transfer, sorted_placements
from boolcomp.parallel.schedule.simulate import simulate

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine

_ASK, _LOWER, _PUT, _THERE = 0, 1, 2, 3


def dynamic(
    graph: TaskGraph, machine: Machine, processors: int, scheduler: str = "dynamic"
) -> Schedule:
    """Simulate the shared queue."""
    tasks = indexed(graph, machine)
    machine.check_processors(processors)
    run = _Queue(tasks, machine, processors)
    run.go()
    if not isinstance(machine.memory, Shared):
        return simulate(graph, assignment_of(tasks, run.lists), machine, scheduler)
    return Schedule(
        graph=graph.name,
        machine=machine.name,
        scheduler=scheduler,
        processors=processors,
        placements=sorted_placements(run.placements),
        transfers=tuple(run.transfers),
        makespan_us=max(run.busy, default=0.0),
        sequential_us=tasks.sequential,
        critical_path_us=tasks.critical_path,
    )


class _Queue:
    """The state of a simulation."""

    def __init__(self, tasks: Indexed, machine: Machine, processors: int) -> None:
        memory = machine.memory
        self.tasks = tasks
        self.dispatch = machine.costs.dispatch
        self.shared = isinstance(memory, Shared)
        self.lock, self.hold, self.poll, self.latency, self.word = (
            (memory.lock, memory.queue, memory.poll, memory.latency, memory.word)
            if isinstance(memory, Shared)
            else (0.0, 0.0, False, 0.0, 0.0)
        )
        self.delays = Delays(machine, processors)
        self.missing = [len(given) for given in tasks.before]
        self.queue = deque(k for k, given in enumerate(tasks.before) if not given)
        self.idle: deque[int] = deque()
        self.lock_free = 0.0
        self.busy = [0.0] * processors
        self.place = [-1] * len(tasks.names)
        self.end = [0.0] * len(tasks.names)
        self.events: list[tuple[float, int, int, int, int, int]] = []
        self.count = 0
        self.lists: list[list[int]] = [[] for _ in range(processors)]
        self.placements: list[Placement] = []
        self.transfers: list[Transfer] = []
        self.sent: set[tuple[int, int]] = set()

    def push(self, time: float, kind: int, here: int, task: int = 0, position: int = 0) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, kind, here, task, position))

    def go(self) -> None:
        for processor in range(len(self.lists)):
            self.push(0.0, _ASK, processor)
        while self.events:
            time, _, kind, here, task, position = heapq.heappop(self.events)
            if kind == _ASK:
                self.ask(here, time)
            elif kind == _LOWER:
                self.lower(here, task, position, time)
            elif kind == _PUT:
                after = self.tasks.after[task][position][0]
                done = self.locked(time)
                self.push(done, _THERE, here, after)
                self.push(done, _LOWER, here, task, position + 1)
            else:
                self.queue.append(task)
                if self.idle:
                    self.ask(self.idle.popleft(), time)

    def ask(self, here: int, time: float) -> None:
        """Take the first task of the queue, or wait for one."""
        if not self.queue:
            self.idle.append(here)
            return
        task = self.queue.popleft()
        begin = self.locked(time) + self.dispatch
        for before, words in self.tasks.before[task]:
            begin = max(begin, self.arrival(before, words, here))
        end = begin + self.tasks.times[task]
        self.placements.append(Placement(self.tasks.names[task], here, begin, end))
        self.lists[here].append(task)
        self.place[task], self.end[task] = here, end
        # What it writes for others is written before any of them hears of it.
        words = max((words for _, words in self.tasks.after[task]), default=0)
        self.push(end + self.word * words, _LOWER, here, task)

    def arrival(self, before: int, words: int, here: int) -> float:
        """Return when what an earlier task has calculated is on a processor."""
        source, since = self.place[before], self.end[before]
        if source == here:
            return since
        if not self.shared:
            return since + self.delays.delay(words, source, here)
        words = max(words for _, words in self.tasks.after[before])
        written = since + self.word * words
        if (before, here) not in self.sent:
            self.sent.add((before, here))
            name = self.tasks.names[before]
            end = written + self.latency
            self.transfers.append(Transfer(name, source, here, words, written, end))
        return written + self.latency

    def locked(self, time: float) -> float:
        """Return when a processor that wants the queue's lock now is done with it."""
        if not self.hold:
            return time
        in_vain = len(self.idle) if self.poll else 0  # each idle processor takes its turn
        self.lock_free = max(time, self.lock_free) + (1 + in_vain) * self.hold
        return self.lock_free

    def lower(self, here: int, task: int, position: int, time: float) -> None:
        """Lower the successors' counters, one after another; what is ready goes into the queue."""
        for k in range(position, len(self.tasks.after[task])):
            time += self.lock
            after = self.tasks.after[task][k][0]
            self.missing[after] -= 1
            if not self.missing[after]:
                self.push(time, _PUT, here, task, k)
                return
        self.busy[here] = time
        self.push(time, _ASK, here)
