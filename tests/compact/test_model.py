"""The noise and the cost that the model predicts of each node, beside enumeration and networks."""

import itertools
import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compact.word_robots import TEN, case, logarithm, searched
from limited import random_limited, with_ranges
from numpy.typing import NDArray
from samples import problem_of, terms_of

import boolcomp as bc
from boolcomp.base.files import shipped
from boolcomp.base.store import sealed, unsealed
from boolcomp.compact.costs import LEVEL, Factors, costs_of
from boolcomp.compact.demand import TARGETS, Demand, Target, usual_demand
from boolcomp.compact.errors import (
    GRAIN,
    Errors,
    Sampling,
    decoder_shifts,
    deviations,
    every_state,
    is_countable,
    is_exact,
    measure,
    measure_many,
    measure_worst,
    paper_rms,
)
from boolcomp.compact.network import word_depth, word_logic
from boolcomp.compact.noise import Model, sensitivities
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.compact.promise import BoundTask
from boolcomp.compact.realisation import angle_node, realise, sum_shape
from boolcomp.compact.result import Compact
from boolcomp.compact.search import Descent, choose_widths
from boolcomp.compact.sketch import (
    AngleSum,
    Linear,
    Product,
    Role,
    Sketch,
    SketchNode,
    SourceWord,
    Waves,
    Widths,
    WordSum,
)
from boolcomp.compact.sketch_terms import Formulation
from boolcomp.compact.tables import Domain, Tabulated, columns_of, mux_network, table_cost, tabulate
from boolcomp.logic.synthesis import Objective
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.robot.model import Robot
from boolcomp.problem.words import Interval
from boolcomp.proof.worst import Worst
from boolcomp.terms.extract import split
from boolcomp.words.graph import (
    Angles,
    Bits,
    Grid,
    Heap,
    HeapRow,
    InputWord,
    Node,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
)

Floats = NDArray[np.float64]


FINE = -40  # the exponent of a step that makes no noise to speak of


def model_of(nodes: Sequence[SketchNode]) -> Model:
    """Return the model of a sketch, sampled at a grid of its inputs: angles in whole turns."""
    sources = [node for node in nodes if isinstance(node, SourceWord)]
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


def test_the_noise_of_a_sum_is_of_its_cut_its_inputs_and_its_constant() -> None:
    model = model_of([SourceWord("x", 8, angle=False), WordSum((Linear(0, 0.5),), 0.0)])
    # Half an index in steps of the torque: cut at -1 nothing is lost but 1/12 of a cell.
    for cut, dropped in ((-1, 0), (0, 1)):
        low = (np.arange(1 << dropped) + 0.5) / 2 - (1 << dropped) / 4
        expected = float((low**2).mean())  # bits of the word that are below the cut
        expected += 0.25 / 12  # what the input's cells do not tell
        expected += 4.0**cut / 12 + (1 - 4.0**cut) / 12  # constant and rounding to whole steps
        found = noise_of(model, {Role.CUT.of(1): cut}, 1)
        assert found == pytest.approx(expected)


