"""A clock as the goal of a pipeline: spellings, stages, estimates and refusals."""

from __future__ import annotations

import re
import shutil
from typing import Any

import pytest
from exports import kept
from targets.exported import arm, tiny

from boolcomp.base import UsageError
from boolcomp.measure import SIMULATIONS, simulated
from boolcomp.targets import DELAYS, ExportOptions, export_texts, megahertz

PLANNED = re.compile(r"(\d+) stages, (\d+) flip-flops")


@pytest.mark.parametrize(
    ("given", "expected"),
    [("150MHz", 150), ("150e6", 150), ("6.67ns", 149.925), ("150", 150), (150, 150),
     ("0.15 GHz", 150), ("20000 ps", 50), ("12000kHz", 12), (12.5e6, 12.5)],
)  # fmt: skip
def test_a_clock_is_a_frequency_or_a_period(given: object, expected: float) -> None:
    assert megahertz(given) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "given", ["", "fast", "-150MHz", "0", "0ns", "150 Hz", "1e99", "15m", "nan"]
)
def test_other_clocks_are_refused(given: str) -> None:
    with pytest.raises(UsageError, match="is not a clock; give a frequency or a period"):
        megahertz(given)


def planned(level: Any, clock: float, device: str) -> Any:
    """Return what is planned for an arm, and the text of its module."""
    files = export_texts(
        kept("export-pid"), "verilog", None, ExportOptions(level, clock=clock, device=device)
    )
    (text,) = files.values()
    return files.timing, str(text)  # type: ignore[attr-defined]  # of files with a clock


@pytest.mark.parametrize(
    ("level", "device"),
    [*(("words", device) for device in DELAYS),
     pytest.param("gates", "ice40", marks=pytest.mark.check)],
)  # fmt: skip
def test_a_faster_clock_takes_more_stages_and_the_estimate_reaches_it(
    level: str, device: str
) -> None:
    counts = []
    top = 40.0 if device == "up5k" else 120.0
    for clock in (top / 6, top / 2, top):
        timing, text = planned(level, clock, device)
        counts.append(timing.stages)
        assert timing.clock >= clock
        found = PLANNED.search(text)
        assert found is not None
        assert int(found[1]) == timing.stages
        assert int(found[2]) + timing.stages == timing.flip_flops
        assert (timing.luts > 0) == (level == "gates")
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_an_impossible_clock_is_refused_with_the_best_one_which_is_reached() -> None:
    with pytest.raises(UsageError, match="2000 MHz is not reached on Lattice iCE40") as refused:
        planned("words", 2000.0, "ice40")
    best = re.search(r"about (\d+) MHz", str(refused.value))
    assert best is not None
    assert planned("words", int(best[1]) - 1.0, "ice40")[0].clock >= int(best[1]) - 1


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("verilog", ExportOptions(clock=100.0), "needs a device; give one with --device: ice40"),
        ("verilog", ExportOptions(clock=9.0, device="ice4"), "did you mean 'ice40'"),
        ("verilog", ExportOptions(pipeline=2, clock=9.0, device="ecp5"), "leave out --pipeline"),
        ("verilog", ExportOptions(luts=6, device="ecp5"), "have 4 inputs, not 6"),
        ("blif", ExportOptions(clock=9.0, device="ecp5"), "BLIF has no clock"),
        ("c", ExportOptions(device="ice4"), "unknown device 'ice4'"),
    ],
)
def test_what_does_not_go_with_a_clock_is_refused(
    target: str, options: ExportOptions, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        export_texts(tiny(), target, None, options)


def test_the_stages_for_a_clock_are_the_same_again() -> None:
    assert planned("words", 90.0, "ecp5") == planned("words", 90.0, "ecp5")


def test_gates_for_a_device_are_its_look_up_tables() -> None:
    texts = [
        export_texts(tiny(), "verilog", None, options)
        for options in (ExportOptions(luts=6), ExportOptions(device="xilinx7"))
    ]
    assert texts[0] == texts[1]


OF_PIPELINES = [one for one in SIMULATIONS if one.pipeline and one.bench]


@pytest.mark.check
@pytest.mark.parametrize("one", OF_PIPELINES, ids=lambda one: f"{one.tool}-{one.level}")
def test_a_simulator_agrees_with_stages_for_a_clock(one: Any) -> None:
    if shutil.which(one.tool) is None:
        pytest.skip(f"{one.tool} is not installed")
    options = ExportOptions(one.level, test_bench=True, clock=110.0, device="ice40")
    files = export_texts(arm("compact", 6), one.target, None, options)
    check = simulated("it", one, dict(files), 120)
    assert check.holds, check.note
