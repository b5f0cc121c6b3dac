"""From a sketch and widths to a word graph: every offset of half a step is booked here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.compact.graph.angles import angle_node, angle_shape, sum_shape
from boolcomp.compact.graph.layout import (
    Format,
    Statistics,
    factor_grids,
    heap_bits,
    heap_constant,
    is_half,
    linear_rows,
    product_grid,
)
from boolcomp.compact.graph.tabulate import table_domain
from boolcomp.compact.sketch.sketch import (
    TURN,
    AngleSum,
    Linear,
    Product,
    Sketch,
    Source,
    Table,
    WordSum,
)
from boolcomp.compact.sketch.variables import Role, is_kept, live_nodes, operands
from boolcomp.compact.tables import split_of, split_table
from boolcomp.words import graph as g

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.graph.tabulate import Tabulated
    from boolcomp.compact.sketch.variables import Widths


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