@pytest.mark.parametrize(("cut", "drops"), [(-2, (0, 0)), (1, (0, 0)), (2, (1, 0)), (1, (0, 2))])
def test_the_noise_of_a_product_is_of_its_cut_and_of_unread_digits(
    cut: int, drops: tuple[int, int]
) -> None:
    nodes: list[SketchNode] = [
        SourceWord("x", 4, angle=False),
        SourceWord("y", 3, angle=False),
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


def test_the_noise_of_a_dropped_addend_is_its_variance() -> None:
    nodes: list[SketchNode] = [
        SourceWord("x", 4, angle=False),
        WordSum((Linear(0, 1.0), Linear(0, 0.5)), 0.0),
    ]
    model = model_of(nodes)
    x = ((np.arange(64) + 0.5) / 64 - 0.5) * 16
    widths = {Role.CUT.of(1): 0, Role.KEEP.of(1, 1): 0}
    expected = 1 / 12 + 1 / 12 + float((x / 2).var())  # input cells, rounding, what is dropped
    assert noise_of(model, widths, 1) == pytest.approx(expected)


def test_the_noise_of_missing_digits_of_a_factor() -> None:
    model = model_of([SourceWord("x", 4, angle=False), WordSum((Linear(0, 0.75),), 0.0)])
    x = ((np.arange(64) + 0.5) / 64 - 0.5) * 16
    one, two = (noise_of(model, {Role.CUT.of(1): -2, Role.DIGITS.of(1, 0): n}, 1) for n in (1, 2))
    # ¾ is 1 - ¼; one digit of it is 1. The bits of 1·x all stand above the cut, ¼·x is not cut.
    assert one - two == pytest.approx(float(((x / 4) ** 2).mean()))


def test_a_centred_sum_of_two_words_loses_a_bit() -> None:
    sources: list[SketchNode] = [SourceWord(name, 4, angle=False) for name in ("x", "y")]
    both = model_of([*sources, WordSum((Linear(0, 1.0), Linear(1, 1.0)), 0.0)])
    alone = model_of([sources[0], WordSum((Linear(0, 1.0),), 0.0)])
    # The bit that one of them gives up is worth ±½.
    assert noise_of(both, {Role.CUT.of(2): 0}, 2) == pytest.approx(2 / 12 + 1 / 12 + 0.25)
    assert noise_of(alone, {Role.CUT.of(1): 0}, 1) == pytest.approx(1 / 12 + 1 / 12)


@pytest.mark.parametrize("exponent", [-2, -4])
@pytest.mark.parametrize("read", [5, 8])
def test_the_noise_of_a_table_is_of_its_cells_and_of_rounding(exponent: int, read: int) -> None:
    wave = Waves(0, ((1, 1.0, 0.5),))
    model = model_of([SourceWord("q", 8, angle=True), wave, WordSum((Linear(1, 1.0),), 0.0)])
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


@pytest.mark.parametrize("read", [2, 3, 4, 5])
@pytest.mark.parametrize("exact", [True, False])
def test_the_noise_of_a_table_of_an_angle_sum(read: int, *, exact: bool) -> None:
    nodes: list[SketchNode] = [
        SourceWord("q1", 4, angle=True),
        SourceWord("q2", 4, angle=True),
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


@pytest.mark.parametrize("operand", [False, True])
def test_the_cost_of_a_table_is_what_synthesis_usually_leaves(*, operand: bool) -> None:
    entries = tuple(int(x) for x in np.random.default_rng(3).integers(0, 8, 32))
    nodes = len(mux_network(5, columns_of(entries, 3)).nodes)
    assert nodes > 15
    cost = table_cost(Tabulated(5, entries, 3, 0.0), 9, operand=operand)
    assert cost == pytest.approx(0.7 * nodes, rel=0.1)
    # An odd table is folded: its sign is an inverter a bit, for nothing where a product reads it.
    odd = (*entries, *(7 - e for e in reversed(entries)))
    folded = table_cost(Tabulated(6, odd, 3, 0.0), 9, operand=operand)
    assert folded - cost == pytest.approx(5 + (0 if operand else 3))


ONES = np.ones(2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["machado-2r", "elbow-3r"])
def test_errors_and_nodes_are_about_as_predicted(name: str) -> None:
    arm = case(name, bits=8)
    descent = arm.chosen(0.3)
    count = len(arm.steps)
    graph = realise(
        arm.sketch, descent.widths, descent.model.statistics, [8] * count, [0.0] * count
    )
    errors = measure(graph, arm.states(10_000, seed=8))
    predicted = np.sqrt(descent.noise)
    assert (np.abs(errors.rms / predicted - 1) < 0.2).all()
    built = len(word_logic(graph).nodes)
    assert abs(descent.cost / built - 1) < 0.15


def test_the_worst_states_have_rows_of_their_own() -> None:
    arm = case("machado-2r", bits=8)
    count = len(arm.steps)
    states, worst = arm.states(400, seed=1), arm.states(200 * count, seed=2)
    usual = Model(arm.sketch, states.values, states.values)
    model = Model(arm.sketch, states.values, states.values, worst.values)
    widths = arm.chosen(0.3).widths
    places = [p for p in range(len(arm.sketch.nodes)) if p in Descent(usual, widths, ONES).live]
    for place in places:
        cost, noise = model.local(widths, place)
        alone, expected = usual.local(widths, place)
        assert cost == alone
        assert noise[:count] == pytest.approx(expected)
    # The states of the second half are like those of the first: so are both rows of noise.
    total = sum(model.local(widths, place)[1] for place in places)
    assert np.asarray(total)[count:] == pytest.approx(np.asarray(total)[:count], rel=0.3)


def test_after_many_changes_the_model_agrees_with_a_fresh_one() -> None:
    arm = case("machado-2r", bits=6)
    descent = arm.chosen(0.4)
    rng = random.Random(3)  # noqa: S311 (no secrets)
    for _ in range(6):
        descent.jump(np.full(2, 300.0), rng)
    fresh = arm.model()
    for place in sorted(descent.live):
        cost, noise = descent.model.local(descent.widths, place)
        again, expected = fresh.local(dict(descent.widths), place)
        assert (cost, noise.tolist()) == (again, expected.tolist())


@pytest.mark.parametrize("row", [HeapRow(3, 0, 2), HeapRow(2, 1, 4), HeapRow(0, 2, 3)])
def test_the_most_of_dropped_bits_is_that_of_all_their_values(row: HeapRow) -> None:
    first = row.column - row.drop
    sums = [
        sum(digit * 2.0 ** (first + i) for i, digit in enumerate(digits))
        for digits in itertools.product((-0.5, 0.5), repeat=row.drop)
    ]
    assert row.most_lost == max(sums) == -min(sums)


@pytest.mark.parametrize("grid", [Grid(-3, 0, 3, 0, 4), Grid(-1, 1, 2, 0, 2), Grid(0, 0, 2, 0, 2)])
def test_the_most_of_discarded_products_is_the_sum_of_each(grid: Grid) -> None:
    columns = [grid.column + i + j for i in range(grid.a) for j in range(grid.b)]
    assert grid.most_lost == sum(2.0**c / 2 for c in columns if c < 0)


def test_the_model_of_the_worst_says_what_the_plain_bound_is() -> None:
    terms = split(problem_of(load_robot("machado-2r")))
    demand = usual_demand(6, TEN).completed(terms.problem)
    allowed = np.array([1.5, 2.5])
    search = BoundTask(terms, demand, allowed, np.full(2, np.inf)).search(0)
    widths, _ = choose_widths(search.model, allowed)
    said = Descent(search.model, widths, allowed).noise
    found = np.array(search.bounded(widths, np.zeros(2)).bounds.steps)
    assert (said <= allowed).all()
    assert np.abs(said / found - 1).max() < 0.15


ARMS: dict[str, Robot] = {
    "stops": with_ranges("machado-2r", q2=(-2.5, 2.5)),
    "part of a turn": with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9)),
    "exact ranges": with_ranges("machado-2r", q2=(-2, 2.5), word2=(-2, 2.5)),
    "sliding": random_limited(2, 7),
}


