"""Equivalence: exhaustive, by proof, never wrong, and differences come with a witness."""

from __future__ import annotations

import signal
from itertools import combinations, product

import pytest
from bitarray import frozenbitarray
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesis.networks import networks, random_network, tables

from boolcomp.common.errors import UsageError
from boolcomp.logic import luts, simulation
from boolcomp.logic.blif import clean
from boolcomp.logic.equivalence import Comparison, equivalent, evaluate, matches
from boolcomp.logic.network import Builder, Network, Node
from boolcomp.logic.sat import Solver
from boolcomp.logic.sweep import sweep_miter
from boolcomp.logic.synthesis.builtin.diagram import diagram_networks
from boolcomp.logic.truthtable import TruthTable
from boolcomp.twolevel.clock import Clock


def adder(bits: int, *, majority: bool) -> Network:
    """Return a ripple adder whose carries are majorities, or ANDs and ORs."""
    builder = Builder(2 * bits)
    carry, sums = 0, []
    for k in reversed(range(bits)):
        x, y = builder.input(k), builder.input(bits + k)
        if majority:
            sums.append(builder.node(luts.XOR3, x, y, carry))
            carry = builder.node(luts.MAJ3, x, y, carry)
        else:
            half = builder.node(luts.XOR2, x, y)
            sums.append(builder.node(luts.XOR2, half, carry))
            both = builder.node(luts.AND2, x, y)
            carry = builder.node(luts.AND_OR, both, half, carry)
    return builder.build([*sums, carry])


def spoiled(network: Network, place: int) -> Network:
    """Return a network with another table at one node, at two rows."""
    nodes = list(network.nodes)
    nodes[place] = Node(nodes[place].lut ^ 0x81, nodes[place].operands)
    return Network(network.inputs, tuple(nodes), network.outputs)


def shown(a: Network, b: Network, verdict: Comparison) -> bool:
    """Tell whether a verdict's witness shows a difference at the output it names."""
    assert verdict.witness is not None
    assert verdict.output is not None
    x, y = evaluate(a, verdict.witness), evaluate(b, verdict.witness)
    return x[verdict.output] != y[verdict.output]


@given(networks, networks)
def test_the_verdict_is_that_of_the_truth_tables(a: Network, b: Network) -> None:
    if (a.inputs, len(a.outputs)) != (b.inputs, len(b.outputs)):
        with pytest.raises(UsageError, match="cannot be compared"):
            equivalent(a, b)
        return
    verdict = equivalent(a, b)
    assert verdict.holds == (simulation.truth_planes(a) == simulation.truth_planes(b))
    assert verdict.holds or shown(a, b, verdict)


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_sweeping_agrees_with_trying_everything(seed: int, inputs: int) -> None:
    a = random_network(seed, inputs, 12, 2)
    b = random_network(seed + 1, inputs, 12, 2)
    for other in (b, clean(a), diagram_networks(table_from(a))[0]):
        proof = sweep_miter(a, other, Clock())
        assert proof.equal == equivalent(a, other).holds
        assert proof.equal or evaluate(a, proof.witness or ()) != evaluate(
            other, proof.witness or ()
        )


def table_from(network: Network) -> TruthTable:
    planes = simulation.truth_planes(network)
    return TruthTable(network.inputs, tuple(column_of(plane, network.inputs) for plane in planes))


def column_of(plane: int, inputs: int) -> frozenbitarray:
    return frozenbitarray(plane >> row & 1 for row in range(1 << inputs))


@pytest.mark.parametrize("bits", [5, 8, 10])
def test_two_kinds_of_adder_are_equal_at_every_input_word(bits: int) -> None:
    verdict = equivalent(adder(bits, majority=True), adder(bits, majority=False))
    assert (verdict.verdict, verdict.method, verdict.cases) == (
        "equivalent",
        "exhaustive",
        1 << (2 * bits),
    )


def test_adders_of_many_bits_are_proved_equal() -> None:
    verdict = equivalent(adder(32, majority=True), adder(32, majority=False))
    assert (verdict.verdict, verdict.method) == ("equivalent", "sweeping")


