"""Sweeps over a network's nodes: each changed to what saves more than it costs.

A change makes a node a constant, another signal or its inverse, or a function of three others. What
it costs is known at every row: the node is inverted, all that follows is run again, and rows tell
what each of them then costs. One inversion prices all changes of a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.approximate import kernels
from boolcomp.logic.network import CONSTANTS, Builder, Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.approximate.kernels import Rows

    Planes = NDArray[np.uint64]

LEAST = 1e-7  # nodes that a change must gain


@dataclass(frozen=True, slots=True)
class Breadth:
    """How many signals are looked at in place of a node: alone, and three at a time."""

    alone: int
    together: int
    sigmas: float = 0.0
    aside: float = 0.01


class Sweeping:
    """A network that changes, at rows that do not."""

    def __init__(self, network: Network, inputs: Planes, rows: Rows, breadth: Breadth) -> None:
        self.rows, self.breadth, self.inputs = rows, breadth, inputs
        self.state = np.array([1], np.uint64)
        self._take(by_levels(network))

    def _take(self, network: Network) -> None:
        first = CONSTANTS + network.inputs
        signals = first + len(network.nodes)
        self.first, self.count = first, network.inputs
        self.fan, self.lut = np.zeros((signals, 3), np.int64), np.zeros(signals, np.int64)
        self.level, self.size = np.zeros(signals, np.int64), np.full(signals, -1, np.int64)
        for s, node in enumerate(network.nodes, first):
            self.fan[s, : len(node.operands)] = node.operands
            self.lut[s] = node.lut
            self.level[s] = 1 + max(self.level[k] for k in node.operands)
        self.size[first:] = 1
        self.outs = np.array(network.outputs, np.int64)
        self.refs = np.zeros(signals, np.int64)
        np.add.at(self.refs, self.fan[first:].ravel(), 1)
        np.add.at(self.refs, self.outs, 1)
        self.planes = np.zeros((signals, self.inputs.shape[1]), np.uint64)
        self.planes[1] = ~np.uint64(0)
        self.planes[CONSTANTS:first] = self.inputs
        kernels.evaluate(self.fan, self.lut, self.planes, first)
        self.flipped = np.empty_like(self.planes)
        self.after = np.zeros(signals, np.uint8)
        stack = np.zeros(4 * signals + 8, np.int64)
        self.nodes = kernels.Nodes(self.fan, self.refs, self.size, stack)
        self._read()

    def _read(self) -> None:
        count = self.rows.home.shape[1]
        self.words = kernels.words_of(self.planes, self.outs, self.rows.bits, count)
        self.found = np.zeros(count)

    @property
    def costs(self) -> NDArray[np.float64]:
        """What every output costs now."""
        return np.asarray(kernels.costs_of(self.words, self.rows.weight, self.rows.target))

    def sweep(self, rng: np.random.Generator, visits: int | None = None) -> int:
        """Look at every node once, or at so many of them; return how many were looked at."""
        order = rng.permutation(np.arange(self.first, len(self.fan)))[:visits]
        for node in order:
            if self.refs[node] and self.size[node] == 1:
                self._improve(int(node))
        self._take(by_levels(self.network()))
        return max(1, len(order))

    def _improve(self, node: int) -> None:
        """Make the best change of a node, if it gains anything."""
        kernels.flip(self.fan, self.lut, self.planes, node, self.after, self.flipped)
        net = self.planes, self.flipped, self.after
        if not kernels.flip_costs(net, self.outs, self.rows, self.words, self.found):
            return
        marks = np.zeros(self.planes.shape[1], np.uint64)
        places, costs, values = kernels.active_of(self.found, self.planes, node, marks)
        chosen, wires = self._candidates(node, marks)
        seen = kernels.gathered(self.planes, chosen, places)
        breadth, move = self.breadth, np.zeros(4, np.int64)
        looked = kernels.Looked(
            chosen, wires, breadth.together, seen, values, costs, breadth.sigmas, breadth.aside
        )
        gain = kernels.best_move(self.nodes, node, looked, self.state, move)
        if gain > LEAST:
            self._apply(node, move)

    def _candidates(self, node: int, marks: Planes) -> tuple[NDArray[np.int64], int]:
        """Return signals that come no later than a node: those as late, its operands, the rest."""
        living = np.flatnonzero((self.refs > 0) & (self.size != 0))
        living = np.concatenate([np.arange(CONSTANTS, self.first), living[living >= self.first]])
        living = living[living < node]
        level = self.level[node]
        beside = living[self.level[living] == level]
        before = living[self.level[living] < level]
        alone = self.breadth.alone
        beside = kernels.nearest(self.planes, node, marks, beside, alone // 4)
        before = kernels.nearest(self.planes, node, marks, before, alone)
        own = self.fan[node]
        rest = before[~np.isin(before, own)]
        return np.concatenate([beside, own, rest]), len(beside)

    def _apply(self, node: int, move: NDArray[np.int64]) -> None:
        kernels.release(self.nodes, node)
        self.lut[node], self.fan[node] = move[0], move[1:]
        if move[1] == move[2] == move[3]:
            self.size[node] = 0
        kernels.attach(self.nodes, node)
        kernels.evaluate(self.fan, self.lut, self.planes, node)
        self._read()

    def network(self) -> Network:
        """Return the network as it is."""
        builder = Builder(self.count)
        literals = [0, 2, *(builder.input(k) for k in range(self.count))]
        for s in range(self.first, len(self.fan)):
            operands = [literals[k] for k in self.fan[s]]
            literals.append(builder.node(int(self.lut[s]), *operands) if self.refs[s] else 0)
        return builder.build(literals[k] for k in self.outs)


def by_levels(network: Network) -> Network:
    """Return a network whose nodes come in the order of their levels."""
    first = CONSTANTS + network.inputs
    level = [0] * first
    for node in network.nodes:
        level.append(1 + max(level[k] for k in node.operands))
    order = sorted(range(first, len(level)), key=lambda s: (level[s], s))
    builder = Builder(network.inputs)
    literals = {s: 2 * s for s in range(first)}
    for s in order:
        lut, operands = network.nodes[s - first]
        literals[s] = builder.node(lut, *(literals[k] for k in operands))
    return builder.build(literals[k] for k in network.outputs)


def row_planes(column: NDArray[np.int64]) -> Planes:
    """Return a column of bits, a row each, as words of 64 rows."""
    packed = np.packbits(column.astype(np.uint8), bitorder="little")
    padded = np.zeros(-(-len(packed) // 8) * 8, np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)
