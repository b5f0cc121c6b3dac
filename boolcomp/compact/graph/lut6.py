"""How many tables of six inputs the parts of a graph take: an estimate, for FPGAs.

A function of six inputs is one table, whatever it is; larger ones are split on their leading
inputs, two at a time, for a multiplexer of four takes one table, too. Parts that are equal but for
an inverse are counted once. What partial products take vanishes in the adders that read them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from boolcomp.compact.graph.heaps import adder_nodes
from boolcomp.compact.graph.tables import columns_of, folding_nodes
from boolcomp.words.folding import canonical, fold
from boolcomp.words.graph import Angles, Heap, Lookup, PartialProducts
from boolcomp.words.layout import HeapRow

if TYPE_CHECKING:
    from boolcomp.compact.graph.tables import Columns
    from boolcomp.compact.graph.tabulate import Tabulated
    from boolcomp.words.graph import WordGraph

INPUTS = 6
ADDING = 0.96  # tables of six inputs take the place of so much of a node of an adder


@lru_cache(maxsize=1 << 14)
def column_luts(inputs: int, columns: Columns) -> int:
    """Return how many tables hold columns of so many inputs."""
    known: set[tuple[int, int]] = set()
    waiting = [_reduced(inputs, column) for column in columns]
    while waiting:
        level, table = waiting.pop()
        if (level, table) in known or _is_wire(level, table):
            continue
        known.add((level, table))
        if level > INPUTS:
            size = 1 << (level - (1 if level == INPUTS + 1 else 2))
            mask = (1 << size) - 1
            parts = range(0, 1 << level, size)
            waiting += [_reduced(size.bit_length() - 1, table >> k & mask) for k in parts]
    return len(known)


def _reduced(level: int, table: int) -> tuple[int, int]:
    """Return a table or its inverse, whichever begins with 0, without leading inputs to spare."""
    if table & 1:
        table ^= (1 << (1 << level)) - 1
    while level:
        half = 1 << (level - 1)
        low = table & ((1 << half) - 1)
        if low != table >> half:
            break
        level, table = level - 1, low
    return level, table


def _is_wire(level: int, table: int) -> bool:
    """Tell whether a reduced table is a constant or one of its inputs."""
    half = 1 << (level - 1) if level else 0
    return table == ((1 << half) - 1) << half


def table_luts(table: Tabulated, *, operand: bool) -> float:
    """Return what a table takes; where a product reads it, its sign is inverted for nothing."""
    return _luts(table.entries, table.bits, operand=operand)


@lru_cache(maxsize=1 << 12)
def _luts(entries: tuple[int, ...], bits: int, *, operand: bool) -> float:
    count = len(entries).bit_length() - 1
    plain = column_luts(count, columns_of(entries, bits))
    if count <= INPUTS:
        return float(plain)
    folded, _, _ = canonical(fold(entries, bits), bits)
    inputs = len(folded.inputs)
    cost = column_luts(inputs, columns_of(folded.core, bits)) + folding_nodes(folded)
    return float(min(plain, cost + (bits if folded.flip and not operand else 0)))


def graph_luts(graph: WordGraph) -> int:
    """Return what a graph takes: its tables, and the adders of its sums; not what saturates."""
    heaps = [node for node in graph.nodes if isinstance(node, Heap)]
    products = [part for heap in heaps for part in heap.parts if isinstance(part, PartialProducts)]
    factors = {place for part in products for place in (part.a, part.b)}
    cost = 0.0
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            cost += _luts(node.entries, node.bits, operand=place in factors)
        elif isinstance(node, Heap):
            cost += ADDING * adder_nodes(_counts(graph, node), 0, node.constant)
        elif isinstance(node, Angles):
            cost += ADDING * 2 * node.bits * (len(node.turns) - 1)
    return round(cost)


def _counts(graph: WordGraph, heap: Heap) -> list[int]:
    """Return how many bits stand in every column of a heap."""
    counts = [0] * heap.bits
    for part in heap.parts:
        layout = part.layout(graph.nodes)
        rows = [layout] if isinstance(layout, HeapRow) else [row for _, row in layout.rows()]
        for row in rows:
            for column in range(row.column, min(row.column + row.bits, heap.bits)):
                counts[column] += 1
    return counts
