"""A schedule as a page, and the operations of a method beside those that its paper prints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from boolcomp.base.charts import Column, Drawing, Table, Text, blank, picture
from boolcomp.base.errors import short, table
from boolcomp.base.pages import Fact, KeyFigure, Page, Section, page_text
from boolcomp.parallel.methods import registry
from boolcomp.parallel.methods.logic import WORD, boolean_tasks, network_tasks
from boolcomp.parallel.methods.registry import method_named, task_graph
from boolcomp.parallel.schedule.schedulers import lower_bounds, make_schedule
from boolcomp.parallel.schedule.simulate import gantt_svg, gantt_text
from boolcomp.problem.expressions.algebra import Operations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from boolcomp.logic.network import Network
    from boolcomp.parallel.methods.logic import ProductTable
    from boolcomp.parallel.schedule.execute import RealRun
    from boolcomp.parallel.schedule.graph import Schedule, TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.schedulers import CommunicationVector
    from boolcomp.parallel.schedule.simulate import Pipelined
    from boolcomp.problem.robot.model import Robot


# --------------------------------------------------------------------------------------------------
# All methods on one machine: time per torque vector against 1 … 1024 processors.
# --------------------------------------------------------------------------------------------------


PROCESSORS = tuple(1 << k for k in range(11))
ARITHMETIC = ("newton-euler", "customised", "zeng-19", "lagrangian", "symbolic")
ROUNDED = 1 + 1e-9
FINE = 4  # groups of product terms a processor
# Product terms, and compact logic with one sample and with a word of them.
LOGIC = {"boolean": "#c8553d", "compact": "#ee6fa5", f"compact-{WORD}": "#7c1d3f"}
COLOURS = dict(
    zip(ARITHMETIC, ("#3367b0", "#8e6bb0", "#4f9d69", "#b0833a", "#777777"), strict=True), **LOGIC
)


@dataclass(frozen=True, slots=True)
class Point:
    """One method on so many processors; `speedup` is over itself on one, without overhead."""

    method: str
    processors: int
    makespan_us: float
    sequential_us: float
    least_us: float

    @property
    def speedup(self) -> float:
        """How many times faster than the same tasks on one processor."""
        return self.sequential_us / self.makespan_us

    def document(self) -> dict[str, object]:
        """Return the point under the keys of the command's JSON."""
        return {
            "method": self.method,
            "processors": self.processors,
            "makespan_us": self.makespan_us,
            "sequential_us": self.sequential_us,
            "lower_bound_us": self.least_us,
            "speedup": self.speedup,
        }


@dataclass(frozen=True, slots=True)
class Way:
    """A method on the chart: its task graphs for so many processors, and how many samples each."""

    graphs: Callable[[int], Sequence[TaskGraph]]
    samples: int = 1


def ways(
    robot: Robot,
    tables: Sequence[ProductTable] = (),
    network: Network | None = None,
    widths: Sequence[int] = (),
) -> dict[str, Way]:
    """Return the methods by name.

    With `tables` product terms are among them, dealt out coarsely and finely (more balance, more
    messages); with a `network` that makes words of these `widths`, compact logic.
    """
    found = {name: Way(_always(task_graph(name, robot).graph)) for name in ARITHMETIC}
    if tables:
        found["boolean"] = Way(
            lambda count: [boolean_tasks(tables, groups=times * count) for times in (1, FINE)]
        )
    if network is not None:
        make = partial(network_tasks, network, widths)
        found["compact"] = Way(lambda count: [make(groups=count)])
        found[f"compact-{WORD}"] = Way(lambda count: [make(groups=count, samples=WORD)], WORD)
    return found


def _always(graph: TaskGraph) -> Callable[[int], Sequence[TaskGraph]]:
    return lambda _: [graph]


def scaling(
    methods: Mapping[str, Way],
    machine: Machine,
    processors: Sequence[int] = PROCESSORS,
    done: Callable[[str], None] = lambda _: None,
) -> tuple[Point, ...]:
    """Schedule every method's tasks by CP/MISF on each number of processors the machine can have.

    What is dealt out is dealt out anew for every number of processors. A processor that only makes
    it slower is left idle: the best of all numbers up to that one counts.
    """
    points: list[Point] = []
    for name, way in methods.items():
        best = math.inf
        alone = 0.0
        for count in processors:
            if count > machine.processors:
                break
            graphs = way.graphs(count)
            alone = alone or sum(machine.time(task.operations) for task in graphs[0].tasks)
            best = min(best, *(make_schedule(g, machine, count).makespan_us for g in graphs))
            least = min(lower_bounds(g, machine, count).best_us for g in graphs)
            if least > best * ROUNDED:  # what was dealt out to fewer was quicker
                least = best
            points.append(Point(name, count, *(us / way.samples for us in (best, alone, least))))
            done(f"{name}, {count} processors")
    return tuple(points)


