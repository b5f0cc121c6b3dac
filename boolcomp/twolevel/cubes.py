"""Functions of few inputs as truth tables: one bit-vector of 2^n bits per output for ON and DC.

Point `x` of output `j` is bit `x % 64` of word `x // 64` of row `j`. The first input (the leftmost
column of a PLA file, input 0 of `Cubes`) is the most significant bit of `x`. Bits beyond 2^n are 0.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bitarray import frozenbitarray
    from numpy.typing import NDArray


# --------------------------------------------------------------------------------------------------
# Deadlines: one clock for a piece of work and everything it starts.
# --------------------------------------------------------------------------------------------------


class Clock:
    """Counts from its making; `deadline` is in seconds, None means no limit."""

    __slots__ = ("_end", "_start")

    def __init__(self, deadline: float | None = None) -> None:
        self._start = time.monotonic()
        self._end = None if deadline is None else self._start + deadline

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """Seconds until the deadline, below 0 after it, infinite without one."""
        return float("inf") if self._end is None else self._end - time.monotonic()

    @property
    def over(self) -> bool:
        """Whether the deadline has passed."""
        return self.left <= 0


# --------------------------------------------------------------------------------------------------
# Lists of product terms (cubes) as bit-vectors: the one representation all minimisers share.
#
# A cube over `n` inputs and `m` outputs is held in positional notation. Bit `i` of `zero` says that
# input `i` may be 0, bit `i` of `one` that it may be 1; both set is a don't-care literal, neither
# set an empty cube. Bit `j` of `out` says that the cube belongs to output `j`. Bit `i` of a vector
# is bit `i % 64` of its word `i // 64`; input 0 is the leftmost column of a PLA file. Unused bits
# are 0.
# --------------------------------------------------------------------------------------------------


_LETTERS = np.frombuffer(b"?01-", np.uint8)  # indexed by "may be 0" + 2 "may be 1"


def words_for(bits: int) -> int:
    """Return how many 64-bit words hold that many bits (at least one, so arrays keep a shape)."""
    return max(1, -(-bits // 64))


def pack(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack a matrix of truth values, one row a vector, into words as this module's notes say."""
    count, width = bits.shape
    octets = np.zeros((count, 8 * words_for(width)), np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64, copy=False)


