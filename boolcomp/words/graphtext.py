"""Word graphs read back from their text: `parse_graph(str(graph))` is the same graph."""

from __future__ import annotations

import math
import re

from boolcomp.common.errors import DataError, cut
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    HeapPart,
    InputWord,
    Lookup,
    Node,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
)

MOST_WORDS = 10_000
MOST_BITS = 60  # of a word: sums of them fit in 64
MOST_UNIT = 1000  # of the exponents of words' units
_WORD = re.compile(r"w(\d+)\[(\d+)\] = (.*) unit 2\^(-?\d+)(?: at (\S+))?")
_RESULT = re.compile(r"tau(\d+)\[(\d+)\] = w(\d+) >> (\d+)( tread)?")
_INPUT = re.compile(r"input (\w+)( angle)?")
_TURN = re.compile(r"([+-]) w(\d+):(\d+) << (\d+) ")
_TABLE = re.compile(r"table w(\d+):(\d+)(?:&([0-9a-f]{1,15}))? ([\d ]+)")
_PART = re.compile(r"([+-]) w(\d+)>>(\d+) (?:\* w(\d+)>>(\d+) )?<< (-?\d+) ")
_CONSTANT = re.compile(r"\+ (-?\d+)")


def parse_graph(text: str, where: str = "graph") -> WordGraph:
    """Read a graph; a `DataError` names the line that is wrong."""
    nodes: list[Node] = []
    scales: list[Scale] = []
    results: list[OutputWord] = []
    for count, line in enumerate(text.splitlines(), 1):
        try:
            if result := _RESULT.fullmatch(line):
                _check(int(result[1]) == len(results) + 1)
                word_of = int(result[3]), int(result[4]), int(result[2]), bool(result[5])
                results.append(OutputWord(*word_of))
            elif word := _WORD.fullmatch(line):
                _check(int(word[1]) == len(nodes) < MOST_WORDS and not results)
                nodes.append(_node(word[3], int(word[2])))
                scales.append(_scale(word[4], word[5] or "0"))
            else:
                _check(holds=False)
        except ValueError as error:  # also of a number that is none, or has too many digits
            sentence = f"{where}:{count}: {line[:60]!r} is no line of a word graph"
            raise DataError(sentence) from error
    try:
        return WordGraph(tuple(nodes), tuple(scales), tuple(results))
    except (ValueError, IndexError) as error:
        raise DataError(f"{where}: {cut(str(error))}") from error


def _check(holds: bool) -> None:  # noqa: FBT001 (what is checked)
    if not holds:
        raise ValueError("no line of a word graph")


def _scale(lsb: str, offset: str) -> Scale:
    scale = Scale(int(lsb), float(offset))
    _check(abs(scale.lsb) <= MOST_UNIT and math.isfinite(scale.offset))
    return scale


def _node(text: str, bits: int) -> Node:
    """Return a node that can be simulated in words of 64 bits."""
    node = _any_node(text, bits)
    sizes = [node.bits]
    if isinstance(node, Angles):
        sizes += [turn.shift + turn.read for turn in node.turns]
    if isinstance(node, Heap):
        sizes += [abs(part.column) for part in node.parts]
    if isinstance(node, Angles | Heap):
        sizes.append(node.constant.bit_length())
    _check(max(sizes) <= MOST_BITS)
    return node


def _any_node(text: str, bits: int) -> Node:
    if found := _INPUT.fullmatch(text):
        return InputWord(found[1], bits, bool(found[2]))
    if found := _TABLE.fullmatch(text):
        entries = tuple(int(entry) for entry in found[4].split())
        mask = int(found[3] or "0", 16)
        _check(bool(mask) == bool(found[3]))
        return Lookup(int(found[1]), int(found[2]), entries, bits, mask)
    kind, _, rest = text.partition(" ")
    _check(kind in ("angle", "heap", "wrapping"))
    pattern = _TURN if kind == "angle" else _PART
    items, end = [], 0
    while item := pattern.match(rest, end):
        items.append(item)
        end = item.end()
    constant = _CONSTANT.fullmatch(rest, end)
    if constant is None:
        raise ValueError("a sum without its constant")
    if kind == "angle":
        turns = tuple(Turn(int(t[2]), int(t[3]), int(t[4]), t[1] == "-") for t in items)
        return Angles(turns, int(constant[1]), bits)
    parts = tuple(_part(item) for item in items)
    return Heap(parts, int(constant[1]), bits, kind == "wrapping")


def _part(item: re.Match[str]) -> HeapPart:
    negative, column = item[1] == "-", int(item[6])
    if item[4] is None:
        return Bits(int(item[2]), int(item[3]), column, negative)
    return PartialProducts(int(item[2]), int(item[3]), int(item[4]), int(item[5]), column, negative)
