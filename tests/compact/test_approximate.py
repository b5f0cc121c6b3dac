"""Approximation: what it may change, what that costs, and what must hold afterwards."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.word_robots import built_of, small_robot
from samples import terms_of

from boolcomp.common.errors import DataError, UsageError
from boolcomp.common.workers import ALONE
from boolcomp.compact.approximate import kernels
from boolcomp.compact.approximate.free import Start, with_free_changes
from boolcomp.compact.approximate.judge import Judge, drawn
from boolcomp.compact.approximate.prices import Pricing, cores_of, with_entries
from boolcomp.compact.approximate.sweeps import Breadth, Sweeping, by_levels, row_planes
from boolcomp.compact.approximate.tables import logic_of
from boolcomp.compact.demand import APPROXIMATE, Demand, digest
from boolcomp.compact.errors.measure import deviations, network_errors
from boolcomp.compact.errors.samples import States
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.remade import require_true
from boolcomp.compact.result.network import synthesiser
from boolcomp.compact.result.store import result_store
from boolcomp.logic import luts
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.network import Builder, Network
from boolcomp.targets.names import why_no_graph
from boolcomp.targets.rtlmaker import graph_of
from boolcomp.words.graph import Lookup
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.compact.result.built import Built
    from boolcomp.terms import Terms

DEMAND = Demand(bits=5, rms=(0.6,), effort=0.0, seed=3)


@cache
def torques() -> Terms:
    return terms_of(small_robot(3, 1))


@pytest.fixture(name="fewer", autouse=True, scope="module")
def fewer_states() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boolcomp.compact.widths.passes.SEEN", 20_000)
        patch.setattr("boolcomp.compact.remade.FRESH_SAMPLES", 60_000)
        patch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 40_000)
        patch.setattr("boolcomp.compact.widths.passes.EVALUATIONS", 40_000)
        patch.setattr("boolcomp.compact.widths.passes.CLIMBED", 40_000)
        patch.setattr("boolcomp.compact.approximate.judge.WINDOW", 1 << 13)
        patch.setattr("boolcomp.compact.approximate.judge.JUDGED", 1 << 16)
        patch.setattr("boolcomp.compact.approximate.free.EXTREMES", 1 << 10)
        patch.setattr("boolcomp.compact.approximate.free.VISITS", 1 << 14)
        words_of(adder())  # loops are compiled
        Sweeping(adder(), every_row(6), sums_wanted(1.0), Breadth(20, 8)).sweep(
            np.random.default_rng(0)
        )
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


# What a change costs


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


def sums_wanted(weight: float, most: float = 1e9) -> kernels.Rows:
    """Return that words are to be the sums of both halves of a row's number."""
    index = np.arange(64)
    home = ((index >> 3) + (index & 7))[None]
    return kernels.Rows(
        np.arange(4)[None], np.array([4]), np.full((1, 64), weight), home.astype(np.float64),
        home.astype(np.int64), np.array([most]),
    )  # fmt: skip


def words_of(network: Network) -> NDArray[np.int64]:
    swept = Sweeping(network, every_row(6), sums_wanted(1.0), Breadth(20, 8))
    return np.asarray(swept.words[0])


def test_words_are_what_a_network_makes() -> None:
    index = np.arange(64)
    assert np.array_equal(words_of(adder()), (index >> 3) + (index & 7))


def test_the_price_of_an_inverted_node_is_what_words_then_err_by() -> None:
    rows = sums_wanted(0.25)
    swept = Sweeping(adder(), every_row(6), rows, Breadth(20, 8))
    for node in range(swept.first, len(swept.fan)):
        kernels.flip(swept.fan, swept.lut, swept.planes, node, swept.after, swept.flipped)
        net = swept.planes, swept.flipped, swept.after
        assert kernels.flip_costs(net, swept.outs, rows, swept.words, swept.found)
        nodes = list(by_levels(adder()).nodes)
        place = node - swept.first
        nodes[place] = nodes[place]._replace(lut=~nodes[place].lut & luts.ALL)
        inverted = Network(6, tuple(nodes), by_levels(adder()).outputs)
        off = words_of(inverted) - rows.target[0]
        assert np.allclose(swept.found, 0.25 * off**2)


