"""Sketches of calculations: they compute what the steps do, and tables are of one word."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.calculations import Q, R, X, Y, Z, problem_of, sketch_of
from hypothesis import given, settings
from hypothesis import strategies as st

from boolcomp.common.errors import UsageError
from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import Demand, usual_demand
from boolcomp.compact.errors.measure import measure
from boolcomp.compact.errors.samples import draw
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.sketch.poly import quantities
from boolcomp.compact.sketch.sketch import Curve, Product, Sketch, Waves, WordSum, reads
from boolcomp.compact.widths.forms import DIRECT
from boolcomp.compact.widths.search import (
    SearchTask,
    screen,
    search_of,
)
from boolcomp.pipeline import compile_compact
from boolcomp.problem.expressions.tape import Tape
from boolcomp.terms import split
from boolcomp.words.agreement import agrees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]


def computed(problem: Problem, sketch: Sketch, count: int = 500) -> tuple[Floats, Floats]:
    """Return a sketch's outputs and the exact ones, both in steps."""
    words = quantities(problem, {one.name: 10 for one in problem.inputs})
    states = draw(problem, words, problem.steps(8), count, 7)
    values = sketch.evaluate(states.values)
    return np.stack([values[k] for k in sketch.outputs], axis=1), states.outputs


def clip(tape: Tape, x: Any, low: float, high: float) -> Any:
    """Return x held within two numbers."""
    under = (x + high - tape.function("abs", x - high)) * 0.5
    return (under + low + tape.function("abs", under - low)) * 0.5


