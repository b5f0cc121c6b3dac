"""Bitstreams: the protocol is talked to the top module, the core is proved, parts have an end."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Run
from targets.exported import arm, family, of_graph, tiny

from boolcomp.base.errors import DataError
from boolcomp.logic import lutmapping
from boolcomp.measure import fpga
from boolcomp.measure.fpga import Sources, board, built, sources
from boolcomp.program.program import Program
from boolcomp.targets.target import ExportOptions
from boolcomp.words import Bits, Heap, InputWord, OutputWord, Scale, WordGraph

needs_yosys = pytest.mark.skipif(
    fpga.find("yosys") is None or fpga.find("nextpnr-ice40") is None or lutmapping.find() is None,
    reason="Yosys, nextpnr-ice40 or ABC is not installed",
)


def made(program: Program, stages: int = 2) -> Sources:
    return sources(program, None, board("icebreaker"), ExportOptions("gates", stages, luts=4))


def simulated(found: Sources, folder: Path) -> str:
    tool = shutil.which("iverilog")
    if tool is None:
        pytest.skip("Icarus Verilog is not installed")
    for file, text in (("core.v", found.core), ("top.v", found.top), ("tb.v", found.bench)):
        (folder / file).write_text(text)
    command = [tool, "-g2005", "-Wall", "-s", "boolcomp_bench", "-o", "x"]
    command += ["core.v", "top.v", "tb.v"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    ran = subprocess.run(
        [shutil.which("vvp") or "vvp", "-n", "x"], cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return ran.stdout


def summing() -> Program:
    """Return a program of 12 bits in and 10 out."""
    words = (InputWord("a", 9, angle=False), InputWord("b", 3, angle=False))
    heap = Heap((Bits(0, 0, 0, negative=False), Bits(1, 0, 2, negative=True)), 5, 10)
    return of_graph("summing", WordGraph((*words, heap), (Scale(0, 0.0),) * 3,
                                         (OutputWord(2, 0, 10),)))  # fmt: skip


@pytest.mark.parametrize("clocks", [4, 9])
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("one", [tiny, family, summing])
def test_the_bench_of_a_board_passes_with_its_core_and_fails_with_another(
    one: Callable[[], Program], stages: int, clocks: int, tmp_path: Path
) -> None:
    slow = replace(board("icebreaker"), hertz=115_200 * clocks)
    found = sources(one(), None, slow, ExportOptions("gates", stages, luts=4 * (stages > 1)))
    assert "PASS: 6 answers hold, the wrong one differs" in simulated(found, tmp_path)
    wrong = re.sub(
        r"\^|INIT\[", lambda one: "|" if one[0] == "^" else "~INIT[", found.core, count=1
    )
    assert "FAIL" in simulated(replace(found, core=wrong), tmp_path)


def test_the_core_of_a_board_has_the_stages_for_a_clock(tmp_path: Path) -> None:
    slow = replace(board("icebreaker"), hertz=115_200 * 4)
    options = ExportOptions("gates", luts=4, clock=60.0, device=slow.device)
    found = sources(summing(), None, slow, options)
    assert "stages for 60 MHz on Lattice iCE40 UP5K" in found.core
    assert "PASS: 6 answers hold" in simulated(found, tmp_path)


@pytest.mark.check
def test_requests_over_the_uart_are_answered_with_the_outputs(tmp_path: Path) -> None:
    assert "PASS: 6 answers hold" in simulated(made(arm("compact", 4)), tmp_path)


@pytest.mark.parametrize("taken", ["2r.bin", "2r_tb.v"])
def test_a_folder_in_the_place_of_a_result_is_refused_before_anything_is_made(
    run: Run, taken: str
) -> None:
    Path(taken).mkdir()
    result = run("build", "no-program", "--board", "icebreaker", "-o", "2r.bin")
    assert result.code == 1
    assert f"cannot be written: it is a folder ({taken})" in result.err
    assert [path.name for path in Path().iterdir() if path.name != "cache"] == [taken]


@needs_yosys
@pytest.mark.slow
def test_a_bitstream_is_made_of_a_core_that_is_proved() -> None:
    found = built(made(tiny()), board("icebreaker"))
    assert len(found.bitstream) > 100_000
    assert found.fmax > 12
    assert 3 <= found.cells.luts < 400


@needs_yosys
@pytest.mark.slow
def test_a_core_that_is_another_function_is_not_built() -> None:
    found = made(tiny())
    first = found.core.index("#(16'h") + 6
    digit = f"{int(found.core[first + 3], 16) ^ 1:x}"
    wrong = replace(found, core=found.core[: first + 3] + digit + found.core[first + 4 :])
    with pytest.raises(DataError, match="not proved equivalent to the program"):
        built(wrong, board("icebreaker"))


@needs_yosys
@pytest.mark.slow
def test_a_part_that_is_too_small_is_named_with_its_size() -> None:
    small = replace(board("icebreaker"), tables=100)
    with pytest.raises(DataError, match="has 100 look-up tables, the design needs"):
        built(made(tiny()), small)
