"""Cells by one multiplication and addition: with what numbers, and which results are beyond doubt.

`fine` adds x / step, by one multiplication, to a double so large that the 52 bits of its mantissa
are 20 of the code and 32 of the place in the cell, where the unit is u = 2^-32 cells and the
border, because of TIE, lies 4.3 u below 0. It adds 2 u more, so that values on the grid of cells
stay clear of it. All errors together are at most 1.25 u (see there), so that a place of 0 and up is
in the cell, and one of 2^32 - 5 and less is, too.

`coarse` does the same with floats, whose 23 bits are the cell and its place; too close is one
unit or few, by the errors (see there). Sixteen numbers cost four operations, and one in some
thousands is done again.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.codes import TIE
from boolcomp.engines.native.transpose import MOST_TRANSPOSED

if TYPE_CHECKING:
    from boolcomp.codes import Code

LARGE = 3 << 19  # its double has 20 bits before the point and 32 behind it
LARGE_HIGH = 0x4138_0000  # the upper half of that double
MARGIN = 4  # units below a border where a place is not trusted
SHIFT = Fraction(2, 1 << 32)  # keeps the grid of cells off the border
FARTHEST = 1 << 17  # cells between zero and what a code may reach for the errors to be small


def fine(code: Code) -> tuple[float, float] | None:
    """Return what a value is multiplied by and what is then added to it, or nothing.

    The errors, in units of 2^-32 cells: the sum is rounded by 1/2, what is added by 1/2 itself. The
    factor and, if need be, the product are rounded by |x / step| 2^32 / 2^53 each, together 1/8 at
    most; and the cell itself is that of three rounded operations, 1/8 at most.
    """
    step, low = Fraction(code.step), Fraction(code.low)
    if code.bits > MOST_TRANSPOSED or not 1e-30 < code.step < 1e30:
        return None
    if _reach(code) / code.step > FARTHEST:
        return None
    return float(1 / step), float(LARGE - code.cells // 2 - low / step + SHIFT)


def _reach(code: Code) -> float:
    return max(abs(code.low), abs(code.range.high))


@dataclass(frozen=True, slots=True)
class Coarse:
    """A value's cell in a float: the factor, what is added, and the units that are in doubt.

    The float is 2^bits and more, and has `places` bits for the place in the cell; those in doubt
    have the highest numbers.
    """

    factor: float
    added: float
    places: int
    doubt: int


def coarse(code: Code) -> Coarse | None:
    """Return how cells are found with floats, or nothing.

    Place k is k + (doubt + 1)/2 units above the border, but for the errors: the sum is rounded by
    1/2 unit; the factor, what is added, and the cell itself, with TIE, by what is computed here.
    """
    if fine(code) is None:
        return None
    places = 23 - code.bits
    step, low = Fraction(code.step), Fraction(code.low)
    factor = float(np.float32(1 / step))
    wrong = abs(Fraction(factor) - 1 / step) * Fraction(_reach(code)) + Fraction(TIE)
    for most in (0, 1, 2):
        exact = code.cells - low / step - Fraction(most + 1, 1 << places)
        added = float(np.float32(float(exact)))
        errors = (wrong + abs(Fraction(added) - exact)) * (1 << places) * Fraction(1.001)
        if errors + Fraction(1, 100) < most + Fraction(1, 2):
            return Coarse(factor, added, places, 2 * most + 1)
    return None
