"""From a sketch and widths to a word graph: every offset of half a step is booked here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from boolcomp.compact.graph import graph as g
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
    Table,
    Waves,
    WordSum,
)
from boolcomp.compact.sketch.variables import Role, is_kept, live_nodes, operands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.sketch.variables import Widths

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
) -> g.WordGraph:
    """Return the word graph of a sketch with these widths.

    `bits` are those of the torques' words (one more where a torque needs it, unless it is to
    saturate); `biases` are added to the torques, in their units.
    """
    maker = _Realiser(sketch, widths, statistics)
    live = live_nodes(sketch, widths)
    maker.operands = operands(sketch)
    for place, node in enumerate(sketch.nodes):
        if place in live and isinstance(node, Source):
            maker.put(place, g.InputWord(node.name, node.bits, node.angle), 0, 0.0)
    results = dict(zip(sketch.outputs, zip(bits, biases, strict=True), strict=True))
    found: dict[int, g.OutputWord] = {}
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
    return g.WordGraph(tuple(maker.nodes), tuple(maker.scales), order)


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
        read = min(self.widths[Role.READ.of(place)], source.bits)
        shape = None
        if isinstance(node, Waves):
            shape = angle_shape(self.sketch, self.widths, node.source)
        domain = table_domain(node, scale.lsb, source.bits, read, scale.offset, shape)
        lsb = self.widths[Role.EXPONENT.of(place)]
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

    def heap(self, place: int, node: WordSum) -> None:
        lsb = self.widths[Role.CUT.of(place)]
        if node.angle:
            bits = TURN - lsb
        else:
            reach = self.statistics.largest[place] * MARGIN + SLACK_STEPS * 2.0**lsb
            bits = needed_bits(reach, lsb)
        self._put_heap(place, node, lsb, bits, 0.0)

    def output(
        self, place: int, node: WordSum, bits: int, bias: float, *, saturate: bool
    ) -> g.OutputWord:
        lsb = self.widths[Role.CUT.of(place)]
        reach = self.statistics.largest[place] * MARGIN + SLACK_STEPS
        bits_needed = max(bits, needed_bits(reach, 0))
        self._put_heap(place, node, lsb, bits_needed - lsb, bias)
        return g.OutputWord(self.place[place], -lsb, bits if saturate else bits_needed)

    def _put_heap(self, place: int, node: WordSum, lsb: int, bits: int, bias: float) -> None:
        parts: list[g.HeapPart] = []
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
        constant = math.floor(exact + 0.5) + self.widths.get(Role.SHIFT.of(place), 0)
        heap = g.Heap(tuple(parts), constant, bits, node.angle)
        self.put(place, heap, lsb, (exact - constant) * 2.0**lsb)

    def _exact_constant(
        self, parts: Sequence[g.HeapPart], centre: float, lsb: int, bits: int
    ) -> float:
        units = sum(_weight(self.nodes, part) for part in parts)  # twice half of what bits count
        return centre / 2.0**lsb - units / 2 - 0.5 + 2.0 ** (bits - 1)

    def _bits(self, place: int, k: int, addend: Linear, lsb: int) -> list[g.HeapPart]:
        nodes = [self.place[addend.node]]
        if addend.node in self.extra:
            nodes.append(self.extra[addend.node])
        return [part for node in nodes for part in self._digits(place, k, addend, lsb, node)]

    def _digits(self, place: int, k: int, addend: Linear, lsb: int, node: int) -> list[g.HeapPart]:
        parts: list[g.HeapPart] = []
        for digit in constant_digits(addend, self.widths.get(Role.DIGITS.of(place, k), DIGITS)):
            column = math.frexp(abs(digit))[1] - 1 + self.scales[node].lsb - lsb
            drop = max(0, -column)
            if drop < self.nodes[node].bits:
                parts.append(g.Bits(node, drop, column + drop, digit < 0))
        return parts

    def _product(self, place: int, k: int, addend: Product, lsb: int) -> list[g.HeapPart]:
        a, b = self.place[addend.a], self.place[addend.b]
        drop_a = min(self.widths.get(Role.DROP_A.of(place, k), 0), self.nodes[a].bits - 1)
        drop_b = min(self.widths.get(Role.DROP_B.of(place, k), 0), self.nodes[b].bits - 1)
        exponent = math.frexp(abs(addend.factor))[1] - 1
        column = exponent + self.scales[a].lsb + drop_a + self.scales[b].lsb + drop_b - 1 - lsb
        top = column + self.nodes[a].bits - drop_a + self.nodes[b].bits - drop_b - 2
        if top < 0:
            return []
        return [g.PartialProducts(a, drop_a, b, drop_b, column, addend.factor < 0)]


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
    return {
        "low": widths.get(Role.SPLIT.of(place), 0),
        "lead": widths.get(Role.LEAD.of(place), 0),
    }


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


def _weight(nodes: Sequence[g.Node], part: g.HeapPart) -> int:
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
