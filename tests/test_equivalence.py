"""Equivalence: exhaustive, by proof, never wrong, and differences come with a witness."""

import signal
from itertools import combinations, product
from typing import Any

import pytest
from bitarray import frozenbitarray
from hypothesis import example, given, settings
from hypothesis import strategies as st
from synthesis.networks import adder, networks, tables

import boolcomp as bc
from boolcomp.logic import (
    AND2,
    XOR2,
    Builder,
    Network,
    Solver,
    TruthTable,
    diagram_networks,
    equivalent,
    evaluate,
    matches,
    truth_planes,
)
from boolcomp.twolevel import Clock


def shown(a: Network, b: Network, verdict: Any) -> bool:
    """Tell whether a verdict's witness shows a difference at the output it names."""
    assert verdict.witness is not None
    assert verdict.output is not None
    x, y = evaluate(a, verdict.witness), evaluate(b, verdict.witness)
    return bool(x[verdict.output] != y[verdict.output])


@given(networks, networks)
def test_the_verdict_is_that_of_the_truth_tables(a: Network, b: Network) -> None:
    if (a.inputs, len(a.outputs)) != (b.inputs, len(b.outputs)):
        with pytest.raises(bc.UsageError, match="cannot be compared"):
            equivalent(a, b)
    else:
        verdict = equivalent(a, b)
        assert verdict.holds == (truth_planes(a) == truth_planes(b))
        assert verdict.holds or shown(a, b, verdict)


@given(networks, networks)
@example(Network(0, (), (0,)), Network(0, (), (1,)))
def test_sweeping_agrees_with_trying_everything(a: Network, b: Network) -> None:
    planes = truth_planes(a)
    columns = [frozenbitarray(p >> row & 1 for row in range(1 << a.inputs)) for p in planes]
    same = diagram_networks(TruthTable(a.inputs, tuple(columns)))[0]
    alike = (a.inputs, len(a.outputs)) == (b.inputs, len(b.outputs))
    for other in (same, b) if alike else (same,):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("boolcomp.logic.equivalence.RANDOM_WORDS", 1)
            proof = equivalent(a, other, most_exhaustive=-1)
        assert proof.holds == (planes == truth_planes(other))
        assert proof.holds or shown(a, other, proof)


@pytest.mark.parametrize(
    ("bits", "method", "cases"),
    [(5, "exhaustive", 1 << 10), (10, "exhaustive", 1 << 20), (32, "sweeping", 0)],
)
def test_two_kinds_of_adder_are_proved_equal(bits: int, method: str, cases: int) -> None:
    verdict = equivalent(adder(bits, majority=True), adder(bits, majority=False))
    assert (verdict.verdict, verdict.method) == ("equivalent", method)
    assert not cases or verdict.cases == cases


def test_a_difference_that_random_words_miss_is_found_by_proof() -> None:
    builder = Builder(40)
    everything = builder.all_of(builder.input(k) ^ (k % 3 == 0) for k in range(40))
    a = builder.build([builder.node(XOR2, builder.input(0), everything)])
    b = builder.build([builder.input(0)])
    verdict = equivalent(a, b)
    assert verdict.verdict == "different"
    assert verdict.method != "random simulation"
    assert shown(a, b, verdict)
    assert "output 0 at inputs 0110110110110" in str(verdict)


def test_without_time_the_verdict_is_unknown() -> None:
    a, b = adder(24, majority=True), adder(24, majority=False)
    verdict = equivalent(a, b, deadline=0.0)
    assert verdict.verdict == "unknown"
    assert "ran out of time" in verdict.note


@given(tables())
@settings(max_examples=30)
def test_a_network_matches_its_table_and_none_with_a_required_bit_changed(
    table: TruthTable,
) -> None:
    network = diagram_networks(table)[0]
    assert matches(network, table).holds
    planes = list(truth_planes(network))
    planes[0] ^= 1
    columns = [frozenbitarray(p >> row & 1 for row in range(1 << table.inputs)) for p in planes]
    verdict = matches(network, TruthTable(table.inputs, tuple(columns)))
    assert (verdict.verdict, verdict.output) == ("different", 0)
    assert verdict.witness == (0,) * table.inputs


@pytest.mark.parametrize("low", [3, 6, 9])
def test_every_input_word_is_tried_and_the_first_that_shows_a_difference_is_told(
    low: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.logic.simulation.CHUNK_INPUTS", low)
    monkeypatch.setattr("boolcomp.logic.simulation.INTEGER_INPUTS", 4)
    for inputs in (9, 4):  # in chunks, and as integers
        plain = Builder(inputs)
        a = plain.build([plain.input(0)])
        for word in (0, 1, 77 % 2**inputs, 2**inputs - 1):
            bits = tuple(word >> k & 1 for k in reversed(range(inputs)))
            builder = Builder(inputs)
            there = builder.all_of(builder.input(k) ^ (bit == 0) for k, bit in enumerate(bits))
            verdict = equivalent(a, builder.build([builder.node(XOR2, builder.input(0), there)]))
            assert (verdict.witness, verdict.cases) == (bits, 2**inputs)


@pytest.mark.parametrize("bit", [0, 1])
def test_random_words_show_a_difference_where_most_inputs_are_equal(bit: int) -> None:
    builder = Builder(60)
    there = builder.all_of(builder.input(k) ^ (bit == 0) for k in range(20, 60))
    odd = builder.node(XOR2, builder.input(0), there)
    verdict = equivalent(builder.build([odd]), builder.build([builder.input(0)]))
    assert (verdict.verdict, verdict.method) == ("different", "random simulation")
    assert verdict.witness is not None
    assert set(verdict.witness[20:]) == {bit}
    assert equivalent(builder.build([odd]), builder.build([builder.input(0)])) == verdict


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
    """A clock that counts how often it is asked, and is over at the third time."""

    looks = 0

    @property
    def over(self) -> bool:
        self.looks += 1
        return self.looks > 2


def test_a_proof_ends_where_its_clock_or_its_conflicts_do() -> None:
    clock = Looks()
    assert pigeons(12).solve((), 10**9, clock) is None
    assert clock.looks == 3
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


def test_products_that_no_random_word_makes_1_are_told_apart_and_proved_equal() -> None:
    """Each is shown to differ from 0 by a word of its own, which is then tried on all others."""
    builder = Builder(60)
    literals = [builder.input(k) ^ (k % 3 == 0) for k in range(60)]
    ends = []
    for order in (literals, literals[::-1]):
        made = order[0]
        for one in order[1:]:
            made = builder.node(AND2, made, one)
        ends.append(made)
    a, b, zero = (builder.build([end]) for end in (*ends, 0))
    verdict = equivalent(a, b)
    assert (verdict.verdict, verdict.method) == ("equivalent", "sweeping")
    other = equivalent(a, zero)
    assert other.verdict == "different"
    assert shown(a, zero, other)
