"""The harness: rounds in turn, checks, cases that cannot be, ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from samples import problem_of

from boolcomp.common.errors import UsageError
from boolcomp.measure.bench.harness import Case, Checked, check, run
from boolcomp.measure.bench.rows import Timing, break_evens
from boolcomp.measure.bench.states import BenchStates, aligned, draw_states
from boolcomp.measure.bench.tasks import Offer, PythonTask

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.measure.bench.tasks import BenchTask


@pytest.fixture(name="states", scope="module")
def some_states() -> BenchStates:
    return draw_states(problem_of("machado-2r"), 512)


class Clock:
    """A clock that stands still but for what rivals are said to take."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        """Return the time."""
        return self.now


CLOCK = Clock()


@pytest.fixture(autouse=True)
def _no_real_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.measure.bench.tasks.time", CLOCK)


def maker(seconds: float, error: float = 0.0) -> Callable[[BenchStates, int, int], BenchTask]:
    """Return what sets up a rival that takes so long a sample and errs so much."""

    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        columns: list[Any] = [np.resize(x, count) + error for x in states.outputs.T]

        def call() -> None:
            CLOCK.now += seconds * batch

        return PythonTask(call, lambda: columns)

    return make


def test_results_beyond_their_bound_are_wrong(states: BenchStates) -> None:
    right = check(Offer("a", "float64", maker(0.0), 1e-6), states, 8)
    wrong = check(Offer("b", "float64", maker(0.0, 2.0), 1.0), states, 8)
    assert isinstance(right, Checked)
    assert isinstance(wrong, Checked)
    assert (right.wrong, wrong.wrong) == (False, True)
    assert wrong.max_errors == pytest.approx((2 / (200 / 128), 2 / (100 / 128)))


def test_infinities_are_wrong(states: BenchStates) -> None:
    found = check(Offer("a", "float64", maker(0.0, np.inf), np.inf), states, 8)
    assert isinstance(found, Checked)
    assert found.wrong


def test_ratios_are_times_the_logics_time(states: BenchStates) -> None:
    offers = [
        Offer("logic", "float64", maker(1e-5), 1e-6, logic=True),
        Offer("slow", "float64", maker(4e-5), 1e-6),
    ]
    rows = run(offers, states, 8, [Case(64)], 0.02)
    assert [row.rival for row in rows] == ["logic", "slow"]
    assert [row.ns_per_sample for row in rows] == pytest.approx([1e4, 4e4])
    assert [row.ratio for row in rows] == pytest.approx([1.0, 4.0])
    assert rows[1].break_even == 64
    assert rows[0].quartiles is not None
    assert rows[0].least <= rows[0].quartiles[0] <= rows[0].quartiles[1]


@pytest.mark.slow
def test_what_cannot_run_says_why(states: BenchStates) -> None:
    def refuse(*setting: object) -> BenchTask:
        del setting
        raise UsageError("it will not")

    offers = [
        Offer("absent", "int8", None, skipped="no such machine"),
        Offer("refuses", "int8", refuse),
        Offer("one core", "float64", maker(1e-5), 1e-6, threads=False),
        Offer("slow", "float64", maker(1e-3), 1e-6),
    ]
    rows = run(offers, states, 8, [Case(128, 2), Case(64), Case(10**9)], 0.01)
    reasons = {(row.rival, row.batch): row.skipped for row in rows}
    assert reasons["absent", 0] == "no such machine"
    assert reasons["refuses", 0] == "it will not"
    assert reasons["one core", 128] == "runs on one core"
    assert "more than 0.01 s" in reasons["slow", 64]
    assert "GiB" in reasons["slow", 10**9]


def test_break_even_is_where_the_logic_stays_faster() -> None:
    def row(batch: int, ratio: float) -> Timing:
        return Timing("r", "int8", batch, 1, 1.0, ratio=ratio)

    rows = [row(1, 1.5), row(64, 0.5), row(4096, 2.0), row(10**6, 3.0)]
    assert break_evens(rows) == {("r", "int8"): 4096}
    assert break_evens([row(1, 0.5)]) == {("r", "int8"): None}


def test_columns_begin_at_a_cache_line_and_repeat() -> None:
    column = aligned(np.arange(10, dtype=np.int16), 25)
    assert column.ctypes.data % 64 == 0
    assert column[:25].tolist() == [k % 10 for k in range(25)]
    assert len(column) > 25


def test_words_stand_for_the_middle_of_their_cells(states: BenchStates) -> None:
    for kind, bits in (("int8", 8), ("int16", 16)):
        words = states.coded(kind, 0).astype(float)  # type: ignore[arg-type]
        step = 2 * np.pi / 2**bits
        assert np.abs((words + 0.5) * step - states.columns[0]).max() <= step / 2 + 1e-12
    exact = states.as_given("float64")
    np.testing.assert_allclose(exact, states.outputs, atol=1e-12)
