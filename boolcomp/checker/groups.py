"""The heap of an output as groups of linear inputs, which are independent for given angles.

A group depends on the angles through words (a row per combination that occurs) and through exact
functions of them. The contribution of a group with one such function a is an integer, and its exact
value a·P with a polynomial P of its inputs. The largest error of a row is convex in a, so chords
between points bound it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from flint import arb, fmpq

from boolcomp.base.errors import DataError
from boolcomp.base.loops import njit
from boolcomp.checker.folder import NotCoveredError
from boolcomp.checker.graph import functions_read
from boolcomp.checker.plain import TIE, ClaimedLine, added, cells, maximum, word_of
from boolcomp.checker.problem import (
    ClaimedAngle,
    ClaimedCurve,
    ClaimedExpansion,
    ClaimedInput,
    ClaimedTotal,
    Functions,
)
from boolcomp.checker.robot import Variable, number, precise
from boolcomp.checker.spans import (
    NOTHING,
    ONE,
    PLACES,
    IntegerSpan,
    between,
    exactly,
    of_ball,
    two_pi,
    waves_at,
)
from boolcomp.words.graph import Bits, Heap, part_reads, reads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.graph import Claim
    from boolcomp.checker.plain import PlainBound
    from boolcomp.checker.robot import ClaimedWaveSum
    from boolcomp.words.graph import HeapPart, WordGraph

    Words = NDArray[np.int64]
    Whole = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# The heap of an output, split into the contributions of groups of linear inputs and of the angles.
#
# A sum within the heap is split as well if several groups contribute to it; its dropped bits are
# then unknown.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WeightedPart:
    """A part of a heap, times a weight in steps of the output's heap, and the path of its addend.

    A path has the number of an addend, and those of the addends of sums within it.
    """

    part: HeapPart
    weight: Fraction
    path: tuple[int, ...]


class ExactAddend(NamedTuple):
    """factor · product of functions."""

    factor: Fraction
    read: tuple[int, ...]


class SplitHeap:
    """Parts of a sum's heap by group (None: angles alone), constants, and unknown dropped bits.

    A step of the heap counts `weight`, the exact sum `factor`. `addends` has the exact addends by
    path, and `still` their constant.
    """

    def __init__(
        self,
        claim: Claim,
        place: int,
        groups: Sequence[Sequence[str]],
        weight: Fraction = Fraction(1),
        factor: Fraction = Fraction(1),
    ) -> None:
        self.claim, self.graph = claim, claim.graph
        self.group_of = {name: k for k, names in enumerate(groups) for name in names}
        self.inputs = _linear_inputs(claim)
        self.atoms: dict[int | None, list[WeightedPart]] = {}
        self.addends: dict[tuple[int, ...], ExactAddend] = {}
        self.constant, self.still, self.lost = Fraction(0), Fraction(0), NOTHING
        self._take(place, weight, factor, ())
        self.fine = math.lcm(1, *(atom.weight.denominator for atom in self.all)).bit_length() - 1

    @property
    def all(self) -> list[WeightedPart]:
        return [atom for atoms in self.atoms.values() for atom in atoms]

    @property
    def size(self) -> Fraction:
        """Bound the sum of all parts in absolute value."""
        found = (abs(one.weight) * maximum(self.graph, one.part) for one in self.all)
        return sum(found, Fraction(0)) + abs(self.constant)

    @property
    def whole(self) -> bool:
        return self.lost == NOTHING and not self.fine and self.constant.denominator == 1

    def group(self, names: Collection[str]) -> int | None:
        """Return the group to which linear inputs belong; None if there are none."""
        groups = {self.group_of.get(name, -1) for name in names}
        if len(groups) > 1 or -1 in groups:
            raise NotCoveredError("several groups of inputs are multiplied")
        return groups.pop() if groups else None

    def _take(self, place: int, weight: Fraction, factor: Fraction, path: tuple[int, ...]) -> None:
        function, stands = self.claim.functions[place], self.claim.places[place]
        heap = self.graph.nodes[stands.words[0]] if stands.words else None
        if not isinstance(function, ClaimedTotal) or not isinstance(heap, Heap) or heap.wraps:
            raise NotCoveredError("an output is no sum, or its sum wraps")
        self.constant += weight * heap.constant
        self.still += factor * Fraction(function.constant)
        for k, (times, read) in enumerate(function.addends):
            exact = ExactAddend(factor * Fraction(times), read)
            parts = [p for p, own in zip(heap.parts, stands.owners, strict=True) if own == k]
            if len(read) == 1 and any(map(self._several, parts)):
                self._split(parts, weight, exact, (*path, k))
                continue
            self.addends[*path, k] = exact
            for part in parts:
                names = self._names(part)
                self.atoms.setdefault(self.group(names), []).append(
                    WeightedPart(part, weight, (*path, k))
                )

    def _split(
        self,
        parts: Sequence[HeapPart],
        weight: Fraction,
        exact: ExactAddend,
        path: tuple[int, ...],
    ) -> None:
        """Add the addends of a sum within the sum."""
        total = Fraction(0)
        for part in parts:
            if not isinstance(part, Bits):
                raise NotCoveredError("several groups of inputs are multiplied")
            size = weight * Fraction(2) ** (part.column - part.drop)
            size = -size if part.negative else size
            gone = size * ((1 << part.drop) - 1)
            self.constant += weight * maximum(self.graph, part) * part.negative
            self.lost = self.lost - (between(0, gone) if gone > 0 else between(gone, 0))
            total += size
        self._take(exact.read[0], total, exact.factor, path)

    def _names(self, part: HeapPart) -> frozenset[str]:
        return frozenset[str]().union(*(self.inputs[k] for k in part_reads(part)))

    def _several(self, part: HeapPart) -> bool:
        return len({self.group_of.get(name) for name in self._names(part)}) > 1

    def put(self, atoms: Iterable[WeightedPart], words: Mapping[int, Words]) -> Words:
        """Return the sum of atoms, in 2^-fine steps of the heap."""
        total = np.zeros(1, np.int64)
        for one in atoms:
            total = total + int(one.weight * (1 << self.fine)) * added(self.graph, one.part, words)
        return total

    def needed(self, words: Iterable[int], given: int | None = None) -> list[int]:
        """Return words and all words that they depend on, in order, except for a `given` word."""
        waiting, found = list(words), set[int]()
        while waiting:
            k = waiting.pop()
            if k not in found and k != given:
                found.add(k)
                waiting += reads(self.graph.nodes[k])
        return sorted(found)

    def observed(
        self, atoms: Sequence[WeightedPart], given: int | None = None
    ) -> tuple[list[int], dict[int, int]]:
        """Return the words with linear inputs that atoms need, and the angle words that these read.

        The latter come with the number of lowest bits that are not read. A `given` word counts as a
        word of angles.
        """
        parts = [one.part for one in atoms]
        read = (k for part in parts for k in part_reads(part))
        own = [k for k in self.needed(read, given) if self.inputs[k]]
        nodes = [self.graph.nodes[k] for k in own]
        parts += [part for node in nodes if isinstance(node, Heap) for part in node.parts]
        drops: dict[int, int] = {}
        for part in parts:
            drop = [part.drop] if isinstance(part, Bits) else [part.drop_a, part.drop_b]
            for k, gone in zip(part_reads(part), drop, strict=True):
                drops[k] = min(drops.get(k, gone), gone)
        for node in nodes:
            if not isinstance(node, Heap):
                drops |= dict.fromkeys(reads(node), 0)
        return own, {k: gone for k, gone in sorted(drops.items()) if k not in own}


def _linear_inputs(claim: Claim) -> list[frozenset[str]]:
    """Return the linear inputs on which every word depends."""
    of = {
        place.words[0]: function.name
        for function, place in zip(claim.functions, claim.places, strict=True)
        if isinstance(function, ClaimedInput) and not function.angle and place.words
    }
    found: list[frozenset[str]] = []
    for k, node in enumerate(claim.graph.nodes):
        own = frozenset([of[k]]) if k in of else frozenset[str]()
        found.append(own.union(*(found[n] for n in reads(node))))
    return found


# --------------------------------------------------------------------------------------------------
# All cells of angles: words in them, and harmonics at their corners.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class AngleWord:
    """An angle: its word, the possible values of it, and 2^places cells in a turn."""

    name: str
    word: int
    at: Words
    places: int


def sweep(graph: WordGraph, angles: Sequence[AngleWord], nodes: Iterable[int]) -> dict[int, Words]:
    """Compute words at all cells of angles."""
    grid = np.meshgrid(*(one.at for one in angles), indexing="ij")
    words = {one.word: axis.reshape(-1) for one, axis in zip(angles, grid, strict=True)}
    for k in nodes:
        if k not in words:
            words[k] = word_of(graph, k, words)
    return words


class Corners:
    """A series times a factor at corners of cells, in 2^-scale: at most `error` too low."""

    def __init__(
        self, series: Series, factor: Fraction, angles: Sequence[AngleWord], scale: int
    ) -> None:
        self.places = max([3, *(one.places for one in angles)])
        gone = PLACES - self.places
        at = np.array([k << gone for k in range(1 << self.places)], object)
        self.tables: list[tuple[dict[str, int], Words]] = []
        self.error = 0
        for multiples, (a, b) in series.items():
            if multiples and multiples[0][1] < 0:
                continue  # covered by its conjugate, which counts twice
            times = factor * (2 if multiples else 1)
            if {name for name, _ in multiples} - {one.name for one in angles}:
                raise NotCoveredError("an angle has no word")
            found = waves_at([(1 if multiples else 0, a.times(times), b.times(times))], at)
            low = found.low >> (PLACES - scale)
            self.error += int(np.max((found.high >> (PLACES - scale)) + 1 - low))
            self.tables.append((dict(multiples), low.astype(np.int64)))

    def at(
        self, words: Mapping[int, Words], angles: Sequence[AngleWord], corner: Sequence[int]
    ) -> Words:
        """Return the values at a corner of every cell."""
        places = {
            one.name: ((words[one.word] + side) << (self.places - one.places))
            - (1 << self.places >> 1)
            for one, side in zip(angles, corner, strict=True)
        }
        total = np.zeros(max([1, *map(len, places.values())]), np.int64)
        for multiples, table in self.tables:
            index = sum((k * places[name] for name, k in multiples.items()), np.zeros(1, np.int64))
            total += table[index & ((1 << self.places) - 1)]
        return total


# --------------------------------------------------------------------------------------------------
# An output as a polynomial: monomials of linear inputs times sums of harmonics of the angles.
#
# A sum of harmonics is Σ c·exp(2πi Σ k·angle) with both conjugates. Angles count turns, linear
# inputs cells.
# --------------------------------------------------------------------------------------------------

Exponents: TypeAlias = tuple[tuple[str, int], ...]  # (input, exponent), sorted, without zeros
Complex: TypeAlias = tuple[IntegerSpan, IntegerSpan]
Series: TypeAlias = dict[Exponents, Complex]  # by multiples of angles
Poly: TypeAlias = dict[Exponents, Series]  # by powers of linear inputs

ZERO: Complex = (NOTHING, NOTHING)


class InCells(ClaimedExpansion):
    """The expansion of a sketch over inputs in units of their words; curves are not covered."""

    def given(self, node: ClaimedInput) -> ClaimedWaveSum | ClaimedAngle:
        return ClaimedAngle({node.name: 1}, arb(0)) if node.angle else self.space.value(node.name)

    def curve(self, node: ClaimedCurve) -> ClaimedWaveSum:
        raise NotCoveredError(f"an output depends on a curve of s{node.source}")

    def turning(self, found: ClaimedWaveSum, node: ClaimedTotal) -> ClaimedAngle:
        """Reject an angle that is a sum of numbers."""
        del found, node
        raise NotCoveredError("an output depends on an angle that is a sum of numbers")


class FunctionPolynomials:
    """All functions that a function depends on, as polynomials."""

    def __init__(self, claim: Claim, place: int) -> None:
        given = [one for one in claim.functions if isinstance(one, ClaimedInput)]
        self.space = Functions([Variable(one.name, one.angle, 0.0, 0.0) for one in given])
        nodes = {k: claim.functions[k] for k in claim.needed(place) if k != place}
        try:
            with precise():
                self.sums = InCells(nodes, {}, self.space).sums
        except DataError as error:  # too many terms
            raise NotCoveredError(str(error)) from error

    def of(self, addend: ExactAddend) -> Poly:
        """Expand factor · product of functions that are no angles."""
        total: Poly = {}
        try:
            with precise():
                found = number(arb(fmpq(addend.factor.numerator, addend.factor.denominator)))
                for k in addend.read:
                    found = found * self.sums[k]
        except DataError as error:
            raise NotCoveredError(str(error)) from error
        for key, c in found.parts.items():
            listed = sorted((one.angle, one.name, k) for one, k in self.space.exponents(key))
            powers = tuple((name, k) for angle, name, k in listed if not angle)
            turned = tuple((name, k) for angle, name, k in listed if angle)
            total.setdefault(powers, {})[turned] = of_ball(c.real), of_ball(c.imag)
        return total


def added_up(polys: Iterable[Poly]) -> Poly:
    """Add polynomials."""
    total: Poly = {}
    for poly in polys:
        for powers, series in poly.items():
            into = total.setdefault(powers, {})
            for key, (a, b) in series.items():
                c, d = into.get(key, ZERO)
                into[key] = a + c, b + d
    return total


def slope(
    poly: Mapping[Exponents, Series], name: str, times: int, reach: Mapping[str, IntegerSpan]
) -> IntegerSpan:
    """Bound a derivative of this order by an input, for all inputs within `reach`."""
    total = NOTHING
    for powers, series in poly.items():
        for multiples, (a, b) in series.items():
            size, degree_of = a.around + b.around, dict(powers).get(name, 0)
            k = abs(dict(multiples).get(name, 0))
            for one in range(times):
                size = size * (
                    two_pi().times(Fraction(k)) if k else exactly(max(0, degree_of - one))
                )
            for other, degree in powers:
                for _ in range(degree if other != name or k else max(0, degree - times)):
                    size = size * reach[other].around
            total = total + size.around
    return total


# --------------------------------------------------------------------------------------------------
# Compiled loops, in integers.
# --------------------------------------------------------------------------------------------------

NEVER = -(1 << 62)  # an error of no state
PARTS = 12  # bits of a fraction between two points


def steps(width: Words, points: int) -> Words:
    """Return the steps of grids of these widths, multiples of 2^PARTS."""
    return np.asarray(np.maximum(1, -(-width // (points - 1) >> PARTS)) << PARTS)


@njit(cache=True)
def spread(which: Whole, a: Whole, first: Whole, last: Whole) -> None:
    """Widen, for every row, the range of its values a."""
    for k in range(len(a)):
        first[which[k]] = min(first[which[k]], a[k])
        last[which[k]] = max(last[which[k]], a[k])


@njit(cache=True)
def largest_errors(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    put: Whole, least: Whole, largest: Whole, starts: Whole, grid: Whole, shift: int, ends: Whole
) -> None:
    """Maximise put - a·m and a·m - put over the states of every block, for every a of a grid.

    `ends` is (directions, blocks, grid); the states from `starts[b]` on belong to block b.
    """
    for j in range(len(grid)):
        for b in range(len(starts) - 1):
            up, down = ends[0, b, j], ends[1, b, j]
            for k in range(starts[b], starts[b + 1]):
                one, two = grid[j] * least[k], grid[j] * largest[k]
                here = put[k] << shift
                up, down = max(up, here - min(one, two)), max(down, max(one, two) - here)
            ends[0, b, j], ends[1, b, j] = up, down


@njit(cache=True)
def add_chords(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    total: Whole, which: Whole, a: Whole, first: Whole, step: Whole, ends: Whole, own: Whole
) -> None:
    """Add bounds of the largest errors at every a by chords; these errors are convex in a.

    `total` is (directions, cells, blocks), `ends` (directions, rows, own blocks, grid). `own` has
    the own block of every block.
    """
    for k in range(len(a)):
        row = which[k]
        offset = a[k] - first[row]
        place = min(offset // step[row], ends.shape[3] - 2)
        part = (offset - place * step[row]) // (step[row] >> PARTS)
        for way in range(2):
            for b in range(len(own)):
                one, two = ends[way, row, own[b], place], ends[way, row, own[b], place + 1]
                rise = ((two - one) >> PARTS) + 1
                total[way, k, b] += one + rise * part + max(0, rise)


@njit(cache=True)
def add_products(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    total: Whole, first: Whole, last: Whole, low: Whole, high: Whole, start: int, step: int,
    ends: Whole,
) -> None:  # fmt: skip
    """Add the largest errors of a product for words of classes first .. last, and their errors.

    They are convex in the word's error, so an end of its range low .. high has the largest. `total`
    is (directions, cells, blocks), `ends` (directions, first class, last class, grid).
    """
    for k in range(first.shape[0]):
        for b in range(first.shape[1]):
            one, two = first[k, b], last[k, b]
            for way in range(2):
                most = NEVER
                for offset in (low[k, b] - start, high[k, b] - start):
                    place = min(offset // step, ends.shape[3] - 2)
                    part = (offset - place * step) // (step >> PARTS)
                    here, there = ends[way, one, two, place], ends[way, one, two, place + 1]
                    rise = ((there - here) >> PARTS) + 1
                    most = max(most, here + rise * part + max(0, rise))
                total[way, k, b] += most


@njit(cache=True)
def by_remainder(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    put: Whole, least: Whole, largest: Whole, a: int, sign: int, shift: int, remainders: int
) -> Whole:
    """Return the largest signed error of states, by their remainder modulo a step."""
    found = np.full(remainders, NEVER, np.int64)
    for k in range(len(put)):
        error = sign * (put[k] << shift) + max(-sign * a * least[k], -sign * a * largest[k])
        place = put[k] & (remainders - 1)
        found[place] = max(found[place], error)
    return found


@njit(cache=True)
def combined(one: Whole, two: Whole) -> Whole:
    """Return the largest sums of two errors, by the remainder of both together."""
    remainders = len(one)
    found = np.full(remainders, NEVER, np.int64)
    for j in range(remainders):
        for k in range(remainders):
            if one[j] > NEVER and two[k] > NEVER:
                place = (j + k) & (remainders - 1)
                found[place] = max(found[place], one[j] + two[k])
    return found


# --------------------------------------------------------------------------------------------------
# Groups of linear inputs: the largest of their contribution minus a·P, for given angles.
#
# A group depends on the angles through words (a row per combination that occurs) and through one
# exact function a of the angles. The largest error of a row is convex in a, so chords between
# points bound it.
# --------------------------------------------------------------------------------------------------

SAME = Fraction(1, 1 << 30)  # steps: limit on a part that is not a multiple of the common series
LARGEST = 1000  # denominator of a ratio between series
POINTS = 9
KEPT = 32  # cached contributions of a group


class StateLimits(NamedTuple):
    """Limits on cells times corners, on states of a group, and on its states times its rows.

    `single` limits the states of a joint group that are evaluated in single cells, of all of them.
    """

    cells: int = 1 << 27
    states: int = 1 << 22
    rows: int = 1 << 33
    single: int = 1 << 22


class CellEnds(NamedTuple):
    """A linear input: its word and the values of it, if any, and twice the limits of its cells."""

    word: int | None
    at: Words
    low: Words
    high: Words


@dataclass(frozen=True, slots=True)
class Common:
    """a·P: a series, a factor, P as monomials of twice the inputs with coefficients; a rest."""

    series: Series
    factor: Fraction
    monomials: Mapping[Exponents, int]
    left: IntegerSpan


def common(poly: Poly, reach: Mapping[str, IntegerSpan]) -> Common:
    """Factor a polynomial as a·P plus a small rest."""

    def sized(powers: Exponents) -> tuple[int, Exponents, int]:
        listed = ((abs(c[i].low), key, i) for key, c in poly[powers].items() for i in (0, 1))
        return max(listed, default=(0, (), 0))

    main = max(poly, key=lambda powers: (sized(powers)[0], powers))
    series, (size, top, part) = poly[main], sized(main)
    degree = max(total_degree(powers) for powers in poly)
    if not size:
        raise NotCoveredError("a group of inputs has no terms")
    ratios, total = {}, NOTHING
    for powers, other in poly.items():
        found = Fraction(other.get(top, ZERO)[part].low, series[top][part].low)
        ratio = found.limit_denominator(LARGEST)
        left: Series = {}
        for key in other.keys() | series.keys():
            (a, b), (c, d) = other.get(key, ZERO), series.get(key, ZERO)
            left[key] = a - c.times(ratio), b - d.times(ratio)
        rest = slope({powers: left}, "", 0, reach)
        if rest.size > SAME * ONE:
            raise NotCoveredError("a group of inputs has several functions of the angles")
        total = total + rest
        ratios[powers] = ratio * 2 ** (degree - total_degree(powers))
    whole = math.lcm(*(ratio.denominator for ratio in ratios.values()))
    factors = {powers: int(ratio * whole) for powers, ratio in ratios.items() if ratio}
    return Common(series, Fraction(1, whole << degree), factors, total)


def total_degree(powers: Exponents) -> int:
    return sum(k for _, k in powers)


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Largest errors of a group at all cells of angles, by corner and direction (0 is up).

    They are at most `error` too low.
    """

    angles: Sequence[AngleWord]
    errors: Mapping[tuple[tuple[int, ...], int], Words]
    error: int

    def part(
        self, whole: Sequence[AngleWord], corner: Sequence[int], way: int, rows: slice
    ) -> Words:
        """Select errors at a corner, for some values of the first angle of `whole`."""
        sizes = [len(one.at) if one in self.angles else 1 for one in whole]
        grid = self.errors[own_corner(self.angles, whole, corner), way].reshape(sizes)
        return grid[rows] if whole and whole[0] in self.angles else grid


