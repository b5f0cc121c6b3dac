"""Worker processes: their values, their death, and what is left of them."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from parallel.schedule.graphs import named_graph, there_and_back

from boolcomp.base import DataError, UsageError
from boolcomp.parallel import Assignment, StageRunner, measure_runs
from boolcomp.problem import Operations, Tape, task

TWO = Assignment((("out", "back"), ("beyond",)))
STRAIGHT, NAMES = there_and_back()


def columns(samples: int, largest: float = 9.0) -> list[NDArray[np.float64]]:
    draw = np.random.default_rng(3)
    return [draw.uniform(-largest, largest, samples), draw.uniform(-2, 2, samples)]


def check(done: Any, given: list[NDArray[np.float64]]) -> None:
    expected = np.array(STRAIGHT.evaluate(given))
    np.testing.assert_allclose(done.outputs, expected, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["llvm", "numpy"])
def test_two_processes_calculate_what_one_does(engine: Any) -> None:
    with StageRunner(STRAIGHT, NAMES, TWO, engine=engine, block=16) as runner:
        assert len(set(runner.processes)) == 2
        assert (runner.staged.stages, runner.staged.exchanged) == (3, 2)
        for samples in (1, 16, 1000, 5000, 37):  # the same workers, and a file that grows
            given = columns(samples)
            check(runner.run(given), given)


@pytest.mark.slow
def test_large_angles_are_exact_or_refused() -> None:
    one = Assignment((("out", "beyond", "back"),))
    with StageRunner(STRAIGHT, NAMES, one) as runner:
        given = columns(4000, 9e5)
        check(runner.run(given), given)
        with pytest.raises(DataError, match=r"x is beyond ±1e.06 rad"):
            runner.run(columns(10, 1e8))
        with pytest.raises(UsageError, match="2 columns of one length"):
            runner.run(columns(10)[:1])


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["llvm", "numpy"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_worker_is_reported_at_once_and_nothing_is_left(engine: Any, victim: int) -> None:
    files = len(list(Path("/proc/self/fd").iterdir()))
    given = columns(3_000_000 if engine == "llvm" else 100_000)
    with StageRunner(STRAIGHT, NAMES, TWO, engine=engine, block=8) as runner:
        pids = runner.processes
        os.kill(pids[1 - victim], signal.SIGSTOP)  # it never answers
        os.kill(pids[victim], signal.SIGSTOP)  # it dies in the middle, not before
        killer = threading.Timer(0.2, os.kill, (pids[victim], signal.SIGKILL))
        killer.start()
        with pytest.raises(DataError, match=rf"P{victim}: a worker process died .*SIGKILL"):
            runner.run(given)
        killer.join()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert len(list(Path("/proc/self/fd").iterdir())) == files


def test_workers_must_be_running() -> None:
    with pytest.raises(UsageError, match="with statement"):
        StageRunner(STRAIGHT, NAMES, TWO).run(columns(3))
    with pytest.raises(DataError, match="'back' of the program is on no processor"):
        StageRunner(STRAIGHT, NAMES, Assignment((("out", "beyond"),)))
    with pytest.raises(UsageError, match="multiple of 8"):
        StageRunner(STRAIGHT, NAMES, TWO, block=12)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["llvm", "numpy"])
def test_a_last_segment_that_needs_no_earlier_one_does_not_end_the_work(engine: Any) -> None:
    # P0's last segment waits only for P1, which P0's first does not feed; P2 needs P0's first.
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    values = {}
    with task(tape, "early"):
        values["early"] = x * x + y
    with task(tape, "there"):
        values["there"] = y * y - 1.0
    with task(tape, "late"):
        values["late"] = values["there"] * 2.0 + 0.25
    with task(tape, "slow"):
        slow = values["early"]
        for _ in range(300):
            slow = slow * 0.5 + 1.0
        values["slow"] = slow
    straight = tape.finish([(name, values[name]) for name in ("late", "slow")])
    lists = Assignment((("early", "late"), ("there",), ("slow",)))
    given = columns(40_000 if engine == "llvm" else 1000)
    names = [node.task for node in straight.nodes]
    with StageRunner(straight, names, lists, engine=engine, block=8) as runner:
        done = runner.run(given)
    np.testing.assert_allclose(done.outputs, np.array(straight.evaluate(given)), atol=1e-9)


GRAPH = named_graph(
    dict.fromkeys(("out", "beyond", "back"), Operations(1)),
    (("out", "beyond", 1), ("out", "back", 2), ("beyond", "back", 1)),
)

GIVEN = [np.linspace(-2, 2, 300), np.linspace(0, 1, 300)]
EXPECTED = np.array(STRAIGHT.evaluate(GIVEN))


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean 'llvm'"):
        measure_runs((STRAIGHT, NAMES), GRAPH, TWO, GIVEN, EXPECTED, engine="lvm")  # type: ignore[arg-type]


@pytest.mark.check
def test_every_kind_is_checked_against_what_is_expected() -> None:
    run = measure_runs((STRAIGHT, NAMES), GRAPH, TWO, GIVEN, EXPECTED, engine="numpy")
    assert [x.kind for x in run.timings] == ["one", "scheduled", "dealt", "points"]
    assert all(0 < timing.seconds < 10 for timing in run.timings)
    assert run.relative_error < 1e-14
    assert run.timings[1].exchanged == 2  # to the second processor, and back
    wrong = EXPECTED + np.abs(EXPECTED).max()
    run = measure_runs((STRAIGHT, NAMES), GRAPH, TWO, GIVEN, wrong, engine="numpy")
    assert all(timing.relative_error > 0.3 for timing in run.timings)
