"""From a sketch and widths to a word graph: every offset of half a step is booked here.

Widths are whole numbers by (node of the sketch, name):
    n    bits of an angle sum, where its parts have as many (see `angles`)
    t    bits that a table reads;  e  the exponent of its output's lowest bit
    s, p  bits split off a bipartite table, and leading bits that its correction reads
    cut  the exponent of a heap's lowest column;  c  what is added to its constant
    aK, bK  digits of a product's words that addend K leaves away, beyond what they lack
    dK   signed digits of addend K's constant;  kK  0 where addend K is replaced by its mean
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.compact.graph.angles import AngleShape, angle_node, angle_shape, sum_shape
from boolcomp.compact.graph.tabulate import Domain, needed_bits, tabulate
from boolcomp.compact.sketch.poly import signed_digits
from boolcomp.compact.sketch.sketch import (
    TURN,
    AngleSum,
    Linear,
    Powers,
    Product,
    Sketch,
    Source,
    Sum,
    Table,
    Waves,
    addend_reads,
    reads,
)
from boolcomp.words import graph as g

if TYPE_CHECKING:
    from collections.abc import Sequence

Widths: TypeAlias = Mapping[tuple[int, str], int]

MARGIN = 1.02  # a sampled extreme may be exceeded by this much
SLACK_STEPS = 3  # and by the errors of what is added, in steps of the heap
HALF = 1e-6
DIGITS = 12  # signed digits of a constant at most


@dataclass(frozen=True, slots=True)
class Statistics:
    """What samples say of a sketch's values: the largest size of every node, means of addends."""

    largest: tuple[float, ...]
    means: tuple[tuple[float, ...], ...]


def realise(
    sketch: Sketch,
    widths: Widths,
    statistics: Statistics,
    bits: Sequence[int],
    biases: Sequence[float],
    *,
    saturate: bool = False,
) -> g.Graph:
    """Return the word graph of a sketch with these widths.

    `bits` are those of the torques' words (one more where a torque needs it, unless it is to
    saturate); `biases` are added to the torques, in their units.
    """
    maker = _Maker(sketch, widths, statistics)
    live = live_nodes(sketch, widths)
    maker.operands = operands(sketch)
    for place, node in enumerate(sketch.nodes):
        if place in live and isinstance(node, Source):
            maker.put(place, g.Input(node.name, node.bits, node.angle), 0, 0.0)
    results = dict(zip(sketch.outputs, zip(bits, biases, strict=True), strict=True))
    found: dict[int, g.Result] = {}
    for place, node in enumerate(sketch.nodes):
        if place not in live or isinstance(node, Source):
            continue
        if isinstance(node, AngleSum):
            maker.angles(place, node)
        elif isinstance(node, (Waves, Powers)):
            maker.table(place, node)
        elif place in results:
            found[place] = maker.output(place, node, *results[place], saturate=saturate)
        else:
            maker.heap(place, node)
    order = tuple(found[k] for k in sketch.outputs)
    return g.Graph(tuple(maker.nodes), tuple(maker.scales), order)


def live_nodes(sketch: Sketch, widths: Widths) -> frozenset[int]:
    """Return the nodes that the torques need, by way of addends that are kept."""
    live = set(sketch.outputs)
    for place in reversed(range(len(sketch.nodes))):
        if place in live:
            node = sketch.nodes[place]
            if isinstance(node, Sum):
                kept = [a for k, a in enumerate(node.addends) if is_kept(widths, place, k)]
                live.update(k for addend in kept for k in addend_reads(addend))
            else:
                live.update(reads(node))
    return frozenset(live)


def operands(sketch: Sketch) -> frozenset[int]:
    """Return the nodes that products, tables or exact angles read: words that lie about zero."""
    found: set[int] = set()
    for node in sketch.nodes:
        if isinstance(node, Sum):
            for addend in node.addends:
                if isinstance(addend, Product):
                    found.update((addend.a, addend.b))
        elif isinstance(node, (Waves, Powers)):
            found.add(node.source)
        elif isinstance(node, AngleSum) and node.exact:
            found.update(reads(node))
    return frozenset(found)


def is_kept(widths: Widths, place: int, addend: int) -> bool:
    """Tell whether an addend of a sum is computed (otherwise its mean stands for it)."""
    return widths.get((place, f"k{addend}"), 1) > 0


