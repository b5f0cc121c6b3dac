"""Straight-line code in LLVM's language: one sample in registers, or 64 in lanes.

A value has the narrowest type that holds its range; sums, products and shifts up are right modulo
a power of two, so what they are made of is cut to their type. Lanes have 8 bits or more; single
samples 32, which is what processors calculate with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.engines.llvm import LlvmLines, splat
from boolcomp.engines.words_lower import (
    Cell,
    Clamped,
    Entry,
    Product,
    Resting,
    Shifted,
    Signed,
    Sum,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.engines.words_lower import Inside, Straightened, Tables, Value

LANES = 64
SINGLE_TYPES, LANE_TYPES = (32, 64), (8, 16, 32, 64)  # bits
LEAST_PRODUCT = 16  # bits of a lane: no processor multiplies bytes


class Emission:
    """The body of a function that calculates values, for so many samples side by side."""

    def __init__(
        self,
        out: LlvmLines,
        code: Straightened,
        cells: Sequence[tuple[str, int]],
        tables: Tables,
        lanes: int,
    ) -> None:
        self.out, self.code, self.cells, self.tables, self.lanes = out, code, cells, tables, lanes
        self.types = SINGLE_TYPES if lanes == 1 else LANE_TYPES
        self.widths = [self._width(k, value) for k, value in enumerate(code.values)]
        self._names: dict[tuple[int, int], str] = {}
        if lanes == 1:
            tables.begin(out)
        for place, value in enumerate(code.values):
            self._names[place, self.widths[place]] = self._value(place, value)

    def kind(self, width: int) -> str:
        """Return the type of numbers of so many bits."""
        return f"i{width}" if self.lanes == 1 else f"<{self.lanes} x i{width}>"

    def number(self, width: int, value: int) -> str:
        """Return a constant, modulo 2^width."""
        if self.lanes > 1:
            return splat(f"i{width}", self.lanes, value % (1 << width))
        half = 1 << width - 1
        return str((value + half) % (2 * half) - half)

    def reaching(self, place: int, bits: int) -> int:
        """Return the type of a value in which it has so many bits, its sign repeated."""
        return next(w for w in self.types if w >= max(bits, self.widths[place]))

    def at(self, place: int, width: int) -> str:
        """Return a value with so many bits."""
        key = place, width
        if key not in self._names:
            own = self.widths[place]
            self._names[key] = self._cut(self._names[place, own], own, width)
        return self._names[key]

    def inside(self, conditions: Sequence[Inside]) -> str:
        """Return whether all conditions hold."""
        whole = ""
        for one in conditions:
            width = self.widths[one.of]
            least, most = self.code.ranges[one.of]
            name, kind = self.at(one.of, width), self.kind(width)
            for test, end, needed in (("sge", one.low, one.low > least),
                                      ("sle", one.high, one.high < most)):  # fmt: skip
                if not needed:
                    continue
                here = self.out.emit(f"icmp {test} {kind} {name}, {self.number(width, end)}")
                whole = self.out.emit(f"and {self.mark} {whole}, {here}") if whole else here
        return whole or self.marks(1)

    @property
    def mark(self) -> str:
        """The type of what is true or not."""
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    def marks(self, value: int) -> str:
        """Return what is true or not of all."""
        return str(value) if self.lanes == 1 else splat("i1", self.lanes, value)

    def _width(self, place: int, value: Value) -> int:
        if isinstance(value, Cell):
            return self.cells[value.port][1]
        low, high = self.code.ranges[place]
        least = LEAST_PRODUCT if isinstance(value, Product) else 0
        bits = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + 1
        return next(width for width in self.types if width >= max(bits, least))

    def _value(self, place: int, value: Value) -> str:
        width = self.widths[place]
        match value:
            case Cell():
                name = self.cells[value.port][0]
            case Sum():
                name = self._sum(value, width)
            case Product():
                name = self._two("mul", width, self.at(value.a, width), self.at(value.b, width))
            case Signed():
                name = self._signed(value, width)
            case Shifted():
                own = self.widths[value.of]
                name = self._two("ashr", own, self.at(value.of, own), self.number(own, value.by))
                name = self._cut(name, own, width)
            case Entry():
                name = self.tables.entry(self, value, width)
            case Clamped():
                name = self._clamped(value, width)
            case Resting():
                name = self._resting(value, width)
        return name

    def _two(self, operation: str, width: int, a: str, b: str) -> str:
        return self.out.emit(f"{operation} {self.kind(width)} {a}, {b}")

    def _cut(self, name: str, own: int, width: int) -> str:
        if own == width:
            return name
        if self.lanes > 1 and own == 16 and width == 8:
            return self.octets(name, 0)
        how = "sext" if width > own else "trunc"
        return self.out.emit(f"{how} {self.kind(own)} {name} to {self.kind(width)}")

    def octets(self, name: str, which: int) -> str:
        """Return the lower or the upper bytes of lanes of 16 bits, by one permute."""
        halves = self.out.emit(f"bitcast {self.kind(16)} {name} to <{2 * self.lanes} x i8>")
        places = ", ".join(f"i32 {2 * k + which}" for k in range(self.lanes))
        whole = f"<{2 * self.lanes} x i8>"
        return self.out.emit(
            f"shufflevector {whole} {halves}, {whole} poison, <{self.lanes} x i32> <{places}>"
        )

    def _sum(self, value: Sum, width: int) -> str:
        """Return a sum; it begins with what is added, if anything is."""
        whole = self.number(width, value.constant)
        begun = value.constant != 0
        for factor, place in sorted(value.terms, key=lambda term: term[0] < 0):
            name, size = self.at(place, width), abs(factor)
            if size > 1:
                shift = size.bit_length() - 1
                plain = size == 1 << shift
                operation = "shl" if plain else "mul"
                name = self._two(
                    operation, width, name, self.number(width, shift if plain else size)
                )
            if factor > 0 and not begun:
                whole = name
            else:
                whole = self._two("sub" if factor < 0 else "add", width, whole, name)
            begun = True
        return whole

    def _signed(self, value: Signed, width: int) -> str:
        name = self.at(value.of, width)
        exact = isinstance(self.code.values[value.of], Cell) and self.lanes == 1
        if width == value.bits or exact:
            return name
        by = self.number(width, width - value.bits)
        return self._two("ashr", width, self._two("shl", width, name, by), by)

    def _clamped(self, value: Clamped, width: int) -> str:
        own = self.widths[value.of]
        name, kind = self.at(value.of, own), self.kind(own)
        least, most = self.code.ranges[value.of]
        for test, end, needed in (("smax", value.low, value.low > least),
                                  ("smin", value.high, value.high < most)):  # fmt: skip
            if needed:
                suffix = f"i{own}" if self.lanes == 1 else f"v{self.lanes}i{own}"
                name = self.out.emit(
                    f"call {kind} @llvm.{test}.{suffix}({kind} {name}, {kind} "
                    f"{self.number(own, end)})"
                )
        return self._cut(name, own, width)

    def _resting(self, value: Resting, width: int) -> str:
        marks, kind = self.inside(value.conditions), self.kind(width)
        zero = self.number(width, 0)
        return self.out.emit(
            f"select {self.mark} {marks}, {kind} {zero}, {kind} {self.at(value.of, width)}"
        )


def declarations(lanes: int) -> list[str]:
    """Return declarations of what the code may call."""
    found = []
    for width in SINGLE_TYPES if lanes == 1 else LANE_TYPES:
        kind, suffix = f"i{width}", f"i{width}"
        if lanes > 1:
            kind, suffix = f"<{lanes} x i{width}>", f"v{lanes}i{width}"
        found += [
            f"declare {kind} @llvm.{name}.{suffix}({kind}, {kind})" for name in ("smin", "smax")
        ]
    return found
