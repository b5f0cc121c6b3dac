"""Schedulers: lists, optimal search, packing, queues, mappings of papers and of users, batches."""

from __future__ import annotations

import heapq
import math
import random
import time
from collections import defaultdict, deque
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

import numpy as np

from boolcomp.base.errors import (
    DataError,
    UsageError,
    listing,
    require_name,
    short,
    shown,
    suggestion,
)
from boolcomp.base.toml import TomlTable
from boolcomp.parallel.machine import SharedMemory
from boolcomp.parallel.simulation import simulate
from boolcomp.parallel.taskgraph import (
    Assignment,
    IndexedTasks,
    Placement,
    Schedule,
    Transfer,
    indexed,
    sorted_placements,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from boolcomp.parallel.machine import Machine
    from boolcomp.parallel.taskgraph import TaskGraph
    from boolcomp.problem.tape import Straight


# --------------------------------------------------------------------------------------------------
# List scheduling: an idle processor begins the ready task of the highest priority.
#
# CP/MISF (Kasahara & Narita 1984): the priority is the longest path to the end of the graph, then
# the number of immediate successors. With communication delays the task is put on the processor
# where it can begin first.
# --------------------------------------------------------------------------------------------------

Priority = tuple[float, ...]  # the greatest first


class Delays:
    """Communication delays on a machine without contention, for fast evaluation."""

    def __init__(self, machine: Machine, processors: int) -> None:
        memory = machine.memory
        self.processors = processors
        self.links = None if isinstance(memory, SharedMemory) else memory
        if isinstance(memory, SharedMemory):
            self.fixed, self.word = memory.lock + memory.latency, memory.word
        else:
            self.fixed, self.word = memory.latency, memory.word
            if memory.topology == "full":
                self.links = None  # all are neighbours
        self.free = self.fixed == 0 and self.word == 0

    def delay(self, words: int, source: int, target: int) -> float:
        """Return the µs of a message to another processor."""
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


def assignment_of(tasks: IndexedTasks, placed: Sequence[Sequence[int]]) -> Assignment:
    return Assignment(tuple(tuple(tasks.names[k] for k in numbers) for numbers in placed))


def place_by_priority(
    tasks: IndexedTasks, delays: Delays, processors: int, priorities: Sequence[Priority]
) -> tuple[list[list[int]], list[float]]:
    """Return the tasks of every processor in order, and the end of each task (no contention)."""
    missing = [len(given) for given in tasks.before]
    place, end = [-1] * len(missing), [0.0] * len(missing)
    free = [0.0] * processors
    lists: list[list[int]] = [[] for _ in range(processors)]
    # Priorities are negated for the heap; ties have the order of the graph.
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
        # The next decision is at the next end of a task.
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
    tasks: IndexedTasks, delays: Delays, k: int, now: float, free: Sequence[float],
    done: tuple[Sequence[int], Sequence[float]],
) -> tuple[int, float]:  # fmt: skip
    """Return the processor on which a task can begin first, preferably its parent's, and when."""
    place, end = done
    home = max(tasks.before[k], key=lambda given: end[given[0]], default=(-1, 0))[0]
    at_home = place[home] if home >= 0 else -1
    if delays.free:
        best = min(range(len(free)), key=lambda p: (max(free[p], now), p != at_home, p))
        return best, max(free[best], now)
    starts = [max(time, now) for time in free]
    for j, words in tasks.before[k]:
        source = place[j]
        if delays.links is None:  # equal for all other processors
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


# --------------------------------------------------------------------------------------------------
# Lower bounds of schedules: work, critical path, and Fernandez & Bussell's intervals.
#
# All three ignore communication, so they hold for any.
# --------------------------------------------------------------------------------------------------

_MOMENTS = 96  # interval ends, at most


@dataclass(frozen=True, slots=True)
class LowerBounds:
    """Three lower bounds (µs) of schedules on a number of processors."""

    work_us: float
    critical_path_us: float
    interval_us: float

    @property
    def best_us(self) -> float:
        return max(self.work_us, self.critical_path_us, self.interval_us)

    def __str__(self) -> str:
        return (
            f"at least {short(self.best_us)} µs (work {short(self.work_us)}, critical path "
            f"{short(self.critical_path_us)}, intervals {short(self.interval_us)})"
        )


