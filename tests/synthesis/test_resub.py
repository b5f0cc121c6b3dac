"""Diagrams and resubstitution: always the function asked for, no larger, no deeper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthesis.networks import networks, product, random_network, sine, tables

from boolcomp.logic import simulation
from boolcomp.logic.blif import clean
from boolcomp.logic.equivalence import equivalent, matches
from boolcomp.logic.synthesis.builtin.diagram import diagram_networks, filled
from boolcomp.logic.synthesis.builtin.resub import LevelLimits, resubstitute
from boolcomp.logic.synthesis.builtin.windows import improve_windows
from boolcomp.logic.synthesis.measure import lut6_count, measure
from boolcomp.twolevel.clock import Clock

if TYPE_CHECKING:
    from boolcomp.logic.network import Network
    from boolcomp.logic.truthtable import TruthTable


@given(tables())
def test_a_diagram_in_any_order_agrees_with_its_table(table: TruthTable) -> None:
    found = diagram_networks(table, 10)
    assert all(matches(network, table).holds for network in found)
    sizes = [len(network.nodes) for network in found]
    assert sizes == sorted(sizes)


@given(st.integers(0, 7), st.integers(0))
def test_filling_dont_cares_keeps_the_rest(inputs: int, seed: int) -> None:
    everything = simulation.ones(inputs)
    on, free = seed & everything, seed * 0x9E3779B97F4A7C15 >> 7 & everything
    assert not (filled(on & ~free, free, inputs) ^ on) & ~free & everything


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


@given(networks)
def test_no_output_gets_later_than_allowed(network: Network) -> None:
    network = clean(network)
    found = resubstitute(
        network, Clock(), sweeps=4, timing=LevelLimits.of_depth(network, network.depth)
    )
    assert found.depth <= network.depth


def test_late_inputs_are_read_late() -> None:
    start = diagram_networks(product(3))[0]
    timing = LevelLimits((3, 0, 0, 0, 0, 0), (8,) * 6)
    found = resubstitute(start, Clock(), sweeps=10, timing=timing)
    assert equivalent(start, found).holds


@pytest.mark.parametrize("table", [sine(5, 6), product(3)], ids=["sine", "product"])
def test_the_same_seed_gives_the_same_network(table: TruthTable) -> None:
    start = diagram_networks(table)[0]
    assert resubstitute(start, Clock(), seed=3) == resubstitute(start, Clock(), seed=3)


def test_tables_that_robots_need_get_small() -> None:
    for table, most in ((sine(5, 6), 25), (sine(6, 8), 58), (product(3), 22)):
        start = diagram_networks(table)[0]
        assert len(resubstitute(start, Clock(), table=table).nodes) <= most


@given(seed=st.integers(0, 10**6), keep=st.booleans())
@settings(max_examples=25)
def test_windows_keep_the_function_and_the_depth(seed: int, *, keep: bool) -> None:
    network = random_network(seed, 12, 80, 10)
    found = improve_windows(network, Clock(), leaves=6, sweeps=4, seed=seed, keep_depth=keep)
    assert equivalent(network, found).holds
    assert len(found.nodes) <= len(clean(network).nodes)
    assert not keep or found.depth <= clean(network).depth


def test_what_is_out_of_time_comes_back_as_it_was() -> None:
    network = clean(random_network(5, 8, 60, 5))
    assert resubstitute(network, Clock(0.0)) == network
    assert improve_windows(network, Clock(0.0)) == network


@given(networks)
def test_six_input_tables_are_at_most_the_nodes(network: Network) -> None:
    count = lut6_count(network)
    assert count <= len(network.nodes)
    assert measure(network, "lut6")[0] == count
    assert measure(network, "depth")[0] == network.depth
