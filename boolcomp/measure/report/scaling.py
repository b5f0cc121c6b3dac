"""All five methods on one machine: time per torque vector against 1 … 1024 processors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boolcomp.common.text import short, table
from boolcomp.measure.pictures import new_figure, picture
from boolcomp.parallel.methods import boolean_tasks, task_graph
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.parallel.schedule.schedulers import make_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from boolcomp.parallel.methods import ProductTable
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.problem.robot import Robot

PROCESSORS = tuple(1 << k for k in range(11))
ARITHMETIC = ("newton-euler", "customised", "zeng-19", "lagrangian", "symbolic")
FINE = 4  # groups of product terms a processor
COLOURS = ("#3367b0", "#8e6bb0", "#4f9d69", "#b0833a", "#777777", "#c8553d")


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


def scaling(
    robot: Robot,
    machine: Machine,
    tables: Sequence[ProductTable] = (),
    processors: Sequence[int] = PROCESSORS,
    done: Callable[[str], None] = lambda _: None,
) -> tuple[Point, ...]:
    """Schedule every method's tasks by CP/MISF on each number of processors the machine can have.

    With `tables` the Boolean evaluator is among them, its product terms dealt out anew for every
    number of processors. A processor that only makes it slower is left idle: the best of all
    numbers up to that one counts.
    """
    points: list[Point] = []
    for name in (*ARITHMETIC, *(["boolean"] if tables else [])):
        fixed = task_graph(name, robot).graph if name in ARITHMETIC else None
        best = math.inf
        alone = 0.0
        for count in processors:
            if count > machine.processors:
                break
            graphs = [fixed] if fixed else _dealt(tables, count)
            alone = alone or sum(machine.time(task.operations) for task in graphs[0].tasks)
            best = min(best, *(make_schedule(g, machine, count).makespan_us for g in graphs))
            least = min(lower_bounds(g, machine, count).best_us for g in graphs)
            points.append(Point(name, count, best, alone, least))
            done(f"{name}, {count} processors")
    return tuple(points)


def _dealt(tables: Sequence[ProductTable], processors: int) -> list[TaskGraph]:
    """Return the product terms dealt out coarsely, and finely: more balance, more messages."""
    return [boolean_tasks(tables, groups=times * processors) for times in (1, FINE)]


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

    def figure() -> Figure:
        drawn = new_figure(9.6, 4.2)
        axes: Any = drawn.subplots(1, 2)
        for panel, what in zip(axes, ("makespan_us", "speedup"), strict=True):
            _draw(panel, points, what)
        axes[0].set(ylabel="µs per torque vector")
        axes[1].set(ylabel="speed-up over the same tasks on one")
        axes[1].legend(fontsize=7)
        drawn.suptitle(title, fontsize=10)
        return drawn

    return picture(figure, kind)


def _draw(panel: Any, points: Sequence[Point], what: str) -> None:
    methods = list(dict.fromkeys(p.method for p in points))
    for method, colour in zip(methods, COLOURS, strict=False):
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
