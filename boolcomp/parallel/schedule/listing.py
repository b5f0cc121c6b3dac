"""List scheduling: whenever a processor is idle, the ready task of the highest priority.

CP/MISF (Kasahara & Narita 1984): the priority is the longest path to the end of the graph, and of
equals that with the most immediate successors. Where words take time to travel, the task goes to
the processor on which it can begin first.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from boolcomp.parallel.schedule.indexed import indexed
from boolcomp.parallel.schedule.machine import Shared
from boolcomp.parallel.schedule.placed import Assignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.indexed import Indexed
    from boolcomp.parallel.schedule.machine import Machine

Priority = tuple[float, ...]  # the greatest first


class Delays:
    """What travelling costs on a machine, without contention: quick to ask a million times."""

    def __init__(self, machine: Machine, processors: int) -> None:
        memory = machine.memory
        self.processors = processors
        self.links = None if isinstance(memory, Shared) else memory
        if isinstance(memory, Shared):
            self.fixed, self.word = memory.lock + memory.latency, memory.word
        else:
            self.fixed, self.word = memory.latency, memory.word
            if memory.topology == "full":
                self.links = None  # all are neighbours
        self.free = self.fixed == 0 and self.word == 0

    def delay(self, words: int, source: int, target: int) -> float:
        """Return the µs that words take to another processor."""
        if source == target:
            return 0.0
        cost = self.fixed + words * self.word
        if self.links is None:
            return cost
        return cost * self.links.hops(source, target, self.processors)


def cp_misf(graph: TaskGraph, machine: Machine, processors: int) -> Assignment:
    """Return the CP/MISF assignment."""
    tasks = indexed(graph, machine)
    priorities = [(tasks.levels[k], len(tasks.after[k])) for k in range(len(tasks.names))]
    placed, _ = place_by_priority(tasks, Delays(machine, processors), processors, priorities)
    return assignment_of(tasks, placed)


def assignment_of(tasks: Indexed, placed: Sequence[Sequence[int]]) -> Assignment:
    """Return lists of numbers as lists of names."""
    return Assignment(tuple(tuple(tasks.names[k] for k in numbers) for numbers in placed))


def place_by_priority(
    tasks: Indexed, delays: Delays, processors: int, priorities: Sequence[Priority]
) -> tuple[list[list[int]], list[float]]:
    """Return for every processor its tasks in order, and when each task ends, unhindered."""
    missing = [len(given) for given in tasks.before]
    place, end = [-1] * len(missing), [0.0] * len(missing)
    free = [0.0] * processors
    lists: list[list[int]] = [[] for _ in range(processors)]
    # Negated priorities: a heap gives the least. The number decides last: the order of the graph.
    ready = [(_negated(priorities[k]), k) for k in range(len(missing)) if not missing[k]]
    heapq.heapify(ready)
    ends: list[tuple[float, int]] = []
    now = 0.0
    while ready or ends:
        while ready and min(free) <= now:
            _, k = heapq.heappop(ready)
            processor, start = _earliest(tasks, delays, k, now, free, (place, end))
            place[k], end[k] = processor, start + tasks.times[k]
            free[processor] = end[k]
            lists[processor].append(k)
            heapq.heappush(ends, (end[k], k))
        if not ends:
            break
        # To the next moment at which a task ends: only then is anything new to decide.
        now = ends[0][0]
        while ends and ends[0][0] <= now:
            _, k = heapq.heappop(ends)
            for after, _ in tasks.after[k]:
                missing[after] -= 1
                if not missing[after]:
                    heapq.heappush(ready, (_negated(priorities[after]), after))
    return lists, end


def _negated(priority: Priority) -> Priority:
    return tuple(-part for part in priority)


def _earliest(
    tasks: Indexed,
    delays: Delays,
    k: int,
    now: float,
    free: Sequence[float],
    done: tuple[Sequence[int], Sequence[float]],
) -> tuple[int, float]:
    """Return the processor on which a task can begin first, and when; of equals its parent's."""
    place, end = done
    home = max(tasks.before[k], key=lambda given: end[given[0]], default=(-1, 0))[0]
    at_home = place[home] if home >= 0 else -1
    if delays.free:
        best = min(range(len(free)), key=lambda p: (max(free[p], now), p != at_home, p))
        return best, max(free[best], now)
    starts = [max(time, now) for time in free]
    for j, words in tasks.before[k]:
        source = place[j]
        if delays.links is None:  # the same to all others
            arrival = end[j] + delays.fixed + words * delays.word
            if arrival > now:
                starts = [
                    start if start >= arrival or p == source else arrival
                    for p, start in enumerate(starts)
                ]
        else:
            starts = [
                max(start, end[j] + delays.delay(words, source, p))
                for p, start in enumerate(starts)
            ]
    best = min(range(len(starts)), key=lambda p: (starts[p], p != at_home, p))
    return best, starts[best]
