"""Diagrams and resubstitution: always the function asked for, no larger, no deeper."""

import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesis.networks import networks, random_network, tables

from boolcomp.logic import (
    Netlist,
    Network,
    TruthTable,
    clean,
    diagram_networks,
    equivalent,
    improve_windows,
    matches,
    merged,
    parse_aiger,
    render_binary,
    resubstitute,
    truth_planes,
)
from boolcomp.twolevel import Clock


@given(tables())
def test_a_diagram_in_any_order_agrees_with_its_table(table: TruthTable) -> None:
    found = diagram_networks(table, 10)
    assert all(matches(network, table).holds for network in found)
    sizes = [len(network.nodes) for network in found]
    assert sizes == sorted(sizes)


@given(networks, st.integers(1, 5))
def test_resubstitution_keeps_the_function_and_saves_nodes(network: Network, seed: int) -> None:
    found = resubstitute(network, Clock(), sweeps=4, seed=seed)
    assert equivalent(network, found).holds
    assert len(found.nodes) <= len(clean(network).nodes)


@given(tables())
def test_resubstitution_uses_dont_cares_and_nothing_else(table: TruthTable) -> None:
    start = diagram_networks(table, 2)[0]
    found = resubstitute(start, Clock(), table=table, sweeps=4)
    assert matches(found, table).holds
    assert len(found.nodes) <= len(start.nodes)


@given(seed=st.integers(0, 10**6), keep=st.booleans())
@settings(max_examples=25)
def test_windows_keep_the_function_and_the_depth(seed: int, *, keep: bool) -> None:
    network = random_network(seed, 12, 80, 10)
    found = improve_windows(network, Clock(), leaves=6, sweeps=4, seed=seed, keep_depth=keep)
    assert equivalent(network, found).holds
    assert len(found.nodes) <= len(clean(network).nodes)
    assert not keep or found.depth <= clean(network).depth


def as_gates(network: Network) -> Network:
    inputs = tuple(f"i{k}" for k in range(network.inputs))
    outputs = tuple(f"o{k}" for k in range(len(network.outputs)))
    return parse_aiger(render_binary(Netlist("n", inputs, outputs, network))).network


@given(networks)
def test_the_function_stays_and_nodes_become_no_more(network: Network) -> None:
    for before in (network, as_gates(network)):
        after = merged(before)
        assert truth_planes(after) == truth_planes(before)
        assert len(after.nodes) <= len(before.nodes)


def resubstituted(seed: int) -> Network:
    return resubstitute(random_network(seed, 5, 30, 4), Clock(), sweeps=4, seed=seed)


def windowed(seed: int) -> Network:
    network = random_network(seed, 10, 50, 6)
    keep = seed % 2 == 0
    return improve_windows(network, Clock(), leaves=5, sweeps=2, seed=seed, keep_depth=keep)


@pytest.mark.parametrize(
    ("smaller", "digest"), [(resubstituted, "c3929d17e40e"), (windowed, "f58c15787739")]
)
def test_a_small_network_becomes_the_one_that_it_always_became(
    smaller: Callable[[int], Network], digest: str
) -> None:
    """Every choice counts: which window is grown, which node is tried and what it reads then."""
    found = "".join(str(smaller(seed)) for seed in range(4))
    assert hashlib.sha256(found.encode()).hexdigest()[:12] == digest
