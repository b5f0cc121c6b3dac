"""The OR trees at a network's outputs, flattened into their terms, and parts made of some of them.

A term (leaf) is what an output's OR reads that is itself no OR: a product. In a factored network
that may be a factor times an OR, which is then flattened too: one leaf is the factor times one of
its terms. An OR that several read stays whole. A network whose outputs are not ORs has one leaf an
output. The OR of an output's leaves is the output.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS, FALSE, Builder, Node
from boolcomp.logic.order import in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.logic.network import Network


@dataclass(frozen=True, slots=True)
class Leaf:
    """A term of an output: a table over signals of the network, times a factor if there is one."""

    output: int
    term: Node
    factor: int | None = None

    @property
    def signals(self) -> tuple[int, ...]:
        """All signals that it reads."""
        return self.term.operands if self.factor is None else (*self.term.operands, self.factor)


def leaves_of(network: Network) -> tuple[Leaf, ...]:
    """Return the leaves of all outputs, output by output."""
    uses = [0] * (CONSTANTS + network.inputs + len(network.nodes))
    for _, operands in network.nodes:
        for signal in operands:
            uses[signal] += 1
    for signal in network.outputs:
        uses[signal] += 1
    flat = _Flat(network, uses)
    return tuple(leaf for k in range(len(network.outputs)) for leaf in flat.leaves(k))


class _Flat:
    """Flattens the ORs of a network that nobody else reads."""

    def __init__(self, network: Network, uses: list[int]) -> None:
        self.network = network
        self.first = CONSTANTS + network.inputs
        self.uses = uses

    def leaves(self, output: int) -> Iterable[Leaf]:
        for term in self.terms(self.network.outputs[output]):
            factor, other = self.factored(term)
            if other is None:
                yield Leaf(output, term)
            else:
                yield from (Leaf(output, inner, factor) for inner in self.terms(other))

    def terms(self, top: int) -> Iterable[Node]:
        """Yield the terms of an OR; a signal that is none is one term."""
        waiting = [top]
        while waiting:
            signal = waiting.pop()
            if signal == FALSE:
                continue
            if signal != top and not self.own(signal):
                yield Node(luts.FIRST, (signal,))
                continue
            parts = _apart(self.network.nodes[signal - self.first]) if signal >= self.first else ()
            if not parts:
                yield Node(luts.FIRST, (signal,))
                continue
            alone, others = parts
            waiting += alone
            yield from others

    def own(self, signal: int) -> bool:
        """Tell whether a signal is a node that only one other reads."""
        return signal >= self.first and self.uses[signal] == 1

    def factored(self, term: Node) -> tuple[int | None, int | None]:
        """Return the factor and the OR of which a term is the product, if it is one."""
        lut, operands = term
        if lut == luts.FIRST and self.own(operands[0]):
            lut, operands = self.network.nodes[operands[0] - self.first]
        if lut == luts.AND2:
            for factor, other in (operands, operands[::-1]):
                if self.own(other) and _apart(self.network.nodes[other - self.first]):
                    return factor, other
        return None, None


def _apart(node: Node) -> tuple[list[int], list[Node]] | tuple[()]:
    """Take a node apart as an OR: of operands, and of other terms; nothing where it is none."""
    alone, others = [], []
    rest = node.lut
    for place, operand in enumerate(node.operands):
        zero, one = luts.cofactors(node.lut, place)
        if one == luts.ALL:
            alone.append(operand)
            rest = luts.cofactors(rest, place)[0]
        elif zero == luts.ALL:
            others.append(Node(luts.NOT1, (operand,)))
            rest = luts.cofactors(rest, place)[1]
    if not alone and not others:
        return ()
    if rest:
        kept = [place for place in range(3) if luts.depends(rest, place)]
        tables = [0, 0, 0]
        for new, old in enumerate(kept):
            tables[old] = luts.LETTERS[new]
        table = luts.compose(rest, (tables[0], tables[1], tables[2]))
        others.append(Node(table, tuple(node.operands[place] for place in kept)))
    return alone, others


def cones_of(network: Network, leaves: Sequence[Leaf]) -> list[frozenset[int]]:
    """Return for every leaf the nodes that it needs, by signal."""
    first = CONSTANTS + network.inputs
    cones = []
    for leaf in leaves:
        need: set[int] = set()
        waiting = [signal for signal in leaf.signals if signal >= first]
        while waiting:
            signal = waiting.pop()
            if signal not in need:
                need.add(signal)
                operands = network.nodes[signal - first].operands
                waiting += [k for k in operands if k >= first]
        cones.append(frozenset(need))
    return cones


def part_of(network: Network, leaves: Iterable[Leaf]) -> Network:
    """Return a network of the same inputs and outputs with these leaves alone in its ORs."""
    chosen = list(leaves)
    first = CONSTANTS + network.inputs
    need = set().union(*cones_of(network, chosen))
    builder = Builder(network.inputs)
    literals = {0: 0, 1: 2, **{CONSTANTS + k: builder.input(k) for k in range(network.inputs)}}
    for signal in sorted(need):
        lut, operands = network.nodes[signal - first]
        literals[signal] = builder.node(lut, *(literals[k] for k in operands))
    groups: dict[tuple[int, int | None], list[Node]] = defaultdict(list)
    for leaf in chosen:
        term = Node(leaf.term.lut, tuple(literals[k] for k in leaf.term.operands))
        groups[leaf.output, leaf.factor].append(term)
    outputs = [_sum(builder, groups[k, None]) for k in range(len(network.outputs))]
    for (output, factor), terms in groups.items():
        if factor is not None:
            inner = _sum(builder, terms)
            outputs[output] = builder.node(luts.AND_OR, outputs[output], literals[factor], inner)
    return in_order(builder.build(outputs))


def _sum(builder: Builder, terms: Sequence[Node]) -> int:
    """Return the OR of terms over literals; `sum | a & b` is one node."""
    total = builder.any_of(builder.node(*_flat(term)) for term in terms if len(term.operands) != 2)
    for lut, operands in terms:
        if len(operands) == 2:
            joined = luts.FIRST | luts.compose(lut, (luts.SECOND, luts.THIRD, 0))
            total = builder.node(joined, total, *operands)
    return total


def _flat(term: Node) -> tuple[int, ...]:
    return (term.lut, *term.operands)


class Growth:
    """Takes leaves off a list, one share after the other, so that few nodes are needed twice.

    The next leaf is the one of which the largest part is in the share already, or is needed by no
    leaf that stays behind.
    """

    def __init__(self, cones: Sequence[frozenset[int]]) -> None:
        self.cones = cones
        self.left = set(range(len(cones)))
        self.inside: set[int] = set()  # the nodes of the latest share
        self.new: dict[int, int] = {}  # of every leaf: the nodes that are not inside
        self.alone: dict[int, int] = {}  # of every leaf: the nodes that no other leaf left needs
        self.owners: dict[int, list[int]] = defaultdict(list)
        for leaf, cone in enumerate(cones):
            for signal in cone:
                self.owners[signal].append(leaf)
        self.behind = {signal: len(owners) for signal, owners in self.owners.items()}

    def cost(self) -> int:
        """Return what all leaves that are left cost: their nodes, and half an OR a leaf."""
        return sum(count > 0 for count in self.behind.values()) + (len(self.left) + 1) // 2

    def taken_cost(self, taken: Sequence[int]) -> int:
        """Return what the leaves cost that were just taken."""
        return len(self.inside) + (len(taken) + 1) // 2

    def take(self, cost: int) -> list[int]:
        """Take leaves that together cost at most so much; if none does, the cheapest."""
        self.inside = set()
        self.new = {leaf: len(self.cones[leaf]) for leaf in self.left}
        self.alone = {
            leaf: sum(self.behind[signal] == 1 for signal in self.cones[leaf]) for leaf in self.left
        }
        heap = [(self._score(leaf), leaf) for leaf in self.left]
        heapq.heapify(heap)
        taken: list[int] = []
        while heap:
            score, leaf = heapq.heappop(heap)
            if leaf not in self.left or score != self._score(leaf):
                continue
            if self.taken_cost(taken) + self.new[leaf] < cost:
                taken.append(leaf)
                for other in self._move(leaf):
                    heapq.heappush(heap, (self._score(other), other))
        if not taken and self.left:
            taken.append(min(self.left, key=lambda leaf: (self.new[leaf], leaf)))
            self._move(taken[0])
        return sorted(taken)

    def _score(self, leaf: int) -> float:
        return (self.new[leaf] - self.alone[leaf]) / (len(self.cones[leaf]) + 1)

    def _move(self, leaf: int) -> set[int]:
        """Move a leaf into the share; return the leaves whose score has changed."""
        self.left.discard(leaf)
        touched = set()
        for signal in self.cones[leaf]:
            self.behind[signal] -= 1
            fresh = signal not in self.inside
            if not fresh and self.behind[signal] != 1:
                continue
            owners = [other for other in self.owners[signal] if other in self.left]
            touched.update(owners)
            if fresh:
                self.inside.add(signal)
                for other in owners:
                    self.new[other] -= 1
            if self.behind[signal] == 1:
                self.alone[owners[0]] += 1
        return touched
