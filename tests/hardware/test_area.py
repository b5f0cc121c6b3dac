"""What designs take of FPGAs: what tools print is read, frames are Verilog, real runs count."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from targets.exported import arm, tiny

from boolcomp.base import write_entry
from boolcomp.base.errors import DataError
from boolcomp.measure import fpga
from boolcomp.measure.fpga import (
    Area,
    CellCounts,
    Device,
    VerilogSource,
    area,
    cell_kinds,
    clock_of,
    counted,
    device,
    framed,
    longest,
    mapped_area,
    paired,
    source_of,
)

needs_yosys = pytest.mark.skipif(fpga.find("yosys") is None, reason="Yosys is not installed")


# As Yosys 0.70 printed them for a pipelined arm on the iCE40, shortened.
STAT = json.dumps({
    "creator": "Yosys 0.70", "modules": {},
    "design": {
        "num_wires": 30, "num_cells": 999,
        "num_cells_by_type": {
            "$scopeinfo": 7, "SB_CARRY": 40, "SB_DFF": 8, "SB_DFFE": 399, "SB_LUT4": 537,
            "SB_MAC16": 3, "SB_RAM40_4K": 2,
        },
    },
})  # fmt: skip
LTP = """
10. Executing LTP pass (find longest path).

Longest topological path in machado_2r (length=25):
    0: \\q1 [7]
    1: \\n4 (via n4_t.cell_)
