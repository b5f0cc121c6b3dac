"""The order of a network's nodes: few values at a time, and room between a value and its use."""

from __future__ import annotations

import numpy as np
import pytest

from boolcomp.logic import luts
from boolcomp.logic.network import Builder, Network
from boolcomp.logic.order import in_order, most_live


def random_network(nodes: int) -> Network:
    rng = np.random.default_rng(5)
    builder = Builder(8)
    literals = [builder.input(k) for k in range(8)]
    for lut in rng.integers(1, 255, nodes).tolist():
        operands = [literals[k] ^ int(rng.integers(2)) for k in rng.integers(0, len(literals), 3)]
        literals.append(builder.node(lut, *operands))
    return builder.build(literals[-nodes // 4 :])


class Bits:
    """The algebra of all 256 input words at once, as whole numbers."""

    ones = (1 << 256) - 1

    def constant(self, value: int) -> int:
        return self.ones * value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        found = 0
        for row in range(0, 8, 1 << 3 - len(operands)):
            if lut >> row & 1:
                term = self.ones
                for k, x in enumerate(operands):
                    term &= x if row >> (2 - k) & 1 else ~x & self.ones
                found |= term
        return found


@pytest.mark.parametrize(("spacing", "variant"), [(0, 0), (4, 0), (12, 3), (0, 1)])
def test_an_order_leaves_the_network_what_it_is(spacing: int, variant: int) -> None:
    network = random_network(150)
    rows = range(256)
    inputs = [sum((row >> k & 1) << row for row in rows) for k in range(8)]
    ordered = in_order(network, spacing, variant)
    assert len(ordered.nodes) == len(network.nodes)
    assert ordered.fold(Bits(), inputs) == network.fold(Bits(), inputs)


def test_greedy_order_needs_no_more_values_at_a_time() -> None:
    network = random_network(150)
    assert most_live(in_order(network)) < most_live(network)


def test_operands_are_as_far_apart_as_asked_where_there_is_other_work() -> None:
    builder = Builder(64)
    sums = []
    for k in range(8):  # eight chains that do not depend on each other
        value = builder.input(8 * k)
        for j in range(1, 8):
            value = builder.node(luts.XOR2, value, builder.input(8 * k + j))
        sums.append(value)
    network = builder.build(sums)
    first = 2 + network.inputs
    nearest = {}
    for spacing in (0, 4):
        nodes = in_order(network, spacing).nodes
        nearest[spacing] = min(
            k + first - signal
            for k, node in enumerate(nodes)
            for signal in node.operands
            if signal >= first
        )
    assert nearest == {0: 1, 4: 4}


def test_variants_differ_and_are_the_same_every_time() -> None:
    network = random_network(150)
    found = [in_order(network, 0, variant) for variant in range(4)]
    assert len(set(found)) > 1
    assert found == [in_order(network, 0, variant) for variant in range(4)]


def test_a_chain_has_no_other_work_and_keeps_its_order() -> None:
    builder = Builder(9)
    value = builder.input(0)
    for k in range(1, 9):
        value = builder.node(luts.AND2, value, builder.input(k))
    network = builder.build([value])
    assert in_order(network, 8) == network
