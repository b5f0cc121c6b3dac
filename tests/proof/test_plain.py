"""Plain bounds: every enclosure holds what happens, at every node and of every output."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from proof.explainedstates import drawn
from shippedarms import built_of, made_by_name, shipped

from boolcomp.compact.result.explained import explained
from boolcomp.proof.bound.known import line_of
from boolcomp.proof.bound.meaning import GivenWord, Total, TurnSum
from boolcomp.proof.bound.plain import Forward, pieces_of, plain_bounds
from boolcomp.proof.worst import find_worst, subject_of
from boolcomp.words.graph import Bits, Heap, Lookup, WordGraph

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.compact.assembly import Ends
    from boolcomp.compact.result.built import Built
    from boolcomp.compact.result.compact import Compact
    from boolcomp.proof.bound.enclosure import Enclosure
    from boolcomp.proof.bound.meaning import Explained

    Floats = NDArray[np.float64]

SLACK = 1e-9  # of what floats say


def _check(x: Floats, within: Enclosure, turn: float | None, what: str) -> None:
    low, high = (float(end) for end in within.ends)
    if turn is not None:
        middle = (low + high) / 2
        x = (x - middle + turn / 2) % turn - turn / 2 + middle
    slack = SLACK * max(1.0, abs(low), abs(high))
    assert x.min() >= low - slack, what
    assert x.max() <= high + slack, what


def holds_at_every_node(given: tuple[Compact, Ends], count: int) -> None:
    """Hold what is known of every node against random states."""
    said = explained(*given)
    forward, states = Forward(said), drawn(given[0], count, 7)
    graph = said.graph
    for place, (meaning, known) in enumerate(zip(said.meanings, forward.known, strict=True)):
        turns = isinstance(meaning, TurnSum) or (isinstance(meaning, GivenWord) and meaning.angle)
        turning = meaning.turning if isinstance(meaning, Total) else 0
        turn = 1.0 if turns else float(1 << turning) if turning else None
        unit = 1 / (2 * math.pi) if turns else 1.0
        middle, value = states.middles[place] * unit, states.values[place] * unit
        _check(middle, known.exact, turn, f"{place}: value")
        _check(middle - value, known.inputs, turn, f"{place}: inputs")
        pieces = pieces_of(meaning)
        if not pieces.words:
            continue
        words = np.zeros(count)
        for k in pieces.words:
            line = line_of(graph, k)
            if isinstance(meaning, GivenWord):
                (_, line) = forward.line(place) or (0, line)
            words = words + float(line.start) + float(line.step) * states.words[k]
        if pieces.product is not None:
            a, b = (
                (states.words[k] - ((1 << graph.nodes[k].bits) - 1) / 2)
                * 2.0 ** graph.scales[k].lsb
                for k in pieces.product
            )
            words = words + a * b
        if place in forward.outputs:
            words = words - graph.scales[pieces.words[0]].offset
        _check(words, known.words, turn, f"{place}: words")
        _check(words - middle, known.error.total, turn, f"{place}: error")


def test_words_values_and_errors_of_every_node_are_enclosed() -> None:
    holds_at_every_node(shipped("machado-2r"), 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elbow-3r", "puma560"])
def test_so_they_are_of_larger_arms(name: str) -> None:
    holds_at_every_node(shipped(name), 20_000)


@pytest.mark.check
@pytest.mark.parametrize("name", ["stops", "curved"])
def test_so_they_are_with_stops_and_of_functions_that_are_no_waves(
    name: str, tmp_path: Path
) -> None:
    compact, ends = made_by_name(name, tmp_path)
    holds_at_every_node((compact, ends), 20_000)
    bounds = plain_bounds(explained(compact, ends))
    assert not bounds.unproved
    assert (np.array(bounds.steps) >= compact.errors.max).all()
    assert (np.array(bounds.steps) <= 3.5 * compact.errors.max).all()


@pytest.mark.slow
def test_no_error_that_climbing_finds_is_above_the_bound() -> None:
    built = built_of("machado-2r")
    bounds = plain_bounds(explained(built.compact, built.ends))
    found = find_worst(subject_of(built.program(), built.compact.problem), 200_000)
    low = np.array([float(one.low) for one in bounds.outputs])
    high = np.array([float(one.high) for one in bounds.outputs])
    assert (found.errors[:, 0] <= high).all()
    assert (found.errors[:, 1] >= low).all()
    assert (built.worst.most <= bounds.steps).all()
    assert (np.array(bounds.steps) <= 2 * built.worst.most).all()  # and it says something
    assert not bounds.unproved


def test_a_bound_is_the_sum_of_its_causes_and_the_unit_follows_from_steps() -> None:
    built = built_of("machado-2r")
    for one in plain_bounds(explained(built.compact, built.ends)).outputs:
        causes = one.causes
        parts = (causes.inputs, causes.tables, causes.bits, causes.rounding)
        assert sum(part.ends[1] for part in parts) == one.high
        assert sum(part.ends[0] for part in parts) == one.low
        assert one.value == pytest.approx(one.steps * one.step, abs=2e-6)


def _mutated(built: Built, place: int, node: Lookup | Heap) -> Explained:
    graph = built.compact.graph
    nodes = (*graph.nodes[:place], node, *graph.nodes[place + 1 :])
    other = WordGraph(nodes, graph.scales, graph.results)
    return explained(replace(built.compact, graph=other), built.ends)


def test_a_graph_with_another_entry_or_constant_has_another_bound() -> None:
    built = built_of("machado-2r")
    said = explained(built.compact, built.ends)
    before = [(one.low, one.high) for one in plain_bounds(said).outputs]
    changed = 0
    for place, node in enumerate(said.graph.nodes):
        if isinstance(node, Lookup):
            k = len(node.entries) // 3  # the ends may never be read
            worse = (1 << node.bits >> 1) ^ node.entries[k]  # by half of what there is
            entries = (*node.entries[:k], worse, *node.entries[k + 1 :])
            other: Lookup | Heap = replace(node, entries=entries)
        elif isinstance(node, Heap):
            other = replace(node, constant=node.constant + 1)
        else:
            continue
        bounds = plain_bounds(_mutated(built, place, other))
        assert [(one.low, one.high) for one in bounds.outputs] != before, place
        changed += 1
    assert changed > 5


def test_a_heap_without_bits_enough_is_named() -> None:
    built = built_of("machado-2r")
    graph = built.compact.graph
    place = next(
        k for k, node in enumerate(graph.nodes)
        if isinstance(node, Heap) and k not in {result.node for result in graph.results}
    )  # fmt: skip
    heap = graph.nodes[place]
    assert isinstance(heap, Heap)
    found = plain_bounds(_mutated(built, place, replace(heap, constant=heap.constant + 1000)))
    assert place in found.unproved


@pytest.mark.slow
def test_sums_that_read_an_output_know_as_little_of_its_offset_as_its_decoder() -> None:
    said = explained(*shipped("elbow-3r"))
    (read,) = {
        part.node
        for node in said.graph.nodes
        if isinstance(node, Heap)
        for part in node.parts
        if isinstance(part, Bits) and part.node in {one.node for one in said.graph.results}
    }
    scales = list(said.graph.scales)
    scales[read] = replace(scales[read], offset=scales[read].offset + 0.25)
    moved = replace(said, graph=replace(said.graph, scales=tuple(scales)))
    assert plain_bounds(moved).outputs == plain_bounds(said).outputs
