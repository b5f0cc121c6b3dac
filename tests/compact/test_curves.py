"""Curves of wide words: tables of some bits, slopes, bends; all words looked at; six inputs."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.common.errors import DataError
from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import Demand
from boolcomp.compact.errors.every import every_state, is_countable, is_exact
from boolcomp.compact.errors.measure import measure
from boolcomp.compact.graph.interpolate import Interpolation, Pieces, pieces
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.graph.lut6 import column_luts, graph_luts
from boolcomp.compact.graph.tabulate import Domain, Tabulated
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.compact.result.network import table_network
from boolcomp.compact.sketch.sketch import Curve
from boolcomp.compact.sketch.variables import Role
from boolcomp.compact.widths.forms import DIRECT
from boolcomp.compact.widths.limits import in_range
from boolcomp.compact.widths.search import (
    Candidate,
    SearchTask,
    screen,
    search_of,
)
from boolcomp.compact.widths.splits import curve_pairs, curve_splits
from boolcomp.problem.exact import with_exact_words
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Group, Input, Output, Problem
from boolcomp.terms import split
from boolcomp.words.agreement import agrees
from boolcomp.words.graph import Bits, Heap, InputWord, Lookup, OutputWord, Scale, WordGraph
from boolcomp.words.graphtext import parse_graph
from boolcomp.words.simulate import masked, simulate

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Straight

    Floats = NDArray[np.float64]


def _reference(steps: Straight, x: Floats) -> Floats:
    return np.stack(steps.evaluate([x[:, 0]]), axis=1)


def logarithm(bits: int, *, exact: bool = True) -> Problem:
    """Return the problem of log2(1 + x), its words exact."""
    tape, span = Tape(), Interval(0.0, 1.0)
    wire = tape.function("log", tape.input("x") + 1.0) * (1 / math.log(2))
    steps = tape.finish([("y", wire)])
    problem = Problem(
        "log", f"log\n{steps}", (Input("x", span, "", span, span),), (Output("y", "Y", span, ""),),
        (Group("x", ("x",)),), Group("y", ("y",)), partial(_reference, steps), lambda: steps,
    )  # fmt: skip
    return with_exact_words(problem, {"x": bits}) if exact else problem


def task_of(problem: Problem, bits: int, rms: float, objective: str = "nodes") -> SearchTask:
    """Return the task to err by no more than an rms error."""
    demand = Demand(
        bits=bits, input_bits={"x": bits}, rms=(rms,), saturate=True,
        objective="lut6" if objective == "lut6" else "nodes",
    )  # fmt: skip
    return SearchTask(split(problem), demand, np.array([rms**2]), np.array([np.inf]))


@cache
def screened_log() -> Candidate:
    """Return the widths of a logarithm of eleven bits, by the model."""
    return screen(task_of(logarithm(11), 11, 0.34), DIRECT)


# tables of some of a word's bits ---------------------------------------------------------------


def index_of(word: int, mask: int) -> int:
    """Return the bits of a word that a mask picks, side by side, one by one."""
    picked = [word >> k & 1 for k in range(mask.bit_length()) if mask >> k & 1]
    return sum(bit << k for k, bit in enumerate(picked))


@given(st.integers(1, (1 << 16) - 1), st.lists(st.integers(0, (1 << 16) - 1), min_size=1))
def test_a_mask_picks_bits_side_by_side(mask: int, words: list[int]) -> None:
    found = masked(np.array(words, dtype=np.int64), mask)
    assert found.tolist() == [index_of(word, mask) for word in words]


def masked_graph(mask: int, entries: tuple[int, ...]) -> WordGraph:
    """Return a graph of a table of some of the leading five of six bits."""
    nodes = (
        InputWord("x", 6, angle=False),
        Lookup(0, 5, entries, 4, mask),
        Heap((Bits(1, 0, 0, negative=False),), 0, 4),
    )
    return WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 4),))


@pytest.mark.parametrize("mask", [0b1, 0b00101, 0b10011, 0b11011])
def test_a_table_of_some_bits_is_the_same_in_simulation_logic_and_text(mask: int) -> None:
    entries = tuple(np.random.default_rng(mask).integers(0, 16, 1 << mask.bit_count()).tolist())
    graph = masked_graph(mask, entries)
    words = np.arange(64)
    found = simulate(graph, {"x": words}).words[:, 0]
    assert found.tolist() == [entries[index_of(word >> 1, mask)] for word in range(64)]
    assert agrees(word_logic(graph), graph, {"x": words})
    assert parse_graph(str(graph)) == graph


@pytest.mark.parametrize("mask", [0b10, 0b100001, 0b11])
def test_a_mask_that_does_not_fit_its_table_is_refused(mask: int) -> None:
    with pytest.raises(ValueError, match="width does not fit"):
        masked_graph(mask, (1, 2))


def test_a_mask_of_no_bits_is_no_line_of_a_graph() -> None:
    text = str(masked_graph(0b101, (1, 2, 3, 4))).replace("&5", "&0")
    with pytest.raises(DataError, match="no line"):
        parse_graph(text)


def test_a_table_that_repeats_its_index_costs_nothing() -> None:
    graph = masked_graph(0b111, tuple(range(8)))
    nodes = (*graph.nodes[:1], Lookup(0, 5, tuple(range(8)), 3, 0b111), *graph.nodes[2:])
    assert not word_logic(WordGraph(nodes, graph.scales, graph.results)).nodes


def test_a_table_of_more_inputs_than_synthesis_takes_is_made_all_the_same() -> None:
    entries = tuple(int(k % 7 == 3 and k > 900) for k in range(1 << 13))
    nodes = (
        InputWord("x", 13, angle=False),
        Lookup(0, 13, entries, 1),
        Heap((Bits(1, 0, 0, negative=False),), 0, 1),
    )
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 1),))
    assert agrees(table_network(graph).network, graph, {"x": np.arange(1 << 13)})


# curves in pieces ------------------------------------------------------------------------------


def value(table: Tabulated, lsb: int, word: int, bits: int) -> float:
    """Return what a table of a word's leading bits stands for."""
    leading = word >> (bits - table.read)
    entry = table.entries[index_of(leading, table.mask) if table.mask else leading]
    return (entry - ((1 << table.bits) - 1) / 2) * 2.0**lsb + table.offset


