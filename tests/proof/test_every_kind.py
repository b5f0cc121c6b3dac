"""Bounds of small functions of every kind beside all their words, at all corners of their cells.

The oracle runs the graph on every word and evaluates the function as it is written, at the ends and
at inner points of every cell: what it finds is no more than the true worst, and no less than most
of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boolcomp.common.errors import BoolcompError
from boolcomp.common.workers import ALONE
from boolcomp.compact.assembly import Ends
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.result.explained import explained
from boolcomp.compact.result.proved import proved
from boolcomp.compact.widths import passes
from boolcomp.pipeline import COMPACT, TipLoad, run
from boolcomp.problem.wordformat import formats
from boolcomp.problem.written.functionfile import parse_function
from boolcomp.proof.bound.graded import graded_bounds
from boolcomp.proof.bound.result import GRADES, Bounds
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from boolcomp.compact.result.compact import Compact

SLACK = 1e-9  # of what doubles say
WITHIN = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a cell
EFFORT = 100  # of tight bounds: the least with which none is looser than one of tables
LITTLE = 2
TURN = (-math.pi, math.pi)


@pytest.fixture(autouse=True)
def few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the search look at few states: whether errors are as demanded is of no matter here."""
    monkeypatch.setattr(passes, "QUICK_SEEN", 1000)


@dataclass(frozen=True)
class Case:
    """Outputs as they are written, the ranges of their inputs, and how many bits inputs have."""

    outputs: tuple[str, ...]
    ranges: dict[str, tuple[float, float]]
    bits: int = 3
    out: int = 4
    within: tuple[float, float] | None = None
    rms: tuple[float, ...] = (4.0,)
    spans: dict[str, tuple[float, float]] = field(default_factory=dict)  # of words, if wider

    @property
    def text(self) -> str:
        """The function file."""
        lines = ['name = "small"']
        for name, (low, high) in self.ranges.items():
            lines += [f"[inputs.{name}]", f"range = [{low}, {high}]", f"bits = {self.bits}"]
            lines += ["angle = true"] * (name[0] == "q")
        for place, one in enumerate(self.outputs):
            lines += [f"[outputs.y{place}]", f'expression = "{one}"']
            if self.within:
                lines.append(f"range = [{self.within[0]}, {self.within[1]}]")
        return "\n".join(lines) + "\n"

    def made(self) -> Compact:
        """Return a graph, made with no effort and whatever errors; no network is made of it."""
        demand = replace(usual_demand(self.out), effort=0.0, rms=self.rms)
        with TemporaryDirectory() as folder:
            choices = CompactChoices(demand, Path(folder), also_shipped=False, workers=ALONE)
            asked = [f"{k}=natural:{self.bits}:{a}..{b}" for k, (a, b) in self.spans.items()]
            load = TipLoad(parse_function(self.text), words=formats("words", asked))
            found: list[tuple[object, Compact]] = run(COMPACT, [load], [choices], "graph")
        return found[0][1]

    def worst(self, compact: Compact) -> list[tuple[float, float]]:
        """Return the least and the largest error of every output, in steps, of all words."""
        count = 1 << self.bits
        names = list(self.ranges)
        grid = np.meshgrid(*([np.arange(count)] * len(names)), indexing="ij")
        cells = {name: axis.reshape(-1) for name, axis in zip(names, grid, strict=True)}
        asked = compact.asked_words
        read = {
            node.name: cells[node.name] >> (asked[node.name].bits - node.bits)
            for node in compact.graph.inputs
        }
        found = simulate(compact.graph, read or {"": np.zeros(1, np.int64)})
        assert not found.wrapped
        steps = compact.problem.steps(compact.demand.bits)
        low = np.full(len(self.outputs), math.inf)
        high = -low
        for part in product(WITHIN, repeat=len(names)):
            at = {
                name: a + (cells[name] + p) * (b - a) / count
                for p, (name, (a, b)) in zip(
                    part, {**self.ranges, **self.spans}.items(), strict=True
                )
            }
            ends = self.ranges.items()
            there = np.all([(lo <= at[name]) & (at[name] <= hi) for name, (lo, hi) in ends], axis=0)
            for k, (text, output) in enumerate(
                zip(self.outputs, compact.problem.outputs, strict=True)
            ):
                bits = compact.graph.results[k].bits
                said = (found.words[:, k] - (2.0 ** (bits - 1) - 0.5)) * steps[k]
                exact = _value(text, at) - output.range.centre
                most = (2.0 ** (bits - 1) - 0.5) * steps[k]
                error = ((said - np.clip(exact, -most, most)) / steps[k])[there]
                low[k], high[k] = min(low[k], error.min()), max(high[k], error.max())
        return list(zip(low.tolist(), high.tolist(), strict=True))


