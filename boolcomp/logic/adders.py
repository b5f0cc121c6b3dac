"""Codes of words and sums of terms as logic: add cells, round, saturate.

All terms of an output share one step s. Cell k of a term of b_i bits has the value -R_i + (k + ½)s
with R_i = 2^(b_i - 1) s. Cell K of the output, whose step is s·2^m, begins at -R + K s 2^m. So

    K = floor((Σ k_i + C) / 2^m)  within  0 .. 2^b - 1,   C = (R - Σ R_i)/s + p/2

for p terms. The k_i are integers: the half of an odd p has no effect and is omitted from C.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from boolcomp.logic import network
from boolcomp.logic.network import FALSE, TRUE, Builder
from boolcomp.problem.word_codes import CODES, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.network import Network
    from boolcomp.problem.word_codes import CodeKind

# --------------------------------------------------------------------------------------------------
# The codes of words as logic: words to cells (natural binary) and back, most significant bit first.
# Natural to Gray is an XOR per bit, Gray to natural a chain of them; two's complement is an
# inverter, without cost. Sign-magnitude inverts negative cells, and with a zero code adds one.
# `codes.Code` does the same with numbers.
# --------------------------------------------------------------------------------------------------

FLIPPED_BY_BOTH = network.FIRST ^ (network.SECOND & network.THIRD)
BOTH_DIFFER = (network.FIRST ^ network.SECOND) & (network.FIRST ^ network.THIRD)


def cells_of(builder: Builder, word: Sequence[int], kind: CodeKind, *, tread: bool) -> list[int]:
    """Return the bits of a word's cell."""
    bits = list(word)
    for step in reversed(CODES[kind].steps):
        if step is Step.FOLD:
            for k in range(1, len(bits)):
                bits[k] = builder.node(network.XOR2, bits[k - 1], bits[k])
            continue
        if step is Step.MAGNITUDE and tread:  # the sign, and the magnitude or its two's complement
            bits = _negated(builder, bits[0], bits[1:])
        elif step is Step.MAGNITUDE:
            bits[1:] = [builder.node(network.XOR2, bits[0], bit) for bit in bits[1:]]
        bits[0] ^= 1
    return bits


def word_of(builder: Builder, cells: Sequence[int], kind: CodeKind, *, tread: bool) -> list[int]:
    """Return the bits of a cell's word."""
    bits = list(cells)
    for step in CODES[kind].steps:
        if step is Step.FOLD:
            bits[1:] = [builder.node(network.XOR2, *pair) for pair in pairwise(bits)]
            continue
        bits[0] ^= 1
        if step is Step.MAGNITUDE and tread:
            over, *size = _negated(builder, bits[0], bits[1:])
            # No word has the magnitude of the lowest cell: it becomes the cell above.
            lowest = builder.node(network.AND2, bits[0], over ^ 1)
            bits[1:] = [builder.node(network.OR2, bit, lowest) for bit in size]
        elif step is Step.MAGNITUDE:
            bits[1:] = [builder.node(network.XOR2, bits[0], bit) for bit in bits[1:]]
    return bits


def _negated(builder: Builder, negative: int, size: Sequence[int]) -> list[int]:
    """Return `negative` and a nonzero magnitude, then the magnitude, negated if `negative`."""
    flipped: list[int] = []
    below = 2 * FALSE  # the OR of lower bits: then this one is inverted
    for bit in reversed(size):
        flipped.append(builder.node(FLIPPED_BY_BOTH, bit, negative, below))
        below = builder.node(network.OR2, below, bit)
    return [builder.node(network.AND2, negative, below), *reversed(flipped)]


@cache
def coder(kind: CodeKind, bits: int, *, tread: bool) -> Network:
    """Return the network from cells to words."""
    builder = Builder(bits)
    cells = [builder.input(k) for k in range(bits)]
    return builder.build(word_of(builder, cells, kind, tread=tread))


@cache
def representable_cells(kind: CodeKind, bits: int, *, tread: bool) -> Network:
    """Return the network from cells to cells that words of a code can represent."""
    builder = Builder(bits)
    word = word_of(builder, [builder.input(k) for k in range(bits)], kind, tread=tread)
    return builder.build(cells_of(builder, word, kind, tread=tread))


def _at_zero(builder: Builder, cells: Sequence[int], *, tread: bool) -> list[int]:
    """Return literals that are all 1 if a word is zero: the middle cell or its two neighbours."""
    first, rest = cells[0], list(cells[1:])
    if tread:
        return [first, *(bit ^ 1 for bit in rest)]
    pairs = zip(rest[::2], rest[1::2], strict=False)
    odd = [builder.node(network.XOR2, first, rest[-1])] if len(rest) % 2 else []
    return [*(builder.node(BOTH_DIFFER, first, *pair) for pair in pairs), *odd]


