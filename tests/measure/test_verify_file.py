"""A given file is proved against a program, refused with an input word, or cannot be compared."""

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Run
from exports import kept
from small_programs import compact, stages
from targets.test_stream import MUTANTS, streamed

import boolcomp as bc
from boolcomp.base import BoolcompError, DataError, UsageError
from boolcomp.measure import Check, file_checked
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts

FORMS = [("verilog", level, count) for level in ("gates", "words") for count in (0, 1, 3)]
VHDL = [("vhdl", level, count) for _, level, count in FORMS]
NETLISTS = [("blif", "gates", 0), ("aiger", "gates", 0), ("aiger-ascii", "gates", 0)]

# Every clock: random words, valid_in and enable; then the outputs. For the oracle of the changes.
BENCH = """
module bench;
    reg clock = 0, enable, valid_in;
    reg [5:0] q1, qdd1, qdd2;
    reg [4:0] q2;
    wire [4:0] tau1, tau2;
    wire valid_out;
    integer k;
    reg [63:0] s = 64'h123456789abcdef1;
    machado_2r dut (CONTROLS .q1(q1), .q2(q2), .qdd1(qdd1), .qdd2(qdd2), .tau1(tau1), .tau2(tau2));
    initial begin
        for (k = 0; k < 8000; k = k + 1) begin
            s = s ^ (s << 13); s = s ^ (s >> 7); s = s ^ (s << 17);
            q1 = s[5:0]; q2 = s[12:8]; qdd1 = s[19:14]; qdd2 = s[26:21];
            valid_in = s[30]; enable = s[32] | s[33];
            #1 $display("%b%b%b", valid_out, tau1, tau2);
            clock = 1; #1 clock = 0;
        end
        $finish;
    end
endmodule
"""
CONTROLS = ".clock(clock), .enable(enable), .valid_in(valid_in), .valid_out(valid_out),"


def exported(target: str, level: str, pipeline: int, luts: int = 0) -> tuple[str, str | bytes]:
    options = ExportOptions(level, pipeline, luts=luts)  # type: ignore[arg-type]
    ((file, content),) = export_texts(compact(), target, None, options).items()
    return file, content


def verilog(level: str = "gates", pipeline: int = 0) -> str:
    return str(exported("verilog", level, pipeline)[1])


def check(text: str | bytes, folder: Path, file: str = "x.v", top: str | None = None) -> Check:
    path = folder / file
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file_checked(compact(), None, path, top, 60.0)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "level", "pipeline"), [*FORMS, *NETLISTS, *VHDL])
def test_a_file_as_exported_holds(target: str, level: str, pipeline: int, tmp_path: Path) -> None:
    if target == "vhdl" and shutil.which("ghdl") is None:
        pytest.skip("not installed: ghdl")
    file, content = exported(target, level, pipeline)
    assert check(content, tmp_path, file).holds is True


@pytest.mark.slow
@pytest.mark.parametrize(("level", "pipeline"), [("gates", 0), ("words", 0), ("words", 3)])
def test_a_file_in_another_style_holds_by_yosys(level: str, pipeline: int, tmp_path: Path) -> None:
    text = re.sub(
        r"\bassign tau1 = (.*);", r"assign tau1 = ((\1) - 5'd3) + 5'd3;", verilog(level, pipeline)
    )
    assert text.count("- 5'd3") == 1
    assert check(text, tmp_path).holds is True
    assert check(text.replace("+ 5'd3", "+ 5'd4"), tmp_path).holds is False


@pytest.mark.check
def test_instances_of_tables_hold_and_a_change_of_their_module_is_found(tmp_path: Path) -> None:
    text = str(exported("verilog", "gates", 0, luts=4)[1])
    assert check(text, tmp_path).holds is True
    changed = text.replace("INIT[{a, b, c, d}]", "INIT[{a, b, d, c}]")
    assert changed != text
    assert check(changed, tmp_path).holds is False


def test_a_difference_comes_with_an_input_word_and_both_outputs(tmp_path: Path) -> None:
    text = verilog()
    found = check(text.replace("assign tau2 = {", "assign tau2 = ~{").replace("~~", ""), tmp_path)
    assert found.holds is False
    (match,) = re.findall(
        r"tau2 is (\d+) in the file, (\d+) in the program, at q1 = \d+, q2 = \d+, qdd1", found.note
    )
    assert int(match[0]) ^ int(match[1]) == 31


