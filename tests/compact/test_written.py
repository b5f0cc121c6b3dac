"""Random functions of users, compiled: logic is its word graph, and errs as the model predicts."""

from __future__ import annotations

import math
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.common.errors import BoolcompError
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.errors.measure import measure
from boolcomp.compact.errors.samples import output_values, states_of
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.sketch.poly import quantities
from boolcomp.compact.widths.forms import DIRECT
from boolcomp.compact.widths.search import (
    SearchTask,
    screen,
    search_of,
)
from boolcomp.problem.written.functionfile import parse_function
from boolcomp.terms import split
from boolcomp.words.agreement import agrees
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.widths.search import Search
    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

# What the model predicts of words' errors before anything is simulated, beside what they make: it
# takes words to err uniformly and each for itself, and functions to be as steep as they are nearby.
# Coarse words at kinks, and words whose errors cancel, are not so: one function in ten lies further
# off. The search corrects that by simulation, and what it promises in the end is what was demanded.
USUALLY, WITHIN = 0.9, 1.3
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


def search_for(problem: Problem, allowed: float) -> Search:
    """Return a search of widths for 8 bits of 12-bit words."""
    terms, demand = split(problem), usual_demand(8, {"words": 12}, effort=0.0).completed(problem)
    task = SearchTask(terms, demand, np.array([allowed**2]), np.array([np.inf]))
    return search_of(task, 0 if terms.steps is None else DIRECT)


def check(text: str, allowed: float) -> bool:
    """Hold numpy, steps, word graph and network together; return whether widths were found."""
    problem = function_of(text)
    search = search_for(problem, allowed)
    found = search.refine(screen(search.task, search.form))
    if found.nodes == math.inf:
        return False
    graph = search.graph(found)
    words = quantities(problem, search.task.demand.input_bits)
    arrays = problem.draw(20_000, 77)
    exact = numpys(problem, text, arrays)
    assert np.allclose(problem.reference(*arrays)[:, 0], exact, rtol=1e-9, atol=1e-9)
    fresh = states_of(problem, words, problem.steps(8), arrays)
    assert agrees(word_logic(graph), graph, fresh.words)  # bit for bit
    centre = problem.outputs[0].range.centre
    made = output_values(graph, simulate(graph, fresh.words))[:, 0] * problem.steps(8)[0] + centre
    error = (made - exact) / problem.steps(8)[0]
    assert math.sqrt(float((error**2).mean())) < FRESH * allowed
    return True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_logic_of_a_random_function_is_its_word_graph_and_errs_as_demanded(seed: int) -> None:
    assert check(expression(random.Random(seed), 3), 0.8)  # noqa: S311 (no secrets)


@pytest.mark.check
def test_logic_of_many_random_functions_errs_as_demanded() -> None:
    found = [check(expression(random.Random(seed), 4), 0.8) for seed in range(100, 125)]  # noqa: S311 (no secrets)
    assert sum(found) >= USUALLY * len(found)


@pytest.mark.slow
def test_logic_of_functions_that_jump_is_their_word_graph() -> None:
    found = [
        check(expression(random.Random(seed), 2, SMOOTH + 3 * JUMPING), 12.0)  # noqa: S311 (no secrets)
        for seed in range(20, 26)
    ]
    assert any(found)


@pytest.mark.check
def test_errors_are_usually_predicted_before_anything_is_simulated() -> None:
    ratios = []
    for seed in range(200, 225):
        search = search_for(function_of(expression(random.Random(seed), 3)), 0.8)  # noqa: S311 (no secrets)
        choice = screen(search.task, search.form)
        errors = measure(search.graph(choice), search.states)
        ratios.append(float(errors.rms[0] / np.sqrt(search.noise(choice)[1][0])))
    within = [1 / WITHIN < ratio < WITHIN for ratio in ratios]
    assert sum(within) >= USUALLY * len(within), sorted(ratios)


@pytest.mark.check
def test_a_function_of_python_runs_as_logic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 1_000_000)

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
        worst = program.errors[name].worst_found
        assert worst is not None
        assert np.abs(error).max() <= worst + 1e-9


def test_what_cannot_be_reached_is_a_sentence_and_no_search_for_ever() -> None:
    compiled = partial(bc.compile, inputs={"x": bc.word(-1, 1, bits=4)}, outputs=["u"], bits=8)
    with pytest.raises(BoolcompError, match="inputs of 4 bits and rounding alone make"):
        compiled(lambda x: bc.sqrt(x + 1.5), rms_error=0.4)
