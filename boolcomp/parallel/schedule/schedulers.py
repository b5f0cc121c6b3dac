"""All schedulers behind one function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.parallel.schedule.improving import improved
from boolcomp.parallel.schedule.listing import cp_misf
from boolcomp.parallel.schedule.mappings import PROCESSORS, paper_mapping
from boolcomp.parallel.schedule.optimal import SECONDS, optimal
from boolcomp.parallel.schedule.packing import fit_decreasing
from boolcomp.parallel.schedule.queues import dynamic
from boolcomp.parallel.schedule.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.parallel.schedule.placed import Assignment, Schedule

# `static` does what a dynamic run did, without its queue (Zeng & Egan's version 4).
SCHEDULERS = (
    "cp-misf", "improved", "optimal", "dynamic", "static", "first-fit", "best-fit",
    *PROCESSORS,
)  # fmt: skip


def make_schedule(
    graph: TaskGraph,
    machine: Machine,
    processors: int,
    scheduler: str = "cp-misf",
    *,
    seconds: float = SECONDS,
) -> Schedule:
    """Schedule a graph and simulate it; the papers' mappings are named after their papers.

    `seconds` is how long `optimal` may search.
    """
    machine.check_processors(processors)
    if scheduler == "dynamic":
        return dynamic(graph, machine, processors)
    assignment = make_assignment(graph, machine, processors, scheduler, seconds=seconds)
    return simulate(graph, assignment, machine, scheduler)


def make_assignment(
    graph: TaskGraph,
    machine: Machine,
    processors: int,
    scheduler: str,
    *,
    seconds: float = SECONDS,
) -> Assignment:
    """Return who does what in which order."""
    machine.check_processors(processors)
    if scheduler in PROCESSORS and processors != PROCESSORS[scheduler]:
        raise UsageError(
            f"the mapping of {scheduler} is for {PROCESSORS[scheduler]} processors, not "
            f"{processors}"
        )
    if scheduler in PROCESSORS:
        return paper_mapping(graph, machine, scheduler)
    make: dict[str, Callable[[], Assignment]] = {
        "cp-misf": lambda: cp_misf(graph, machine, processors),
        "improved": lambda: improved(graph, machine, processors),
        "optimal": lambda: optimal(graph, machine, processors, seconds).assignment,
        "dynamic": lambda: dynamic(graph, machine, processors).assignment,
        "static": lambda: dynamic(graph, machine, processors).assignment,
        "first-fit": lambda: fit_decreasing(graph, machine, processors, "first"),
        "best-fit": lambda: fit_decreasing(graph, machine, processors, "best"),
    }
    if scheduler not in make:
        raise UsageError(
            f"unknown scheduler {scheduler!r}{suggestion(scheduler, SCHEDULERS)}; there are "
            f"{listing(SCHEDULERS)}"
        )
    return make[scheduler]()
