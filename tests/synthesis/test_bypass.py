"""Chains of nodes bypassed: fewer levels, the same function."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from synthesis.networks import random_network

from boolcomp.logic import luts
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.network import FALSE, Builder, Network
from boolcomp.logic.synthesis.builtin.bypass import bypassed
from boolcomp.logic.synthesis.optimise import optimise
from boolcomp.twolevel.clock import Clock


def adder(bits: int) -> Network:
    """Return the sum of two words, its carries one after the other."""
    builder = Builder(2 * bits)
    carry, total = 2 * FALSE, []
    for k in range(bits):
        three = builder.input(k), builder.input(bits + k), carry
        total.append(builder.node(luts.XOR3, *three))
        carry = builder.node(luts.MAJ3, *three)
    return builder.build([*total, carry])


def test_carries_are_bypassed_for_few_nodes() -> None:
    plain = adder(10)
    made = bypassed(plain, Clock(None))
    assert plain.depth == 10
    assert made.depth <= 6
    assert len(made.nodes) <= 2 * len(plain.nodes)
    assert equivalent(plain, made).holds


@given(st.integers(0, 10**6))
def test_what_is_bypassed_is_equivalent_and_no_deeper(seed: int) -> None:
    network = random_network(seed, 8, 60, 5)
    made = bypassed(network, Clock(None))
    assert equivalent(network, made).holds
    assert made.depth <= network.depth
    assert made == network or made.depth < network.depth


def test_nodes_that_wait_for_nothing_in_particular_stay_as_they_are() -> None:
    builder = Builder(9)
    threes = [builder.node(luts.XOR3, *map(builder.input, range(k, k + 3))) for k in (0, 3, 6)]
    tree = builder.build([builder.node(luts.MAJ3, *threes)])
    assert bypassed(tree, Clock(None)) == tree


def test_passes_for_depth_make_an_adder_of_fewer_levels_without_abc() -> None:
    plain = adder(12)
    made = optimise(plain, None, "depth", rounds=1, use_abc=False)
    assert made.steps[0].name == "bypass"
    assert made.network.depth <= 7
    assert equivalent(plain, made.network).holds
