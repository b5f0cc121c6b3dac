"""Integer expressions of C, Python and JavaScript, and exact truncated products.

The digits of words are ±1: a partial product tells whether two bits agree. The sum of all partial
products is `Agreement`: two multiplications. Discarded lowest columns are subtracted: the sum of a
triangle of d columns is a function of the lowest d bits of both words. Small triangles are tables
(4^d bytes), larger ones a square and two triangles. A small product is one table, or two after a
word is split.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

# --------------------------------------------------------------------------------------------------
# Integer expressions that C, Python and JavaScript have in common. All are non-negative; sums wrap
# modulo a power of two. `most` is the largest value of an expression, `wide` the bits of its
# largest intermediate value.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConstantNumber:
    """A constant."""

    value: int

    @property
    def most(self) -> int:
        return self.value

    @property
    def wide(self) -> int:
        return self.value.bit_length()


@dataclass(frozen=True, slots=True)
class Name:
    """The value of an earlier step or of a parameter, and its width."""

    name: str
    bits: int

    @property
    def most(self) -> int:
        return (1 << self.bits) - 1

    @property
    def wide(self) -> int:
        return self.bits


@dataclass(frozen=True, slots=True)
class Moved:
    """A value times 2^by, without the bits below 1."""

    of: Expression
    by: int

    @property
    def most(self) -> int:
        return self.of.most << self.by if self.by >= 0 else self.of.most >> -self.by

    @property
    def wide(self) -> int:
        return max(self.of.wide, self.most.bit_length())


@dataclass(frozen=True, slots=True)
class Padded:
    """A value times 2^by, plus a constant below that."""

    of: Expression
    by: int
    filling: int

    @property
    def most(self) -> int:
        return (self.of.most << self.by) + self.filling

    @property
    def wide(self) -> int:
        return max(self.of.wide, self.most.bit_length())


@dataclass(frozen=True, slots=True)
class Low:
    """The lowest bits of a value."""

    of: Expression
    bits: int

    @property
    def most(self) -> int:
        return min(self.of.most, (1 << self.bits) - 1)

    @property
    def wide(self) -> int:
        return self.of.wide


@dataclass(frozen=True, slots=True)
class XorBits:
    """The bitwise difference of two values."""

    a: Expression
    b: Expression

    @property
    def most(self) -> int:
        return (1 << max(self.a.most.bit_length(), self.b.most.bit_length())) - 1

    @property
    def wide(self) -> int:
        return max(self.a.wide, self.b.wide)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Σ 2^(i+j) over all pairs of digits of two words that agree: a·b + (not a)·(not b).

    With ±1 for digits it is half the product of both words and a constant.
    """

    a: Expression
    a_bits: int
    b: Expression
    b_bits: int

    @property
    def most(self) -> int:
        return ((1 << self.a_bits) - 1) * ((1 << self.b_bits) - 1)

    @property
    def wide(self) -> int:
        return max(self.a.wide, self.b.wide, self.most.bit_length())


@dataclass(frozen=True, slots=True)
class SignedProduct:
    """The product of two signed numbers in two's complement: it may be negative.

    It occurs only in sums that wrap to at most the width of `most`.
    """

    a: Expression
    a_bits: int
    b: Expression
    b_bits: int

    @property
    def most(self) -> int:
        return (1 << (self.a_bits + self.b_bits)) - 1

    @property
    def wide(self) -> int:
        return self.a_bits + self.b_bits


@dataclass(frozen=True, slots=True)
class Multiple:
    """A value times a constant."""

    of: Expression
    factor: int

    @property
    def most(self) -> int:
        return self.of.most * self.factor

    @property
    def wide(self) -> int:
        return max(self.of.wide, self.most.bit_length())


@dataclass(frozen=True, slots=True)
class Less:
    """A value minus another that is never larger; `most` is that of the first."""

    a: Expression
    b: Expression

    @property
    def most(self) -> int:
        return self.a.most

    @property
    def wide(self) -> int:
        return max(self.a.wide, self.b.wide)


