"""Curves of wide words in pieces that add up: a coarse table, slopes times low bits, corrections.

With the low s bits split off, what a coarse table of the leading bits misses is nearly linear in
them. Their leading bits are multiplied by a slope, which a table gives; what is left of them is a
table of its own, as in a bipartite pair; and how the curve bends between the entries of the coarse
table is a small table of a few leading bits and a few of the low ones. Slopes and bends are those
of least squares, so all corrections are odd or even about the middle of an entry; the coarse table
holds the middle of what they leave, between its least and its largest value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.compact.graph.layout import Format
from boolcomp.compact.graph.tabulate import (
    Domain,
    Tabulated,
    bipartite_error,
    quantised,
    tabulate,
)
from boolcomp.compact.sketch.sketch import Curve
from boolcomp.compact.sketch.variables import INTERPOLATION, Role

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.sketch import Table
    from boolcomp.compact.sketch.variables import Widths

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interpolation:
    """How a table is split: `low` bits off, of which a slope multiplies the leading `times`.

    The others are a table that reads `lead` leading bits too. Slopes are read from the `slopes`
    leading bits; `fineness` is the exponent of their lowest bit where that of the corrections at
    the end of an entry is 0. Bends are a table of `bends` leading bits and `bend` of the low ones.
    """

    low: int
    lead: int
    times: int
    slopes: int
    fineness: int
    bend: int
    bends: int

    def within(self, read: int) -> Interpolation:
        """Return this for a table of so many bits: nothing reads more than there is."""
        low = min(self.low, read - 1)
        most, times = read - low, min(self.times, low)
        bend = min(self.bend, low) if low > 1 else 0  # two cells lie on a line
        return Interpolation(
            low,
            min(self.lead, most) if times < low else 0,
            times,
            min(self.slopes, most) if times else 0,
            self.fineness if times else 0,
            bend,
            min(self.bends, most) if bend else 0,
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """How a table is split in two: bits off, and the leading bits that their table reads."""

    low: int
    lead: int


Split: TypeAlias = Interpolation | Pair | None


def split_of(widths: Widths, place: int, table: Table, operands: Collection[int]) -> Split:
    """Return how a table is split, if it is; what products read is whole, and lies about zero."""
    low = widths.get(Role.SPLIT.of(place), 0)
    if place in operands or low <= 0:
        return None
    lead = widths.get(Role.LEAD.of(place), 0)
    if not isinstance(table, Curve):
        return Pair(low, lead)
    return Interpolation(low, lead, *(widths.get(role.of(place), 0) for role in INTERPOLATION))


@dataclass(frozen=True, slots=True)
class Factor:
    """A word that is multiplied: a table, and the exponent of its lowest bit."""

    table: Tabulated
    lsb: int

    @property
    def format(self) -> Format:
        """The word."""
        return Format(self.lsb, self.table.bits)


@dataclass(frozen=True, slots=True)
class Pieces:
    """Tables that add up, their lowest bit the same; beside them a product, if any.

    `variance` is the mean square of what a curve's pieces miss, apart from rounding of the tables.
    """

    tables: tuple[Tabulated, ...]
    product: tuple[Factor, Factor] | None
    variance: float


def split_table(table: Table, domain: Domain, lsb: int, split: Split, *, centred: bool) -> Pieces:
    """Return the pieces of a table: of a curve as many as are asked for, of all else two at most.

    `centred` words lie about the middle of their values, others about 0.
    """
    if isinstance(split, Interpolation) and domain.read > 1:
        if not domain.guarded:
            return pieces(table.at(domain.points()), domain, lsb, split, centred=centred)
        missed = bipartite_error(table, domain, split.low, split.lead)
        made = tabulate(table, domain, lsb, centred=centred, low=split.low, lead=split.lead)
        return Pieces(made, None, missed)
    bits = {"low": split.low, "lead": split.lead} if split is not None else {}
    return Pieces(tabulate(table, domain, lsb, centred=centred, **bits), None, 0.0)


def pieces(
    values: Floats, domain: Domain, lsb: int, how: Interpolation, *, centred: bool
) -> Pieces:
    """Return the pieces of a function with these values at all cells of a domain."""
    how = how.within(domain.read)
    low, cells = how.low, 1 << how.low
    within: Floats = np.arange(cells, dtype=np.float64) - (cells - 1) / 2  # places, in cells
    tables, left, variance = [], values.copy(), 0.0
    product = None
    if how.times:
        product, word = _product(values, domain, lsb, how, within)
        left -= _spread(_slopes(values, within, how.slopes), word, len(values))
        variance += 4.0 ** product[0].lsb / 12 * float((word**2).mean())
    if how.times < low:
        rest = low - how.times
        fine: Floats = np.arange(1 << rest, dtype=np.float64) - ((1 << rest) - 1) / 2
        slopes = _slopes(values, within, how.lead)
        tables.append(_correction(np.multiply.outer(slopes, fine), domain, lsb, 0))
        left -= _spread(slopes, fine, len(values))
    if how.bend:
        shape: Floats = np.asarray(within**2 - (within**2).mean(), dtype=np.float64)
        coarse = shape.reshape(1 << how.bend, -1).mean(axis=1)
        bends = _slopes(values, shape, how.bends)
        tables.append(_correction(np.multiply.outer(bends, coarse), domain, lsb, low - how.bend))
        left -= _spread(bends, np.repeat(coarse, 1 << (low - how.bend)), len(values))
    entries = left.reshape(-1, cells)
    middle = (entries.max(axis=1) + entries.min(axis=1)) / 2
    base = quantised(middle, domain.leading(domain.read - low), lsb, centred=centred)
    variance += float(((entries - middle[:, None]) ** 2).mean())
    return Pieces((base, *tables), product, variance)


def _slopes(values: Floats, shape: Floats, lead: int) -> Floats:
    """Return, for every value of the leading bits, how much of a shape about 0 entries hold."""
    entries = values.reshape(1 << lead, -1, len(shape))
    return np.asarray((entries @ shape).mean(axis=1) / (shape @ shape))


def _spread(factors: Floats, shape: Floats, cells: int) -> Floats:
    """Return the multiples of a shape at all cells, over and over for its leading bits."""
    again = cells // (len(factors) * len(shape))
    return np.multiply.outer(factors, np.tile(shape, again)).reshape(-1)


def _product(
    values: Floats, domain: Domain, lsb: int, how: Interpolation, within: Floats
) -> tuple[tuple[Factor, Factor], Floats]:
    """Return slopes and the word that they are multiplied with, and what that stands for."""
    rest, count = how.low - how.times, 1 << how.times
    exponent = lsb - (how.low - 1) + how.fineness
    steep = _slopes(values, within, how.slopes)
    slopes = quantised(steep, domain.leading(how.slopes), exponent, centred=False)
    word = Tabulated(domain.read - rest, tuple(range(count)), how.times, 0.0, count - 1)
    coarse = (np.arange(count) - (count - 1) / 2) * 2.0**rest
    return (Factor(slopes, exponent), Factor(word, rest)), np.repeat(coarse, 1 << rest)


def _correction(table: Floats, domain: Domain, lsb: int, first: int) -> Tabulated:
    """Return a table, (leading bits, low bits): the low ones from bit `first` on."""
    read = domain.read - first
    lead, low = (size.bit_length() - 1 for size in table.shape)
    mask = ((1 << lead) - 1) << (read - lead) | ((1 << low) - 1)
    made = quantised(table.reshape(-1), domain.leading(lead + low), lsb, centred=False)
    return replace(made, read=read, mask=0 if lead + low == read else mask)
