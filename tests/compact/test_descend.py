"""Descents: what is live, and states that are gone back to."""

from __future__ import annotations

import random

import numpy as np
import pytest
from compact.word_robots import case

from boolcomp.compact.sketch.variables import Role, live_nodes


@pytest.mark.parametrize("robot", ["machado-2r"])
def test_what_is_live_is_known_through_every_change(robot: str) -> None:
    descent = case(robot).chosen(0.4)
    rng = random.Random(5)  # noqa: S311 (no secrets)
    prices = np.full(len(descent.allowed), 200.0)
    dropped = 0
    for _ in range(12):
        descent.jump(prices, rng)
        assert descent.live == live_nodes(descent.sketch, descent.widths)
        dropped += len(descent.sketch.nodes) - len(descent.live)
        cost, noise = descent.cost, descent.noise
        descent.refresh()
        assert descent.cost == pytest.approx(cost)
        assert descent.noise == pytest.approx(noise)
        prices = prices * 0.6  # so that more and more addends are not worth keeping
    assert dropped


def test_a_descent_goes_back_to_what_it_was() -> None:
    descent = case("machado-2r").chosen(0.4)
    before = (dict(descent.widths), descent.cost, descent.noise.tolist(), set(descent.live))
    saved = descent.saved()
    rng = random.Random(1)  # noqa: S311 (no secrets)
    for _ in range(5):
        descent.jump(np.full(2, 5.0), rng)
    assert descent.widths != before[0]
    descent.restore(saved)
    after = (descent.widths, descent.cost, descent.noise.tolist(), descent.live)
    assert after == before
    assert descent.live == live_nodes(descent.sketch, descent.widths)


def test_what_a_change_would_cost_is_what_it_does_cost() -> None:
    descent = case("machado-2r").chosen(0.4)
    chosen = [v for v in descent.widths if v.role not in (Role.KEEP, Role.SHIFT)]
    assert any(v.node in descent.live for v in chosen)
    for variable in random.Random(3).sample(chosen, 25):  # noqa: S311 (no secrets)
        old = descent.widths[variable]
        cost, noise = descent.change(variable, old + 1)
        assert descent.widths[variable] == old
        before = descent.cost, descent.noise
        descent.widths[variable] = old + 1
        descent.refresh()
        assert descent.cost - before[0] == pytest.approx(cost, abs=1e-9)
        assert descent.noise - before[1] == pytest.approx(noise, rel=1e-9, abs=1e-12)
        descent.widths[variable] = old
        descent.refresh()
