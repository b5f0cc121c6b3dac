"""Signals of modules of words: what joins, and what is kept by its name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from boolcomp.targets.rtl import (
    Addend,
    Books,
    Fixed,
    Flipped,
    Piece,
    Sum,
    Wires,
    Word,
    joined,
    summed,
)
from boolcomp.targets.target import VERILOG, Names


def test_empty_pieces_do_not_keep_neighbours_apart() -> None:
    pieces: list[Piece] = [
        Fixed(0, 0),
        Wires("a", 0, 2),
        Fixed(0, 0),
        Wires("a", 2, 1),
        Fixed(1, 1),
        Fixed(2, 2),
    ]
    assert joined(pieces) == (Wires("a", 0, 3), Fixed(5, 3))


def test_wires_of_other_names_or_places_or_inverted_ones_stay_apart() -> None:
    for other in (Wires("b", 2, 1), Wires("a", 3, 1), Wires("a", 2, 1, inverted=True)):
        assert joined([Wires("a", 0, 2), other]) == (Wires("a", 0, 2), other)


@pytest.mark.parametrize(
    ("first", "about", "kept"),
    [(True, (), True), (True, ("w1",), False), (False, (), False), (False, ("w1",), False)],
)
def test_a_signal_is_kept_by_its_own_name_until_it_is_a_word_of_the_graph(
    about: tuple[str, ...], *, first: bool, kept: bool
) -> None:
    books = Books(Names(VERILOG))
    added = Sum((Addend((Wires("a", 0, 2),), 0), Addend((Wires("b", 0, 2),), 0)), 0, 3)
    one = books.signal("part", 3, added, kept=first)
    assert books.signal("sum", 3, added, about) == one
    (signal,) = books.signals
    assert (signal.kept, signal.about) == (kept, about)


def bits_of(word: Word) -> list[tuple[int, int]]:
    """Return the value and the bits of the constants of a word."""
    return [(piece.value, piece.bits) for piece in word if isinstance(piece, Fixed)]


def test_what_a_constant_adds_below_a_sum_is_kept_and_what_leaves_the_word_is_not() -> None:
    books = Books(Names(VERILOG))
    addends = [Addend((Wires(name, 0, 2),), 2) for name in ("a", "b")]
    found = summed(books, "sum", (), addends, 64 + 16 + 7, 6)
    assert bits_of(found) == [(3, 2)]
    (signal,) = books.signals
    assert signal.operation == Sum(tuple(replace(one, column=0) for one in addends), 5, 4)


def test_a_sum_of_one_bit_is_no_addition() -> None:
    books = Books(Names(VERILOG))
    addends = [Addend((Wires(name, 0, 1),), 3) for name in ("a", "b")]
    summed(books, "sum", (), addends, 8, 4)
    (signal,) = books.signals
    assert signal.operation == Flipped((Wires("a", 0, 1, inverted=True),), (Wires("b", 0, 1),))
