"""Stages for a clock that place and route corrects: rounds, choice, store and messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from exports import kept
from targets.exported import tiny

from boolcomp.measure import fpga

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Run

needs_yosys = pytest.mark.skipif(fpga.find("yosys") is None, reason="Yosys is not installed")


class Router:
    """Replaces synthesis, place and route: the clock is a function of the stages."""

    def __init__(self, clock: Callable[[int], float]) -> None:
        self.clock, self.seen = clock, []  # type: ignore[var-annotated]  # stages

    def measured(self, source: Any, family: Any, **_: Any) -> fpga.Area:
        self.seen.append(source.stages)
        cells = fpga.CellCounts(100, 20, 0, 0, 30 * source.stages)
        return fpga.Area(family.name, source.name, cells, 5, (self.clock(source.stages),),
                         source.stages)  # fmt: skip


@pytest.fixture
def router(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Router]:
    """Return a function that installs a router; stores are empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept("export-pid").save("pid")

    def install(clock: Callable[[int], float]) -> Router:
        made = Router(clock)
        monkeypatch.setattr(fpga, "_measured", made.measured)
        monkeypatch.setattr(fpga, "needed", lambda _: None)
        return made

    return install


WORDS = ("--to", "verilog", "-o", "x.v", "--level", "words", "--device", "ice40", "--json")


def closed(run: Run, clock: str, *more: str) -> dict[str, Any]:
    """Return the timing that an export prints."""
    ran = run("export", "pid", *WORDS, "--clock", clock, *more)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)["timing"]
    return found


def test_a_plan_that_misses_its_clock_is_followed_by_a_faster_one_which_is_stored(
    run: Run, router: Callable[..., Router]
) -> None:
    first = closed(run, "90MHz")
    before = logic()
    clocks = iter((60.0, 95.0))
    used = router(lambda _: next(clocks))
    found = closed(run, "90MHz", "--close")
    assert found["fmax_mhz"] == 95
    assert used.seen == [first["stages"], found["stages"]]
    assert found["stages"] >= first["stages"]
    after = logic()
    assert after != before
    assert closed(run, "90MHz", "--close") == found  # from the store: no third clock
    assert logic() == after


def logic() -> list[str]:
    """Return the exported lines without the comments at their head."""
    return [line for line in Path("x.v").read_text().splitlines() if not line.startswith("//")]


def test_a_damaged_store_is_not_believed(
    run: Run, router: Callable[..., Router], tmp_path: Path
) -> None:
    used = router(lambda _: 91.0)
    found = closed(run, "90MHz", "--close")
    (file,) = (tmp_path / "cache" / "boolcomp" / "area").iterdir()
    file.write_bytes(file.read_bytes().replace(b"91.0", b"99.0"))
    assert closed(run, "90MHz", "--close") == found
    assert len(used.seen) == 2


def test_a_plan_with_slack_gets_fewer_stages_if_these_reach_the_clock(
    run: Run, router: Callable[..., Router]
) -> None:
    first = closed(run, "90MHz")
    router(lambda stages: 90.0 * stages / (first["stages"] - 1))
    assert closed(run, "90MHz", "--close")["stages"] == first["stages"] - 1


@pytest.mark.parametrize("clocks", [(70.0, 75.0), (75.0, 70.0)])
def test_a_clock_that_no_plan_reaches_is_refused_with_that_of_the_fastest(
    run: Run, router: Callable[..., Router], clocks: tuple[float, ...]
) -> None:
    each = iter(clocks)
    router(lambda _: next(each))
    ran = run("export", "pid", *WORDS, "--clock", "90MHz", "--close")
    assert ran.code == 1
    assert "90 MHz is not reached on ice40 after place and route" in ran.err
    assert "nextpnr reaches 75 MHz: lower the clock to that, or leave out --close" in ran.err
    assert next(each, None) is None
    assert not Path("x.v").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--close",), "--close needs a clock"),
        (("--clock", "90MHz", "--close", "--device", "xilinx7"), "no place-and-route tool"),
        (("--clock", "90MHz"), "--clock needs a device"),
        (("--clock", "fast", "--device", "ice40"), "'fast' is not a clock"),
        (("--clock", "90", "--device", "ice4"), "did you mean 'ice40'"),
        (("--clock", "9e9", "--device", "ice40"), "best reachable clock is about"),
        (("--clock", "90", "--device", "ecp5", "--pipeline", "3"), "leave out --pipeline"),
    ],
)
def test_bad_clocks_are_refused_and_nothing_is_written(
    run: Run, more: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    kept("export-pid").save("pid")
    ran = run("export", "pid", "--to", "verilog", "-o", str(tmp_path / "x.v"), "--level", "words",
              *more)  # fmt: skip
    assert ran.code == 2
    assert message in ran.err
    assert len(ran.err.strip().splitlines()) == 2
    assert not (tmp_path / "x.v").exists()


def test_area_skips_tables_that_have_no_clock(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fpga, "find", lambda _: None)
    tiny().save("tiny")
    said = json.loads(run("area", "tiny", "--on", "lut4", "--clock", "9MHz", "--json").out or "{}")
    assert said["skipped"] == ["lut4: no delays are known, so no stages for a clock"]


@needs_yosys
def test_streams_are_framed_with_all_of_their_ports() -> None:
    core = fpga.source_of(tiny(), None, "luts", 2, 4)
    stream = fpga.source_of(tiny(), None, "luts", 2, 4, interface="stream")
    assert dict(stream.inputs) == {
        "s_axis_tlast": 1, "s_axis_tdata": 24, "aresetn": 1, "s_axis_tvalid": 1, "m_axis_tready": 1
    }  # fmt: skip
    assert dict(stream.outputs) == {
        "m_axis_tlast": 1,
        "m_axis_tdata": 16,
        "s_axis_tready": 1,
        "m_axis_tvalid": 1,
    }
    plain, whole = (fpga.area(x, fpga.device("ice40"), seeds=0).cells for x in (core, stream))
    assert whole.ff > plain.ff  # Yosys found all ports of the module


@pytest.mark.check
@pytest.mark.skipif(fpga.find("nextpnr-ice40") is None, reason="nextpnr is not installed")
def test_nextpnr_confirms_a_clock(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept("export-pid").save("pid")
    found = closed(run, "100MHz", "--close")
    assert found["fmax_mhz"] >= 100
    monkeypatch.setattr(fpga, "_measured", None)  # not called again
    assert closed(run, "100MHz", "--close") == found
