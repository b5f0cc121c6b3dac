"""Compiled loops of tight bounds; all numbers are whole, in a fixed part of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.common.loops import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

PARTS = 10  # bits of a place between two points of a grid


@njit(cache=True)
def envelope(said: Whole, least: Whole, most: Whole, grid: Whole, high: Whole, low: Whole) -> None:
    """Find, for every a of a grid, the largest and the least of said - a·m, m of least and most."""
    for j in range(len(grid)):
        a = grid[j]
        up, down = said[0] - a * least[0], said[0] - a * least[0]
        for k in range(len(said)):
            one, two = said[k] - a * least[k], said[k] - a * most[k]
            up, down = max(up, one, two), min(down, one, two)
        high[j], low[j] = up, down


@njit(cache=True)
def add_group(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    up: Whole, down: Whole, which: Whole, a: Whole, first: Whole, step: Whole, high: Whole,
    low: Whole,
) -> None:  # fmt: skip
    """Add a group's largest and least errors, between the points of its grids: they are convex."""
    points = high.shape[1]
    for k in range(len(a)):
        row = which[k]
        beside = a[k] - first[row]
        place = min(beside // step[row], points - 2)
        part = ((beside - place * step[row]) << PARTS) // step[row]
        start, end = high[row, place], high[row, place + 1]
        up[k] += start + (((end - start) * part) >> PARTS) + (abs(end - start) >> PARTS) + 2
        start, end = low[row, place], low[row, place + 1]
        down[k] += start + (((end - start) * part) >> PARTS) - (abs(end - start) >> PARTS) - 2


@njit(cache=True)
def spread(which: Whole, a: Whole, first: Whole, last: Whole) -> None:
    """Widen, for every word of which there is an a, what its a may be."""
    for k in range(len(a)):
        row = which[k]
        first[row], last[row] = min(first[row], a[k]), max(last[row], a[k])
