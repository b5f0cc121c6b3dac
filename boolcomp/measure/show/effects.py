"""What the words of a graph do to its outputs, by trying: what words are seen, what a step moves.

A word is changed by one, and everything behind it calculated anew, on random words of all inputs.
What a step moves, over √12, is about what the rounding of that word alone adds to an output's error
(rms): an estimate that takes errors for even and independent, as the noise model does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, reads
from boolcomp.words.simulate import node_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.words.graph import Node, WordGraph

    Words = NDArray[np.int64]

SAMPLES = 384


@dataclass(frozen=True, slots=True)
class Effect:
    """The least and the largest word that was seen, and what a step moves each output: rms, LSB.

    `rounds` tells whether the word rounds anything at all.
    """

    least: int
    most: int
    moves: tuple[float, ...]
    rounds: bool

    @property
    def budget(self) -> tuple[float, ...]:
        """What its rounding adds to every output's error: about so many LSB, rms."""
        return tuple(x / math.sqrt(12) if self.rounds else 0.0 for x in self.moves)


def effects_of(graph: WordGraph, samples: int = SAMPLES) -> list[Effect]:
    """Return the effect of every word; the same graph gives the same."""
    rng = np.random.default_rng(0)
    values: list[Words] = []
    for place, node in enumerate(graph.nodes):
        if isinstance(node, InputWord):
            values.append(rng.integers(0, 1 << node.bits, samples))
        else:
            values.append(node_word(graph, place, values)[0])
    return [
        Effect(
            int(values[place].min()),
            int(values[place].max()),
            _moves(graph, values, place),
            _rounds_word(graph, node),
        )
        for place, node in enumerate(graph.nodes)
    ]


def _moves(graph: WordGraph, values: list[Words], place: int) -> tuple[float, ...]:
    top = (1 << graph.nodes[place].bits) - 1
    step = np.where(values[place] < top, 1, -1)
    moved = list(values)
    moved[place] = values[place] + step
    changed = {place}
    for later in range(place + 1, len(graph.nodes)):
        if changed.intersection(reads(graph.nodes[later])):
            moved[later] = node_word(graph, later, moved)[0]
            changed.add(later)
    found = []
    for result in graph.results:
        away = moved[result.node] - values[result.node]
        size = 1 << graph.nodes[result.node].bits
        away = (away + size // 2) % size - size // 2  # a heap is calculated modulo its size
        found.append(float(np.sqrt(np.mean(np.square(away / (1 << result.drop))))))
    return tuple(found)


def _rounds_word(graph: WordGraph, node: Node) -> bool:
    """Tell whether a word rounds: measured inputs and tables do, sums that drop something do."""
    if isinstance(node, InputWord):
        return True
    if isinstance(node, Lookup):
        return node.entries != tuple(range(len(node.entries)))
    if isinstance(node, Angles):
        return any(turn.read < graph.nodes[turn.node].bits for turn in node.turns)
    if isinstance(node, Heap):
        return any(
            part.drop if isinstance(part, Bits) else part.drop_a or part.drop_b or part.column < 0
            for part in node.parts
        )
    return False
