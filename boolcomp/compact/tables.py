"""Curves of wide words in pieces that add up: a coarse table, slopes times low bits, corrections.

With the low s bits split off, what a coarse table of the leading bits misses is nearly linear in
them. Their leading bits are multiplied by a slope, which a table gives; what is left of them is a
table of its own, as in a bipartite pair; and how the curve bends between the entries of the coarse
table is a small table of a few leading bits and a few of the low ones. Slopes and bends are those
of least squares, so all corrections are odd or even about the middle of an entry; the coarse table
holds the middle of what they leave, between its least and its largest value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from boolcomp.compact.sketch import INTERPOLATION, Curve, Role, Widths, signed_digits
from boolcomp.logic import network as luts
from boolcomp.logic.network import Builder, Network
from boolcomp.words.graph import Grid, HeapRow
from boolcomp.words.simulation import canonical, fold

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.realisation import AngleShape
    from boolcomp.compact.sketch import Linear, Product, Table
    from boolcomp.words.simulation import Folded

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# The entries of tables: one, or two that add up (bipartite), of the words of a function.
#
# A bipartite table of t bits reads the leading t - s bits, and adds a correction in the lowest s
# bits whose slope depends on the leading p bits only. Both are far smaller than the one they
# replace.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Tables of one word as logic: symmetric ones folded, the rest handed to synthesis.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# The layout of heaps: which bit of which word stands in which column, and what the constant is.
#
# Said once, for the noise model, the realisation, the logic and the simulation. Columns count from
# the lowest of a heap, 2^cut; what would stand below column 0 is discarded. A word's bit i counts
# ±2^(lsb + i - 1) (see `graph`); so discarding bits loses nothing in the mean, and the constant is
# the heap's middle and half of all that is counted.
# --------------------------------------------------------------------------------------------------


MARGIN = 1.02  # a sampled extreme may be exceeded by this much
SLACK_STEPS = 3  # and by the errors of what is added, in steps of the heap
HALF = 1e-6
DIGITS = 12  # signed digits of a constant at most


@dataclass(frozen=True, slots=True)
class Statistics:
    """What samples say of a sketch's values: the largest size of every node, means of addends.

    `sure` ones are of all states there are, at all of which graphs are simulated: outputs that
    leave their range are noticed, and need no room for it.
    """

    largest: tuple[float, ...]
    means: tuple[tuple[float, ...], ...]
    sure: bool = False

    def output_bits(self, place: int, lsb: int) -> int:
        """Return the columns of an output's heap."""
        largest = self.largest[place]
        return needed_bits(largest, lsb) if self.sure else heap_bits(largest, lsb, output=True)


class Format(NamedTuple):
    """A word: the exponent of its lowest bit, and how many bits it has."""

    lsb: int
    bits: int


def linear_rows(
    widths: Widths, place: int, k: int, addend: Linear, words: Sequence[Format]
) -> Iterator[tuple[int, float, HeapRow]]:
    """Yield how addend k of a sum stands in its heap: the place of a word, a digit, its row.

    `words` add up to what the addend reads. A row may be empty, where all is discarded.
    """
    cut, digits = widths[Role.CUT.of(place)], widths.get(Role.DIGITS.of(place, k), DIGITS)
    for i, word in enumerate(words):
        for digit in constant_digits(addend.factor, digits):
            column = _exponent(digit) + word.lsb - cut
            drop = min(max(0, -column), word.bits)
            yield i, digit, HeapRow(drop, column + drop, word.bits - drop)


def product_grid(widths: Widths, place: int, k: int, addend: Product, a: Format, b: Format) -> Grid:
    """Return how a product, addend k of a sum, stands in its heap; one digit is always left."""
    drop_a = min(widths.get(Role.DROP_A.of(place, k), 0), a.bits - 1)
    drop_b = min(widths.get(Role.DROP_B.of(place, k), 0), b.bits - 1)
    lowest = _exponent(addend.factor) + a.lsb + drop_a + b.lsb + drop_b - 1
    return Grid(
        lowest - widths[Role.CUT.of(place)], drop_a, a.bits - drop_a, drop_b, b.bits - drop_b
    )


def factor_grids(
    widths: Widths, place: int, k: int, addend: Linear, a: Format, b: Format
) -> Iterator[tuple[float, Grid]]:
    """Yield how the product of two words that are part of what addend k reads stands in its heap.

    There is one for every digit of the addend's constant.
    """
    cut, digits = widths[Role.CUT.of(place)], widths.get(Role.DIGITS.of(place, k), DIGITS)
    for digit in constant_digits(addend.factor, digits):
        yield digit, Grid(_exponent(digit) + a.lsb + b.lsb - 1 - cut, 0, a.bits, 0, b.bits)


@lru_cache(maxsize=1 << 16)
def constant_digits(factor: float, most: int) -> tuple[float, ...]:
    """Return the signed powers of two that stand for an addend's factor."""
    return signed_digits(factor, abs(factor) * 2.0**-20, most)


def _exponent(power: float) -> int:
    return math.frexp(abs(power))[1] - 1


def heap_bits(largest: float, lsb: int, *, output: bool) -> int:
    """Return the columns of a heap whose sum reaches ±largest; an output errs by whole steps."""
    slack = SLACK_STEPS * (1.0 if output else 2.0**lsb)
    return needed_bits(largest * MARGIN + slack, lsb)


def heap_constant(weight: int, centre: float, lsb: int, bits: int) -> float:
    """Return what a heap has to add, in steps, so that its word's middle stands for 0.

    `weight` is what all its bits count, `centre` what the sum is where all digits are zero.
    """
    return centre / 2.0**lsb - weight / 2 - 0.5 + 2.0 ** (bits - 1)


def is_half(constant: float) -> bool:
    """Tell whether a constant is no whole number by as much as can be.

    The word is then half a step off. Where it must lie about zero, a word in the heap gives up its
    lowest bit: that changes the parity of column 0.
    """
    return abs(constant - math.floor(constant) - 0.5) < HALF


# --------------------------------------------------------------------------------------------------
# Curves of wide words in pieces that add up: a coarse table, slopes times low bits, corrections.
# --------------------------------------------------------------------------------------------------


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
