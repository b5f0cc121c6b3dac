"""A truth table: one bit-vector a column."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import UsageError

if TYPE_CHECKING:
    from bitarray import frozenbitarray
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class TruthTable:
    """A function of `inputs` bits: one column of 2^inputs bits an output.

    Row r of a column is the output for the input word r, whose most significant bit is the first
    input. Where a column of `free` is 1 the output may be either; without `free` the function is
    completely specified. Equal functions are equal tables.
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
        """The number of columns."""
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
    """Return sixteen hexadecimal digits that only equal tables share."""
    sha = hashlib.sha256(f"{table.inputs} {table.outputs} {len(table.free)}".encode())
    for column in (*table.columns, *table.free):
        sha.update(column.tobytes())
    return sha.hexdigest()[:16]
