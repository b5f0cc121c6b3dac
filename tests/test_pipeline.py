"""The list of passes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from compact.word_robots import small_robot

from boolcomp import pipeline
from boolcomp.common.errors import UsageError
from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import Demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.paper.plan import Options
from boolcomp.pipeline import COMPACT, PAPER, PASSES, Pass, run_passes
from boolcomp.problem.makers import gravity_problem
from boolcomp.problem.problem import Problem
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def test_the_passes_are_those_of_the_design() -> None:
    names = {mode: [step.name for step in passes] for mode, passes in PASSES.items()}
    assert names["paper"] == [
        "problem", "terms", "plan", "tables", "covers", "measure", "program",
    ]  # fmt: skip
    assert names["compact"] == [
        "problem", "terms", "store", "sketch", "screen", "refine", "improve", "graph", "logic",
        "optimise", "measure", "approximate", "program",
    ]  # fmt: skip


@pytest.mark.check
def test_one_can_stop_after_any_pass() -> None:
    assert isinstance(run_passes("machado-2r", until="problem"), Problem)
    for step in PAPER:
        assert run_passes("machado-2r", Options(bits=4), until=step.name)


@pytest.mark.slow
def test_the_list_is_what_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 2000)
    monkeypatch.setattr("boolcomp.compact.remade.FRESH_SAMPLES", 2000)
    monkeypatch.setattr("boolcomp.compact.widths.passes.QUICK_SEEN", 2000)
    ran: list[str] = []

    def heard(step: Pass) -> Pass:
        def run_it(values: list[Any], choices: Any) -> Sequence[Any]:
            ran.append(step.name)
            return step.run(values, choices)

        return replace(step, run=run_it)

    monkeypatch.setattr(pipeline, "COMPACT", tuple(map(heard, COMPACT)))
    demand = Demand(bits=4, rms=(0.6,), effort=0.0)
    told: list[float] = []
    choices = CompactChoices(
        demand, tmp_path, also_shipped=False, workers=ALONE,
        progress=lambda step: told.append(step.fraction),
    )  # fmt: skip
    made = pipeline.compile_compact(small_robot(3, 1), choices, payloads=(0.0, 0.5))
    assert ran == [step.name for step in COMPACT]
    assert made.program.payloads == (0.0, 0.5)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert not any(one.stored for one in made.built)
    again = pipeline.compile_compact(small_robot(3, 1), choices, payloads=(0.5, 0.0))
    assert all(one.stored for one in again.built)
    assert [str(x) for x in again.built] == [str(x) for x in reversed(made.built)]


def test_what_is_no_robot_carries_nothing() -> None:
    problem = gravity_problem(load_robot("machado-2r"))
    with pytest.raises(
        UsageError, match="machado-2r-gravity is a problem already: payloads are for robots"
    ):
        pipeline.compile_paper(problem, payloads=(1.0,))


def test_an_unknown_pass_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no pass 'table' \(did you mean 'tables'"):
        run_passes("machado-2r", until="table")


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_output_does_not_depend_on_the_hash_seed(seed: str) -> None:
    program = (
        "from boolcomp.pipeline import run_passes; print(run_passes('elbow-3r', until='plan'))"
    )
    made = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout == f"{run_passes('elbow-3r', until='plan')}\n"
