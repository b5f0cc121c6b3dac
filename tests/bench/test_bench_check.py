"""The guard against lost speed: which ratios it compares, and when it fails."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from boolcomp.measure import Bench, Host, Timing

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "bench_check.py"


@pytest.fixture(name="check", scope="module")
def loaded() -> dict[str, Any]:
    return runpy.run_path(str(FILE))


def test_losses_are_shares_of_what_was(check: dict[str, Any]) -> None:
    found = check["losses"]({"a": 1.7, "b": 2.2, "new": 1.0}, {"a": 2.0, "b": 2.0, "gone": 1.0})
    assert found == pytest.approx({"a": 0.15, "b": -0.1})


def test_ratios_are_against_the_logic_with_words(check: dict[str, Any]) -> None:
    rival = check["RIVALS"][0]
    rows = (
        Timing("logic", "int16", 4096, 1, 0.5, logic=True),
        Timing("logic", "float32", 4096, 1, 0.1, logic=True),
        Timing(rival, "int8", 4096, 1, 1.0),
        Timing("another", "int8", 4096, 1, 1.0),
        Timing(rival, "int16", 0, 1, skipped="no gcc"),
    )
    bench = Bench("x", "x", 8, "compact", 1, Host("", (), (), (), 1.0, 1), rows)
    assert check["ratios"](bench) == {f"{rival} int8": 2.0}


def test_the_committed_ratios_name_known_rivals(check: dict[str, Any]) -> None:
    committed = json.loads(FILE.with_name("bench_ratios.json").read_text(encoding="utf-8"))
    assert committed
    for name, ratio in committed.items():
        assert any(rival in name for rival in check["RIVALS"])
        assert ratio > 0
