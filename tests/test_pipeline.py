"""The lists of passes, and the whole way from a robot to a program."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clusters import NO_LOOPBACK, loopback
from compact.word_robots import small_robot
from samples import random_robot

import boolcomp as bc
from boolcomp import pipeline
from boolcomp.base import ALONE, executor
from boolcomp.compact import CompactChoices, Demand
from boolcomp.paper import PlanOptions, make_plan, quantised
from boolcomp.pipeline import COMPACT, run_passes
from boolcomp.problem import problem_of
from boolcomp.program import Program
from boolcomp.terms import Terms, split


def test_one_can_stop_after_passes_that_there_are() -> None:
    assert isinstance(run_passes("machado-2r", until="terms"), Terms)
    with pytest.raises(
        bc.UsageError, match=r"unknown step 'table'; did you mean 'tables'\? steps are terms,"
    ):
        run_passes("machado-2r", until="table")
    with pytest.raises(bc.UsageError, match="machado-2r-gravity is a problem already; payloads"):
        bc.compile(problem_of("machado-2r", "gravity"), mode="paper", payloads=1.0)


@pytest.mark.slow
def test_the_list_is_what_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.EVALUATIONS", 2000)
    monkeypatch.setattr("boolcomp.compact.passes.FRESH_SAMPLES", 2000)
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 2000)
    ran: list[str] = []

    def heard(step: Any) -> Any:
        def run_it(values: list[Any], choices: Any) -> Any:
            ran.append(step.name)
            return step.run(values, choices)

        return replace(step, run=run_it)

    monkeypatch.setattr(pipeline, "COMPACT", tuple(map(heard, COMPACT)))
    demand = Demand(bits=4, rms=(0.6,), effort=0.0)
    told: list[float] = []
    choices = CompactChoices(
        demand, tmp_path, also_shipped=False, workers=ALONE,
        progress=lambda step: told.append(step.fraction),
    )  # fmt: skip
    made = pipeline.compile_compact(small_robot(3, 1), choices, payloads=(0.0, 0.5))
    assert ran == [step.name for step in COMPACT] == [
        "terms", "store", "sketch", "screen", "refine", "improve", "graph", "logic",
        "optimise", "measure", "approximate", "program",
    ]  # fmt: skip
    assert made.program.payloads == (0.0, 0.5)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert not any(one.stored for one in made.built)
    again = pipeline.compile_compact(small_robot(3, 1), choices, payloads=(0.5, 0.0))
    assert all(one.stored for one in again.built)
    assert [str(x) for x in again.built] == [str(x) for x in reversed(made.built)]


@pytest.mark.check
@pytest.mark.parametrize("seed", [0, 3])
def test_random_arms_compile_to_what_their_plan_computes(seed: int) -> None:
    robot = random_robot(seed, joints=2)
    program = bc.compile(robot, bits=4, mode="paper", minimizer="isop", payloads=(0.0, 0.5))
    for mass in (0.0, 0.5):
        problem = problem_of(robot, mass=mass)
        state = problem.draw(700, seed)
        found = program.evaluate(*state, payload=mass, engine="numpy")
        plan = make_plan(split(problem), PlanOptions(bits=4))
        assert np.array_equal(found.words, quantised(plan, state).words)


@pytest.fixture(name="dask", scope="module")
def running_dask() -> Iterator[Any]:
    """Start two workers of Dask on the loopback interface, and give a client."""
    pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")
    if not loopback():
        pytest.skip(NO_LOOPBACK)
    with executor("local:2") as pool:
        yield pool._client  # type: ignore[attr-defined]  # noqa: SLF001


def saved(program: Program, folder: Path) -> dict[str, bytes]:
    """Return the files of a program."""
    program.save(folder)
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


WORDS = {"q": 6, "qd": 6, "qdd": 6}
KINDS: dict[str, dict[str, Any]] = {  # none of them ships
    "compact": {
        "rms_error": 0.6, "effort": 0, "input_bits": WORDS, "proof": "tight", "proof_effort": 200,
    },
    "promise": {"error": "2lsb", "effort": 0, "input_bits": dict.fromkeys(WORDS, 8)},
    "paper": {"mode": "paper", "minimizer": "isop"},
}  # fmt: skip


@pytest.mark.check
@pytest.mark.parametrize("kind", KINDS)
def test_a_compilation_gives_the_same_bytes_everywhere(
    kind: str, dask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 300_000)
    monkeypatch.setattr("boolcomp.compact.passes.FRESH_SAMPLES", 300_000)
    monkeypatch.setattr("boolcomp.compact.errors.EVALUATIONS", 40_000)
    made = []
    ways: list[dict[str, Any]] = [{"processes": 1}, {"processes": 2}, {"cluster": dask}]
    for k, where in enumerate(ways[: 2 if kind == "promise" else 3]):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache{k}"))
        program = bc.compile("machado-2r", 4, **KINDS[kind], **where)
        made.append(saved(program, tmp_path / str(k)))
    assert all(one == made[0] for one in made)
    assert len(made[0]) > 1


@pytest.mark.check
def test_a_client_is_a_cluster_for_python(dask: Any) -> None:
    assert str(bc.compile("machado-2r", 8, cluster=dask)) == str(bc.compile("machado-2r", 8))
    assert dask.status == "running"
