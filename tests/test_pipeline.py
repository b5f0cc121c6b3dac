"""The list of passes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from boolcomp.common.errors import UsageError
from boolcomp.paper.plan import Options
from boolcomp.pipeline import PAPER, PASSES, Job, run, run_passes
from boolcomp.problem.robot import Robot, load_robot


def test_the_passes_run_in_the_order_of_the_design() -> None:
    names = {mode: [step.name for step in passes] for mode, passes in PASSES.items()}
    assert names["paper"] == ["robot", "terms", "plan", "tables", "covers", "program"]
    assert names["compact"] == ["robot", "terms", "words", "program"]


def test_one_can_stop_after_any_pass() -> None:
    assert isinstance(run_passes("machado-2r", until="robot"), Robot)
    for step in PAPER:
        assert run_passes("machado-2r", Options(bits=4), until=step.name)


def test_what_is_made_is_not_made_again() -> None:
    made = {"robot": load_robot("elbow-3r")}
    assert run(PAPER, Job("no such robot"), "terms", made)["terms"].robot.name == "elbow-3r"
    assert list(made) == ["robot"]


def test_an_unknown_pass_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no pass 'table' \(did you mean 'tables'\?\)"):
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
