"""Sums of angles: their words stand for what they are said to, whatever the parts' widths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from boolcomp.compact.graph.angles import angle_node, angle_shape, sum_shape
from boolcomp.compact.sketch.sketch import AngleSum, Sketch, SketchNode, Source, WordSum
from boolcomp.compact.sketch.variables import Role, Widths
from boolcomp.words import graph as g
from boolcomp.words.simulate import node_word


def _sketch(
    bits: tuple[int, ...],
    *sums: tuple[tuple[int, int], ...],
    exact: bool,
    parts: tuple[int, ...] = (0, 0, 0),
) -> Sketch:
    sources = tuple(
        Source(f"q{k}", size, angle=True, part=part)
        for k, (size, part) in enumerate(zip(bits, parts, strict=False))
    )
    made = (AngleSum(items, exact) for items in sums)
    nodes: tuple[SketchNode, ...] = (*sources, *made, WordSum((), 0.0))
    return Sketch(nodes, (len(nodes) - 1,))


def _errors(sketch: Sketch, widths: Widths) -> dict[int, np.ndarray]:
    """Return, for every angle sum, what its word says less the sum of its parts, in turns.

    All states of the inputs are tried, and the words come from the graph's own simulation.
    """
    sources = [node for node in sketch.nodes if isinstance(node, Source)]
    grid = np.array(list(itertools.product(*(range(1 << s.bits) for s in sources))), dtype=np.int64)
    words = [grid[:, k] for k in range(len(sources))]
    # The leading bits of a turn that a word over part of one has not are 0.
    angles = [(w + 0.5) / (1 << s.bits + s.part) - 0.5 for w, s in zip(words, sources, strict=True)]
    nodes: list[g.Node] = [g.InputWord(s.name, s.bits, angle=True) for s in sources]
    scales = [g.Scale(0, 0.0) for _ in sources]
    found = {}
    for place, node in enumerate(sketch.nodes):
        if not isinstance(node, AngleSum):
            continue
        shape = sum_shape(sketch, widths, place)
        made, offset = angle_node(node, shape, {k: k for k in range(place)})
        nodes.append(made)
        scales.append(g.Scale(-made.bits, offset))
        words.append(node_word(g.WordGraph(tuple(nodes), tuple(scales), ()), place, words)[0])
        angles.append(np.asarray(sum(m * angles[item] for item, m in node.items)))
        said = (words[-1] + 0.5) / (1 << made.bits) - 0.5 + offset
        found[place] = (said - angles[-1] + 0.5) % 1.0 - 0.5
    return found


@pytest.mark.parametrize("bits", [(5, 5), (4, 6), (6, 4), (5, 4)])
@pytest.mark.parametrize("multiples", [(1, 1), (1, -1), (1, 2), (2, -1), (-1, 1)])
def test_an_exact_sum_is_the_sum(bits: tuple[int, int], multiples: tuple[int, int]) -> None:
    sketch = _sketch(bits, tuple(enumerate(multiples)), exact=True)
    assert np.abs(_errors(sketch, {Role.ANGLE_BITS.of(2): 16})[2]).max() < 1e-12


def test_sums_of_exact_sums_are_exact_too() -> None:
    sketch = _sketch((4, 4, 4), ((0, 1), (1, 1)), ((3, 1), (2, 1)), ((3, -1), (2, 2)), exact=True)
    widths = {Role.ANGLE_BITS.of(k): 16 for k in (3, 4, 5)}
    errors = _errors(sketch, widths)
    assert max(np.abs(e).max() for e in errors.values()) < 1e-12
    # Three half steps are no whole step: the second sum is a plain word of four bits.
    assert [angle_shape(sketch, widths, k).bits for k in (3, 4)] == [5, 4]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n", [3, 4])
def test_a_sum_of_fewer_bits_is_right_in_the_mean(n: int, *, exact: bool) -> None:
    sketch = _sketch((6, 6), ((0, 1), (1, -1)), exact=exact)
    error = _errors(sketch, {Role.ANGLE_BITS.of(2): n})[2]
    assert abs(error.mean()) < 1e-12
    # A plain sum reads its second part half as finely: that is what it loses.
    assert (np.abs(error).max() < 2.0**-n) == exact
    assert np.abs(error).max() < 1.5 * 2.0**-n


def test_sums_of_coarse_sums_are_right_in_the_mean() -> None:
    sketch = _sketch((5, 5, 5), ((0, 1), (1, 1)), ((3, 1), (2, -1)), exact=True)
    error = _errors(sketch, {Role.ANGLE_BITS.of(3): 16, Role.ANGLE_BITS.of(4): 3})[4]
    assert abs(error.mean()) < 1e-12


def test_a_guard_bit_is_always_zero_and_a_plain_sum_has_none() -> None:
    for exact, guarded in ((True, True), (False, False)):
        sketch = _sketch((8, 8), ((0, 1), (1, 1)), exact=exact)
        shape = sum_shape(sketch, {Role.ANGLE_BITS.of(2): 16}, 2)
        assert shape.word.guarded == guarded
        node = sketch.nodes[2]
        assert isinstance(node, AngleSum)
        made, _ = angle_node(node, shape, {0: 0, 1: 1})
        lowest = made.constant + sum(turn.shift == 0 for turn in made.turns)
        assert (made.bits, lowest % 2 == 0) == ((9, True) if guarded else (8, True))
        assert [turn.read for turn in made.turns] == ([8, 8] if exact else [8, 7])


@pytest.mark.parametrize("bits", [(1, 1), (1, 4), (3, 1), (4, 3)])
@pytest.mark.parametrize("parts", [(1, 0), (0, 2), (1, 1), (2, 3)])
@pytest.mark.parametrize("multiples", [(1, 1), (1, -1), (-1, 2)])
def test_an_exact_sum_of_words_over_parts_of_a_turn_is_the_sum(
    bits: tuple[int, int], parts: tuple[int, int], multiples: tuple[int, int]
) -> None:
    sketch = _sketch(bits, tuple(enumerate(multiples)), exact=True, parts=parts)
    assert np.abs(_errors(sketch, {Role.ANGLE_BITS.of(2): 16})[2]).max() < 1e-12
