"""An independent checker of schedules: it knows graphs and machines, and no scheduler.

It repeats nothing of the simulators: it takes the times of a schedule as claims and looks for one
that cannot be.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError
from boolcomp.parallel.schedule.machine import Shared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Schedule, Transfer

SLACK = 1e-9  # of the makespan: sums of floats


def check_schedule(schedule: Schedule, graph: TaskGraph, machine: Machine) -> None:
    """Raise a `DataError` that names the first fault of a schedule."""
    faults = schedule_faults(schedule, graph, machine)
    if faults:
        raise DataError(f"schedule of {graph.name} is not valid: {faults[0]}")


def schedule_faults(schedule: Schedule, graph: TaskGraph, machine: Machine) -> list[str]:
    """Return everything that cannot be; nothing if the schedule is valid."""
    slack = SLACK * max(schedule.makespan_us, 1.0)
    faults = [*_tasks(schedule, graph, machine, slack)]
    if not faults:
        faults += _exclusive(schedule, slack)
        faults += _transfers(schedule, machine, slack)
        faults += _precedence(schedule, graph, slack)
    return faults


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
        took, wanted = x.end_us - x.start_us, times.get(x.task, 0.0)
        if abs(took - wanted) > slack:
            yield f"task {x.task!r} takes {took} µs instead of {wanted} µs"


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
    least = (lambda _: memory.latency) if isinstance(memory, Shared) else memory.message
    channels: dict[tuple[int, int], list[Transfer]] = defaultdict(list)
    for x in schedule.transfers:
        channels[x.source, x.target].append(x)
        if x.end_us - x.start_us < least(x.words) - slack:
            yield f"transfer {x} is too quick"
        if not isinstance(memory, Shared) and not memory.neighbours(
            x.source, x.target, schedule.processors
        ):
            yield f"transfer {x} needs a link that the {memory.topology} topology has not"
    if isinstance(memory, Shared):
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
    """Look for moments in which a processor has more transfers than links."""
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
    there: dict[tuple[str, int], tuple[float, int | None]] = {}
    for name, x in placed.items():
        there[name, x.processor] = (x.end_us, None)
        # A message can go on only from where it has arrived; so in the order of arrival.
        for y in sorted(sent[name], key=lambda y: (y.end_us, y.start_us)):
            since = there.get((name, y.source))
            if since is None or y.start_us < since[0] - slack:
                yield f"transfer {y} begins before the words are there"
            elif (name, y.target) not in there:
                there[name, y.target] = (y.end_us, y.words)
    for edge in graph.edges:
        after = placed[edge.after]
        since = there.get((edge.before, after.processor))
        if since is None:
            yield f"what {edge} sends never comes to processor {after.processor}"
        elif after.start_us < since[0] - slack:
            yield f"task {edge.after!r} begins before the words of {edge.before!r} are there"
        elif since[1] is not None and since[1] < edge.words:
            yield f"only {since[1]} words come over {edge}"
