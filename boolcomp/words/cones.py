"""Bits of a heap that other logic makes than adds up: each of a few signals, by a table.

A heap is a sum of bits in columns; a full adder takes bits of a column and leaves one there and one
in the next. So whatever a bit is, what follows adds it up: made by other logic, it moves the heap's
word by nothing or by what its column counts, one way or the other. Bits are named by where they
stand, in the order in which they came into their column (see `graph.heaps`):

w12.3.5 = e8 w3:2 w12.2.1 w12.3.0    that in column 3 of w12, the sixth that came, is the majority
                                     of bit 2 of w3 and two bits of w12's own columns
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_DIGITS = 6
_NUMBER = rf"(\d{{1,{MOST_DIGITS}}})"
_SPOT = re.compile(rf"w{_NUMBER}\.{_NUMBER}\.{_NUMBER}")
_BIT = re.compile(rf"w{_NUMBER}:{_NUMBER}")
_LINE = re.compile(r"(\S+) = ([0-9a-f]{2})((?: \S+){0,3})")


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A bit of a heap: its word, its column, the how manieth that came there."""

    word: int
    column: int
    place: int

    def __str__(self) -> str:
        return f"w{self.word}.{self.column}.{self.place}"


@dataclass(frozen=True, slots=True, order=True)
class WordBit:
    """A bit of a word, counted from the lowest."""

    word: int
    bit: int

    def __str__(self) -> str:
        return f"w{self.word}:{self.bit}"


Signal: TypeAlias = Spot | WordBit


@dataclass(frozen=True, slots=True)
class Cone:
    """What stands in a spot: a table of up to three signals (see `logic.luts`)."""

    spot: Spot
    table: int
    operands: tuple[Signal, ...]

    def __str__(self) -> str:
        return " ".join([f"{self.spot} = {self.table:02x}", *map(str, self.operands)])


def parse_cone(line: str) -> Cone:
    """Return the cone that a line says; a `DataError` where it says none."""
    found = _LINE.fullmatch(line)
    spot = _SPOT.fullmatch(found[1]) if found else None
    if found is None or spot is None:
        raise DataError(f"{shown(line)} is no cone, such as 'w12.3.5 = e8 w3:2 w12.2.1 w12.3.0'")
    operands = tuple(_signal(word) for word in found[3].split())
    return Cone(Spot(*map(int, spot.groups())), int(found[2], 16), operands)


def _signal(text: str) -> Signal:
    if spot := _SPOT.fullmatch(text):
        return Spot(*map(int, spot.groups()))
    if bit := _BIT.fullmatch(text):
        return WordBit(*map(int, bit.groups()))
    raise DataError(f"{shown(text)} is no bit of a word, such as w3:2 or w12.2.1")


def cones_text(cones: Iterable[Cone]) -> str:
    """Return a line for every cone."""
    return "".join(f"{cone}\n" for cone in cones)
