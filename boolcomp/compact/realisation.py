"""From a sketch and widths to a word graph: every offset of half a step is booked here."""

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
    Source,
    Table,
    WordSum,
    is_kept,
    live_nodes,
    operands,
)
from boolcomp.compact.tables import (
    Format,
    Interpolation,
    Statistics,
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
from boolcomp.words import graph as g
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, PartialProducts, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.compact.sketch import Widths
    from boolcomp.compact.tables import Tabulated
    from boolcomp.words.graph import HeapPart, WordGraph


# --------------------------------------------------------------------------------------------------
# Sums of angles: how finely each part is read, and what the sum's word then stands for.
#
# A word of n bits stands for (k + ½)/2^n - ½ turns. One over a part 2^-p of a turn stands for
# (k + ½)/2^(n+p) - ½ turns: it is a word of n + p bits whose leading p bits are 0, and not there.
# The sum of two such words lies on whole steps,
# so it is no such word. A plain sum reads all parts but the first half as finely, and is one. An
# exact sum reads all parts as finely as they are, and has a guard bit where it then lies on whole
# steps: bit 0 is always 0, and K of n + 1 bits stands for K/2^(n+1) - ½ turns.
# --------------------------------------------------------------------------------------------------


NEARLY = 1e-6  # of a step: what is this near to a half or whole step is there


@dataclass(frozen=True, slots=True)
class AngleShape:
    """An angle's word: it has `bits`, and counts 2^-known turns.

    `offset` is what its mean lies beside (k + ½)/2^known - ½ turns; `part` leading bits of a turn
    are not in it, because they are 0.
    """

    bits: int
    known: int
    offset: float = 0.0
    part: int = 0

    @property
    def guarded(self) -> bool:
        """Whether the lowest bit is always 0."""
        return self.bits + self.part > self.known


@dataclass(frozen=True, slots=True)
class SumShape:
    """An angle sum's word, how many bits of a turn its parts are read to, and how far up they go.

    `shifts` are in steps of the bits that vary; `middle` is what halves of steps add up to, in
    such steps.
    """

    word: AngleShape
    reads: tuple[int, ...]
    shifts: tuple[int, ...]
    middle: float
    parts: tuple[int, ...]


def angle_shape(sketch: Sketch, widths: Widths, place: int) -> AngleShape:
    """Return the shape of a node that is an angle; sums take what their parts can give."""
    node = sketch.nodes[place]
    if isinstance(node, AngleSum):
        return sum_shape(sketch, widths, place).word
    if isinstance(node, Source):
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
            widths[Role.ANGLE_BITS.of(place)],
            *(most + (k > 0) for k, most in enumerate(spare)),
        )
        reads = tuple(n - (k > 0) + z for k, z in enumerate(shifts))
    ups = tuple(n + z - read for z, read in zip(shifts, reads, strict=True))
    known = sum(m * part.offset for (_, m), part in zip(node.items, parts, strict=True))
    middle = sum(2.0**up for up in ups) / 2 + known * 2.0**n
    beside = middle - 0.5 - math.floor(middle)  # of a step, beside the middle of a cell
    if abs(beside) < NEARLY:
        word = AngleShape(n, n)
    elif node.exact and abs(abs(beside) - 0.5) < NEARLY:
        word = AngleShape(n + 1, n, -0.5 / 2.0**n)
    elif node.exact:
        word = AngleShape(n, n, beside / 2.0**n)
    else:
        raise ValueError(f"angle sum {place} does not lie on half steps")
    return SumShape(word, reads, ups, middle, tuple(part.part for part in parts))


def angle_node(node: AngleSum, shape: SumShape, places: Mapping[int, int]) -> tuple[Angles, float]:
    """Return the node of a graph for a sum, and its offset in turns; `places` are of its parts.

    Without a guard K + ½ - 2^(n-1) = Σ 2^up (k + ½) - Σ m 2^(n-1) modulo 2^n, but for the offset.
    With one K = 2 Σ 2^up (k + ½) + 2^n (1 - Σ m) modulo 2^(n+1).
    """
    word, guard = shape.word, int(shape.word.guarded)
    turns, absent = [], 0
    listed = zip(node.items, shape.reads, shape.shifts, shape.parts, strict=True)
    for (item, multiple), read, up, part in listed:
        there = max(0, read - part)
        if there:
            turns.append(Turn(places[item], there, up + guard, multiple < 0))
        if multiple < 0:  # what is not there is 0, and its inverse ones
            absent += ((1 << read) - (1 << there)) << up + guard
    n, multiples = word.known, sum(m for _, m in node.items)
    twice = (1 << n) * (1 - multiples)
    if guard:
        constant = round(2 * shape.middle) + twice + absent
        return Angles(tuple(turns), constant % (2 << n), n + 1), word.offset / 2
    constant = (round(2 * (shape.middle - word.offset * 2.0**n)) - 1 + twice) // 2 + absent
    return Angles(tuple(turns), constant % (1 << n), n), word.offset


