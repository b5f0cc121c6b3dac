"""All methods on one machine: time per torque vector against 1 … 1024 processors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import short, table
from boolcomp.common.pictures import blank, picture
from boolcomp.parallel.methods.boolean import WORD, boolean_tasks
from boolcomp.parallel.methods.logic import network_tasks
from boolcomp.parallel.methods.registry import task_graph
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.parallel.schedule.schedulers import make_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from boolcomp.logic.network import Network
    from boolcomp.parallel.methods.boolean import ProductTable
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.problem.robot.model import Robot

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
