"""Build the word graph of a sketch with widths, and find the nodes of the sketch in a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.compact.sketch import (
    TURN,
    AngleSum,
    Linear,
    Product,
    Role,
    Sketch,
    SourceWord,
    Table,
    WordSum,
    is_kept,
    live_nodes,
    operands,
)
from boolcomp.compact.tables import (
    AngleShape,
    Format,
    Interpolation,
    SampleStatistics,
    factor_grids,
    heap_bits,
    heap_constant,
    is_half,
    linear_rows,
    product_grid,
    split_of,
    split_table,
    table_domain,
)
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
    part_reads,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.compact.sketch import Addend, Widths
    from boolcomp.compact.tables import Tabulated
    from boolcomp.words.graph import HeapPart, Node


# --------------------------------------------------------------------------------------------------
# Sums of angles: the precision of their parts, and the values of their words.
#
# A word of n bits has the value (k + ½)/2^n - ½ turns. A word over a part 2^-p of a turn has the
# value (k + ½)/2^(n+p) - ½ turns: its p leading bits are 0 and left out. The sum of two words with
# the same step is on whole steps. In a plain sum the other parts are therefore read with half the
# precision of the first. An exact sum reads all parts completely. If it is on whole steps, it has a
# guard bit: bit 0 is always 0, and K of n + 1 bits has the value K/2^(n+1) - ½ turns.
# --------------------------------------------------------------------------------------------------

NEARLY = 1e-6  # of a step: tolerance of half and whole steps


@dataclass(frozen=True, slots=True)
class SumShape:
    """The word of an angle sum, the bits of a turn read from its parts, and their shifts.

    `shifts` are in steps of the bits that vary; `middle` is the sum of halves of steps, in such
    steps. `parts` are the leading bits that parts leave out.
    """

    word: AngleShape
    reads: tuple[int, ...]
    shifts: tuple[int, ...]
    middle: float
    parts: tuple[int, ...]


def angle_shape(sketch: Sketch, widths: Widths, place: int) -> AngleShape:
    """Return the shape of a node that is an angle; parts limit the precision of sums."""
    node = sketch.nodes[place]
    if isinstance(node, AngleSum):
        return sum_shape(sketch, widths, place).word
    if isinstance(node, SourceWord):
        return AngleShape(node.bits, node.bits + node.part, 0.0, node.part)
    if isinstance(node, WordSum):
        bits = TURN - widths[Role.CUT.of(place)]
        return AngleShape(bits, bits)
    raise TypeError(f"node {place} is no angle")


def sum_shape(sketch: Sketch, widths: Widths, place: int) -> SumShape:
    """Return the shape of an angle sum."""
    node = sketch.nodes[place]
    if not isinstance(node, AngleSum):
        raise TypeError(f"node {place} is no angle sum")
    shifts = [shift_of(multiple) for _, multiple in node.items]
    parts = [angle_shape(sketch, widths, item) for item, _ in node.items]
    spare = [part.known - shift for part, shift in zip(parts, shifts, strict=True)]
    if node.exact:
        n = min(widths[Role.ANGLE_BITS.of(place)], max(spare))
        reads = tuple(min(p.known, n + z) for p, z in zip(parts, shifts, strict=True))
    else:
        n = min(
            widths[Role.ANGLE_BITS.of(place)], *(limit + (k > 0) for k, limit in enumerate(spare))
        )
        reads = tuple(n - (k > 0) + z for k, z in enumerate(shifts))
    ups = tuple(n + z - read for z, read in zip(shifts, reads, strict=True))
    known = sum(m * part.offset for (_, m), part in zip(node.items, parts, strict=True))
    middle = sum(2.0**up for up in ups) / 2 + known * 2.0**n
    offset = middle - 0.5 - math.floor(middle)  # in steps, from the middle of a cell
    if abs(offset) < NEARLY:
        word = AngleShape(n, n)
    elif node.exact and abs(abs(offset) - 0.5) < NEARLY:
        word = AngleShape(n + 1, n, -0.5 / 2.0**n)
    elif node.exact:
        word = AngleShape(n, n, offset / 2.0**n)
    else:
        raise ValueError(f"angle sum {place} is not on half steps")
    return SumShape(word, reads, ups, middle, tuple(part.part for part in parts))


def angle_node(node: AngleSum, shape: SumShape, places: Mapping[int, int]) -> tuple[Angles, float]:
    """Return the graph node of a sum, and its offset in turns; `places` are those of its parts.

    Without a guard bit K + ½ - 2^(n-1) = Σ 2^up (k + ½) - Σ m 2^(n-1) modulo 2^n, without the
    offset. With one K = 2 Σ 2^up (k + ½) + 2^n (1 - Σ m) modulo 2^(n+1).
    """
    word, guard = shape.word, int(shape.word.guarded)
    turns, absent = [], 0
    listed = zip(node.items, shape.reads, shape.shifts, shape.parts, strict=True)
    for (item, multiple), read, up, part in listed:
        present = max(0, read - part)
        if present:
            turns.append(Turn(places[item], present, up + guard, multiple < 0))
        if multiple < 0:  # bits that are left out are 0, and their inverses 1
            absent += ((1 << read) - (1 << present)) << up + guard
    n, multiples = word.known, sum(m for _, m in node.items)
    twice = (1 << n) * (1 - multiples)
    if guard:
        constant = round(2 * shape.middle) + twice + absent
        return Angles(tuple(turns), constant % (2 << n), n + 1), word.offset / 2
    constant = (round(2 * (shape.middle - word.offset * 2.0**n)) - 1 + twice) // 2 + absent
    return Angles(tuple(turns), constant % (1 << n), n), word.offset


def shift_of(multiple: int) -> int:
    return abs(multiple).bit_length() - 1


# --------------------------------------------------------------------------------------------------
# Nodes of a sketch as words of a graph, and the parts of heaps.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeWords:
    """The words of a node of a sketch: those that are added, and two that are multiplied.

    `owners` are the addends of the parts of a heap.
    """

    words: tuple[int, ...] = ()
    product: tuple[int, int] | None = None
    owners: tuple[int, ...] = ()


def _addend_parts(
    widths: Widths,
    place: int,
    k: int,
    addend: Addend,
    words: Callable[[int], NodeWords],
    format_of: Callable[[int], Format],
) -> Iterator[HeapPart]:
    """Yield the parts of a heap for addend k of a sum; `words` are those of nodes of the sketch."""
    if isinstance(addend, Product):
        (a, *_), (b, *_) = words(addend.a).words, words(addend.b).words
        grid = product_grid(widths, place, k, addend, format_of(a), format_of(b))
        if grid.top >= 0:
            negative = addend.factor < 0
            yield PartialProducts(a, grid.drop_a, b, grid.drop_b, grid.column, negative)
        return
    read = words(addend.node)
    formats = [format_of(word) for word in read.words]
    for i, digit, row in linear_rows(widths, place, k, addend, formats):
        if row.bits:
            yield Bits(read.words[i], row.drop, row.column, digit < 0)
    if read.product is not None:
        a, b = read.product
        for digit, grid in factor_grids(widths, place, k, addend, format_of(a), format_of(b)):
            if grid.top >= 0:
                yield PartialProducts(a, 0, b, 0, grid.column, digit < 0)


# --------------------------------------------------------------------------------------------------
# From a sketch and widths to a word graph.
# --------------------------------------------------------------------------------------------------


def realise(
    sketch: Sketch,
    widths: Widths,
    statistics: SampleStatistics,
    bits: Sequence[int],
    biases: Sequence[float],
    *,
    saturating: Sequence[bool] = (),
    treads: Sequence[bool] = (),
) -> WordGraph:
    """Return the word graph of a sketch with these widths.

    `bits` are those of the output words (one more if an output needs it and is not `saturating`);
    `biases` are added to the outputs, in their units. Outputs with `treads` have a cell at zero, by
    half a step that is added before low bits are discarded.
    """
    maker = _Realiser(sketch, widths, statistics, operands(sketch))
    live = live_nodes(sketch, widths)
    for place, node in enumerate(sketch.nodes):
        if place in live and isinstance(node, SourceWord):
            maker.put(place, InputWord(node.name, node.bits, node.angle), 0, 0.0)
    none = [False] * len(bits)
    formats = map(_OutputFormat, bits, biases, treads or none, saturating or none)
    results = dict(zip(sketch.outputs, formats, strict=True))
    found: dict[int, OutputWord] = {}
    for place, node in enumerate(sketch.nodes):
        if place not in live or isinstance(node, SourceWord):
            continue
        if isinstance(node, AngleSum):
            maker.angles(place, node)
        elif isinstance(node, Table):
            maker.table(place, node)
        elif place in results:
            found[place] = maker.output(place, node, results[place])
        else:
            maker.heap(place, node)
    order = tuple(found[k] for k in sketch.outputs)
    return WordGraph(tuple(maker.nodes), tuple(maker.scales), order)


class _OutputFormat(NamedTuple):
    """The word of an output: its bits, its bias, whether zero has a cell, whether it saturates."""

    bits: int
    bias: float
    tread: bool
    saturates: bool


@dataclass(slots=True)
class _Realiser:
    """Builds the nodes of a graph in their order."""

    sketch: Sketch
    widths: Widths
    statistics: SampleStatistics
    operands: frozenset[int]
    nodes: list[Node] = field(default_factory=list)
    scales: list[Scale] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)  # of a node's first word
    words: dict[int, NodeWords] = field(default_factory=dict)

    def put(self, place: int, node: Node, lsb: int, offset: float) -> None:
        self.place[place] = len(self.nodes)
        self.words[place] = NodeWords((len(self.nodes),))
        self.nodes.append(node)
        self.scales.append(Scale(lsb, offset))

    def angles(self, place: int, node: AngleSum) -> None:
        shape = sum_shape(self.sketch, self.widths, place)
        made, offset = angle_node(node, shape, self.place)
        self.put(place, made, -made.bits, offset)

    def table(self, place: int, node: Table) -> None:
        source = self.nodes[self.place[node.source]]
        scale = self.scales[self.place[node.source]]
        read = min(self.widths[Role.READ.of(place)], source.bits)
        shape = None
        if node.angle:
            shape = angle_shape(self.sketch, self.widths, node.source)
        domain = table_domain(node, scale.lsb, source.bits, read, scale.offset, shape)
        lsb = self.widths[Role.EXPONENT.of(place)]
        split = split_of(self.widths, place, node, self.operands)
        made = split_table(node, domain, lsb, split, centred=place not in self.operands)
        words = tuple(self._lookup(node, table, lsb) for table in made.tables)
        product = None
        if made.product is not None:
            a, b = made.product
            product = self._lookup(node, a.table, a.lsb), self._lookup(node, b.table, b.lsb)
        self.place[place], self.words[place] = words[0], NodeWords(words, product)

    def _lookup(self, node: Table, table: Tabulated, lsb: int) -> int:
        lookup = Lookup(self.place[node.source], table.read, table.entries, table.bits, table.mask)
        self.nodes.append(lookup)
        self.scales.append(Scale(lsb, table.offset))
        return len(self.nodes) - 1

    def heap(self, place: int, node: WordSum) -> None:
        lsb, largest = self.widths[Role.CUT.of(place)], self.statistics.largest[place]
        bits = TURN - lsb if node.angle else heap_bits(largest, lsb, output=False)
        self._put_heap(place, node, lsb, bits + self._room(place))

    def output(self, place: int, node: WordSum, word: _OutputFormat) -> OutputWord:
        lsb = self.widths[Role.CUT.of(place)]
        needed = max(word.bits, self.statistics.output_bits(place, 0)) + self._room(place)
        self._put_heap(place, node, lsb, needed - lsb, word)
        bits = word.bits if word.saturates else needed
        return OutputWord(self.place[place], -lsb, bits, word.tread)

    def _room(self, place: int) -> int:
        return self.widths.get(Role.ROOM.of(place), 0)

    def _put_heap(
        self, place: int, node: WordSum, lsb: int, bits: int, word: _OutputFormat | None = None
    ) -> None:
        parts: list[HeapPart] = []
        # The sum if all digits are zero, and half a step for a cell at zero.
        raised = 0.5 if word and word.tread else 0.0
        centre = node.constant + (word.bias if word else 0.0) + raised
        for k, addend in enumerate(node.addends):
            if not is_kept(self.widths, place, k):
                centre += self.statistics.means[place][k]
                continue
            parts += _addend_parts(
                self.widths, place, k, addend, self.words.__getitem__, self._format
            )
            if isinstance(addend, Linear):
                centre += addend.factor * self.scales[self.place[addend.node]].offset
        exact = heap_constant(self._weight(parts), centre, lsb, bits)
        if (place in self.operands or place in self.sketch.outputs) and is_half(exact):
            # Products and folded tables need a word centred on zero: a part loses its lowest bit.
            parts = _shortened(self.nodes, parts)
            exact = heap_constant(self._weight(parts), centre, lsb, bits)
        constant = math.floor(exact + 0.5) + self.widths.get(Role.SHIFT.of(place), 0)
        heap = Heap(tuple(parts), constant, bits, node.angle)
        self.put(place, heap, lsb, (exact - constant) * 2.0**lsb - raised)

    def _weight(self, parts: Sequence[HeapPart]) -> int:
        return sum(part.layout(self.nodes).weight for part in parts)

    def _format(self, node: int) -> Format:
        return Format(self.scales[node].lsb, self.nodes[node].bits)


def _shortened(nodes: Sequence[Node], parts: Sequence[HeapPart]) -> list[HeapPart]:
    """Drop the lowest bit of the last word with a bit in the lowest column."""
    result = list(parts)
    for k in reversed(range(len(result))):
        part = result[k]
        if isinstance(part, Bits) and part.column == 0:
            if part.drop + 1 < nodes[part.node].bits:
                result[k] = Bits(part.node, part.drop + 1, 1, part.negative)
            else:
                del result[k]
            break
    return result


# --------------------------------------------------------------------------------------------------
# From a graph back to the nodes of its sketch.
#
# The order of `realise` is repeated with the numbers of tables and of signed digits only. The
# result is checked against the graph.
# --------------------------------------------------------------------------------------------------


def realised_places(sketch: Sketch, widths: Widths, graph: WordGraph) -> tuple[NodeWords, ...]:
    """Return the words of all nodes of a sketch in its graph; `ValueError` if they differ."""
    walk = _Walk(sketch, widths, graph)
    live = live_nodes(sketch, widths)
    inputs = {node.name: place for place, node in enumerate(graph.nodes[: len(graph.inputs)])
              if isinstance(node, InputWord)}  # fmt: skip
    walk.next = len(inputs)
    for place, node in enumerate(sketch.nodes):
        if isinstance(node, SourceWord):
            found = NodeWords((inputs[node.name],) if node.name in inputs else ())
        elif place not in live:
            found = NodeWords()
        elif isinstance(node, AngleSum):
            found = NodeWords((walk.taken(),))
        elif isinstance(node, WordSum):
            found = walk.heap(place, node)
        else:
            found = walk.table(place, node)
        walk.places.append(found)
    if walk.next != len(graph.nodes):
        raise ValueError("the nodes of the graph do not fit its sketch and widths")
    return tuple(walk.places)


class _Walk:
    """A walk through a sketch like that of `realise`; `next` is the next node of the graph."""

    def __init__(self, sketch: Sketch, widths: Widths, graph: WordGraph) -> None:
        self.sketch, self.widths, self.graph = sketch, widths, graph
        self.operands = operands(sketch)
        self.places: list[NodeWords] = []
        self.next = 0

    def taken(self) -> int:
        self.next += 1
        return self.next - 1

    def table(self, place: int, node: Table) -> NodeWords:
        (source,) = self.places[node.source].words
        split = split_of(self.widths, place, node, self.operands)
        read = min(self.widths[Role.READ.of(place)], self.graph.nodes[source].bits)
        first = self.taken()
        if split is None or read <= 1:
            return NodeWords((first,))
        if not isinstance(split, Interpolation):
            return NodeWords((first, self.taken()))
        if node.angle and self._is_pair(first, split):  # only angles are guarded
            return NodeWords((first, self.taken()))
        split = split.within(read)
        count = (split.times < split.low) + (split.bend > 0)
        words = (first, *(self.taken() for _ in range(count)))
        return NodeWords(words, (self.taken(), self.taken()) if split.times else None)

    def _is_pair(self, first: int, split: Interpolation) -> bool:
        """Return whether an interpolation of a guarded word became a bipartite pair."""
        match self.graph.nodes[first : first + 2]:
            case (Lookup() as one, Lookup() as other):
                whole = not other.mask and other.read > one.read
                return whole and bool(split.times or split.bend)
        return False

    def heap(self, place: int, node: WordSum) -> NodeWords:
        words, format_of = self.places.__getitem__, self._format
        owned = [
            (k, part)
            for k, addend in enumerate(node.addends)
            if is_kept(self.widths, place, k)
            for part in _addend_parts(self.widths, place, k, addend, words, format_of)
        ]
        own = self.taken()
        heap = self.graph.nodes[own]
        if not isinstance(heap, Heap):
            raise ValueError(f"word {own} is no heap")  # noqa: TRY004 (of another sketch)
        if len(owned) == len(heap.parts) + 1:  # `realise` has dropped a part of one bit
            last = max(
                k for k, (_, part) in enumerate(owned) if isinstance(part, Bits) and not part.column
            )
            del owned[last]
        same = [_same(part, found) for (_, part), found in zip(owned, heap.parts, strict=True)]
        if not all(same):
            raise ValueError(f"the parts of heap {own} do not fit its sketch and widths")
        return NodeWords((own,), None, tuple(k for k, _ in owned))

    def _format(self, place: int) -> Format:
        return Format(self.graph.scales[place].lsb, self.graph.nodes[place].bits)


def _same(expected: HeapPart, found: HeapPart) -> bool:
    """Return whether parts have the same operands and sign; `_shortened` may have dropped a bit."""
    key = (part_reads(expected), expected.negative)
    return type(expected) is type(found) and key == (part_reads(found), found.negative)
