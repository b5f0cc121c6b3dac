"""Sums of waves times powers: they add, multiply and bound as functions do."""

from __future__ import annotations

import math

import pytest
from checker.test_dynamics import value
from flint import arb

from boolcomp.checker.functions.robot import read_robot
from boolcomp.checker.functions.waves import Space, Sum, Variable, number, precise
from boolcomp.common.errors import DataError
from boolcomp.problem.robot import load_robot

VARIABLES = [
    Variable("q", angle=True, low=-4.0, high=4.0),
    Variable("x", angle=False, low=-1.0, high=3.0),
    Variable("z", angle=False, low=-5.0, high=2.0),
    Variable("c", angle=False, low=2.5, high=2.5),
    Variable("f", angle=True, low=0.5, high=0.5),
]
SPACE = Space(VARIABLES)
AT = {"q": 0.7, "x": -0.3, "z": 1.9, "c": 2.5, "f": 0.5}


def made() -> Sum:
    """Return x³ sin q - 2 z² cos² q + x z sin f + c² - 1."""
    sine, cosine = SPACE.sine("q"), SPACE.cosine("q")
    x, z, c = SPACE.value("x"), SPACE.value("z"), SPACE.value("c")
    return (x * x * x * sine - (z * z * cosine * cosine).times(2)
            + x * z * SPACE.sine("f") + c * c - number(1))  # fmt: skip


def test_a_sum_is_the_function_that_it_was_made_of() -> None:
    q, x, z, c, f = AT.values()
    wanted = x**3 * math.sin(q) - 2 * (z * math.cos(q)) ** 2 + x * z * math.sin(f) + c * c - 1
    with precise():
        assert value(SPACE, made(), AT) == pytest.approx(wanted, abs=1e-14)
        assert value(SPACE, SPACE.held(made()), AT) == pytest.approx(wanted, abs=1e-14)
        left = {one.name for key in SPACE.held(made()).parts for one, _ in SPACE.exponents(key)}
    assert left == {"q", "x", "z"}


def test_a_slope_is_that_of_the_function() -> None:
    q, x, z, c, f = AT.values()
    with precise():
        found = {name: value(SPACE, SPACE.derivative(made(), name), AT) for name in AT}
    assert found == {
        "q": pytest.approx(x**3 * math.cos(q) + 2 * z * z * math.sin(2 * q)),
        "x": pytest.approx(3 * x * x * math.sin(q) + z * math.sin(f)),
        "z": pytest.approx(-4 * z * math.cos(q) ** 2 + x * math.sin(f)),
        "c": pytest.approx(2 * c),
        "f": pytest.approx(x * z * math.cos(f)),
    }


def test_what_cancels_is_gone() -> None:
    with precise():
        assert not (made() - made()).parts
        unit = SPACE.sine("q") * SPACE.sine("q") + SPACE.cosine("q") * SPACE.cosine("q")
        assert list(unit.parts) == [0]
        assert unit.parts[0] == 1


def test_the_most_of_a_sum_counts_the_farther_end_of_every_input() -> None:
    with precise():
        x, z = SPACE.value("x"), SPACE.value("z")
        found = SPACE.most(x * x * z + SPACE.sine("q").times(0.25) - number(arb(1) / 8))
    assert float(found.mid()) == pytest.approx(9 * 5 + 0.25 + 0.125)


def test_products_that_are_too_large_are_refused() -> None:
    with precise():
        power = SPACE.value("x")
        for _ in range(14):
            power = power * power
        with pytest.raises(DataError, match="factors: too many"):
            power * power


def test_an_axis_of_a_robot_file_need_not_have_length_one() -> None:
    text = str(load_robot("panda"))
    assert "axis = [0, 0, 1]" in text
    space = Space([Variable(f"q{k}", angle=True, low=-1.0, high=1.0) for k in range(1, 8)])
    with precise():
        one, other = (
            read_robot(text.replace("axis = [0, 0, 1]", f"axis = {axis}", 1), space).joints[0]
            for axis in ("[0, 0, 1]", "[0, 0, 4]")
        )
        for row, same in zip(one.motion, other.motion, strict=True):
            assert all(not (a - b).parts for a, b in zip(row, same, strict=True))
