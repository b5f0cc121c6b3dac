"""What the parts of a graph cost as code of a processor with a multiplier: cycles, roughly.

A product is one instruction or two, whatever its digits are; it is cheap as long as words fit the
multiplier, sums fit a register, and it stands where it falls. What is discarded of a product must
be calculated and taken off, so nothing should be. Tables lie in flash: an entry takes a few cycles,
and every byte of it a little, so that memory is not wasted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boolcomp.compact.widths.costs.counted import counted, factors_of
from boolcomp.words.graph import Lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.graph.tabulate import Tabulated
    from boolcomp.compact.widths.costs.model import Factors, WordKind
    from boolcomp.words.graph import WordGraph
    from boolcomp.words.layout import Grid, HeapRow

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
