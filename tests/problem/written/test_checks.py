"""Functions without a value somewhere are refused with the place and a state; others are not."""

# ruff: noqa: ARG005, PLW0108 (all take the same inputs, as lambdas with a line)

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.problem import Input, Interval, Straight, Tape, enclosures

X, Y, Q = bc.word(-1, 1), bc.word(0.5, 2), bc.angle()
WORDS = {"x": X, "y": Y, "q": Q}

REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "a pole": (lambda x, y, q: y / (x - 0.25), r"it divides by zero at x = 0\.25;"),
    "a pole at an end": (lambda x, y, q: 1 / (x + 1), "it divides by zero at x = -1;"),
    "a touched pole": (lambda x, y, q: 1 / (x - 0.3) ** 2, r"divides by zero at x = 0\.3;"),
    "a curve of poles": (lambda x, y, q: 1 / (x * y - 0.7), r"it divides by zero at x = .*, y = "),
    "a tangent": (lambda x, y, q: bc.tan(q), r"it divides by zero at q = -?1\.571;"),
    "a root": (lambda x, y, q: bc.sqrt(x * y + 1), "the square root of -1 at x = -1, y = 2, where"),
    "a logarithm": (lambda x, y, q: bc.log(y - 0.5), r"the logarithm of 0 at y = 0\.5, where"),
    "a logarithm below": (lambda x, y, q: bc.log(x), "the logarithm of -1 at x = -1, where"),
    "an arc": (lambda x, y, q: bc.asin(x + 0.5), r"asin of 1\.5 at x = 1, where it has no value"),
    "another arc": (lambda x, y, q: bc.acos(y - 2), r"acos of -1\.5 at y = 0\.5, where"),
    "growth": (lambda x, y, q: bc.exp(20 * y), r"it grows to 2\.35e\+17 at y = 2; keep values"),
    "boundless growth": (lambda x, y, q: bc.exp(bc.exp(4 * y)), "it grows beyond all numbers at y"),
    "an angle in a product": (lambda x, y, q: x * q, "q is an angle, which may occur in sums"),
    "half an angle": (lambda x, y, q: bc.sin(q / 2), "q is an angle, which may occur in sums"),
    "an angle and a number": (lambda x, y, q: bc.sin(q + x), "q is an angle"),
    "an angle's root": (lambda x, y, q: bc.sqrt(q), "q is an angle"),
    "an angle alone": (lambda x, y, q: 2 * q, "q is an angle.*not alone or as the output u"),
}  # fmt: skip

ALLOWED: dict[str, Callable[..., Any]] = {
    "intervals tell": lambda x, y, q: 1 / (x + y + 0.6),
    "only a search tells": lambda x, y, q: 1 / (y * y - y + 0.3) + 1 / (1.3 - x * x),
    "a root of what touches zero": lambda x, y, q: bc.sqrt(1 - x * x) + bc.sqrt(x + 1),
    "a root of squares": lambda x, y, q: bc.sqrt(x * x - 2 * x * y + y * y),
    "an arc to its ends": lambda x, y, q: bc.asin(x) + bc.acos(bc.cos(q)),
    "a tangent between stops": lambda x, y, q: bc.tan(x),
    "multiples of angles": lambda x, y, q: bc.sin(2 * q - 0.5) * x + bc.wrap(q - 1.0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_function_without_a_value_somewhere_is_refused_with_line_and_state(name: str) -> None:
    function, said = REFUSED[name]
    with pytest.raises(bc.UsageError, match=said) as error:
        bc.function_problem(lambda x, y, q: function(x, y, q), WORDS, ["u"])
    assert re.match(r"test_checks\.py:\d+: |u: ", str(error.value))


@pytest.mark.parametrize("name", ALLOWED)
def test_a_function_with_values_everywhere_is_taken_and_has_them(name: str) -> None:
    problem = bc.function_problem(lambda x, y, q: ALLOWED[name](x, y, q), WORDS, ["u"])
    low, high = problem.bounds()
    corners = np.random.default_rng(1).uniform(size=(200, 3)).round() * (high - low) + low
    for states in (corners, np.concatenate(problem.draw(200, 1), axis=1)):
        assert np.isfinite(problem.exact(states)).all()


def number(name: str, low: float, high: float) -> Input:
    span = Interval(low, high)
    return Input(name, span, "", span, span)


@st.composite
def calculations(draw: st.DrawFn) -> Straight:
    """Return a few random steps over x and y."""
    tape = Tape(fold=False)
    wires: list[Any] = [tape.input("x"), tape.input("y"), tape.constant(0.5), tape.constant(-2.0)]
    unary: list[Any] = [
        "sqrt",
        "sin",
        "cos",
        "sign",
        "exp",
        "log",
        "atan",
        "asin",
        "acos",
        "tanh",
        "abs",
        "step",
        "wrap",
    ]
    for _ in range(draw(st.integers(1, 8))):
        kind: Any = draw(st.sampled_from([*unary, "add", "sub", "mul", "div", "atan2", "neg"]))
        a, b = draw(st.sampled_from(wires)), draw(st.sampled_from(wires))
        wires.append(tape.function(kind, *((a,) if kind in (*unary, "neg") else (a, b))))
    return tape.finish([("u", wires[-1])], prune=False)


@settings(max_examples=40)
@given(calculations(), st.floats(-4, 4), st.floats(0, 5), st.floats(-1, 1))
def test_every_value_lies_in_its_enclosure(
    steps: Straight, low: float, wide: float, other: float
) -> None:
    inputs = (number("x", low, low + wide), number("y", other, other + 0.5))
    ends = enclosures(steps, inputs)
    x = np.linspace(low, low + wide, 40)
    y = np.random.default_rng(0).permutation(np.linspace(other, other + 0.5, 40))
    every = Straight(
        steps.nodes, tuple(replace(steps.outputs[0], node=k) for k in range(len(steps.nodes)))
    )
    with np.errstate(all="ignore"):
        values = every.evaluate([x, y])
    for column, (least, most) in zip(values, ends, strict=True):
        there = column[~np.isnan(column)]
        slack = 1e-9 * (1 + np.abs(there))
        assert (there >= least - slack).all()
        assert (there <= most + slack).all()
