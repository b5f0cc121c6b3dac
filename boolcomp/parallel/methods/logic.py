"""A network of logic as a task graph: level by level, what is of one level side by side.

Every operation of two inputs, and every inversion, is one logic operation on a machine word, which
counts as one addition, as for product terms (`boolean`). A word holds one bit of one sample, or
that bit of many samples. Every group of nodes takes the bits that it reads out of the input words
itself: 2 operations a bit, or of many samples a transposition. The bits of an output word are put
together on one processor, likewise.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.logic.network import CONSTANTS, operation_kinds
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.problem.expressions.algebra import Operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.logic.network import Network


# --------------------------------------------------------------------------------------------------
# The Boolean evaluator of Machado et al. 1988 as a task graph: products, partial ORs, sums.
#
# Each table's product terms are dealt out in groups; a group makes one partial output word, partial
# words are joined by OR, and a torque's terms are added, both pairwise. AND, OR and the sum are
# associative, so that any number of processors can take part (the paper's figure 2a).
#
# A product is its input words ANDed with a mask and compared, then its output word ORed. One logic
# or integer operation on a machine word of 32 bits counts as one addition: on a machine with slow
# floating point this overstates the logic, never the arithmetic methods.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# A network of logic as a task graph: level by level, what is of one level side by side.
# --------------------------------------------------------------------------------------------------


Place = tuple[int, int]  # level and group; level 0 takes bits, the one after the last gives words


def network_tasks(
    network: Network,
    widths: Sequence[int],
    *,
    groups: int = 1,
    samples: int = 1,
    name: str = "compact",
) -> TaskGraph:
    """Return the graph of a network each of whose levels is dealt out in so many groups.

    `widths` are those of the output words. `in/2` takes what group 2 reads, `7/2` is its part of
    level 7, `tau/1` the first output word.
    """
    if groups < 1:
        raise UsageError(f"levels cannot be dealt out in {groups} groups: 1 is the fewest")
    first = CONSTANTS + network.inputs
    places = _places(network, groups)
    work: Counter[Place] = Counter()
    words: dict[tuple[Place, Place], set[int]] = defaultdict(set)
    for signal, node in enumerate(network.nodes, first):
        here = places[signal]
        work[here] += sum(count for _, count in operation_kinds(node.lut))
        for k in node.operands:
            words[places.get(k, (0, here[1])), here].add(k)
    end = 1 + max((level for level, _ in places.values()), default=0)
    bits = iter(network.outputs)
    for number, width in enumerate(widths, 1):
        for k in (next(bits) for _ in range(width)):
            if k >= CONSTANTS:
                words[places.get(k, (0, 1)), (end, number)].add(k)
        work[end, number] = _converting(width, samples)
    taken: dict[Place, set[int]] = defaultdict(set)
    for (before, _), signals in words.items():
        if before[0] == 0:
            taken[before] |= signals
    work.update({place: _converting(len(read), samples) for place, read in taken.items()})
    kinds = {0: "in", end: "tau"}
    names = {place: f"{kinds.get(place[0], place[0])}/{place[1]}" for place in sorted(work)}
    tasks = (Task(task, Operations(additions=work[place])) for place, task in names.items())
    edges = (
        Edge(names[before], names[after], len(words[before, after]))
        for before, after in sorted(words)
    )
    return TaskGraph(name, tuple(tasks), tuple(edges))


def _converting(bits: int, samples: int) -> int:
    """Return the operations that take so many bits out of words, or put them into some.

    Of many samples: 3 for each two words that are merged by halves, until there are as many words
    as bits (a power of two), and 6 for each two whose halves are exchanged from there on.
    """
    if samples == 1:
        return 2 * bits
    parts = [min(samples, bits - k) for k in range(0, bits, samples)]
    fields = [1 << (part - 1).bit_length() for part in parts]
    return sum(3 * (samples - n + n * (n.bit_length() - 1)) for n in fields)


def _places(network: Network, groups: int) -> dict[int, Place]:
    """Return every node's level and group: equally many a group, near what they read."""
    first = CONSTANTS + network.inputs
    depth: dict[int, int] = {}
    levels: dict[int, list[int]] = defaultdict(list)
    for signal, node in enumerate(network.nodes, first):
        depth[signal] = 1 + max(depth.get(k, 0) for k in node.operands)
        levels[depth[signal]].append(signal)
    places: dict[int, Place] = {}
    for level, signals in sorted(levels.items()):
        room = dict.fromkeys(range(1, groups + 1), math.ceil(len(signals) / groups))
        for signal in signals:
            operands = network.nodes[signal - first].operands
            near = Counter(places[k][1] for k in operands if k in places)
            group = max(room, key=lambda g: (near[g], room[g], -g))
            places[signal] = level, group
            room[group] -= 1
            if not room[group]:
                del room[group]
    return places
