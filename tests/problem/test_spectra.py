"""Sums of waves: the terms they are split into; their algebra beside sampling and numpy."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from samples import TURN, input_of, problem_of, random_robot

import boolcomp as bc
from boolcomp.base import UsageError
from boolcomp.problem import Folding, Harmonics, Interval, Spectra, load_robot, newton_euler
from boolcomp.terms import FORMS, evaluate_terms, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem import Input, Problem, Robot

    Floats = NDArray[np.float64]

U, V = input_of("u", TURN, angle=True), input_of("v", TURN, angle=True)
X, Y = input_of("x", Interval(-2.0, 1.0)), input_of("y", Interval(0.5, 3.0))
INPUTS = (U, V, X, Y)
SPACE = Harmonics(INPUTS)
NUMBER = re.compile(r"\d+\.?\d*(?:e-\d+)?")
LAST = 2e-12  # relative: a 13th digit that lies between two values goes either way


def value_of(element: Any, states: Floats, space: Harmonics = SPACE) -> Floats:
    """Return an element's values at states, (samples, inputs), by the definition of its parts."""
    total = np.zeros(len(states), dtype=np.complex128)
    for key, c in element.parts.items():
        part = np.full(len(states), c)
        for one, k, column in zip(space.inputs, space.numbers(key), states.T, strict=True):
            part = part * (np.exp(1j * k * column) if one.angle else column**k)
        total += part
    assert np.abs(total.imag).max() < 1e-9
    return total.real


def leaf(rng: np.random.Generator, states: Floats) -> tuple[Any, Floats]:
    """Return a number, an input, or a sine or cosine as an element, and its values by numpy."""
    kind = rng.integers(4)
    if kind == 0:
        number = float(rng.normal())
        return SPACE.constant(number), np.full(len(states), number)
    if kind == 1:
        place = int(rng.integers(2, 4))
        return SPACE.input(INPUTS[place]), states[:, place]
    j, k = (int(x) for x in rng.integers(-2, 3, 2))
    phase = float(rng.choice([0.0, 0.7, math.pi / 2]))
    angle = SPACE.input(U) * j + k * SPACE.input(V) - phase
    turned = j * states[:, 0] + k * states[:, 1] - phase
    if kind == 2:
        return SPACE.cosine(angle), np.cos(turned)
    return SPACE.sine(-angle), -np.sin(turned)


def expression(rng: np.random.Generator, depth: int, states: Floats) -> tuple[Any, Floats]:
    """Return a random expression as an element, and its values by numpy."""
    if depth == 0:
        return leaf(rng, states)
    one, a = expression(rng, depth - 1, states)
    two, b = expression(rng, depth - 1, states)
    kind = rng.integers(5)
    made = [(one + two, a + b), (one - two, a - b), (2.5 - -one * 3, 2.5 + a * 3)]
    return made[kind] if kind < 3 else (one * two, a * b)


@pytest.mark.parametrize("seed", range(8))
def test_random_expressions_have_the_values_that_numpy_gives_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = rng.uniform(-2, 2, (40, 4))
    element, values = expression(rng, 4, states)
    scale = max(1.0, float(np.abs(values).max()))
    assert value_of(element, states) == pytest.approx(values, abs=1e-11 * scale)


@pytest.mark.parametrize("one", INPUTS)
def test_derivatives_are_slopes(one: Input) -> None:
    rng = np.random.default_rng(3)
    states = rng.uniform(-2, 2, (40, 4))
    step = 1e-6 * np.eye(4)[INPUTS.index(one)]
    element = SPACE.constant(1.0)
    for seed in range(3):
        element = element * expression(np.random.default_rng(seed), 2, states)[0] + 1.0
    slopes = (value_of(element, states + step) - value_of(element, states - step)) / 2e-6
    found = value_of(SPACE.derivative(element, one), states)
    assert found == pytest.approx(slopes, abs=1e-6 * max(1.0, float(np.abs(slopes).max())))


def test_angles_have_no_value_and_what_has_one_no_sine() -> None:
    u, x = SPACE.input(U), SPACE.input(X)
    with pytest.raises(UsageError, match="only sums of whole multiples of angles have waves"):
        SPACE.sine(x)
    with pytest.raises(UsageError, match="a sign is no sum of waves"):
        SPACE.sign(x)
    for wrong in (operator.mul, operator.add, operator.sub):
        for pair in ((u, x), (x, u)):
            with pytest.raises(TypeError):
                wrong(*pair)
    with pytest.raises(TypeError):
        operator.mul(u, 0.5)


def by_algebra(robot: Robot, problem: Problem) -> Problem:
    """Return inverse dynamics whose terms are the recurrence's, run over sums of waves."""
    space, n = Harmonics(problem.inputs), robot.joints
    words: Sequence[Any] = [space.input(one) for one in problem.inputs]
    torques = newton_euler(robot, Folding(space), words[:n], words[n : 2 * n], words[2 * n :])
    sampled = problem.form()
    assert isinstance(sampled, Spectra)
    exact = space.spectra(problem.inputs[:n], torques)
    # How many digits are kept follows the largest coefficient: where sampled, of M(q) and G(q).
    same = replace(exact, noise=sampled.noise, decimals=sampled.decimals)
    return replace(problem, form=lambda: same)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["grouped", "products"])
@pytest.mark.parametrize("name", [
    "machado-2r", "elbow-3r", "scara", "puma560-5",
    *(pytest.param(name, marks=pytest.mark.check) for name in ("puma560", "stanford", "indy7")),
])  # fmt: skip
def test_the_recurrence_over_waves_gives_the_very_terms_of_sampling(name: str, form: str) -> None:
    robot = load_robot(name)
    problem = problem_of(robot)
    sampled, found = str(split(problem, form)), str(split(by_algebra(robot, problem), form))
    assert NUMBER.sub("#", found) == NUMBER.sub("#", sampled)
    numbers = [[float(x) for x in NUMBER.findall(text)] for text in (found, sampled)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-6, abs=LAST * max(numbers[1]))
    general = any(link.pose is not None for link in robot.links)
    if not general and not name.startswith(("stanford", "ur5e")):  # where the 13th digits are ties
        assert found == sampled


@pytest.mark.parametrize("seed", range(6))
def test_terms_of_random_arms_add_up_to_newton_euler(seed: int) -> None:
    robot = random_robot(seed, 1 + seed % 4)
    problem = by_algebra(robot, problem_of(robot))
    arrays = problem.draw(50, seed)
    exact = problem.reference(*arrays)
    columns = problem.columns(arrays)
    found = np.stack([evaluate_terms(terms, columns) for terms in split(problem).outputs], axis=1)
    assert found == pytest.approx(exact, abs=1e-10 * float(np.abs(exact).max()))


# a function that is no robot's -------------------------------------------------------------------
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
