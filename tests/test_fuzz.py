"""A part of the fuzzers of benchmarks/fuzz.py: every input ends in a result or in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fuzzcases import CASES, run_case

if TYPE_CHECKING:
    from pathlib import Path

QUICK = {
    "robots": 60, "descriptions": 60, "pla": 300, "programs": 30, "samples": 40, "written": 40,
    "batches": 12, "ways": 60,
}  # fmt: skip
SLOW = {
    "robots": 3000,
    "descriptions": 500,
    "pla": 10_000,
    "programs": 600,
    "samples": 800,
    "lines": 12,
    "functions": 20,
    "written": 600,
    "batches": 20,
    "ways": 400,
}


def outcomes(kind: str, seeds: range, folder: Path) -> set[bool]:
    return {run_case(kind, seed, folder) for seed in seeds}


@pytest.mark.slow
@pytest.mark.parametrize("kind", QUICK)
def test_some_damaged_inputs_are_refused_and_some_are_accepted(kind: str, tmp_path: Path) -> None:
    assert outcomes(kind, range(QUICK[kind]), tmp_path) == {True, False}


@pytest.mark.check
@pytest.mark.parametrize("kind", CASES)
def test_no_damaged_input_breaks_anything(kind: str, tmp_path: Path) -> None:
    assert outcomes(kind, range(1_000_000, 1_000_000 + SLOW[kind]), tmp_path)
