"""Run a word graph on integer words, bit for bit as the logic does, many samples at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    Node,
    PartialProducts,
    WordGraph,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """The outputs' words, (samples, outputs); the heaps that wrapped; how often one saturated."""

    words: Words
    wrapped: tuple[int, ...]
    saturated: int


def simulate(graph: WordGraph, inputs: Mapping[str, Words]) -> Simulated:
    """Return the outputs' words for the words of the inputs, given by name."""
    return Resimulation(inputs).simulate(graph)


class Resimulation:
    """Simulations of graphs that are much alike, on the same inputs: what is equal is kept."""

    def __init__(self, inputs: Mapping[str, Words]) -> None:
        self.inputs = inputs
        self._nodes: tuple[Node, ...] = ()
        self._values: list[Words] = []
        self._over: list[int] = []

    def simulate(self, graph: WordGraph) -> Simulated:
        """Return what `simulate` does."""
        values: list[Words] = []
        overs: list[int] = []
        same: list[bool] = []
        for place, node in enumerate(graph.nodes):
            known = place < len(self._nodes) and self._nodes[place] == node
            kept = known and all(same[k] for k in reads(node))
            same.append(kept)
            if kept:
                word, over = self._values[place], self._over[place]
            elif isinstance(node, InputWord):
                word, over = self.inputs[node.name], 0
            else:
                word, over = node_word(graph, place, values)
            values.append(word)
            overs.append(over)
        self._nodes, self._values, self._over = graph.nodes, values, overs
        made = finish(graph, values, [place for place, over in enumerate(overs) if over])
        return made if graph.inputs else self._for_all(made)

    def _for_all(self, made: Simulated) -> Simulated:
        """Return what a graph without inputs gives, as often as there are samples."""
        count = len(next(iter(self.inputs.values()))) if self.inputs else 1
        words = np.repeat(made.words, count, axis=0)
        return Simulated(words, made.wrapped, made.saturated * count)


def finish(graph: WordGraph, values: Sequence[Words], wrapped: Sequence[int]) -> Simulated:
    """Round and saturate the outputs, given all nodes' words."""
    columns, saturated = [], 0
    for result in graph.results:
        heap = graph.nodes[result.node]
        cell = values[result.node] >> result.drop
        surplus = heap.bits - result.drop - result.bits
        middle = (1 << (surplus + result.bits)) >> 1
        low, high = middle - (1 << result.bits >> 1), middle + (1 << result.bits >> 1) - 1
        clipped = np.clip(cell, low, high)
        saturated += int((clipped != cell).sum())
        columns.append(clipped - low)
    return Simulated(np.stack(columns, axis=1), tuple(wrapped), saturated)


def node_word(graph: WordGraph, place: int, values: Sequence[Words]) -> tuple[Words, int]:
    """Return a node's word from those before it, and how many samples it wrapped on."""
    node = graph.nodes[place]
    if isinstance(node, Angles):
        total = _filled(values, node.constant)
        for turn in node.turns:
            word = values[turn.node] >> (graph.nodes[turn.node].bits - turn.read)
            word = ((1 << turn.read) - 1) ^ word if turn.negative else word
            total += word << turn.shift
        return total & ((1 << node.bits) - 1), 0
    if isinstance(node, Lookup):
        index = values[node.source] >> (graph.nodes[node.source].bits - node.read)
        return np.asarray(node.entries, dtype=np.int64)[masked(index, node.mask)], 0
    if not isinstance(node, Heap):
        raise TypeError(f"node {place} is an input")
    total = _filled(values, node.constant)
    for part in node.parts:
        if isinstance(part, Bits):
            row, word = part.layout(graph.nodes), values[part.node]
            word = word >> row.drop
            total += (((1 << row.bits) - 1) ^ word if part.negative else word) << row.column
        else:
            _add_products(total, graph.nodes, values, part)
    kept = total & ((1 << node.bits) - 1)
    return kept, 0 if node.wraps else int((kept != total).sum())


def masked(words: Words, mask: int) -> Words:
    """Return the bits of words that a mask picks, side by side; all where it is 0."""
    if not mask:
        return words
    found, place = np.zeros_like(words), 0
    while mask:
        low = (mask & -mask).bit_length() - 1  # each run of ones is moved at once
        run = (~(mask >> low) & ((mask >> low) + 1)).bit_length() - 1
        ones = (1 << run) - 1
        found |= (words >> low & ones) << place
        mask, place = mask & ~(ones << low), place + run
    return found


def _filled(values: Sequence[Words], constant: int) -> Words:
    """Return a constant for every sample; one that broadcasts where nothing is read at all."""
    return np.full_like(values[0], constant) if values else np.full(1, constant, np.int64)


def _add_products(
    total: Words, nodes: Sequence[Node], values: Sequence[Words], part: PartialProducts
) -> None:
    """Add partial products row by row: a digit of the shorter word leaves or inverts the other."""
    grid, a, b = part.layout(nodes), values[part.a], values[part.b]
    if grid.a > grid.b:
        grid, a, b = grid.swapped, b, a
    for i, row in grid.rows():
        flip = -((a >> i & 1) ^ (not part.negative))
        total += ((b >> row.drop ^ flip) & ((1 << row.bits) - 1)) << row.column
