"""Free changes that the by-rule network of the graph can follow: each is a cone of `words.cones`.

The network that is made smaller is not made by rule any more, but nearly all of its nodes are alike
to one that is. A change counts if the same change of that one's spot makes the same outputs; in the
end both networks are proved equivalent. By how much a cone moves its word is then seen at all
values of what it reads, and booked in the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.approximate.kernels import Nodes, evaluate
from boolcomp.compact.approximate.searching import (
    ALL_ONES,
    arrays_of,
    planes_of,
    room,
    stack_of,
)
from boolcomp.compact.approximate_kernels import Mirror
from boolcomp.compact.graph.coned import ConedLogic
from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS
from boolcomp.words.cones import Cone, Spot
from boolcomp.words.graph import Heap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.approximate.searching import Searching
    from boolcomp.compact.network import Synthesiser
    from boolcomp.logic.network import Network
    from boolcomp.words.cones import Signal
    from boolcomp.words.graph import WordGraph

    Bits = NDArray[np.uint64]

ONE = np.uint64(1)
LATE = 1 << 40  # of signals that have no name
WORDS, SEED = 1 << 12, 0xC0E5  # of 64 random words each


class Follower:
    """The network that a graph says, made by rule, as it follows the changes of another.

    Both are compared at words that the search has not seen: what differs there is undone.
    """

    def __init__(self, graph: WordGraph, synthesise: Synthesiser) -> None:
        made = ConedLogic(graph, synthesise)
        outputs = made.outputs()
        nodes, first = made.builder.nodes, CONSTANTS + made.builder.inputs
        signals = first + len(nodes)
        self.names: dict[int, tuple[Signal, int]] = {}
        self.spots: dict[int, list[tuple[Spot, int]]] = {}
        self.when = np.full(signals, LATE, np.int64)
        self.when[:CONSTANTS] = -1
        self.written, self.read = np.zeros(signals, np.uint8), np.zeros(signals, np.uint8)
        self.read[:CONSTANTS] = 1
        for turn, (signal, literal) in enumerate(made.signals.items()):
            place = literal >> 1
            if place >= CONSTANTS and place not in self.names:
                self.names[place], self.when[place] = (signal, literal & 1), turn
                self.read[place] = 1
            if isinstance(signal, Spot) and place >= first:
                self.spots.setdefault(place, []).append((signal, literal & 1))
        for place, spots in self.spots.items():
            heaps = (graph.nodes[spot.word] for spot, _ in spots)
            self.written[place] = all(isinstance(x, Heap) and not x.wraps for x in heaps)
        fan, lut = np.zeros((signals, 3), np.int64), np.zeros(signals, np.int64)
        for s, node in enumerate(nodes, first):
            fan[s, : len(node.operands)], lut[s] = node.operands, node.lut
        outs = np.array([literal >> 1 for literal in outputs], np.int64)
        self.inverted = np.array([literal & 1 for literal in outputs], np.uint8)
        none = np.zeros(signals, np.int64)
        self.nodes = Nodes(fan, lut, none, none, none, none, outs, stack_of(signals), first)
        self.order = np.arange(first, signals)
        self.changed = np.zeros(signals, np.uint8)
        rng = np.random.default_rng(SEED)
        most = np.iinfo(np.uint64).max
        self.drawn = rng.integers(0, most, (first - CONSTANTS, WORDS), np.uint64, endpoint=True)
        self._now: Bits | None = None
        self._kept = self._state()

    def _state(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        return self.nodes.fan.copy(), self.nodes.lut.copy(), self.changed.copy()

    def agrees(self, network: Network) -> bool:
        """Tell whether a network is this one at random words; if not, undo what came since."""
        own, other = (self._outputs(nodes) for nodes in (self.nodes, arrays_of(network)))
        own[self.inverted > 0] ^= ALL_ONES
        same = np.array_equal(own, other)
        if same:
            self._kept = self._state()
        else:
            self.nodes.fan[:], self.nodes.lut[:], self.changed[:] = self._kept
            self._now = None
        return same

    def _outputs(self, nodes: Nodes) -> Bits:
        now = planes_of(nodes, self.drawn)
        evaluate(nodes, np.arange(nodes.first, len(nodes.fan)), now)
        return now[nodes.outs]

    def mirror(self, searching: Searching) -> Mirror:
        """Return this as the mirror of a network that is searched."""
        if self._now is None:
            self._now = planes_of(self.nodes, searching.inputs)
            evaluate(self.nodes, self.order, self._now)
        places = _places(self._now, self.written)
        place = np.full(len(searching.now), -1, np.int64)
        flipped = np.zeros(len(place), np.uint8)
        for s, plane in enumerate(searching.now):
            key, inverse = _plane_key(plane)
            found = places.get(key)
            if found is not None:
                place[s], flipped[s] = found[0], found[1] ^ inverse
        place[:CONSTANTS], flipped[:CONSTANTS] = np.arange(CONSTANTS), 0
        return Mirror(
            self.nodes, room(self._now), self.order, place, flipped, self.written, self.read,
            self.when, self.changed, self.inverted,
        )  # fmt: skip

    def said(self) -> tuple[Cone, ...]:
        """Return the cones of all changes so far."""
        return tuple(sorted(self._cones(), key=lambda cone: cone.spot))

    def _cones(self) -> Iterator[Cone]:
        for place in np.flatnonzero(self.changed).tolist():
            table = int(self.nodes.lut[place])
            operands: list[Signal] = []
            for k, read in enumerate(self.nodes.fan[place].tolist()):
                if read < CONSTANTS:
                    table = luts.cofactors(table, k)[read]
                    operands.append(Spot(0, 0, 0))  # which the table then ignores
                    continue
                signal, inverse = self.names[read]
                table = luts.inverted(table, k) if inverse else table
                operands.append(signal)
            for spot, inverse in self.spots[place]:
                yield _cone(spot, ~table & luts.ALL if inverse else table, operands)


def _cone(spot: Spot, table: int, operands: Sequence[Signal]) -> Cone:
    """Return a cone of the signals that its table reads, each once."""
    read = list(dict.fromkeys(operands[k] for k in luts.support(table)))
    letters = [luts.LETTERS[read.index(x)] if x in read else luts.FIRST for x in operands]
    table = luts.compose(table, (letters[0], letters[1], letters[2]))
    return Cone(spot, table, tuple(read))


def _places(planes: Bits, written: NDArray[np.uint8]) -> dict[bytes, tuple[int, int]]:
    """Return the signals by their values, those that may change before others that are alike."""
    found: dict[bytes, tuple[int, int]] = {}
    for s, plane in enumerate(planes):
        key, inverse = _plane_key(plane)
        known = found.get(key)
        if known is None or (written[s] and not written[known[0]]):
            found[key] = s, inverse
    return found


def _plane_key(plane: Bits) -> tuple[bytes, int]:
    inverse = int(plane[0] & ONE)
    return (~plane if inverse else plane).tobytes(), inverse
