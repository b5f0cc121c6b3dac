"""Paper mode's arithmetic and errors: those of the tables, and true of the logic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import random_robot, terms_of
from small_programs import stages

import boolcomp as bc
from boolcomp.logic import Addend, Sum, evaluate, sum_network
from boolcomp.paper import (
    PlanOptions,
    error_bound,
    known_errors,
    make_plan,
    quantised,
)
from boolcomp.problem import problem_of


def test_quantised_is_the_logic_just_below_borders_of_cells_where_encoders_round_up() -> None:
    plan, _, program = stages(4)
    rng, columns, tie = np.random.default_rng(4), [], 1e-9
    for word in program.inputs:
        below = tie * rng.choice([0.0, 0.4, 1.5, 3.0, 20.0], 3000)
        columns.append(word.code.low + word.code.step * (rng.integers(1, 16, 3000) - below))
    arrays = plan.problem.arrays(np.stack(columns, axis=1))
    assert np.array_equal(quantised(plan, arrays).words, program.evaluate(*arrays).words)


def test_the_papers_arm_errs_as_little_as_was_measured() -> None:
    plan = make_plan(terms_of("machado-2r"))
    state = plan.problem.draw(100_000, 0)
    lsb = np.array([joint.code.step for joint in plan.outputs])
    error = (quantised(plan, state).values - bc.inverse_dynamics("machado-2r", *state)) / lsb
    assert (np.abs(error).max(axis=0) <= (2.15, 3.04)).all()
    assert (np.sqrt((error**2).mean(axis=0)) <= (0.43, 0.60)).all()
    assert (np.abs(error.mean(axis=0)) < 0.01).all()  # no bias


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 3000), st.integers(4, 9), st.sampled_from(["gray", "natural"]))
def test_no_sample_exceeds_the_proven_bound(seed: int, bits: int, code: Any) -> None:
    robot = random_robot(seed, joints=1 + seed % 2)
    plan = make_plan(terms_of(robot), PlanOptions(bits=bits, code=code))
    state = plan.problem.draw(2000, seed)
    exact = bc.inverse_dynamics(robot, *state)
    error = np.abs(quantised(plan, state).values - exact)
    for place, joint in enumerate(plan.outputs):
        inside = np.abs(exact[:, place]) < joint.code.range.high
        assert error[inside, place].max(initial=0.0) <= error_bound(joint) + 1e-9


def test_sampled_errors_are_those_of_the_logic_and_a_search_finds_worse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    block, samples, seed = 1500, 4000, 7
    for name, value in (("BLOCK", block), ("SAMPLES", samples), ("SEED", seed)):
        monkeypatch.setattr(f"boolcomp.paper.program.{name}", value)
    plan, _, program = stages(5)
    problem = problem_of("machado-2r")
    parts = []
    for place in range(0, samples, block):
        arrays = problem.draw(min(block, samples - place), seed + place)
        parts.append(program.evaluate(*arrays).values - problem.reference(*arrays))
    errors = np.concatenate(parts)
    for k, known in enumerate(known_errors(plan, 0)):
        assert known.worst_found is None
        assert known.rms == pytest.approx(np.sqrt((errors[:, k] ** 2).mean()), rel=1e-6)
        assert known.sampled_max == pytest.approx(np.abs(errors[:, k]).max(), rel=1e-6)
    for known, bound in zip(known_errors(plan, 4000), program.bound, strict=True):
        assert known.worst_found is not None
        assert known.sampled_max < known.worst_found <= bound


# Addends as (bits, code, times), the output's bits, its guard bits.
Case = tuple[list[tuple[int, str, int]], int, int]
CASES: list[Case] = [
    ([(2, "natural", 1)], 1, 1),
    ([(2, "gray", 1)], 2, 1),
    ([(3, "natural", 1), (2, "gray", 1)], 3, 1),
    ([(4, "gray", 1), (3, "natural", 1), (3, "gray", 1)], 3, 2),
    ([(3, "gray", 2), (2, "natural", 1)], 4, 1),
    ([(3, "gray", 3), (1, "gray", 1)], 4, 2),
    ([(2, "natural", 5)], 2, 2),
    ([(4, "gray", 1), (4, "gray", 1), (1, "natural", 1)], 3, 0),
    ([(1, "natural", 1), (1, "gray", 2)], 4, 2),
    ([(3, "natural", 6), (3, "natural", 1)], 2, 3),
    ([(5, "gray", 1)], 1, 2),
    ([], 3, 2),
]


def exact(case: Case, cells: tuple[int, ...]) -> tuple[int, bool]:
    """Return the cell of the sum of cell centres, the output's range 1 about zero, by fractions."""
    addends, bits, guard = case
    step = Fraction(2, 1 << bits) / (1 << guard)
    total = Fraction(0)
    for (width, _, times), cell in zip(addends, cells, strict=True):
        reach = step * (1 << width) / 2
        total += times * (-reach + (cell + Fraction(1, 2)) * step)
    cell = floor((total + 1) / Fraction(2, 1 << bits))
    last = (1 << bits) - 1
    return min(max(cell, 0), last), not 0 <= cell <= last


def word(cell: int, bits: int, kind: str) -> tuple[int, ...]:
    """Return the bits of a cell's word, the most significant first; Gray by reflection."""
    if bits == 0:
        return ()
    half = 1 << (bits - 1)
    upper = cell >= half
    rest = cell - half if upper else cell
    if upper and kind == "gray":
        rest = half - 1 - rest
    return (int(upper), *word(rest, bits - 1, kind))


def summed(case: Case) -> Sum:
    addends, bits, guard = case
    return Sum(tuple(Addend(b, kind, times) for b, kind, times in addends), bits, guard)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_sum_is_rounded_down_and_saturated_at_every_cell(case: Case) -> None:
    addends, bits, _ = case
    total = summed(case)
    network = sum_network(total)
    raw = []
    for cells in product(*(range(1 << b) for b, _, _ in addends)):
        cell, saturated = exact(case, cells)
        assert total.cell(cells) == (cell, saturated)
        inputs = [
            x for (b, kind, _), k in zip(addends, cells, strict=True) for x in word(k, b, kind)
        ]
        assert evaluate(network, tuple(inputs)) == (*word(cell, bits, "natural"), int(saturated))
        raw.append(total.offset + sum(t * k for (_, _, t), k in zip(addends, cells, strict=True)))
    assert (total.offset, total.highest) == (min(raw), max(raw))
