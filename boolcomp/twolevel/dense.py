"""Functions of few inputs as truth tables: one bit-vector of 2^n bits per output for ON and DC.

Point `x` of output `j` is bit `x % 64` of word `x // 64` of row `j`. The first input (the leftmost
column of a PLA file, input 0 of `Cubes`) is the most significant bit of `x`. Bits beyond 2^n are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import dense_kernels
from boolcomp.twolevel.cubes import Cubes, words_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bitarray import frozenbitarray
    from numpy.typing import NDArray

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
    dense_kernels.rasterise(index.value, index.free, index.out, cubes.inputs, target)
    return target


def point(inputs: int, index: int) -> str:
    """Return a point as the letters of a PLA row."""
    return f"{index:0{inputs}b}" if inputs else ""
