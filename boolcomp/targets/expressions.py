"""Integer expressions that C, Python and JavaScript have alike.

All are whole numbers that are not negative, but for sums, which wrap to so many bits. `most` is the
largest value that an expression can take, `wide` the bits that the largest number takes that is met
on the way to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


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
