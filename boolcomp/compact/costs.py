"""Cost models of targets, for the search for widths.

The sketch, the noise and the range of widths are the same for all targets; the costs of tables,
products and sums differ, and so the widths that are found.

| target | unit | cheap parts |
|---|---|---|
| luts | nodes of three inputs | none (default) |
| lut4, lut6 | tables of four or six inputs | partial products, within the adders that read them |
| gates | gates of two inputs | none |
| carry | tables of four inputs, each with a carry | sums of two words |
| dsp | tables of four inputs | products of at most 18 by 18 bits |
| mcu8, mcu32 | cycles of a processor of 8 or 32 bits | products that are not cut, large tables |
| simd | instructions a vector | products of 16 bits, small tables |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeAlias

from boolcomp.compact.network import (
    ADDING,
    adder_nodes,
    graph_luts,
    mean_adder_nodes,
    table_luts,
    word_depth,
    word_nodes,
)
from boolcomp.compact.tables import Tabulated, table_cost
from boolcomp.words.costs import MACHINES, cycles
from boolcomp.words.graph import narrowed
from boolcomp.words.lowering import lowered, slope_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.compact.demand import Demand
    from boolcomp.words.graph import (
        Angles,
        Grid,
        Heap,
        HeapRow,
        InputWord,
        Lookup,
        WordGraph,
    )


MOST_SYNTHESISED = 9  # inputs of a table whose nodes are counted; larger ones are estimated


def counted(graph: WordGraph, costs: CostModel) -> int:
    """Return the cost of a graph without unused input bits, summed over its parts."""
    graph = narrowed(graph)
    cost = 0.0
    for addend in chain.from_iterable(graph.fold(_NodeCosts(graph, costs))):
        cost += addend  # one by one: other groups round to other halves
    return round(cost)


class _NodeCosts:
    """The addends of the cost of every node of a graph."""

    def __init__(self, graph: WordGraph, costs: CostModel) -> None:
        self.graph, self.costs, self.factors = graph, costs, graph.factors
        self.dropped = {result.node: result.drop for result in graph.results}
        self.kinds: dict[int, WordKind] = dict.fromkeys(graph.tables, "table")
        self.kinds |= dict.fromkeys(graph.heaps, "sum")

    def kind(self, place: int) -> WordKind:
        return self.kinds.get(place, "input")

    def input(self, _place: int, _node: InputWord) -> Iterable[float]:
        return ()

    def angles(self, _place: int, node: Angles) -> Iterable[float]:
        return (self.costs.turns(node.bits, len(node.turns)),)

    def lookup(self, place: int, node: Lookup) -> Iterable[float]:
        table = Tabulated(node.read, node.entries, node.bits, 0.0, node.mask)
        return (self.costs.table(table, MOST_SYNTHESISED, operand=place in self.factors),)

    def heap(self, place: int, node: Heap) -> Iterable[float]:
        """Yield the costs of a heap: its products, its words, then its adders."""
        counts = [0] * node.bits
        rows: dict[int, list[HeapRow]] = {}
        for part in node.products:
            kinds = self.kind(part.a), self.kind(part.b)
            yield self.costs.product(part.layout(self.graph.nodes), counts, kinds)
        for word in node.words:
            rows.setdefault(word.node, []).append(word.layout(self.graph.nodes))
        for source, several in rows.items():
            yield self.costs.rows(several, counts, self.kind(source))
        yield self.costs.heap(counts, self.dropped.get(place, 0), node.constant)


# --------------------------------------------------------------------------------------------------
# Code of a processor with a multiplier: approximate cycles.
#
# A product is one or two instructions as long as words fit the multiplier and sums fit a register.
# Discarded bits of a product cost extra. An entry of a table takes a few cycles; every byte has a
# small cost for the flash that it occupies.
# --------------------------------------------------------------------------------------------------

FULL = 128.0  # cost of all the flash that tables may take, in cycles


@dataclass(frozen=True, slots=True)
class WordProcessor:
    """The costs of operations of a processor; `flash` is the number of bytes for tables.

    Signed operands of products have one bit more than their words. `weight` is the number of nodes
    of logic per unit of cost, for estimates of work. With `whole` searches begin with tables in one
    part. `counts` in methods are the bits in the columns of a heap.
    """

    narrow: int  # bits of an operand of the multiplier, with its sign
    register: int  # bits of a sum without extra cost
    multiply: float  # a product of two narrow words
    widen: float  # added for an operand that is not narrow
    add: float  # a word to a sum
    move: float  # a shift by one column
    sign: float  # converting a word that is not a table entry to a signed number
    look: float  # a table entry
    far: float  # added for an entry of more than a byte
    flash: int
    cut: float = 30.0  # a product with discarded bits
    wide: float = 2.5  # factor for more bits than a register has
    unit: str = "cycles"
    whole: bool = True
    bytewise: bool = False  # the cost of a graph is that of its integer operations
    weight: float = 4.0

    def table(self, table: Tabulated, maximum: int, *, operand: bool) -> float:  # noqa: ARG002
        """Return the cost of reading an entry and of the table's memory."""
        if len(set(table.entries)) == 1:
            return 0.0
        if self.bytewise and 0 < abs(slope_of(table.entries)) < 256:
            return self.multiply
        bits = table.bits + 1 if operand else table.bits
        size = _octets(bits)
        index = self.far / 2 if len(table.entries) > 256 else 0.0
        picked = 2 * self.move if table.mask else 0.0
        entry = self.look + index + picked + (self.far if size > 1 else 0.0)
        return entry + self._memory(size * len(table.entries))

    def turns(self, bits: int, words: int) -> float:  # noqa: ARG002 (registers are wide enough)
        return 3 * self.add * (words - 1) + self.add

    def product(self, grid: Grid, counts: list[int], words: Factors) -> float:
        """Return the cost of a product: its operands, its shift, and its discarded bits."""
        cost = self.multiply + self.widen * sum(
            max(0.0, 0.5 + (bits + 1 - self.narrow) / 8)
            for bits in (grid.a, grid.b)
            if bits + 1 > self.narrow
        )
        cost += sum(0.0 if word == "table" else self.sign for word in words)
        column = grid.column
        if column < 0:
            cost += self.cut - 0.1 * self.cut * column
        else:
            cost += self.move * column
        size = len(counts)
        if column <= 0 < size:  # the parity of the partial products
            counts[0] += dict(grid.diagonals()).get(0, 0)
        return (cost + self.add) * self._wider(size + 1)

    def rows(self, rows: Sequence[HeapRow], counts: list[int], word: WordKind) -> float:
        """Return the cost of adding a word, once or times several digits of a constant.

        Tables contain shifted entries; inputs lack their unused low bits. Several digits of a
        narrow input are a table, or a product if no bit is dropped.
        """
        size, rows = len(counts), [row for row in rows if row.bits > 0]
        for row in rows:
            if row.column == 0 < size:
                counts[0] += 1
        if not rows:
            return 0.0
        wider = self._wider(size)
        if word == "table":
            return self.add * wider
        drops = [row.drop for row in rows]
        least = min(drops) if word == "input" else 0
        bits = max(row.bits for row in rows)
        cost = 2 * self.far if word == "input" and bits > 8 else 0.0
        several = cost + sum(
            self.add + self.move * min(4, row.drop - least or row.column) for row in rows
        )
        if len(rows) > 1 and bits <= 8:
            several = min(several, self.look + self.far + self.add + self._memory(2 << bits))
        if len(rows) > 1 and max(drops) == least:
            several = min(several, cost + self.multiply + self.add)
        return several * wider

    def heap(self, counts: Sequence[int], dropped: int, constant: int | None = None) -> float:  # noqa: ARG002 (interface)
        return self.add * self._wider(len(counts))

    def graph(self, graph: WordGraph) -> int:
        """Return the cost of a graph, of its integer operations if all are known."""
        if not self.bytewise:
            return counted(graph, self)
        code = lowered(narrowed(graph), MACHINES["mcu8"])
        return round(cycles(code) + self._memory(code.octets))

    def _memory(self, octets: int) -> float:
        return FULL / self.flash * octets

    def levels(self, graph: WordGraph) -> int:  # noqa: ARG002 (code has none)
        return 0

    def octets(self, graph: WordGraph) -> int:
        """Return the approximate number of bytes of tables."""
        factors = graph.factors
        return sum(
            len(node.entries) * _octets(node.bits + (place in factors))
            for place, node in graph.tables.items()
        )

    def _wider(self, bits: int) -> float:
        """Return the cost factor of arithmetic in this many bits."""
        if bits <= self.register:
            return 1.0
        return self.wide + (bits - self.register) / self.register


