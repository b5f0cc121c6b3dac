"""Partial products without their lowest columns, as integer expressions that are exact.

The digits of words are ±1: a partial product is whether two bits agree. All of them together are
`Agreement`: two multiplications. Where the lowest columns are discarded, what stands there is
taken off first: the sum of a triangle of d columns is a function of the lowest d bits of both
words; small triangles are tables (4^d bytes), larger ones a square and two triangles. What is small
altogether is one table; what is small once a word is split is two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable


# --------------------------------------------------------------------------------------------------
# Integer expressions that C, Python and JavaScript have alike.
#
# All are whole numbers that are not negative, but for sums, which wrap to so many bits. `most` is
# the largest value that an expression can take, `wide` the bits that the largest number takes that
# is met on the way to it.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int

    @property
    def most(self) -> int:
        """The value."""
        return self.value

    @property
    def wide(self) -> int:
        """Its bits."""
        return self.value.bit_length()


@dataclass(frozen=True, slots=True)
class Name:
    """The value of a step before, or of a parameter, of so many bits."""

    name: str
    bits: int

    @property
    def most(self) -> int:
        """All bits."""
        return (1 << self.bits) - 1

    @property
    def wide(self) -> int:
        """Its bits."""
        return self.bits


@dataclass(frozen=True, slots=True)
class Moved:
    """A value times 2^by, or what is left of it to the left of its lowest -by bits."""

    of: Expression
    by: int

    @property
    def most(self) -> int:
        """The largest value."""
        return self.of.most << self.by if self.by >= 0 else self.of.most >> -self.by

    @property
    def wide(self) -> int:
        """The bits of the larger of both."""
        return max(self.of.wide, self.most.bit_length())


@dataclass(frozen=True, slots=True)
class Padded:
    """A value times 2^by, and a constant below that: a word of which so many bits never change."""

    of: Expression
    by: int
    filling: int

    @property
    def most(self) -> int:
        """The largest value."""
        return (self.of.most << self.by) + self.filling

    @property
    def wide(self) -> int:
        """The bits of both."""
        return max(self.of.wide, self.most.bit_length())


@dataclass(frozen=True, slots=True)
class Low:
    """The lowest bits of a value."""

    of: Expression
    bits: int

    @property
    def most(self) -> int:
        """All bits."""
        return min(self.of.most, (1 << self.bits) - 1)

    @property
    def wide(self) -> int:
        """The bits of the value."""
        return self.of.wide


@dataclass(frozen=True, slots=True)
class Different:
    """The bits in which two values differ."""

    a: Expression
    b: Expression

    @property
    def most(self) -> int:
        """All bits of the wider one."""
        return (1 << max(self.a.most.bit_length(), self.b.most.bit_length())) - 1

    @property
    def wide(self) -> int:
        """The bits of both."""
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
        """Where all agree: what lies between is a mean of the corners."""
        return ((1 << self.a_bits) - 1) * ((1 << self.b_bits) - 1)

    @property
    def wide(self) -> int:
        """The bits of words and sum; both products are part of it."""
        return max(self.a.wide, self.b.wide, self.most.bit_length())


@dataclass(frozen=True, slots=True)
class Signed:
    """The product of two signed numbers in two's complement of so many bits: it may be negative.

    It is only a part of sums that wrap, of no more bits than `most` has.
    """

    a: Expression
    a_bits: int
    b: Expression
    b_bits: int

    @property
    def most(self) -> int:
        """All bits of both."""
        return (1 << (self.a_bits + self.b_bits)) - 1

    @property
    def wide(self) -> int:
        """The bits of both."""
        return self.a_bits + self.b_bits


@dataclass(frozen=True, slots=True)
class Multiple:
    """A value times a constant."""

    of: Expression
    factor: int

    @property
    def most(self) -> int:
        """The largest value."""
        return self.of.most * self.factor

    @property
    def wide(self) -> int:
        """Its bits."""
        return max(self.of.wide, self.most.bit_length())


@dataclass(frozen=True, slots=True)
class Less:
    """A value less another that is never larger; `most` is of the first."""

    a: Expression
    b: Expression

    @property
    def most(self) -> int:
        """The largest value."""
        return self.a.most

    @property
    def wide(self) -> int:
        """The bits of both."""
        return max(self.a.wide, self.b.wide)


@dataclass(frozen=True, slots=True)
class Total:
    """A sum that cannot wrap."""

    parts: tuple[Expression, ...]

    @property
    def most(self) -> int:
        """The largest value."""
        return sum(part.most for part in self.parts)

    @property
    def wide(self) -> int:
        """The bits of parts and sum."""
        return max(self.most.bit_length(), *(part.wide for part in self.parts))


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a table, by the table's place."""

    table: int
    index: Expression
    most: int

    @property
    def wide(self) -> int:
        """The bits of an entry; the index is calculated apart."""
        return self.most.bit_length()