def _value(text: str, at: dict[str, np.ndarray]) -> np.ndarray:
    names = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "abs": np.abs, **at}
    found = eval(text, {"__builtins__": {}}, names)  # noqa: S307 (written here)
    return np.asarray(found + np.zeros_like(next(iter(at.values()))))


def held(case: Case, compact: Compact | None = None) -> dict[str, Bounds]:
    """Hold bounds of all grades against all words of a case, and of its graph; return them."""
    compact = compact or case.made()
    worst, said = case.worst(compact), explained(compact, Ends())
    found: dict[str, Bounds] = {one: graded_bounds(said, one, EFFORT) for one in GRADES}
    little = graded_bounds(said, "tight", LITTLE)
    shown = proved(compact, Ends(), {}, None, None)
    assert shown is not None
    for grade, bounds in {**found, "little": little, "shown": shown}.items():
        for one, (low, high) in zip(bounds.outputs, worst, strict=True):
            assert float(one.low) <= low + SLACK, (grade, one.name)
            assert high - SLACK <= float(one.high), (grade, one.name)
    for looser, tighter in pairwise(GRADES):
        pairs = zip(found[looser].outputs, found[tighter].outputs, strict=True)
        assert all(two.low >= one.low and two.high <= one.high for one, two in pairs)
    pairs = zip(found["plain"].outputs, little.outputs, strict=True)
    assert all(two.low >= one.low and two.high <= one.high for one, two in pairs)
    return found


KINDS = {
    "no angle": Case(("100 * x + 10 * x * y",), {"x": (-1, 3), "y": (0, 1)}, within=(-200, 400)),
    "no angle, wide words": Case(
        ("100 * x + 10 * x * y",), {"x": (-1, 3), "y": (0, 1)}, 7, 6, (-200, 400), ()
    ),
    "one input": Case(("x * x",), {"x": (-1, 1)}),
    "one input, linear": Case(("x",), {"x": (0, 1)}),
    "one angle, nothing linear": Case(("sin(q)",), {"q": TURN}),
    "part of a turn": Case(("sin(q)",), {"q": (-1, 0.5)}),
    "two angles, nothing linear": Case(("sin(q) * cos(q2)",), {"q": TURN, "q2": TURN}),
    "nearly a constant": Case(("0.25 + 0.000001 * x", "x"), {"x": (-1, 1)}, within=(-1, 1)),
    "an output that reads no angle": Case(("x * sin(q)", "x * x"), {"q": TURN, "x": (-1, 1)}),
    "words wider than ranges": Case(
        ("x * y + x",), {"x": (-1, 0.25), "y": (0.5, 1)}, spans={"x": (-2, 1), "y": (0, 3)}, bits=4
    ),
    "a root": Case(("sqrt(1 + x) + y",), {"x": (-0.5, 1), "y": (-1, 1)}),
    "a bend": Case(("abs(x)",), {"x": (-0.5, 1)}),
    "a sum": Case(("x + y + z",), {"x": (-0.5, 1), "y": (-1, 1), "z": (0, 2)}, 2),
    "a sum times a sum": Case(
        ("(x + 0.5 * y) * (z - y)",), {"x": (-1, 1), "y": (-1, 1), "z": (0, 2)}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_bounds_of_every_grade_hold_of_all_words(name: str) -> None:
    held(KINDS[name])


def test_a_tight_bound_without_angles_is_less_than_that_of_tables() -> None:
    found = held(KINDS["no angle, wide words"])
    steps = [found[grade].steps[0] for grade in GRADES]
    assert steps[2] < 0.8 * steps[1] < 0.8 * steps[0] + SLACK


FACTORS = st.sampled_from(["x", "y", "x * x", "x * y", "sin(q)", "cos(2 * q) * x", "1"])
TERMS = st.tuples(st.sampled_from(["0.5", "-1.25", "0.3", "0.0001"]), FACTORS)
RANGES = {"x": (-1.0, 2.0), "y": (0.0, 1.0), "q": TURN}


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.lists(st.lists(TERMS, min_size=1, max_size=3), min_size=1, max_size=2))
def test_bounds_of_random_sums_hold_of_all_words(outputs: list[list[tuple[str, str]]]) -> None:
    texts = tuple(" + ".join(f"({c}) * {f}" for c, f in terms) for terms in outputs)
    read = {name: ends for name, ends in RANGES.items() if any(name in one for one in texts)}
    case = Case(texts, read, within=(-8.0, 8.0))
    try:
        compact = case.made()
    except BoolcompError:  # a constant
        return
    held(case, compact)