def moved(sketch: Sketch, inputs: Mapping[str, Floats], place: int, change: float) -> Floats:
    """Return the torques with the value of one node changed: plain recursion over the sketch."""
    values: list[Floats] = []
    for k, node in enumerate(sketch.nodes):
        value = sketch._value(node, values, inputs)  # noqa: SLF001  # what `evaluate` does, node by node
        values.append(value + change if k == place else value)
    return np.stack([values[k] for k in sketch.outputs])


@pytest.mark.parametrize(
    ("arm", "form"),
    [*((name, Formulation()) for name in ARMS), ("stops", Formulation(speeds=False, exact=True))],
)
def test_sensitivities_are_those_of_finite_differences(arm: str, form: Formulation) -> None:
    made = case(ARMS[arm], form=form)
    inputs = made.states(60, seed=2).values
    found = sensitivities(made.sketch, made.sketch.evaluate(inputs))
    for place, node in enumerate(made.sketch.nodes):
        if isinstance(node, SourceWord) and node.name.startswith("qdd"):
            continue
        step = 1e-4
        slope = moved(made.sketch, inputs, place, step) - moved(made.sketch, inputs, place, -step)
        expected = ((slope / (2 * step)) ** 2).mean(axis=1)
        assert found[place].value == pytest.approx(expected, rel=1e-4, abs=1e-9), str(node)


LINE = tuple(range(16))
TABLES: Factors = ("table", "table")


def cost(target: Target, *nodes: Node, drop: int = 0) -> int:
    """Return what a target counts of a graph whose last node is the output."""
    last = len(nodes) - 1
    result = OutputWord(last, drop, nodes[last].bits - drop)
    graph = WordGraph(tuple(nodes), (Scale(0, 0.0),) * len(nodes), (result,))
    return costs_of(Demand(target=target)).graph(graph)


def two(bits: int) -> tuple[Node, Node]:
    """Return two input words."""
    return InputWord("x", bits, angle=False), InputWord("y", bits, angle=False)


