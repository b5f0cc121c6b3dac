"""Bits of signals side by side, least significant first: what Verilog writes in braces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Wires:
    """So many bits of a signal from its bit `low` on, or their inverses."""

    name: str
    low: int
    bits: int
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Fixed:
    """Bits that never change."""

    value: int
    bits: int


Piece: TypeAlias = Wires | Fixed
Word: TypeAlias = tuple[Piece, ...]


def width(word: Word) -> int:
    """Return how many bits a word has."""
    return sum(piece.bits for piece in word)


def joined(pieces: Iterable[Piece]) -> Word:
    """Return pieces side by side; neighbours that are one piece become one, empty ones none."""
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        if not piece.bits:
            continue
        if isinstance(piece, Fixed) and isinstance(last, Fixed):
            value = last.value | piece.value << last.bits
            found[-1] = Fixed(value, last.bits + piece.bits)
        elif isinstance(piece, Wires) and isinstance(last, Wires) and _follows(last, piece):
            found[-1] = replace(last, bits=last.bits + piece.bits)
        else:
            found.append(piece)
    return tuple(found)


def _follows(last: Wires, piece: Wires) -> bool:
    together = (last.name, last.inverted) == (piece.name, piece.inverted)
    return together and piece.low == last.low + last.bits


def cut(word: Word, low: int, bits: int) -> Word:
    """Return so many bits of a word from a place on."""
    found: list[Piece] = []
    place = 0
    for piece in word:
        first, last = max(low, place), min(low + bits, place + piece.bits)
        if first < last:
            found.append(_part(piece, first - place, last - first))
        place += piece.bits
    return joined(found)


def _part(piece: Piece, low: int, bits: int) -> Piece:
    if isinstance(piece, Fixed):
        return Fixed(piece.value >> low & ((1 << bits) - 1), bits)
    return replace(piece, low=piece.low + low, bits=bits)


def above(word: Word, low: int) -> Word:
    """Return a word without its lowest bits."""
    return cut(word, low, width(word) - low)


def inverse(word: Word) -> Word:
    """Return the inverse of every bit."""
    return tuple(
        Fixed(piece.value ^ ((1 << piece.bits) - 1), piece.bits)
        if isinstance(piece, Fixed)
        else replace(piece, inverted=not piece.inverted)
        for piece in word
    )


def constant(word: Word) -> int:
    """Return what the bits that never change count."""
    total = place = 0
    for piece in word:
        if isinstance(piece, Fixed):
            total |= piece.value << place
        place += piece.bits
    return total


def varying(word: Word) -> Word:
    """Return a word with 0 where a bit never changes."""
    return joined(Fixed(0, x.bits) if isinstance(x, Fixed) else x for x in word)


def wires_of(word: Word) -> list[Wires]:
    """Return the bits of signals in a word."""
    return [piece for piece in word if isinstance(piece, Wires)]
