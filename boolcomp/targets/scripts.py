"""Expressions in Python and JavaScript: whole numbers that neither wrap nor lose bits.

JavaScript's numbers are exact to 53 bits; its operations on bits have 32, without a sign where a
value is moved down. What needs more is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.targets.expressions import (
    Agreement,
    Choice,
    Different,
    Entry,
    Less,
    Low,
    Moved,
    Name,
    Number,
    Padded,
    Total,
    Wrapped,
)
from boolcomp.targets.procedure import OPERATORS, parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.targets.expressions import Expression, Within
    from boolcomp.targets.procedure import Table


class Python:
    """Prints expressions in Python."""

    both = " and "

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables

    def show(self, value: Expression) -> str:
        """Return an expression as text, in brackets where it has an operator."""
        if isinstance(value, Number):
            return str(value.value)
        if isinstance(value, Name):
            return value.name
        if isinstance(value, Entry):
            return f"{self.tables[value.table].name}[{self.bare(value.index)}]"
        if isinstance(value, Agreement):
            factors = f"{self.bare(value.a)}, {self.bare(value.b)}"
            return f"agreement({factors}, {(1 << value.a_bits) - 1}, {(1 << value.b_bits) - 1})"
        return f"({self.bare(value)})"

    def bare(self, value: Expression) -> str:
        """Return an expression as text, without brackets about all of it."""
        if isinstance(value, Moved):
            return self.moved(value)
        if isinstance(value, Padded | Low):
            return self.part(value)
        if isinstance(value, Different | Less | Total):
            return OPERATORS[type(value)].join(self.show(part) for part in parts_of(value))
        if isinstance(value, Choice):
            return self.choice(value)
        if isinstance(value, Wrapped):
            return self.wrapped(value)
        return self.show(value)

    def part(self, value: Padded | Low) -> str:
        """Return the upper or the lower bits of a word."""
        if isinstance(value, Low):
            return self.masked(self.show(value.of), value.bits)
        return f"({self.moved(Moved(value.of, value.by))}) + {value.filling}"

    def moved(self, value: Moved) -> str:
        """Return a shift."""
        by = f"<< {value.by}" if value.by > 0 else f">> {-value.by}"
        return f"{self.show(value.of)} {by}"

    def masked(self, text: str, bits: int) -> str:
        """Return the lowest bits of a value."""
        return f"{text} & {(1 << bits) - 1}"

    def choice(self, value: Choice) -> str:
        """Return one of two values."""
        then, otherwise = self.show(value.then), self.show(value.otherwise)
        return f"{then} if {self.all_of(value.conditions)} else {otherwise}"

    def wrapped(self, value: Wrapped) -> str:
        """Return a sum, masked where it may wrap."""
        text = str(value.constant) if value.constant else ""
        for negative, part in value.parts:
            text += f" {'-' if negative else '+'} {self.show(part)}"
        text = text.removeprefix(" + ").strip()
        return text if value.fits else self.masked(f"({text})", value.bits)

    def all_of(self, conditions: Sequence[Within]) -> str:
        """Return whether all conditions hold."""
        return self.both.join(self.within(one) for one in conditions)

    def within(self, one: Within) -> str:
        """Return whether a condition holds."""
        text = self.show(one.of)
        if one.low == one.high:
            return f"{text} == {one.low}"
        low = f"{one.low} <= " if one.low else ""
        high = f" <= {one.high}" if one.high < one.of.most else ""
        return f"{low}{text}{high}"


class JavaScript(Python):
    """Prints expressions in JavaScript."""

    both = " && "

    def moved(self, value: Moved) -> str:
        """Return a shift: down with 32 bits, up by a product, which is exact to 53."""
        if value.by > 0:
            _exact(value.wide, 53)
            return f"{self.show(value.of)} * {1 << value.by}"
        if value.of.wide > 32:
            _exact(value.of.wide, 53)
            return f"Math.floor({self.bare(value.of)} / {1 << -value.by})"
        return f"{self.show(value.of)} >>> {-value.by}"

    def masked(self, text: str, bits: int) -> str:
        """Return the lowest bits of a value."""
        if bits < 32:
            return super().masked(text, bits)
        _exact(bits, 32)
        return f"{text} >>> 0"

    def choice(self, value: Choice) -> str:
        """Return one of two values."""
        then, otherwise = self.show(value.then), self.show(value.otherwise)
        return f"{self.all_of(value.conditions)} ? {then} : {otherwise}"

    def wrapped(self, value: Wrapped) -> str:
        """Return a sum, masked where it may wrap; its parts are exact."""
        reach = abs(value.constant) + sum(part.most for _, part in value.parts)
        _exact(max(reach.bit_length(), *(part.wide for _, part in value.parts)), 53)
        return super().wrapped(value)

    def within(self, one: Within) -> str:
        """Return whether a condition holds."""
        text = self.show(one.of)
        if one.low == one.high:
            return f"{text} === {one.low}"
        low = [f"{text} >= {one.low}"] if one.low else []
        high = [f"{text} <= {one.high}"] if one.high < one.of.most else []
        return self.both.join([*low, *high])


def _exact(bits: int, most: int) -> None:
    if bits > most:
        raise UsageError(f"a word of {bits} bits: JavaScript has {most} at most; export it as C")
