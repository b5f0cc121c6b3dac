"""Tables of one word that are only added up become one table, where that takes little more memory.

A graph has a curve as a coarse table and a fine one, because logic is smaller so; a machine that
looks entries up has it in one step. What the graph computes remains the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    Lookup,
    PartialProducts,
    Scale,
    WordGraph,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.words.graph import HeapPart, Node

MORE = 1024  # bytes that a look-up less may take
WIDEST_ENTRY = 16  # bits of an entry


def with_tables_added(graph: WordGraph, meanings: Sequence[str]) -> tuple[WordGraph, list[str]]:
    """Return a graph that computes the same, and the meanings of its words."""
    readers = [0] * len(graph.nodes)
    for node in graph.nodes:
        for place in set(reads(node)):
            readers[place] += 1
    nodes: list[Node] = []
    scales: list[Scale] = []
    said: list[str] = []
    at: list[int] = []  # where a node of the old graph stands in the new one
    for node, scale, meaning in zip(graph.nodes, graph.scales, meanings, strict=True):
        changed = node
        if isinstance(node, Heap):
            parts: list[HeapPart] = list(node.parts)
            for several in _together(graph, node, readers):
                table, column, bias = _added(graph, several)
                parts = [part for part in parts if part not in several]
                if table is None:
                    raise ValueError("a sum of tables that is too wide")
                nodes.append(replace(table, source=at[table.source]))
                scales.append(Scale(bias, 0.0))
                said.append(_meaning([meanings[one.node] for one in several]))
                parts.append(Bits(-len(nodes), 0, column, negative=False))
            changed = replace(node, parts=tuple(_renumbered(part, at) for part in parts))
        elif isinstance(node, Lookup):
            changed = replace(node, source=at[node.source])
        elif isinstance(node, Angles):
            turns = tuple(replace(turn, node=at[turn.node]) for turn in node.turns)
            changed = replace(node, turns=turns)
        at.append(len(nodes))
        nodes.append(changed)
        scales.append(scale)
        said.append(meaning)
    results = tuple(replace(result, node=at[result.node]) for result in graph.results)
    return WordGraph(tuple(nodes), tuple(scales), results), said


def _meaning(texts: Sequence[str]) -> str:
    """Return what a sum of tables means; what corrects one of them is part of it."""
    plain = dict.fromkeys(text for text in texts if not text.endswith(", fine"))
    return " + ".join(plain or dict.fromkeys(texts))


def _renumbered(part: HeapPart, at: Sequence[int]) -> HeapPart:
    """Return a part with its words where they are now; those made here count from -1 down."""
    if isinstance(part, PartialProducts):
        return replace(part, a=at[part.a], b=at[part.b])
    return replace(part, node=at[part.node] if part.node >= 0 else -part.node - 1)


def _together(graph: WordGraph, heap: Heap, readers: Sequence[int]) -> list[list[Bits]]:
    """Return the parts of a sum that are better one table."""
    groups: dict[int, list[Bits]] = {}
    elsewhere = {k for p in heap.parts if isinstance(p, PartialProducts) for k in (p.a, p.b)}
    for part in heap.parts:
        node = graph.nodes[part.node] if isinstance(part, Bits) else None
        if not isinstance(part, Bits) or not isinstance(node, Lookup) or node.mask:
            continue
        if readers[part.node] == 1 and part.node not in elsewhere:
            groups.setdefault(node.source, []).append(part)
    return [parts for parts in groups.values() if _pays(graph, parts)]


def _pays(graph: WordGraph, parts: list[Bits]) -> bool:
    tables = {part.node for part in parts}
    if len(tables) < 2 or len(set(parts)) < len(parts):
        return False
    before = sum(_bytes(graph.nodes[place]) for place in tables)
    added, _, _ = _added(graph, parts)
    return added is not None and _bytes(added) <= before + MORE


def _bytes(node: Node) -> int:
    return len(node.entries) * (1 if node.bits <= 8 else 2) if isinstance(node, Lookup) else 0


def _added(graph: WordGraph, parts: Sequence[Bits]) -> tuple[Lookup | None, int, int]:
    """Return the table of a sum of tables, its column, and the lowest bit of its scale."""
    tables = [node for part in parts if isinstance(node := graph.nodes[part.node], Lookup)]
    read = max(table.read for table in tables)
    column = min(part.layout(graph.nodes).column for part in parts)
    total = [0] * (1 << read)
    for part, table in zip(parts, tables, strict=True):
        row = part.layout(graph.nodes)
        flip = ((1 << row.bits) - 1) * part.negative
        for k in range(1 << read):
            entry = table.entries[k >> (read - table.read)] >> row.drop
            total[k] += (entry ^ flip) << (row.column - column)
    bits = max(1, max(total).bit_length())
    if bits > WIDEST_ENTRY:
        return None, column, 0
    first = parts[0]
    lsb = graph.scales[first.node].lsb + first.drop - first.column + column
    return Lookup(tables[0].source, read, tuple(total), bits), column, lsb
