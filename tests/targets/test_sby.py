"""Tasks of SymbiYosys: the exported Verilog passes, a changed one fails."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run
from targets.exported import tiny

import boolcomp as bc
from boolcomp.base import UsageError
from boolcomp.logic import find
from boolcomp.targets import ExportOptions, export_texts

# The scripts that SymbiYosys writes for `mode prove` and its engine `abc`, of version 0.70.
PREP = """
scc -select; simplemap; select -clear; memory_nordff; async2sync; opt_clean
formalff -setundef -clk2ff -ff2anyinit -hierarchy; chformal -live -fair -cover -remove; opt_clean
check; setundef -undriven -anyseq; opt -fast; rename -witness; opt_clean
delete */t:$print; hierarchy -simcheck; formalff -assume; flatten; setundef -undriven -anyseq
setattr -unset keep; delete -output; opt -full; techmap; opt -fast; memory_map -formal
formalff -clk2ff -ff2anyinit; simplemap; dffunmap; aigmap; opt_clean
write_aiger -I -B -zinit -no-startoffset made.aig
"""
YOSYS = """
import json, sys
from pyosys import libyosys
design = libyosys.Design()
for line in json.load(sys.stdin):
    libyosys.run_pass(line, design)
"""
CHECKED = {"gates": ("gates", 0), "tables": ("gates", 4), "words": ("words", 0)}
tool = find()
needs_yosys = pytest.mark.skipif(
    tool is None or tool.source != "the pyosys wheel", reason="pyosys is not installed"
)


def passes(task: Path) -> bool:
    """Run the steps of SymbiYosys on a task beside its Verilog: by pyosys and its ABC."""
    assert tool is not None
    parts = re.split(r"^\[(.*)\]\n", task.read_text(), flags=re.MULTILINE)[1:]
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    folder = task.parent / "task"
    folder.mkdir(exist_ok=True)
    for name, text in sections.items():
        if name.startswith("file "):
            (folder / name.removeprefix("file ")).write_text(text)
    for name in sections["files"].split():
        (folder / name).write_bytes((task.parent / name).read_bytes())
    assert "mode prove" in sections["options"]
    engine, _, commands = sections["engines"].strip().partition(" ")
    assert engine == "abc"
    lines = [*sections["script"].strip().split("\n"), *PREP.strip().split("\n")]
    steps = json.dumps([one.strip() for line in lines for one in line.split(";") if one.strip()])
    command = [sys.executable, "-P", "-c", YOSYS]
    subprocess.run(
        command, input=steps, text=True, cwd=folder, check=True, capture_output=True, timeout=60
    )
    script = f"read_aiger made.aig; fold; strash; {commands} -v -l"
    ran = subprocess.run(
        [str(tool.path), "-c", script], cwd=folder, check=True, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip
    verdict = "Property proved" in ran.stdout
    assert verdict is not ("was asserted" in ran.stdout)
    return verdict


@needs_yosys
@pytest.mark.check
@pytest.mark.parametrize("kind", ["gates", "tables", "words"])
@pytest.mark.parametrize("stages", [0, 1, 3])
def test_a_file_as_exported_passes_and_one_with_a_change_fails(
    kind: str, stages: int, tmp_path: Path
) -> None:
    level, luts = CHECKED[kind]
    made = bc.compile("machado-2r", bits=4)
    made.export(tmp_path / "2r.v", level=level, luts=luts, pipeline=stages)
    made.export(tmp_path / "2r.sby", pipeline=stages)
    assert passes(tmp_path / "2r.sby")
    path = tmp_path / "2r.v"
    text = path.read_text()
    changes = [(r"assign tau2 = ", "assign tau2 = {4'd0, q1[0]} ^ ")]
    changes += [("valid_in}", "~valid_in}"), (r"valid\[2\];", "valid[1];")] if stages == 3 else []
    for old, new in changes:
        changed, count = re.subn(old, new, text)
        assert count == 1
        path.write_text(changed)
        assert not passes(tmp_path / "2r.sby")


@needs_yosys
@pytest.mark.check
def test_a_pipeline_of_another_latency_fails(tmp_path: Path) -> None:
    made = bc.compile("machado-2r", bits=4)
    made.export(tmp_path / "2r.v", pipeline=2)
    made.export(tmp_path / "2r.sby", pipeline=3)
    assert not passes(tmp_path / "2r.sby")


def test_a_task_is_one_file_that_names_the_verilog_beside_it(run: Run) -> None:
    ((name, text),) = export_texts(tiny(), "symbiyosys").items()
    assert name == "tiny_arm.sby"
    assert "read_verilog tiny_arm.v" in str(text)
    tiny().save("tiny")
    assert run("export", "tiny", "--to", "symbiyosys", "-o", "other.sby").code == 0
    named = Path("other.sby").read_text()
    assert named == str(text).replace("tiny_arm.v", "other.v")
    with pytest.raises(UsageError, match="a task of SymbiYosys is written as gates"):
        export_texts(tiny(), "symbiyosys", None, ExportOptions("words"))
