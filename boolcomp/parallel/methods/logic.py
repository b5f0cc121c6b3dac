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
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.logic.luts import operation_kinds
from boolcomp.logic.network import CONSTANTS
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.problem.dynamics.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.network import Network

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
