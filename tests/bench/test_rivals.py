"""Every rival in C computes the torques, within the bound it states."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from samples import problem_of
from small_programs import stages

from boolcomp.measure import bench
from boolcomp.measure.bench import Checked, check, draw_states
from boolcomp.problem import Tape
from boolcomp.problem.robot.library import load_robot

rivals, straight = bench.rivals("offers"), bench.rivals("straight")


@pytest.fixture(name="own_compilers")
def forget_compilers() -> Iterator[None]:
    """Look for compilers anew, before and after."""
    bench.compiler.cache_clear()
    yield
    bench.compiler.cache_clear()


@pytest.mark.check
@pytest.mark.parametrize("robot", ["machado-2r", "elbow-3r", "puma560", "stanford"])
def test_c_rivals_are_within_their_bounds(robot: str) -> None:
    states = draw_states(problem_of(robot), 4096)
    checked = 0
    for offer in rivals.c_offers(load_robot(robot), 8):
        found = check(offer, states, 8)
        if isinstance(found, Checked):
            assert not found.wrong, f"{offer.rival} {offer.kind}: {found.own_error}"
            assert found.own_error <= offer.bound
            checked += 1
        else:
            assert found.skipped.startswith(("no ", "the processor has no"))
    assert checked >= 4


@pytest.mark.check
def test_packages_compute_newton_euler() -> None:
    states = draw_states(problem_of("elbow-3r"), 256)
    for offer in rivals.library_offers(load_robot("elbow-3r"), 8):
        found = check(offer, states, 8)
        if isinstance(found, Checked):
            assert not found.wrong, offer.rival
        else:
            assert found.skipped.endswith("is not installed")


@pytest.mark.check
def test_wrong_results_are_exit_code_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.measure.bench.EVALUATIONS", 50_000)
    monkeypatch.setattr(rivals, "EXACT", -1.0)
    stages(4)[2].save("program")
    result = run("bench", "program", "--batches", "64", "--cores", "1", "--seconds", "0.02")
    assert result.code == 1
    assert "WRONG" in result.out
    assert "numpy (float64)" in result.err


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, own_compilers: None) -> None:
    del own_compilers
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(bench, "processor", lambda: ("plain", frozenset({"avx2"})))
    offers = list(rivals.c_offers(load_robot("machado-2r"), 8))
    assert all(offer.make is None for offer in offers)
    reasons = {offer.rival: offer.skipped for offer in offers}
    assert reasons["VBMI byte tables (gcc)"] == "the processor has no avx512vbmi"
    assert "avx512f" in reasons["AVX-512 float by hand (gcc)"] or reasons[
        "AVX-512 float by hand (gcc)"
    ].startswith("no gcc")
    assert reasons["clang -O3 float"] == "no clang"


@pytest.mark.parametrize("name", bench.COMPILERS)
def test_a_loaded_rival_leaves_numbers_of_this_process_alone(name: str) -> None:
    found = bench.compiler(name)
    if found is None:
        pytest.skip(f"no {name}")
    bench.compiled_library(found, bench.Unit("double three(void) { return 3.0; }"))
    smallest = np.nextafter(0.0, 1.0)
    assert smallest * np.float64(1.0) > 0.0, "subnormal numbers count as zero"


def test_rivals_that_are_not_installed_are_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bench, "sources", lambda: tmp_path / "none")
    stages(4)[2].save("program")
    missing = f"the rivals are not installed ({tmp_path / 'none'}/offers.py)"
    made = run("bench", "program", "--batches", "64", "--cores", "1", "--seconds", "0.02")
    assert (made.code, made.err) == (
        1,
        f"error: {missing}\n  hint: use a clone of the repository\n",
    )


def test_live_order_computes_the_same_with_fewer_values_kept() -> None:
    tape = Tape()
    x = tape.input("x")
    waves = [tape.sine(x * float(k)) for k in range(2, 8)]  # all made before any is used
    program = tape.finish([("s", sum(waves[1:], waves[0])), ("x", x)])
    other = straight.live_order(program)
    columns = [np.random.default_rng(0).normal(size=5)]
    for left, right in zip(program.evaluate(columns), other.evaluate(columns), strict=True):
        assert np.array_equal(left, right)
    assert (other.operations, other.inputs) == (program.operations, program.inputs)
    assert straight.most_live(other) < straight.most_live(program)


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


FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "bench_check.py"


@pytest.fixture(name="check", scope="module")
def loaded() -> dict[str, Any]:
    return runpy.run_path(str(FILE))


def test_losses_are_shares_of_what_was(check: dict[str, Any]) -> None:
    found = check["losses"]({"a": 1.7, "b": 2.2, "new": 1.0}, {"a": 2.0, "b": 2.0, "gone": 1.0})
    assert found == pytest.approx({"a": 0.15, "b": -0.1})


def test_the_committed_ratios_name_known_rivals(check: dict[str, Any]) -> None:
    committed = json.loads(FILE.with_name("bench_ratios.json").read_text(encoding="utf-8"))
    assert committed
    for name, ratio in committed.items():
        assert any(rival in name for rival in check["RIVALS"])
        assert ratio > 0
