"""By how much an error within a cell may exceed that at its corners: where and how it bends.

f(z) is at most what lies between its corners plus Σ h²/8·sup(-∂²f/∂z²)⁺ over the cell. All second
derivatives are of what is exact: of a·P by an angle a″·P, by a linear input a·P″. Those by an angle
are summed over groups before it is asked whether they are positive, so they are kept apart.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ONE, ZERO, Enclosure, about
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.waves import pi

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.expansion import Powers, Series
    from boolcomp.proof.bound.groups import Group
    from boolcomp.proof.bound.sweep import Sweep, Turning

    Words = NDArray[np.int64]


class Within:
    """Between which numbers a series lies within a cell, all its corners looked up."""

    def __init__(self, whole: Sweep, series: Series, scale: Fraction) -> None:
        self.whole, self.waves = whole, whole.waves(series, scale)
        beside = sum((about(part) for part in _beside(whole, series)), ZERO).times(scale)
        self.slack = (beside.size << whole.scale) // ONE + 2 * len(series) + 2

    def at(self, block: Sequence[Words]) -> tuple[int, int]:
        """Return the least and the most for the words of one cell."""
        found = [
            int(self.whole.exact(self.waves, block, corner)[0]) for corner in self.whole.corners
        ]
        return min(found) - self.slack, max(found) + self.slack


def _beside(whole: Sweep, series: Series) -> list[Enclosure]:
    """Return what a series may be beside its corners, wave by wave and angle by angle."""
    return [
        (about(a) + about(b)) * (about(_curvature(angle, one)))
        for angle, (a, b) in series.items()
        for one in whole.angles
    ]


def _curvature(angle: Powers, one: Turning) -> Enclosure:
    """Return h²/8·(2πk)², where a wave holds an angle k times."""
    often = Fraction(dict(angle).get(one.meaning, 0), 1 << one.places)
    return (pi() * pi()).times(often * often / 2)


def bent(series: Series, one: Turning) -> Series:
    """Return h²/8 of the second derivative by an angle."""
    found: Series = {}
    for angle, (a, b) in series.items():
        size = _curvature(angle, one)
        if size.size:
            found[angle] = (-(a * size), -(b * size))
    return found


class Bends:
    """How a·P bends within cells; at all states of its inputs."""

    def __init__(self, whole: Sweep, group: Group) -> None:
        exact = group.exact
        self.a = Within(whole, exact.series, exact.scale)
        self.angles = [Within(whole, bent(exact.series, one), exact.scale) for one in whole.angles]
        self.linear = [_bent_by(group, name) for name in group.doubled]
        beyond = sum((np.maximum(-low, high) for low, high in self.linear), np.zeros(1, np.int64))
        beyond = (beyond + 7) >> 3
        self.least, self.most = group.least - beyond, group.most + beyond

    def always(self, block: Sequence[Words], sign: int) -> Words:
        """Return what linear inputs may add to errors in one direction."""
        total = np.zeros(len(self.least), np.int64)
        for low, high in self.linear:
            found = [sign * a * end for a in self.a.at(block) for end in (low, high)]
            total = total + np.maximum(0, np.maximum.reduce(found))
        return (total + 7) >> 3

    def by_angle(self, block: Sequence[Words], sign: int) -> list[Words]:
        """Return what each angle may add, or take away."""
        return [
            np.maximum.reduce(
                [sign * end * p for end in one.at(block) for p in (self.least, self.most)]
            )
            for one in self.angles
        ]


def _bent_by(group: Group, name: int) -> tuple[Words, Words]:
    """Return h² times the least and the most second derivative of P by an input."""
    low, high = group.doubled[name]
    step, names = int(high[0] - low[0]), sorted(group.doubled)
    found = []
    for corner in range(1 << len(names)):
        total = np.zeros(len(group.least), np.int64)
        for monomial, factor in group.exact.factors:
            often = dict(monomial).get(name, 0)
            if often < 2:
                continue
            value = np.full(len(total), factor * often * (often - 1) * step * step)
            for other, times in monomial:
                left = times - 2 if other == name else times
                if left > 1:
                    raise NotPlainError
                if left:
                    value = value * group.doubled[other][corner >> names.index(other) & 1]
            total = total + value
        found.append(total)
    return np.minimum.reduce(found), np.maximum.reduce(found)
