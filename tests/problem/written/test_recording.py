"""Functions of Python as problems: recorded once, the same of values, numbers and arrays."""

# ruff: noqa: PLW0108 (lambdas have the right parameters)

import math
import pickle
import random
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.problem import Problem

X = bc.word(-1, 1, bits=10)
ONE = {"x": X}
word: Any = bc.word  # to be called as no type checker would let it be
TWO = {"x": X, "y": bc.word(0.5, 2, bits=9, unit="m")}


def made(function: Callable[..., Any], inputs: Any = None) -> Problem:
    """Return the problem of a function with one output."""
    return bc.function_problem(function, inputs or ONE, ["u"])


EVERY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "cosine": (lambda x, _: bc.cos(3 * x), lambda x, _: np.cos(3 * x)),
    "tangent": (lambda x, _: bc.tan(x), lambda x, _: np.sin(x) / np.cos(x)),
    "arcs": (lambda x, y: bc.asin(x) + bc.acos(x / 2) * bc.atan(y),
             lambda x, y: np.arcsin(x) + np.arccos(x / 2) * np.arctan(y)),
    "angle of a point": (lambda x, y: bc.atan2(x, y), lambda x, y: np.arctan2(x, y)),
    "root": (lambda x, y: bc.sqrt(y) * x, lambda x, y: np.sqrt(y) * x),
    "exponential": (lambda x, y: bc.exp(x) + bc.log(y), lambda x, y: np.exp(x) + np.log(y)),
    "hyperbolic": (lambda x, _: bc.tanh(2 * x), lambda x, _: np.tanh(2 * x)),
    "size": (lambda x, _: bc.abs(x) + abs(x), lambda x, _: 2 * np.abs(x)),
    "sign": (lambda x, y: bc.sign(x) * y, lambda x, y: np.sign(x) * y),
    "reciprocal": (lambda _, y: bc.reciprocal(y), lambda _, y: 1 / y),
    "clipped": (lambda x, _: bc.clip(x, -0.5, 0.25), lambda x, _: np.clip(x, -0.5, 0.25)),
    "clipped by numpy": (lambda x, _: np.clip(x, a_max=0.75, a_min=-0.5),
                         lambda x, _: np.minimum(np.maximum(x, -0.5), 0.75)),
    "the larger": (lambda x, y: bc.maximum(x, y / 2), lambda x, y: np.maximum(x, y / 2)),
    "the smaller": (lambda x, y: bc.minimum(x, y - 1), lambda x, y: np.minimum(x, y - 1)),
    "chosen": (lambda x, y: bc.where_positive(x, y, -y), lambda x, y: np.where(x > 0, y, -y)),
    "wrapped": (lambda x, _: bc.wrap(9 * x), lambda x, _: (9 * x + np.pi) % (2 * np.pi) - np.pi),
    "numpy's own": (lambda x, y: np.sin(x) * np.float64(2) + np.square(y) - np.maximum(x, 0.1),
                    lambda x, y: np.sin(x) * 2 + y * y - np.where(x > 0.1, x, 0.1)),
}  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
def test_a_function_is_the_same_recorded_of_numbers_and_of_arrays(name: str) -> None:
    function, exact = EVERY[name]
    problem = made(lambda x, y: function(x, y), TWO)
    arrays = problem.draw(50, 3)
    x, y = (array[:, 0] for array in arrays)
    for found in (problem.reference(*arrays)[:, 0], function(x, y)):
        assert np.allclose(found, exact(x, y), rtol=1e-12, atol=1e-12)
    one, other = float(x[0]), float(y[0])
    assert function(one, other) == pytest.approx(float(exact(one, other)), rel=1e-12, abs=1e-12)


def test_functions_of_numbers_are_numbers_and_of_what_has_no_value_a_sentence() -> None:
    assert isinstance(bc.sin(0.5), float)
    with pytest.raises(bc.DataError, match=r"sqrt\(-1\) has no value"):
        bc.sqrt(-1.0)
    with pytest.raises(bc.DataError, match=r"reciprocal\(0\) has no value"):
        bc.reciprocal(0)
    with pytest.raises(bc.UsageError, match="sin takes numbers and arrays of them, not 'x'"):
        bc.sin("x")


@pytest.mark.parametrize("function", [
    lambda x: (x, 2 * x), lambda x: [x, 2 * x], lambda x: {"b": 2 * x, "a": x},
])  # fmt: skip
def test_results_are_several_or_by_name(function: Callable[..., Any]) -> None:
    problem = bc.function_problem(function, ONE, {"a": None, "b": bc.word(-2, 2)})
    assert problem.reference(np.array([[0.25]])).tolist() == [[0.25, 0.5]]
    assert problem.returned.members == ("a", "b")


def test_outputs_have_one_width_for_all() -> None:
    outputs = {"a": bc.word(-1, 1, bits=6), "b": bc.word(-1, 1, bits=8)}
    problem = bc.function_problem(lambda x: (x, x * x), ONE, outputs)
    with pytest.raises(
        bc.UsageError, match="outputs have one width for all, and these differ: a 6, b"
    ):
        _ = problem.bits
    with pytest.raises(
        bc.UsageError, match="bits must be 2 to 16, not 40"
    ):  # what is given goes before
        bc.compile(problem, bits=40)


