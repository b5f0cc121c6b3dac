"""Random functions of users, compiled: logic is its word graph, and errs as the model predicts."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.common.errors import BoolcompError
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.errors.measure import measure
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.widths.search import DIRECT, SearchTask, screen, search_of
from boolcomp.problem.written.functionfile import parse_function
from boolcomp.terms import split
from boolcomp.words.agreement import agrees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.widths.search import Search
    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

# Errors on 2000 states and those predicted: the model takes words to err uniformly and apart, and
# functions to be as steep as they are nearby. Single coarse words, kinks and words that repeat each
# other make what is left of it; the search corrects that by simulation, so nothing hangs on it.
LESS, MORE, BESIDE = 1.6, 1.35, 0.05
HEAD = """\
name = "random"
[inputs.x]
range = [-1, 1]
[inputs.y]
range = [0.5, 2]
[inputs.q]
angle = true
[inputs.r]
angle = true
range = [-0.75, 0.75]
[outputs.u]
"""
KNOWN: dict[str, Any] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "sqrt": np.sqrt, "exp": np.exp, "log": np.log,
    "atan": np.arctan, "atan2": np.arctan2, "tanh": np.tanh, "abs": np.abs, "clip": np.clip,
    "minimum": np.minimum, "maximum": np.maximum, "wrap": lambda x: np.angle(np.exp(1j * x)),
    "where_positive": lambda x, a, b: np.where(x > 0, a, b),
}  # fmt: skip


def smooth(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy of expressions, without jumps, of others within about ±3."""
    return st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} - 0.7*{})".format, inner, inner),
        st.builds("(0.4 * {} * {})".format, inner, inner),
        st.builds("{} / (1.5 + abs({}))".format, inner, inner),
        st.builds("clip({}, -0.8, 0.9)".format, inner),
        st.builds("maximum({}, {})".format, inner, inner),
        st.builds("minimum({}, 0.3)".format, inner),
        st.builds("tanh({})".format, inner),
        st.builds("atan({} * tan(r))".format, inner),
        st.builds("atan2({}, y)".format, inner),
        st.builds("exp(0.3 * {})".format, inner),
        st.builds("log({}**2 + 0.5)".format, inner),
        st.builds("sqrt(abs({}) + 0.3)".format, inner),
    )


def jumping(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy of expressions that jump."""
    return st.one_of(
        st.builds("where_positive({}, {}, 0.5)".format, inner, inner),
        st.builds("(wrap(q + 2*r) + {})".format, inner),
    )


LEAVES = st.sampled_from(["x", "y", "sin(q)", "cos(q - 2*r)", "x*y", "0.5", "-1.25"])
SMOOTH = st.recursive(LEAVES, smooth, max_leaves=6)
ANY = st.recursive(LEAVES, lambda inner: st.one_of(smooth(inner), jumping(inner)), max_leaves=6)


def function_of(text: str) -> Problem:
    """Return the problem of an expression; its range is found."""
    return parse_function(f'{HEAD}expression = "0.7*x + {text}"\n')


def numpys(problem: Problem, text: str, arrays: list[Floats]) -> Floats:
    """Return what numpy makes of an expression, by the text and not by its steps."""
    names = {one.name: array[:, 0] for one, array in zip(problem.inputs, arrays, strict=True)}
    known = {"__builtins__": {}, **KNOWN}
    return np.asarray(eval(f"0.7*x + {text}", known, names))  # noqa: S307 (our own text)


def searched(problem: Problem, allowed: float) -> tuple[Search, Any]:
    """Return a search of widths for 8 bits of 12-bit words, and what it chose by the model."""
    terms, demand = split(problem), usual_demand(8, {"words": 12}).completed(problem)
    task = SearchTask(terms, demand, np.array([allowed**2]), np.array([np.inf]))
    form = 0 if terms.steps is None else DIRECT
    return search_of(task, form), screen(task, form)


def check(text: str, allowed: float) -> tuple[float, float] | None:
    """Hold numpy, steps, word graph and network together; return errors, and those predicted."""
    problem = function_of(text)
    arrays = problem.draw(300, 5)
    exact = numpys(problem, text, arrays)
    assert np.allclose(problem.reference(*arrays)[:, 0], exact, rtol=1e-9, atol=1e-9)
    search, choice = searched(problem, allowed)
    if choice.nodes == math.inf:
        return None
    graph = search.graph(choice)
    assert agrees(word_logic(graph), graph, search.states.words)  # bit for bit
    errors = measure(graph, search.states)
    assert not errors.wrapped
    return float(errors.rms[0]), float(np.sqrt(search.noise(choice)[1][0]))


@settings(max_examples=5)
@given(SMOOTH)
def test_logic_of_a_random_function_errs_as_predicted(text: str) -> None:
    found = check(text, 0.8)
    assert found is not None
    rms, predicted = found
    assert rms < MORE * predicted + BESIDE
    assert predicted < LESS * rms + BESIDE


@pytest.mark.slow
@settings(max_examples=150)
@given(SMOOTH)
def test_logic_of_many_random_functions_errs_as_predicted(text: str) -> None:
    test_logic_of_a_random_function_errs_as_predicted.hypothesis.inner_test(text)  # type: ignore[attr-defined]  # hypothesis adds it


@settings(max_examples=5)
@given(ANY)
def test_logic_of_a_function_that_jumps_is_its_word_graph(text: str) -> None:
    check(text, 3.0)


@pytest.mark.slow
def test_a_function_of_python_runs_as_logic() -> None:
    def controller(e: Any, i: Any) -> Any:
        wanted = 1.5 * e + i
        given = bc.clip(wanted, -1, 1)
        return {"u": given, "i_next": bc.clip(i + 0.05 * e + 0.3 * (given - wanted), -1, 1)}

    inputs = {"e": bc.word(-1, 1, bits=8), "i": bc.word(-1, 1, bits=8)}
    outputs = {"u": bc.word(-1.25, 1.25, bits=6), "i_next": bc.word(-1.25, 1.25)}
    program = bc.compile(controller, inputs=inputs, outputs=outputs, effort=0, rms_error=0.5)
    assert (program.name, program.bits, program.returned.members) == (
        "controller",
        6,
        tuple(outputs),
    )
    rng = np.random.default_rng(3)
    e, i = rng.uniform(-1, 1, (2, 20_000))
    found = program(e=e, i=i)
    exact = controller(e, i)
    step = 2.5 / 64
    for column, name in zip(found.T, outputs, strict=True):
        error = column - exact[name]
        assert math.sqrt(float((error**2).mean())) < 0.52 * step
        assert np.abs(error).max() <= program.errors[name].worst_found + 1e-9


def test_what_cannot_be_reached_is_a_sentence_and_no_search_for_ever() -> None:
    compiled = partial(bc.compile, inputs={"x": bc.word(-1, 1, bits=4)}, outputs=["u"], bits=8)
    with pytest.raises(BoolcompError, match="inputs of 4 bits and rounding alone make"):
        compiled(lambda x: bc.sqrt(x + 1.5), rms_error=0.4)
