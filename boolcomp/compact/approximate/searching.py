"""A network as arrays that change, at rows that do not: see `search_kernels`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.approximate.kernels import Nodes, Planes, evaluate
from boolcomp.compact.approximate.row_kernels import Rows, costs_of, read_words
from boolcomp.compact.approximate_kernels import Asked, Limits, Looked, Mirror, Net, search
from boolcomp.logic.network import CONSTANTS, Builder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.approximate.row_kernels import WordRows
    from boolcomp.logic.network import Network

    Bits = NDArray[np.uint64]
    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

ALL_ONES = ~np.uint64(0)
BLOCK = 64  # rows that a word of a plane holds


@dataclass(frozen=True, slots=True)
class Breadth:
    """How many signals are looked at in place of a node: alone, and three at a time."""

    alone: int
    together: int


class Searching:
    """A network that changes, at rows: the inputs there, what words should be, what errors cost."""

    def __init__(self, network: Network, inputs: Bits, words: WordRows, home: Whole) -> None:
        self.inputs, self.words, self.home = inputs, words, home
        self.take(network)

    def take(self, network: Network) -> None:
        """Begin with a network; its words are read."""
        self.network, self.nodes = network, arrays_of(network)
        self.now = planes_of(self.nodes, self.inputs)
        evaluate(self.nodes, np.arange(self.nodes.first, len(self.nodes.fan)), self.now)
        self.word = np.zeros_like(self.home)
        none = np.zeros(self.home.shape)
        read_words(self.nodes, self.words, Rows(self.word, self.home, none, none), self.now)

    def run(
        self, off: Floats, weight: Floats, asked: Asked, state: Bits, *,
        left: Floats | None = None, some: Whole | None = None, mirror: Mirror | None = None,
    ) -> int:  # fmt: skip
        """Change the network where that gains nodes; return how many changes were made.

        `off` is by how much words are more than they should be, `weight` what the square of that
        costs. `some` are the blocks of rows that say what is promising, all if none are given.
        """
        every = _looked(Rows(self.word, self.home, off, weight), self.now)
        chosen = np.arange(self.inputs.shape[1]) if some is None else some
        rows = (chosen[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        rows = rows[rows < self.home.shape[1]]
        scale = weight.sum() / max(weight[:, rows].sum(), 1e-300)
        word, home = (np.ascontiguousarray(one[:, rows]) for one in (self.word, self.home))
        part = Rows(word, home, *(np.ascontiguousarray(one[:, rows]) for one in (off, weight)))
        part.weight[:] *= scale
        less = _looked(part, np.ascontiguousarray(self.now[:, chosen]))
        most = np.full(len(self.words.bits), np.inf) if left is None else left
        limits, net = Limits(most, mirror or no_mirror()), Net(self.nodes, self.words)
        order, made = search(net, less, every, limits, asked, state)
        self.take(network_of(self.nodes, order))
        return int(made)

    def costs(self, off: Floats, weight: Floats) -> Floats:
        """Return what every word costs."""
        return np.asarray(costs_of(Rows(self.word, self.home, off, weight)))


def _looked(rows: Rows, now: Bits) -> Looked:
    return Looked(rows, room(now), np.zeros(rows.word.shape[1]))


def arrays_of(network: Network) -> Nodes:
    """Return a network as arrays."""
    first = CONSTANTS + network.inputs
    signals = first + len(network.nodes)
    fan, lut = np.zeros((signals, 3), np.int64), np.zeros(signals, np.int64)
    for s, node in enumerate(network.nodes, first):
        fan[s, : len(node.operands)] = node.operands
        lut[s] = node.lut
    size = np.full(signals, -1, np.int64)
    size[first:] = 1
    outs, refs = np.array(network.outputs, np.int64), np.zeros(signals, np.int64)
    np.add.at(refs, fan[first:].ravel(), 1)
    np.add.at(refs, outs, 1)
    level, height = np.zeros(signals, np.int64), np.zeros(signals, np.int64)
    return Nodes(fan, lut, refs, size, level, height, outs, stack_of(signals), first)


def stack_of(signals: int) -> Whole:
    """Return room for a walk over so many signals."""
    return np.zeros(4 * signals + 8, np.int64)


def planes_of(nodes: Nodes, inputs: Bits) -> Bits:
    """Return planes of which only constants and inputs are filled in."""
    planes = np.zeros((len(nodes.fan), inputs.shape[1]), np.uint64)
    planes[1], planes[CONSTANTS : nodes.first] = ALL_ONES, inputs
    return planes


def room(now: Bits) -> Planes:
    """Return planes with room for those after a change."""
    signals = len(now)
    return Planes(now, np.empty_like(now), np.zeros(signals, np.uint8), np.zeros(signals, np.int64))


def network_of(nodes: Nodes, order: Whole) -> Network:
    """Return arrays as a network."""
    builder = Builder(nodes.first - CONSTANTS)
    literals = {s: 2 * s for s in range(nodes.first)}
    for s in order.tolist():
        operands = (literals[k] for k in nodes.fan[s].tolist())
        literals[s] = builder.node(int(nodes.lut[s]), *operands)
    return builder.build(literals[k] for k in nodes.outs.tolist())


def no_mirror() -> Mirror:
    """Return that nothing has to follow."""
    empty = np.zeros(0, np.int64)
    marks = np.zeros(0, np.uint8)
    nodes = Nodes(np.zeros((0, 3), np.int64), empty, empty, empty, empty, empty, empty, empty, 0)
    planes = Planes(np.zeros((0, 0), np.uint64), np.zeros((0, 0), np.uint64), marks, empty)
    return Mirror(nodes, planes, empty, empty, marks, marks, marks, empty, marks, marks)


def row_planes(column: Whole) -> Bits:
    """Return a column of bits, a row each, as words of 64 rows."""
    packed = np.packbits(column.astype(np.uint8), bitorder="little")
    padded = np.zeros(-(-len(packed) // 8) * 8, np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)