@dataclass(slots=True)
class _Maker:
    """Makes the nodes of a graph one after the other."""

    sketch: Sketch
    widths: Widths
    statistics: Statistics
    operands: frozenset[int] = frozenset()
    nodes: list[g.Node] = field(default_factory=list)
    scales: list[g.Scale] = field(default_factory=list)
    place: dict[int, int] = field(default_factory=dict)
    extra: dict[int, int] = field(default_factory=dict)

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
        read = min(self.widths[place, "t"], source.bits)
        shape = None
        if isinstance(node, Waves):
            shape = angle_shape(self.sketch, self.widths, node.source)
        domain = table_domain(node, scale.lsb, source.bits, read, scale.offset, shape)
        lsb = self.widths[place, "e"]
        split = split_of(self.widths, place, self.operands)
        made = tabulate(node, domain, lsb, centred=place not in self.operands, **split)
        for k, table in enumerate(made):
            lookup = g.Lookup(self.place[node.source], table.read, table.entries, table.bits)
            if k:
                self.extra[place] = len(self.nodes)
                self.nodes.append(lookup)
                self.scales.append(g.Scale(lsb, table.offset))
            else:
                self.put(place, lookup, lsb, table.offset)

    def heap(self, place: int, node: Sum) -> None:
        lsb = self.widths[place, "cut"]
        if node.angle:
            bits = TURN - lsb
        else:
            reach = self.statistics.largest[place] * MARGIN + SLACK_STEPS * 2.0**lsb
            bits = needed_bits(reach, lsb)
        self._put_heap(place, node, lsb, bits, 0.0)

    def output(self, place: int, node: Sum, bits: int, bias: float, *, saturate: bool) -> g.Result:
        lsb = self.widths[place, "cut"]
        reach = self.statistics.largest[place] * MARGIN + SLACK_STEPS
        bits_needed = max(bits, needed_bits(reach, 0))
        self._put_heap(place, node, lsb, bits_needed - lsb, bias)
        return g.Result(self.place[place], -lsb, bits if saturate else bits_needed)

    def _put_heap(self, place: int, node: Sum, lsb: int, bits: int, bias: float) -> None:
        parts: list[g.Part] = []
        centre = node.constant + bias  # what the sum is where all digits are zero
        for k, addend in enumerate(node.addends):
            if not is_kept(self.widths, place, k):
                centre += self.statistics.means[place][k]
            elif isinstance(addend, Linear):
                parts += self._bits(place, k, addend, lsb)
                centre += addend.factor * self.scales[self.place[addend.node]].offset
            else:
                parts += self._product(place, k, addend, lsb)
        exact = self._exact_constant(parts, centre, lsb, bits)
        central = place in self.operands or place in self.sketch.outputs
        if central and abs(exact - math.floor(exact) - 0.5) < HALF:
            # Products and folded tables want a word about zero: a part gives up its lowest bit.
            parts = _shortened(self.nodes, parts)
            exact = self._exact_constant(parts, centre, lsb, bits)
        constant = math.floor(exact + 0.5) + self.widths.get((place, "c"), 0)
        heap = g.Heap(tuple(parts), constant, bits, node.angle)
        self.put(place, heap, lsb, (exact - constant) * 2.0**lsb)

    def _exact_constant(self, parts: Sequence[g.Part], centre: float, lsb: int, bits: int) -> float:
        units = sum(_weight(self.nodes, part) for part in parts)  # twice half of what bits count
        return centre / 2.0**lsb - units / 2 - 0.5 + 2.0 ** (bits - 1)

    def _bits(self, place: int, k: int, addend: Linear, lsb: int) -> list[g.Part]:
        nodes = [self.place[addend.node]]
        if addend.node in self.extra:
            nodes.append(self.extra[addend.node])
        return [part for node in nodes for part in self._digits(place, k, addend, lsb, node)]

    def _digits(self, place: int, k: int, addend: Linear, lsb: int, node: int) -> list[g.Part]:
        parts: list[g.Part] = []
        for digit in constant_digits(addend, self.widths.get((place, f"d{k}"), DIGITS)):
            column = math.frexp(abs(digit))[1] - 1 + self.scales[node].lsb - lsb
            drop = max(0, -column)
            if drop < self.nodes[node].bits:
                parts.append(g.Bits(node, drop, column + drop, digit < 0))
        return parts

    def _product(self, place: int, k: int, addend: Product, lsb: int) -> list[g.Part]:
        a, b = self.place[addend.a], self.place[addend.b]
        drop_a = min(self.widths.get((place, f"a{k}"), 0), self.nodes[a].bits - 1)
        drop_b = min(self.widths.get((place, f"b{k}"), 0), self.nodes[b].bits - 1)
        exponent = math.frexp(abs(addend.factor))[1] - 1
        column = exponent + self.scales[a].lsb + drop_a + self.scales[b].lsb + drop_b - 1 - lsb
        top = column + self.nodes[a].bits - drop_a + self.nodes[b].bits - drop_b - 2
        if top < 0:
            return []
        return [g.Partial(a, drop_a, b, drop_b, column, addend.factor < 0)]


def constant_digits(addend: Linear, most: int) -> tuple[float, ...]:
    """Return the signed powers of two that stand for an addend's factor."""
    return signed_digits(addend.factor, abs(addend.factor) * 2.0**-20, most)


def table_domain(
    node: Table,
    lsb: int,
    bits: int,
    read: int,
    middle: float = 0.0,
    shape: AngleShape | None = None,
) -> Domain:
    """Return the cells of a word of `bits` bits that a table which reads `read` tells apart.

    An angle's `shape` says where in the cells it lies.
    """
    if isinstance(node, Waves):
        part = 0 if shape is None else shape.part
        cell = 2 * math.pi / 2.0 ** (read + part)
        if part:  # the word begins where a turn does
            return Domain(read, cell, math.pi * (2.0**-part - 1))
        if shape is None or not shape.offset:
            return Domain(read, cell, 0.0)
        if shape.guarded and read == shape.bits:
            return Domain(read, cell, 0.0, guarded=True)
        return Domain(read, cell, 2 * math.pi * shape.offset)
    return Domain(read, 2.0 ** (lsb + bits - read), middle)


def split_of(widths: Widths, place: int, operands: frozenset[int]) -> dict[str, int]:
    """Return how a table is split in two, if it is."""
    if place in operands:
        return {}
    return {"low": widths.get((place, "s"), 0), "lead": widths.get((place, "p"), 0)}


def _shortened(nodes: Sequence[g.Node], parts: Sequence[g.Part]) -> list[g.Part]:
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


def _weight(nodes: Sequence[g.Node], part: g.Part) -> int:
    """Return the sum of what a part's bits count, in units of the heap's lowest column."""
    if isinstance(part, g.Bits):
        return ((1 << (nodes[part.node].bits - part.drop)) - 1) << part.column
    count_a, count_b = nodes[part.a].bits - part.drop_a, nodes[part.b].bits - part.drop_b
    total = 0
    for i in range(count_a):
        first = max(0, -(part.column + i))
        if first < count_b:
            total += ((1 << (count_b - first)) - 1) << (part.column + i + first)
    return total
