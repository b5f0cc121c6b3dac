"""Task graphs of logic: product terms joined pairwise, and compact networks by levels."""

import math
from dataclasses import replace

import pytest
from graphs import before
from synthesis.networks import adder

from boolcomp.base import UsageError
from boolcomp.parallel import (
    ProductTable,
    boolean_tasks,
    load_machine,
    make_schedule,
    network_tasks,
)

T11 = ProductTable("T11", 1, inputs=15, products=100, literals=900, outputs=8)
T12 = ProductTable("T12", 1, inputs=11, products=30, literals=180, outputs=6)
T21 = ProductTable("T21", 2, inputs=11, products=30, literals=180, outputs=6)


@pytest.mark.parametrize("groups", [1, 7, 300])
def test_groups_of_products_share_the_same_work_and_are_joined_by_trees(groups: int) -> None:
    tables = [T11, T12, T21]
    graph = boolean_tasks(tables, groups=groups)
    graph.check()
    work = [sum(t.operations.additions for t in g.tasks) for g in (graph, boolean_tasks(tables))]
    assert work[0] == work[1]
    assert len([task for task in graph.tasks if "/and/" in task.name]) >= min(groups, 3)
    level: dict[str, int] = {}
    for name in graph.order():
        edges = graph.predecessors()[name]
        level[name] = 1 + max((level[edge.before] for edge in edges), default=-1)
    assert [n for n, edges in graph.successors().items() if not edges] == [
        "T21/decode", "tau1/sum/1"
    ]  # fmt: skip
    shares = sum(task.name.startswith("T11/and/") for task in graph.tasks)
    assert level["T11/decode"] == 1 + math.ceil(math.log2(shares))


@pytest.mark.parametrize("groups", [2, 5, 16, 64])
def test_product_terms_are_dealt_in_equal_shares(groups: int) -> None:
    tables = [replace(one, products=900 * one.products) for one in (T11, T12, T21)]
    graph = boolean_tasks(tables, groups=groups)
    parts = [t.operations.additions + 1 for t in graph.tasks if "/and/" in t.name]
    assert sum(parts) == 3 * sum(table.products for table in tables)
    assert max(parts) <= sum(parts) / groups + 6
    assert len(parts) <= groups + len(tables) - 1
    machine = load_machine("t800")
    assert make_schedule(graph, machine, groups).speedup > 0.97 * groups


@pytest.mark.parametrize("groups", [1, 3, 40])
def test_every_node_of_a_network_is_calculated_once_level_by_level(groups: int) -> None:
    network = adder(6)
    graph = network_tasks(network, (4, 3), groups=groups, samples=1)
    graph.check()
    cost = {task.name: task.operations.additions for task in graph.tasks}
    nodes = sum(cost for name, cost in cost.items() if name[0].isdigit())
    assert nodes == sum(network.operations().values())
    assert (cost["tau/1"], cost["tau/2"]) == (2 * 4, 2 * 3)
    taken = sum(cost for name, cost in cost.items() if name.startswith("in/"))
    assert taken == 2 * 12 if groups == 1 else taken >= 2 * 12
    level = {name: int(name.split("/")[0]) for name in cost if name[0].isdigit()}
    assert max(level.values()) == network.depth
    assert all(level.get(e.before, 0) < level.get(e.after, 99) for e in graph.edges)
    assert {"in/1"} <= before(graph)["tau/2"]


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


@pytest.mark.parametrize("bits", [1, 3, 16, 17, 32])
def test_samples_side_by_side_are_transposed(bits: int) -> None:
    graph = network_tasks(adder(32), (bits, 33 - bits), samples=32)
    found = {task.name: task.operations.additions for task in graph.tasks}
    assert found["tau/1"] == transposition(bits)
    assert found["in/1"] == 2 * transposition(32)


def test_no_group_and_no_product_are_refused() -> None:
    with pytest.raises(
        UsageError, match="product terms cannot be distributed in 0 groups; give 1 or more"
    ):
        boolean_tasks([T11], groups=0)
    with pytest.raises(UsageError, match="no table has a product term"):
        boolean_tasks([])
    with pytest.raises(UsageError, match="0 groups"):
        network_tasks(adder(2), (3,), groups=0)
