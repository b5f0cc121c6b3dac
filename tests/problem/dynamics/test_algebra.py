"""Constants fold; everything else goes to the algebra below."""

from __future__ import annotations

import math

import numpy as np
import pytest

from boolcomp.problem.angles import exact_cosine, exact_sine
from boolcomp.problem.dynamics.algebra import Constant
from boolcomp.problem.dynamics.recurrence import newton_euler
from boolcomp.problem.robot import load_robot

X = np.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 2.5])
def test_a_constant_calculates_with_arrays_from_either_side(value: float) -> None:
    c = Constant(value)
    expected = [value + X, X + value, value - X, X - value, value * X, X * value]
    found = [c + X, X + c, c - X, X - c, c * X, X * c]
    for left, right in zip(found, expected, strict=True):
        assert np.array_equal(left.value if isinstance(left, Constant) else left, right) or (
            value == 0.0 and isinstance(left, Constant)
        )


def test_nothing_is_computed_with_zero_and_one() -> None:
    assert Constant(0.0) * X == Constant(0.0)
    assert Constant(1.0) * X is X
    assert X * Constant(1.0) is X
    assert X + Constant(0.0) is X


def test_constants_fold_among_themselves() -> None:
    two, three = Constant(2.0), Constant(3.0)
    assert (two + three, two - three, two * three, -two) == (
        Constant(5.0),
        Constant(-1.0),
        Constant(6.0),
        Constant(-2.0),
    )


def test_right_angles_are_exact() -> None:
    assert [exact_sine(k * math.pi / 2) for k in range(-2, 3)] == [0, -1, 0, 1, 0]
    assert [exact_cosine(k * math.pi / 2) for k in range(-2, 3)] == [-1, 0, 1, 0, -1]
    assert exact_sine(0.3) == math.sin(0.3)


class Exact:
    """Another algebra: plain floats, without folding."""

    constant = staticmethod(float)
    sine, cosine = staticmethod(exact_sine), staticmethod(exact_cosine)

    @staticmethod
    def sign(x: float) -> float:
        return math.copysign(1.0, x) if x else 0.0


def test_the_same_recurrence_runs_over_plain_floats() -> None:
    tau = newton_euler(load_robot("machado-2r"), Exact(), [0.3, -0.7], [0.4, 0.9], [-0.5, 0.2])
    assert tau == pytest.approx([103.12139402, 42.50450909], abs=1e-8)
