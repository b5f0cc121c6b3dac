"""Heaps have bits enough, or are named: beside sums of all words that there are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from shippedarms import built_of

from boolcomp.compact import explained
from boolcomp.proof import Explained, Range, Search, WordRanges, plain_bounds, without_overflow
from boolcomp.words import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
    simulate,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.words import Node

    Words = NDArray[np.int64]

ENOUGH = 100_000_000  # words of boxes
WIDE = 30  # bits of a heap that holds every sum here
INPUTS = (InputWord("q", 5, angle=True), InputWord("x", 4, angle=False),
          InputWord("y", 4, angle=False))  # fmt: skip


def graph_of(nodes: Sequence[Node]) -> WordGraph:
    """Return a graph of these inputs and nodes, the last of which is a heap and the output."""
    every = (*INPUTS, *nodes)
    result = OutputWord(len(every) - 1, 0, every[-1].bits)
    return WordGraph(every, (Scale(0, 0.0),) * len(every), (result,))


def drawn(seed: int) -> WordGraph:
    """Return a random graph: sums of angles, tables, and two heaps, one within the other."""
    rng = np.random.default_rng(seed)
    turns = (Turn(0, int(rng.integers(2, 6)), int(rng.integers(0, 3)), bool(rng.integers(2))),
             Turn(0, 5, 0, bool(rng.integers(2))))  # fmt: skip
    angle = Angles(turns, int(rng.integers(32)), 5)
    entries = tuple(int(x) for x in rng.integers(0, 32, 32))
    masked = tuple(int(x) for x in rng.integers(0, 16, 8))
    tables = (Lookup(3, 5, entries, 5), Lookup(0, 4, masked, 4, mask=0b1011))
    one = (Bits(4, 1, int(rng.integers(3)), bool(rng.integers(2))),
           PartialProducts(1, int(rng.integers(2)), 5, 0, int(rng.integers(-4, 2)),
                           bool(rng.integers(2))))  # fmt: skip
    inner = Heap(one, int(rng.integers(0, 40)), 12)
    other = (Bits(6, 2, 0, bool(rng.integers(2))), Bits(3, 1, 1, bool(rng.integers(2))),
             PartialProducts(4, 1, 2, 1, int(rng.integers(-3, 3)), bool(rng.integers(2))),
             PartialProducts(6, 3, 2, 0, int(rng.integers(-5, 2)), negative=False))  # fmt: skip
    return graph_of((angle, *tables, inner, Heap(other, int(rng.integers(100)), WIDE)))


def sums(graph: WordGraph, low: Sequence[int], high: Sequence[int]) -> Words:
    """Return the output's heap for all words of a box."""
    axes = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    grid = np.meshgrid(*axes, indexing="ij")
    given = {n.name: axis.reshape(-1) for n, axis in zip(INPUTS, grid, strict=True)}
    return np.asarray(simulate(graph, given).words[:, 0], np.int64)


@pytest.mark.parametrize("seed", range(16))
def test_sums_of_all_words_of_a_box_lie_in_its_range(seed: int) -> None:
    graph, rng = drawn(seed), np.random.default_rng(seed)
    ranges = WordRanges(graph, len(graph.nodes) - 1)
    full = [1 << node.bits for node in INPUTS]
    ends = np.sort(rng.integers(0, np.array(full)[:, None, None], (3, 12, 2)), axis=2)
    ends[:, 0] = [(0, size - 1) for size in full]
    ends[:, 1, 1] = ends[:, 1, 0]  # a single word
    found = ranges.sum({k: Range(ends[k, :, 0], ends[k, :, 1]) for k in range(3)})
    for k in range(12):
        all_of_it = sums(graph, ends[:, k, 0].tolist(), ends[:, k, 1].tolist())
        assert found.low[k] <= all_of_it.min()
        assert all_of_it.max() <= found.high[k]


def added(bits: int, constant: int) -> WordGraph:
    """Return a graph that adds a product and two tables of one angle, which never are both large.

    No product is discarded.
    """
    entries = tuple(range(16))
    tables = (Lookup(0, 4, entries, 4), Lookup(0, 4, entries[::-1], 4))
    parts = (Bits(3, 0, 1, negative=False), Bits(4, 0, 1, negative=False),
             PartialProducts(1, 0, 2, 0, 0, negative=False))  # fmt: skip
    return graph_of((*tables, Heap(parts, constant, bits)))


def claimed(bits: int, constant: int, booked: tuple[int, int] = (0, 0)) -> Explained:
    """Return such a graph of which nothing is said but what its heap is more than its parts."""
    return Explained(added(bits, constant), (), (), ((5, *booked),))


@pytest.mark.parametrize("booked", [(0, 0), (-3, 0), (0, 2), (-1, 1)])
def test_a_heap_is_proved_exactly_where_no_word_overflows_it(booked: tuple[int, int]) -> None:
    full = [(1 << node.bits) - 1 for node in INPUTS]
    every = sums(added(WIDE, 0), (0, 0, 0), full)
    words = {k: (0, last) for k, last in enumerate(full)}
    lowest, highest = -int(every.min()) - booked[0], 255 - int(every.max()) - booked[1]
    assert lowest < highest
    for constant in range(lowest - 2, highest + 3):
        search = Search(claimed(8, constant, booked), 5, words, ENOUGH)
        assert search.fits() == (lowest <= constant <= highest), constant


def test_words_that_no_input_has_do_not_overflow_a_heap() -> None:
    full = [(1 << node.bits) - 1 for node in INPUTS]
    every = sums(added(WIDE, 0), (0, 0, 0), full)
    constant = 256 - int(every.max())  # the largest sum just does not fit
    words = {k: (0, last) for k, last in enumerate(full)}
    assert not Search(claimed(8, constant), 5, words, ENOUGH).fits()
    assert not Search(claimed(8, 0), 5, words, 0).fits()  # too few boxes
    assert Search(claimed(8, constant), 5, {**words, 1: (1, full[1] - 1)}, ENOUGH).fits()


@pytest.mark.check
def test_a_heap_of_the_elbow_that_overflows_is_named() -> None:
    built = built_of("elbow-3r", 8)
    said = explained(built.compact, built.ends)
    plain = plain_bounds(said)
    assert plain.unproved
    assert not without_overflow(said, plain).unproved
    graph, place = built.compact.graph, plain.unproved[0]
    heap = graph.nodes[place]
    assert isinstance(heap, Heap)
    nodes = list(graph.nodes)
    nodes[place] = replace(heap, constant=heap.constant + (1 << heap.bits) // 16)
    other = replace(built.compact, graph=WordGraph(tuple(nodes), graph.scales, graph.results))
    moved = explained(other, built.ends)
    assert without_overflow(moved, plain_bounds(moved)).unproved == (place,)
    rng = np.random.default_rng(5)  # and it does overflow: at ends of ranges, that is
    given = {n.name: rng.integers(0, 1 << n.bits, 200_000) for n in graph.inputs}
    for node in graph.inputs:
        if not node.angle:
            given[node.name] = rng.choice([0, (1 << node.bits) - 1], 200_000)
    assert simulate(other.graph, given).wrapped == (place,)
