"""Compiled loops of tight bounds; all numbers are whole, in a fixed part of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

PARTS = 10  # bits of a place between two points of a grid


@njit(cache=True)
def envelope(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    said: Whole, least: Whole, most: Whole, block: Whole, grid: Whole, high: Whole, low: Whole,
) -> None:  # fmt: skip
    """Find, for every block and every a, the largest and least of said - a·m, m of least and most.

    `high` and `low`, (blocks, grid), hold what there was before.
    """
    for k in range(len(said)):
        b = block[k]
        for j in range(len(grid)):
            one, two = said[k] - grid[j] * least[k], said[k] - grid[j] * most[k]
            high[b, j], low[b, j] = max(high[b, j], one, two), min(low[b, j], one, two)


@njit(cache=True)
def hulls(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    said: Whole, least: Whole, most: Whole, base: int, grid: Whole, high: Whole, low: Whole,
) -> None:  # fmt: skip
    """Find the largest and the least of said - (base + grid)·m, m of least and most."""
    for j in range(len(grid)):
        a = base + grid[j]
        for k in range(len(said)):
            one, two = said[k] - a * least[k], said[k] - a * most[k]
            high[j], low[j] = max(high[j], one, two), min(low[j], one, two)


@njit(cache=True)
def add_group(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    up: Whole, down: Whole, which: Whole, a: Whole, first: Whole, step: Whole, high: Whole,
    low: Whole, own: Whole,
) -> None:  # fmt: skip
    """Add a group's largest and least errors, between the points of its grids: they are convex.

    `up` and `down` are (cells, blocks), `high` and `low` (rows, own blocks, points): `own` says
    which of its own blocks holds a block.
    """
    points = high.shape[2]
    for k in range(len(a)):
        row = which[k]
        beside = a[k] - first[row]
        place = min(beside // step[row], points - 2)
        part = ((beside - place * step[row]) << PARTS) // step[row]
        for b in range(len(own)):
            start, end = high[row, own[b], place], high[row, own[b], place + 1]
            up[k, b] += start + (((end - start) * part) >> PARTS) + (abs(end - start) >> PARTS) + 2
            start, end = low[row, own[b], place], low[row, own[b], place + 1]
            down[k, b] += (
                start + (((end - start) * part) >> PARTS) - (abs(end - start) >> PARTS) - 2
            )


@njit(cache=True)
def add_range(up: Whole, down: Whole, which: Whole, high: Whole, low: Whole, own: Whole) -> None:
    """Add between which numbers something lies, by row and by own block."""
    for k in range(len(which)):
        for b in range(len(own)):
            up[k, b] += high[which[k], own[b]]
            down[k, b] += low[which[k], own[b]]


@njit(cache=True)
def add_product(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    up: Whole, down: Whole, first: Whole, last: Whole, least: Whole, most: Whole, start: int,
    step: int, high: Whole, low: Whole,
) -> None:  # fmt: skip
    """Add what a product errs by, of classes first .. last, where its sum errs by least .. most.

    `high` and `low` are (first class, last class, points); convex and concave by what the sum errs
    by, so that one end or the other is the worst.
    """
    points = high.shape[2]
    for k in range(up.shape[0]):
        for b in range(up.shape[1]):
            one, two = first[k, b], last[k, b]
            best_up, best_down = high[one, two, 0], low[one, two, 0]
            for end in range(2):
                beside = (most[k, b] if end else least[k, b]) - start
                place = min(beside // step, points - 2)
                part = ((beside - place * step) << PARTS) // step
                a, z = high[one, two, place], high[one, two, place + 1]
                found = a + (((z - a) * part) >> PARTS) + (abs(z - a) >> PARTS) + 2
                best_up = found if not end else max(best_up, found)
                a, z = low[one, two, place], low[one, two, place + 1]
                found = a + (((z - a) * part) >> PARTS) - (abs(z - a) >> PARTS) - 2
                best_down = found if not end else min(best_down, found)
            up[k, b] += best_up
            down[k, b] += best_down


@njit(cache=True)
def spread(which: Whole, a: Whole, first: Whole, last: Whole) -> None:
    """Widen, for every word of which there is an a, what its a may be."""
    for k in range(len(a)):
        row = which[k]
        first[row], last[row] = min(first[row], a[k]), max(last[row], a[k])
