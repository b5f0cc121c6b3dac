"""A part of the fuzzers of benchmarks/fuzz.py: every input ends in a result or in a sentence."""

from pathlib import Path

import pytest
from fuzzcases import CASES, run_case

QUICK = {
    "robots": 40, "descriptions": 40, "pla": 100, "programs": 20, "samples": 20, "written": 20,
    "batches": 6, "ways": 20,
}  # fmt: skip
SLOW = {
    "robots": 1500, "descriptions": 300, "pla": 5000, "programs": 300, "samples": 400, "lines": 8,
    "functions": 12, "written": 400, "batches": 12, "ways": 200,
}  # fmt: skip


def outcomes(kind: str, seeds: range, folder: Path) -> set[bool]:
    return {run_case(kind, seed, folder) for seed in seeds}


@pytest.mark.parametrize("kind", QUICK)
def test_some_damaged_inputs_are_refused_and_some_are_accepted(kind: str, tmp_path: Path) -> None:
    assert outcomes(kind, range(QUICK[kind]), tmp_path) == {True, False}


@pytest.mark.check
@pytest.mark.parametrize("kind", CASES)
def test_no_damaged_input_breaks_anything(kind: str, tmp_path: Path) -> None:
    assert outcomes(kind, range(1_000_000, 1_000_000 + SLOW[kind]), tmp_path)
