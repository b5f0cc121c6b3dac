"""The commands export, import and verify, as a user has them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Run
from small_programs import compact
from targets.exported import arm, tiny


def test_a_file_or_a_folder_is_written(run: Run) -> None:
    tiny().save("tiny")
    assert run("export", "tiny", "--to", "verilog", "-o", "x.v").err == "wrote x.v\n"
    found = run("export", "tiny", "--to", "vhdl", "-o", "rtl", "--test-bench", "--json")
    files = ["rtl/tiny_arm.vhd", "rtl/tiny_arm_tb.vhd"]
    assert json.loads(found.out) == {"program": "tiny", "target": "vhdl", "files": files}
    assert all(Path(file).is_file() for file in files)
    result = run("export", "tiny", "--to", "verilog", "-o", "x.v", "--test-bench", "--json")
    assert json.loads(result.out)["files"] == ["x.v", "tiny_arm_tb.v"]
    assert "module tiny_arm_tb" in Path("tiny_arm_tb.v").read_text()
    found = run("export", "tiny", "--to", "verilog", "-o", "s", "--interface", "stream", "--json")
    assert json.loads(found.out)["files"] == ["s/tiny_arm_stream.v"]
    assert run("export", "tiny", "--to", "blif", "-o", "-").out.startswith("# program tiny arm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--to veriolg -o x", "unknown target 'veriolg'\n  hint: did you mean 'verilog' or"),
        (
            "--to verilog -o x --level gate",
            "unknown level 'gate'\n  hint: did you mean 'gates'? levels are",
        ),
        ("--to verilog -o x --interface steam", "unknown interface 'steam'\n  hint: did you mean"),
        ("--to pla -o x --interface stream", "PLA has no interfaces\n  hint: leave out"),
        ("--to verilog -o x --pipeline 99", "--pipeline must be 0 to 64, not 99"),
        ("--to verilog -o x.bin", "x.bin is named as another target's file"),
        ("--to verilog -o x.v --load 3", "no payload 3.0\n  hint: this program has 0 kg\n"),
        ("--to verilog -o tiny_arm_tb.v --test-bench", "give another"),
    ],
)
def test_a_bad_export_is_refused(run: Run, arguments: str, message: str) -> None:
    tiny().save("tiny")
    result = run("export", "tiny", *arguments.split())
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert [path.name for path in Path().iterdir()] == ["tiny"]


def test_what_is_exported_is_imported_and_written_in_other_formats(
    run: Run,
) -> None:
    tiny().save("tiny")
    run("export", "tiny", "--to", "blif", "-o", "a.blif")
    for before, after in (("a.blif", "b.aig"), ("b.aig", "c.aag"), ("c.aag", "d.blif")):
        found = run("import", before, "-o", after, "--json")
        document = json.loads(found.out)
        assert (document["inputs"], document["outputs"], document["output"]) == (5, 3, after)
    assert ".inputs a[1] a[0] b c[1] c[0]\n" in Path("d.blif").read_text()
    assert run("import", "d.blif", "-o", "e.txt").code == 0
    assert Path("e.txt").read_text().startswith("network 5 inputs 3 outputs")
    wrong = run("import", "a.blif", "-o", "x.v")
    assert (wrong.code, wrong.out) == (2, "")
    Path("bad.blif").write_text(".inputs a\n.outputs y\n.latch a y\n.end\n")
    wrong = run("import", "bad.blif", "-o", "x.txt")
    assert ".latch is not combinational (bad.blif:3)\n  hint: only .names is" in wrong.err
    assert wrong.code == 1


@pytest.mark.parametrize("mode", ["paper", "compact"])
def test_a_program_is_verified(run: Run, mode: str) -> None:
    arm(mode, 4).save("arm")
    document = json.loads(run("verify", "arm", "--json").out)
    assert document["holds"]
    checks = {check["name"]: check for check in document["checks"]}
    assert {"blif read back", "aiger read back", "verilog read back, 4 stages"} <= checks.keys()
    keys = {"name", "method", "cases", "seconds", "holds", "note", "conditional"}
    assert set(document["checks"][0]) == keys
    if mode == "compact":
        assert checks["network against the graph's logic"]["holds"]


def test_tools_that_are_missing_are_named_and_skipped(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny().save("tiny")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("boolcomp.logic.lutmapping.find", lambda: None)
    monkeypatch.setattr("boolcomp.measure.verify.find_spec", lambda _: None)
    found = run("verify", "tiny", "--with-tools", "--json")
    assert found.code == 0
    notes = " ".join(check["note"] for check in json.loads(found.out)["checks"])
    for missing in ("iverilog", "ghdl", "verilator"):
        assert f"{missing} was not found on PATH" in notes
    assert "ABC was not found" in notes
    assert "Yosys was not found" in notes


def test_c_of_a_program_searched_for_logic_comes_with_a_hint(run: Run) -> None:
    logic = compact()
    logic.save("logic")
    replace(logic, demand=f"{logic.demand} target=mcu32").save("processor")
    arm("paper", 4).save("paper")
    for target, output in (("c", "arm.c"), ("c-header", "-"), ("c-header", "arm.h")):
        said = run("export", "logic", "--to", target, "-o", output).err
        assert " ".join(said.split()).endswith(
            "hint: a search for C gives code about twice as fast: "
            "boolcomp compile machado-2r --bits 4 --target mcu8 (or mcu32)"
        )
        for other in ("processor", "paper"):
            assert "hint: a search" not in run("export", other, "--to", target, "-o", output).err
    assert "hint: a search" not in run("export", "logic", "--to", "verilog", "-o", "arm.v").err
