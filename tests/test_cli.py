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
from boolcomp.problem.robot import load_robot, parse_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

BOOLCOMP = [sys.executable, "-m", "boolcomp"]


def test_robots_lists_joints_mass_and_ranges(run: Callable[..., Result]) -> None:
    result = run("robots")
    line = next(line for line in result.out.splitlines() if line.startswith("machado-2r"))
    assert line.split() == ["machado-2r", "RR", "6.75", "±pi", "±1", "±1", "±200", "±100"]
    assert "ten times too large" in result.out
    assert (result.code, result.err) == (0, "")


@pytest.mark.slow
def test_robots_prints_one_as_a_file_that_can_be_used(run: Callable[..., Result]) -> None:
    Path("mine.toml").write_text(run("robots", "puma560").out)
    assert run("robots", "mine.toml").out == Path("mine.toml").read_text()


@pytest.mark.slow
def test_robots_json_holds_every_joint(run: Callable[..., Result]) -> None:
    document = json.loads(run("robots", "--json").out)
    assert {item["robot"] for item in document["robots"]} >= {"machado-2r", "puma560"}
    stanford = json.loads(run("robots", "stanford", "--json").out)["robots"][0]
    assert [joint["type"][0] for joint in stanford["joints"]] == list("rrprrr")


def test_plan_prints_figure_1(run: Callable[..., Result]) -> None:
    result = run("plan", "machado-2r", "--bits", "8")
    lines = result.out.splitlines()
    assert lines[0] == (
        "T1: 8 bits, 2 guard bits, gray code, common least significant bit 0.390625"
    )
    row = next(line for line in lines if line.startswith("T14"))
    cells = "T14 -10 sin q2 qd1 qd2 ±12.5 10 6 18 = 6 q2 + 6 qd1 + 6 qd2 209715 52429"
    assert " ".join(row.split()) == cells
    assert (result.code, result.err) == (0, "")


def test_plan_json_holds_figure_1_under_the_agreed_keys(run: Callable[..., Result]) -> None:
    document = json.loads(run("plan", "machado-2r", "--bits", "8", "--json").out)
    assert (document["robot"], document["bits"]) == ("machado-2r", 8)
    first = document["joints"][0]
    assert {k: first[k] for k in ("joint", "range", "amplitude", "guard_bits", "input_bits")} == {
        "joint": 1,
        "range": 200,
        "amplitude": pytest.approx(152.42, abs=5e-3),
        "guard_bits": 2,
        "input_bits": 48,
    }
    agreed = (
        "name", "expression", "range", "amplitude", "bits", "input_bits", "used_states",
        "unused_states",
    )  # fmt: skip
    term = first["terms"][0]
    assert [term[key] for key in agreed] == [
        "T11", "(15.75 + 10 cos q2) qdd1", 50, 25.75, 8, 15, 16876, 15892,
    ]  # fmt: skip


@pytest.mark.slow
def test_a_plan_with_a_term_too_wide_is_printed_and_fails(run: Callable[..., Result]) -> None:
    result = run("plan", "planar-3r", "--bits", "12")
    assert result.code == 1
    assert "TOO WIDE" in result.out
    assert result.err.startswith("boolcomp: error: planar-3r: T")
    assert json.loads(run("plan", "planar-3r", "--bits", "12", "--json").out)["bits"] == 12


def test_terms_prints_each_form(run: Callable[..., Result]) -> None:
    assert "T12 = (4 + 5 cos q2) qdd2" in run("terms", "machado-2r").out
    assert "T18 = 49 cos q1 cos q2" in run("terms", "machado-2r", "--form", "products").out
    document = json.loads(run("terms", "machado-2r", "--json").out)
    term = document["joints"][0]["terms"][2]
    assert (term["name"], term["amplitude"], term["parity"]) == ("T13", 5, {"q2": -1, "qd2": 1})


def test_tables_writes_files_that_read_back(run: Callable[..., Result]) -> None:
    result = run("tables", "machado-2r", "--bits", "5", "-o", "made")
    assert result.code == 0
    files = sorted(Path("made").iterdir())
    assert [path.stem for path in files] == [f"T{j}{k}" for j in (1, 2) for k in range(1, 7)]
    for path in files:
        parse_table(path.read_text())
    row = next(line for line in result.out.splitlines() if line.startswith("T21"))
    assert "T12" in row.split()


