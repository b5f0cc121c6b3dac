"""Every kind of fault that a schedule can have is found; its chart shows it as it is."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from conftest import Run
from parallel.schedule.graphs import graph_of, linked

from boolcomp.base import DataError
from boolcomp.parallel import Assignment, check_schedule, simulate

GRAPH = graph_of("a1 b1 c1", "ab1 ac2")
MACHINE = linked(count=1)
GOOD = simulate(GRAPH, Assignment((("a", "b"), ("c",))), MACHINE)
SENT, STRANGE = GOOD.transfers[0], replace(GOOD.placements[0], task="x")
SVG = "{http://www.w3.org/2000/svg}"


def moved(task: str, **changes: float) -> Any:
    placements = tuple(
        replace(x, **changes) if x.task == task else x  # type: ignore[arg-type]
        for x in GOOD.placements
    )
    return replace(GOOD, placements=placements, makespan_us=99.0)


def test_a_valid_schedule_has_no_faults() -> None:
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
        (replace(GOOD, transfers=()), "do not arrive"),
        (replace(GOOD, placements=GOOD.placements[:2]), "done 0 times"),
        (replace(GOOD, placements=(*GOOD.placements, GOOD.placements[0])), "done 2 times"),
        (
            replace(GOOD, placements=(*GOOD.placements, STRANGE)),
            "not of the",
        ),
        (replace(GOOD, transfers=(replace(SENT, words=1),)), "only 1 words"),
        (replace(GOOD, transfers=(replace(SENT, end_us=1.5),)), "too quick"),
        (replace(GOOD, transfers=(replace(SENT, start_us=0),)), "before its words"),
        (
            replace(
                GOOD,
                transfers=(*GOOD.transfers, replace(SENT, start_us=2, end_us=5.5)),
            ),
            "on one channel",
        ),
        (
            replace(
                GOOD,
                processors=3,
                transfers=(*GOOD.transfers, replace(SENT, target=2)),
            ),
            "more than 1 links",
        ),
    ],
)
def test_every_kind_of_fault_is_found(schedule: Any, fault: str) -> None:
    with pytest.raises(DataError, match=f"is not valid[^$]*{fault}"):
        check_schedule(schedule, GRAPH, MACHINE)


def test_a_sender_that_calculates_meanwhile_is_found() -> None:
    with pytest.raises(DataError, match="while it sends"):
        check_schedule(GOOD, GRAPH, linked(overlap=False))


def test_a_missing_link_is_found() -> None:
    graph = replace(GRAPH, edges=())
    schedule = replace(
        GOOD,
        transfers=(replace(SENT, target=2, words=1, end_us=9.0),),
        processors=3,
        makespan_us=9.0,
    )
    with pytest.raises(DataError, match="line topology"):
        check_schedule(schedule, graph, linked("line"))


def test_the_chart_shows_every_task_and_message_at_its_time(run: Run) -> None:
    asked = ("schedule", "simulate", "machado-2r", "--processors", "3", "-o", "made", "--json")
    schedule = json.loads(run(*asked).out)
    (chart,) = Path("made").glob("*.svg")
    root = ET.fromstring(chart.read_text())  # noqa: S314 (our own text)
    bars = [x for x in root.iter(f"{SVG}rect") if x.get("class") == "task"]
    assert len(bars) == len(schedule["tasks"]) > 12
    sent = sum(len(vector["tasks"]) for vector in schedule["communication"])
    assert len(list(root.iter(f"{SVG}path"))) == sent > 0
    for bar, placement in zip(bars, schedule["tasks"], strict=True):
        share = (float(bar.attrib["x"]) - 48) / (960 - 48 - 16)
        assert abs(share - placement["start_us"] / schedule["makespan_us"]) < 1e-4
        assert placement["task"] in (bar[0].text or "")