def test_a_flag_is_never_changed_and_no_word_moves_too_far() -> None:
    rows = sums_wanted(1.0, most=1.0)
    swept = Sweeping(adder(), every_row(6), rows, Breadth(20, 8))
    top = int(swept.outs[0])
    kernels.flip(swept.fan, swept.lut, swept.planes, top, swept.after, swept.flipped)
    net = swept.planes, swept.flipped, swept.after
    assert kernels.flip_costs(net, swept.outs, rows, swept.words, swept.found)
    assert (swept.found >= kernels.FORBIDDEN).all()
    flagged = rows._replace(flags=np.array([0]))
    assert not kernels.flip_costs(net, swept.outs, flagged, swept.words, swept.found)


def test_the_best_table_is_the_cheapest_of_all() -> None:
    rng = np.random.default_rng(5)
    x, y, z, values = rng.integers(0, 2, (4, 40)).astype(np.uint8)
    costs = rng.normal(0.3, 1.0, 40)
    rows = values, costs, costs**2
    table, cost = kernels.best_table(x, y, z, rows, 0.0)
    row = x << 2 | y << 1 | z
    every = [costs[(one >> row & 1) != values].sum() for one in range(256)]
    assert cost == pytest.approx(min(every))
    assert every[table] == pytest.approx(min(every))


def living(fan: NDArray[np.int64], outs: NDArray[np.int64], first: int) -> int:
    """Return how many nodes outputs need."""
    needed, waiting = set(), [int(s) for s in outs]
    while waiting:
        s = waiting.pop()
        if s >= first and s not in needed:
            needed.add(s)
            waiting += [int(k) for k in fan[s]]
    return len(needed)


