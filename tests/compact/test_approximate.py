"""Approximation: prices against recalculation; results made smaller, kept, proved, believed."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compact.word_robots import built_of, case, fewer_states, small_robot
from numpy.typing import NDArray
from samples import terms_of
from synthesis.networks import looked_up

from boolcomp.base.errors import DataError, UsageError
from boolcomp.base.workers import ALONE
from boolcomp.compact import approximate_kernels
from boolcomp.compact.approximate import (
    Approximation,
    Pricing,
    Searching,
    cores_of,
    room,
    with_entries,
)
from boolcomp.compact.approximate_kernels import FORBIDDEN, RowWords, SearchBudget, WordRows, extra
from boolcomp.compact.demand import Demand
from boolcomp.compact.errors import deviations
from boolcomp.compact.passes import fresh_states, require_true
from boolcomp.compact.result import Begin, Built, result_store
from boolcomp.logic import network as luts
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.network import Builder, Network
from boolcomp.logic.synthesis import Finished
from boolcomp.targets.rtl import graph_of
from boolcomp.terms.extract import Terms
from boolcomp.words.graph import Lookup
from boolcomp.words.simulation import row_planes

DEMAND = Demand(bits=5, rms=(0.6,), effort=0.0, seed=3)


@cache
def torques() -> Terms:
    return terms_of(small_robot(3, 1))


@pytest.fixture(name="fewer", autouse=True, scope="module")
def few() -> Iterator[None]:
    with fewer_states(60_000, WINDOW=1 << 15, JUDGED=1 << 16, EXTREMES=1 << 10, VISITS=1 << 16):
        yield


@pytest.fixture(name="store", scope="module")
def store_of_the_exact(tmp_path_factory: pytest.TempPathFactory, fewer: None) -> Path:  # noqa: ARG001
    return tmp_path_factory.mktemp("store")


@pytest.fixture(name="exact", scope="module")
def exact_result(store: Path) -> Built:
    return built_of(torques(), DEMAND, store=store, workers=ALONE)


def approximated(store: Path, how: Any, **more: Any) -> Built:
    demand = replace(DEMAND, approximate=how, **more)
    return built_of(torques(), demand, store=store, workers=ALONE)


def adder() -> Network:
    """Return the sum of two words of three bits, most significant bits first."""
    builder = Builder(6)
    a, b = [builder.input(k) for k in (2, 1, 0)], [builder.input(k) for k in (5, 4, 3)]
    carry, total = 0, []
    for x, y in zip(a, b, strict=True):
        total.append(builder.node(luts.XOR3, x, y, carry))
        carry = builder.node(luts.MAJ3, x, y, carry)
    return builder.build([carry, *reversed(total), 0])


def every_row(inputs: int) -> NDArray[np.uint64]:
    index = np.arange(1 << inputs)
    return np.stack([row_planes(index >> (inputs - 1 - k) & 1) for k in range(inputs)])


WORDS = WordRows(np.arange(4)[None], np.array([4]), np.array([1e9]))
SUMS = ((np.arange(64) >> 3) + (np.arange(64) & 7))[None]


def searching(network: Network, most: float = 1e9) -> Searching:
    """Return a network whose word is to be the sum of both halves of a row's number."""
    words = WORDS._replace(most=np.array([most]))
    return Searching(network, every_row(6), words, SUMS)


def wholly(searched: Searching, node: int, weight: float) -> tuple[bool, NDArray[np.float64]]:
    """Return what inverting a node costs at every row, and whether that may be."""
    order = approximate_kernels.ordered(searched.nodes)
    planes = room(searched.now)
    planes.then[node], planes.marks[node] = ~planes.now[node], approximate_kernels.DIFFERS
    approximate_kernels.follow(searched.nodes, order, 0, planes)
    off = (searched.word - SUMS).astype(np.float64)
    rows = RowWords(searched.word, searched.home, off, np.full((1, 64), weight))
    by, total = np.zeros(64), np.zeros(1)
    good = extra(searched.nodes, searched.words, rows, planes, by, total)
    return bool(good), by


