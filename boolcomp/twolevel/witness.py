"""Points that a cover misses: the one question behind lazy rows, idle outputs and points apart."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.witness_kernels import missed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.packed import Shape

STEPS = 10_000
"""Steps of the search for a missed point before the clock is looked at."""


class SearchEndedError(Exception):
    """The time ended before the search for a missed point did."""


def serving(cubes: NDArray[np.uint64], output: int, shape: Shape) -> NDArray[np.bool_]:
    """Return the mask of packed cubes that belong to an output."""
    word = cubes[:, shape.out_at + output // 64]
    mask: NDArray[np.bool_] = (word >> np.uint64(output % 64) & np.uint64(1)) != 0
    return mask


def missed_part(
    cover: NDArray[np.uint64],
    cube: NDArray[np.uint64],
    taste: NDArray[np.uint64],
    end: float,
) -> NDArray[np.uint64] | None:
    """Return a part of a cube outside every cube of `cover`, or None when there is none.

    All are input planes. `taste` (input values) says which half of a cube to look at first. Raises
    `SearchEndedError` when `time.monotonic()` passes `end`.
    """
    if time.monotonic() > end:
        raise SearchEndedError
    part = cube.copy()
    steps = STEPS
    while True:
        budget = np.array([steps], np.int64)
        if missed(cover, part, taste, budget):
            return part
        if budget[0] >= 0:
            return None
        if time.monotonic() > end:
            raise SearchEndedError
        steps *= 4


def point_of(
    part: NDArray[np.uint64], taste: NDArray[np.uint64], output: int, shape: Shape
) -> NDArray[np.uint64]:
    """Return the point of a part of the input space that is nearest to `taste`, packed."""
    words = shape.words
    point = np.zeros(shape.width, np.uint64)
    zero, one = part[:words], part[words:]
    point[words : shape.out_at] = one & (~zero | taste)
    point[:words] = zero & ~point[words : shape.out_at]
    point[shape.out_at + output // 64] = np.uint64(1 << (output % 64))
    return point
