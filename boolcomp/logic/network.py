"""Logic as a network of nodes with at most three inputs: hash-consed, immutable, one traversal.

A signal is a number: 0 and 1 are the constants, then come the primary inputs, then the nodes in
topological order. A node is the 8-bit truth table of its operands (see `luts`), which are earlier
signals. Every network is in a normal form: operands are not constant, differ and rise; no node
ignores an operand; no two nodes are equal; every node is needed. So networks built alike are equal.

Whatever is done with a network (evaluate, count, lower, prove) is a `NodeAlgebra` given to `fold`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from boolcomp.logic import luts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Value = TypeVar("Value")
FALSE, TRUE = 0, 1
CONSTANTS = 2


class Node(NamedTuple):
    """A truth table and its operands, at most three earlier signals."""

    lut: int
    operands: tuple[int, ...]


class NodeAlgebra(Protocol[Value]):
    """What a traversal computes for constants and nodes."""

    def constant(self, value: int) -> Value:
        """Return the value of a constant, 0 or 1."""

    def node(self, lut: int, operands: tuple[Value, ...]) -> Value:
        """Return the value of a node from those of its operands."""


@dataclass(frozen=True, slots=True, repr=False)
class Network:
    """Nodes in topological order, and the signals that are the outputs."""

    inputs: int
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise a `ValueError` where this is not a network in normal form."""
        first = CONSTANTS + self.inputs
        used = set(self.outputs)
        for signal, (lut, operands) in enumerate(self.nodes, first):
            if not 1 <= len(operands) <= 3 or not 0 < lut < luts.ALL:
                raise ValueError(f"node {signal - first} has {len(operands)} inputs, table {lut}")
            if not operands[0] >= CONSTANTS or not operands[-1] < signal:
                raise ValueError(f"node {signal - first} reads constants or later nodes")
            if any(a >= b for a, b in pairwise(operands)):
                raise ValueError(f"the operands of node {signal - first} do not rise")
            if not _normal(lut, len(operands)):
                raise ValueError(f"node {signal - first}: 0x{lut:02X} is not of its operands")
            used.update(operands)
        if len(set(self.nodes)) != len(self.nodes):
            raise ValueError("two nodes are equal")
        if not all(0 <= signal < first + len(self.nodes) for signal in self.outputs):
            raise ValueError("an output is no signal of the network")
        if any(signal not in used for signal in range(first, first + len(self.nodes))):
            raise ValueError("a node is not needed by any output")

    def fold(self, algebra: NodeAlgebra[Value], inputs: Sequence[Value]) -> tuple[Value, ...]:
        """Return the outputs' values, computed node by node in order.

        A value is let go after its last use: at no time are more held than are still needed.
        """
        if len(inputs) != self.inputs:
            raise ValueError(f"{len(inputs)} values for {self.inputs} inputs")
        values: list[Value | None] = [algebra.constant(0), algebra.constant(1), *inputs]
        last = self._last_uses()
        for signal, (lut, operands) in enumerate(self.nodes, len(values)):
            values.append(algebra.node(lut, tuple(values[k] for k in operands)))  # type: ignore[misc]
            for k in operands:
                if last[k] == signal:
                    values[k] = None
        return tuple(values[k] for k in self.outputs)  # type: ignore[misc]

    def _last_uses(self) -> list[int]:
        first = CONSTANTS + self.inputs
        last = [0] * (first + len(self.nodes))
        for signal, (_, operands) in enumerate(self.nodes, first):
            for k in operands:
                last[k] = signal
        for k in self.outputs:
            last[k] = len(last)
        return last

    def operations(self) -> dict[str, int]:
        """Count the two-input operations `and`, `or`, `xor` and the inversions, `not`."""
        counts: dict[str, int] = {}
        for lut, _ in self.nodes:
            for kind, count in luts.operation_kinds(lut):
                counts[kind] = counts.get(kind, 0) + count
        return dict(sorted(counts.items()))

    @property
    def depth(self) -> int:
        """The largest number of nodes from an input to an output."""
        return max(self.fold(_Depth(), [0] * self.inputs), default=0)

    def __str__(self) -> str:
        from boolcomp.logic.networktext import render_network  # noqa: PLC0415 (it imports this module)

        return render_network(self)

    def __repr__(self) -> str:
        return (
            f"Network({self.inputs} inputs, {len(self.outputs)} outputs, {len(self.nodes)} nodes)"
        )


class _Depth:
    """The algebra of depths."""

    def constant(self, value: int) -> int:  # noqa: ARG002 (every constant is at depth 0)
        return 0

    def node(self, lut: int, operands: tuple[int, ...]) -> int:  # noqa: ARG002 (any node counts)
        return 1 + max(operands)


@cache
def _normal(lut: int, operands: int) -> bool:
    """Tell whether a table depends on exactly its first operands (and is no bare operand)."""
    if operands == 1:
        return lut == luts.NOT1
    return all(luts.depends(lut, k) == (k < operands) for k in range(3))