def added(bits: int) -> tuple[Node, ...]:
    """Return the sum of two words."""
    parts = (Bits(0, 0, 0, negative=False), Bits(1, 0, 0, negative=False))
    return (*two(bits), Heap(parts, 0, bits + 1))


def multiplied(bits: int, column: int = 0, size: int = 0) -> tuple[Node, ...]:
    """Return the product of two words."""
    part = PartialProducts(0, 0, 1, 0, column, negative=False)
    return (*two(bits), Heap((part,), 0, size or 2 * bits))


@pytest.mark.parametrize(
    ("target", "counted"),
    [
        ("luts", 8),  # four full adders, the first of two inputs: an XOR and a carry each
        ("gates", 28),  # of three and a half gates each
        ("carry", 4),  # a table and a carry for every bit
        ("dsp", 4),
    ],
)
def test_a_sum_of_two_words_of_four_bits(target: Target, counted: int) -> None:
    assert cost(target, *added(4)) == counted


def test_a_product_by_a_block_costs_as_much_whatever_its_width() -> None:
    assert cost("dsp", *multiplied(6)) == cost("dsp", *multiplied(16)) == 2
    assert cost("dsp", *multiplied(6, -4, 8)) == 2
    assert cost("carry", *multiplied(6, -4, 8)) < cost("carry", *multiplied(6))


def test_an_angle_sum_with_carries_takes_a_table_a_bit() -> None:
    turns = (Turn(0, 8, 0, negative=False), Turn(1, 8, 0, negative=False))
    parts = (Bits(2, 0, 0, negative=False),)
    assert cost("carry", *two(8), Angles(turns, 3, 8), Heap(parts, 0, 8)) == 8


def test_six_inputs_are_one_table_of_six() -> None:
    rng = np.random.default_rng(2)
    entries = tuple(rng.integers(0, 2, 64).tolist())
    table = Tabulated(6, entries, 1, 0.0)
    assert costs_of(Demand(target="lut6")).table(table, 9, operand=False) == 1
    assert costs_of(Demand(target="lut4")).table(table, 9, operand=False) > 4


def test_a_processor_multiplies_narrow_words_in_what_an_instruction_takes() -> None:
    avr = costs_of(Demand(target="mcu8"))
    # Seven digits are an odd number of eight bits: muls 2, movw and clr 2, add and adc 2.
    assert avr.product(Grid(0, 0, 7, 0, 7), [0] * 15, TABLES) == 6
    assert avr.product(Grid(0, 0, 8, 0, 7), [0] * 15, TABLES) > 10
    # Two columns further left is two shifts of two registers.
    assert avr.product(Grid(2, 0, 7, 0, 7), [0] * 15, TABLES) == 6 + 4
    cortex = costs_of(Demand(target="mcu32"))
    assert cortex.product(Grid(0, 0, 12, 0, 12), [0] * 24, TABLES) == 1.5  # mla, or mul and add


def test_discarded_products_cost_a_processor_and_save_logic() -> None:
    whole, part = Grid(0, 0, 7, 0, 7), Grid(-3, 0, 7, 0, 7)
    for target in ("mcu8", "mcu32", "simd"):
        costs = costs_of(Demand(target=target))
        assert costs.product(part, [0] * 12, TABLES) > 3 * costs.product(whole, [0] * 12, TABLES)
    costs = costs_of(Demand())
    assert (costs.product(whole, [0] * 12, TABLES), costs.product(part, [0] * 12, TABLES)) == (
        49,
        43,
    )


def test_sums_wider_than_a_register_cost_more() -> None:
    avr = costs_of(Demand(target="mcu8"))
    assert avr.heap([0] * 17, 0) > 2 * avr.heap([0] * 16, 0)
    row = HeapRow(0, 0, 8)
    assert avr.rows([row], [0] * 16, "table") == 2
    assert avr.rows([row], [0] * 17, "table") > 4


def test_an_entry_costs_more_where_it_is_wide_and_memory_is_scarce() -> None:
    avr = costs_of(Demand(target="mcu8"))
    narrow, wide = Tabulated(4, LINE, 4, 0.0), Tabulated(4, LINE, 12, 0.0)
    assert avr.table(narrow, 9, operand=False) == pytest.approx(7 + 16 / 128)
    assert avr.table(wide, 9, operand=False) == pytest.approx(11 + 32 / 128)
    small = costs_of(Demand(target="mcu8", flash=1024))
    assert small.table(narrow, 9, operand=False) == pytest.approx(7 + 16 / 8)