FUNCTIONS: dict[str, tuple[Sequence[tuple[str, float, float, bool]], Callable[..., Any]]] = {
    "root": ([Y], lambda t, y: t.root(y)),
    "sigmoid": ([X], lambda t, x: 1.0 / (t.function("exp", x * -3.0) + 1.0)),
    "quotient": ([X, Y], lambda _, x, y: x / y),
    "product of three": ([X, Y], lambda t, x, y: t.root(y) * x * y),
    "offset product": ([X, Y], lambda _, x, y: (x + 3.0) * (y - 0.25) * 0.3),
    "clipped sum": ([X, Y], lambda t, x, y: clip(t, x * 4.0 + y * 1.3, -1.5, 2.5)),
    "distance": ([X, Y], lambda t, x, y: t.root(x * x + y * y)),
    "angle of any point": ([X, Z], lambda t, x, z: t.arc(x, z)),
    "angle of a slope": ([Y, X], lambda t, y, x: t.arc(x, y)),
    "angle of a point above": ([Y, X], lambda t, y, x: t.arc(y, x)),
    "angle of a point below": ([Y, X], lambda t, y, x: t.arc(-y, x * 0.5)),
    "waves": ([Q, R], lambda t, q, r: t.cosine(q + r * 2.0) - t.sine(q - 0.5) * 0.7),
    "wave squared": ([Q, X], lambda t, q, x: t.cosine(q) * t.cosine(q) * x + t.sine(q)),
    "curve of a wave": ([Q, X], lambda t, q, x: t.function("exp", t.cosine(q)) * x),
    "wrapped": ([Q, R], lambda t, q, r: t.function("wrap", q - r)),
    "shared word": ([X, Y], lambda _, x, y: (x + y * 0.3) * (x + y * 0.3) * x + (x + y * 0.3)),
    "deep": ([X, Y], lambda t, x, y: t.root(t.function("abs", x * y - 0.2) + 0.01) * y * 0.5),
    "negative": ([X, Y], lambda t, x, y: -(x * y) - t.function("tanh", -x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sketch_computes_what_its_steps_do(name: str) -> None:
    words, function = FUNCTIONS[name]
    problem = problem_of(words, function)
    found, exact = computed(problem, sketch_of(problem))
    assert np.abs(found - exact).max() < (0.02 if "point" in name else 1e-6)


def test_an_output_is_counted_from_the_middle_of_its_range() -> None:
    problem = problem_of([X], lambda t, x: t.function("exp", x), [(0.0, 3.0)])
    found, _ = computed(problem, sketch_of(problem))
    x = draw(problem, quantities(problem, {"x": 10}), [1.0], 500, 7).values["x"] / 512
    assert np.allclose(found[:, 0], (np.exp(x) - 1.5) / (3.0 / 256), atol=1e-6)


def tables(sketch: Sketch) -> list[Curve | Waves]:
    """Return the tables of a sketch."""
    return [node for node in sketch.nodes if isinstance(node, (Curve, Waves))]


def products(sketch: Sketch) -> int:
    """Return how many products its sums hold."""
    sums = [node for node in sketch.nodes if isinstance(node, WordSum)]
    return sum(isinstance(addend, Product) for node in sums for addend in node.addends)


def test_whatever_reads_one_word_is_one_table() -> None:
    words, function = FUNCTIONS["sigmoid"]
    sketch = sketch_of(problem_of(words, function))
    assert len(tables(sketch)) == 1
    assert products(sketch) == 0


def test_addends_that_are_functions_of_one_word_are_one_table() -> None:
    problem = problem_of([X, Y], lambda t, x, y: t.root(y) + x * y + t.function("exp", y))
    assert len(tables(sketch_of(problem))) == 1


def test_what_is_linear_is_no_table() -> None:
    sketch = sketch_of(problem_of([X, Y], lambda _, x, y: (x * 2.0 - 1.0) * 3.0 + y))
    assert not tables(sketch)
    assert products(sketch) == 0


def test_a_point_that_is_never_below_has_no_sign_of_y() -> None:
    signs = {
        name: sum("sign(x)" in str(table) for table in tables(sketch_of(problem_of(*one))))
        for name, one in FUNCTIONS.items()
        if "point" in name
    }
    assert signs["angle of a point above"] < signs["angle of any point"]


def test_a_sine_is_a_wave_whatever_its_phase() -> None:
    (table,) = tables(sketch_of(problem_of([Q], lambda t, q: t.sine(q + 0.3) * t.cosine(q))))
    assert isinstance(table, Waves)
    assert [k for k, *_ in table.parts] == [0, 2]


def test_a_sum_that_is_read_twice_is_one_word() -> None:
    words, function = FUNCTIONS["shared word"]
    sketch = sketch_of(problem_of(words, function))
    readers = [k for k, node in enumerate(sketch.nodes) for _ in reads(node)]
    assert products(sketch) == 1  # the square is a table
    assert len(readers) > len(set(readers))


@pytest.mark.parametrize("kind", ["product", "root", "plain"])
def test_an_angle_is_no_number(kind: str) -> None:
    made: dict[str, Callable[..., Any]] = {
        "product": lambda _, q, x: q * x,
        "root": lambda t, q, x: t.root(q) + x,
        "plain": lambda _, q, x: q * 0.5 + x,
    }
    with pytest.raises(UsageError, match="q is an angle"):
        sketch_of(problem_of([Q, X], made[kind]))


def test_a_jump_makes_errors_of_coarse_words_though_no_slope_shows_it() -> None:
    tape = Tape()
    steps = tape.finish([("y", tape.function("step", tape.input("x")))])
    curve = Curve(0, steps, 1.0, 0.0, 1.0, -1.0, 1.0)
    x = np.random.default_rng(1).uniform(-1, 1, 4000)
    cell = 2.0 / 256
    coarse = (np.floor(x / cell) + 0.5) * cell
    moved = np.random.default_rng(2).uniform(-cell / 2, cell / 2, len(x))
    true = float(((curve.at(coarse) - curve.at(coarse + moved * 0)) ** 2).mean())
    assert true == 0  # a border of cells lies at the jump, so this oracle moves the words
    many = np.linspace(-1, 1, 400_001)
    shifted = many + np.random.default_rng(3).uniform(-cell / 2, cell / 2, len(many))
    true = float(((curve.at(shifted) - curve.at(many)) ** 2).mean())
    predicted = float((curve.steepness(x) ** 2).mean()) * cell * cell / 12
    assert 0.3 < predicted / true < 3


def leaf(names: Sequence[str]) -> st.SearchStrategy[str]:
    """Return a strategy of inputs and numbers."""
    return st.sampled_from([*names, "0.5", "-1.25", "2.0"])


def expressions() -> st.SearchStrategy[str]:
    """Return a strategy of expressions that stay small."""
    return st.recursive(
        leaf(["x", "y", "sin(q)", "cos(q - r)"]),
        lambda inner: st.one_of(
            st.builds("({} + {})".format, inner, inner),
            st.builds("({} - {})".format, inner, inner),
            st.builds("(0.4 * {} * {})".format, inner, inner),
            st.builds("tanh({})".format, inner),
            st.builds("sqrt(abs({}) + 0.3)".format, inner),
        ),
        max_leaves=7,
    )


def on_tape(text: str) -> Problem:
    """Return the problem of an expression."""

    def function(tape: Tape, *wires: Any) -> Any:
        names = dict(zip(("x", "y", "q", "r"), wires, strict=True))
        known = {
            "sin": tape.sine, "cos": tape.cosine, "sqrt": tape.root,
            "tanh": partial(tape.function, "tanh"), "abs": partial(tape.function, "abs"),
        }  # fmt: skip
        return eval(text, {"__builtins__": {}}, names | known)  # noqa: S307 (our own text)

    return problem_of([X, Y, Q, R], function, [(-16.0, 16.0)])


@settings(max_examples=40, deadline=None)
@given(expressions())
def test_random_expressions_are_computed(text: str) -> None:
    problem = on_tape(text)
    found, _ = computed(problem, sketch_of(problem), 64)
    words = quantities(problem, {one.name: 10 for one in problem.inputs})
    arrays = problem.draw(64, 7)
    names = {one.name: array[:, 0] for one, array in zip(problem.inputs, arrays, strict=True)}
    functions: list[Any] = [np.sin, np.cos, np.sqrt, np.tanh, np.abs]
    known = dict(zip(("sin", "cos", "sqrt", "tanh", "abs"), functions, strict=True))
    exact = eval(text, {"__builtins__": {}}, known | names)  # noqa: S307 (our own text)
    assert words
    assert np.abs(found[:, 0] * problem.steps(8)[0] - exact).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quotient", "clipped sum", "curve of a wave"])
def test_compiled_logic_errs_by_no_more_than_is_demanded(name: str, tmp_path: Path) -> None:
    words, function = FUNCTIONS[name]
    problem = problem_of(words, function)
    demand: Demand = usual_demand(6, effort=0.0)
    made = compile_compact(problem, CompactChoices(demand, tmp_path, workers=ALONE))
    states = np.random.default_rng(5).uniform(*problem.bounds(), (20_000, len(words)))
    logic = made.program(*(states[:, [k]] for k in range(len(words))))
    error = (np.asarray(logic).reshape(-1) - problem.exact(states)[:, 0]) / problem.steps(6)[0]
    assert math.sqrt(float((error**2).mean())) < 0.52


@pytest.mark.check
@settings(max_examples=80, deadline=None, derandomize=True)
@given(expressions())
def test_logic_of_random_expressions_errs_as_predicted(text: str) -> None:
    problem = on_tape(f"0.7 * x + {text}")
    terms, demand = split(problem), usual_demand(8, {"words": 12}).completed(problem)
    allowed = np.array([0.8**2])
    task = SearchTask(terms, demand, allowed, np.array([np.inf]))
    choice = screen(task, DIRECT)
    assert choice.nodes < math.inf
    search = search_of(task, DIRECT)
    graph = search.graph(choice)
    errors = measure(graph, search.states)
    predicted = float(np.sqrt(search.noise(choice)[1][0]))
    assert not errors.wrapped
    assert errors.rms[0] < 1.3 * predicted + 0.05
    assert predicted < 1.6 * errors.rms[0]
    assert agrees(word_logic(graph), graph, search.states.words)
