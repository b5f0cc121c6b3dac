"""Progress: lines where standard error is a pipe, a bar on a terminal; time is a fake."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from boolcomp.commands import progress
from boolcomp.commands.compact import listener
from boolcomp.commands.progress import LEAST_KNOWN, Bar, Lines, counter, share
from boolcomp.common.progress import Course, seconds_left
from boolcomp.compact.demand import Demand, Progress
from boolcomp.compact.passes import expected
from boolcomp.paper.passes import WORK

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def lines() -> tuple[Clock, list[str], Lines]:
    clock, said = Clock(), list[str]()
    return clock, said, Lines("searching", clock, said.append)


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
        shown.heard(fraction, 1, stage, note)
    assert said == [
        "searching: refine, 25% done, 690 nodes so far, about 36 s left",
        "searching: improve, 40% done, 655 nodes so far, about 30 s left",
        "searching: passes, 60% done, 600 nodes so far, about 2 min left",
    ]


def test_a_stage_that_is_silent_is_said_after_ten_seconds() -> None:
    clock, said, shown = lines()
    shown.heard(0.01, 1, "screen", "")
    clock.now = 10.0
    shown.pulse()
    shown.pulse()
    assert said == ["searching: screen, 1% done"]


def test_work_of_less_than_ten_seconds_says_nothing() -> None:
    clock, said, shown = lines()
    for clock.now in range(10):
        shown.heard(clock.now, None, f"stage {clock.now}", "")
    shown.close()
    clock.now = 100.0
    shown.pulse()
    shown.heard(1, None, "late", "")
    assert said == []


def test_within_a_long_stage_lines_come_at_growing_distances() -> None:
    clock, said, shown = lines()
    for second in range(1000):
        clock.now = float(second)
        shown.heard(second, 2000, "", "")
    assert 15 < len(said) < 25
    assert said[0] == "searching: 0% done"
    assert said[-1].endswith(" left")


def test_a_reader_that_went_away_does_not_end_the_work() -> None:
    def broken(_: str) -> None:
        raise BrokenPipeError

    clock = Clock()
    shown = Lines("searching", clock, broken)
    clock.now = 11.0
    shown.heard(0.5, 1, "refine", "")


class Screen:
    """Stands for the bar of rich."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.task_ids = [7]

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **named: self.calls.append((name, args, named))


def test_on_a_terminal_the_bar_comes_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, clock = Screen(), Clock()
    monkeypatch.setattr(progress, "_rich_bar", lambda: screen)
    bar = Bar("searching", clock)
    clock.now = 0.9
    bar.heard(0.1, 1, "screen", "")
    assert screen.calls == []
    clock.now = 1.1
    bar.heard(0.3, 1, "refine", "700 nodes so far")
    names = [name for name, _, _ in screen.calls]
    assert names == ["add_task", "start", "update"]
    assert screen.calls[-1][2] == {
        "completed": 0.3,
        "total": 1,
        "last": "about 3 s left, refine, 700 nodes so far",
    }
    bar.close()
    bar.pulse()
    assert [name for name, _, _ in screen.calls[3:]] == ["stop"]


def test_a_silent_stage_has_a_bar_too(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(progress, "_rich_bar", lambda: screen)
    bar = Bar("searching", Clock())
    bar.pulse()
    assert [name for name, _, _ in screen.calls] == ["add_task", "start", "update"]


def test_the_real_bar_is_drawn_on_standard_error_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(Bar, "patience", 0.0)
    with counter("evaluating", 100) as advance:
        advance(40)
        advance(60)
    assert "evaluating" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_a_pipe_gets_lines_on_standard_error_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Lines, "patience", 0.0)
    with share("searching") as show:
        told = listener(show)
        told(Progress("refine", 700, (0.4,), 0.25))
        told(Progress("passes", None, (), 0.5))
    out, err = capsys.readouterr()
    assert out == ""
    assert "searching: refine, 25% done, 700 nodes so far, about 1 s left\n" in err
    assert "searching: passes, 50% done, about 1 s left\n" in err


def test_a_stage_that_comes_back_or_that_nobody_expected_does_not_move_the_bar() -> None:
    course = Course({"first": 1.0, "second": 3.0, "done": 0.0})
    told = [("first", 0.5), ("first", 0.2), ("second", 0.5), ("first", 1.0), ("odd", 1.0)]
    assert [course.at(*one) for one in told] == [0.125, 0.125, 0.625, 0.625, 0.625]
    assert course.at("second", 7.0) == 1.0
    assert course.at("done", 1.0) == 1.0


def test_stages_share_the_work_by_the_effort() -> None:
    quick, long = (expected(Demand(effort=effort)) for effort in (0.0, 1e6))
    assert quick["improve"] == 0
    assert long["improve"] > 0.99 * sum(long.values())


def test_a_share_that_falls_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lines, "patience", 0.0)
    heard: list[float] = []
    monkeypatch.setattr(Lines, "heard", lambda _, *told: heard.append(told[0]))
    with share("searching") as show:
        for fraction in (0.2, 0.99, 0.17, 1.0):
            show(fraction, "any", "")
    assert heard == [0.2, 0.99, 0.99, 1.0]


# Stages of real compilations with all work in one process, by processor seconds.
RECORDED = json.loads((Path(__file__).parent / "progress_recordings.json").read_text())


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one["name"])
def test_of_recorded_compilations_the_bar_never_falls_and_what_is_left_is_about_right(
    one: dict[str, Any],
) -> None:
    demand = Demand(effort=one["effort"], approximate=one["approximate"])
    course = Course(WORK if one["mode"] == "paper" else expected(demand))
    fractions, took = [], one["took"]
    for passed, stage, part in one["heard"]:
        fractions.append(course.at(stage, part))
        if 0.05 * took < passed < 0.95 * took:
            assert fractions[-1] > LEAST_KNOWN
            left = took - passed
            said = seconds_left(passed, fractions[-1])
            assert said > left / 4 - 1, stage
            # The last stages are short where approximation gains nothing.
            assert said < 4 * left + 0.5 * took, stage
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert fractions[-2] < 1.0