def scaling_text(points: Sequence[Point]) -> str:
    """Return a table: a row a number of processors, µs and speed-up of each method."""
    methods = list(dict.fromkeys(p.method for p in points))
    by_place = {(p.method, p.processors): p for p in points}
    rows = []
    for count in dict.fromkeys(p.processors for p in points):
        row = [str(count)]
        for method in methods:
            point = by_place.get((method, count))
            row.append("-" if point is None else f"{short(point.makespan_us)} {point.speedup:.2f}×")
        rows.append(row)
    return table(("processors", *methods), rows)


def draw_scaling(points: Sequence[Point], title: str, kind: str) -> bytes:
    """Return a picture (`svg` or `png`): µs per torque vector, and speed-up, by processors."""
    return picture(lambda: _figure(points, title), kind)


def _figure(points: Sequence[Point], title: str) -> Figure:
    figure = blank(9.6, 4.2)
    axes: Any = figure.subplots(1, 2)
    for panel, what in zip(axes, ("makespan_us", "speedup"), strict=True):
        _draw(panel, points, what)
    axes[0].set(ylabel="µs per torque vector")
    axes[1].set(ylabel="speed-up over the same tasks on one")
    axes[1].legend(fontsize=7)
    figure.suptitle(title, fontsize=10)
    return figure


def _draw(panel: Any, points: Sequence[Point], what: str) -> None:
    methods = list(dict.fromkeys(p.method for p in points))
    for method in methods:
        colour = COLOURS[method]
        line = [p for p in points if p.method == method]
        counts = [p.processors for p in line]
        panel.plot(counts, [getattr(p, what) for p in line], "o-", color=colour, label=method)
        if what == "makespan_us":
            panel.plot(counts, [p.least_us for p in line], ":", color=colour, linewidth=0.8)
    if what == "speedup":
        counts = sorted({p.processors for p in points})
        panel.plot(counts, counts, ":", color="grey", label="proportional")
    panel.set(xscale="log", yscale="log", xlabel="processors")
    panel.grid(visible=True, which="major", alpha=0.3)


# --------------------------------------------------------------------------------------------------
# A schedule as a page, and the operations of a method beside those that its paper prints.
# --------------------------------------------------------------------------------------------------


def printed_counts(method: str) -> tuple[registry.Count, ...]:
    """Return the rows of the method's paper beside ours; none where the paper has no table."""
    if method == "newton-euler":
        return registry.newton_euler()
    if method == "semi-customised":
        return registry.semi_customised(dense=True) + registry.semi_customised(dense=False)
    if method.startswith("lagrangian"):
        return registry.recursive_lagrangian()
    return ()


def operations_text(method: str, graph: TaskGraph, machine: Machine) -> str:
    """Return the paper's table beside ours, then what every equation takes in this graph."""
    rows = printed_counts(method)
    parts = [registry.report(rows)] if rows else []
    parts.append(_by_equation(graph, machine))
    return "\n".join(parts)


def _by_equation(graph: TaskGraph, machine: Machine) -> str:
    """Return operations and time by equation: what tasks of one name but for the link have."""
    groups: dict[str, list[Operations]] = {}
    for task in graph.tasks:
        groups.setdefault(task.name.split("/")[0].rstrip("0123456789"), []).append(task.operations)
    if len(groups) == 1 or "" in groups:  # tasks that are numbers have no equations
        groups = {"all tasks": [task.operations for task in graph.tasks]}
    header = ("equation", "tasks", "mul", "add", "div", "root", "function", "µs")
    lines = [_row(name, found, machine) for name, found in groups.items()]
    if len(groups) > 1:
        lines.append(_row("all", [task.operations for task in graph.tasks], machine))
    return table(header, lines, left=(0,))


def _row(name: str, found: Sequence[Operations], machine: Machine) -> list[str]:
    total = sum(found, Operations())
    parts = (
        total.multiplications, total.additions, total.divisions, total.roots, total.functions
    )  # fmt: skip
    return [name, str(len(found)), *map(str, parts), short(machine.time(total), 5)]


