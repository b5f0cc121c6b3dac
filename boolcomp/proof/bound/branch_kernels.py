"""The compiled loop of branch and bound over boxes of inputs: the worst box is split first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.proof.bound.boxes_kernels import evaluate, word_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Short = NDArray[np.int32]
    Floats = NDArray[np.float64]
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
def middle(first: np.int64, last: np.int64) -> np.int64:
    """Return the roundest number above `first` and up to `last`."""
    bit = 0
    while (first ^ last) >> (bit + 1):
        bit += 1
    return (last >> bit) << bit


@njit(cache=True, inline="always")
def width(first: np.int64, last: np.int64) -> int:
    """Return how many of the lowest bits of cells are open."""
    bit = 0
    while (first ^ last) >> bit:
        bit += 1
    return bit


@njit(cache=True)
def rounded(slots: Whole, out: int, follows: Whole) -> tuple[int, int]:
    """Return the least and the largest error of a slot once its word is rounded.

    `follows` has both ends of what is added, then of the word its bits, of which the lowest counts
    2^shift, and how many of them are dropped: none are of what is no output. What is dropped of the
    word w counts most where its lowest bits are 0, which some are if w passes a whole step; of few
    words it is known. It is no more than what the largest word says less the least exact value.
    """
    least, most = slots[out, 4], slots[out, 5]
    bits, shift, drop = follows[2], follows[3], follows[4]
    if drop:
        ones = (1 << drop) - 1
        one, two = word_range(slots, out, bits, shift)
        known = one >> drop == two >> drop
        up = ones - 2 * (one & ones) if known else ones
        down = ones - 2 * (two & ones) if known else -ones
        whole, half = (1 << bits) - 1, shift - 1
        high = ((2 * two - whole + ones - 2 * (two & ones)) << half) - slots[out, 2]
        low = ((2 * one - whole + ones - 2 * (one & ones)) << half) - slots[out, 3]
        least, most = max(low, least + (down << half)), min(high, most + (up << half))
    return least + follows[0], most + follows[1]


@njit(cache=True)
def search(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, known: Whole, readers: Whole, begin: Whole,
    firsts: Place, lasts: Place, worth: Floats, out: int, follows: Whole, budget: int,
    result: Whole,
) -> None:  # fmt: skip
    """Split the worst box until so many have been looked at, or the worst is a single cell.

    It is split at the input of which a split is worth most, by how many of its bits are open.
    `result` gets the least and the largest of what slot `out` may err by in any box, how many boxes
    were looked at, and whether the worst is one that cannot be split. `firsts` and `lasts` have
    room for boxes; the first is all there is. `follows` is what `rounded` takes. From `begin`
    on `readers` holds the steps that read an input: the second half of a box needs no more.
    """
    whole = np.arange(len(steps))
    room, dims = firsts.shape
    most, least, keys = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    heap, slots = np.empty(room, np.int64), np.zeros((len(known), 6), np.int64)
    first, last = firsts[0].copy(), lasts[0].copy()
    evaluate(steps, args, low, high, known, whole, slots, first, last)
    least[0], most[0] = rounded(slots, out, follows)
    keys[0] = max(most[0], -least[0])
    heap[0] = 0
    used, made, seen = 1, 1, 1
    while seen < budget and made < room:
        box = heap[0]
        chosen, best = -1, -1.0
        for dim in range(dims):
            bits = width(np.int64(firsts[box, dim]), np.int64(lasts[box, dim]))
            if bits and worth[dim, bits] > best:
                best, chosen = worth[dim, bits], dim
        if chosen < 0:
            result[3] = 1
            break
        _drop(heap, keys, used)
        used -= 1
        first[:], last[:] = firsts[box], lasts[box]
        one, two = np.int64(first[chosen]), np.int64(last[chosen])
        half = middle(one, two)
        down, up = least[box], most[box]
        for side in range(2):
            first[chosen] = one if side == 0 else half
            last[chosen] = half - 1 if side == 0 else two
            which = whole if side == 0 else readers[begin[chosen] : begin[chosen + 1]]
            evaluate(steps, args, low, high, known, which, slots, first, last)
            place = box if side == 0 else made
            firsts[place], lasts[place] = first, last
            below, above = rounded(slots, out, follows)
            least[place], most[place] = max(down, below), min(up, above)
            keys[place] = max(most[place], -least[place])
            _sink(heap, keys, used, place)
            used += 1
        made, seen = made + 1, seen + 2
    result[0], result[1], result[2] = least[heap[0]], most[heap[0]], seen
    for k in range(used):
        result[0] = min(result[0], least[heap[k]])
        result[1] = max(result[1], most[heap[k]])


@njit(cache=True)
def sampled(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, known: Whole, firsts: Place, lasts: Place,
    out: int, follows: Whole, keys: Whole,
) -> None:  # fmt: skip
    """Find the largest error in either direction in some boxes."""
    slots, whole = np.zeros((len(known), 6), np.int64), np.arange(len(steps))
    for k in range(len(firsts)):
        evaluate(steps, args, low, high, known, whole, slots, firsts[k], lasts[k])
        least, most = rounded(slots, out, follows)
        keys[k] = max(most, -least)
