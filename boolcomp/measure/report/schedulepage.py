"""A schedule as a page, and the operations of a method beside those that its paper prints."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from boolcomp.common.text import short, table
from boolcomp.parallel.methods import counts, method_named
from boolcomp.parallel.schedule.gantt import gantt_svg
from boolcomp.problem.dynamics.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Schedule


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


def schedule_page(schedule: Schedule, method: str) -> str:
    """Return one HTML page that needs nothing else: Gantt chart, figures, every task."""
    rows = "\n".join(
        f"<tr><td>{html.escape(x.task)}</td><td>P{x.processor}</td>"
        f"<td>{x.start_us:.2f}</td><td>{x.end_us:.2f}</td></tr>"
        for x in schedule.placements
    )
    title = f"{schedule.graph} on {schedule.processors} × {schedule.machine}"
    used = ", ".join(f"P{k} {share:.2f}" for k, share in enumerate(schedule.utilisation))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem }}
body {{ max-width: 72rem }}
svg {{ max-width: 100%; height: auto }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }}
th, td {{ padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd }}
th {{ background: #f4f4f4 }}
</style></head><body>
<h1>{html.escape(title)}</h1>
<p>{html.escape(str(method_named(method)))}, scheduled by {html.escape(schedule.scheduler)}:
{short(schedule.makespan_us, 5)} µs, on one processor {short(schedule.sequential_us, 5)} µs,
speed-up {schedule.speedup:.2f}, critical path {short(schedule.critical_path_us, 5)} µs.
Utilisation: {used}.</p>
{gantt_svg(schedule)}
<table><thead><tr><th>task</th><th>processor</th><th>start µs</th><th>end µs</th></tr></thead>
<tbody>
{rows}
</tbody></table>
</body></html>
"""
