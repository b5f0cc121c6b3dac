"""Words named by what they mean, read off graphs made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from boolcomp.problem.interval import Interval
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    Node,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
)
from boolcomp.words.names import LONGEST, word_names

ANGLES = (
    InputWord("q1", 8, angle=True),
    InputWord("q2", 8, angle=True),
    InputWord("qd1", 6, angle=False),
)
PHASE = 2 * np.pi * ((np.arange(64) + 0.5) / 64 - 0.5)


def name_of(*nodes: Node) -> str:
    every = (*ANGLES, *nodes)
    return word_names(WordGraph(every, (Scale(0, 0.0),) * len(every), ()))[-1]


def table(values: object, source: int = 1, read: int = 6) -> Lookup:
    high = np.asarray(values)
    entries = np.rint((high - high.min()) / (high.max() - high.min()) * 255).astype(int)
    return Lookup(source, read, tuple(map(int, entries)), 8)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.cos(PHASE), "cos(q2)"),
        (-np.sin(PHASE), "-sin(q2)"),
        (np.sin(2 * PHASE), "sin(2q2)"),
        (np.cos(PHASE) + 0.5 * np.sin(2 * PHASE), "cos(q2)+0.5sin(2q2)"),
        (np.sign(PHASE), "f(q2)"),
    ],
)
def test_a_table_of_an_angle_is_named_by_its_waves(values: object, name: str) -> None:
    assert name_of(table(values)).removeprefix("-0.2").lstrip("+") == name


def test_a_square_is_a_square() -> None:
    assert name_of(table(np.linspace(-1, 1, 64) ** 2, source=2)) == "qd1²"


def test_angle_sums_count_their_angles() -> None:
    once = Angles((Turn(0, 8, 0, negative=False), Turn(1, 8, 0, negative=False)), 0, 8)
    assert name_of(once) == "q1+q2"
    assert name_of(
        once, Angles((Turn(3, 8, 0, negative=False), Turn(1, 8, 0, negative=False)), 0, 8)
    ) == ("q1+2q2")
    assert name_of(Angles((Turn(0, 8, 0, negative=False), Turn(1, 7, 2, negative=True)), 0, 8)) == (
        "q1-2q2"
    )


def test_a_product_has_its_sign_before_all() -> None:
    product = Heap((PartialProducts(2, 0, 3, 0, 0, negative=False),), 0, 8)
    assert name_of(table(-np.sin(PHASE)), product) == "-qd1·sin(q2)"


def test_a_constants_digits_are_one_factor() -> None:
    digits = (Bits(2, 0, 3, negative=False), Bits(2, 0, 0, negative=True))
    assert name_of(Heap((*digits, Bits(0, 0, 2, negative=True)), 0, 12)) == "qd1-q1"


def test_the_second_table_of_a_pair_is_the_fine_part() -> None:
    rough = np.random.default_rng(1).uniform(size=256)
    assert name_of(table(np.cos(PHASE)), table(rough, read=8)) == "cos(q2), fine"


def test_a_long_meaning_falls_back_to_the_words_number() -> None:
    waves = table(np.cos(PHASE) + 0.5 * np.sin(2 * PHASE) + 0.3 * np.cos(3 * PHASE))
    found = name_of(waves)
    assert found == "w3"
    assert len(found) <= LONGEST


def test_a_multiple_of_a_word_is_not_called_that_word() -> None:
    unnamed = table(np.cos(PHASE) + 0.5 * np.sin(2 * PHASE) + 0.3 * np.cos(3 * PHASE))
    assert name_of(unnamed, Heap((Bits(3, 1, 0, negative=False),), 0, 9)) == "w3, scaled"
    assert name_of(Heap((Bits(2, 0, 1, negative=False),), 0, 9)) == "qd1, scaled"
    assert name_of(Heap((Bits(1, 0, 1, negative=False),), 0, 9, wraps=True)) == "q2, in turns"


def test_words_over_parts_of_a_turn_are_counted_whole() -> None:
    half, quarter = Interval(0.0, np.pi), Interval(np.pi / 4, 3 * np.pi / 4)
    both = Angles((Turn(0, 8, 0, negative=False), Turn(1, 7, 2, negative=True)), 0, 9)
    every = (*ANGLES, both)
    graph = WordGraph(every, (Scale(0, 0.0),) * 4, ())
    assert word_names(graph, {"q1": half, "q2": quarter})[-1] == "q1-4q2"


def test_a_table_over_an_arc_is_named_by_the_fewest_waves() -> None:
    arc = Interval(np.pi / 4, 3 * np.pi / 4)
    angle = arc.low + (np.arange(64) + 0.5) / 64 * arc.width
    for values, name in ((np.sin(angle), "sin(q2)"), (-np.cos(2 * angle), "-cos(2q2)")):
        entries = tuple(int(k) for k in np.rint((values + 1) * 1000))
        graph = WordGraph(
            (*ANGLES, Lookup(1, 6, entries, 11)), (Scale(0, 0.0),) * 3 + (Scale(0, 23.5),), ()
        )
        assert word_names(graph, {"q2": arc})[-1] == name


def test_the_square_of_a_word_beside_zero_says_where_it_lies() -> None:
    entries = tuple(int(k) for k in np.rint(np.linspace(-1, 1, 64) ** 2 * 200))
    graph = WordGraph((*ANGLES, Lookup(2, 6, entries, 8)), (Scale(0, 0.0),) * 4, ())
    assert word_names(graph, {"qd1": Interval(-0.5, 1.0)})[-1] == "(qd1-0.25)²"
    assert word_names(graph, {"qd1": Interval(-1.0, 1.0)})[-1] == "qd1²"


def test_numbers_in_names_have_no_powers_of_ten() -> None:
    entries = tuple(int(k) for k in np.rint(100 * np.cos(PHASE)) + 127)
    scales = (*(Scale(0, 0.0),) * 3, Scale(0, 1540.5))
    graph = WordGraph((*ANGLES, Lookup(1, 6, entries, 8)), scales, ())
    assert word_names(graph)[-1] in ("20+cos(q2)", "15+cos(q2)")
