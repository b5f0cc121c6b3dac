"""Numbers in the unit of a slot: whole ones of so many bits; ends are rounded outward."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ONE, PLACES, Enclosure
from boolcomp.proof.bound.expansion import NotPlainError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.object_]

TOP = 29  # bits of what a slot holds at most
MANTISSA = 30  # bits of a factor
FAR = 1 << 61  # no slot is ever so large


def outward(value: Enclosure, scale: int) -> tuple[int, int]:
    """Return both ends of an enclosure in units of 2^-scale."""
    shift = PLACES - scale
    if shift >= 0:
        return value.low >> shift, -(-value.high >> shift)
    return value.low << -shift, value.high << -shift


def rounded_down(values: Whole, scale: int) -> Whole:
    """Return numbers of enclosures in units of 2^-scale, no larger than they are."""
    shift = PLACES - scale
    return np.asarray(values >> shift if shift >= 0 else values << -shift)


def rounded_up(values: Whole, scale: int) -> Whole:
    """Return the same, no smaller than they are."""
    return -rounded_down(-values, scale)


def ends_of(found: Sequence[Enclosure], scale: int) -> tuple[Whole, Whole]:
    """Return the ends of many enclosures in units of 2^-scale."""
    low = np.array([one.low for one in found], dtype=object)
    high = np.array([one.high for one in found], dtype=object)
    return rounded_down(low, scale), rounded_up(high, scale)


def scale_of(size: Fraction) -> int:
    """Return the scale of a slot that holds numbers up to a size."""
    return TOP - log2_up(size) if size else TOP


def scale_for(units: int) -> int:
    """Return the scale of a slot that holds numbers up to a size in units of enclosures."""
    return scale_of(Fraction(max(1, units), ONE))


def log2_up(value: Fraction) -> int:
    """Return the least k for which 2^k is no less."""
    k = value.numerator.bit_length() - value.denominator.bit_length() - 1
    while Fraction(2) ** k < value:
        k += 1
    return k


def power_of(value: Fraction) -> int:
    """Return k of 2^k."""
    k = log2_up(value)
    if Fraction(2) ** k != value:
        raise NotPlainError
    return k


def unit_of(power: int) -> int:
    """Return 2^power in units of enclosures."""
    if power < -PLACES:
        raise NotPlainError
    return 1 << (PLACES + power)


def mantissa(value: Fraction) -> tuple[int, int, int]:
    """Return m, n and k for which a number lies between m·2^-k and n·2^-k."""
    if not value:
        return 0, 0, 0
    shift = MANTISSA - log2_up(abs(value))
    exact = value * Fraction(2) ** shift
    low, high = exact.numerator // exact.denominator, -(-exact.numerator // exact.denominator)
    return low, high, shift