def test_ports_of_a_netlist_may_be_in_another_order(tmp_path: Path) -> None:
    text = str(exported("blif", "gates", 0)[1])
    line = next(one for one in text.splitlines() if one.startswith(".outputs "))
    names = line.split()[1:]
    turned = text.replace(line, " ".join([".outputs", *reversed(names)]))
    assert check(turned, tmp_path, "x.blif").holds is True
    swapped = text.replace("tau1[0]", "new").replace("tau1[1]", "tau1[0]").replace("new", "tau1[1]")
    assert check(swapped, tmp_path, "x.blif").holds is False


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("valid <= {valid[1:0], valid_in}", "valid <= {valid[1:0], valid_out}"),
        ("assign valid_out = valid[2]", "assign valid_out = valid[1]"),
        ("assign valid_out = valid[2]", "assign valid_out = ~valid[2]"),
        ("initial valid = 3'b0", "initial valid = 3'b1"),
        ("if (enable)", "if (valid_in)"),
        ("posedge clock", "negedge clock"),
    ],
)
@pytest.mark.parametrize("level", ["gates", "words"])
@pytest.mark.slow
def test_a_change_of_the_control_of_a_pipeline_is_refused(
    level: str, old: str, new: str, tmp_path: Path
) -> None:
    text = verilog(level, 3)
    assert text.count(old) == 1
    try:
        found = check(text.replace(old, new), tmp_path)
    except BoolcompError as error:
        assert "rising edge" in str(error)  # noqa: PT017 (either is a refusal)
    else:
        assert not found.holds
        assert found.note


@pytest.mark.check
@pytest.mark.parametrize("target", ["verilog", "vhdl"])
@pytest.mark.parametrize(("level", "pipeline"), [("gates", 0), ("gates", 2), ("words", 1)])
def test_a_file_with_streams_holds(target: str, level: str, pipeline: int, tmp_path: Path) -> None:
    if target == "vhdl" and shutil.which("ghdl") is None:
        pytest.skip("not installed: ghdl")
    program = kept("export-formats")
    options = ExportOptions(level, pipeline, interface="stream")  # type: ignore[arg-type]
    ((file, content),) = export_texts(program, target, None, options).items()
    (tmp_path / file).write_text(str(content))
    found = file_checked(program, None, tmp_path / file, None, 60.0)
    assert found.holds, found.note
    assert "every schedule of stalls" in found.method
    core = file_checked(program, None, tmp_path / file, "machado_2r", 60.0)
    assert core.holds, core.note
    assert "stalls" not in core.method


def stream_check(folder: Path, *changes: str) -> Check:
    program = kept("export-formats")
    ((_, text),) = streamed(program, "gates", 3).items()
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "x.v").write_text(text)
    return file_checked(program, None, folder / "x.v", None, 60.0)


RARE = """
    reg [4:0] stalled;
    always @(posedge aclk)
        stalled <= m_axis_tready | ~aresetn ? 5'd0 : stalled + (stalled != 5'd31);
    assign m_axis_tlast = sent[9] ^ (stalled == 5'd31);
"""


@pytest.mark.slow
def test_a_fault_after_a_rare_schedule_is_not_taken_for_proved(tmp_path: Path) -> None:
    assert stream_check(tmp_path).holds
    found = stream_check(tmp_path, "    assign m_axis_tlast = sent[9];\n", RARE)
    assert found.holds is None
    assert "a beat differs or is withdrawn, in a state that may not be reached" in found.note


@pytest.mark.check
def test_schedules_are_counted_where_states_are_too_many(tmp_path: Path) -> None:
    program = kept("export-formats")
    ((_, text),) = streamed(program, "gates", 12).items()
    (tmp_path / "x.v").write_text(text)
    found = file_checked(program, None, tmp_path / "x.v", None, 60.0)
    assert (found.holds, found.conditional) == (None, True)
    assert re.search(r"; \d+ schedules of stalls: these .* are samples", found.note)


@pytest.mark.check
def test_streams_around_instances_of_tables_hold(tmp_path: Path) -> None:
    program = kept("export-formats")
    ((_, text),) = streamed(program, "gates", 2, luts=4).items()
    (tmp_path / "x.v").write_text(text)
    assert file_checked(program, None, tmp_path / "x.v", None, 60.0).holds
    (tmp_path / "x.v").write_text(text.replace("INIT[{a, b, c, d}]", "INIT[{a, b, d, c}]"))
    assert file_checked(program, None, tmp_path / "x.v", None, 60.0).holds is False


def test_two_modules_of_one_name_are_refused_whatever_selects_them(tmp_path: Path) -> None:
    text = verilog()
    wrong = text.replace("assign tau2 = {", "assign tau2 = ~{").replace("~~", "")
    both = f"`ifndef BOOLCOMP_OLD\n{wrong}`else\n{text}`endif\n"
    with pytest.raises(DataError, match="module machado_2r is defined twice"):
        check(both, tmp_path, top="machado_2r")


