"""Sums of words and of angles, against enumeration: what each word stands for, bit by bit."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case

import boolcomp as bc
from boolcomp.compact.network import (
    TimedBuilder,
    adder_nodes,
    mean_adder_nodes,
    reduce_columns,
    word_logic,
)
from boolcomp.compact.realisation import angle_node, angle_shape, realise, sum_shape
from boolcomp.compact.result import table_network
from boolcomp.compact.sketch import (
    AngleSum,
    Linear,
    Powers,
    Product,
    Role,
    Sketch,
    SketchNode,
    SourceWord,
    Waves,
    Widths,
    WordSum,
)
from boolcomp.compact.tables import Format, SampleStatistics, heap_bits, linear_rows, product_grid
from boolcomp.logic.simulation import Planes
from boolcomp.words import graph as g
from boolcomp.words.graph import (
    Grid,
    Heap,
    HeapRow,
    InputWord,
    Lookup,
    PartialProducts,
    WordGraph,
)
from boolcomp.words.simulation import Resimulation, node_word, simulate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.compact.sketch import Widths
    from boolcomp.logic.network import Network


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


def test_a_word_has_bits_for_its_samples_a_margin_and_some_steps() -> None:
    # Reaches: 7.14 + 3 = 10.14 (slack matters); 12.9·1.02 + 3 = 16.158 (the margin matters).
    assert heap_bits(7.0, 0, output=False) == heap_bits(7.0, 0, output=True) == 5
    assert heap_bits(12.9, 0, output=False) == 6
    # With steps of a quarter the slack of an output is still three whole steps.
    assert (heap_bits(7.0, -2, output=False), heap_bits(7.0, -2, output=True)) == (6, 7)


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


@pytest.mark.parametrize("shift", [0, 1, -2])
def test_a_shifted_constant_moves_a_word_and_its_offset(shift: int) -> None:
    nodes: list[SketchNode] = [SourceWord("x", 3, angle=False), WordSum((Linear(0, 1.0),), 0.0)]
    plain, moved = (graph_of(nodes, {Role.CUT.of(1): -2, Role.SHIFT.of(1): k}) for k in (0, shift))
    heaps = [graph.nodes[1] for graph in (plain, moved)]
    assert isinstance(heaps[0], Heap)
    assert isinstance(heaps[1], Heap)
    assert heaps[1].constant - heaps[0].constant == shift
    assert values_of(moved, 1) == values_of(plain, 1)


@pytest.mark.parametrize("cut", [-1, 0, 1, 2])
def test_discarding_low_bits_keeps_the_mean_of_a_sum(cut: int) -> None:
    nodes: list[SketchNode] = [
        SourceWord("x", 4, angle=False),
        SourceWord("y", 3, angle=False),
        WordSum((Linear(0, 1.25), Linear(1, -1.0)), 0.0),
        WordSum((Linear(2, 1.0),), 0.0),
    ]
    graph = graph_of(nodes, {Role.CUT.of(2): cut, Role.CUT.of(3): -2})
    _, values = values_of(graph, 2)
    assert float(sum(values)) == pytest.approx(0.0, abs=1e-9)


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


def two_words(reader: SketchNode) -> WordGraph:
    """Return the graph of x + y on whole steps, and of what reads it."""
    sources = [SourceWord(name, 3, angle=False) for name in ("x", "y")]
    total = WordSum((Linear(0, 1.0), Linear(1, 1.0)), 0.0)
    nodes: list[SketchNode] = [*sources, total, reader]
    widths = {Role.CUT.of(2): 0, Role.CUT.of(3): 0, Role.READ.of(3): 4, Role.EXPONENT.of(3): 0}
    if not isinstance(reader, WordSum):
        nodes.append(WordSum((Linear(3, 1.0),), 0.0))
        widths[Role.CUT.of(4)] = 0
    return graph_of(nodes, widths)


@pytest.mark.parametrize(
    "reader", [Powers(2, (0.0, 0.0, 1.0)), WordSum((Product(0, 2, 1.0),), 0.0)]
)
def test_a_word_that_is_an_operand_is_centred_at_the_cost_of_a_bit(reader: SketchNode) -> None:
    graph = two_words(reader)
    heap = graph.nodes[2]
    assert isinstance(heap, Heap)
    assert graph.scales[2].offset == 0.0
    assert [part.layout(graph.nodes) for part in heap.parts] == [HeapRow(0, 0, 3), HeapRow(1, 1, 2)]
    _, values = values_of(graph, 2)
    assert sum(values) == 0


def test_a_word_that_is_only_added_keeps_all_its_bits() -> None:
    graph = two_words(WordSum((Linear(2, 1.0),), 0.0))
    heap = graph.nodes[2]
    assert isinstance(heap, Heap)
    assert [part.layout(graph.nodes) for part in heap.parts] == [HeapRow(0, 0, 3), HeapRow(0, 0, 3)]
    assert abs(graph.scales[2].offset) == 0.5


@pytest.mark.parametrize(("read_by_product", "offset"), [(False, 2.0), (True, 0.0)])
def test_a_table_has_an_offset_unless_a_product_reads_it(
    offset: float, *, read_by_product: bool
) -> None:
    reader: Linear | Product = Product(2, 1, 1.0) if read_by_product else Linear(1, 1.0)
    nodes: list[SketchNode] = [
        SourceWord("q", 4, angle=True),
        Waves(0, ((0, 2.0, 0.0), (1, 1.0, 0.0))),
        SourceWord("x", 2, angle=False),
        WordSum((reader,), 0.0),
    ]
    widths = {Role.READ.of(1): 4, Role.EXPONENT.of(1): -3, Role.CUT.of(3): -2}
    graph = graph_of(nodes, widths)
    place = next(k for k, node in enumerate(graph.nodes) if isinstance(node, Lookup))
    assert graph.scales[place].offset == pytest.approx(offset, abs=1e-9)


def test_partial_products_below_the_cut_are_left_out() -> None:
    sources = [SourceWord(name, 2, angle=False) for name in ("x", "y")]
    # Of 2 by 2 digits the highest product stands two columns above the lowest, at 2^-1 ... 2^1.
    for cut, kept in ((0, 2), (1, 1), (2, 0)):
        nodes: list[SketchNode] = [*sources, WordSum((Product(0, 1, 1.0),), 0.0)]
        graph = graph_of([*nodes, WordSum((Linear(2, 1.0),), 0.0)],
                         {Role.CUT.of(2): cut, Role.CUT.of(3): 0})  # fmt: skip
        heap = graph.nodes[2]
        assert isinstance(heap, Heap)
        columns = [part.layout(graph.nodes).top for part in heap.parts
                   if isinstance(part, PartialProducts)]  # fmt: skip
        assert columns == ([kept - 1] if kept else [])


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


def test_rows_know_the_variance_of_the_bits_that_they_discard() -> None:
    widths = {Role.CUT.of(9): 1, Role.DIGITS.of(9, 0): 2}
    rows = [row for _, _, row in linear_rows(widths, 9, 0, Linear(0, 0.75), [Format(0, 5)])]
    assert rows == [HeapRow(1, 0, 4), HeapRow(3, 0, 2)]  # 1 - ¼, of which column 0 is worth 2
    for row in rows:
        below = np.arange(1 << row.drop) - (2**row.drop - 1) / 2
        assert row.lost == (below**2).mean() / 4**row.drop
        assert row.weight == sum(1 << row.column + k for k in range(row.bits))


@pytest.mark.parametrize(
    ("bits", "column"), [((2, 3), -2), ((3, 2), -3), ((1, 4), -1), ((3, 3), 1)]
)
def test_a_grid_knows_the_variance_of_the_products_that_it_discards(
    bits: tuple[int, int], column: int
) -> None:
    grid = Grid(column, 1, bits[0], 0, bits[1])
    kept = {(i, row.drop + k): row.column + k for i, row in grid.rows() for k in range(row.bits)}
    every = {(1 + i, j): column + i + j for i in range(bits[0]) for j in range(bits[1])}
    assert kept == {pair: c for pair, c in every.items() if c >= 0}
    assert all(row.bits > 0 for _, row in grid.rows())
    assert grid.weight == sum(1 << c for c in kept.values())
    assert grid.top == max(every.values())
    counted = {c: n for c, n in grid.diagonals() if n}
    assert counted == {c: list(every.values()).count(c) for c in set(every.values())}
    turned = [(i, row.drop + k) for i, row in grid.swapped.rows() for k in range(row.bits)]
    assert sorted((i, j) for j, i in turned) == sorted(kept)
    totals = [
        sum(a[i - 1] * b[j] * 2.0**c / 2 for (i, j), c in every.items() if c < 0)
        for a in itertools.product((-1, 1), repeat=bits[0])
        for b in itertools.product((-1, 1), repeat=bits[1])
    ]
    assert grid.lost == pytest.approx(float(np.var(totals)))


def test_a_product_keeps_one_digit_of_each_word() -> None:
    widths = {Role.CUT.of(3): -1, Role.DROP_A.of(3, 1): 9, Role.DROP_B.of(3, 1): 1}
    grid = product_grid(widths, 3, 1, Product(0, 1, -0.25), Format(2, 4), Format(-1, 3))
    # ¼ · 2^(2+3) · 2^(-1+1), halved as products of digits are, in units of 2^-1.
    assert grid == Grid(3, 3, 1, 1, 2)


@pytest.mark.parametrize("read", [5, 4, 3])
@pytest.mark.parametrize("wave", [(1.0, 0.0), (0.0, 1.0)])
def test_tables_of_guarded_angles_hold_the_mean_of_each_cell(
    wave: tuple[float, float], read: int
) -> None:
    nodes: list[SketchNode] = [
        SourceWord("q1", 4, angle=True),
        SourceWord("q2", 4, angle=True),
        AngleSum(((0, 1), (1, 1)), exact=True),
        Waves(2, ((1, *wave),)),
        WordSum((Linear(3, 1.0),), 0.0),
    ]
    widths = {Role.ANGLE_BITS.of(2): 16, Role.READ.of(3): read, Role.EXPONENT.of(3): -9}
    graph = graph_of(nodes, {**widths, Role.CUT.of(4): -9})
    grid, values = values_of(graph, 3)
    shown: dict[float, list[float]] = {}
    for row, value in zip(grid, values, strict=True):
        angle = sum(2 * math.pi * ((k + 0.5) / 16 - 0.5) for k in row)
        exact = wave[0] * math.cos(angle) - wave[1] * math.sin(angle)
        shown.setdefault(float(value), []).append(exact)
    # Angles of one cell lie within it: their mean is the cell's middle but for curvature.
    cell = 2 * math.pi / 2**read
    for value_of_cells, exacts in shown.items():
        assert abs(value_of_cells - np.mean(exacts)) <= 2.0**-9 + (cell**2 / 8 if read < 5 else 0)


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


@pytest.mark.parametrize("counts", [(1, 1), (2, 0, 1), (3, 3), (4, 1, 2), (0, 5, 1)])
def test_a_heap_adds_its_bits_in_as_many_nodes_as_predicted(counts: tuple[int, ...]) -> None:
    bits = len(counts) + 3
    builder = TimedBuilder(sum(counts))
    places = iter(range(sum(counts)))
    columns = {c: [builder.input(next(places)) for _ in range(n)] for c, n in enumerate(counts)}
    network = builder.build(reduce_columns(builder, columns, bits))
    weights = [c for c, n in enumerate(counts) for _ in range(n)]
    for word in itertools.product((0, 1), repeat=len(weights)):
        outputs = network.fold(Planes(1), word)
        total = sum(bit << weight for bit, weight in zip(word, weights, strict=True))
        assert sum(bit << k for k, bit in enumerate(outputs)) == total % (1 << bits)
    assert len(network.nodes) == adder_nodes([*counts, 0, 0, 0])


def test_a_heap_of_equal_bits_has_logarithmic_depth() -> None:
    builder = TimedBuilder(27)
    columns = {0: [builder.input(k) for k in range(27)]}
    network = builder.build(reduce_columns(builder, columns, 1))
    assert len(network.nodes) == 13
    assert network.depth <= int(np.ceil(np.log(27) / np.log(3))) + 1


@pytest.mark.parametrize(("bits", "dropped"), [(3, 0), (4, 1), (6, 2), (6, 0), (5, 4)])
def test_unused_carries_and_sums_are_not_counted(bits: int, dropped: int) -> None:
    counts = (3, 2, 4, 1, 2, 1)[:bits]
    builder = TimedBuilder(sum(counts))
    places = iter(range(sum(counts)))
    columns = {c: [builder.input(next(places)) for _ in range(n)] for c, n in enumerate(counts)}
    network = builder.build(reduce_columns(builder, columns, bits)[dropped:])
    assert len(network.nodes) == adder_nodes(counts, dropped)


def test_a_heap_of_unknown_constant_costs_the_mean_of_ones_in_every_second_column() -> None:
    counts = [3, 1, 4, 0, 2]
    even = adder_nodes([n + (k % 2 == 0) for k, n in enumerate(counts)])
    odd = adder_nodes([n + k % 2 for k, n in enumerate(counts)])
    assert mean_adder_nodes(counts, 0) == (even + odd) / 2
    assert even != odd


def test_a_graph_with_one_other_table_or_constant_is_simulated_again_as_if_it_were_new() -> None:
    arm = case("machado-2r")
    words, graph = arm.states(200, seed=5).words, arm.graph(0.4)
    again, before = Resimulation(words), simulate(graph, words).words
    moved = 0
    for place, node in enumerate(graph.nodes):
        other: Lookup | Heap
        if isinstance(node, Lookup):
            other = replace(node, entries=node.entries[::-1])
        elif isinstance(node, Heap):
            other = replace(node, constant=node.constant ^ 5)
        else:
            continue
        nodes = (*graph.nodes[:place], other, *graph.nodes[place + 1 :])
        for one in (graph, replace(graph, nodes=nodes)):
            found, expected = again.simulate(one), simulate(one, words)
            assert np.array_equal(found.words, expected.words)
            assert (found.wrapped, found.saturated) == (expected.wrapped, expected.saturated)
        moved += not np.array_equal(found.words, before)
    assert moved > 5


SHIFTED = """w0[3] = input q unit 2^0
w1[3] = table w0:3 {} unit 2^0
w2[5] = heap + w0>>0 << 0 + w1>>0 << 1 + 0 unit 2^0
tau1[5] = w2 >> 0
"""


def test_a_word_is_calculated_again_where_one_of_its_two_words_has_changed() -> None:
    words = {"q": np.arange(8)}
    again = Resimulation(words)

    for entries in ("0 1 2 3 4 5 6 7", "7 6 5 4 3 2 1 0"):
        found = again.simulate(g.parse_graph(SHIFTED.format(entries)))
        table = np.array(entries.split(), dtype=int)
        assert found.words[:, 0].tolist() == (words["q"] + 2 * table).tolist()


def functions_of(network: Network) -> set[int]:
    """Return the values of all nodes at random input words, up to inversion."""
    noise, ones = random.Random(7), (1 << 1024) - 1  # noqa: S311 (reproducible)
    planes = [0, ones, *(noise.getrandbits(1024) for _ in range(network.inputs))]
    for node in network.nodes:
        planes.append(Planes(ones).node(node.lut, tuple(planes[k] for k in node.operands)))
    return {min(one, one ^ ones) for one in planes}


def test_adders_in_the_order_of_a_network_share_its_functions() -> None:
    graph = bc.compile("machado-2r", bits=8).graph
    assert graph is not None
    network = table_network(graph).network  # its tables have other depths than decision diagrams
    known = functions_of(network)
    others = [
        len(functions_of(made) - known)
        for made in (word_logic(graph), word_logic(graph, like=network))
    ]
    assert others[1] < others[0] / 3
