"""The SystemVerilog package, the FuseSoC core and the Amaranth component, with the real tools."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from exports import kept
from targets.exported import AWKWARD, family, tiny
from targets.test_stream import tdata

from boolcomp.base import UsageError
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts


def exported(program: Program, target: str, options: ExportOptions, folder: Path) -> list[str]:
    files = export_texts(program, target, None, options)
    for name, text in files.items():
        (folder / name).write_text(str(text))
    return list(files)


def ran(folder: Path, *command: str) -> str:
    """Return what a tool prints; skip the test without the tool."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def yosys(folder: Path, script: str) -> str:
    """Run a script of Yosys, as the package pyosys has it."""
    pytest.importorskip("pyosys")
    text = "import sys; from pyosys import libyosys as y; d = y.Design()\n"
    text += "for line in sys.argv[1].split(';'): y.run_pass(line, d)"
    return ran(folder, sys.executable, "-c", text, script)


def test_a_package_has_the_numbers_that_words_stand_for() -> None:
    program = kept("export-formats")
    (text,) = map(str, export_texts(program, "systemverilog-package").values())
    said = {
        match[1]: match[2].strip('"') for match in re.finditer(r"localparam .*?(\w+) = (.*);", text)
    }
    halves = {"gray": 0, "natural": 0, "twos": 32, "sign-magnitude": 0}
    for one in program.inputs:
        name, code = one.name.upper(), one.code
        assert (said[f"{name}_BITS"], said[f"{name}_CODE"]) == (str(code.bits), code.kind)
        assert said[f"{name}_UNIT"] == one.unit.replace("²", "^2")
        assert said[f"{name}_SIGNED"] == f"1'b{int(code.kind == 'twos')}"
        words = np.arange(code.cells)
        numbers = code.cell(code.decode(words))[0] - halves[code.kind]  # cells, signed words
        if code.kind == "twos":
            assert list(numbers) == [word - 64 * (word > 31) for word in words]
        values = float(said[f"{name}_OFFSET"]) + float(said[f"{name}_SCALE"]) * numbers
        assert values == pytest.approx(code.decode(words), abs=1e-12)
        assert float(said[f"{name}_LOW"]) == code.range.low
    assert "typedef logic signed [5:0] qdd2_t;" in text
    assert "typedef logic [6:0] q1_t;" in text


def test_formats_that_differ_by_load_have_its_number() -> None:
    program = kept("export-loads")
    (text,) = map(str, export_texts(program, "systemverilog-package").values())
    for k, load in enumerate(program.loads):
        tau2 = load.outputs[1].code
        assert f"localparam real TAU2_LOW_LOAD{k} = {tau2.range.low!r};" in text
    assert "localparam real TAU1_LOW = -400.0;" in text
    assert text.count("TAU1_LOW") == 1
    (text,) = map(str, export_texts(program, "systemverilog-package", 0.0).values())
    assert "_LOAD" not in text


USER = """\
module user {imported}(
    input wire [31:0] tdata, output wire [5:0] y, output wire signed [7:0] z, output wire ok
);
    {scope}s_axis_tdata_t given;
    {scope}qdd2_t signed_word;
    assign given = tdata;
    assign signed_word = given.qdd2;
    assign y = given.qdd1;
    assign z = signed_word;
    assign ok = {scope}Q1_UNIT == "rad" && {scope}QDD2_SCALE == 0.03125 && {scope}TAU1_BITS == 4;
endmodule
"""
BENCH = """\
module bench;
    wire [5:0] y; wire signed [7:0] z; wire ok;
    user dut (.tdata(32'hf1152233), .y(y), .z(z), .ok(ok));
    initial #1 $display("%0d %0d %b", y, z, ok);
endmodule
"""


@pytest.mark.slow
def test_tools_compile_a_package_and_read_a_beat_by_its_structure(tmp_path: Path) -> None:
    (package,) = exported(
        kept("export-formats"), "systemverilog-package", ExportOptions(), tmp_path
    )
    imported = USER.format(imported="import machado_2r_pkg::*; ", scope="")
    (tmp_path / "user.sv").write_text(imported)
    (tmp_path / "bench.v").write_text(BENCH)
    lint = (
        "verilator",
        "--lint-only",
        "-Wall",
        "-Wno-UNUSEDSIGNAL",
        "-Wno-WIDTH",
        "--top-module",
        "user",
    )
    assert ran(tmp_path, *lint, package, "user.sv") == ""
    made = ("iverilog", "-g2012", "-Wall", "-o", "x.vvp", package, "user.sv", "bench.v")
    assert ran(tmp_path, *made) == ""
    assert ran(tmp_path, "vvp", "-n", "x.vvp") == "21 -15 1\n"  # 15 hex; f1 without its fill
    (tmp_path / "user.sv").write_text(USER.format(imported="", scope="machado_2r_pkg::"))
    printed = yosys(
        tmp_path,
        f"read_verilog -sv {package} user.sv;hierarchy -check -top user;proc;opt;"
        "sat -verify -set tdata 4044694067 -prove y 21 -prove ok 1 -prove z 241",
    )
    assert "SUCCESS" in printed