@pytest.mark.check
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutation_of_the_streams_is_refused(name: str, tmp_path: Path) -> None:
    found = stream_check(tmp_path, *MUTANTS[name])
    assert found.holds is False
    assert found.note


@pytest.mark.check
def test_streams_in_another_style_hold_and_faults_around_the_core_are_found(tmp_path: Path) -> None:
    good = "if (~skid_valid) skid <= made;"
    assert stream_check(tmp_path, good, "skid <= skid_valid ? skid : made;").holds
    assert stream_check(tmp_path, "{4{sent[3]}}", "{sent[3], {3{m_axis_tdata[3]}}}").holds
    for old, new in (
        (".clock(aclk)", ".clock(~aclk)"),
        (".q1(s_axis_tdata[6:0])", ".q1(s_axis_tdata[7:1])"),
        (".enable(s_axis_tready)", ".enable(s_axis_tready & s_axis_tvalid)"),
        (".enable(s_axis_tready)", ".enable(s_axis_tready | s_axis_tdata[0])"),
        ("    wire n7 =", "    wire n7 = ~"),
        ("reg [9:0] sent;", "reg [9:0] other;"),  # the core is not connected
    ):
        try:
            assert not stream_check(tmp_path, old, new).holds, new
        except DataError as error:
            assert "rising edge of aclk" in str(error)  # noqa: PT017 (either is a refusal)
    more = "module more; endmodule\nmodule machado_2r ("
    with pytest.raises(UsageError, match="must contain one module"):
        stream_check(tmp_path, "module machado_2r (", more, "wire core_valid;", "more more ();")
    with pytest.raises(DataError, match="also has m_axis_tkeep"):
        stream_check(
            tmp_path,
            "    output wire m_axis_tlast",
            "    output wire m_axis_tkeep,\n    output wire m_axis_tlast",
        )


def test_what_the_reader_of_words_would_misread_does_not_hold(tmp_path: Path) -> None:
    text = verilog("words")
    for old, new in (
        ("wire [5:0] q1_q2 =", "wire [0:5] q1_q2 ="),
        ("+ 6'd1;", "+ 6'd65;"),
        ("+ 6'd1;", "&& 6'd1;"),
        ("cos_q1_q2_sign = q1_q2[4] ^", "cos_q1_q2_sign = q1_q2[4] &&"),
    ):
        assert old in text
        try:
            found = check(text.replace(old, new), tmp_path)
        except BoolcompError:
            continue
        assert found.holds is False or new == "+ 6'd65;"  # which is 1 modulo 64


def test_a_file_that_cannot_be_compared_is_one_sentence(tmp_path: Path) -> None:
    text = verilog()
    latch = "    reg kept;\n    always @* if (q1[0]) kept = q2[0];\nendmodule"
    driven = re.sub(r"\bassign tau1 = .*;", "assign tau1 = {5{kept}};", text)
    for message, changed in (
        ("also has q3", re.sub(r"\bq1\b", "q3", text)),
        ("lacks q1\\[5\\]", text.replace("[5:0] q1,", "[4:0] q1,").replace("q1[5]", "q1[4]")),
        ("inout", text.replace("input wire [5:0] q1,", "inout wire [5:0] q1,")),
        ("several top modules: machado_2r, other", f"{text}\nmodule other; endmodule\n"),
        ("no top module", "// nothing\n"),
        ("latches", driven.replace("endmodule", latch)),
        (
            "combinational loop",
            driven.replace("endmodule", "    wire kept = ~(kept & q1[0]);\nendmodule"),
        ),
    ):
        with pytest.raises(BoolcompError, match=message) as raised:
            check(changed, tmp_path)
        assert raised.value.exit_code == (2 if "top" in message else 1)
    both = f"{text}\nmodule other; endmodule\n"
    assert check(both, tmp_path, top="machado_2r").holds is True
    with pytest.raises(UsageError, match="unknown module 'another'"):
        check(text, tmp_path, top="another")
    with pytest.raises(UsageError, match="unknown ending"):
        check(text, tmp_path, "x.txt")
    with pytest.raises(BoolcompError, match=r"none\.v") as caught:
        file_checked(compact(), None, tmp_path / "none.v", None, 60.0)
    assert caught.value.exit_code == 2


def test_without_yosys_a_file_in_another_style_is_not_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.measure.fpga.find", lambda _: None)
    assert check(verilog(), tmp_path).holds is True
    with pytest.raises(UsageError, match=r"undecided without Yosys: reading: .*yosys"):
        check(verilog().replace("assign tau1 =", "assign tau1 = 5'd0 -"), tmp_path)


