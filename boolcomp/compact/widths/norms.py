"""How the errors of words add up to those of outputs: in mean square, or at their worst.

In mean square every rounding is noise of its own, and variances add. At worst roundings are as
large as they can be, all at once where outputs are most sensitive: what a bound is made of.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.words.layout import Grid, HeapRow

    Floats = NDArray[np.float64]


class Norm(Protocol):
    """What is made of a rounding, and of derivatives at several states."""

    def size(self, derivatives: Floats) -> Floats:
        """Return what derivatives, (outputs, states), come to for every output."""

    def scaled(self, factor: float) -> float:
        """Return how many times as large an error is that goes through a factor."""

    def rounding(self, width: float, count: float = 1) -> float:
        """Return the error of so many words each of which may lie anywhere in a width."""

    def unread(self, width: float, known: float) -> float:
        """Return by how much more a word of a coarse width errs than one of a finer one."""

    def missed(self, variance: float) -> float:
        """Return the error that has a mean square."""

    def lost(self, part: HeapRow | Grid) -> float:
        """Return the error of the bits that a heap discards, in its steps."""


class MeanSquare:
    """Variances, of roundings that are independent."""

    def size(self, derivatives: Floats) -> Floats:
        """Return mean squares."""
        return np.asarray((derivatives * derivatives).mean(axis=1))

    def scaled(self, factor: float) -> float:
        """Return the square."""
        return factor * factor

    def rounding(self, width: float, count: float = 1) -> float:
        """Return the variance of what is uniform."""
        return count * width**2 / 12

    def unread(self, width: float, known: float) -> float:
        """Return the difference of variances."""
        return (width**2 - known**2) / 12

    def missed(self, variance: float) -> float:
        """Return it as it is."""
        return variance

    def lost(self, part: HeapRow | Grid) -> float:
        """Return the variance."""
        return part.lost


class WorstNorm:
    """The largest errors there can be, added up."""

    def size(self, derivatives: Floats) -> Floats:
        """Return the largest sizes."""
        return np.asarray(np.abs(derivatives).max(axis=1))

    def scaled(self, factor: float) -> float:
        """Return the size."""
        return abs(factor)

    def rounding(self, width: float, count: float = 1) -> float:
        """Return halves of the width."""
        return count * abs(width) / 2

    def unread(self, width: float, known: float) -> float:
        """Return half of what the coarse one is wider by."""
        return (width - known) / 2

    def missed(self, variance: float) -> float:
        """Return about the largest of errors with this mean square, spread evenly."""
        return math.sqrt(3 * variance)

    def lost(self, part: HeapRow | Grid) -> float:
        """Return what all bits together can be."""
        return part.most_lost


MEAN_SQUARE, WORST = MeanSquare(), WorstNorm()
