"""Tight bounds: beside all words and corners there are, and beside what climbing finds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.result.explained import explained
from boolcomp.pipeline import compile_compact
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.graded import graded_bounds
from boolcomp.proof.bound.plain import Forward, plain_bounds
from boolcomp.proof.bound.result import EFFORT
from boolcomp.proof.bound.tight import Output
from boolcomp.words.graph import Lookup, WordGraph
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.result.built import Built
    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

BETWEEN = 0.005  # LSB: between points of a grid tables are a little higher


@cache
def built_of(name: str, bits: int) -> Built:
    """Return a result that ships."""
    demand = usual_demand(bits)
    if name != "machado-2r":
        demand = replace(demand, rms=(0.505,))
    return compile_compact(name, CompactChoices(demand)).built[0]


def _exact(problem: Problem, axes: Mapping[str, Floats], steps: Floats) -> Floats:
    """Return the exact outputs on a grid, in steps: (…, output), by axes in the inputs' order."""
    grid = np.meshgrid(*(axes[one.name] for one in problem.inputs), indexing="ij")
    states = np.stack([axis.reshape(-1) for axis in grid], axis=1)
    return np.asarray((problem.exact(states) / steps).reshape(*grid[0].shape, -1), np.float64)


def exhaustive(built: Built) -> tuple[Floats, Floats]:
    """Return the largest and least errors of all words, at all corners of cells.

    Newton-Euler says what is exact: linear in accelerations, and over speeds looked at on a grid,
    because the 2R at 4 bits reads none.
    """
    compact, problem = built.compact, built.compact.problem
    graph, asked = compact.graph, compact.asked_words
    count = {node.name: 1 << node.bits for node in graph.inputs}
    ends = {n: np.linspace(asked[n].range.low, asked[n].range.high, k + 1)
            for n, k in count.items()}  # fmt: skip
    steps = np.array(problem.steps(compact.demand.bits))
    none, one = np.zeros(1), np.arange(2.0)
    angles = {"q1": ends["q1"], "q2": ends["q2"]}
    speeds = {n: np.linspace(asked[n].range.low, asked[n].range.high, 17) for n in ("qd1", "qd2")}
    moved = _exact(problem, {**angles, **speeds, "qdd1": none, "qdd2": none}, steps)[..., 0, 0, :]
    most, least = moved.max(axis=(2, 3)), moved.min(axis=(2, 3))
    mass = _exact(problem, {**angles, "qd1": none, "qd2": none, "qdd1": one, "qdd2": one}, steps)
    rest = mass[:, :, 0, 0, 0, 0]
    slopes = mass[:, :, 0, 0, 1, 0] - rest, mass[:, :, 0, 0, 0, 1] - rest
    words = {n: np.arange(k) for n, k in count.items()}
    halves = np.array([2.0 ** (result.bits - 1) - 0.5 for result in graph.results])
    high, low = np.full(2, -np.inf), np.full(2, np.inf)
    for k in words["q1"]:
        grid = np.meshgrid([k], words["q2"], words["qdd1"], words["qdd2"], indexing="ij")
        given = dict(zip(("q1", "q2", "qdd1", "qdd2"), (g.reshape(-1) for g in grid), strict=True))
        said = simulate(graph, given).words - halves + np.array(built.ends.shifts)
        said = said.reshape(len(words["q2"]), len(words["qdd1"]), len(words["qdd2"]), 2)
        for i, j, a, b in product((0, 1), repeat=4):
            at = slice(j, j + len(words["q2"]))
            first = slopes[0][k + i, at, None, :] * ends["qdd1"][a : a - 1 or None, None][None]
            second = slopes[1][k + i, at, None, :] * ends["qdd2"][b : b - 1 or None, None][None]
            left = said - first[:, :, None, :] - second[:, None, :, :]
            high = np.maximum(high, (left.max(axis=(1, 2)) - least[k + i, at]).max(axis=0))
            low = np.minimum(low, (left.min(axis=(1, 2)) - most[k + i, at]).min(axis=0))
    return high, low


@pytest.mark.check
def test_at_four_bits_the_bound_is_the_worst_of_all_words_and_corners() -> None:
    built = built_of("machado-2r", 4)
    bounds = graded_bounds(explained(built.compact, built.ends), "tight")
    high, low = exhaustive(built)
    for k, bound in enumerate(bounds.outputs):
        assert bound.grade == "tight"
        assert bound.remainder < 0.06
        assert high[k] <= float(bound.high) <= high[k] + bound.remainder + BETWEEN
        assert low[k] - bound.remainder - BETWEEN <= float(bound.low) <= low[k]


@pytest.mark.parametrize(("name", "bits", "most"), [
    ("machado-2r", 5, 1.01), ("machado-2r", 7, 1.01),
    pytest.param("machado-2r", 8, 1.01, marks=pytest.mark.check),
    pytest.param("elbow-3r", 8, 1.05, marks=pytest.mark.check),
])  # fmt: skip
def test_a_tight_bound_is_above_what_climbing_finds_and_below_the_plain_one(
    name: str, bits: int, most: float
) -> None:
    built = built_of(name, bits)
    said = explained(built.compact, built.ends)
    tight, plain = graded_bounds(said, "tight"), plain_bounds(said)
    for one, other, (up, down) in zip(
        tight.outputs, plain.outputs, built.worst.errors, strict=True
    ):
        assert one.grade == "tight"
        assert other.low <= one.low <= one.high <= other.high
        assert up <= float(one.high)
        assert float(one.low) <= down
    assert (np.array(tight.steps) <= most * built.worst.most).all()


def test_with_too_little_effort_cells_are_not_enumerated() -> None:
    built = built_of("machado-2r", 7)
    said = explained(built.compact, built.ends)
    with pytest.raises(NotPlainError):
        Output(Forward(said), 0, 0).ends()


def test_cells_of_more_angles_are_not_enumerated() -> None:
    built = built_of("planar-3r", 8)
    said = explained(built.compact, built.ends)
    with pytest.raises(NotPlainError):
        Output(Forward(said), 0, EFFORT * 1_000_000)


@pytest.mark.check
def test_a_table_whose_entries_have_another_first_bit_shows_in_the_tight_bound() -> None:
    built = built_of("machado-2r", 7)
    graph = built.compact.graph
    before = graded_bounds(explained(built.compact, built.ends), "tight").steps
    tables = [place for place, node in enumerate(graph.nodes) if isinstance(node, Lookup)]
    for place in tables:
        node = graph.nodes[place]
        assert isinstance(node, Lookup)
        half = 1 << node.bits >> 1
        mutant = replace(node, entries=tuple(half ^ entry for entry in node.entries))
        nodes = (*graph.nodes[:place], mutant, *graph.nodes[place + 1 :])
        other = replace(built.compact, graph=WordGraph(nodes, graph.scales, graph.results))
        assert graded_bounds(explained(other, built.ends), "tight").steps != before, place
    assert len(tables) > 4
