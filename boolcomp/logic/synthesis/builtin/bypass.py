"""Fewer levels: nodes on longest paths choose between two values once the latest signal is there.

A chain of nodes that wait for each other, as carries do, is calculated for both values of the
signal that it begins with, and a multiplexer picks one: one level in place of all of the chain,
for about two nodes a level that is saved (a carry-select adder, found wherever it pays). The chain
that lies on most of the longest paths for the fewest nodes goes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.logic.network import CONSTANTS, FALSE, TRUE, Builder, Network

if TYPE_CHECKING:
    from boolcomp.twolevel.clock import Clock

MUX = 0xCA
LONGEST = 4  # nodes of a chain
MORE = 0.3  # of what the first level is worth every further one that a chain saves is
BESIDE = 0.5  # nodes that any chain costs, so that those for nothing are not worth all


class Bypass(NamedTuple):
    """A chain, its last node first, and the signal that it waits for."""

    worth: float
    chain: tuple[int, ...]
    signal: int


def bypassed(network: Network, clock: Clock) -> Network:
    """Return an equivalent network of the fewest levels that bypasses reach, or the same."""
    best = made = network
    depth = network.depth
    while not clock.over and (found := _best(made)) is not None:
        made = _with_bypass(made, found)
        if made.depth < depth:
            best, depth = made, made.depth
    return best


@dataclass(frozen=True, slots=True)
class _Paths:
    """The longest paths of a network: the levels of signals, and who lies on how many.

    `late` is of every node the operands that it waits for, where it lies on a longest path itself.
    """

    network: Network
    levels: list[int]
    late: dict[int, tuple[int, ...]]
    share: dict[int, float]
    readers: list[int]

    def others(self, signal: int, waited: int) -> list[int]:
        """Return the operands of a node but one."""
        first = CONSTANTS + self.network.inputs
        return [k for k in self.network.nodes[signal - first].operands if k != waited]


def _paths(network: Network) -> _Paths:
    first, ends = CONSTANTS + network.inputs, sorted(set(network.outputs))
    levels, readers = [0] * first, [0] * (first + len(network.nodes))
    for node in network.nodes:
        levels.append(1 + max(levels[k] for k in node.operands))
        for k in node.operands:
            readers[k] += 1
    for k in network.outputs:
        readers[k] += 1
    most = max((levels[k] for k in ends), default=0)
    late: dict[int, tuple[int, ...]] = {}
    above = {k: 1.0 for k in ends if levels[k] == most}
    for signal in range(first + len(network.nodes) - 1, first - 1, -1):
        if signal in above:
            operands = network.nodes[signal - first].operands
            late[signal] = tuple(k for k in operands if levels[k] == levels[signal] - 1)
            for k in late[signal]:
                above[k] = above.get(k, 0.0) + above[signal]
    below = {k: 1.0 for k in above if k < first}
    for signal in sorted(late):
        below[signal] = sum(below[k] for k in late[signal])
    total = sum(below[k] for k in ends if k in late and levels[k] == most)
    share = {signal: above[signal] * below[signal] / total for signal in late}
    return _Paths(network, levels, late, share, readers)


def _best(network: Network) -> Bypass | None:
    """Return the bypass that is worth most, if any saves a level of a longest path."""
    paths = _paths(network)
    best: Bypass | None = None
    for signal in sorted(paths.late):
        chain = [signal]
        while len(chain) <= LONGEST and len(late := paths.late.get(chain[-1], ())) == 1:
            if late[0] < CONSTANTS + network.inputs:
                break
            if len(chain) > 1:
                worth = _worth(paths, chain, late[0])
                if worth > 0 and (best is None or worth > best.worth):
                    best = Bypass(worth, tuple(chain), late[0])
            chain.append(late[0])
    return best


def _worth(paths: _Paths, chain: list[int], signal: int) -> float:
    """Return what a bypass is worth: the longest paths that it shortens beside what it costs."""
    cost, ready, waited, alive = 1, -1, signal, False
    for place, one in enumerate(reversed(chain)):
        others = paths.others(one, waited)
        arrive = max([paths.levels[k] for k in others], default=-1)
        ready = max(ready, arrive) + (len(others) + (place > 0) > 1)
        cost += 2 * (len(others) + (place > 0) > 1)
        waited = one
    for one in chain:  # those that nothing else reads are not needed any more
        alive |= one != chain[0] and paths.readers[one] > 1
        cost -= not alive
    gain = paths.levels[chain[0]] - 1 - max(paths.levels[signal], ready)
    share = paths.share[chain[0]]
    return share * (1 + MORE * (gain - 1)) / (cost + BESIDE) if gain > 0 else 0.0


def _with_bypass(network: Network, found: Bypass) -> Network:
    """Return a network in which the last node of a chain is chosen by the signal."""
    first = CONSTANTS + network.inputs
    builder = Builder(network.inputs)
    literals = [2 * FALSE, 2 * TRUE, *(builder.input(k) for k in range(network.inputs))]
    for signal, node in enumerate(network.nodes, first):
        if signal != found.chain[0]:
            literals.append(builder.node(node.lut, *(literals[k] for k in node.operands)))
            continue
        values = []
        for value in (2 * FALSE, 2 * TRUE):
            known = {found.signal: value}
            for one in reversed(found.chain):
                lut, operands = network.nodes[one - first]
                known[one] = builder.node(lut, *(known.get(k, literals[k]) for k in operands))
            values.append(known[signal])
        literals.append(builder.node(MUX, literals[found.signal], values[1], values[0]))
    return builder.build(literals[k] for k in network.outputs)