def total(made: Pieces, lsb: int, word: int, bits: int) -> float:
    """Return the sum of all pieces at a word."""
    found = sum(value(table, lsb, word, bits) for table in made.tables)
    if made.product is not None:
        a, b = made.product
        found += value(a.table, a.lsb, word, bits) * value(b.table, b.lsb, word, bits)
    return found


SPLITS = {
    "one slope": Interpolation(4, 2, 0, 0, 0, 0, 0),
    "products": Interpolation(5, 1, 5, 4, -2, 0, 0),
    "products and a table": Interpolation(5, 3, 3, 4, -2, 0, 0),
    "bends": Interpolation(6, 1, 6, 3, -3, 4, 2),
    "all": Interpolation(6, 2, 4, 3, -3, 3, 1),
}


@pytest.mark.parametrize("name", SPLITS)
def test_pieces_add_up_to_the_curve_with_the_error_that_is_predicted(name: str) -> None:
    bits, lsb = 9, -12
    domain = Domain(bits, 2.0**-bits, 0.5)
    values = np.exp(domain.points())
    made = pieces(values, domain, lsb, SPLITS[name], centred=True)
    error = np.array([total(made, lsb, w, bits) for w in range(1 << bits)]) - values
    predicted = made.variance + len(made.tables) * 4.0**lsb / 12
    assert 0.6 < (error**2).mean() / predicted < 1.4


