"""Tables by cells: between which values of a term's code each entry lies.

Rows are in the order of words, and where a first bit is dropped two cells share a row. Of an entry
that is free in one bit either choice counts; free in more it may be any, and so may one that no
input in range should read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.codes import Code
    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.proof.tabled.meaning import ReadWord
    from boolcomp.proof.tabled.places import Line, Whole


class Entries(NamedTuple):
    """The least and the largest value of every entry, in half steps; axes are words' cells."""

    low: Whole
    high: Whole

    def rows(self, first: int, last: int) -> Entries:
        """Return some cells of the first axis."""
        return Entries(self.low[first:last], self.high[first:last])


def entries_of(
    table: TruthTable, code: Code, words: Sequence[ReadWord], lines: Sequence[Line]
) -> Entries:
    """Return the entries at all cells in which inputs may lie."""
    if table.inputs != sum(word.code.bits - word.dropped for word in words):
        raise ValueError("a table reads other bits than its words have")
    if table.outputs != code.bits:
        raise ValueError("a table makes other bits than its code has")
    least, most = _cells(table, code)
    shape = [1 << (word.code.bits - word.dropped) for word in words]
    places = []
    for word, line in zip(words, lines, strict=True):
        first, last = line.cells(word.code.bits)
        found = word.code.word(np.arange(first, last + 1))
        places.append(found & np.uint32((1 << (word.code.bits - word.dropped)) - 1))
    at = np.ix_(*places) if places else ()
    halves = ((2 * cells.reshape(shape)[at]) - (code.cells - 1) for cells in (least, most))
    return Entries(*halves)


def _cells(table: TruthTable, code: Code) -> tuple[Whole, Whole]:
    """Return the least and the largest cell of every row."""
    words = table.words()
    here = code.index(words).astype(np.int64)
    if not table.free:
        return here, here
    free = np.zeros(len(words), np.uint32)
    for column in table.free:
        packed = np.frombuffer(column.tobytes(), dtype=np.uint8)
        free = free << np.uint32(1) | np.unpackbits(packed)[: len(free)]
    other = code.index(words ^ free).astype(np.int64)
    one = (free & (free - np.uint32(free.any()))) == 0  # at most one bit is free
    low = np.where(one, np.minimum(here, other), 0)
    high = np.where(one, np.maximum(here, other), code.cells - 1)
    return low, high
