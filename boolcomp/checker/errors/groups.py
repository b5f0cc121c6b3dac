"""Groups of linear inputs: what they add to the heap less a·P, the worst of it for given angles.

A group sees the angles through words (a row for all that occur together) and through one exact
function a of them. Of a row the worst is convex in a, so that it lies below chords between points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.checker.errors.cells import AngleWord, Corners, sweep
from boolcomp.checker.errors.expand import slope
from boolcomp.checker.errors.loops import NEVER, below_chords, spread, worst_at
from boolcomp.checker.errors.parts import word_of
from boolcomp.checker.spans import NOTHING, ONE, Span
from boolcomp.checker.steps import NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.errors.apart import Apart, Atom
    from boolcomp.checker.errors.expand import Complex, Exponents, Poly, Series

    Words = NDArray[np.int64]

SAME = Fraction(1, 1 << 30)  # steps: what a part that follows no common series may make
LARGEST = 1000  # denominator of a ratio between waves
MOST_STATES, MOST_LOOKED_AT = 1 << 22, 1 << 33
POINTS = 9  # of a grid
KEPT = 32  # of what a group adds
ZERO: Complex = (NOTHING, NOTHING)


class Ends(NamedTuple):
    """A linear input: its word and the values of it, if any, and twice the ends of its cells."""

    word: int | None
    at: Words
    low: Words
    high: Words


@dataclass(frozen=True, slots=True)
class Common:
    """a·P: a series times a factor, and monomials of twice the inputs with theirs; what is left."""

    series: Series
    factor: Fraction
    monomials: Mapping[Exponents, int]
    left: Span


def common(poly: Poly, reach: Mapping[str, Span]) -> Common:
    """Return a polynomial as a·P."""

    def sized(powers: Exponents) -> tuple[int, Exponents, int]:
        listed = ((abs(c[i].low), key, i) for key, c in poly[powers].items() for i in (0, 1))
        return max(listed, default=(0, (), 0))

    main = max(poly, key=lambda powers: (sized(powers)[0], powers))
    series, (size, top, part) = poly[main], sized(main)
    degree = max(_degree(powers) for powers in poly)
    if not size:
        raise NotCoveredError("a group of inputs stands for nothing")
    ratios, total = {}, NOTHING
    for powers, other in poly.items():
        found = Fraction(other.get(top, ZERO)[part].low, series[top][part].low)
        ratio = found.limit_denominator(LARGEST)
        left: Series = {}
        for key in other.keys() | series.keys():
            (a, b), (c, d) = other.get(key, ZERO), series.get(key, ZERO)
            left[key] = a - c.times(ratio), b - d.times(ratio)
        beside = slope({powers: left}, "", 0, reach)
        if beside.size > SAME * ONE:
            raise NotCoveredError("a group of inputs has several functions of the angles")
        total = total + beside
        ratios[powers] = ratio * 2 ** (degree - _degree(powers))
    whole = math.lcm(*(ratio.denominator for ratio in ratios.values()))
    factors = {powers: int(ratio * whole) for powers, ratio in ratios.items() if ratio}
    return Common(series, Fraction(1, whole << degree), factors, total)


def _degree(powers: Exponents) -> int:
    return sum(k for _, k in powers)


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A group's largest errors at all cells of some angles, by corner and way (0 is up).

    They are at most `error` too low.
    """

    angles: Sequence[AngleWord]
    errors: Mapping[tuple[tuple[int, ...], int], Words]
    error: int

    def part(
        self, whole: Sequence[AngleWord], corner: Sequence[int], way: int, rows: slice
    ) -> Words:
        """Return them at a corner, at some rows of the first of all angles."""
        mine = [one in self.angles for one in whole]
        sides = tuple(side for side, own in zip(corner, mine, strict=True) if own)
        sizes = [len(one.at) if own else 1 for one, own in zip(whole, mine, strict=True)]
        grid = self.errors[sides, way].reshape(sizes)
        return grid[rows] if mine and mine[0] else grid


