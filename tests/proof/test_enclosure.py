"""Enclosures against exact fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from boolcomp.proof.bound.enclosure import Enclosure, about, between, exactly, of_ball


def _drawn(rng: random.Random) -> tuple[Enclosure, list[Fraction]]:
    ends = sorted(Fraction(rng.uniform(-4, 4)) for _ in range(2))
    inner = ends[0] + (ends[1] - ends[0]) * Fraction(rng.random())
    return between(*ends), [*ends, inner]


def _holds(found: Enclosure, value: Fraction) -> bool:
    low, high = found.ends
    return low <= value <= high


@pytest.mark.parametrize("seed", range(20))
def test_sums_and_products_hold_those_of_all_that_is_enclosed(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (no secrets)
    (one, xs), (two, ys) = _drawn(rng), _drawn(rng)
    factor = Fraction(rng.uniform(-3, 3))
    for x in xs:
        assert _holds(one.times(factor), factor * x)
        assert _holds(-one, -x)
        assert _holds(about(one), -x)
        for y in ys:
            assert _holds(one + two, x + y)
            assert _holds(one - two, x - y)
            assert _holds(one * two, x * y)
    low, high = (one * two).ends
    ends = [x * y for x in one.ends for y in two.ends]
    tiny = Fraction(1, 1 << 70)
    assert low >= min(ends) - tiny  # and no wider than that
    assert high <= max(ends) + tiny


def test_a_number_that_is_no_multiple_of_the_unit_lies_inside() -> None:
    third = exactly(Fraction(1, 3))
    assert third.high == third.low + 1
    assert _holds(third, Fraction(1, 3))
    assert exactly(0.375).low == exactly(0.375).high == 3 << 77


def test_a_ball_lies_inside() -> None:
    from flint import arb  # a fifth of a second

    third = of_ball(arb(1) / 3)
    assert _holds(third, Fraction(1, 3))
    assert third.high - third.low < 1 << 40
    wide = of_ball(arb(1, 0.25))
    assert wide.ends[0] <= Fraction(3, 4)
    assert wide.ends[1] >= Fraction(5, 4)
    with pytest.raises(ValueError, match="without ends"):
        of_ball(arb(1) / arb(0, 1))


def test_two_enclosures_of_one_number_have_something_in_common() -> None:
    assert between(0, 2).meet(between(1, 3)) == between(1, 2)
    assert between(0, 1).join(between(2, 3)) == between(0, 3)
    with pytest.raises(ValueError, match="nothing in common"):
        between(0, 1).meet(between(2, 3))
    assert not between(0, 1).holds(exactly(math.pi))
