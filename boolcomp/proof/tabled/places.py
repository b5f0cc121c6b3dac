"""Where an input may be: the cells of its words, their borders, and waves and powers there.

Borders are exact numbers; of a range that ends within a cell the cell ends there. Cosines come from
balls and are rounded once, to whole numbers of 2^-SHIFT, and so are all other numbers: each errs by
no more than a `slack` of such units, which is counted through every product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.proof.bound.enclosure import PLACES, of_ball
from boolcomp.proof.bound.inputs import TIE
from boolcomp.proof.bound.waves import precise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Input

    Whole = NDArray[np.int64]

SHIFT = 30  # numbers of size one are whole numbers of 2^-30: products have 60 bits
UNIT = 1 << SHIFT


class Numbers(NamedTuple):
    """Numbers of size one, in units; each errs by no more than `slack` units."""

    values: Whole
    slack: int


class Turning(NamedTuple):
    """Cosines and sines of angles."""

    cosine: Numbers
    sine: Numbers


@dataclass(frozen=True)
class Points:
    """Places of an input, exact, with waves and powers of them; powers are of shares of `size`."""

    at: tuple[Fraction, ...]
    size: Fraction
    _turning: dict[int, Turning] = field(default_factory=dict)

    def turning(self, k: int) -> Turning:
        """Return the cosine and the sine of k times the places."""
        if k not in self._turning:
            self._turning[k] = _turned(self.at, k)
        return self._turning[k]

    @cached_property
    def shares(self) -> Numbers:
        """The places as shares of the size."""
        shares = (place / self.size for place in self.at)
        values = [(one.numerator << SHIFT) // one.denominator for one in shares]
        return Numbers(np.array(values, np.int64), 1)

    def some(self, start: int, stop: int) -> Points:
        """Return some of the places, with the waves that are known of all."""
        if (start, stop) == (0, len(self.at)):
            return self
        known = {k: _some(turn, start, stop) for k, turn in self._turning.items()}
        return Points(self.at[start:stop], self.size, known)


def _some(turn: Turning, start: int, stop: int) -> Turning:
    cosine, sine = (Numbers(one.values[start:stop], one.slack) for one in turn)
    return Turning(cosine, sine)


def _turned(places: tuple[Fraction, ...], k: int) -> Turning:
    from flint import fmpq  # noqa: PLC0415 (see `precise`)

    arb, down = precise(), PLACES - SHIFT
    cosines, sines = [], []
    for place in places:
        angle = arb(fmpq(k * place.numerator, place.denominator))
        sine, cosine = angle.sin_cos()
        cosines.append(of_ball(cosine).low >> down)
        sines.append(of_ball(sine).low >> down)
    first, second = (Numbers(np.array(one, np.int64), 2) for one in (cosines, sines))
    return Turning(first, second)


@dataclass(frozen=True)
class Line:
    """An input's cells: where its words begin, what they span, where the input may be.

    `fewest` bits has the coarsest word that is read of it: what its encoder takes for on a border
    is a share of such a cell.
    """

    low: Fraction
    width: Fraction
    allowed: tuple[Fraction, Fraction]
    wraps: bool
    fewest: int
    _points: dict[tuple[str, int], Points] = field(default_factory=dict)

    @property
    def size(self) -> Fraction:
        """The largest size of a value, or of a cell's middle."""
        ends = (self.low, self.low + self.width, *self.allowed)
        return max(abs(end) for end in ends)

    def step(self, bits: int) -> Fraction:
        """Return how wide cells are."""
        return self.width / (1 << bits)

    def cells(self, bits: int) -> tuple[int, int]:
        """Return the first and the last cell in which the input may lie."""
        most = (1 << bits) - 1
        if self.wraps:
            return 0, most
        beside, step = TIE * self.step(self.fewest), self.step(bits)
        low = (self.allowed[0] - self.low - beside) / step
        high = (self.allowed[1] - self.low + beside) / step
        first, last = low.numerator // low.denominator, high.numerator // high.denominator
        return min(max(first, 0), most), min(max(last, 0), most)

    def borders(self, bits: int) -> Points:
        """Return where cells begin, and where the last one ends; all lie within the range."""

        def inside() -> list[Fraction]:
            found = self._from_cells(bits, Fraction(0), 1)
            if self.wraps:
                return found
            least, most = self.allowed
            return [least, *(min(max(x, least), most) for x in found[1:-1]), most]

        return self._kept("borders", bits, inside)

    def whole(self, bits: int) -> Points:
        """Return where cells begin and the last one ends, wherever the range does."""
        return self._kept("whole", bits, lambda: self._from_cells(bits, Fraction(0), 1))

    def middles(self, bits: int) -> Points:
        """Return the middles of cells."""
        return self._kept("middles", bits, lambda: self._from_cells(bits, Fraction(1, 2), 0))

    def _from_cells(self, bits: int, within: Fraction, more: int) -> list[Fraction]:
        first, last = self.cells(bits)
        step = self.step(bits)
        return [self.low + step * (k + within) for k in range(first, last + 1 + more)]

    def _kept(self, what: str, bits: int, made: Callable[[], list[Fraction]]) -> Points:
        if (what, bits) not in self._points:
            self._points[what, bits] = Points(tuple(made()), self.size)
        return self._points[what, bits]


def line_of(variable: Input, fewest: int) -> Line:
    """Return an input's cells; one that wraps may be anywhere in its turn."""
    word, wraps = variable.word, variable.wraps
    allowed = word if wraps else variable.range
    low = Fraction(word.low)
    ends = Fraction(allowed.low), Fraction(allowed.high)
    return Line(low, Fraction(word.high) - low, ends, wraps, fewest)
