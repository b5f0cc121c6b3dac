"""Approximation: what it may change, what that costs, and what must hold afterwards."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.word_robots import built_of, small_robot
from samples import terms_of

from boolcomp.common.errors import DataError, DataWarning, UsageError
from boolcomp.common.workers import ALONE
from boolcomp.compact.approximate import kernels
from boolcomp.compact.approximate.free import Start, with_free_changes
from boolcomp.compact.approximate.judge import Judge, drawn
from boolcomp.compact.approximate.move_kernels import (
    Active,
    Choice,
    bare_move,
    patience,
    table_move,
)
from boolcomp.compact.approximate.prices import Pricing, cores_of, with_entries
from boolcomp.compact.approximate.results import approximated as smaller_by
from boolcomp.compact.approximate.row_kernels import FORBIDDEN, Rows, WordRows, extra
from boolcomp.compact.approximate.search_kernels import Asked
from boolcomp.compact.approximate.searching import Searching, arrays_of, room, row_planes
from boolcomp.compact.approximate.tables import Known, logic_of
from boolcomp.compact.demand import APPROXIMATE, Demand, digest, usual_demand
from boolcomp.compact.errors.measure import deviations, network_errors
from boolcomp.compact.errors.samples import States
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.remade import fresh_states, require_true
from boolcomp.compact.result.network import Begin, Finished, synthesiser
from boolcomp.compact.result.store import result_store
from boolcomp.logic import luts
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.network import Builder, Network
from boolcomp.problem.promise import Allowed, Promise
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
        patch.setattr("boolcomp.compact.approximate.free.WINDOW", 1 << 15)
        patch.setattr("boolcomp.compact.approximate.free.JUDGED", 1 << 16)
        patch.setattr("boolcomp.compact.approximate.free.EXTREMES", 1 << 10)
        patch.setattr("boolcomp.compact.approximate.free.VISITS", 1 << 16)
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


WORDS = WordRows(np.arange(4)[None], np.array([4]), np.array([1e9]))
SUMS = ((np.arange(64) >> 3) + (np.arange(64) & 7))[None]


def searching(network: Network, most: float = 1e9) -> Searching:
    """Return a network whose word is to be the sum of both halves of a row's number."""
    words = WORDS._replace(most=np.array([most]))
    return Searching(network, every_row(6), words, SUMS)


def wholly(searched: Searching, node: int, weight: float) -> tuple[bool, NDArray[np.float64]]:
    """Return what inverting a node costs at every row, and whether that may be."""
    order = kernels.ordered(searched.nodes)
    planes = room(searched.now)
    planes.then[node], planes.marks[node] = ~planes.now[node], kernels.DIFFERS
    kernels.follow(searched.nodes, order, 0, planes)
    off = (searched.word - SUMS).astype(np.float64)
    rows = Rows(searched.word, searched.home, off, np.full((1, 64), weight))
    by, total = np.zeros(64), np.zeros(1)
    good = extra(searched.nodes, searched.words, rows, planes, by, total)
    return bool(good), by


def sums(network: Network, row: int) -> int:
    """Return the word that a network makes of a row, node by node."""
    bits = [row >> (5 - k) & 1 for k in range(6)]
    signals = [0, 1, *bits]
    for lut, operands in network.nodes:
        x, y, z = [*(signals[k] for k in operands), 0, 0][:3]
        signals.append(lut >> (4 * x + 2 * y + z) & 1)
    return sum(signals[s] << (3 - k) for k, s in enumerate(network.outputs[:4]))


def inverted(network: Network, node: int) -> Network:
    """Return a network one of whose nodes is inverted."""
    nodes = list(network.nodes)
    place = node - 2 - network.inputs
    nodes[place] = nodes[place]._replace(lut=~nodes[place].lut & luts.ALL)
    return Network(network.inputs, tuple(nodes), network.outputs)


def test_words_are_what_a_network_makes() -> None:
    assert np.array_equal(searching(adder()).word, SUMS)
    other = inverted(adder(), 9)
    assert searching(other).word[0].tolist() == [sums(other, row) for row in range(64)]


