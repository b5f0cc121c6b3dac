"""Each rounding's noise and each node's cost, beside enumeration and what is built."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.compact.graph.angles import angle_node, sum_shape
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.graph.tables import columns_of, mux_network, table_cost
from boolcomp.compact.graph.tabulate import Domain, Tabulated, tabulate
from boolcomp.compact.sketch.sketch import (
    AngleSum,
    Linear,
    Powers,
    Product,
    Sketch,
    SketchNode,
    Source,
    Waves,
    WordSum,
)
from boolcomp.compact.sketch.variables import Role
from boolcomp.compact.widths.noise import Model
from boolcomp.words import graph as g

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.variables import Widths

    Floats = NDArray[np.float64]

FINE = -40  # the exponent of a step that makes no noise to speak of


def model_of(nodes: Sequence[SketchNode]) -> Model:
    """Return the model of a sketch, sampled at a grid of its inputs: angles in whole turns."""
    sources = [node for node in nodes if isinstance(node, Source)]
    axes = []
    for source in sources:
        middles = (np.arange(64) + 0.5) / 64 - 0.5
        axes.append(middles * (2 * math.pi if source.angle else 2.0**source.bits))
    grid = [a.ravel() for a in np.meshgrid(*axes, indexing="ij")]
    values = {source.name: column for source, column in zip(sources, grid, strict=True)}
    return Model(Sketch(tuple(nodes), (len(nodes) - 1,)), values, values)


def noise_of(model: Model, widths: Widths, place: int) -> float:
    """Return the variance that a node adds to the only output."""
    return float(model.local(widths, place)[1][0])


def spread(bits: int) -> Floats:
    """Return all values of a word of so many bits, in cells from its middle."""
    return np.asarray(np.arange(1 << bits) - ((1 << bits) - 1) / 2, np.float64)


def test_a_sum_errs_by_the_bits_below_its_cut_by_its_inputs_cells_and_by_its_constant() -> None:
    model = model_of([Source("x", 8, angle=False), WordSum((Linear(0, 0.5),), 0.0)])
    # Half an index in steps of the torque: cut at -1 nothing is lost but 1/12 of a cell.
    for cut, dropped in ((-1, 0), (0, 1)):
        low = (np.arange(1 << dropped) + 0.5) / 2 - (1 << dropped) / 4
        expected = float((low**2).mean())  # bits of the word that are below the cut
        expected += 0.25 / 12  # what the input's cells do not tell
        expected += 4.0**cut / 12 + (1 - 4.0**cut) / 12  # constant and rounding to whole steps
        found = noise_of(model, {Role.CUT.of(1): cut}, 1)
        assert found == pytest.approx(expected)


def test_a_word_that_is_cut_loses_as_much_as_enumeration_says() -> None:
    nodes: list[SketchNode] = [
        Source("x", 8, angle=False),
        WordSum((Linear(0, 1.0),), 0.0),
        WordSum((Linear(1, 0.25),), 0.0),
    ]
    model = model_of(nodes)
    word = spread(8)
    for cut in (0, 1, 3):
        coarse = (np.floor((word + 128) / 2**cut) + 0.5) * 2**cut - 128
        lost = float(((word - coarse) ** 2).mean())
        found = noise_of(model, {Role.CUT.of(1): cut, Role.CUT.of(2): -2}, 1)
        assert found == pytest.approx((lost + 1 / 12 + 4.0**cut / 12) / 16)


@pytest.mark.parametrize(("cut", "drops"), [(-2, (0, 0)), (1, (0, 0)), (2, (1, 0)), (1, (0, 2))])
def test_a_product_errs_by_partial_products_below_the_cut_and_digits_that_are_not_read(
    cut: int, drops: tuple[int, int]
) -> None:
    nodes: list[SketchNode] = [
        Source("x", 4, angle=False),
        Source("y", 3, angle=False),
        WordSum((Product(0, 1, 1.0),), 0.0),
        WordSum((Linear(2, 1.0),), 0.0),
    ]
    model = model_of(nodes)
    widths = {Role.CUT.of(2): cut, Role.CUT.of(3): 0}
    widths |= {Role.DROP_A.of(2, 0): drops[0], Role.DROP_B.of(2, 0): drops[1]}
    below = []
    for a, b in itertools.product(range(1 << 4 - drops[0]), range(1 << 3 - drops[1])):
        below.append(0.0)
        for i, j in itertools.product(range(4 - drops[0]), range(3 - drops[1])):
            sign = 1 if (a >> i & 1) == (b >> j & 1) else -1
            exponent = i + drops[0] + j + drops[1] - 1  # of its column
            below[-1] += sign * 2.0**exponent / 2 * (exponent < cut)
    # Of x it reads cells 2^drop wide: what they hide counts with the mean square of y.
    grids = [((np.arange(64) + 0.5) / 64 - 0.5) * 2.0**bits for bits in (4, 3)]
    hidden = 4.0 ** drops[0] / 12 * float((grids[1] ** 2).mean())
    hidden += 4.0 ** drops[1] / 12 * float((grids[0] ** 2).mean())
    expected = float(np.mean(np.square(below))) + hidden + 4.0**cut / 12
    assert noise_of(model, widths, 2) == pytest.approx(expected)


def test_a_dropped_addend_errs_by_its_own_variance() -> None:
    nodes: list[SketchNode] = [
        Source("x", 4, angle=False),
        WordSum((Linear(0, 1.0), Linear(0, 0.5)), 0.0),
    ]
    model = model_of(nodes)
    x = ((np.arange(64) + 0.5) / 64 - 0.5) * 16
    widths = {Role.CUT.of(1): 0, Role.KEEP.of(1, 1): 0}
    expected = 1 / 12 + 1 / 12 + float((x / 2).var())  # input cells, rounding, what is dropped
    assert noise_of(model, widths, 1) == pytest.approx(expected)


def test_digits_that_a_constant_lacks_err_with_the_size_of_what_they_multiply() -> None:
    model = model_of([Source("x", 4, angle=False), WordSum((Linear(0, 0.75),), 0.0)])
    x = ((np.arange(64) + 0.5) / 64 - 0.5) * 16
    one, two = (noise_of(model, {Role.CUT.of(1): -2, Role.DIGITS.of(1, 0): n}, 1) for n in (1, 2))
    # ¾ is 1 - ¼; one digit of it is 1. The bits of 1·x all stand above the cut, ¼·x is not cut.
    assert one - two == pytest.approx(float(((x / 4) ** 2).mean()))


def test_two_words_whose_sum_lies_on_whole_steps_lose_a_bit_and_one_word_does_not() -> None:
    sources: list[SketchNode] = [Source(name, 4, angle=False) for name in ("x", "y")]
    both = model_of([*sources, WordSum((Linear(0, 1.0), Linear(1, 1.0)), 0.0)])
    alone = model_of([sources[0], WordSum((Linear(0, 1.0),), 0.0)])
    # The bit that one of them gives up is worth ±½.
    assert noise_of(both, {Role.CUT.of(2): 0}, 2) == pytest.approx(2 / 12 + 1 / 12 + 0.25)
    assert noise_of(alone, {Role.CUT.of(1): 0}, 1) == pytest.approx(1 / 12 + 1 / 12)


@pytest.mark.parametrize("exponent", [-2, -4])
@pytest.mark.parametrize("read", [5, 8])
def test_a_table_errs_by_its_cells_and_by_rounding_its_entries(exponent: int, read: int) -> None:
    wave = Waves(0, ((1, 1.0, 0.5),))
    model = model_of([Source("q", 8, angle=True), wave, WordSum((Linear(1, 1.0),), 0.0)])
    widths = {Role.READ.of(1): read, Role.EXPONENT.of(1): exponent, Role.CUT.of(2): -6}
    found = noise_of(model, widths, 1)
    # Beside the table itself at very many angles, each in the cell that it is read from.
    angles = (np.arange(1 << 16) + 0.5) / (1 << 16)
    (made,) = tabulate(wave, Domain(read, 2 * math.pi / 2**read, 0.0), exponent, centred=True)
    words = np.array(made.entries)[(angles * 2**read).astype(int)]
    said = made.offset + 2.0**exponent * (words + 0.5 - 2.0 ** (made.bits - 1))
    error = said - wave.at(2 * math.pi * (angles - 0.5))
    assert found == pytest.approx(float((error**2).mean()), rel=0.25)
    slope = (1 + 0.25) / 2  # mean square of the derivative
    cells = (2 * math.pi / 2**read) ** 2 / 12 * slope
    assert found == pytest.approx(4.0**exponent / 12 + cells, rel=1e-9)


def test_a_table_of_a_linear_input_errs_by_the_cells_that_it_reads() -> None:
    nodes: list[SketchNode] = [
        Source("x", 6, angle=False),
        Powers(0, (0.0, 0.0, 1.0)),
        WordSum((Linear(1, 1.0),), 0.0),
    ]
    model = model_of(nodes)
    x = ((np.arange(64) + 0.5) / 64 - 0.5) * 64
    for read in (6, 4):
        widths = {Role.READ.of(1): read, Role.EXPONENT.of(1): -8, Role.CUT.of(2): 0}
        cells = 4.0 ** (6 - read) / 12 * float(((2 * x) ** 2).mean())
        assert noise_of(model, widths, 1) == pytest.approx(4.0**-8 / 12 + cells)


@pytest.mark.parametrize("read", [2, 3, 4, 5])
@pytest.mark.parametrize("exact", [True, False])
def test_a_table_of_an_angle_sum_errs_by_what_the_sums_word_hides(
    read: int, *, exact: bool
) -> None:
    nodes: list[SketchNode] = [
        Source("q1", 4, angle=True),
        Source("q2", 4, angle=True),
        AngleSum(((0, 1), (1, 1)), exact),
        Waves(2, ((1, 1.0, 0.0),)),
        WordSum((Linear(3, 1.0),), 0.0),
    ]
    model = model_of(nodes)
    widths = {Role.ANGLE_BITS.of(2): 16, Role.READ.of(3): read, Role.EXPONENT.of(3): FINE}
    found = noise_of(model, {**widths, Role.CUT.of(4): 0}, 3)
    # Both angles uniform within their cells; the sum's word is known to so many leading bits.
    shape = sum_shape(model.sketch, widths, 2)
    sketched = nodes[2]
    assert isinstance(sketched, AngleSum)
    node, offset = angle_node(sketched, shape, {0: 0, 1: 1})
    rows = np.array(list(itertools.product(range(16), repeat=2)))
    read = min(read, node.bits)
    total = np.full(len(rows), node.constant)
    for turn in node.turns:
        total += (rows[:, turn.node] >> (4 - turn.read)) << turn.shift
    cells = (total % (1 << node.bits)) >> (node.bits - read)
    middles = ((rows + 0.5) / 16 - 0.5).sum(axis=1)
    hidden = []
    for cell in set(cells.tolist()):
        angles = np.exp(2j * math.pi * middles[cells == cell])
        beside = np.angle(angles / angles.mean()) / (2 * math.pi)
        hidden += (beside**2).tolist()
    variance = float(np.mean(hidden)) + 2 * (1 / 16) ** 2 / 12
    assert found == pytest.approx(variance * (2 * math.pi) ** 2 / 2, rel=0.02)
    assert abs(offset) <= 0.5 / 16


@pytest.mark.parametrize("bits", [4, 6, 9])
def test_an_angle_sum_costs_about_the_adder_that_is_built(bits: int) -> None:
    nodes: list[SketchNode] = [
        Source("q1", bits, angle=True),
        Source("q2", bits, angle=True),
        AngleSum(((0, 1), (1, 1))),
        WordSum((), 0.0),
    ]
    model, widths = model_of(nodes), {Role.ANGLE_BITS.of(2): 16, Role.CUT.of(3): 0}
    shape = sum_shape(model.sketch, widths, 2)
    sketched = nodes[2]
    assert isinstance(sketched, AngleSum)
    angle, offset = angle_node(sketched, shape, {0: 0, 1: 1})
    plain = g.Heap((g.Bits(2, 0, 0, negative=False),), 0, bits)
    inputs = tuple(g.InputWord(name, bits, angle=True) for name in ("q1", "q2"))
    scales = (g.Scale(0, 0.0),) * 2 + (g.Scale(-bits, offset), g.Scale(0, 0.0))
    graph = g.WordGraph((*inputs, angle, plain), scales, (g.OutputWord(3, 0, bits),))
    assert abs(model.local(widths, 2)[0] - len(word_logic(graph).nodes)) <= 2


@pytest.mark.parametrize("operand", [False, True])
def test_a_table_costs_what_synthesis_usually_leaves_of_its_network(*, operand: bool) -> None:
    entries = tuple(int(x) for x in np.random.default_rng(3).integers(0, 8, 32))
    nodes = len(mux_network(5, columns_of(entries, 3)).nodes)
    assert nodes > 15
    cost = table_cost(Tabulated(5, entries, 3, 0.0), 9, operand=operand)
    assert cost == pytest.approx(0.7 * nodes, rel=0.1)
    # An odd table is folded: its sign is an inverter a bit, for nothing where a product reads it.
    odd = (*entries, *(7 - e for e in reversed(entries)))
    folded = table_cost(Tabulated(6, odd, 3, 0.0), 9, operand=operand)
    assert folded - cost == pytest.approx(5 + (0 if operand else 3))
