"""Random word graphs, and what they say digit by digit: the oracle of whatever is made of them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from boolcomp.words import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    Node,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
)

HeapPart = Bits | PartialProducts


def bits_of(word: int, bits: int) -> list[int]:
    return [word >> k & 1 for k in range(bits)]


def total_of(parts: list[HeapPart], words: list[int], nodes: tuple[Node, ...]) -> int:
    """Return what the digits of a heap count, one after the other."""
    total = 0
    for part in parts:
        if isinstance(part, Bits):
            digits = bits_of(words[part.node], nodes[part.node].bits)[part.drop :]
            found = [(part.column + k, bit) for k, bit in enumerate(digits)]
        else:
            a = bits_of(words[part.a], nodes[part.a].bits)[part.drop_a :]
            b = bits_of(words[part.b], nodes[part.b].bits)[part.drop_b :]
            found = [
                (part.column + i + j, int(x == y)) for i, x in enumerate(a) for j, y in enumerate(b)
            ]
        total += sum((bit ^ part.negative) << column for column, bit in found if column >= 0)
    return total


def interpreted(graph: WordGraph, given: list[int]) -> tuple[list[int], int]:
    """Return the outputs' words for one sample, and how many saturated."""
    words = list(given)
    for node in graph.nodes[len(given) :]:
        if isinstance(node, Lookup):
            source = bits_of(words[node.source], graph.nodes[node.source].bits)
            leading = source[len(source) - node.read :]
            index = [bit for k, bit in enumerate(leading) if not node.mask or node.mask >> k & 1]
            words.append(node.entries[sum(bit << k for k, bit in enumerate(index))])
        elif isinstance(node, Angles):
            total = node.constant
            for turn in node.turns:
                source = bits_of(words[turn.node], graph.nodes[turn.node].bits)
                leading = source[len(source) - turn.read :]
                total += sum((b ^ turn.negative) << k + turn.shift for k, b in enumerate(leading))
            words.append(total % 2**node.bits)
        else:
            assert isinstance(node, Heap)
            total = node.constant + total_of(list(node.parts), words, graph.nodes)
            words.append(total % 2**node.bits)
    made, saturated = [], 0
    for result in graph.results:
        left = graph.nodes[result.node].bits - result.drop
        cell = words[result.node] // 2**result.drop - (2**left - 2**result.bits) // 2
        made.append(min(max(cell, 0), 2**result.bits - 1))
        saturated += made[-1] != cell
    return made, saturated


def random_graph(seed: int, *, fits: bool = False) -> WordGraph:
    """Return a graph of all kinds of nodes, parts, signs and widths; `fits`: no sum wraps."""
    rng = np.random.default_rng(seed)

    def pick(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    nodes: list[Node] = [InputWord(f"x{k}", pick(1, 9), angle=False) for k in range(pick(1, 4))]
    for _ in range(pick(1, 7)):
        source = pick(0, len(nodes) - 1)
        read = pick(1, min(11, nodes[source].bits))
        kind = pick(0, 5)
        if kind <= 1:
            mask = pick(0, (1 << read) - 1) | 1 if kind else 0
            bits = pick(1, 17)
            count = 1 << (mask.bit_count() if mask else read)
            entries = tuple(pick(0, (1 << bits) - 1) for _ in range(count))
            nodes.append(Lookup(source, read, entries, bits, mask))
        elif kind == 2:
            turns = tuple(
                Turn(k, pick(1, nodes[k].bits), pick(0, 3), bool(pick(0, 1)))
                for k in (pick(0, len(nodes) - 1) for _ in range(pick(1, 3)))
            )
            bits = pick(2, 12)
            nodes.append(Angles(turns, pick(0, (1 << bits) - 1), bits))
        else:
            nodes.append(random_heap(pick, nodes, fits=fits))
    nodes.append(random_heap(pick, nodes, fits=fits))
    heaps = [k for k, node in enumerate(nodes) if isinstance(node, Heap)]
    results = []
    for _ in range(pick(1, 2)):
        node = heaps[pick(0, len(heaps) - 1)]
        drop = pick(0, min(3, nodes[node].bits - 1))
        results.append(OutputWord(node, drop, pick(1, min(16, nodes[node].bits - drop))))
    return WordGraph(tuple(nodes), tuple(Scale(0, 0.0) for _ in nodes), tuple(results))


def random_heap(pick: Callable[[int, int], int], nodes: list[Node], *, fits: bool) -> Heap:
    parts: list[HeapPart] = []
    for _ in range(pick(1, 4)):
        a, b = pick(0, len(nodes) - 1), pick(0, len(nodes) - 1)
        drops = [pick(0, min(2, nodes[k].bits - 1)) for k in (a, b)]
        if pick(0, 1):
            parts.append(Bits(a, drops[0], pick(0, 4), bool(pick(0, 1))))
        else:
            column = pick(-9, 3)
            parts.append(PartialProducts(a, drops[0], b, drops[1], column, bool(pick(0, 1))))
    bits = pick(2, 19)
    constant = pick(-300, (1 << bits) - 1)
    ones = [(1 << node.bits) - 1 for node in nodes]  # digits of ones agree: parts count most
    most = total_of([replace(part, negative=False) for part in parts], ones, tuple(nodes))
    if fits:
        constant = abs(constant)
        bits = max(bits, (constant + most).bit_length())
    wraps = not 0 <= constant <= constant + most < 1 << bits
    return Heap(tuple(parts), constant, bits, wraps)
