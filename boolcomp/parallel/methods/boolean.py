"""The Boolean evaluator of Machado et al. 1988 as a task graph: products, partial ORs, sums.

Each table's product terms are dealt out in groups; a group makes one partial output word, partial
words are joined by OR, and a torque's terms are added, both pairwise. AND, OR and the sum are
associative, so that any number of processors can take part (the paper's figure 2a).

A product is its input words ANDed with a mask and compared, then its output word ORed. One logic or
integer operation on a machine word of 32 bits counts as one addition: on a machine with slow
floating point this overstates the logic, never the arithmetic methods.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.problem.dynamics.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


WORD = 32  # bits


@dataclass(frozen=True, slots=True)
class ProductTable:
    """A term's two-level cover, as far as its cost goes; `torque` is the joint it is added to."""

    name: str
    torque: int
    inputs: int
    products: int
    literals: int
    outputs: int

    def __str__(self) -> str:
        return (
            f"{self.name} of torque {self.torque}: {self.products} products, "
            f"{self.literals} literals, {self.inputs} bits in, {self.outputs} out"
        )


def _words(bits: int) -> int:
    """Return how many machine words hold these bits."""
    return max(1, math.ceil(bits / WORD))


def _decode(table: ProductTable) -> Operations:
    """Return what it takes to make a Gray word natural: shift and XOR per doubling."""
    steps = max(1, math.ceil(math.log2(max(2, table.outputs))))
    return Operations(additions=2 * steps * _words(table.outputs))


def boolean_tasks(
    tables: Iterable[ProductTable],
    *,
    groups: int = 1,
    name: str = "boolean",
) -> TaskGraph:
    """Return the graph of an evaluation whose product terms are dealt out in `groups` or more.

    A group never mixes tables, so that there are at least as many as tables. `T11/and/2` is the
    second group of T11, `T11/or/…` joins, `T11/decode` makes a number of the word, `tau1/sum/…`
    adds.
    """
    entries = [table for table in tables if table.products]
    if groups < 1:
        raise UsageError(f"product terms cannot be dealt out in {groups} groups: 1 is the fewest")
    if not entries:
        raise UsageError(f"{name}: no table has a product term, there is nothing to schedule")
    size = max(1, math.ceil(sum(table.products for table in entries) / groups))
    tasks: list[Task] = []
    edges: list[Edge] = []
    terms: dict[int, list[str]] = {}
    for table in entries:
        decoded = _table(table, size, tasks, edges)
        terms.setdefault(table.torque, []).append(decoded)
    for torque, names in sorted(terms.items()):
        _tree(f"tau{torque}/sum", names, Operations(additions=1), 1, tasks, edges)
    graph = TaskGraph(name, tuple(tasks), tuple(edges))
    graph.check()
    return graph


def _table(table: ProductTable, size: int, tasks: list[Task], edges: list[Edge]) -> str:
    """Add a table's tasks; return the last one's name."""
    count = math.ceil(table.products / size)
    ands, words = 2 * _words(table.inputs), _words(table.outputs)
    names = [f"{table.name}/and/{k}" for k in range(1, count + 1)]
    for k, name in enumerate(names, 1):
        share = (table.products + k - 1) // count
        tasks.append(Task(name, Operations(additions=ands * share + words * (share - 1))))
    last = _tree(f"{table.name}/or", names, Operations(additions=words), words, tasks, edges)
    tasks.append(Task(f"{table.name}/decode", _decode(table)))
    edges.append(Edge(last, f"{table.name}/decode", words))
    return f"{table.name}/decode"


def _tree(
    label: str,
    names: Sequence[str],
    operations: Operations,
    words: int,
    tasks: list[Task],
    edges: list[Edge],
) -> str:
    """Add the tasks that join these pairwise until one is left; return its name."""
    left, made = list(names), 0
    while len(left) > 1:
        pairs = [left[k : k + 2] for k in range(0, len(left), 2)]
        left = []
        for pair in pairs:
            if len(pair) == 1:
                left += pair
                continue
            made += 1
            joined = f"{label}/{made}"
            tasks.append(Task(joined, operations))
            edges += [Edge(name, joined, words) for name in pair]
            left.append(joined)
    return left[0]
