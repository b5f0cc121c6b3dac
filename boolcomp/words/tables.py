"""Tables of one word as logic: reflected ones folded, the rest handed to synthesis.

A table that is even, odd, periodic or antiperiodic in its index needs one input less. What is
found is exact: only the entries are looked at, not the function they came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.network import Builder, Network

if TYPE_CHECKING:
    from collections.abc import Sequence

Columns = tuple[int, ...]  # truth tables as numbers: bit r of a column is its value at row r


@dataclass(frozen=True, slots=True)
class Folded:
    """entries[k] = core[index] ^ (all ones where the parity of `flip` is odd).

    Bit i of the index is the parity of the bits of k in mask `inputs[i]`.
    """

    inputs: tuple[int, ...]
    core: tuple[int, ...]
    flip: int


def fold(entries: Sequence[int], bits: int) -> Folded:
    """Fold a table of 2^t entries of `bits` bits as often as it is symmetric."""
    core = np.asarray(entries, dtype=np.int64)
    full = (1 << bits) - 1
    masks = [1 << i for i in range(len(core).bit_length() - 1)]
    flip = 0
    while masks:
        half = len(core) // 2
        low, high = core[:half], core[half:]
        top = masks[-1]
        for reflected in (False, True):
            other = high[::-1] if reflected else high
            sign = 0 if np.array_equal(other, low) else full
            if sign and not np.array_equal(other ^ full, low):
                continue
            masks.pop()
            if reflected:
                masks = [mask ^ top for mask in masks]
            flip ^= top if sign else 0
            core = low
            break
        else:
            break
    return Folded(tuple(masks), tuple(core.tolist()), flip)


def canonical(folded: Folded, bits: int) -> tuple[Folded, bool, bool]:
    """Return the least of a core, its mirror image, and their inverses; which of both was done.

    A sine and a cosine of one amplitude then share their core, and so do f and -f.
    """
    full = (1 << bits) - 1
    choices = []
    for mirrored in (False, True):
        core = folded.core[::-1] if mirrored else folded.core
        for inverted in (False, True):
            entries = tuple(e ^ full for e in core) if inverted else core
            choices.append((entries, mirrored, inverted))
    core, mirrored, inverted = min(choices)
    return Folded(folded.inputs, core, folded.flip), mirrored, inverted


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
    """Return how many nodes `mux_network` takes (numbers can be kept where networks cannot)."""
    return len(mux_network(inputs, columns).nodes)


@lru_cache(maxsize=1 << 10)
def mux_network(inputs: int, columns: Columns) -> Network:
    """Return a network by cofactors with sharing: the best of a few orders of the inputs.

    Its inputs are the bits of the index, least significant first.
    """
    orders = [tuple(range(inputs)), tuple(reversed(range(inputs)))]
    orders += [(*range(k, inputs), *range(k)) for k in range(1, min(inputs, 4))]
    found = [_by_order(inputs, columns, order) for order in dict.fromkeys(orders)]
    return min(found, key=lambda network: len(network.nodes))


def _by_order(inputs: int, columns: Columns, order: tuple[int, ...]) -> Network:
    """Split on inputs order[-1], order[-2] …; the first three are left to one node."""
    builder = Builder(inputs)
    arranged = [_permuted(inputs, column, order) for column in columns]
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
def _rows(inputs: int, order: tuple[int, ...]) -> tuple[int, ...]:
    rows = np.arange(1 << inputs)
    source = np.zeros_like(rows)
    for new, old in enumerate(order):
        source |= (rows >> new & 1) << old
    return tuple(source.tolist())


def _permuted(inputs: int, column: int, order: tuple[int, ...]) -> int:
    bits = np.frombuffer(column.to_bytes(max(1, (1 << inputs) + 7 >> 3), "little"), np.uint8)
    values = np.unpackbits(bits, bitorder="little")[: 1 << inputs][list(_rows(inputs, order))]
    return int.from_bytes(np.packbits(values, bitorder="little").tobytes(), "little")


def folding_nodes(folded: Folded) -> int:
    """Return how many nodes the folded inputs need."""
    return sum(mask.bit_count() > 1 for mask in folded.inputs)
