"""Optimal schedules of small graphs: branch and bound, with a deadline and an honest verdict.

The model is the list schedulers': words travel unhindered (no contention of channels or locks).
Tasks are put at the end of processors in the order of their starts, which reaches an optimal
schedule; equal processors and equal states are tried once.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.errors import short
from boolcomp.parallel.schedule.improving import search
from boolcomp.parallel.schedule.indexed import indexed
from boolcomp.parallel.schedule.listing import Delays, assignment_of
from boolcomp.parallel.schedule.lowerbounds import interval_bound

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.indexed import Indexed
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Assignment

SECONDS = 10.0
MOST_TASKS = 300  # beyond, only the improved schedule and its bound are given
_EPSILON = 1e-9  # of the makespan: less is no improvement
_KEPT = 12  # states compared with, of one set of tasks
_DIGITS = 1e6  # a grid of 1e-6 µs is the finest that is looked for
_PROVED_GAP = 1e-5
_NODES = 64  # between two looks at the clock

State = tuple[tuple[float, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best assignment found; `proved` if nothing is shorter than its `makespan_us`.

    `bound_us` is what no schedule can be shorter than; `nodes` how many states were looked at.
    """

    assignment: Assignment
    makespan_us: float
    bound_us: float
    proved: bool
    nodes: int

    def __str__(self) -> str:
        verdict = "proved shortest" if self.proved else f"at least {short(self.bound_us)} µs"
        return f"{short(self.makespan_us)} µs, {verdict}, {self.nodes} states"


def optimal(
    graph: TaskGraph, machine: Machine, processors: int, seconds: float = SECONDS
) -> Optimum:
    """Search for a shortest schedule for so many seconds."""
    tasks = indexed(graph, machine)
    machine.check_processors(processors)
    run = _BranchAndBound(tasks, Delays(machine, processors), processors, seconds)
    finished = run.go()
    proved = finished or run.best <= run.bound * (1 + _EPSILON)
    bound = run.best if proved else run.bound
    return Optimum(assignment_of(tasks, run.lists), run.best, bound, proved, run.nodes)


def _grid(tasks: Indexed, delays: Delays, processors: int) -> float:
    """Return what all makespans are multiples of (µs), or 0 where that is not plain.

    Costs are decimal numbers of a few digits, so sums of them lie on a coarse grid; that is what
    makes a bound just below the best schedule a proof.
    """
    spans = list(tasks.times)
    if not delays.free:
        spans += [
            delays.delay(w, 0, p) for x in tasks.after for _, w in x for p in range(processors)
        ]
    whole = [round(span * _DIGITS) for span in spans]
    if any(abs(k - span * _DIGITS) > _PROVED_GAP for k, span in zip(whole, spans, strict=True)):
        return 0.0
    return math.gcd(*whole) / _DIGITS


def _raised(bound: float, grid: float) -> float:
    """Return the least multiple of the grid that is not below a bound."""
    return grid * math.ceil(bound / grid - _PROVED_GAP) if grid else bound


class _Late(Exception):  # noqa: N818  # not an error: the time is up
    """The deadline has passed."""


