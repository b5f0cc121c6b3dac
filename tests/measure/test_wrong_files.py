"""Hand-made wrong Verilog, VHDL and netlists: each is refused, or not proved."""

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import Run
from small_programs import compact

from boolcomp.base import BoolcompError
from boolcomp.logic import find
from boolcomp.measure import file_checked
from boolcomp.targets import ExportOptions, export_texts

tool = find()
needs_yosys = pytest.mark.skipif(
    tool is None or tool.source != "the pyosys wheel", reason="pyosys is not installed"
)


def exported(target: str = "verilog", pipeline: int = 0) -> str:
    (text,) = export_texts(compact(), target, None, ExportOptions("gates", pipeline)).values()
    return str(text)


def changed(formula: str, items: str = "", pipeline: int = 0) -> str:
    """Return Verilog with items, and a formula of the right word `good` as tau1."""
    return re.sub(
        r"assign tau1 = (.*?);",
        lambda found: f"wire [4:0] good = {found[1]};\n{items}\nassign tau1 = {formula};",
        exported(pipeline=pipeline),
    )


def verdict(text: str, folder: Path, file: str = "x.v") -> str:
    """Return yes, no, or the sentence of an error or of an undecided proof."""
    (folder / file).write_text(text)
    try:
        found = file_checked(compact(), None, folder / file, None, 60.0)
    except BoolcompError as error:
        return error.what if error.exit_code == 1 else f"exit code {error.exit_code}"
    return {True: "yes", False: "no", None: found.note}[found.holds]


