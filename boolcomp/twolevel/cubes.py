"""Lists of product terms (cubes) as bit-vectors: the one representation all minimisers share.

A cube over `n` inputs and `m` outputs is held in positional notation. Bit `i` of `zero` says that
input `i` may be 0, bit `i` of `one` that it may be 1; both set is a don't-care literal, neither set
an empty cube. Bit `j` of `out` says that the cube belongs to output `j`. Bit `i` of a vector is bit
`i % 64` of its word `i // 64`; input 0 is the leftmost column of a PLA file. Unused bits are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

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