def test_the_price_of_an_inverted_node_is_what_words_then_err_by() -> None:
    begun = inverted(adder(), 8)  # so that there are errors before
    searched = searching(begun)
    for node in range(searched.nodes.first, len(searched.nodes.fan)):
        good, by = wholly(searched, node, 0.25)
        before = [sums(begun, row) - SUMS[0, row] for row in range(64)]
        after = [sums(inverted(begun, node), row) - SUMS[0, row] for row in range(64)]
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


def test_levels_and_heights_are_the_nodes_before_and_after() -> None:
    network = adder()
    nodes = arrays_of(network)
    order = kernels.ordered(nodes)
    level = dict.fromkeys(range(nodes.first), 0)
    for s, node in enumerate(network.nodes, nodes.first):
        level[s] = 1 + max(level[k] for k in node.operands)
        assert nodes.level[s] == level[s]
    for s in range(2, len(nodes.fan)):
        readers = [t for t, node in enumerate(network.nodes, nodes.first) if s in node.operands]
        after = [1 + int(nodes.height[t]) for t in readers] + [0] * (s in network.outputs)
        assert nodes.height[s] == max(after)
    assert sorted(order.tolist()) == list(range(nodes.first, len(nodes.fan)))
    assert [level[s] for s in order.tolist()] == sorted(level[s] for s in order.tolist())


def test_the_best_table_is_the_cheapest_of_all() -> None:
    rng = np.random.default_rng(5)
    for seed in range(20):
        searched = searching(adder())
        nodes, node = searched.nodes, 11
        kernels.ordered(nodes)
        seen = rng.integers(0, 2, (3, 40)).astype(np.uint8)
        values, costs = rng.integers(0, 2, 40).astype(np.uint8), rng.normal(0.3, 1.0, 40)
        active = Active(np.arange(40), costs, values, np.zeros(1, np.uint64))
        choice = Choice(np.array([2, 3, 4]), seen, 0, 3)
        state = np.array([seed], np.uint64)
        gain, move = table_move(nodes, node, choice, active, -1e9, state)
        row = seen[0] << 2 | seen[1] << 1 | seen[2]
        every = [costs[(one >> row & 1) != values].sum() for one in range(256)]
        saved = kernels.saved_by(nodes, node, np.array([2, 3, 4]), 1)
        assert gain == pytest.approx(saved - min(every))
        assert every[move[0]] == pytest.approx(min(every))
        bare, _ = bare_move(nodes, node, choice, active)
        single = [
            costs[(value if k < 0 else seen[k] ^ value) != values].sum()
            for k in (-1, 0, 1, 2)
            for value in (0, 1)
        ]
        whole = kernels.saved_by(nodes, node, np.array([2, 2, 2]), 0)
        assert bare == pytest.approx(whole - min(single))


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
    nodes = arrays_of(builder.build([*made[-4:], 0]))
    rng, seen = np.random.default_rng(3), set()
    for node in range(nodes.first, len(nodes.fan)):
        for _ in range(30):
            new = rng.integers(0, node, 3)
            before, refs = living(nodes.fan, nodes.outs, nodes.first), nodes.refs.copy()
            saved = kernels.saved_by(nodes, node, new, 1)
            assert np.array_equal(nodes.refs, refs)  # it only looked
            other = nodes.fan.copy()
            other[node] = new
            assert saved == before - living(other, nodes.outs, nodes.first)
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


def test_waiting_halves_with_every_unit_and_is_the_same_on_any_machine() -> None:
    state = np.array([1], np.uint64)
    drawn_ones = np.array([patience(state) for _ in range(20_000)])
    for most in (1, 2, 3):
        assert (drawn_ones >= most).mean() == pytest.approx(0.5**most, abs=0.01)
    assert drawn_ones.min() >= 0
    assert patience(np.array([1], np.uint64)) == pytest.approx(0.8464183417454265, abs=1e-12)