def own_corner(
    own: Sequence[AngleWord], whole: Sequence[AngleWord], corner: Sequence[int]
) -> tuple[int, ...]:
    """Return the corner of some of the angles."""
    return tuple(side for side, one in zip(corner, whole, strict=True) if one in own)


class WeightedGroup:
    """A group: its atoms, a·P, and all states of its inputs.

    A `given` word that its atoms read counts as a word of angles.
    """

    def __init__(
        self,
        split: SplitHeap,
        atoms: Sequence[WeightedPart],
        exact: Common,
        inputs: Mapping[str, CellEnds],
        limits: StateLimits,
        given: int | None = None,
    ) -> None:
        if math.prod(len(one.low) for one in inputs.values()) > limits.states:
            raise NotCoveredError("a group of inputs has too many states")
        self.split, self.atoms, self.exact, self.limits = split, atoms, exact, limits
        axes = np.meshgrid(*(np.arange(len(one.low)) for one in inputs.values()), indexing="ij")
        self.words, self.at, twice = {}, {}, {}
        for (name, one), axis in zip(inputs.items(), axes, strict=True):
            place = self.at[name] = axis.reshape(-1)
            twice[name] = one.low[place], one.high[place]
            if one.word is not None:
                self.words[one.word] = one.at[place]
        self.least, self.largest = _extremes(exact.monomials, twice)
        own, self.observed = split.observed(atoms, given)
        self.nodes = [k for k in own if k not in self.words]
        self.cache: dict[tuple[int, ...], Words] = {}

    @property
    def size(self) -> int:
        """The largest absolute value of P."""
        return max(int(np.abs(self.least).max()), int(np.abs(self.largest).max()))

    def put(self, words: Mapping[int, int]) -> Words:
        """Return the contribution to the heap in all states, for given words of angles."""
        key = tuple(words[k] >> drop for k, drop in self.observed.items())
        if key not in self.cache:
            if len(self.cache) >= KEPT:
                self.cache.clear()
            found = {**self.words, **{k: np.full(1, words[k], np.int64) for k in self.observed}}
            for k in self.nodes:
                found[k] = word_of(self.split.graph, k, found)
            total = self.split.put(self.atoms, found)
            self.cache[key] = np.broadcast_to(total, self.least.shape).copy()
        return self.cache[key]


