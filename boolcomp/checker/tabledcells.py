"""Errors of tables over whole cells, and the largest sum of several that share inputs.

A term is looked at on a grid: between its corners it is what multilinear interpolation says but for
Σ h²/8 · sup|∂²f|, and the largest of sums of such functions is at a corner that all of them share.
So a *state* of an input is a cell of the grid and a side of it. Waves are balls, rounded once to
whole numbers of 2^-30; what every number errs by is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx, fmpq

from boolcomp.checker.spans import PLACES, of_ball
from boolcomp.checker.steps import NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.tabledterms import Part, Term

    Whole = NDArray[np.int64]
    Table = tuple[tuple[str, ...], Whole]

SHIFT = 30
BLOCK, MOST_STATES, MOST_TABLE = 1 << 20, 1 << 26, 1 << 22


@dataclass(frozen=True)
class Line:
    """An input: 2^bits cells divide its word's range, and it lies between `least` and `most`.

    Values that are no more than `tie` below a border may be taken for on it.
    """

    name: str
    low: Fraction
    width: Fraction
    bits: int
    least: Fraction
    most: Fraction
    wraps: bool
    tie: Fraction

    @property
    def cell(self) -> Fraction:
        """How wide a cell is."""
        return self.width / (1 << self.bits)

    @cached_property
    def reached(self) -> tuple[int, int]:
        """The first and the last cell in which the input may be."""
        top = (1 << self.bits) - 1
        if self.wraps:
            return 0, top
        first = (self.least - self.low) // self.cell
        last = (self.most + self.tie - self.low) // self.cell
        return min(max(int(first), 0), top), min(max(int(last), 0), top)

    @cached_property
    def places(self) -> tuple[Fraction, ...]:
        """The corners of all cells that are reached, as far as the input goes."""
        first, last = self.reached
        found = (self.low + self.cell * k for k in range(first, last + 2))
        return tuple(min(max(x, self.least), self.most) for x in found)

    @property
    def size(self) -> Fraction:
        """The largest size of a value; not 0."""
        return max(abs(self.least), abs(self.most)) or Fraction(1)

    @cached_property
    def states(self) -> tuple[Whole, Whole]:
        """Of every state the cell, and the place of its corner."""
        first, last = self.reached
        cells = np.repeat(np.arange(first, last + 1, dtype=np.int64), 2)
        return cells, cells - first + np.arange(len(cells)) % 2

    def shares(self) -> Whole:
        """Return places as shares of the size, a unit too low at most."""
        found = [(x / self.size * (1 << SHIFT)).__floor__() for x in self.places]
        return np.array(found, np.int64)

    def turned(self, k: int) -> tuple[Whole, Whole]:
        """Return cosines and sines of k times the places; they err by less than a unit."""
        cosines, sines = [], []
        with ctx.workprec(160):
            for x in self.places:
                angle = arb(fmpq(k * x.numerator, x.denominator))
                cosines.append(_below(angle.cos()))
                sines.append(_below(angle.sin()))
        return np.array(cosines, np.int64), np.array(sines, np.int64)


def _below(ball: arb) -> int:
    """Return a number in units: less than two too low, and never too high."""
    return int(of_ball(ball).low >> (PLACES - SHIFT))


@dataclass(frozen=True, slots=True)
class Grid:
    """The lines of some inputs; a table has `told` of them, in states or groups of 2^`groups`."""

    lines: Mapping[str, Line]
    told: frozenset[str]
    groups: Mapping[str, int]

    def extent(self, name: str) -> int:
        """Return how many groups of states an input has."""
        return -(-len(self.lines[name].states[0]) >> self.groups[name])


@dataclass(frozen=True, slots=True)
class Errors:
    """Of a table less its term: the largest and minus the smallest by groups of states, in units.

    Both are beside the truth by `slack` at most, which is rounded up. `ends` are the smallest and
    the largest of all.
    """

    high: Table
    low: Table
    slack: int
    ends: tuple[int, int]


def errors_of(
    term: Term, grid: Grid, index: Mapping[str, Whole], table: Whole, unit: Fraction
) -> Errors:
    """Return what entries, in units, err by: of every state `index` adds up to an entry's place.

    `index` gives the parts of a place in the table by cells of the grid.
    """
    names = term.names
    lines = [grid.lines[name] for name in names]
    shape = [len(line.states[0]) for line in lines]
    if prod(shape) > MOST_STATES:
        raise NotCoveredError(f"{term.name} has {prod(shape)} states")
    field = Field(term, lines, unit)
    rows = max(1, BLOCK // prod(shape[1:]))
    kept = tuple(name for name in names if name in grid.told)
    highs, lows, most, least = [], [], [], []
    for start in range(0, shape[0] if shape else 1, rows):
        at = [slice(start, start + rows), *(slice(None) for _ in shape[1:])][: len(shape)]
        place: Whole = np.zeros([1] * len(shape), np.int64)
        for axis, (name, line, part) in enumerate(zip(names, lines, at, strict=True)):
            cells = line.states[0][part] - line.reached[0]
            place = place + _along(index[name][cells], axis, len(shape))
        error = table[place] - field.at(
            [line.states[1][part] for line, part in zip(lines, at, strict=True)]
        )
        most.append(int(error.max()))
        least.append(int(error.min()))
        gone = tuple(axis for axis, name in enumerate(names) if name not in grid.told)
        highs.append(error.max(axis=gone))
        lows.append((-error).max(axis=gone))
    joined = names and names[0] in grid.told
    high, low = (
        np.concatenate(one) if joined else np.max(np.stack(one), axis=0) for one in (highs, lows)
    )
    slack = field.slack + _beside(term, lines, unit)
    ends = min(least) - slack, max(most) + slack
    return Errors(
        (kept, _grouped(high, kept, grid)), (kept, _grouped(low, kept, grid)), slack, ends
    )


def _grouped(values: Whole, names: Sequence[str], grid: Grid) -> Whole:
    for axis, name in enumerate(names):
        if step := grid.groups[name]:
            starts = np.arange(0, values.shape[axis], 1 << step)
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values


def _beside(term: Term, lines: Sequence[Line], unit: Fraction) -> int:
    """Return by how much a term may differ from what corners say: bends, and values on borders."""
    sizes = {line.name: line.size for line in lines}
    found = Fraction(0)
    for line in lines:
        found += term.bends(line.name, sizes) * line.cell**2 / 8
        found += term.slope(line.name, sizes) * 2 * line.tie
    return ceil(found / unit)


class Field:
    """A term at corners of cells, in units; values err by no more than `slack` units."""

    def __init__(self, term: Term, lines: Sequence[Line], unit: Fraction) -> None:
        self.lines, self.slack = lines, 0
        sizes = {line.name: line.size for line in lines}
        self.parts = [(part, *self._scaled(part, sizes, unit)) for part in term.parts]
        self.turned = {
            (name, k): line.turned(k)
            for line in lines
            for name in [line.name]
            for k in {part.multiples.get(name, 0) for part in term.parts} - {0}
        }
        self.shares = {
            line.name: line.shares()
            for line in lines
            if any(line.name in part.powers for part in term.parts)
        }
        for part, c, s in self.parts:
            error = 1
            for _ in part.multiples:
                error = 3 * (error + 2) // 2 + 3
            error += 3 * sum(part.powers.values())
            self.slack += ((abs(c) + abs(s)) * error >> SHIFT) + 5

    def _scaled(self, part: Part, sizes: Mapping[str, Fraction], unit: Fraction) -> tuple[int, int]:
        size = prod((sizes[name] ** k for name, k in part.powers.items()), start=Fraction(1))
        c, s = (round(one * size / unit) for one in (part.cosine, part.sine))
        if max(abs(c), abs(s)) >> (61 - SHIFT):
            raise NotCoveredError("a term is too large for numbers of 64 bits")
        return c, s

    def at(self, corners: Sequence[Whole]) -> Whole:
        """Return values at all combinations of corners, in units."""
        axes = len(corners)
        total: Whole = np.zeros([1] * axes, np.int64)
        for part, c, s in self.parts:
            cosine: Whole = np.full([1] * axes, 1 << SHIFT, np.int64)
            sine: Whole = np.zeros([1] * axes, np.int64)
            for axis, line in enumerate(self.lines):
                if k := part.multiples.get(line.name, 0):
                    a, b = (
                        _along(one[corners[axis]], axis, axes) for one in self.turned[line.name, k]
                    )
                    cosine, sine = (
                        (cosine * a - sine * b) >> SHIFT,
                        (cosine * b + sine * a) >> SHIFT,
                    )
            for axis, line in enumerate(self.lines):
                for _ in range(part.powers.get(line.name, 0)):
                    share = _along(self.shares[line.name][corners[axis]], axis, axes)
                    cosine, sine = cosine * share >> SHIFT, sine * share >> SHIFT
            total = total + (cosine * c >> SHIFT) + (sine * s >> SHIFT)
        return total


def _along(values: Whole, axis: int, axes: int) -> Whole:
    shape = [1] * axes
    shape[axis] = -1
    return values.reshape(shape)


def largest(tables: Sequence[Table], most: int = MOST_TABLE) -> int:
    """Return what the sum of tables never exceeds: one input after the other is maximised out.

    Where tables together would have more than `most` numbers, they take an input each for itself.
    """
    left, found = list(tables), 0
    while names := {name for scope, _ in left for name in scope}:
        extents = {n: size for scope, one in left for n, size in zip(scope, one.shape, strict=True)}

        def union(name: str, of: Sequence[Table], sizes: Mapping[str, int] = extents) -> int:
            return prod(sizes[n] for n in {n for scope, _ in of if name in scope for n in scope})

        name = min(sorted(names), key=lambda one: union(one, left))
        bucket = [one for one in left if name in one[0]]
        left = [one for one in left if name not in one[0]]
        while bucket:
            part = [bucket.pop()]
            for other in list(bucket):
                if union(name, [*part, other]) <= most:
                    bucket.remove(other)
                    part.append(other)
            scope = tuple(sorted({n for names, _ in part for n in names}))
            total = sum((_spread(one, scope) for one in part), np.zeros([1] * len(scope), np.int64))
            rest = tuple(n for n in scope if n != name)
            left.append((rest, total.max(axis=scope.index(name))))
    for _, one in left:
        found += int(one)
    return found


def _spread(table: Table, scope: Sequence[str]) -> Whole:
    """Return a table with axes for all of a scope; names of both are sorted."""
    names, values = table
    sizes = dict(zip(names, values.shape, strict=True))
    return values.reshape([sizes.get(name, 1) for name in scope])