def test_bends_make_up_for_most_of_what_a_line_misses() -> None:
    domain = Domain(10, 2.0**-10, 0.5)
    values = np.exp(domain.points())
    errors = [
        pieces(values, domain, -30, Interpolation(7, 1, 7, 3, -4, bend, 3), centred=True).variance
        for bend in (0, 5)
    ]
    assert errors[1] < errors[0] / 25


@given(st.integers(2, 8), st.tuples(*[st.integers(0, 8)] * 7))
def test_no_split_reads_more_than_there_is(read: int, rest: tuple[int, ...]) -> None:
    low, lead, times, slopes, fineness, bend, bends = rest
    how = Interpolation(max(1, low), lead, times, slopes, fineness - 4, bend, bends)
    domain = Domain(read, 2.0**-read, 0.5)
    made = pieces(np.sqrt(domain.points()), domain, -8, how, centred=True)
    factors = [factor.table for factor in made.product or ()]
    for table in [*made.tables, *factors]:
        count = table.mask.bit_count() if table.mask else table.read
        assert table.read <= read
        assert len(table.entries) == 1 << count
        assert max(table.entries) < 1 << table.bits


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["nodes", "lut6"])
def test_a_realised_curve_errs_at_all_words_as_the_model_says(objective: str) -> None:
    problem = logarithm(11)
    task = task_of(problem, 11, 0.34, objective)
    choice = screen(task, DIRECT)
    search = search_of(task, DIRECT)
    graph = search.graph(choice)
    words = np.arange(1 << 11)
    found = simulate(graph, {"x": words})
    exact = (np.log2(1 + (words + 0.5) / (1 << 11)) - 0.5) * (1 << 11)
    error = found.words[:, 0] - (2.0 ** (graph.results[0].bits - 1) - 0.5) - exact
    assert not found.wrapped
    assert math.sqrt((error**2).mean()) < 0.4
    assert agrees(word_logic(graph), graph, {"x": words})
    predicted = float(np.sqrt(search.noise(choice)[1][0]))
    assert 0.8 < predicted / math.sqrt((error**2).mean()) < 1.25


def test_a_wide_curve_is_split_by_slopes() -> None:
    task = task_of(logarithm(11), 11, 0.34)
    choice = screened_log()
    graph = search_of(task, DIRECT).graph(choice)
    tables = [node for node in graph.nodes if isinstance(node, Lookup)]
    assert len(tables) >= 3
    assert max(len(table.entries) for table in tables) <= 1 << 9
    assert choice.widths[Role.TIMES.of(1)] > 0


def test_other_splits_keep_to_their_limits() -> None:
    task = task_of(logarithm(11), 11, 0.34)
    sketch = search_of(task, DIRECT).sketch
    widths = screened_log().widths
    place = next(k for k, node in enumerate(sketch.nodes) if isinstance(node, Curve))
    both = [*curve_splits(sketch, widths, place), *curve_pairs(sketch, widths, place)]
    assert len(both) > 20
    assert all(in_range(sketch, v, x) for values in both for v, x in values.items())
    assert all(v.node == place for values in both for v in values)


# tables of six inputs --------------------------------------------------------------------------


def test_any_function_of_six_inputs_is_one_table_and_a_wire_is_none() -> None:
    rng = np.random.default_rng(3)
    some = int(rng.integers(1, 1 << 62)) | 1
    assert column_luts(6, (some,)) == 1
    assert column_luts(6, (some, some ^ (1 << 64) - 1)) == 1  # an inverse comes for nothing
    assert column_luts(2, (0b1010, 0b1100, 0b0000, 0b1111)) == 0


def test_a_function_of_eight_inputs_is_four_tables_and_a_multiplexer() -> None:
    parts = [int(x) << 1 for x in np.random.default_rng(4).integers(1, 1 << 62, 4)]
    column = sum(part << (64 * k) for k, part in enumerate(parts))
    assert column_luts(8, (column,)) == 5
    assert column_luts(8, (column & (1 << 192) - 1 | parts[0] << 192,)) == 4


