"""A word graph as integer operations, by the costs of a machine: tables joined, sums shared."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup
from boolcomp.words.operations import (
    BitField,
    Inside,
    IntOp,
    IntOps,
    IntOutput,
    range_of,
    reach,
    signed_range,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.words.graph import HeapPart, PartialProducts, WordGraph
    from boolcomp.words.operations import Kind, Range

# --------------------------------------------------------------------------------------------------
# Tables as functions of bits. A bit is a value and a place in it. A table's entries are an array
# with an axis of two places per bit, the highest bit first; so array indexing removes, fixes or
# adds a bit.
# --------------------------------------------------------------------------------------------------

Bit = tuple[int, int]  # a value, and the place of one of its bits


class BitTable(NamedTuple):
    """A function of bits, the lowest of its index first."""

    bits: tuple[Bit, ...]
    entries: NDArray[np.int64]

    @property
    def fields(self) -> tuple[BitField, ...]:
        """The bits as runs of values."""
        found: list[BitField] = []
        for of, bit in self.bits:
            if found and found[-1].of == of and found[-1].drop + found[-1].bits == bit:
                found[-1] = found[-1]._replace(bits=found[-1].bits + 1)
            else:
                found.append(BitField(of, bit, 1))
        return tuple(found)


def indexed(fields: Sequence[BitField], entries: Sequence[int]) -> BitTable:
    """Return a table as a function of distinct bits."""
    every = [(f.of, f.drop + k) for f in fields for k in range(f.bits)]
    bits = list(dict.fromkeys(every))
    index = np.arange(1 << len(bits))
    place = np.zeros_like(index)
    for k, bit in enumerate(every):
        place |= (index >> bits.index(bit) & 1) << k
    return BitTable(tuple(bits), np.asarray(entries, np.int64)[place])


def shortened(table: BitTable, known: Callable[[int], int | None]) -> BitTable:
    """Return a table without constant or irrelevant bits, in order."""
    bits = list(table.bits)
    entries = table.entries.reshape((2,) * len(bits))
    for bit in reversed(table.bits):  # the highest is the first axis
        axis = len(bits) - 1 - bits.index(bit)
        value = known(bit[0])
        low, high = (np.take(entries, k, axis) for k in (0, 1))
        if value is not None:
            entries = high if value >> bit[1] & 1 else low
        elif np.array_equal(low, high):
            entries = low
        else:
            continue
        bits.remove(bit)
    return _sorted(bits, entries)


def together(
    tables: Sequence[BitTable],
    combine: Callable[..., NDArray[np.int64]],
) -> BitTable:
    """Return the sum of tables as a function of all their bits."""
    bits = sorted({bit for table in tables for bit in table.bits})
    return BitTable(tuple(bits), combine(*(_spread(table, bits) for table in tables)).ravel())


def ordered(table: BitTable, bits: Sequence[Bit]) -> BitTable:
    """Return a table with the bits of its index in a given order."""
    index = np.arange(1 << len(bits))
    place = np.zeros_like(index)
    for k, bit in enumerate(table.bits):
        place |= (index >> bits.index(bit) & 1) << k
    return BitTable(tuple(bits), table.entries[place])


def union(tables: Sequence[BitTable]) -> int:
    return len({bit for table in tables for bit in table.bits})


def _spread(table: BitTable, bits: Sequence[Bit]) -> NDArray[np.int64]:
    """Return the entries of a table whose bits are in order, with an axis for every bit."""
    found = _sorted(list(table.bits), table.entries.reshape((2,) * len(table.bits)))
    shape = [2 if bit in table.bits else 1 for bit in reversed(bits)]
    return np.broadcast_to(found.entries.reshape(shape), (2,) * len(bits))


def _sorted(bits: list[Bit], entries: NDArray[np.int64]) -> BitTable:
    order = sorted(range(len(bits)), key=lambda k: bits[k], reverse=True)
    axes = [len(bits) - 1 - k for k in order]
    turned = np.transpose(entries, axes) if bits else entries
    return BitTable(tuple(sorted(bits)), np.ascontiguousarray(turned).ravel())


# --------------------------------------------------------------------------------------------------
# The maker of operations, which simplifies and shares them.
# --------------------------------------------------------------------------------------------------

Terms = list[tuple[int, int]]  # factors and values


@dataclass(frozen=True, slots=True)
class Costs:
    """The operations that a machine prefers, with the largest cheap tables in bits of the index.

    `alike` is for tables of one word, `apart` for the product of two words. `triangle` is the
    number of low digits of either word whose partial products are one table. Factors of an entry
    other than `plain` are multiplied into its table. With `parts`, index bits that come from
    another entry are looked up in their final places.
    """

    alike: int
    apart: int
    triangle: int
    plain: tuple[int, ...] = ()
    parts: bool = False


class Maker:
    """Creates operations one after the other."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.made: list[tuple[Kind, tuple[int, ...], tuple[int, ...]]] = []
        self.ranges: list[Range] = []
        self.tables: list[tuple[int, ...]] = []
        self.about: dict[int, str] = {}
        self._places: dict[tuple[Kind, tuple[int, ...], tuple[int, ...]], int] = {}
        self._tables: dict[tuple[int, ...], int] = {}
        self._indexed: dict[int, BitTable] = {}

    def make(
        self,
        op: Kind,
        sources: tuple[int, ...] = (),
        argument: tuple[int, ...] = (),
        within: Range | None = None,
    ) -> int:
        """Return an operation; the intersection of its known ranges is kept."""
        key = op, sources, argument
        low, high = range_of(op, argument, [self.ranges[k] for k in sources], self.tables)
        if within is not None:
            low, high = max(low, within[0]), min(high, within[1])
        if key not in self._places:
            self._places[key] = len(self.made)
            self.made.append(key)
            self.ranges.append((low, high))
        place = self._places[key]
        before = self.ranges[place]
        self.ranges[place] = max(low, before[0]), min(high, before[1])
        return place

    def constant(self, value: int) -> int:
        return self.make("sum", (), (value, 0))

    def known(self, place: int) -> int | None:
        """Return the constant that a value equals, or None."""
        low, high = self.ranges[place]
        return low if low == high else None

    def sum(
        self, terms: Iterable[tuple[int, int]], constant: int, within: Range | None = None
    ) -> int:
        """Return a sum; its range may be given."""
        joined, constant = self._joined(terms, constant)
        if not joined:
            return self.constant(constant)
        if len(joined) == 1:
            ((factor, place),) = joined
            if (factor, constant) == (1, 0):
                return place
            if place in self._indexed:
                return self._table([place], lambda x: factor * x + constant)
        return self._sum(joined, constant, 0, within)

    def _sum(self, terms: Terms, constant: int, wraps: int, within: Range | None = None) -> int:
        factors, sources = zip(*terms, strict=True)
        return self.make("sum", sources, (constant, wraps, *factors), within)

    def word(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> int:
        """Return the lowest bits of a sum as a signed number, or the sum if it cannot wrap."""
        joined, constant = self._joined(terms, constant)
        if self._fits(joined, constant, bits):
            return self.sum(joined, constant)
        half = 1 << bits >> 1
        constant = (constant + half) % (1 << bits) - half
        return self._sum(joined, constant, bits) if joined else self.constant(constant)

    def fits(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> bool:
        """Tell whether a sum fits into a signed word."""
        return self._fits(*self._joined(terms, constant), bits)

    def _fits(self, terms: Terms, constant: int, bits: int) -> bool:
        factors = [factor for factor, _ in terms]
        low, high = reach((constant, 0, *factors), [self.ranges[place] for _, place in terms])
        return signed_range(bits)[0] <= low and high <= signed_range(bits)[1]

    def signed(self, place: int) -> int:
        """Return a value with valid high bits."""
        bits = self._valid(place)
        return self.make("bits", (place,), (bits, 1), self.ranges[place]) if bits else place

    def _valid(self, place: int) -> int:
        """Return the number of valid low bits of a value; 0 if all are valid."""
        op, _, argument = self.made[place]
        return argument[1] if op in ("input", "sum") else 0

    def product(self, a: int, b: int) -> int:
        """Return a product."""
        for x, y in ((a, b), (b, a)):
            if (factor := self.known(x)) is not None:
                return self.sum(((factor, y),), 0)
        if a in self._indexed and b in self._indexed and self._few(a, b):
            return self._table([a, b], lambda x, y: x * y)
        return self.make("product", (min(a, b), max(a, b)))

    def shifted(self, place: int, by: int) -> int:
        """Return a value without its lowest bits, rounded down."""
        place = self.signed(place)
        if (known := self.known(place)) is not None:
            return self.constant(known >> by)
        if not by:
            return place
        if place in self._indexed:
            return self._table([place], lambda x: x >> by)
        op, sources, argument = self.made[place]
        if op == "shift":
            return self.shifted(sources[0], argument[0] + by)
        return self.make("shift", (place,), (by,))

    def loose(self, place: int, by: int) -> int:
        """Return a shifted value whose bits above those of the word do not matter."""
        if not by or not self._valid(place):
            return self.shifted(place, by) if by else place
        return self.make("shift", (place,), (by,))

    def entry(self, fields: Sequence[BitField], entries: Sequence[int]) -> int:
        return self._entry(indexed(fields, entries))

    def _entry(self, table: BitTable) -> int:
        table = shortened(table, self.known)
        if not table.bits:
            return self.constant(int(table.entries[0]))
        plain = [bit for bit in table.bits if not self.costs.parts or bit[0] not in self._indexed]
        looked = [bit for bit in table.bits if bit not in plain]
        known, table = table, ordered(table, [*plain, *looked])
        entries = tuple(int(x) for x in table.entries)
        if entries not in self._tables:
            self._tables[entries] = len(self.tables)
            self.tables.append(entries)
        fields = table._replace(bits=tuple(plain)).fields
        parts = self._parts(looked, len(plain))
        sources = (*(field.of for field in fields), *parts)
        argument = (self._tables[entries], *(x for field in fields for x in field[1:]))
        place = self.make("entry", sources, argument)
        self._indexed[place] = known
        return place

    def _parts(self, bits: Sequence[Bit], first: int) -> tuple[int, ...]:
        """Return entries with the index bits of other entries in place."""
        found = []
        for of in dict.fromkeys(of for of, _ in bits):
            places = [(bit, first + k) for k, (value, bit) in enumerate(bits) if value == of]
            part = self._table(
                [of], lambda x, to=places: sum((x >> bit & 1) << place for bit, place in to)
            )
            found.append(part)
        return tuple(found)

    def _table(self, places: Sequence[int], combine: Callable[..., NDArray[np.int64]]) -> int:
        place = self._entry(together([self._indexed[place] for place in places], combine))
        names = dict.fromkeys(self.about[k] for k in places if k in self.about)
        if names:
            self.about.setdefault(place, " + ".join(names))
        return place

    def _few(self, a: int, b: int) -> bool:
        """Tell whether a table can replace a product of entries."""
        tables = [self._indexed[place] for place in (a, b)]
        alike = {of for of, _ in tables[0].bits} == {of for of, _ in tables[1].bits}
        return union(tables) <= (self.costs.alike if alike else self.costs.apart)

    def clamped(self, place: int, low: int, high: int) -> int:
        """Return a value clamped to a range."""
        place = self.signed(place)
        least, most = self.ranges[place]
        return place if low <= least and most <= high else self.make("clamp", (place,), (low, high))

    def chosen(self, conditions: Sequence[Inside], then: int, otherwise: int) -> int:
        """Return one value if all conditions hold, else another one."""
        sources = (then, otherwise, *(one.of for one in conditions))
        return self.make("choose", sources, tuple(x for one in conditions for x in one[1:]))

    def done(self, outputs: Sequence[IntOutput]) -> IntOps:
        """Return all needed operations."""
        needed = {
            place
            for made in outputs
            for place in (made.value, *(i.of for i in (made.inside, *made.rests) if i is not None))
        }
        for place in reversed(range(len(self.made))):
            if place in needed:
                needed.update(self.made[place][1])
        kept = sorted(needed)
        to = {place: k for k, place in enumerate(kept)}
        tables: dict[int, int] = {}
        ops = []
        for place in kept:
            op, sources, argument = self.made[place]
            if op == "entry":
                argument = (tables.setdefault(argument[0], len(tables)), *argument[1:])
            ops.append(IntOp(op, tuple(to[k] for k in sources), argument, *self.ranges[place]))
        made = tuple(
            IntOutput(to[one.value], one.inside and one.inside._replace(of=to[one.inside.of]),
                      tuple(i._replace(of=to[i.of]) for i in one.rests))
            for one in outputs
        )  # fmt: skip
        about = tuple(self.about.get(place, "") for place in kept)
        return IntOps(tuple(ops), tuple(self.tables[k] for k in tables), made, about)

    def _joined(self, terms: Iterable[tuple[int, int]], constant: int) -> tuple[Terms, int]:
        """Return terms with equal values merged, constants added, tables joined."""
        found: dict[int, int] = {}
        for factor, place in terms:
            if (known := self.known(place)) is not None:
                constant += factor * known
                continue
            op, sources, argument = self.made[place]
            if op == "sum" and not argument[1] and len(sources) == 1:
                constant += factor * argument[0]  # a scaled value with a constant
                factor, place = factor * argument[2], sources[0]  # noqa: PLW2901 (the same value)
            found[place] = found.get(place, 0) + factor
        for place in [k for k in found if k in self._indexed and self.costs.plain]:
            if abs(factor := found[place]) not in self.costs.plain:
                del found[place]  # replaced by the scaled table
                whole = self._table([place], lambda x, f=factor: f * x)
                found[whole] = found.get(whole, 0) + 1
        for several in self._alike(found):
            factors = [found.pop(place) for place in several]
            whole = self._table(several, lambda *x, f=factors: sum(map(operator.mul, f, x)))
            found[whole] = found.get(whole, 0) + 1
        return [(factor, place) for place, factor in found.items() if factor], constant

    def _alike(self, found: Iterable[int]) -> list[list[int]]:
        """Return groups of entries that are better one table."""
        groups: dict[frozenset[int], list[int]] = {}
        for place in found:
            if place in self._indexed:
                of = frozenset(value for value, _ in self._indexed[place].bits)
                groups.setdefault(of, []).append(place)
        chosen = []
        for several in groups.values():
            tables = [self._indexed[place] for place in several]
            if len(several) > 1 and union(tables) <= self.costs.alike:
                chosen.append(several)
        return chosen


# --------------------------------------------------------------------------------------------------
# A word graph as straight-line code of signed integers.
#
# The digits of words are ±1, and a partial product tells whether two digits agree. With a and b for
# centred words of m and n bits, the sum of all partial products is
#
#     Σ 2^(i+j) [a_i = b_j] = a (2b + 1) + b + ((2^m - 1)(2^n - 1) + 1) / 2
#
# one multiplication. Discarded lowest columns are a triangle of partial products of low digits,
# which is a table and is subtracted. A small product is one table.
# --------------------------------------------------------------------------------------------------


class Lowering:
    """Lowers the nodes of a graph.

    `cells` are the centred cells of inputs. For each input word of the graph, `cuts` has the place
    of a cell and the number of its lowest bits that the word lacks.
    """

    def __init__(
        self,
        graph: WordGraph,
        make: Maker,
        cells: Sequence[int],
        cuts: Iterable[tuple[int, int]],
        meanings: Sequence[str] = (),
    ) -> None:
        self.graph, self.make, self.cells = graph, make, cells
        self.words: list[int] = []  # the value of every node
        cut = iter(cuts)
        for place, node in enumerate(graph.nodes):
            if isinstance(node, InputWord):
                cell, drop = next(cut)  # the leading bits of a cell
                word = make.shifted(cells[cell], drop) if drop else cells[cell]
            elif isinstance(node, Lookup):
                word = self._lookup(node)
            elif isinstance(node, Angles):
                word = self._angles(node)
            else:
                word = self._heap(node)
            self.words.append(word)
            if meanings:
                make.about.setdefault(word, meanings[place])

    def _lookup(self, node: Lookup) -> int:
        source = self.graph.nodes[node.source]
        drop = source.bits - node.read
        half = 1 << node.bits >> 1
        picked = node.picked
        fields = [BitField(self.words[node.source], drop + k, 1) for k in picked]
        turned = [entry - half for entry in node.entries]
        if picked and picked[-1] == node.read - 1:  # the leading bit of k is inverted here
            middle = len(turned) >> 1
            turned = turned[middle:] + turned[:middle]
        return self.make.entry(fields, turned)

    def _part(self, place: int, drop: int, column: int, *, negative: bool) -> tuple[Terms, int]:
        """Return a word or its inverse without low bits, shifted."""
        half = 1 << (self.graph.nodes[place].bits - drop) >> 1
        word = self.make.shifted(self.words[place], drop)
        if negative:
            return [(-1 << column, word)], half - 1 << column
        return [(1 << column, word)], half << column

    def _angles(self, node: Angles) -> int:
        """Return a sum of angles, of which only the lowest bits are valid if it wraps."""
        constant, terms, loose = node.constant - (1 << node.bits >> 1), [], []
        for turn in node.turns:
            drop = self.graph.nodes[turn.node].bits - turn.read
            more, fixed = self._part(turn.node, drop, turn.shift, negative=turn.negative)
            terms += more
            constant += fixed
            right = turn.read + turn.shift >= node.bits
            word = self.make.loose(self.words[turn.node], drop) if right else more[0][1]
            loose.append((more[0][0], word))
        if self.make.fits(terms, constant, node.bits):
            return self.make.sum(terms, constant)
        return self.make.word(loose, constant, node.bits)

    def _heap(self, node: Heap) -> int:
        """Return a sum of words and products."""
        constant, terms = node.constant - (1 << node.bits >> 1), []
        for part in node.parts:
            more, fixed = self._summand(part)
            terms += more
            constant += fixed
        return self.make.word(terms, constant, node.bits)

    def _summand(self, part: HeapPart) -> tuple[Terms, int]:
        if isinstance(part, Bits):
            row = part.layout(self.graph.nodes)
            return self._part(part.node, row.drop, row.column, negative=part.negative)
        place, fixed = self._products(part)
        column = max(0, part.column)
        if part.negative:
            full = part.layout(self.graph.nodes).weight
            return [(-1 << column, place)], full - (fixed << column)
        return [(1 << column, place)], fixed << column

    def _products(self, part: PartialProducts) -> tuple[int, int]:
        """Return a value and a constant for a sum of partial products."""
        grid = part.layout(self.graph.nodes)
        discards = max(0, -grid.column)
        drop_a = max(0, discards - grid.b + 1)  # digits in discarded columns only
        drop_b = max(0, discards - grid.a + 1)
        m, n = grid.a - drop_a, grid.b - drop_b
        discards -= drop_a + drop_b
        if min(m, n) <= 0:
            return self.make.constant(0), 0
        a = self.make.shifted(self.words[part.a], grid.drop_a + drop_a)
        b = self.make.shifted(self.words[part.b], grid.drop_b + drop_b)
        return self._agreement((a, m), (b, n), max(0, discards))

    def _agreement(self, x: tuple[int, int], y: tuple[int, int], discards: int) -> tuple[int, int]:
        """Return a value and a constant: the digits that agree, without the lowest columns."""
        make, (a, m), (b, n) = self.make, x, y
        most = ((1 << m) - 1) * ((1 << n) - 1)
        middle = most + 1 >> 1
        if discards and m + n <= make.costs.apart:
            fields = [BitField(a, 0, m), BitField(b, 0, n)]
            return make.entry(fields, _agreeing(m, n, discards)), 0
        twice = make.sum([(2, b)], 1)
        terms = [(1, make.product(a, twice)), (1, b)]
        if not discards:
            return make.sum(terms, 0, (-middle, most - middle)), middle
        terms.append((-1, self._triangle((a, 0), (b, 0), discards)))
        above, rest = divmod(middle, 1 << discards)
        least = rest - middle
        whole = make.sum(terms, rest, (least, least + most))
        return make.shifted(whole, discards), above

    def _triangle(self, x: tuple[int, int], y: tuple[int, int], side: int) -> int:
        """Return Σ 2^(i+j) over digits that agree, i + j < side, from given digits on."""
        make, (a, low_a), (b, low_b) = self.make, x, y
        if side <= make.costs.triangle:
            fields = [BitField(a, low_a, side), BitField(b, low_b, side)]
            return make.entry(fields, _digits(side, side, lambda i, j: i + j < side))
        half = (side + 1) // 2
        fields = [BitField(a, low_a, half), BitField(b, low_b, half)]
        square = make.entry(fields, _digits(half, half, lambda _i, _j: True))
        sides = [
            self._triangle((a, low_a + half), y, side - half),
            self._triangle(x, (b, low_b + half), side - half),
        ]
        return make.sum([(1, square), *((1 << half, one) for one in sides)], 0)

    def output(self, place: int, rests: Iterable[tuple[int, bool]] | None) -> IntOutput:
        """Return an output, zero where some inputs are: their places, and whether each is a tread.

        Its value is centred, as are the cells of inputs.
        """
        result, make = self.graph.results[place], self.make
        left = self.graph.nodes[result.node].bits - result.drop
        word = make.shifted(self.words[result.node], result.drop)
        cell = make.clamped(word, *signed_range(result.bits))
        inside = Inside(word, *signed_range(result.bits))
        saturates = left > result.bits and cell != word
        zeros = [Inside(make.signed(self.cells[k]), tread - 1, 0) for k, tread in rests or ()]
        if rests is not None:
            cell = make.chosen(zeros, make.constant(0), cell)
        return IntOutput(cell, inside if saturates else None, tuple(zeros))


def _digits(m: int, n: int, counts: Callable[[int, int], bool]) -> list[int]:
    """Return Σ 2^(i+j) over some pairs of digits that agree, for all words of m and n bits.

    The first word is the lower part of the index.
    """
    a, b = np.arange(1 << m)[None, :], np.arange(1 << n)[:, None]
    total = np.zeros((1 << n, 1 << m), np.int64)
    for i in range(m):
        for j in range(n):
            if counts(i, j):
                total += ((a >> i & 1) == (b >> j & 1)).astype(np.int64) << (i + j)
    return [int(x) for x in total.ravel()]


def _agreeing(m: int, n: int, discards: int) -> list[int]:
    """Return the partial products without the lowest columns, for all signed words."""
    found = np.reshape(_digits(m, n, lambda i, j: i + j >= discards), (1 << n, 1 << m))
    turned = np.roll(found >> discards, (1 << n >> 1, 1 << m >> 1), (0, 1))
    return [int(x) for x in turned.ravel()]
