"""Compact mode through the commands: compile, plan, evaluate, report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.word_robots import built_of
from samples import terms_of

import boolcomp as bc
from boolcomp.commands.compact import _wide, _words, say_whence, unread
from boolcomp.common.places import Folder
from boolcomp.compact.demand import Demand, usual_demand
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.optimise import Step
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.words.graph import Bits, Heap, InputWord, Scale, WordGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

SMALL = ("machado-2r", "--bits", "4")  # its result ships

searching = pytest.mark.check


def test_compile_says_what_was_read_from_the_store(run: Callable[..., Result]) -> None:
    result = run("compile", "machado-2r", "--bits", "8")
    assert result.err.endswith(" s\nread from the store; another --effort searches anew\n")
    document = json.loads(run("compile", "machado-2r", "--bits", "8", "--json").out)
    assert document["stored"] is True


def test_compile_says_where_abc_would_have_helped(capsys: pytest.CaptureFixture[str]) -> None:
    kept = built_of(terms_of(bc.load_robot("machado-2r")), usual_demand(8))
    say_whence([kept])
    assert "ABC" not in capsys.readouterr().err
    step = Step("ABC", 600, 20, abc.MISSING.note)
    say_whence([replace(kept, steps=(*kept.steps, step), stored=False), kept])
    store, smaller = capsys.readouterr().err.splitlines()
    assert store == "1 of 2 loads read from the store; another --effort searches anew"
    assert smaller.endswith(
        "may be larger than it need be: ABC was not found: pip install 'boolcomp[abc]', or put "
        "yosys-abc on PATH"
    )


@searching
def test_paper_mode_says_which_tables_were_read(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nothing = Folder(tmp_path / "nothing")
    monkeypatch.setattr("boolcomp.paper.store.shipped_place", lambda _: nothing)
    paper = ("compile", "machado-2r", "--mode", "paper", "--bits", "4", "--minimizer", "isop")
    assert "read from the store" not in run(*paper).err
    assert " tables read from the store; another --minimizer searches anew" in run(*paper).err


def test_help_says_what_effort_is_and_its_default(run: Callable[..., Result]) -> None:
    said = " ".join(run("compile", "--help").out.split())
    assert "nominal seconds of one core [default: 30]" in said
    assert "Work is counted, not timed" in said
    assert Demand().effort == 30


@pytest.fixture(name="fewer", autouse=True)
def fewer_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 400_000)
    monkeypatch.setattr("boolcomp.proof.worst.EVALUATIONS", 400_000)


@searching
def test_compile_prints_errors_and_saves_a_program(warm_run: Callable[..., Result]) -> None:
    result = warm_run("compile", *SMALL, "-o", "out/c")
    assert result.code == 0
    assert "nodes of at most three inputs (predicted" in result.out
    assert "errors are sampled on 1000000 fresh states, the worst" in result.out
    assert re.search(r"searched with \d{6,} evaluations, not proved", result.out)
    assert re.search(r"proved: no error exceeds T1 \d\.\d+, T2 \d\.\d+ LSB", result.out)
    assert "sampled max  worst found" in result.out
    program = bc.load_program("out/c")
    assert (program.mode, program.bits, program.name) == ("compact", 4, "machado-2r")


@searching
def test_its_json_has_the_promised_keys_and_says_what_was_asked(
    warm_run: Callable[..., Result],
) -> None:
    document = json.loads(warm_run("compile", *SMALL, "--json").out)
    assert {"program", "mode", "bits", "seconds", "luts", "depth", "tables", "joints"} <= set(
        document
    )
    assert document["mode"] == "compact"
    for joint in document["joints"]:
        assert joint["bound"] >= joint["worst_found"] >= joint["sampled_max"]
        assert 0 < joint["rms_error_lsb"] < 0.7
        assert joint["max_error_lsb"] > joint["rms_error_lsb"]
        assert joint["sampled_max"] == joint["max_error"]
        assert joint["worst_found"] > joint["sampled_max"]
        assert joint["worst_found_lsb"] == pytest.approx(joint["worst_found"] / joint["lsb"])
        assert joint["sampled_max_lsb"] == joint["max_error_lsb"]
        ratio = joint["bound"] / joint["worst_found"]
        assert joint["bound_over_found"] == pytest.approx(ratio)
    assert document["evaluations"] >= 400_000
    ratios = [one["bound_over_found"] for one in document["outputs"]]
    assert ratios == pytest.approx([one["bound_over_found"] for one in document["joints"]])


def test_bounds_that_are_wide_are_said_to_be_so() -> None:
    outputs = [SimpleNamespace(symbol=name) for name in ("T1", "T2", "T3")]
    compact = SimpleNamespace(problem=SimpleNamespace(outputs=outputs))
    wide: Any = SimpleNamespace(compact=compact, over_found=(1.99, 35.26, None))
    assert _wide(wide) == "\nbounds over the worst found: T2 35 times"
    wide.over_found = (1.5, None, 1.0)
    assert not _wide(wide)


@searching
def test_the_second_time_it_is_read_from_the_store(warm_run: Callable[..., Result]) -> None:
    first = warm_run("compile", *SMALL)
    again = warm_run("compile", *SMALL)
    assert again.out == first.out
    assert float(again.err.split(" s")[0]) < 5
    assert again.err.endswith("read from the store; another --effort searches anew\n")
    documents = [json.loads(warm_run("compile", *SMALL, "--json").out) for _ in range(2)]
    assert [document["stored"] for document in documents] == [True, True]


@searching
def test_evaluated_words_err_no_more_than_compile_says(warm_run: Callable[..., Result]) -> None:
    document = json.loads(warm_run("compile", *SMALL, "-o", "out/c", "--json").out)
    robot = bc.load_robot("machado-2r")
    rng = np.random.default_rng(5)
    rows = 5000
    ranges = [getattr(k, x) for x in ("position", "velocity", "acceleration") for k in robot.links]
    states = np.stack([rng.uniform(r.low, r.high, rows) for r in ranges], axis=1)
    names = "q1,q2,qd1,qd2,qdd1,qdd2"
    np.savetxt("states.csv", states, "%.9g", ",", header=names, comments="")
    arguments = ("evaluate", "out/c", "-i", "states.csv", "-o", "tau.csv", "--processes", "2")
    assert warm_run(*arguments).code == 0
    torques = np.loadtxt("tau.csv", delimiter=",", skiprows=1)
    error = torques - inverse_dynamics(robot, states[:, :2], states[:, 2:4], states[:, 4:])
    for k, joint in enumerate(document["joints"]):
        assert np.sqrt((error[:, k] ** 2).mean()) < 1.05 * joint["rms_error"]
        assert np.abs(error[:, k]).max() <= joint["max_error"] * 1.2


@searching
def test_terms_cannot_be_dealt_out_where_there_are_none(warm_run: Callable[..., Result]) -> None:
    warm_run("compile", *SMALL, "-o", "out/c")
    result = warm_run("evaluate", "out/c", "-i", "x.csv", "--processes", "2", "--shard", "terms")
    assert result.code == 2
    assert "a compact program has none" in result.err


@searching
def test_the_word_graph_is_printed_and_drawn(warm_run: Callable[..., Result]) -> None:
    result = warm_run("plan", *SMALL, "--mode", "compact", "--graph", "out/g.svg")
    assert result.code == 0
    assert "= input q1 angle" in result.out
    assert "tau2[" in result.out
    assert Path("out/g.svg").read_text().startswith("<svg")


def test_a_word_without_another_name_has_no_meaning_in_the_list() -> None:
    nodes = (
        InputWord("another", 6, angle=False),
        InputWord("an_input_of_a_long_name", 4, angle=False),
        Heap((Bits(1, 0, 0, negative=False), Bits(0, 0, 0, negative=True)), 0, 8),
        Heap((Bits(2, 1, 0, negative=False),), 0, 8),
    )
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 4, ())
    assert _words(graph, (), {}).splitlines()[4:] == ["w2       8", "w3       8  w2, scaled"]


@searching
def test_the_report_shows_both_modes(warm_run: Callable[..., Result]) -> None:
    result = warm_run(
        *("report", "machado-2r", "--bits", "4", "--extra", "0", "--samples", "20000"),
        "--json",
    )
    rows = json.loads(result.out)["rows"]
    assert [(row["mode"], row["joint"]) for row in rows] == [
        ("compact", 1), ("compact", 2), ("paper", 1), ("paper", 2),
    ]  # fmt: skip
    compact, paper = rows[0], rows[2]
    assert compact["program_luts"] < paper["program_luts"]
    assert compact["bound"] >= compact["worst_found"]
    assert paper["bound"] >= paper["worst_found"] > paper["sampled_max"]
    assert paper["sampled_max"] == paper["max_error"]
    assert compact["worst_found"] > compact["sampled_max"]
    assert compact["evaluations"] >= 400_000
    page = Path("out/report-machado-2r/report.html").read_text()
    assert "worst found/LSB" in page
    assert "evaluations, not proved; bounds are proved" in page
    for row in rows:
        assert row["bound_lsb"] == pytest.approx(row["bound"] / row["lsb"])
        cell = '<td class="words">'
        pattern = rf"{cell}{row['mode']}</td>.*?{cell}T{row['joint']}</td>.*?</tr>"
        (said,) = re.findall(pattern, page.partition("All figures</h2>")[2])
        written = float(re.findall(r"<td[^>]*>(.*?)</td>", said)[11])
        assert row["bound_lsb"] - 1e-8 <= written < row["bound_lsb"] + 0.01


@searching
def test_the_report_takes_tight_bounds(warm_run: Callable[..., Result]) -> None:
    asked = ("report", "machado-2r", "--bits", "4", "--mode", "compact", "--samples", "2000")
    plain, tight = (
        json.loads(warm_run(*asked, "--proof", grade, "--json").out)["rows"]
        for grade in ("plain", "tight")
    )
    for one, other in zip(plain, tight, strict=True):
        assert other["worst_found"] <= other["bound"] < one["bound"]
    assert warm_run(*asked, "--proof", "tigth").code == 2


@searching
def test_a_saved_program_is_reported(warm_run: Callable[..., Result]) -> None:
    warm_run("compile", *SMALL, "-o", "out/c")
    rows = json.loads(warm_run("report", "out/c", "--samples", "20000", "--json").out)["rows"]
    assert {row["mode"] for row in rows} == {"compact"}
    assert rows[0]["ns_per_sample"] > 0
    assert all(row["worst_found"] > row["sampled_max"] for row in rows)
    few = warm_run("report", "out/c", "--samples", "2000", "--evaluations", "0", "--json")
    assert {row["worst_found"] for row in json.loads(few.out)["rows"]} == {None}
    result = warm_run("report", "out/c", "--robot", "elbow-3r")
    assert result.code == 2
    assert "was compiled for machado-2r with 2 joints" in result.err


@searching
def test_payloads_make_a_family(warm_run: Callable[..., Result]) -> None:
    loads = ("--payloads", "0,1", "--effort", "0")  # searched for from nothing
    assert warm_run("compile", *SMALL, *loads, "-o", "out/f").code == 0
    family = bc.load_program("out/f")
    assert family.payloads == (0.0, 1.0)
    still = [0.2, 0.4], [0.0, 0.0], [0.0, 0.0]
    light, heavy = (family.torques(*still, payload=p)[0] for p in family.payloads)
    assert heavy > light


@searching
def test_from_python_it_is_the_usual_mode() -> None:
    program = bc.compile("machado-2r", bits=4)
    assert program.mode == "compact"
    for worst, bound in zip(program.worst_found, program.bound, strict=True):
        assert worst is not None
        assert worst <= bound <= 3.5 * worst


def test_an_input_that_is_not_read_is_told_from_its_low_bits() -> None:
    asked = {"q1": 10, "q2": 10, "qd1": 8}
    assert unread({"q1": 10, "q2": 3, "qd1": 0}, asked) == [
        "low bits that nobody reads: q2 3",
        "not read at all: q1",
    ]
    assert unread(dict.fromkeys(asked, 0), asked) == []


def test_a_picture_that_is_no_svg_is_refused_before_anything_is_searched(
    run: Callable[..., Result],
) -> None:
    result = run("plan", "machado-2r", "--mode", "compact", "--graph", "g.png")
    assert result.code == 2
    assert "--graph g.png: the picture is an SVG: give a name ending in .svg" in result.err


def test_words_in_other_codes_are_read_from_the_store_and_their_cost_is_printed(
    run: Callable[..., Result],
) -> None:
    words = ("--word", "q1=gray:10", "--word", "tau=sign-magnitude")
    found = run("compile", "machado-2r", *words)
    assert "read from the store" in found.err
    assert re.search(r"words as asked for: (\d+) nodes more, (\d+) in all", found.out)
    document = json.loads(run("compile", "machado-2r", *words, "--json").out)
    assert 0 < document["format_luts"] < 30
    assert document["luts"] == 559
    first = document["inputs"][0]
    assert (first["name"], first["code"], first["bits"], first["zero"]) == (
        "q1",
        "gray",
        10,
        "rise",
    )
    assert [one["code"] for one in document["outputs"]] == ["sign-magnitude"] * 2


def test_a_word_that_is_none_is_wrong_usage(run: Callable[..., Result]) -> None:
    for word, said in (
        ("q1", "--word 'q1': give NAME=FORMAT, such as q1=gray:12"),
        ("q1=grey", "--word q1 'grey': 'grey' is no code, width, range or place of zero"),
        ("q7=gray", "machado-2r has no word 'q7'"),
    ):
        found = run("compile", "machado-2r", "--word", word)
        assert (found.code, found.out) == (2, "")
        assert said in found.err
    found = run("compile", "machado-2r", "--mode", "paper", "--word", "q1=gray")
    assert (found.code, "--word belongs to --mode compact" in found.err) == (2, True)