@dataclass(frozen=True, slots=True)
class SumOfParts:
    """A sum that cannot wrap."""

    parts: tuple[Expression, ...]

    @property
    def most(self) -> int:
        return sum(part.most for part in self.parts)

    @property
    def wide(self) -> int:
        return max(self.most.bit_length(), *(part.wide for part in self.parts))


@dataclass(frozen=True, slots=True)
class TableEntry:
    """An entry of a table; `table` is its place among tables."""

    table: int
    index: Expression
    most: int

    @property
    def wide(self) -> int:
        return self.most.bit_length()


@dataclass(frozen=True, slots=True)
class Within:
    """Whether `low` <= value <= `high`."""

    of: Expression
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """One value if all conditions hold, else another one."""

    conditions: tuple[Within, ...]
    then: Expression
    otherwise: Expression

    @property
    def most(self) -> int:
        return max(self.then.most, self.otherwise.most)

    @property
    def wide(self) -> int:
        return max(self.then.wide, self.otherwise.wide)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The sum of positive and negative parts and a constant, modulo 2^bits.

    `fits` tells that no sum of parts of this size can wrap.
    """

    parts: tuple[tuple[bool, Expression], ...]
    constant: int
    bits: int

    @property
    def fits(self) -> bool:
        """Tell whether the sum cannot wrap."""
        low = self.constant - sum(part.most for negative, part in self.parts if negative)
        high = self.constant + sum(part.most for negative, part in self.parts if not negative)
        return low >= 0 and high < 1 << self.bits

    @property
    def most(self) -> int:
        return (1 << self.bits) - 1

    @property
    def wide(self) -> int:
        return self.bits


Expression: TypeAlias = (
    ConstantNumber
    | Name
    | Moved
    | Padded
    | Low
    | XorBits
    | Agreement
    | SignedProduct
    | Multiple
    | Less
    | SumOfParts
    | TableEntry
    | Conditional
    | Wrapped
)


def moved(of: Expression, by: int) -> Expression:
    """Return a shifted value, simplified."""
    if not by:
        return of
    if isinstance(of, ConstantNumber):
        return ConstantNumber(of.value << by if by > 0 else of.value >> -by)
    if isinstance(of, Padded) and by < 0:
        if -by >= of.by:
            return moved(of.of, by + of.by)
        return Padded(of.of, of.by + by, of.filling >> -by)
    if isinstance(of, Moved) and ((of.by < 0) == (by < 0) or of.by >= -by > 0):
        return moved(of.of, of.by + by)
    return Moved(of, by)


def low(of: Expression, bits: int) -> Expression:
    """Return the lowest bits of a value, simplified."""
    if isinstance(of, ConstantNumber):
        return ConstantNumber(of.value & ((1 << bits) - 1))
    if isinstance(of, Padded):
        if bits <= of.by:
            return ConstantNumber(of.filling & ((1 << bits) - 1))
        return Padded(low(of.of, bits - of.by), of.by, of.filling)
    return of if of.most < 1 << bits else Low(of, bits)


# --------------------------------------------------------------------------------------------------
# Truncated products as exact integer expressions.
# --------------------------------------------------------------------------------------------------

SMALL = 9  # index bits of a table of a whole product
SIDE = 4  # side of a triangle or square that is a table
LOOK, ADD = 8, 3  # cycles to find an entry of a table; to add two sums
FLASH = 128  # bytes of tables that are worth a cycle


class TableSet(Protocol):
    """A set of tables; equal tables are shared."""

    def table(self, name: str, entries: tuple[int, ...]) -> int:
        """Return the place of a table."""


def agreeing(a: int, a_bits: int, b: int, b_bits: int, discards: int) -> int:
    """Return Σ 2^(i+j) over digits that agree, i + j >= discards, divided by 2^discards."""
    found = 0
    for i in range(a_bits):
        for j in range(max(0, discards - i), b_bits):
            found += ((a >> i & 1) == (b >> j & 1)) << (i + j)
    return found >> max(0, discards)


def product(
    tables: TableSet, a: Expression, a_bits: int, b: Expression, b_bits: int, discards: int
) -> tuple[Expression, int]:
    """Return the sum of partial products in columns from `discards` on, and its largest value."""
    full = weight(a_bits, b_bits, discards)
    drop_a, drop_b = unread(a_bits, b_bits, discards)
    a, b = moved(a, -drop_a), moved(b, -drop_b)
    a_bits, b_bits, discards = a_bits - drop_a, b_bits - drop_b, discards - drop_a - drop_b
    if min(a_bits, b_bits) <= 0:
        return ConstantNumber(0), 0
    if isinstance(a, ConstantNumber) and isinstance(b, ConstantNumber):
        return ConstantNumber(agreeing(a.value, a_bits, b.value, b_bits, discards)), full
    return _sum(tables, a, a_bits, b, b_bits, discards), full


def _sum(
    tables: TableSet, a: Expression, a_bits: int, b: Expression, b_bits: int, discards: int
) -> Expression:
    """Return the sum of partial products by the plan of least estimated cost."""
    drop_a, drop_b = unread(a_bits, b_bits, discards)
    a, b = moved(a, -drop_a), moved(b, -drop_b)
    a_bits, b_bits, discards = a_bits - drop_a, b_bits - drop_b, discards - drop_a - drop_b
    if isinstance(a, ConstantNumber):
        a, a_bits, b, b_bits = b, b_bits, a, a_bits
    if isinstance(b, ConstantNumber):
        return _multiple(tables, a, a_bits, b.value, b_bits, discards)
    _, way = _plan(a_bits, b_bits, discards)
    if way == "all":
        return moved(Agreement(a, a_bits, b, b_bits), -discards)
    if way == "table":
        entries = _pairs(a_bits, b_bits, lambda x, y: agreeing(x, a_bits, y, b_bits, discards))
        place = tables.table(f"product_{a_bits}_{b_bits}_above_{discards}", entries)
        return TableEntry(place, _index(a, b, b_bits), max(entries))
    if way == "triangle":
        discarded = _triangle(tables, a, b, discards)
        return moved(Less(Agreement(a, a_bits, b, b_bits), discarded), -discards)
    bits = int(way)
    if bits < 0:
        a, a_bits, b, b_bits, bits = b, b_bits, a, a_bits, -bits
    return SumOfParts(
        (
            _sum(tables, low(a, bits), bits, b, b_bits, discards),
            _sum(tables, moved(a, -bits), a_bits - bits, b, b_bits, discards - bits),
        )
    )


def _multiple(
    tables: TableSet, a: Expression, a_bits: int, b: int, b_bits: int, discards: int
) -> Expression:
    """Return the product with a constant: the sum over all digits, minus tables of parts."""
    parts = max(1, -(-a_bits // SMALL))
    found = []
    first = 0
    for k in range(parts):
        bits = (a_bits - first) // (parts - k)
        above = discards - first
        entries = tuple(
            agreeing(x, bits, b, b_bits, above) << max(0, -above) for x in range(1 << bits)
        )
        place = tables.table(f"times_{b}_of_{bits}_above_{above}".replace("-", "_"), entries)
        found.append(TableEntry(place, low(moved(a, -first), bits), max(entries)))
        first += bits
    return found[0] if len(found) == 1 else SumOfParts(tuple(found))


@cache
def _plan(a_bits: int, b_bits: int, discards: int) -> tuple[float, str]:
    """Return the cost of a sum of partial products, in cycles of an 8-bit machine, and its plan.

    The plan `all` multiplies if nothing is discarded; `table` is a table of a small product;
    `triangle` subtracts the triangle of a larger one. A number splits a word: it counts the low
    digits of the first word that form a sum of their own, or if negative those of the second.
    """
    multiply = 11 if max(a_bits, b_bits) <= 8 else 20 if a_bits + b_bits <= 16 else 45
    if discards <= 0:
        return multiply - 2 * discards, "all"
    moves = discards * (2 if a_bits + b_bits <= 16 else 4)
    looks = LOOK + (1 << 2 * min(discards, SIDE)) / FLASH if discards <= SIDE else 3 * (LOOK + 3)
    ways = [(multiply + looks + moves, "triangle")]
    if a_bits + b_bits <= SMALL:
        top = weight(a_bits, b_bits, discards)
        size = (1 << (a_bits + b_bits)) * (1 if top < 256 else 2)
        ways.append((LOOK + size / FLASH, "table"))
    for split in range(1, discards + 1):
        for x_bits, y_bits, sign in ((a_bits, b_bits, 1), (b_bits, a_bits, -1)):
            if split < x_bits:
                parts = ((split, y_bits, discards), (x_bits - split, y_bits, discards - split))
                cost = sum(_stripped(*part) for part in parts)
                ways.append((cost + ADD, str(sign * split)))
    return min(ways)


def _stripped(a_bits: int, b_bits: int, discards: int) -> float:
    """Return the cost of a sum without the digits in discarded columns only."""
    drop_a, drop_b = unread(a_bits, b_bits, discards)
    a_bits, b_bits, discards = a_bits - drop_a, b_bits - drop_b, discards - drop_a - drop_b
    return _plan(a_bits, b_bits, discards)[0] if min(a_bits, b_bits) > 0 else 0.0


def weight(a_bits: int, b_bits: int, discards: int) -> int:
    """Return the sum if all digits agree."""
    most_a, most_b = (1 << a_bits) - 1, (1 << b_bits) - 1
    return agreeing(most_a, a_bits, most_b, b_bits, discards)


def unread(a_bits: int, b_bits: int, discards: int) -> tuple[int, int]:
    """Return the number of low digits of both words in discarded columns only."""
    drop_a = min(a_bits, max(0, discards - b_bits + 1))
    drop_b = min(b_bits, max(0, discards - a_bits + 1))
    return drop_a, drop_b


def _triangle(tables: TableSet, a: Expression, b: Expression, side: int) -> Expression:
    """Return Σ 2^(i+j) over digits that agree, i + j < side; words have `side` digits or more."""
    if side <= SIDE:
        entries = _pairs(side, side, lambda x, y: _triangle_sum(x, y, side))
        return _entry(tables, f"triangle_{side}", entries, a, b, side)
    half = (side + 1) // 2
    rest = side - half
    square: Expression = Agreement(low(a, half), half, low(b, half), half)
    if half <= SIDE:
        entries = _pairs(half, half, lambda x, y: agreeing(x, half, y, half, 0))
        square = _entry(tables, f"square_{half}", entries, a, b, half)
    sides = (
        _triangle(tables, moved(a, -half), b, rest),
        _triangle(tables, a, moved(b, -half), rest),
    )
    return SumOfParts((square, moved(SumOfParts(sides), half)))


def _triangle_sum(a: int, b: int, side: int) -> int:
    return sum(
        ((a >> i & 1) == (b >> j & 1)) << (i + j) for i in range(side) for j in range(side - i)
    )


def _entry(
    tables: TableSet, name: str, entries: tuple[int, ...], a: Expression, b: Expression, side: int
) -> Expression:
    index = _index(low(a, side), low(b, side), side)
    return TableEntry(tables.table(name, entries), index, max(entries))


def _pairs(a_bits: int, b_bits: int, value: Callable[[int, int], int]) -> tuple[int, ...]:
    return tuple(value(a, b) for a in range(1 << a_bits) for b in range(1 << b_bits))


def _index(a: Expression, b: Expression, b_bits: int) -> Expression:
    return SumOfParts((moved(a, b_bits), b))
