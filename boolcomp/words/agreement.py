"""Whether a network computes what a word graph says, on the same input words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.logic import simulation
from boolcomp.words.simulate import Simulated, simulate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph

    Words = NDArray[np.int64]

SAMPLES, SEED = 4094, 0x90DE  # and both ends of all words; fewer would take as long


def agrees(network: Network, graph: WordGraph, words: Mapping[str, Words]) -> bool:
    """Tell whether a network gives, bit for bit, the words that simulating its graph gives."""
    simulated, made = simulate(graph, words), network_words(network, graph, words)
    same = np.array_equal(made.words, simulated.words)
    return same and made.saturated == simulated.saturated


def network_words(network: Network, graph: WordGraph, words: Mapping[str, Words]) -> Simulated:
    """Return the outputs' words that a network makes, whose words are laid out as a graph's."""
    count = len(next(iter(words.values()))) if words else 1
    planes = []
    for node in graph.inputs:
        planes += [_plane(words[node.name] >> k & 1) for k in reversed(range(node.bits))]
    ones = np.full(-(-count // 64), (1 << 64) - 1, np.uint64)
    outputs = network.fold(simulation.Planes(ones), planes)
    place = saturated = 0
    columns = []
    for result in graph.results:
        column = np.zeros(count, np.int64)
        for k in reversed(range(result.bits)):
            column |= _bits(outputs[place], count).astype(np.int64) << k
            place += 1
        columns.append(column)
        saturated += int(_bits(outputs[place], count).sum())
        place += 1
    return Simulated(np.stack(columns, axis=1), (), saturated)


def seems_right(network: Network, graph: WordGraph) -> bool:
    """Tell whether a network agrees with its graph on some thousands of seeded words."""
    rng = np.random.default_rng(SEED)
    words = {}
    for node in graph.inputs:
        most = (1 << node.bits) - 1
        drawn = rng.integers(0, most, SAMPLES, np.int64, endpoint=True)
        words[node.name] = np.concatenate([[0, most], drawn])
    return agrees(network, graph, words)


def _plane(column: Words) -> simulation.Words:
    packed = np.packbits(column.astype(np.uint8), bitorder="little")
    padded = np.zeros(-(-len(packed) // 8) * 8, np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


def _bits(plane: simulation.Words, count: int) -> NDArray[np.uint8]:
    return np.unpackbits(plane.view(np.uint8), count=count, bitorder="little")
