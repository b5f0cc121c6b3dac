"""What widths are predicted to cost and to err by, beside what is built."""

from __future__ import annotations

import random

import numpy as np
import pytest
from compact.word_robots import case

from boolcomp.compact.errors.measure import measure
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.graph.realise import realise
from boolcomp.compact.widths.descend import Descent
from boolcomp.compact.widths.noise import Model

ONES = np.ones(2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["machado-2r", "planar-3r", "elbow-3r"])
def test_errors_and_nodes_are_about_as_predicted(name: str) -> None:
    arm = case(name, bits=8)
    descent = arm.chosen(0.3)
    count = len(arm.steps)
    graph = realise(
        arm.sketch, descent.widths, descent.model.statistics, [8] * count, [0.0] * count
    )
    errors = measure(graph, arm.states(10_000, seed=8))
    predicted = np.sqrt(descent.noise)
    assert (np.abs(errors.rms / predicted - 1) < 0.2).all()
    built = len(word_logic(graph).nodes)
    assert abs(descent.cost / built - 1) < 0.15


def test_the_chosen_widths_are_within_what_is_allowed() -> None:
    descent = case("machado-2r", bits=8).chosen(0.25)
    assert descent.feasible
    assert (descent.noise <= 0.25).all()


def test_a_change_of_one_width_is_judged_as_the_whole_is() -> None:
    descent = case("machado-2r", bits=8).chosen(0.25)
    cost, noise = descent.cost, descent.noise
    descent.sweep(np.array([500.0, 500.0]))
    changed = (descent.cost, descent.noise)
    descent.refresh()
    assert descent.cost == pytest.approx(changed[0])
    assert descent.noise == pytest.approx(changed[1])
    assert (descent.cost, *descent.noise) != (cost, *noise)


def test_the_worst_states_have_rows_of_their_own() -> None:
    arm = case("machado-2r", bits=8)
    count = len(arm.steps)
    states, worst = arm.states(400, seed=1), arm.states(200 * count, seed=2)
    usual = Model(arm.sketch, states.values, states.values)
    model = Model(arm.sketch, states.values, states.values, worst.values)
    widths = arm.chosen(0.3).widths
    places = [p for p in range(len(arm.sketch.nodes)) if p in Descent(usual, widths, ONES).live]
    for place in places:
        cost, noise = model.local(widths, place)
        alone, expected = usual.local(widths, place)
        assert cost == alone
        assert noise[:count] == pytest.approx(expected)
    # The states of the second half are like those of the first: so are both rows of noise.
    total = sum(model.local(widths, place)[1] for place in places)
    assert np.asarray(total)[count:] == pytest.approx(np.asarray(total)[:count], rel=0.3)


@pytest.mark.slow
def test_what_is_remembered_is_what_would_be_computed() -> None:
    descent = case("elbow-3r", bits=6).chosen(0.4)
    descent.sweep(np.full(3, 300.0))
    fresh = case("elbow-3r", bits=6).model()
    for place in sorted(descent.live):
        cost, noise = descent.model.local(descent.widths, place)
        again, expected = fresh.local(descent.widths, place)
        assert cost == again
        assert noise == pytest.approx(expected)


def test_after_many_changes_a_heap_is_judged_exactly_as_by_a_fresh_model() -> None:
    arm = case("machado-2r", bits=6)
    descent = arm.chosen(0.4)
    rng = random.Random(3)  # noqa: S311 (no secrets)
    for _ in range(6):
        descent.jump(np.full(2, 300.0), rng)
    fresh = arm.model()
    for place in sorted(descent.live):
        cost, noise = descent.model.local(descent.widths, place)
        again, expected = fresh.local(dict(descent.widths), place)
        assert (cost, noise.tolist()) == (again, expected.tolist())