def shift_of(multiple: int) -> int:
    """Return z of a multiple ±2^z."""
    return abs(multiple).bit_length() - 1


# --------------------------------------------------------------------------------------------------
# From a sketch and widths to a word graph: every offset of half a step is booked here.
# --------------------------------------------------------------------------------------------------


def realise(
    sketch: Sketch,
    widths: Widths,
    statistics: Statistics,
    bits: Sequence[int],
    biases: Sequence[float],
    *,
    saturating: Sequence[bool] = (),
    treads: Sequence[bool] = (),
) -> g.WordGraph:
    """Return the word graph of a sketch with these widths.

    `bits` are those of the outputs' words (one more where an output needs it, unless it is
    `saturating`); `biases` are added to the outputs, in their units. `treads` have a cell
    at zero: half a step is added before they are cut off.
    """
    maker = _Realiser(sketch, widths, statistics)
    live = live_nodes(sketch, widths)
    maker.operands = operands(sketch)
    for place, node in enumerate(sketch.nodes):
        if place in live and isinstance(node, Source):
            maker.put(place, g.InputWord(node.name, node.bits, node.angle), 0, 0.0)
    none = [False] * len(bits)
    asked = map(_Asked, bits, biases, treads or none, saturating or none)
    results = dict(zip(sketch.outputs, asked, strict=True))
    found: dict[int, g.OutputWord] = {}
    for place, node in enumerate(sketch.nodes):
        if place not in live or isinstance(node, Source):
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
    return g.WordGraph(tuple(maker.nodes), tuple(maker.scales), order)


class _Asked(NamedTuple):
    """The word of an output: its bits, what is added, whether zero has a cell, or ends saturate."""

    bits: int
    bias: float
    tread: bool
    saturates: bool


