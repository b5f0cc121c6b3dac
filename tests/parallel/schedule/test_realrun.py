"""Real runs side by side: what is checked, what is told, and what is noise."""

import time
from typing import Any

import numpy as np
import pytest
from parallel.schedule.graphs import named_graph, there_and_back
from waiting import ticks

from boolcomp.base import UsageError
from boolcomp.parallel import Assignment, StageRunner, measure_runs
from boolcomp.problem import Operations

STRAIGHT, NAMES = there_and_back()
GRAPH = named_graph(
    dict.fromkeys(("out", "beyond", "back"), Operations(1)),
    (("out", "beyond", 1), ("out", "back", 2), ("beyond", "back", 1)),
)
TWO = Assignment((("out", "back"), ("beyond",)))
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


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_idle_workers_take_no_time(engine: Any) -> None:
    with StageRunner(STRAIGHT, NAMES, TWO, engine=engine) as runner:
        runner.run(GIVEN)
        before = [ticks(pid) for pid in runner.processes]
        begin = time.process_time()
        while time.process_time() < begin + 0.4:  # in which workers that wait busily run, too
            pass
        after = [ticks(pid) for pid in runner.processes]
    assert all(b - a <= 2 for a, b in zip(before, after, strict=True))  # of 40
