"""Bounds over all cells of any function, beside every word and both sides of borders."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from shippedarms import made as small_graph

import boolcomp as bc
from boolcomp.base.errors import DataError
from boolcomp.compact.errors import word_value
from boolcomp.compact.network import WordEnds, program_of_graph, word_logic
from boolcomp.compact.realisation import NodeWords
from boolcomp.compact.result import bounds_of, sketched
from boolcomp.compact.sketch import Sketch, SourceWord, WordSum
from boolcomp.problem.function_files import parse_function
from boolcomp.problem.problem import with_words
from boolcomp.problem.words import formats
from boolcomp.proof.bound import balls
from boolcomp.proof.bound.balls import between, precise
from boolcomp.proof.bound.bounds import NotPlainError
from boolcomp.proof.bound.cells import cell_bounds, cells_of
from boolcomp.proof.bound.graded import graded_bounds
from boolcomp.proof.bound.plain import beyond_ends, plain_bounds
from boolcomp.proof.bound.sketched import DecodedOutput, InputRange, SketchedGraph
from boolcomp.proof.worst import subject_of
from boolcomp.words.graph import Bits, Heap, InputWord, Lookup, OutputWord, Scale, WordGraph

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.compact.result import Compact
    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]
    Function = Callable[[Any, Any], Any]
    Whole = NDArray[np.int64]


FUNCTIONS: dict[str, Function] = {
    "root": lambda x, y: bc.sqrt(x * x + y * y),
    "angle": lambda x, y: bc.atan2(y, x),
    "sign": lambda x, y: y * bc.sign(x - 0.3 * y) + 0.4,
    "quotient": lambda x, y: 1 / (1.6 + x * y),
    "clip": lambda x, y: bc.clip(2 * x + y, -1, 1),
    "logarithm": lambda x, y: bc.log(1.2 + x) * y,
    "exponential": lambda x, y: bc.exp(x) * bc.tanh(3 * y),
    "arcs": lambda x, y: bc.asin(0.7 * x) - bc.acos(0.6 * y),
    "wrap": lambda x, y: bc.wrap(4 * x + y),
    "size": lambda x, y: bc.abs(x - y) * bc.atan(5 * x),
    "waves": lambda x, y: bc.sin(3 * x) * bc.cos(2 * y) - x,
    "larger": lambda x, y: bc.maximum(x * y, 0.2 - x),
    "step": lambda x, y: bc.where_positive(x, y, 0.5),
}


def problem_of(function: Function, ranges: list[tuple[float, float]], centre: float) -> Problem:
    """Return a function of two words, given by the steps that were recorded."""
    words = {name: bc.word(*ends, bits=4) for name, ends in zip("xy", ranges, strict=True)}
    made = bc.function_problem(function, words, {"u": bc.word(centre - 4, centre + 4)})
    steps = made.recorded
    assert steps is not None
    return replace(made, form=lambda: steps)


DROP, BITS, SHIFT = 2, 5, 0.25  # of the output
TIE = 1e-9  # of a cell, below it


def random_graph(rng: np.random.Generator, bits: tuple[int, int]) -> tuple[WordGraph, Any]:
    """Return a graph of two inputs that adds up entries of two tables, and these."""
    entries = [tuple(int(k) for k in rng.integers(0, 60, 1 << n)) for n in bits]
    nodes = (
        InputWord("x", bits[0], angle=False),
        InputWord("y", bits[1], angle=False),
        Lookup(0, bits[0], entries[0], 6),
        Lookup(1, bits[1], entries[1], 6),
        Heap((Bits(2, 0, 0, negative=False), Bits(3, 0, 0, negative=False)), 1, 7),
    )
    scales = (Scale(1, 0.0), Scale(0, 0.0), Scale(-2, 0.0), Scale(-2, 0.0), Scale(-2, 0.0))
    return WordGraph(nodes, scales, (OutputWord(4, DROP, BITS),)), entries


class Case:
    """A random graph beside a function, x in cells of two, y within stops, and an odd unit."""

    def __init__(self, name: str, seed: int, bits: tuple[int, int] = (3, 2)) -> None:
        rng = np.random.default_rng(seed)
        self.graph, self.entries = random_graph(rng, bits)
        self.units = [2.0 / (2 << bits[0]), 2.0 / (1 << bits[1])]
        self.bits = bits[0] + 1, bits[1]
        self.ranges = [(-1.0, 1.0), (-0.8, 0.95)]
        self.step = 0.1 + 0.2 * rng.random()
        self.problem = problem_of(FUNCTIONS[name], self.ranges, float(rng.uniform(-0.3, 0.3)))
        self.centre = self.problem.outputs[0].range.centre
        self.steps: Any = self.problem.recorded

    def sketched(self) -> SketchedGraph:
        """Return it as bounds take it, with a sketch of its inputs alone."""
        words = zip("xy", self.bits, self.ranges, self.units, strict=True)
        x, y = (
            InputRange(
                SourceWord(name, bits, angle=False),
                between(Fraction(low) / Fraction(unit), Fraction(high) / Fraction(unit)),
                0.0, unit,
            )
            for name, bits, (low, high), unit in words
        )  # fmt: skip
        sketch, ranges = Sketch((x.node, y.node, WordSum((), 0.0)), (2,)), {0: x, 1: y}
        result = DecodedOutput("u", "", self.step, Fraction(SHIFT))
        places = NodeWords((0,)), NodeWords((1,)), NodeWords()
        return SketchedGraph(self.problem, sketch, self.graph, places, ranges, (result,))

    def worst(self, seed: int) -> tuple[float, float]:
        """Return the least and the largest error at places of all cells, in steps."""
        rng = np.random.default_rng(seed)
        low, high = np.inf, -np.inf
        half = 1 << BITS >> 1
        every = [self._places(k, rng) for k in range(2)]
        for (i, xs), (j, ys) in itertools.product(*every):
            total = self.entries[0][i] + self.entries[1][j] + 1
            said = min(max((total >> DROP), 0), (1 << BITS) - 1) - half + 0.5 + SHIFT
            x, y = (grid.reshape(-1) for grid in np.meshgrid(xs, ys))
            exact = (self.steps.evaluate([x, y])[0] - self.centre) / self.step
            errors = said - np.clip(exact, -half + SHIFT, half + SHIFT)
            low, high = min(low, float(errors.min())), max(high, float(errors.max()))
        return low, high

    def _places(self, k: int, rng: np.random.Generator) -> list[tuple[int, Floats]]:
        """Return every word of an input with places in its cell, both ends and a tie among them."""
        count = len(self.entries[k])
        width, (least, most) = 2.0 / count, self.ranges[k]
        found = []
        for word in range(count):
            one = -1.0 + word * width
            own = one + width * np.concatenate([[0.0, -0.9 * TIE, 1 - 1e-12], rng.random(9)])
            own = own[(own >= least) & (own <= most)]
            ends = [end for end in (least, most) if one <= end <= one + width]
            if len(own) + len(ends):
                found.append((word, np.concatenate([own, ends])))
        return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_bound_over_cells_holds_for_every_word_and_is_close(name: str) -> None:
    case = Case(name, sum(map(ord, name)))
    looked = cell_bounds(case.sketched(), 50)
    ((low, high),) = looked.ends
    least, most = case.worst(1)
    assert float(low) <= least + 1e-9
    assert float(high) >= most - 1e-9
    near = 0.02 * max(most, -least) + 0.1  # places are few
    assert least - near <= float(low)
    assert float(high) <= most + near
    assert looked.found[0] <= min(max(-float(low), float(high)), max(most, -least) + near)


def test_a_bound_over_cells_needs_no_proof_of_heaps() -> None:
    said = Case("root", 5).sketched()
    bounds = graded_bounds(said, "tight", 50)
    assert bounds.outputs[0].of_specification
    assert bounds.outputs[0].grade == "tight"
    assert bounds.unproved == ()
    assert beyond_ends(said, bounds) is bounds
    (ends,) = cell_bounds(said, 50).ends
    assert (bounds.outputs[0].low, bounds.outputs[0].high) == ends


def test_more_cells_than_effort_allows_are_refused() -> None:
    said = Case("root", 5).sketched()
    assert cells_of(said) == 32
    with pytest.raises(NotPlainError):
        cell_bounds(said, 0)


def file_of(inputs: dict[str, str], expression: str, low: float, high: float) -> str:
    """Return a function file of inputs, each with the lines that say what it is."""
    texts = ['name = "written"']
    for name, said in inputs.items():
        texts += [f"[inputs.{name}]", said]
    return "\n".join(
        [*texts, "[outputs.u]", f'expression = "{expression}"', f"range = [{low}, {high}]"]
    )


TURNS, SPANS = "angle = true\nbits = 6", "range = [-1, 1]\nbits = 6"
WRITTEN = {
    "an angle all around": file_of(
        {"q": TURNS, "x": "range = [0.2, 1]\nbits = 5"}, "x*sqrt(1.3 + cos(q) + x)", -1, 2
    ),
    "an angle with stops": file_of(
        {"q": f"{TURNS}\nrange = [-0.4, 1.3]", "x": SPANS}, "atan2(x, 1.2 + sin(q))", -1.5, 1.5
    ),
    "words with a cell at zero": file_of(
        {"x": SPANS, "y": SPANS}, "sqrt(0.1 + x*x + y*y) - 1", -0.9, 0.9
    ),
}


def states_at_borders(compact: Compact, rng: np.random.Generator) -> Floats:
    """Return random states of which many lie on borders of cells, and a tie below them."""
    columns = []
    for one in compact.problem.inputs:
        word, least, most = compact.specified_words[one.name], one.range.low, one.range.high
        step = (word.range.high - word.range.low) / (1 << word.bits)
        x = rng.uniform(least, most, 60_000)
        border = word.range.low + np.round((x - word.range.low) / step) * step
        side = rng.choice([0.0, -0.9 * TIE, -1e-7, 1e-7], len(x)) * step
        x = np.where(rng.random(len(x)) < 0.7, border + side, x)
        x = np.where(rng.random(len(x)) < 0.1, rng.choice([least, most], len(x)), x)
        columns.append(np.clip(x, least, most))
    return np.stack(columns, axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_bounds_over_cells_of_compiled_functions_are_close(name: str, tmp_path: Path) -> None:
    tread = [f"{word}=twos:tread" for word in ("x", "y", "u")] if "zero" in name else []
    problem = with_words(parse_function(WRITTEN[name]), formats("words", tread))
    compact, _ = small_graph(problem, tmp_path, 6, (1.5,))
    ends = WordEnds((0.25,))
    ((low, high),) = cell_bounds(sketched(compact, ends), 50).ends
    network = word_logic(compact.graph)
    program = program_of_graph(problem, compact.demand, compact.graph, network, ends)
    subject = subject_of(program, problem, engine="numpy")
    errors = subject.errors(states_at_borders(compact, np.random.default_rng(8)))
    assert float(low) - 1e-9 <= errors.min() <= float(low) + 0.3
    assert float(high) - 0.3 <= errors.max() <= float(high) + 1e-9
    size = max(-float(low), float(high))
    assert np.abs(errors).max() >= 0.93 * size


MIDDLES = {"a": 0.31, "b": -0.17, "c": 0.43, "d": -0.37, "e": 0.23, "f": -0.41}
SQUARES = " + ".join(f"({name} - {x})**2" for name, x in MIDDLES.items())


def peak(expression: str, low: float, high: float) -> Problem:
    """Return a function of six words."""
    return parse_function(file_of(dict.fromkeys(MIDDLES, "range = [-1, 1]"), expression, low, high))


@pytest.mark.slow
def test_a_bound_counts_a_curve_beyond_the_samples_of_its_sketch(tmp_path: Path) -> None:
    compact, ends = small_graph(peak(f"sqrt({SQUARES})", 0, 4), tmp_path, 5)
    said = sketched(compact, ends)
    plain = plain_bounds(said)
    found = beyond_ends(said, plain)
    words = compact.specified_words
    middles = {name: word_value(words[name], np.array([x])) for name, x in MIDDLES.items()}
    values = compact.sketch.evaluate(middles)
    (step,), (output,) = compact.problem.steps(5), compact.problem.outputs
    there = float(values[compact.sketch.outputs[0]][0])
    more = there - (0.0 - output.range.centre) / step
    assert more > 0.1  # samples never come near the middle
    assert float(found.outputs[0].high - plain.outputs[0].high) >= more - 1e-9
    assert found.outputs[0].low <= plain.outputs[0].low


@pytest.mark.slow
def test_a_curve_without_bounds_beyond_its_samples_has_no_bound(tmp_path: Path) -> None:
    compact, ends = small_graph(peak(f"reciprocal({SQUARES} + 0.02)", 0, 60), tmp_path, 5)
    said = sketched(compact, ends)
    with pytest.raises(DataError):
        beyond_ends(said, plain_bounds(said))
    assert bounds_of(said, "plain", 1) is None


# Elementary functions, values and slopes over boxes


def columns(rng: np.random.Generator) -> dict[str, Floats]:
    """Return arguments of elementary functions, near all ends."""
    near = np.concatenate([rng.uniform(-1, 1, 200), 1 - 10.0 ** rng.uniform(-16, 0, 80), [1.0]])
    near = np.concatenate([near, -near, [0.0]])
    turns = np.concatenate([rng.uniform(-9, 9, 200), rng.uniform(-(2**16), 2**16, 200)])
    return {
        "sin": turns,
        "cos": turns,
        "exp": np.concatenate([rng.uniform(-700, 700, 200), rng.uniform(-1, 1, 200)]),
        "log": np.concatenate([10.0 ** rng.uniform(-290, 290, 200), rng.uniform(0.3, 3, 200)]),
        "atan": np.concatenate([rng.standard_cauchy(300), [0.0, 1.0, 1e300]]),
        "asin": near,
        "acos": near,
        "tanh": np.concatenate([rng.uniform(-50, 50, 200), rng.uniform(-1, 1, 100)]),
    }


def test_elementary_functions_err_by_less_than_a_tenth_of_their_bound() -> None:
    ball = precise()
    ours = {"sin": balls.sine, "cos": balls.cosine, **balls.FUNCTIONS}
    for kind, column in columns(np.random.default_rng(5)).items():
        for x, found in zip(column, ours[kind](column), strict=True):
            exact = getattr(ball(float(x)), kind)()
            size = abs(float(exact)) + (kind != "exp")
            assert abs(float(exact - ball(float(found)))) <= balls.OFF / 10 * size, (kind, x)
