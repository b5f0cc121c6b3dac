"""Units of words: constants are left where they cost least."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from boolcomp.compact.sketch.units import Part, chosen_units, unit_class


def left(part: Part, units: dict[int, float]) -> float:
    """Return the constant before a product, between 1 and 2."""
    value = part.coefficient / units[part.owner]
    for place in part.words:
        value *= units[place]
    return abs(value) / 2.0 ** math.floor(math.log2(abs(value)) + 1e-9)


@cache
def digits(value: float) -> int:
    """Return the fewest signed powers of two that come within 2^-7 of a number in 1 .. 2."""
    powers = [sign * 2.0**k for k in range(2, -9, -1) for sign in (1, -1)]
    for count in (1, 2, 3):
        for chosen in itertools.combinations(powers, count):
            if abs(value - sum(chosen)) <= 2.0**-7:
                return count
    return 4


@pytest.mark.parametrize("value", [1.0, -3.0, 0.3, 1e-7, 12345.678])
def test_a_class_is_between_one_and_two_and_differs_by_a_power_of_two(value: float) -> None:
    found = unit_class(value)
    assert 1 <= found < 2
    power = math.log2(abs(value) / found)
    assert power == pytest.approx(round(power), abs=1e-8)


def test_a_chain_of_sums_takes_the_unit_of_what_it_begins_with() -> None:
    parts = [Part(k, 1.0, (k - 1,), ()) for k in (1, 2, 3)]
    units = chosen_units(parts, {0: 1.3}, [1, 2, 3])
    assert [unit_class(units[k]) for k in (1, 2, 3)] == [1.3] * 3


def test_a_rotation_reads_one_table_of_the_sine_and_one_of_the_cosine() -> None:
    """Words 2, 3 are words 0, 1 turned; 4, 5 the same turned again by the same tables."""
    parts = []
    for a, b in ((0, 2), (2, 4)):
        parts += [
            Part(b, 1.0, (a,), ("cos",)), Part(b, 1.0, (a + 1,), ("sin",)),
            Part(b + 1, 1.0, (a + 1,), ("cos",)), Part(b + 1, -1.0, (a,), ("sin",)),
        ]  # fmt: skip
    units = {0: 1.7, 1: 1.7} | chosen_units(parts, {0: 1.7, 1: 1.7}, [2, 3, 4, 5])
    assert len({(part.functions, round(left(part, units), 6)) for part in parts}) == 2


def test_units_cost_no_more_than_any_others_of_a_small_calculation() -> None:
    """Every combination of likely units is tried, and digits are counted by another rule."""
    rng = np.random.default_rng(5)
    for _ in range(6):
        factors = rng.choice([1.0, 1.25, 1.5, 1.7], 5)
        parts = [
            Part(1, factors[0], (0,), ()), Part(2, factors[1], (1,), ()),
            Part(3, factors[2], (2,), ()), Part(3, factors[3], (1,), ()),
            Part(-1, factors[4], (3,), ()),
        ]  # fmt: skip
        fixed = {0: 1.0, -1: 1.2}

        def cost(units: dict[int, float], parts: list[Part] = parts) -> int:
            return sum(digits(left(part, units)) - 1 for part in parts)

        found = cost({**fixed, **chosen_units(parts, fixed, [1, 2, 3])})
        likely = {unit_class(math.prod(x)) for x in itertools.product((*factors, 1.0), repeat=2)}
        likely |= {unit_class(1.2 / x) for x in factors} | {1.0, 1.2}
        least = min(
            cost({**fixed, **dict(zip((1, 2, 3), x, strict=True))})
            for x in itertools.product(sorted(likely)[:10], repeat=3)
        )
        assert found <= least + 2