def schedule_text(schedule: Schedule, graph: TaskGraph, machine: Machine, method: str) -> str:
    """Return a schedule for the terminal: operations, Gantt chart, figures, what bounds them."""
    sent = sum(transfer.words for transfer in schedule.transfers)
    times = (
        f"{short(schedule.makespan_us, 5)} µs on {schedule.processors}, one processor "
        f"{short(schedule.sequential_us, 5)} µs: speed-up {schedule.speedup:.2f}; "
        f"utilisation {_used(schedule)}; {sent} words sent"
    )
    lines = (
        f"{method}: {method_named(method)}",
        operations_text(method, graph, machine),
        gantt_text(schedule),
        times,
        f"any schedule: {lower_bounds(graph, machine, schedule.processors)}",
    )
    return "\n".join(lines)


def vectors_text(vectors: Sequence[CommunicationVector]) -> str:
    """Return what the processors send each other, a line a vector."""
    head = "to be sent, each value once:" if vectors else "nothing to be sent"
    return "\n".join([head, *(f"  {vector}" for vector in vectors)])


def schedule_document(
    schedule: Schedule,
    graph: TaskGraph,
    machine: Machine,
    vectors: Sequence[CommunicationVector],
    pipeline: Pipelined | None = None,
    done: RealRun | None = None,
) -> dict[str, Any]:
    """Return a schedule under the keys of the command's JSON."""
    bounds = lower_bounds(graph, machine, schedule.processors)
    document: dict[str, Any] = {
        "graph": schedule.graph,
        "machine": schedule.machine,
        "scheduler": schedule.scheduler,
        "processors": schedule.processors,
        "makespan_us": schedule.makespan_us,
        "sequential_us": schedule.sequential_us,
        "speedup": schedule.speedup,
        "utilisation": list(schedule.utilisation),
        "critical_path_us": schedule.critical_path_us,
        "lower_bound_us": bounds.best_us,
        "tasks": [
            {
                "task": x.task, "processor": x.processor, "start_us": x.start_us,
                "end_us": x.end_us,
            }
            for x in schedule.placements
        ],
        "communication": [
            {"source": v.source, "target": v.target, "words": v.words, "tasks": list(v.tasks)}
            for v in vectors
        ],
    }  # fmt: skip
    if pipeline is not None:
        document["pipeline"] = {
            "points": pipeline.points, "text": str(pipeline), "makespan_us": pipeline.makespan_us
        }  # fmt: skip
    if done is not None:
        document["run"] = {**done.document(), "simulated_speedup": schedule.speedup}
    return document


def schedule_page(schedule: Schedule, method: str) -> str:
    """Return one HTML page that needs nothing else: Gantt chart, figures, every task."""
    rows = [(x.task, f"P{x.processor}", x.start_us, x.end_us) for x in schedule.placements]
    columns = (
        Column("task", "an equation of the method, and the link that it is of"),
        Column("processor", "which processor calculates it"),
        Column("start µs", "when it begins", ".2f", "start_us"),
        Column("end µs", "when its result is there", ".2f", "end_us"),
    )
    title = f"{schedule.graph} on {schedule.processors} × {schedule.machine}"
    page = Page(
        title,
        asked=(
            Fact("method", str(method_named(method))),
            Fact("scheduler", schedule.scheduler),
            Fact("machine", f"{schedule.processors} × {schedule.machine}"),
        ),
        found=(
            KeyFigure(f"{short(schedule.makespan_us, 5)} µs", "for one vector of torques"),
            KeyFigure(f"{short(schedule.sequential_us, 5)} µs", "on one processor"),
            KeyFigure(f"{schedule.speedup:.2f}", "speed-up"),
            KeyFigure(
                f"{short(schedule.critical_path_us, 5)} µs", "critical path", "none is shorter"
            ),
        ),
        meaning=(Text(f"Utilisation: {_used(schedule)}."),),
        sections=(
            Section("Who calculates what when", (Drawing(gantt_svg(schedule), title),)),
            Section("Tasks", (Table(columns, rows),)),
        ),
    )
    return page_text(page)


def _used(schedule: Schedule) -> str:
    """Return how busy every processor is."""
    return ", ".join(f"P{k} {share:.2f}" for k, share in enumerate(schedule.utilisation))
