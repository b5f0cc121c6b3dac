"""Signals of modules of words: what joins, and what is kept by its name."""

from __future__ import annotations

import pytest

from boolcomp.targets.names import Names
from boolcomp.targets.reserved import VERILOG
from boolcomp.targets.rtl import Addend, Sum
from boolcomp.targets.rtlbooks import Books
from boolcomp.targets.wires import Fixed, Piece, Wires, joined


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
