"""Which bit of which word stands in which column of a heap.

Columns count from the lowest of a heap; what would stand below column 0 is discarded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class HeapRow(NamedTuple):
    """A word in a heap: `bits` above its lowest `drop`, the first of them in column `column`."""

    drop: int
    column: int
    bits: int

    @property
    def weight(self) -> int:
        """What all its bits count."""
        return ((1 << self.bits) - 1) << self.column

    @property
    def lost(self) -> float:
        """The variance of the bits that are dropped, in steps²: each is ± half its column."""
        first = self.column - self.drop
        return sum((4.0 ** (first + i - 1) for i in range(self.drop)), 0.0)

    @property
    def most_lost(self) -> float:
        """The most that the bits which are dropped can be, in steps."""
        first = self.column - self.drop
        return sum((2.0 ** (first + i - 1) for i in range(self.drop)), 0.0)

    def __str__(self) -> str:
        end = self.drop + self.bits
        return (
            f"bits {self.drop}..{end - 1} in columns {self.column}..{self.column + self.bits - 1}"
        )


class Grid(NamedTuple):
    """Partial products of the digits of two words, `a` and `b`, above the lowest that are dropped.

    Those of the two lowest that are left stand in `column`, which may be below 0.
    """

    column: int
    drop_a: int
    a: int
    drop_b: int
    b: int

    @property
    def top(self) -> int:
        """The highest column: nothing is left of products that lie below column 0."""
        return self.column + self.a + self.b - 2

    @property
    def weight(self) -> int:
        """What all products count."""
        return sum(row.weight for _, row in self.rows())

    @property
    def lost(self) -> float:
        """The variance of the products that are discarded, in steps²."""
        return sum((pairs * 4.0 ** (c - 1) for c, pairs in self.diagonals() if c < 0), 0.0)

    @property
    def most_lost(self) -> float:
        """The most that the products which are discarded can be, in steps."""
        return sum((pairs * 2.0 ** (c - 1) for c, pairs in self.diagonals() if c < 0), 0.0)

    @property
    def swapped(self) -> Grid:
        """The same products, the words the other way round."""
        return Grid(self.column, self.drop_b, self.b, self.drop_a, self.a)

    def rows(self) -> Iterator[tuple[int, HeapRow]]:
        """Yield the digits of `a`, each with the bits of `b` that it leaves or inverts."""
        for i in range(self.a):
            below = max(0, -(self.column + i))
            if below < self.b:
                row = HeapRow(self.drop_b + below, self.column + i + below, self.b - below)
                yield self.drop_a + i, row

    def diagonals(self) -> Iterator[tuple[int, int]]:
        """Yield all columns, those below 0 too, and how many products stand in each."""
        for c in range(self.a + self.b - 1):
            yield self.column + c, min(c + 1, self.a, self.b, self.a + self.b - 1 - c)

    def __str__(self) -> str:
        return (
            f"digits {self.drop_a}..{self.drop_a + self.a - 1} times "
            f"{self.drop_b}..{self.drop_b + self.b - 1} in columns {self.column}..{self.top}"
        )
