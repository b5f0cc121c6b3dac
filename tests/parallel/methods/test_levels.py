"""Compact logic as tasks: every node once, levels one after another, conversions counted."""

from __future__ import annotations

import pytest

from boolcomp.common.errors import UsageError
from boolcomp.logic import luts
from boolcomp.logic.network import Builder, Network
from boolcomp.parallel.methods import network_tasks


def adder(bits: int) -> Network:
    """Return a ripple-carry adder: an exclusive OR and a majority for every bit."""
    builder = Builder(2 * bits)
    carry, outputs = 0, []
    for k in range(bits):
        a, b = builder.input(k), builder.input(bits + k)
        outputs.append(builder.node(luts.XOR3, a, b, carry))
        carry = builder.node(luts.MAJ3, a, b, carry)
    return builder.build([*outputs, carry])


def work(groups: int, samples: int = 1) -> dict[str, int]:
    graph = network_tasks(adder(6), (4, 3), groups=groups, samples=samples)
    graph.check()
    return {task.name: task.operations.additions for task in graph.tasks}


@pytest.mark.parametrize("groups", [1, 2, 3, 40])
def test_every_node_is_calculated_once(groups: int) -> None:
    found = work(groups)
    nodes = sum(cost for name, cost in found.items() if name[0] not in "it")
    assert nodes == sum(adder(6).operations().values())
    assert (found["tau/1"], found["tau/2"]) == (2 * 4, 2 * 3)
    taken = sum(cost for name, cost in found.items() if name.startswith("in/"))
    assert taken == 2 * 12 if groups == 1 else taken >= 2 * 12


def test_a_level_waits_for_the_one_before() -> None:
    network = adder(6)
    graph = network_tasks(network, (4, 3), groups=2)
    level = {name: int(name.split("/")[0]) for name in graph.order() if name[0].isdigit()}
    assert max(level.values()) == network.depth
    for edge in graph.edges:
        assert level.get(edge.before, 0) < level.get(edge.after, network.depth + 1)


def test_what_groups_send_is_what_they_read_of_each_other() -> None:
    graph = network_tasks(adder(2), (3,), groups=1)
    words = {(edge.before, edge.after): edge.words for edge in graph.edges}
    # Level 1 reads a0 and b0, level 2 the first carry, a1 and b1.
    assert words["in/1", "1/1"] == 2
    assert words["1/1", "2/1"] == 1
    assert words["in/1", "2/1"] == 2


def transposition(bits: int) -> int:
    """Count the operations of transposing 32 words of which so many bits matter."""
    words, operations = 32, 0
    needed = next(n for n in (1, 2, 4, 8, 16, 32) if n >= bits)
    for _ in range(5):
        if words > needed:
            words //= 2  # of two words one is made: a shift, a mask and an OR
            operations += 3 * words
        else:
            operations += 6 * (words // 2)  # halves are exchanged
    return operations


@pytest.mark.parametrize("bits", [1, 2, 3, 7, 16, 17, 32])
def test_samples_side_by_side_are_transposed(bits: int) -> None:
    graph = network_tasks(adder(32), (bits, 33 - bits), samples=32)
    found = {task.name: task.operations.additions for task in graph.tasks}
    assert found["tau/1"] == transposition(bits)
    assert found["in/1"] == 2 * transposition(32)


def test_no_group_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="0 groups"):
        network_tasks(adder(2), (3,), groups=0)
