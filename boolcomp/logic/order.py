"""Orders of evaluation for processors with few registers, and networks with fewer nodes.

The order is greedy: the next available node is the one that leaves the fewest live
values; ties go to the first in a depth-first walk from the outputs. With a `spacing`, a node waits
`spacing` steps after its operands while others are available, which hides the latency of operations
on processors that start several per cycle.
"""

from __future__ import annotations

import heapq
import random
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.logic import network as luts
from boolcomp.logic.network import CONSTANTS, rebuilt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.logic.network import Network, Node


def in_order(network: Network, spacing: int = 0, variant: int = 0) -> Network:
    """Return the same network with its nodes in greedy order.

    Variants other than 0 break ties at random; each is deterministic.
    """
    first = CONSTANTS + network.inputs
    order = greedy_order(network, spacing, variant)
    return rebuilt(network.inputs, ((s, *network.nodes[s - first]) for s in order), network.outputs)


def greedy_order(network: Network, spacing: int = 0, variant: int = 0) -> list[int]:
    return _Greedy(network, spacing, variant).order()


class _Greedy:
    """The state of the greedy choice."""

    def __init__(self, network: Network, spacing: int, variant: int) -> None:
        self.spacing = spacing
        self.first = CONSTANTS + network.inputs
        self.operands = [
            [signal - self.first for signal in operands if signal >= self.first]
            for _, operands in network.nodes
        ]
        self.users: list[list[int]] = [[] for _ in network.nodes]
        for k, operands in enumerate(self.operands):
            for operand in operands:
                self.users[operand].append(k)
        self.uses = [len(users) for users in self.users]
        for signal in network.outputs:
            if signal >= self.first:
                self.uses[signal - self.first] += 1
        self.missing = [len(operands) for operands in self.operands]
        reads, outputs = self.operands, [signal - self.first for signal in network.outputs]
        if variant:
            draw = random.Random(variant)  # noqa: S311 (no secret)
            reads = [draw.sample(some, len(some)) for some in reads]
            draw.shuffle(outputs)
        self.rank = _depth_first(reads, outputs)
        self.made = [-1] * len(self.operands)  # the step of a node
        self.heap: list[tuple[int, int, int]] = []
        self.waiting: list[tuple[int, int]] = []  # the earliest step of a node

    def order(self) -> list[int]:
        self._offer_all(range(len(self.missing)), 0)
        order: list[int] = []
        step = 0
        while self.heap or self.waiting:
            if not self.heap:
                step = max(step, self.waiting[0][0])
            while self.waiting and self.waiting[0][0] <= step:
                self._offer(heapq.heappop(self.waiting)[1])
            _, _, k = heapq.heappop(self.heap)
            if self.made[k] >= 0:
                continue  # an old entry with a smaller gain
            self.made[k] = step
            step += 1
            order.append(self.first + k)
            for operand in self.operands[k]:
                self.uses[operand] -= 1
                if self.uses[operand] == 1:  # its last user now frees it
                    self._offer_all(self.users[operand], step)
            for user in self.users[k]:
                self.missing[user] -= 1
            self._offer_all(self.users[k], step)
        return order

    def _offer_all(self, nodes: Iterable[int], step: int) -> None:
        for k in nodes:
            if self.missing[k] or self.made[k] >= 0:
                continue
            start = max((self.made[o] for o in self.operands[k]), default=-1) + self.spacing
            if self.spacing and self.operands[k] and start > step:
                heapq.heappush(self.waiting, (start, k))
            else:
                self._offer(k)

    def _offer(self, k: int) -> None:
        gain = sum(self.uses[operand] == 1 for operand in self.operands[k])
        heapq.heappush(self.heap, (-gain, self.rank[k], k))


def _depth_first(operands: list[list[int]], outputs: Iterable[int]) -> list[int]:
    """Return the place of every node in a depth-first walk from the outputs."""
    rank = [-1] * len(operands)
    count = 0
    for output in outputs:
        stack = [output]
        while stack:
            k = stack[-1]
            if k < 0 or rank[k] >= 0:
                stack.pop()
                continue
            waiting = [j for j in operands[k] if rank[j] < 0]
            if waiting:
                stack.extend(reversed(waiting))
            else:
                rank[k] = count
                count += 1
                stack.pop()
    return rank