def words_of(network: Network, bits: int = 4) -> NDArray[np.int64]:
    """Return the word that a network makes of every word of its six inputs, node by node."""
    rows = [looked_up(network, word)[:bits] for word in itertools.product((0, 1), repeat=6)]
    return np.asarray(np.array(rows) @ (1 << np.arange(bits)[::-1]), np.int64)


def inverted(network: Network, node: int) -> Network:
    """Return a network one of whose nodes is inverted."""
    nodes = list(network.nodes)
    place = node - 2 - network.inputs
    nodes[place] = nodes[place]._replace(lut=~nodes[place].lut & luts.ALL)
    return Network(network.inputs, tuple(nodes), network.outputs)


@pytest.mark.slow
def test_the_price_of_an_inverted_node_is_the_growth_of_squared_errors() -> None:
    begun = inverted(adder(), 8)  # so that there are errors before
    searched = searching(begun)
    for node in range(searched.nodes.first, len(searched.nodes.fan)):
        good, by = wholly(searched, node, 0.25)
        before, after = words_of(begun) - SUMS[0], words_of(inverted(begun, node)) - SUMS[0]
        assert good
        assert np.allclose(by, 0.25 * (np.square(after) - np.square(before)))


def test_a_flag_is_never_changed_and_no_word_moves_too_far() -> None:
    near = searching(adder(), most=1.0)
    top = int(near.nodes.outs[0])
    good, by = wholly(near, top, 1.0)
    assert not good
    assert (by >= FORBIDDEN).all()
    flagged = searching(adder())
    flagged.words = WORDS._replace(flags=np.array([0]))
    assert not wholly(flagged, top, 1.0)[0]


def searched(worth: float, seed: int = 1, visits: int = 400) -> Searching:
    """Return the adder after a search at what a squared step is worth."""
    found, state = searching(adder()), np.array([seed], np.uint64)
    for _ in range(4):
        off = (found.word - SUMS).astype(np.float64)
        found.run(
            off, np.full((1, 64), worth), SearchBudget(visits, adder().depth, 0.0, 12, 8), state
        )
    return found


def test_a_search_with_dear_errors_changes_no_output() -> None:
    assert equivalent(searched(1e6).network, adder()).holds


@pytest.mark.parametrize("worth", [0.002, 0.03])
def test_a_search_saves_more_than_its_errors_cost(worth: float) -> None:
    found = searched(worth)
    made = found.network
    errors = words_of(made) - SUMS[0]
    assert np.array_equal(found.word[0] - SUMS[0], errors)
    saved = len(adder().nodes) - len(made.nodes)
    assert 0 < worth * np.square(errors).sum() <= saved
    assert made.depth <= adder().depth


def test_a_search_is_repeatable_and_depends_on_its_seed() -> None:
    assert searched(0.01, 7, 60).network == searched(0.01, 7, 60).network
    assert len({str(searched(0.01, seed, 60).network) for seed in range(4)}) > 1


def test_a_search_spends_no_more_than_is_left() -> None:
    found, state = searching(adder()), np.array([3], np.uint64)
    off, weight = np.zeros((1, 64)), np.full((1, 64), 0.002)
    found.run(off, weight, SearchBudget(800, 99, 0.0, 12, 8), state, left=np.array([0.3]))
    cost = 0.002 * np.square(found.word - SUMS).sum()
    assert 0 < cost <= 0.3


ARM = case(small_robot(3, 1), 5)


@pytest.mark.slow
def test_prices_of_entries_are_the_errors_that_simulation_finds() -> None:
    graph, states = ARM.graph(0.3), ARM.states(1 << 13, 1)
    errors, _, _ = deviations(graph, states)
    pricing = Pricing(graph, states, errors)
    core = max(cores_of(graph), key=lambda one: len(one.entries))
    prices = pricing.of(core)
    full = (1 << core.bits) - 1
    for row, entry in itertools.islice(enumerate(core.entries), 0, None, 3):
        by = 1 if entry < full else -1
        entries = np.asarray(core.entries)
        entries[row] += by
        changed = with_entries(graph, core, entries)
        nodes = tuple(changed.get(k, node) for k, node in enumerate(graph.nodes))
        other = Pricing(replace(graph, nodes=nodes), states, errors)
        moved = np.zeros_like(errors)
        for k, result in enumerate(graph.results):
            gone = other.values[result.node] - pricing.values[result.node]
            moved[:, k] = gone / (1 << result.drop)
        grown = ((pricing.errors + moved) ** 2 - pricing.errors**2).mean(axis=0)
        said = prices.linear[:, row] * by + prices.square[:, row]
        assert np.allclose(grown, said, rtol=0.2, atol=2e-4)