@pytest.mark.slow
@pytest.mark.parametrize("program", [tiny(AWKWARD), family()], ids=["awkward", "family"])
def test_packages_of_awkward_names_and_of_loads_compile(program: Program, tmp_path: Path) -> None:
    (package,) = exported(program, "systemverilog-package", ExportOptions(), tmp_path)
    name = package.removesuffix(".sv")
    (tmp_path / "user.sv").write_text(
        f"module user import {name}::*; (output wire s_axis_tdata_t x);\n"
        "    assign x = '0;\nendmodule\n"
    )
    lint = ("verilator", "--lint-only", "-Wall", "--top-module", "user", package, "user.sv")
    assert ran(tmp_path, *lint) == ""
    assert ran(tmp_path, "iverilog", "-g2012", "-Wall", "-o", "x", package, "user.sv") == ""


@pytest.mark.check
@pytest.mark.skipif(find_spec("fusesoc") is None, reason="no fusesoc")
@pytest.mark.parametrize("interface", ["stream", None])
def test_fusesoc_lints_and_simulates_a_core(interface: Any, tmp_path: Path) -> None:
    options = ExportOptions("words", 2, test_bench=True, interface=interface)
    core, top, *_ = exported(kept("export-formats"), "fusesoc", options, tmp_path)
    name = core.removesuffix(".core")
    assert top == f"{name}.v"
    fusesoc = (sys.executable, "-m", "fusesoc.main", "--cores-root", ".", "run")
    ran(tmp_path, *fusesoc, "--target", "lint", name)
    done = ran(tmp_path, *fusesoc, "--target", "sim", name)
    assert "PASS: 255 vectors hold, the wrong one differs" in done


COMPONENT = """\
from amaranth.back import rtlil
from amaranth.hdl import Elaboratable, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from machado_2r_stream import GIVEN, MADE, Machado2rStream

class Two(wiring.Component):
    given: In(stream.Signature(GIVEN))
    made: Out(stream.Signature(MADE))

    def elaborate(self, platform):
        m = Module()
        m.submodules.arm = arm = Machado2rStream()
        wiring.connect(m, wiring.flipped(self.given), arm.given)
        wiring.connect(m, arm.made, wiring.flipped(self.made))
        return m

assert GIVEN["qdd2"].shape.signed and not GIVEN["q1"].shape.signed
with open("top.il", "w") as file:
    file.write(rtlil.convert(Two(), name="top"))
"""
BEATS = """\
module bench;
    reg clk = 0, rst = 1, valid = 0;
    reg [32:0] given [0:{last}];
    integer place = 0, seen = 0;
    wire [24:0] made;
    wire ready, made_valid;
    reg take = 0;
    top dut (.clk(clk), .rst(rst), .given__valid(valid), .given__ready(ready),
             .given__payload(given[place]), .made__valid(made_valid), .made__ready(take),
             .made__payload(made));
    initial begin
        $readmemh("given.hex", given);
        repeat (2) begin #5 clk = 1; #5 clk = 0; end
        rst = 0;
        valid = 1;
        while (seen <= {last}) begin
            take = $random;
            #5 if (take && made_valid) begin $display("%0d", made); seen = seen + 1; end
            clk = 1;
            if (ready && valid) begin
                #1 valid = place < {last};
                place = place + valid;
            end
            #5 clk = 0;
        end
        $finish;
    end
endmodule
"""


@pytest.mark.check
@pytest.mark.skipif(find_spec("amaranth") is None, reason="no amaranth")
@pytest.mark.parametrize(("level", "pipeline"), [("gates", 0), ("words", 2)])
def test_a_component_of_amaranth_carries_beats(level: Any, pipeline: int, tmp_path: Path) -> None:
    program = kept("export-formats")
    _, design = exported(program, "amaranth", ExportOptions(level, pipeline), tmp_path)
    (tmp_path / "design.py").write_text(COMPONENT)
    ran(tmp_path, sys.executable, "-W", "error", "design.py")
    yosys(tmp_path, "read_rtlil top.il;write_verilog -noattr top.v")
    beats = tdata(program, 200)
    rows = [f"{k % 2 << 32 | given:x}" for k, (given, _) in enumerate(beats)]
    (tmp_path / "given.hex").write_text("\n".join(rows))
    (tmp_path / "bench.v").write_text(BEATS.format(last=len(beats) - 1))
    ran(tmp_path, "iverilog", "-g2012", "-o", "x.vvp", "-s", "bench", "bench.v", "top.v", design)
    printed = ran(tmp_path, "vvp", "-n", "x.vvp").split()
    assert printed == [str(k % 2 << 24 | wanted) for k, (_, wanted) in enumerate(beats)]


def test_a_component_of_amaranth_has_streams_only() -> None:
    with pytest.raises(UsageError, match="has the interface stream; leave out --interface"):
        export_texts(tiny(), "amaranth", None, ExportOptions(pipeline=1, interface="valid"))


def test_files_of_a_core_refer_to_each_other(run: Run) -> None:
    tiny().save("tiny")
    found = run("export", "tiny", "--to", "fusesoc", "-o", "x/my.core", "--json")
    files = json.loads(found.out)["files"]
    assert files == ["x/my.core", "x/tiny_arm.v", "x/tiny_arm_pkg.sv"]
    text = Path("x/my.core").read_text()
    named = re.findall(r"- (\S+): \{file_type", text)
    assert {Path("x") / name for name in named} == {Path(file) for file in files[1:]}
    assert "sim:" not in text
    found = run("export", "tiny", "--to", "amaranth", "-o", "x/my.py", "--json")
    assert json.loads(found.out)["files"] == ["x/my.py", "x/tiny_arm_stream.v"]
    assert 'with_name("tiny_arm_stream.v")' in Path("x/my.py").read_text()