def most_live(network: Network) -> int:
    """Return the largest number of live node values."""
    first = CONSTANTS + network.inputs
    last: dict[int, int] = {}
    for signal, (_, operands) in enumerate(network.nodes, first):
        last.update(dict.fromkeys(operands, signal))
    last.update(dict.fromkeys(network.outputs, first + len(network.nodes)))
    ends: dict[int, int] = {}
    live = largest = 0
    for signal in range(first, first + len(network.nodes)):
        live += 1
        ends[last[signal]] = ends.get(last[signal], 0) + 1
        live -= ends.get(signal, 0)
        largest = max(largest, live)
    return largest


# --------------------------------------------------------------------------------------------------
# Fewer LUT3 nodes: nodes merged into their users, for imported networks of two-input gates, in
# which an XOR or a multiplexer has three gates. Every node is a table over its cuts of at most
# three signals. The cheapest cut is chosen by area flow (Manohararajah et al. 2006): the users of a
# signal share its cost.
# --------------------------------------------------------------------------------------------------

KEPT = 6  # cuts of a node
MOST_NODES = 200_000  # of a merged network: about ten seconds


class _Cut(NamedTuple):
    """A node as a table over at most three rising signals, and its cost with all below."""

    flow: float
    leaves: tuple[int, ...]
    lut: int


def merged(network: Network) -> Network:
    """Return an equal network with no more nodes; a network that is too large is unchanged."""
    first = CONSTANTS + network.inputs
    if len(network.nodes) > MOST_NODES:
        return network
    readers = [0] * (first + len(network.nodes))
    for signal in (k for node in network.nodes for k in node.operands):
        readers[signal] += 1
    for signal in network.outputs:
        readers[signal] += 1
    flows = [0.0] * len(readers)
    cuts: list[list[_Cut]] = [[] for _ in range(first)]
    for signal, node in enumerate(network.nodes, first):
        cuts.append(_cuts(node, cuts, flows))
        flows[signal] = cuts[-1][0].flow / readers[signal]
    found = _built(network, cuts)
    return found if len(found.nodes) < len(network.nodes) else network


def _cuts(node: Node, cuts: list[list[_Cut]], flows: list[float]) -> list[_Cut]:
    """Return the cheapest cuts of a node, composed of its operands or of their cuts."""
    found: dict[tuple[int, ...], _Cut] = {}
    ways = [[_Cut(0.0, (k,), luts.FIRST), *cuts[k]] for k in node.operands]
    for chosen in product(*ways):
        leaves = tuple(sorted({leaf for cut in chosen for leaf in cut.leaves}))
        if len(leaves) > 3 or leaves in found:
            continue
        tables = [_over(cut, leaves) for cut in chosen]
        lut = luts.compose(node.lut, (*tables, *[0] * (3 - len(tables)))[:3])
        found[leaves] = _Cut(1.0 + sum(flows[leaf] for leaf in leaves), leaves, lut)
    return sorted(found.values())[:KEPT]


def _over(cut: _Cut, leaves: tuple[int, ...]) -> int:
    """Return the table of a cut over more leaves."""
    letters = [luts.LETTERS[leaves.index(leaf)] for leaf in cut.leaves]
    return luts.compose(cut.lut, (*letters, *[0] * (3 - len(letters)))[:3])


def _built(network: Network, cuts: list[list[_Cut]]) -> Network:
    """Return the network of the best cuts of all needed nodes."""
    first = CONSTANTS + network.inputs
    needed = [False] * len(cuts)
    for signal in network.outputs:
        needed[signal] = True
    for signal in range(len(cuts) - 1, first - 1, -1):
        if needed[signal]:
            for leaf in cuts[signal][0].leaves:
                needed[leaf] = True
    best = ((s, cuts[s][0]) for s in range(first, len(cuts)) if needed[s])
    return rebuilt(network.inputs, ((s, cut.lut, cut.leaves) for s, cut in best), network.outputs)
