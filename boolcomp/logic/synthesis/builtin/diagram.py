"""Truth tables as decision diagrams, one multiplexer a node, in the best of several orders.

All outputs share one diagram; a function and its complement are one node; a part that depends on
the last three inputs alone is one node too. Don't-cares are spent on the way: where the two halves
of a part can be equal, or each other's complement, they are made so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.logic import luts
from boolcomp.logic.network import Builder, Network

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.logic.truthtable import TruthTable

MUX = luts.FIRST & luts.SECOND | ~luts.FIRST & luts.THIRD & luts.ALL  # a ? b : c
_LAST = 3


def diagram_networks(table: TruthTable, tries: int = 24) -> list[Network]:
    """Return the networks of the orders that were tried and differ, the smallest first."""
    source = _Planes(table)
    found: dict[tuple[int, ...], Network] = {}

    def cost(order: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        if order not in found and len(found) < tries:
            found[order] = source.network(order)
        network = found.get(order)
        return (len(network.nodes) if network else 1 << 62), order

    same = tuple(range(table.inputs))
    best = min(same, same[::-1], key=cost)
    improved = True
    while improved and len(found) < tries:
        better = min(_neighbours(best), key=cost, default=best)
        improved = cost(better) < cost(best)
        best = min(best, better, key=cost)
    ranked = sorted(found, key=cost)
    return list(dict.fromkeys(found[order] for order in ranked))


def _neighbours(order: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the orders in which one input has moved: first to the ends, then a place."""
    for k in range(len(order)):
        rest = order[:k] + order[k + 1 :]
        places = (0, len(rest), k + 1, k - 1)
        for place in places:
            if 0 <= place <= len(rest) and place != k:
                yield (*rest[:place], order[k], *rest[place:])


class _Planes:
    """The columns of a table, their inputs to be put in any order."""

    def __init__(self, table: TruthTable) -> None:
        self.inputs = table.inputs
        columns = [*table.columns, *table.free]
        bits = [np.unpackbits(np.frombuffer(c.tobytes(), np.uint8)) for c in columns]
        rows = 1 << table.inputs
        self.cubes = [b[:rows].reshape((2,) * table.inputs) for b in bits]
        if any(c.endian != "big" for c in columns):
            raise ValueError("the columns of a truth table are big-endian")
        self.outputs = table.outputs

    def network(self, order: Sequence[int]) -> Network:
        """Return the network of the diagram in an order, the first input at its top."""
        planes = [self._plane(cube, order) for cube in self.cubes]
        if len(planes) > self.outputs:
            pairs = zip(planes[: self.outputs], planes[self.outputs :], strict=True)
            planes = [filled(on & ~free, free, self.inputs) for on, free in pairs]
        diagram = _Diagram(self.inputs, order)
        return diagram.builder.build(diagram.literal(plane, 0) for plane in planes)

    def _plane(self, cube: np.ndarray, order: Sequence[int]) -> int:
        turned = np.ascontiguousarray(cube.transpose(order)).ravel()
        return int.from_bytes(np.packbits(turned, bitorder="little").tobytes(), "little")


def filled(on: int, free: int, inputs: int) -> int:
    """Return a plane that agrees with `on` outside `free`; its two halves alike if they can be."""
    if not free:
        return on
    if not inputs:
        return 0
    half = 1 << (inputs - 1)
    mask = (1 << half) - 1
    low, high = on & mask, on >> half
    low_free, high_free = free & mask, free >> half
    both, known = low_free & high_free, mask & ~(low_free | high_free)
    if not (low ^ high) & known:
        part = filled(low | high, both, inputs - 1)
        return part << half | part
    if not ~(low ^ high) & known:
        part = filled(low | (high ^ mask) & ~high_free, both, inputs - 1)
        return (part ^ mask) << half | part
    return filled(high, high_free, inputs - 1) << half | filled(low, low_free, inputs - 1)


class _Diagram:
    """Makes the nodes of planes, each once."""

    def __init__(self, inputs: int, order: Sequence[int]) -> None:
        self.inputs = inputs
        self.builder = Builder(inputs)
        self.literals = [self.builder.input(k) for k in order]
        self.known: dict[tuple[int, int], int] = {}

    def literal(self, plane: int, level: int) -> int:
        """Return the literal of a plane over the inputs from a level on."""
        width = 1 << (self.inputs - level)
        everything = (1 << width) - 1
        inverse = plane & 1
        if inverse:
            plane ^= everything
        key = (plane, level)
        if key not in self.known:
            self.known[key] = self._made(plane, level, width)
        return self.known[key] ^ inverse

    def _made(self, plane: int, level: int, width: int) -> int:
        if self.inputs - level <= _LAST:
            return self._last(plane, level)
        half = width // 2
        low, high = plane & ((1 << half) - 1), plane >> half
        if low == high:
            return self.literal(low, level + 1)
        top = self.literals[level]
        a, b = self.literal(high, level + 1), self.literal(low, level + 1)
        if a ^ b == 1:
            return self.builder.node(luts.XOR2, top, b)
        return self.builder.node(MUX, top, a, b)

    def _last(self, plane: int, level: int) -> int:
        """Return the literal of a plane over the last three inputs or fewer."""
        rest = self.literals[level:]
        repeat = 1 << (_LAST - len(rest))  # a function of the first operands, as in `luts`
        lut = 0
        for row in range(8):
            lut |= (plane >> (row // repeat) & 1) << row
        return self.builder.node(lut, *rest)
