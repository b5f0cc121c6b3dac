"""Compact mode through the commands: compile, plan, evaluate, report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.dynamics import inverse_dynamics

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

SMALL = ("machado-2r", "--bits", "4", "--effort", "0.5")

pytestmark = pytest.mark.slow  # every one of them searches


@pytest.fixture(name="fewer", autouse=True)
def fewer_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.words.worst.EVALUATIONS", 400_000)
    monkeypatch.setattr("boolcomp.measure.worst.EVALUATIONS", 400_000)


def test_compile_prints_errors_and_saves_a_program(warm_run: Callable[..., Result]) -> None:
    result = warm_run("compile", *SMALL, "-o", "out/c")
    assert result.code == 0
    assert "nodes of at most three inputs (predicted" in result.out
    assert "errors are sampled on 1000000 fresh states, the worst" in result.out
    assert re.search(r"searched with 4\d{5} evaluations, not proved", result.out)
    assert "sampled max  worst found" in result.out
    program = bc.load_program("out/c")
    assert (program.mode, program.bits, program.robot) == ("compact", 4, "machado-2r")


def test_its_json_has_the_promised_keys_and_says_what_was_asked(
    warm_run: Callable[..., Result],
) -> None:
    document = json.loads(warm_run("compile", *SMALL, "--json").out)
    assert {"program", "mode", "bits", "seconds", "luts", "depth", "tables", "joints"} <= set(
        document
    )
    assert document["mode"] == "compact"
    for joint in document["joints"]:
        assert joint["bound"] is None
        assert 0 < joint["rms_error_lsb"] < 0.7
        assert joint["max_error_lsb"] > joint["rms_error_lsb"]
        assert joint["sampled_max"] == joint["max_error"]
        assert joint["worst_found"] > joint["sampled_max"]
        assert joint["worst_found_lsb"] == pytest.approx(joint["worst_found"] / joint["lsb"])
        assert joint["sampled_max_lsb"] == joint["max_error_lsb"]
    assert document["evaluations"] >= 400_000


def test_the_second_time_it_is_read_from_the_store(warm_run: Callable[..., Result]) -> None:
    first = warm_run("compile", *SMALL)
    again = warm_run("compile", *SMALL)
    assert again.out == first.out
    assert float(again.err.split(" s")[0]) < 5


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


def test_terms_cannot_be_dealt_out_where_there_are_none(warm_run: Callable[..., Result]) -> None:
    warm_run("compile", *SMALL, "-o", "out/c")
    result = warm_run("evaluate", "out/c", "-i", "x.csv", "--processes", "2", "--shard", "terms")
    assert result.code == 2
    assert "a compact program has none" in result.err


def test_the_word_graph_is_printed_and_drawn(warm_run: Callable[..., Result]) -> None:
    result = warm_run("plan", *SMALL, "--mode", "compact", "--graph", "out/g.svg")
    assert result.code == 0
    assert "= input q1 angle" in result.out
    assert "tau2[" in result.out
    assert Path("out/g.svg").read_text().startswith("<svg")


def test_the_report_shows_both_modes(warm_run: Callable[..., Result]) -> None:
    result = warm_run(
        *("report", "machado-2r", "--bits", "4", "--extra", "0", "--samples", "20000"),
        *("--effort", "0.5", "--json"),
    )
    rows = json.loads(result.out)["rows"]
    assert [(row["mode"], row["joint"]) for row in rows] == [
        ("compact", 1), ("compact", 2), ("paper", 1), ("paper", 2),
    ]  # fmt: skip
    compact, paper = rows[0], rows[2]
    assert compact["program_luts"] < paper["program_luts"]
    assert compact["bound"] is None
    assert paper["bound"] >= paper["worst_found"] > paper["sampled_max"]
    assert paper["sampled_max"] == paper["max_error"]
    assert compact["worst_found"] > compact["sampled_max"]
    assert compact["evaluations"] >= 400_000
    page = Path("out/report-machado-2r/report.html").read_text()
    assert "worst found/LSB" in page
    assert "evaluations, not proved; bounds are proved" in page


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


def test_payloads_make_a_family(warm_run: Callable[..., Result]) -> None:
    assert warm_run("compile", *SMALL, "--payloads", "0,1", "-o", "out/f").code == 0
    family = bc.load_program("out/f")
    assert family.payloads == (0.0, 1.0)
    still = [0.2, 0.4], [0.0, 0.0], [0.0, 0.0]
    light, heavy = (family.torques(*still, payload=p)[0] for p in family.payloads)
    assert heavy > light


def test_from_python_it_is_the_usual_mode() -> None:
    program = bc.compile("machado-2r", bits=4, effort=0.5)
    assert program.mode == "compact"
    assert program.bound == (float("inf"),) * 2
