"""Truth tables, and simulation of networks on many input words, one per bit of a plane.

Planes are long integers or arrays of 64-bit words, with one algebra. Bit r of a plane belongs to
the input word r, whose most significant bit is the first input.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from bitarray import bitarray

from boolcomp.base.errors import UsageError
from boolcomp.logic import network as luts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bitarray import frozenbitarray
    from numpy.typing import NDArray

    from boolcomp.logic.network import Network

    Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, repr=False)
class TruthTable:
    """A function of `inputs` bits: one column of 2^inputs bits per output.

    Row r of a column is the output for the input word r, whose most significant bit is the first
    input. Rows with a 1 in a column of `free` are don't-cares; without `free` there are none.
    Equal functions are equal tables.
    """

    inputs: int
    columns: tuple[frozenbitarray, ...]
    free: tuple[frozenbitarray, ...] = ()

    def __post_init__(self) -> None:
        if any(len(column) != 1 << self.inputs for column in (*self.columns, *self.free)):
            raise UsageError(f"a column of {self.inputs} inputs has {1 << self.inputs} rows")
        if self.free and len(self.free) != len(self.columns):
            raise UsageError(f"{len(self.free)} free columns for {len(self.columns)} columns")

    @property
    def outputs(self) -> int:
        return len(self.columns)

    def words(self) -> NDArray[np.uint32]:
        """Return the output word of every row, first column most significant."""
        words = np.zeros(1 << self.inputs, dtype=np.uint32)
        for column in self.columns:
            packed = np.frombuffer(column.tobytes(), dtype=np.uint8)
            words = words << np.uint32(1) | np.unpackbits(packed)[: len(words)]
        return words

    def __repr__(self) -> str:
        ones = ", ".join(str(column.count()) for column in self.columns)
        free = f", free: {sum(column.count() for column in self.free)}" if self.free else ""
        return f"TruthTable({self.inputs} inputs, {self.outputs} outputs, ones: {ones}{free})"


def digest(table: TruthTable) -> str:
    """Return a digest of sixteen hexadecimal digits of a table."""
    sha = hashlib.sha256(f"{table.inputs} {table.outputs} {len(table.free)}".encode())
    for column in (*table.columns, *table.free):
        sha.update(column.tobytes())
    return sha.hexdigest()[:16]


INTEGER_INPUTS = 12  # up to here a plane is faster as one integer than as an array
CHUNK_INPUTS = 18  # planes of at most 2^18 points: 32 KB fit into a core's cache
_WORD = (1 << 64) - 1


class Planes:
    """The algebra of planes: `ones` is the plane of a constant 1, an integer or an array."""

    def __init__(self, ones: Any) -> None:
        self.ones = ones
        self.zeros = ones ^ ones

    def constant(self, value: int) -> Any:
        return self.ones if value else self.zeros

    def node(self, lut: int, operands: tuple[Any, ...]) -> Any:
        """Return the plane of a node, by two-input operations."""
        values = [*operands, *operands[:1] * (3 - len(operands))]
        for kind, x, y in luts.steps(lut):
            if kind == "and":
                values.append(values[x] & values[y])
            elif kind == "or":
                values.append(values[x] | values[y])
            else:
                values.append(values[x] ^ (values[y] if kind == "xor" else self.ones))
        return values[-1]


def ones(inputs: int) -> int:
    return (1 << (1 << inputs)) - 1


@cache
def input_planes(inputs: int) -> tuple[int, ...]:
    """Return the plane of every input over all input words."""
    everything = ones(inputs)
    # Alternating blocks of 2^k zeros and 2^k ones: all ones divided by 2^2^k + 1.
    return tuple(everything // ((1 << (1 << k)) + 1) << (1 << k) for k in reversed(range(inputs)))


def truth_planes(network: Network) -> tuple[int, ...]:
    """Return the truth table of every output as an integer; for up to about 20 inputs."""
    planes: tuple[int, ...] = network.fold(
        Planes(ones(network.inputs)), input_planes(network.inputs)
    )
    return planes


def plane_of(column: bitarray) -> int:
    """Return a column of a truth table as an integer with row 0 in bit 0."""
    little = column if column.endian == "little" else bitarray(column, endian="little")
    return int.from_bytes(little.tobytes(), "little") & ((1 << len(column)) - 1)


def chunks(inputs: int) -> Iterator[tuple[int, list[Words]]]:
    """Yield the planes of all inputs over all input words: (first input word, planes)."""
    low = min(inputs, CHUNK_INPUTS)
    size = max(1, (1 << low) // 64)
    index = np.arange(size, dtype=np.uint64)
    full, none = np.full(size, _WORD, np.uint64), np.zeros(size, np.uint64)
    inner = []
    for k in reversed(range(low)):
        if k < 6:
            inner.append(np.full(size, input_planes(6)[5 - k], np.uint64))
        else:
            inner.append(np.where(index >> np.uint64(k - 6) & np.uint64(1), full, none))
    for chunk in range(1 << (inputs - low)):
        outer = [full if chunk >> k & 1 else none for k in reversed(range(inputs - low))]
        yield chunk << low, [*outer, *inner]


def random_planes(inputs: int, words: int, seed: int) -> list[Words]:
    """Return planes of random input words, half of them with few or with many ones."""
    noise = np.random.default_rng(seed)
    planes = noise.integers(0, 1 << 64, (3, inputs, words), dtype=np.uint64)
    sparse, dense = planes[0] & planes[1] & planes[2], planes[0] | planes[1] | planes[2]
    quarter = words // 4
    made = planes[0].copy()
    made[:, :quarter], made[:, quarter : 2 * quarter] = sparse[:, :quarter], dense[:, :quarter]
    return list(made)


def simulate_network(network: Network, planes: list[Words]) -> tuple[Words, ...]:
    """Return the planes of all outputs from those of all inputs (at least one)."""
    outputs: tuple[Words, ...] = network.fold(Planes(np.full_like(planes[0], _WORD)), planes)
    return outputs
