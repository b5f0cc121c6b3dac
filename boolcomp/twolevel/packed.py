"""Cubes packed into one array, so that intersection, containment and counting need one loop.

A packed cube is the row `zero words | one words | out words`. With it, a cube is an element of one
lattice: `a & b` is the intersection, `a & ~b == 0` says that `a` lies in `b`, and a larger cube is
one with more bits. A *point* is a packed cube with one value per input and a single output.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.cubes import Cubes, words_for

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