def arm_for(target: Target, bits: int, objective: Objective = "nodes") -> Compact:
    """Return the graph that a search without effort finds for an arm."""
    demand = Demand(
        bits=bits, rms=(0.5, 0.6), target=target, objective=objective, effort=0.0,
        usual_input=bits + 2,
    )  # fmt: skip
    return searched(terms_of("machado-2r"), demand)


@pytest.mark.slow
def test_the_objective_depth_counts_levels() -> None:
    compact = arm_for("luts", 4, "depth")
    nodes = costs_of(Demand()).graph(compact.graph)
    assert word_depth(compact.graph) == word_logic(compact.graph).depth > 8
    levels = round(LEVEL * word_depth(compact.graph))
    assert costs_of(compact.demand).graph(compact.graph) == nodes + levels
    assert compact.nodes == nodes


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS[1:])
def test_every_target_is_searched_for_and_keeps_the_errors(target: Target) -> None:
    compact = arm_for(target, 4)
    assert (compact.errors.rms <= (0.5, 0.6)).all()
    assert compact.nodes == costs_of(compact.demand).graph(compact.graph)
    assert abs(compact.predicted_cost / compact.nodes - 1) < 0.25


@pytest.mark.check
def test_a_search_for_a_microcontroller_discards_no_partial_product() -> None:
    compact = arm_for("mcu8", 6)
    nodes = compact.graph.nodes
    parts = [part for node in nodes if isinstance(node, Heap) for part in node.parts]
    columns = [p.layout(nodes).column for p in parts if isinstance(p, PartialProducts)]
    assert min(columns) >= 0
    logic = arm_for("luts", 6)
    mcu = costs_of(compact.demand)
    assert compact.nodes < 0.7 * mcu.graph(logic.graph)
    assert costs_of(logic.demand).graph(logic.graph) < costs_of(logic.demand).graph(compact.graph)


def errors_from(samples: NDArray[np.float64]) -> Errors:
    ends = np.array([[max(column), min(column)] for column in samples.T])
    return Errors(
        np.array([np.sqrt(np.mean(column * column)) for column in samples.T]),
        np.array([max(map(abs, column)) for column in samples.T]),
        np.array([sum(column) / len(column) for column in samples.T]),
        (),
        0,
        len(samples),
        ends,
    )


def worst_of(*errors: list[float]) -> Worst:
    outputs = len(errors)
    none = np.zeros((outputs, 2, 1))
    return Worst(np.array(errors, np.float64), none, 0, none[:, :0])


def test_moved_errors_are_those_of_moved_samples() -> None:
    samples = np.random.default_rng(1).normal([0.2, -0.3], [0.5, 0.4], (1000, 2))
    by = np.array([-0.25, 0.125])
    moved, again = errors_from(samples).moved(by), errors_from(samples + by)
    for name in ("rms", "max", "mean", "ends"):
        assert np.allclose(getattr(moved, name), getattr(again, name), atol=1e-12), name
    with pytest.raises(ValueError, match="errors without their signs cannot be moved"):
        replace(errors_from(samples), ends=None).moved(by)


@pytest.mark.parametrize(
    ("most", "kept"), [((), -0.125), ((3.2,), -0.125), ((3.05,), 0.0), ((2.9,), 0.0)]
)
def test_a_demanded_maximum_is_not_broken_by_the_decoder(
    most: tuple[float, ...], kept: float
) -> None:
    samples = np.full((4, 1), 0.125)
    shifts = decoder_shifts(errors_from(samples), worst_of([2.5, -3.0]), most)
    assert shifts.tolist() == [kept]


def test_blocks_of_states_are_measured_as_one() -> None:
    arm = case("machado-2r")
    graph = arm.graph(0.4)
    sampling = Sampling(arm.problem, {"q": 10, "qd": 10, "qdd": 10}, 6, 70_000, 9)
    errors = measure_many(sampling, graph)
    parts = [deviations(graph, states)[0] for _, states in sampling.blocks(graph)]
    every = np.concatenate(parts)
    assert len(parts) == 3
    assert len(every) == errors.samples == 70_000
    assert errors.rms == pytest.approx(np.sqrt((every**2).mean(axis=0)))
    assert errors.max.tolist() == np.abs(every).max(axis=0).tolist()
    assert errors.mean == pytest.approx(every.mean(axis=0))


