"""What the search for widths asks of a cost model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.graph.tabulate import Tabulated
    from boolcomp.words.graph import WordGraph
    from boolcomp.words.layout import Grid, HeapRow

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
