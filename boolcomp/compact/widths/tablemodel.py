"""What a table costs, and what it errs by beside the rounding of its entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.compact.graph.tabulate import bipartite_error
from boolcomp.compact.tables import Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.compact.graph.layout import Format
    from boolcomp.compact.graph.tabulate import Domain, Tabulated
    from boolcomp.compact.sketch.sketch import Table
    from boolcomp.compact.tables import Pieces, Split


@dataclass(frozen=True, slots=True)
class TableModel:
    """A table's nodes, the bits of its words, those it reads, and the error of splitting it.

    `factors` are two words whose product adds to the others.
    """

    cost: float
    bits: tuple[int, ...]
    read: int
    missed: float
    factors: tuple[Format, ...] = ()


def table_model(
    node: Table,
    domain: Domain,
    split: Split,
    made: Pieces,
    costs: Callable[[Tabulated, bool], float],
    *,
    operand: bool,
) -> TableModel:
    """Return the model of a table in pieces; costs take a table, and whether products read it."""
    missed = made.variance
    if isinstance(split, Pair):
        missed = bipartite_error(node, domain, split.low, split.lead)
    cost = sum(costs(table, operand) for table in made.tables)
    factors: tuple[Format, ...] = ()
    if made.product is not None:
        slopes, low = made.product
        cost += costs(slopes.table, True)  # noqa: FBT003 (a callable has no keywords)
        factors = slopes.format, low.format
    bits = tuple(table.bits for table in made.tables)
    return TableModel(cost, bits, domain.read, missed, factors)