def _extremes(
    monomials: Mapping[Exponents, int], twice: Mapping[str, tuple[Words, Words]]
) -> tuple[Words, Words]:
    """Return the least and the largest P over the corners of cells, in every state."""
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


class Blocks:
    """Blocks of the states of inputs that several groups share, up to a number of blocks."""

    def __init__(self, sizes: Mapping[str, int], most: int) -> None:
        self.sizes, self.parts = sizes, dict.fromkeys(sorted(sizes), 1)
        while self.count * 2 <= most:
            left = [name for name in self.parts if self.parts[name] * 2 <= sizes[name]]
            if not left:
                break
            self.parts[max(left, key=lambda name: sizes[name] / self.parts[name])] *= 2

    @property
    def count(self) -> int:
        return math.prod(self.parts.values())

    def of(self, group: WeightedGroup) -> tuple[Words, Words]:
        """Return the own block of every state of a group, and of every block."""
        block, own = np.zeros(len(group.least), np.int64), np.zeros(self.count, np.int64)
        axes = np.unravel_index(np.arange(self.count), list(self.parts.values()) or [1])
        for (name, parts), axis in zip(self.parts.items(), axes, strict=False):
            if name in group.at:
                block = block * parts + group.at[name] * parts // self.sizes[name]
                own = own * parts + axis
        return block, own


