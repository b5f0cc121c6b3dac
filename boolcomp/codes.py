"""Words: a real number as one of 2^bits cells, in Gray, natural or a signed code.

Words are mid-rise: cell k of 2^bits represents `low + (k + ½)·step`, step = (high - low)/2^bits.
The cells are symmetric about the centre, and none of them is on it. In Gray code, cell k and its
mirror image differ in the most significant bit only (the paper's rules c and d). In Gray and
natural code, a coarse word is the leading bits of a finer one. Values beyond the range saturate;
angles over a whole turn wrap.

The cells of a mid-tread word (`tread`) are half a step lower: cell k represents exactly `centre +
(k - 2^(bits - 1))·step`, so that the centre is one of them. There is one step less above the centre
than below; the last cell includes the range's upper end. Two's complement is the natural word with
its first bit inverted. Sign-magnitude has 1 for a negative sign. A mid-rise cell and its mirror
image differ in the sign only. Mid-tread, there are two words for the centre (minus zero is accepted
but not produced) and none for the lowest cell, which saturates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.base.errors import DataError, UsageError, require_name
from boolcomp.problem.word_codes import CODE_KINDS, CODES, CodeKind, Step
from boolcomp.problem.words import Interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["CODE_KINDS", "Code", "CodeKind", "Encoded"]

Rounding = Literal["nearest", "faithful"]
ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)
MOST_BITS = 32
TIE = 1e-9  # of a cell: values this close below a border belong to the cell above
Answer = Literal["float64", "float32", "csv"]  # a value's type, or a text of nine digits
ROUNDING: dict[Answer, float] = {"float64": 2.0**-50, "float32": 2.0**-24, "csv": 5e-9}
MOST_TURNS = 1 << 20  # larger angles are too inexact to wrap


@dataclass(frozen=True, slots=True)
class Encoded:
    """Code words, and the number of values that were outside of the range and saturated."""

    words: NDArray[np.uint32]
    saturated: int


@dataclass(frozen=True, slots=True)
class Code:
    """The word of one variable: its range, width, kind of code, and zero."""

    range: Interval
    bits: int
    kind: CodeKind = "gray"
    wraps: bool = False
    tread: bool = False

    def __post_init__(self) -> None:
        require_name("code", self.kind, CODE_KINDS)
        if not 1 <= self.bits <= MOST_BITS:
            raise UsageError(f"a word has 1 to {MOST_BITS} bits, not {self.bits}")
        if self.tread and self.bits < 2:
            raise UsageError("a word with a cell at zero has two bits or more")
        if self.first and self.wraps:
            raise UsageError(
                f"a whole turn in {self.kind} with a cell at zero lacks half a turn",
                "take twos, or rise",
            )

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps from cells to words."""
        return CODES[self.kind].steps

    @property
    def low(self) -> float:
        """The lower end of the first cell."""
        return self.range.low - self.step / 2 if self.tread else self.range.low

    @property
    def high(self) -> float:
        """The upper end of the last cell."""
        return self.range.high - self.step / 2 if self.tread else self.range.high

    @property
    def maximum(self) -> float:
        """The upper end of the range, in steps above `low`."""
        return self.cells + self.tread / 2

    @property
    def first(self) -> int:
        """The first cell that has a word."""
        return int(self.tread and Step.MAGNITUDE in self.steps)

    @property
    def centred(self) -> tuple[float, float]:
        """The offsets (a, b) of a cell's centre, b + (cell + a)·step."""
        return (-self.cells / 2, self.range.centre) if self.tread else (0.5, self.range.low)

    @property
    def cells(self) -> int:
        """The number of cells, 2^bits."""
        return 1 << self.bits

    @property
    def step(self) -> float:
        """The width of a cell, one LSB."""
        return (self.range.high - self.range.low) / self.cells

    def prefix(self, bits: int) -> Code:
        """Return the coarser code whose words are the leading bits of this one's."""
        if bits > self.bits:
            raise UsageError(f"a prefix of {bits} bits does not fit in a word of {self.bits}")
        if not self.tread or bits == self.bits:
            return replace(self, bits=bits)
        if self.first:
            raise UsageError(f"leading bits of {self.kind} with a cell at zero are no word")
        below = Interval(self.low, self.low + self.range.width)
        return replace(self, range=below, bits=bits, tread=False)

    def cell(self, values: ArrayLike) -> tuple[NDArray[np.int64], int]:
        """Return the cell index of every value, and the number of values outside of the range."""
        array = np.asarray(values, dtype=np.float64)
        if not np.isfinite(array).all():
            where = np.flatnonzero(~np.isfinite(array.ravel()))[0]
            raise DataError(f"value {array.ravel()[where]} at place {where} is not finite")
        if self.wraps:
            return self._wrapped(array), 0
        with np.errstate(over="ignore"):  # an infinite quotient is outside, too
            scaled = (array - self.low) / self.step
        outside = np.count_nonzero((scaled < -TIE) | (scaled > self.maximum + TIE))
        index = np.floor(np.clip(scaled, 0, self.cells) + TIE).astype(np.int64)
        return np.clip(index, self.first, self.cells - 1), int(outside)

    def _wrapped(self, array: NDArray[np.float64]) -> NDArray[np.int64]:
        far = self.too_far(array)
        if far.any():
            raise DataError(f"value {array[far].flat[0]} is more than {MOST_TURNS} turns away")
        scaled = (array - self.low) / self.step
        # Exact: the number of cells is a power of two.
        scaled = scaled - np.floor(scaled / self.cells) * self.cells
        return np.asarray(np.floor(scaled + TIE).astype(np.int64) & (self.cells - 1))

    def too_far(self, array: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which values of a word that wraps are too large to wrap."""
        limit = MOST_TURNS * (self.range.high - self.range.low)
        return np.asarray(np.abs(np.asarray(array, np.float64)) > limit)

    def encode(self, values: ArrayLike) -> Encoded:
        """Return the words of values; values outside of the range saturate and are counted.

        NaN and infinities raise a `DataError`.
        """
        index, saturated = self.cell(values)
        return Encoded(self.word(index), saturated)

    def neighbour_bits(self, values: ArrayLike) -> NDArray[np.uint32]:
        """Return the bits in which the words of every value's two neighbouring cells differ.

        A value is between two cell centres; faithful rounding takes either. In Gray code their
        words differ in one bit. On a centre, or beyond the outermost one, there is no choice.
        """
        nearest, _ = self.cell(values)
        place = (np.asarray(values) - self.low) / self.step - 0.5 - nearest
        side = np.where(place > TIE, 1, np.where(place < -TIE, -1, 0))
        other = np.clip(nearest + side, self.first, self.cells - 1)
        return self.word(nearest) ^ self.word(other)

    def decode(self, words: ArrayLike) -> NDArray[np.float64]:
        """Return the value at the centre of every word's cell."""
        return self.centre(self.index(words))

    def word(self, cells: ArrayLike) -> NDArray[np.uint32]:
        """Return the code words of cell indices."""
        word = np.asarray(cells).astype(np.uint32)
        half = np.uint32(self.cells >> 1)
        for step in self.steps:
            if step is Step.FOLD:
                word = word ^ (word >> np.uint32(1))
            elif step is Step.FLIP:
                word = word ^ half
            else:
                below = half - np.uint32(not self.tread) - word  # the sizes of negative values
                below = half | np.minimum(below, half - np.uint32(1))
                word = np.where(word >= half, word - half, below)
        return word

    def index(self, words: ArrayLike) -> NDArray[np.uint32]:
        """Return the cell indices of code words."""
        index = np.asarray(words).astype(np.uint32)
        half = np.uint32(self.cells >> 1)
        if index.size and int(index.max()) >= self.cells:
            raise DataError(f"word {int(index.max())} does not fit in {self.bits} bits")
        for step in reversed(self.steps):
            if step is Step.FOLD:
                for shift in (1, 2, 4, 8, 16):
                    index = index ^ (index >> np.uint32(shift))
            elif step is Step.FLIP:
                index = index ^ half
            else:
                negative = half - np.uint32(not self.tread) - (index & (half - np.uint32(1)))
                index = np.where(index >= half, negative, index + half)
        return index

    def centre(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the values at the centres of cells."""
        offset, base = self.centred
        return np.asarray(base + (np.asarray(cells, dtype=np.float64) + offset) * self.step)

    def rounding(self, answer: Answer = "float64") -> float:
        """Return the largest distance of a decoded value from the middle of its cell.

        Doubles have the rounding error of three operations; a float32 is rounded from the double,
        and a text has nine significant digits.
        """
        parts = {ROUNDING["float64"], ROUNDING[answer]}
        return sum(sorted(parts)) * self.range.magnitude

    def __str__(self) -> str:
        zero = " with a cell at the centre" if self.tread else ""
        return f"{self.kind} {self.bits} bits, {self.range}{zero}"
