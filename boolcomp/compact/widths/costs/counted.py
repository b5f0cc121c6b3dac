"""The cost of a graph that is built, part for part as a cost model says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.compact.graph.tabulate import Tabulated
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    PartialProducts,
    narrowed,
)

if TYPE_CHECKING:
    from boolcomp.compact.widths.costs.model import CostModel, Factors, WordKind
    from boolcomp.words.graph import Node, WordGraph
    from boolcomp.words.layout import HeapRow

MOST_SYNTHESISED = 9  # inputs of a table whose nodes are counted; larger ones are estimated


def factors_of(graph: WordGraph) -> frozenset[int]:
    """Return the words that products read."""
    heaps = [node for node in graph.nodes if isinstance(node, Heap)]
    products = [part for heap in heaps for part in heap.parts if isinstance(part, PartialProducts)]
    return frozenset(place for part in products for place in (part.a, part.b))


def counted(graph: WordGraph, costs: CostModel) -> int:
    """Return what a graph costs: its tables, angle sums, products and sums.

    Its inputs have no bits that nothing reads.
    """
    graph = narrowed(graph)
    factors = factors_of(graph)
    dropped = {result.node: result.drop for result in graph.results}
    cost = 0.0
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            table = Tabulated(node.read, node.entries, node.bits, 0.0, node.mask)
            cost += costs.table(table, MOST_SYNTHESISED, operand=place in factors)
        elif isinstance(node, Angles):
            cost += costs.turns(node.bits, len(node.turns))
        elif isinstance(node, Heap):
            counts = [0] * node.bits
            rows: dict[int, list[HeapRow]] = {}
            for part in node.parts:
                if isinstance(part, Bits):
                    rows.setdefault(part.node, []).append(part.layout(graph.nodes))
                else:
                    cost += costs.product(part.layout(graph.nodes), counts, _kinds(graph, part))
            for word, several in rows.items():
                cost += costs.rows(several, counts, _kind(graph.nodes[word]))
            cost += costs.heap(counts, dropped.get(place, 0), node.constant)
    return round(cost)


def _kinds(graph: WordGraph, part: PartialProducts) -> Factors:
    return _kind(graph.nodes[part.a]), _kind(graph.nodes[part.b])


def _kind(node: Node) -> WordKind:
    if isinstance(node, InputWord | Angles):
        return "input"
    return "table" if isinstance(node, Lookup) else "sum"
