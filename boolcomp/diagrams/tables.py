"""The tables of networks, as words: what diagrams are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.logic.network import CONSTANTS, Builder, copied
from boolcomp.logic.simulation import truth_planes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.logic.network import Network

MOST_INPUTS = 22  # of one table, as of one in paper mode
MOST_WORD = 62  # bits


def words_of(network: Network) -> NDArray[np.int64]:
    """Return for every input word a network's output word, first outputs most significant."""
    rows = 1 << network.inputs
    if network.inputs > MOST_INPUTS or len(network.outputs) > MOST_WORD:
        raise ValueError(f"{network!r} is too large for a table")
    words = np.zeros(rows, np.int64)
    for plane in truth_planes(network):
        data = np.frombuffer(plane.to_bytes(-(-rows // 8), "little"), np.uint8)
        words = words << 1 | np.unpackbits(data, count=rows, bitorder="little")
    return words


def narrowed(network: Network) -> tuple[Network, tuple[int, ...]]:
    """Return a network without the inputs that nothing reads, and which inputs are left."""
    read = {signal for node in network.nodes for signal in node.operands} | {*network.outputs}
    kept = tuple(k for k in range(network.inputs) if CONSTANTS + k in read)
    builder = Builder(len(kept))
    literals = [0] * network.inputs
    for place, k in enumerate(kept):
        literals[k] = builder.input(place)
    return builder.build(copied(network, builder, literals)), kept
