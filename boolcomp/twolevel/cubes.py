"""The two formats of functions: lists of cubes (`Cubes`), and truth tables (`Dense`).

A table has one bit-vector of 2^n bits per output for ON and DC. Point `x` of output `j` is bit
`x % 64` of word `x // 64` of row `j`. The first input (the leftmost column of a PLA file, input 0
of `Cubes`) is the most significant bit of `x`. Bits beyond 2^n are 0.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bitarray import frozenbitarray
    from numpy.typing import NDArray

    U64 = NDArray[np.uint64]
    I64 = NDArray[np.int64]
    I32 = NDArray[np.int32]
    F64 = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Intp = NDArray[np.intp]


class GaveUpError(Exception):
    """The clock ran out, or a search needs too much memory."""


class Clock:
    """A deadline in seconds from now, None for none, shared by a task and its parts."""

    __slots__ = ("_end", "_start")

    def __init__(self, deadline: float | None = None) -> None:
        self._start = time.monotonic()
        self._end = None if deadline is None else self._start + deadline

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        return float("inf") if self._end is None else self._end - time.monotonic()

    @property
    def over(self) -> bool:
        return self.left <= 0

    def check(self) -> None:
        """Raise `GaveUpError` where the clock has run out."""
        if self.over:
            raise GaveUpError


# --------------------------------------------------------------------------------------------------
# Lists of product terms (cubes) as bit-vectors.
#
# A cube is a row `zero words | one words | out words` in positional notation. Bit `i` of `zero` is
# set if input `i` may be 0, bit `i` of `one` if it may be 1. Both are set for an input without a
# literal, neither in an empty cube. Bit `j` of `out` is set if the cube belongs to output `j`. Bit
# `i` of a vector is bit `i % 64` of its word `i // 64`. Input 0 is the leftmost column of a PLA
# file. Unused bits are 0.
#
# `a & b` is the intersection, and `a & ~b == 0` if and only if `a` lies in `b`. A larger cube has
# more bits. A *point* is a cube with one value per input and a single output.
# --------------------------------------------------------------------------------------------------

_LETTERS = np.frombuffer(b"?01-", np.uint8)  # indexed by "may be 0" + 2 "may be 1"


def words_for(bits: int) -> int:
    return max(1, -(-bits // 64))


def pack(bits: Flags) -> U64:
    """Pack a matrix of truth values into words, one row per vector."""
    count, width = bits.shape
    octets = np.zeros((count, 8 * words_for(width)), np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64, copy=False)


def unpack(words: U64, width: int) -> Flags:
    """Undo `pack`: one column per bit."""
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=width, bitorder="little").view(np.bool_)


@dataclass(frozen=True, slots=True)
class Shape:
    """The numbers of inputs and outputs of cubes, and the layout of their rows."""

    inputs: int
    outputs: int

    @property
    def words(self) -> int:
        return words_for(self.inputs)

    @property
    def out_at(self) -> int:
        return 2 * self.words

    @property
    def width(self) -> int:
        return self.out_at + words_for(self.outputs)

    def everything(self) -> U64:
        """Return the row of all inputs and all outputs."""
        return _everything(self.inputs, self.outputs)

    def none(self) -> U64:
        return np.zeros((0, self.width), np.uint64)

    def cubes(self, rows: U64) -> Cubes:
        """Return a copy of rows as a list of cubes."""
        return Cubes(self.inputs, self.outputs, rows.copy())


@cache
def _everything(inputs: int, outputs: int) -> U64:
    planes = [pack(np.ones((1, bits), np.bool_))[0] for bits in (inputs, inputs, outputs)]
    row = np.concatenate(planes)
    row.flags.writeable = False
    return row


@dataclass(frozen=True, slots=True, eq=False)
class Cubes:
    """An immutable list of cubes: a read-only array with one row per cube."""

    inputs: int
    outputs: int
    packed: U64

    def __post_init__(self) -> None:
        shape, kind = self.packed.shape, self.packed.dtype
        if kind != np.uint64 or shape[1:] != (self.shape.width,):
            raise ValueError(f"cube array of shape {shape} and type {kind}")
        self.packed.flags.writeable = False

    @classmethod
    def empty(cls, inputs: int, outputs: int) -> Cubes:
        """Return the list without cubes: the constant 0 on every output."""
        return cls(inputs, outputs, Shape(inputs, outputs).none())

    @classmethod
    def from_bits(cls, zero: Flags, one: Flags, out: Flags) -> Cubes:
        """Build a list from matrices: may be 0, may be 1, belongs to the output."""
        planes = [pack(zero), pack(one), pack(out)]
        return cls(zero.shape[1], out.shape[1], np.concatenate(planes, axis=1))

    @classmethod
    def from_rows(cls, inputs: int, outputs: int, rows: Iterable[tuple[str, str]]) -> Cubes:
        """Build a list from PLA-like rows such as `("01-", "10")`."""
        pairs = list(rows)
        if any(len(term) != inputs or len(owners) != outputs for term, owners in pairs):
            raise ValueError(f"a row does not have {inputs} inputs and {outputs} outputs")
        letters = np.array([list(term) for term, _ in pairs]).reshape(len(pairs), inputs)
        owners = np.array([list(word) for _, word in pairs]).reshape(len(pairs), outputs)
        if not np.isin(letters, ["0", "1", "-"]).all() or not np.isin(owners, ["0", "1"]).all():
            raise ValueError("a row holds other letters than 0 1 - and, for outputs, 0 1")
        return cls.from_bits(letters != "1", letters != "0", owners == "1")

    @property
    def shape(self) -> Shape:
        return Shape(self.inputs, self.outputs)

    @property
    def zero(self) -> U64:
        return self.packed[:, : self.shape.words]

    @property
    def one(self) -> U64:
        return self.packed[:, self.shape.words : self.shape.out_at]

    @property
    def out(self) -> U64:
        return self.packed[:, self.shape.out_at :]

    def __len__(self) -> int:
        return len(self.packed)

    def __repr__(self) -> str:
        lines = [f"Cubes({self.inputs} inputs, {self.outputs} outputs)"]
        lines += [f"  {term} {owners}".rstrip() for term, owners in self.rows()]
        return "\n".join(lines)

    def rows(self) -> list[tuple[str, str]]:
        """Return the cubes as PLA-like rows, the inverse of `from_rows` (`?` marks no value)."""
        owners = unpack(self.out, self.outputs).astype(np.uint8) + ord("0")
        return [
            (term.tobytes().decode(), word.tobytes().decode())
            for term, word in zip(self.letters(), owners, strict=True)
        ]

    def letters(self) -> NDArray[np.uint8]:
        """Return the input parts of `rows` as a matrix of ASCII codes."""
        zero, one = unpack(self.zero, self.inputs), unpack(self.one, self.inputs)
        codes: NDArray[np.uint8] = _LETTERS[zero + 2 * one.astype(np.uint8)]
        return codes

    @property
    def literals(self) -> int:
        return int(literals(self.packed, self.shape).sum())

    @property
    def connections(self) -> int:
        return int(np.bitwise_count(self.out).sum())

    def take(self, index: Intp | I32 | Flags) -> Cubes:
        """Return the cubes at indices, in their order, or where a mask is true."""
        return Cubes(self.inputs, self.outputs, self.packed[index])

    def joined(self, other: Cubes) -> Cubes:
        """Return the cubes of this list followed by those of the other."""
        return Cubes(self.inputs, self.outputs, np.concatenate([self.packed, other.packed]))

    def with_outputs(self, out: U64) -> Cubes:
        """Return the valid cubes among these input parts with other outputs."""
        packed = self.packed.copy()
        packed[:, self.shape.out_at :] = out
        return Cubes(self.inputs, self.outputs, packed).valid()

    def valid(self) -> Cubes:
        """Return the list without cubes that have no points or no outputs."""
        whole = self.shape.everything()[: self.shape.words]
        keep = ((self.zero | self.one) == whole).all(axis=1) & self.out.any(axis=1)
        return self if keep.all() else self.take(keep)

    def valid_rows(self) -> U64:
        """Return a new array of the valid cubes; most loops are compiled for writable arrays."""
        return self.valid().packed.copy()

    def canonical(self) -> Cubes:
        """Return the same cubes, duplicates merged, in the order of their rows as text."""
        if not len(self):
            return self
        text = self.letters() if self.inputs else np.zeros((len(self), 1), np.uint8)
        keys = text.view(f"S{text.shape[1]}").ravel()
        order = np.argsort(keys, kind="stable")
        first = np.flatnonzero(np.append([True], keys[order][1:] != keys[order][:-1]))
        packed = np.bitwise_or.reduceat(self.packed[order], first, axis=0)
        return Cubes(self.inputs, self.outputs, packed)


def literals(rows: U64, shape: Shape) -> I64:
    """Return the number of input literals of every cube."""
    both = rows[:, : shape.words] & rows[:, shape.words : shape.out_at]
    free = np.bitwise_count(both).sum(axis=1, dtype=np.int64)
    return np.asarray(shape.inputs - free, np.int64)


def serving(rows: U64, output: int, shape: Shape) -> Flags:
    """Return the mask of cubes that belong to an output."""
    word = rows[:, shape.out_at + output // 64]
    return (word >> np.uint64(output % 64) & np.uint64(1)).astype(np.bool_)


def size_order(rows: U64) -> Intp:
    """Return an order by falling number of bits, ties by the bits themselves."""
    bits = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    return np.lexsort([*rows.T, -bits])


# --------------------------------------------------------------------------------------------------
# Compiled loops over truth tables. Point `x` lies in a cube where `x & ~free == value`; input `i`
# is bit `inputs - 1 - i` of `x`.
# --------------------------------------------------------------------------------------------------

# mypy: disable-error-code="untyped-decorator"


# Bit x of LOW_BITS[b] is index bit b of point x, within a word.
LOW_BITS = np.array([sum(1 << x for x in range(64) if x >> b & 1) for b in range(6)], np.uint64)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def has(bits: U64, j: int) -> bool:
    return bool(bits[j >> 6] >> np.uint64(j & 63) & ONE)


@njit(cache=True, nogil=True)
def index_of(row: U64, inputs: int) -> tuple[int, int]:
    """Return `value` and `free` of a cube of at most 62 inputs."""
    zero, one = np.int64(row[0]), np.int64(row[1])
    value: Any = np.int64(0)
    free: Any = np.int64(0)
    for i in range(inputs):
        value = value << 1 | (one & ~zero) >> i & 1
        free = free << 1 | (one & zero) >> i & 1
    return value, free


@njit(cache=True, nogil=True)
def set_index(row: U64, inputs: int, value: int, free: int) -> None:
    """Set the input planes of a row, the inverse of `index_of`."""
    zero, one = np.int64(0), np.int64(0)
    for b in range(inputs):
        zero = zero << 1 | ((free | ~value) >> b & 1)
        one = one << 1 | ((free | value) >> b & 1)
    row[0] = zero
    row[1] = one


@njit(cache=True, nogil=True, inline="always")
def word_mask(value: int, free: int, inputs: int) -> np.uint64:
    """Return the points of a word that a cube covers, by the six lowest index bits."""
    mask = ALL
    for b in range(min(6, inputs)):
        if not free >> b & 1:
            mask &= LOW_BITS[b] if value >> b & 1 else ~LOW_BITS[b]
    if inputs < 6:
        mask &= (ONE << np.uint64(1 << inputs)) - ONE
    return mask


@njit(cache=True, nogil=True)
def rasterise(rows: U64, inputs: int, target: U64) -> None:
    for c in range(len(rows)):
        value, free = index_of(rows[c], inputs)
        mask = word_mask(value, free, inputs)
        base = value >> 6
        high = free >> 6
        for j in range(len(target)):
            if not has(rows[c], 128 + j):
                continue
            row = target[j]
            s = 0
            while True:
                row[base | s] |= mask
                s = (s - high) & high
                if s == 0:
                    break


@njit(cache=True, nogil=True)
def signatures(rows: U64, inputs: int, key: U64, sums: U64) -> None:
    """Add the key of each cube to the points it covers; points of equal sums are in equal cubes."""
    for c in range(len(rows)):
        value, free = index_of(rows[c], inputs)
        for j in range(len(sums)):
            if rows[c, 2 + (j >> 6)] >> np.uint64(j & 63) & ONE:
                t = 0
                while True:
                    sums[j, value | t] += key[c]
                    t = (t - free) & free
                    if t == 0:
                        break


@njit(cache=True, nogil=True)
def incidence(rows: U64, inputs: int, number: I32, starts: I64, found: I32) -> int:
    """List the rows of a matrix that each cube covers; `number` has that of each point, or -1.

    With an empty `found` the function only counts, into `starts`.
    """
    total = 0
    for c in range(len(rows)):
        starts[c] = total
        value, free = index_of(rows[c], inputs)
        for j in range(len(number)):
            if rows[c, 2 + (j >> 6)] >> np.uint64(j & 63) & ONE:
                t = 0
                while True:
                    r = number[j, value | t]
                    if r >= 0:
                        if len(found):
                            found[total] = r
                        total += 1
                    t = (t - free) & free
                    if t == 0:
                        break
    starts[len(rows)] = total
    return total


# --------------------------------------------------------------------------------------------------
# Functions of few inputs as truth tables: one bit-vector of 2^n bits per output for ON and DC.
# --------------------------------------------------------------------------------------------------

MOST_INPUTS = 22
MOST_BITS = 1 << 25  # per plane: 4 MiB; a cover may need a product for every point
SMALL = 512  # points in all outputs
MOST_WORK = 1 << 31  # words a rasterisation may touch: about a second


def is_small(inputs: int, outputs: int) -> bool:
    return inputs <= MOST_INPUTS and outputs << inputs <= SMALL


def fits(inputs: int, outputs: int) -> bool:
    return inputs <= MOST_INPUTS and (outputs << inputs) <= MOST_BITS


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """An incompletely specified function as truth tables of disjoint ON and DC sets."""

    inputs: int
    outputs: int
    on: U64
    dc: U64

    def __post_init__(self) -> None:
        shape = (self.outputs, words_for(1 << self.inputs))
        for array in (self.on, self.dc):
            if array.dtype != np.uint64 or array.shape != shape:
                raise ValueError(f"table of shape {array.shape} and type {array.dtype}")
        if (self.on & self.dc).any():
            raise ValueError("a point is both required and a don't-care")
        if ((self.on | self.dc) & ~self.universe).any():
            raise ValueError(f"a point beyond the 2^{self.inputs} of the table is set")
        self.on.flags.writeable = False
        self.dc.flags.writeable = False

    @property
    def universe(self) -> np.uint64:
        return np.uint64((1 << min(64, 1 << self.inputs)) - 1)

    @property
    def off(self) -> U64:
        return ~(self.on | self.dc) & self.universe

    @classmethod
    def from_columns(
        cls, inputs: int, on: Sequence[frozenbitarray], dc: Sequence[frozenbitarray] | None = None
    ) -> Dense:
        """Build a table from one column per output; points set in both columns are don't-cares."""
        if dc is not None and len(dc) != len(on):
            raise ValueError(f"{len(on)} ON columns but {len(dc)} DC columns")
        if not fits(inputs, len(on)):
            raise ValueError(f"a table of {inputs} inputs and {len(on)} outputs is too large")
        required = _words(inputs, on)
        free = np.zeros_like(required) if dc is None else _words(inputs, dc)
        return cls(inputs, len(on), required & ~free, free)

    def columns(self) -> tuple[tuple[frozenbitarray, ...], tuple[frozenbitarray, ...]]:
        return self._column(self.on), self._column(self.dc)

    def _column(self, words: U64) -> tuple[frozenbitarray, ...]:
        from bitarray import bitarray, frozenbitarray  # noqa: PLC0415 (rarely needed)

        columns = []
        for row in words:
            column = bitarray(endian="little")
            column.frombytes(row.astype("<u8", copy=False).tobytes())
            columns.append(frozenbitarray(column[: 1 << self.inputs]))
        return tuple(columns)


