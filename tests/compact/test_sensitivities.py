"""Sensitivities, beside finite differences of the sketch itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case
from limited import random_limited, with_ranges

from boolcomp.compact.sketch.build import Form
from boolcomp.compact.sketch.sketch import Powers, Sketch, Source, Waves
from boolcomp.compact.widths.sensitivities import sensitivities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.problem.robot import Robot

    Floats = NDArray[np.float64]

ARMS: dict[str, Robot | tuple[int, int]] = {
    "stops": with_ranges("machado-2r", q2=(-2.5, 2.5)),
    "part of a turn": with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9)),
    "exact range": with_ranges("machado-2r", q2=(-2.5, 2.5), word2=(-2.5, 2.5)),
    "two exact ranges": with_ranges(
        "elbow-3r", q2=(-2, 2.5), q3=(0, 1), word2=(-2, 2.5), word3=(0, 1)
    ),
    "random": (3, 5),  # of `random_limited`, which takes its time
    "sliding": (3, 7),
}


def arm_of(name: str) -> Robot:
    arm = ARMS[name]
    return random_limited(*arm) if isinstance(arm, tuple) else arm


def _outputs(sketch: Sketch, inputs: Mapping[str, Floats], place: int, change: float) -> Floats:
    """Return the torques with the value of one node changed: plain recursion over the sketch."""
    values: list[Floats] = []
    for k, node in enumerate(sketch.nodes):
        value = sketch._value(node, values, inputs)  # noqa: SLF001  # what `evaluate` does, node by node
        values.append(value + change if k == place else value)
    return np.stack([values[k] for k in sketch.outputs])


@pytest.mark.slow
@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("form", [Form(), Form(speeds=False, exact=True)], ids=["plain", "exact"])
def test_sensitivities_are_those_of_finite_differences(arm: str, form: Form) -> None:
    made = case(arm_of(arm), form=form)
    inputs = made.states(60, seed=2).values
    found = sensitivities(made.sketch, made.sketch.evaluate(inputs))
    for place, node in enumerate(made.sketch.nodes):
        if isinstance(node, Source) and node.name.startswith("qdd"):
            continue
        step = 1e-4
        slope = _outputs(made.sketch, inputs, place, step) - _outputs(
            made.sketch, inputs, place, -step
        )
        expected = ((slope / (2 * step)) ** 2).mean(axis=1)
        assert found[place].value == pytest.approx(expected, rel=1e-4, abs=1e-9), str(node)


@pytest.mark.parametrize("arm", ARMS)
def test_the_slope_of_a_table_is_per_radian_or_unit(arm: str) -> None:
    made = case(arm_of(arm))
    inputs = made.states(60, seed=3).values
    values = made.sketch.evaluate(inputs)
    found = sensitivities(made.sketch, values)
    for place, node in enumerate(made.sketch.nodes):
        if not isinstance(node, Waves | Powers):
            continue
        step = 1e-5
        x = (
            made.sketch.angle(node.source, values)
            if isinstance(node, Waves)
            else values[node.source]
        )
        slope = (node.at(x + step) - node.at(x - step)) / (2 * step)
        base = _outputs(made.sketch, inputs, place, 0.0)
        by_table = (_outputs(made.sketch, inputs, place, 1e-4) - base) / 1e-4
        expected = ((by_table * slope) ** 2).mean(axis=1)
        assert found[place].slope == pytest.approx(expected, rel=1e-3, abs=1e-9), str(node)
    assert math.isfinite(float(found[0].value.max()))
