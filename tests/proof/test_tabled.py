"""Bounds of paper mode: beside all words and corners there are, and beside what climbing finds."""

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
    TermField,
    height_of,
)
from boolcomp.logic.simulation import TruthTable
from boolcomp.paper.plan import PlanOptions, make_plan
from boolcomp.paper.program import error_bound, explained, plan_subject, proven
from boolcomp.paper.tables import quantised
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.sources import problem_of
from boolcomp.problem.words import Interval
from boolcomp.proof.bound.tabled import (
    TabledTerm,
    bound_of,
    claimed_term,
    derivative,
    entries_of,
    estimated,
    line_of,
)
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


@cache
def exhaustive(finer: int) -> Floats:
    """Return the largest and least errors of the 2R at 4 bits, of all words at all corners.

    Cells are cut in `finer` along angles. Logic says what words give, Newton-Euler what is exact.
    """
    _, _, program = stages(4)
    problem = problem_of("machado-2r")
    codes = {word.name: word.code for word in program.inputs}
    cuts = [finer if one.angle else 1 for one in problem.inputs]
    counts = [codes[one.name].cells for one in problem.inputs]
    middles = [codes[one.name].centre(np.arange(codes[one.name].cells)) for one in problem.inputs]
    borders = [
        np.linspace(codes[one.name].low, codes[one.name].high, n * cut + 1)
        for one, n, cut in zip(problem.inputs, counts, cuts, strict=True)
    ]
    grids = [np.meshgrid(*axes, indexing="ij") for axes in (middles, borders)]
    states = [np.stack([axis.ravel() for axis in grid], axis=1) for grid in grids]
    steps = np.array([output.code.step for output in program.outputs])
    said = program.evaluate(*problem.arrays(states[0])).values / steps
    exact = problem.exact(states[1]) / steps
    found = np.zeros((2, 2))
    for k in range(2):
        words = said[:, k].reshape(counts)
        least = most = exact[:, k].reshape([len(line) for line in borders])
        for axis, cut in enumerate(cuts):
            words = np.repeat(words, cut, axis=axis)
            least, most = _between(np.minimum, least, axis), _between(np.maximum, most, axis)
        found[k] = (words - least).max(), (words - most).min()
    return found


def _between(worse: np.ufunc, values: Floats, axis: int) -> Floats:
    """Return the worse of the values at both ends of cells along an axis."""
    lines = np.moveaxis(values, axis, 0)
    return np.moveaxis(worse(lines[:-1], lines[1:]), 0, axis)


def bounds_of(name: str, bits: int) -> list[Bound]:
    """Return the bounds of a plan."""
    return [proven(output) for output in plan_of(name, bits).outputs]


@pytest.mark.check
def test_the_bound_of_the_2r_at_4_bits_is_the_worst_of_all_words() -> None:
    for bound, (high, low) in zip(bounds_of("machado-2r", 4), exhaustive(2), strict=True):
        assert float(bound.low) <= low
        assert high <= float(bound.high)
        assert bound.steps <= max(high, -low) * 1.01 + 0.01


def test_a_program_has_the_bounds_of_its_plan() -> None:
    plan, _, program = stages(4)
    assert list(map(proven, plan.outputs)) == bounds_of("machado-2r", 4)  # the same again
    assert program.bound == tuple(map(error_bound, plan.outputs))


@pytest.mark.check
@pytest.mark.parametrize(
    ("name", "bits", "ratio"), [("machado-2r", 6, 1.05), ("elbow-3r", 4, 1.25)]
)
def test_bounds_are_close_to_what_climbing_finds(name: str, bits: int, ratio: float) -> None:
    plan = plan_of(name, bits)
    found = find_worst(plan_subject(plan), 200_000)
    for bound, (high, low) in zip(bounds_of(name, bits), found.errors, strict=True):
        assert float(bound.low) <= low
        assert high <= float(bound.high)
        assert bound.steps <= ratio * max(high, -low)


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
def test_bounds_hold_where_a_torque_saturates() -> None:
    problem = problem_of("machado-2r")
    narrow = [replace(one, range=Interval(-40.0, 40.0)) for one in problem.outputs]
    small = replace(problem, outputs=tuple(narrow))
    plan = make_plan(split(small), PlanOptions(4))
    found = find_worst(plan_subject(plan), 20_000)
    assert (quantised(plan, small.draw(2000, 1)).saturated) > 100
    for output, (high, low) in zip(plan.outputs, found.errors, strict=True):
        bound = proven(output)
        assert float(bound.low) <= low
        assert high <= float(bound.high)


@pytest.mark.check
@pytest.mark.parametrize("effort", [0.0, 0.01, 0.3])
def test_less_effort_gives_a_wider_bound_that_holds(effort: float) -> None:
    most = [proven(output, effort=effort) for output in plan_of("machado-2r", 4).outputs]
    best = bounds_of("machado-2r", 4)
    for loose, close, errors in zip(most, best, exhaustive(2), strict=True):
        assert loose.steps >= np.abs(errors).max()
        assert loose.steps <= 2 * close.steps


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


def test_a_term_that_is_left_out_adds_its_height() -> None:
    output = plan_of("elbow-3r", 4).outputs[0]
    assert output.left_out
    whole = explained(output)
    without = bound_of(replace(whole, left_out=()), 1)
    height = sum(abs(wave.cosine) + abs(wave.sine) for t in output.left_out for wave in t.waves())
    qd3 = next(one for one in problem_of("elbow-3r").inputs if one.name == "qd3").range.magnitude
    added = float(bound_of(whole, 1).high - without.high) * output.code.step
    assert added == pytest.approx(height * qd3**2)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 200), st.integers(1, 2), st.integers(2, 5), st.sampled_from([16, 31]))
def test_functions_on_grids_err_by_no_more_than_their_slack(
    seed: int, joints: int, bits: int, units: int
) -> None:
    problem = inverse_dynamics_problem(random_limited(joints, seed))
    for term in (term for terms in split(problem).outputs for term in terms):
        lines = {one.name: line_of(one, bits) for one in term.variables}
        axes = {name: [float(x) for x in line.places] for name, line in lines.items()}
        at = dict(zip(axes, np.meshgrid(*axes.values(), indexing="ij"), strict=True))
        for name in (None, *axes):
            function = claimed_term(term)
            function = function if name is None else derivative(function, name)
            if not function.parts:
                continue
            size = height_of([function], {n: line.size for n, line in lines.items()})
            unit = size / (1 << units)
            field = TermField(function, list(lines.values()), unit)
            found = field.at([slice(None) for _ in lines])
            near, tolerance = 1e-5, 1e-12
            if name is None:
                exact = term.evaluate(at)
            else:
                sides = [term.evaluate(at | {name: at[name] + x}) for x in (near, -near)]
                exact, tolerance = (sides[0] - sides[1]) / (2 * near), 1e-8
            missed = np.abs(found * float(unit) - exact)
            assert (missed <= field.slack * float(unit) + float(size + 1) * tolerance).all()
            assert field.slack <= 2 + (units == 31) * 200
