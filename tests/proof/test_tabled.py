"""Bounds of paper mode: beside what climbing finds, with wrong entries and of estimates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from bitarray import frozenbitarray
from hypothesis import given, settings
from hypothesis import strategies as st
from limited import random_limited
from small_programs import stages

from boolcomp.checker.tabled import (
    ClaimedCode,
    ClaimedPart,
    ClaimedTerm,
    GridAxis,
    InputCellsLine,
    TableUse,
)
from boolcomp.logic.simulation import TruthTable
from boolcomp.paper.plan import PlanOptions, make_plan
from boolcomp.paper.program import error_bound, explained, plan_subject, proven
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.sources import problem_of
from boolcomp.proof.bound.tabled import TabledTerm, entries_of, estimated
from boolcomp.proof.worst import find_worst, subject_of
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.paper.plan import Plan
    from boolcomp.proof.bound.bounds import Bound

    Floats = NDArray[np.float64]


@cache
def plan_of(name: str, bits: int) -> Plan:
    """Return the plan of an arm that ships."""
    return make_plan(split(problem_of(name)), PlanOptions(bits))


def bounds_of(name: str, bits: int) -> list[Bound]:
    """Return the bounds of a plan."""
    return [proven(output) for output in plan_of(name, bits).outputs]


def test_a_program_has_the_bounds_of_its_plan() -> None:
    plan, _, program = stages(4)
    assert list(map(proven, plan.outputs)) == bounds_of("machado-2r", 4)  # the same again
    assert program.bound == tuple(map(error_bound, plan.outputs))


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["nearest", "faithful"])
def test_bounds_of_programs_are_above_and_near_what_climbing_finds(rounding: str) -> None:
    plan, _, program = stages(4)
    if rounding == "faithful":
        options = PlanOptions(4, rounding="faithful")
        plan = make_plan(split(problem_of("machado-2r")), options)
        assert sum(map(error_bound, plan.outputs)) > sum(program.bound)
    found = find_worst(subject_of(program, plan.problem), 50_000)
    steps = [output.code.step for output in program.outputs]
    most, bounds = found.largest * steps, np.array([error_bound(one) for one in plan.outputs])
    assert (most <= bounds).all()
    assert (bounds <= 1.5 * most).all()


@pytest.mark.check
@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 500), st.integers(1, 2), st.integers(4, 6), st.sampled_from(["gray", "natural"]),
    st.sampled_from(["inside", "outside"]), st.sampled_from([20, 7, 0]),
)  # fmt: skip
def test_bounds_of_arms_with_stops_hold(
    seed: int, joints: int, bits: int, code: Any, place: Any, made: int
) -> None:
    problem = inverse_dynamics_problem(random_limited(joints, seed))
    signs: Any = place if code == "gray" else "inside"
    plan = make_plan(split(problem), PlanOptions(bits, code, signs=signs, sums=place))
    found = find_worst(plan_subject(plan), 4000, seed=seed)
    for output, (high, low) in zip(plan.outputs, found.errors, strict=True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("boolcomp.paper.program.MADE", made)  # wider tables are estimated
            bound = proven(output, effort=1)
        assert float(bound.low) <= low
        assert high <= float(bound.high)


@pytest.mark.slow
def test_a_wrong_entry_is_in_the_bound() -> None:
    plan, tables, _ = stages(4)
    output, made = plan.outputs[0], {entry.plan: entry.table for entry in tables}
    before = proven(output, made)
    for term in output.terms:
        table = made[term]
        values = term.code.decode(table.words())
        row = int(np.abs(values).argmax())
        first = table.columns[0].tolist()
        first[row] ^= 1  # of Gray words: the mirror image
        wrong = replace(table, columns=(frozenbitarray(first), *table.columns[1:]))
        after = proven(output, {**made, term: wrong})
        moved = 2 * abs(values[row]) / output.code.step
        assert after.steps >= before.steps + moved - 1.6
        assert moved > 1.7 or term.code.bits < 4


def test_tables_of_up_to_so_many_input_bits_are_made_for_a_bound_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    output = plan_of("machado-2r", 4).outputs[0]
    most = max(sum(word.inputs for word in term.read) for term in output.terms)
    for limit, whole in ((most, True), (most - 1, False)):
        monkeypatch.setattr("boolcomp.paper.program.MADE", limit)
        assert all(term.table is not None for term in explained(output).terms) == whole


def test_every_choice_of_free_bits_counts() -> None:
    columns = (frozenbitarray("01"), frozenbitarray("11"))
    free = (frozenbitarray("01"), frozenbitarray("11"))
    code = ClaimedCode(Fraction(-1), Fraction(1), 2, "gray", wraps=False)
    low, high = entries_of(TruthTable(1, columns, free), code)
    # Words 01 and 00 are cells 1 and 0; of 11 both bits are free.
    assert low.tolist() == [-3, -3]
    assert high.tolist() == [-1, 3]


def test_an_estimate_holds_for_a_word_whose_middle_is_beyond_the_range() -> None:
    square = ClaimedPart(Fraction(1), Fraction(0), {}, {"x": 2})
    code = ClaimedCode(Fraction(-1), Fraction(1), 8, "gray", wraps=False)
    term = TabledTerm(
        ClaimedTerm("y", "T1", Fraction(0), Fraction(0), (square,)),
        TableUse("T1", 0, code, (("x", 2, 0),)),
    )
    ends = Fraction(0), Fraction(1, 10)
    line = InputCellsLine("x", Fraction(-1), Fraction(2), 2, *ends, wraps=False, tie=Fraction(0))
    unit = Fraction(1, 1 << 16)
    found = estimated(term, {"x": GridAxis(line, 0)}, {}, unit)
    # The word's middle is 1/4, its entry 1/16 and a rounding; the input may be 0.
    assert found.ends[1] * unit >= Fraction(1, 16) + code.step / 2
