"""The command line: what it prints, how it fails, how fast it starts."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tablefile import parse_table

from boolcomp.cli import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

BOOLCOMP = [sys.executable, "-m", "boolcomp"]


@pytest.mark.slow
def test_robots_prints_one_as_a_file_that_can_be_used(run: Callable[..., Result]) -> None:
    Path("mine.toml").write_text(run("robots", "puma560").out)
    assert run("robots", "mine.toml").out == Path("mine.toml").read_text()


@pytest.mark.slow
def test_a_plan_with_a_term_too_wide_is_printed_and_fails(run: Callable[..., Result]) -> None:
    result = run("plan", "planar-3r", "--bits", "12")
    assert result.code == 1
    assert "TOO WIDE" in result.out
    assert result.err.startswith("boolcomp: error: planar-3r: T")
    assert json.loads(run("plan", "planar-3r", "--bits", "12", "--json").out)["bits"] == 12


def test_tables_writes_files_that_read_back(run: Callable[..., Result]) -> None:
    result = run("tables", "machado-2r", "--bits", "5", "-o", "made")
    assert result.code == 0
    files = sorted(Path("made").iterdir())
    assert [path.stem for path in files] == [f"T{j}{k}" for j in (1, 2) for k in range(1, 7)]
    for path in files:
        parse_table(path.read_text())
    row = next(line for line in result.out.splitlines() if line.startswith("T21"))
    assert "T12" in row.split()


@pytest.mark.slow
def test_a_doubtful_inertia_is_a_warning_not_an_error(run: Callable[..., Result]) -> None:
    text = run("robots", "puma560").out
    Path("mine.toml").write_text(text.replace("doubt = ", "# doubt = "))
    result = run("robots", "mine.toml", "--json")
    assert result.code == 0
    assert "boolcomp: warning: mine.toml:" in result.err
    assert "no body has principal moments" in result.err
    json.loads(result.out)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(run: Callable[..., Result], name: str) -> None:
    result = run(name, "--help")
    assert result.code == 0
    assert f"Example: boolcomp {name}" in " ".join(result.out.split())


@pytest.mark.parametrize(
    ("arguments", "most"), [(["-m", "boolcomp", "--help"], 0.15), (["-c", "import boolcomp"], 0.1)]
)
def test_help_and_import_take_little_processor_time(arguments: list[str], most: float) -> None:
    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < most


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys, boolcomp.cli as c\n"
        "try: c.main(['--help'])\n"
        "except SystemExit: pass\n"
        "sys.stderr.write(' '.join({'numpy', 'bitarray', 'highspy', 'numba'} & set(sys.modules)))"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert made.stderr == b""


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error() -> None:
    with subprocess.Popen(
        [*BOOLCOMP, "terms", "puma560"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_is_a_sentence(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        target = Path("/proc/boolcomp")  # even root cannot write there
    else:
        target = tmp_path / "locked"
        target.mkdir(mode=0o500)
    made = subprocess.run(
        [*BOOLCOMP, "tables", "machado-2r", "--bits", "4", "-o", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 1
    assert "cannot be written: " in made.stderr
    assert "Traceback" not in made.stderr
