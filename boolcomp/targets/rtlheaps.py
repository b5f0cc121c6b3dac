"""Sums of words and products as signals: what never changes is booked in their constants."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from boolcomp.targets.rtl import Addend, Flipped, Product, Sum
from boolcomp.targets.rtlbooks import CARRY
from boolcomp.targets.wires import (
    Fixed,
    Wires,
    above,
    constant,
    cut,
    inverse,
    joined,
    varying,
    width,
    wires_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.targets.rtlbooks import Books
    from boolcomp.targets.wires import Word
    from boolcomp.words.layout import Grid

SMALL = 3  # digits of a factor of which a multiplier is worth its name


def summed(
    books: Books, name: str, about: tuple[str, ...], addends: list[Addend], total: int, bits: int,
    *, haste: int | None = None, named: bool = False,
) -> Word:  # fmt: skip
    """Return the sum of addends and a constant modulo 2^bits.

    What is one word, moved, gets no signal of its own unless it has to be `named`. With some
    `haste` a sum of many is one of pairs (see `in_parts`); with None all are in one.
    """
    kept: list[Addend] = []
    for addend in addends:
        known, left = _settled(addend, bits)
        total += known
        kept += left
    total %= 1 << bits
    if not kept:
        return joined([Fixed(total, bits)])
    low = min(addend.column for addend in kept)
    below = Fixed(total & ((1 << low) - 1), low)
    kept = [replace(addend, column=addend.column - low) for addend in kept]
    total, bits = total >> low, bits - low
    if len(kept) == 1 and not total:
        (only,) = kept  # its column is 0 now
        padding = Fixed(0, bits - width(only.word))
        if not only.flips and not named:
            return joined([below, *only.word, padding])
        word = joined([*only.word, padding])
        if only.flips and padding.bits:
            word = joined([*books.signal(f"{name} row", width(only.word),
                                         Flipped(only.word, only.flips)), padding])  # fmt: skip
        flips = () if padding.bits else only.flips
        return joined([below, *books.signal(name, bits, Flipped(word, flips), about, low)])
    if bits == 1:
        words = [one.word for one in kept]
        odd = [wire for one in kept for wire in one.flips]
        odd += [wire for word in words[1:] for wire in wires_of(word)]
        first = words[0] if not total else inverse(words[0])
        return joined([below, *books.signal(name, 1, Flipped(first, tuple(odd)), about, low)])
    if haste is not None:
        kept = in_parts(books, name, kept, bits, haste)
    made = books.signal(name, bits, Sum(tuple(kept), total, bits), about, low)
    return joined([below, *made])


def _settled(addend: Addend, bits: int) -> tuple[int, list[Addend]]:
    """Return what of an addend is constant, and what is left of it within so many bits."""
    word = cut(addend.word, 0, bits - addend.column) if addend.column < bits else ()
    if not wires_of(word) and not addend.flips:
        return constant(word) << addend.column, []
    if addend.flips:
        return 0, [replace(addend, word=word)] if word else []
    known, column, word = constant(word) << addend.column, addend.column, varying(word)
    first = word[0]
    if isinstance(first, Fixed):  # zeros below are a column, those above are nothing
        word, column = above(word, first.bits), column + first.bits
    if isinstance(word[-1], Fixed):
        word = word[:-1]
    return known, [Addend(word, column)]


def in_parts(
    books: Books, name: str, addends: list[Addend], bits: int, haste: int, most: int = 2
) -> list[Addend]:
    """Add up pairs of addends until few enough are left; no part of a sum wraps before it.

    Of all pairs that comes first whose sum takes fewest full adders; `haste` says how many of these
    in a hundred a tenth of a level of delay is worth.
    """
    waiting = list(addends)
    while len(waiting) > most:
        few = min(combinations(waiting, 2), key=lambda pair: _price(books, pair, bits, haste))
        for one in few:
            waiting.remove(one)
        low = min(addend.column for addend in few)
        reach = sum(((1 << width(one.word)) - 1) << (one.column - low) for one in few)
        wide = min(reach.bit_length(), bits - low)
        pair = tuple(replace(addend, column=addend.column - low) for addend in few)
        part = books.signal(f"{name} part", wide, Sum(pair, 0, wide), kept=True)
        waiting.append(Addend(part, low))
    return waiting


def _price(books: Books, pair: Sequence[Addend], bits: int, haste: int) -> int:
    top = max(one.column + width(one.word) for one in pair) + 1
    adders = min(bits, top) - max(one.column for one in pair)
    return 100 * adders + haste * (max(_time(books, one) for one in pair) + CARRY * adders)


def _time(books: Books, addend: Addend) -> int:
    return books.time((*addend.word, *addend.flips))


def product_rows(
    grid: Grid, a: Word, b: Word, sign: tuple[Wires, ...], *, negative: bool
) -> list[Addend]:
    """Return the rows of partial products: a digit of the shorter word leaves or inverts the other.

    Words are without what they drop; `sign` says where all digits of the two differ once more.
    """
    if grid.a > grid.b:
        grid, a, b = grid.swapped, b, a
    rows = []
    for place, row in grid.rows():
        (digit,) = cut(a, place - grid.drop_a, 1)
        word = cut(b, row.drop - grid.drop_b, row.bits)
        alike = not negative
        if isinstance(digit, Fixed):
            flips, alike = sign, alike ^ (digit.value == 1)
        else:
            flips = (digit, *sign)
        rows.append(Addend(inverse(word) if alike else word, row.column, flips))
    return rows


def whole_product(
    books: Books, name: str, a: Word, b: Word, column: int, *, negative: bool
) -> tuple[Addend, int]:
    """Return all partial products as one multiplication, and a constant.

    Of words a, b of n, m bits the digits that agree count u + 1 - 2^(n-1) - 2^(m-1), where u is the
    product of their odd numbers, without its lowest bit and with its sign inverted; those that
    differ count the same of the inverse of u.
    """
    n, m = width(a), width(b)
    made = books.signal(f"{name} product", n + m + 2, Product(a, b))
    word = (*cut(made, 1, n + m - 1), *inverse(cut(made, n + m, 1)))
    known = 1 - (1 << n - 1) - (1 << m - 1)
    return Addend(inverse(word) if negative else word, column), known << column


def multiplies(grid: Grid, a: Word, b: Word) -> bool:
    """Tell whether a product is written as one: nothing of it is discarded, or constant."""
    fixed = any(isinstance(piece, Fixed) for piece in (*a, *b))
    return grid.column >= 0 and min(grid.a, grid.b) >= SMALL and not fixed
