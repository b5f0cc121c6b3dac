"""Names of words: parts of tables, signs of sums, arcs, and where a square has its zero."""

from __future__ import annotations

import numpy as np
import pytest

from boolcomp.problem import Interval
from boolcomp.words import (
    Bits,
    Heap,
    InputWord,
    Lookup,
    Node,
    Scale,
    WordGraph,
    wave_name,
    word_names,
)

ANGLES = (
    InputWord("q1", 8, angle=True),
    InputWord("q2", 8, angle=True),
    InputWord("qd1", 6, angle=False),
)


def name_of(*nodes: Node) -> str:
    every = (*ANGLES, *nodes)
    return word_names(WordGraph(every, (Scale(0, 0.0),) * len(every), ()))[-1]


@pytest.mark.parametrize(
    ("entries", "name"), [((0, 1, 2, 3), "low bits of qd1"), ((0, 1, 3, 2), "f(qd1), fine")]
)
def test_a_table_of_some_bits_is_these_bits_or_a_correction(
    entries: tuple[int, ...], name: str
) -> None:
    assert name_of(Lookup(2, 5, entries, 2, mask=0b101)) == name


@pytest.mark.parametrize(
    ("negative", "wraps", "name"),
    [(True, False, "-qd1"), (False, False, "qd1"), (False, True, "qd1"), (True, True, "qd1")],
)
def test_the_sign_of_a_word_alone_is_told_where_it_is_no_angle(
    name: str, *, negative: bool, wraps: bool
) -> None:
    word = Bits(2, 0, 0, negative=negative)
    assert name_of(Heap((word,), 0, 6, wraps)).split(",")[0] == name


def test_a_sum_of_several_words_that_wraps_names_them_all() -> None:
    both = (Bits(0, 0, 0, negative=False), Bits(1, 0, 0, negative=True))
    assert name_of(Heap(both, 0, 8, wraps=True)) == "q1-q2"


def test_a_table_of_two_entries_is_a_multiple_of_its_word() -> None:
    assert name_of(Lookup(2, 1, (0, 9), 4)) == "qd1, scaled"
    assert name_of(Lookup(2, 1, (9, 0), 4)) == "-qd1"
    assert name_of(Lookup(2, 0, (9,), 4)) == "f(qd1)"


def test_what_rounding_to_few_bits_leaves_does_not_hide_a_multiple() -> None:
    assert name_of(Lookup(2, 4, tuple(k // 4 for k in range(16)), 2)) == "qd1, scaled"


def test_the_square_of_a_sum_says_where_the_sum_is_zero() -> None:
    words = (*ANGLES[2:], InputWord("qd2", 6, angle=False))
    sums = Heap((Bits(0, 0, 0, negative=False), Bits(1, 0, 0, negative=False)), 0, 7)
    entries = tuple(int(k) for k in np.rint(np.linspace(-1, 1, 128) ** 2 * 200))
    graph = WordGraph((*words, sums, Lookup(2, 7, entries, 8)), (Scale(0, 0.0),) * 4, ())
    for low, name in ((-1.0, "(qd1+qd2)²"), (-0.5, "(qd1+qd2-0.5)²")):
        ranges = {"qd1": Interval(-1.0, 1.0), "qd2": Interval(low, low + 2.0)}
        assert word_names(graph, ranges)[-1] == name


def test_an_arc_that_waves_of_the_angle_follow_is_not_named_by_those_of_its_double() -> None:
    angle = 0.4 + (np.arange(32) + 0.5) / 32
    values = np.rint(-10 * np.cos(angle) - 20 * np.sin(angle)) / 10
    assert wave_name(values, angle, "q", 0.1) == "-0.5cos(q)-sin(q)"


def test_a_multiple_that_is_coarsely_rounded_is_not_called_a_far_square() -> None:
    assert name_of(Lookup(2, 3, (0, 2, 4, 7, 9, 11, 14, 16), 5)) == "qd1, scaled"
