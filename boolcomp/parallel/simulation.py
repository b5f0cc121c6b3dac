"""Event simulation of an assignment on a machine, segments of programs, and Gantt charts.

Every processor does its list in order; a task begins when its operands have arrived. A result is
sent once to every processor with successors, as soon as it is calculated. The length of a message
is the maximum of the words that a task there needs. Messages are served in the order of requests.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Literal

from boolcomp.base.errors import DataError, short
from boolcomp.base.results import ResultColumn
from boolcomp.parallel.machine import SharedMemory
from boolcomp.parallel.taskgraph import (
    IndexedTasks,
    Placement,
    Schedule,
    Transfer,
    indexed,
    sorted_placements,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from boolcomp.parallel.machine import Machine
    from boolcomp.parallel.taskgraph import Assignment, TaskGraph
    from boolcomp.problem.tape import Straight


_DONE, _HOP, _TRY = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Pipelined:
    """An assignment repeated for the points of a trajectory, each as early as possible."""

    points: int
    makespan_us: float
    sequential_us: float
    first_us: float

    @property
    def interval_us(self) -> float:
        return (self.makespan_us - self.first_us) / (self.points - 1) if self.points > 1 else 0.0

    @property
    def speedup(self) -> float:
        return self.sequential_us / self.makespan_us if self.makespan_us else 1.0

    def __str__(self) -> str:
        return (
            f"{self.points} points in {self.makespan_us:.2f} µs, one every {self.interval_us:.2f} "
            f"µs, speed-up {self.speedup:.3f}"
        )


def simulate(
    graph: TaskGraph, assignment: Assignment, machine: Machine, scheduler: str = "assigned"
) -> Schedule:
    """Run an assignment once; `DataError` if its lists are a deadlock."""
    tasks = indexed(graph, machine)
    assignment.check(graph)
    machine.check_processors(assignment.processors)
    run = _Simulation(tasks, assignment, machine, 1)
    run.go()
    return Schedule(
        graph.name, machine.name, scheduler, assignment.processors,
        sorted_placements(run.placements), tuple(run.transfers), max(run.free, default=0.0),
        tasks.sequential, tasks.critical_path,
    )  # fmt: skip


def pipelined(graph: TaskGraph, assignment: Assignment, machine: Machine, points: int) -> Pipelined:
    """Run an assignment for a number of points: a processor repeats its list for each."""
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
        self, tasks: IndexedTasks, assignment: Assignment, machine: Machine, points: int
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
        self.sends = [self._sends(k) for k in range(len(tasks.names))]
        self.next = [0] * self.processors
        self.running = [False] * self.processors
        self.free = [0.0] * self.processors
        self.missing = [len(given) for given in tasks.before] * points
        self.ends = [0.0] * (len(tasks.names) * points)
        self.events: list[tuple[float, int, int, int, int, tuple[int, ...]]] = []
        self.count = 0
        self.channels: dict[tuple[int, int], float] = defaultdict(float)
        ports = machine.memory.count if not isinstance(machine.memory, SharedMemory) else 0
        self.out = [[0.0] * ports for _ in range(self.processors)]
        self.into = [[0.0] * ports for _ in range(self.processors)]
        self.placements: list[Placement] = []
        self.transfers: list[Transfer] = []

    def _sends(self, k: int) -> list[tuple[int, int]]:
        sent: dict[int, int] = {}
        for after, words in self.tasks.after[k]:
            target = self.place[after]
            if target != self.place[k]:
                sent[target] = max(words, sent.get(target, 0))
        return sorted(sent.items())

    def push(self, time: float, kind: int, here: int, instance: int, rest: tuple[int, ...]) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, kind, here, instance, rest))

    def go(self) -> None:
        for processor in range(self.processors):
            self.attempt(processor, 0.0)
        while self.events:
            time, _, kind, here, instance, rest = heapq.heappop(self.events)
            if kind == _DONE:
                self.done(here, instance, time)
            elif kind == _HOP:
                self.hop(here, instance, time, rest)
            self.attempt(here, time)
        for processor, numbers in enumerate(self.lists):
            if self.next[processor] < len(numbers) * self.points:
                task = numbers[self.next[processor] % len(numbers)]
                raise DataError(
                    f"processor P{processor} can never begin task {self.tasks.names[task]!r}: the "
                    "lists of the processors have tasks before their predecessors"
                )

    def attempt(self, processor: int, time: float) -> None:
        """Begin the next task of a list if its operands have arrived."""
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

    def done(self, here: int, instance: int, time: float) -> None:
        """Send the results of a task that has ended."""
        self.running[here] = False
        self.ends[instance] = self.free[here] = time
        task = instance % len(self.tasks.names)
        memory = self.machine.memory
        if isinstance(memory, SharedMemory):
            locks = sum(memory.own or self.place[j] != here for j, _ in self.tasks.after[task])
            words = max((words for _, words in self.sends[task]), default=0)
            self.free[here] = time + locks * memory.lock + words * memory.word
        self.arrive(here, instance)
        for target, words in self.sends[task]:
            if isinstance(memory, SharedMemory):
                end = self.free[here] + memory.latency
                self._note(instance, here, target, words, self.free[here], end)
                self.push(end, _HOP, target, instance, (words,))
            else:
                path = memory.path(here, target, self.processors)
                self.hop(here, instance, time, (words, *path[1:]))

    def hop(self, here: int, instance: int, time: float, rest: tuple[int, ...]) -> None:
        """Receive a message on a processor, or forward it along its path."""
        words, *path = rest
        memory = self.machine.memory
        if not path:
            self.arrive(here, instance)
            return
        assert not isinstance(memory, SharedMemory)  # noqa: S101  # without paths
        target = path[0]
        out, into = self.out[here], self.into[target]
        one, other = out.index(min(out)), into.index(min(into))
        start = max(time, self.channels[here, target], out[one], into[other])
        sender = here == self.place[instance % len(self.tasks.names)]
        if not memory.overlap and sender:
            start = max(start, self.free[here])
        end = start + memory.message(words)
        self.channels[here, target] = out[one] = into[other] = end
        if not memory.overlap and sender:
            self.free[here] = end
        self._note(instance, here, target, words, start, end)
        self.push(end, _HOP, target, instance, (words, *path[1:]))

    def _note(self, instance: int, here: int, target: int, words: int, *times: float) -> None:
        if self.points == 1:
            name = self.tasks.names[instance]
            self.transfers.append(Transfer(name, here, target, words, *times))

    def arrive(self, here: int, instance: int) -> None:
        """Lower the counters of a value's successors on a processor."""
        point, task = divmod(instance, len(self.tasks.names))
        for after, _ in self.tasks.after[task]:
            if self.place[after] == here:
                self.missing[after + point * len(self.tasks.names)] -= 1


