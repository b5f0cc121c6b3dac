"""What commands print by default: at most 80 columns, with all figures only with -v."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import Run

from boolcomp.commands import COMMANDS

WIDTH = 80
STATES = "q1,q2,qd1,qd2,qdd1,qdd2\n0.3,-0.7,0.4,0.9,-0.5,0.2\n"
PLA = ".i 4\n.o 2\n0--1 10\n1-0- 11\n-110 01\n0-1- 1-\n.e\n"
SWEEP = 'robots = ["machado-2r"]\nbits = [4]\n'
QUICK = [
    "compile machado-2r --bits 4", "evaluate program -i s.csv", "export program --to c -o arm.c",
    "show program -o x.html", "verify program", "robots", "doctor", "minimize a.pla",
    "minimize a.pla --stats", "import a.blif -o a.aig", "schedule simulate puma560",
    "schedule paper zomaya", "terms puma560", "plan machado-2r", "graph machado-2r --bits 4",
    "area program --on lut4,lut6 --pipeline 4", "sweep s.toml -o sweep --dry-run",
    "tables machado-2r --bits 4 -o t", "completion fish --json",
]  # fmt: skip
LONG = [
    "compile elbow-3r --accuracy rms=.505", "compile machado-2r --payload 0,1 --bits 4",
    "compile machado-2r --mode paper --bits 4 --minimizer isop", "sweep s.toml -o sweep",
    "report machado-2r --bits 4 --samples 2000 --mode both --extra 0 --evaluations 99",
    "report program --samples 2000 --evaluations 99",
    "simulate machado-2r --bits 4 --time .2 -t point -t circle", "paper plan elbow-3r --bits 6",
    "cycles program --on host --states 2", "bench program --batches 1,4096 --cores 1 --seconds .02",
    "schedule chart machado-2r --bits 4",
]  # fmt: skip
UNTESTED = {"build", "paper"}  # build needs nextpnr; the group paper has no output of its own


@pytest.fixture
def made(warm_run: Run) -> Run:
    warm_run("compile", "machado-2r", "--bits", "4", "-o", "program")
    Path("s.csv").write_text(STATES)
    Path("s.toml").write_text(SWEEP)
    Path("a.pla").write_text(PLA)
    warm_run("minimize", "a.pla", "--output-type", "blif", "-o", "a.blif")
    return warm_run


def too_wide(made: Run, line: str) -> list[str]:
    """Return the lines of a command's output that are too wide, without those of progress."""
    result = made(*line.split())
    assert result.code == 0, result.err
    assert result.out + result.err
    return [one for one in (result.out + result.err).splitlines() if len(one) > WIDTH]


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line in QUICK if "--json" not in line])
def test_short_outputs_have_at_most_80_columns(made: Run, line: str) -> None:
    assert too_wide(made, line) == []


@pytest.mark.check
@pytest.mark.parametrize("line", LONG)
def test_outputs_of_long_commands_have_at_most_80_columns(made: Run, line: str) -> None:
    if line.startswith("cycles") and shutil.which("cc") is None:
        pytest.skip("no C compiler")
    assert too_wide(made, line) == []


def test_every_command_is_among_these() -> None:
    assert {line.split()[0] for line in QUICK + LONG} | UNTESTED == set(COMMANDS)


@pytest.mark.slow
def test_all_figures_are_printed_with_v_and_the_document_is_the_same(made: Run) -> None:
    short, whole = made("robots"), made("robots", "-v")
    assert max(map(len, whole.out.splitlines())) > 2 * WIDTH
    assert len(short.out) < len(whole.out)
    assert json.loads(made("robots", "--json").out) == json.loads(
        made("robots", "-v", "--json").out
    )


@pytest.mark.slow
def test_compile_tells_what_it_made_and_what_is_next(made: Run) -> None:
    first = made("compile", "machado-2r", "--bits", "4")
    lines = first.out.splitlines()
    assert lines[0] == "machado-2r: inverse-dynamics, 4 bits"
    assert lines[2].startswith("  circuit  ")
    assert lines[3].startswith("  inputs   q1 ")
    assert lines[-2] == "proved for every input within its range: tight bound"
    assert "nothing was saved: give a folder with -o" in first.err
    saved = made("compile", "machado-2r", "--bits", "4", "-o", "p")
    assert saved.out == first.out
    assert "next: boolcomp show p\n      boolcomp export p --to verilog -o p.v\n" in saved.err


@pytest.mark.slow
def test_the_header_of_exported_c_is_named_after_its_file(made: Run) -> None:
    made("export", "program", "--to", "c", "-o", "arm.c")
    assert {path.name for path in Path().glob("arm.*")} == {"arm.c", "arm.h"}
    assert '#include "arm.h"' in Path("arm.c").read_text()
    assert not list(Path().glob("machado*"))