@dataclass(frozen=True, slots=True)
class Within:
    """Whether `low` <= value <= `high`."""

    of: Expression
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One value where all conditions hold, and another one elsewhere."""

    conditions: tuple[Within, ...]
    then: Expression
    otherwise: Expression

    @property
    def most(self) -> int:
        """The larger one."""
        return max(self.then.most, self.otherwise.most)

    @property
    def wide(self) -> int:
        """The bits of both; conditions are calculated apart."""
        return max(self.then.wide, self.otherwise.wide)


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The sum of parts, each added or taken away, and a constant, modulo 2^bits.

    `fits` where no sum of parts so large can wrap.
    """

    parts: tuple[tuple[bool, Expression], ...]
    constant: int
    bits: int

    @property
    def fits(self) -> bool:
        """Tell whether the sum lies within its bits anyway."""
        low = self.constant - sum(part.most for negative, part in self.parts if negative)
        high = self.constant + sum(part.most for negative, part in self.parts if not negative)
        return low >= 0 and high < 1 << self.bits

    @property
    def most(self) -> int:
        """All bits."""
        return (1 << self.bits) - 1

    @property
    def wide(self) -> int:
        """Its bits: it is calculated modulo a power of two."""
        return self.bits


Expression: TypeAlias = (
    Number | Name | Moved | Padded | Low | Different | Agreement | Signed | Multiple | Less | Total
    | Entry | Choice | Wrapped
)  # fmt: skip


def moved(of: Expression, by: int) -> Expression:
    """Return a value moved, simplified."""
    if not by:
        return of
    if isinstance(of, Number):
        return Number(of.value << by if by > 0 else of.value >> -by)
    if isinstance(of, Padded) and by < 0:
        if -by >= of.by:
            return moved(of.of, by + of.by)
        return Padded(of.of, of.by + by, of.filling >> -by)
    if isinstance(of, Moved) and ((of.by < 0) == (by < 0) or of.by >= -by > 0):
        return moved(of.of, of.by + by)
    return Moved(of, by)


def low(of: Expression, bits: int) -> Expression:
    """Return the lowest bits of a value, simplified."""
    if isinstance(of, Number):
        return Number(of.value & ((1 << bits) - 1))
    if isinstance(of, Padded):
        if bits <= of.by:
            return Number(of.filling & ((1 << bits) - 1))
        return Padded(low(of.of, bits - of.by), of.by, of.filling)
    return of if of.most < 1 << bits else Low(of, bits)


# --------------------------------------------------------------------------------------------------
# Partial products without their lowest columns, as integer expressions that are exact.
# --------------------------------------------------------------------------------------------------


SMALL = 9  # index bits of a table that stands for a whole product
SIDE = 4  # digits a side of a triangle or square that is a table
LOOK, ADD = 8, 3  # cycles to find an entry of a table; to add two sums
FLASH = 128  # bytes of tables that are worth a cycle


class Tables(Protocol):
    """Where tables are kept."""

    def table(self, name: str, entries: tuple[int, ...]) -> int:
        """Return the place of a table; equal ones are kept once."""


def agreeing(a: int, a_bits: int, b: int, b_bits: int, discards: int) -> int:
    """Return Σ 2^(i+j) over digits that agree, i + j >= discards, divided by 2^discards."""
    found = 0
    for i in range(a_bits):
        for j in range(max(0, discards - i), b_bits):
            found += ((a >> i & 1) == (b >> j & 1)) << (i + j)
    return found >> max(0, discards)


def product(
    tables: Tables, a: Expression, a_bits: int, b: Expression, b_bits: int, discards: int
) -> tuple[Expression, int]:
    """Return the sum of partial products in the columns from `discards` on, and its largest value.

    It is divided by 2^discards.
    """
    full = weight(a_bits, b_bits, discards)
    drop_a, drop_b = unread(a_bits, b_bits, discards)
    a, b = moved(a, -drop_a), moved(b, -drop_b)
    a_bits, b_bits, discards = a_bits - drop_a, b_bits - drop_b, discards - drop_a - drop_b
    if min(a_bits, b_bits) <= 0:
        return Number(0), 0
    if isinstance(a, Number) and isinstance(b, Number):
        return Number(agreeing(a.value, a_bits, b.value, b_bits, discards)), full
    return _sum(tables, a, a_bits, b, b_bits, discards), full


