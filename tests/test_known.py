"""Errors of paper mode's programs: sampled and searched by arithmetic, true of the logic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from small_programs import stages

import boolcomp as bc
from boolcomp.paper.known import BLOCK, SAMPLES, SEED, known_errors
from boolcomp.paper.passes import Covered, PaperChoices, measure
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from boolcomp.program.program import Program


def sampled(program: Program) -> Any:
    """Return the errors of the logic at the states that are drawn, and the LSBs."""
    problem = inverse_dynamics_problem(load_robot("machado-2r"))
    found = []
    for place in range(0, SAMPLES, BLOCK):
        arrays = problem.draw(min(BLOCK, SAMPLES - place), SEED + place)
        found.append(program.evaluate(*arrays).values - problem.reference(*arrays))
    return np.concatenate(found)


@pytest.mark.slow
def test_sampled_errors_are_those_of_the_logic() -> None:
    plan, _, program = stages(5)
    errors = sampled(program)
    assert len(errors) == SAMPLES
    for k, known in enumerate(known_errors(plan, 0)):
        assert known.worst_found is None
        assert known.rms == pytest.approx(np.sqrt((errors[:, k] ** 2).mean()), rel=1e-6)
        assert known.sampled_max == pytest.approx(np.abs(errors[:, k]).max(), rel=1e-6)


@pytest.mark.slow
def test_what_a_search_finds_lies_between_samples_and_the_bound() -> None:
    plan, _, program = stages(5)
    for known, bound in zip(known_errors(plan, 40_000), program.bound, strict=True):
        assert known.worst_found is not None
        assert known.sampled_max < known.worst_found <= bound


def test_the_pass_measures_and_with_no_evaluations_seeks_nothing() -> None:
    covered = Covered(stages(4)[0], ())
    assert [one.worst_found for one in measure(covered, PaperChoices(evaluations=0)).errors] == [
        None, None,
    ]  # fmt: skip
    assert all(one.worst_found for one in measure(covered, PaperChoices()).errors)


@pytest.mark.check
def test_a_program_of_paper_mode_knows_its_errors() -> None:
    program = bc.compile("machado-2r", bits=4, mode="paper", minimizer="isop")
    known = stages(4)[0]
    assert program.errors["tau2"] == known_errors(known)[1]
    family = bc.compile("machado-2r", bits=4, mode="paper", minimizer="isop", payloads=(0, 1))
    both = [load.outputs[0].errors for load in family.loads]
    assert None not in both
    assert family.worst_found[0] == max(one.worst_found or 0.0 for one in both if one)
    silent = replace(family.loads[1].outputs[0], errors=None)
    load = replace(family.loads[1], outputs=(silent, *family.loads[1].outputs[1:]))
    assert replace(family, loads=(family.loads[0], load)).worst_found[0] is None
