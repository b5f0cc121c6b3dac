"""Nodes merged into those that read them: the same function, and never more nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from synthesis.networks import networks

from boolcomp.logic import Netlist, merged, parse_aiger, render_binary, truth_planes

if TYPE_CHECKING:
    from boolcomp.logic import Network


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
