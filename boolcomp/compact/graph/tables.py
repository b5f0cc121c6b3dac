"""Tables of one word as logic: symmetric ones folded, the rest handed to synthesis."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.logic import luts
from boolcomp.logic.network import Builder, Network
from boolcomp.words.folding import canonical, fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.graph.tabulate import Tabulated
    from boolcomp.words.folding import Folded

SYNTHESIS = 0.7  # of the nodes of a table by cofactors are left by a better synthesis
Columns = tuple[int, ...]  # truth tables as numbers: bit r of a column is its value at row r


def columns_of(core: Sequence[int], bits: int) -> Columns:
    """Return the columns of a table, least significant first."""
    words = np.asarray(core, dtype=np.int64)
    found = []
    for i in range(bits):
        packed = np.packbits((words >> i & 1).astype(np.uint8), bitorder="little")
        found.append(int.from_bytes(packed.tobytes(), "little"))
    return tuple(found)


@lru_cache(maxsize=1 << 16)
def mux_nodes(inputs: int, columns: Columns) -> int:
    """Return how many nodes `mux_network` takes, without making it."""
    return min(_count_by_order(inputs, columns, order) for order in _orders(inputs))


@lru_cache(maxsize=1 << 10)
def mux_network(inputs: int, columns: Columns) -> Network:
    """Return a network by cofactors with sharing: the best of a few orders of the inputs.

    Its inputs are the bits of the index, least significant first.
    """
    found = [_by_order(inputs, columns, order) for order in _orders(inputs)]
    return min(found, key=lambda network: len(network.nodes))


@cache
def _orders(inputs: int) -> tuple[tuple[int, ...], ...]:
    orders = [tuple(range(inputs)), tuple(reversed(range(inputs)))]
    orders += [(*range(k, inputs), *range(k)) for k in range(1, min(inputs, 4))]
    return tuple(dict.fromkeys(orders))


def _count_by_order(inputs: int, columns: Columns, order: tuple[int, ...]) -> int:
    """Return the nodes of `_by_order`, by counting the functions that it makes nodes of.

    Of a function and its inverse it makes the one whose first value is 0. An output that is the
    other is one node more, and the first is then needed only if something else reads it.
    """
    upright: set[tuple[int, int]] = set()
    inverted: set[tuple[int, int]] = set()
    for table in _arranged(inputs, columns, order):
        level, flipped = inputs, table & 1
        table = table ^ ((1 << (1 << level)) - 1) if flipped else table  # noqa: PLW2901
        while level < 3:
            table |= table << (1 << level)  # noqa: PLW2901
            level += 1
        (inverted if flipped else upright).add(_reduced(level, table))
    needed = set(upright)
    waiting = [*upright, *inverted]
    while waiting:
        level, table = waiting.pop()
        if level == 3:
            continue
        level -= 1
        full = (1 << (1 << level)) - 1
        for half in (table & full, table >> (1 << level)):
            part = _reduced(level, half ^ full if half & 1 else half)
            if part not in needed:
                needed.add(part)
                if part not in inverted:  # else its halves are looked at already
                    waiting.append(part)
    made = sum(not _is_input(*part) for part in needed if part[1])
    return made + sum(table != 0 for _, table in inverted)


def _reduced(level: int, table: int) -> tuple[int, int]:
    """Return a table of so many inputs without the leading ones that it does not depend on."""
    while level > 3:
        half = 1 << (level - 1)
        low = table & ((1 << half) - 1)
        if low != table >> half:
            break
        level, table = level - 1, low
    return level, table


def _is_input(level: int, table: int) -> bool:
    """Tell whether a reduced table is one of its inputs."""
    if level == 3:
        return table in luts.LETTERS
    half = 1 << (level - 1)
    return table == ((1 << half) - 1) << half


def _by_order(inputs: int, columns: Columns, order: tuple[int, ...]) -> Network:
    """Split on inputs order[-1], order[-2] …; the first three are left to one node."""
    builder = Builder(inputs)
    arranged = _arranged(inputs, columns, order)
    memo: dict[tuple[int, int], int] = {}

    def make(level: int, table: int) -> int:
        full = (1 << (1 << level)) - 1
        inverse = table & 1  # one of a function and its inverse is made
        table = table ^ full if inverse else table
        if table == 0:
            return inverse
        key = (level, table)
        if key not in memo:
            memo[key] = _leaf(builder, order, level, table) if level <= 3 else split(level, table)
        return memo[key] ^ inverse

    def split(level: int, table: int) -> int:
        half = 1 << (level - 1)
        low, high = table & ((1 << half) - 1), table >> half
        zero = make(level - 1, low)
        one = make(level - 1, high)
        return builder.node(0xCA, builder.input(order[level - 1]), one, zero)

    return builder.build(make(inputs, table) for table in arranged)


def _leaf(builder: Builder, order: tuple[int, ...], level: int, table: int) -> int:
    while level < 3:
        table |= table << (1 << level)
        level += 1
    literals = [builder.input(order[k]) if k < len(order) else 0 for k in (2, 1, 0)]
    return builder.node(table, *literals)


@lru_cache(maxsize=1 << 8)
def _rows(inputs: int, order: tuple[int, ...]) -> NDArray[np.intp]:
    rows = np.arange(1 << inputs)
    source = np.zeros_like(rows)
    for new, old in enumerate(order):
        source |= (rows >> new & 1) << old
    return source


def _arranged(inputs: int, columns: Columns, order: tuple[int, ...]) -> Sequence[int]:
    """Return columns whose inputs come in another order."""
    if order == tuple(range(inputs)):
        return columns
    size = max(1, (1 << inputs) + 7 >> 3)
    data = b"".join(column.to_bytes(size, "little") for column in columns)
    packed = np.frombuffer(data, np.uint8).reshape(len(columns), size)
    values = np.unpackbits(packed, axis=1, bitorder="little")[:, _rows(inputs, order)]
    rows = np.packbits(values, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def folding_nodes(folded: Folded) -> int:
    """Return how many nodes the folded inputs need."""
    return sum(mask.bit_count() > 1 for mask in folded.inputs)


def table_cost(table: Tabulated, most: int, *, operand: bool) -> float:
    """Return the nodes of a table; where a product reads it, its sign is inverted for nothing.

    Those of a core of more than `most` inputs are estimated.
    """
    folded, _, _ = canonical(fold(table.entries, table.bits), table.bits)
    inputs = len(folded.inputs)
    if inputs > most:
        nodes = float(table.bits * (1 << inputs) / inputs)
    else:
        nodes = float(mux_nodes(inputs, columns_of(folded.core, table.bits)))
    cost = SYNTHESIS * nodes + folding_nodes(folded)
    return cost + (table.bits if folded.flip and not operand else 0)
