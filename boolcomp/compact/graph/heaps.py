"""Bit heaps: adding many bits by full adders, the earliest bits first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS, FALSE, TRUE, Builder, Node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Timed = tuple[int, int]  # depth, literal
EVEN = (1 << 128) // 3  # ones in every second column


@dataclass(slots=True)
class Addition:
    """How columns of literals were added up: of every column what was taken, sum and carry."""

    columns: dict[int, list[int]]
    bits: int
    steps: dict[int, list[tuple[list[int], int, int]]] = field(default_factory=dict)

    def groups(self) -> list[list[list[int]]]:
        """Return of every column which places of it were added, in their order.

        Places count the literals of a column as they come: addends, carries, then sums. What was
        left out as it is always 0 is added in the end.
        """
        columns = [list(self.columns.get(c, ())) for c in range(self.bits)] + [[]]
        found = []
        for c in range(self.bits):
            column, groups = columns[c], []
            free = list(range(len(column)))
            for taken, left, carry in self.steps.get(c, ()):
                group = []
                for literal in taken:
                    group.append(next(place for place in free if column[place] == literal))
                    free.remove(group[-1])
                groups.append(group)
                free.append(len(column))
                column.append(left)
                columns[c + 1].append(carry)
            while len(free) > 1:
                group, free = free[:3], [*free[3:], len(column)]
                groups.append(group)
                column.append(max(column[place] for place in group))
                columns[c + 1].append(2 * FALSE)
            found.append(groups)
        return found


def reduce_columns(
    builder: TimedBuilder,
    columns: Mapping[int, Sequence[int]],
    bits: int,
    said: Addition | None = None,
) -> list[int]:
    """Return the literals of the sum modulo 2^bits, least significant first.

    Each full adder is an XOR and a majority and takes two bits out of the heap whichever it
    takes; so the earliest are taken, for depth. What is done is `said`, if anybody listens.
    """
    waiting: list[list[Timed]] = [[] for _ in range(bits)]
    for column, literals in columns.items():
        if column < bits:
            waiting[column] += [(builder.depth(literal), literal) for literal in literals]
    total = []
    for column in range(bits):
        queue = waiting[column]
        heapq.heapify(queue)
        while len(queue) > 1:
            taken = [heapq.heappop(queue)[1] for _ in range(min(3, len(queue)))]
            three, carry = [*taken, 2 * FALSE][:3], 2 * FALSE
            if column + 1 < bits:
                carry = builder.node(luts.MAJ3, *three)
                if carry != 2 * FALSE:
                    waiting[column + 1].append((builder.depth(carry), carry))
            left = builder.node(luts.XOR3, *three)
            if said is not None:
                said.steps.setdefault(column, []).append((taken, left, carry))
            if left != 2 * FALSE or not queue:
                heapq.heappush(queue, (builder.depth(left), left))
        total.append(queue[0][1] if queue else 2 * FALSE)
    return total


def add_constant(columns: dict[int, list[int]], constant: int, bits: int) -> None:
    """Put the ones of a constant into a heap."""
    for column in range(bits):
        if constant >> column & 1:
            columns.setdefault(column, []).append(2 * TRUE)


def adder_nodes(counts: Sequence[int], dropped: int = 0, constant: int = 0) -> int:
    """Return how many nodes the reduction of columns with these counts of bits takes.

    The ones of a constant are bits too. Of the lowest `dropped` columns only the carry is wanted. A
    single column at the top needs no majorities; carries that would go beyond it are not made.
    """
    nodes, carries = 0, 0
    for column, count in enumerate(counts):
        bits = count + carries + (constant & 1)
        constant >>= 1
        carries = bits >> 1
        if carries:
            nodes += 2 * carries - (column < dropped)
    return nodes - carries


def mean_adder_nodes(counts: Sequence[int], dropped: int = 0) -> float:
    """Return the nodes of a heap with a constant that is not known: the mean of two."""
    return (adder_nodes(counts, dropped, EVEN) + adder_nodes(counts, dropped, EVEN << 1)) / 2


class TimedBuilder(Builder):
    """A builder that knows how many nodes lie before every literal."""

    def __init__(self, inputs: int) -> None:
        super().__init__(inputs)
        self._depths = [0] * (CONSTANTS + inputs)

    def depth(self, literal: int) -> int:
        """Return the number of nodes on the longest way to a literal."""
        return self._depths[literal >> 1]

    def _add(self, node: Node) -> int:
        signal = super()._add(node)
        if signal == len(self._depths):
            self._depths.append(1 + max(self._depths[k] for k in node.operands))
        return signal