@cache
def rest_network(words: tuple[tuple[int, bool], ...]) -> Network:
    """Return the network that tells whether words of (bits, zero code) are all zero."""
    builder = Builder(sum(bits for bits, _ in words))
    place = 0
    zeros: list[int] = []
    for bits, tread in words:
        cells = [builder.input(place + k) for k in range(bits)]
        zeros += _at_zero(builder, cells, tread=tread)
        place += bits
    return builder.build([builder.all_of(zeros)])


@cache
def resting_network(bits: int) -> Network:
    """Return the network of a cell with zero code that becomes the middle one at rest.

    Inputs are the rest signal, the cell and its saturation flag, which is masked at rest.
    """
    builder = Builder(bits + 2)
    rest, first, *others = (builder.input(k) for k in range(bits + 2))
    return builder.build(
        [
            builder.node(network.OR2, first, rest),
            *(builder.node(network.AND2, bit, rest ^ 1) for bit in others),
        ]
    )


# --------------------------------------------------------------------------------------------------
# Sums of cells, rounded and saturated.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Addend:
    """A word that is added `times` times."""

    bits: int
    kind: CodeKind
    times: int = 1

    @property
    def cells(self) -> int:
        return 1 << self.bits


@dataclass(frozen=True, slots=True)
class Sum:
    """K = floor((Σ k_i + offset) / 2^guard_bits), saturated to 0 .. 2^bits - 1."""

    addends: tuple[Addend, ...]
    bits: int
    guard_bits: int

    @property
    def offset(self) -> int:
        """C, without the half of an odd number of terms."""
        whole = 1 << (self.bits + self.guard_bits)
        halves = whole - sum(a.times * (a.cells - 1) for a in self.addends)
        return halves // 2

    @property
    def highest(self) -> int:
        return self.offset + sum(a.times * (a.cells - 1) for a in self.addends)

    def cell(self, cells: tuple[int, ...]) -> tuple[int, bool]:
        """Return the output's cell for the cells of all addends, and whether it saturated."""
        added = sum(a.times * k for a, k in zip(self.addends, cells, strict=True))
        cell = (added + self.offset) >> self.guard_bits
        last = (1 << self.bits) - 1
        return min(max(cell, 0), last), not 0 <= cell <= last


def sum_network(output: Sum) -> Network:
    """Return the network of a sum.

    Its inputs are the words of the addends in order, most significant bit first. Its outputs are
    the bits of the cell (natural, most significant first) and then the saturation flag.
    """
    builder = Builder(sum(addend.bits for addend in output.addends))
    columns: dict[int, list[int]] = defaultdict(list)
    first = 0
    for addend in output.addends:
        word = [builder.input(first + k) for k in range(addend.bits)]
        first += addend.bits
        for weight, bit in enumerate(reversed(cells_of(builder, word, addend.kind, tread=False))):
            for shift in range(addend.times.bit_length()):
                if addend.times >> shift & 1:
                    columns[weight + shift].append(bit)
    width = max(output.highest.bit_length(), (output.bits + output.guard_bits))
    if output.offset < 0:
        width += 1  # the sign: no sum is farther below zero than the highest above
    for weight in range(width):
        if output.offset >> weight & 1:
            columns[weight].append(2 * TRUE)
    total = added(builder, columns, width)
    return builder.build(_rounded(builder, total, output))


def added(builder: Builder, columns: dict[int, list[int]], width: int) -> list[int]:
    return [_column(builder, columns, weight) for weight in range(width)]


def _column(builder: Builder, columns: dict[int, list[int]], weight: int) -> int:
    """Add one column, pass the carries to the next, and return the remaining bit."""
    waiting = columns[weight]
    while len(waiting) > 1:
        three = [*waiting[:3], 2 * FALSE][:3]
        columns[weight + 1].append(builder.node(network.MAJ3, *three))
        waiting = [*waiting[3:], builder.node(network.XOR3, *three)]
    return waiting[0] if waiting else 2 * FALSE


def _rounded(builder: Builder, total: list[int], output: Sum) -> list[int]:
    """Drop the guard bits and saturate; return the cell's bits and the saturation flag."""
    negative = total.pop() if output.offset < 0 else 2 * FALSE
    low, high = output.guard_bits, output.guard_bits + output.bits
    above = builder.any_of(total[high:])
    cell = [
        # Below the range all bits are 0, else above it all are 1.
        builder.node(network.AND2, builder.node(network.OR2, bit, above), negative ^ 1)
        for bit in reversed(total[low:high])
    ]
    return [*cell, builder.node(network.OR2, negative, above)]