# --------------------------------------------------------------------------------------------------
# Segments of a program along an assignment: the calculations of a processor between exchanges.
#
# A value sent from one processor to another ends a stage; a processor's segment of stage s reads
# values of earlier stages only. Blocks of samples pass through the stages in sequence, so that all
# processors work at the same time without waiting for exchanges.
# --------------------------------------------------------------------------------------------------

Value = tuple[int, int]  # a node, and the processor that calculates it


@dataclass(frozen=True, slots=True)
class Segment:
    """Nodes that one processor calculates in one stage, in their order.

    `reads` are values of earlier segments, `writes` nodes that later segments or other processors
    read, `outputs` the numbers of the outputs calculated here. `suppliers` are the (processor,
    stage) pairs that must be done before.
    """

    processor: int
    stage: int
    nodes: tuple[int, ...]
    reads: tuple[Value, ...]
    writes: tuple[int, ...]
    outputs: tuple[int, ...]
    suppliers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class StagedProgram:
    """All segments, and the slot of every exchanged value in a block's frame."""

    processors: int
    stages: int
    segments: tuple[Segment, ...]
    slots: tuple[tuple[Value, int], ...]

    @property
    def exchanged(self) -> int:
        """The number of values per sample sent from one processor to another."""
        given = {(v, x.processor) for x in self.segments for v in x.reads if v[1] != x.processor}
        return len(given)

    def of(self, processor: int) -> tuple[Segment, ...]:
        return tuple(x for x in self.segments if x.processor == processor)

    def __str__(self) -> str:
        parts = ", ".join(
            f"P{p} {sum(len(x.nodes) for x in self.of(p))} nodes in {len(self.of(p))} segments"
            for p in range(self.processors)
        )
        return f"{self.stages} stages, {self.exchanged} values exchanged; {parts}"


