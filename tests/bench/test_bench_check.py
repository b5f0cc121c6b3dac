"""The guard against lost speed: which ratios it compares, and when it fails."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "bench_check.py"


@pytest.fixture(name="check", scope="module")
def loaded() -> dict[str, Any]:
    return runpy.run_path(str(FILE))


def test_losses_are_shares_of_what_was(check: dict[str, Any]) -> None:
    found = check["losses"]({"a": 1.7, "b": 2.2, "new": 1.0}, {"a": 2.0, "b": 2.0, "gone": 1.0})
    assert found == pytest.approx({"a": 0.15, "b": -0.1})


def test_ratios_are_against_the_logic_with_words(check: dict[str, Any]) -> None:
    rival = check["RIVALS"][0]
    rows = [
        SimpleNamespace(rival=name, kind=kind, ns_per_sample=ns, logic=name == "logic")
        for name, kind, ns in (
            ("logic", "int16", 0.5), ("logic", "float32", 0.1), (rival, "int8", 1.0),
            ("another", "int8", 1.0), (rival, "int16", None),
        )
    ]  # fmt: skip
    assert check["ratios"](SimpleNamespace(rows=rows)) == {f"{rival} int8": 2.0}


def test_the_committed_ratios_name_known_rivals(check: dict[str, Any]) -> None:
    committed = json.loads(FILE.with_name("bench_ratios.json").read_text(encoding="utf-8"))
    assert committed
    for name, ratio in committed.items():
        assert any(rival in name for rival in check["RIVALS"])
        assert ratio > 0
