"""Decision diagrams: what they make is their table, they are reduced, sifting makes them small."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.logic import Forest, Levels, diagram_of


def walked(diagram: Any, row: int) -> int:
    """Return the word of a row, a test after the other, as anybody would."""
    at = 0 if diagram.tests else -1
    while at >= 0:
        test = diagram.tests[at]
        at = test.one if row >> (diagram.inputs - 1 - test.input) & 1 else test.zero
    return int(diagram.leaves[-1 - at])


tables = st.integers(0, 5).flatmap(
    lambda n: st.lists(st.integers(0, 3), min_size=1 << n, max_size=1 << n)
)


@given(tables)
def test_a_walk_ends_at_the_word_of_its_row(words: list[int]) -> None:
    inputs = (len(words) - 1).bit_length()
    diagram = diagram_of(np.array(words), inputs)
    assert [walked(diagram, row) for row in range(len(words))] == words
    assert diagram.words().tolist() == words


@given(tables)
def test_no_test_is_there_twice_or_decides_nothing(words: list[int]) -> None:
    diagram = diagram_of(np.array(words), (len(words) - 1).bit_length())
    assert len(set(diagram.tests)) == len(diagram.tests)
    assert all(test.zero != test.one for test in diagram.tests)
    assert sorted(set(words)) == list(diagram.leaves)
    place = {one: k for k, one in enumerate(diagram.order)}
    for at, test in enumerate(diagram.tests):
        for after in (test.zero, test.one):
            assert after < 0 or after > at
            assert after < 0 or place[diagram.tests[after].input] > place[test.input]


def test_sifting_finds_the_pairs_of_an_order_that_is_bad_by_far() -> None:
    # x0 x4 + x1 x5 + x2 x6 + x3 x7: 2 tests a product where pairs stand together, else 30.
    rows = np.arange(256)
    bit = [rows >> (7 - k) & 1 for k in range(8)]
    words = np.bitwise_or.reduce([bit[k] & bit[k + 4] for k in range(4)])
    assert Levels(words, 8, range(8)).size == 30
    assert len(diagram_of(words, 8).tests) == 8


def test_a_diagram_that_is_not_its_table_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = diagram_of(np.array([4, 3]), 1)
    monkeypatch.setattr("boolcomp.logic.diagrams.reduced", lambda _: wrong)
    with pytest.raises(AssertionError, match="differs from its table"):
        diagram_of(np.array([3, 4]), 1)


@given(tables, tables)
def test_what_diagrams_share_is_in_a_forest_once(one: list[int], two: list[int]) -> None:
    forest = Forest()
    roots, made = [], []
    for words in (one, two, one):
        diagram = diagram_of(np.array(words), (len(words) - 1).bit_length())
        roots.append(forest.add(diagram, [9 - k for k in range(diagram.inputs)]))
        made.append(diagram)
    assert roots[0] == roots[2]
    assert len(set(forest.nodes)) == len(forest.nodes)
    assert sorted(forest.leaves) == sorted({*one, *two})
    for root, diagram, words in zip(roots, made, (one, two, one), strict=True):
        for row, word in enumerate(words):
            at = root
            while at >= 0:
                node = forest.nodes[at]
                assert max(node.zero, node.one) < at
                at = node.one if row >> (diagram.inputs - 1 - (9 - node.input)) & 1 else node.zero
            assert forest.leaves[~at] == word
