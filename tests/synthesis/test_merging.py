"""Nodes merged into those that read them: the same function, and never more nodes."""

from __future__ import annotations

from hypothesis import given
from synthesis.networks import networks

from boolcomp.logic import aiger, luts, simulation
from boolcomp.logic.merging import merged
from boolcomp.logic.netlist import Netlist
from boolcomp.logic.network import Builder, Network


def as_gates(network: Network) -> Network:
    inputs = tuple(f"i{k}" for k in range(network.inputs))
    outputs = tuple(f"o{k}" for k in range(len(network.outputs)))
    return aiger.parse_aiger(aiger.render_binary(Netlist("n", inputs, outputs, network))).network


@given(networks)
def test_the_function_stays_and_nodes_become_no_more(network: Network) -> None:
    for before in (network, as_gates(network)):
        after = merged(before)
        assert simulation.truth_planes(after) == simulation.truth_planes(before)
        assert len(after.nodes) <= len(before.nodes)


def test_gates_of_an_adder_become_two_nodes_a_bit() -> None:
    builder = Builder(17)
    carry, outputs = builder.input(16), []
    for k in range(8):
        a, b = builder.input(k), builder.input(8 + k)
        outputs.append(builder.node(luts.XOR3, a, b, carry))
        carry = builder.node(luts.MAJ3, a, b, carry)
    adder = builder.build([*outputs, carry])
    gates = as_gates(adder)
    assert len(gates.nodes) > 60
    assert len(merged(gates).nodes) == len(adder.nodes) == 16