class _BranchAndBound:
    """Depth first over partial schedules."""

    def __init__(self, tasks: Indexed, delays: Delays, processors: int, seconds: float) -> None:
        self.tasks = tasks
        self.delays = delays
        self.processors = processors
        self.deadline = time.monotonic() + seconds
        self.nodes = 0
        found = search(tasks, delays, processors)
        self.lists, self.best = found[-1]
        self.grid = _grid(tasks, delays, processors)
        bound = max(interval_bound(tasks, processors), tasks.sequential / processors)
        self.bound = _raised(bound, self.grid)
        size = len(tasks.names)
        self.missing = [len(given) for given in tasks.before]
        self.place, self.end = [-1] * size, [0.0] * size
        self.free = [0.0] * processors
        self.order: list[int] = []
        self.rest = tasks.sequential
        # By tails, the longest first: what has so much behind it must end so much earlier.
        self.tails = sorted(range(size), key=lambda k: tasks.times[k] - tasks.levels[k])
        self.seen: dict[int, list[State]] = {}
        self.done = 0  # a bit for every task that is placed

    def go(self) -> bool:
        """Return whether everything was searched."""
        if self.best <= self.bound * (1 + _EPSILON):
            return True
        if len(self.tasks.names) > MOST_TASKS:
            return False
        try:
            self.branch(0.0, -1)
        except _Late:
            return False
        return True

    def branch(self, since: float, last: int) -> None:
        """Try every task that can be next, on every processor that differs."""
        self.nodes += 1
        if self.nodes % _NODES == 0 and time.monotonic() > self.deadline:
            raise _Late
        size = len(self.tasks.names)
        if len(self.order) == size:
            top = max(self.free)
            if top < self.best * (1 - _EPSILON):
                self.best = top
                self.lists = [[] for _ in range(self.processors)]
                for k in self.order:
                    self.lists[self.place[k]].append(k)
            return
        if self.hopeless(since) or self.dominated(since):
            return
        moves = []
        for k in range(size):
            if self.place[k] < 0 and not self.missing[k]:
                moves += self.moves(k, since, last)
        # The most urgent first, each where it begins first.
        moves.sort(key=lambda move: (-self.tasks.levels[move[1]], move[0], move[1], move[2]))
        for start, k, processor in moves:
            if start + self.tasks.levels[k] < self.limit():
                self.put(start, k, processor)

    def moves(self, k: int, since: float, last: int) -> list[tuple[float, int, int]]:
        """Return (start, task, processor) for the processors that differ."""
        found: dict[object, tuple[float, int, int]] = {}
        for p, free in enumerate(self.free):
            start = free
            for j, words in self.tasks.before[k]:
                start = max(start, self.end[j] + self.delays.delay(words, self.place[j], p))
            if start < since or (start == since and k < last):
                continue  # it is tried where the tasks come in the order of their starts
            if self.delays.free:
                # Only when it is free counts; and the longer it was busy, the less is lost.
                key: object = start
                kept = found.get(key)
                if kept is not None and self.free[kept[2]] >= free:
                    continue
            else:
                key = p if free > 0 or self.delays.links is not None else "unused"
                if key in found:
                    continue
            found[key] = (start, k, p)
        return list(found.values())

    def put(self, start: float, k: int, processor: int) -> None:
        """Place a task, go on from there, and take it back."""
        before = self.free[processor]
        self.place[k] = processor
        self.free[processor] = self.end[k] = start + self.tasks.times[k]
        self.rest -= self.tasks.times[k]
        self.order.append(k)
        self.done |= 1 << k
        for after, _ in self.tasks.after[k]:
            self.missing[after] -= 1
        self.branch(start, k)
        for after, _ in self.tasks.after[k]:
            self.missing[after] += 1
        self.done ^= 1 << k
        self.order.pop()
        self.rest += self.tasks.times[k]
        self.free[processor] = before
        self.place[k] = -1

    def limit(self) -> float:
        """Return what a makespan must be less than to be an improvement at all."""
        return self.best - max(self.grid - self.best * _EPSILON, self.best * _EPSILON)

    def hopeless(self, since: float) -> bool:
        """Tell whether what is left cannot end before the best schedule does."""
        limit = self.limit()
        frees = sorted(max(free, since) for free in self.free)
        ready = sum(frees)
        earliest = self.end.copy()
        for k, given in enumerate(self.tasks.before):
            if self.place[k] < 0:
                start = frees[0]
                for j, _ in given:
                    start = max(start, earliest[j])
                if start + self.tasks.levels[k] >= limit:
                    return True
                earliest[k] = start + self.tasks.times[k]
        work, count = 0.0, 0
        for k in self.tails:
            if self.place[k] < 0:
                work += self.tasks.times[k]
                count += 1
                tail = self.tasks.levels[k] - self.tasks.times[k]
                if count >= self.processors:
                    least = (ready + work) / self.processors
                else:  # so few tasks use at most as many processors, those free first
                    least = (sum(frees[:count]) + work) / count
                if least + tail >= limit:
                    return True
        return False

    def dominated(self, since: float) -> bool:
        """Tell whether the same tasks were placed before with everything as early; remember."""
        state: State
        frees = [max(free, since) for free in self.free]
        open_tasks = [k for k in sorted(self.order) if self.open(k)]
        ends = tuple(self.end[k] for k in open_tasks)
        if self.delays.free:  # then only when processors are free counts, not which
            state = ((*sorted(frees), *ends), ())
        else:
            state = ((*frees, *ends), tuple(self.place[k] for k in open_tasks))
        kept = self.seen.setdefault(self.done, [])
        for numbers, where in kept:
            if where == state[1] and all(a <= b for a, b in zip(numbers, state[0], strict=True)):
                return True
        if len(kept) < _KEPT:
            kept.append(state)
        return False

    def open(self, k: int) -> bool:
        """Tell whether a task has successors that are not placed."""
        return any(self.place[j] < 0 for j, _ in self.tasks.after[k])