@pytest.mark.slow
def test_the_python_interface_proves_a_file_and_another_program_has_other_ports(
    tmp_path: Path,
) -> None:
    program: Program = stages(4)[2]
    made = bc.compile("machado-2r", bits=4)
    for file in ("x.v", "x.blif", "x.aig"):
        made.export(tmp_path / file)
        assert made.verify(file=tmp_path / file).ok
        with pytest.raises(DataError, match="differ from the program's"):
            file_checked(program, None, tmp_path / file, None, 60.0)


@pytest.mark.slow
def test_the_command_ends_with_0_1_or_2(run: Run) -> None:
    compact().save("out")
    Path("good.v").write_text(verilog())
    Path("bad.v").write_text(verilog().replace("assign tau2 = {", "assign tau2 = ~{"))
    assert "checks: 1 hold" in run("verify", "out", "--file", "good.v").out
    bad = run("verify", "out", "--file", "bad.v")
    assert bad.code == 1
    assert "bad.v: tau2 is" in bad.out
    assert run("verify", "out", "--file", "none.v").code == 2
    assert run("verify", "out", "--file", "good.v", "--with-tools").code == 2
    assert run("verify", "out", "--top", "x").code == 2


# Changes of one character. The oracle is Icarus: it simulates the file and the changed file.


def simulated(text: str, folder: Path) -> list[str] | None:
    """Return the outputs of every clock, or None if the file does not compile or end."""
    clocked = CONTROLS if "input wire clock" in text else ""
    (folder / "sim.v").write_text(text + BENCH.replace("CONTROLS", clocked))
    made = ["iverilog", "-g2005", "-s", "bench", "-o", "sim", "sim.v"]
    if subprocess.run(made, cwd=folder, capture_output=True, check=False).returncode:
        return None
    command = [shutil.which("vvp") or "vvp", "-n", "sim"]
    try:
        ended = subprocess.run(
            command, cwd=folder, capture_output=True, check=True, text=True, timeout=5
        )
    except subprocess.TimeoutExpired:  # a loop that oscillates
        return None
    return ended.stdout.split()


def changed(text: str, rng: random.Random) -> str:
    """Replace, insert or remove a digit or an operator outside of comments."""
    places = [
        match.start() + k
        for match in re.finditer(r"[^\n]*\n", text[text.index("module machado_2r") :])
        for k, one in enumerate(match[0].partition("//")[0])
        if one in "0123456789&|^~+"
    ]
    place = rng.choice(places) + text.index("module machado_2r")
    new = rng.choice("0123456789" if text[place].isdigit() else "&|^~+")
    kind = rng.choice(("replace", "replace", "replace", "insert", "remove"))
    rest = text[place + (kind != "insert") :]
    return text[:place] + (new if kind != "remove" else "") + rest


def judged(level: str, pipeline: int, seed: int, folder: Path) -> str:
    """Return the verdicts of simulation and proof on a change; fail if they contradict."""
    text, rng = verilog(level, pipeline), random.Random(seed)  # noqa: S311 (no secret)
    wanted = simulated(text, folder)
    assert wanted
    found, new = None, text
    while found is None or new == text:
        new = changed(text, rng)
        found = simulated(new, folder)
    pairs = zip(wanted, found, strict=True)
    same = all(a == b or ("x" in a and a[0] == b[0]) for a, b in pairs)
    try:
        verdict = check(new, folder).holds
    except BoolcompError:
        verdict = None
    assert verdict is not (not same)
    return f"{'same' if same else 'changed'} {verdict}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 18))
@pytest.mark.parametrize(
    ("level", "pipeline"), [("gates", 0), ("gates", 3), ("words", 0), ("words", 3)]
)
def test_a_change_of_one_character_is_refused_unless_it_is_equivalent(
    level: str, pipeline: int, seed: int, tmp_path: Path
) -> None:
    if shutil.which("iverilog") is None:
        pytest.skip("not installed: iverilog")
    assert judged(level, pipeline, seed, tmp_path)


@pytest.mark.check
@pytest.mark.parametrize(
    ("level", "pipeline"), [("gates", 0), ("gates", 3), ("words", 0), ("words", 3)]
)
def test_of_a_hundred_changes_nine_in_ten_equivalent_ones_are_proved(
    level: str, pipeline: int, tmp_path: Path
) -> None:
    if shutil.which("iverilog") is None:
        pytest.skip("not installed: iverilog")
    found = [judged(level, pipeline, 100 + seed, tmp_path) for seed in range(25)]
    same = [one for one in found if one.startswith("same")]
    assert len(found) - len(same) >= 5  # changes of the function
    assert len(same) - same.count("same True") <= max(1, len(same) // 10)
