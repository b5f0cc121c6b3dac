"""Branch and bound over boxes: every enclosure holds what happens, and bounds all errors."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from limited import random_limited, with_ranges
from proof.explainedstates import drawn
from shippedarms import CURVED, made, shipped

from boolcomp.common.workers import TWO
from boolcomp.compact.assembly import Ends, program_of_graph
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.result.explained import explained
from boolcomp.problem.written.functionfile import parse_function
from boolcomp.proof.bound.box_kernels import evaluate
from boolcomp.proof.bound.boxes import Boxing
from boolcomp.proof.bound.branch_kernels import rounded
from boolcomp.proof.bound.graded import graded_bounds
from boolcomp.proof.bound.meaning import GivenWord, Total
from boolcomp.proof.bound.plain import Forward, plain_bounds
from boolcomp.proof.worst import find_worst, subject_of
from boolcomp.words.graph import Heap, Lookup, WordGraph
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.compact.result.compact import Compact
    from boolcomp.proof.bound.boxsteps import Boxed

    Whole = NDArray[np.int64]
    Floats = NDArray[np.float64]

SLACK = 1e-9  # of what floats say
NEAR = 0.002  # LSB
PARTS = 8  # of a cell, at the ends of which errors are looked at


def _boxes_about(boxed: Boxed, cells: Whole, rng: np.random.Generator) -> tuple[Whole, Whole]:
    """Return boxes that hold cells: of every input some of the lowest bits are open."""
    low, high = np.array(boxed.first), np.array(boxed.last)
    bits = np.array([int(a ^ b).bit_length() for a, b in zip(low, high, strict=True)])
    open_bits = (rng.random(cells.shape) * (bits + 1)).astype(np.int64)
    first = cells >> open_bits << open_bits
    last = first + (1 << open_bits) - 1
    return np.maximum(first, low), np.minimum(last, high)


def holds_in_boxes(given: tuple[Compact, Ends], count: int, seed: int = 3) -> None:
    """Hold what is found of every sum in random boxes against states that lie in them.

    States say it by simulation and by the sketch, in floats.
    """
    compact, _ = given
    said, states = explained(*given), drawn(compact, count, seed)
    rng, graph = np.random.default_rng(seed), said.graph
    forward = Forward(said)
    for result in said.results:
        boxing = Boxing(forward)
        boxed = boxing.boxed(result.meaning)
        cells = np.stack([_cells(boxing, k, states.words, states.values) for k in boxing.asked], 1)
        first, last = _boxes_about(boxed, cells, rng)
        found = np.zeros((count, len(boxed.known), 6), np.int64)
        whole = np.arange(len(boxed.steps))
        for k in range(count):
            evaluate(
                boxed.steps, boxed.args, boxed.low, boxed.high, boxed.known, whole, found[k],
                first[k].astype(np.uint16), last[k].astype(np.uint16),
            )  # fmt: skip
        looked = 0
        for place, meaning in enumerate(said.meanings):
            slot = boxing.slot(place)
            if slot is None or not isinstance(meaning, Total) or meaning.turning:
                continue
            ends = np.asarray(found[:, slot.place] * 2.0**-slot.scale, np.float64)
            exact = states.values[place]
            _between(exact, ends[:, 2], ends[:, 3], f"{place}: value")
            if meaning.word is not None:
                bits = graph.nodes[meaning.word].bits
                middle, unit = ((1 << bits) - 1) / 2, 2.0 ** graph.scales[meaning.word].lsb
                digits = np.asarray((states.words[meaning.word] - middle) * unit, np.float64)
                _between(digits, ends[:, 0], ends[:, 1], f"{place}: words")
                _between(
                    np.asarray(digits - exact, np.float64),
                    ends[:, 4],
                    ends[:, 5],
                    f"{place}: error",
                )
            looked += 1
        assert looked


def _between(x: Floats, low: Floats, high: Floats, what: str) -> None:
    slack = SLACK * np.maximum(1, np.abs(low) + np.abs(high))
    assert (x >= low - slack).all(), what
    assert (x <= high + slack).all(), what


def _cells(boxing: Boxing, place: int, words: list[Whole], values: list[Floats]) -> Whole:
    """Return in which cell of an input states are: of an angle, of a finer grid than its words."""
    meaning = boxing.meanings[place]
    assert isinstance(meaning, GivenWord)
    if not meaning.angle:
        return words[meaning.word or 0]
    assert meaning.word is not None
    bits = boxing.graph.nodes[meaning.word].bits + meaning.part
    turns = values[place] / (2 * np.pi) + 0.5
    fine = np.floor(turns * 4096).astype(np.int64) & (4095 if meaning.wraps else -1)
    width = 4096 >> bits
    word = words[meaning.word]
    return np.asarray(np.clip(fine, word * width, word * width + width - 1), np.int64)


def test_in_boxes_words_values_and_errors_of_every_sum_are_enclosed() -> None:
    holds_in_boxes(shipped("machado-2r"), 2000)


@pytest.mark.check
@pytest.mark.parametrize("name", ["planar-3r", "puma560"])
def test_so_they_are_of_larger_arms(name: str) -> None:
    holds_in_boxes(shipped(name), 500)


@pytest.mark.check
def test_so_they_are_with_stops_and_of_functions_that_are_no_waves(tmp_path: Path) -> None:
    limited = with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9))
    holds_in_boxes(made(limited, tmp_path, 5), 2000)
    holds_in_boxes(made(parse_function(CURVED), tmp_path, 5), 2000)
    for joints, seed in ((2, 1), (3, 2)):
        holds_in_boxes(made(random_limited(joints, seed), tmp_path, 6), 500)


def test_rounding_of_a_word_is_as_much_as_that_of_the_words_that_it_may_be() -> None:
    bits, drop, shift = 6, 3, 4  # the lowest bit counts 16
    rng, attained = np.random.default_rng(5), 0
    for _ in range(300):
        first = int(rng.integers(0, 60))
        words = np.arange(first, min(63, first + int(rng.integers(0, 12))) + 1)
        digits = (2 * words - 63) << (shift - 1)
        exact = np.sort(digits[[0, -1]] + rng.integers(-80, 81, 2))
        error = np.sort(rng.integers(-120, 121, 2))
        slot = np.array([[digits[0], digits[-1], *exact, *error]], np.int64)
        low, high = rounded(slot, 0, np.array([-5, 7, bits, shift, drop], np.int64))
        said = (2 * (words >> drop) - 7) << (shift + drop - 1)
        real = np.arange(exact[0], exact[1] + 1)
        left, errors = digits[:, None] - real, said[:, None] - real
        errors = errors[(left >= error[0]) & (left <= error[1])]
        if len(errors):
            assert low <= errors.min() - 5
            assert errors.max() + 7 <= high
            attained += int(low == errors.min() - 5) + int(high == errors.max() + 7)
    assert attained > 300


def exhaustive(compact: Compact) -> tuple[Floats, Floats]:
    """Return the largest and least errors of all words of three angles, at places in their cells.

    Words by simulation, exact values by the problem's own reference. Cells of a few bits bend: an
    error may be the largest inside.
    """
    problem, graph = compact.problem, compact.graph
    count = [PARTS << node.bits for node in graph.inputs]
    assert [node.name for node in graph.inputs] == [one.name for one in problem.inputs]
    ends = [compact.asked_words[node.name].range for node in graph.inputs]
    axes = [np.linspace(end.low, end.high, n + 1) for end, n in zip(ends, count, strict=True)]
    grid = np.meshgrid(*axes, indexing="ij")
    steps = np.array(problem.steps(compact.demand.bits))
    exact = problem.exact(np.stack([axis.reshape(-1) for axis in grid], axis=1)) / steps
    exact = exact.reshape(*(n + 1 for n in count), -1)
    words = np.meshgrid(*(np.arange(n) // PARTS for n in count), indexing="ij")
    given = {node.name: w.reshape(-1) for node, w in zip(graph.inputs, words, strict=True)}
    halves = np.array([2.0 ** (result.bits - 1) - 0.5 for result in graph.results])
    said = (simulate(graph, given).words - halves).reshape(*count, -1)
    high, low = (np.full(said.shape[-1], end) for end in (-np.inf, np.inf))
    for corner in product((0, 1), repeat=len(count)):
        at = tuple(slice(k, k + n) for k, n in zip(corner, count, strict=True))
        left = (said - exact[at]).reshape(-1, said.shape[-1])
        high, low = np.maximum(high, left.max(axis=0)), np.minimum(low, left.min(axis=0))
    return high, low


@pytest.mark.check
def test_of_three_angles_the_bound_is_near_the_worst_of_all_words_and_places(
    tmp_path: Path,
) -> None:
    compact, ends = made("planar-3r", tmp_path, 4, of="gravity")
    high, low = exhaustive(compact)
    bounds = graded_bounds(explained(compact, ends), "tight", 50)
    for k, bound in enumerate(bounds.outputs):
        assert high[k] <= float(bound.high) <= high[k] + NEAR
        assert low[k] - NEAR <= float(bound.low) <= low[k]


@pytest.mark.check
def test_every_grade_is_as_tight_as_the_one_before_and_above_what_climbing_finds(
    tmp_path: Path,
) -> None:
    compact, ends = made("planar-3r", tmp_path, 5)
    said = explained(compact, ends)
    network = word_logic(compact.graph)
    program = program_of_graph(compact.problem, compact.demand, compact.graph, network, ends)
    worst = find_worst(subject_of(program, compact.problem, engine="numpy"), 400_000).errors
    before = plain_bounds(said)
    for grade in ("tables", "tight"):
        bounds = graded_bounds(said, grade, 10)
        for one, other, (up, down) in zip(bounds.outputs, before.outputs, worst, strict=True):
            assert one.grade == grade
            assert other.low <= one.low <= down
            assert up <= one.high <= other.high
        assert sum(bounds.steps) < 0.95 * sum(before.steps)
        before = bounds
    assert graded_bounds(said, "tight", 10) == before  # the same again
    assert (np.array(before.steps) <= 1.5 * np.abs(worst).max(axis=1)).all()


@pytest.mark.check
def test_more_effort_gives_no_looser_bound_and_processes_do_not_change_it() -> None:
    said = explained(*shipped("machado-2r"))
    some = graded_bounds(said, "tight", 200)
    assert graded_bounds(said, "tight", 200, workers=TWO) == some
    for one, other in zip(some.outputs, graded_bounds(said, "tight", 1).outputs, strict=True):
        assert other.low <= one.low <= one.high <= other.high


@pytest.mark.check
def test_a_table_or_a_constant_that_is_another_shows_in_the_bound_by_boxes() -> None:
    compact, ends = shipped("planar-3r")
    graph = compact.graph
    before = graded_bounds(explained(compact, ends), "tables").steps
    changed = 0
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            half = 1 << node.bits >> 1
            mutant: Lookup | Heap = replace(node, entries=tuple(half ^ one for one in node.entries))
        elif isinstance(node, Heap):
            mutant = replace(node, constant=node.constant + 8)
        else:
            continue
        nodes = (*graph.nodes[:place], mutant, *graph.nodes[place + 1 :])
        other = replace(compact, graph=WordGraph(nodes, graph.scales, graph.results))
        assert graded_bounds(explained(other, ends), "tables").steps != before, place
        changed += 1
        if changed > 3:
            break
