"""What tables stand for: every term of an output, and the table that is added in its place.

    output = decoder(floor((Σ cells of tables + C) / 2^guard_bits)) ≈ Σ terms

Where a table is too large to be made, what is known of its entries is how values were rounded.
Nothing here needs to be believed but that the logic has these tables: entries are compared with
their terms one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.codes import Code
    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.problem.problem import Input
    from boolcomp.terms.term import Term


@dataclass(frozen=True, slots=True)
class ReadWord:
    """What a table reads of an input: its word in this code, but for the first bit if `dropped`."""

    variable: Input
    code: Code
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class TabledTerm:
    """A term, the code of its table's values, what the table reads, and how often it is added.

    `table` is None where it was not made: its entries are then within `missed` steps of the term
    at the middles of cells, where the code reaches.
    """

    term: Term
    code: Code
    words: tuple[ReadWord, ...]
    table: TruthTable | None = None
    times: int = 1
    missed: Fraction = Fraction(1, 2)

    @property
    def estimated(self) -> bool:
        """Whether nothing but how values were rounded is known of its entries."""
        return self.table is None


@dataclass(frozen=True, slots=True)
class TabledSum:
    """An output: the code of its word, the guard bits that its tables share, and its terms.

    `step` is the least significant bit that all tables share. They count from the middle of a
    range of 2^guard_bits times as many steps as the word has cells; the word may lie beside it.
    Terms that are `left_out` have no tables.
    """

    name: str
    unit: str
    word: Code
    step: Fraction
    guard_bits: int
    terms: tuple[TabledTerm, ...]
    left_out: tuple[Term, ...] = ()
