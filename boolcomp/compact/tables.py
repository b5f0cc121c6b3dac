"""Tables of functions: entries, splits, logic and costs; and the layout of heaps."""

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

    from boolcomp.compact.sketch import Linear, Product, Table
    from boolcomp.words.simulation import Folded

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# The entries of one table, or of two that are added (bipartite).
#
# A bipartite table of t bits reads the leading t - s bits. Its correction in the lowest s bits has
# a slope that depends on the leading p bits only.
# --------------------------------------------------------------------------------------------------

NUDGE = 1e-5  # of a cell
TIE = 1e-9  # of a cell: a value this close below a border counts as on it


@dataclass(frozen=True, slots=True)
class Domain:
    """The cells of a table: the number of bits, the width of a cell, the middle of the range.

    Bit 0 of a `guarded` word is always 0, and values are at the lower borders of its cells. Other
    entries are free and mirror them, so that tables still fold.
    """

    read: int
    cell: float
    middle: float
    guarded: bool = False

    def points(self) -> Floats:
        """Return the middles of cells, or the values of guarded words, nudged off the borders.

        The nudge gives a sine a sign at 0, so that it is still odd.
        """
        cells = np.arange(1 << self.read) + (0.5 - 2.0**self.read / 2)
        if self.guarded:
            cells += np.where(np.arange(1 << self.read) % 2, 0.5 - NUDGE, NUDGE - 0.5)
        return np.asarray(self.middle + self.cell * cells, dtype=np.float64)

    def leading(self, bits: int) -> Domain:
        return Domain(bits, self.cell * 2.0 ** (self.read - bits), self.middle)


def table_domain(
    node: Table,
    lsb: int,
    bits: int,
    read: int,
    middle: float = 0.0,
    shape: AngleShape | None = None,
) -> Domain:
    """Return the cells of a table that reads the leading `read` of `bits` bits.

    The `shape` of an angle determines its place in a cell.
    """
    if node.angle:
        part = 0 if shape is None else shape.part
        cell = 2 * math.pi / 2.0 ** (read + part)
        if part:  # the word begins at the start of a turn
            return Domain(read, cell, math.pi * (2.0**-part - 1))
        if shape is None or not shape.offset:
            return Domain(read, cell, 0.0)
        if shape.guarded and read == shape.bits:
            return Domain(read, cell, 0.0, guarded=True)
        return Domain(read, cell, 2 * math.pi * shape.offset)
    return Domain(read, 2.0 ** (lsb + bits - read), middle)


@dataclass(frozen=True, slots=True)
class Tabulated:
    """A table over the leading `read` bits with entries of `bits` bits, and their offset.

    A `mask` selects those of the leading bits that form the index (0: all).
    """

    read: int
    entries: tuple[int, ...]
    bits: int
    offset: float
    mask: int = 0


def needed_bits(largest: float, lsb: int) -> int:
    """Return the number of bits for values up to ±largest."""
    cells = largest / 2.0**lsb
    return 1 if cells <= 1 else math.ceil(math.log2(cells) - TIE) + 1


def tabulate(
    table: Table, domain: Domain, lsb: int, *, centred: bool, low: int = 0, lead: int = 0
) -> tuple[Tabulated, ...]:
    """Return the table of a function, or two if `low` bits are split off, which are added.

    `centred` words have the middle of their values as offset, others (operands of products) 0.
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
    """Return the mean square error of a bipartite table without rounding."""
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
    """Return the table of values at a domain's points, in steps of 2^lsb."""
    offset = float(values.max() + values.min()) / 2 if centred else 0.0
    if abs(offset) < TIE * 2.0**lsb:
        offset = 0.0
    bits = needed_bits(float(np.abs(values - offset).max()) - 0.25 * 2.0**lsb, lsb)
    cells = np.floor((values - offset) / 2.0**lsb + 2.0 ** (bits - 1) + TIE)
    if domain.guarded:  # a value on a border is rounded away from the middle, like its mirror image
        steps = (values - offset) / 2.0**lsb
        down = -1 - np.floor(TIE - steps)
        cells = np.where(steps < 0, down, np.floor(steps + TIE)) + 2.0 ** (bits - 1)
    entries = np.clip(cells, 0, (1 << bits) - 1).astype(np.int64)
    return Tabulated(domain.read, tuple(entries.tolist()), bits, offset)