def _words(inputs: int, columns: Sequence[frozenbitarray]) -> U64:
    """Return columns, of either bit order, as rows of words."""
    octets = np.zeros((len(columns), 8 * words_for(1 << inputs)), np.uint8)
    for row, column in zip(octets, columns, strict=True):
        if len(column) != 1 << inputs:
            raise ValueError(f"a column of {len(column)} bits in a table of {inputs} inputs")
        data = np.frombuffer(column.tobytes(), np.uint8)
        if column.endian == "big":
            data = np.packbits(np.unpackbits(data), bitorder="little")
        row[: len(data)] = data
    return octets.view("<u8").astype(np.uint64, copy=False)


def points_of(planes: U64, inputs: int) -> Flags:
    """Return bit-vectors as truth values with one row per output."""
    octets = planes.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=1 << inputs, bitorder="little").view(np.bool_)


def work(cubes: Cubes, low: int = 6) -> float:
    """Return the number of (word, output) pairs that cubes touch; with low=0, (point, output)."""
    lowest = max(0, cubes.inputs - low)
    free = unpack(cubes.zero & cubes.one, cubes.inputs)[:, :lowest].sum(axis=1)
    owners = np.bitwise_count(cubes.out).sum(axis=1, dtype=np.int64)
    return float((np.exp2(free) * owners).sum())


def raster_work(cubes: Cubes) -> float:
    return work(cubes) if cubes.inputs <= MOST_INPUTS else float("inf")


def rasterised(cubes: Cubes) -> U64:
    """Return the union of the cubes of each output as a bit-vector."""
    target = np.zeros((cubes.outputs, words_for(1 << cubes.inputs)), np.uint64)
    rasterise(cubes.valid().packed, cubes.inputs, target)
    return target


def points(inputs: int, where: Intp, out: Flags) -> Cubes:
    """Return points of a table, by their indices, as cubes with some outputs."""
    bits = (where[:, None] >> np.arange(inputs)[::-1] & 1).astype(np.bool_)
    return Cubes.from_bits(~bits, bits, out)


def point(inputs: int, index: int) -> str:
    return f"{index:0{inputs}b}" if inputs else ""
