"""Fewer nodes by exact resubstitution: every node may read any three signals that make it.

A node matters only at the points where an output sees it; on those points, which complete truth
tables show exactly, any three earlier signals that tell its ones from its zeros can take the place
of its operands. What saves nodes is taken; what saves none is taken too, at random, since it leads
out of local minima. Candidates are told from impostors by pairs of points, each impostor that gets
through adding the pair that refutes it.

The idea of resubstitution by sampled pairs and don't-cares: Mishchenko et al. 2011, "Scalable
don't-care-based logic optimization and resynthesis"; here the don't-cares are complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.logic import luts, simulation
from boolcomp.logic.formats import clean
from boolcomp.logic.network import CONSTANTS, Builder, Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.synthesis.builtin.resub_kernels import Graph
    from boolcomp.logic.synthesis.resub_kernels import Hunt
    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.twolevel.clock import Clock

MOST_INPUTS = 12
MOST_NODES = 2000
MOST_WORDS = 40_000  # of all planes: a sweep then takes seconds at most


@dataclass(frozen=True, slots=True)
class LevelLimits:
    """When the inputs arrive, and the latest level allowed to every output."""

    arrive: tuple[int, ...]
    latest: tuple[int, ...]

    @classmethod
    def of_depth(cls, network: Network, most: int | None) -> LevelLimits:
        """Allow all outputs the same depth (None: any), or the depth the network has already."""
        latest = 1 << 30 if most is None else max(most, network.depth)
        return cls((0,) * network.inputs, (latest,) * len(network.outputs))


def fits(network: Network) -> bool:
    """Tell whether a network is small enough for complete truth tables of all nodes."""
    words = len(network.nodes) << max(0, network.inputs - 6)
    small = network.inputs <= MOST_INPUTS and len(network.nodes) <= MOST_NODES
    return small and words <= MOST_WORDS


def resubstitute(
    network: Network,
    clock: Clock,
    *,
    table: TruthTable | None = None,
    sweeps: int = 100,
    stale: int = 12,
    seed: int = 1,
    timing: LevelLimits | None = None,
) -> Network:
    """Return a network of no more nodes that agrees with `table`, or with the given network.

    Ends after `sweeps` sweeps, or after `stale` in a row that save nothing, or when the clock is
    over. No output comes later than `timing` says (which the given network must keep). The same
    for the same seed, unless the clock ends it.
    """
    from boolcomp.logic.synthesis.builtin.resub_sweep import sweep  # noqa: PLC0415 (only where there is work)

    network = clean(network)
    if not network.nodes or not fits(network) or clock.over:
        return network
    care = _care(network, table)
    graph = _graph(network, care, timing or LevelLimits.of_depth(network, None), seed)
    hunt = _hunt(graph)
    left = stale
    while sweeps and left and not clock.over:
        left = stale if sweep(graph, hunt) > 0 else left - 1
        sweeps -= 1
    found = _network(graph, network.inputs)
    return found if len(found.nodes) <= len(network.nodes) else network


def _care(network: Network, table: TruthTable | None) -> list[int]:
    everything = simulation.ones(network.inputs)
    if table is None or not table.free:
        return [everything] * len(network.outputs)
    return [everything & ~simulation.plane_of(column) for column in table.free]


def _graph(network: Network, care: Sequence[int], timing: LevelLimits, seed: int) -> Graph:
    """Return a network as arrays."""
    from boolcomp.logic.synthesis.builtin.resub_kernels import Graph  # noqa: PLC0415 (only where there is work)

    first = CONSTANTS + network.inputs
    signals = first + len(network.nodes)
    fan, lut = np.zeros((signals, 3), np.int64), np.zeros(signals, np.int64)
    everything = simulation.ones(network.inputs)
    algebra = simulation.Planes(everything)
    values = [0, everything, *simulation.input_planes(network.inputs)]
    for s, node in enumerate(network.nodes, first):
        fan[s, : len(node.operands)] = node.operands
        lut[s] = node.lut
        values.append(algebra.node(node.lut, tuple(values[k] for k in node.operands)))
    refs, outs = np.zeros(signals, np.int64), np.array(network.outputs, np.int64)
    np.add.at(refs, fan[first:].ravel(), 1)
    np.add.at(refs, outs, 1)
    planes = _words(values, network.inputs)
    return Graph(
        fan, lut, planes, refs, outs,
        care=_words(care, network.inputs),
        arrive=np.array([0] * CONSTANTS + list(timing.arrive), np.int64),
        latest=np.array(timing.latest, np.int64),
        state=np.array([2 * seed + 1], np.uint64),
        order=np.zeros(signals, np.int64),
        stack=np.zeros(4 * signals + 4, np.int64),
        level=np.zeros(signals, np.int64),
        required=np.zeros(signals, np.int64),
        after=np.zeros(signals, np.uint8),
        flipped=np.zeros_like(planes),
        seen=np.zeros(planes.shape[1], np.uint64),
    )  # fmt: skip


def _hunt(graph: Graph) -> Hunt:
    """Return room for the search for operands."""
    from boolcomp.logic.synthesis.resub_kernels import PAIRS, Hunt  # noqa: PLC0415 (only where there is work)

    signals, words = graph.planes.shape
    width = -(-signals // 64)
    return Hunt(
        candidates=np.zeros(signals, np.int64),
        points=np.zeros((PAIRS, 2), np.int64),
        vectors=np.zeros((signals, PAIRS // 64), np.uint64),
        owners=np.zeros((PAIRS, width), np.uint64),
        all_pairs=np.zeros(PAIRS // 64, np.uint64),
        left=np.zeros(PAIRS // 64, np.uint64),
        rest=np.zeros(PAIRS // 64, np.uint64),
        chosen=np.zeros(width, np.uint64),
        met=np.zeros(width, np.uint64),
        high=np.zeros(words, np.uint64),
        low=np.zeros(words, np.uint64),
        best=np.zeros(11, np.int64),
    )


def _network(graph: Graph, inputs: int) -> Network:
    """Return the network that arrays hold."""
    from boolcomp.logic.synthesis.builtin.resub_kernels import sort_nodes  # noqa: PLC0415 (likewise)

    count = sort_nodes(graph)
    builder = Builder(inputs)
    literals = [0, 2, *(builder.input(k) for k in range(inputs))]
    literals += [0] * (len(graph.refs) - len(literals))
    for s in graph.order[:count].tolist():
        operands = [literals[k] for k in graph.fan[s].tolist()]
        literals[s] = builder.node(int(graph.lut[s]) & luts.ALL, *operands)
    return builder.build(literals[k] for k in graph.outs.tolist())


def _words(planes: Sequence[int], inputs: int) -> NDArray[np.uint64]:
    size = max(8, (1 << inputs) // 8)
    data = b"".join(plane.to_bytes(size, "little") for plane in planes)
    return np.frombuffer(data, "<u8").astype(np.uint64).reshape(len(planes), size // 8)
