"""A network cut into cones of few inputs: nodes absorb those that only they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic import lutnetwork
from boolcomp.logic.lutblif import simplified
from boolcomp.logic.lutnetwork import LutNetwork
from boolcomp.logic.network import CONSTANTS
from boolcomp.logic.simulation import Planes

if TYPE_CHECKING:
    from boolcomp.logic.network import Network, Node


def cones(network: Network, inputs: int) -> dict[int, tuple[int, ...]]:
    """Return the leaves of every cone by its root, in the order of signals."""
    first = CONSTANTS + network.inputs
    readers = [0] * (first + len(network.nodes))
    for node in network.nodes:
        for k in node.operands:
            readers[k] += 1
    for k in network.outputs:
        readers[k] += 1
    roots = [True] * len(readers)
    found: dict[int, tuple[int, ...]] = {}
    for signal in range(len(readers) - 1, first - 1, -1):
        if roots[signal]:
            found[signal], inside = _absorbed(network, signal, readers, inputs)
            for k in inside:
                roots[k] = False
    return dict(reversed(found.items()))


def _absorbed(
    network: Network, root: int, readers: list[int], inputs: int
) -> tuple[tuple[int, ...], list[int]]:
    """Return the leaves of a root, and the nodes that fit into one table with it, nearest first."""
    first = CONSTANTS + network.inputs
    leaves = list(network.nodes[root - first].operands)
    inside: list[int] = []
    place = 0
    while place < len(leaves):
        leaf = leaves[place]
        if leaf >= first and readers[leaf] == 1:
            more = [k for k in network.nodes[leaf - first].operands if k not in leaves]
            if len(leaves) - 1 + len(more) <= inputs:
                leaves[place : place + 1] = more
                inside.append(leaf)
                continue
        place += 1
    return tuple(leaves), inside


def cone_luts(network: Network, inputs: int) -> LutNetwork:
    """Return the cones of a network as look-up tables."""
    first = CONSTANTS + network.inputs
    places = list(range(first))
    found: list[Node] = []
    roots = cones(network, inputs)
    for signal in range(first, first + len(network.nodes)):
        places.append(-1)
        if signal not in roots:
            continue
        leaves = roots[signal]
        made = simplified(_table(network, signal, leaves), [places[k] for k in leaves])
        if isinstance(made, int):
            places[signal] = made
        else:
            places[signal] = first + len(found)
            found.append(made)
    return LutNetwork(network.inputs, tuple(found), tuple(places[k] for k in network.outputs))


def _table(network: Network, root: int, leaves: tuple[int, ...]) -> int:
    """Return the table of a root over its leaves."""
    count = len(leaves)
    planes = Planes((1 << lutnetwork.width(count)) - 1)
    known = {leaf: lutnetwork.row(count, place) for place, leaf in enumerate(leaves)}

    def value(signal: int) -> int:
        if signal not in known:
            lut, operands = network.nodes[signal - CONSTANTS - network.inputs]
            known[signal] = planes.node(lut, tuple(value(k) for k in operands))
        return known[signal]

    return value(root)
