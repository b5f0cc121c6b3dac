"""What the parts of a graph cost as code of a processor with a multiplier: cycles, roughly.

A product is one instruction or two, whatever its digits are; it is cheap as long as words fit the
multiplier, sums fit a register, and it stands where it falls. What is discarded of a product must
be calculated and taken off, so nothing should be. Tables lie in flash: an entry takes a few cycles,
and every byte of it a little, so that memory is not wasted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

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
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, PartialProducts, narrowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.demand import Demand
    from boolcomp.words.graph import Grid, HeapRow, Node, WordGraph


# --------------------------------------------------------------------------------------------------
# The cost of a graph that is built, part for part as a cost model says.
# --------------------------------------------------------------------------------------------------


MOST_SYNTHESISED = 9  # inputs of a table whose nodes are counted; larger ones are estimated


def factors_of(graph: WordGraph) -> frozenset[int]:
    """Return the words that products read."""
    heaps = [node for node in graph.nodes if isinstance(node, Heap)]
    products = [part for heap in heaps for part in heap.parts if isinstance(part, PartialProducts)]
    return frozenset(place for part in products for place in (part.a, part.b))


def counted(graph: WordGraph, costs: CostModel) -> int:
    """Return what a graph costs: its tables, angle sums, products and sums.

    Its inputs have no bits that nothing reads.
    """
    graph = narrowed(graph)
    factors = factors_of(graph)
    dropped = {result.node: result.drop for result in graph.results}
    cost = 0.0
    for place, node in enumerate(graph.nodes):
        if isinstance(node, Lookup):
            table = Tabulated(node.read, node.entries, node.bits, 0.0, node.mask)
            cost += costs.table(table, MOST_SYNTHESISED, operand=place in factors)
        elif isinstance(node, Angles):
            cost += costs.turns(node.bits, len(node.turns))
        elif isinstance(node, Heap):
            counts = [0] * node.bits
            rows: dict[int, list[HeapRow]] = {}
            for part in node.parts:
                if isinstance(part, Bits):
                    rows.setdefault(part.node, []).append(part.layout(graph.nodes))
                else:
                    cost += costs.product(part.layout(graph.nodes), counts, _kinds(graph, part))
            for word, several in rows.items():
                cost += costs.rows(several, counts, _kind(graph.nodes[word]))
            cost += costs.heap(counts, dropped.get(place, 0), node.constant)
    return round(cost)


def _kinds(graph: WordGraph, part: PartialProducts) -> Factors:
    return _kind(graph.nodes[part.a]), _kind(graph.nodes[part.b])


def _kind(node: Node) -> WordKind:
    if isinstance(node, InputWord | Angles):
        return "input"
    return "table" if isinstance(node, Lookup) else "sum"


# --------------------------------------------------------------------------------------------------
# What the parts of a graph cost as code of a processor with a multiplier: cycles, roughly.
# --------------------------------------------------------------------------------------------------


FULL = 128.0  # cycles that all flash is worth which tables may take


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor that calculates in `registers` of so many bits, a natural size first.

    Costs are those of what fits one register or two; words that products read have one bit more
    when they are signed. `flash` is how many bytes tables may take.
    """

    narrow: int  # bits of a word that the multiplier takes at once, with its sign
    register: int  # bits of a sum that is added at once, or nearly
    multiply: float  # a product of two narrow words
    widen: float  # more where a word is not narrow
    add: float  # a word to a sum
    move: float  # by a column
    sign: float  # a word that is no entry of a table, to make it a signed number
    look: float  # an entry
    far: float  # more where it is no byte
    flash: int
    cut: float = 30.0  # a product of which something is discarded
    wide: float = 2.5  # times what is done in more than a register
    unit: str = "cycles"
    whole: bool = True
    weight: float = 4.0

    def with_flash(self, flash: int) -> Processor:
        """Return this with so many bytes for tables, if that is said."""
        return replace(self, flash=flash) if flash else self

    def table(self, table: Tabulated, most: int, *, operand: bool) -> float:  # noqa: ARG002 (logic)
        """Return the cost of an entry, and of the memory that a table takes."""
        if len(set(table.entries)) == 1:
            return 0.0
        bits = table.bits + 1 if operand else table.bits
        size = _octets(bits)
        index = self.far / 2 if len(table.entries) > 256 else 0.0
        picked = 2 * self.move if table.mask else 0.0
        entry = self.look + index + picked + (self.far if size > 1 else 0.0)
        return entry + self._memory(size * len(table.entries))

    def turns(self, bits: int, words: int) -> float:  # noqa: ARG002 (registers are wide enough)
        """Return the cost of an angle sum."""
        return 3 * self.add * (words - 1) + self.add

    def product(self, grid: Grid, counts: list[int], words: Factors) -> float:
        """Return the cost of a product: its factors, its place, and what is discarded of it."""
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
        if column <= 0 < size:  # as odd as the partial products are
            counts[0] += dict(grid.diagonals()).get(0, 0)
        return (cost + self.add) * self._wider(size + 1)

    def rows(self, rows: Sequence[HeapRow], counts: list[int], word: WordKind) -> float:
        """Return the cost of adding a word, once or times several digits of a constant.

        Tables hold what is added, wherever it stands; of inputs low bits that are not read are not
        there. Several digits of a narrow input are a table; if nothing is dropped, a product.
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

    def heap(self, counts: Sequence[int], dropped: int, constant: int | None = None) -> float:  # noqa: ARG002 (of no use here)
        """Return the cost of a sum beside its parts: its constant, its wider words."""
        return self.add * self._wider(len(counts))

    def graph(self, graph: WordGraph) -> int:
        """Return the cost of a whole graph."""
        return counted(graph, self)

    def _memory(self, octets: int) -> float:
        """Return what so many bytes of tables are worth."""
        return FULL / self.flash * octets

    def levels(self, graph: WordGraph) -> int:  # noqa: ARG002 (code has none)
        """Return what of that is for levels: nothing."""
        return 0

    def octets(self, graph: WordGraph) -> int:
        """Return about how many bytes its tables take."""
        factors = factors_of(graph)
        return sum(
            len(node.entries) * _octets(node.bits + (place in factors))
            for place, node in enumerate(graph.nodes)
            if isinstance(node, Lookup)
        )

    def _wider(self, bits: int) -> float:
        """Return how much dearer it is to calculate in so many bits."""
        if bits <= self.register:
            return 1.0
        return self.wide + (bits - self.register) / self.register


def _octets(bits: int) -> int:
    """Return the bytes of an entry."""
    return 1 if bits <= 8 else 2 if bits <= 16 else 4


PROCESSORS = {
    # An AVR: an addition of 16 bits is two instructions, LPM takes three cycles a byte.
    "mcu8": Processor(8, 16, 4.0, 10.0, 2.0, 2.0, 2.0, 7.0, 4.0, 16_384),
    # A Cortex-M: all of 32 bits is one instruction; an address takes another.
    "mcu32": Processor(16, 32, 0.5, 4.0, 1.0, 1.0, 2.0, 3.0, 0.1, 65_536, 8.0),
    # Lanes of 16 bits: tables are permutations of registers of 64 bytes.
    "simd": Processor(16, 16, 1.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0, 8192, 6.0, unit="instructions",
                      whole=False),
}  # fmt: skip


# --------------------------------------------------------------------------------------------------
# What the parts of a graph cost as logic: nodes of three inputs, gates, or tables of an FPGA.
#
# Heaps are reduced by full adders, or by rows where bits of a sum have carries of their own. What
# is discarded of a product is not made, and saves what it would cost.
# --------------------------------------------------------------------------------------------------


GATES_A_NODE = 2.7  # of two inputs, beside one of three in a table: mostly multiplexers
DSP_BITS = 17  # of an operand: 18 with the sign, and 16 in the smallest FPGAs are two tables more
DSP_COST = 2.0  # tables that a DSP block is worth: nearly nothing, but there are not many


@dataclass(frozen=True, slots=True)
class Costs:
    """What a partial product costs, and a node of an adder; a `scale` of tables' nodes.

    Tables are those of three inputs, or of `six`. A `level` of a graph that is built costs so much
    too: of single parts nobody can say on which path they lie.
    """

    partial: float = 1.0
    adding: float = 1.0
    six: bool = False
    scale: float = 1.0
    unit: str = "nodes"
    whole: bool = False  # tables begin in two parts
    weight: float = 1.0
    level: float = 0.0

    def table(self, table: Tabulated, most: int, *, operand: bool) -> float:
        """Return the cost of a table (see `table_cost`)."""
        if self.six:
            return table_luts(table, operand=operand)
        return self.scale * table_cost(table, most, operand=operand)

    def turns(self, bits: int, words: int) -> float:  # noqa: ARG002 (for other targets)
        """Return the cost of an angle sum of so many bits."""
        return self.adding * (2.0 * bits - 3.0)

    def product(self, grid: Grid, counts: list[int], words: Factors) -> float:  # noqa: ARG002
        """Put partial products into columns; return what it costs to make them."""
        made = 0
        for column, pairs in grid.diagonals():
            if column >= 0:
                made += pairs
                if column < len(counts):
                    counts[column] += pairs
        return self.partial * made

    def rows(self, rows: Sequence[HeapRow], counts: list[int], word: WordKind) -> float:  # noqa: ARG002
        """Put a word into columns, which costs nothing beside the adders."""
        for row in rows:
            for column in range(row.column, min(row.column + row.bits, len(counts))):
                counts[column] += 1
        return 0.0

    def heap(self, counts: Sequence[int], dropped: int, constant: int | None = None) -> float:
        """Return the cost of adding up columns, of the lowest of which only carries are read."""
        if constant is not None:
            return self.adding * adder_nodes(counts, dropped, constant)
        return self.adding * mean_adder_nodes(counts, dropped)

    def graph(self, graph: WordGraph) -> int:
        """Return the cost of a whole graph, before any pass."""
        if self.level:
            return replace(self, level=0.0).graph(graph) + self.levels(graph)
        if self.six:
            return graph_luts(graph)
        if self == NODES:
            return word_nodes(graph)
        return counted(graph, self)

    def levels(self, graph: WordGraph) -> int:
        """Return what of that is for levels."""
        return round(self.level * word_depth(graph)) if self.level else 0

    def octets(self, graph: WordGraph) -> int:  # noqa: ARG002 (tables are logic)
        """Return what tables take of a memory: nothing."""
        return 0


@dataclass(frozen=True, slots=True)
class Rows(Costs):
    """Sums by rows: a bit of a sum of two is one table with a carry of its own."""

    def turns(self, bits: int, words: int) -> float:
        """Return the cost of an angle sum: a bit of it a table, for every word after the first."""
        return self.adding * bits * (words - 1)

    def heap(self, counts: Sequence[int], dropped: int, constant: int | None = None) -> float:  # noqa: ARG002 (rows are whole)
        """Return the cost of adding rows: every bit beyond the first of its column."""
        return self.adding * sum(max(0, count - 1) for count in counts)


@dataclass(frozen=True, slots=True)
class Blocks(Rows):
    """Products by blocks, within their width: all of a product, whatever is discarded of it."""

    def product(self, grid: Grid, counts: list[int], words: Factors) -> float:
        """Put the product into columns as one row."""
        if max(grid.a, grid.b) > DSP_BITS or min(grid.a, grid.b) <= 2:
            return Costs.product(self, grid, counts, words)
        for column in range(max(0, grid.column), min(grid.top + 2, len(counts))):
            counts[column] += 1
        if grid.column <= 0 < len(counts):  # as odd as the partial products are
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
    "carry": Rows(0.8, 1.0, unit="tables of four inputs"),
    "dsp": Blocks(0.8, 1.0, unit="tables of four inputs"),
}


# --------------------------------------------------------------------------------------------------
# What the parts of a graph cost on a target: the price that the search for widths lowers.
#
# The sketch, the noise and what widths may be are the same for all targets; what differs is what a
# table, a product and a sum cost, and so which widths are found.
#
# | target | unit | what is cheap |
# |---|---|---|
# | luts | nodes of three inputs | nothing: the usual |
# | lut4, lut6 | tables of four or six inputs | partial products, within the adders that read them |
# | gates | gates of two inputs | |
# | carry | tables of four inputs, each with a carry | sums of two words |
# | dsp | tables of four inputs | products of at most 18 by 18 bits |
# | mcu8, mcu32 | cycles of a processor of 8 or 32 bits | products that are not cut, large tables |
# | simd | instructions a vector | products of 16 bits, small tables |
# --------------------------------------------------------------------------------------------------


LEVEL = 6.0  # nodes that a level of a graph is worth where logic is to have few of them


def costs_of(demand: Demand) -> CostModel:
    """Return the cost model of a demand; levels count where logic is to have few of them."""
    if demand.target in PROCESSORS:
        return PROCESSORS[demand.target].with_flash(demand.flash)
    model = MODELS[demand.target]
    return replace(model, level=LEVEL) if demand.objective == "depth" else model


# --------------------------------------------------------------------------------------------------
# What the search for widths asks of a cost model.
# --------------------------------------------------------------------------------------------------


WordKind: TypeAlias = Literal["input", "table", "sum"]
Factors: TypeAlias = tuple[WordKind, WordKind]


class CostModel(Protocol):
    """What parts of a graph cost; `counts` are the bits in the columns of the heap they go to.

    `unit` is what is counted; of `whole` tables the search begins with tables in one part. `weight`
    says how many nodes of logic one of the unit stands for, where work is counted.
    """

    @property
    def weight(self) -> float:
        """How many nodes of logic one of the unit stands for."""

    @property
    def unit(self) -> str:
        """What is counted."""

    @property
    def whole(self) -> bool:
        """Whether tables begin in one part, and not in two."""

    def table(self, table: Tabulated, most: int, *, operand: bool) -> float:
        """Return the cost of a table, which products read if it is an `operand`.

        Logic of more than `most` inputs is estimated.
        """

    def turns(self, bits: int, words: int) -> float:
        """Return the cost of an angle sum of so many bits and words."""

    def product(self, grid: Grid, counts: list[int], words: Factors) -> float:
        """Put a product of two words into columns; return what it costs beside `heap`."""

    def rows(self, rows: Sequence[HeapRow], counts: list[int], word: WordKind) -> float:
        """Put a word into columns, once or several times; return what it costs beside `heap`."""

    def heap(self, counts: Sequence[int], dropped: int, constant: int | None = None) -> float:
        """Return the cost of adding up columns, of the lowest of which only carries are read.

        A constant that is not known yet is taken to be any.
        """

    def graph(self, graph: WordGraph) -> int:
        """Return the cost of a whole graph."""

    def levels(self, graph: WordGraph) -> int:
        """Return what of that is for its levels, and nothing that is there."""

    def octets(self, graph: WordGraph) -> int:
        """Return about how many bytes of memory its tables take, where they take any."""
