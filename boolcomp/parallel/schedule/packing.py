"""First-fit and best-fit decreasing on a priority list: jobs into processors as into bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from boolcomp.parallel.schedule.indexed import indexed
from boolcomp.parallel.schedule.listing import assignment_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Assignment

Rule = Literal["first", "best"]
_HALVINGS = 40  # of the capacity's interval: to the last bits of a float


def pack(
    weights: Mapping[str, float], groups: Sequence[Sequence[str]], capacity: float, rule: Rule
) -> list[list[str]]:
    """Put groups of jobs into as few bins of one capacity as the rule finds.

    A group stays together if a bin can hold it at all; one that is too heavy is dealt out job by
    job, first fit, as Zalzala & Morris do with the first element of their list (46).
    """
    bins: list[list[str]] = []
    for group in groups:
        whole = sum(weights[job] for job in group) <= capacity
        for jobs in [list(group)] if whole else [[job] for job in group]:
            _put(bins, jobs, weights, capacity, rule if whole else "first")
    return bins


def _put(
    bins: list[list[str]],
    jobs: list[str],
    weights: Mapping[str, float],
    capacity: float,
    rule: Rule,
) -> None:
    weight = sum(weights[job] for job in jobs)
    room = [capacity - sum(weights[job] for job in held) for held in bins]
    fitting = [k for k, left in enumerate(room) if weight <= left]
    if not fitting:
        bins.append(jobs)
    elif rule == "first":
        bins[fitting[0]] += jobs
    else:
        bins[min(fitting, key=lambda k: (room[k], k))] += jobs


def fit_decreasing(graph: TaskGraph, machine: Machine, processors: int, rule: Rule) -> Assignment:
    """Return an assignment of equal loads: the least capacity for which the rule needs no more.

    Precedence plays no part in who does what; each processor does the most urgent task first.
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
    # A task's level is at least its successors': ties are the order of the graph.
    lists = [sorted(held, key=lambda k: (-tasks.levels[k], k)) for held in best]
    lists += [[] for _ in range(processors - len(lists))]
    return assignment_of(tasks, lists)


def _bins(
    times: Sequence[float], order: Sequence[int], capacity: float, processors: int, rule: Rule
) -> list[list[int]] | None:
    """Pack into so many bins, or return None where they do not do."""
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