def test_six_inputs_are_counted_over_all_words_of_a_graph() -> None:
    graph = masked_graph(0b111, (1, 2, 3, 5, 8, 13, 4, 9))
    assert 3 <= graph_luts(graph) <= 4  # four columns, and no adder for one word


# all words -------------------------------------------------------------------------------------


def test_exact_words_are_compared_at_the_middles_of_their_cells() -> None:
    problem = logarithm(4)
    x = np.array([[0.01], [0.06], [0.07], [0.99]])
    middles = np.array([1 / 32, 1 / 32, 3 / 32, 31 / 32])
    assert np.allclose(problem.reference(x)[:, 0], np.log2(1 + middles))
    assert problem != logarithm(5)


def test_all_words_are_looked_at_where_they_are_few() -> None:
    problem = logarithm(5)
    (states,) = every_state(problem, {"x": 5})
    assert np.allclose(states[:, 0], (np.arange(32) + 0.5) / 32)
    assert is_exact(problem, {"x": 16})
    loose = logarithm(5, exact=False)
    assert is_countable(loose, {"x": 5})
    assert not is_exact(loose, {"x": 5})
    (ends,) = every_state(loose, {"x": 5})
    cells = np.floor(ends[:, 0] * 32)
    assert all((cells == k).sum() == 2 for k in range(32))


def test_cells_beyond_where_an_input_may_be_are_left_out() -> None:
    whole = logarithm(4, exact=False)
    one = whole.inputs[0]
    inside = Interval(0.2, 0.8)
    for exact, (x,) in itertools.product((True, False), ((one,),)):
        stopped = Input("x", inside, "", x.word, x.reach, exact=exact)
        problem = Problem(
            "some", f"some {exact}", (stopped,), whole.outputs, whole.groups, whole.returned,
            whole.reference, whole.form,
        )  # fmt: skip
        (states,) = every_state(problem, {"x": 4})
        assert states.min() >= 0.2
        assert states.max() <= 0.8


@pytest.mark.slow
def test_a_largest_error_below_one_holds_at_every_word(tmp_path: Path) -> None:
    problem = logarithm(8)
    demand = Demand(
        bits=8, input_bits={"x": 8}, max=(0.999,), saturate=True, effort=0.0, objective="lut6"
    )
    built = build(split(problem), CompactChoices(demand, tmp_path, workers=ALONE))
    x = (np.arange(256) + 0.5) / 256
    error = (np.asarray(built.program()(x)).reshape(-1) - np.log2(1 + x)) * 256
    assert np.abs(error).max() < 0.999
    assert built.largest[0] == pytest.approx(np.abs(error).max(), abs=1e-6)
    assert built.worst.evaluations == 256
    again = build(split(problem), CompactChoices(demand, tmp_path, workers=ALONE))
    assert again.stored
    assert again.network == built.network


def test_annealing_at_all_words_is_no_larger_holds_and_comes_out_again() -> None:
    task = replace(task_of(logarithm(8), 8, 0.4, "lut6"), largest=np.array([1.0]))
    search = search_of(task, DIRECT)
    start = search.refine(screen(task, DIRECT))
    found = search.improve(start, 0, 0.4)
    assert found.nodes < start.nodes
    assert found.nodes == graph_luts(search.graph(found))
    errors = measure(search.graph(found), search.states)
    assert errors.max[0] <= 1
    assert not errors.wrapped
    assert search.improve(start, 0, 0.4).widths == found.widths


def test_measured_errors_of_exact_words_are_those_of_all_words() -> None:
    task = task_of(logarithm(8), 8, 0.36)
    search = search_of(task, DIRECT)
    assert len(search.states.outputs) == 256
    errors = measure(search.graph(screen(task, DIRECT)), search.states)
    assert errors.samples == 256
