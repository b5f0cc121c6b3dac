"""What a network costs: nodes, depth, or an estimate of 6-input look-up tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.logic.synthesis.cones import cones

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
    return len(cones(network, 6))
