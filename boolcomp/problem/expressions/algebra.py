"""What the recurrence asks of numbers, and constants that fold.

The recurrence is one text over any algebra. An algebra makes constants and takes sines, cosines
and signs; its elements add, subtract, multiply and negate, with each other and with constants.
Numpy arrays, intervals, operation counters and task recorders all fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from boolcomp.problem.angles import exact_cosine, exact_sine

Element = Any  # numpy array, float, interval, counter …: whatever the algebra calculates with


class Algebra(Protocol):
    """The operations that are not operators."""

    def constant(self, value: float) -> Element:
        """Return a known number as an element."""

    def sine(self, x: Element) -> Element:
        """Return sin x."""

    def cosine(self, x: Element) -> Element:
        """Return cos x."""

    def sign(self, x: Element) -> Element:
        """Return -1, 0 or 1."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number known before the samples are: it folds with its like, and 0 and 1 cost nothing.

    This alone turns the general recurrence into one customised for a robot, and for the rows of
    zeros that the inertia matrix and gravity ask for.
    """

    value: float
    __array_ufunc__ = None  # numpy arrays leave mixed operations to this class

    def __add__(self, other: Element) -> Element:
        if isinstance(other, Constant):
            return Constant(self.value + other.value)
        return other if self.value == 0 else self.value + other

    __radd__ = __add__

    def __sub__(self, other: Element) -> Element:
        if isinstance(other, Constant):
            return Constant(self.value - other.value)
        return -other if self.value == 0 else self.value - other

    def __rsub__(self, other: Element) -> Element:
        return other if self.value == 0 else other - self.value

    def __mul__(self, other: Element) -> Element:
        if isinstance(other, Constant):
            return Constant(self.value * other.value)
        if self.value == 0:
            return Constant(0.0)
        if abs(self.value) == 1:
            return other if self.value == 1 else -other
        return self.value * other

    __rmul__ = __mul__

    def __neg__(self) -> Constant:
        return Constant(-self.value)


@dataclass(frozen=True, slots=True)
class Folding:
    """An algebra in which known numbers fold, over one that calculates with the rest."""

    inner: Algebra

    def constant(self, value: float) -> Constant:
        """Return a number that folds."""
        return Constant(float(value))

    def sine(self, x: Element) -> Element:
        """Fold sin of a known angle; multiples of a right angle are exact."""
        return Constant(exact_sine(x.value)) if isinstance(x, Constant) else self.inner.sine(x)

    def cosine(self, x: Element) -> Element:
        """Fold cos of a known angle; multiples of a right angle are exact."""
        return Constant(exact_cosine(x.value)) if isinstance(x, Constant) else self.inner.cosine(x)

    def sign(self, x: Element) -> Element:
        """Fold the sign of a known number."""
        if isinstance(x, Constant):
            return Constant(float((x.value > 0) - (x.value < 0)))
        return self.inner.sign(x)
