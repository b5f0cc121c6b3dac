"""Word graphs: the bit-exact computation of a compact program, and its text format.

A word of n bits is an index k in 0 .. 2^n - 1. Its value is Σ ±2^(lsb + i - 1) over its bits
(+ where a bit is 1) plus an offset: cells lie symmetrically about the offset and none is on it. The
value of an angle is a fraction of a turn: (k + ½)/2^n - ½. The leading bits of a word are a coarser
word of the same kind, so discarding low bits is the only rounding.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

from boolcomp.base.errors import DataError, cut, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


Made = TypeVar("Made")
MadeOfNode_co = TypeVar("MadeOfNode_co", covariant=True)


class HeapRow(NamedTuple):
    """A word in a heap: `bits` above its lowest `drop`, the first of them in column `column`.

    Columns count from the lowest of the heap; bits below column 0 are discarded.
    """

    drop: int
    column: int
    bits: int

    @property
    def weight(self) -> int:
        return ((1 << self.bits) - 1) << self.column

    @property
    def lost(self) -> float:
        """The variance of the dropped bits, in steps²: each is ± half its column."""
        first = self.column - self.drop
        return sum((4.0 ** (first + i - 1) for i in range(self.drop)), 0.0)

    @property
    def most_lost(self) -> float:
        """The largest value of the dropped bits, in steps."""
        first = self.column - self.drop
        return sum((2.0 ** (first + i - 1) for i in range(self.drop)), 0.0)

    def __str__(self) -> str:
        end = self.drop + self.bits
        return (
            f"bits {self.drop}..{end - 1} in columns {self.column}..{self.column + self.bits - 1}"
        )


class Grid(NamedTuple):
    """Partial products of the digits of two words, `a` and `b`, without dropped low digits.

    The product of the two lowest digits left is in `column`, which may be below 0.
    """

    column: int
    drop_a: int
    a: int
    drop_b: int
    b: int

    @property
    def top(self) -> int:
        return self.column + self.a + self.b - 2

    @property
    def weight(self) -> int:
        return sum(row.weight for _, row in self.rows())

    @property
    def lost(self) -> float:
        return sum((pairs * 4.0 ** (c - 1) for c, pairs in self.diagonals() if c < 0), 0.0)

    @property
    def most_lost(self) -> float:
        return sum((pairs * 2.0 ** (c - 1) for c, pairs in self.diagonals() if c < 0), 0.0)

    @property
    def swapped(self) -> Grid:
        return Grid(self.column, self.drop_b, self.b, self.drop_a, self.a)

    def rows(self) -> Iterator[tuple[int, HeapRow]]:
        """Yield the digits of `a`, each with the bits of `b` that it copies or inverts."""
        for i in range(self.a):
            below = max(0, -(self.column + i))
            if below < self.b:
                row = HeapRow(self.drop_b + below, self.column + i + below, self.b - below)
                yield self.drop_a + i, row

    def diagonals(self) -> Iterator[tuple[int, int]]:
        """Yield all columns, also below 0, and the number of products in each."""
        for c in range(self.a + self.b - 1):
            yield self.column + c, min(c + 1, self.a, self.b, self.a + self.b - 1 - c)

    def __str__(self) -> str:
        return (
            f"digits {self.drop_a}..{self.drop_a + self.a - 1} times "
            f"{self.drop_b}..{self.drop_b + self.b - 1} in columns {self.column}..{self.top}"
        )


ANGLE_BITS = 16  # the step of a heap that is an angle is 2^-16 turns


@dataclass(frozen=True, slots=True)
class InputWord:
    """An input of the graph."""

    name: str
    bits: int
    angle: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """±(leading `read` bits of a word) · 2^shift, as part of an angle sum."""

    node: int
    read: int
    shift: int
    negative: bool


@dataclass(frozen=True, slots=True)
class Angles:
    """The sum of turns and a constant, modulo 2^bits."""

    turns: tuple[Turn, ...]
    constant: int
    bits: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """A table over the leading `read` bits of a word, or over those of them in a `mask`.

    Bit 0 of a mask is the lowest of the leading bits, and must be set; mask 0 selects all bits.
    """

    source: int
    read: int
    entries: tuple[int, ...]
    bits: int
    mask: int = 0

    @property
    def picked(self) -> tuple[int, ...]:
        return tuple(k for k in range(self.read) if not self.mask or self.mask >> k & 1)


@dataclass(frozen=True, slots=True)
class Bits:
    """A word in a heap: its bits above the lowest `drop`, the first of them in column `column`."""

    node: int
    drop: int
    column: int
    negative: bool

    def layout(self, nodes: Sequence[Node]) -> HeapRow:
        return HeapRow(self.drop, self.column, nodes[self.node].bits - self.drop)

    def rows(self, nodes: Sequence[Node]) -> tuple[HeapRow, ...]:
        return (self.layout(nodes),)


@dataclass(frozen=True, slots=True)
class PartialProducts:
    """The partial products of two words without their lowest digits.

    The product of the two lowest digits left is in `column`; columns below 0 are discarded.
    """

    a: int
    drop_a: int
    b: int
    drop_b: int
    column: int
    negative: bool

    def layout(self, nodes: Sequence[Node]) -> Grid:
        """Return the grid of the products in the heap."""
        a, b = nodes[self.a].bits - self.drop_a, nodes[self.b].bits - self.drop_b
        return Grid(self.column, self.drop_a, a, self.drop_b, b)

    def rows(self, nodes: Sequence[Node]) -> tuple[HeapRow, ...]:
        """Return the copies of `b` in the heap, one for every digit of `a`."""
        return tuple(row for _, row in self.layout(nodes).rows())


HeapPart: TypeAlias = Bits | PartialProducts


@dataclass(frozen=True, slots=True)
class Heap:
    """The sum of parts and a constant, modulo 2^bits.

    Only an angle (`wraps`) may leave 0 .. 2^bits - 1; other heaps have enough bits.
    """

    parts: tuple[HeapPart, ...]
    constant: int
    bits: int
    wraps: bool = False

    @property
    def words(self) -> tuple[Bits, ...]:
        return tuple(part for part in self.parts if isinstance(part, Bits))

    @property
    def products(self) -> tuple[PartialProducts, ...]:
        return tuple(part for part in self.parts if isinstance(part, PartialProducts))

    def each(
        self, word: Callable[[Bits], Made], product: Callable[[PartialProducts], Made]
    ) -> Iterator[Made]:
        """Yield the value of a function for every part, in order: of words, or of products."""
        return (word(part) if isinstance(part, Bits) else product(part) for part in self.parts)


Node: TypeAlias = InputWord | Angles | Lookup | Heap


@dataclass(frozen=True, slots=True)
class Scale:
    """The value of a word: its lowest bit counts 2^lsb, its middle is `offset`."""

    lsb: int
    offset: float


@dataclass(frozen=True, slots=True)
class OutputWord:
    """An output: the bits of a heap above the lowest `drop`, saturated to `bits` bits.

    It counts steps, and cannot saturate if `bits` covers all remaining bits of the heap. The cells
    of a `tread` have whole steps as their middles, so that one is at zero.
    """

    node: int
    drop: int
    bits: int
    tread: bool = False


class NodeCases(Protocol[MadeOfNode_co]):
    """A function of nodes and their places, one method for each kind: see `WordGraph.fold`."""

    def input(self, place: int, node: InputWord, /) -> MadeOfNode_co: ...

    def angles(self, place: int, node: Angles, /) -> MadeOfNode_co: ...

    def lookup(self, place: int, node: Lookup, /) -> MadeOfNode_co: ...

    def heap(self, place: int, node: Heap, /) -> MadeOfNode_co: ...


@dataclass(frozen=True, slots=True, repr=False)
class WordGraph:
    """Nodes in topological order, the scales of their words, and the outputs."""

    nodes: tuple[Node, ...]
    scales: tuple[Scale, ...]
    results: tuple[OutputWord, ...]

    def __post_init__(self) -> None:
        """Raise a `ValueError` if the nodes are not a word graph."""
        if len(self.nodes) != len(self.scales):
            raise ValueError("a node without a scale")
        count = len(self.inputs)
        if any(not isinstance(node, InputWord) for node in self.nodes[:count]):
            raise ValueError("inputs do not come first")
        for place, node in enumerate(self.nodes):
            if any(not 0 <= k < place for k in reads(node)):
                raise ValueError(f"node {place} reads a later node")
            self._check_widths(place, node)
        for result in self.results:
            heap = self.nodes[result.node]
            if not isinstance(heap, Heap) or not 0 < result.bits <= heap.bits - result.drop:
                raise ValueError("a result is no part of a heap")

    @property
    def inputs(self) -> tuple[InputWord, ...]:
        return tuple(node for node in self.nodes if isinstance(node, InputWord))

    def fold(self, cases: NodeCases[Made]) -> Iterator[Made]:
        """Yield the value of every node, in order."""
        for place, node in enumerate(self.nodes):
            if isinstance(node, InputWord):
                yield cases.input(place, node)
            elif isinstance(node, Angles):
                yield cases.angles(place, node)
            elif isinstance(node, Lookup):
                yield cases.lookup(place, node)
            else:
                yield cases.heap(place, node)

    @property
    def tables(self) -> dict[int, Lookup]:
        """All tables by their places, in order."""
        return {k: node for k, node in enumerate(self.nodes) if isinstance(node, Lookup)}

    @property
    def heaps(self) -> dict[int, Heap]:
        """All heaps by their places, in order."""
        return {k: node for k, node in enumerate(self.nodes) if isinstance(node, Heap)}

    @property
    def factors(self) -> frozenset[int]:
        """The operands of products."""
        products = (part for heap in self.heaps.values() for part in heap.products)
        return frozenset(place for part in products for place in (part.a, part.b))

    def angle_sum(self, place: int) -> Angles:
        """Return a sum of angles; raise a `ValueError` if the node is another."""
        node = self.nodes[place]
        if not isinstance(node, Angles):
            raise ValueError(f"word {place} is no sum of angles")  # noqa: TRY004 (of a claim)
        return node

    def table(self, place: int) -> Lookup:
        """Return a table; raise a `ValueError` if the node is another."""
        node = self.nodes[place]
        if not isinstance(node, Lookup):
            raise ValueError(f"word {place} is no table")  # noqa: TRY004 (of a claim)
        return node

    def _repr_html_(self) -> str:
        from boolcomp.words.drawing import draw_graph  # noqa: PLC0415 (which draws such values)

        return draw_graph(self)

    def _check_widths(self, place: int, node: Node) -> None:
        bits = [n.bits for n in self.nodes]
        valid = node.bits > 0
        if isinstance(node, Angles):
            valid &= all(0 < t.read <= bits[t.node] and t.shift >= 0 for t in node.turns)
        elif isinstance(node, Lookup):
            valid &= 0 <= node.read <= bits[node.source]
            valid &= len(node.entries) == 1 << len(node.picked)
            valid &= not node.mask or (node.mask & 1 > 0 and node.mask.bit_length() <= node.read)
            valid &= all(0 <= entry < 1 << node.bits for entry in node.entries)
        elif isinstance(node, Heap):
            for part in node.parts:
                if isinstance(part, Bits):
                    valid &= 0 <= part.drop < bits[part.node] and part.column >= 0
                else:
                    valid &= 0 <= part.drop_a < bits[part.a] and 0 <= part.drop_b < bits[part.b]
        if not valid:
            raise ValueError(f"node {place}: a width does not fit: {node}")

    def columns(self, place: int) -> str:
        """Return the layout of a heap as text: the bits, products and ones in every column."""
        heap = self.nodes[place]
        if not isinstance(heap, Heap):
            raise TypeError(f"word {place} is no heap")
        columns: list[list[str]] = [[] for _ in range(heap.bits)]
        for part in heap.parts:
            sign = "~" if part.negative else ""
            if isinstance(part, Bits):
                rows = [(f"{sign}w{part.node}", part.layout(self.nodes))]
            else:
                grid = part.layout(self.nodes)
                rows = [(f"{sign}w{part.a}.{i}*w{part.b}", row) for i, row in grid.rows()]
            for name, row in rows:
                for k in range(min(row.bits, heap.bits - row.column)):
                    columns[row.column + k].append(f"{name}.{row.drop + k}")
        ones = ["1"] * heap.bits
        return "".join(
            f"{c}: {' '.join([*bits, *ones[: heap.constant >> c & 1]])}".rstrip() + "\n"
            for c, bits in enumerate(columns)
        )

    def __str__(self) -> str:
        lines = []
        for place, (node, scale) in enumerate(zip(self.nodes, self.scales, strict=True)):
            unit = f" unit 2^{scale.lsb}" + (f" at {number(scale.offset)}" if scale.offset else "")
            lines.append(f"w{place}[{node.bits}] = {_text(node)}{unit}")
        for place, result in enumerate(self.results, 1):
            zero = " tread" if result.tread else ""
            lines.append(f"tau{place}[{result.bits}] = w{result.node} >> {result.drop}{zero}")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"WordGraph({len(self.inputs)} inputs, {len(self.nodes)} words)"


def narrowed(graph: WordGraph) -> WordGraph:
    """Remove unused low bits from input words; the graph computes the same outputs."""
    unread = {place: node.bits for place, node in enumerate(graph.inputs)}
    for node in graph.nodes:
        for place, drop in _drops(node, graph.nodes):
            if place in unread:
                unread[place] = min(unread[place], drop)
    nodes: list[Node] = []
    for node in graph.nodes:
        if isinstance(node, InputWord):
            gone = unread[len(nodes)]
            nodes.append(replace(node, bits=max(1, node.bits - gone)))
        elif isinstance(node, Heap):
            nodes.append(replace(node, parts=tuple(_shifted(p, unread) for p in node.parts)))
        else:
            nodes.append(node)
    scales = tuple(
        replace(scale, lsb=scale.lsb + before.bits - after.bits)
        for scale, before, after in zip(graph.scales, graph.nodes, nodes, strict=True)
    )
    return WordGraph(tuple(nodes), scales, graph.results)


def _drops(node: Node, nodes: tuple[Node, ...]) -> list[tuple[int, int]]:
    """Return the words that a node reads, each with the number of low bits discarded."""
    if isinstance(node, Angles):
        return [(turn.node, nodes[turn.node].bits - turn.read) for turn in node.turns]
    if isinstance(node, Lookup):
        return [(node.source, nodes[node.source].bits - node.read)]
    found = []
    for part in node.parts if isinstance(node, Heap) else ():
        if isinstance(part, Bits):
            found.append((part.node, part.drop))
        else:
            found += [(part.a, part.drop_a), (part.b, part.drop_b)]
    return found


def _shifted(part: HeapPart, unread: Mapping[int, int]) -> HeapPart:
    if isinstance(part, Bits):
        return replace(part, drop=part.drop - unread.get(part.node, 0))
    drop_a, drop_b = part.drop_a - unread.get(part.a, 0), part.drop_b - unread.get(part.b, 0)
    return replace(part, drop_a=drop_a, drop_b=drop_b)


def reads(node: Node) -> tuple[int, ...]:
    """Return the places of the operands of a node."""
    if isinstance(node, InputWord):
        return ()
    if isinstance(node, Angles):
        return tuple(turn.node for turn in node.turns)
    if isinstance(node, Lookup):
        return (node.source,)
    return tuple(k for part in node.parts for k in part_reads(part))


def part_reads(part: HeapPart) -> tuple[int, ...]:
    return (part.node,) if isinstance(part, Bits) else (part.a, part.b)


def _text(node: Node) -> str:
    if isinstance(node, InputWord):
        return f"input {node.name}{' angle' if node.angle else ''}"
    if isinstance(node, Angles):
        turns = [
            f"{'-' if t.negative else '+'} w{t.node}:{t.read} << {t.shift}" for t in node.turns
        ]
        return f"{' '.join(['angle', *turns])} + {node.constant}"
    if isinstance(node, Lookup):
        mask = f"&{node.mask:x}" if node.mask else ""
        return f"table w{node.source}:{node.read}{mask} {' '.join(map(str, node.entries))}"
    parts = []
    for part in node.parts:
        sign = "-" if part.negative else "+"
        if isinstance(part, Bits):
            parts.append(f"{sign} w{part.node}>>{part.drop} << {part.column}")
        else:
            words = f"w{part.a}>>{part.drop_a} * w{part.b}>>{part.drop_b}"
            parts.append(f"{sign} {words} << {part.column}")
    kind = "wrapping" if node.wraps else "heap"
    return f"{' '.join([kind, *parts])} + {node.constant}"


# --------------------------------------------------------------------------------------------------
# The parser of the text format: `parse_graph(str(graph))` is the same graph.
# --------------------------------------------------------------------------------------------------

MOST_WORDS = 10_000
MOST_BITS = 60  # of a word: sums of them fit in 64
MOST_UNIT = 1000  # of the exponent of a word's unit
_WORD = re.compile(r"w(\d+)\[(\d+)\] = (.*) unit 2\^(-?\d+)(?: at (\S+))?")
_RESULT = re.compile(r"tau(\d+)\[(\d+)\] = w(\d+) >> (\d+)( tread)?")
_INPUT = re.compile(r"input (\w+)( angle)?")
_TURN = re.compile(r"([+-]) w(\d+):(\d+) << (\d+) ")
_TABLE = re.compile(r"table w(\d+):(\d+)(?:&([0-9a-f]{1,15}))? ([\d ]+)")
_PART = re.compile(r"([+-]) w(\d+)>>(\d+) (?:\* w(\d+)>>(\d+) )?<< (-?\d+) ")
_CONSTANT = re.compile(r"\+ (-?\d+)")


def parse_graph(text: str, where: str = "graph") -> WordGraph:
    """Parse a graph; a `DataError` names the invalid line."""
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
        except ValueError as error:  # also from int() and float()
            text = f"{line[:60]!r} is no line of a word graph"
            raise DataError(text, where=f"{where}:{count}") from error
    try:
        return WordGraph(tuple(nodes), tuple(scales), tuple(results))
    except (ValueError, IndexError) as error:
        raise DataError(cut(str(error)), where=where) from error


def _check(holds: bool) -> None:  # noqa: FBT001 (the condition)
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
