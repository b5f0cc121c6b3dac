"""A schedule as a page, and the operations of a method beside those that its paper prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import short, table
from boolcomp.base.pages import Fact, KeyFigure, Page, Section, page_text
from boolcomp.common.pages.parts import Drawing, Text
from boolcomp.common.pages.tables import Column, Table
from boolcomp.parallel.methods import counts
from boolcomp.parallel.methods.registry import method_named
from boolcomp.parallel.schedule.gantt import gantt_svg, gantt_text
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.problem.dynamics.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.parallel.schedule.assigning import CommunicationVector
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Schedule
    from boolcomp.parallel.schedule.realrun import RealRun
    from boolcomp.parallel.schedule.simulate import Pipelined


def printed_counts(method: str) -> tuple[counts.Count, ...]:
    """Return the rows of the method's paper beside ours; none where the paper has no table."""
    if method == "newton-euler":
        return counts.newton_euler()
    if method == "semi-customised":
        return counts.semi_customised(dense=True) + counts.semi_customised(dense=False)
    if method.startswith("lagrangian"):
        return counts.recursive_lagrangian()
    return ()


def operations_text(method: str, graph: TaskGraph, machine: Machine) -> str:
    """Return the paper's table beside ours, then what every equation takes in this graph."""
    rows = printed_counts(method)
    parts = [counts.report(rows)] if rows else []
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