def _octets(bits: int) -> int:
    return 1 if bits <= 8 else 2 if bits <= 16 else 4


PROCESSORS = {
    # An AVR: an addition of 16 bits is two instructions, LPM takes three cycles a byte.
    "mcu8": WordProcessor(8, 16, 4.0, 10.0, 2.0, 2.0, 2.0, 7.0, 4.0, 16_384),
    # A Cortex-M: all of 32 bits is one instruction; an address takes another.
    "mcu32": WordProcessor(16, 32, 0.5, 4.0, 1.0, 1.0, 2.0, 3.0, 0.1, 65_536, 8.0),
    # Lanes of 16 bits: tables are permutations of registers of 64 bytes.
    "simd": WordProcessor(16, 16, 1.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 8192, 6.0, unit="instructions",
                      whole=False),
}  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Logic: nodes of three inputs, gates, or tables of an FPGA.
#
# Heaps are reduced by full adders, or by rows if bits of a sum have dedicated carries. Discarded
# partial products cost nothing.
# --------------------------------------------------------------------------------------------------

GATES_A_NODE = 2.7  # gates of two inputs in a node of a table, which is mostly a multiplexer
DSP_BITS = 17  # of an operand: 18 with the sign, and 16 in the smallest FPGAs are two tables more
DSP_COST = 2.0  # of a DSP block, in tables


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of a partial product and of a node of an adder; a `scale` for nodes of tables.

    Nodes have three inputs, or `six`. `level` is the cost of a level of a whole graph.
    """

    partial: float = 1.0
    adding: float = 1.0
    six: bool = False
    scale: float = 1.0
    unit: str = "nodes"
    whole: bool = False  # tables begin in two parts
    bytewise: bool = False
    weight: float = 1.0
    level: float = 0.0

    def table(self, table: Tabulated, maximum: int, *, operand: bool) -> float:
        """Return the cost of a table (see `table_cost`)."""
        if self.six:
            return table_luts(table, operand=operand)
        return self.scale * table_cost(table, maximum, operand=operand)

    def turns(self, bits: int, words: int) -> float:  # noqa: ARG002 (for other targets)
        return self.adding * (2.0 * bits - 3.0)

    def product(self, grid: Grid, counts: list[int], words: Factors) -> float:  # noqa: ARG002
        """Put partial products into columns; return their cost."""
        made = 0
        for column, pairs in grid.diagonals():
            if column >= 0:
                made += pairs
                if column < len(counts):
                    counts[column] += pairs
        return self.partial * made

    def rows(self, rows: Sequence[HeapRow], counts: list[int], word: WordKind) -> float:  # noqa: ARG002
        """Put a word into columns, at no cost besides the adders."""
        for row in rows:
            for column in range(row.column, min(row.column + row.bits, len(counts))):
                counts[column] += 1
        return 0.0

    def heap(self, counts: Sequence[int], dropped: int, constant: int | None = None) -> float:
        """Return the cost of adding up columns; only carries of `dropped` ones are read."""
        if constant is not None:
            return self.adding * adder_nodes(counts, dropped, constant)
        return self.adding * mean_adder_nodes(counts, dropped)

    def graph(self, graph: WordGraph) -> int:
        """Return the cost of a whole graph before any pass."""
        if self.level:
            return replace(self, level=0.0).graph(graph) + self.levels(graph)
        if self.six:
            return graph_luts(graph)
        if self == NODES:
            return word_nodes(graph)
        return counted(graph, self)

    def levels(self, graph: WordGraph) -> int:
        return round(self.level * word_depth(graph)) if self.level else 0

    def octets(self, graph: WordGraph) -> int:  # noqa: ARG002 (tables are logic)
        return 0


@dataclass(frozen=True, slots=True)
class RowCosts(Costs):
    """Sums by rows: a bit of a sum of two words is one table with a dedicated carry."""

    def turns(self, bits: int, words: int) -> float:
        return self.adding * bits * (words - 1)

    def heap(self, counts: Sequence[int], dropped: int, constant: int | None = None) -> float:  # noqa: ARG002 (rows are whole)
        return self.adding * sum(max(0, count - 1) for count in counts)


@dataclass(frozen=True, slots=True)
class BlockCosts(RowCosts):
    """Products by DSP blocks if operands fit; a block computes all bits of a product."""

    def product(self, grid: Grid, counts: list[int], words: Factors) -> float:
        """Put the product into columns as one row."""
        if max(grid.a, grid.b) > DSP_BITS or min(grid.a, grid.b) <= 2:
            return Costs.product(self, grid, counts, words)
        for column in range(max(0, grid.column), min(grid.top + 2, len(counts))):
            counts[column] += 1
        if grid.column <= 0 < len(counts):  # the parity of the partial products
            pairs = dict(grid.diagonals()).get(0, 0)
            counts[0] += (pairs + 1) % 2
        return DSP_COST


NODES = Costs()
LUTS = Costs(0.0, ADDING, six=True, unit="tables of six inputs")
MODELS = {
    "luts": NODES,
    "lut4": Costs(0.6, 0.75, unit="tables of four inputs"),
    "lut6": LUTS,
    "gates": Costs(3.0, 3.5, scale=GATES_A_NODE, unit="gates of two inputs"),
    "carry": RowCosts(0.8, 1.0, unit="tables of four inputs"),
    "dsp": BlockCosts(0.8, 1.0, unit="tables of four inputs"),
}


# --------------------------------------------------------------------------------------------------
# The cost model of a demand.
# --------------------------------------------------------------------------------------------------

LEVEL = 6.0  # cost of a level of a graph in nodes, for objective "depth"


def costs_of(demand: Demand) -> CostModel:
    """Return the cost model of a demand's target and objective."""
    if demand.target in PROCESSORS:
        processor = PROCESSORS[demand.target]
        bytewise = demand.target == "mcu8" and demand.effort > 0  # screening alone misjudges bytes
        processor = replace(processor, bytewise=bytewise)
        return replace(processor, flash=demand.flash) if demand.flash else processor
    model = MODELS[demand.target]
    return replace(model, level=LEVEL) if demand.objective == "depth" else model


WordKind: TypeAlias = Literal["input", "table", "sum"]
Factors: TypeAlias = tuple[WordKind, WordKind]
CostModel: TypeAlias = WordProcessor | Costs
