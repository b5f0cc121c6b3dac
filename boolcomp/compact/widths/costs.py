"""What the parts of a graph cost: nodes of three inputs, or tables of six."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.graph.lut6 import ADDING, graph_luts, table_luts
from boolcomp.compact.graph.tables import table_cost

if TYPE_CHECKING:
    from boolcomp.compact.graph.tabulate import Tabulated
    from boolcomp.words.graph import WordGraph


@dataclass(frozen=True, slots=True)
class Costs:
    """What a partial product costs, and a node of an adder; tables of three inputs or of `six`."""

    partial: float = 1.0
    adding: float = 1.0
    six: bool = False

    def table(self, table: Tabulated, most: int, *, operand: bool) -> float:
        """Return the cost of a table (see `table_cost`)."""
        if self.six:
            return table_luts(table, operand=operand)
        return table_cost(table, most, operand=operand)

    def graph(self, graph: WordGraph) -> int:
        """Return the cost of a whole graph, before any pass."""
        return graph_luts(graph) if self.six else len(word_logic(graph).nodes)


NODES = Costs()
LUTS = Costs(0.0, ADDING, six=True)
