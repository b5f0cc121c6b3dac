"""Tight bounds of sums whose inputs meet several functions of an angle, beside all words.

The oracle runs the graph on every word, and the function, as it was written, at all corners.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.compact.assembly import Ends
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.result.explained import explained
from boolcomp.pipeline import COMPACT, TipLoad, run
from boolcomp.problem.written.functionfile import parse_function
from boolcomp.proof.bound import states
from boolcomp.proof.bound.envelope_kernels import add_product
from boolcomp.proof.bound.graded import graded_bounds
from boolcomp.proof.bound.leaves import NEVER, WorstLeaf, by_remainder
from boolcomp.proof.bound.plain import Forward, plain_bounds
from boolcomp.proof.bound.sweep import Sweep, ancestors
from boolcomp.proof.bound.tight import Output
from boolcomp.words.graph import Lookup, WordGraph
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from boolcomp.compact.result.compact import Compact

    Floats = NDArray[np.float64]

BETWEEN = 1e-5  # steps: what the worst cells, looked at with every word, leave open
HEADER = """\
name = "sums"
[inputs.q]
angle = true
range = [-3.141592653589793, 3.141592653589793]
[inputs.x]
range = [-1, 1]
[inputs.y]
range = [-1, 1]
[inputs.z]
range = [-1, 1]
[outputs.out]
expression = "{}"
"""
FUNCTIONS = {
    "two functions": "x * y * cos(q) + 0.8 * x * x * sin(2 * q) + 0.5 * z * sin(q)",
    "a sum of its own": "z * (0.9 * y * cos(q) + 0.7 * x * sin(q)) + 0.6 * y * y * sin(2 * q)",
    "a sum, and what it is multiplied by": (
        "x * (0.9 * y * cos(q) + 0.7 * z * sin(q)) + 0.6 * y * y * sin(2 * q)"
        " + 0.5 * z * y * cos(q) + 0.3 * x * x * sin(q)"
    ),
    "a sum with a part of the angle alone": (
        "z * (0.9 * y * cos(q) + 0.7 * x * sin(q) + 0.4 * cos(2 * q)) + 0.6 * y * x * sin(2 * q)"
    ),
}
BENT = {
    "an angle that bends": "0.9 * cos(q) + 0.5 * sin(q) + 0.3 * x",
    "an input that bends": "0.9 * y * y + 0.1 * y + 0.3 * x * cos(q)",
}


@cache
def made(name: str, bits: int = 4) -> Compact:
    """Return a small graph, made with no effort; no network is made of it."""
    with TemporaryDirectory() as folder:
        choices = CompactChoices(
            replace(usual_demand(bits), effort=0.0), Path(folder), also_shipped=False
        )
        source = parse_function(HEADER.format({**FUNCTIONS, **BENT}[name]))
        found: list[tuple[object, Compact]] = run(COMPACT, [TipLoad(source)], [choices], "graph")
    return found[0][1]


def written(name: str) -> Callable[..., Floats]:
    """Return the function as it is written."""
    code = compile({**FUNCTIONS, **BENT}[name], name, "eval")
    return lambda **at: eval(code, {"sin": np.sin, "cos": np.cos}, at)  # noqa: S307 (written above)


def exhaustive(name: str, graph: WordGraph, step: float, parts: int = 1) -> tuple[float, float]:
    """Return the largest and the least error of all words, at all corners of parts of their cells.

    In parts are cut the cells of q and y.
    """
    names = ["q", "x", "y", "z"]
    counts: dict[str, int] = {node.name: 1 << node.bits for node in graph.inputs}
    sizes = [math.pi, 1, 1, 1]
    cells = [counts.get(n, 1) for n in names]
    cut = [parts, 1, parts, 1]
    ends = [np.linspace(-s, s, k * p + 1) for s, k, p in zip(sizes, cells, cut, strict=True)]
    exact = written(name)(**dict(zip(names, np.meshgrid(*ends, indexing="ij"), strict=True)))
    words = np.meshgrid(*(np.arange(k) for k in cells), indexing="ij")
    given = {n: axis.reshape(-1) for n, axis in dict(zip(names, words, strict=True)).items()}
    found = simulate(graph, given)
    assert not found.wrapped
    said = found.words[:, 0] - (2.0 ** (graph.results[0].bits - 1) - 0.5)
    said = said.reshape(words[0].shape)
    high, low = -math.inf, math.inf
    for corner in product(*(range(p + 1) for p in cut)):
        at = tuple(
            slice(k, k + (size - 1) * p + 1, p)
            for k, size, p in zip(corner, cells, cut, strict=True)
        )
        error = said - exact[at] / step
        high, low = max(high, float(error.max())), min(low, float(error.min()))
    return high, low


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_bound_is_the_worst_of_all_words_and_corners_but_for_the_remainder(name: str) -> None:
    compact = made(name)
    said = explained(compact, Ends())
    (plain,), (bound,) = plain_bounds(said).outputs, graded_bounds(said, "tight").outputs
    high, low = exhaustive(name, compact.graph, bound.step)
    assert bound.grade == "tight"
    assert high <= float(bound.high) <= high + bound.remainder + BETWEEN
    assert low - bound.remainder - BETWEEN <= float(bound.low) <= low
    assert max(bound.high, -bound.low) < max(plain.high, -plain.low)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [
    ("two functions", 1.12), ("a sum of its own", 1.25),
    ("a sum, and what it is multiplied by", 1.28), ("a sum with a part of the angle alone", 1.15),
])  # fmt: skip
def test_so_it_is_by_tables_alone_though_not_as_closely(
    name: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "LARGEST_KEPT", 0)
    compact = made(name)
    (bound,) = graded_bounds(explained(compact, Ends()), "tight").outputs
    high, low = exhaustive(name, compact.graph, bound.step)
    assert high + bound.remainder <= float(bound.high) <= most * high
    assert most * low <= float(bound.low) <= low - bound.remainder


def mutants(graph: WordGraph, count: int) -> Iterator[WordGraph]:
    """Yield graphs of which a table has another entry, so that another cell is the worst."""
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            for k in range(0, len(node.entries), len(node.entries) // count):
                worse = (node.entries[k] + (1 << node.bits) // 2) % (1 << node.bits)
                entries = (*node.entries[:k], worse, *node.entries[k + 1 :])
                nodes = (*graph.nodes[:place], replace(node, entries=entries))
                yield WordGraph((*nodes, *graph.nodes[place + 1 :]), graph.scales, graph.results)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [
    ("an angle that bends", 5), ("an input that bends", 5),
])  # fmt: skip
def test_what_is_worst_within_a_cell_is_below_the_bound_and_not_by_far(
    name: str, count: int
) -> None:
    compact = made(name)
    inside = []
    for graph in [compact.graph, *mutants(compact.graph, count)]:
        (bound,) = graded_bounds(explained(replace(compact, graph=graph), Ends()), "tight").outputs
        corners, ends = (exhaustive(name, graph, bound.step, k) for k in (1, 4))
        assert ends[0] <= float(bound.high) <= ends[0] + bound.remainder + BETWEEN
        assert ends[1] - bound.remainder - BETWEEN <= float(bound.low) <= ends[1]
        inside.append(corners != ends)
    if name.startswith("an angle"):
        assert any(inside)  # the worst of some is at no corner


def test_a_product_is_taken_for_its_worst_between_both_ends_of_what_its_sum_errs_by() -> None:
    grid = np.arange(-40, 41, 10)
    high = np.abs(grid + 7)[None, None] * 1000  # convex, and concave below
    low = -np.abs(grid - 12)[None, None] * 1000
    one = np.zeros((1, 1), np.int64)
    for least, most in product(range(-40, 41, 9), repeat=2):
        if least <= most:
            up, down = one.copy(), one.copy()
            ends = one + least, one + most
            add_product(up, down, one, one, *ends, -40, 10, high, low)
            within = np.arange(least, most + 1)
            assert up[0, 0] >= (np.abs(within + 7) * 1000).max()
            assert down[0, 0] <= (-np.abs(within - 12) * 1000).min()
            assert up[0, 0] <= 1000 * max(np.interp(k, grid, np.abs(grid + 7)) for k in within) + 50


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("side", [0, 1])
def test_at_all_states_of_a_cell_errors_are_the_largest_of_all_corners(
    side: int, sign: int
) -> None:
    compact = made("two functions")
    output = Output(Forward(explained(compact, Ends())), 0, 10**9)
    whole = Sweep(output.graph, tuple(output.angles), output.scale)
    (joint,) = output.joints
    group = states.States(output.grouping, joint, whole)
    block, word = [np.array([37])], 37
    said = group.said(whole.values(block, ancestors(output.graph, group.turning)))
    found = group.errors(said, block, (side,), sign) / 2.0**output.scale
    bits = {node.name: node.bits for node in output.graph.inputs}
    q = -math.pi + 2 * math.pi * (word + side) / (1 << bits["q"])
    x, y = (np.linspace(-1, 1, (1 << bits[n]) + 1) for n in ("x", "y"))
    exact = x[:, None] * y * math.cos(q) + 0.8 * x[:, None] ** 2 * math.sin(2 * q)
    exact /= compact.problem.steps(compact.demand.bits)[0]
    nodes = {node.name: k for k, node in enumerate(output.graph.inputs)}
    order = np.lexsort((group.inputs[nodes["y"]], group.inputs[nodes["x"]]))  # x, and y after it
    put = (said / 2.0**output.scale)[order].reshape(len(x) - 1, len(y) - 1)
    corners = [sign * (put - exact[i : i + len(x) - 1, j : j + len(y) - 1])
               for i, j in product((0, 1), repeat=2)]  # fmt: skip
    largest = np.maximum.reduce(corners).reshape(-1)
    assert found[order] == pytest.approx(largest, abs=1e-6)


def test_the_worst_cells_are_lowered_by_just_what_is_said_and_the_others_kept() -> None:
    errors = np.random.default_rng(3).integers(0, 1000, 300)
    worst = WorstLeaf(100)
    for start in range(0, 300, 50):
        worst.offer(errors[start : start + 50], start, (0,))
    assert worst.largest == errors.max()
    worst.improve(lambda cells, _: (cells % 7 + 1) * 10)
    kept = np.argsort(-errors, kind="stable")[:100]
    lowered = errors - np.where(np.isin(np.arange(300), kept), (np.arange(300) % 7 + 1) * 10, 0)
    assert worst.largest == lowered.max()


def test_what_puts_the_same_into_the_heap_at_all_states_has_one_remainder() -> None:
    assert by_remainder(np.array([1, 3, 2]), np.array([1]), 2).tolist() == [NEVER, 3]