"""
REPORT = json.dumps({
    "fmax": {
        "clock$SB_IO_IN_$glb_clk": {"achieved": 199.8, "constraint": 250.0},
        "other": {"achieved": 210.5, "constraint": 250.0},
    },
})  # fmt: skip


def test_what_tools_print_is_read() -> None:
    assert counted(cell_kinds(STAT), device("ice40")) == CellCounts(537, 40, 3, 2, 407)
    xilinx = {"LUT1": 1, "LUT2": 2, "LUT6": 3, "INV": 4, "CARRY4": 5, "DSP48E1": 6, "FDRE": 7}
    assert counted(xilinx, device("xilinx7")) == CellCounts(10, 5, 6, 0, 7)
    lattice = {"LUT4": 1, "CCU2C": 2, "MULT18X18D": 3, "TRELLIS_FF": 4, "$scopeinfo": 9}
    assert counted(lattice, device("ecp5")) == CellCounts(1, 2, 3, 0, 4)
    assert longest(LTP) == 25
    assert clock_of(REPORT) == 199.8  # the slowest
    for read, text in ((cell_kinds, "{}"), (cell_kinds, "no JSON"), (longest, "nothing"),
                       (clock_of, '{"fmax": {}}'), (clock_of, '{"fmax": {"a": {}}}')):  # fmt: skip
        with pytest.raises(DataError):
            read(text)


def test_a_lut6_takes_two_functions_of_five_inputs_but_not_two_bits_of_a_chain() -> None:
    def lut6(tables: list[tuple[list[int], int]], chain: list[int]) -> int:
        cells: dict[str, Any] = {
            f"t{k}": {
                "type": f"LUT{len(bits)}",
                "connections": {**{f"I{j}": [bit] for j, bit in enumerate(bits)}, "O": [made]},
            }
            for k, (bits, made) in enumerate(tables)
        }
        cells["chain"] = {"type": "CARRY4", "connections": {"S": chain}}
        return paired(json.dumps({"modules": {"top": {"cells": cells}}}))

    two = [([1, 2, 3], 10), ([3, 4, 5], 11)]
    assert lut6(two, [10]) == 1
    assert lut6(two, [10, 11]) == 2
    assert lut6([*two[:1], ([3, 4, 5, 6], 11)], []) == 2  # six inputs
    assert lut6([([1, 2, 3, 4, 5, 6], 10), ([1, 2], 11)], []) == 2
    assert lut6([([1, 2], 10), ([3], 11), ([1, 2, 3, 4, 5], 12), ([1, 2, 5], 13)], []) == 2


def test_a_tool_that_fails_says_its_own_error(tmp_path: Path) -> None:
    script = tmp_path / "tool"
    script.write_text("#!/bin/sh\necho warm-up\necho 'ERROR: no such cell'\nexit 3\n")
    script.chmod(0o700)
    with pytest.raises(DataError, match=r"yosys failed \(ERROR: no such cell\)"):
        fpga.FpgaTool("yosys", (str(script),), "PATH").run([], tmp_path)


def test_a_tool_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="stopped after 0 s"):
        fpga.FpgaTool("yosys", ("/bin/sleep",), "PATH").run(["20"], tmp_path, 0.05)


def test_missing_tools_are_named_and_skipped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fpga, "find", lambda _: None)
    tiny().save("tiny")
    said = json.loads(run("area", "tiny", "--on", "ice40,lut4", "--json").out)
    assert [row["target"] for row in said["rows"]] == ["lut4"]
    assert "boolcomp[hardware]" in said["skipped"][0]


@pytest.mark.check
def test_generic_tables_are_our_own_mapping() -> None:
    found = mapped_area(arm("compact", 4), None, device("lut4"), 0)
    assert (found.cells.ff, found.stages) == (0, 0)
    staged = mapped_area(arm("compact", 4), None, device("lut4"), 3)
    assert staged.cells.ff > staged.levels
    assert staged.levels < found.levels


def test_counts_are_kept_for_the_same_text_options_and_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[VerilogSource] = []

    def measured(source: VerilogSource, family: Device, **_: object) -> Area:
        calls.append(source)
        cells = CellCounts(len(calls), 0, 0, 0, 0)
        return Area(family.name, source.name, cells, 3, (100.5, 99.25), source.stages)

    tool = tmp_path / "yosys"
    tool.write_text("one")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(fpga, "find", lambda name: fpga.FpgaTool(name, (str(tool),), "PATH"))
    monkeypatch.setattr(fpga, "_measured", measured)
    source, family = source_of(tiny(), None, "gates", 2, 0), device("ice40")
    first = area(source, family)
    assert area(source, family) == first
    assert len(calls) == 1
    (path,) = (tmp_path / "boolcomp" / "area").iterdir()
    whole = path.read_bytes()
    write_entry(path, whole[-20:])
    for content in (whole[:-1], b"", path.read_bytes(), whole.replace(b"100.5", b"200.5")):
        path.write_bytes(content)
        assert area(source, family).cells.luts == len(calls)
        assert area(source, family).cells.luts == len(calls)
    assert len(calls) == 5
    others = [
        area(replace(source, text=source.text + " "), family), area(source, family, seeds=2),
        area(source, device("ecp5")), area(source, family, dsp=True),
    ]  # fmt: skip
    tool.write_text("another")
    others.append(area(source, family))
    assert [one.cells.luts for one in others] == [6, 7, 8, 9, 10]


@pytest.mark.parametrize("stages", [0, 2])
def test_a_frame_is_verilog_that_icarus_takes(tmp_path: Path, stages: int) -> None:
    from shutil import which

    tool = which("iverilog")
    if tool is None:
        pytest.skip("Icarus Verilog is not installed")
    source = source_of(tiny(), None, "luts", stages, 4)
    (tmp_path / "core.v").write_text(source.text)
    (tmp_path / "frame.v").write_text(framed(source))
    command = [tool, "-g2005", "-Wall", "-o", "x", "core.v", "frame.v"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@needs_yosys
@pytest.mark.check
def test_yosys_leaves_our_tables_as_they_are() -> None:
    source = source_of(arm("compact", 4), None, "luts", 2, 4)
    found = area(source, device("ice40"), seeds=0)
    own = mapped_area(arm("compact", 4), None, device("lut4"), 2)
    assert (found.cells.luts, found.cells.ff) == (own.cells.luts, own.cells.ff)
    assert found.cells.luts == source.text.count("_t (")
    assert found.levels == own.levels
    assert not found.fmax