def _sum(
    tables: Tables, a: Expression, a_bits: int, b: Expression, b_bits: int, discards: int
) -> Expression:
    """Return the sum of partial products in the way that is expected to be cheapest."""
    drop_a, drop_b = unread(a_bits, b_bits, discards)
    a, b = moved(a, -drop_a), moved(b, -drop_b)
    a_bits, b_bits, discards = a_bits - drop_a, b_bits - drop_b, discards - drop_a - drop_b
    if isinstance(a, Number):
        a, a_bits, b, b_bits = b, b_bits, a, a_bits
    if isinstance(b, Number):
        return _multiple(tables, a, a_bits, b.value, b_bits, discards)
    _, way = _plan(a_bits, b_bits, discards)
    if way == "all":
        return moved(Agreement(a, a_bits, b, b_bits), -discards)
    if way == "table":
        entries = _pairs(a_bits, b_bits, lambda x, y: agreeing(x, a_bits, y, b_bits, discards))
        place = tables.table(f"product_{a_bits}_{b_bits}_above_{discards}", entries)
        return Entry(place, _index(a, b, b_bits), max(entries))
    if way == "triangle":
        discarded = _triangle(tables, a, b, discards)
        return moved(Less(Agreement(a, a_bits, b, b_bits), discarded), -discards)
    bits = int(way)
    if bits < 0:
        a, a_bits, b, b_bits, bits = b, b_bits, a, a_bits, -bits
    return Total(
        (
            _sum(tables, low(a, bits), bits, b, b_bits, discards),
            _sum(tables, moved(a, -bits), a_bits - bits, b, b_bits, discards - bits),
        )
    )


def _multiple(
    tables: Tables, a: Expression, a_bits: int, b: int, b_bits: int, discards: int
) -> Expression:
    """Return the product with a constant: as it is the sum of what digits make, tables of parts."""
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
        found.append(Entry(place, low(moved(a, -first), bits), max(entries)))
        first += bits
    return found[0] if len(found) == 1 else Total(tuple(found))


@cache
def _plan(a_bits: int, b_bits: int, discards: int) -> tuple[float, str]:
    """Return what a sum of partial products costs, in cycles of an 8-bit machine, and how it is.

    `all` are multiplied where nothing is discarded; a small one is a `table`; of a larger one a
    `triangle` is taken off; or one word is split: a number is how many of the low digits of the
    first word are a sum of their own, or less than 0 of the second.
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
    """Return what a sum costs without the digits that have no part in it."""
    drop_a, drop_b = unread(a_bits, b_bits, discards)
    a_bits, b_bits, discards = a_bits - drop_a, b_bits - drop_b, discards - drop_a - drop_b
    return _plan(a_bits, b_bits, discards)[0] if min(a_bits, b_bits) > 0 else 0.0


def weight(a_bits: int, b_bits: int, discards: int) -> int:
    """Return the sum where all digits agree."""
    most_a, most_b = (1 << a_bits) - 1, (1 << b_bits) - 1
    return agreeing(most_a, a_bits, most_b, b_bits, discards)


def unread(a_bits: int, b_bits: int, discards: int) -> tuple[int, int]:
    """Return how many low digits of both words have a part in discarded columns only."""
    drop_a = min(a_bits, max(0, discards - b_bits + 1))
    drop_b = min(b_bits, max(0, discards - a_bits + 1))
    return drop_a, drop_b


def _triangle(tables: Tables, a: Expression, b: Expression, side: int) -> Expression:
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
    return Total((square, moved(Total(sides), half)))


def _triangle_sum(a: int, b: int, side: int) -> int:
    return sum(
        ((a >> i & 1) == (b >> j & 1)) << (i + j) for i in range(side) for j in range(side - i)
    )


def _entry(
    tables: Tables, name: str, entries: tuple[int, ...], a: Expression, b: Expression, side: int
) -> Expression:
    index = _index(low(a, side), low(b, side), side)
    return Entry(tables.table(name, entries), index, max(entries))


def _pairs(a_bits: int, b_bits: int, value: Callable[[int, int], int]) -> tuple[int, ...]:
    return tuple(value(a, b) for a in range(1 << a_bits) for b in range(1 << b_bits))


def _index(a: Expression, b: Expression, b_bits: int) -> Expression:
    """Return both words side by side."""
    return Total((moved(a, b_bits), b))
