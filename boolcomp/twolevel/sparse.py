"""Products freed from outputs that other products serve already."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.packed import literals
from boolcomp.twolevel.witness import SearchEndedError, missed_part, serving

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.packed import Shape


def without_idle_outputs(
    cover: NDArray[np.uint64], dont_care: NDArray[np.uint64], shape: Shape, end: float
) -> NDArray[np.uint64]:
    """Return the products with fewer outputs, still a cover; those left without any are dropped.

    Products of many literals give up outputs first. At `end` what is done is done.
    """
    cover = cover.copy()
    order = np.argsort(-literals(cover, shape), kind="stable")
    try:
        for output in range(shape.outputs):
            if time.monotonic() > end:
                break
            free = dont_care[serving(dont_care, output, shape)]
            _thin(cover, free, order, output, shape, end)
    except SearchEndedError:
        pass
    return cover[cover[:, shape.out_at :].any(axis=1)]


def _thin(
    cover: NDArray[np.uint64],
    free: NDArray[np.uint64],
    order: NDArray[np.intp],
    output: int,
    shape: Shape,
    end: float,
) -> None:
    """Take one output, in place, from every product that is covered without it there."""
    planes = shape.out_at
    bit = np.uint64(1 << (output % 64))
    taste = np.zeros(shape.words, np.uint64)
    for k in order:
        if not cover[k, planes + output // 64] & bit:
            continue
        cover[k, planes + output // 64] &= ~bit
        others = [cover[serving(cover, output, shape), :planes], free[:, :planes]]
        # The product lies in ON and DC, so what DC and the others miss of it is ON.
        try:
            part = missed_part(np.concatenate(others), cover[k, :planes], taste, end)
        except SearchEndedError:
            cover[k, planes + output // 64] |= bit
            raise
        if part is not None:
            cover[k, planes + output // 64] |= bit