def searched(worth: float, seed: int = 1, visits: int = 400) -> Searching:
    """Return the adder after a search at what a squared step is worth."""
    found, state = searching(adder()), np.array([seed], np.uint64)
    for _ in range(4):
        off = (found.word - SUMS).astype(np.float64)
        found.run(off, np.full((1, 64), worth), Asked(visits, adder().depth, 0.0, 12, 8), state)
    return found


def test_what_costs_too_much_leaves_a_network_as_it_was() -> None:
    assert equivalent(searched(1e6).network, adder()).holds


@pytest.mark.parametrize("worth", [0.002, 0.01, 0.03])
def test_what_is_saved_is_worth_more_than_what_it_costs_and_is_no_deeper(worth: float) -> None:
    found = searched(worth)
    made = found.network
    errors = [sums(made, row) - int(SUMS[0, row]) for row in range(64)]
    assert np.array_equal(found.word[0] - SUMS[0], errors)
    saved = len(adder().nodes) - len(made.nodes)
    assert 0 < worth * np.square(errors).sum() <= saved
    assert made.depth <= adder().depth


def test_the_same_search_makes_the_same_network_and_another_seed_another() -> None:
    assert searched(0.01, 7, 60).network == searched(0.01, 7, 60).network
    assert len({str(searched(0.01, seed, 60).network) for seed in range(4)}) > 1


def test_no_output_may_cost_more_than_is_left() -> None:
    found, state = searching(adder()), np.array([3], np.uint64)
    off, weight = np.zeros((1, 64)), np.full((1, 64), 0.002)
    found.run(off, weight, Asked(800, 99, 0.0, 12, 8), state, left=np.array([0.3]))
    cost = 0.002 * np.square(found.word - SUMS).sum()
    assert 0 < cost <= 0.3


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
    known: Known = {}
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
def test_where_nothing_is_gained_the_exact_result_is_the_one(
    exact: Built, store: Path, tmp_path: Path
) -> None:
    demand = replace(DEMAND, approximate="tables", seed=DEMAND.seed)
    for place, there in ((store, True), (tmp_path, False)):
        results = result_store(torques(), demand, place, also_shipped=False)
        results.put_same()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            kept = results.find(require_true)
        assert (kept is not None) == there
        if kept is not None:
            assert kept.network == exact.network
            assert kept.compact.demand == demand.completed(torques().problem)
    assert approximated(store, "tables").network == exact.network


@pytest.mark.slow
@pytest.mark.parametrize(("share", "gained"), [(0.0, True), (0.99, False)])
def test_what_nobody_asked_for_must_gain_more_than_a_little(
    exact: Built, tmp_path: Path, share: float, *, gained: bool
) -> None:
    assert exact.nodes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boolcomp.compact.approximate.results.WORTH", share)
        loose = replace(DEMAND, rms=(0.66,))
        own = built_of(torques(), loose, store=tmp_path, workers=ALONE)
        results = result_store(torques(), replace(loose, approximate="tables"), tmp_path)
        wide = replace(own.compact, allowed=1.5 * own.compact.allowed)
        begin = Begin(wide, Finished(own.network, own.steps))
        made = smaller_by(begin, results, fresh_states(wide), lambda _: None)
    assert (made is not None) == gained


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
    start = Start(loose, exact.network, np.zeros((0, 3)), [True])
    made = with_free_changes(start, 0.05)[0].network
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
    assert len(found) == len(APPROXIMATE) == 4


def test_who_says_nothing_of_it_gets_other_tables_but_not_in_code_or_promises() -> None:
    assert usual_demand(8, approximate=None).approximate == "tables"
    assert usual_demand(8, approximate="off").approximate == "off"
    assert usual_demand(8, approximate=None, target="mcu8").approximate == "off"
    promise = Promise((Allowed("tau1", 1.0, "lsb"),))
    assert usual_demand(8, approximate=None, error=promise).approximate == "off"


def test_what_cannot_be_approximated_is_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"approximate 'table'.*tables"):
        Demand(approximate="table")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="target mcu8 is code"):
        Demand(target="mcu8", approximate="tables")
    with pytest.raises(UsageError, match="nothing is proved"):
        CompactChoices(Demand(approximate="free"), certify=True)