# --------------------------------------------------------------------------------------------------
# The logic of tables, by cofactors.
# --------------------------------------------------------------------------------------------------

SYNTHESIS = 0.7  # part of the nodes by cofactors that better synthesis needs
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
    return min(_count_by_order(inputs, columns, order) for order in _orders(inputs))


@lru_cache(maxsize=1 << 10)
def mux_network(inputs: int, columns: Columns) -> Network:
    """Return a network by shared cofactors, the best of a few orders of the inputs.

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
    """Return the number of nodes of `_by_order`, by counting its functions.

    It builds functions whose first value is 0, also for their inverses. An inverse as an output is
    one node, and the function itself is then needed only for other readers.
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
                if part not in inverted:  # else its halves are counted already
                    waiting.append(part)
    made = sum(not _is_input(*part) for part in needed if part[1])
    return made + sum(table != 0 for _, table in inverted)


def _reduced(level: int, table: int) -> tuple[int, int]:
    """Return a table without leading inputs that it does not depend on."""
    while level > 3:
        half = 1 << (level - 1)
        low = table & ((1 << half) - 1)
        if low != table >> half:
            break
        level, table = level - 1, low
    return level, table


def _is_input(level: int, table: int) -> bool:
    """Return whether a reduced table is one of its inputs."""
    if level == 3:
        return table in luts.LETTERS
    half = 1 << (level - 1)
    return table == ((1 << half) - 1) << half


