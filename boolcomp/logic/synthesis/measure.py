"""What a network costs: nodes, depth, or an estimate of 6-input look-up tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.logic.network import CONSTANTS

if TYPE_CHECKING:
    from boolcomp.logic.network import Network

Objective = Literal["nodes", "depth", "lut6"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)


def measure(network: Network, objective: Objective) -> tuple[int, int, int]:
    """Return what is to be small, most important first; ties go to nodes, then to depth."""
    nodes, depth = len(network.nodes), network.depth
    if objective == "depth":
        return depth, nodes, 0
    if objective == "lut6":
        return lut6_count(network), nodes, depth
    return nodes, depth, 0


def lut6_count(network: Network) -> int:
    """Return how many 6-input tables hold a network when nodes absorb those only they read.

    An upper bound on what a mapper finds.
    """
    first = CONSTANTS + network.inputs
    readers = [0] * (first + len(network.nodes))
    for node in network.nodes:
        for k in node.operands:
            readers[k] += 1
    for k in network.outputs:
        readers[k] += 1
    roots = [True] * len(readers)
    count = 0
    for signal in range(len(readers) - 1, first - 1, -1):
        if roots[signal]:
            count += 1
            for k in _absorbed(network, signal, readers):
                roots[k] = False
    return count


def _absorbed(network: Network, root: int, readers: list[int]) -> list[int]:
    """Return the nodes that fit into one table with a root, nearest first."""
    first = CONSTANTS + network.inputs
    leaves = list(network.nodes[root - first].operands)
    inside: list[int] = []
    place = 0
    while place < len(leaves):
        leaf = leaves[place]
        if leaf >= first and readers[leaf] == 1:
            more = [k for k in network.nodes[leaf - first].operands if k not in leaves]
            if len(leaves) - 1 + len(more) <= 6:
                leaves[place : place + 1] = more
                inside.append(leaf)
                continue
        place += 1
    return inside
