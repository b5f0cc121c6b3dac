"""Products of two words that are discarded: what they count, as far as one of the words says."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ONE
from boolcomp.proof.bound.fixed import rounded_down, rounded_up

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.proof.bound.ranges import Store
    from boolcomp.words.layout import Grid

    Whole = NDArray[np.object_]

MOST_LISTED_BITS = 20  # bits of two words of which all products are looked at


def discarded(
    store: Store, grid: Grid, own: Fraction, scale: int, *, of_b: bool
) -> tuple[int, int] | None:
    """Return where what is discarded begins in a store, by the low bits of one word.

    With it how many these bits are. A step of the heap counts `own`. None where nothing is lost, or
    too much is to be looked at.
    """
    below = -grid.column
    if below <= 0:
        return None
    a, b = min(grid.a, below), min(grid.b, below)
    if a + b > MOST_LISTED_BITS:
        return None
    low, high = _sums(a, b, below)[of_b]
    unit = own * Fraction(2) ** (grid.column - 1) * ONE
    low = low * unit.numerator // unit.denominator
    high = -(-high * unit.numerator // unit.denominator)
    start = store.ranges(rounded_down(low, scale), rounded_up(high, scale))
    return start, b if of_b else a


@lru_cache(maxsize=8)
def _sums(a: int, b: int, below: int) -> tuple[tuple[Whole, Whole], tuple[Whole, Whole]]:
    """Return the least and the largest sum of products i·j, i + j < below, of digits ±1 · 2^k.

    By the low bits of the first word, and by those of the second.
    """
    one, two = np.arange(1 << a, dtype=np.int64), np.arange(1 << b, dtype=np.int64)
    total = np.zeros((1 << a, 1 << b), np.int64)
    for i in range(a):
        ones = (1 << min(b, below - i)) - 1
        row = (2 * (two & ones) - ones) << i
        total += np.where((one >> i & 1)[:, None] > 0, row[None, :], -row[None, :])
    return (
        (total.min(axis=1).astype(object), total.max(axis=1).astype(object)),
        (total.min(axis=0).astype(object), total.max(axis=0).astype(object)),
    )
