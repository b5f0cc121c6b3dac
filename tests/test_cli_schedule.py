"""`boolcomp schedule`, as a user runs it."""

import json
from pathlib import Path

import pytest
from conftest import Run


def test_a_pipeline_over_a_trajectory_is_faster_a_point(run: Run) -> None:
    arguments = ("elbow-3r", "--method", "lagrangian", "--points", "50", "--json")
    document = json.loads(run("schedule", "simulate", *arguments).out)
    assert document["pipeline"]["makespan_us"] < 50 * document["makespan_us"]


def test_an_assignment_of_ones_own(run: Run) -> None:
    Path("mine.toml").write_text('[processors]\nP0 = ["[a-v]*"]\nP1 = ["[A-Z]*", "w*"]\n')
    asked = ("schedule", "machado-2r", "--processors", "2", "--assignment", "mine.toml")
    document = json.loads(run(*asked, "--json").out)
    assert document["scheduler"] == "mine"
    on = {task["task"]: task["processor"] for task in document["tasks"]}
    assert on["w/1"] == 1
    assert on["n/2"] == 0
    assert {(v["source"], v["target"]) for v in document["communication"]} == {(0, 1), (1, 0)}
    text = run(*asked).out
    for v in document["communication"]:
        tasks = ", ".join(v["tasks"])
        assert f"\n  P{v['source']}->P{v['target']}: {v['words']} words of {tasks}\n" in text


@pytest.mark.parametrize(
    ("paper", "count", "wrong"),
    [
        ("zomaya", 81, []),
        (
            "zalzala",
            143,
            [
                "Wd, n=1: additions",
                "Wdd, n=1: additions",
                "dW, n=1: additions",
                "A, n>1: additions",
                "A, n=1: additions",
                "Uicker-Kahn mul, n = 6",
                "Waters mul, n = 6",
                "channels in use, passes 1 to 5",
                "T800, pipelined (ms)",
            ],
        ),
    ],
)
def test_the_counts_of_a_paper_are_reproduced_but_for_its_slips(
    run: Run, paper: str, count: int, wrong: list[str]
) -> None:
    findings = json.loads(run("schedule", "paper", paper, "--json").out)["findings"]
    counted = [one for one in findings if one["kind"] == "count"]
    assert len(counted) == count
    assert all(one["place"] for one in findings)
    assert [one["figure"] for one in counted if not one["holds"]] == wrong
    assert all(one["note"] for one in counted if not one["holds"])


@pytest.mark.slow
def test_the_1988_paper_is_proportional_up_to_64_processors(run: Run) -> None:
    findings = json.loads(run("schedule", "paper", "machado", "--json").out)["findings"]
    speedups = [x for x in findings if x["figure"].startswith("speed-up on")]
    assert [x["printed"] for x in speedups] == [2, 4, 8, 16, 32, 64]
    assert all(x["residual"] > -0.02 for x in speedups)
    figure = [x for x in findings if x["place"].startswith("Fig. 1")]
    assert len(figure) == 84
    assert max(abs(x["residual"]) for x in figure) < 0.01
    ours = {x["figure"]: x["ours"] for x in findings if x["printed"] is None}
    assert ours["selecting a code (µs)"] < ours["sending a code instead (µs)"] / 100


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("elbow-3r --method zeng-10", "simulate elbow-3r --method zeng-10"),
        ("--points 9 machado-2r --json", "simulate machado-2r --points 9 --json"),
        ("--json --paper zomaya", "paper zomaya --json"),
        ("--paper zengg", "paper zengg"),
        ("nobody", "simulate nobody"),
        ("machado-2r --run --samples 0", "run machado-2r --samples 0"),
        pytest.param(
            "machado-2r --chart --bits 5 --machine cortex-m",
            "chart machado-2r --bits 5 --machine cortex-m",
            marks=pytest.mark.check,
        ),
    ],
)
def test_the_older_spelling_prints_the_same(run: Run, older: str, newer: str) -> None:
    one, other = (run("schedule", *line.split()) for line in (older, newer))
    assert (one.code, one.out) == (other.code, other.out)
    assert one.err.splitlines()[-1:] == other.err.splitlines()[-1:]


@pytest.mark.check
def test_a_chart_without_compact_logic_says_how_to_make_it(run: Run) -> None:
    result = run("schedule", "chart", "stanford", "--machine", "cortex-m", "--rms-error", ".77")
    assert result.code == 0
    assert (
        "to include it, first run `boolcomp compile stanford --bits 8 --accuracy rms=0.77`"
        in " ".join(result.err.split())
    )
    assert "compact" not in result.out
