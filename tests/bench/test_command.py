"""`boolcomp bench`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_programs import stages

from boolcomp.commands.bench import bounded_numbers
from boolcomp.common.errors import UsageError
from boolcomp.measure.bench import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result


@pytest.fixture(name="fewer", autouse=True)
def fewer_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.measure.bench.bench.EVALUATIONS", 50_000)


TINY = ("--batches", "1,256", "--cores", "1", "--seconds", "0.02")


@pytest.mark.slow
def test_a_bench_leaves_table_json_and_chart(run: Callable[..., Result]) -> None:
    stages(4)[2].save("program")
    result = run("bench", "program", *TINY, "-o", "out/bench", "--json")
    assert result.code == 0, result.err
    document = json.loads(result.out)
    bounds = zip(document["sampled_max"], document["worst_found"], document["bound"], strict=True)
    assert all(0 < sampled <= worst <= bound for sampled, worst, bound in bounds)
    rivals = {row["rival"] for row in document["rows"] if row["ns_per_sample"]}
    assert "boolcomp, two-level logic" in rivals
    if build.compiler("gcc"):
        assert "gcc -O3 float" in rivals
    assert {row["batch"] for row in document["rows"] if row["ns_per_sample"]} == {1, 256}
    names = {path.name for path in Path("out/bench").iterdir()}
    assert names == {"bench.txt", "bench.json", "bench.svg", "bench.png"}
    assert "two-level logic" in Path("out/bench/bench.txt").read_text()


@pytest.mark.slow
def test_wrong_results_are_exit_code_one(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.measure.bench.libraries.EXACT", -1.0)
    stages(4)[2].save("program")
    result = run("bench", "program", "--batches", "64", "--cores", "1", "--seconds", "0.02")
    assert result.code == 1
    assert "WRONG" in result.out
    assert "numpy (float64)" in result.err


def test_what_is_no_program_is_said(run: Callable[..., Result]) -> None:
    result = run("bench", "machado-2", "--batches", "64")
    assert result.code == 2
    assert "did you mean 'machado-2r'" in result.err


@pytest.mark.parametrize("text", ["0", "a", "1.5", "1e9", "", "inf", "nan"])
def test_batches_are_whole_numbers(text: str) -> None:
    with pytest.raises(UsageError, match="whole numbers"):
        bounded_numbers("--batches", text, 10**8)


def test_batches_are_read_once_each_and_rising() -> None:
    assert bounded_numbers("--batches", "1e6,1,64,1", 10**8) == (1, 64, 10**6)
