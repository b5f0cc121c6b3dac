"""Waves of sums of the same angles, taken together over a box: a centred form.

Alone in a box each wave of a sum is where it is least, though no place is the worst for all. From
the middle of the box on slopes add up, and what bends is small (`centred_kernels.py`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.centred_kernels import BENDS, FINER
from boolcomp.proof.bound.enclosure import ONE, about, exactly
from boolcomp.proof.bound.fixed import rounded_down, rounded_up
from boolcomp.proof.bound.meaning import GivenWord, TurnSum
from boolcomp.proof.bound.ranges import MOST
from boolcomp.proof.bound.waves import pi, waves_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.proof.bound.meaning import Meaning, WaveTable
    from boolcomp.proof.bound.ranges import Store

FASTEST = 8  # multiples of a turn: faster waves bend too much for any box but the smallest


def slopes(
    store: Store, table: WaveTable, factor: Fraction, scale: int, grid: int
) -> tuple[int, int] | None:
    """Return where the slopes of a wave begin, for a place, and half its frequency squared.

    None of what is no wave of one frequency.
    """
    if len(table.parts) != 1:
        return None
    ((often, real, imaginary),) = table.parts
    if not 0 < abs(often) <= FASTEST:
        return None
    # f = Re c·exp(2πikφ), and f' = 2πk · Re ic·exp(2πikφ)
    parts = [(often, exactly(-imaginary), exactly(real))]
    places = 1 << grid
    found = waves_at(parts, Fraction(0), Fraction(1, places), np.arange(places, dtype=object))
    omega = pi().times(Fraction(2 * often, places))
    largest = Fraction(about(omega).high, ONE)
    rate = omega.times(factor * (1 << FINER))
    ends = [found.values * rate.low, found.values * rate.high]
    beside = found.slack * about(rate).high
    low = (np.minimum(*ends) - beside) // ONE
    high = -(-(np.maximum(*ends) + beside) // ONE)
    low, high = rounded_down(low, scale), rounded_up(high, scale)
    if max(abs(int(low.min())), abs(int(high.max()))) > MOST:
        return None
    bend = largest * largest / 2 * (1 << BENDS)
    return store.plain(low, high), -(-bend.numerator // bend.denominator)


def multiples(meanings: Sequence[Meaning], place: int) -> dict[int, int] | None:
    """Return how often an angle counts each input, if it is a sum of inputs."""
    meaning = meanings[place]
    if isinstance(meaning, GivenWord) and meaning.angle:
        return {place: 1}
    if not isinstance(meaning, TurnSum):
        return None
    found: dict[int, int] = {}
    for item, often in meaning.items:
        below = multiples(meanings, item)
        if below is None:
            return None
        for name, k in below.items():
            found[name] = found.get(name, 0) + often * k
    return found
