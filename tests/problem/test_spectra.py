"""Sums of waves: the terms they are split into; their algebra beside sampling and numpy."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.problem import Problem
from boolcomp.terms import FORMS, evaluate_terms, split

Floats = NDArray[np.float64]

INPUTS = {"u": bc.angle(), "v": bc.angle(), "x": bc.word(-2, 1), "y": bc.word(0.5, 3)}


def leaf(rng: np.random.Generator, u: Any, v: Any, x: Any, y: Any) -> Any:
    """Return a number, an input, or a sine or cosine."""
    kind = rng.integers(4)
    if kind == 0:
        return float(rng.normal())
    if kind == 1:
        return (x, y)[rng.integers(2)]
    j, k = (int(x) for x in rng.integers(-2, 3, 2))
    angle = u * j + k * v - float(rng.choice([0.0, 0.7, np.pi / 2]))
    return bc.cos(angle) if kind == 2 else bc.sin(-angle)


def expression(rng: np.random.Generator, depth: int, words: tuple[Any, ...]) -> Any:
    """Return a random sum, difference or product of such."""
    if depth == 0:
        return leaf(rng, *words)
    one, two = (expression(rng, depth - 1, words) for _ in range(2))
    kind = rng.integers(4)
    return [one + two, one - two, 2.5 - -one * 3][kind] if kind < 3 else one * two


@pytest.mark.parametrize("seed", range(8))
def test_terms_of_random_expressions_add_up_to_them(seed: int) -> None:
    problem = bc.function_problem(
        lambda u, v, x, y: x + expression(np.random.default_rng(seed), 4, (u, v, x, y)),
        INPUTS, ["z"],
    )  # fmt: skip
    terms, arrays = split(problem), problem.draw(40, seed)
    assert terms.steps is None
    found = evaluate_terms(terms.outputs[0], problem.columns(arrays))
    exact = problem.reference(*arrays)[:, 0]
    assert found == pytest.approx(exact, abs=1e-10 * max(1.0, float(np.abs(exact).max())))


@pytest.fixture(name="crane", scope="module")
def a_crane() -> Problem:
    return bc.function_problem(
        lambda left, right, boom, pull: 3 + 2 * boom * bc.sin(left - right)
        - 0.5 * boom**2 * bc.cos(2 * left) + pull * (1.5 * bc.cos(right) - 0.25 * boom),
        {"left": bc.angle(), "right": bc.angle(), "boom": bc.word(0.5, 2), "pull": bc.word(-3, 3)},
        ["H"],
    )  # fmt: skip


def test_a_function_is_split_into_the_terms_it_was_made_of(crane: Problem) -> None:
    terms = sorted(line.split(" = ")[1] for line in str(split(crane)).splitlines()[1:])
    assert terms == ["(-0.25 boom + 1.5 cos right) pull",
                     "3 - 0.5 boom^2 cos(2 left) + 2 boom sin(left - right)"]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_function_adds_up_to_it(crane: Problem, form: Any) -> None:
    many = bc.function_problem(
        lambda q: 2 * bc.cos(4 * q) - bc.sin(5 * q), {"q": bc.angle()}, ["y"]
    )
    for problem in (crane, many):
        arrays = problem.draw(200, 1)
        (terms,) = split(problem, form).outputs
        found = evaluate_terms(terms, problem.columns(arrays))
        assert found == pytest.approx(problem.reference(*arrays)[:, 0], abs=1e-12)
