"""Straight-line code on whole numbers with signs, each value with the range that it can have.

Words of a graph are held as their distance from the middle: word k of n bits is k - 2^(n-1). Its
leading bits are then a shift that keeps the sign, its inverse is -1 less it, and one of 8 or 16
bits fits a lane of as many. Values are numbered; equal ones are made once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class Cell:
    """An input's cell; where it comes as a code only its lowest bits are right."""

    port: int
    bits: int


@dataclass(frozen=True, slots=True)
class Sum:
    """Σ factor · value + constant; with `wraps` only its lowest so many bits are right."""

    terms: tuple[tuple[int, int], ...]
    constant: int
    wraps: int = 0


@dataclass(frozen=True, slots=True)
class Signed:
    """The lowest bits of a value, as a number with a sign."""

    of: int
    bits: int


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two values."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Shifted:
    """A value without its lowest bits."""

    of: int
    by: int


class Field(NamedTuple):
    """Bits of a value that are part of an index: so many above the lowest `drop`."""

    of: int
    drop: int
    bits: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a table; the index is made of fields, the lowest first, and parts are added."""

    fields: tuple[Field, ...]
    table: int
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Clamped:
    """A value, or the end of a range that it is beyond."""

    of: int
    low: int
    high: int


class Inside(NamedTuple):
    """Whether a value lies within a range."""

    of: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Resting:
    """Zero where all conditions hold, else a value."""

    of: int
    conditions: tuple[Inside, ...]


Value: TypeAlias = Cell | Sum | Signed | Product | Shifted | Entry | Clamped | Resting


class Made(NamedTuple):
    """An output: its cell, what was inside before it was saturated, and when it rests."""

    cell: int
    inside: Inside | None
    rests: tuple[Inside, ...]


@dataclass(frozen=True, slots=True)
class Straightened:
    """Values in order, the tables that they look into, and the outputs."""

    values: tuple[Value, ...]
    ranges: tuple[tuple[int, int], ...]
    tables: tuple[tuple[int, ...], ...]
    outputs: tuple[Made, ...]


def reads(value: Value) -> tuple[int, ...]:
    """Return the values that a value is made of."""
    if isinstance(value, Cell):
        return ()
    if isinstance(value, Sum):
        return tuple(place for _, place in value.terms)
    if isinstance(value, Product):
        return (value.a, value.b)
    if isinstance(value, Entry):
        return (*(field.of for field in value.fields), *value.parts)
    if isinstance(value, Resting):
        return (value.of, *(one.of for one in value.conditions))
    return (value.of,)
