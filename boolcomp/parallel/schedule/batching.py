"""Assignments for batches: equal work, and as few values as possible from process to process.

Over a batch only throughput counts: blocks of samples follow each other through the processors, so
latency and order do not matter, but every value that changes processors costs memory traffic.
This is balanced graph partitioning in which a task may be done twice, where that is cheaper than
handing on what it gives: annealing from consecutive slices, with a fixed seed.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from typing import TYPE_CHECKING

from boolcomp.parallel.schedule.placed import Assignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.problem.expressions.straight import Straight

# What a node takes in the vectorised kernels, in additions.
_WEIGHTS = {
    "input": 0.0, "constant": 0.0, "neg": 0.3, "sin": 12.0, "cos": 12.0, "div": 6.0, "sqrt": 6.0
}  # fmt: skip
WORD = 6.0  # additions that an exchanged value costs, on either side
_MOVES = 30_000
_ALONE = 0.5  # of the moves
_HOT, _COLD = 40.0, 0.3  # additions that an unlucky move may cost, at first and at last


def for_batches(straight: Straight, graph: TaskGraph, processors: int) -> Assignment:
    """Return an assignment whose busiest processor, its exchanges included, has little to do."""
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
    # A net: the tasks that hold or need a value, its maker first. Equal nets count together.
    nets: dict[tuple[int, ...], int] = defaultdict(int)
    for k, tasks in users.items():
        if len(tasks) > 1:
            maker = number[straight.nodes[k].task]
            nets[maker, *sorted(tasks - {maker})] += 1
    starts = (range(len(order)), [number[name] for name in _depth_first(graph)])
    found = [_Dealing(work, nets, processors, start).go() for start in starts]
    places = min(found, key=lambda pair: pair[0])[1]
    lists = [[name for k, name in enumerate(order) if p in places[k]] for p in range(processors)]
    return Assignment(tuple(tuple(held) for held in lists))


def _depth_first(graph: TaskGraph) -> list[str]:
    """Return the tasks so that each comes soon after what it needs, walking back from the ends."""
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


class _Dealing:
    """Annealing over who does what."""

    def __init__(
        self,
        work: Sequence[float],
        nets: dict[tuple[int, ...], int],
        processors: int,
        order: Iterable[int],
    ) -> None:
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
        """Add a net's exchanges to the loads, or take them off."""
        tasks, values = self.nets[n]
        makers = self.places[tasks[0]]
        home = min(makers)
        for target in frozenset[int]().union(*(self.places[k] for k in tasks)) - makers:
            self.load[home] += sign * WORD * values
            self.load[target] += sign * WORD * values

    def cost(self) -> float:
        """Return what is to be small: the greatest load, and a little of all loads."""
        return max(self.load) + 0.1 * sum(self.load)

    def move(self, k: int, target: frozenset[int]) -> None:
        """Give a task to other processors."""
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
        """Return the least cost, and the places that have it."""
        if self.processors == 1 or not self.work:
            return self.cost(), self.places
        draw = random.Random(len(self.work))  # noqa: S311  # not for secrets
        now = self.cost()
        best, kept = now, list(self.places)
        for turn in range(_MOVES):
            heat = _HOT * (_COLD / _HOT) ** (turn / _MOVES)
            k, p = draw.randrange(len(self.work)), draw.randrange(self.processors)
            before = self.places[k]
            # Alone there, or there as well, or there no longer.
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
