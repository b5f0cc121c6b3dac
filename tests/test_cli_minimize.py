"""`boolcomp minimize`: files in and out, choices, interrupts."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Run
from waiting import until

from boolcomp.twolevel import pla

ADDER = """\
# two bits and a carry
.i 3
.o 2
.ilb a b c
.ob carry sum
001 01
010 01
011 10
100 01
101 10
110 10
111 11
"""


@pytest.fixture(name="adder", autouse=True)
def file_of_an_adder(run: Run) -> None:
    """Write the adder into the empty folder."""
    del run
    Path("adder.pla").write_text(ADDER)


def minimised(run: Run, text: str, *choices: str) -> pla.Pla:
    """Return what is printed for a PLA text."""
    Path("f.pla").write_text(text)
    return pla.parse(run("minimize", "f.pla", "-q", "-o", "-", *choices).out)


def test_a_file_is_minimised_and_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("minimize", "adder.pla", "--method", "exact", "-o", "small.pla")
    assert result.code == 0
    row = result.out.splitlines()[-1].split()
    assert row == ["adder.pla", "3", "2", "7", "18", "yes", "7", "exact"]
    small = pla.read(Path("small.pla"))
    assert (small.input_names, small.output_names) == (("a", "b", "c"), ("carry", "sum"))
    assert len(small.on) == 7
    piped = run("minimize", "adder.pla", "-o", "-")
    assert pla.parse(piped.out).inputs == 3
    assert "adder.pla" in piped.err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ADDER.encode())))
    quiet = run("minimize", "-", "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert pla.parse(quiet.out).output_names == ("carry", "sum")


def test_several_files_go_to_a_folder_and_one_bad_file_stops_no_other(
    run: Run,
) -> None:
    Path("bad.pla").write_text(ADDER.replace("111 11", "111 1x"))
    result = run("minimize", "bad.pla", "adder.pla", "-o", "out", "--json")
    assert (result.code, "bad.pla:" in result.err) == (1, True)
    (item,) = json.loads(result.out)["files"]
    keys = ("inputs", "outputs", "products", "literals", "proved", "lower_bound", "seconds")
    assert (item["file"], set(keys) <= set(item)) == ("adder.pla", True)
    assert [path.name for path in Path("out").iterdir()] == ["adder.pla"]


@pytest.mark.check
@pytest.mark.parametrize("kept", [1, 3])
def test_an_interrupt_leaves_no_process_and_no_half_written_file(tmp_path: Path, kept: int) -> None:
    store = tmp_path / "store"
    command = [sys.executable, "-m", "boolcomp", "compile", "machado-2r", "--bits", "6"]
    command += ["--mode", "paper"]
    with subprocess.Popen(
        [*command, "--store", str(store)],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        until(lambda: len(list(store.glob("*.pla"))) >= kept or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    *progress, last = err.splitlines()
    assert last == "boolcomp: interrupted"
    assert all(line.startswith("compiling: ") for line in progress)  # where that takes long
    assert not list(store.glob(".*"))
    until(lambda: group_is_gone(process.pid))


def group_is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.check
def test_an_interrupt_ends_minimising_although_a_compiled_loop_runs(tmp_path: Path) -> None:
    (tmp_path / "adder.pla").write_text(ADDER)
    program = (
        "import threading, numpy as np; from boolcomp.cli import main; from numba import njit\n"
        "from boolcomp.twolevel import minimisation as minimise\n"
        "@njit(nogil=True)\n"
        "def loop(n, seen):\n"
        "    for i in range(n): seen[i & 1023] += i + 1\n"
        "seen = np.zeros(1024, np.int64)\n"
        "loop(0, seen)\n"
        "minimise.minimise = lambda *_: loop(1 << 40, seen)\n"
        "def watch():\n"
        "    while not seen[0]: pass\n"
        "    print('within the loop', flush=True)\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
        "main(['minimize', 'adder.pla'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "within the loop\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert (process.returncode, err) == (130, "boolcomp: interrupted\n")


def test_every_compiled_loop_of_minimisation_releases_the_lock() -> None:
    for path in Path(pla.__file__).parent.glob("*.py"):
        assert "njit(cache=True)" not in path.read_text(encoding="utf-8"), path.name


def test_the_second_file_is_held_against_the_first_by_names(run: Run) -> None:
    Path("swapped.pla").write_text(
        ".i 3\n.o 2\n.ilb c b a\n.ob sum carry\n"
        "100 10\n010 10\n001 10\n111 11\n-11 01\n1-1 01\n11- 01\n.e\n"
    )
    result = run("minimize", "--verify", "adder.pla", "swapped.pla")
    assert (result.code, result.err) == (0, "")
    Path("wrong.pla").write_text(ADDER.replace("111 11", "111 10"))
    result = run("minimize", "--verify", "adder.pla", "wrong.pla", "--json")
    assert result.code == 1
    witness = {"output": "sum", "point": "111", "expected": 1}
    assert json.loads(result.out)["witness"] == witness


def test_an_output_that_is_turned_over_is_marked_and_read_back(run: Run) -> None:
    Path("or.pla").write_text(".i 4\n.o 1\n1--- 1\n-1-- 1\n--1- 1\n---1 1\n.e\n")
    result = run("minimize", "or.pla", "--phase", "-o", "small.pla", "--method", "exact")
    assert result.out.splitlines()[-1].split()[3] == "1"
    assert ".phase 0\n" in Path("small.pla").read_text()
    assert run("minimize", "--verify", "or.pla", "small.pla").code == 0


def test_primes_and_counts_are_printed_on_request(run: Run) -> None:
    cycle = ".i 3\n.o 1\n00- 1\n-01 1\n1-1 1\n11- 1\n-10 1\n0-0 1\n.e\n"
    assert len(minimised(run, cycle, "--primes", "all").on) == 6
    assert len(minimised(run, cycle, "--primes", "essential").on) == 0
    found = json.loads(run("minimize", "f.pla", "--stats", "--json").out)["files"][0]
    assert (found["rows"], found["literals"], found["on_share"]) == (6, 12, 0.75)
    assert len(minimised(run, ADDER, "--primes", "essential").on) == 7


def test_fewest_literals_may_take_more_products(run: Run) -> None:
    Path("two.pla").write_text(".i 4\n.o 2\n111- 11\n1-11 01\n0--- 10\n.e\n")
    asked = ("minimize", "two.pla", "--method", "exact", "--json")
    usual = json.loads(run(*asked).out)["files"][0]
    cheap = json.loads(run(*asked, "--cost", "literals").out)["files"][0]
    assert cheap["cost"] == cheap["literals"] == cheap["cost_at_least"] <= usual["literals"]
    assert cheap["products"] >= usual["products"]


def test_what_type_fr_leaves_over_counts_as_dont_care(run: Run) -> None:
    left = ".i 2\n.o 1\n.type fr\n00 1\n01 0\n.e\n"  # 10 and 11 are in neither set
    for choice, rows in (("all", {"-0", "1-"}), ("essential", {"-0"})):
        assert {row for row, _ in minimised(run, left, "--primes", choice).on.rows()} == rows
    for kind in ("fd", "fdr"):
        given = minimised(run, left, "--output-type", kind)
        free = {row for row, owners in given.dc.rows() if owners == "1"}
        assert free in ({"1-"}, {"10", "11"}), kind


def test_a_name_that_ends_in_a_backslash_ends_its_line_of_blif(run: Run) -> None:
    Path("n.pla").write_text(".i 2\n.o 2\n.ilb a\\ a\\_\n.ob y\\ z\n11 11\n01 10\n.e\n")
    assert run("minimize", "n.pla", "--output-type", "blif", "-o", "n.blif").code == 0
    assert not any(line.endswith("\\") for line in Path("n.blif").read_text().splitlines())
    assert run("import", "n.blif", "-o", "n.aag").code == 0
