"""Small robots, calculations on a tape, states and widths that the tests of words share."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from samples import problem_of, random_robot

from boolcomp.base.workers import Workers
from boolcomp.compact.demand import Demand, Listener, ignore_progress
from boolcomp.compact.errors import Sampling, StateMaker, States, measure_many
from boolcomp.compact.limits import DIRECT
from boolcomp.compact.noise import Model
from boolcomp.compact.passes import CompactChoices, build, graph
from boolcomp.compact.passes import search_for as widths_for
from boolcomp.compact.realisation import realise
from boolcomp.compact.search import Descent, SearchTask, choose_widths, search_of
from boolcomp.compact.sketch import (
    AngleSum,
    Powers,
    Quantity,
    Role,
    Sketch,
    Waves,
    WidthVariable,
    WordSum,
    quantities,
)
from boolcomp.compact.sketch_steps import direct_sketch
from boolcomp.compact.sketch_terms import Formulation, build_sketch
from boolcomp.compact.widths import Checkpoint, Ledger
from boolcomp.problem.problem import Group, Problem, with_exact_words
from boolcomp.problem.tape import Tape
from boolcomp.problem.words import Input, Interval, Output
from boolcomp.terms.extract import split
from boolcomp.terms.extrema import output_amplitudes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.compact.errors import Errors
    from boolcomp.compact.result import Built, Compact
    from boolcomp.compact.search import SampledForm
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.tape import Straight
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]


TEN = {"q": 10, "qd": 10, "qdd": 10}


@contextmanager
def fewer_states(fresh: int, **more: int) -> Iterator[None]:
    """Let searches look at few states; `more` are constants of `approximate.py`."""
    few = {"widths.SEEN": 20_000, "passes.FRESH_SAMPLES": fresh, "errors.EVALUATIONS": 40_000,
           "errors.CHECKED": 40_000, "widths.EVALUATIONS": 40_000,
           "widths.CLIMBED": 40_000}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, count in (few | {f"approximate.{key}": k for key, k in more.items()}).items():
            patch.setattr(f"boolcomp.compact.{name}", count)
        yield


@dataclass(frozen=True, slots=True)
class Case:
    """A problem at a word length, its sketch, and how its states are drawn."""

    problem: Problem
    steps: list[float]
    words: dict[str, Quantity]
    sketch: Sketch

    @property
    def maker(self) -> StateMaker:
        return StateMaker(self.problem, self.words, self.steps)

    def states(self, count: int, seed: int) -> States:
        return self.maker.draw(count, seed)

    def corners(self, count: int, seed: int) -> States:
        return self.maker.corners(count, seed)

    def model(self) -> Model:
        return Model(self.sketch, self.states(1000, 1).values, self.corners(4000, 2).values)

    def graph(self, allowed: float, *, saturate: bool = False, bits: int = 6) -> WordGraph:
        """Return a graph whose predicted variance is as allowed."""
        model = self.model()
        variances = np.full(len(self.steps), allowed)
        widths, _ = choose_widths(model, variances)
        count = len(self.steps)
        return realise(
            self.sketch, widths, model.statistics, [bits] * count, [0.0] * count,
            saturating=[saturate] * count,
        )  # fmt: skip

    def finest(self, states: States) -> WordGraph:
        """Return a graph in which nothing but the inputs is rounded."""
        widths, count = (
            finest_widths(self.sketch, self.sketch.evaluate(states.values)),
            len(self.steps),
        )
        return realise(self.sketch, widths, self.model().statistics, [9] * count, [0.0] * count)

    def chosen(self, allowed: float) -> Descent:
        model = self.model()
        variances = np.full(len(self.steps), allowed)
        widths, _ = choose_widths(model, variances)
        return Descent(model, widths, variances)


@cache
def small_robot(seed: int, joints: int) -> Robot:
    """Return a random arm whose torque ranges are what it needs, as a user would choose them."""
    robot = random_robot(seed, joints)
    links = []
    for link, most in zip(robot.links, output_amplitudes(problem_of(robot)), strict=True):
        reach = float(np.ceil(most))
        links.append(replace(link, torque=Interval(-reach, reach)))
    return replace(robot, links=tuple(links))


def case(
    robot: Robot | str,
    bits: int = 6,
    input_bits: Mapping[str, int] | None = None,
    form: Formulation | None = None,
) -> Case:
    problem = problem_of(robot)
    steps = problem.steps(bits)
    widths = dict(input_bits or TEN)
    sketch = build_sketch(split(problem), widths, steps, form)
    return Case(problem, steps, quantities(problem, widths), sketch)


def finest_widths(sketch: Sketch, exact: list[NDArray[np.float64]]) -> dict[WidthVariable, int]:
    """Return widths with which nothing but inputs is rounded; `exact` are all nodes' values."""
    widths = {}
    for place, node in enumerate(sketch.nodes):
        size = int(np.floor(np.log2(np.abs(exact[place]).max() + 1e-30)))
        if isinstance(node, AngleSum):
            widths[Role.ANGLE_BITS.of(place)] = 16
        elif isinstance(node, (Waves, Powers)):
            widths[Role.READ.of(place)], widths[Role.EXPONENT.of(place)] = (16, size - 20)
        elif isinstance(node, WordSum):
            widths[Role.CUT.of(place)] = -14 if place in sketch.outputs else size - 20
    return widths


