"""Fewer nodes of up to three inputs: nodes merged into those that read them, where that saves some.

For networks of others, whose gates have two inputs: XOR is three of them, a multiplexer too. Every
node is a table over some cuts, at most three signals that it depends on; of these the cheapest is
taken by area flow (Manohararajah et al. 2006): a signal's cost is shared by those that read it.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS, Builder

if TYPE_CHECKING:
    from boolcomp.logic.network import Network, Node

KEPT = 6  # cuts of a node
MOST_NODES = 200_000  # of a network that is merged: some ten seconds


class _Cut(NamedTuple):
    """A node as a table over at most three rising signals, and what it costs with all below."""

    flow: float
    leaves: tuple[int, ...]
    lut: int


def merged(network: Network) -> Network:
    """Return an equal network with no more nodes; one that is too large comes back as it is."""
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
    """Return the cheapest cuts of a node, made of its operands or of their cuts."""
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
    """Return the network of every node's best cut, of the nodes that are still needed."""
    first = CONSTANTS + network.inputs
    needed = [False] * len(cuts)
    for signal in network.outputs:
        needed[signal] = True
    for signal in range(len(cuts) - 1, first - 1, -1):
        if needed[signal]:
            for leaf in cuts[signal][0].leaves:
                needed[leaf] = True
    builder = Builder(network.inputs)
    literals = [0, 2, *(builder.input(k) for k in range(network.inputs))]
    for signal in range(first, len(cuts)):
        _, leaves, lut = cuts[signal][0]
        literals.append(builder.node(lut, *(literals[k] for k in leaves)) if needed[signal] else 0)
    return builder.build(literals[k] for k in network.outputs)
