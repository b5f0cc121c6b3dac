"""Compiled loops of tight bounds: all numbers are whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numba
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

Loop = TypeVar("Loop")


def compiled(loop: Loop) -> Loop:
    """Return a loop that runs compiled."""
    made: Any = numba.njit(loop)
    return made  # type: ignore[no-any-return]  # numba has no types


NEVER = -(1 << 62)  # of what does not occur


PARTS = 12  # bits of a place between two points


@compiled
def spread(which: Whole, a: Whole, first: Whole, last: Whole) -> None:
    """Widen, for every row, what its a may be."""
    for k in range(len(a)):
        first[which[k]] = min(first[which[k]], a[k])
        last[which[k]] = max(last[which[k]], a[k])


@compiled
def worst_at(
    put: Whole, least: Whole, largest: Whole, grid: Whole, shift: int, ends: Whole
) -> None:
    """Find, for every a of a grid, the largest of put - a·m, and of a·m - put, over all states."""
    for j in range(len(grid)):
        up = down = NEVER
        for k in range(len(put)):
            one, two = grid[j] * least[k], grid[j] * largest[k]
            here = put[k] << shift
            up, down = max(up, here - min(one, two)), max(down, max(one, two) - here)
        ends[0, j], ends[1, j] = up, down


@compiled
def below_chords(
    total: Whole, which: Whole, a: Whole, first: Whole, step: Whole, ends: Whole
) -> None:
    """Set the largest error at every a: it is convex, and so below the chord of its neighbours."""
    for k in range(len(a)):
        row = which[k]
        beside = a[k] - first[row]
        place = min(beside // step[row], ends.shape[1] - 2)
        part = ((beside - place * step[row]) << PARTS) // step[row]
        one, two = ends[row, place], ends[row, place + 1]
        there = one + (((two - one) >> PARTS) + 1) * part
        after = one + (((two - one) >> PARTS) + 1) * (part + 1)
        total[k] = max(there, after)


@compiled
def by_rest(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    put: Whole, least: Whole, largest: Whole, a: int, sign: int, shift: int, rests: int
) -> Whole:
    """Return the largest error of states in one direction, by what they leave of a step."""
    found = np.full(rests, NEVER, np.int64)
    for k in range(len(put)):
        error = sign * (put[k] << shift) + max(-sign * a * least[k], -sign * a * largest[k])
        found[put[k] & (rests - 1)] = max(found[put[k] & (rests - 1)], error)
    return found


@compiled
def together(one: Whole, two: Whole) -> Whole:
    """Return the largest sums of two errors, by what both leave of a step."""
    rests = len(one)
    found = np.full(rests, NEVER, np.int64)
    for j in range(rests):
        for k in range(rests):
            if one[j] > NEVER and two[k] > NEVER:
                place = (j + k) & (rests - 1)
                found[place] = max(found[place], one[j] + two[k])
    return found
