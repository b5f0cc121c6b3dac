"""Large networks cut into runs of nodes, each a network of its own, joined by the wiring.

A compiler's time and memory grow faster than the length of a function; so a long network is handed
to it in pieces, which pass values on through planes.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from boolcomp.engines.wiring import Call
from boolcomp.logic.network import CONSTANTS, Builder
from boolcomp.logic.order import in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.engines.wiring import Wiring
    from boolcomp.logic.network import Network

MOST_REMADE = 8  # nodes: a sub-cube of ten literals, say
CUT_REACH = 8  # a cut may move by so small a part of a piece to where fewer values pass


class _Piece:
    """Part of a network: `reads` and `makes` are the whole's signals that it takes and gives."""

    def __init__(self, whole: Network, run: range, sizes: Sequence[int], wanted: set[int]) -> None:
        first = CONSTANTS + whole.inputs
        inside = set(run)
        reads = set()
        stack = list(run)
        while stack:
            for signal in whole.nodes[stack.pop() - first].operands:
                if signal in inside or signal in reads:
                    continue
                if signal >= first and sizes[signal - first] <= MOST_REMADE:
                    inside.add(signal)
                    stack.append(signal)
                else:
                    reads.add(signal)
        self.reads = sorted(reads)
        self.makes = [signal for signal in run if signal in wanted]
        builder = Builder(len(self.reads))
        literals = {signal: builder.input(k) for k, signal in enumerate(self.reads)}
        for signal in sorted(inside):
            lut, operands = whole.nodes[signal - first]
            literals[signal] = builder.node(lut, *(literals[k] for k in operands))
        self.network = in_order(builder.build(literals[signal] for signal in self.makes))


def split_network(network: Network, most: int) -> list[_Piece]:
    """Return pieces of about so many nodes that together compute the outputs of a network.

    A value that takes but a few nodes from the inputs is made again in every piece that needs it:
    that costs less than to write and read it.
    """
    first = CONSTANTS + network.inputs
    sizes: list[int] = []
    for _, operands in network.nodes:
        size = 1 + sum(sizes[k - first] for k in operands if k >= first)
        sizes.append(min(size, MOST_REMADE + 1))
    cuts = _cuts(network, most)
    wanted = set(network.outputs)
    pieces = []
    for run in reversed([range(a, b) for a, b in pairwise(cuts)]):
        piece = _Piece(network, run, sizes, wanted)
        wanted.update(signal for signal in piece.reads if signal >= first)
        if piece.makes:
            pieces.append(piece)
    return pieces[::-1]


def _cuts(network: Network, most: int) -> list[int]:
    """Return the first signals of pieces, and what follows the last: where few values pass over."""
    first, nodes = CONSTANTS + network.inputs, len(network.nodes)
    last: dict[int, int] = {}
    for signal, node in enumerate(network.nodes, first):
        last.update(dict.fromkeys(node.operands, signal))
    changes = [0] * (nodes + 1)
    for signal, end in last.items():
        if signal >= first:
            changes[signal + 1 - first] += 1
            changes[end + 1 - first] -= 1
    passing = list(accumulate(changes))  # those that node k or a later one reads of earlier ones
    count = -(-nodes // most)
    reach = nodes // count // CUT_REACH
    cuts = [first]
    for k in range(1, count):
        even = nodes * k // count
        near = range(even - reach, even + reach + 1)
        cuts.append(first + min(near, key=lambda at: (passing[at], abs(at - even))))
    return [*cuts, first + nodes]


def split_calls(wiring: Wiring, most: int, each: int | None = None) -> Wiring:
    """Return a wiring with the same results whose networks have about so many nodes at most.

    Networks with more are cut into pieces of about so many, or of `each` nodes.

    The outputs of a split network that are inputs or constants come from a network without nodes.
    """
    if all(len(network.nodes) <= most for network in wiring.networks):
        return wiring
    networks: dict[Network, int] = {}
    large = {
        k: in_order(network)
        for k, network in enumerate(wiring.networks)
        if len(network.nodes) > most
    }
    pieces = {k: split_network(network, each or most) for k, network in large.items()}
    calls: list[Call] = []
    planes = sum(port.code.bits for port in wiring.ports)
    place = {k: k for k in range(planes)}

    def call(network: Network, inputs: tuple[int, ...]) -> int:
        nonlocal planes
        calls.append(Call(networks.setdefault(network, len(networks)), inputs, planes))
        planes += len(network.outputs)
        return calls[-1].first

    for old in wiring.calls:
        network = wiring.networks[old.network]
        inputs = tuple(place[k] for k in old.inputs)
        if old.network in pieces:
            made = {CONSTANTS + k: plane for k, plane in enumerate(inputs)}
            for piece in pieces[old.network]:
                at = call(piece.network, tuple(made[signal] for signal in piece.reads))
                made.update((signal, at + k) for k, signal in enumerate(piece.makes))
            network, inputs = _gathering(large[old.network], made)
        at = call(network, inputs)
        place.update((old.first + k, at + k) for k in range(len(network.outputs)))
    results = tuple(
        replace(r, first=place[r.first], saturated=place[r.saturated]) for r in wiring.results
    )
    return replace(
        wiring, networks=tuple(networks), calls=tuple(calls), results=results, planes=planes
    )


def _gathering(network: Network, made: dict[int, int]) -> tuple[Network, tuple[int, ...]]:
    """Return a network without nodes that puts a split network's outputs side by side."""
    reads = sorted({signal for signal in network.outputs if signal >= CONSTANTS})
    builder = Builder(len(reads))
    literals = {0: 0, 1: 2, **{signal: builder.input(k) for k, signal in enumerate(reads)}}
    gathered = builder.build(literals[signal] for signal in network.outputs)
    return gathered, tuple(made[signal] for signal in reads)
