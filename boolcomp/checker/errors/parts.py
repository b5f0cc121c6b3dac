"""What a word graph does with whole numbers: exactly, at many values of its words at once."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.checker.steps import DoesNotHoldError
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.words.graph import HeapPart, WordGraph

    Words = NDArray[np.int64]


class Line(NamedTuple):
    """What a word stands for: start + step · word."""

    start: Fraction
    step: Fraction


def line_of(graph: WordGraph, place: int) -> Line:
    """Return what a word that is no angle of an input stands for."""
    scale, bits = graph.scales[place], graph.nodes[place].bits
    step = Fraction(2) ** scale.lsb
    return Line(Fraction(scale.offset) - step * ((1 << bits) - 1) / 2, step)


def added(graph: WordGraph, part: HeapPart | Turn, words: Mapping[int, Words]) -> Words:
    """Return what a part puts into its sum."""
    nodes = graph.nodes
    if isinstance(part, Turn):
        return _row(words[part.node], nodes[part.node].bits, nodes[part.node].bits - part.read,
                    negative=part.negative) << part.shift  # fmt: skip
    if isinstance(part, Bits):
        bits = nodes[part.node].bits
        return _row(words[part.node], bits, part.drop, negative=part.negative) << part.column
    a, b = words[part.a] >> part.drop_a, words[part.b]
    total = np.zeros_like(a)
    for digit in range(nodes[part.a].bits - part.drop_a):
        plain = _row(b, nodes[part.b].bits, part.drop_b, negative=part.negative)
        other = _row(b, nodes[part.b].bits, part.drop_b, negative=not part.negative)
        row, column = np.where(a >> digit & 1, plain, other), part.column + digit
        total = total + (row << column if column >= 0 else row >> -column)
    return total


def _row(word: Words, bits: int, drop: int, *, negative: bool) -> Words:
    """Return the bits of a word above those that are dropped, inverted where it is negative."""
    kept = word >> drop
    return ((1 << (bits - drop)) - 1) - kept if negative else kept


def most(graph: WordGraph, part: HeapPart | Turn) -> int:
    """Return what a part puts into its sum where all its bits are 1."""
    if isinstance(part, Turn):
        return ((1 << part.read) - 1) << part.shift
    if isinstance(part, Bits):
        return ((1 << (graph.nodes[part.node].bits - part.drop)) - 1) << part.column
    return sum(pairs << column for column, pairs in columns(graph, part) if column >= 0)


def columns(graph: WordGraph, part: HeapPart) -> list[tuple[int, int]]:
    """Return how many products of digits stand in every column, those below 0 too."""
    if isinstance(part, Bits):
        return []
    a, b = graph.nodes[part.a].bits - part.drop_a, graph.nodes[part.b].bits - part.drop_b
    return [
        (part.column + k, sum(0 <= k - i < b for i in range(a))) for k in range(a + b - 1)
    ]  # fmt: skip


def entries(graph: WordGraph, place: int, source: int, words: Words) -> Words:
    """Return a table's entries at words of what it reads."""
    node = graph.nodes[place]
    if not isinstance(node, Lookup) or node.source != source:
        raise DoesNotHoldError(f"word w{place} is no table of w{source}")
    read = words >> (graph.nodes[source].bits - node.read)
    index = np.zeros_like(read)
    for count, bit in enumerate(node.picked):
        index |= (read >> bit & 1) << count
    return np.asarray(node.entries, np.int64)[index]


def word_of(graph: WordGraph, place: int, words: Mapping[int, Words]) -> Words:
    """Return a word that is no input, of the words that it reads."""
    node = graph.nodes[place]
    if isinstance(node, InputWord):
        raise DoesNotHoldError(f"word w{place} is an input that nothing was said of")
    if isinstance(node, Lookup):
        return entries(graph, place, node.source, words[node.source])
    total = np.full(1, node.constant, np.int64)
    for part in node.turns if isinstance(node, Angles) else node.parts:
        total = total + added(graph, part, words)
    if isinstance(node, Heap) and not node.wraps:
        return total  # that it does not overflow is proved
    return total & ((1 << node.bits) - 1)
