"""What simulators, lints and ABC say of exports; each test is skipped where its tool is missing."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from exports import kept
from matrix import matrix
from targets.exported import AWKWARD, arm, family, of_graph, planar, tiny
from targets.test_languages import SPECIAL, resting

from boolcomp.measure import SIMULATIONS, simulated
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts


def needed(one: Any) -> Any:
    if shutil.which(one.tool) is None:
        pytest.skip(f"{one.tool} is not installed")
    return one


OF_GATES = [one for one in SIMULATIONS if one.level == "gates"]  # words: the matrix
PROGRAMS: dict[str, Callable[[], Program]] = {
    "awkward": lambda: tiny(AWKWARD), "family": family, "compact": lambda: arm("compact", 6),
    "loads": lambda: kept("export-loads"), "resting": resting,
    "constant tables": lambda: of_graph("some", SPECIAL["constant tables"]),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("one", SIMULATIONS, ids=lambda x: f"{x.tool}-{x.level}-{x.pipeline}")
@pytest.mark.parametrize("name", ["awkward", "family", "loads", "resting", "constant tables"])
def test_a_simulator_agrees_and_warns_of_nothing(name: str, one: Any) -> None:
    program = PROGRAMS[name]()
    if one.level == ("words" if program.loads[0].graph is None else "gates"):
        return
    files = export_texts(
        program, one.target, None, ExportOptions(one.level, one.pipeline, one.bench)
    )
    check = simulated("it", needed(one), files, 120)
    assert check.holds, check.note


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in OF_GATES if one.bench],
                         ids=lambda one: f"{one.tool}-{one.pipeline}")  # fmt: skip
def test_a_bench_fails_where_the_logic_is_wrong(one: Any) -> None:
    files = dict(
        export_texts(tiny(), one.target, None, ExportOptions("gates", one.pipeline, one.bench))
    )
    name = next(iter(files))
    files[name] = str(files[name]).replace(" ^ a[0]", " | a[0]").replace(" xor a(0)", " or a(0)")
    check = simulated("it", needed(one), files, 120)
    assert check.holds is False
    assert "FAIL" in check.note


@pytest.mark.check
@pytest.mark.parametrize("name", ["family", "compact"])
def test_tools_prove_the_arm_and_verilator_finds_the_wrong_word_among_many(
    name: str, run: Run
) -> None:
    PROGRAMS[name]().save("program")
    document = json.loads(run("verify", "program", "--with-tools", "--json").out)
    assert document["holds"]
    proved = [check for check in document["checks"] if "ABC" in check["method"]]
    simulated = [check for check in document["checks"] if "Verilator" in check["method"]]
    assert len(proved) == (3 if name == "compact" else 2)
    assert simulated
    for check in (*proved, *simulated):
        assert check["holds"] or "not found" in check["note"], check


@pytest.mark.check
def test_the_simulation_of_the_tutorial_on_fpgas_runs(warm_run: Run) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/tutorials/to-an-fpga.md").read_text()
    page = page[page.index("## 2. ") :]  # the first section has the arm of another page
    for line in re.findall(r"^\$ boolcomp (.*)$", page, re.MULTILINE):
        assert warm_run(*line.split()).code == 0
    block = re.search(r"^```sh\n(iverilog.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    for command in block[1].splitlines():
        tool, *rest = command.split()
        path = shutil.which(tool)
        if path is None:
            pytest.skip(f"{tool} is not installed")
        done = subprocess.run([path, *rest], capture_output=True, text=True, check=True)
        said = (done.stdout + done.stderr).strip()
        assert said in {"", "PASS: 255 vectors hold, the wrong one differs"}
        assert "`PASS: 255 vectors hold, the wrong one differs`" in page


WORDS = 2000  # `benchmarks/every_export.py` takes a million
MATRIX: dict[str, Callable[[], Program]] = {
    "2R, 4 bits": lambda: arm("compact", 4),
    "2R, 6 bits": lambda: arm("compact", 6),
    "2R, 8 bits": lambda: arm("compact", 8),
    "2R, 4 bits, paper": lambda: arm("paper", 4),
    "2R, 6 bits, paper": lambda: arm("paper", 6),
    "planar-3r, 6 bits": planar,
    "a function of a user": lambda: kept("export-pid"),
}


@pytest.mark.check
@pytest.mark.parametrize("name", MATRIX)
def test_every_export_is_clean_and_equal(name: str) -> None:
    checks = list(matrix(MATRIX[name](), WORDS))
    wrong = [check for check in checks if not check.holds and not check.skipped]
    assert not wrong, wrong
    done = [check for check in checks if check.holds]
    assert len(done) >= 7, [check.note for check in checks]


def failed(files: Any, folder: Path) -> int:
    """Return with what the one test among files ends."""
    for name, text in files.items():
        (folder / name).write_text(str(text))
    (test,) = (name for name in files if name.endswith(".py"))
    command = [sys.executable, test]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


@pytest.mark.check
@pytest.mark.skipif(not (find_spec("cocotb") and shutil.which("iverilog")), reason="no cocotb")
@pytest.mark.parametrize("pipeline", [0, 3])
def test_a_test_in_cocotb_passes_and_a_wrong_module_fails(tmp_path: Path, pipeline: int) -> None:
    files = dict(
        export_texts(
            kept("export-pid"), "verilog", None, ExportOptions("words", pipeline, cocotb=True)
        )
    )
    assert failed(files, tmp_path) == 0
    name = next(iter(files))
    wrong = re.sub(r"\+ (\d+)'d\d+;", r"+ \1'd1;", str(files[name]), count=1)
    assert wrong != files[name]
    files[name] = wrong
    assert failed(files, tmp_path) == 1
