"""Diagrams and resubstitution: always the function asked for, no larger, no deeper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from synthesis.networks import networks, random_network, tables

from boolcomp.logic import (
    clean,
    diagram_networks,
    equivalent,
    improve_windows,
    matches,
    resubstitute,
)
from boolcomp.twolevel import Clock

if TYPE_CHECKING:
    from boolcomp.logic import Network, TruthTable


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
