"""Every kind of fault that a schedule can have is found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from parallel.schedule.graphs import linked

from boolcomp.common.errors import DataError
from boolcomp.parallel.schedule.check import check_schedule, schedule_faults
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.placed import Assignment, Placement, Schedule, Transfer
from boolcomp.parallel.schedule.simulate import simulate
from boolcomp.problem.dynamics.operations import Operations

GRAPH = TaskGraph(
    "g",
    tuple(Task(name, Operations(2)) for name in "abc"),
    (Edge("a", "b", 1), Edge("a", "c", 2)),
)
MACHINE = linked(count=1)
GOOD = simulate(GRAPH, Assignment((("a", "b"), ("c",))), MACHINE)


def moved(task: str, **changes: float) -> Schedule:
    placements = tuple(
        replace(x, **changes) if x.task == task else x  # type: ignore[arg-type]
        for x in GOOD.placements
    )
    return replace(GOOD, placements=placements, makespan_us=99.0)


def test_a_good_schedule_has_no_faults() -> None:
    check_schedule(GOOD, GRAPH, MACHINE)
    assert len(GOOD.transfers) == 1


@pytest.mark.parametrize(
    ("schedule", "fault"),
    [
        (moved("b", start_us=0.5, end_us=1.5), "at the same time"),
        (moved("b", start_us=1.0, end_us=1.5), "takes 0.5"),
        (moved("c", start_us=1.5, end_us=2.5), "before the words"),
        (moved("c", start_us=-1, end_us=0), "outside of the schedule"),
        (moved("c", processor=2), "on processor 2 of 2"),
        (replace(GOOD, transfers=()), "never comes"),
        (replace(GOOD, placements=GOOD.placements[:2]), "done 0 times"),
        (replace(GOOD, placements=(*GOOD.placements, GOOD.placements[0])), "done 2 times"),
        (replace(GOOD, placements=(*GOOD.placements, Placement("x", 0, 0, 0))), "not of the"),
        (replace(GOOD, transfers=(replace(GOOD.transfers[0], words=1),)), "only 1 words"),
        (replace(GOOD, transfers=(replace(GOOD.transfers[0], end_us=1.5),)), "too quick"),
        (replace(GOOD, transfers=(replace(GOOD.transfers[0], start_us=0),)), "before the words"),
        (
            replace(GOOD, transfers=(*GOOD.transfers, replace(GOOD.transfers[0], start_us=1.1))),
            "on one channel",
        ),
        (
            replace(GOOD, processors=3, transfers=(*GOOD.transfers, Transfer("a", 0, 2, 2, 1, 5))),
            "more than 1 links",
        ),
    ],
)
def test_every_kind_of_fault_is_found(schedule: Schedule, fault: str) -> None:
    faults = schedule_faults(schedule, GRAPH, MACHINE)
    assert any(fault in found for found in faults), faults
    with pytest.raises(DataError, match="is not valid"):
        check_schedule(schedule, GRAPH, MACHINE)


def test_a_sender_that_calculates_meanwhile_is_found() -> None:
    machine = linked(overlap=False)
    assert any("while it sends" in found for found in schedule_faults(GOOD, GRAPH, machine))


def test_a_missing_link_is_found() -> None:
    graph = replace(GRAPH, edges=())
    long_way = Transfer("a", 0, 2, 1, 1.0, 9.0)
    schedule = replace(GOOD, transfers=(long_way,), processors=3, makespan_us=9.0)
    assert any("line topology" in x for x in schedule_faults(schedule, graph, linked("line")))
