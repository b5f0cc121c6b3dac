"""`boolcomp schedule`, as a user runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

LOGIC = ("boolean", "compact", "compact-32")


def test_the_example_of_the_help_prints_operations_and_a_chart(run: Callable[..., Result]) -> None:
    arguments = ("puma560", "--method", "lagrangian", "--machine", "t800")
    result = run("schedule", "simulate", *arguments)
    assert (result.code, result.err) == (0, "")
    assert "recursive Lagrangian in ten plus six jobs (Zalzala and Morris 1989)" in result.out
    assert "W, n>1        24/15    24/15" in result.out
    assert "path, n=6   383/307  383/307" in result.out
    assert all(f"\nP{k} [" in result.out for k in range(4))
    assert "any schedule: at least" in result.out


def test_json_has_the_promised_keys(run: Callable[..., Result]) -> None:
    result = run(
        "schedule", "simulate", "elbow-3r", "--method", "zeng-10", "--machine", "encore", "--json"
    )
    document = json.loads(result.out)
    assert {"makespan_us", "sequential_us", "speedup", "utilisation", "critical_path_us"} <= set(
        document
    )
    assert {"task", "processor", "start_us", "end_us"} == set(document["tasks"][0])
    assert len(document["utilisation"]) == 4
    assert document["makespan_us"] >= document["lower_bound_us"] > 0


def test_a_pipeline_over_a_trajectory_is_faster_a_point(run: Callable[..., Result]) -> None:
    arguments = ("elbow-3r", "--method", "lagrangian", "--points", "50", "--json")
    document = json.loads(run("schedule", "simulate", *arguments).out)
    assert document["pipeline"]["makespan_us"] < 50 * document["makespan_us"]


def test_charts_and_page_are_written(run: Callable[..., Result]) -> None:
    result = run("schedule", "simulate", "machado-2r", "--processors", "2", "-o", "out/s")
    assert result.err == "written to out/s\n"
    assert Path("out/s/gantt.svg").read_text().startswith("<svg")
    page = Path("out/s/schedule.html").read_text()
    assert "<svg" in page
    assert "general Newton-Euler" in page


def test_an_assignment_of_ones_own(run: Callable[..., Result]) -> None:
    Path("mine.toml").write_text('[processors]\nP0 = ["[a-v]*"]\nP1 = ["[A-Z]*", "w*"]\n')
    result = run(
        "schedule", "machado-2r", "--processors", "2", "--assignment", "mine.toml", "--json"
    )
    document = json.loads(result.out)
    assert document["scheduler"] == "mine"
    on = {task["task"]: task["processor"] for task in document["tasks"]}
    assert on["w/1"] == 1
    assert on["n/2"] == 0
    assert {(v["source"], v["target"]) for v in document["communication"]} == {(0, 1), (1, 0)}
    text = run("schedule", "machado-2r", "--processors", "2", "--assignment", "mine.toml").out
    for v in document["communication"]:
        tasks = ", ".join(v["tasks"])
        assert f"\n  P{v['source']}->P{v['target']}: {v['words']} words of {tasks}\n" in text


@pytest.mark.parametrize("paper", ["zomaya", "zalzala"])
def test_a_papers_counts_are_reproduced(run: Callable[..., Result], paper: str) -> None:
    findings = json.loads(run("schedule", "paper", paper, "--json").out)["findings"]
    counted = [x for x in findings if x["kind"] == "count"]
    assert len(counted) > 15
    assert all(x["holds"] or x["note"] for x in counted)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (("elbow-3r", "--method", "zeng-10"), ("simulate", "elbow-3r", "--method", "zeng-10")),
        (
            ("--points", "9", "machado-2r", "--json"),
            ("simulate", "machado-2r", "--points", "9", "--json"),
        ),
        (("--paper", "zalzala"), ("paper", "zalzala")),
        (("--json", "--paper", "zomaya"), ("paper", "zomaya", "--json")),
        (("--paper", "zengg"), ("paper", "zengg")),
        (("nobody",), ("simulate", "nobody")),
        (
            ("machado-2r", "--run", "--samples", "0"),
            ("run", "machado-2r", "--samples", "0"),
        ),
        pytest.param(
            ("machado-2r", "--chart", "--bits", "5", "--machine", "cortex-m"),
            ("chart", "machado-2r", "--bits", "5", "--machine", "cortex-m"),
            marks=pytest.mark.check,
        ),
    ],
)
def test_the_older_spelling_prints_the_same(
    run: Callable[..., Result], older: tuple[str, ...], newer: tuple[str, ...]
) -> None:
    one, other = run("schedule", *older), run("schedule", *newer)
    assert (one.code, one.out) == (other.code, other.out)
    assert one.err.splitlines()[-1:] == other.err.splitlines()[-1:]


@pytest.mark.parametrize("name", ["simulate", "run", "chart", "paper"])
def test_a_sub_command_has_few_options_and_an_example(
    run: Callable[..., Result], name: str
) -> None:
    text = run("schedule", name, "--help").out
    assert f"Example: boolcomp schedule {name} " in text
    assert len(re.findall(r"^  (-\w, )?--(?!help)", text, re.MULTILINE)) <= 10
    assert f"\n  {name} " in run("schedule", "--help").out


def test_a_misspelt_sub_command_gets_the_nearest(run: Callable[..., Result]) -> None:
    result = run("schedule", "chrat", "puma560")
    assert (result.code, result.out) == (2, "")
    assert "no sub-command 'chrat' (did you mean 'chart'?)" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ((), 2, "which robot?"),
        (("puma560", "--paper", "zeng"), 2, "needs no robot"),
        (("--paper", "zengg"), 2, "did you mean 'zeng'"),
        (("--paper", "zeng", "--machine", "t800"), 2, "--machine means nothing with --paper"),
        (("--paper", "zeng", "-o", "out"), 2, "--output means nothing with --paper"),
        (("--paper", "zeng", "--engine", "numpy"), 2, "--engine means nothing with --paper"),
        (("--paper", "zeng", "--samples", "9"), 2, "--samples means nothing with --paper"),
        (("puma560", "--engine", "numpy"), 2, "--engine means nothing without --run"),
        (("puma560", "--samples", "9"), 2, "--samples means nothing without --run"),
        (("puma560", "--run", "--samples", "0"), 2, "--samples 0: a run has at least one"),
        (("puma560", "--run", "--engine", "nump"), 2, "did you mean 'numpy'"),
        (("machado-2r", "--method", "boolean", "--folded"), 2, "--folded means nothing with"),
        (("puma560", "--method", "customised", "--folded"), 2, "it folds constants anyway"),
        (("puma560", "--bits", "6"), 2, "--bits means nothing with --method newton-euler"),
        (
            ("puma560", "--assignment", "bad.toml", "--scheduler", "optimal"),
            *(2, "--scheduler means nothing with --assignment"),
        ),
        (("puma560", "--method", "lagrange"), 2, "did you mean 'lagrangian'"),
        (("puma560", "--scheduler", "cpmisf"), 2, "did you mean 'cp-misf'"),
        (("puma560", "--machine", "t80"), 2, "did you mean 't800'"),
        (("puma560", "--processors", "0"), 2, "has 1 to 1024 processors, not 0"),
        (("puma560", "--points", "0"), 2, "--points 0"),
        (("puma560", "--machine", "bad.toml"), 1, "bad.toml"),
        pytest.param(
            *(("puma560", "--method", "boolean"), 1, "needs a table of"), marks=pytest.mark.check
        ),
        (("machado-2r", "--method", "symbolic-cycle", "--run"), 2, "--run executes methods"),
    ],
)
def test_mistakes_are_sentences(
    run: Callable[..., Result], arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    Path("bad.toml").write_text('name = "x"\nprocessors = 4\n[operations]\nmultiplication = -1\n')
    result = run("schedule", *arguments)
    assert (result.code, result.out) == (code, "")
    assert sentence in result.err


@pytest.mark.parametrize(
    "option",
    [
        ("--method", "boolean"), ("--scheduler", "optimal"), ("--points", "3"), ("--run",),
        ("--processors", "2"), ("--assignment", "a.toml"), ("--folded",), ("--engine", "numpy"),
        ("--samples", "9"),
    ],
)  # fmt: skip
def test_a_chart_refuses_what_is_of_one_schedule(
    run: Callable[..., Result], option: tuple[str, ...]
) -> None:
    result = run("schedule", "puma560", "--chart", *option)
    assert (result.code, result.out) == (2, "")
    assert f"{option[0]} means nothing with --chart" in result.err


@pytest.mark.check
def test_a_chart_without_compact_logic_says_how_to_make_it(run: Callable[..., Result]) -> None:
    result = run("schedule", "chart", "stanford", "--machine", "cortex-m", "--rms-error", ".77")
    assert result.code == 0
    assert "`boolcomp compile stanford --bits 8 --rms-error 0.77` makes it" in result.err
    assert "compact" not in result.out


@pytest.mark.check
def test_all_methods_on_many_processors(run: Callable[..., Result]) -> None:
    arguments = ("schedule", "chart", "machado-2r", "--bits", "5", "-o", "out/c", "--json")
    rows = json.loads(run(*arguments).out)["rows"]
    assert Path("out/c/scaling.svg").exists()
    boolean = {row["processors"]: row for row in rows if row["method"] == "boolean"}
    others = [r for r in rows if r["method"] not in LOGIC and r["processors"] == 1024]
    assert len(others) == 5
    assert boolean[64]["speedup"] > 5 * max(row["speedup"] for row in others)
    for name in ("compact", "compact-32"):
        compact = {row["processors"]: row["makespan_us"] for row in rows if row["method"] == name}
        assert compact[1] < boolean[1]["makespan_us"] / 10
        assert compact[1024] < compact[1] / 2
    for row in rows:
        assert row["makespan_us"] >= row["lower_bound_us"] * (1 - 1e-9)


@pytest.mark.check
def test_a_real_run_gives_the_torques(run: Callable[..., Result]) -> None:
    arguments = ("schedule", "run", "puma560", "--processors", "2", "--samples", "20000")
    document = json.loads(run(*arguments, "--json").out)
    found = document["run"]
    kinds = {"one", "scheduled", "dealt", "points"}
    assert set(found["relative_errors"]) == set(found["ns_per_sample"]) == kinds
    assert max(found["relative_errors"].values()) == found["relative_error"] < 1e-12
    assert (found["processes"], found["samples"]) == (2, 20_000)
    for kind in kinds:
        assert found["seconds"][kind] > 0
        assert found["ns_per_sample"][kind] == pytest.approx(found["seconds"][kind] * 1e9 / 20_000)
        assert found["speedup"][kind] <= 2 * 1.03 or kind in found["noise"]
    # What the processes hand on is what the assignment says must be sent.
    assert found["exchanged"]["scheduled"] == sum(v["words"] for v in document["communication"])
    assert 0 < found["exchanged"]["dealt"] < found["exchanged"]["scheduled"]
    assert found["exchanged"]["one"] == found["exchanged"]["points"] == 0


@pytest.mark.check
def test_a_real_run_is_printed_by_kind(run: Callable[..., Result]) -> None:
    arguments = ("schedule", "run", "machado-2r", "--processors", "2", "--samples", "1000")
    lines = run(*arguments, "--engine", "numpy").out.splitlines()[-5:]
    assert lines[0].startswith("really run in one process: ")
    assert lines[0].endswith(" ns a sample, speed-up 1.00")
    assert lines[1].startswith("really run as scheduled: ")
    assert lines[4].startswith("1000 samples, least of ")