@dataclass(slots=True)
class _Realiser:
    """Makes the nodes of a graph one after the other."""

    sketch: Sketch
    widths: Widths
    statistics: Statistics
    operands: frozenset[int] = frozenset()
    nodes: list[g.Node] = field(default_factory=list)
    scales: list[g.Scale] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)
    extra: dict[int, list[int]] = field(default_factory=dict)  # tables that add to a node's
    factors: dict[int, tuple[int, int]] = field(default_factory=dict)  # and words, multiplied

    def put(self, place: int, node: g.Node, lsb: int, offset: float) -> None:
        self.place[place] = len(self.nodes)
        self.nodes.append(node)
        self.scales.append(g.Scale(lsb, offset))

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
        self.place[place] = self._lookup(node, made.tables[0], lsb)
        self.extra[place] = [self._lookup(node, table, lsb) for table in made.tables[1:]]
        if made.product is not None:
            a, b = (self._lookup(node, one.table, one.lsb) for one in made.product)
            self.factors[place] = a, b

    def _lookup(self, node: Table, table: Tabulated, lsb: int) -> int:
        lookup = g.Lookup(
            self.place[node.source], table.read, table.entries, table.bits, table.mask
        )
        self.nodes.append(lookup)
        self.scales.append(g.Scale(lsb, table.offset))
        return len(self.nodes) - 1

    def heap(self, place: int, node: WordSum) -> None:
        lsb, largest = self.widths[Role.CUT.of(place)], self.statistics.largest[place]
        bits = TURN - lsb if node.angle else heap_bits(largest, lsb, output=False)
        self._put_heap(place, node, lsb, bits + self._room(place))

    def output(self, place: int, node: WordSum, asked: _Asked) -> g.OutputWord:
        lsb = self.widths[Role.CUT.of(place)]
        needed = max(asked.bits, self.statistics.output_bits(place, 0)) + self._room(place)
        self._put_heap(place, node, lsb, needed - lsb, asked)
        bits = asked.bits if asked.saturates else needed
        return g.OutputWord(self.place[place], -lsb, bits, asked.tread)

    def _room(self, place: int) -> int:
        return self.widths.get(Role.ROOM.of(place), 0)

    def _put_heap(
        self, place: int, node: WordSum, lsb: int, bits: int, asked: _Asked | None = None
    ) -> None:
        parts: list[g.HeapPart] = []
        # What the sum is where all digits are zero, and how far above that its word stands.
        raised = 0.5 if asked and asked.tread else 0.0
        centre = node.constant + (asked.bias if asked else 0.0) + raised
        for k, addend in enumerate(node.addends):
            if not is_kept(self.widths, place, k):
                centre += self.statistics.means[place][k]
            elif isinstance(addend, Linear):
                parts += self._linear(place, k, addend)
                centre += addend.factor * self.scales[self.place[addend.node]].offset
            else:
                parts += self._product(place, k, addend)
        exact = heap_constant(self._weight(parts), centre, lsb, bits)
        if (place in self.operands or place in self.sketch.outputs) and is_half(exact):
            # Products and folded tables want a word about zero: a part gives up its lowest bit.
            parts = _shortened(self.nodes, parts)
            exact = heap_constant(self._weight(parts), centre, lsb, bits)
        constant = math.floor(exact + 0.5) + self.widths.get(Role.SHIFT.of(place), 0)
        heap = g.Heap(tuple(parts), constant, bits, node.angle)
        self.put(place, heap, lsb, (exact - constant) * 2.0**lsb - raised)

    def _weight(self, parts: Sequence[g.HeapPart]) -> int:
        return sum(part.layout(self.nodes).weight for part in parts)

    def _format(self, node: int) -> Format:
        return Format(self.scales[node].lsb, self.nodes[node].bits)

    def _linear(self, place: int, k: int, addend: Linear) -> list[g.HeapPart]:
        nodes = [self.place[addend.node], *self.extra.get(addend.node, ())]
        rows = linear_rows(self.widths, place, k, addend, [self._format(node) for node in nodes])
        parts: list[g.HeapPart] = [
            g.Bits(nodes[i], row.drop, row.column, digit < 0) for i, digit, row in rows if row.bits
        ]
        if addend.node in self.factors:
            a, b = self.factors[addend.node]
            grids = factor_grids(self.widths, place, k, addend, self._format(a), self._format(b))
            parts += [
                g.PartialProducts(a, 0, b, 0, grid.column, digit < 0)
                for digit, grid in grids
                if grid.top >= 0
            ]
        return parts

    def _product(self, place: int, k: int, addend: Product) -> list[g.HeapPart]:
        a, b = self.place[addend.a], self.place[addend.b]
        grid = product_grid(self.widths, place, k, addend, self._format(a), self._format(b))
        if grid.top < 0:
            return []
        negative = addend.factor < 0
        return [g.PartialProducts(a, grid.drop_a, b, grid.drop_b, grid.column, negative)]


def _shortened(nodes: Sequence[g.Node], parts: Sequence[g.HeapPart]) -> list[g.HeapPart]:
    """Drop the lowest bit of the last word that has one in the lowest column."""
    result = list(parts)
    for k in reversed(range(len(result))):
        part = result[k]
        if isinstance(part, g.Bits) and part.column == 0:
            if part.drop + 1 < nodes[part.node].bits:
                result[k] = g.Bits(part.node, part.drop + 1, 1, part.negative)
            else:
                del result[k]
            break
    return result


