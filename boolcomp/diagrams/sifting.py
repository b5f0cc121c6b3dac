"""An order of inputs in which a diagram has few tests, by sifting (Rudell, 1993).

One input after the other, those of the largest levels first, is moved through all levels and left
where the diagram was smallest; again while that helps. What comes out depends on the table alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.diagrams.levels import Levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

ROUNDS = 8
GROWTH = 1.3  # of the smallest diagram so far: an input that makes more of it turns back


def sifted(words: NDArray[np.int64], inputs: int, orders: Sequence[Sequence[int]]) -> Levels:
    """Return the levels of a table in the best order that sifting finds from several first ones."""
    found = [Levels(words, inputs, order) for order in orders]
    for levels in found:
        _sift(levels)
    return min(found, key=lambda levels: (levels.size, levels.order))


def _sift(levels: Levels) -> None:
    for _ in range(ROUNDS):
        before = levels.size
        by_size = sorted(zip(levels.sizes, levels.order, strict=True), key=lambda x: (-x[0], x[1]))
        for _, one in by_size:
            _settle(levels, levels.order.index(one))
        if levels.size == before:
            return


def _settle(levels: Levels, start: int) -> None:
    """Move the input of a level to where the diagram is smallest; it stays if that is no gain."""
    last = len(levels.order) - 1
    best = (levels.size, 0, start)
    place = start
    ways = (1, -1) if last - start <= start else (-1, 1)  # the shorter one first
    for step in ways:
        while 0 <= place + step <= last:
            place = _moved(levels, place, step)
            best = min(best, (levels.size, abs(place - start), place))
            if levels.size > GROWTH * best[0]:
                break
    while place != best[2]:
        place = _moved(levels, place, 1 if place < best[2] else -1)


def _moved(levels: Levels, place: int, step: int) -> int:
    levels.swap(min(place, place + step))
    return place + step
