"""The codes of words as logic: cells (natural binary) from words and back, bit by bit.

Literals stand most significant first. Natural to Gray is an XOR a bit, Gray to natural a chain of
them; two's complement is an inverter, which costs nothing; sign-magnitude inverts what is negative,
and where a cell lies at zero adds one to it. `codes.Code` does the same with numbers.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from boolcomp.logic import luts
from boolcomp.logic.network import FALSE, Builder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.network import Network
    from boolcomp.problem.words import CodeKind

FLIPPED_BY_BOTH = luts.FIRST ^ (luts.SECOND & luts.THIRD)
BOTH_DIFFER = (luts.FIRST ^ luts.SECOND) & (luts.FIRST ^ luts.THIRD)


def cells_of(builder: Builder, word: Sequence[int], kind: CodeKind, *, tread: bool) -> list[int]:
    """Return the bits of a word's cell."""
    bits = list(word)
    if kind == "gray":
        for k in range(1, len(bits)):
            bits[k] = builder.node(luts.XOR2, bits[k - 1], bits[k])
    elif kind == "twos":
        bits[0] ^= 1
    elif kind == "sign-magnitude":
        if tread:  # the sign, and the magnitude or what is left of it to a power of two
            bits = _negated(builder, bits[0], bits[1:])
            return [bits[0] ^ 1, *bits[1:]]
        bits = [bits[0] ^ 1, *(builder.node(luts.XOR2, bits[0], bit) for bit in bits[1:])]
    return bits


def word_of(builder: Builder, cells: Sequence[int], kind: CodeKind, *, tread: bool) -> list[int]:
    """Return the bits of a cell's word."""
    bits = list(cells)
    if kind == "gray":
        return [bits[0], *(builder.node(luts.XOR2, *pair) for pair in pairwise(bits))]
    if kind == "twos":
        return [bits[0] ^ 1, *bits[1:]]
    if kind != "sign-magnitude":
        return bits
    sign = bits[0] ^ 1
    if not tread:
        return [sign, *(builder.node(luts.XOR2, sign, bit) for bit in bits[1:])]
    over, *size = _negated(builder, sign, bits[1:])
    # The lowest cell is as large as no word can say: it becomes the one above.
    lowest = builder.node(luts.AND2, sign, over ^ 1)
    return [sign, *(builder.node(luts.OR2, bit, lowest) for bit in size)]


def _negated(builder: Builder, negative: int, size: Sequence[int]) -> list[int]:
    """Return a number or, where `negative`, what it lacks to 2^bits; first whether it lacks that.

    That is where the number is negative and not zero.
    """
    flipped: list[int] = []
    below = 2 * FALSE  # whether any lower bit is 1: then this one is inverted
    for bit in reversed(size):
        flipped.append(builder.node(FLIPPED_BY_BOTH, bit, negative, below))
        below = builder.node(luts.OR2, below, bit)
    return [builder.node(luts.AND2, negative, below), *reversed(flipped)]


@cache
def coder(kind: CodeKind, bits: int, *, tread: bool) -> Network:
    """Return the network that makes words of cells."""
    builder = Builder(bits)
    cells = [builder.input(k) for k in range(bits)]
    return builder.build(word_of(builder, cells, kind, tread=tread))


@cache
def said(kind: CodeKind, bits: int, *, tread: bool) -> Network:
    """Return the network that puts cells where words of a code can say them."""
    builder = Builder(bits)
    word = word_of(builder, [builder.input(k) for k in range(bits)], kind, tread=tread)
    return builder.build(cells_of(builder, word, kind, tread=tread))


def _at_zero(builder: Builder, cells: Sequence[int], *, tread: bool) -> list[int]:
    """Return what all is true of a word at zero: its middle cell, or the two beside the middle."""
    first, rest = cells[0], list(cells[1:])
    if tread:
        return [first, *(bit ^ 1 for bit in rest)]
    pairs = zip(rest[::2], rest[1::2], strict=False)
    odd = [builder.node(luts.XOR2, first, rest[-1])] if len(rest) % 2 else []
    return [*(builder.node(BOTH_DIFFER, first, *pair) for pair in pairs), *odd]


@cache
def rest_network(words: tuple[tuple[int, bool], ...]) -> Network:
    """Return whether all words are zero; of each how many bits it has, and if it is mid-tread."""
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
    """Return a mid-tread cell that is the middle one at rest, and whether it saturates elsewhere.

    Inputs are whether the arm rests, the cell, and whether it saturates.
    """
    builder = Builder(bits + 2)
    rest, first, *others = (builder.input(k) for k in range(bits + 2))
    return builder.build(
        [
            builder.node(luts.OR2, first, rest),
            *(builder.node(luts.AND2, bit, rest ^ 1) for bit in others),
        ]
    )
