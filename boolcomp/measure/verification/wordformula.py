"""A module of words as it is read back: how every signal is made of bits of others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator


class Literal(NamedTuple):
    """A constant."""

    value: int
    bits: int


class Reference(NamedTuple):
    """Bits of a signal, by their numbers."""

    name: str
    low: int
    bits: int


class Joined(NamedTuple):
    """Parts side by side, least significant first."""

    parts: tuple[Formula, ...]
    bits: int


class Operation(NamedTuple):
    """What an operator makes: `~ ^ & | + ?`, `*` of odd numbers, `all` and `any` of a word."""

    sign: str
    parts: tuple[Formula, ...]
    bits: int


class Case(NamedTuple):
    """A table."""

    key: Formula
    entries: tuple[int, ...]
    bits: int


Formula: TypeAlias = Literal | Reference | Joined | Operation | Case


@dataclass(slots=True)
class Described:
    """A module: its ports (name, bits), how signals are made, their lowest bit and bits.

    `claims` says which signal a comment calls which word.
    """

    name: str = ""
    inputs: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, int] = field(default_factory=dict)
    made: dict[str, Formula] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    stages: int = 0


def references(formula: Formula) -> Iterator[Reference]:
    """Yield all bits that a formula reads."""
    if isinstance(formula, Reference):
        yield formula
    elif isinstance(formula, Joined | Operation):
        for part in formula.parts:
            yield from references(part)
    elif isinstance(formula, Case):
        yield from references(formula.key)
