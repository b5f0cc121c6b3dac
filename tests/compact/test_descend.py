"""Descents: what is live, and states that are gone back to."""

from __future__ import annotations

import random

import numpy as np
import pytest
from compact.word_robots import case

from boolcomp.compact.sketch.sketch import AngleSum
from boolcomp.compact.sketch.variables import Role, live_nodes
from boolcomp.compact.widths.limits import effective
from boolcomp.compact.widths.polish import _moves


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


def test_a_width_is_in_effect_what_the_words_it_reads_have() -> None:
    """Of ten bits a sum has ten, and a table of it reads ten: whatever more is asked for."""
    descent = case("planar-3r").chosen(0.4)
    sketch, widths = descent.sketch, dict(descent.widths)
    sums = {k: node for k, node in enumerate(sketch.nodes) if isinstance(node, AngleSum)}
    inner, outer = next((j, k) for k, one in sums.items() for j, _ in one.items if j in sums)
    first, second = Role.ANGLE_BITS.of(inner), Role.ANGLE_BITS.of(outer)
    table = next(k for k, node in enumerate(sketch.nodes) if getattr(node, "source", 0) == outer)
    read = Role.READ.of(table)

    def found(one: int, other: int, seen: int) -> list[int]:
        asked = descent.model.settings(widths | {first: one, second: other, read: seen})
        return [effective(descent.model, asked, v) for v in (first, second, read)]

    assert found(16, 16, 14) == [10, 10, 10]
    assert found(10, 10, 10) == [10, 10, 10]
    assert found(8, 16, 14) == [8, 8, 8]
    assert found(8, 7, 14) == [8, 7, 7]
    assert found(8, 7, 5) == [8, 7, 5]


def test_above_what_is_in_effect_a_width_changes_nothing_and_below_it_something() -> None:
    descent = case("planar-3r").chosen(0.4)
    looked = 0
    for variable in [v for v in descent.widths if v.role in (Role.ANGLE_BITS, Role.READ)]:
        if variable.node not in descent.live:
            continue
        value = effective(descent.model, descent.widths, variable)
        top = descent.widths[variable] = 16 if variable.role is Role.ANGLE_BITS else 14
        if effective(descent.model, descent.widths, variable) != top:
            descent.refresh()
            end = effective(descent.model, descent.widths, variable)
            for other in range(end, top):
                cost, noise = descent.change(variable, other)
                assert cost == 0
                assert not noise.any()
            cost, noise = descent.change(variable, end - 1)
            assert cost
            assert descent.beside(variable, -1) == end - 1
            looked += 1
        descent.widths[variable] = value
        descent.refresh()
    assert looked > 4


def test_no_plateau_keeps_angle_sums_as_wide_as_they_begin() -> None:
    """Where much is allowed a sum of words of ten bits is cut, and so are sums of it."""
    descent = case("planar-3r").chosen(2.0)
    sums = [v for v in descent.widths if v.role is Role.ANGLE_BITS and v.node in descent.live]
    assert sums
    assert all(effective(descent.model, descent.widths, v) < 10 for v in sums)


@pytest.mark.slow
def test_jumps_and_single_moves_never_try_what_would_change_nothing() -> None:
    descent = case("planar-3r").chosen(0.4)
    sums = [v for v in descent.widths if v.role is Role.ANGLE_BITS]
    met = set()
    rng = random.Random(2)  # noqa: S311 (no secrets)
    for variable in sums:
        descent.widths[variable] = 16
    descent.refresh()
    wide = descent.saved()
    tried = {m.variable: m.value for m in _moves(descent) if m.saving > 0}
    assert {tried[v] for v in sums if v.node in descent.live} == {9}
    for _ in range(60):
        descent.restore(wide)
        wide = descent.saved()
        descent.jump(np.full(3, 0.01), rng)
        met |= {descent.widths[v] for v in sums}
    assert not met & {12, 13, 14, 15}
    assert min(met) < 10
