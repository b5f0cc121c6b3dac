"""Curves as tables that need no compiler: one, two that add up, and several.

A multipartite table reads the leading bits of a word in a table of initial values, and adds a
correction for every field of the others: the field times a slope that depends on some leading bits
(F. de Dinechin and A. Tisserand, Multipartite table methods, IEEE Trans. Computers 54, 2005). Here
initial values lie in the middle of what the corrections leave, every table has the same guard bits,
and of all splits the cheapest that is faithful at all words is taken, by an estimate of its tables.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.network import TimedBuilder, add_constant, column_luts, reduce_columns
from boolcomp.compact.tables import columns_of, mux_network
from boolcomp.logic.network import copied

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]

GUARDS = (1, 2, 3)
KEPT = 6  # of the cheapest are built
FURTHER = 1.2  # of the best cost: splits whose rough size is beyond are not looked at


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A network, what its words stand for at all words, in steps, and how it is split."""

    network: Network
    values: Floats
    split: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """Leading bits of the initial values, guard bits, and fields as (leading bits, end, begin)."""

    bits: int
    lead: int
    guard: int
    fields: tuple[tuple[int, int, int], ...]

    @property
    def size(self) -> float:
        """Roughly its tables of six inputs, before any is made."""
        total = (self.bits + self.guard) * 2.0 ** max(0, self.lead - 5.5)
        for lead, end, begin in self.fields:
            wide = self.guard + end
            total += wide * (2.0 ** max(0, lead + end - begin - 5.5) + 2)
        return float(total)

    def __str__(self) -> str:
        fields = ", ".join(f"{lead}+{end - begin}" for lead, end, begin in self.fields)
        return f"{self.lead}; {fields}"


def plain(exact: Floats, bits: int) -> list[Made]:
    """Return the table of a curve, rounded to nearest."""
    entries = np.clip(np.floor(exact), 0, (1 << bits) - 1).astype(np.int64)
    builder = TimedBuilder(bits)
    inputs = [builder.input(bits - 1 - k) for k in range(bits)]
    made = mux_network(bits, columns_of(entries.tolist(), bits))
    return [Made(builder.build(copied(made, builder, inputs)), np.asarray(entries + 0.5))]


def bipartite(exact: Floats, bits: int) -> list[Made]:
    """Return some of the cheapest two tables."""
    return _best(exact, bits, (1,))


def multipartite(exact: Floats, bits: int) -> list[Made]:
    """Return some of the cheapest of three to five tables."""
    return _best(exact, bits, (2, 3, 4))


def _best(exact: Floats, bits: int, counts: tuple[int, ...]) -> list[Made]:
    found: list[tuple[float, Split]] = []
    for split in sorted(_splits(bits, counts), key=lambda one: one.size):
        if found and split.size > FURTHER * found[0][0]:
            break
        tables, values = _tables(exact, split)
        if np.abs(values - exact).max() < 1:
            cost = sum(column_luts(len(t.places), t.columns) + 2.0 * t.bits for t in tables)
            found = sorted([*found, (cost, split)], key=lambda one: one[0])[:KEPT]
    return [_network(exact, split) for _, split in found]


def _splits(bits: int, counts: tuple[int, ...]) -> Iterator[Split]:
    for lead, guard, count in itertools.product(range(bits // 2 - 1, bits - 1), GUARDS, counts):
        low = bits - lead
        for cuts in itertools.combinations(range(1, low), count - 1):
            ends = [low, *reversed(cuts), 0]
            for slope in range(max(1, lead - 4), lead + 1):
                fields = [  # a field that counts less needs no slope as fine
                    (max(1, slope - (low - end)), end, begin)
                    for end, begin in itertools.pairwise(ends)
                ]
                yield Split(bits, lead, guard, tuple(fields))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A table: the bits that it reads, lowest first, its entries less the least, their bits."""

    places: tuple[int, ...]
    entries: Words
    least: int

    @property
    def bits(self) -> int:
        """How many bits its entries have."""
        return max(1, int(self.entries.max()).bit_length())

    @property
    def columns(self) -> tuple[int, ...]:
        """Its columns as truth tables."""
        return columns_of(self.entries.tolist(), self.bits)


def _tables(exact: Floats, split: Split) -> tuple[list[Part], Floats]:
    """Return the tables, and what the rounded sum of them stands for at all words."""
    bits, scale = split.bits, float(1 << split.guard)
    words, low = np.arange(1 << bits), bits - split.lead
    within = np.arange(1 << low) - ((1 << low) - 1) / 2
    parts, total = [], np.zeros(1 << bits, np.int64)
    for wide, end, begin in split.fields:
        slopes = (exact.reshape(1 << wide, -1, 1 << low) @ within).mean(axis=1) / (within @ within)
        field = (np.arange(1 << (end - begin)) - ((1 << (end - begin)) - 1) / 2) * 2.0**begin
        cells = np.round(np.multiply.outer(slopes, field).reshape(-1) * scale).astype(np.int64)
        index = words >> (bits - wide) << (end - begin)
        total += cells[index | words >> begin & ((1 << (end - begin)) - 1)]
        parts.append(_part((*range(begin, end), *range(bits - wide, bits)), cells))
    left = (exact * scale - total).reshape(1 << split.lead, -1)
    cells = np.floor((left.max(axis=1) + left.min(axis=1)) / 2).astype(np.int64)
    total += cells[words >> low]
    cell = np.floor(total / scale)
    inside = (cell >= 0) & (cell < 1 << bits)
    return [_part(tuple(range(low, bits)), cells), *parts], np.where(inside, cell + 0.5, np.inf)


def _part(places: tuple[int, ...], cells: Words) -> Part:
    return Part(places, cells - cells.min(), int(cells.min()))


def _network(exact: Floats, split: Split) -> Made:
    """Return the network of tables and an adder."""
    bits, wide = split.bits, split.bits + split.guard
    parts, values = _tables(exact, split)
    builder, columns = TimedBuilder(bits), dict[int, list[int]]()
    for part in parts:
        inputs = [builder.input(bits - 1 - k) for k in part.places]
        table = mux_network(len(inputs), part.columns)
        for column, literal in enumerate(copied(table, builder, inputs)):
            columns.setdefault(column, []).append(literal)
    add_constant(columns, sum(part.least for part in parts) % (1 << wide), wide)
    total = reduce_columns(builder, columns, wide)
    return Made(builder.build(total[split.guard :]), values, f"({split})")
