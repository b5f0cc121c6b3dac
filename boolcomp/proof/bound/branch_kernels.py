"""The compiled loop of branch and bound over boxes of inputs: the worst box is split first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.loops import njit
from boolcomp.proof.bound.box_kernels import evaluate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Short = NDArray[np.int32]
    Place = NDArray[np.uint16]


@njit(cache=True)
def _sink(heap: Whole, keys: Whole, used: int, box: int) -> None:
    """Put a box into a heap of `used` others; of equal ones the first that was made comes first."""
    k = used
    while k:
        above = (k - 1) >> 1
        other = heap[above]
        if keys[other] > keys[box] or (keys[other] == keys[box] and other < box):
            break
        heap[k] = other
        k = above
    heap[k] = box


@njit(cache=True)
def _drop(heap: Whole, keys: Whole, used: int) -> None:
    """Take the first of `used` boxes out of a heap."""
    box, k = heap[used - 1], 0
    while True:
        below = 2 * k + 1
        if below >= used - 1:
            break
        if below + 1 < used - 1:
            one, two = heap[below], heap[below + 1]
            if keys[two] > keys[one] or (keys[two] == keys[one] and two < one):
                below += 1
        other = heap[below]
        if keys[box] > keys[other] or (keys[box] == keys[other] and box < other):
            break
        heap[k] = other
        k = below
    heap[k] = box


@njit(cache=True, inline="always")
def middle(first: int, last: int) -> int:
    """Return the roundest number above `first` and up to `last`."""
    bit = 0
    while (first ^ last) >> (bit + 1):
        bit += 1
    return (last >> bit) << bit


@njit(cache=True)
def search(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, known: Whole, firsts: Place, lasts: Place,
    split: Whole, out: int, beside: Whole, budget: int, result: Whole,
) -> None:  # fmt: skip
    """Split the worst box until so many have been looked at, or the worst is a single cell.

    `result` gets the largest and the least of what slot `out` may be in any box, how many boxes
    were looked at, and whether the worst is one that cannot be split. `firsts` and `lasts` have
    room for boxes; the first is all there is. `beside` is what rounding adds to both ends.
    """
    room, dims = firsts.shape
    most, least, keys = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    heap, slots = np.empty(room, np.int64), np.zeros((len(known), 6), np.int64)
    first, last = firsts[0].copy(), lasts[0].copy()
    evaluate(steps, args, low, high, known, slots, first, last)
    most[0], least[0] = slots[out, 5], slots[out, 4]
    keys[0] = max(most[0] + beside[1], -least[0] - beside[0])
    heap[0] = 0
    used, made, seen = 1, 1, 1
    ends = np.empty((dims, 4), np.int64)
    while seen < budget and made + 1 < room:
        box = heap[0]
        first[:], last[:] = firsts[box], lasts[box]
        best, chosen, second = np.int64(1) << 62, -1, np.int64(1) << 62
        for dim in split:
            one, two = np.int64(first[dim]), np.int64(last[dim])
            if one == two:
                continue
            half = middle(one, two)
            last[dim] = half - 1
            evaluate(steps, args, low, high, known, slots, first, last)
            ends[dim, 0], ends[dim, 1] = slots[out, 4], slots[out, 5]
            first[dim], last[dim] = half, two
            evaluate(steps, args, low, high, known, slots, first, last)
            ends[dim, 2], ends[dim, 3] = slots[out, 4], slots[out, 5]
            first[dim] = one
            seen += 2
            left = max(ends[dim, 1] + beside[1], -ends[dim, 0] - beside[0])
            right = max(ends[dim, 3] + beside[1], -ends[dim, 2] - beside[0])
            worst, other = max(left, right), min(left, right)
            if worst < best or (worst == best and other < second):
                best, second, chosen = worst, other, dim
        if chosen < 0:
            result[3] = 1
            break
        _drop(heap, keys, used)
        used -= 1
        half = middle(np.int64(first[chosen]), np.int64(last[chosen]))
        for side in range(2):
            place = box if side == 0 else made
            firsts[place], lasts[place] = first, last
            if side == 0:
                lasts[place, chosen] = half - 1
            else:
                firsts[place, chosen] = half
                made += 1
            least[place] = max(least[box], ends[chosen, 2 * side]) if side == 0 else ends[chosen, 2]
            most[place] = min(most[box], ends[chosen, 1]) if side == 0 else ends[chosen, 3]
            keys[place] = max(most[place] + beside[1], -least[place] - beside[0])
            _sink(heap, keys, used, place)
            used += 1
    result[0], result[1], result[2] = least[heap[0]], most[heap[0]], seen
    for k in range(used):
        result[0] = min(result[0], least[heap[k]])
        result[1] = max(result[1], most[heap[k]])