# Refused before a tool reads them.
UNREAD = [
    ("good", '`include "other.v"', "`include reads another file"),
    ("good", 'reg [4:0] m [0:1]; initial $readmemh("m", m);', "$readmemh reads another file"),
    ("good", "`ifdef SYNTHESIS\n`endif", "its logic depends on a macro: `ifdef SYNTHESIS"),
    ("good", "`ifndef OTHER\n`endif", "its logic depends on a macro: `ifndef OTHER"),
    ("good", "// synopsys translate_off\n", "translate_off: synthesis differs from simulation"),
    ("good", "// full_case\n", "full_case: synthesis differs from simulation"),
    ("good ^ $random", "", "$random is no logic"),
    ("good ^ $time", "", "$time is no logic"),
    ("good", 'import "DPI-C" function int abort();', "import is not compared"),
    ("r", "reg [4:0] r; always @(q1) r = good;", "a sensitivity list is not compared: @(q1)"),
    ("good", "(* init = 1 *) reg r;", "an attribute is not compared: (* init = 1 *)"),
    ("f(0)", "function [4:0] f(input x); f = good; endfunction", "function is not compared"),
    ("r", "reg [4:0] r; always @* r <= #3 good;", "a delay is not compared"),
    ("r", "reg [4:0] r, t; always @* begin r = t; t = good; end",
     "t is read before it is assigned in always @*"),
    ("r", "reg [4:0] r; always @* begin : b reg [4:0] t; r = t; t = good; end",
     "t is read before it is assigned in always @*"),
    ("r", "reg [4:0] r; always @(posedge q1[0]) begin r <= 0; r = good; end",
     "r is assigned by = at a clock edge, which simulators may delay"),
    ("good", 'wire [15:0] s = "/*"; inout p; wire [15:0] t = "*/";',
     "inout ports are not supported"),
    ("good", "endmodule module a; wire \\/* ; endmodule module a; //", "module a is defined twice"),
]  # fmt: skip
# Read by Yosys.
READ = [
    ("r", "reg [4:0] r; always @* if (q1[0]) r = good;", "latches cannot be compared"),
    ("good", "assign tau1 = ~good;", "a net has several drivers"),
    ("good", "assign tau1 = 5'd0;", "a net has several drivers"),
    ("r", "reg [4:0] r; always @* r = good; always @* r = 0;", "a net has several drivers"),
    ("good", "assign q1[0] = q2[0];", "a net has several drivers"),
    ("r", "reg [4:0] r; always @* begin r = 0; if (q1 <= 3 || q1 == 4) r = good; end", "no"),
    ("r", "reg [4:0] r, t; always @* begin t = good; r = 0; r = r | t; end", "yes"),
    ("q1[0] ? 5'bx : good", "", "no"),
    ("q1[0] ? 5'bz : good", "", "no"),
    ("good ^ ((q1[0] ? 1'bx : q1[1]) ^ (q1[0] ? 1'bx : q1[1]))", "", "no"),
    ("good ^ v[q1[1:0]]", "wire [2:0] v = 0;", "no"),
    ("good ^ u", "wire u;", "no"),
    ("good ^ m[q1[0]]", "reg [4:0] m [0:1]; initial m[0] = 0;", "no"),
    ("good ^ m[q1[0]]", "reg [4:0] m [0:1]; initial begin m[0] = 0; m[1] = 0; end", "yes"),
    ("good ^ (q2 == 0 ? (q1 % q2) ^ q1 : 6'd0)", "", "$mod cannot be compared"),
    ("r", "reg [4:0] r; always @(posedge q1[0]) r <= good;",
     "its inputs differ from the program's: it lacks clock, enable, valid_in"),
    ("good ^ l", "wire l = l & q1[0];", "it has a combinational loop"),
    ("good + P", "parameter P = 0;", "yes"),
    ("good + P", "parameter P = 1;", "no"),
    ("\\a+//b ", "wire [4:0] \\a+//b = good;", "yes"),
    ("good[`W-1:0]", "`define W 5", "yes"),
]  # fmt: skip
# Pipelines of three stages.
CLOCKED = [
    ("enable ? good : 5'd0", "", "no"),
    ("valid_out ? good : 5'd0", "", "no"),
    ("good ^ s", "reg s = 0; always @(posedge clock) if (enable) s <= s ^ valid_in;", "no"),
    ("good ^ (&c)", "reg [7:0] c = 0; always @(posedge clock) if (enable) c <= c + 1;", "tried"),
    ("good ^ f", "reg f = 0; always @(posedge clock) f <= ~enable;", "tried"),
    ("good ^ (&f)", "reg [1:0] f = 0; always @(posedge clock) f <= enable ? 0 : f + 1;", "tried"),
    ("good ^ f", "reg f = 0, e = 0; always @(posedge clock) {f, e} <= {enable & ~e, enable};",
     "tried"),
    ("good ^ (v == 5)", "reg [2:0] v = 0; always @(posedge clock) if (enable) v <= {v, valid_in};",
     "no"),
    ("good ^ s", "reg s = 1; always @(posedge clock) if (enable) s <= s;", "no"),
    ("good ^ s", "reg s; always @(posedge clock) if (enable) s <= s;", "no"),
    ("good ^ s", "reg s = 0; always @(posedge clock) if (enable) s <= s;", "yes"),
    ("r", "reg [4:0] r; always @(posedge clock, posedge q1[0]) if (q1[0]) r <= 0; else r <= q2;",
     "$_DFF_PP0_ cannot be compared"),
    ("good ^ clock", "", "no"),
    ("r", "reg [4:0] r; always @(negedge clock) if (enable) r <= good;",
     "a register is not clocked by the rising edge of clock"),
    ("r", "reg [4:0] r; wire c = clock & enable; always @(posedge c) r <= good;",
     "a register is not clocked by the rising edge of clock"),
    ("r", "reg [4:0] r; always @* if (~clock) r = good;", "latches cannot be compared"),
]  # fmt: skip
PORTS = [
    ("output wire [4:0] tau1,", "output wire [4:0] tau1, output wire \\tau1[0] ,",
     "two ports have the bit tau1[0]"),
    ("input wire [5:0] q1,", "input wire [4:0] q1,", "lacks q1[5]"),
    ("input wire [5:0] q1,", "input wire signed [5:0] q1,", "yes"),
    ("output wire [4:0] tau1,", "output wire [5:0] tau1,", "also has tau1[5]"),
    ("endmodule", "", "syntax error"),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "items", "sentence"), UNREAD)
