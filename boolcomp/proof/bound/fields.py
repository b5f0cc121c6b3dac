"""What a term errs by, for every state that it shares with other terms.

Within a cell of all inputs a table's entry stands still, and its term is almost linear in every
input: the error is largest at a corner, but for the remainder Σ sup|∂²f/∂x²| h²/2 of half widths h.
Of cells only leading bits are shared; for all others, and for corners, each term takes its own
worst.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.inputs import TIE
from boolcomp.proof.tabled.entries import Entries, entries_of
from boolcomp.proof.tabled.fields import Field, function_of, on_grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.proof.tabled.fields import Function
    from boolcomp.proof.tabled.meaning import TabledTerm
    from boolcomp.proof.tabled.places import Line, Whole

CHUNK = 1 << 17  # numbers that are looked at at a time: they stay in a cache
NEVER = -(1 << 60)  # below any error


@dataclass(frozen=True, slots=True)
class Axis:
    """An input as a term sees it: cells of 2^-`bits`, of which `shared` leading bits are told."""

    name: str
    line: Line
    bits: int
    shared: int

    @property
    def told(self) -> bool:
        """Whether there is anything to be told."""
        return self.groups > 1

    @property
    def groups(self) -> int:
        """How many leading parts cells have."""
        first, last = self.line.cells(self.shared)
        return last - first + 1

    @property
    def cells(self) -> int:
        """How many cells there are."""
        first, last = self.line.cells(self.bits)
        return last - first + 1

    def group(self) -> Whole:
        """Return the group of every cell."""
        first, last = self.line.cells(self.bits)
        leading = np.arange(first, last + 1) >> (self.bits - self.shared)
        return np.asarray(leading - self.line.cells(self.shared)[0])


@dataclass(frozen=True, slots=True)
class Factor:
    """The worst error of a term in either direction, for every state of the inputs named.

    `high` is of what is added less the term, `low` of the term less that, in units.
    """

    names: tuple[str, ...]
    high: Whole
    low: Whole


@dataclass(frozen=True, slots=True)
class Measured:
    """A term's errors, and the most that entries and cells make of them, each alone, in units.

    `remainder` is in `factor` already.
    """

    factor: Factor
    tables: int
    inputs: int
    remainder: int


def remainders(function: Function, axes: Sequence[Axis]) -> list[Fraction]:
    """Return by how much a term may exceed the ends of its cells along every axis."""
    sizes = {axis.name: axis.line.size for axis in axes}
    found = []
    for axis in axes:
        curved = function.slope(axis.name).slope(axis.name).height(sizes)
        found.append(curved * (axis.line.step(axis.bits) / 2) ** 2 / 2)
    return found


def remainder(function: Function, axes: Sequence[Axis]) -> Fraction:
    """Return by how much a term may exceed the largest of the corners of its cells."""
    return sum(remainders(function, axes), Fraction(0))


def ties(function: Function, axes: Sequence[Axis]) -> Fraction:
    """Return what it may change where encoders take for the next cell what is next to it."""
    sizes = {axis.name: axis.line.size for axis in axes}
    return sum(
        (
            function.slope(axis.name).height(sizes)
            * max(TIE * axis.line.step(axis.line.fewest), TIE * axis.line.wraps)
            for axis in axes
        ),
        Fraction(0),
    )


def measured(term: TabledTerm, axes: Sequence[Axis], unit: Fraction, halves: int) -> Measured:
    """Return what a term errs by: all its entries beside it, at the corners of all cells.

    `halves` is how many units half a step has.
    """
    return _Term(term, tuple(axes), function_of(term.term), unit, halves).measured()


@dataclass(frozen=True, slots=True)
class _Block:
    """Some groups of the first axis, and what their errors are made of."""

    first: int
    high: Whole
    low: Whole
    tables: int
    inputs: int
    slack: int


@dataclass(frozen=True, slots=True)
class _Term:
    """A term with its function of inputs along axes."""

    term: TabledTerm
    axes: tuple[Axis, ...]
    function: Function
    unit: Fraction
    halves: int

    def measured(self) -> Measured:
        rest = up(remainder(self.function, self.axes) / self.unit)
        slack = rest + up(ties(self.function, self.axes) / self.unit)
        shape = [axis.groups for axis in self.axes]
        high, low = (np.full(shape, NEVER, np.int64) for _ in range(2))
        tables = inputs = error = 0
        for block in self._blocks():
            for whole, found in ((high, block.high), (low, block.low)):
                part = whole[block.first : block.first + len(found)] if self.axes else whole
                np.maximum(part, found, out=part)
            tables, inputs = max(tables, block.tables), max(inputs, block.inputs)
            error = max(error, block.slack)
        names = tuple(axis.name for axis in self.axes if axis.told)
        sizes, times = [n for n in shape if n > 1], self.term.times
        high, low = (times * (side.reshape(sizes) + slack + error) for side in (high, low))
        return Measured(
            Factor(names, high, low), times * tables, times * (inputs + slack + error), times * rest
        )

    def _blocks(self) -> Iterator[_Block]:
        """Yield errors, so many cells of the first axis at a time."""
        term = self.term
        if term.table is None:
            raise ValueError("a table that was not made has no entries")
        lines = [axis.line for axis in self.axes]
        entries = entries_of(term.table, term.code, term.words, lines)
        if not self.axes:
            yield self._constant(entries)
            return
        first, others = self.axes[0], self.axes[1:]
        for part in self.function.parts:
            if k := part.multiples.get(first.name, 0):  # once, before parts are taken
                first.line.borders(first.bits).turning(k)
                first.line.middles(term.words[0].code.bits).turning(k)
        rows = max(1, CHUNK // math.prod(axis.cells + 1 for axis in others))
        for start in range(0, first.cells, rows):
            yield self._block(entries, start, min(start + rows, first.cells))

    def _constant(self, entries: Entries) -> _Block:
        """Return the errors of a term that reads nothing."""
        field = on_grid(self.function, (), self.unit)
        value = int(field.values.reshape(()))
        low, high = (int(side) * self.halves for side in entries)
        most = max(abs(high - value), abs(low - value)) + field.slack
        return _Block(0, np.array(high - value), np.array(value - low), most, 0, field.slack)

    def _block(self, entries: Entries, start: int, stop: int) -> _Block:
        """Return the errors of some cells of the first axis."""
        points = [axis.line.borders(axis.bits) for axis in self.axes]
        points[0] = points[0].some(start, stop + 1)
        field = on_grid(self.function, points, self.unit)
        values = np.broadcast_to(field.values, [len(place.at) for place in points])
        least, most = corners(values, np.minimum), corners(values, np.maximum)
        said, middle = self._said(entries, start, stop)
        tables = _largest(said.high - middle.values, said.low - middle.values) + middle.slack
        at = np.ix_(
            *(
                _words_of(axis, word.code.bits, (0, axis.cells) if k else (start, stop))
                for k, (axis, word) in enumerate(zip(self.axes, self.term.words, strict=True))
            )
        )
        centre = middle.values[at]
        inputs = _largest(centre - least, centre - most) + middle.slack
        groups = [axis.group() for axis in self.axes]
        groups[0] = groups[0][start:stop]
        high, low = (grouped(side, groups) for side in (said.high[at] - least, most - said.low[at]))
        return _Block(int(groups[0][0]), high, low, tables, inputs, field.slack)

    def _said(self, entries: Entries, start: int, stop: int) -> tuple[Entries, Field]:
        """Return the entries of the words that some cells read, and the term at their middles."""
        words = self.term.words
        points = [a.line.middles(w.code.bits) for a, w in zip(self.axes, words, strict=True)]
        first, last = _words(self.axes[0], words[0].code.bits, start, stop)
        points[0] = points[0].some(first, last + 1)
        middle = on_grid(self.function, points, self.unit)
        some = entries.rows(first, last + 1)
        values = np.broadcast_to(middle.values, [len(place.at) for place in points])
        said = Entries(some.low * self.halves, some.high * self.halves)
        return said, Field(values, middle.slack)


def _words(axis: Axis, bits: int, start: int, stop: int) -> tuple[int, int]:
    """Return the first and the last word that some cells have, counted from the first there is."""
    base, down = axis.line.cells(axis.bits)[0], axis.bits - bits
    lowest = axis.line.cells(bits)[0]
    return ((base + start) >> down) - lowest, ((base + stop - 1) >> down) - lowest


def _words_of(axis: Axis, bits: int, rows: tuple[int, int]) -> Whole:
    """Return the word of every one of some cells, counted from that of the first."""
    base = axis.line.cells(axis.bits)[0]
    words = (base + np.arange(*rows)) >> (axis.bits - bits)
    return np.asarray(words - words[0])


def corners(values: Whole, worse: np.ufunc) -> Whole:
    """Return the worse of the values at the corners of every cell, of those at all borders."""
    for axis in range(values.ndim):
        before = (slice(None),) * axis
        values = worse(values[(*before, slice(None, -1))], values[(*before, slice(1, None))])
    return values


def grouped(values: Whole, groups: Sequence[Whole]) -> Whole:
    """Return the largest of every group of cells."""
    for axis, group in enumerate(groups):
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        if len(starts) < len(group):
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values


def _largest(*sides: Whole) -> int:
    return max(max(int(side.max()), -int(side.min())) for side in sides)


def up(value: Fraction) -> int:
    """Return the least whole number that is no smaller."""
    return -(-value.numerator // value.denominator)