@pytest.mark.check
def test_a_result_with_other_tables_holds_and_is_bounded(store: Path) -> None:
    found = approximated(store, "tables", rms=(0.62,))
    loose = built_of(torques(), replace(DEMAND, rms=(0.62,)), store=store, workers=ALONE)
    assert found.nodes <= loose.nodes
    assert found.holds
    assert (found.errors.rms**2 - found.errors.mean**2 <= found.compact.allowed).all()
    assert found.bounds is not None
    assert (found.largest <= np.asarray(found.bounds.steps)).all()
    others = zip(found.compact.graph.nodes, loose.compact.graph.nodes, strict=True)
    assert all(one == other or type(one) is type(other) is Lookup for one, other in others)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "holds"), [(1.1, True), (0.9, False)])
def test_errors_of_a_result_are_measured_once_and_not_used_where_they_are_too_large(
    exact: Built, store: Path, share: float, *, holds: bool
) -> None:
    errors = exact.errors
    compact = replace(exact.compact, allowed=share * (errors.rms**2 - errors.mean**2))
    begin, heard = Begin(compact, Finished(exact.network, exact.steps)), list[Any]()
    results = result_store(torques(), replace(DEMAND, approximate="tables"), store)
    made = Approximation(begin, results, fresh_states(compact), heard.append)
    first, again = made._errors(begin), made._errors(begin)  # noqa: SLF001 (the search takes seconds)
    assert (first is not None) == holds
    assert first is again
    assert len(heard) == 1


@pytest.mark.slow
def test_an_approximated_result_is_kept_beside_the_exact_one(exact: Built, store: Path) -> None:
    first = approximated(store, "tables")
    again = approximated(store, "tables")
    assert again.stored
    assert again.network == first.network
    assert again.compact.demand.approximate == "tables"
    assert built_of(torques(), DEMAND, store=store, workers=ALONE).network == exact.network


@pytest.mark.slow
def test_a_stored_result_with_other_tables_is_believed_and_one_with_another_heap_is_not(
    store: Path,
) -> None:
    approximated(store, "tables")
    results = result_store(torques(), replace(DEMAND, approximate="tables"), store)
    kept = results.find(require_true)
    assert kept is not None
    assert require_true(kept, results).network == kept.network
    graph = kept.compact.graph
    heap = next(k for k, node in enumerate(graph.nodes) if hasattr(node, "constant"))
    other = replace(graph.nodes[heap], constant=graph.nodes[heap].constant ^ 1)  # type: ignore[union-attr,arg-type]
    nodes = (*graph.nodes[:heap], other, *graph.nodes[heap + 1 :])
    wrong = replace(kept, compact=replace(kept.compact, graph=replace(graph, nodes=nodes)))
    with pytest.raises(DataError, match="is not that of its widths"):
        require_true(wrong, results)


@pytest.mark.check
def test_a_result_of_free_changes_holds_and_has_no_graph(exact: Built, store: Path) -> None:
    found = approximated(store, "free", effort=0.1)
    program, problem = found.program(), found.compact.problem
    arrays = problem.draw(1 << 15, 77)
    missed = program.evaluate(*arrays).values - problem.reference(*arrays)
    steps = np.array([output.code.step for output in program.outputs])
    assert ((missed / steps).var(axis=0) <= found.compact.allowed * 1.03).all()
    assert found.holds
    assert found.bounds is None
    assert program.graph is None
    assert not any(np.isfinite(one.bound) for one in program.loads[0].outputs)
    assert exact.bounds is not None
    with pytest.raises(UsageError, match="approximated: free"):
        graph_of(program, program.loads[0])
    results = result_store(torques(), found.compact.demand, store)
    kept = results.find(require_true)
    assert kept is not None
    assert kept.network == found.network
    with pytest.raises(DataError, match="cannot be verified in a shared place"):
        require_true(kept, results)