def test_a_difference_that_random_words_miss_is_found_by_proof() -> None:
    builder = Builder(40)
    everything = builder.all_of(builder.input(k) ^ (k % 3 == 0) for k in range(40))
    a = builder.build([builder.node(luts.XOR2, builder.input(0), everything)])
    b = builder.build([builder.input(0)])
    verdict = equivalent(a, b)
    assert verdict.verdict == "different"
    assert verdict.method != "random simulation"
    assert shown(a, b, verdict)
    assert "output 0 at inputs 0110110110110" in str(verdict)


@pytest.mark.parametrize("bits", [5, 10, 16])
def test_a_spoiled_node_is_found(bits: int) -> None:
    good = adder(bits, majority=True)
    bad = spoiled(good, bits)
    verdict = equivalent(good, bad)
    assert verdict.verdict == "different"
    assert shown(good, bad, verdict)


def test_no_time_means_unknown_and_not_a_guess() -> None:
    a, b = adder(24, majority=True), adder(24, majority=False)
    verdict = equivalent(a, b, deadline=0.0)
    assert verdict.verdict == "unknown"
    assert "ran out of time" in verdict.note


@given(tables())
@settings(max_examples=30)
def test_a_network_matches_its_table_and_not_one_with_a_required_bit_changed(
    table: TruthTable,
) -> None:
    network = diagram_networks(table)[0]
    assert matches(network, table).holds
    planes = list(simulation.truth_planes(network))
    planes[0] ^= 1
    other = TruthTable(table.inputs, tuple(column_of(p, table.inputs) for p in planes))
    verdict = matches(network, other)
    assert (verdict.verdict, verdict.output) == ("different", 0)
    assert verdict.witness == (0,) * table.inputs


@given(networks)
def test_planes_of_words_and_of_integers_agree(network: Network) -> None:
    wide = Network(network.inputs, network.nodes, network.outputs)
    for start, planes in simulation.chunks(network.inputs):
        assert start == 0
        for words, plane in zip(
            simulation.simulate_network(wide, planes), simulation.truth_planes(network), strict=True
        ):
            assert int(words[0]) & simulation.ones(min(6, network.inputs)) == plane & (
                simulation.ones(min(6, network.inputs))
            )


def test_a_network_without_outputs_is_equal_to_itself() -> None:
    assert equivalent(Network(2, (), ()), Network(2, (), ())).holds


def pigeons(holes: int) -> Solver:
    """Return clauses that put one pigeon too many into holes: false, and hard to prove."""
    solver = Solver()
    places = [[2 * solver.variable() for _ in range(holes)] for _ in range(holes + 1)]
    for mine in places:
        solver.add(mine)
    for a, b in combinations(places, 2):
        for x, y in zip(a, b, strict=True):
            solver.add([x ^ 1, y ^ 1])
    return solver


class Looks(Clock):
    """A clock that counts how often somebody looks, and is over at the third time."""

    looks = 0

    @property
    def over(self) -> bool:
        self.looks += 1
        return self.looks > 2


def test_a_proof_looks_at_the_clock_between_slices_and_gives_up() -> None:
    clock = Looks()
    assert pigeons(12).solve((), 10**9, clock) is None
    assert clock.looks == 3


def test_a_proof_takes_no_more_conflicts_than_it_may() -> None:
    assert pigeons(12).solve((), 1, Clock()) is None
    assert pigeons(4).solve((), 10**6, Clock()) is False


def test_a_signal_is_heard_in_the_middle_of_a_proof() -> None:
    def heard(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, heard)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            pigeons(14).solve((), 10**9, Clock())
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=14))
def test_a_model_satisfies_every_clause_and_none_is_denied_where_there_is_one(
    clauses: list[list[int]],
) -> None:
    solver = Solver()
    for _ in range(5):
        solver.variable()
    for clause in clauses:
        solver.add(clause)
    found = solver.solve((), 1000, Clock())
    words = [
        word
        for word in product((0, 1), repeat=5)
        if all(any(word[k >> 1] ^ (k & 1) for k in clause) for clause in clauses)
    ]
    assert found is bool(words)
    assert not found or solver.model(range(0, 10, 2)) in words
