"""Word graphs as straight-line code of signed integers, with tables joined and shortened."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np

from boolcomp.engines.llvm import LlvmLines, splat, vector_of
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.engine import Wiring, WordLogic
    from boolcomp.engines.words import Emission
    from boolcomp.words.graph import HeapPart, OutputWord, PartialProducts

# --------------------------------------------------------------------------------------------------
# Straight-line code of signed integers, each value with its range. Words of a graph are centred:
# word k of n bits is k - 2^(n-1). Its leading bits are then an arithmetic shift, its inverse is -1
# minus it, and a word of 8 or 16 bits fits into a lane of that size. Values are numbered; equal
# ones are shared.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InputCell:
    """An input's cell; of a code only the lowest bits are valid."""

    port: int
    bits: int


@dataclass(frozen=True, slots=True)
class ValueSum:
    """Σ factor · value + constant; only its lowest `wraps` bits are valid if that is set."""

    terms: tuple[tuple[int, int], ...]
    constant: int
    wraps: int = 0


@dataclass(frozen=True, slots=True)
class SignedBits:
    """The lowest bits of a value, as a signed number."""

    of: int
    bits: int


@dataclass(frozen=True, slots=True)
class ValueProduct:
    """The product of two values."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Shifted:
    """A value without its lowest bits."""

    of: int
    by: int


class BitField(NamedTuple):
    """Bits of a value in an index: a number of bits above the lowest `drop`."""

    of: int
    drop: int
    bits: int


@dataclass(frozen=True, slots=True)
class LookupEntry:
    """An entry of a table; the index concatenates fields, the lowest first, and parts."""

    fields: tuple[BitField, ...]
    table: int
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Clamped:
    """A value clamped to a range."""

    of: int
    low: int
    high: int


class Inside(NamedTuple):
    """Whether a value lies within a range."""

    of: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Resting:
    """Zero if all conditions hold, else a value."""

    of: int
    conditions: tuple[Inside, ...]


Value: TypeAlias = (
    InputCell | ValueSum | SignedBits | ValueProduct | Shifted | LookupEntry | Clamped | Resting
)


class LoweredOutput(NamedTuple):
    """An output: its cell, the range in which it does not saturate, and its rest conditions."""

    cell: int
    inside: Inside | None
    rests: tuple[Inside, ...]


@dataclass(frozen=True, slots=True)
class Straightened:
    """Values in order, their tables, and the outputs."""

    values: tuple[Value, ...]
    ranges: tuple[tuple[int, int], ...]
    tables: tuple[tuple[int, ...], ...]
    outputs: tuple[LoweredOutput, ...]


def reads(value: Value) -> tuple[int, ...]:
    """Return the operands of a value."""
    if isinstance(value, InputCell):
        return ()
    if isinstance(value, ValueSum):
        return tuple(place for _, place in value.terms)
    if isinstance(value, ValueProduct):
        return (value.a, value.b)
    if isinstance(value, LookupEntry):
        return (*(field.of for field in value.fields), *value.parts)
    if isinstance(value, Resting):
        return (value.of, *(one.of for one in value.conditions))
    return (value.of,)


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


def renumbered(fields: Sequence[BitField], to: Mapping[int, int]) -> tuple[BitField, ...]:
    return tuple(field._replace(of=to[field.of]) for field in fields)


# --------------------------------------------------------------------------------------------------
# The maker of values, which simplifies and shares them.
# --------------------------------------------------------------------------------------------------

PLAIN = (1, 2, 4, 8)  # factors without cost in an addition


@dataclass(frozen=True, slots=True)
class TableCosts:
    """The largest cheap tables of a machine, in bits of the index.

    `alike` is for tables of one word, `apart` for the product of two words. `triangle` is the
    number of low digits of either word whose partial products are one table. With `parts`, index
    bits that come from another entry are looked up in their final places.
    """

    alike: int
    apart: int
    triangle: int
    parts: bool = False


class ValueMaker:
    """Creates values one after the other."""

    def __init__(self, costs: TableCosts) -> None:
        self.costs = costs
        self.values: list[Value] = []
        self.ranges: list[tuple[int, int]] = []
        self.tables: list[tuple[int, ...]] = []
        self._places: dict[Value, int] = {}
        self._tables: dict[tuple[int, ...], int] = {}
        self._indexed: dict[int, BitTable] = {}

    def _made(self, value: Value, low: int, high: int) -> int:
        if value not in self._places:
            self._places[value] = len(self.values)
            self.values.append(value)
            self.ranges.append((low, high))
        place = self._places[value]
        before = self.ranges[place]  # the intersection of its known ranges
        self.ranges[place] = max(low, before[0]), min(high, before[1])
        return place

    def constant(self, value: int) -> int:
        return self._made(ValueSum((), value), value, value)

    def known(self, place: int) -> int | None:
        """Return the constant that a value equals, or None."""
        low, high = self.ranges[place]
        return low if low == high else None

    def cell(self, port: int, bits: int) -> int:
        """Return the cell of an input."""
        half = 1 << bits >> 1
        return self._made(InputCell(port, bits), -half, half - 1)

    def sum(
        self, terms: Iterable[tuple[int, int]], constant: int, within: tuple[int, int] | None = None
    ) -> int:
        """Return a sum; its range may be given."""
        factors, constant = self._joined(terms, constant)
        if not factors:
            return self.constant(constant)
        if len(factors) == 1:
            ((factor, place),) = factors
            if (factor, constant) == (1, 0):
                return place
            if place in self._indexed:
                return self._table([place], lambda x: factor * x + constant)
        low, high = self._reach(factors, constant)
        if within is not None:
            low, high = max(low, within[0]), min(high, within[1])
        return self._made(ValueSum(factors, constant), low, high)

    def word(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> int:
        """Return the lowest bits of a sum as a signed number, or the sum if it cannot wrap."""
        factors, constant = self._joined(terms, constant)
        low, high = self._reach(factors, constant)
        half = 1 << bits >> 1
        if -half <= low and high < half:
            return self.sum(factors, constant)
        if not factors:
            return self.constant((constant + half) % (1 << bits) - half)
        constant = (constant + half) % (1 << bits) - half
        return self._made(ValueSum(factors, constant, bits), -half, half - 1)

    def fits(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> bool:
        """Tell whether a sum fits into a signed word."""
        low, high = self._reach(*self._joined(terms, constant))
        return -(1 << bits >> 1) <= low and high < 1 << bits >> 1

    def signed(self, place: int) -> int:
        """Return a value with valid high bits."""
        bits = self._right(place)
        return self._made(SignedBits(place, bits), *self.ranges[place]) if bits else place

    def _right(self, place: int) -> int:
        """Return the number of valid low bits of a value; 0 if all are valid."""
        value = self.values[place]
        if isinstance(value, InputCell):
            return value.bits
        return value.wraps if isinstance(value, ValueSum) else 0

    def product(self, a: int, b: int) -> int:
        """Return a product."""
        for x, y in ((a, b), (b, a)):
            if (factor := self.known(x)) is not None:
                return self.sum(((factor, y),), 0)
        if a in self._indexed and b in self._indexed and self._few(a, b):
            return self._table([a, b], lambda x, y: x * y)
        ends = [x * y for x in self.ranges[a] for y in self.ranges[b]]
        return self._made(ValueProduct(min(a, b), max(a, b)), min(ends), max(ends))

    def shifted(self, place: int, by: int) -> int:
        """Return a value without its lowest bits, rounded down."""
        place = self.signed(place)
        low, high = self.ranges[place]
        if low == high:
            return self.constant(low >> by)
        if not by:
            return place
        if place in self._indexed:
            return self._table([place], lambda x: x >> by)
        value = self.values[place]
        if isinstance(value, Shifted):
            return self.shifted(value.of, value.by + by)
        return self._made(Shifted(place, by), low >> by, high >> by)

    def loose(self, place: int, by: int) -> int:
        """Return a shifted value whose bits above those of the word do not matter."""
        if not by:
            return place
        if not self._right(place):
            return self.shifted(place, by)
        low, high = self.ranges[place]
        return self._made(Shifted(place, by), low >> by, high >> by)

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
        place = self._made(
            LookupEntry(fields, self._tables[entries], parts), min(entries), max(entries)
        )
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
        return self._entry(together([self._indexed[place] for place in places], combine))

    def _few(self, a: int, b: int) -> bool:
        """Tell whether a table can replace a product of entries."""
        tables = [self._indexed[place] for place in (a, b)]
        alike = {of for of, _ in tables[0].bits} == {of for of, _ in tables[1].bits}
        return union(tables) <= (self.costs.alike if alike else self.costs.apart)

    def clamped(self, place: int, low: int, high: int) -> int:
        """Return a value clamped to a range."""
        place = self.signed(place)
        least, most = self.ranges[place]
        if low <= least and most <= high:
            return place
        return self._made(Clamped(place, low, high), max(low, min(least, high)),
                          min(high, max(most, low)))  # fmt: skip

    def resting(self, place: int, conditions: tuple[Inside, ...]) -> int:
        """Return a value that is zero if all conditions hold."""
        low, high = self.ranges[place]
        return self._made(Resting(place, conditions), min(low, 0), max(high, 0))

    def done(self, outputs: Sequence[LoweredOutput]) -> Straightened:
        """Return all needed values."""
        needed = {
            place
            for made in outputs
            for place in (made.cell, *(i.of for i in (made.inside, *made.rests) if i is not None))
        }
        for place in reversed(range(len(self.values))):
            if place in needed:
                needed.update(reads(self.values[place]))
        kept = sorted(needed)
        to = {place: k for k, place in enumerate(kept)}
        tables: dict[int, int] = {}
        values = []
        for place in kept:
            value = self.values[place]
            if isinstance(value, LookupEntry):
                tables.setdefault(value.table, len(tables))
            values.append(_moved(value, to, tables))
        made = tuple(
            LoweredOutput(to[one.cell], one.inside and one.inside._replace(of=to[one.inside.of]),
                 tuple(i._replace(of=to[i.of]) for i in one.rests))
            for one in outputs
        )  # fmt: skip
        return Straightened(
            tuple(values), tuple(self.ranges[k] for k in kept),
            tuple(self.tables[k] for k in tables), made,
        )  # fmt: skip

    def _joined(
        self, terms: Iterable[tuple[int, int]], constant: int
    ) -> tuple[tuple[tuple[int, int], ...], int]:
        """Return terms with equal values merged, constants added, tables joined."""
        found: dict[int, int] = {}
        for factor, place in terms:
            if (known := self.known(place)) is not None:
                constant += factor * known
                continue
            inner = self.values[place]
            if isinstance(inner, ValueSum) and not inner.wraps and len(inner.terms) == 1:
                constant += factor * inner.constant  # a scaled value with a constant
                factor, place = factor * inner.terms[0][0], inner.terms[0][1]  # noqa: PLW2901 (the same value)
            found[place] = found.get(place, 0) + factor
        for place in [k for k, factor in found.items() if k in self._indexed]:
            if self.costs.parts and abs(factor := found[place]) not in PLAIN:
                del found[place]  # replaced by the scaled table
                whole = self._table([place], lambda x, f=factor: f * x)
                found[whole] = found.get(whole, 0) + 1
        for several in self._alike(found):
            factors = [found.pop(place) for place in several]
            whole = self._table(several, lambda *x, f=factors: sum(map(operator.mul, f, x)))
            found[whole] = found.get(whole, 0) + 1
        return tuple((factor, place) for place, factor in found.items() if factor), constant

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

    def _reach(self, terms: Iterable[tuple[int, int]], constant: int) -> tuple[int, int]:
        low = high = constant
        for factor, place in terms:
            ends = [factor * end for end in self.ranges[place]]
            low, high = low + min(ends), high + max(ends)
        return low, high


def _moved(value: Value, to: dict[int, int], tables: dict[int, int]) -> Value:
    """Return a value with renumbered operands and table."""
    if isinstance(value, InputCell):
        return value
    if isinstance(value, ValueSum):
        terms = tuple((factor, to[place]) for factor, place in value.terms)
        return ValueSum(terms, value.constant, value.wraps)
    if isinstance(value, ValueProduct):
        return ValueProduct(to[value.a], to[value.b])
    if isinstance(value, LookupEntry):
        parts = tuple(to[place] for place in value.parts)
        return LookupEntry(renumbered(value.fields, to), tables[value.table], parts)
    if isinstance(value, Resting):
        conditions = tuple(one._replace(of=to[one.of]) for one in value.conditions)
        return Resting(to[value.of], conditions)
    return replace(value, of=to[value.of])


# --------------------------------------------------------------------------------------------------
# Tables: loads for one sample; for 64 samples permutes of registers, or 64 loads. One instruction
# permutes a register of 64 bytes or a pair; larger tables have several, selected by the upper bits
# of the index. Short tables are repeated, so that bits of an index above their own do not matter.
# Entries of more than 8 bits are permuted byte by byte.
# --------------------------------------------------------------------------------------------------

REGISTER, PAIR = 6, 7  # bits of the index of one permute
BYTES = "<64 x i8>"
_ONE = "@llvm.x86.avx512.permvar.qi.512"
_TWO = "@llvm.x86.avx512.vpermi2var.qi.512"


class LookupTables(Protocol):
    """The look-ups of entries."""

    def begin(self, out: LlvmLines) -> None:
        """Write the code before all look-ups of a function."""

    def entry(self, emission: Emission, value: LookupEntry, width: int) -> str:
        """Return entries of `width` bits."""

    def texts(self) -> list[str]:
        """Return the text outside of functions."""


def table_width(entries: Sequence[int]) -> int:
    """Return the bits of the numbers of a table in memory."""
    low, high = min(entries), max(entries)
    return next(w for w in (8, 16, 32, 64) if -1 << w - 1 <= low and high < 1 << w - 1)


class Loads:
    """Looks up entries by loads, those of many lanes one after the other.

    All tables are adjacent, so that one register holds the address of all.
    """

    def __init__(self, code: Straightened, name: str) -> None:
        self.code, self.name = code, name
        self.widths = [table_width(entries) for entries in code.tables]
        self.places: list[int] = []
        size = 0
        for entries, width in zip(code.tables, self.widths, strict=True):
            size += -size % (width // 8)
            self.places.append(size)
            size += len(entries) * width // 8
        self.size = size
        self._called: set[tuple[int, int]] = set()

    def begin(self, out: LlvmLines) -> None:
        out.do(f'%tables = call ptr asm "", "=r,0"(ptr @{self.name})')

    def entry(self, emission: Emission, value: LookupEntry, width: int) -> str:
        """Return entries of `width` bits."""
        bits = sum(field.bits for field in value.fields)
        own, out = self.widths[value.table], emission.out
        kind = emission.kind(own)
        if emission.lanes == 1:
            index = self._index(emission, value)
            first = out.at("%tables", self.places[value.table])
            place = out.emit(f"getelementptr i{own}, ptr {first}, i64 {index}")
            entry = out.emit(f"load i{own}, ptr {place}, align {own // 8}")
        else:
            index_width = next(w for w in (8, 16, 32) if w >= bits)
            index = joined(emission, value.fields, index_width)
            self._called.add((value.table, index_width))
            entry = out.emit(
                f"call {kind} @{self.name}{value.table}_by_{index_width}"
                f"({emission.kind(index_width)} {index})"
            )
        how = f"{'sext' if width > own else 'trunc'} {kind} {entry} to"
        return entry if own == width else out.emit(f"{how} {emission.kind(width)}")

    def _index(self, emission: Emission, value: LookupEntry) -> str:
        out = emission.out
        names = [joined(emission, value.fields, 32)] if value.fields else []
        names += [emission.at(part, 32) for part in value.parts]
        index = names[0]
        for name in names[1:]:
            index = out.emit(f"add nuw nsw i32 {index}, {name}")
        return out.emit(f"zext i32 {index} to i64")

    def texts(self) -> list[str]:
        """Return the tables, and functions that look up lanes."""
        content = bytearray(self.size)
        for place, entries, width in zip(self.places, self.code.tables, self.widths, strict=True):
            size = width // 8
            for k, entry in enumerate(entries):
                here = place + k * size
                content[here : here + size] = entry.to_bytes(size, "little", signed=True)
        text = "".join(f"\\{byte:02X}" for byte in content) or "\\00"
        count = max(1, self.size)
        found = [f'@{self.name} = private constant [{count} x i8] c"{text}", align 64']
        for table, width in sorted(self._called):
            own, place = self.widths[table], self.places[table]
            name = f"{self.name}{table}"
            found.append(_LOOP.format(name=name, own=own, width=width, all=self.name, at=place))
        return found


_LOOP = """\
define internal <64 x i{own}> @{name}_by_{width}(<64 x i{width}> %index) #0 {{
entry:
  %from = alloca <64 x i{width}>, align 64
  %to = alloca <64 x i{own}>, align 64
  store <64 x i{width}> %index, ptr %from, align 64
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr i{width}, ptr %from, i64 %k
  %i = load i{width}, ptr %p
  %wide = zext i{width} %i to i64
  %first = getelementptr i8, ptr @{all}, i64 {at}
  %place = getelementptr i{own}, ptr %first, i64 %wide
  %entry1 = load i{own}, ptr %place
  %q = getelementptr i{own}, ptr %to, i64 %k
  store i{own} %entry1, ptr %q
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done
done:
  %found = load <64 x i{own}>, ptr %to, align 64
  ret <64 x i{own}> %found
}}"""


class Permutes:
    """Looks up 64 entries by permutes; tables that are too large by loads."""

    most = 10  # bits of an index

    def __init__(self, code: Straightened, name: str) -> None:
        self.code = code
        self.loads = Loads(code, name)

    def begin(self, out: LlvmLines) -> None:
        """Do nothing: registers are constants where they are needed."""

    def entry(self, emission: Emission, value: LookupEntry, width: int) -> str:
        """Return entries of `width` bits."""
        bits = sum(field.bits for field in value.fields)
        if bits > self.most:
            return self.loads.entry(emission, value, width)
        entries = self.code.tables[value.table]
        own = min(width, table_width(entries))
        low = joined(emission, _first(value.fields, 8), 8, cut=bits <= PAIR)
        choices = _choices(emission, value.fields, bits, low)
        planes = [
            _permuted(emission, [entry >> 8 * k & 255 for entry in entries], low, choices)
            for k in range(own // 8)
        ]
        return _assembled(emission, planes, width)

    def texts(self) -> list[str]:
        """Return declarations, and tables in memory."""
        two = f"declare {BYTES} {_TWO}({BYTES}, {BYTES}, {BYTES})"
        return [f"declare {BYTES} {_ONE}({BYTES}, {BYTES})", two, *self.loads.texts()]


def joined(emission: Emission, fields: Sequence[BitField], width: int, *, cut: bool = False) -> str:
    """Return an index of a number of bits; with `cut` the bits above are arbitrary."""
    out = emission.out
    whole, place = "", 0
    for turn, field in enumerate(fields):
        own = emission.reaching(field.of, field.drop + field.bits)
        name = emission.at(field.of, own)
        kind = emission.kind(own)
        if (
            field.drop and own == 8 and emission.lanes > 1
        ):  # by pairs: the bits shifted in are cut off
            pairs = out.emit(f"bitcast {kind} {name} to <{emission.lanes // 2} x i16>")
            by = splat("i16", emission.lanes // 2, field.drop)
            pairs = out.emit(f"lshr <{emission.lanes // 2} x i16> {pairs}, {by}")
            name = out.emit(f"bitcast <{emission.lanes // 2} x i16> {pairs} to {kind}")
        elif field.drop >= 8 and own == 16 and emission.lanes > 1 and width == 8:
            name, own = emission.octets(name, 1), 8
            kind = emission.kind(own)
            if field.drop > 8:
                name = out.emit(f"lshr {kind} {name}, {emission.number(own, field.drop - 8)}")
        elif field.drop:
            name = out.emit(f"lshr {kind} {name}, {emission.number(own, field.drop)}")
        kind = emission.kind(width)
        if emission.lanes > 1 and own == 16 and width == 8:
            name = emission.octets(name, 0)
        elif own != width:
            how = "zext" if width > own else "trunc"
            name = out.emit(f"{how} {emission.kind(own)} {name} to {kind}")
        last = turn == len(fields) - 1
        if not (last and (cut or place + field.bits == width)):
            mask = emission.number(width, (1 << field.bits) - 1)
            name = out.emit(f"and {kind} {name}, {mask}")
        if place:
            name = out.emit(f"shl {kind} {name}, {emission.number(width, place)}")
        whole = out.emit(f"or {kind} {whole}, {name}") if whole else name
        place += field.bits
    return whole


def _first(fields: Sequence[BitField], bits: int) -> list[BitField]:
    """Return the fields of the lowest bits of an index."""
    found = []
    for field in fields:
        if bits > 0:
            found.append(field._replace(bits=min(bits, field.bits)))
        bits -= field.bits
    return found


def _choices(emission: Emission, fields: Sequence[BitField], bits: int, low: str) -> list[str]:
    """Return masks of the index bits above those of a pair of registers."""
    out = emission.out
    places = [(f.of, f.drop + k) for f in fields for k in range(f.bits)]
    found = []
    for k in range(PAIR, bits):
        of, bit = places[k]
        if k == 7:  # the sign of the index
            zero = splat("i8", 64, 0)
            found.append(out.emit(f"icmp slt {BYTES} {low}, {zero}"))
            continue
        width = emission.reaching(of, bit + 1)
        kind = emission.kind(width)
        one = out.emit(f"and {kind} {emission.at(of, width)}, {emission.number(width, 1 << bit)}")
        found.append(out.emit(f"icmp ne {kind} {one}, {emission.number(width, 0)}"))
    return found


def _permuted(
    emission: Emission, entries: Sequence[int], index: str, choices: Sequence[str]
) -> str:
    """Return bytes of a table."""
    out = emission.out
    if len(entries) <= 1 << REGISTER:
        register = vector_of("i8", list(entries) * ((1 << REGISTER) // len(entries)))
        return out.emit(f"call {BYTES} {_ONE}({BYTES} {register}, {BYTES} {index})")
    if len(entries) == 1 << PAIR:
        first, second = vector_of("i8", entries[:64]), vector_of("i8", entries[64:])
        operands = f"{BYTES} {first}, {BYTES} {index}, {BYTES} {second}"
        return out.emit(f"call {BYTES} {_TWO}({operands})")
    half = len(entries) // 2
    if entries[:half] == entries[half:]:
        return _permuted(emission, entries[:half], index, choices[:-1])
    below = _permuted(emission, entries[:half], index, choices[:-1])
    above = _permuted(emission, entries[half:], index, choices[:-1])
    return out.emit(f"select <64 x i1> {choices[-1]}, {BYTES} {above}, {BYTES} {below}")


def _assembled(emission: Emission, planes: Sequence[str], width: int) -> str:
    """Return numbers of bytes, the lowest first; the highest has the sign."""
    out, kind = emission.out, emission.kind(width)
    if len(planes) == 2:  # interleave the bytes by two permutes
        places = ", ".join(f"i32 {k // 2 + emission.lanes * (k % 2)}" for k in range(128))
        pair = f"{BYTES} {planes[0]}, {BYTES} {planes[1]}"
        whole = out.emit(f"shufflevector {pair}, <128 x i32> <{places}>")
        whole = out.emit(f"bitcast <128 x i8> {whole} to <64 x i16>")
        return whole if width == 16 else out.emit(f"sext <64 x i16> {whole} to {kind}")
    whole = ""
    for k, plane in enumerate(planes):
        how = "sext" if k == len(planes) - 1 else "zext"
        if width == 8:
            return plane
        wide = out.emit(f"{how} {BYTES} {plane} to {kind}")
        if k:
            wide = out.emit(f"shl {kind} {wide}, {emission.number(width, 8 * k)}")
        whole = out.emit(f"or {kind} {whole}, {wide}") if whole else wide
    return whole


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

# Loads are cheap while tables fit into the first-level cache: then the first of these applies.
SINGLE = tuple(TableCosts(alike=11, apart=apart, triangle=6, parts=True) for apart in (12, 11, 10))
CACHE = 1 << 15  # bytes
LANES = TableCosts(
    alike=8, apart=8, triangle=4
)  # permutes of 256 entries are the largest cheap ones

Terms = list[tuple[int, int]]


def single(wiring: Wiring, logic: WordLogic) -> Straightened:
    """Return the code of one sample."""
    for costs in SINGLE:
        found = lowered(wiring, logic, costs)
        if sum(len(x) * table_width(x) // 8 for x in found.tables) <= CACHE:
            break
    return found


def lowered(wiring: Wiring, logic: WordLogic, costs: TableCosts) -> Straightened:
    return _Lowering(wiring, logic, ValueMaker(costs)).done()


class _Lowering:
    """Lowers the nodes of a graph."""

    def __init__(self, wiring: Wiring, logic: WordLogic, make: ValueMaker) -> None:
        self.graph, self.logic, self.make = logic.graph, logic, make
        self.words: list[int] = []  # the value of every node
        self.cells = []
        for place, port in enumerate(wiring.ports):
            cell, half = make.cell(place, port.code.bits), port.code.cells >> 1
            if port.given.first:  # cells without a word do not occur
                cell = make.clamped(cell, port.given.first - half, half - 1)
            self.cells.append(cell)
        self.treads = [port.given.tread for port in wiring.ports]
        cuts = iter(logic.cuts)
        for node in self.graph.nodes:
            if isinstance(node, InputWord):
                cut = next(cuts)  # the leading bits of a cell
                cell = self.cells[cut.port]
                self.words.append(make.shifted(cell, cut.drop) if cut.drop else cell)
            elif isinstance(node, Lookup):
                self.words.append(self._lookup(node))
            elif isinstance(node, Angles):
                self.words.append(self._angles(node))
            else:
                self.words.append(self._heap(node))

    def done(self) -> Straightened:
        """Return the code."""
        results = zip(self.graph.results, self.logic.rests, strict=True)
        return self.make.done([self._output(result, rests) for result, rests in results])

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

    def _output(self, result: OutputWord, rests: tuple[int, ...] | None) -> LoweredOutput:
        heap = self.graph.nodes[result.node]
        left = heap.bits - result.drop
        word = self.make.shifted(self.words[result.node], result.drop)
        half = 1 << result.bits >> 1
        cell = self.make.clamped(word, -half, half - 1)
        inside = None if left == result.bits or cell == word else Inside(word, -half, half - 1)
        if rests is None:
            return LoweredOutput(cell, inside, ())
        zeros = tuple(Inside(self.make.signed(self.cells[k]), self.treads[k] - 1, 0) for k in rests)
        return LoweredOutput(self.make.resting(cell, zeros), inside, zeros)


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