class Group:
    """A group: its atoms, a·P, and all states of its inputs."""

    def __init__(
        self, apart: Apart, atoms: Sequence[Atom], exact: Common, inputs: Mapping[str, Ends]
    ) -> None:
        if math.prod(len(one.low) for one in inputs.values()) > MOST_STATES:
            raise NotCoveredError("a group of inputs has too many states")
        self.apart, self.atoms, self.exact = apart, atoms, exact
        axes = np.meshgrid(*(np.arange(len(one.low)) for one in inputs.values()), indexing="ij")
        self.words, twice = {}, {}
        for (name, one), axis in zip(inputs.items(), axes, strict=True):
            place = axis.reshape(-1)
            twice[name] = one.low[place], one.high[place]
            if one.word is not None:
                self.words[one.word] = one.at[place]
        self.least, self.largest = _extremes(exact.monomials, twice)
        own, self.seen = apart.seen(atoms)
        self.nodes = [k for k in own if k not in self.words]
        self.kept: dict[tuple[int, ...], Words] = {}

    def put(self, words: Mapping[int, int]) -> Words:
        """Return what the group adds to the heap at all states, for words of angles."""
        key = tuple(words[k] >> drop for k, drop in self.seen.items())
        if key not in self.kept:
            if len(self.kept) >= KEPT:
                self.kept.clear()
            found = {**self.words, **{k: np.full(1, words[k], np.int64) for k in self.seen}}
            for k in self.nodes:
                found[k] = word_of(self.apart.graph, k, found)
            total = self.apart.put(self.atoms, found)
            self.kept[key] = np.broadcast_to(total, self.least.shape).copy()
        return self.kept[key]

    def profile(self, angles: Sequence[AngleWord], scale: int, shift: int) -> Profile:
        """Return the largest errors both ways at all cells of what the group sees."""
        nodes, graph = self.apart.needed(self.seen), self.apart.graph
        names = {name for turned in self.exact.series for name, _ in turned}
        angles = [one for one in angles if one.word in nodes or one.name in names]
        words, count = sweep(graph, angles, nodes), math.prod(len(one.at) for one in angles)
        packed, bits = np.zeros(count, np.int64), 0
        for k, drop in self.seen.items():
            bits += graph.nodes[k].bits - drop
            packed = packed << (graph.nodes[k].bits - drop) | words[k] >> drop
        _, cells, which = np.unique(packed, return_index=True, return_inverse=True)
        if bits > 62 or len(cells) * len(self.least) > MOST_LOOKED_AT:
            raise NotCoveredError("a group of inputs sees too many words of angles")
        series, values = Corners(self.exact.series, self.exact.factor, angles, scale), {}
        first, last = np.full(len(cells), -NEVER), np.full(len(cells), NEVER)
        for corner in product((0, 1), repeat=len(angles)):
            values[corner] = np.broadcast_to(series.at(words, corner), count).copy()
            spread(which, values[corner], first, last)
        step = np.maximum(1, -(-(last - first) // (POINTS - 1)))
        ends = np.empty((2, len(cells), POINTS), np.int64)
        for row, cell in enumerate(cells):
            put = self.put({k: int(np.broadcast_to(words[k], count)[cell]) for k in self.seen})
            grid = first[row] + step[row] * np.arange(POINTS)
            worst_at(put, self.least, self.largest, grid, shift, ends[:, row])
        errors = {}
        for (corner, a), way in product(values.items(), (0, 1)):
            errors[corner, way] = np.empty(count, np.int64)
            below_chords(errors[corner, way], which, a, first, step, ends[way])
        size = max(int(np.abs(self.least).max()), int(np.abs(self.largest).max()))
        return Profile(angles, errors, series.error * size)


def _extremes(
    monomials: Mapping[Exponents, int], twice: Mapping[str, tuple[Words, Words]]
) -> tuple[Words, Words]:
    """Return the least and the largest P at the corners of cells."""
    names, found = sorted(twice), []
    for corner in product((0, 1), repeat=len(names)):
        at = {name: twice[name][side] for name, side in zip(names, corner, strict=True)}
        total = np.zeros(len(next(iter(twice.values()))[0]), np.int64)
        for powers, factor in monomials.items():
            value = np.full_like(total, factor)
            for name, k in powers:
                value = value * at[name] ** k
            total += value
        found.append(total)
    return np.minimum.reduce(found), np.maximum.reduce(found)
