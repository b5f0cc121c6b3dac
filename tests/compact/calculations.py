"""Problems of calculations on a tape, and their sketches: what several tests of them share."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.compact import DIRECT, SearchTask, direct_sketch, quantities, screen, search_of
from boolcomp.problem import Group, Input, Interval, Output, Problem, Tape, with_exact_words
from boolcomp.terms import split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact import Candidate, Demand, Search, Sketch
    from boolcomp.problem import Straight

    Floats = NDArray[np.float64]

PI = math.pi
X, Y, Z = ("x", -1.0, 1.0, False), ("y", 0.5, 2.0, False), ("z", -0.75, 1.25, False)
Q, R = ("q", -PI, PI, True), ("r", -PI, PI, True)


def reference(steps: Straight, names: Sequence[str], *arrays: Floats) -> Floats:
    """Return the outputs of steps at the arrays of lone groups."""
    columns = {name: array[:, 0] for name, array in zip(names, arrays, strict=True)}
    return np.stack(steps.evaluate([columns[name] for name in steps.inputs]), axis=1)


def problem_of(
    words: Sequence[tuple[str, float, float, bool]],
    function: Callable[..., Any],
    ranges: Sequence[tuple[float, float]] = ((-4.0, 4.0),),
) -> Problem:
    """Return the problem of a function over a tape."""
    tape = Tape()
    made = function(tape, *(tape.input(name) for name, *_ in words))
    wires = made if isinstance(made, tuple) else (made,)
    outputs = tuple(Output(f"u{k}", f"U{k}", Interval(*ends), "") for k, ends in enumerate(ranges))
    steps = tape.finish([(one.name, wire) for one, wire in zip(outputs, wires, strict=True)])
    inputs = tuple(
        Input(name, Interval(low, high), "", Interval(low, high), Interval(low, high), angle, angle)
        for name, low, high, angle in words
    )
    names = tuple(one.name for one in inputs)
    return Problem(
        "made", f"{inputs}{outputs}{steps}", inputs, outputs,
        tuple(Group(name, (name,)) for name in names),
        Group("u", tuple(one.name for one in outputs)),
        partial(reference, steps, names), lambda: steps,
    )  # fmt: skip


def sketch_of(problem: Problem, bits: int = 10) -> Sketch:
    """Return its sketch, with outputs in steps of 8 bits."""
    steps = split(problem).steps
    assert steps is not None
    words = quantities(problem, {one.name: bits for one in problem.inputs})
    return direct_sketch(problem, steps, words, problem.steps(8))


def search_for(problem: Problem, demand: Demand, rms: float, largest: float = math.inf) -> Search:
    """Return the search for widths that err by no more than an rms and a largest error."""
    terms = split(problem)
    asked = demand.completed(problem)
    task = SearchTask(terms, asked, np.array([rms**2]), np.array([largest]))
    return search_of(task, 0 if terms.steps is None else DIRECT)


def first_choice(search: Search) -> Candidate:
    """Return the widths that the model chooses before anything is simulated."""
    return screen(search.task, search.form)


def logarithm(bits: int, *, exact: bool = True) -> Problem:
    """Return the problem of log2(1 + x), its words exact."""
    problem = problem_of(
        [("x", 0.0, 1.0, False)],
        lambda t, x: t.function("log", x + 1.0) * (1 / math.log(2)),
        [(0.0, 1.0)],
    )
    return with_exact_words(problem, {"x": bits}) if exact else problem
