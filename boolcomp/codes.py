"""Words: a real number as one of 2^bits cells, in Gray or natural code.

Words are mid-rise: cell k of 2^bits stands for `low + (k + ½)·step`, step = (high - low)/2^bits,
so that the cells lie symmetrically about the centre and none of them is on it. In Gray code, cell
k and its mirror image then differ in the most significant bit only (the paper's rules c and d).
A coarse word is the leading bits of a finer one, in both codes. Values beyond the range saturate;
those of an angle over a whole turn wrap, for there 2π + x is x.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.common.errors import DataError, UsageError, listing, suggestion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.interval import Interval

CodeKind = Literal["gray", "natural"]
CODE_KINDS: tuple[CodeKind, ...] = get_args(CodeKind)
Rounding = Literal["nearest", "faithful"]
ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)
MOST_BITS = 32
TIE = 1e-9  # of a cell: a value this close below a border counts as on it, and goes up
MOST_TURNS = 1 << 20  # an angle farther off than this has no place in a turn worth the name


@dataclass(frozen=True, slots=True)
class Encoded:
    """Coded words, and how many values lay outside the range and were put on its end."""

    words: NDArray[np.uint32]
    saturated: int


@dataclass(frozen=True, slots=True)
class Code:
    """The word of one variable: its range, width and kind of code."""

    range: Interval
    bits: int
    kind: CodeKind = "gray"
    wraps: bool = False

    def __post_init__(self) -> None:
        if self.kind not in CODE_KINDS:
            hint = suggestion(self.kind, CODE_KINDS)
            raise UsageError(f"code {self.kind!r}{hint}: codes are {listing(CODE_KINDS)}")
        if not 1 <= self.bits <= MOST_BITS:
            raise UsageError(f"a word has 1 to {MOST_BITS} bits, not {self.bits}")

    @property
    def cells(self) -> int:
        """The number of cells, 2^bits."""
        return 1 << self.bits

    @property
    def step(self) -> float:
        """The width of a cell; what one least significant bit is worth."""
        return (self.range.high - self.range.low) / self.cells

    def prefix(self, bits: int) -> Code:
        """Return the coarser code whose words are the leading bits of this one's."""
        if bits > self.bits:
            raise UsageError(f"a prefix of {bits} bits does not fit in a word of {self.bits}")
        return replace(self, bits=bits)

    def cell(self, values: ArrayLike) -> tuple[NDArray[np.int64], int]:
        """Return the cell index of every value, and how many values were outside the range."""
        array = np.asarray(values, dtype=np.float64)
        if not np.isfinite(array).all():
            where = np.flatnonzero(~np.isfinite(array.ravel()))[0]
            raise DataError(f"value {array.ravel()[where]} at place {where} is not finite")
        if self.wraps:
            return self._wrapped(array), 0
        with np.errstate(over="ignore"):  # an infinity is outside too
            scaled = (array - self.range.low) / self.step
        outside = np.count_nonzero((scaled < -TIE) | (scaled > self.cells + TIE))
        index = np.floor(np.clip(scaled, 0, self.cells) + TIE).astype(np.int64)
        return np.minimum(index, self.cells - 1), int(outside)

    def _wrapped(self, array: NDArray[np.float64]) -> NDArray[np.int64]:
        far = self.too_far(array)
        if far.any():
            raise DataError(f"value {array[far].flat[0]} is more than {MOST_TURNS} turns away")
        scaled = (array - self.range.low) / self.step
        # Exact: the number of cells is a power of two.
        scaled = scaled - np.floor(scaled / self.cells) * self.cells
        return np.asarray(np.floor(scaled + TIE).astype(np.int64) & (self.cells - 1))

    def too_far(self, array: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell which values of a word that wraps are too many turns away to have a place in one."""
        limit = MOST_TURNS * (self.range.high - self.range.low)
        return np.asarray(np.abs(np.asarray(array, np.float64)) > limit)

    def encode(self, values: ArrayLike) -> Encoded:
        """Return the words of values; outside the range they saturate and are counted.

        NaN and infinities are a `DataError`.
        """
        index, saturated = self.cell(values)
        return Encoded(self.word(index), saturated)

    def neighbour_bits(self, values: ArrayLike) -> NDArray[np.uint32]:
        """Return, for every value, the bits in which the words of its two neighbours differ.

        A value lies between two cell centres; faithful rounding takes either. In Gray code their
        words differ in one bit. On a centre, or beyond the outermost one, there is no choice.
        """
        nearest, _ = self.cell(values)
        place = (np.asarray(values) - self.range.low) / self.step - 0.5 - nearest
        side = np.where(place > TIE, 1, np.where(place < -TIE, -1, 0))
        other = np.clip(nearest + side, 0, self.cells - 1)
        return self.word(nearest) ^ self.word(other)

    def decode(self, words: ArrayLike) -> NDArray[np.float64]:
        """Return the value at the centre of every word's cell."""
        return self.centre(self.index(words))

    def word(self, cells: ArrayLike) -> NDArray[np.uint32]:
        """Return the code words of cell indices."""
        index = np.asarray(cells).astype(np.uint32)
        return index ^ (index >> np.uint32(1)) if self.kind == "gray" else index

    def index(self, words: ArrayLike) -> NDArray[np.uint32]:
        """Return the cell indices of code words."""
        index = np.asarray(words).astype(np.uint32)
        if index.size and int(index.max()) >= self.cells:
            raise DataError(f"word {int(index.max())} does not fit in {self.bits} bits")
        if self.kind == "gray":
            for shift in (1, 2, 4, 8, 16):
                index = index ^ (index >> np.uint32(shift))
        return index

    def centre(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the values at the centres of cells."""
        return np.asarray(self.range.low + (np.asarray(cells, dtype=np.float64) + 0.5) * self.step)

    def __str__(self) -> str:
        return f"{self.kind} {self.bits} bits, {self.range}"