def lower_bounds(graph: TaskGraph, machine: Machine, processors: int) -> LowerBounds:
    """Return the lower bounds of a graph on a machine."""
    tasks = indexed(graph, machine)
    return LowerBounds(
        work_us=tasks.sequential / processors,
        critical_path_us=tasks.critical_path,
        interval_us=interval_bound(tasks, processors),
    )


def interval_bound(tasks: IndexedTasks, processors: int) -> float:
    """Return the critical path plus an unavoidable delay (Fernandez & Bussell 1973).

    In a schedule as short as the critical path, some work must be done between any two times. Work
    that exceeds the processors' time there delays the end.
    """
    if not tasks.names:
        return 0.0
    heads, times = np.array(tasks.heads), np.array(tasks.times)
    ends = tasks.critical_path - np.array(tasks.levels) + times  # latest
    # Intervals begin and end at earliest or latest starts and ends of tasks.
    moments = np.unique(np.concatenate([heads, heads + times, ends - times, ends]))
    if len(moments) > _MOMENTS:
        moments = moments[np.linspace(0, len(moments) - 1, _MOMENTS).round().astype(int)]
    length = moments[None, :] - moments[:, None]
    # Time of each task after a moment if it is as early as possible; before it if as late.
    early = np.clip(heads[:, None] + times[:, None] - moments[None, :], 0.0, times[:, None])
    late = np.clip(moments[None, :] - (ends - times)[:, None], 0.0, times[:, None])
    work = np.zeros((len(moments), len(moments)))
    for one, other in zip(early, late, strict=True):
        work += np.clip(np.minimum(one[:, None], other[None, :]), 0.0, np.maximum(length, 0.0))
    excess = np.where(length > 0, work / processors - length, 0.0)
    return tasks.critical_path + max(0.0, float(excess.max()))


# --------------------------------------------------------------------------------------------------
# Improvement of CP/MISF: list scheduling with several priorities.
#
# Priorities are the longest paths of the best schedule so far with random perturbations, on the
# graph and on its reverse (a reversed schedule is one of the reversed graph). The seed is fixed, so
# results are reproducible.
# --------------------------------------------------------------------------------------------------

ROUNDS = 200
_WORK = 60_000  # placed tasks, at most: few rounds for large graphs
_SPREADS = (0.02, 0.1, 0.3)  # of the greatest priority
_SHORTER = 1 + 1e-12


def improved(
    graph: TaskGraph, machine: Machine, processors: int, rounds: int = ROUNDS
) -> Assignment:
    """Return an assignment that is no worse than CP/MISF's when simulated on the machine."""
    tasks = indexed(graph, machine)
    found = search(tasks, Delays(machine, processors), processors, rounds)
    plain = found[0]
    times = [
        (simulate(graph, assignment_of(tasks, lists), machine).makespan_us, k, lists)
        for k, (lists, _) in enumerate((plain, found[-1]))
    ]
    return assignment_of(tasks, min(times)[2])


