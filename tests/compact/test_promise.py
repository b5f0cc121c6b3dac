"""Errors that are promised: searched for by bounds, kept by proofs, refused with a sentence."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from samples import problem_of

import boolcomp
from boolcomp.base import DataError
from boolcomp.compact import Built, CompactChoices, Demand, usual_demand
from boolcomp.pipeline import compile_compact
from boolcomp.problem import promise_of
from boolcomp.program import load_program


def demand(error: str, bits: int = 4, **more: Any) -> Demand:
    given: dict[str, Any] = {"effort": 0.0, "grade": "plain", **more}
    return usual_demand(bits, error=promise_of("--error", error), **given)


ARM = problem_of("machado-2r")


def built(error: str, store: Path, bits: int = 4) -> Built:
    choices = CompactChoices(demand(error, bits), store, also_shipped=False)
    return compile_compact("machado-2r", choices).built[0]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, Path]:
    """Return a program of few bits that keeps a promise, and the store that it is in."""
    store = tmp_path_factory.mktemp("promise")
    return built("1.2lsb", store), store


@pytest.mark.check
def test_a_promise_holds_at_the_corners_of_cells_and_is_found_again(
    kept: tuple[Built, Path], tmp_path: Path
) -> None:
    made, store = kept
    program = made.program()
    assert "error=tau1=1.2lsb,tau2=1.2lsb" in program.demand
    problem, steps = ARM, np.array(ARM.steps(4))
    assert (np.array(program.bound) <= 1.2 * steps).all()
    rng = np.random.default_rng(1)
    for k in range(4):  # any states, then those next to borders of cells
        arrays = problem.draw(50_000, k)
        if k:
            for group, array in zip(problem.groups, arrays, strict=True):
                for column, one in enumerate(problem.members(group)):
                    cell = one.word.width / 2 ** (3 + 3 * k)
                    places = one.word.low + cell * np.round(
                        (array[:, column] - one.word.low) / cell
                    )
                    places += cell * 1e-7 * rng.choice([-1, 1], len(places))
                    array[:, column] = np.clip(places, one.range.low, one.range.high)
        error = np.abs(program(*arrays) - problem.reference(*arrays))
        assert (error <= program.bound).all()
        assert (error.max(axis=0) > 0.5 * steps).all()
    program.save(tmp_path / "program")
    assert load_program(tmp_path / "program").bound == program.bound
    again = built("1.2lsb", store)
    assert again.stored
    assert again.bounds == made.bounds


@pytest.mark.parametrize("formula", ["0.5*x*x - x*y", "abs(x) + abs(y)", "x*x*y + y"])
def test_an_addend_that_is_the_same_at_both_ends_of_a_word_is_not_replaced_by_its_mean(
    formula: str,
) -> None:
    x = boolcomp.word(-1, 1, bits=8)
    problem = boolcomp.function({"z": formula}, x=x, y=x, name="ends")
    program = boolcomp.compile(problem, bits=6, error="2lsb", effort=0, approximate="off")
    found = program.errors["z"]
    assert 0 < (found.found or 0) <= (found.bound or 0) <= 2 * found.lsb


@pytest.mark.check
def test_a_promise_that_is_not_proved_is_refused_with_the_best_bound(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "boolcomp.compact.promise._steps", lambda said, _grade: [3.0] * len(said.results)
    )
    choices = CompactChoices(demand("2lsb", 3), tmp_path, also_shipped=False)
    with pytest.raises(
        DataError, match=r"cannot guarantee .*; the nearest .* tau1 3\.000 LSB \(150 N"
    ):
        compile_compact("machado-2r", choices)


@pytest.mark.check
def test_a_result_without_proved_bounds_keeps_no_promise(kept: tuple[Built, Path]) -> None:
    made, _ = kept
    assert made.kept
    assert made.holds
    assert made.bounds is not None
    for wrong in (None, replace(made.bounds, unproved=(3,))):
        assert not replace(made, bounds=wrong).kept
    first = replace(made.bounds.outputs[0], high=made.bounds.outputs[0].high + 1)
    worse = replace(made.bounds, outputs=(first, *made.bounds.outputs[1:]))
    assert not replace(made, bounds=worse).holds
