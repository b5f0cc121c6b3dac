"""A word graph as integer operations, by the costs of a machine: tables joined, sums shared."""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, PartialProducts, reads
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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.words.costs import MachineCosts
    from boolcomp.words.graph import HeapPart, WordGraph
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


def indexed(every: Sequence[Bit], entries: Sequence[int], flips: int = 0) -> BitTable:
    """Return a table as a function of distinct bits; those in the mask `flips` are inverted."""
    bits = list(dict.fromkeys(every))
    index = np.arange(1 << len(bits))
    place = np.full_like(index, flips)
    for k, bit in enumerate(every):
        place ^= (index >> bits.index(bit) & 1) << k
    return BitTable(tuple(bits), np.asarray(entries, np.int64)[place])


def shortened(
    table: BitTable, known: Callable[[int], int | None], *, runs: bool = False
) -> BitTable:
    """Return a table without constant or irrelevant bits, in order.

    With `runs` an irrelevant bit stays if it is between others of its value.
    """
    bits = list(table.bits)
    entries = table.entries.reshape((2,) * len(bits))
    for bit in (*reversed(table.bits), *table.bits):
        if bit not in bits:
            continue
        axis = len(bits) - 1 - bits.index(bit)  # the highest is the first axis
        value = known(bit[0])
        between = runs and {(bit[0], bit[1] - 1), (bit[0], bit[1] + 1)} <= set(bits)
        low, high = (np.take(entries, k, axis) for k in (0, 1))
        if value is not None:
            entries = high if value >> bit[1] & 1 else low
        elif not between and np.array_equal(low, high):
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


def slope_of(entries: Sequence[int]) -> int:
    """Return the difference of neighbouring entries if all are equal, or 0."""
    steps = set(map(operator.sub, entries[1:], entries))
    return steps.pop() if len(steps) == 1 else 0


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
Product = tuple[Terms, int]  # terms and a constant


SHIFTED = (2, 4, 8)  # factors that are cheaper than another look-up
MORE = 1024  # bytes that one look-up less may cost
TURN = 16  # bits of a turn


def _bytes(count: int, low: int, high: int) -> int:
    """Return the size of a table whose entries may begin at 0."""
    return count * (1 if high - low < 256 else 2)