def test_a_problem_can_be_sent_and_is_equal_where_the_function_is() -> None:
    one, two = made(lambda x: bc.tanh(x)), made(lambda x: bc.tanh(x) * 1.0)
    assert one.key == two.key
    assert one.key != made(lambda x: bc.tanh(2 * x)).key
    again = pickle.loads(pickle.dumps(one))  # noqa: S301 (our own)
    assert np.array_equal(again.reference(np.ones((3, 1))), one.reference(np.ones((3, 1))))


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "a comparison": (lambda x: 2 * x if x > 0 else x,
                     r"test_recording.py:\d+: .*: an input .*where_positive"),
    "a truth": (lambda x: -x if not x else x * x, "cannot be compared"),
    "math": (lambda x: math.sin(x), "use boolcomp's functions, not those of math"),
    "a float": (lambda x: x + float(x), "use boolcomp's functions"),
    "another of numpy's": (lambda x: np.sinh(x), "numpy.sinh cannot be recorded.*clip, cos, exp"),
    "numpy's where": (lambda x: np.where(x, 1, 2), r"test_recording.py:\d+: .*numpy.where cannot"),
    "half of numpy's clip": (lambda x: np.clip(x, None, 1), r"test_recording.py:\d+: .*None is"),
    "a remainder": (lambda x: x % 2, r"only \+ - \* / and \*\* with whole exponents"),
    "a root as a power": (lambda x: x**0.5, "exponents are whole numbers within ±64.*write sqrt"),
    "a large power": (lambda x: x**65, "exponents are whole numbers within ±64, not 65"),
    "a text": (lambda x: x + "1", "'1' is neither a number nor the value of"),
    "an array": (lambda x: x * np.ones(3), "no value|neither a number|has no|cannot be recorded"),
    "a number that is none": (lambda x: x * math.nan, "numbers are within ±1e.12, not nan"),
    "a number too large": (lambda x: x + 10**400, "numbers are within ±1e.12"),
    "a constant": (lambda _: 3.0, r"lambda: u is always 3\.0, so there is nothing to compile"),
    "a cancelled input": (lambda x: x - x + 1, "lambda: u is always 1: there is nothing to"),
    "nothing": (lambda _: None, "u is None, which does not depend on inputs"),
    "too much": (lambda x: (x, x), "returns 2 results, and outputs are u"),
    "another name": (lambda x: {"v": x}, r"returns no 'u' \(did you mean|returns no 'u'"),
    "endless work": (lambda x: sum(x * k for k in range(9999)), "more than 4000 steps"),
    "chance": (lambda x: x * random.random(), "differs from the recorded function"),  # noqa: S311
    "zero, known": (lambda x: x / 0, "the calculation divides by zero for all inputs"),
    "ends of a clip": (lambda x: bc.clip(x, 1, 0), r"clip to 1 \.\. 0 is empty; the first limit"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_recorded_is_a_sentence(name: str) -> None:
    function, said = WRONG[name]
    with pytest.raises(bc.BoolcompError, match=said):
        made(lambda x: function(x))


def test_a_condition_is_named_by_its_own_text() -> None:
    with pytest.raises(bc.UsageError, match="where_positive") as caught:
        made(lambda x: 1 if x > 0.5 else -x)
    assert re.fullmatch(r"test_recording\.py:\d+: x > 0\.5", caught.value.where)


def test_inputs_are_the_parameters_of_the_function() -> None:
    with pytest.raises(bc.UsageError, match="f needs y, too; inputs are x"):
        bc.function_problem(lambda x, y: x + y, ONE, ["u"], "f")
    for function in (lambda x, gain=2.0: gain * x, lambda **named: 2.0 * named["x"]):
        found = bc.function_problem(function, ONE, ["u"])
        assert found.reference(np.array([[0.5]])).tolist() == [[1.0]]


@pytest.mark.parametrize(("inputs", "outputs", "said"), [
    ({}, ["u"], "inputs of a function are words by name"), ({"x": 3}, ["u"], "x is 3, not a word"),
    ({"x": bc.word()}, ["u"], "input x has no range"),
    ({"x": X}, [], "outputs of a function are words by name"),
    ({"x": X}, ["x"], "output 'x' is already used"),
    ({"x": X}, ["u", "u"], "outputs have a name twice"),
    ({"x": X}, ["time"], "'time' is reserved"),
    ({"x": X}, ["in"], "'in' is a keyword of Python"), ({"x": X}, ["u v"], "'u v' is no name"),
    ({"x": X}, {"u": bc.word(1, 1)}, "the range of u is a single value"),
    ({"xx": X}, ["u"], r"f has no parameter 'xx'; did you mean 'x'\?"),
    ({"x": X, "y": X}, ["u"], "f has no parameter 'y'"),
])  # fmt: skip
def test_words_and_names_that_do_not_fit_are_sentences(
    inputs: Any, outputs: Any, said: str
) -> None:
    with pytest.raises(bc.UsageError, match=said):
        bc.function_problem(lambda x: x, inputs, outputs, "f")


@pytest.mark.parametrize(("call", "said"), [
    (partial(bc.word, 1, -1), "a range must rise, not go from 1 to -1"),
    (partial(word, "1", 2), "a range ends at numbers, not at '1'"),
    (partial(bc.word, 0, math.inf), "a range has finite ends"),
    (partial(bc.word, 0, 1e13), "a range ends within"),
    (partial(bc.word, 1, 1 + 1e-13), "must be at least"),
    (partial(bc.word, None, 2), "a range has two ends"),
    (partial(bc.word, 1, 2, bits=40), "a word has 2 to 16 bits, not 40"),
    (partial(word, 1, 2, bits=2.5), "give a whole number"),
    (partial(bc.angle, -9000, 9000), "a range ends within"),
])  # fmt: skip
def test_words_that_are_none_are_sentences(call: Callable[[], object], said: str) -> None:
    with pytest.raises(bc.UsageError, match=said):
        call()


def test_values_of_two_functions_do_not_mix() -> None:
    kept: list[Any] = []

    def keeping(x: Any) -> Any:
        kept.append(x)
        return x

    made(keeping)
    with pytest.raises(bc.UsageError, match="a value of another function"):
        made(lambda x: x + kept[0])
