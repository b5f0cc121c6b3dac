"""Schedules as pages and texts, operation counts, and the scaling of methods with processors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import short, table
from boolcomp.base.pages import (
    ChartAxis,
    Drawing,
    Fact,
    KeyFigure,
    Page,
    PageSection,
    Text,
    lines,
    page_text,
    picture,
)
from boolcomp.base.results import ResultColumn, Results, pivoted
from boolcomp.parallel import registry
from boolcomp.parallel.registry import WORD, boolean_tasks, method_named, network_tasks, task_graph
from boolcomp.parallel.schedulers import lower_bounds, make_schedule
from boolcomp.parallel.simulation import gantt_svg, gantt_text
from boolcomp.problem.algebra import Operations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boolcomp.base.pages import ChartRow
    from boolcomp.logic.network import Network
    from boolcomp.parallel.execute import RealRun
    from boolcomp.parallel.machine import Machine
    from boolcomp.parallel.registry import ProductTable
    from boolcomp.parallel.schedulers import CommunicationVector
    from boolcomp.parallel.simulation import Pipelined
    from boolcomp.parallel.taskgraph import Schedule, TaskGraph
    from boolcomp.problem.robot.model import Robot


# --------------------------------------------------------------------------------------------------
# All methods on one machine: time per torque vector on 1 … 1024 processors.
# --------------------------------------------------------------------------------------------------

PROCESSORS = tuple(1 << k for k in range(11))
ARITHMETIC = ("newton-euler", "customised", "zeng-19", "lagrangian", "symbolic")
ROUNDED = 1 + 1e-9
PROPORTIONAL = "proportional"


@dataclass(frozen=True, slots=True)
class Point:
    """A method on a number of processors; `speedup` is relative to one, without overhead."""

    method: str
    processors: int
    makespan_us: float
    sequential_us: float
    least_us: float

    @property
    def speedup(self) -> float:
        return self.sequential_us / self.makespan_us


POINTS = (
    *map(ResultColumn, ("method", "processors", "makespan_us", "sequential_us")),
    ResultColumn("lower_bound_us", "", "least_us"),
    ResultColumn("speedup"),
)


@dataclass(frozen=True, slots=True)
class Way:
    """A method on the chart: its task graph for a number of processors, and samples per run."""

    graph: Callable[[int], TaskGraph]
    samples: int = 1


def ways(
    robot: Robot,
    tables: Sequence[ProductTable] = (),
    network: Network | None = None,
    widths: Sequence[int] = (),
) -> dict[str, Way]:
    """Return the methods by name.

    `tables` add product terms. A `network` with output words of `widths` adds compact logic.
    """
    found = {name: Way(_always(task_graph(name, robot).graph)) for name in ARITHMETIC}
    if tables:
        found["boolean"] = Way(lambda count: boolean_tasks(tables, groups=count))
    if network is not None:
        make = partial(network_tasks, network, widths)
        found["compact"] = Way(lambda count: make(groups=count))
        found[f"compact-{WORD}"] = Way(lambda count: make(groups=count, samples=WORD), WORD)
    return found


def _always(graph: TaskGraph) -> Callable[[int], TaskGraph]:
    return lambda _: graph


def scaling(
    methods: Mapping[str, Way],
    machine: Machine,
    processors: Sequence[int] = PROCESSORS,
    done: Callable[[str], None] = lambda _: None,
) -> tuple[Point, ...]:
    """Schedule every method's tasks by CP/MISF on each number of processors of the machine.

    Groups are distributed anew for every number of processors. Processors that make a schedule
    slower stay idle: the result is the best one with at most that number.
    """
    points: list[Point] = []
    for name, way in methods.items():
        best = math.inf
        alone = 0.0
        for count in processors:
            if count > machine.processors:
                break
            graph = way.graph(count)
            alone = alone or sum(machine.time(task.operations) for task in graph.tasks)
            best = min(best, make_schedule(graph, machine, count).makespan_us)
            least = lower_bounds(graph, machine, count).best_us
            if least > best * ROUNDED:  # the distribution to fewer processors was faster
                least = best
            points.append(Point(name, count, *(us / way.samples for us in (best, alone, least))))
            done(f"{name}, {count} processors")
    return tuple(points)


SHORT = (1, 2, 4, 8, 16, 64, 1024)  # processors of the text table


def scaling_text(points: Sequence[Point]) -> str:
    """Return a table of µs of each method by number of processors."""
    columns = [ResultColumn("name", "µs on processors", left=True)]
    known = {str(p.processors) for p in points}
    columns += [ResultColumn("", k, k, _microseconds) for k in map(str, SHORT) if k in known]
    rows = pivoted(points, lambda p: p.method, lambda p: p.processors)
    return Results(columns, rows, "-").text()


def _microseconds(point: Point) -> str:
    return short(point.makespan_us, 4 if point.makespan_us < 1e4 else 6)


def draw_scaling(points: Sequence[Point], title: str, kind: str) -> bytes:
    """Return a picture (`svg` or `png`): µs per torque vector, and speed-up, by processors."""
    methods = ChartAxis("method", "", names=True, levels=(PROPORTIONAL,))
    kinds = ChartAxis("kind", "", names=True)
    at = ChartAxis("processors", "processors", log=True, values=PROCESSORS)
    times: list[ChartRow] = [
        {"method": p.method, "processors": p.processors, "us": us, "kind": name}
        for p in points
        for name, us in (("scheduled", p.makespan_us), ("lower bound", p.least_us))
    ]
    speedups: list[ChartRow] = [
        {"method": name, "processors": count, "speedup": speedup, "kind": kind}
        for name, count, speedup, kind in (
            *((p.method, p.processors, p.speedup, "scheduled") for p in points),
            *((PROPORTIONAL, n, n, PROPORTIONAL) for n in sorted({p.processors for p in points})),
        )
    ]
    charts = (
        lines(
            times, at, ChartAxis("us", "µs per torque vector", log=True), colour_by=methods,
            dash_by=kinds, title="Time",
        ),
        lines(
            speedups, at, ChartAxis("speedup", "speed-up over the same tasks on one", log=True),
            colour_by=methods, dash_by=kinds, title="Speed-up",
        ),
    )  # fmt: skip
    return picture(charts, kind, title)


# --------------------------------------------------------------------------------------------------
# A schedule as a page, and operations compared with those of the paper.
# --------------------------------------------------------------------------------------------------


def printed_counts(method: str) -> tuple[registry.Count, ...]:
    """Return counts compared with the table of the method's paper, if there is one."""
    if method == "newton-euler":
        return registry.newton_euler()
    if method == "semi-customised":
        return registry.semi_customised(dense=True) + registry.semi_customised(dense=False)
    if method.startswith("lagrangian"):
        return registry.recursive_lagrangian()
    return ()


