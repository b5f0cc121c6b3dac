"""The plan's arithmetic: against its truth tables, and within its proven bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import by_name, random_robot, terms_of

import boolcomp as bc
from boolcomp.paper.bounds import error_bound
from boolcomp.paper.plan import Options, Plan, make_plan
from boolcomp.paper.quantised import finest_inputs, quantised
from boolcomp.pipeline import run_passes

if TYPE_CHECKING:
    from boolcomp.problem.robot import Robot


def states(robot: Robot, count: int, seed: int = 0) -> list[np.ndarray]:
    """Return states within the robot's ranges."""
    rng = np.random.default_rng(seed)
    arrays = []
    for kind in ("position", "velocity", "acceleration"):
        ranges = [getattr(link, kind) for link in robot.links]
        low, high = [r.low for r in ranges], [r.high for r in ranges]
        arrays.append(rng.uniform(low, high, (count, robot.joints)))
    return arrays


def test_it_is_what_looking_up_the_truth_tables_and_adding_gives() -> None:
    plan: Plan = run_passes("machado-2r", Options(bits=6), until="plan")
    tables = iter(run_passes("machado-2r", Options(bits=6)))
    q, qd, qdd = states(bc.load_robot("machado-2r"), 5000)
    columns = by_name(q, qd, qdd)
    found = quantised(plan, (q, qd, qdd))
    for place, joint in enumerate(plan.outputs):
        total = np.zeros(len(q))
        for term in joint.terms:
            row = np.zeros(len(q), dtype=np.int64)
            for word in term.words:
                column = columns[word.variable.name]
                bits = word.code.encode(column).words.astype(np.int64)
                row = row << word.inputs | bits & ((1 << word.inputs) - 1)
            total += term.code.decode(next(tables).table.words()[row])
        expected = joint.word.encode(total)
        assert np.array_equal(found.words[:, place], expected.words)


def test_the_papers_arm_errs_as_little_as_was_measured() -> None:
    robot, most, rms = bc.load_robot("machado-2r"), (2.15, 3.04), (0.43, 0.60)
    plan: Plan = run_passes("machado-2r", until="plan")
    state = states(robot, 100_000)
    lsb = np.array([joint.code.step for joint in plan.outputs])
    error = (quantised(plan, state).values - bc.inverse_dynamics(robot, *state)) / lsb
    assert (np.abs(error).max(axis=0) <= most).all()
    assert (np.sqrt((error**2).mean(axis=0)) <= rms).all()
    assert (np.abs(error.mean(axis=0)) < 0.01).all()  # no bias


@pytest.mark.slow
@settings(max_examples=8)
@given(st.integers(0, 3000), st.integers(4, 9), st.sampled_from(["gray", "natural"]))
def test_no_sample_exceeds_the_proven_bound(seed: int, bits: int, code: str) -> None:
    robot = random_robot(seed, joints=1 + seed % 2)
    plan = make_plan(terms_of(robot), Options(bits=bits, code=code))  # type: ignore[arg-type]  # sampled from the literals
    state = states(robot, 2000, seed)
    error = np.abs(quantised(plan, state).values - bc.inverse_dynamics(robot, *state))
    exact = np.abs(bc.inverse_dynamics(robot, *state))
    for place, joint in enumerate(plan.outputs):
        inside = exact[:, place] < joint.code.range.high
        worst = error[inside, place].max(initial=0.0)
        assert worst <= error_bound(joint) + 1e-9


def test_the_finest_words_are_those_of_the_widest_term() -> None:
    plan: Plan = run_passes("machado-2r", until="plan")
    state = states(bc.load_robot("machado-2r"), 1000)
    coded = finest_inputs(plan, state)
    steps = [2 * np.pi / 2**9, 2 / 2**6, 2 / 2**8]  # q1 in T15, qd1 in T14, qdd1 in T11
    for exact, found, step in zip(state, coded, steps, strict=True):
        error = np.abs(found[:, 0] - exact[:, 0])
        assert step * 0.48 < error.max() <= step / 2 * (1 + 1e-6)
