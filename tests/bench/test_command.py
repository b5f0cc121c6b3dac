"""`boolcomp bench`, as a user runs it."""

import json
from pathlib import Path

import pytest
from conftest import Run
from small_programs import stages

TINY = ("--batches", "1,256", "--cores", "1", "--seconds", "0.02")


@pytest.fixture(autouse=True)
def fewer_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.measure.bench.EVALUATIONS", 50_000)


@pytest.mark.check
def test_a_bench_leaves_table_json_and_chart(run: Run) -> None:
    stages(4)[2].save("program")
    result = run("bench", "program", *TINY, "-o", "out/bench", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    bounds = zip(document["sampled_max"], document["worst_found"], document["bound"], strict=True)
    assert all(0 < sampled <= worst <= bound for sampled, worst, bound in bounds)
    rows = [row for row in document["rows"] if row["ns_per_sample"]]
    assert {row["batch"] for row in rows} == {1, 256}
    assert "boolcomp, two-level logic" in {row["rival"] for row in rows}
    logic = {
        (row["types"]["in"], row["batch"]): row["ns_per_sample"]
        for row in rows if row["rival"] == "boolcomp, two-level logic"
    }  # fmt: skip
    for row in rows:
        own = logic.get((row["types"]["in"], row["batch"]))
        if own is not None and row["ratio"] is not None:
            assert row["ratio"] == pytest.approx(row["ns_per_sample"] / own, rel=1e-3)
    names = {path.name for path in Path("out/bench").iterdir()}
    assert names == {"bench.txt", "bench.json", "bench.svg", "bench.png"}
    assert "two-level logic" in Path("out/bench/bench.txt").read_text()
