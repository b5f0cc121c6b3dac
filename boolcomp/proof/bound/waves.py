"""Waves at many places of a grid: whole numbers of the unit of enclosures, and what they err by.

Sines come from balls, once for every grid; everything after that is exact or counted.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.enclosure import PLACES, Enclosure, exactly, of_ball

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import arb
    from numpy.typing import NDArray

    Whole = NDArray[np.object_]

PRECISION = 140  # bits of balls
FINEST = 1 << 14  # places in a turn at which waves of angles are looked at that are no words


class Sampled(NamedTuple):
    """Values in units, as whole numbers; each errs by no more than `slack` units."""

    values: Whole
    slack: int

    @property
    def hull(self) -> Enclosure:
        """What holds all values."""
        return Enclosure(int(self.values.min()) - self.slack, int(self.values.max()) + self.slack)


@lru_cache(maxsize=1)
def pi() -> Enclosure:
    """Return an enclosure of π."""
    return of_ball(precise().pi())


def precise() -> type[arb]:
    """Return balls, of which enough bits are kept."""
    from flint import arb, ctx  # noqa: PLC0415 (a fifth of a second, for bounds alone)

    ctx.prec = PRECISION
    return arb


def ball(value: Enclosure) -> arb:
    """Return a ball that holds an enclosure."""
    arb = precise()
    low, high = (arb(end) * arb(2) ** -PLACES for end in (value.low, value.high))
    return low.union(high)


@lru_cache(maxsize=16)
def cosines(places: int) -> Whole:
    """Return cos(2πj/places) for all j, in units, each less than two off; places are 2^k ≥ 8."""
    from flint import fmpq  # noqa: PLC0415 (see `precise`)

    arb, eighth = precise(), places // 8
    first, second = [], []
    for j in range(eighth + 1):
        sine, cosine = arb.sin_cos_pi_fmpq(fmpq(2 * j, places))
        first.append(of_ball(cosine).low)
        second.append(of_ball(sine).low)
    quarter = np.array(first + second[:-1][::-1], dtype=object)  # cos of 0 .. a quarter turn
    half = np.concatenate([quarter, -quarter[-2::-1]])
    return np.concatenate([half, half[-2:0:-1]])


def phase(turns: Fraction) -> tuple[Enclosure, Enclosure]:
    """Return the cosine and the sine of an angle."""
    from flint import fmpq  # noqa: PLC0415 (see `precise`)

    sine, cosine = precise().sin_cos_pi_fmpq(fmpq(2 * turns.numerator, turns.denominator))
    return of_ball(cosine), of_ball(sine)


Coefficients = tuple[int, Enclosure, Enclosure]  # k, and the real and imaginary part


def turned(parts: Sequence[tuple[int, float, float]], turns: Fraction) -> list[Coefficients]:
    """Return the coefficients of waves of an angle that is counted from so many turns."""
    found = []
    for k, real, imaginary in parts:
        a, b = exactly(real), exactly(imaginary)
        if turns and k:
            c, s = phase(k * turns)
            a, b = a * c - b * s, a * s + b * c
        found.append((k, a, b))
    return found


def waves_at(parts: Sequence[Coefficients], start: Fraction, step: Fraction, ks: Whole) -> Sampled:
    """Return Re Σ c·exp(2πi·k·(start + step·j)) for all j of `ks`.

    Start and step are dyadic.
    """
    places = max(8, start.denominator, step.denominator)
    index = (ks.astype(object) * int(step * places) + int(start * places)) % places
    index = index.astype(np.int64)
    table = cosines(places)
    total, slack = np.zeros(len(ks), dtype=object), 0
    for k, a, b in parts:
        at = index * k % places
        for part, shift in ((a, 0), (-b, -places // 4)):  # -sin x = -cos(x - a quarter turn)
            middle = (part.low + part.high) >> 1
            if not part.size:
                continue
            total = total + ((table[(at + shift) % places] * middle) >> PLACES)
            slack += (part.high - part.low) + 2 + 2 * (-(-part.size >> PLACES))
    return Sampled(total, slack)


def split_start(start: Fraction, step: Fraction) -> tuple[Fraction, Fraction]:
    """Return the part of a start that lies on half steps, and the rest."""
    half = step / 2
    on = Fraction(round(start / half)) * half
    return on, start - on