def _by_order(inputs: int, columns: Columns, order: tuple[int, ...]) -> Network:
    """Split on inputs order[-1], order[-2] …; the first three are inputs of one node."""
    builder = Builder(inputs)
    arranged = _arranged(inputs, columns, order)
    memo: dict[tuple[int, int], int] = {}

    def make(level: int, table: int) -> int:
        full = (1 << (1 << level)) - 1
        inverse = table & 1  # a function and its inverse share a node
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
    """Return columns with their inputs in another order."""
    if order == tuple(range(inputs)):
        return columns
    size = max(1, (1 << inputs) + 7 >> 3)
    data = b"".join(column.to_bytes(size, "little") for column in columns)
    packed = np.frombuffer(data, np.uint8).reshape(len(columns), size)
    values = np.unpackbits(packed, axis=1, bitorder="little")[:, _rows(inputs, order)]
    rows = np.packbits(values, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def folding_nodes(folded: Folded) -> int:
    return sum(mask.bit_count() > 1 for mask in folded.inputs)


def table_cost(table: Tabulated, maximum: int, *, operand: bool) -> float:
    """Return the nodes of a table; the inversion by its sign is free for an operand of products.

    The cost of a core of more than `maximum` inputs is estimated.
    """
    folded, _, _ = canonical(fold(table.entries, table.bits), table.bits)
    inputs = len(folded.inputs)
    if inputs > maximum:
        nodes = float(table.bits * (1 << inputs) / inputs)
    else:
        nodes = float(mux_nodes(inputs, columns_of(folded.core, table.bits)))
    cost = SYNTHESIS * nodes + folding_nodes(folded)
    return cost + (table.bits if folded.flip and not operand else 0)


# --------------------------------------------------------------------------------------------------
# The layout of heaps: the columns of bits, and constants.
#
# Columns count from the lowest of a heap, 2^cut; bits below column 0 are discarded. Bit i of a word
# counts ±2^(lsb + i - 1) (see `words.graph`), so that discarding bits does not change the mean. The
# constant moves the heap's middle to 0.
# --------------------------------------------------------------------------------------------------

MARGIN = 1.02  # factor on a sampled extreme
SLACK_STEPS = 3  # for errors of addends, in steps of the heap
HALF = 1e-6
DIGITS = 12  # signed digits of a constant at most


@dataclass(frozen=True, slots=True)
class SampleStatistics:
    """Statistics of a sketch's values: the largest size of every node, means of addends.

    `sure` statistics are of all states. Graphs are simulated at all of them too, so that outputs
    need no spare bits.
    """

    largest: tuple[float, ...]
    means: tuple[tuple[float, ...], ...]
    sure: bool = False

    def output_bits(self, place: int, lsb: int) -> int:
        """Return the columns of an output's heap."""
        largest = self.largest[place]
        return needed_bits(largest, lsb) if self.sure else heap_bits(largest, lsb, output=True)


class Format(NamedTuple):
    """The format of a word: the exponent of its lowest bit, and its number of bits."""

    lsb: int
    bits: int


def linear_rows(
    widths: Widths, place: int, k: int, addend: Linear, words: Sequence[Format]
) -> Iterator[tuple[int, float, HeapRow]]:
    """Yield the layout of addend k of a sum in its heap: the place of a word, a digit, its row.

    The sum of `words` is the addend's operand. A row is empty if all bits are discarded.
    """
    cut, digits = widths[Role.CUT.of(place)], widths.get(Role.DIGITS.of(place, k), DIGITS)
    for i, word in enumerate(words):
        for digit in constant_digits(addend.factor, digits):
            column = _exponent(digit) + word.lsb - cut
            drop = min(max(0, -column), word.bits)
            yield i, digit, HeapRow(drop, column + drop, word.bits - drop)


def product_grid(widths: Widths, place: int, k: int, addend: Product, a: Format, b: Format) -> Grid:
    """Return the layout of a product, addend k of a sum, in its heap; one digit is always kept."""
    drop_a = min(widths.get(Role.DROP_A.of(place, k), 0), a.bits - 1)
    drop_b = min(widths.get(Role.DROP_B.of(place, k), 0), b.bits - 1)
    lowest = _exponent(addend.factor) + a.lsb + drop_a + b.lsb + drop_b - 1
    return Grid(
        lowest - widths[Role.CUT.of(place)], drop_a, a.bits - drop_a, drop_b, b.bits - drop_b
    )


def factor_grids(
    widths: Widths, place: int, k: int, addend: Linear, a: Format, b: Format
) -> Iterator[tuple[float, Grid]]:
    """Yield the layout of the product of two words that is a part of addend k's operand.

    There is one for every digit of the addend's constant.
    """
    cut, digits = widths[Role.CUT.of(place)], widths.get(Role.DIGITS.of(place, k), DIGITS)
    for digit in constant_digits(addend.factor, digits):
        yield digit, Grid(_exponent(digit) + a.lsb + b.lsb - 1 - cut, 0, a.bits, 0, b.bits)


@lru_cache(maxsize=1 << 16)
def constant_digits(factor: float, maximum: int) -> tuple[float, ...]:
    return signed_digits(factor, abs(factor) * 2.0**-20, maximum)


def _exponent(power: float) -> int:
    return math.frexp(abs(power))[1] - 1


def heap_bits(largest: float, lsb: int, *, output: bool) -> int:
    """Return the number of columns of a heap with sums up to ±largest, with slack for errors."""
    slack = SLACK_STEPS * (1.0 if output else 2.0**lsb)
    return needed_bits(largest * MARGIN + slack, lsb)


def heap_constant(weight: int, centre: float, lsb: int, bits: int) -> float:
    """Return the constant of a heap, in steps, with which the middle of its word is 0.

    `weight` is the total weight of its bits, `centre` the sum if all digits are zero.
    """
    return centre / 2.0**lsb - weight / 2 - 0.5 + 2.0 ** (bits - 1)


def is_half(constant: float) -> bool:
    """Return whether a constant is half way between two integers.

    The word is then half a step off. If it must be centred on zero, a word in the heap loses its
    lowest bit, which changes the parity of column 0.
    """
    return abs(constant - math.floor(constant) - 0.5) < HALF


# --------------------------------------------------------------------------------------------------
# Splits of curves of wide words: a coarse table, slopes times low bits, and corrections.
#
# With the low s bits split off, the error of a coarse table of the leading bits is nearly linear in
# them. A slope from a table multiplies the first of the low bits; the others are in a correction,
# as in a bipartite pair. The bends of the curve within entries of the coarse table are a small
# table of a few leading and a few low bits. Slopes and bends are fitted by least squares, so
# corrections are odd or even about the middle of an entry. An entry of the coarse table is the
# middle between the least and the largest remainder.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Interpolation:
    """A split of a table: `low` bits off, of which a slope multiplies the leading `times`.

    The others and `lead` leading bits are the index of a correction. Slopes are a table of the
    `slopes` leading bits; `fineness` is the exponent of their lowest bit, relative to that of the
    corrections at the end of an entry. Bends are a table of `bends` leading and `bend` low bits.
    """

    low: int
    lead: int
    times: int
    slopes: int
    fineness: int
    bend: int
    bends: int

    def within(self, read: int) -> Interpolation:
        """Limit the split to a table that reads `read` bits."""
        low = min(self.low, read - 1)
        high, times = read - low, min(self.times, low)
        bend = min(self.bend, low) if low > 1 else 0  # two cells are on a line
        return Interpolation(
            low,
            min(self.lead, high) if times < low else 0,
            times,
            min(self.slopes, high) if times else 0,
            self.fineness if times else 0,
            bend,
            min(self.bends, high) if bend else 0,
        )


@dataclass(frozen=True, slots=True)
class Pair:
    """A split into two tables: bits off, and the leading bits that their table reads."""

    low: int
    lead: int


Split: TypeAlias = Interpolation | Pair | None


def split_of(widths: Widths, place: int, table: Table, operands: Collection[int]) -> Split:
    """Return the split of a table; operands of products are whole, and centred on zero."""
    low = widths.get(Role.SPLIT.of(place), 0)
    if place in operands or low <= 0:
        return None
    lead = widths.get(Role.LEAD.of(place), 0)
    if not isinstance(table, Curve):
        return Pair(low, lead)
    return Interpolation(low, lead, *(widths.get(role.of(place), 0) for role in INTERPOLATION))


@dataclass(frozen=True, slots=True)
class FactorTable:
    """A factor of a product: a table, and the exponent of its lowest bit."""

    table: Tabulated
    lsb: int

    @property
    def format(self) -> Format:
        return Format(self.lsb, self.table.bits)


@dataclass(frozen=True, slots=True)
class TablePieces:
    """Tables that are added, with the same lowest bit, and the factors of a product, if any.

    `variance` is the mean square error of the pieces of a curve without rounding of the tables.
    """

    tables: tuple[Tabulated, ...]
    product: tuple[FactorTable, FactorTable] | None
    variance: float


def split_table(
    table: Table, domain: Domain, lsb: int, split: Split, *, centred: bool
) -> TablePieces:
    """Return the pieces of a table, which are those of the split, or two at most.

    `centred` words have the middle of their values as offset, others 0.
    """
    if isinstance(split, Interpolation) and domain.read > 1:
        if not domain.guarded:
            return pieces(table.at(domain.points()), domain, lsb, split, centred=centred)
        missed = bipartite_error(table, domain, split.low, split.lead)
        made = tabulate(table, domain, lsb, centred=centred, low=split.low, lead=split.lead)
        return TablePieces(made, None, missed)
    bits = {"low": split.low, "lead": split.lead} if split is not None else {}
    return TablePieces(tabulate(table, domain, lsb, centred=centred, **bits), None, 0.0)


def pieces(
    values: Floats, domain: Domain, lsb: int, split: Interpolation, *, centred: bool
) -> TablePieces:
    """Return the pieces of a function with these values at all cells of a domain."""
    split = split.within(domain.read)
    low, cells = split.low, 1 << split.low
    within: Floats = np.arange(cells, dtype=np.float64) - (cells - 1) / 2  # places, in cells
    tables, left, variance = [], values.copy(), 0.0
    product = None
    if split.times:
        product, word = _product(values, domain, lsb, split, within)
        left -= _spread(_slopes(values, within, split.slopes), word, len(values))
        variance += 4.0 ** product[0].lsb / 12 * float((word**2).mean())
    if split.times < low:
        rest = low - split.times
        fine: Floats = np.arange(1 << rest, dtype=np.float64) - ((1 << rest) - 1) / 2
        slopes = _slopes(values, within, split.lead)
        tables.append(_correction(np.multiply.outer(slopes, fine), domain, lsb, 0))
        left -= _spread(slopes, fine, len(values))
    if split.bend:
        shape: Floats = np.asarray(within**2 - (within**2).mean(), dtype=np.float64)
        coarse = shape.reshape(1 << split.bend, -1).mean(axis=1)
        bends = _slopes(values, shape, split.bends)
        tables.append(_correction(np.multiply.outer(bends, coarse), domain, lsb, low - split.bend))
        left -= _spread(bends, np.repeat(coarse, 1 << (low - split.bend)), len(values))
    entries = left.reshape(-1, cells)
    middle = (entries.max(axis=1) + entries.min(axis=1)) / 2
    base = quantised(middle, domain.leading(domain.read - low), lsb, centred=centred)
    variance += float(((entries - middle[:, None]) ** 2).mean())
    return TablePieces((base, *tables), product, variance)


def _slopes(values: Floats, shape: Floats, lead: int) -> Floats:
    """Return the least-squares factors of a shape with mean 0, for values of the leading bits."""
    entries = values.reshape(1 << lead, -1, len(shape))
    return np.asarray((entries @ shape).mean(axis=1) / (shape @ shape))


def _spread(factors: Floats, shape: Floats, cells: int) -> Floats:
    """Return the multiples of a shape at all cells, repeated for other leading bits."""
    again = cells // (len(factors) * len(shape))
    return np.multiply.outer(factors, np.tile(shape, again)).reshape(-1)


def _product(
    values: Floats, domain: Domain, lsb: int, split: Interpolation, within: Floats
) -> tuple[tuple[FactorTable, FactorTable], Floats]:
    """Return the tables of slopes and of the word they multiply, and the values of that word."""
    rest, count = split.low - split.times, 1 << split.times
    exponent = lsb - (split.low - 1) + split.fineness
    steep = _slopes(values, within, split.slopes)
    slopes = quantised(steep, domain.leading(split.slopes), exponent, centred=False)
    word = Tabulated(domain.read - rest, tuple(range(count)), split.times, 0.0, count - 1)
    coarse = (np.arange(count) - (count - 1) / 2) * 2.0**rest
    return (FactorTable(slopes, exponent), FactorTable(word, rest)), np.repeat(coarse, 1 << rest)


def _correction(table: Floats, domain: Domain, lsb: int, first: int) -> Tabulated:
    """Return a correction, given by (leading bits, low bits); the low ones begin at bit `first`."""
    read = domain.read - first
    lead, low = (size.bit_length() - 1 for size in table.shape)
    mask = ((1 << lead) - 1) << (read - lead) | ((1 << low) - 1)
    made = quantised(table.reshape(-1), domain.leading(lead + low), lsb, centred=False)
    return replace(made, read=read, mask=0 if lead + low == read else mask)


@dataclass(frozen=True, slots=True)
class AngleShape:
    """The word of an angle: it has `bits`, and a precision of 2^-known turns.

    `offset` is the difference of its value from (k + ½)/2^known - ½ turns; `part` leading bits of a
    turn are left out, because they are 0.
    """

    bits: int
    known: int
    offset: float = 0.0
    part: int = 0

    @property
    def guarded(self) -> bool:
        return self.bits + self.part > self.known