ALL = Blocks({}, 1)


class BlockErrors(NamedTuple):
    """Largest errors (directions, rows, own blocks, grid), and largest contributions up and down.

    `own` has the own block of every block.
    """

    ends: Words
    puts: Words
    own: Words


class GroupTable:
    """The rows of a group, and the range of a in each."""

    def __init__(
        self, group: WeightedGroup, angles: Sequence[AngleWord], scale: int, shift: int
    ) -> None:
        self.group, self.shift = group, shift
        self.series = Corners(group.exact.series, group.exact.factor, angles, scale)
        nodes, graph = group.split.needed(group.observed), group.split.graph
        names = {name for multiples in group.exact.series for name, _ in multiples}
        self.angles = [one for one in angles if one.word in nodes or one.name in names]
        self.error = self.series.error * group.size
        words = sweep(graph, self.angles, nodes)
        self.keys, cells, which = np.unique(
            self._packed(words), return_index=True, return_inverse=True
        )
        self.words = [
            {k: int(words[k][cell if len(words[k]) > 1 else 0]) for k in group.observed}
            for cell in cells
        ]
        if len(cells) * len(group.least) > group.limits.rows:
            raise NotCoveredError("a group of inputs depends on too many words of angles")
        count = math.prod(len(one.at) for one in self.angles)
        self.first, last = np.full(len(cells), -NEVER), np.full(len(cells), NEVER)
        which = np.broadcast_to(which, count)
        for corner in product((0, 1), repeat=len(self.angles)):
            spread(which, self.a(words, self.angles, corner, count), self.first, last)
        self.step = steps(last - self.first, POINTS)

    def _packed(self, words: Mapping[int, Words]) -> Words:
        """Return the words of angles that the group reads as one number for every cell."""
        graph, packed, bits = self.group.split.graph, np.zeros(1, np.int64), 0
        for k, drop in self.group.observed.items():
            bits += graph.nodes[k].bits - drop
            packed = packed << (graph.nodes[k].bits - drop) | words[k] >> drop
        if bits > 62:
            raise NotCoveredError("a group of inputs depends on too many words of angles")
        return packed

    def rows(self, words: Mapping[int, Words], count: int) -> Words:
        """Return the rows of many cells."""
        return np.broadcast_to(np.searchsorted(self.keys, self._packed(words)), count)

    def a(
        self,
        words: Mapping[int, Words],
        angles: Sequence[AngleWord],
        corner: Sequence[int],
        count: int,
    ) -> Words:
        """Return the exact function of the angles at a corner of cells."""
        return np.broadcast_to(self.series.at(words, angles, corner), count)

    def errors(self, blocks: Blocks = ALL) -> BlockErrors:
        """Compute the largest errors of all rows by block."""
        block, own = blocks.of(self.group)
        order, count = np.argsort(block, kind="stable"), int(own.max()) + 1
        starts = np.searchsorted(block[order], np.arange(count + 1))
        least, largest = self.group.least[order], self.group.largest[order]
        ends = np.full((2, len(self.words), count, POINTS), NEVER)
        puts = np.empty((2, len(self.words), count), np.int64)
        for row, words in enumerate(self.words):
            put = self.group.put(words)[order]
            grid = self.first[row] + self.step[row] * np.arange(POINTS)
            largest_errors(put, least, largest, starts, grid, self.shift, ends[:, row])
            puts[0, row] = np.maximum.reduceat(put, starts[:-1]) << self.shift
            puts[1, row] = -np.minimum.reduceat(put, starts[:-1]) << self.shift
        return BlockErrors(ends, puts, own)

    def profile(self) -> Profile:
        """Return the largest errors in both directions at all cells of the group's angles."""
        nodes = self.group.split.needed(self.group.observed)
        words, count = sweep(self.group.split.graph, self.angles, nodes), 1
        count = math.prod(len(one.at) for one in self.angles)
        rows, (ends, _, own), errors = self.rows(words, count), self.errors(), {}
        for corner in product((0, 1), repeat=len(self.angles)):
            total = np.zeros((2, count, 1), np.int64)
            a = self.a(words, self.angles, corner, count)
            add_chords(total, rows, a, self.first, self.step, ends, own)
            errors[corner, 0], errors[corner, 1] = total[0, :, 0], total[1, :, 0]
        return Profile(self.angles, errors, self.error)


