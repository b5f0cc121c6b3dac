"""Better than CP/MISF: the same list scheduling with other priorities, tried one after another.

Priorities are the longest paths, slightly disturbed each time from those of the best schedule so
far, on the graph and on its reverse (a schedule read backwards is one of the reversed graph). The
disturbances are drawn from a fixed seed: the same graph gets the same schedule everywhere.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from boolcomp.parallel.schedule.indexed import Indexed, indexed
from boolcomp.parallel.schedule.listing import Delays, assignment_of, place_by_priority
from boolcomp.parallel.schedule.lowerbounds import interval_bound
from boolcomp.parallel.schedule.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Assignment

ROUNDS = 200
_WORK = 60_000  # tasks placed at most: few rounds for large graphs
_SPREADS = (0.02, 0.1, 0.3)  # of the greatest priority
_SHORTER = 1 + 1e-12


def improved(
    graph: TaskGraph, machine: Machine, processors: int, rounds: int = ROUNDS
) -> Assignment:
    """Return an assignment that is never worse than that of CP/MISF, simulated on the machine."""
    tasks = indexed(graph, machine)
    found = search(tasks, Delays(machine, processors), processors, rounds)
    plain = found[0]
    times = [
        (simulate(graph, assignment_of(tasks, lists), machine).makespan_us, k, lists)
        for k, (lists, _) in enumerate((plain, found[-1]))
    ]
    return assignment_of(tasks, min(times)[2])


def search(
    tasks: Indexed, delays: Delays, processors: int, rounds: int = ROUNDS
) -> list[tuple[list[list[int]], float]]:
    """Return the schedules found, each better than the one before; the first is CP/MISF's."""
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
            # Backwards, whatever ended late begins early; and forwards again likewise.
            _, there = place_by_priority(back, delays, processors, _turned(ends))
            lists, ends = place_by_priority(tasks, delays, processors, _turned(there))
        if max(ends) < found[-1][1] / _SHORTER:
            found.append((lists, max(ends)))
            top = max(ends)
            base = [top - end + tasks.times[k] for k, end in enumerate(ends)]
    return found


def reverse(tasks: Indexed) -> Indexed:
    """Return the graph with every edge turned round; numbers run backwards."""
    last = len(tasks.names) - 1

    def turned(
        edges: Sequence[tuple[tuple[int, int], ...]],
    ) -> tuple[tuple[tuple[int, int], ...], ...]:
        return tuple(tuple((last - j, words) for j, words in given) for given in edges[::-1])

    return Indexed(
        names=tasks.names[::-1],
        times=tasks.times[::-1],
        before=turned(tasks.after),
        after=turned(tasks.before),
        levels=tuple(h + t for h, t in zip(tasks.heads, tasks.times, strict=True))[::-1],
        heads=tuple(v - t for v, t in zip(tasks.levels, tasks.times, strict=True))[::-1],
    )


def _turned(ends: Sequence[float]) -> list[tuple[float, ...]]:
    """Return priorities for the reversed graph: what ended last is first."""
    return [(end,) for end in ends[::-1]]
