"""The entries of tables: one, or two that add up (bipartite), of the words of a function.

A bipartite table of t bits reads the leading t - s bits, and adds a correction in the lowest s bits
whose slope depends on the leading p bits only. Both are far smaller than the one they replace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.graph.angles import AngleShape
    from boolcomp.compact.sketch.sketch import Table

    Floats = NDArray[np.float64]

NUDGE = 1e-5  # of a cell
TIE = 1e-9  # of a cell: a value this close below a border counts as on it


@dataclass(frozen=True, slots=True)
class Domain:
    """The words a table reads: how many bits, the width of a cell, the middle of all.

    Of a `guarded` word bit 0 is always 0, and values lie on the lower borders of those cells. The
    other entries are free: they mirror those, so that tables still fold.
    """

    read: int
    cell: float
    middle: float
    guarded: bool = False

    def points(self) -> Floats:
        """Return the middles of the cells; of guarded words the values, moved by next to nothing.

        The move keeps mirrored values apart, so that a sine has a sign at 0 and is still odd.
        """
        cells = np.arange(1 << self.read) + (0.5 - 2.0**self.read / 2)
        if self.guarded:
            cells += np.where(np.arange(1 << self.read) % 2, 0.5 - NUDGE, NUDGE - 0.5)
        return np.asarray(self.middle + self.cell * cells, dtype=np.float64)

    def leading(self, bits: int) -> Domain:
        """Return what is left of it where only the leading bits are read."""
        return Domain(bits, self.cell * 2.0 ** (self.read - bits), self.middle)


def table_domain(
    node: Table,
    lsb: int,
    bits: int,
    read: int,
    middle: float = 0.0,
    shape: AngleShape | None = None,
) -> Domain:
    """Return the cells of a word of `bits` bits that a table which reads `read` tells apart.

    An angle's `shape` says where in the cells it lies.
    """
    if node.angle:
        part = 0 if shape is None else shape.part
        cell = 2 * math.pi / 2.0 ** (read + part)
        if part:  # the word begins where a turn does
            return Domain(read, cell, math.pi * (2.0**-part - 1))
        if shape is None or not shape.offset:
            return Domain(read, cell, 0.0)
        if shape.guarded and read == shape.bits:
            return Domain(read, cell, 0.0, guarded=True)
        return Domain(read, cell, 2 * math.pi * shape.offset)
    return Domain(read, 2.0 ** (lsb + bits - read), middle)


@dataclass(frozen=True, slots=True)
class Tabulated:
    """A table over the leading `read` bits, its entries of `bits` bits, and their offset.

    Of the leading bits only those in a `mask`, if any, make the index.
    """

    read: int
    entries: tuple[int, ...]
    bits: int
    offset: float
    mask: int = 0


def needed_bits(largest: float, lsb: int) -> int:
    """Return how many bits a word needs whose values reach ±largest."""
    cells = largest / 2.0**lsb
    return 1 if cells <= 1 else math.ceil(math.log2(cells) - TIE) + 1


def tabulate(
    table: Table, domain: Domain, lsb: int, *, centred: bool, low: int = 0, lead: int = 0
) -> tuple[Tabulated, ...]:
    """Return the tables that add up to a function: one, or two if `low` bits are split off.

    `centred` words lie about the middle of their values, others (which products read) about 0.
    """
    low = min(low, domain.read - 1)
    if low <= 0:
        values = table.at(domain.points())
        return (quantised(values, domain, lsb, centred=centred),)
    coarse = domain.leading(domain.read - low)
    main = quantised(table.at(coarse.points()), coarse, lsb, centred=centred)
    slope = _corrections(table, domain, low, lead)
    return main, quantised(slope, domain, lsb, centred=False)


def bipartite_error(table: Table, domain: Domain, low: int, lead: int) -> float:
    """Return the mean square of what a bipartite table misses before any rounding."""
    low = min(low, domain.read - 1)
    if low <= 0:
        return 0.0
    coarse = np.repeat(table.at(domain.leading(domain.read - low).points()), 1 << low)
    missed = table.at(domain.points()) - coarse - _corrections(table, domain, low, lead)
    return float((missed**2).mean())


def _corrections(table: Table, domain: Domain, low: int, lead: int) -> Floats:
    lead = min(lead, domain.read - low)
    coarse = domain.leading(domain.read - low)
    slopes = np.repeat(table.slope(domain.leading(lead).points()), 1 << (domain.read - lead))
    steps = domain.cell * (np.arange(1 << low) + 0.5 - 2.0**low / 2)
    if domain.guarded:
        steps = (domain.points() - np.repeat(coarse.points(), 1 << low))[: 1 << low]
    return np.asarray(slopes * np.tile(steps, 1 << (domain.read - low)))


def quantised(values: Floats, domain: Domain, lsb: int, *, centred: bool) -> Tabulated:
    """Return the entries that stand for values at a domain's points, in steps of 2^lsb."""
    offset = float(values.max() + values.min()) / 2 if centred else 0.0
    if abs(offset) < TIE * 2.0**lsb:
        offset = 0.0
    bits = needed_bits(float(np.abs(values - offset).max()) - 0.25 * 2.0**lsb, lsb)
    cells = np.floor((values - offset) / 2.0**lsb + 2.0 ** (bits - 1) + TIE)
    if domain.guarded:  # what lies on a border goes away from the middle, as its mirror image does
        steps = (values - offset) / 2.0**lsb
        down = -1 - np.floor(TIE - steps)
        cells = np.where(steps < 0, down, np.floor(steps + TIE)) + 2.0 ** (bits - 1)
    entries = np.clip(cells, 0, (1 << bits) - 1).astype(np.int64)
    return Tabulated(domain.read, tuple(entries.tolist()), bits, offset)
