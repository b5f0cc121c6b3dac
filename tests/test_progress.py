"""Progress: lines where standard error is a pipe, a bar on a terminal; time is a fake."""

import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boolcomp.base.workers import ALONE, Course
from boolcomp.commands import output
from boolcomp.commands.compile import search_progress
from boolcomp.compact.demand import Counts, Demand, Progress
from boolcomp.compact.passes import on_course
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.passes import on_course as on_paper_course


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def lines() -> tuple[Clock, list[str], output.Lines]:
    clock, said = Clock(), list[str]()
    return clock, said, output.Lines("searching", clock, said.append)


def test_a_stage_is_a_line_once_work_takes_longer_than_ten_seconds() -> None:
    clock, said, shown = lines()
    for clock.now, fraction, stage, note in (
        (2.0, 0.1, "screen", ""),
        (9.9, 0.2, "refine", "700 nodes so far"),
        (12.0, 0.25, "refine", "690 nodes so far"),
        (13.0, 0.3, "refine", "680 nodes so far"),
        (20.0, 0.4, "improve", "655 nodes so far"),
        (150.0, 0.6, "passes", "600 nodes so far"),
        (199.0, 1.0, "done", "559 nodes so far"),
    ):
        shown.update(fraction, 1, stage, note)
    assert said == [
        "searching: refine, 25% done, 690 nodes so far, about 36 s left",
        "searching: improve, 40% done, 655 nodes so far, about 29 s left",
        "searching: passes, 60% done, 600 nodes so far, about 2 min left",
    ]


def test_estimates_that_jump_are_damped() -> None:
    clock, said, shown = lines()
    told = []
    for second in range(100, 2000):
        clock.now, before = float(second), len(said)
        truth = (2000 - second) / second
        shown.update(second, 2000, "passes", "", truth * (1.3 if second % 2 else 0.7))
        told += [2000 - second] * (len(said) - before)
    assert len(told) > 10
    for seconds, line in zip(told[3:], said[3:], strict=True):
        if seconds > 90:
            left = 60 * float(line.split("about ")[1].split(" min")[0])
            assert abs(left - seconds) < 31 + seconds / 12


class Screen:
    """Stands for the bar of rich."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.task_ids = [7]

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **named: self.calls.append((name, args, named))


def test_on_a_terminal_the_bar_comes_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, clock = Screen(), Clock()
    monkeypatch.setattr(output, "_rich_bar", lambda: screen)
    bar = output.Bar("searching", clock)
    clock.now = 0.9
    bar.update(0.1, 1, "screen", "")
    assert screen.calls == []
    clock.now = 1.1
    bar.update(0.3, 1, "refine", "700 nodes so far")
    assert [name for name, _, _ in screen.calls] == ["add_task", "start", "update"]
    last = "about 5 s left, refine, 700 nodes so far"
    assert screen.calls[-1][2] == {"completed": 0.3, "total": 1, "last": last}
    bar.close()
    bar.pulse()
    assert [name for name, _, _ in screen.calls[3:]] == ["stop"]
    silent = output.Bar("searching", Clock())  # a stage that says nothing has a bar, too
    silent.pulse()
    assert [name for name, _, _ in screen.calls[4:]] == ["add_task", "start", "update"]


def test_the_real_bar_is_drawn_on_standard_error_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output.Bar, "patience", 0.0)
    with output.counter("evaluating", 100) as advance:
        advance(40)
        advance(60)
    assert "evaluating" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_a_pipe_gets_lines_on_standard_error_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output.Lines, "patience", 0.0)
    with output.share("searching") as show:
        told = search_progress(show)
        told(Progress("refine", 700, (0.4,), 0.25))
        told(Progress("passes", None, (), 0.5))
    out, err = capsys.readouterr()
    assert out == ""
    assert "searching: refine, 25% done, 700 nodes so far, about 1 s left\n" in err
    assert "searching: passes, 50% done, about 1 s left\n" in err


def test_a_course_goes_on_whatever_comes_back_or_was_estimated_wrongly() -> None:
    course = Course({"first": 1.0, "second": 3.0, "done": 0.0})
    told = [("first", 0.5), ("first", 0.2), ("second", 0.5), ("first", 1.0), ("odd", 1.0)]
    assert [course.at(*one) for one in told] == [0.125, 0.125, 0.625, 0.625, 0.625]
    assert (course.at("second", 7.0), course.at("done", 1.0)) == (1.0, 1.0)
    course = Course({"first": 1.0, "second": 1.0, "third": 2.0}, ())
    assert (course.at("first", 1.0), course.left) == (0.25, math.inf)
    course.expect({"second": 4.0, "third": 5.0, "unknown": 7.0})
    assert (course.at("second", 0.0), course.left) == (0.25, 9.0)
    assert course.at("second", 0.5) == pytest.approx(0.25 + 0.75 * 2 / 9)
    course.expect({"third": 1.0})
    assert course.left == pytest.approx(3 / 3)
    before = course.fraction
    assert course.at("third", 0.5) == pytest.approx(1 - (1 - before) * 0.5 / 3)
    assert course.at("third", 1.0) == 1.0
    course = Course({"first": 1.0, "second": 8.0, "third": 2.0})  # the second is left out
    course.at("first", 0.0)
    assert course.at("third", 0.0) == pytest.approx(1 / 3)
    assert course.left == 2.0


def test_a_share_that_falls_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output.Lines, "patience", 0.0)
    heard: list[float] = []
    monkeypatch.setattr(output.Lines, "update", lambda _, *told: heard.append(told[0]))
    with output.share("searching") as show:
        for fraction in (0.2, 0.99, 0.17, 1.0):
            show(fraction, "any", "")
    assert heard == [0.2, 0.99, 0.99, 1.0]


# Stages of real compilations with all work in one process, by processor seconds
# (benchmarks/recordprogress.py).
RECORDED = json.loads((Path(__file__).parent / "progress_recordings.json").read_text())


def replayed(one: dict[str, Any]) -> list[tuple[float, float]]:
    """Return fractions and what is left, in terms of what is done, at each recorded stage."""
    told: list[tuple[float, float]] = []
    if one["mode"] == "paper":
        choices = on_paper_course(
            PaperChoices(
                progress=lambda *said, **more: told.append((said[2], more["left"])), workers=ALONE
            )
        )
        for _, stage, part, counted in one["heard"]:
            choices.progress(stage, "", part, counted=counted)
        return told
    demand = Demand(effort=one["effort"], approximate=one["approximate"])
    hear = on_course(lambda step: told.append((step.fraction, step.left or 0.0)), demand)
    for _, stage, part, nodes in one["heard"]:
        counts = Counts(*one["counts"]) if stage == "tables" else None
        hear(Progress(stage, nodes, fraction=part, counts=counts))
    return told


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one["name"])
def test_time_left_of_recorded_compilations_is_right_within_a_factor_of_two(
    one: dict[str, Any],
) -> None:
    """Beside the factor there is a tolerance of a twentieth of the whole time."""
    fractions = [fraction for fraction, _ in replayed(one)]
    assert fractions == sorted(fractions)
    assert fractions[-2] < fractions[-1] == 1.0
    said = [
        (passed, stage, passed * left)
        for (passed, stage, *_), (_, left) in zip(one["heard"], replayed(one), strict=True)
        if math.isfinite(left)
    ]
    assert len(said) > 5
    slack = one["took"] / 20
    for passed, stage, left in said:
        truth = one["took"] - passed
        assert left > truth / 2 - slack, (stage, passed)
        assert left < 2 * truth + slack, (stage, passed)
