"""What changes of tables' entries cost: by how much the outputs' mean squares grow, entry by entry.

A table's word is raised by one at all states, what follows is simulated again, and the states tell
by entry how outputs move and how that agrees with their errors. Sums are looked at before their low
bits are cut off, so that small movements are seen. A change by d steps then costs linear·d +
square·d². Tables that share their logic (see `words.folding`) share their prices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.words.folding import canonical, fold
from boolcomp.words.graph import InputWord, Lookup, reads
from boolcomp.words.simulate import masked, node_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.errors.samples import States
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Use:
    """A table that is made of a core: the rows of its entries, and which of them are inverted."""

    place: int
    rows: Words
    inverted: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """The logic of tables that are equal but for their order and signs: entries of so many bits."""

    inputs: int
    bits: int
    entries: tuple[int, ...]
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What entries of a core cost, (outputs, rows); `reach` is the most a step moves outputs."""

    linear: Floats
    square: Floats
    reach: Floats


def cores_of(graph: WordGraph) -> tuple[Core, ...]:
    """Return the cores of a graph's tables, but those that are a word's bits themselves."""
    found: dict[tuple[int, tuple[int, ...]], list[Use]] = {}
    shapes = {}
    for place, node in enumerate(graph.nodes):
        if not isinstance(node, Lookup) or node.entries == tuple(range(1 << node.bits)):
            continue
        folded, mirrored, inverted = canonical(fold(node.entries, node.bits), node.bits)
        if not folded.inputs:
            continue
        index = np.arange(len(node.entries))
        rows = np.zeros_like(index)
        for i, mask in enumerate(folded.inputs):
            rows |= (_parity(index & mask) ^ mirrored) << i
        use = Use(place, rows, (_parity(index & folded.flip) ^ inverted).astype(bool))
        key = node.bits, folded.core
        shapes[key] = len(folded.inputs)
        found.setdefault(key, []).append(use)
    return tuple(Core(shapes[key], key[0], key[1], tuple(uses)) for key, uses in found.items())


def _parity(words: Words) -> Words:
    found, words = words & 1, words >> 1
    while words.any():
        found, words = found ^ words & 1, words >> 1
    return found


def with_entries(graph: WordGraph, core: Core, entries: Words) -> dict[int, Lookup]:
    """Return the tables of a core with other entries, by their places."""
    full = (1 << core.bits) - 1
    made = {}
    for use in core.uses:
        node = graph.nodes[use.place]
        if not isinstance(node, Lookup):
            raise TypeError(f"word {use.place} is no table")
        words = np.where(use.inverted, entries[use.rows] ^ full, entries[use.rows])
        made[use.place] = Lookup(
            node.source, node.read, tuple(words.tolist()), node.bits, node.mask
        )
    return made


class Pricing:
    """A graph simulated at states, for prices of its tables."""

    def __init__(self, graph: WordGraph, states: States, errors: Floats) -> None:
        """`errors` are those of the graph's outputs, in steps, (states, outputs)."""
        self.graph, self.count = graph, len(states.outputs)
        self.values: list[Words] = []
        for place, node in enumerate(graph.nodes):
            if isinstance(node, InputWord):
                self.values.append(states.words[node.name])
            else:
                self.values.append(node_word(graph, place, self.values)[0])
        self.errors = np.stack(
            [errors[:, k] + self._cut(k) for k in range(len(graph.results))], axis=1
        )

    def _cut(self, output: int) -> Floats:
        """Return what was cut off an output's sum, in steps, from the middle of its cell."""
        result = self.graph.results[output]
        low = self.values[result.node] & ((1 << result.drop) - 1)
        return np.asarray((low + 0.5) / (1 << result.drop) - 0.5)

    def of(self, core: Core) -> Prices:
        """Return what entries of a core cost."""
        outputs, rows = len(self.graph.results), len(core.entries)
        linear, square = np.zeros((outputs, rows)), np.zeros((outputs, rows))
        reach = np.zeros(outputs)
        for use in core.uses:
            node = self.graph.nodes[use.place]
            if not isinstance(node, Lookup):
                raise TypeError(f"word {use.place} is no table")
            source = self.graph.nodes[node.source]
            index = masked(self.values[node.source] >> (source.bits - node.read), node.mask)
            where, sign = use.rows[index], np.where(use.inverted[index], -1.0, 1.0)
            moved = self._moved(use.place)
            for k in range(outputs):
                linear[k] += np.bincount(where, 2 * sign * self.errors[:, k] * moved[:, k], rows)
                square[k] += np.bincount(where, moved[:, k] ** 2, rows)
                reach[k] = max(reach[k], float(np.abs(moved[:, k]).max()))
        return Prices(linear / self.count, square / self.count, reach)

    def _moved(self, place: int) -> Floats:
        """Return how outputs move, in steps, where a word is one more (the largest: one less)."""
        graph, values = self.graph, list(self.values)
        step = np.where(values[place] == (1 << graph.nodes[place].bits) - 1, -1, 1)
        values[place] = values[place] + step
        after = {place}
        for later in range(place + 1, len(graph.nodes)):
            if after.intersection(reads(graph.nodes[later])):
                values[later] = node_word(graph, later, values)[0]
                after.add(later)
        found = np.zeros((self.count, len(graph.results)))
        for k, result in enumerate(graph.results):
            if result.node in after:
                half = 1 << (graph.nodes[result.node].bits - 1)
                by = (values[result.node] - self.values[result.node] + half) % (2 * half) - half
                found[:, k] = step * by / (1 << result.drop)
        return found
