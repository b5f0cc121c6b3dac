"""What stands outside of tables: sums of angles before, signs after; as logic, and as a table.

words of inputs ─ natural ─ adder mod 2^n ─ code ─┬─ table ─ XOR of the first bit ─ value
└─ bits that turn the sign ─┘
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from bitarray import frozenbitarray

from boolcomp.logic import luts
from boolcomp.logic.adders import added
from boolcomp.logic.network import FALSE, TRUE, Builder, copied
from boolcomp.logic.order import in_order
from boolcomp.logic.truthtable import TruthTable
from boolcomp.logic.wordcodes import cells_of, word_of
from boolcomp.twolevel.dense import points_of, rasterised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.paper.plan import TermPlan
    from boolcomp.paper.words import AngleSum, Word
    from boolcomp.twolevel.cubes import Cubes

    Literals = Mapping[str, Sequence[int]]


def said(table: TruthTable, cubes: Cubes) -> TruthTable:
    """Return what a cover says of a table whose rounding is free; of another, the table."""
    if not table.free:
        return table
    points = points_of(rasterised(cubes), table.inputs)
    return TruthTable(table.inputs, tuple(_column(one) for one in points))


def composed(plan: TermPlan, table: TruthTable) -> TruthTable:
    """Return the table of all that the words of a term's inputs say, and not of what it reads."""
    if plan.whole:
        return table
    row, turned = _rows_of_words(plan)
    columns, free = (
        [_bits(one)[row] for one in several] for several in (table.columns, table.free)
    )
    columns[0] = columns[0] ^ turned
    inputs = sum(word.inputs for word in plan.read)
    return TruthTable(inputs, *(tuple(map(_column, several)) for several in (columns, free)))


def _rows_of_words(plan: TermPlan) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the row of the table for all words of inputs, and where the value's sign is turned."""
    cells = {}
    for axis, word in enumerate(plan.read):
        # Where first bits change nothing any may stand for them.
        shape = [1] * len(plan.read)
        shape[axis] = -1
        here = word.code.index(np.arange(1 << word.inputs, dtype=np.uint32)).astype(np.int64)
        cells[word.variable.name] = here.reshape(shape)
    row, turned = np.zeros([1] * len(plan.read), np.int64), np.zeros((), np.bool_)
    for word in plan.words:
        index, turns = word.at(cells)
        row = row << word.inputs | index
        turned = turned if turns is None else turned ^ turns
    shape = [1 << word.inputs for word in plan.read]
    return np.broadcast_to(row, shape).ravel(), np.broadcast_to(turned, shape).ravel()


def _bits(column: frozenbitarray) -> NDArray[np.bool_]:
    packed = np.frombuffer(column.tobytes(), dtype=np.uint8)
    return np.unpackbits(packed, count=len(column)).view(np.bool_)


def _column(bits: NDArray[np.bool_]) -> frozenbitarray:
    found = frozenbitarray(np.packbits(bits).tobytes())
    return found if len(found) == len(bits) else found[: len(bits)]


def with_outside(plan: TermPlan, table: Network) -> Network:
    """Return the logic of a term: its table's, with what stands outside; it reads `plan.read`."""
    if plan.whole:
        return table
    builder = Builder(sum(word.inputs for word in plan.read))
    literals: dict[str, list[int]] = {}
    place = 0
    for word in plan.read:
        own = [builder.input(place + k) for k in range(word.inputs)]
        literals[word.variable.name] = [2 * FALSE] * word.dropped + own
        place += word.inputs
    read: list[int] = []
    turning = 2 * FALSE
    for word in plan.words:
        bits = _word(builder, word, literals)
        read += bits[word.dropped :]
        for k in word.turning:
            turning = builder.node(luts.XOR2, turning, bits[k])
    first, *others = copied(table, builder, read)
    return in_order(builder.build([builder.node(luts.XOR2, first, turning), *others]))


def _word(builder: Builder, word: Word, literals: Literals) -> Sequence[int]:
    """Return all bits of a word, those of a sum by an adder."""
    if word.sum is None:
        return literals[word.variable.name]
    full = _sum(builder, word.sum, literals)
    return word_of(builder, full[: word.code.bits], word.code.kind, tread=False)


def _sum(builder: Builder, total: AngleSum, literals: Literals) -> list[int]:
    """Return the bits of the cell of a sum, the most significant first."""
    columns: dict[int, list[int]] = defaultdict(list)
    constant = total.offset
    for one, weight in zip(total.addends, total.weights, strict=True):
        cell = cells_of(builder, literals[one.variable.name], one.code.kind, tread=False)
        size = abs(weight)
        if weight < 0:  # minus k is what k lacks to the last cell, less that
            cell = [bit ^ 1 for bit in cell]
            constant -= size * (one.code.cells - 1)
        for at, bit in enumerate(reversed(cell)):
            for shift in range(size.bit_length()):
                if size >> shift & 1:
                    columns[at + shift].append(bit)
    for place in range(total.bits):
        if constant >> place & 1:
            columns[place].append(2 * TRUE)
    return added(builder, columns, total.bits)[::-1]
