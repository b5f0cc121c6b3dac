"""What widths are predicted to cost and to err by, beside what is built."""

from __future__ import annotations

import numpy as np
import pytest
from words.word_robots import case

from boolcomp.words.compact import measure
from boolcomp.words.logic import word_logic
from boolcomp.words.realise import realise


@pytest.mark.slow
@pytest.mark.parametrize("name", ["machado-2r", "planar-3r", "elbow-3r"])
def test_errors_and_nodes_are_about_as_predicted(name: str) -> None:
    arm = case(name, bits=8)
    descent = arm.chosen(0.3)
    count = arm.robot.joints
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