def unpack(words: NDArray[np.uint64], width: int) -> NDArray[np.bool_]:
    """Undo `pack`: one column a bit."""
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=width, bitorder="little").view(np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Cubes:
    """An immutable list of cubes; the arrays are read-only, one row a cube."""

    inputs: int
    outputs: int
    zero: NDArray[np.uint64]
    one: NDArray[np.uint64]
    out: NDArray[np.uint64]

    def __post_init__(self) -> None:
        count = len(self.zero)
        shapes = ((self.zero, self.inputs), (self.one, self.inputs), (self.out, self.outputs))
        for array, bits in shapes:
            if array.dtype != np.uint64 or array.shape != (count, words_for(bits)):
                raise ValueError(f"cube array of shape {array.shape} and type {array.dtype}")
            array.flags.writeable = False

    @classmethod
    def empty(cls, inputs: int, outputs: int) -> Cubes:
        """Return the list without cubes: the constant 0 on every output."""
        none = np.zeros((0, words_for(inputs)), np.uint64)
        return cls(inputs, outputs, none, none.copy(), np.zeros((0, words_for(outputs)), np.uint64))

    @classmethod
    def from_bits(
        cls, zero: NDArray[np.bool_], one: NDArray[np.bool_], out: NDArray[np.bool_]
    ) -> Cubes:
        """Build a list from truth matrices with one row a cube, one column an input or output."""
        return cls(zero.shape[1], out.shape[1], pack(zero), pack(one), pack(out))

    @classmethod
    def from_rows(cls, inputs: int, outputs: int, rows: Iterable[tuple[str, str]]) -> Cubes:
        """Build a list from PLA-like rows: `("01-", "10")`; output letter 1 means "belongs"."""
        pairs = list(rows)
        if any(len(term) != inputs or len(owners) != outputs for term, owners in pairs):
            raise ValueError(f"a row does not have {inputs} inputs and {outputs} outputs")
        letters = np.array([list(term) for term, _ in pairs]).reshape(len(pairs), inputs)
        owners = np.array([list(word) for _, word in pairs]).reshape(len(pairs), outputs)
        if not np.isin(letters, ["0", "1", "-"]).all() or not np.isin(owners, ["0", "1"]).all():
            raise ValueError("a row holds other letters than 0 1 - and, for outputs, 0 1")
        return cls.from_bits(letters != "1", letters != "0", owners == "1")

    def __len__(self) -> int:
        return len(self.zero)

    def __repr__(self) -> str:
        lines = [f"Cubes({self.inputs} inputs, {self.outputs} outputs)"]
        lines += [f"  {term} {owners}".rstrip() for term, owners in self.rows()]
        return "\n".join(lines)

    def rows(self) -> list[tuple[str, str]]:
        """Return the cubes as PLA-like rows, the inverse of `from_rows` (`?` marks no value)."""
        zero, one = unpack(self.zero, self.inputs), unpack(self.one, self.inputs)
        terms = _LETTERS[zero + 2 * one.astype(np.uint8)]
        owners = unpack(self.out, self.outputs).astype(np.uint8) + ord("0")
        return [
            (term.tobytes().decode(), word.tobytes().decode())
            for term, word in zip(terms, owners, strict=True)
        ]

    @property
    def literals(self) -> int:
        """Number of input literals, each product counted once: the size of the AND plane."""
        return int(unpack(self.zero ^ self.one, self.inputs).sum())

    @property
    def connections(self) -> int:
        """Number of (product, output) pairs: the size of the OR plane."""
        return int(unpack(self.out, self.outputs).sum())

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Cubes:
        """Return the cubes at those indices, or where the mask is true, in that order."""
        zero, one, out = self.zero[index], self.one[index], self.out[index]
        return Cubes(self.inputs, self.outputs, zero, one, out)

    def joined(self, other: Cubes) -> Cubes:
        """Return the cubes of this list and then those of the other."""
        pairs = ((self.zero, other.zero), (self.one, other.one), (self.out, other.out))
        zero, one, out = (np.concatenate(pair) for pair in pairs)
        return Cubes(self.inputs, self.outputs, zero, one, out)

    def owned_by(self, output: int) -> NDArray[np.bool_]:
        """Return the mask of cubes that belong to an output."""
        word = self.out[:, output // 64]
        return (word >> np.uint64(output % 64) & np.uint64(1)).astype(np.bool_)

    def valid(self) -> Cubes:
        """Return the list without cubes that are empty or belong to no output."""
        full = pack(np.ones((1, self.inputs), np.bool_))[0]
        keep = ((self.zero | self.one) == full).all(axis=1) & self.out.any(axis=1)
        return self if keep.all() else self.take(keep)

    def canonical(self) -> Cubes:
        """Return the same cubes, duplicates merged, in the order of their rows as text."""
        if not len(self):
            return self
        # Two bits a letter, so that numbers stand in the order of "-" < "0" < "1" (as in ASCII).
        keys = np.zeros((-(-self.inputs // 32) or 1, len(self)), np.uint64)
        two = np.uint64(2)
        for i in range(self.inputs):
            word, bit = i // 64, np.uint64(i % 64)
            one = self.one[:, word] >> bit & np.uint64(1)
            fixed = (self.zero[:, word] >> bit & np.uint64(1)) ^ one
            keys[i // 32] = keys[i // 32] << two | (fixed + (fixed & one))
        order = np.lexsort(keys[::-1])
        ranked = keys[:, order]
        first = np.flatnonzero(np.append([True], (ranked[:, 1:] != ranked[:, :-1]).any(axis=0)))
        out = np.bitwise_or.reduceat(self.out[order], first, axis=0)
        first = order[first]
        return Cubes(self.inputs, self.outputs, self.zero[first], self.one[first], out)


# --------------------------------------------------------------------------------------------------
# Cubes packed into one array, so that intersection, containment and counting need one loop.
#
# A packed cube is the row `zero words | one words | out words`. With it, a cube is an element of
# one lattice: `a & b` is the intersection, `a & ~b == 0` says that `a` lies in `b`, and a larger
# cube is one with more bits. A *point* is a packed cube with one value per input and a single
# output.
# --------------------------------------------------------------------------------------------------


@cache
def bit_mask(bits: int) -> NDArray[np.uint64]:
    """Return the words of a vector whose first `bits` bits are set."""
    mask = np.zeros(words_for(bits), np.uint64)
    for bit in range(bits):
        mask[bit // 64] |= np.uint64(1 << (bit % 64))
    mask.flags.writeable = False
    return mask


@dataclass(frozen=True, slots=True)
class Shape:
    """How many inputs and outputs a packed array has, and so where its words stand."""

    inputs: int
    outputs: int

    @property
    def words(self) -> int:
        """Words per input plane."""
        return words_for(self.inputs)

    @property
    def out_at(self) -> int:
        """Index of the first output word."""
        return 2 * self.words

    @property
    def width(self) -> int:
        """Words of a packed cube."""
        return self.out_at + words_for(self.outputs)

    def everything(self) -> NDArray[np.uint64]:
        """Return the packed cube of all inputs and all outputs."""
        inputs = bit_mask(self.inputs)
        return np.concatenate([inputs, inputs, bit_mask(self.outputs)])

    def none(self) -> NDArray[np.uint64]:
        """Return an empty packed list."""
        return np.zeros((0, self.width), np.uint64)


def packed(cubes: Cubes) -> NDArray[np.uint64]:
    """Return the cubes as one array, without those that are empty (no input value or no output)."""
    everything = bit_mask(cubes.inputs)
    proper = ((cubes.zero | cubes.one) == everything).all(axis=1) & (cubes.out != 0).any(axis=1)
    joined = np.concatenate([cubes.zero, cubes.one, cubes.out], axis=1)
    return np.ascontiguousarray(joined[proper])


def unpacked(rows: NDArray[np.uint64], shape: Shape) -> Cubes:
    """Return the packed cubes as `Cubes`, in the same order."""
    words, out_at = shape.words, shape.out_at
    return Cubes(
        shape.inputs,
        shape.outputs,
        rows[:, :words].copy(),
        rows[:, words:out_at].copy(),
        rows[:, out_at:].copy(),
    )


def literals(rows: NDArray[np.uint64], shape: Shape) -> NDArray[np.int64]:
    """Return the number of input literals of every cube."""
    words = shape.words
    both = rows[:, :words] & rows[:, words : shape.out_at]
    free = np.bitwise_count(both).sum(axis=1, dtype=np.int64)
    return np.asarray(shape.inputs - free, np.int64)


def size_order(rows: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return an order by falling number of bits, ties by the bits themselves: the same always."""
    bits = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    keys = [rows[:, column] for column in range(rows.shape[1])]
    return np.lexsort([*keys, -bits])


# --------------------------------------------------------------------------------------------------
# Compiled loops over truth tables.
#
# Cubes are (value, free) pairs over index bits, as `dense.IndexCubes` has them.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


# Bit x of LOW_BITS[b] is index bit b of point x, within a word.
LOW_BITS = np.array(
    [sum(1 << x for x in range(64) if x >> b & 1) for b in range(6)],
    np.uint64,
)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True, inline="always")
def word_mask(value: int, free: int, inputs: int) -> np.uint64:
    """Return which points of a word a cube takes, as far as the six lowest bits decide."""
    mask = ALL
    for b in range(min(6, inputs)):
        if not free >> b & 1:
            mask &= LOW_BITS[b] if value >> b & 1 else ~LOW_BITS[b]
    if inputs < 6:
        mask &= (np.uint64(1) << np.uint64(1 << inputs)) - np.uint64(1)
    return mask


@njit(cache=True, nogil=True)
def rasterise(  # noqa: D103
    value: NDArray[np.int64],
    free: NDArray[np.int64],
    out: NDArray[np.uint64],
    inputs: int,
    target: NDArray[np.uint64],
) -> None:
    for c in range(len(value)):
        mask = word_mask(value[c], free[c], inputs)
        base = value[c] >> 6
        high = free[c] >> 6
        for j in range(len(target)):
            if not out[c, j // 64] >> np.uint64(j % 64) & np.uint64(1):
                continue
            row = target[j]
            s = 0
            while True:
                row[base | s] |= mask
                s = (s - high) & high
                if s == 0:
                    break


@njit(cache=True, nogil=True)
def signatures(
    value: NDArray[np.int64],
    free: NDArray[np.int64],
    out: NDArray[np.uint64],
    key: NDArray[np.uint64],
    sums: NDArray[np.uint64],
) -> None:
    """Add each cube's key to the points it covers: equal sums mark rows with equal columns."""
    for c in range(len(value)):
        for j in range(len(sums)):
            if out[c, j >> 6] >> np.uint64(j & 63) & np.uint64(1):
                t = 0
                while True:
                    sums[j, value[c] | t] += key[c]
                    t = (t - free[c]) & free[c]
                    if t == 0:
                        break


@njit(cache=True, nogil=True)
def rows_of(
    value: NDArray[np.int64],
    free: NDArray[np.int64],
    out: NDArray[np.uint64],
    row: NDArray[np.int32],
    starts: NDArray[np.int64],
    rows: NDArray[np.int32],
) -> int:
    """List the rows of each cube; `row` numbers the points that stand for a row, others are -1.

    With an empty `rows` only counts, into `starts`.
    """
    total = 0
    for c in range(len(value)):
        starts[c] = total
        for j in range(len(row)):
            if out[c, j >> 6] >> np.uint64(j & 63) & np.uint64(1):
                t = 0
                while True:
                    r = row[j, value[c] | t]
                    if r >= 0:
                        if len(rows):
                            rows[total] = r
                        total += 1
                    t = (t - free[c]) & free[c]
                    if t == 0:
                        break
    starts[len(value)] = total
    return total


# --------------------------------------------------------------------------------------------------
# Functions of few inputs as truth tables: one bit-vector of 2^n bits per output for ON and DC.
# --------------------------------------------------------------------------------------------------


MOST_INPUTS = 22
MOST_BITS = 1 << 25  # per plane: 4 MiB, but a cover may need as many products as points
SMALL = 512  # points in all outputs
MOST_WORK = 1 << 31  # words a rasterisation may touch: about a second


def is_small(inputs: int, outputs: int) -> bool:
    """Tell whether work on a function may be over before compiled loops are loaded."""
    return inputs <= MOST_INPUTS and outputs << inputs <= SMALL


def fits(inputs: int, outputs: int) -> bool:
    """Tell whether a function of that size may be held as truth tables."""
    return inputs <= MOST_INPUTS and (outputs << inputs) <= MOST_BITS


@dataclass(frozen=True, slots=True, eq=False)
class IndexCubes:
    """Cubes over index bits: point x lies in a cube where `x & ~free == value`."""

    value: NDArray[np.int64]
    free: NDArray[np.int64]
    out: NDArray[np.uint64]


def to_index(cubes: Cubes) -> IndexCubes:
    """Return valid cubes of at most 62 inputs with input i moved to index bit n - 1 - i."""
    cubes = cubes.valid()
    value = np.zeros(len(cubes), np.int64)
    free = np.zeros(len(cubes), np.int64)
    for i in range(cubes.inputs):
        bit = np.uint64(i)
        zero = (cubes.zero[:, 0] >> bit & np.uint64(1)).astype(np.int64)
        one = (cubes.one[:, 0] >> bit & np.uint64(1)).astype(np.int64)
        free = free << 1 | (zero & one)
        value = value << 1 | (one & ~zero)
    return IndexCubes(value, free, cubes.out.copy())


def from_index(inputs: int, outputs: int, cubes: IndexCubes) -> Cubes:
    """Undo `to_index`."""
    zero = np.zeros((len(cubes.value), 1), np.uint64)
    one = np.zeros((len(cubes.value), 1), np.uint64)
    for i in range(inputs):
        at = inputs - 1 - i
        free = (cubes.free >> at & 1).astype(np.uint64)
        value = (cubes.value >> at & 1).astype(np.uint64)
        zero[:, 0] |= (free | (value ^ np.uint64(1))) << np.uint64(i)
        one[:, 0] |= (free | value) << np.uint64(i)
    return Cubes(inputs, outputs, zero, one, np.ascontiguousarray(cubes.out))


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """An incompletely specified function as truth tables; ON and DC are disjoint."""

    inputs: int
    outputs: int
    on: NDArray[np.uint64]
    dc: NDArray[np.uint64]

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
        """The bits of a word that stand for points."""
        return np.uint64((1 << min(64, 1 << self.inputs)) - 1)

    @property
    def off(self) -> NDArray[np.uint64]:
        """The points where each output must be 0."""
        return ~(self.on | self.dc) & self.universe

    @classmethod
    def from_columns(
        cls,
        inputs: int,
        on: Sequence[frozenbitarray],
        dc: Sequence[frozenbitarray] | None = None,
    ) -> Dense:
        """Build a table from one column per output, its index the input word as an integer.

        A point set in both columns is a don't-care.
        """
        if dc is not None and len(dc) != len(on):
            raise ValueError(f"{len(on)} ON columns but {len(dc)} DC columns")
        if not fits(inputs, len(on)):
            raise ValueError(f"a table of {inputs} inputs and {len(on)} outputs is too large")
        required = _words(inputs, on)
        free = np.zeros_like(required) if dc is None else _words(inputs, dc)
        return cls(inputs, len(on), required & ~free, free)

    def columns(self) -> tuple[tuple[frozenbitarray, ...], tuple[frozenbitarray, ...]]:
        """Return the ON and the DC columns, the inverse of `from_columns`."""
        return self._column(self.on), self._column(self.dc)

    def _column(self, words: NDArray[np.uint64]) -> tuple[frozenbitarray, ...]:
        from bitarray import bitarray, frozenbitarray  # noqa: PLC0415 (only who asks needs it)

        columns = []
        for row in words:
            column = bitarray(endian="little")
            column.frombytes(row.astype("<u8", copy=False).tobytes())
            columns.append(frozenbitarray(column[: 1 << self.inputs]))
        return tuple(columns)


def _words(inputs: int, columns: Sequence[frozenbitarray]) -> NDArray[np.uint64]:
    """Return columns as rows of words, whatever the order of bits in their bytes."""
    octets = np.zeros((len(columns), 8 * words_for(1 << inputs)), np.uint8)
    for row, column in zip(octets, columns, strict=True):
        if len(column) != 1 << inputs:
            raise ValueError(f"a column of {len(column)} bits in a table of {inputs} inputs")
        data = np.frombuffer(column.tobytes(), np.uint8)
        if column.endian == "big":
            data = np.packbits(np.unpackbits(data), bitorder="little")
        row[: len(data)] = data
    return octets.view("<u8").astype(np.uint64, copy=False)


def points_of(planes: NDArray[np.uint64], inputs: int) -> NDArray[np.bool_]:
    """Return bit-vectors as truth values, one row an output."""
    octets = planes.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=1 << inputs, bitorder="little").view(np.bool_)


def work(index: IndexCubes, low: int = 6) -> float:
    """Return how many (word, output) pairs cubes touch; with low = 0, (point, output) pairs."""
    free = np.zeros(len(index.free), np.int64)
    for bit in range(low, MOST_INPUTS):
        free += index.free >> bit & 1
    owners = np.bitwise_count(index.out).sum(axis=1, dtype=np.int64)
    return float((np.exp2(free) * owners).sum())


def raster_work(cubes: Cubes) -> float:
    """Return how many words `rasterised` would touch."""
    return work(to_index(cubes)) if cubes.inputs <= MOST_INPUTS else float("inf")


def rasterised(cubes: Cubes) -> NDArray[np.uint64]:
    """Return the union of the cubes of each output as bit-vectors."""
    target = np.zeros((cubes.outputs, words_for(1 << cubes.inputs)), np.uint64)
    index = to_index(cubes)
    rasterise(index.value, index.free, index.out, cubes.inputs, target)
    return target


def point(inputs: int, index: int) -> str:
    """Return a point as the letters of a PLA row."""
    return f"{index:0{inputs}b}" if inputs else ""