class Builder:
    """Makes a network node by node; equal nodes are made once.

    It deals in literals: twice a signal, plus one where the signal is inverted. Inversions vanish
    into the tables of the nodes that read them.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self._nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    @property
    def made(self) -> int:
        """How many nodes were made so far, whether anything will read them or not."""
        return len(self._nodes)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All of them, numbered as literals are."""
        return tuple(self._nodes)

    def input(self, place: int) -> int:
        """Return the literal of a primary input."""
        if not 0 <= place < self.inputs:
            raise ValueError(f"input {place} of {self.inputs}")
        return 2 * (CONSTANTS + place)

    def node(self, lut: int, *literals: int) -> int:
        """Return the literal of a table over at most three literals, simplified."""
        chosen = [2 * FALSE, 2 * FALSE, 2 * FALSE]
        chosen[: len(literals)] = literals
        for place, literal in enumerate(chosen):
            signal = literal >> 1
            if literal & 1:
                lut = luts.inverted(lut, place)
            if signal < CONSTANTS:
                lut = luts.cofactors(lut, place)[signal]
            elif earlier := [k for k in range(place) if chosen[k] >> 1 == signal]:
                lut = luts.compose(lut, _identified(place, earlier[0]))
        return self._normalised(lut, [literal >> 1 for literal in chosen])

    def _normalised(self, lut: int, signals: list[int]) -> int:
        places = list(luts.support(lut))
        if not places:
            return 2 * (TRUE if lut else FALSE)
        places.sort(key=signals.__getitem__)
        if len(places) == 1:
            return 2 * signals[places[0]] + int(lut != luts.LETTERS[places[0]])
        if places != sorted(places) or places != list(range(len(places))):
            tables = [luts.FIRST, luts.SECOND, luts.THIRD]
            for new, old in enumerate(places):
                tables[old] = luts.LETTERS[new]
            lut = luts.compose(lut, (tables[0], tables[1], tables[2]))
        return 2 * self._add(Node(lut, tuple(signals[k] for k in places)))

    def _add(self, node: Node) -> int:
        signal = self._known.get(node)
        if signal is None:
            signal = CONSTANTS + self.inputs + len(self._nodes)
            self._known[node] = signal
            self._nodes.append(node)
        return signal

    def uses(self) -> Counter[int]:
        """Count how many nodes read each literal, leaving inversions aside."""
        return Counter(2 * signal for node in self._nodes for signal in node.operands)

    def product(self, literal: int) -> tuple[int, int] | None:
        """Return the two literals whose AND a literal is, where it is that of such a node."""
        place = (literal >> 1) - CONSTANTS - self.inputs
        if literal & 1 or place < 0:
            return None
        lut, operands = self._nodes[place]
        for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
            if lut == (luts.FIRST ^ -a & luts.ALL) & (luts.SECOND ^ -b & luts.ALL):
                return 2 * operands[0] + a, 2 * operands[1] + b
        return None

    def all_of(self, literals: Iterable[int]) -> int:
        """Return the AND of literals, as a tree of nodes with three inputs."""
        return self._tree(luts.AND3, luts.AND2, 2 * TRUE, literals)

    def any_of(self, literals: Iterable[int]) -> int:
        """Return the OR of literals, as a tree of nodes with three inputs."""
        return self._tree(luts.OR3, luts.OR2, 2 * FALSE, literals)

    def _tree(self, three: int, two: int, empty: int, literals: Iterable[int]) -> int:
        level = sorted(set(literals) - {empty})
        if not level:
            return empty
        if len(level) % 2 == 0:  # then n/2 nodes do, and the pair goes first
            level = [*level[2:], self.node(two, *level[:2])] if len(level) > 2 else level
        done = 0
        while len(level) - done > 2:
            # Each node takes three signals off the list; its own queues up behind: depth log3.
            level.append(self.node(three, *level[done : done + 3]))
            done += 3
        return self.node(two, *level[done:]) if len(level) - done == 2 else level[done]

    def size(self, outputs: Iterable[int]) -> int:
        """Return how many nodes the network of these literals has, without making it."""
        first = CONSTANTS + self.inputs
        return sum(self._needed([self._positive(literal) for literal in outputs])[first:])

    def build(self, outputs: Iterable[int]) -> Network:
        """Return the network of these literals: the nodes they need, renumbered in order."""
        wanted = [self._positive(literal) for literal in outputs]
        needed, first = self._needed(wanted), CONSTANTS + self.inputs
        place = list(range(first)) + [0] * len(self._nodes)
        kept: list[Node] = []
        for signal in range(first, len(needed)):
            if needed[signal]:
                lut, operands = self._nodes[signal - first]
                place[signal] = first + len(kept)
                kept.append(Node(lut, tuple(place[k] for k in operands)))
        return Network(self.inputs, tuple(kept), tuple(place[k] for k in wanted))

    def _needed(self, wanted: Iterable[int]) -> list[bool]:
        """Return of every signal whether signals that are wanted need it."""
        first = CONSTANTS + self.inputs
        needed = [False] * (first + len(self._nodes))
        for signal in wanted:
            needed[signal] = True
        for signal in range(len(needed) - 1, first - 1, -1):
            if needed[signal]:
                for k in self._nodes[signal - first].operands:
                    needed[k] = True
        return needed

    def _positive(self, literal: int) -> int:
        signal = literal >> 1
        if not literal & 1:
            return signal
        if signal < CONSTANTS:
            return 1 - signal
        if signal >= CONSTANTS + self.inputs:  # better the inverse of the node than one more
            lut, operands = self._nodes[signal - CONSTANTS - self.inputs]
            return self._add(Node(~lut & luts.ALL, operands))
        return self._add(Node(luts.NOT1, (signal,)))


def _identified(place: int, earlier: int) -> tuple[int, int, int]:
    """Return three projections of which one is replaced by another."""
    tables = [luts.FIRST, luts.SECOND, luts.THIRD]
    tables[place] = luts.LETTERS[earlier]
    return (tables[0], tables[1], tables[2])


def copied(network: Network, builder: Builder, literals: Sequence[int]) -> tuple[int, ...]:
    """Add a network's nodes to a builder, over these literals; return those of its outputs."""
    return network.fold(_Copy(builder), literals)


class _Copy:
    """The algebra that rebuilds nodes."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def constant(self, value: int) -> int:
        return 2 * value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        return self.builder.node(lut, *operands)