# --------------------------------------------------------------------------------------------------
# Which nodes of a graph stand for which node of its sketch, and whose the parts of heaps are.
#
# The order of `realise` says so: it is gone through again, with nothing but the number of tables
# and of signed digits. What is found is checked against the graph.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """The words that stand for a node of a sketch: those that add up, and two that are multiplied.

    Of a heap `owners` says of every part to which addend it belongs.
    """

    words: tuple[int, ...] = ()
    product: tuple[int, int] | None = None
    owners: tuple[int, ...] = ()


def realised_places(sketch: Sketch, widths: Widths, graph: WordGraph) -> tuple[Place, ...]:
    """Return where every node of a sketch stands in its graph; a `ValueError` where it does not."""
    walk = _Walk(sketch, widths, graph)
    live = live_nodes(sketch, widths)
    inputs = {node.name: place for place, node in enumerate(graph.nodes[: len(graph.inputs)])
              if isinstance(node, InputWord)}  # fmt: skip
    walk.next = len(inputs)
    for place, node in enumerate(sketch.nodes):
        if isinstance(node, Source):
            found = Place((inputs[node.name],) if node.name in inputs else ())
        elif place not in live:
            found = Place()
        elif isinstance(node, AngleSum):
            found = Place((walk.taken(),))
        elif isinstance(node, WordSum):
            found = walk.heap(place, node)
        else:
            found = walk.table(place, node)
        walk.places.append(found)
    if walk.next != len(graph.nodes):
        raise ValueError("the graph has other nodes than its sketch and widths say")
    return tuple(walk.places)


class _Walk:
    """Goes through a sketch as `realise` does; `next` is the next node of the graph."""

    def __init__(self, sketch: Sketch, widths: Widths, graph: WordGraph) -> None:
        self.sketch, self.widths, self.graph = sketch, widths, graph
        self.operands = operands(sketch)
        self.places: list[Place] = []
        self.next = 0

    def taken(self) -> int:
        self.next += 1
        return self.next - 1

    def table(self, place: int, node: Table) -> Place:
        (source,) = self.places[node.source].words
        split = split_of(self.widths, place, node, self.operands)
        read = min(self.widths[Role.READ.of(place)], self.graph.nodes[source].bits)
        first = self.taken()
        if split is None or read <= 1:
            return Place((first,))
        if not isinstance(split, Interpolation):
            return Place((first, self.taken()))
        if node.angle and self._is_pair(first, split):  # only angles have guarded words
            return Place((first, self.taken()))
        how = split.within(read)
        count = (how.times < how.low) + (how.bend > 0)
        words = (first, *(self.taken() for _ in range(count)))
        return Place(words, (self.taken(), self.taken()) if how.times else None)

    def _is_pair(self, first: int, split: Interpolation) -> bool:
        """Tell whether an interpolation became a bipartite pair, as it does of guarded words."""
        second = self.graph.nodes[first + 1] if first + 1 < len(self.graph.nodes) else None
        node = self.graph.nodes[first]
        pair = isinstance(second, Lookup) and isinstance(node, Lookup)
        return pair and bool(split.times or split.bend) and self._whole(first)

    def _whole(self, first: int) -> bool:
        """Tell whether the second of two tables reads its word's bits one and all."""
        first_node, second = self.graph.nodes[first], self.graph.nodes[first + 1]
        if not isinstance(first_node, Lookup) or not isinstance(second, Lookup):
            return False
        return not second.mask and second.read > first_node.read

    def heap(self, place: int, node: WordSum) -> Place:
        owned = [
            (k, part)
            for k, addend in enumerate(node.addends)
            if is_kept(self.widths, place, k)
            for part in (
                self._linear(place, k, addend)
                if isinstance(addend, Linear)
                else self._product(place, k, addend)
            )
        ]
        own = self.taken()
        heap = self.graph.nodes[own]
        if not isinstance(heap, Heap):
            raise ValueError(f"word {own} is no heap")  # noqa: TRY004 (a graph of something else)
        if len(owned) == len(heap.parts) + 1:  # it was one bit too many (see `realise`)
            last = max(
                k for k, (_, part) in enumerate(owned) if isinstance(part, Bits) and not part.column
            )
            del owned[last]
        same = [_same(part, there) for (_, part), there in zip(owned, heap.parts, strict=True)]
        if not all(same):
            raise ValueError(f"heap {own} has other parts than its sketch and widths say")
        return Place((own,), None, tuple(k for k, _ in owned))

    def _format(self, place: int) -> Format:
        return Format(self.graph.scales[place].lsb, self.graph.nodes[place].bits)

    def _linear(self, place: int, k: int, addend: Linear) -> Iterator[HeapPart]:
        read = self.places[addend.node]
        words = [self._format(word) for word in read.words]
        for i, digit, row in linear_rows(self.widths, place, k, addend, words):
            if row.bits:
                yield Bits(read.words[i], row.drop, row.column, digit < 0)
        if read.product is not None:
            a, b = read.product
            formats = self._format(a), self._format(b)
            for digit, grid in factor_grids(self.widths, place, k, addend, *formats):
                if grid.top >= 0:
                    yield PartialProducts(a, 0, b, 0, grid.column, digit < 0)

    def _product(self, place: int, k: int, addend: Product) -> Iterator[HeapPart]:
        (a,), (b,) = self.places[addend.a].words, self.places[addend.b].words
        formats = self._format(a), self._format(b)
        grid = product_grid(self.widths, place, k, addend, *formats)
        if grid.top >= 0:
            negative = addend.factor < 0
            yield PartialProducts(a, grid.drop_a, b, grid.drop_b, grid.column, negative)


def _same(made: HeapPart, there: HeapPart) -> bool:
    """Tell whether a part is that of the graph, but for bits that were dropped later."""
    if isinstance(made, Bits):
        return isinstance(there, Bits) and (made.node, made.negative) == (
            there.node,
            there.negative,
        )
    return isinstance(there, PartialProducts) and (made.a, made.b, made.negative) == (
        there.a, there.b, there.negative,
    )  # fmt: skip
