"""`boolcomp minimize` and `boolcomp compile`, as a user runs them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from boolcomp.twolevel import pla

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

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


def test_a_file_is_minimised_and_reported(run: Callable[..., Result]) -> None:
    Path("adder.pla").write_text(ADDER)
    result = run("minimize", "adder.pla", "--method", "exact", "-o", "small.pla")
    assert result.code == 0
    assert result.out.splitlines()[-1].split()[:7] == ["adder.pla", "3", "2", "7", "18", "0", "yes"]
    small = pla.read(Path("small.pla"))
    assert small.input_names == ("a", "b", "c")
    assert small.output_names == ("carry", "sum")
    assert len(small.on) == 7


def test_a_result_can_go_down_a_pipe(run: Callable[..., Result]) -> None:
    Path("adder.pla").write_text(ADDER)
    result = run("minimize", "adder.pla", "-o", "-")
    assert pla.parse(result.out).inputs == 3
    assert "adder.pla" in result.err


def test_several_files_go_to_a_folder_and_one_bad_file_stops_no_other(
    run: Callable[..., Result],
) -> None:
    Path("good.pla").write_text(ADDER)
    Path("bad.pla").write_text(ADDER.replace("111 11", "111 1x"))
    Path("symbolic.pla").write_text(".mv 4 2 3 2\n" + ADDER)
    result = run("minimize", "bad.pla", "good.pla", "symbolic.pla", "-o", "out", "--json")
    assert result.code == 1
    (item,) = json.loads(result.out)["files"]
    keys = ("inputs", "outputs", "products", "literals", "proved", "lower_bound", "seconds")
    assert (item["file"], set(keys) <= set(item)) == ("good.pla", True)
    assert "bad.pla:" in result.err
    assert "symbolic.pla:1: .mv (multiple-valued variables) is not supported" in result.err
    assert [path.name for path in Path("out").iterdir()] == ["good.pla"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("minimize",), 2, "Missing argument 'FILES...'"),
        (("minimize", "no.pla"), 1, "no.pla: cannot be read: No such file or directory"),
        (("minimize", "a.pla", "--method", "fast"), 2, "method 'fast'"),
        (("minimize", "a.pla", "--deadline", "-3"), 2, "a deadline is a positive number"),
        (("minimize", "a.pla", "a.pla", "-o", "-"), 2, "-o - writes one PLA file"),
        (("minimize", "a.pla", "a.pla", "-o", "a.pla"), 2, "a.pla is a file: several results"),
        (("compile", "machado-2r", "--mode", "papers"), 2, "mode 'papers' (did you mean 'paper'"),
        (("compile", "planar-3r", "--bits", "12", "--mode", "paper"), 1, "needs a table of"),
        (("compile", "machado-2r", "--code", "gray"), 2, "--code belongs to --mode paper"),
        (
            ("compile", "machado-2r", "--mode", "paper", "--effort", "3"),
            2,
            "--effort belongs to --mode compact",
        ),
        (("compile", "machado-2r", "--rms-error", "x"), 2, "--rms-error 'x': give LSB"),
        (("compile", "machado-2r", "--input-bits", "q=a"), 2, "--input-bits 'q=a': give bits"),
        (("compile", "machado-2r", "--input-bits", "qq=9"), 2, "no input 'qq'"),
        (("compile", "machado-2r", "--rms-error", ".2"), 2, "rounding alone makes"),
    ],
)
def test_mistakes_are_sentences(
    run: Callable[..., Result], arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    Path("a.pla").write_text(ADDER)
    result = run(*arguments)
    assert result.code == code
    assert sentence in result.err


@pytest.mark.check
def test_compile_makes_all_twelve_covers_and_then_reads_them(run: Callable[..., Result]) -> None:
    arguments = ("compile", "machado-2r", "--bits", "5", "--mode", "paper", "-o", "out", "--json")
    first = json.loads(run(*arguments).out)
    assert [item["name"] for item in first["tables"]] == [
        f"T{joint}{k}" for joint in (1, 2) for k in range(1, 7)
    ]
    assert not any(item["stored"] for item in first["tables"])
    second = json.loads(run(*arguments).out)
    assert all(item["stored"] for item in second["tables"])
    assert [i["products"] for i in first["tables"]] == [i["products"] for i in second["tables"]]
    assert Path("out/program.json").is_file()


@pytest.mark.check
def test_the_papers_arm_at_8_bits_comes_from_the_tables_that_ship(
    warm_run: Callable[..., Result],
) -> None:
    arguments = ("compile", "machado-2r", "--mode", "paper", "--json")
    warm_run(*arguments)
    document = json.loads(warm_run(*arguments).out)
    assert all(item["stored"] for item in document["tables"])
    products = {item["name"]: item["products"] for item in document["tables"]}
    most = {"T11": 2000, "T12": 181, "T13": 34, "T14": 1642, "T15": 80, "T24": 124}
    assert all(products[name] <= bound for name, bound in most.items())


@pytest.mark.check
@pytest.mark.parametrize("after", [1.0, 5.0])
def test_an_interrupt_leaves_no_process_and_no_half_written_file(
    tmp_path: Path, after: float
) -> None:
    store = tmp_path / "store"
    command = [sys.executable, "-m", "boolcomp", "compile", "machado-2r", "--bits", "9"]
    command += ["--mode", "paper"]
    with subprocess.Popen(
        [*command, "--store", str(store)],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == "boolcomp: interrupted\n"
    assert not list(store.glob(".*"))
    assert group_is_gone(process.pid, within=5.0)


def group_is_gone(group: int, within: float) -> bool:
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.check
@pytest.mark.parametrize("after", [1.0, 3.0])
def test_an_interrupt_ends_minimising_although_a_compiled_loop_runs(
    tmp_path: Path, after: float
) -> None:
    (tmp_path / "adder.pla").write_text(ADDER)
    program = (
        "import sys, time; from boolcomp.cli import main; from numba import njit\n"
        "from boolcomp.twolevel import minimise\n"
        "@njit(nogil=True)\n"
        "def loop(n):\n    x = 1\n    for i in range(n): x = x * 31 % (i + 7)\n    return x\n"
        "loop(1)\n"
        "minimise.minimise = lambda *_: loop(1 << 40)\n"
        "print('ready', flush=True)\n"
        "main(['minimize', 'adder.pla'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "boolcomp: interrupted\n")


def test_every_compiled_loop_of_minimisation_releases_the_lock() -> None:
    for path in Path(pla.__file__).parent.glob("*.py"):
        assert "njit(cache=True)" not in path.read_text(encoding="utf-8"), path.name


def test_standard_input_is_minimised_to_standard_output_as_by_espresso(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ADDER.encode())))
    result = run("minimize", "-", "--quiet")
    assert (result.code, result.err) == (0, "")
    assert pla.parse(result.out).output_names == ("carry", "sum")


@pytest.mark.parametrize("kind", ["fd", "fr", "fdr"])
def test_sets_that_are_asked_for_are_written(run: Callable[..., Result], kind: str) -> None:
    Path("adder.pla").write_text(ADDER)
    result = run("minimize", "adder.pla", "-q", "-o", "-", "--output-type", kind)
    written = pla.parse(result.out)
    assert written.kind == kind
    assert bool(written.off.out.any()) == ("r" in kind)
    again = run("minimize", "adder.pla", "--verify", "adder.pla")
    assert again.code == 0


def test_netlists_take_the_names_of_the_file(run: Callable[..., Result]) -> None:
    Path("adder.pla").write_text(ADDER)
    text = run("minimize", "adder.pla", "-q", "-o", "-", "--output-type", "verilog").out
    assert text.startswith("module \\adder  (\n  input wire a,\n  input wire b,\n  input wire c,\n")
    assert "assign \\carry  = " in text
    assert run("minimize", "adder.pla", "--output-type", "blif", "-o", "made").code == 0
    assert Path("made").read_text().startswith(".model adder\n.inputs a b c\n.outputs carry sum\n")


def test_the_second_file_is_held_against_the_first_by_names(run: Callable[..., Result]) -> None:
    Path("adder.pla").write_text(ADDER)
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


def test_an_output_that_is_turned_over_is_marked_and_read_back(run: Callable[..., Result]) -> None:
    Path("or.pla").write_text(".i 4\n.o 1\n1--- 1\n-1-- 1\n--1- 1\n---1 1\n.e\n")
    result = run("minimize", "or.pla", "--phase", "-o", "small.pla", "--method", "exact")
    assert result.out.splitlines()[-1].split()[3] == "1"
    assert ".phase 0\n" in Path("small.pla").read_text()
    assert run("minimize", "--verify", "or.pla", "small.pla").code == 0


def test_primes_and_counts_are_printed_on_request(run: Callable[..., Result]) -> None:
    Path("cycle.pla").write_text(".i 3\n.o 1\n00- 1\n-01 1\n1-1 1\n11- 1\n-10 1\n0-0 1\n.e\n")
    assert len(pla.parse(run("minimize", "cycle.pla", "-q", "--primes", "all").out).on) == 6
    assert len(pla.parse(run("minimize", "cycle.pla", "-q", "--primes", "essential").out).on) == 0
    Path("adder.pla").write_text(ADDER)
    assert len(pla.parse(run("minimize", "adder.pla", "-q", "--primes", "essential").out).on) == 7
    found = json.loads(run("minimize", "cycle.pla", "--stats", "--json").out)["files"][0]
    assert (found["rows"], found["literals"], found["on_share"]) == (6, 12, 0.75)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--output-type", "veriog"), "(did you mean 'verilog'?)"),
        (("--primes", "some"), "primes 'some'"),
        (("--cost", "3,1"), "cost '3,1': products, literals, or prices"),
        (("--cost", "0:0", "--method", "exact"), "one of them is not 0"),
        (("--cost", "literals"), "--cost literals takes --method exact"),
        (("--verify",), "--verify compares two files, and there are 1"),
        (("--verify", "--stats"), "--verify and --stats do different things"),
        (("--stats", "-o", "x"), "-o means nothing with --stats"),
        (("--primes", "all", "--output-type", "blif"), "primes are no cover to build"),
    ],
)
def test_choices_that_contradict_each_other_are_refused(
    run: Callable[..., Result], arguments: tuple[str, ...], sentence: str
) -> None:
    Path("adder.pla").write_text(ADDER)
    result = run("minimize", "adder.pla", *arguments)
    assert (result.code, result.out) == (2, "")
    assert sentence in " ".join(result.err.split())


def test_fewest_literals_may_take_more_products(run: Callable[..., Result]) -> None:
    Path("two.pla").write_text(".i 4\n.o 2\n111- 11\n1-11 01\n0--- 10\n.e\n")
    asked = ("minimize", "two.pla", "--method", "exact", "--json")
    usual = json.loads(run(*asked).out)["files"][0]
    cheap = json.loads(run(*asked, "--cost", "literals").out)["files"][0]
    assert cheap["cost"] == cheap["literals"] == cheap["cost_at_least"] <= usual["literals"]
    assert cheap["products"] >= usual["products"]


LEFT_OVER = ".i 2\n.o 1\n.type fr\n00 1\n01 0\n.e\n"  # 10 and 11 are in neither set


def test_what_type_fr_leaves_over_counts_as_dont_care_for_primes(
    run: Callable[..., Result],
) -> None:
    Path("left.pla").write_text(LEFT_OVER)
    every = pla.parse(run("minimize", "left.pla", "--primes", "all", "-o", "-").out)
    assert {row for row, _ in every.on.rows()} == {"-0", "1-"}
    needed = pla.parse(run("minimize", "left.pla", "--primes", "essential", "-o", "-").out)
    assert {row for row, _ in needed.on.rows()} == {"-0"}


def test_what_type_fr_leaves_over_is_written_as_dont_care(run: Callable[..., Result]) -> None:
    Path("left.pla").write_text(LEFT_OVER)
    for kind in ("fd", "fdr"):
        given = pla.parse(run("minimize", "left.pla", "--output-type", kind, "-o", "-").out)
        free = {row for row, owners in given.dc.rows() if owners == "1"}
        assert free in ({"1-"}, {"10", "11"}), kind


def test_results_that_would_have_one_name_are_refused(run: Callable[..., Result]) -> None:
    Path("a.pla").write_text(ADDER)
    Path("a.esp").write_text(LEFT_OVER)
    Path("made").mkdir()
    result = run("minimize", "a.pla", "a.esp", "--output-type", "blif", "-o", "made")
    assert result.code == 2
    assert "two FILES are called a.blif" in result.err
    assert not list(Path("made").iterdir())


def test_a_name_that_ends_in_a_backslash_ends_its_line_of_blif(run: Callable[..., Result]) -> None:
    Path("n.pla").write_text(".i 2\n.o 2\n.ilb a\\ a\\_\n.ob y\\ z\n11 11\n01 10\n.e\n")
    assert run("minimize", "n.pla", "--output-type", "blif", "-o", "n.blif").code == 0
    assert not any(line.endswith("\\") for line in Path("n.blif").read_text().splitlines())
    assert run("import", "n.blif", "-o", "n.aag").code == 0