def searched(
    terms: Terms,
    demand: Demand,
    progress: Listener = ignore_progress,
    checkpoint: Checkpoint | None = None,
    processes: int = 1,
) -> Compact:
    """Return what the passes from the sketch to the graph make of terms."""
    asked = demand.completed(terms.problem)
    ledger = Ledger(demand.effort, progress, checkpoint, Workers.of(processes))
    found = widths_for(terms, asked, ledger).screen().refine().improve()
    made = graph(found, CompactChoices(asked))
    assert isinstance(made, tuple)
    return made[1]


def built_of(terms: Terms, demand: Demand, store: Path | None = None, **choices: Any) -> Built:
    """Return what all passes of compact mode make of terms."""
    return build(terms, CompactChoices(demand, store, **choices))


def measured(compact: Compact, count: int, seed: int) -> Errors:
    """Return the errors of a graph on states that its search has not seen."""
    asked = compact.demand
    return measure_many(
        Sampling(compact.problem, asked.input_bits, asked.bits, count, seed), compact.graph
    )


PI = math.pi
X, Y, Z = ("x", -1.0, 1.0, False), ("y", 0.5, 2.0, False), ("z", -0.75, 1.25, False)
Q, R = ("q", -PI, PI, True), ("r", -PI, PI, True)


def reference(steps: Straight, names: Sequence[str], *arrays: Floats) -> Floats:
    """Return the outputs of steps at the arrays of lone groups."""
    columns = {name: array[:, 0] for name, array in zip(names, arrays, strict=True)}
    return np.stack(steps.evaluate([columns[name] for name in steps.inputs]), axis=1)


def tape_problem(
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


def search_for(
    problem: Problem, demand: Demand, rms: float, largest: float = math.inf
) -> SampledForm:
    """Return the search for widths that err by no more than an rms and a largest error."""
    terms = split(problem)
    asked = demand.completed(problem)
    task = SearchTask(terms, asked, np.array([rms**2]), np.array([largest]))
    return search_of(task, 0 if terms.steps is None else DIRECT)


def logarithm(bits: int, *, exact: bool = True) -> Problem:
    """Return the problem of log2(1 + x), its words exact."""
    problem = tape_problem(
        [("x", 0.0, 1.0, False)],
        lambda t, x: t.function("log", x + 1.0) * (1 / math.log(2)),
        [(0.0, 1.0)],
    )
    return with_exact_words(problem, {"x": bits}) if exact else problem
