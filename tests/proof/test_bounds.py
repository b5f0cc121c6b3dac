"""Bounds of compiled programs: their grades, what they count, and what is shown of them."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shippedarms import built_of, made

from boolcomp.base import TWO
from boolcomp.compact import CompactChoices, WordEnds, sketched, usual_demand
from boolcomp.pipeline import compile_compact
from boolcomp.proof import claim_of, graded_bounds, plain_bounds

EVERY: Any = ("plain", "tables", "tight")


@pytest.mark.parametrize(
    ("bits", "most"), [(5, 1.01), pytest.param(8, 1.01, marks=pytest.mark.check)]
)
def test_bounds_are_above_what_climbing_finds_and_tighter_with_each_grade(
    bits: int, most: float
) -> None:
    built = built_of("machado-2r", bits)
    said = sketched(built.compact, built.ends)
    found = [graded_bounds(said, grade) for grade in EVERY]
    assert found[0] == plain_bounds(said)
    for looser, tighter in pairwise(found):
        for one, other in zip(looser.outputs, tighter.outputs, strict=True):
            assert one.low <= other.low <= other.high <= one.high
    for bound, (up, down) in zip(found[-1].outputs, built.worst.errors, strict=True):
        assert bound.grade == "tight"
        assert up <= float(bound.high)
        assert float(bound.low) <= down
    assert (np.array(found[-1].steps) <= most * built.worst.largest).all()
    assert (np.array(found[0].steps) <= 2 * built.worst.largest).all()
    assert not found[0].unproved


@pytest.mark.check
def test_bounds_of_three_angles_are_tighter_with_each_grade_and_more_effort(tmp_path: Path) -> None:
    said = sketched(*made("planar-3r", tmp_path, 5))
    found = [graded_bounds(said, grade, 10) for grade in EVERY]
    assert graded_bounds(said, "tight", 10, workers=TWO) == found[-1]
    assert sum(found[2].steps) < 0.95 * sum(found[1].steps) < 0.95**2 * sum(found[0].steps)
    for looser, tighter in pairwise([*found, graded_bounds(said, "tight", 20)]):
        for one, other in zip(looser.outputs, tighter.outputs, strict=True):
            assert one.low <= other.low <= other.high <= one.high


def test_a_bound_is_the_sum_of_its_causes_and_the_unit_follows_from_steps() -> None:
    built = built_of("machado-2r")
    for one in plain_bounds(sketched(built.compact, built.ends)).outputs:
        causes = one.causes
        parts = (causes.inputs, causes.tables, causes.bits, causes.rounding)
        assert sum(part.ends[1] for part in parts) == one.high
        assert sum(part.ends[0] for part in parts) == one.low
        assert one.value == pytest.approx(one.steps * one.step, abs=2e-6)


def test_an_output_that_is_held_at_zero_errs_by_its_value() -> None:
    built = built_of("machado-2r", 5)
    problem, word = built.compact.problem, built.compact.specified_words["qdd2"]
    held = sketched(built.compact, WordEnds(built.ends.shifts, (("qdd2",), None)))
    free = plain_bounds(sketched(built.compact, built.ends)).outputs
    bound, other = plain_bounds(held).outputs
    assert other == free[1]
    states, column = np.concatenate(problem.draw(20_000, 1), axis=1), 5
    assert problem.inputs[column].name == "qdd2"
    states[:, column] *= word.step / np.abs(states[:, column]).max()
    exact = problem.reference(*problem.arrays(states))[:, 0] / problem.steps(5)[0]
    assert bound.low <= -exact.max() < free[0].low
    assert free[0].high < -exact.min() <= bound.high
    assert bound.steps < 1.5 * np.abs(exact).max()
    rest = claim_of(held).outputs[0].rest
    assert rest is not None
    assert list(rest) == ["qdd2"]
    assert list(rest["qdd2"].ends) == [-1, 1]


def test_a_program_without_its_smallest_waves_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = CompactChoices(usual_demand(8))
    assert compile_compact("machado-2r", choices).built[0].bounds is not None
    monkeypatch.setattr("boolcomp.compact.widths.MOST_WAVES", 1)
    assert compile_compact("machado-2r", choices).built[0].bounds is None