# --------------------------------------------------------------------------------------------------
# Groups of an output, by its independent inputs.
# --------------------------------------------------------------------------------------------------


class Grouping:
    """The polynomials of an output's functions, and the cells of its inputs."""

    def __init__(self, plain: PlainBound, place: int, limits: StateLimits) -> None:
        self.plain, self.claim, self.place, self.limits = plain, plain.claim, place, limits
        self.places = {
            one.name: k
            for k, one in enumerate(self.claim.functions)
            if isinstance(one, ClaimedInput)
        }
        self.reach = {name: plain.seen[k].near.hull for name, k in self.places.items()}
        self.polynomials = FunctionPolynomials(self.claim, place)

    def cells(self, name: str) -> CellEnds:
        """Return the cells of a linear input, those of its word unless nothing reads the word."""
        place, given = self.places[name], self.claim.inputs[name]
        words, at = self.claim.places[place].words, self.plain.seen[place].at
        line = self.plain.seen[place].line
        if not words or at is None:
            line = ClaimedLine(Fraction(1 - given.cells, 2), Fraction(1))
            at, _ = cells(given, line, given.cells, line.step)
        step, start = 2 * line.step, 2 * line.start - line.step
        if given.exact or given.allowed.size > (Fraction(given.cells, 2) + step * TIE) * ONE:
            raise NotCoveredError(f"{name} may exceed its word, or is exact")
        if start.denominator != 1 or step.denominator != 1:
            raise NotCoveredError(f"the cells of {name} have no integer limits")
        lows = int(start) + int(step) * at
        return CellEnds(words[0] if words else None, at, lows, lows + int(step))

    def group(
        self,
        split: SplitHeap,
        atoms: Sequence[WeightedPart],
        exact: Common,
        names: Iterable[str] = (),
        given: int | None = None,
    ) -> WeightedGroup:
        """Return a group of the inputs of its atoms and of its exact value, and of further ones."""
        used = {name for powers in exact.monomials for name, _ in powers}.union(names)
        own, _ = split.observed(atoms, given)
        used = used.union(*(split.inputs[k] for k in own))
        inputs = {name: self.cells(name) for name in sorted(used)}
        return WeightedGroup(split, atoms, exact, inputs, self.limits, given)