class Maker:
    """Creates operations one after the other."""

    def __init__(self, costs: MachineCosts) -> None:
        self.costs = costs
        self.made: list[tuple[Kind, tuple[int, ...], tuple[int, ...]]] = []
        self.ranges: list[Range] = []
        self.tables: list[tuple[int, ...]] = []
        self.about: dict[int, str] = {}
        self._places: dict[tuple[Kind, tuple[int, ...], tuple[int, ...]], int] = {}
        self._tables: dict[tuple[int, ...], int] = {}
        self._indexed: dict[int, BitTable] = {}
        self.shared: set[int] = set()  # entries with several uses
        self.single: set[int] = set()  # values that are not joined with others

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
        joined, constant = self.joined(terms, constant)
        if not joined:
            return self.constant(constant)
        if len(joined) == 1:
            ((factor, place),) = joined
            if (factor, constant) == (1, 0):
                return place
            if self.is_entry(place):
                return self._table([place], lambda x: factor * x + constant)
        return self._sum(joined, constant, 0, within)

    def _sum(self, terms: Terms, constant: int, wraps: int, within: Range | None = None) -> int:
        factors, sources = zip(*terms, strict=True)
        return self.make("sum", sources, (constant, wraps, *factors), within)

    def offset(self, place: int, constant: int) -> int:
        """Return a value plus a constant, which is not added in a table."""
        if (known := self.known(place)) is not None:
            return self.constant(known + constant)
        return self._sum([(1, place)], constant, 0)

    def moved(self, place: int, by: int) -> int:
        """Return a shifted value, which is not read from a table of its own."""
        if (peeled := self._peeled(place, by, self.moved)) is not None:
            return peeled
        if place in self._indexed and by and self.known(place) is None:
            return self.make("shift", (place,), (by,))
        return self.shifted(place, by)

    def _peeled(self, place: int, by: int, shift: Callable[[int, int], int]) -> int | None:
        """Return a shifted value if it is a multiple of another one and a constant."""
        op, sources, argument = self.made[place]
        if op != "sum" or len(sources) != 1 or not by or not self.costs.register:
            return None
        if place in self.single:
            return None
        constant, wraps, factor = argument
        even = min(by, (factor & -factor).bit_length() - 1)
        if even and not wraps:
            rest = self._sum([(factor >> even, sources[0])], constant >> even, 0)
            rest = sources[0] if self.made[rest][2] == (0, 0, 1) else rest
            return shift(rest, by - even)
        if (factor, wraps) == (1, 0) and constant and not constant % (1 << by):
            return self.offset(shift(sources[0], by), constant >> by)
        return None

    def word(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> int:
        """Return the lowest bits of a sum as a signed number, or the sum if it cannot wrap."""
        joined, constant = self.joined(terms, constant)
        if self._fits(joined, constant, bits):
            return self.sum(joined, constant)
        half = 1 << bits >> 1
        constant = (constant + half) % (1 << bits) - half
        return self._sum(joined, constant, bits) if joined else self.constant(constant)

    def natural(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> int:
        """Return the lowest bits of a sum as a natural number, or the sum if it cannot wrap."""
        joined, constant = self.joined(terms, constant)
        place = self.sum(joined, constant)
        low, high = self.ranges[place]
        if low >= 0 and high < 1 << bits:
            return place
        return self.make("bits", (self.word(joined, constant, bits),), (bits, 0))

    def fits(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> bool:
        """Tell whether a sum fits into a signed word."""
        return self._fits(*self.joined(terms, constant), bits)

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

    def twice(self, place: int) -> int:
        """Return twice a value plus 1, which is not read from a table of its own."""
        if (known := self.known(place)) is not None:
            return self.constant(2 * known + 1)
        op, sources, argument = self.made[place]
        if op == "sum" and argument[1:] == (0, 1):
            return self._sum([(2, sources[0])], 2 * argument[0] + 1, 0)
        return self._sum([(2, place)], 1, 0)

    def shifted(self, place: int, by: int) -> int:
        """Return a value without its lowest bits, rounded down."""
        place = self.signed(place)
        if (known := self.known(place)) is not None or not by:
            return place if known is None else self.constant(known >> by)
        if self.is_entry(place):
            return self._table([place], lambda x: x >> by)
        if (peeled := self._peeled(place, by, self.shifted)) is not None:
            return peeled
        op, sources, argument = self.made[place]
        if op == "shift":
            return self.shifted(sources[0], argument[0] + by)
        return self.make("shift", (place,), (by,))

    def loose(self, place: int, by: int) -> int:
        """Return a shifted value whose bits above those of the word do not matter."""
        if not by or not self._valid(place):
            return self.shifted(place, by) if by else place
        return self.make("shift", (place,), (by,))

    def entry(self, fields: Sequence[BitField], entries: Sequence[int], inverted: int = 0) -> int:
        """Return an entry of a table; its index concatenates fields, the lowest first.

        Bits of the index in the mask `inverted` are inverted.
        """
        bits = [(field.of, field.drop + k) for field in fields for k in range(field.bits)]
        if not self.costs.register:
            return self._entry(indexed(bits, entries, inverted))
        found = [self._source(*bit) for bit in bits]
        flips = inverted ^ sum(flip << k for k, (_, flip) in enumerate(found))
        return self._entry(indexed([bit for bit, _ in found], entries, flips))

    def _source(self, of: int, bit: int) -> tuple[Bit, bool]:
        """Return the earliest bit that a bit is equal to, or the inverse of."""
        op, sources, argument = self.made[of]
        if op == "shift":
            return self._source(sources[0], bit + argument[0])
        if op == "bits" and bit < argument[0] and self.made[sources[0]][0] != "input":
            return self._source(sources[0], bit)
        if op != "sum" or len(sources) != 1 or argument[1]:
            return (of, bit), False
        constant, _, factor = argument
        even = factor.bit_length() - 1
        half, (low, high) = -(constant >> even), self.ranges[sources[0]]
        middle = half > 0 and half & half - 1 == 0 and low >= 0 and high < 2 * half
        if factor != 1 << even or (half and not (middle and bit - even < half.bit_length())):
            return (of, bit), False
        if bit < even:
            return (self.constant(0), 0), bool(constant >> bit & 1)
        source, flip = self._source(sources[0], bit - even)
        return source, flip ^ (half > 0 and bit - even == half.bit_length() - 1)

    def _entry(self, table: BitTable) -> int:
        table = shortened(table, self.known, runs=self.costs.register > 0)
        if not table.bits:
            return self.constant(int(table.entries[0]))
        plain = [bit for bit in table.bits if not self.costs.parts or bit[0] not in self._indexed]
        looked = [bit for bit in table.bits if bit not in plain]
        known, table = table, self._aligned(ordered(table, [*plain, *looked]))
        plain = [*table.bits[: len(table.bits) - len(looked)]]
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

    def _aligned(self, table: BitTable) -> BitTable:
        """Return a table whose index begins at a byte, if that is worth its memory."""
        of, first = table.bits[0]
        more, fields = first % 8, table.fields
        bits = len(table.bits) + more
        if not more or len(fields) > 1 or bits > 8:
            return table
        low, high = int(table.entries.min()), int(table.entries.max())
        grown = _bytes((1 << bits) - len(table.entries), low, high)
        if grown > more * self.costs.memory:
            return table
        every = [(of, first - more + k) for k in range(bits)]
        return BitTable(tuple(every), np.repeat(table.entries, 1 << more))

    def is_entry(self, place: int) -> bool:
        return place in self._indexed and place not in self.single

    def added(self, place: int, number: int) -> int:
        """Return an entry plus a number."""
        return self._table([place], lambda x: x + number)

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
        if names:  # a table and its corrections
            plain = [name for name in names if not name.endswith(", fine")]
            self.about.setdefault(place, " + ".join(plain or names))
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

    def joined(self, terms: Iterable[tuple[int, int]], constant: int) -> Product:
        """Return terms with equal values merged, constants added, tables joined."""
        found: dict[int, int] = {}
        for factor, place in terms:
            if (known := self.known(place)) is not None:
                constant += factor * known
                continue
            while (scaled := self._scaled(place)) is not None:  # a scaled value with a constant
                constant += factor * scaled[0]
                factor, place = factor * scaled[1], scaled[2]  # noqa: PLW2901 (the same value)
                if not self.costs.memory:
                    break
            found[place] = found.get(place, 0) + factor
        for place in [k for k in found if self.is_entry(k) and self.costs.plain]:
            if abs(factor := found[place]) not in self.costs.plain:
                low, high = self.ranges[place]
                wider = abs(factor) == 2 and 127 < high - low < 256
                few = place in self.shared and abs(factor) in SHIFTED
                if self.costs.register and (wider or few):
                    continue  # a shift is cheaper than wider entries, or than another look-up
                del found[place]  # replaced by the scaled table
                whole = self._table([place], lambda x, f=factor: f * x)
                found[whole] = found.get(whole, 0) + 1
        for several in self._alike(found):
            factors = [found.pop(place) for place in several]
            whole = self._table(several, lambda *x, f=factors: sum(map(operator.mul, f, x)))
            found[whole] = found.get(whole, 0) + 1
        return [(factor, place) for place, factor in found.items() if factor], constant

    def _scaled(self, place: int) -> tuple[int, int, int] | None:
        """Return a constant, a factor and a value of which a value is the sum, or None."""
        op, sources, argument = self.made[place]
        if op != "sum" or argument[1] or len(sources) != 1 or place in self.single:
            return None
        return argument[0], argument[2], sources[0]

    def _pays(self, found: Mapping[int, int], several: Sequence[int]) -> bool:
        """Tell whether a table needs little more memory than those whose sum it is."""
        if not self.costs.register:
            return True
        tables = [self._indexed[place] for place in several]
        ranges = [self.ranges[place] for place in several]
        factors = [found[place] for place in several]
        low, high = reach((0, 0, *factors), ranges)
        before = sum(
            _bytes(table.entries.size, *x) for table, x in zip(tables, ranges, strict=True)
        )
        return _bytes(1 << union(tables), low, high) <= before + MORE

    def _alike(self, found: Mapping[int, int]) -> list[list[int]]:
        """Return groups of entries that are better one table."""
        groups: dict[frozenset[int], list[int]] = {}
        for place in found:
            if self.is_entry(place):
                of = frozenset(value for value, _ in self._indexed[place].bits)
                groups.setdefault(of, []).append(place)
        chosen = []
        for several in groups.values():
            tables = [self._indexed[place] for place in several]
            small = len(several) > 1 and union(tables) <= self.costs.alike
            if small and self._pays(found, several):
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


class Digits(NamedTuple):
    """Digits of a word above the lowest `low`; `whole` if its highest is one of them."""

    of: int
    low: int
    bits: int
    whole: bool = True


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
        self.meanings = meanings or [""] * len(graph.nodes)
        self.readers = Counter(place for node in graph.nodes for place in set(reads(node)))
        self.words: list[int] = []  # the value of every node
        self.alone: set[int] = set()  # tables that no other table of a sum can be joined with
        self.held: dict[int, tuple[int, int]] = {}  # words times 2^by: the value, by
        self.rotated: dict[int, int] = {}  # constants of sums that their tables contain
        self.turned = make.costs.register == 8 and self._is_turned()
        cut = iter(cuts)
        for place, node in enumerate(graph.nodes):
            if isinstance(node, InputWord):
                cell, drop = next(cut)  # the leading bits of a cell
                word = make.shifted(cells[cell], drop) if drop else cells[cell]
            elif isinstance(node, Lookup):
                word = self._lookup(node, self.meanings[place])
            elif isinstance(node, Angles):
                word = self._angles(place, node)
            else:
                word = self._heap(place, node)
            self.words.append(word)
            if meanings and place not in self.held:
                make.about.setdefault(word, meanings[place])

    def _lookup(self, node: Lookup, meaning: str) -> int:
        source = self.graph.nodes[node.source]
        drop = source.bits - node.read
        half = 1 << node.bits >> 1
        picked = node.picked
        fields = [BitField(self.words[node.source], drop + k, 1) for k in picked]
        top = 1 << len(picked) >> 1 if picked and picked[-1] == node.read - 1 else 0
        if not self.make.costs.register:
            return self.make.entry(fields, [entry - half for entry in node.entries], top)
        steps = self.rotated.get(node.source, 0) >> drop
        entries = np.roll(node.entries, -steps).tolist() if steps else node.entries
        if len(picked) == node.read and (slope := self._slope(node)):
            word = self.make.shifted(self.words[node.source], drop)
            middle = node.entries[0] + (slope << node.read >> 1) - half
            return self.make.sum([(slope, word)], middle)
        entry = self.make.entry(fields, entries, top)
        self.make.about.setdefault(entry, meaning)
        if self.readers[len(self.words)] > 1:
            self.make.shared.add(entry)
        return self.make.offset(entry, -half)

    def _slope(self, node: Lookup) -> int:
        """Return the difference of all neighbouring entries of a table, if it is a byte, or 0."""
        slope = slope_of(node.entries) if self.make.costs.memory else 0
        return slope if abs(slope) < 256 else 0

    def _part(self, place: int, drop: int, column: int, *, negative: bool) -> Product:
        """Return a word or its inverse without low bits, shifted."""
        half = 1 << (self.graph.nodes[place].bits - drop) >> 1
        word = self._scaled(place, drop, column)
        if negative:
            return [(-word[0], word[1])], half - 1 << column
        return [word], half << column

    def _scaled(self, place: int, drop: int, shift: int) -> tuple[int, int]:
        """Return a word without low bits, times a power of two, as a factor and a value."""
        make, (value, by) = self.make, self.held.get(place, (0, 0))
        half = 1 << self.graph.nodes[place].bits >> 1
        if by <= 0 or drop:
            shifted = make.moved if place in self.alone else make.shifted
            return 1 << shift, shifted(self.words[place], drop)
        if shift < by:
            return 1, make.sum([(1, make.shifted(value, by - shift))], -half << shift)
        return 1 << shift - by, make.sum([(1, value)], -half << by)

    def _angles(self, place: int, node: Angles) -> int:
        """Return a sum of angles, of which only the lowest bits are valid if it wraps."""
        if self.make.costs.register:
            by = TURN - node.bits if self.turned else 0
            pairs = [
                self._part(turn.node, self.graph.nodes[turn.node].bits - turn.read,
                           turn.shift + by, negative=turn.negative)
                for turn in node.turns
            ]  # fmt: skip
            total = (node.constant << by) + sum(fixed for _, fixed in pairs)
            terms = [term for terms, _ in pairs for term in terms]
            return self._hold(place, terms, total, by)
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

    def _read_above(self, place: int) -> int | None:
        """Return the number of low bits that no table reads of a value, None for other readers."""
        nodes, drop = self.graph.nodes, 0
        for node in nodes:
            if place not in reads(node):
                continue
            if not isinstance(node, Lookup) or len(node.picked) < node.read:
                return None
            drop = max(drop, nodes[place].bits - node.read)
        used = any(result.node == place for result in self.graph.results)
        return drop if self.make.costs.memory and not used else None

    def _heap(self, place: int, node: Heap) -> int:
        """Return a sum of words and products."""
        make, half = self.make, 1 << node.bits >> 1
        self.alone = self._alone(node) if make.costs.register else set()
        products: list[Product | None] = [None] * len(node.parts)
        if make.costs.register:
            products = [
                self._products(part) if isinstance(part, PartialProducts) else None
                for part in node.parts
            ]
        by = self._by(place, node, products) if make.costs.register else 0
        constant, terms = _times(node.constant, by), []
        for part, product in zip(node.parts, products, strict=True):
            more, fixed = self._summand(part, product, by)
            terms += more
            constant += fixed
        if not make.costs.register:
            return make.word(terms, constant - half, node.bits)
        terms, constant = self._settled(terms, constant)
        if by < 0:  # the lowest bits are those of the constant
            word = self._hold(place, terms, constant, by)
            return make.sum([(1 << -by, word)], node.constant % (1 << -by) - half)
        return self._hold(place, terms, constant, by)

    def _alone(self, heap: Heap) -> set[int]:
        """Return tables with several uses of which a sum has no other one of the same word."""
        nodes = self.graph.nodes
        tables = {part.node: nodes[part.node] for part in heap.parts if isinstance(part, Bits)}
        found = {k: node.source for k, node in tables.items() if isinstance(node, Lookup)}
        counts = Counter(found.values())
        return {k for k, of in found.items() if counts[of] == 1 and self.readers[k] > 1}

    def _hold(self, place: int, terms: Terms, constant: int, by: int) -> int:
        """Keep a word times a power of two, and return the word; the value itself if by < 0."""
        make, bits = self.make, self.graph.nodes[place].bits
        side = self._read_above(place)
        if side is not None and by >= 0:
            terms, constant = make.joined(terms, constant)
            self.rotated[place] = constant >> side + by << side
            constant -= self.rotated[place] << by
        if (base := self._base(terms, constant, bits + by)) and by >= 0:
            byte = make.sum(terms, constant - base)
            make.about.setdefault(byte, self.meanings[place])
            self.held[place] = make.offset(byte, base), by
            return make.offset(make.moved(self.held[place][0], by), -(1 << bits >> 1))
        value = make.natural(terms, constant, bits + by)
        make.single.add(value)
        self.held[place] = value, by
        op, sources, _ = make.made[value]
        make.about.setdefault(sources[0] if op == "bits" else value, self.meanings[place])
        return value if by < 0 else make.offset(make.moved(value, by), -(1 << bits >> 1))

    def _base(self, terms: Terms, constant: int, bits: int) -> int:
        """Return a multiple of a large power of 2 without which a sum is a byte, or 0."""
        factors = [factor for factor, _ in terms]
        low, high = reach((constant, 0, *factors), [self.make.ranges[k] for _, k in terms])
        if not self.make.costs.memory or high < 256 or low < 0 or high >= 1 << bits:
            return 0
        for side in range(bits, -1, -1):
            if high - (base := low >> side << side) < 256:
                return base
        return 0

    def _is_turned(self) -> bool:
        """Tell whether sums of angles are cheaper in 16 bits: indices then begin at a byte."""
        nodes, moving = self.graph.nodes, self.make.costs.moving
        sums = {k: n for k, n in enumerate(nodes) if isinstance(n, Angles)}
        angles = {turn.node for n in sums.values() for turn in n.turns} - set(sums)
        if any(n.bits > TURN for n in sums.values()):
            return False
        plain, turned = 2.0 * len(sums), 8.0 * len(angles)
        for node in nodes:
            if isinstance(node, Lookup) and node.source in sums:
                plain += moving(nodes[node.source].bits - node.read, 16)
                turned += 8 - node.read if node.read <= 8 else moving(TURN - node.read, 16)
        return turned < plain

    def _settled(self, terms: Terms, constant: int) -> Product:
        """Return a sum with entries first and products last, and with fewer constants.

        Tables of bytes begin at 0, and another one has the constant added.
        """
        make, first = self.make, len(self.make.made)
        terms, constant = make.joined(terms, constant)
        own = {place for _, place in terms if place >= first and make.is_entry(place)}
        for k, (factor, place) in enumerate(terms):
            low, high = make.ranges[place]
            if place in own and high - low < 256 and not 0 <= low <= high < 256:
                terms[k] = factor, make.added(place, -low)
                constant += factor * low
        for k, (factor, place) in enumerate(terms):
            low, high = (end + factor * constant for end in make.ranges[place])
            if place in own and high - low > 255:
                whole = low >> 16 << 16  # sums are modulo 2^16, or constants are cheap
                whole += (high - whole >= 1 << 16) << 16
                whole = whole if high - low < 1 << 16 else 0
                terms[k] = factor, make.added(place, factor * constant - whole)
                constant = factor * whole
        rest = [term for term in terms if not make.is_entry(term[1])]
        rest.sort(key=lambda term: make.made[term[1]][0] == "product")
        return [term for term in terms if make.is_entry(term[1])] + rest, constant

    def _by(self, place: int, node: Heap, products: Sequence[Product | None]) -> int:
        """Return the left shift of a sum with the least shifts of its operands and uses."""
        least = []
        for part, product in zip(node.parts, products, strict=True):
            terms, fixed = product or ([(2, 0)], 0)
            odd = fixed % 2 or any(factor % 2 for factor, _ in terms)
            least.append(int(odd) - max(0, part.column))
        low = max(least, default=0)
        high = max(16, 1 << (node.bits + max(0, low) - 1).bit_length()) - node.bits
        return min(range(low, high + 1), key=lambda by: (self._moves(place, node, by), by))

    def _moves(self, place: int, node: Heap, by: int) -> float:
        """Return the cost of shifts for a left shift of a sum."""
        least = min(16, self.make.costs.register)
        kind = max(least, 1 << (node.bits + by - 1).bit_length())
        cost, moving = len(node.parts) * kind / 8, self.make.costs.moving
        for part in node.parts:
            if isinstance(part, PartialProducts):
                cost += moving(max(0, part.column) + by - 1, kind)
            elif part.node in self.held and not part.drop:
                cost += moving(part.column + by - self.held[part.node][1], kind)
            elif isinstance(table := self.graph.nodes[part.node], Lookup):
                cost += 3 * (table.bits - part.drop + part.column + by - 1 >> 3)
            else:
                cost += moving(part.column + by, kind)
        reading = self.make.costs.reading
        return cost + sum(reading(shift, kind) for shift in self._shifts(place, by))

    def _shifts(self, place: int, by: int) -> Iterator[int]:
        """Yield the shifts of a sum in its uses."""
        bits = self.graph.nodes[place].bits
        for result in self.graph.results:
            if result.node == place:
                yield by + result.drop
        for node in self.graph.nodes:
            if isinstance(node, Lookup) and node.source == place:
                yield by + bits - node.read
            for part in node.parts if isinstance(node, Heap) else ():
                if isinstance(part, PartialProducts):
                    if part.a == place:
                        yield by - 1 + part.drop_a
                    if part.b == place:
                        yield by - 1 + part.drop_b

    def _summand(self, part: HeapPart, product: Product | None, by: int) -> Product:
        if isinstance(part, Bits):
            return self._part(part.node, part.drop, part.column + by, negative=part.negative)
        terms, fixed = product or self._products(part)
        shift = max(0, part.column) + by
        if self.make.costs.register:  # they are doubled
            shift -= 1
        full = _times(part.layout(self.graph.nodes).weight, by)
        terms = [(-factor if part.negative else factor, x) for factor, x in terms]
        terms = [(_times(factor, shift), x) for factor, x in terms]
        fixed = _times(fixed, shift)
        return terms, full - fixed if part.negative else fixed

    def _products(self, part: PartialProducts) -> Product:
        """Return terms and a constant for a sum of partial products, doubled if sums are held."""
        grid = part.layout(self.graph.nodes)
        if self.make.costs.register and part.column >= 0:
            a, b = self._odd(part.a, part.drop_a), self._odd(part.b, part.drop_b)
            return [(1, self.make.product(a, b))], ((1 << grid.a) - 1) * ((1 << grid.b) - 1)
        x = Digits(self.words[part.a], 0, grid.a + grid.drop_a)
        y = Digits(self.words[part.b], 0, grid.b + grid.drop_b)
        x, y = self._above(x, grid.drop_a), self._above(y, grid.drop_b)
        return self._agreement(x, y, max(0, -grid.column))

    def _odd(self, place: int, drop: int) -> int:
        """Return a word without low bits as an odd number: the sum of its digits ±1."""
        value = self.make.sum([self._scaled(place, drop, 1)], 1)
        self.make.about.setdefault(value, f"{self.meanings[place]} odd")
        return value

    def _agreement(self, x: Digits, y: Digits, discards: int) -> Product:
        """Return terms and a constant: the digits that agree, without the lowest columns.

        They are doubled if sums are held.
        """
        make, drops = self.make, (max(0, discards - y.bits + 1), max(0, discards - x.bits + 1))
        x, y = self._above(x, drops[0]), self._above(y, drops[1])
        if not make.costs.register:
            x, y = (d._replace(of=make.shifted(d.of, d.low), low=0) for d in (x, y))
        (a, low_a, m, _), (b, low_b, n, _) = x, y
        discards = max(0, discards - sum(drops))
        if min(m, n) <= 0:
            return [], 0
        way, unit = make.costs.way(m, n, discards), 2 if make.costs.register else 1
        if way == "table":
            flips = x.whole << m - 1 | y.whole << m + n - 1
            entries = _digits(m, n, lambda i, j: i + j >= discards)
            entries = [entry >> discards for entry in entries]
            entry = make.entry([BitField(a, low_a, m), BitField(b, low_b, n)], entries, flips)
            return [(unit, entry)], 0
        if isinstance(way, int):
            return self._split(x, y, discards, way)
        terms, middle = self._whole(x, y)
        most = unit * ((1 << m) - 1) * ((1 << n) - 1)
        if not discards:
            whole = make.sum(terms, 0, (-middle, most - middle)) if unit == 1 else 0
            return [(1, whole)] if unit == 1 else terms, middle
        terms.append((-unit, self._triangle((a, low_a), (b, low_b), discards)))
        above, rest = divmod(middle, unit << discards)
        least = rest - middle
        whole = make.sum(terms, rest, (least, least + most))
        return [(unit, make.shifted(whole, discards + unit - 1))], above * unit

    def _whole(self, x: Digits, y: Digits) -> Product:
        """Return terms and a constant: all digits that agree, doubled if sums are held."""
        make, a, b = self.make, self._number(x), self._number(y)
        most = ((1 << x.bits) - 1) * ((1 << y.bits) - 1)
        if not make.costs.register:
            twice = make.sum([(2, b)], 1)
            return [(1, make.product(a, twice)), (1, b)], most + 1 >> 1
        return [(1, make.product(make.twice(a), make.twice(b)))], most

    def _split(self, x: Digits, y: Digits, discards: int, way: int) -> Product:
        """Return the digits that agree as a sum over the low and high digits of one word."""
        if way < 0:
            x, y, way = y, x, -way
        terms, constant = self._agreement(x._replace(bits=way, whole=False), y, discards)
        more, fixed = self._agreement(self._above(x, way), y, discards - way)
        return [*terms, *more], constant + fixed

    def _above(self, x: Digits, drop: int) -> Digits:
        """Return the digits of a word above the lowest ones."""
        return x._replace(low=x.low + drop, bits=x.bits - drop)

    def _number(self, x: Digits) -> int:
        """Return digits as a centred number."""
        if not self.make.costs.register:
            return x.of
        value = self.make.moved(x.of, x.low)
        if x.whole:
            return value
        natural = self.make.make("bits", (value,), (x.bits, 0))
        return self.make.offset(natural, -(1 << x.bits >> 1))

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


def lowered(graph: WordGraph, costs: MachineCosts) -> IntOps:
    """Return the operations of a graph whose inputs are natural words."""
    make, cells = Maker(costs), []
    for place, node in enumerate(graph.inputs):
        word = make.make("input", (), (place, node.bits))
        word = make.make("bits", (word,), (node.bits, 0))
        cells.append(make.sum([(1, word)], -(1 << node.bits >> 1)))
    lowering = Lowering(graph, make, cells, [(place, 0) for place in range(len(cells))])
    return make.done([lowering.output(place, None) for place in range(len(graph.results))])


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


def _times(number: int, by: int) -> int:
    return number << by if by >= 0 else number >> -by
