"""Makes values one after the other, as few as it can."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boolcomp.engines.wordwise.indexed import (
    indexed,
    ordered,
    renumbered,
    shortened,
    together,
    union,
)
from boolcomp.engines.wordwise.values import (
    Cell,
    Clamped,
    Entry,
    Inside,
    Made,
    Product,
    Resting,
    Shifted,
    Signed,
    Straightened,
    Sum,
    Value,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.engines.wordwise.indexed import Bit, Indexed
    from boolcomp.engines.wordwise.values import Field


PLAIN = (1, 2, 4, 8)  # factors that cost nothing where a value is added


@dataclass(frozen=True, slots=True)
class Taste:
    """What a machine finds cheap: bits of the index of a table that takes the place of others.

    `alike` where all of these read the same word, `apart` where they read two that are multiplied;
    `triangle` are the low digits of either word whose partial products are one table. With `parts`
    bits of an index that are an entry's are looked up where they stand in it.
    """

    alike: int
    apart: int
    triangle: int
    parts: bool = False


class Maker:
    """Makes values one after the other."""

    def __init__(self, taste: Taste) -> None:
        self.taste = taste
        self.values: list[Value] = []
        self.ranges: list[tuple[int, int]] = []
        self.tables: list[tuple[int, ...]] = []
        self._places: dict[Value, int] = {}
        self._tables: dict[tuple[int, ...], int] = {}
        self._indexed: dict[int, Indexed] = {}

    def _made(self, value: Value, low: int, high: int) -> int:
        if value not in self._places:
            self._places[value] = len(self.values)
            self.values.append(value)
            self.ranges.append((low, high))
        place = self._places[value]
        before = self.ranges[place]  # what is known of it in one place holds in all
        self.ranges[place] = max(low, before[0]), min(high, before[1])
        return place

    def constant(self, value: int) -> int:
        """Return a number that is known."""
        return self._made(Sum((), value), value, value)

    def known(self, place: int) -> int | None:
        """Return which number a value always is."""
        low, high = self.ranges[place]
        return low if low == high else None

    def cell(self, port: int, bits: int) -> int:
        """Return the cell of an input."""
        half = 1 << bits >> 1
        return self._made(Cell(port, bits), -half, half - 1)

    def sum(
        self, terms: Iterable[tuple[int, int]], constant: int, within: tuple[int, int] | None = None
    ) -> int:
        """Return a sum; it may be known to lie within a range."""
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
        return self._made(Sum(factors, constant), low, high)

    def word(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> int:
        """Return the lowest bits of a sum with a sign; where it may wrap, those bits alone."""
        factors, constant = self._joined(terms, constant)
        low, high = self._reach(factors, constant)
        half = 1 << bits >> 1
        if -half <= low and high < half:
            return self.sum(factors, constant)
        if not factors:
            return self.constant((constant + half) % (1 << bits) - half)
        constant = (constant + half) % (1 << bits) - half
        return self._made(Sum(factors, constant, bits), -half, half - 1)

    def fits(self, terms: Iterable[tuple[int, int]], constant: int, bits: int) -> bool:
        """Tell whether a sum lies within a word of so many bits."""
        low, high = self._reach(*self._joined(terms, constant))
        return -(1 << bits >> 1) <= low and high < 1 << bits >> 1

    def signed(self, place: int) -> int:
        """Return a value of which all bits are right."""
        bits = self._right(place)
        return self._made(Signed(place, bits), *self.ranges[place]) if bits else place

    def _right(self, place: int) -> int:
        """Return how many of the lowest bits of a value are right; 0 where all are."""
        value = self.values[place]
        if isinstance(value, Cell):
            return value.bits
        return value.wraps if isinstance(value, Sum) else 0

    def product(self, a: int, b: int) -> int:
        """Return a product."""
        for x, y in ((a, b), (b, a)):
            if (factor := self.known(x)) is not None:
                return self.sum(((factor, y),), 0)
        if a in self._indexed and b in self._indexed and self._few(a, b):
            return self._table([a, b], lambda x, y: x * y)
        ends = [x * y for x in self.ranges[a] for y in self.ranges[b]]
        return self._made(Product(min(a, b), max(a, b)), min(ends), max(ends))

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
        """Return what `shifted` does, where bits above those of the word do not matter."""
        if not by:
            return place
        if not self._right(place):
            return self.shifted(place, by)
        low, high = self.ranges[place]
        return self._made(Shifted(place, by), low >> by, high >> by)

    def entry(self, fields: Sequence[Field], entries: Sequence[int]) -> int:
        """Return an entry of a table; bits of the index that make no difference are left out."""
        return self._entry(indexed(fields, entries))

    def _entry(self, table: Indexed) -> int:
        table = shortened(table, self.known)
        if not table.bits:
            return self.constant(int(table.entries[0]))
        plain = [bit for bit in table.bits if not self.taste.parts or bit[0] not in self._indexed]
        looked = [bit for bit in table.bits if bit not in plain]
        known, table = table, ordered(table, [*plain, *looked])
        entries = tuple(int(x) for x in table.entries)
        if entries not in self._tables:
            self._tables[entries] = len(self.tables)
            self.tables.append(entries)
        fields = table._replace(bits=tuple(plain)).fields
        parts = self._parts(looked, len(plain))
        place = self._made(Entry(fields, self._tables[entries], parts), min(entries), max(entries))
        self._indexed[place] = known
        return place

    def _parts(self, bits: Sequence[Bit], first: int) -> tuple[int, ...]:
        """Return entries that have the bits of other entries where an index wants them."""
        found = []
        for of in dict.fromkeys(of for of, _ in bits):
            places = [(bit, first + k) for k, (value, bit) in enumerate(bits) if value == of]
            part = self._table(
                [of], lambda x, to=places: sum((x >> bit & 1) << place for bit, place in to)
            )
            found.append(part)
        return tuple(found)

    def _table(self, places: Sequence[int], combine: Callable[..., NDArray[np.int64]]) -> int:
        """Return a function of table entries as one table."""
        return self._entry(together([self._indexed[place] for place in places], combine))

    def _few(self, a: int, b: int) -> bool:
        """Tell whether a table takes the place of a product of entries."""
        tables = [self._indexed[place] for place in (a, b)]
        alike = {of for of, _ in tables[0].bits} == {of for of, _ in tables[1].bits}
        return union(tables) <= (self.taste.alike if alike else self.taste.apart)

    def clamped(self, place: int, low: int, high: int) -> int:
        """Return a value put into a range."""
        place = self.signed(place)
        least, most = self.ranges[place]
        if low <= least and most <= high:
            return place
        return self._made(Clamped(place, low, high), max(low, min(least, high)),
                          min(high, max(most, low)))  # fmt: skip

    def resting(self, place: int, conditions: tuple[Inside, ...]) -> int:
        """Return zero where all conditions hold."""
        low, high = self.ranges[place]
        return self._made(Resting(place, conditions), min(low, 0), max(high, 0))

    def done(self, outputs: Sequence[Made]) -> Straightened:
        """Return all values that an output needs."""
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
            if isinstance(value, Entry):
                tables.setdefault(value.table, len(tables))
            values.append(_moved(value, to, tables))
        made = tuple(
            Made(to[one.cell], one.inside and one.inside._replace(of=to[one.inside.of]),
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
        """Return terms with equal values joined, known ones in the constant, tables together."""
        found: dict[int, int] = {}
        for factor, place in terms:
            if (known := self.known(place)) is not None:
                constant += factor * known
                continue
            inner = self.values[place]
            if isinstance(inner, Sum) and not inner.wraps and len(inner.terms) == 1:
                constant += factor * inner.constant  # a value moved and raised
                factor, place = factor * inner.terms[0][0], inner.terms[0][1]  # noqa: PLW2901 (the same value said otherwise)
            found[place] = found.get(place, 0) + factor
        for place in [k for k, factor in found.items() if k in self._indexed]:
            if self.taste.parts and abs(factor := found[place]) not in PLAIN:
                del found[place]  # multiplied where it lies
                whole = self._table([place], lambda x, f=factor: f * x)
                found[whole] = found.get(whole, 0) + 1
        for several in self._alike(found):
            factors = [found.pop(place) for place in several]
            whole = self._table(several, lambda *x, f=factors: sum(map(operator.mul, f, x)))
            found[whole] = found.get(whole, 0) + 1
        return tuple((factor, place) for place, factor in found.items() if factor), constant

    def _alike(self, found: Iterable[int]) -> list[list[int]]:
        """Return the entries among some values that are better one table, group by group."""
        groups: dict[frozenset[int], list[int]] = {}
        for place in found:
            if place in self._indexed:
                of = frozenset(value for value, _ in self._indexed[place].bits)
                groups.setdefault(of, []).append(place)
        chosen = []
        for several in groups.values():
            tables = [self._indexed[place] for place in several]
            if len(several) > 1 and union(tables) <= self.taste.alike:
                chosen.append(several)
        return chosen

    def _reach(self, terms: Iterable[tuple[int, int]], constant: int) -> tuple[int, int]:
        low = high = constant
        for factor, place in terms:
            ends = [factor * end for end in self.ranges[place]]
            low, high = low + min(ends), high + max(ends)
        return low, high


def _moved(value: Value, to: dict[int, int], tables: dict[int, int]) -> Value:
    """Return a value whose operands and table have other numbers."""
    if isinstance(value, Cell):
        return value
    if isinstance(value, Sum):
        terms = tuple((factor, to[place]) for factor, place in value.terms)
        return Sum(terms, value.constant, value.wraps)
    if isinstance(value, Product):
        return Product(to[value.a], to[value.b])
    if isinstance(value, Entry):
        parts = tuple(to[place] for place in value.parts)
        return Entry(renumbered(value.fields, to), tables[value.table], parts)
    if isinstance(value, Resting):
        conditions = tuple(one._replace(of=to[one.of]) for one in value.conditions)
        return Resting(to[value.of], conditions)
    return replace(value, of=to[value.of])
