"""Functions that are no waves, compiled: curves at all of their words, and random expressions."""

import math
import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compact.word_robots import built_of, logarithm, search_for
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.base import ALONE, BoolcompError
from boolcomp.compact import Demand, quantities, usual_demand, word_logic
from boolcomp.problem import Problem, parse_function
from boolcomp.terms import split
from boolcomp.words import Lookup, WordGraph, agrees, simulate

Floats = NDArray[np.float64]


def output_values(graph: WordGraph, words: NDArray[np.int64]) -> Floats:
    """Return what words of the only output say, in steps from the middle of its range."""
    return np.asarray(words[:, 0] - (2.0 ** (graph.results[0].bits - 1) - 0.5))


def curve_search(bits: int, rms: float, objective: Any = "nodes", largest: float = math.inf) -> Any:
    """Return a search for the widths of a logarithm."""
    demand = Demand(
        bits=bits, input_bits={"x": bits}, rms=(rms,), saturate=True, objective=objective
    )
    return search_for(logarithm(bits), demand, rms, largest)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["nodes", "lut6"])
def test_a_curve_errs_at_all_words_as_predicted(objective: Any) -> None:
    search = curve_search(11, 0.34, objective)
    choice = search.screen()
    graph = search.graph(choice)
    tables = [node for node in graph.nodes if isinstance(node, Lookup)]
    assert len(tables) >= 3  # it is split by slopes
    assert max(len(table.entries) for table in tables) <= 1 << 9
    words = np.arange(1 << 11)
    found = simulate(graph, {"x": words})
    exact = (np.log2(1 + (words + 0.5) / (1 << 11)) - 0.5) * (1 << 11)
    error = output_values(graph, found.words) - exact
    rms = math.sqrt((error**2).mean())
    assert not found.wrapped
    assert rms < 0.4
    assert agrees(word_logic(graph), graph, {"x": words})
    assert 0.8 < float(np.sqrt(search.noise(choice)[1][0])) / rms < 1.25


@pytest.mark.slow
def test_a_largest_error_below_one_holds_at_every_word(tmp_path: Path) -> None:
    demand = Demand(
        bits=8, input_bits={"x": 8}, max=(0.999,), saturate=True, effort=0.0, objective="lut6"
    )
    built = built_of(split(logarithm(8)), demand, tmp_path, workers=ALONE)
    x = (np.arange(256) + 0.5) / 256
    error = (np.asarray(built.program()(x)).reshape(-1) - np.log2(1 + x)) * 256
    assert np.abs(error).max() < 0.999
    assert built.largest[0] == pytest.approx(np.abs(error).max(), abs=1e-6)
    assert built.worst.evaluations == 256
    again = built_of(split(logarithm(8)), demand, tmp_path, workers=ALONE)
    assert again.stored
    assert again.network == built.network


USUALLY = 0.9  # widths are found for so many of the functions
FRESH = 1.04  # times what held on the states that the search looked at
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
LEAVES = ("x", "y", "sin(q)", "cos(q - 2*r)", "x*y", "0.5", "-1.25")
SMOOTH = (
    "({} + {})", "({} - 0.7*{})", "(0.4*{}*{})", "{}/(1.5 + abs({}))", "clip({}, -0.8, 0.9)",
    "maximum({}, {})", "minimum({}, 0.3)", "tanh({})", "atan({}*tan(r))", "atan2({}, y)",
    "exp(0.3*{})", "log(({})**2 + 0.5)", "sqrt(abs({}) + 0.3)",
)  # fmt: skip
JUMPING = ("where_positive({}, {}, 0.5)", "(wrap(q + 2*r) + {})")


def expression(rng: random.Random, deep: int, forms: tuple[str, ...] = SMOOTH) -> str:
    """Return a random expression whose values stay within about ±3."""
    if not deep or rng.random() < 0.2:
        return rng.choice(LEAVES)
    form = rng.choice(forms)
    return form.format(*(expression(rng, deep - 1, forms) for _ in range(form.count("{}"))))


def function_of(text: str) -> Problem:
    """Return the problem of an expression; its range is found."""
    return parse_function(f'{HEAD}expression = "0.7*x + {text}"\n')


def numpys(problem: Problem, text: str, arrays: list[Floats]) -> Floats:
    """Return what numpy makes of an expression, by the text and not by its steps."""
    names = {one.name: array[:, 0] for one, array in zip(problem.inputs, arrays, strict=True)}
    known = {"__builtins__": {}, **KNOWN}
    return np.asarray(eval(f"0.7*x + {text}", known, names))  # noqa: S307 (our own text)


def search_of(text: str, allowed: float) -> Any:
    """Return a search of widths for 8 bits of 12-bit words."""
    return search_for(function_of(text), usual_demand(8, {"words": 12}, effort=0.0), allowed)


def check(text: str, allowed: float) -> bool:
    """Hold numpy, steps, word graph and network together; return whether widths were found."""
    problem, search = function_of(text), search_of(text, allowed)
    found = search.refine(search.screen())
    if found.nodes == math.inf:
        return False
    graph = search.graph(found)
    words = quantities(problem, search.task.demand.input_bits)
    arrays = problem.draw(20_000, 77)
    exact = numpys(problem, text, arrays)
    assert np.allclose(problem.reference(*arrays)[:, 0], exact, rtol=1e-9, atol=1e-9)
    columns = {one.name: array[:, 0] for one, array in zip(problem.inputs, arrays, strict=True)}
    given = {name: word.cells(columns[name]) for name, word in words.items()}
    assert agrees(word_logic(graph), graph, given)  # bit for bit
    centre = problem.outputs[0].range.centre
    found = output_values(graph, simulate(graph, given).words)
    made = found * problem.steps(8)[0] + centre
    error = (made - exact) / problem.steps(8)[0]
    assert math.sqrt(float((error**2).mean())) < FRESH * allowed
    return True


@pytest.mark.parametrize("seeds", [
    pytest.param(range(3), marks=pytest.mark.slow),
    pytest.param(range(100, 115), marks=pytest.mark.check),
])  # fmt: skip
def test_logic_of_random_functions_is_their_word_graph_and_errs_as_demanded(seeds: range) -> None:
    found = [check(expression(random.Random(seed), 3 + (seed >= 100)), 0.8) for seed in seeds]  # noqa: S311 (no secrets)
    assert sum(found) >= USUALLY * len(found)


@pytest.mark.slow
def test_logic_of_functions_that_jump_is_their_word_graph() -> None:
    found = [
        check(expression(random.Random(seed), 2, SMOOTH + 3 * JUMPING), 12.0)  # noqa: S311 (no secrets)
        for seed in range(20, 26)
    ]
    assert any(found)


def test_an_error_out_of_reach_is_refused_with_the_reason() -> None:
    compiled = partial(bc.compile, inputs={"x": bc.word(-1, 1, bits=4)}, outputs=["u"], bits=8)
    with pytest.raises(BoolcompError, match="inputs of 4 bits and rounding alone is"):
        compiled(lambda x: bc.sqrt(x + 1.5), rms_error=0.4)