def operations_text(method: str, graph: TaskGraph, machine: Machine) -> str:
    """Return the counts of `printed_counts`, then operations and time by equation."""
    rows = printed_counts(method)
    parts = [registry.report(rows)] if rows else []
    parts.append(_by_equation(graph, machine))
    return "\n".join(parts)


def _by_equation(graph: TaskGraph, machine: Machine) -> str:
    """Return operations and time by equation (tasks whose names differ in the link only)."""
    groups: dict[str, list[Operations]] = {}
    for task in graph.tasks:
        groups.setdefault(task.name.split("/")[0].rstrip("0123456789"), []).append(task.operations)
    if len(groups) == 1 or "" in groups:  # numbered tasks have no equations
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


def schedule_text(
    schedule: Schedule, graph: TaskGraph, machine: Machine, method: str, *, brief: bool = False
) -> str:
    """Return a schedule as text: operations, Gantt chart, figures and lower bounds."""
    sent = sum(transfer.words for transfer in schedule.transfers)
    times = (
        f"{short(schedule.makespan_us, 5)} µs on {schedule.processors}, one processor "
        f"{short(schedule.sequential_us, 5)} µs: speed-up {schedule.speedup:.2f}; "
        f"utilisation {_used(schedule)}; {sent} words sent"
    )
    lines = (
        f"{method}: {method_named(method)}",
        _by_equation(graph, machine) if brief else operations_text(method, graph, machine),
        gantt_text(schedule, 80 if brief else 100),
        times,
        f"any schedule: {lower_bounds(graph, machine, schedule.processors)}",
    )
    return "\n".join(lines)


def vectors_text(vectors: Sequence[CommunicationVector]) -> str:
    """Return the communication between processors, one line per vector."""
    head = "communication, each value once:" if vectors else "no communication"
    return "\n".join([head, *(f"  {vector}" for vector in vectors)])


TASKS = (
    ResultColumn("task"),
    ResultColumn("", "task", "task", meaning="an equation of the method, and its link"),
    ResultColumn("processor"),
    ResultColumn("", "processor", lambda x: f"P{x.processor}",
                 meaning="the processor that calculates it"),
    ResultColumn("start_us", "start µs", text=".2f", meaning="when it begins"),
    ResultColumn("end_us", "end µs", text=".2f", meaning="when its result is available"),
)  # fmt: skip
VECTORS = tuple(map(ResultColumn, ("source", "target", "words", "tasks")))


def schedule_document(
    schedule: Schedule, graph: TaskGraph, machine: Machine, vectors: Sequence[CommunicationVector],
    pipeline: Pipelined | None = None, done: RealRun | None = None,
) -> dict[str, Any]:  # fmt: skip
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
        "tasks": Results(TASKS, schedule.placements).documents,
        "communication": Results(VECTORS, vectors).documents,
    }
    if pipeline is not None:
        document["pipeline"] = {
            "points": pipeline.points, "text": str(pipeline), "makespan_us": pipeline.makespan_us
        }  # fmt: skip
    if done is not None:
        document["run"] = {**done.document(), "simulated_speedup": schedule.speedup}
    return document


def schedule_page(schedule: Schedule, method: str) -> str:
    """Return a schedule as one HTML page: Gantt chart, figures, all tasks."""
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
                f"{short(schedule.critical_path_us, 5)} µs", "critical path", "a lower bound"
            ),
        ),
        meaning=(Text(f"Utilisation: {_used(schedule)}."),),
        sections=(
            PageSection("Tasks by processor and time", (Drawing(gantt_svg(schedule), title),)),
            PageSection("Tasks", (Results(TASKS, schedule.placements).page(),)),
        ),
    )
    return page_text(page)


def _used(schedule: Schedule) -> str:
    return ", ".join(f"P{k} {share:.2f}" for k, share in enumerate(schedule.utilisation))
