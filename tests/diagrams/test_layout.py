"""Diagrams as instructions: nothing is lost, and as few of them as there can be."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from boolcomp.logic import Forest, diagram_of, laid_out

tables = st.lists(st.lists(st.integers(0, 4), min_size=8, max_size=8), min_size=1, max_size=3)


def forest_of(words: list[list[int]]) -> tuple[Forest, list[int]]:
    forest = Forest()
    made = [diagram_of(np.array(one), 3) for one in words]
    return forest, [forest.add(one, [2, 1, 0]) for one in made]


def most_pairs(choices: list[set[int]], taken: frozenset[int] = frozenset()) -> int:
    """Return how many tests can have a node behind them, by trying everything."""
    if not choices:
        return 0
    first, *rest = choices
    without = most_pairs(rest, taken)
    return max([without, *(1 + most_pairs(rest, taken | {one}) for one in first - taken)])


@settings(deadline=None)
@given(tables)
def test_instructions_end_at_the_words_of_the_tables(words: list[list[int]]) -> None:
    instructions, entries = laid_out(*forest_of(words), 3)
    for entry, one in zip(entries, words, strict=True):
        for row, word in enumerate(one):
            at = entry
            instruction: Any = instructions[at]
            while hasattr(instruction, "target"):
                bit = 1 if instruction.bit == 3 else row >> instruction.bit & 1
                at = instruction.target if bit == instruction.when else at + 1
                instruction = instructions[at]
            assert instruction.word == word


@settings(deadline=None, max_examples=40)
@given(tables.map(lambda words: words[:1]))
def test_no_layout_has_fewer_instructions(words: list[list[int]]) -> None:
    forest, roots = forest_of(words)
    instructions, _ = laid_out(forest, roots, 3)
    pairs = most_pairs([{node.zero, node.one} for node in forest.nodes])
    least = 2 * len(forest.nodes) + len(forest.leaves) - pairs
    assert len(instructions) == least
    assert sum(hasattr(one, "word") for one in instructions) >= len(forest.leaves)
