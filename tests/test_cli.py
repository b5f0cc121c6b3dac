"""The command line: what its commands leave behind, how it starts and how it ends."""

import errno
import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from conftest import Run
from small_programs import stages

import boolcomp as bc
from boolcomp.commands import COMMANDS

BOOLCOMP = [sys.executable, "-m", "boolcomp"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(run: Run, name: str) -> None:
    result = run(name, "--help")
    assert result.code == 0
    assert f"Example: boolcomp {name}" in " ".join(result.out.split())


@pytest.mark.slow
def test_help_and_import_take_little_and_import_nothing_heavy() -> None:
    def seconds(arguments: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    for arguments, most in ((["-m", "boolcomp", "--help"], 0.15), (["-c", "import boolcomp"], 0.1)):
        assert min(seconds(arguments) for _ in range(3)) < most
    program = (
        "import sys, boolcomp.cli as c\n"
        "try: c.main(['--help'])\n"
        "except SystemExit: pass\n"
        "sys.stderr.write(' '.join({'numpy', 'bitarray', 'highspy', 'numba'} & set(sys.modules)))"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert made.stderr == b""


@pytest.mark.check
def test_a_robot_is_printed_as_a_file_whose_doubts_are_warnings(run: Run) -> None:
    Path("mine.toml").write_text(run("robots", "puma560").out)
    assert run("robots", "mine.toml").out == Path("mine.toml").read_text()
    Path("mine.toml").write_text(Path("mine.toml").read_text().replace("doubt = ", "# doubt = "))
    result = run("robots", "mine.toml", "--json")
    assert result.code == 0
    assert "warning: mine.toml:" in result.err
    assert "no body has principal moments" in result.err
    json.loads(result.out)


@pytest.mark.slow
def test_a_plan_with_a_term_too_wide_is_printed_and_fails(run: Run) -> None:
    result = run("plan", "planar-3r", "--bits", "12")
    assert (result.code, "TOO WIDE" in result.out) == (1, True)
    assert result.err.startswith("error: T")
    assert json.loads(run("plan", "planar-3r", "--bits", "12", "--json").out)["bits"] == 12


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
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (made.returncode, "cannot be written: " in made.stderr) == (1, True)
    assert "Traceback" not in made.stderr


@pytest.mark.parametrize(
    "line",
    [
        "compile machado-2r --bits 4 -o taken/out",
        "simulate machado-2r -o taken/x.html",
        "report machado-2r -o taken/x",
        "minimize good.pla -o taken/x.pla",
        "show good.pla -o taken/x.html",
    ],
)
def test_where_nothing_can_be_written_is_said_before_any_work(
    run: Run, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    Path("taken").write_text("a file")
    Path("good.pla").write_text(".i 1\n.o 1\n1 1\n.e\n")
    for work in ("boolcomp.pipeline.run", "boolcomp.twolevel.minimisation.minimise"):
        monkeypatch.setattr(work, None)  # whoever works fails
    result = run(*line.split())
    assert (result.code, result.out) == (1, "")
    assert "cannot be written: Not a directory" in result.err


def left(folder: Path) -> dict[str, bytes]:
    """Return all files and folders but the cache, by name."""
    found = (one for one in folder.rglob("*") if folder / "cache" not in (one, *one.parents))
    return {str(one): one.read_bytes() if one.is_file() else b"" for one in found}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("tables machado-2r --bits 4 -o new/deep", 4),
        ("tables machado-2r --bits 4 -o new --page new/page.html", 12),
        ("terms machado-2r --page new/page.html", 1),
        ("robots machado-2r -o new/robot.txt", 1),
        ("minimize f.pla -o new/deep/g.pla", 1),
        ("evaluate program -i s.csv -o new/t.csv", 1),
        ("evaluate machado-2r -i s.csv -o new/deep/t.npy", 1),
        ("export program --to verilog --test-bench -o new/deep", 2),
        ("schedule simulate machado-2r -o new/deep", 2),
        ("compile machado-2r --bits 6 --rms-error .43,.58 -o new/deep/p", 1),
    ],
)
def test_on_a_full_disk_a_command_leaves_no_file_or_folder_that_it_made(
    line: str, written: int, warm_run: Run, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Let the disk be full from the so-and-so-many-th output on: each is synced, and its folder."""
    stages(4)[2].save(tmp_path / "program")
    (tmp_path / "f.pla").write_text(".i 2\n.o 1\n01 1\n11 1\n.e\n")
    (tmp_path / "s.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n0.3,-0.7,0.4,0.9,-0.5,0.2\n")
    before, calls, real = left(tmp_path), count(1), os.fsync

    def full(handle: int) -> None:
        if next(calls) >= 2 * written - 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        found = warm_run(*line.split())
    assert (found.code, found.err.count("cannot be written: No space left on device")) == (1, 1)
    assert left(tmp_path) == before
    assert next(calls) > 2 * written - 1


def test_ranges_and_lists_of_numbers(run: Run) -> None:
    for text, found in (("8", [8]), ("4-6,9, 5", [4, 5, 6, 9])):
        more = ("--bits", text, "--mode", "paper", "--time", ".01", "--json")
        rows = json.loads(run("simulate", "machado-2r", *more).out)["rows"]
        assert [row["bits"] for row in rows[2::2]] == found
    for wrong in ("", "x", "6-4", "4-", "-4", "4,,5"):
        result = run("simulate", "machado-2r", "--bits", wrong)
        assert (result.code, "give a number, a range or a list" in result.err) == (2, True)


@pytest.mark.check
def test_a_report_leaves_its_files_repeats_itself_and_tells_of_saturation(
    run: Run,
) -> None:
    text = run("robots", "machado-2r").out.replace("[-200, 200]", "[-50, 50]")
    Path("small.toml").write_text(text)
    few = ("--mode", "paper", "--bits", "4,5", "--extra", "0", "--samples", "500")
    asked = ("report", "small.toml", *few, "--evaluations", "2000", "--no-logic")
    result = run(*asked, "-o", "r")
    assert result.code == 0
    assert "samples saturate, without a bound" in result.out
    names = {path.name for path in Path("r").iterdir()}
    pictures = {"errors.svg", "errors.png"}
    assert names == {*pictures, *(f"report.{end}" for end in ("txt", "csv", "json", "html"))}
    one, two, other = (json.loads(run(*asked, *more, "--json").out)["rows"]
                       for more in ((), (), ("--seed", "1")))  # fmt: skip
    assert one == two
    assert one[0]["max_error"] != other[0]["max_error"]
    made = run("compile", "small.toml", "--mode", "paper", "--bits", "4", "--minimizer", "isop")
    assert "T1 can reach ±152.422, outside its range ±50" in made.out


@pytest.mark.check
def test_a_program_of_a_robot_of_ones_own_asks_for_its_file(run: Run) -> None:
    replace(stages(4)[2], name="my-2r").save("mine")
    few = ("report", "mine", "--samples", "10", "--evaluations", "0")
    result = run(*few)
    assert result.code == 2
    assert (
        "not a built-in robot\n  hint: give its robot or function file with --robot FILE\n"
        in result.err
    )
    Path("my-2r.toml").write_text(str(replace(bc.load_robot("machado-2r"), name="my-2r")))
    assert "give its robot or function file with --robot my-2r.toml" in run(*few).err
    assert run(*few, "--robot", "my-2r.toml").code == 0
    other = run(*few, "--robot", "elbow-3r")
    assert (other.code, "was compiled for my-2r with 2 outputs" in other.err) == (2, True)