MISTAKES = [
    (("plan", "machado-2"), 2, "no robot named 'machado-2' (did you mean 'machado-2r'?)"),
    (("plan", "nowhere.toml"), 2, "nowhere.toml: no such robot file"),
    (("plan", "ur5.urdf"), 2, "ur5.urdf: no such robot file"),
    (("plan", "machado-2r", "--bits", "3"), 2, "bits must be 4 to 16, not 3"),
    (("plan", "machado-2r", "--bits", "x"), 2, "'x' is not a valid integer"),
    (("plan", "machado-2r", "--code", "grey"), 2, "code 'grey' (did you mean 'gray'?)"),
    (("plan", "machado-2r", "--bit", "8"), 2, "--bits"),
    (("plan",), 2, "Missing argument 'ROBOT|FUNCTION'"),
    (("plann", "machado-2r"), 2, "no command 'plann' (did you mean 'plan'?)"),
    (("terms", "machado-2r", "--form", "group"), 2, "form 'group' (did you mean 'grouped'"),
    (("robots", "folder.toml"), 1, "folder.toml: cannot be read: Is a directory"),
    (("robots", "bad.toml"), 1, "bad.toml: not a TOML file: "),
    (("robots", "latin.toml"), 1, "latin.toml: not UTF-8 text (byte 8)"),
    (("tables", "machado-2r", "-o", "bad.toml"), 1, "bad.toml/T11.pla: cannot be written: "),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), MISTAKES)
def test_every_mistake_is_a_sentence_and_an_exit_code(
    run: Callable[..., Result], arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    Path("folder.toml").mkdir()
    Path("bad.toml").write_text("name = = 1\n")
    Path("latin.toml").write_bytes("name = 'é'\n".encode("latin-1"))
    result = run(*arguments)
    assert result.code == code
    assert sentence in result.err
    assert "Traceback" not in result.err
    assert result.out == ""


TAKES_A_ROBOT = [
    name
    for name in COMMANDS
    if name
    not in {
        "minimize",
        "export",
        "verify",
        "import",
        "cycles",
        "area",
        "build",
        "sweep",
        "show",
        "doctor",
        "completion",
    }
]


@pytest.mark.parametrize("name", TAKES_A_ROBOT)
def test_every_command_that_takes_a_robot_knows_the_nearest_spelling(
    run: Callable[..., Result], name: str
) -> None:
    result = run(name, "machado2r")
    assert (result.code, result.out) == (2, "")
    assert "(did you mean 'machado-2r'?)" in result.err


@pytest.mark.parametrize("name", TAKES_A_ROBOT)
def test_an_xml_that_is_no_robot_is_said_to_be_none(run: Callable[..., Result], name: str) -> None:
    Path("ur5.sdf").write_text("<html/>")
    result = run(name, "ur5.sdf")
    assert (result.code, result.out) == (1, "")
    assert "ur5.sdf:1: <html>: no robot: it begins with <robot> in URDF, <sdf> in SDF" in result.err


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


@pytest.mark.slow
def test_one_robot_gets_a_verdict_and_remains_a_robot_file(run: Callable[..., Result]) -> None:
    out = run("robots", "puma560").out
    assert parse_robot(out) == load_robot("puma560")
    assert "# Torques over these ranges: searched (100000 samples" in out
    assert "# T5      -0.93861  0.93861     ±1  N·m   suits: 93.9 % of it is used" in out
    assert "# joint 2:  torque_range = [-100, 100]" in out
    joints = json.loads(run("robots", "puma560", "--json").out)["robots"][0]["joints"]
    assert [joint["saturates"] for joint in joints] == [True] * 4 + [False] * 2
    assert joints[3]["better_torque_range"] == [-1.2, 1.2]
    assert {joint["torque_extremes_kind"] for joint in joints} == {"searched"}
    assert joints[1]["torque_range"] == [-64, 64]
