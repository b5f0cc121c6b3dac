"""A lower bound that needs no primes: points of which no product can hold two."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.cubes import unpack
from boolcomp.twolevel.witness import SearchEndedError, missed_part, point_of, serving

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.packed import Shape

MOST_TRIED = 2000


def points_apart(
    on: NDArray[np.uint64],
    dont_care: NDArray[np.uint64],
    allowed: NDArray[np.uint64],
    shape: Shape,
    end: float,
) -> int:
    """Return how many points of ON were found, until `end`, that need a product each.

    Two points can share a product only if the smallest cube around both lies in ON or DC for the
    outputs of both. `allowed` are cubes of ON and DC.
    """
    planes = shape.out_at
    random = np.random.default_rng(1)

    @cache  # only of the outputs that are drawn: there may be very many
    def space(output: int) -> NDArray[np.uint64]:
        return allowed[serving(allowed, output, shape), :planes]

    kept: list[tuple[int, NDArray[np.uint64]]] = []
    try:
        for at in random.permutation(len(on))[:MOST_TRIED]:
            serves = np.flatnonzero(unpack(on[at : at + 1, planes:], shape.outputs)[0])
            output = int(random.choice(serves))
            free = dont_care[serving(dont_care, output, shape), :planes]
            taste = random.integers(0, 2**64, shape.words, dtype=np.uint64)
            part = missed_part(free, on[at, :planes], taste, end)
            if part is None:
                continue
            point = point_of(part, taste, output, shape)[:planes]
            if not any(
                _inside(space(output), point | other, taste, end)
                and _inside(space(place), point | other, taste, end)
                for place, other in kept
            ):
                kept.append((output, point))
    except SearchEndedError:
        pass
    return len(kept)


def _inside(
    space: NDArray[np.uint64], cube: NDArray[np.uint64], taste: NDArray[np.uint64], end: float
) -> bool:
    return missed_part(space, cube, taste, end) is None
