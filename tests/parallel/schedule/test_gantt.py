"""Gantt charts as SVG and text."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from parallel.schedule.graphs import linked, random_graph

from boolcomp.parallel.schedule.gantt import gantt_svg, gantt_text, ticks
from boolcomp.parallel.schedule.schedulers import make_schedule

SCHEDULE = make_schedule(random_graph(12, 3), linked(), 3)
SVG = "{http://www.w3.org/2000/svg}"


def test_the_svg_shows_every_task_and_message_at_its_time() -> None:
    root = ET.fromstring(gantt_svg(SCHEDULE))  # noqa: S314 (our own text)
    bars = [x for x in root.iter(f"{SVG}rect") if x.get("class") == "task"]
    assert len(bars) == 12
    assert len(list(root.iter(f"{SVG}path"))) == len(SCHEDULE.transfers) > 0
    for bar, placement in zip(bars, SCHEDULE.placements, strict=True):
        share = (float(bar.attrib["x"]) - 48) / (960 - 48 - 16)
        assert abs(share - placement.start_us / SCHEDULE.makespan_us) < 1e-4
        assert placement.task in (bar[0].text or "")


def test_the_svg_is_the_same_every_time_and_names_are_escaped() -> None:
    assert gantt_svg(SCHEDULE) == gantt_svg(make_schedule(random_graph(12, 3), linked(), 3))
    assert "<text" in gantt_svg(SCHEDULE)


def test_the_text_has_a_lane_a_processor_and_fits() -> None:
    lines = gantt_text(SCHEDULE, 90).splitlines()
    assert sum(line.startswith("P") for line in lines) == 3
    assert max(map(len, lines)) <= 90
    assert any("[" in line and "." in line for line in lines)
    assert any(line.strip().startswith("|0") for line in lines)


def test_ticks_are_round() -> None:
    assert ticks(7.3) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert ticks(0.05) == [0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.045, 0.05]
