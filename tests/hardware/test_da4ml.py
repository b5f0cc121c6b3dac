"""The rival in da4ml's fixed point has the errors that are allowed, and narrower ones have not."""

import importlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("da4ml", reason="needs the extra `rivals`")


@pytest.mark.check
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="needs Icarus Verilog")
def test_every_design_of_da4ml_has_its_errors_and_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    rival = importlib.import_module("two_link_da4ml")
    states, many = rival.States(20_000, 3), rival.States(1_000_000, 99)
    for shape in rival.WIDTHS.values():
        assert many.allow(shape)
        assert not many.allow(replace(shape, fc=0, fs=0, a1=5))
        made = rival.traced(shape)
        words = rival.simulated(rival.source(made), states)
        assert (words == rival.joined(states.words(made))).all()
