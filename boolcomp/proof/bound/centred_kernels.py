"""Compiled: sums of waves of the same angles over a box, taken together (see `centred.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.common.loops import njit
from boolcomp.proof.bound.box_lookups import down, up, wave

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Short = NDArray[np.int32]

FINER = 8  # bits by which slopes are finer than values
BENDS = 40  # bits of half the square of a frequency, for a place
LEFT = 20  # bits that are left of them, times a square of places
FIELDS = 9  # of a wave, before its multiples of the angles


@njit(cache=True)
def centred(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    args: Whole, at: int, waves: int, angles: int, low: Short, high: Short, slots: Whole
) -> tuple[int, int]:
    """Return by how much less than alone waves of a sum reach, below and above.

    From the middle c of a box on, f(c + d) = f(c) + f'(c)·d + ½ f''·d², and the slopes add up angle
    by angle. Of a wave f'' = -ω²·f; f is looked up for all the box. `args` has the slots of the
    angles, then for every wave its slot and shift, the slot of its own angle, where its values and
    slopes begin, how many places and peaks it has, by how much values are off, ½ω², and how often
    it counts every angle.
    """
    alone_low = alone_high = near_low = near_high = 0
    first = at + angles
    step = FIELDS + angles
    for i in range(waves):
        row = first + i * step
        slot, shift, turn, start = args[row], args[row + 1], args[row + 2], args[row + 3]
        places, peaks, slack = args[row + 5], args[row + 6], args[row + 7]
        middle = 0
        for j in range(angles):
            middle += args[row + FIELDS + j] * (
                (slots[args[at + j], 2] + slots[args[at + j], 3]) >> 1
            )
        one, two = slots[turn, 2], slots[turn, 3]
        far = max(two - middle, middle - one)
        if 2 * far >= places:
            return 0, 0
        bend = up(args[row + 8] * far * far, BENDS - LEFT)
        if bend >> (LEFT + 3):
            return 0, 0
        least, most = wave(low, start, places, peaks, one, two)
        value = low[start + (middle & (places - 1))]
        near_low += down(value - slack + down(-bend * max(most + slack, 0), LEFT), shift)
        near_high += up(value + slack + up(bend * max(slack - least, 0), LEFT), shift)
        alone_low += down(slots[slot, 2], shift)
        alone_high += up(slots[slot, 3], shift)
    for j in range(angles):
        one, two = slots[args[at + j], 2], slots[args[at + j], 3]
        middle = (one + two) >> 1
        steep_low = steep_high = 0
        for i in range(waves):
            row = first + i * step
            often, shift, turn = args[row + FIELDS + j], args[row + 1], args[row + 2]
            if often:
                place = 0
                for k in range(angles):
                    place += args[row + FIELDS + k] * (
                        (slots[args[at + k], 2] + slots[args[at + k], 3]) >> 1
                    )
                place = args[row + 4] + (place & (args[row + 5] - 1))
                a, b = low[place] * often, high[place] * often
                steep_low += down(min(a, b), shift)
                steep_high += up(max(a, b), shift)
        a, b = steep_low * (one - middle), steep_low * (two - middle)
        c, d = steep_high * (one - middle), steep_high * (two - middle)
        near_low += down(min(a, b, c, d), FINER)
        near_high += up(max(a, b, c, d), FINER)
    return max(0, near_low - alone_low), max(0, alone_high - near_high)
