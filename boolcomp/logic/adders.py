"""The last step to an output: add the cells of its terms, round, saturate. Adders as logic.

All terms of an output share one step s. Cell k of a term of b_i bits is worth -R_i + (k + ½)s with
R_i = 2^(b_i - 1) s, and cell K of the output, whose step is s·2^m, covers -R + K s 2^m onwards. So

    K = floor((Σ k_i + C) / 2^m)  within  0 .. 2^b - 1,   C = (R - Σ R_i)/s + p/2

for p terms. The k_i are whole: of an odd p the half changes nothing and is left out of C.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.logic import luts
from boolcomp.logic.network import FALSE, TRUE, Builder
from boolcomp.logic.wordcodes import cells_of

if TYPE_CHECKING:
    from boolcomp.logic.network import Network
    from boolcomp.problem.words import CodeKind


@dataclass(frozen=True, slots=True)
class Addend:
    """A word that enters a sum `times` times."""

    bits: int
    kind: CodeKind
    times: int = 1

    @property
    def cells(self) -> int:
        """The number of cells of its code."""
        return 1 << self.bits


@dataclass(frozen=True, slots=True)
class Sum:
    """K = floor((Σ k_i + offset) / 2^guard_bits), saturated to 0 .. 2^bits - 1."""

    addends: tuple[Addend, ...]
    bits: int
    guard_bits: int

    @property
    def offset(self) -> int:
        """C, without the half that an odd number of terms leaves."""
        whole = 1 << (self.bits + self.guard_bits)
        halves = whole - sum(a.times * (a.cells - 1) for a in self.addends)
        return halves // 2

    @property
    def lowest(self) -> int:
        """The least value of Σ k_i + C."""
        return self.offset

    @property
    def highest(self) -> int:
        """The largest value of Σ k_i + C."""
        return self.offset + sum(a.times * (a.cells - 1) for a in self.addends)

    def cell(self, cells: tuple[int, ...]) -> tuple[int, bool]:
        """Return the output's cell for one cell index an addend, and whether it saturated."""
        added = sum(a.times * k for a, k in zip(self.addends, cells, strict=True))
        cell = (added + self.offset) >> self.guard_bits
        last = (1 << self.bits) - 1
        return min(max(cell, 0), last), not 0 <= cell <= last


def sum_network(output: Sum) -> Network:
    """Return the network of a sum.

    Its inputs are the words of the addends, one after the other, most significant bit first. Its
    outputs are the bits of the cell index (natural, most significant first) and last whether it
    saturated. Only here, in adders and in leaving the code of words, are there XORs.
    """
    builder = Builder(sum(addend.bits for addend in output.addends))
    columns: dict[int, list[int]] = defaultdict(list)
    first = 0
    for addend in output.addends:
        bits = _natural(builder, addend, first)
        first += addend.bits
        for weight, bit in enumerate(reversed(bits)):
            for shift in range(addend.times.bit_length()):
                if addend.times >> shift & 1:
                    columns[weight + shift].append(bit)
    width = max(output.highest.bit_length(), (output.bits + output.guard_bits))
    if output.lowest < 0:
        width += 1  # for the sign: no sum lies farther below zero than the highest above
    for weight in range(width):
        if output.offset >> weight & 1:
            columns[weight].append(2 * TRUE)
    total = added(builder, columns, width)
    return builder.build(_rounded(builder, total, output))


def _natural(builder: Builder, addend: Addend, first: int) -> list[int]:
    """Return the bits of an addend's cell index, most significant first."""
    word = [builder.input(first + k) for k in range(addend.bits)]
    return cells_of(builder, word, addend.kind, tread=False)


def added(builder: Builder, columns: dict[int, list[int]], width: int) -> list[int]:
    """Return so many bits of the sum of literals by weight, the least significant first."""
    return [_column(builder, columns, weight) for weight in range(width)]


def _column(builder: Builder, columns: dict[int, list[int]], weight: int) -> int:
    """Add up one column, handing the carries to the next; return the bit that stays."""
    waiting = columns[weight]
    while len(waiting) > 1:
        three = [*waiting[:3], 2 * FALSE][:3]
        columns[weight + 1].append(builder.node(luts.MAJ3, *three))
        waiting = [*waiting[3:], builder.node(luts.XOR3, *three)]
    return waiting[0] if waiting else 2 * FALSE


def _rounded(builder: Builder, total: list[int], output: Sum) -> list[int]:
    """Drop the guard bits and saturate; return the cell's bits and the saturation flag."""
    negative = total.pop() if output.lowest < 0 else 2 * FALSE
    low, high = output.guard_bits, output.guard_bits + output.bits
    above = builder.any_of(total[high:])
    cell = [
        # Below the range all bits are 0, else above it all are 1.
        builder.node(luts.AND2, builder.node(luts.OR2, bit, above), negative ^ 1)
        for bit in reversed(total[low:high])
    ]
    return [*cell, builder.node(luts.OR2, negative, above)]
