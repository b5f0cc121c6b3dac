"""Integer operations with ranges: what a word graph is lowered to, and their interpreter.

Operations are numbered, and equal ones are shared. The words of a graph are centred: word k of n
bits is k - 2^(n-1). Its leading bits are then an arithmetic shift, and its inverse is -1 minus it.

    op        sources            argument                       value
    input                        place, bits                    an input, a signed number of bits
    bits      x                  bits, signed                   the lowest bits of x
    sum       x1, x2, ..         constant, wraps, f1, f2, ..    constant + f1 x1 + f2 x2 + ..
    product   x, y                                              x y
    shift     x                  by                             x without its lowest bits
    xor       x, y                                              bits in which x and y differ
    entry     x1, .., p1, ..     table, drop1, bits1, ..        an entry of a table
    clamp     x                  low, high                      x, but at least low, at most high
    choose    x, y, c1, c2, ..   low1, high1, low2, high2, ..   x if low1 <= c1 <= high1 .., else y

Only the lowest bits of an input are valid, and only the lowest `wraps` bits of a sum if `wraps` is
not 0; `bits` makes the others valid. The value of both is the signed number in the valid bits. An
index concatenates fields of values (`drop`, `bits`), the lowest first, and adds the parts p1, ..
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.int64]

Kind: TypeAlias = Literal[
    "input", "bits", "sum", "product", "shift", "xor", "entry", "clamp", "choose"
]
Range: TypeAlias = tuple[int, int]


class BitField(NamedTuple):
    """Bits of a value in an index: a number of bits above the lowest `drop`."""

    of: int
    drop: int
    bits: int


class Inside(NamedTuple):
    """Whether a value lies within a range."""

    of: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class IntOp:
    """An operation: its sources are places of earlier ones; its value is in low .. high."""

    op: Kind
    sources: tuple[int, ...]
    argument: tuple[int, ...]
    low: int
    high: int

    @property
    def constant(self) -> int:
        return self.argument[0]

    @property
    def wraps(self) -> int:
        return self.argument[1]

    @property
    def terms(self) -> tuple[tuple[int, int], ...]:
        """The factors of a sum, each with its source."""
        return tuple(zip(self.argument[2:], self.sources, strict=True))

    @property
    def table(self) -> int:
        return self.argument[0]

    @property
    def fields(self) -> tuple[BitField, ...]:
        """The fields of an index."""
        drops, bits = self.argument[1::2], self.argument[2::2]
        return tuple(map(BitField, self.sources[: len(bits)], drops, bits))

    @property
    def parts(self) -> tuple[int, ...]:
        """The values that are added to the fields of an index."""
        return self.sources[len(self.argument) // 2 :]

    @property
    def conditions(self) -> tuple[Inside, ...]:
        """The conditions of a choice."""
        return tuple(map(Inside, self.sources[2:], self.argument[::2], self.argument[1::2]))

    @property
    def valid(self) -> int:
        """The number of valid low bits; 0 if all bits are valid."""
        return self.argument[1] if self.op in ("input", "sum") else 0


class IntOutput(NamedTuple):
    """An output: its value, the range in which it does not saturate, its conditions of rest.

    Where all conditions of rest hold, an output does not count as saturated.
    """

    value: int
    inside: Inside | None
    rests: tuple[Inside, ...]


@dataclass(frozen=True, slots=True)
class IntOps:
    """Operations in order, their tables, and the outputs; `about` describes some of the values."""

    ops: tuple[IntOp, ...]
    tables: tuple[tuple[int, ...], ...]
    outputs: tuple[IntOutput, ...]
    about: tuple[str, ...] = ()

    @property
    def octets(self) -> int:
        """The number of bytes of tables."""
        spans = ((len(entries), max(entries) - min(entries)) for entries in self.tables)
        return sum(size * (1 + (span > 255) + 2 * (span > 65535)) for size, span in spans)


def signed_range(bits: int) -> Range:
    """Return the least and the largest signed number of a number of bits."""
    half = 1 << bits >> 1
    return -half, half - 1


def reach(argument: Sequence[int], ranges: Sequence[Range]) -> Range:
    """Return the range of a sum that does not wrap."""
    low = high = argument[0]
    for factor, ends in zip(argument[2:], ranges, strict=True):
        least, most = sorted(factor * end for end in ends)
        low, high = low + least, high + most
    return low, high


def range_of(
    op: Kind, argument: Sequence[int], ranges: Sequence[Range], tables: Sequence[Sequence[int]]
) -> Range:
    """Return the range of an operation, from those of its sources."""
    if op == "entry":
        return min(tables[argument[0]]), max(tables[argument[0]])
    return _RANGES[op](argument, ranges)


def _product(_: Sequence[int], ranges: Sequence[Range]) -> Range:
    ends = [x * y for x in ranges[0] for y in ranges[1]]
    return min(ends), max(ends)


_RANGES: dict[Kind, Callable[[Sequence[int], Sequence[Range]], Range]] = {
    "input": lambda a, _: signed_range(a[1]),
    "bits": lambda a, _: signed_range(a[0]) if a[1] else (0, (1 << a[0]) - 1),
    "sum": lambda a, x: signed_range(a[1]) if a[1] else reach(a, x),
    "product": _product,
    "shift": lambda a, x: (x[0][0] >> a[0], x[0][1] >> a[0]),
    "xor": lambda _, x: (0, (1 << max(x[0][1], x[1][1]).bit_length()) - 1),
    "clamp": lambda a, x: (max(a[0], min(x[0][0], a[1])), min(a[1], max(x[0][1], a[0]))),
    "choose": lambda _, x: (min(x[0][0], x[1][0]), max(x[0][1], x[1][1])),
}


def interpret(code: IntOps, inputs: Sequence[Words]) -> tuple[list[Words], list[NDArray[np.bool_]]]:
    """Return the values of all outputs, and where each saturates; inputs are by their places.

    A range that does not hold raises a `ValueError`.
    """
    values: list[Words] = []
    count = max((len(x) for x in inputs), default=1)
    for place, op in enumerate(code.ops):
        value = np.broadcast_to(_value(code, op, [values[k] for k in op.sources], inputs), count)
        if value.min() < op.low or value.max() > op.high:
            raise ValueError(f"operation {place} leaves its range: {op}")
        values.append(value)
    marks = []
    for made in code.outputs:
        mark = np.zeros(count, np.bool_)
        if made.inside is not None:
            mark = ~_inside(values[made.inside.of], made.inside)
        if made.rests:
            mark &= ~np.all([_inside(values[one.of], one) for one in made.rests], axis=0)
        marks.append(mark)
    return [values[made.value] for made in code.outputs], marks


def _value(code: IntOps, op: IntOp, x: Sequence[Words], inputs: Sequence[Words]) -> Words:
    if op.op == "input":
        return _low(inputs[op.argument[0]], op.argument[1])
    if op.op == "entry":
        entries: Words = np.asarray(code.tables[op.table], np.int64)[_index(op, x)]
        return entries
    return _VALUES[op.op](op, x)


def _sum(op: IntOp, x: Sequence[Words]) -> Words:
    total = np.asarray(op.constant, np.int64)
    for factor, term in zip(op.argument[2:], x, strict=True):
        total = total + factor * term
    return _low(total, op.wraps) if op.wraps else total


def _index(op: IntOp, x: Sequence[Words]) -> Words:
    index, place = np.asarray(0, np.int64), 0
    for value, (_, drop, bits) in zip(x, op.fields, strict=False):
        index = index + ((value >> drop & ((1 << bits) - 1)) << place)
        place += bits
    for part in x[len(op.fields) :]:
        index = index + part
    return index


def _choice(op: IntOp, x: Sequence[Words]) -> Words:
    tests = [_inside(c, one) for c, one in zip(x[2:], op.conditions, strict=True)]
    return np.where(np.all(tests, axis=0), x[0], x[1])


_VALUES: dict[Kind, Callable[[IntOp, Sequence[Words]], Words]] = {
    "bits": lambda op, x: _low(x[0], op.argument[0], signed=op.argument[1]),
    "sum": _sum,
    "product": lambda _, x: x[0] * x[1],
    "shift": lambda op, x: x[0] >> op.argument[0],
    "xor": lambda _, x: x[0] ^ x[1],
    "clamp": lambda op, x: np.minimum(np.maximum(x[0], op.argument[0]), op.argument[1]),
    "choose": _choice,
}


def _low(value: Words, bits: int, *, signed: int = 1) -> Words:
    """Return the lowest bits of values, as signed numbers if `signed` is 1."""
    half = (1 << bits >> 1) * signed
    return (value + half & (1 << bits) - 1) - half


def _inside(value: Words, one: Inside) -> NDArray[np.bool_]:
    return (one.low <= value) & (value <= one.high)