def test_what_a_change_of_operands_saves_is_what_outputs_no_longer_need() -> None:
    builder = Builder(6)
    made = [builder.input(k) for k in range(6)]
    for k in range(12):  # every node reads the one before it, and an earlier one
        made.append(builder.node((luts.XOR3, luts.MAJ3)[k % 2], made[-1], made[k // 2], made[k]))
    network = builder.build([*made[-4:], 0])
    swept = Sweeping(network, every_row(6), sums_wanted(1.0), Breadth(20, 8))
    rng, seen = np.random.default_rng(3), set()
    for node in range(swept.first, len(swept.fan)):
        for _ in range(30):
            new = rng.integers(0, node, 3)
            before, refs = living(swept.fan, swept.outs, swept.first), swept.refs.copy()
            saved = kernels.saved_by(swept.nodes, node, new, 1)
            assert np.array_equal(swept.refs, refs)  # it only looked
            other = swept.fan.copy()
            other[node] = new
            assert saved == before - living(other, swept.outs, swept.first)
            seen.add(saved)
    assert len(seen) > 1


def test_errors_hold_only_where_they_are_surely_below_what_is_allowed() -> None:
    errors = np.random.default_rng(1).normal(0.0, 0.5, (10_000, 2))
    squares = errors**2
    spread = squares.std(axis=0) / 100
    nothing = States({}, {}, errors)

    def judged(allowed: Any, *, centred: bool = False, by: float = 0.0) -> Any:
        judge = Judge(allowed, np.array([centred] * 2), nothing, nothing)
        return judge.left_by(errors + by)

    most = squares.mean(axis=0) + 1.5 * spread
    assert judged(most - 1e-9) is None
    assert judged(most + np.array([1e-3, -1e-3])) is None
    assert judged(most + 0.25) == pytest.approx(0.25)
    assert judged(most + 0.02, by=0.3) is None
    assert judged(most + 0.02, by=0.3, centred=True) is not None


def test_rows_that_are_alike_are_one() -> None:
    rng = np.random.default_rng(6)
    seen = rng.integers(0, 2, (3, 500)).astype(np.uint8)
    values = rng.integers(0, 2, 500).astype(np.uint8)
    costs = rng.normal(0.3, 1.0, 500)
    found, marks, total, squares = kernels.pooled(seen, values, costs)
    assert found.shape == (3, 16)
    for row in range(16):
        same = (seen == found[:, row, None]).all(axis=0) & (values == marks[row])
        assert total[row] == pytest.approx(costs[same].sum())
        assert squares[row] == pytest.approx((costs[same] ** 2).sum())
    assert kernels.pooled(seen[:, :9], values[:9], costs[:9])[0].shape == (3, 9)


def test_what_costs_too_much_leaves_a_network_as_it_was() -> None:
    swept = Sweeping(adder(), every_row(6), sums_wanted(1e6), Breadth(20, 8))
    for turn in range(4):
        swept.sweep(np.random.default_rng(turn))
    assert equivalent(swept.network(), adder()).holds


@pytest.mark.parametrize("worth", [0.002, 0.01, 0.03])
def test_what_is_saved_is_worth_more_than_what_it_costs_and_is_no_deeper(worth: float) -> None:
    swept = Sweeping(adder(), every_row(6), sums_wanted(worth), Breadth(20, 8))
    for turn in range(4):
        swept.sweep(np.random.default_rng(turn))
    made, index = swept.network(), np.arange(64)
    cost = worth * ((words_of(made) - (index >> 3) - (index & 7)) ** 2).sum()
    assert cost == pytest.approx(swept.costs.sum())
    assert len(made.nodes) < len(adder().nodes)
    assert cost <= len(adder().nodes) - len(made.nodes) + 0.5  # and what led elsewhere
    assert made.depth <= adder().depth


def test_the_same_sweeps_make_the_same_network() -> None:
    made = []
    for _ in range(2):
        swept = Sweeping(adder(), every_row(6), sums_wanted(0.01), Breadth(20, 8))
        swept.sweep(np.random.default_rng(7), 5)
        made.append(swept.network())
    assert made[0] == made[1]


# Tables


@pytest.mark.slow
def test_the_entries_of_cores_are_those_of_tables(exact: Built) -> None:
    graph = exact.compact.graph
    cores = cores_of(graph)
    assert cores
    for core in cores:
        for place, table in with_entries(graph, core, np.asarray(core.entries)).items():
            assert table == graph.nodes[place]


@pytest.mark.slow
def test_logic_is_that_of_its_core_whatever_else_is_known(exact: Built) -> None:
    cores = cores_of(exact.compact.graph)
    known: dict[tuple[int, tuple[int, ...]], Network] = {}
    nets = logic_of(cores, known, synthesiser("nodes"))
    other = replace(cores[0], inputs=cores[0].inputs - 1, entries=cores[0].entries[::2])
    again = logic_of([other, *cores[::-1]], known, synthesiser("nodes"))
    assert again[1:] == nets[::-1]
    assert [net.inputs for net in again] == [one.inputs for one in (other, *cores[::-1])]


@pytest.mark.slow
def test_prices_of_entries_are_what_simulation_says(exact: Built) -> None:
    compact = exact.compact
    graph, states = compact.graph, drawn(compact, 1 << 13, 1)
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


@pytest.mark.slow
def test_a_graph_with_other_tables_is_its_network_and_holds_and_is_bounded(
    exact: Built, store: Path
) -> None:
    found = approximated(store, "tables", rms=(0.62,))
    loose = built_of(torques(), replace(DEMAND, rms=(0.62,)), store=store, workers=ALONE)
    assert found.nodes <= loose.nodes
    assert found.holds
    assert (found.errors.rms**2 - found.errors.mean**2 <= found.compact.allowed).all()
    assert found.bounds is not None
    assert (found.largest <= np.asarray(found.bounds.steps)).all()
    states = drawn(found.compact, 1 << 12, 9)
    simulated = simulate(found.compact.graph, states.words).words
    own, _, _ = network_errors(found.network, found.compact.graph, states)
    there, _, _ = deviations(found.compact.graph, states)
    assert np.array_equal(own, there)
    assert len(simulated) == len(own)
    assert [type(one) for one in found.compact.graph.nodes] == [
        type(one) for one in loose.compact.graph.nodes
    ]
    others = zip(found.compact.graph.nodes, loose.compact.graph.nodes, strict=True)
    assert all(one == other or isinstance(one, Lookup) for one, other in others)
    assert exact.nodes


@pytest.mark.slow
def test_what_is_approximated_is_read_back_and_kept_beside_the_exact_one(
    exact: Built, store: Path
) -> None:
    first = approximated(store, "tables")
    again = approximated(store, "tables")
    assert again.stored
    assert again.network == first.network
    assert again.compact.demand.approximate == "tables"
    assert built_of(torques(), DEMAND, store=store, workers=ALONE).network == exact.network


@pytest.mark.slow
def test_other_tables_are_believed_of_others_and_other_structure_is_not(
    exact: Built, store: Path
) -> None:
    assert exact.holds
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
    with pytest.raises(DataError, match="not what its widths make"):
        require_true(wrong, results)


# Free


@pytest.mark.slow
def test_where_more_is_allowed_logic_that_is_changed_is_smaller_and_as_shallow(
    exact: Built,
) -> None:
    compact = exact.compact
    loose = replace(compact, allowed=1.2 * compact.allowed)
    made = with_free_changes(Start(loose, exact.network, np.zeros((0, 3))), [True], 0.05)
    assert len(made.nodes) < exact.nodes
    assert made.depth <= exact.depth
    errors, _, _ = network_errors(made, compact.graph, drawn(compact, 1 << 16, 5))
    assert (errors.var(axis=0) <= 1.02 * loose.allowed).all()
    hard = drawn(compact, 1 << 10, 6)
    before, _, _ = network_errors(exact.network, compact.graph, hard)
    after, _, _ = network_errors(made, compact.graph, hard)
    assert np.abs(after - before).max() <= 7


@pytest.mark.slow
def test_freely_changed_logic_holds_and_keeps_no_graph(exact: Built, store: Path) -> None:
    found = approximated(store, "free", effort=0.1)
    allowed = found.compact.allowed
    fresh = drawn(found.compact, 1 << 15, 77)
    errors, _, _ = network_errors(found.network, found.compact.graph, fresh)
    assert (errors.var(axis=0) <= allowed * 1.03).all()
    assert found.holds
    assert found.bounds is None
    program = found.program()
    assert program.graph is None
    assert not any(np.isfinite(one.bound) for one in program.loads[0].outputs)
    assert why_no_graph(program) == "compact mode, approximated: free"
    assert exact.bounds is not None
    with pytest.raises(UsageError, match="approximated: free"):
        graph_of(program, program.loads[0])
    results = result_store(torques(), found.compact.demand, store)
    kept = results.find(require_true)
    assert kept is not None
    assert kept.network == found.network
    with pytest.raises(DataError, match="believed where nobody else can write"):
        require_true(kept, results)


# What may be asked


def test_a_demand_without_approximation_has_the_key_of_before() -> None:
    assert "approximate" not in DEMAND.key
    assert replace(DEMAND, approximate="tables").exact == DEMAND
    demands = [replace(DEMAND, approximate=how) for how in APPROXIMATE]
    found = {digest(torques().problem, one) for one in demands}
    assert len(found) == 3


def test_what_cannot_be_approximated_is_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"approximate 'table'.*tables"):
        Demand(approximate="table")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="target mcu8 is code"):
        Demand(target="mcu8", approximate="tables")
    with pytest.raises(UsageError, match="no longer its word graph"):
        CompactChoices(Demand(approximate="free"), certify=True)
