"""A table as the levels of a decision diagram, one input a level, in any order of the inputs.

Every path goes through all levels, through tests whose two branches are the same as well: then
two neighbouring inputs change places without any other level taking notice. Tests that decide
nothing are left out when a diagram is made of the levels (`diagram`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Pairs = NDArray[np.int64]  # of each node where it goes on a 0 and on a 1: nodes a level below

DIRECT = 1 << 12


class Levels:
    """The distinct parts of a table level by level; `order` says which input each level tests.

    Branches of the last level count among `leaves`, the words that the table has, rising. No two
    nodes of a level have the same branches: as many nodes as the table has different parts there.
    """

    def __init__(self, words: NDArray[np.int64], inputs: int, order: Sequence[int]) -> None:
        if len(words) != 1 << inputs or sorted(order) != list(range(inputs)):
            raise ValueError("a table has a word for every combination of its inputs")
        self.order = list(order)
        turned = np.ascontiguousarray(words.reshape((2,) * inputs).transpose(order)).ravel()
        self.leaves, places = _distinct(turned, int(turned.max()) + 1)
        found: list[Pairs] = []
        below = len(self.leaves)
        for _ in range(inputs):
            pairs, places = _numbered(places.reshape(-1, 2), below)
            found.append(pairs)
            below = len(pairs)
        self.pairs = found[::-1]
        self.sizes = [_tests(pairs) for pairs in self.pairs]

    @property
    def size(self) -> int:
        """The tests that decide something."""
        return sum(self.sizes)

    def swap(self, level: int) -> None:
        """Let a level and the next one change places."""
        upper, lower = self.pairs[level], self.pairs[level + 1]
        last = level + 2 == len(self.pairs)
        below = len(self.leaves) if last else len(self.pairs[level + 2])
        on_zero, on_one = lower[upper[:, 0]], lower[upper[:, 1]]
        crossed = np.concatenate([np.stack([on_zero[:, k], on_one[:, k]], axis=1) for k in (0, 1)])
        self.pairs[level + 1], places = _numbered(crossed, below)
        self.pairs[level] = places.reshape(2, -1).T.copy()
        self.sizes[level : level + 2] = map(_tests, self.pairs[level : level + 2])
        self.order[level : level + 2] = self.order[level + 1], self.order[level]


def _numbered(pairs: Pairs, below: int) -> tuple[Pairs, NDArray[np.int64]]:
    """Return the different pairs, rising, and for every given one its place among them."""
    keys, places = _distinct(pairs[:, 0] * below + pairs[:, 1], below * below)
    return np.stack([keys // below, keys % below], axis=1), places


def _distinct(numbers: NDArray[np.int64], end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different numbers, rising, and for every given one its place among them.

    All of them are from 0 to `end`: where these are few, nothing is sorted.
    """
    if end > max(DIRECT, 2 * len(numbers)):
        found, places = np.unique(numbers, return_inverse=True)
        return found, places.reshape(-1).astype(np.int64)
    there = np.zeros(end, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def _tests(pairs: Pairs) -> int:
    return int(np.count_nonzero(pairs[:, 0] != pairs[:, 1]))
