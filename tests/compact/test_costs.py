"""What targets count, by hand; and what is kept of results without one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from samples import problem_of

import boolcomp
from boolcomp.common.errors import UsageError
from boolcomp.common.workers import ALONE
from boolcomp.compact import passes
from boolcomp.compact.demand import TARGETS, Demand, Target, digest
from boolcomp.compact.graph.logic import word_depth, word_logic
from boolcomp.compact.graph.tabulate import Tabulated
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.widths.costs import LEVEL, costs_of
from boolcomp.terms import split
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
)
from boolcomp.words.layout import Grid, HeapRow

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.compact.result.compact import Compact
    from boolcomp.compact.widths.costs.model import Factors
    from boolcomp.logic.synthesis.measure import Objective
    from boolcomp.words.graph import Node

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


def test_what_is_discarded_of_a_product_costs_a_processor_and_saves_logic() -> None:
    whole, part = Grid(0, 0, 7, 0, 7), Grid(-3, 0, 7, 0, 7)
    for target in ("mcu8", "mcu32", "simd"):
        costs = costs_of(Demand(target=target))
        assert costs.product(part, [0] * 12, TABLES) > 3 * costs.product(whole, [0] * 12, TABLES)
    costs = costs_of(Demand())
    assert (costs.product(whole, [0] * 12, TABLES), costs.product(part, [0] * 12, TABLES)) == (
        49,
        43,
    )


def test_sums_that_do_not_fit_a_register_are_dear() -> None:
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


def test_the_usual_target_counts_nodes_and_changes_no_digest() -> None:
    problem = problem_of("machado-2r")
    given = Demand(bits=8, input_bits={"q": 10, "qd": 10, "qdd": 10})
    assert given.key.endswith("effort=30.0 objective=nodes")
    others: set[str] = set()
    for target in TARGETS:
        others.add(digest(problem, replace(given, target=target)))
    others.add(digest(problem, replace(given, target="mcu8", flash=2000)))
    assert len(others) == len(TARGETS) + 1
    assert digest(problem, replace(given, target="luts")) == digest(problem, given)


def test_the_older_spelling_of_a_target_is_the_same() -> None:
    assert Demand(objective="lut6") == Demand(target="lut6")
    assert Demand(objective="lut6").synthesis == "lut6"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"target": "lut"}, "did you mean 'luts'"),
        ({"target": "mcu8", "objective": "lut6"}, "give one"),
        ({"target": "lut4", "flash": 4096}, "no flash"),
        ({"target": "mcu8", "flash": 10}, "256 to"),
    ],
)
def test_targets_that_cannot_be_get_sentences(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Demand(**wrong)


def searched(target: Target, bits: int, folder: Path, objective: Objective = "nodes") -> Compact:
    """Return the graph that a search without effort finds for an arm."""
    demand = Demand(
        bits=bits, rms=(0.5, 0.6), target=target, objective=objective, effort=0.0,
        usual_input=bits + 2,
    )  # fmt: skip
    choices = CompactChoices(demand, folder, also_shipped=False, workers=ALONE)
    value: Any = split(problem_of("machado-2r"))
    for step in (passes.sketch, passes.screen, passes.refine):
        value = step(value, choices)
    made: Any = passes.graph(value, choices)
    compact: Compact = made[1]
    return compact


@pytest.mark.slow
def test_levels_count_where_logic_is_to_have_few(tmp_path: Path) -> None:
    compact = searched("luts", 4, tmp_path, "depth")
    nodes = costs_of(Demand()).graph(compact.graph)
    assert word_depth(compact.graph) == word_logic(compact.graph).depth > 8
    levels = round(LEVEL * word_depth(compact.graph))
    assert costs_of(compact.demand).graph(compact.graph) == nodes + levels
    assert compact.nodes == nodes


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS[1:])
def test_every_target_is_searched_for_and_keeps_the_errors(target: Target, tmp_path: Path) -> None:
    compact = searched(target, 5, tmp_path)
    assert (compact.errors.rms <= (0.5, 0.6)).all()
    assert compact.nodes == costs_of(compact.demand).graph(compact.graph)
    assert abs(compact.predicted_cost / compact.nodes - 1) < 0.25


@pytest.mark.check
def test_code_for_a_microcontroller_multiplies_and_discards_nothing(tmp_path: Path) -> None:
    compact = searched("mcu8", 6, tmp_path)
    nodes = compact.graph.nodes
    parts = [part for node in nodes if isinstance(node, Heap) for part in node.parts]
    columns = [p.layout(nodes).column for p in parts if isinstance(p, PartialProducts)]
    assert min(columns) >= 0
    logic = searched("luts", 6, tmp_path)
    mcu = costs_of(compact.demand)
    assert compact.nodes < 0.7 * mcu.graph(logic.graph)
    assert costs_of(logic.demand).graph(logic.graph) < costs_of(logic.demand).graph(compact.graph)


@pytest.mark.check
def test_an_arm_for_a_microcontroller_is_compiled_and_says_so() -> None:
    program = boolcomp.compile(
        "machado-2r", bits=4, rms_error=0.6, target="mcu8", effort=0, processes=1
    )
    assert program.demand.endswith(" target=mcu8")
    errors = zip(program.errors.values(), program.loads[0].outputs, strict=True)
    assert all(one.rms <= 0.61 * output.code.step for one, output in errors)