class GroupAddends(NamedTuple):
    """The number of a group of linear inputs, its atoms, and the paths of its addends."""

    group: int
    atoms: list[WeightedPart]
    paths: list[tuple[int, ...]]


def grouped(split: SplitHeap, polys: Mapping[tuple[int, ...], Poly]) -> list[GroupAddends]:
    """Return the addends of every group of linear inputs."""
    paths: dict[int, list[tuple[int, ...]]] = {}
    for path, poly in polys.items():
        names = {name for powers in poly for name, _ in powers}
        own = {k for k, atoms in split.atoms.items() if any(one.path == path for one in atoms)}
        own |= {split.group(names)} if names else set()
        for k in own:
            if k is not None:
                paths.setdefault(k, []).append(path)
    return [GroupAddends(k, split.atoms.get(k, []), listed) for k, listed in paths.items()]


def groups_of(claim: Claim, place: int) -> list[tuple[str, ...]]:
    """Return the linear inputs of a sum in groups that are independent for given angles.

    There are none for a sum that is no polynomial (see `InCells`).
    """
    needed = [claim.functions[k] for k in claim.needed(place)]
    if any(isinstance(one, ClaimedCurve) or getattr(one, "turning", 0) for one in needed):
        return []
    inputs: list[frozenset[int]] = []
    for k, one in enumerate(claim.functions):
        if isinstance(one, ClaimedInput):
            inputs.append(frozenset() if one.angle else frozenset([k]))
            continue
        inputs.append(frozenset[int]().union(*(inputs[n] for n in functions_read(one))))
    names = [getattr(one, "name", "") for one in claim.functions]
    found = _components(_addends(claim, place, inputs))
    return [tuple(names[k] for k in sorted(own)) for own in found if own]


def _addends(claim: Claim, place: int, inputs: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Return the linear inputs of addends; sums of independent addends within a sum are split."""
    function = claim.functions[place]
    found = []
    for _, read in function.addends if isinstance(function, ClaimedTotal) else ():
        inner = claim.functions[read[0]]
        if len(read) == 1 and isinstance(inner, ClaimedTotal) and not inner.turning:
            own = [frozenset[int]().union(*(inputs[k] for k in one)) for _, one in inner.addends]
            if claim.places[read[0]].words and len(_components(own)) > 1:
                found += _addends(claim, read[0], inputs)
                continue
        found.append(frozenset[int]().union(*(inputs[k] for k in read)))
    return found


def _components(sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Join sets that have elements in common, and all empty sets."""
    found: list[frozenset[int]] = []
    for own in sets:
        same = [one for one in found if one & own or (not own and not one)]
        joined = own.union(*same)
        place = found.index(same[0]) if same else len(found)
        found = [one for one in found if one not in same]
        found.insert(place, joined)
    return found