def search(
    tasks: IndexedTasks, delays: Delays, processors: int, rounds: int = ROUNDS
) -> list[tuple[list[list[int]], float]]:
    """Return the schedules found, each better than the previous one; the first is CP/MISF's."""
    size = len(tasks.names)
    rounds = min(rounds, _WORK // max(size, 1))
    bound = max(interval_bound(tasks, processors), tasks.sequential / processors)
    base = [tasks.levels[k] + 1e-9 * len(tasks.after[k]) for k in range(size)]
    exact = [(tasks.levels[k], len(tasks.after[k])) for k in range(size)]
    lists, ends = place_by_priority(tasks, delays, processors, exact)
    found = [(lists, max(ends, default=0.0))]
    back = reverse(tasks)
    draw = random.Random(size)  # noqa: S311  # not for secrets
    for turn in range(rounds):
        if found[-1][1] <= bound * _SHORTER:
            break
        spread = _SPREADS[turn % len(_SPREADS)] * tasks.critical_path
        tried = [(level + spread * draw.random(),) for level in base]
        lists, ends = place_by_priority(tasks, delays, processors, tried)
        for _ in range(2 if delays.free else 0):
            # In reverse, tasks that end late begin early; then forwards again.
            _, latest = place_by_priority(back, delays, processors, _reversed(ends))
            lists, ends = place_by_priority(tasks, delays, processors, _reversed(latest))
        if max(ends) < found[-1][1] / _SHORTER:
            found.append((lists, max(ends)))
            top = max(ends)
            base = [top - end + tasks.times[k] for k, end in enumerate(ends)]
    return found


def reverse(tasks: IndexedTasks) -> IndexedTasks:
    """Return the graph with every edge and the numbering reversed."""
    last = len(tasks.names) - 1

    def reversed_edges(
        edges: Sequence[tuple[tuple[int, int], ...]],
    ) -> tuple[tuple[tuple[int, int], ...], ...]:
        return tuple(tuple((last - j, words) for j, words in given) for given in edges[::-1])

    return IndexedTasks(
        names=tasks.names[::-1],
        times=tasks.times[::-1],
        before=reversed_edges(tasks.after),
        after=reversed_edges(tasks.before),
        levels=tuple(h + t for h, t in zip(tasks.heads, tasks.times, strict=True))[::-1],
        heads=tuple(v - t for v, t in zip(tasks.levels, tasks.times, strict=True))[::-1],
    )


def _reversed(ends: Sequence[float]) -> list[tuple[float, ...]]:
    return [(end,) for end in ends[::-1]]


# --------------------------------------------------------------------------------------------------
# Fixed mappings of equations or jobs to processors, of the papers.
#
# The equation of a task is the part of its name before the `/` (`w/3`: ω of link 3).
# --------------------------------------------------------------------------------------------------

# Zomaya & Morris, section 7: P0 is the master, which only distributes data.
ZOMAYA: Mapping[str, int] = {
    "A": 0, "p": 0,
    "w": 1, "N": 1, "n": 1,
    "wd": 2, "psi": 2, "tau": 2,
    "vd": 3, "F": 3, "f": 3,
}  # fmt: skip
# Zalzala & Morris, figures 4 and 5. D and c are distributed by rows: a, b, c on the first three.
ZALZALA: Mapping[str, int] = {
    "p*": 0, "A": 0, "Wd": 0, "e*": 0,
    "W": 1, "dW": 1, "g*": 1,
    "Wdd": 2,
    "pdd": 3, "D*": 3,
    "D": 0, "c": 0, "Da": 0, "ca": 0, "Db": 1, "cb": 1, "Dc": 2, "cc": 2,
    "tau*": 3, "e": 3, "tau**": 3, "tau": 3,
}  # fmt: skip
# Schäfer & Schiehlen, strategies 2 and 3: M and its factors; k; q and the control law.
SCHAEFER: Mapping[str, int] = {
    "A": 0, "J": 0, "M": 0, "L": 0, "r": 0, "solve": 0, "tau": 0,
    "P": 1, "kbar": 1, "k": 1,
    "g": 2, "q": 2, "v": 2, "u": 2, "A+": 2, "J+": 2,  # copies
}  # fmt: skip
MAPPINGS = {"zomaya": ZOMAYA, "zalzala": ZALZALA, "schaefer": SCHAEFER}
PROCESSORS = {"zomaya": 4, "zalzala": 4, "schaefer": 3}


def paper_mapping(graph: TaskGraph, machine: Machine, paper: str) -> Assignment:
    """Return a paper's assignment of a graph of its method; the most urgent task first."""
    require_name("mapping", paper, MAPPINGS)
    mapping = MAPPINGS[paper]
    tasks = indexed(graph, machine)
    lists: list[list[int]] = [[] for _ in range(PROCESSORS[paper])]
    for k, name in enumerate(tasks.names):
        equation = name.split("/")[0]
        if equation not in mapping:
            raise UsageError(
                f"the mapping of {paper} has no task {name!r} of graph {graph.name}",
                f"its tasks are {listing(sorted(mapping))}",
            )
        lists[mapping[equation]].append(k)
    for held in lists:
        held.sort(key=lambda k: (-tasks.levels[k], k))
    return Assignment(tuple(tuple(tasks.names[k] for k in held) for held in lists))


# --------------------------------------------------------------------------------------------------
# Optimal schedules of small graphs: branch and bound with a deadline.
#
# As in list scheduling there is no contention of channels or locks. Tasks are appended to
# processors in the order of their starts, which reaches an optimal schedule; equal processors and
# equal states are tried once.
# --------------------------------------------------------------------------------------------------

SECONDS = 10.0
MOST_TASKS = 300  # larger graphs get the improved schedule and its bound
_EPSILON = 1e-9  # of the makespan: less is no improvement
_KEPT = 12  # stored states of one set of tasks
_DIGITS = 1e6  # grids are multiples of 1e-6 µs
_PROVED_GAP = 1e-5
_NODES = 64  # between checks of the clock

State = tuple[tuple[float, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best assignment found; `proved` if no schedule is shorter.

    `bound_us` is a lower bound of all schedules, `nodes` the number of visited states.
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
    """Search for a shortest schedule until a deadline."""
    tasks = indexed(graph, machine)
    machine.check_processors(processors)
    run = _BranchAndBound(tasks, Delays(machine, processors), processors, seconds)
    finished = run.go()
    proved = finished or run.best <= run.bound * (1 + _EPSILON)
    bound = run.best if proved else run.bound
    return Optimum(assignment_of(tasks, run.lists), run.best, bound, proved, run.nodes)


def _grid(tasks: IndexedTasks, delays: Delays, processors: int) -> float:
    """Return a common divisor of all makespans (µs), or 0 if there is none.

    Costs are decimal numbers of a few digits, so their sums lie on a coarse grid: a bound just
    below the best schedule is a proof.
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


class _DeadlineError(Exception):
    """The deadline has passed."""


class _BranchAndBound:
    """Depth first over partial schedules."""

    def __init__(
        self, tasks: IndexedTasks, delays: Delays, processors: int, seconds: float
    ) -> None:
        self.tasks = tasks
        self.delays = delays
        self.processors = processors
        self.deadline = time.monotonic() + seconds
        self.nodes = 0
        found = search(tasks, delays, processors)
        self.lists, self.best = found[-1]
        self.grid = _grid(tasks, delays, processors)
        bound = max(interval_bound(tasks, processors), tasks.sequential / processors)
        grid = self.grid
        self.bound = grid * math.ceil(bound / grid - _PROVED_GAP) if grid else bound
        size = len(tasks.names)
        self.missing = [len(given) for given in tasks.before]
        self.place, self.end = [-1] * size, [0.0] * size
        self.free = [0.0] * processors
        self.order: list[int] = []
        self.rest = tasks.sequential
        # By the length of the path after a task, longest first.
        self.tails = sorted(range(size), key=lambda k: tasks.times[k] - tasks.levels[k])
        self.seen: dict[int, list[State]] = {}
        self.done = 0  # a bit for every placed task

    def go(self) -> bool:
        """Tell whether the search is complete."""
        if self.best <= self.bound * (1 + _EPSILON):
            return True
        if len(self.tasks.names) > MOST_TASKS:
            return False
        try:
            self.branch(0.0, -1)
        except _DeadlineError:
            return False
        return True

    def branch(self, since: float, last: int) -> None:
        """Try every ready task on every distinct processor."""
        self.nodes += 1
        if self.nodes % _NODES == 0 and time.monotonic() > self.deadline:
            raise _DeadlineError
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
        # The most urgent task first, on the processor where it begins first.
        moves.sort(key=lambda move: (-self.tasks.levels[move[1]], move[0], move[1], move[2]))
        for start, k, processor in moves:
            if start + self.tasks.levels[k] < self.limit():
                self.put(start, k, processor)

    def moves(self, k: int, since: float, last: int) -> list[tuple[float, int, int]]:
        """Return (start, task, processor) for distinct processors."""
        found: dict[object, tuple[float, int, int]] = {}
        for p, free in enumerate(self.free):
            start = free
            for j, words in self.tasks.before[k]:
                start = max(start, self.end[j] + self.delays.delay(words, self.place[j], p))
            if start < since or (start == since and k < last):
                continue  # tried in the order of starts
            if self.delays.free:
                # Without delays only the start counts, and the processor that was busy longest.
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
        """Place a task, continue the search, and remove it."""
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
        return self.best - max(self.grid - self.best * _EPSILON, self.best * _EPSILON)

    def hopeless(self, since: float) -> bool:
        """Tell whether the remaining tasks cannot end before the best schedule does."""
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
                else:  # `count` tasks use at most `count` processors
                    least = (sum(frees[:count]) + work) / count
                if least + tail >= limit:
                    return True
        return False

    def dominated(self, since: float) -> bool:
        """Tell whether the same tasks were placed at least as early before; store the state."""
        state: State
        frees = [max(free, since) for free in self.free]
        open_tasks = [k for k in sorted(self.order) if self.open(k)]
        ends = tuple(self.end[k] for k in open_tasks)
        if self.delays.free:  # the processors are interchangeable
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
        return any(self.place[j] < 0 for j, _ in self.tasks.after[k])


# --------------------------------------------------------------------------------------------------
# First-fit and best-fit decreasing on a priority list: bin packing of jobs on processors.
# --------------------------------------------------------------------------------------------------

Rule = Literal["first", "best"]
_HALVINGS = 40  # of the capacity's interval: nearly to the precision of a float


def pack(
    weights: Mapping[str, float], groups: Sequence[Sequence[str]], capacity: float, rule: Rule
) -> list[list[str]]:
    """Pack groups of jobs into few bins of one capacity by a rule.

    A group stays together if it fits into an empty bin. The jobs of larger groups are packed
    separately by first fit, as Zalzala & Morris do with the first element of their list (46).
    """
    bins: list[list[str]] = []
    for group in groups:
        whole = sum(weights[job] for job in group) <= capacity
        for jobs in [list(group)] if whole else [[job] for job in group]:
            weight = sum(weights[job] for job in jobs)
            room = [capacity - sum(weights[job] for job in held) for held in bins]
            fitting = [k for k, left in enumerate(room) if weight <= left]
            if not fitting:
                bins.append(jobs)
            elif rule == "first" or not whole:
                bins[fitting[0]] += jobs
            else:
                bins[min(fitting, key=lambda k: (room[k], k))] += jobs
    return bins


def fit_decreasing(graph: TaskGraph, machine: Machine, processors: int, rule: Rule) -> Assignment:
    """Return an assignment of equal loads: the least capacity for which the rule succeeds.

    Precedence does not affect the packing; each processor does the most urgent task first.
    """
    tasks = indexed(graph, machine)
    order = sorted(range(len(tasks.names)), key=lambda k: (-tasks.times[k], k))
    low = max(tasks.sequential / processors, max(tasks.times, default=0.0))
    high = low + max(tasks.times, default=0.0)
    best = _bins(tasks.times, order, high, processors, rule)
    while best is None:
        low, high = high, 2 * high
        best = _bins(tasks.times, order, high, processors, rule)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = _bins(tasks.times, order, middle, processors, rule)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    # A task's level is at least its successors'; ties have the order of the graph.
    lists = [sorted(held, key=lambda k: (-tasks.levels[k], k)) for held in best]
    lists += [[] for _ in range(processors - len(lists))]
    return assignment_of(tasks, lists)


def _bins(
    times: Sequence[float], order: Sequence[int], capacity: float, processors: int, rule: Rule
) -> list[list[int]] | None:
    """Pack into a number of bins; None if they do not suffice."""
    room = [capacity] * processors
    held: list[list[int]] = [[] for _ in range(processors)]
    for k in order:
        fitting = [p for p in range(processors) if times[k] <= room[p]]
        if not fitting:
            return None
        p = fitting[0] if rule == "first" else min(fitting, key=lambda p: (room[p], p))
        room[p] -= times[k]
        held[p].append(k)
    return held


# --------------------------------------------------------------------------------------------------
# A dynamic schedule: one queue for all processors, first in, first out.
#
# In shared memory every access holds the queue's lock, and every successor's counter is lowered
# under its own lock. Idle processors that poll delay all others (Zeng & Egan 1991, section 5). With
# links there is no lock: the processor that is idle longest takes a ready task. The resulting
# assignment is simulated with its messages.
# --------------------------------------------------------------------------------------------------

_ASK, _LOWER, _PUT, _THERE = 0, 1, 2, 3


def dynamic(graph: TaskGraph, machine: Machine, processors: int) -> Schedule:
    """Return the schedule of a shared queue."""
    tasks = indexed(graph, machine)
    machine.check_processors(processors)
    run = _Queue(tasks, machine, processors)
    run.go()
    if not isinstance(machine.memory, SharedMemory):
        return simulate(graph, assignment_of(tasks, run.lists), machine, "dynamic")
    return Schedule(
        graph.name, machine.name, "dynamic", processors, sorted_placements(run.placements),
        tuple(run.transfers), max(run.busy, default=0.0), tasks.sequential, tasks.critical_path,
    )  # fmt: skip


class _Queue:
    """The state of a simulation of a shared queue."""

    def __init__(self, tasks: IndexedTasks, machine: Machine, processors: int) -> None:
        memory = machine.memory
        self.tasks = tasks
        self.dispatch = machine.costs.dispatch
        self.shared = isinstance(memory, SharedMemory)
        self.lock, self.hold, self.poll, self.latency, self.word = (
            (memory.lock, memory.queue, memory.poll, memory.latency, memory.word)
            if isinstance(memory, SharedMemory)
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
        # Results are written before the counters are lowered.
        words = max((words for _, words in self.tasks.after[task]), default=0)
        self.push(end + self.word * words, _LOWER, here, task)

    def arrival(self, before: int, words: int, here: int) -> float:
        """Return the time at which an earlier task's results are on a processor."""
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
        """Return the time at which a processor that requests the queue's lock releases it."""
        if not self.hold:
            return time
        polls = len(self.idle) if self.poll else 0  # each idle processor takes its turn
        self.lock_free = max(time, self.lock_free) + (1 + polls) * self.hold
        return self.lock_free

    def lower(self, here: int, task: int, position: int, time: float) -> None:
        """Lower the successors' counters, one after another; put ready tasks into the queue."""
        for k in range(position, len(self.tasks.after[task])):
            time += self.lock
            after = self.tasks.after[task][k][0]
            self.missing[after] -= 1
            if not self.missing[after]:
                self.push(time, _PUT, here, task, k)
                return
        self.busy[here] = time
        self.push(time, _ASK, here)


# --------------------------------------------------------------------------------------------------
# Schedulers by name.
# --------------------------------------------------------------------------------------------------

# `static` repeats the assignment of a dynamic run without its queue (Zeng & Egan's version 4).
SCHEDULERS = (
    "cp-misf", "improved", "optimal", "dynamic", "static", "first-fit", "best-fit",
    *PROCESSORS,
)  # fmt: skip


def make_schedule(
    graph: TaskGraph, machine: Machine, processors: int, scheduler: str = "cp-misf", *,
    seconds: float = SECONDS,
) -> Schedule:  # fmt: skip
    """Schedule a graph and simulate it; the papers' mappings are named after their papers.

    `seconds` is the deadline of `optimal`.
    """
    machine.check_processors(processors)
    if scheduler == "dynamic":
        return dynamic(graph, machine, processors)
    if scheduler in PROCESSORS and processors != PROCESSORS[scheduler]:
        raise UsageError(
            f"the mapping {scheduler} is for {PROCESSORS[scheduler]} processors, not {processors}"
        )
    make: dict[str, Callable[[], Assignment]] = {
        "cp-misf": lambda: cp_misf(graph, machine, processors),
        "improved": lambda: improved(graph, machine, processors),
        "optimal": lambda: optimal(graph, machine, processors, seconds).assignment,
        "static": lambda: dynamic(graph, machine, processors).assignment,
        "first-fit": lambda: fit_decreasing(graph, machine, processors, "first"),
        "best-fit": lambda: fit_decreasing(graph, machine, processors, "best"),
        **dict.fromkeys(PROCESSORS, lambda: paper_mapping(graph, machine, scheduler)),
    }
    require_name("scheduler", scheduler, SCHEDULERS)
    return simulate(graph, make[scheduler](), machine, scheduler)


# --------------------------------------------------------------------------------------------------
# Assignments of the user, and the communication vectors of assignments.
#
# A file has patterns of tasks for every processor (Schäfer & Schiehlen's configuration):
#
#     order = "priority"             # or "given": the order of the file  # noqa: ERA001 (a format)
#     [processors]  # noqa: ERA001 (a format)
#     P0 = ["J*", "M*", "solve"]  # noqa: ERA001 (a format)
#     P1 = ["k*"]  # noqa: ERA001 (a format)
# --------------------------------------------------------------------------------------------------

_KEYS = ("order", "processors")
_ORDERS = ("priority", "given")


@dataclass(frozen=True, slots=True)
class CommunicationVector:
    """Words that one processor sends another, each once; `nodes` if a program is given."""

    source: int
    target: int
    tasks: tuple[str, ...]
    words: int
    nodes: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"P{self.source}->P{self.target}: {self.words} words of {', '.join(self.tasks)}"


def parse_assignment(
    text: str, graph: TaskGraph, machine: Machine, processors: int, where: str = "assignment"
) -> Assignment:
    """Read an assignment file for a graph; every task must be matched on exactly one processor."""
    top = TomlTable.read(text, where)
    top.check_keys(_KEYS)
    order, section = top.choice("order", _ORDERS, "priority"), top.section("processors")
    if not section.table:
        top.fail("processors", "a section with at least one processor is missing")
    names = [task.name for task in graph.tasks]
    lists = _lists(section, names, processors)
    if order == "priority":
        tasks = indexed(graph, machine)
        number = {name: k for k, name in enumerate(tasks.names)}
        lists = [
            sorted(held, key=lambda name: (-tasks.levels[number[name]], number[name]))
            for held in lists
        ]
    left = [name for name in names if not any(name in held for held in lists)]
    if left:
        more = f", nor {len(left) - 1} more" if len(left) > 1 else ""
        raise DataError(f"task {left[0]!r} is on no processor{more}", where=where)
    return Assignment(tuple(tuple(held) for held in lists))


def _lists(section: TomlTable, names: Sequence[str], processors: int) -> list[list[str]]:
    """Return the tasks of every processor in the order of the patterns."""
    known = [f"P{k}" for k in range(processors)]
    lists: list[list[str]] = [[] for _ in known]
    owner: dict[str, str] = {}
    for key, patterns in section.table.items():
        if key not in known:
            near = suggestion(key, known, 0.5)
            hint = f"{near}processors are {known[0]} to {known[-1]}"
            section.fail(key, "unknown processor", hint)
        if not isinstance(patterns, list) or not all(isinstance(p, str) for p in patterns):
            section.fail(key, "must be a list of task names or patterns")
        for pattern in patterns:
            found = [name for name in names if fnmatchcase(name, pattern)]
            if not found:
                section.fail(key, f"no task matches {shown(pattern)}", suggestion(pattern, names))
            for name in found:
                if owner.setdefault(name, key) != key:
                    section.fail(key, f"task {name!r} is on {owner[name]} too")
                if name not in lists[known.index(key)]:
                    lists[known.index(key)].append(name)
    return lists


def communication(graph: TaskGraph, assignment: Assignment) -> tuple[CommunicationVector, ...]:
    """Return the communication between processors by the edges of a graph.

    The successors of a task on one processor share a message; its length is the maximum of their
    words.
    """
    place = assignment.places()
    sent: dict[tuple[int, int], dict[str, int]] = {}
    for edge in graph.edges:
        pair = (place[edge.before], place[edge.after])
        if pair[0] != pair[1]:
            words = sent.setdefault(pair, {})
            words[edge.before] = max(edge.words, words.get(edge.before, 0))
    return tuple(
        CommunicationVector(*pair, tuple(words), sum(words.values()))
        for pair, words in sorted(sent.items())
    )


def exact_communication(
    straight: Straight, task_of_node: Sequence[str], assignment: Assignment
) -> tuple[CommunicationVector, ...]:
    """Return the minimal communication, value by value, by the program's dependencies."""
    place = assignment.places()
    needed: dict[tuple[int, int], dict[int, None]] = {}
    for k, node in enumerate(straight.nodes):
        if node.free:
            continue
        here = place[task_of_node[k]]
        for j in node.operands:
            if not straight.nodes[j].free and place[task_of_node[j]] != here:
                needed.setdefault((place[task_of_node[j]], here), {})[j] = None
    return tuple(
        CommunicationVector(
            *pair,
            tuple(dict.fromkeys(task_of_node[j] for j in sorted(nodes))),
            len(nodes),
            tuple(sorted(nodes)),
        )
        for pair, nodes in sorted(needed.items())
    )


# --------------------------------------------------------------------------------------------------
# Assignments for batches: equal work, and few values exchanged between processes.
#
# For a batch only throughput counts: blocks of samples pass through the processors in sequence.
# Latency and order do not matter, but every exchanged value costs memory traffic. This is balanced
# graph partitioning in which a task may be duplicated if that is cheaper than sending its results.
# Annealing starts from consecutive slices, with a fixed seed.
# --------------------------------------------------------------------------------------------------

# Costs of nodes in the vectorised kernels, in additions.
_WEIGHTS = {
    "input": 0.0, "constant": 0.0, "neg": 0.3, "sin": 12.0, "cos": 12.0, "div": 6.0, "sqrt": 6.0
}  # fmt: skip
WORD = 6.0  # additions that an exchanged value costs, on either side
_MOVES = 30_000
_ALONE = 0.5  # of the moves
_HOT, _COLD = 40.0, 0.3  # temperatures in additions, at first and at last


def for_batches(straight: Straight, graph: TaskGraph, processors: int) -> Assignment:
    """Return an assignment with a small load, exchanges included, of the busiest processor."""
    order = graph.order()
    number = {name: k for k, name in enumerate(order)}
    work = [0.0] * len(order)
    users: dict[int, set[int]] = defaultdict(set)
    for k, node in enumerate(straight.nodes):
        if node.free:
            continue
        work[number[node.task]] += _WEIGHTS.get(node.kind, 1.0)
        users[k].add(number[node.task])
        for j in node.operands:
            if not straight.nodes[j].free:
                users[j].add(number[node.task])
    # A net: the tasks that calculate or use a value, its source first. Equal nets are merged.
    nets: dict[tuple[int, ...], int] = defaultdict(int)
    for k, tasks in users.items():
        if len(tasks) > 1:
            source = number[straight.nodes[k].task]
            nets[source, *sorted(tasks - {source})] += 1
    starts = (range(len(order)), [number[name] for name in _depth_first(graph)])
    found = [_Partitioning(work, nets, processors, start).go() for start in starts]
    places = min(found, key=lambda pair: pair[0])[1]
    lists = [[name for k, name in enumerate(order) if p in places[k]] for p in range(processors)]
    return Assignment(tuple(tuple(held) for held in lists))


def _depth_first(graph: TaskGraph) -> list[str]:
    """Return the tasks in depth-first order from the ends: each soon after its predecessors."""
    predecessors, successors = graph.predecessors(), graph.successors()
    order: dict[str, None] = {}
    for end in (task.name for task in graph.tasks if not successors[task.name]):
        waiting = [(end, False)]
        while waiting:
            name, ready = waiting.pop()
            if ready:
                order[name] = None
            elif name not in order:
                waiting.append((name, True))
                waiting += [(edge.before, False) for edge in predecessors[name]]
    return list(order)


class _Partitioning:
    """Annealing of an assignment."""

    def __init__(
        self, work: Sequence[float], nets: dict[tuple[int, ...], int], processors: int,
        order: Iterable[int],
    ) -> None:  # fmt: skip
        self.work = work
        self.processors = processors
        self.nets = list(nets.items())
        self.of: list[list[int]] = [[] for _ in work]
        for n, (tasks, _) in enumerate(self.nets):
            for k in tasks:
                self.of[k].append(n)
        whole, done = sum(work) or 1.0, 0.0
        self.places = [frozenset([0])] * len(work)
        self.load = [0.0] * processors
        for k in order:
            first = min(int(processors * (done + work[k] / 2) / whole), processors - 1)
            self.places[k] = frozenset([first])
            self.load[first] += work[k]
            done += work[k]
        for n in range(len(self.nets)):
            self.charge(n, 1.0)

    def charge(self, n: int, sign: float) -> None:
        """Add a net's exchanges to the loads, or subtract them."""
        tasks, values = self.nets[n]
        sources = self.places[tasks[0]]
        home = min(sources)
        for target in frozenset[int]().union(*(self.places[k] for k in tasks)) - sources:
            self.load[home] += sign * WORD * values
            self.load[target] += sign * WORD * values

    def cost(self) -> float:
        return max(self.load) + 0.1 * sum(self.load)

    def move(self, k: int, target: frozenset[int]) -> None:
        """Assign a task to other processors."""
        for n in self.of[k]:
            self.charge(n, -1.0)
        for p in self.places[k]:
            self.load[p] -= self.work[k]
        self.places[k] = target
        for p in target:
            self.load[p] += self.work[k]
        for n in self.of[k]:
            self.charge(n, 1.0)

    def go(self) -> tuple[float, list[frozenset[int]]]:
        """Return the least cost and its places."""
        if self.processors == 1 or not self.work:
            return self.cost(), self.places
        draw = random.Random(len(self.work))  # noqa: S311  # not for secrets
        now = self.cost()
        best, kept = now, list(self.places)
        for turn in range(_MOVES):
            heat = _HOT * (_COLD / _HOT) ** (turn / _MOVES)
            k, p = draw.randrange(len(self.work)), draw.randrange(self.processors)
            before = self.places[k]
            # On p only, additionally on p, or no longer on p.
            target = frozenset([p]) if draw.random() < _ALONE else before ^ {p}
            if not target or target == before:
                continue
            self.move(k, target)
            cost = self.cost()
            if cost <= now or draw.random() < math.exp((now - cost) / heat):
                now = cost
                if now < best - 1e-9:
                    best, kept = now, list(self.places)
            else:
                self.move(k, before)
        return best, kept