def test_text_that_depends_on_more_than_the_file_is_refused(
    formula: str, items: str, sentence: str, tmp_path: Path
) -> None:
    assert verdict(changed(formula, items), tmp_path) == sentence


@needs_yosys
@pytest.mark.check
@pytest.mark.parametrize(("formula", "items", "sentence"), READ)
def test_wrong_logic_is_not_proved(formula: str, items: str, sentence: str, tmp_path: Path) -> None:
    assert verdict(changed(formula, items), tmp_path) == sentence


@needs_yosys
@pytest.mark.check
@pytest.mark.parametrize(("formula", "items", "sentence"), CLOCKED)
def test_a_pipeline_with_state_or_other_clocks_is_not_proved(
    formula: str, items: str, sentence: str, tmp_path: Path
) -> None:
    found = verdict(changed(formula, items, 3), tmp_path)
    assert found.startswith(sentence) if sentence == "tried" else found == sentence


@needs_yosys
@pytest.mark.check
@pytest.mark.parametrize(("old", "new", "sentence"), PORTS)
def test_other_ports_and_half_files_are_refused(
    old: str, new: str, sentence: str, tmp_path: Path
) -> None:
    text = changed("good ^ 0").replace(old, new)
    assert sentence in verdict(text, tmp_path)


@pytest.mark.parametrize("text", ["module", "module machado_2r (", exported()[:-40]])
def test_a_file_that_is_cut_off_is_no_traceback(text: str, tmp_path: Path) -> None:
    assert verdict(text, tmp_path) not in ("yes", "no")


@pytest.mark.parametrize(("target", "old", "new", "sentence"), [
    ("blif", ".end", ".latch q1[0] z 0\n.end", "latch is not combinational"),
    ("blif", "\n.names", "\n.search /etc/passwd\n.names", "search is not combinational"),
    ("blif", "\n.names", "\n.subckt x a=q1[0] b=z\n.names", "subckt is not combinational"),
    ("aiger-ascii", " 0 10 ", " 0 10 0 0 1 ", "latches and properties|is not"),
    ("vhdl", "use ieee.std_logic_1164.all;", "use std.textio.all;", "textio reads another file"),
])  # fmt: skip
def test_netlists_with_state_and_vhdl_with_files_are_refused(
    target: str, old: str, new: str, sentence: str, tmp_path: Path
) -> None:
    if target == "vhdl" and shutil.which("ghdl") is None:
        pytest.skip("not installed: ghdl")
    text = exported(target)
    assert old in text
    file = {"blif": "x.blif", "aiger-ascii": "x.aag", "vhdl": "x.vhd"}[target]
    assert re.search(sentence, verdict(text.replace(old, new, 1), tmp_path, file))


def members(session: int) -> Iterator[str]:
    """Yield the processes of a session."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            text = path.read_text()
            if text.rpartition(")")[2].split()[3] == str(session):
                yield text


@needs_yosys
@pytest.mark.check
@pytest.mark.skipif(sys.platform != "linux", reason="sessions in /proc")
def test_children_end_within_two_seconds_after_an_interrupt(run: Run) -> None:
    compact().save("out")
    slow = "m" + "".join(f" * (m + {k})" for k in range(60))  # minutes of Yosys
    text = changed("good ^ r", f"wire [255:0] m = {{q1, q2}}; wire r = ^({slow});")
    Path("x.v").write_text(text)
    command = [sys.executable, "-m", "boolcomp", "verify", "out", "--file", "x.v"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(6.0)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    start = time.monotonic()
    child.communicate(timeout=30)
    assert time.monotonic() - start < 2.0
    assert not list(members(child.pid))
    assert run("verify", "out", "--file", "none.v").code == 2
