"""Tables by the bits that index them: put together, shortened, and looked at as functions of bits.

A bit is a value and a place in it. A table's entries are an array with two places on each axis, one
axis a bit, the highest bit first; so a bit is left out, fixed or brought in by indexing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.engines.wordwise.values import Field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

Bit = tuple[int, int]  # a value, and which of its bits


class Indexed(NamedTuple):
    """A function of bits, the lowest of its index first."""

    bits: tuple[Bit, ...]
    entries: NDArray[np.int64]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The bits as runs of values."""
        found: list[Field] = []
        for of, bit in self.bits:
            if found and found[-1].of == of and found[-1].drop + found[-1].bits == bit:
                found[-1] = found[-1]._replace(bits=found[-1].bits + 1)
            else:
                found.append(Field(of, bit, 1))
        return tuple(found)


def indexed(fields: Sequence[Field], entries: Sequence[int]) -> Indexed:
    """Return a table as a function of bits, each of them once."""
    every = [(f.of, f.drop + k) for f in fields for k in range(f.bits)]
    bits = list(dict.fromkeys(every))
    index = np.arange(1 << len(bits))
    place = np.zeros_like(index)
    for k, bit in enumerate(every):
        place |= (index >> bits.index(bit) & 1) << k
    return Indexed(tuple(bits), np.asarray(entries, np.int64)[place])


def shortened(table: Indexed, known: Callable[[int], int | None]) -> Indexed:
    """Return a table without bits that are known or make no difference, in order."""
    bits = list(table.bits)
    entries = table.entries.reshape((2,) * len(bits))
    for bit in reversed(table.bits):  # the highest is the first axis
        axis = len(bits) - 1 - bits.index(bit)
        value = known(bit[0])
        low, high = (np.take(entries, k, axis) for k in (0, 1))
        if value is not None:
            entries = high if value >> bit[1] & 1 else low
        elif np.array_equal(low, high):
            entries = low
        else:
            continue
        bits.remove(bit)
    return _sorted(bits, entries)


def together(
    tables: Sequence[Indexed],
    combine: Callable[..., NDArray[np.int64]],
) -> Indexed:
    """Return what tables make together, as a function of all their bits."""
    bits = sorted({bit for table in tables for bit in table.bits})
    return Indexed(tuple(bits), combine(*(_spread(table, bits) for table in tables)).ravel())


def ordered(table: Indexed, bits: Sequence[Bit]) -> Indexed:
    """Return a table with the bits of its index in an order."""
    index = np.arange(1 << len(bits))
    place = np.zeros_like(index)
    for k, bit in enumerate(table.bits):
        place |= (index >> bits.index(bit) & 1) << k
    return Indexed(tuple(bits), table.entries[place])


def union(tables: Sequence[Indexed]) -> int:
    """Return how many bits tables read together."""
    return len({bit for table in tables for bit in table.bits})


def _spread(table: Indexed, bits: Sequence[Bit]) -> NDArray[np.int64]:
    """Return the entries of a table whose bits are in order, with an axis for every bit."""
    found = _sorted(list(table.bits), table.entries.reshape((2,) * len(table.bits)))
    shape = [2 if bit in table.bits else 1 for bit in reversed(bits)]
    return np.broadcast_to(found.entries.reshape(shape), (2,) * len(bits))


def _sorted(bits: list[Bit], entries: NDArray[np.int64]) -> Indexed:
    order = sorted(range(len(bits)), key=lambda k: bits[k], reverse=True)
    axes = [len(bits) - 1 - k for k in order]
    turned = np.transpose(entries, axes) if bits else entries
    return Indexed(tuple(sorted(bits)), np.ascontiguousarray(turned).ravel())


def renumbered(fields: Sequence[Field], to: Mapping[int, int]) -> tuple[Field, ...]:
    """Return fields of values with other numbers."""
    return tuple(field._replace(of=to[field.of]) for field in fields)