def test_the_worst_states_are_those_with_the_largest_errors() -> None:
    arm = case("machado-2r")
    graph = arm.graph(0.4)
    sampling = Sampling(arm.problem, {"q": 10, "qd": 10, "qdd": 10}, 6, 5000, 9)
    errors, worst = measure_worst(sampling, graph, 20)
    states = arm.maker.at(worst)
    again, _, _ = deviations(graph, states)
    kept = len(again) // 2
    for joint in range(2):
        own = np.abs(again[joint * kept : (joint + 1) * kept, joint])
        assert own.max() == errors.max[joint]
        assert own.min() > errors.rms[joint]


def test_few_words_are_enumerated() -> None:
    (states,) = every_state(logarithm(5), {"x": 5})
    assert np.allclose(states[:, 0], (np.arange(32) + 0.5) / 32)
    assert is_exact(logarithm(5), {"x": 16})
    loose = logarithm(5, exact=False)
    assert is_countable(loose, {"x": 5})
    assert not is_exact(loose, {"x": 5})
    (ends,) = every_state(loose, {"x": 5})
    assert (np.bincount(np.floor(ends[:, 0] * 32).astype(int)) == 2).all()


@pytest.mark.parametrize("exact", [True, False])
def test_cells_outside_the_range_of_an_input_are_left_out(*, exact: bool) -> None:
    whole = logarithm(4, exact=False)
    stopped = replace(whole.inputs[0], range=Interval(0.2, 0.8), exact=exact)
    problem = replace(whole, inputs=(stopped,), key=f"some {exact}")
    (states,) = every_state(problem, {"x": 4})
    assert 0.2 <= states.min() < states.max() <= 0.8


def test_states_beyond_the_range_of_a_saturating_output_err_by_half_a_step_or_little_more() -> None:
    robot = load_robot("machado-2r")
    links = [
        replace(one, torque=Interval(one.torque.low * 0.3, one.torque.high * 0.3))
        for one in robot.links
    ]
    terms = terms_of(replace(robot, links=tuple(links)))
    plain = paper_rms(terms, 6)
    exact = terms.problem.reference(*terms.problem.draw(20_000, 5))
    beyond = (np.abs(exact) > [one.range.high for one in terms.problem.outputs]).mean(axis=0)
    least = np.sqrt(beyond / 4 + (1 - beyond) * plain**2)
    assert (abs(least / plain - 1) > 0.05).all()
    both = paper_rms(terms, 6, saturating=[True, True])
    assert both == pytest.approx(least * 1.02, rel=0.02)
    assert paper_rms(terms, 6, saturating=[True, False]).tolist() == [both[0], plain[1]]


@pytest.mark.slow
def test_the_torques_of_a_program_have_no_mean_error() -> None:
    program = bc.compile("machado-2r", bits=8)
    rng = np.random.default_rng(5)
    q, qd, qdd = (rng.uniform(-r, r, (100_000, 2)) for r in ranges())
    exact = bc.inverse_dynamics("machado-2r", q, qd, qdd)
    found = program.evaluate(q, qd, qdd)
    step = np.array([400 / 256, 200 / 256])
    error = (found.values - exact) / step
    assert np.abs(error.mean(axis=0)).max() < 0.01
    middles = (found.words + 0.5) * step - [200, 100]
    plain = (middles - exact) / step
    assert plain[:, 1].mean() > 0.1
    assert (error**2).mean(axis=0)[1] < (plain**2).mean(axis=0)[1] - 0.01


def ranges() -> list[float]:
    link = load_robot("machado-2r").links[0]
    return [link.position.high, link.velocity.high, link.acceleration.high]


@pytest.mark.check
def test_an_older_result_without_signs_of_errors_is_measured_again(tmp_path: Path) -> None:
    (path,) = shipped("tables").glob("machado-2r-4.7*.compact.json")
    document = json.loads(unsealed(path.read_text()))
    ends = document["fresh"].pop("ends")
    mine = tmp_path / path.name
    mine.write_text(sealed(json.dumps(document, indent=0)))
    terms = split(inverse_dynamics_problem(load_robot("machado-2r")))
    demand = usual_demand(4, {"q": 6, "qd": 6, "qdd": 6})
    built = build(terms, CompactChoices(demand, tmp_path, also_shipped=False))
    assert built.stored
    assert np.abs(built.errors.mean).max() < 1 / GRAIN
    assert json.loads(unsealed(mine.read_text()))["fresh"]["ends"] == ends