def stage(straight: Straight, task_of_node: Sequence[str], assignment: Assignment) -> StagedProgram:
    """Cut a program into segments along an assignment of its tasks.

    A task may be on several processors: each calculates the values it needs, and the first one
    sends them to other processors. A value is calculated only where it is used and, if it stays on
    its processor, in the stage that uses it, which keeps few values alive.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for processor, names in enumerate(assignment.lists):
        for name in names:
            places[name].append(processor)
    missing = sorted({task for task in task_of_node if task and task not in places})
    if missing:
        raise DataError(f"task {missing[0]!r} of the program is on no processor")
    maker = _Cutter(straight, [places.get(task, [0]) for task in task_of_node])
    return maker.staged(assignment.processors)


class _Cutter:
    """The processors and stages of all nodes."""

    def __init__(self, straight: Straight, places: Sequence[Sequence[int]]) -> None:
        self.straight = straight
        self.places = places
        self.needed: set[Value] = set()
        self.exported: set[Value] = set()
        self.users: dict[Value, list[Value]] = defaultdict(list)
        self.stages: dict[Value, int] = {}
        self._need()
        self._level()
        self._sink()

    def operands(self, value: Value) -> list[Value]:
        """Return the operands of a value, on its processor if they are there."""
        node, here = value
        nodes = self.straight.nodes
        return [
            (j, here if here in self.places[j] else self.places[j][0])
            for j in nodes[node].operands
            if not nodes[j].free
        ]

    def _need(self) -> None:
        nodes = self.straight.nodes
        ends = (x.node for x in self.straight.outputs)
        waiting = [(k, self.places[k][0]) for k in ends if not nodes[k].free]
        while waiting:
            value = waiting.pop()
            if value in self.needed:
                continue
            self.needed.add(value)
            for operand in self.operands(value):
                self.users[operand].append(value)
                if operand[1] != value[1]:
                    self.exported.add(operand)
                waiting.append(operand)

    def _level(self) -> None:
        for value in sorted(self.needed):
            before = ((self.stages[x] + (x[1] != value[1])) for x in self.operands(value))
            self.stages[value] = max(before, default=0)

    def _sink(self) -> None:
        """Delay values that only their own processor uses."""
        for value in sorted(self.needed, reverse=True):
            if value not in self.exported and self.users[value]:
                self.stages[value] = min(self.stages[user] for user in self.users[value])

    def staged(self, processors: int) -> StagedProgram:
        """Return the segments."""
        held: dict[tuple[int, int], list[int]] = defaultdict(list)
        for node, processor in sorted(self.needed):
            held[self.stages[node, processor], processor].append(node)
        outputs: dict[tuple[int, int], list[int]] = defaultdict(list)
        for i, output in enumerate(self.straight.outputs):
            value = (output.node, self.places[output.node][0])
            # The first processor writes outputs that are inputs or constants.
            free = self.straight.nodes[output.node].free
            outputs[(0, 0) if free else (self.stages[value], value[1])].append(i)
        for key in outputs:
            held[key] += []
        reads = {key: self._reads(key, members) for key, members in held.items()}
        read_later = {value for found in reads.values() for value in found}
        segments = [
            Segment(
                processor=key[1],
                stage=key[0],
                nodes=tuple(held[key]),
                reads=tuple(reads[key]),
                writes=tuple(k for k in held[key] if (k, key[1]) in read_later),
                outputs=tuple(outputs.get(key, ())),
                suppliers=tuple(sorted({(p, self.stages[k, p]) for k, p in reads[key]})),
            )
            for key in sorted(held)
        ]
        stages = 1 + max((x.stage for x in segments), default=0)
        slots = tuple((value, slot) for slot, value in enumerate(sorted(read_later)))
        return StagedProgram(processors, stages, tuple(segments), slots)

    def _reads(self, key: tuple[int, int], members: Sequence[int]) -> list[Value]:
        found = {x for node in members for x in self.operands((node, key[1]))}
        return sorted(x for x in found if (self.stages[x], x[1]) != key)


# --------------------------------------------------------------------------------------------------
# Gantt charts as SVG and as text.
# --------------------------------------------------------------------------------------------------

_LEFT, _TOP, _LANE, _BAR, _FOOT = 48, 40, 34, 22, 46
_CHARACTER = 6.2  # the width of one at 10 px
_COLOURS = ("#9ecae1", "#a1d99b", "#fdd0a2", "#dadaeb", "#fbb4b9", "#d9d9d9", "#ffeda0", "#b3e2cd")
_STYLE = (
    "text{font-family:ui-sans-serif,system-ui,sans-serif;font-size:10px;fill:#222}"
    ".title{font-size:12px;font-weight:600}.axis{stroke:#999}.grid{stroke:#e4e4e4}"
    ".lane{fill:#f7f7f7}.task{stroke:#555;stroke-width:.5}"
    ".send{stroke:#c33;stroke-width:.8;fill:none;opacity:.55}"
)


def gantt_svg(schedule: Schedule, width: int = 960) -> str:
    """Return the chart as an SVG document with tooltips for tasks and messages."""
    height = _TOP + _LANE * schedule.processors + _FOOT
    title = (
        f"{schedule.graph} on {schedule.processors} × {schedule.machine} by {schedule.scheduler}: "
        f"{short(schedule.makespan_us)} µs, speed-up {short(schedule.speedup, 3)}"
    )
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(title)}">'
    )
    lines = [
        opening,
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="{_LEFT}" y="20">{escape(title)}</text>',
        *_svg_lines(schedule, width),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg_lines(schedule: Schedule, width: int) -> Iterator[str]:
    span = schedule.makespan_us or 1.0
    scale = (width - _LEFT - 16) / span
    bottom = _TOP + _LANE * schedule.processors

    def x(time: float) -> float:
        return _LEFT + time * scale

    for lane in range(schedule.processors):
        top = _TOP + _LANE * lane
        used = f"{schedule.utilisation[lane]:.0%}"
        yield (
            f'<rect class="lane" x="{_LEFT}" y="{top}" width="{span * scale:.2f}" '
            f'height="{_LANE - 4}"/>'
        )
        yield f'<text x="4" y="{top + 13}">P{lane}</text>'
        yield f'<text x="4" y="{top + 25}" fill="#777">{used}</text>'
    for tick in ticks(span):
        yield (
            f'<line class="grid" x1="{x(tick):.2f}" y1="{_TOP - 4}" x2="{x(tick):.2f}" '
            f'y2="{bottom + 4}"/>'
        )
        yield f'<text x="{x(tick):.2f}" y="{bottom + 17}" text-anchor="middle">{short(tick)}</text>'
    yield f'<line class="axis" x1="{_LEFT}" y1="{bottom}" x2="{x(span):.2f}" y2="{bottom}"/>'
    yield f'<text x="{_LEFT}" y="{bottom + 34}">time in µs</text>'
    for placement in schedule.placements:
        yield from _svg_task(placement, x(placement.start_us), x(placement.end_us))
    for transfer in schedule.transfers:
        ends = (transfer.source, transfer.target)
        y1, y2 = (_TOP + _LANE * lane + 4 + _BAR / 2 for lane in ends)
        yield (
            f'<path class="send" d="M{x(transfer.start_us):.2f} {y1:.1f} '
            f'L{x(transfer.end_us):.2f} {y2:.1f}"><title>{escape(str(transfer))} µs</title></path>'
        )


def _svg_task(placement: Placement, left: float, right: float) -> Iterator[str]:
    top = _TOP + _LANE * placement.processor + 4
    colour = _COLOURS[_kind(placement.task)]
    yield (
        f'<rect class="task" x="{left:.2f}" y="{top}" width="{max(right - left, 0.3):.2f}" '
        f'height="{_BAR}" fill="{colour}"><title>{escape(str(placement))} µs</title></rect>'
    )
    if right - left > _CHARACTER * len(placement.task) + 4:
        yield (
            f'<text x="{(left + right) / 2:.2f}" y="{top + 15}" text-anchor="middle">'
            f"{escape(placement.task)}</text>"
        )


def _kind(task: str) -> int:
    """Return the number of a colour, equal for tasks whose names differ in digits only."""
    letters = "".join(c for c in task.partition("/")[0] if not c.isdigit()) or task
    return sum(ord(c) * (k + 1) for k, c in enumerate(letters)) % len(_COLOURS)


def ticks(span: float, limit: int = 10) -> list[float]:
    """Return round times from 0 to the span, in steps of 1, 2 or 5 times a power of ten."""
    exponent = -9
    while True:
        for digit in (1, 2, 5):
            step = digit * 10.0**exponent
            if span / step <= limit:
                return [float(short(k * step, 12)) for k in range(int(span / step + 1e-9) + 1)]
        exponent += 1


def gantt_text(schedule: Schedule, width: int = 100) -> str:
    """Return the chart as text: `[name==]` is a task, `.` idle; a `>` below marks a message."""
    span = schedule.makespan_us or 1.0
    label = len(f"P{schedule.processors - 1} ")
    cells = max(width - label - 5, 10)
    lines = [
        f"{schedule.graph} on {schedule.processors} × {schedule.machine} by {schedule.scheduler}"
    ]

    def cell(time: float) -> int:
        return min(round(time / span * cells), cells)

    for processor in range(schedule.processors):
        lane = ["."] * cells
        sent = [" "] * cells
        for placement in schedule.placements:
            if placement.processor == processor:
                start, end = cell(placement.start_us), cell(placement.end_us)
                lane[start:end] = _bar(placement.task, end - start)
        for transfer in schedule.transfers:
            if transfer.source == processor:
                sent[min(cell(transfer.start_us), cells - 1)] = ">"
        share = f"{schedule.utilisation[processor]:4.0%}"
        lines.append(f"P{processor} ".ljust(label) + "".join(lane) + f" {share}")
        if ">" in sent:
            lines.append((" " * label + "".join(sent)).rstrip())
    axis = [" "] * (cells + 12)
    for tick in ticks(span, 6):
        text = f"|{short(tick)}"
        axis[cell(tick) : cell(tick) + len(text)] = text
    lines.append((" " * label + "".join(axis)).rstrip()[:width])
    lines.append(
        f"{short(schedule.makespan_us)} µs, speed-up {short(schedule.speedup, 4)}, "
        f"a column is {short(span / cells, 3)} µs"
    )
    return "\n".join(lines)


def _bar(name: str, cells: int) -> list[str]:
    if cells < 2:
        return list("#" * cells)
    inside = name[: cells - 2] if len(name) <= cells - 2 else ""
    return list("[" + inside.ljust(cells - 2, "=") + "]")


# --------------------------------------------------------------------------------------------------
# Figures of papers compared with reproduced ones.
# --------------------------------------------------------------------------------------------------

_COARSE = 0.01  # of a modelled time


@dataclass(frozen=True, slots=True)
class Finding:
    """A figure of a paper, at a `place`: a table, a figure, an equation or a section.

    `count` figures follow from counts and should agree to the printed digit. `model` figures were
    measured on a historical machine; ours come from a model of it with few parameters. `note`
    explains differences. Figures of ours that are not in print have `printed` empty.
    """

    figure: str
    printed: str
    ours: float
    kind: Literal["count", "model"]
    note: str = ""
    place: str = ""

    @property
    def value(self) -> float:
        return float(self.printed) if self.printed else self.ours

    @property
    def residual(self) -> float:
        return self.ours / self.value - 1 if self.value else self.ours

    @property
    def holds(self) -> bool:
        """Whether ours agrees to the last printed digit, in either direction of rounding.

        A modelled time also has to agree to one per cent: `2 ms` is a coarse digit.
        """
        digits = len(self.printed.partition(".")[2])
        near = abs(self.ours - self.value) <= 0.5 * 10.0**-digits * (1 + 1e-9) + 1e-12
        return near and (self.kind == "count" or abs(self.residual) < _COARSE)

    @property
    def verdict(self) -> str:
        """Whether it agrees, or the difference; `ours` without a printed figure."""
        if not self.printed:
            return "ours"
        return "agrees" if self.holds else f"{self.residual:+.1%}"


def at(place: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with their place in the paper."""
    return [replace(one, place=place) for one in findings]


FINDINGS = (
    ResultColumn("place", "place", left=True),
    ResultColumn("figure", "figure", left=True),
    ResultColumn("printed", "", lambda x: x.value if x.printed else None),
    ResultColumn("", "printed", "printed"),
    ResultColumn("ours", "ours", text=lambda value: short(value, 5)),
    ResultColumn("kind"),
    ResultColumn("", " ", "verdict"),
    ResultColumn("", "kind", "kind", left=True),
    ResultColumn("holds"),
    ResultColumn("residual"),
    ResultColumn("note", "note", left=True),
)
