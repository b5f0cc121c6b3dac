"""Word graphs read back from their text: `parse_graph(str(graph))` is the same graph."""

from __future__ import annotations

import re

from boolcomp.common.errors import DataError
from boolcomp.compact.graph.graph import (
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

_WORD = re.compile(r"w(\d+)\[(\d+)\] = (.*) unit 2\^(-?\d+)(?: at (\S+))?")
_RESULT = re.compile(r"tau(\d+)\[(\d+)\] = w(\d+) >> (\d+)")
_INPUT = re.compile(r"input (\w+)( angle)?")
_TURN = re.compile(r"([+-]) w(\d+):(\d+) << (\d+) ")
_TABLE = re.compile(r"table w(\d+):(\d+) ([\d ]+)")
_PART = re.compile(r"([+-]) w(\d+)>>(\d+) (?:\* w(\d+)>>(\d+) )?<< (-?\d+) ")
_CONSTANT = re.compile(r"\+ (-?\d+)")


def parse_graph(text: str, where: str = "graph") -> WordGraph:
    """Read a graph; a `DataError` names the line that is wrong."""
    nodes: list[Node] = []
    scales: list[Scale] = []
    results: list[OutputWord] = []
    for number, line in enumerate(text.splitlines(), 1):
        result = _RESULT.fullmatch(line)
        if result is not None and int(result[1]) == len(results) + 1:
            results.append(OutputWord(int(result[3]), int(result[4]), int(result[2])))
            continue
        word = _WORD.fullmatch(line)
        node = None
        if word is not None and int(word[1]) == len(nodes) and not results:
            node = _node(word[3], int(word[2]))
        if word is None or node is None:
            raise DataError(f"{where}:{number}: {line[:60]!r} is no line of a word graph")
        nodes.append(node)
        scales.append(Scale(int(word[4]), float(word[5] or 0.0)))
    try:
        return WordGraph(tuple(nodes), tuple(scales), tuple(results))
    except (ValueError, IndexError) as error:
        raise DataError(f"{where}: {error}") from error


def _node(text: str, bits: int) -> Node | None:
    if found := _INPUT.fullmatch(text):
        return InputWord(found[1], bits, bool(found[2]))
    if found := _TABLE.fullmatch(text):
        entries = tuple(int(entry) for entry in found[3].split())
        return Lookup(int(found[1]), int(found[2]), entries, bits)
    kind, _, rest = text.partition(" ")
    if kind not in ("angle", "heap", "wrapping"):
        return None
    pattern = _TURN if kind == "angle" else _PART
    items, end = [], 0
    while item := pattern.match(rest, end):
        items.append(item)
        end = item.end()
    constant = _CONSTANT.fullmatch(rest, end)
    if constant is None:
        return None
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
