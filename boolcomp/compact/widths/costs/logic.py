"""What the parts of a graph cost as logic: nodes of three inputs, gates, or tables of an FPGA.

Heaps are reduced by full adders, or by rows where bits of a sum have carries of their own. What is
discarded of a product is not made, and saves what it would cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boolcomp.compact.graph.heaps import adder_nodes, mean_adder_nodes
from boolcomp.compact.graph.lut6 import ADDING, graph_luts, table_luts
from boolcomp.compact.graph.tables import table_cost
from boolcomp.compact.network import word_depth, word_nodes
from boolcomp.compact.widths.costs.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.graph.tabulate import Tabulated
    from boolcomp.compact.widths.costs.model import Factors, WordKind
    from boolcomp.words.graph import WordGraph
    from boolcomp.words.layout import Grid, HeapRow

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
