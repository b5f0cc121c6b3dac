"""Sums of words and of angles, against enumeration: what each word stands for, bit by bit."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.compact.network import TimedBuilder, adder_nodes, reduce_columns
from boolcomp.compact.realisation import angle_node, angle_shape, realise, sum_shape
from boolcomp.compact.sketch import (
    AngleSum,
    Linear,
    Product,
    Role,
    Sketch,
    SketchNode,
    SourceWord,
    Widths,
    WordSum,
)
from boolcomp.compact.tables import SampleStatistics
from boolcomp.logic.simulation import Planes
from boolcomp.words import graph as g
from boolcomp.words.graph import Grid, HeapRow, InputWord, WordGraph
from boolcomp.words.simulation import node_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.compact.sketch import Widths


def graph_of(
    nodes: Sequence[SketchNode],
    widths: Widths,
    means: Mapping[int, tuple[float, ...]] | None = None,
    bias: float = 0.0,
    largest: float = 20.0,
) -> WordGraph:
    """Return the graph of a sketch whose last node is the output."""
    known = [(means or {}).get(k, ()) for k in range(len(nodes))]
    statistics = SampleStatistics((largest,) * len(nodes), tuple(known))
    sketch = Sketch(tuple(nodes), (len(nodes) - 1,))
    return realise(sketch, widths, statistics, [4], [bias])


def values_of(graph: WordGraph, place: int) -> tuple[list[tuple[int, ...]], list[Fraction]]:
    """Return all indices of the inputs, and exactly what a word then stands for."""
    grid = list(itertools.product(*(range(1 << node.bits) for node in graph.inputs)))
    words: list[np.ndarray] = []
    for k, node in enumerate(graph.nodes[: place + 1]):
        column = [row[k] for row in grid] if isinstance(node, InputWord) else []
        words.append(np.array(column, np.int64) if column else node_word(graph, k, words)[0])
    scale, bits = graph.scales[place], graph.nodes[place].bits
    unit, middle = Fraction(2) ** scale.lsb, Fraction((1 << bits) - 1, 2)
    shown = np.broadcast_to(words[place], len(grid)).tolist()
    return grid, [(k - middle) * unit + Fraction(scale.offset) for k in shown]


def x_of(index: int, bits: int) -> Fraction:
    """Return what an index of a linear input stands for, in cells from the middle."""
    return Fraction(2 * index + 1 - (1 << bits), 2)


@pytest.mark.parametrize("constant", [0.0, 0.3, -1.75, 2.5])
@pytest.mark.parametrize("bias", [0.0, 0.1, -0.4])
@pytest.mark.parametrize("factors", [(1.0,), (-0.75,), (1.0, 2.0), (1.0, -1.0), (3.0, 0.5)])
def test_the_word_of_a_sum_stands_for_the_sum(
    factors: tuple[float, ...], bias: float, constant: float
) -> None:
    sources = [SourceWord(f"x{k}", 3, angle=False) for k in range(len(factors))]
    addends = tuple(Linear(k, f) for k, f in enumerate(factors))
    nodes: list[SketchNode] = [*sources, WordSum(addends, constant)]
    place = len(factors)
    graph = graph_of(nodes, {Role.CUT.of(place): -3}, bias=bias)
    offset = graph.scales[place].offset
    assert abs(offset) <= 2.0**-4  # the constant is rounded to the nearest, not down
    grid, values = values_of(graph, place)
    for row, value in zip(grid, values, strict=True):
        exact = Fraction(constant) + Fraction(bias)
        exact += sum(
            (Fraction(f) * x_of(k, 3) for f, k in zip(factors, row, strict=True)), exact * 0
        )
        assert abs(value - exact) < Fraction(1, 10**9)


def test_a_dropped_addend_is_replaced_by_its_mean() -> None:
    nodes: list[SketchNode] = [
        SourceWord("x", 3, angle=False),
        SourceWord("y", 3, angle=False),
        WordSum((Linear(0, 1.0), Linear(1, 4.0)), 0.0),
    ]
    widths = {Role.CUT.of(2): -2, Role.KEEP.of(2, 1): 0}
    graph = graph_of(nodes, widths, {2: (0.0, 2.625)})
    assert [node.name for node in graph.inputs] == ["x"]
    grid, values = values_of(graph, 1)
    for (k,), value in zip(grid, values, strict=True):
        assert value == x_of(k, 3) + Fraction(21, 8)


@pytest.mark.parametrize("factor", [1.0, -0.5])
@pytest.mark.parametrize("drops", [(0, 0), (1, 0), (0, 2), (5, 5)])
def test_a_product_of_truncated_words_is_exact(drops: tuple[int, int], factor: float) -> None:
    nodes: list[SketchNode] = [
        SourceWord("x", 3, angle=False),
        SourceWord("y", 4, angle=False),
        WordSum((Product(0, 1, factor),), 0.25),
        WordSum((Linear(2, 1.0),), 0.0),
    ]
    widths = {Role.CUT.of(2): -4, Role.CUT.of(3): 0}
    widths |= {Role.DROP_A.of(2, 0): drops[0], Role.DROP_B.of(2, 0): drops[1]}
    graph = graph_of(nodes, widths, largest=60.0)
    grid, values = values_of(graph, 2)
    for (i, j), value in zip(grid, values, strict=True):
        a, b = min(drops[0], 2), min(drops[1], 3)
        x, y = x_of(i >> a, 3 - a) * 2**a, x_of(j >> b, 4 - b) * 2**b
        assert value == Fraction(factor) * x * y + Fraction(1, 4)


def angles(
    bits: tuple[int, ...],
    *sums: tuple[tuple[int, int], ...],
    exact: bool,
    parts: tuple[int, ...] = (0, 0, 0),
) -> Sketch:
    sources = tuple(
        SourceWord(f"q{k}", size, angle=True, part=part)
        for k, (size, part) in enumerate(zip(bits, parts, strict=False))
    )
    made = (AngleSum(items, exact) for items in sums)
    nodes: tuple[SketchNode, ...] = (*sources, *made, WordSum((), 0.0))
    return Sketch(nodes, (len(nodes) - 1,))


def errors_of(sketch: Sketch, widths: Widths) -> dict[int, np.ndarray]:
    """Return, for every angle sum, what its word says less the sum of its parts, in turns.

    All states of the inputs are tried, and the words come from the graph's own simulation.
    """
    sources = [node for node in sketch.nodes if isinstance(node, SourceWord)]
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


def test_sums_of_exact_sums_are_exact_too() -> None:
    sketch = angles((4, 4, 4), ((0, 1), (1, 1)), ((3, 1), (2, 1)), ((3, -1), (2, 2)), exact=True)
    widths = {Role.ANGLE_BITS.of(k): 16 for k in (3, 4, 5)}
    errors = errors_of(sketch, widths)
    assert max(np.abs(e).max() for e in errors.values()) < 1e-12
    # Three half steps are no whole step: the second sum is a plain word of four bits.
    assert [angle_shape(sketch, widths, k).bits for k in (3, 4)] == [5, 4]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n", [3, 4])
def test_a_truncated_sum_of_angles_has_no_mean_error(n: int, *, exact: bool) -> None:
    sketch = angles((6, 6), ((0, 1), (1, -1)), exact=exact)
    error = errors_of(sketch, {Role.ANGLE_BITS.of(2): n})[2]
    assert abs(error.mean()) < 1e-12
    # A plain sum reads its second part half as finely: that is what it loses.
    assert (np.abs(error).max() < 2.0**-n) == exact
    assert np.abs(error).max() < 1.5 * 2.0**-n


@pytest.mark.parametrize("bits", [(1, 4), (3, 1), (4, 3), (5, 5)])
@pytest.mark.parametrize("parts", [(0, 0), (1, 0), (0, 2), (2, 3)])
@pytest.mark.parametrize("multiples", [(1, 1), (1, -1), (-1, 2), (2, -1)])
def test_an_exact_sum_of_angles_is_the_sum(
    bits: tuple[int, int], parts: tuple[int, int], multiples: tuple[int, int]
) -> None:
    sketch = angles(bits, tuple(enumerate(multiples)), exact=True, parts=parts)
    assert np.abs(errors_of(sketch, {Role.ANGLE_BITS.of(2): 16})[2]).max() < 1e-12


@pytest.mark.parametrize(("counts", "more", "dropped"), [
    *((counts, 3, 0) for counts in ((1, 1), (2, 0, 1), (3, 3), (4, 1, 2), (0, 5, 1))),
    ((3, 2, 4), 0, 0), ((3, 2, 4, 1), 0, 1), ((3, 2, 4), 0, 2), ((3, 1, 2), 0, 2),
])  # fmt: skip
def test_a_heap_adds_its_bits_in_as_many_nodes_as_predicted(
    counts: tuple[int, ...], more: int, dropped: int
) -> None:
    bits, builder = len(counts) + more, TimedBuilder(sum(counts))
    places = iter(range(sum(counts)))
    columns = {c: [builder.input(next(places)) for _ in range(n)] for c, n in enumerate(counts)}
    network = builder.build(reduce_columns(builder, columns, bits)[dropped:])
    weights = [c for c, n in enumerate(counts) for _ in range(n)]
    for word in itertools.product((0, 1), repeat=len(weights)):
        outputs = network.fold(Planes(1), word)
        total = sum(bit << weight for bit, weight in zip(word, weights, strict=True))
        assert sum(bit << k for k, bit in enumerate(outputs)) == total % (1 << bits) >> dropped
    assert len(network.nodes) == adder_nodes([*counts, *[0] * more], dropped)


@pytest.mark.parametrize("part", [
    HeapRow(3, 0, 2), HeapRow(2, 1, 4), HeapRow(0, 2, 3), Grid(-2, 1, 2, 0, 3),
    Grid(-3, 1, 3, 0, 2), Grid(-1, 1, 1, 0, 4), Grid(1, 1, 3, 0, 3),
])  # fmt: skip
def test_discarded_bits_have_the_variance_and_the_largest_of_all_their_values(
    part: HeapRow | Grid,
) -> None:
    signs = (-1, 1)
    if isinstance(part, HeapRow):
        low = part.column - part.drop
        every = itertools.product(signs, repeat=part.drop)
        totals = [sum(x * 2.0 ** (low + i) / 2 for i, x in enumerate(row)) for row in every]
    else:
        places = list(itertools.product(range(part.a), range(part.b)))
        below = [(i, j, part.column + i + j) for i, j in places if part.column + i + j < 0]
        words = (list(itertools.product(signs, repeat=n)) for n in (part.a, part.b))
        totals = [
            sum(a[i] * b[j] * 2.0**c / 2 for i, j, c in below) for a, b in itertools.product(*words)
        ]
    assert part.lost == pytest.approx(float(np.var(totals)))
    assert part.most_lost == max(totals)
