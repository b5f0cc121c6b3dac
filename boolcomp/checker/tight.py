"""The tight bound of an output, over all cells of its angles and all their corners.

    error = Σ over groups (contribution to the heap - a·P of its inputs) + contribution of angles

Given the cells of the angles, groups are independent of each other. Within a cell the error is
linear in every input up to a remainder, and is largest at a corner; all groups share the corner of
the angles. If the sum of the groups' largest errors exceeds the claim, the cell is checked again
with all states and the rounding of the output's word in each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from flint import arb

from boolcomp.base.errors import DataError
from boolcomp.base.loops import njit
from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.plain import TIE, added, maximum, word_of
from boolcomp.checker.problem import ClaimedAngle, ClaimedExpansion, ClaimedInput, Functions
from boolcomp.checker.robot import Variable, precise
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
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.graph import Claim
    from boolcomp.checker.plain import PlainBound
    from boolcomp.checker.problem import ClaimedCurve, ClaimedTotal
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
    """A part of a heap, times a weight in steps of the output's heap."""

    part: HeapPart
    weight: Fraction


class SplitHeap:
    """Parts of a heap by group (None: angles alone), their constant, and unknown dropped bits."""

    def __init__(self, claim: Claim, word: int, groups: Sequence[Sequence[str]]) -> None:
        self.graph = claim.graph
        self.group_of = {name: k for k, names in enumerate(groups) for name in names}
        self.inputs = _linear_inputs(claim)
        self.atoms: dict[int | None, list[WeightedPart]] = {}
        self.constant, self.lost = Fraction(0), NOTHING
        self._take(word, Fraction(1))
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

    def _take(self, word: int, weight: Fraction) -> None:
        heap = self.graph.nodes[word]
        if not isinstance(heap, Heap) or heap.wraps:
            raise NotCoveredError("an output is no sum, or its sum wraps")
        self.constant += weight * heap.constant
        for part in heap.parts:
            names = frozenset[str]().union(*(self.inputs[k] for k in part_reads(part)))
            several = len({self.group_of.get(name) for name in names}) > 1
            if not several or not isinstance(part, Bits):
                self.atoms.setdefault(self.group(names), []).append(WeightedPart(part, weight))
                continue
            size = weight * Fraction(2) ** (part.column - part.drop)
            size = -size if part.negative else size
            gone = size * ((1 << part.drop) - 1)
            self.constant += weight * maximum(self.graph, part) * part.negative
            self.lost = self.lost - (between(0, gone) if gone > 0 else between(gone, 0))
            self._take(part.node, size)

    def put(self, atoms: Iterable[WeightedPart], words: Mapping[int, Words]) -> Words:
        """Return the sum of atoms, in 2^-fine steps of the heap."""
        total = np.zeros(1, np.int64)
        for one in atoms:
            total = total + int(one.weight * (1 << self.fine)) * added(self.graph, one.part, words)
        return total

    def needed(self, words: Iterable[int]) -> list[int]:
        """Return words and all words that they depend on, in order."""
        waiting, found = list(words), set[int]()
        while waiting:
            k = waiting.pop()
            if k not in found:
                found.add(k)
                waiting += reads(self.graph.nodes[k])
        return sorted(found)

    def observed(self, atoms: Sequence[WeightedPart]) -> tuple[list[int], dict[int, int]]:
        """Return the words with linear inputs that atoms need, and the angle words that these read.

        The latter come with the number of lowest bits that are not read.
        """
        parts = [one.part for one in atoms]
        own = [
            k for k in self.needed(k for part in parts for k in part_reads(part)) if self.inputs[k]
        ]
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
        return own, {k: gone for k, gone in sorted(drops.items()) if not self.inputs[k]}


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
        self.angles, self.places = angles, max([3, *(one.places for one in angles)])
        gone = PLACES - self.places
        at = np.array([k << gone for k in range(1 << self.places)], object)
        self.tables: list[tuple[list[int], Words]] = []
        self.error = 0
        for multiples, (a, b) in series.items():
            if multiples and multiples[0][1] < 0:
                continue  # covered by its conjugate, which counts twice
            multiple, times = dict(multiples), factor * (2 if multiples else 1)
            if set(multiple) - {one.name for one in angles}:
                raise NotCoveredError("an angle has no word")
            found = waves_at([(1 if multiples else 0, a.times(times), b.times(times))], at)
            low = found.low >> (PLACES - scale)
            self.error += int(np.max((found.high >> (PLACES - scale)) + 1 - low))
            self.tables.append(
                ([multiple.get(one.name, 0) for one in angles], low.astype(np.int64))
            )

    def at(self, words: Mapping[int, Words], corner: Sequence[int]) -> Words:
        """Return the values at a corner of every cell."""
        places = [
            ((words[one.word] + side) << (self.places - one.places)) - (1 << self.places >> 1)
            for one, side in zip(self.angles, corner, strict=True)
        ]
        total = np.zeros(len(places[0]) if places else 1, np.int64)
        for multiples, table in self.tables:
            index = sum((k * at for k, at in zip(multiples, places, strict=True) if k), 0)
            total += table[np.asarray(index) & ((1 << self.places) - 1)]
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


def expanded(claim: Claim, place: int) -> Poly:
    """Expand a function that is not an angle to a polynomial."""
    given = [one for one in claim.functions if isinstance(one, ClaimedInput)]
    space = Functions([Variable(one.name, one.angle, 0.0, 0.0) for one in given])
    total: Poly = {}
    try:
        with precise():
            nodes = {k: claim.functions[k] for k in claim.needed(place)}
            for key, c in InCells(nodes, {}, space).sums[place].parts.items():
                listed = sorted((one.angle, one.name, k) for one, k in space.exponents(key))
                powers = tuple((name, k) for angle, name, k in listed if not angle)
                turned = tuple((name, k) for angle, name, k in listed if angle)
                total.setdefault(powers, {})[turned] = of_ball(c.real), of_ball(c.imag)
    except DataError as error:  # too many terms
        raise NotCoveredError(str(error)) from error
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


@njit(cache=True)
def spread(which: Whole, a: Whole, first: Whole, last: Whole) -> None:
    """Widen, for every row, the range of its values a."""
    for k in range(len(a)):
        first[which[k]] = min(first[which[k]], a[k])
        last[which[k]] = max(last[which[k]], a[k])


@njit(cache=True)
def largest_errors(
    put: Whole, least: Whole, largest: Whole, grid: Whole, shift: int, ends: Whole
) -> None:
    """Maximise put - a·m and a·m - put over all states, for every a of a grid."""
    for j in range(len(grid)):
        up = down = NEVER
        for k in range(len(put)):
            one, two = grid[j] * least[k], grid[j] * largest[k]
            here = put[k] << shift
            up, down = max(up, here - min(one, two)), max(down, max(one, two) - here)
        ends[0, j], ends[1, j] = up, down


@njit(cache=True)
def below_chords(
    total: Whole, which: Whole, a: Whole, first: Whole, step: Whole, ends: Whole
) -> None:
    """Bound the largest error at every a by chords; it is convex in a."""
    for k in range(len(a)):
        row = which[k]
        offset = a[k] - first[row]
        place = min(offset // step[row], ends.shape[1] - 2)
        part = ((offset - place * step[row]) << PARTS) // step[row]
        one, two = ends[row, place], ends[row, place + 1]
        there = one + (((two - one) >> PARTS) + 1) * part
        after = one + (((two - one) >> PARTS) + 1) * (part + 1)
        total[k] = max(there, after)


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
MOST_STATES, MOST_LOOKED_AT = 1 << 22, 1 << 33
POINTS = 9  # of a grid of values a
KEPT = 32  # cached contributions of a group
ZERO: Complex = (NOTHING, NOTHING)


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
    degree = max(_degree(powers) for powers in poly)
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
        ratios[powers] = ratio * 2 ** (degree - _degree(powers))
    whole = math.lcm(*(ratio.denominator for ratio in ratios.values()))
    factors = {powers: int(ratio * whole) for powers, ratio in ratios.items() if ratio}
    return Common(series, Fraction(1, whole << degree), factors, total)


def _degree(powers: Exponents) -> int:
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
        mine = [one in self.angles for one in whole]
        sides = tuple(side for side, own in zip(corner, mine, strict=True) if own)
        sizes = [len(one.at) if own else 1 for one, own in zip(whole, mine, strict=True)]
        grid = self.errors[sides, way].reshape(sizes)
        return grid[rows] if mine and mine[0] else grid


class WeightedGroup:
    """A group: its atoms, a·P, and all states of its inputs."""

    def __init__(
        self,
        split: SplitHeap,
        atoms: Sequence[WeightedPart],
        exact: Common,
        inputs: Mapping[str, CellEnds],
    ) -> None:
        if math.prod(len(one.low) for one in inputs.values()) > MOST_STATES:
            raise NotCoveredError("a group of inputs has too many states")
        self.split, self.atoms, self.exact = split, atoms, exact
        axes = np.meshgrid(*(np.arange(len(one.low)) for one in inputs.values()), indexing="ij")
        self.words, twice = {}, {}
        for (name, one), axis in zip(inputs.items(), axes, strict=True):
            place = axis.reshape(-1)
            twice[name] = one.low[place], one.high[place]
            if one.word is not None:
                self.words[one.word] = one.at[place]
        self.least, self.largest = _extremes(exact.monomials, twice)
        own, self.observed = split.observed(atoms)
        self.nodes = [k for k in own if k not in self.words]
        self.cache: dict[tuple[int, ...], Words] = {}

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

    def profile(self, angles: Sequence[AngleWord], scale: int, shift: int) -> Profile:
        """Compute the largest errors in both directions at all cells of the group's angles."""
        nodes, graph = self.split.needed(self.observed), self.split.graph
        names = {name for multiples in self.exact.series for name, _ in multiples}
        angles = [one for one in angles if one.word in nodes or one.name in names]
        words, count = sweep(graph, angles, nodes), math.prod(len(one.at) for one in angles)
        packed, bits = np.zeros(count, np.int64), 0
        for k, drop in self.observed.items():
            bits += graph.nodes[k].bits - drop
            packed = packed << (graph.nodes[k].bits - drop) | words[k] >> drop
        _, cells, which = np.unique(packed, return_index=True, return_inverse=True)
        if bits > 62 or len(cells) * len(self.least) > MOST_LOOKED_AT:
            raise NotCoveredError("a group of inputs depends on too many words of angles")
        series, values = Corners(self.exact.series, self.exact.factor, angles, scale), {}
        first, last = np.full(len(cells), -NEVER), np.full(len(cells), NEVER)
        for corner in product((0, 1), repeat=len(angles)):
            values[corner] = np.broadcast_to(series.at(words, corner), count).copy()
            spread(which, values[corner], first, last)
        step = np.maximum(1, -(-(last - first) // (POINTS - 1)))
        ends = np.empty((2, len(cells), POINTS), np.int64)
        for row, cell in enumerate(cells):
            put = self.put({k: int(np.broadcast_to(words[k], count)[cell]) for k in self.observed})
            grid = first[row] + step[row] * np.arange(POINTS)
            largest_errors(put, self.least, self.largest, grid, shift, ends[:, row])
        errors = {}
        for (corner, a), way in product(values.items(), (0, 1)):
            errors[corner, way] = np.empty(count, np.int64)
            below_chords(errors[corner, way], which, a, first, step, ends[way])
        size = max(int(np.abs(self.least).max()), int(np.abs(self.largest).max()))
        return Profile(angles, errors, series.error * size)


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


# --------------------------------------------------------------------------------------------------
# The bound.
# --------------------------------------------------------------------------------------------------

BITS = 60  # of a sum
MOST_DROPPED, MOST_LEAVES = 12, 4000
MOST_CELLS = 1 << 27  # times corners
BLOCK = 1 << 18  # cells at a time


class WorstCell(NamedTuple):
    """The largest error in one direction, in steps, and the words of angles where it may occur."""

    error: Fraction
    cell: Mapping[int, int]


class WorstCells:
    """The cells and corners with the largest errors of all that are offered."""

    def __init__(self) -> None:
        self.errors, self.cells, self.sides = (np.zeros(0, np.int64) for _ in range(3))

    def offer(self, errors: Words, first: int, side: int) -> None:
        """Offer consecutive cells from `first` at a corner."""
        least = self.errors[-1] if len(self.errors) > MOST_LEAVES else NEVER
        if len(errors) > MOST_LEAVES:
            least = max(least, np.partition(errors, -MOST_LEAVES - 1)[-MOST_LEAVES - 1] - 1)
        places = np.flatnonzero(errors > least)
        errors = np.concatenate([self.errors, errors[places]])
        cells = np.concatenate([self.cells, first + places])
        sides = np.concatenate([self.sides, np.full(len(places), side)])
        order = np.lexsort((sides, cells, -errors))[: MOST_LEAVES + 1]
        self.errors, self.cells, self.sides = errors[order], cells[order], sides[order]

    def refined(self, leaf: Callable[[int, int], int], rounding: int) -> tuple[int, int]:
        """Return a bound of all errors, and its cell; `leaf` evaluates a single cell."""
        best, where = NEVER, 0
        for k, (error, cell, side) in enumerate(
            zip(self.errors.tolist(), self.cells.tolist(), self.sides.tolist(), strict=True)
        ):
            if error + rounding <= best:
                break
            found = error + rounding
            if k < MOST_LEAVES:
                found = min(found, leaf(cell, side))
            if found > best:
                best, where = found, cell
        return best, where


class Tight:
    """The claim about one output: its groups, its angles, and all terms independent of cells."""

    def __init__(self, plain: PlainBound, column: int, groups: Sequence[Sequence[str]]) -> None:
        self.plain, self.graph, self.claim = plain, plain.graph, plain.claim
        self.result, output = self.graph.results[column], self.claim.outputs[column]
        if output.rest is not None:
            raise NotCoveredError("an output is held at zero")
        self.moved = plain.moved(output, column)
        self.places = {
            one.name: k
            for k, one in enumerate(self.claim.functions)
            if isinstance(one, ClaimedInput)
        }
        self.reach = {name: plain.seen[k].near.hull for name, k in self.places.items()}
        self.split = SplitHeap(self.claim, self.result.node, groups)
        self.poly = expanded(self.claim, output.node)
        polys: dict[int | None, Poly] = {}
        for powers, series in self.poly.items():
            polys.setdefault(self.split.group([name for name, _ in powers]), {})[powers] = series
        if self.split.atoms.keys() - polys.keys() - {None}:
            raise NotCoveredError("a group of inputs has no terms")
        self.of_angles = polys.pop(None, {}).get((), {})
        used = {k for one in self.split.all for k in part_reads(one.part)}
        self.words = self.split.needed(used)
        self.angles, self.slack = self._angles(), self._remainder()
        self.groups = []
        for k, poly in polys.items():
            exact = common(poly, self.reach)
            self.slack = self.slack + exact.left
            inputs = {name: self._ends(name) for name in groups[k or 0]}
            self.groups.append(
                WeightedGroup(self.split, self.split.atoms.get(k, []), exact, inputs)
            )
        self.drop = self.result.drop
        size = (
            int(self.split.size / (1 << self.drop))
            + slope(self.poly, "", 0, self.reach).size // ONE
        )
        self.scale = BITS - (size + 4).bit_length()  # all sums fit in 64 bits
        self.shift = self.scale - self.drop - self.split.fine
        if self.drop + self.split.fine > MOST_DROPPED or self.shift < 0:
            raise NotCoveredError("an output drops too many bits")
        self.series = [
            Corners(one.exact.series, one.exact.factor, self.angles, self.scale)
            for one in self.groups
        ]

    def _ends(self, name: str) -> CellEnds:
        """Return the cells of a linear input, those of its word unless nothing reads the word."""
        place, given = self.places[name], self.claim.inputs[name]
        words, line = self.claim.places[place].words, self.plain.seen[place].line
        at = self.plain.seen[place].at
        step, start = Fraction(2), Fraction(-given.cells)
        if words:
            step, start = 2 * line.step, 2 * line.start - line.step
        if given.exact or given.allowed.size > (Fraction(given.cells, 2) + step * TIE) * ONE:
            raise NotCoveredError(f"{name} may exceed its word, or is exact")
        if start.denominator != 1 or step.denominator != 1:
            raise NotCoveredError(f"the cells of {name} have no integer limits")
        at = np.arange(given.cells) if at is None else at
        lows = int(start) + int(step) * at
        return CellEnds(words[0] if words else None, at, lows, lows + int(step))

    def _angles(self) -> list[AngleWord]:
        """Return the angles on which the output or its heap depends."""
        names = {name for series in self.poly.values() for key in series for name, _ in key}
        found = []
        for name, k in sorted(self.places.items()):
            function, given, seen = (
                self.claim.functions[k],
                self.claim.inputs[name],
                self.plain.seen[k],
            )
            if not isinstance(function, ClaimedInput) or not function.angle:
                continue
            if name not in names and seen.word not in self.words:
                continue
            low, high = (end + Fraction(1, 2) for end in given.allowed.ends)
            tolerance, end = TIE * seen.line.step, Fraction(1, 1 << given.part)
            inside = given.wraps or (-tolerance <= low and high <= end + tolerance)
            if seen.word is None or seen.at is None or given.exact or not inside:
                raise NotCoveredError(f"{name} may exceed its word, or is exact")
            places = self.graph.nodes[seen.word].bits + given.part
            found.append(AngleWord(name, seen.word, seen.at, places))
        if math.prod(len(one.at) * 2 for one in found) > MOST_CELLS:
            raise NotCoveredError("an output has too many cells of its angles")
        return found

    def _remainder(self) -> IntegerSpan:
        """Bound the deviation of the error inside cells from a linear function of their corners."""
        total = NOTHING
        for name, k in self.places.items():
            step = self.plain.seen[k].line.step  # 1 for words that are not read
            total = total + slope(self.poly, name, 2, self.reach).times(step * step / 8)
            total = total + slope(self.poly, name, 1, self.reach).times(step * TIE)
        return total.around

    def confirm(self, low: Fraction, high: Fraction) -> int:
        """Check a claim at all cells and corners; return their number."""
        if max(low, -high) > Fraction(-1, 2):  # a saturated word is up to half a step off
            raise NotCoveredError("the claim is below half a step")
        for sign, claimed, found in zip((1, -1), (high, -low), self.worst, strict=True):
            if found.error > claimed:
                where = ", ".join(f"w{k} = {value}" for k, value in found.cell.items())
                raise DoesNotHoldError(
                    f"{float(sign * claimed):.6f} is claimed, but {float(sign * found.error):.6f} "
                    f"confirmed where {where}"
                )
        return math.prod(len(one.at) * 2 for one in self.angles)

    @cached_property
    def worst(self) -> tuple[WorstCell, WorstCell]:
        """The largest error upward, and downward."""
        profiles = [group.profile(self.angles, self.scale, self.shift) for group in self.groups]
        of_angles = Corners(self.of_angles, Fraction(1), self.angles, self.scale)
        found = WorstCells(), WorstCells()
        for first, side, alone, rows in self._alone(of_angles):
            corner = self.corners[side]
            for way, cells in enumerate(found):
                total = -alone if way else alone
                for one in profiles:
                    total = total + one.part(self.angles, corner, way, rows)
                cells.offer(total.reshape(-1), first, side)
        error = of_angles.error + sum(one.error for one in profiles)
        up, down = (
            self._refined(cells, sign, error, of_angles)
            for cells, sign in zip(found, (1, -1), strict=True)
        )
        return up, down

    @property
    def corners(self) -> list[tuple[int, ...]]:
        return [*product((0, 1), repeat=len(self.angles))]

    def _alone(self, of_angles: Corners) -> Iterator[tuple[int, int, Words, slice]]:
        """Yield the error of terms of angles alone, for some values of the first angle.

        Each item has the number of its first cell, and that of the corner.
        """
        angles, sizes = self.angles, [len(one.at) for one in self.angles] or [1]
        atoms = self.split.atoms.get(None, [])
        nodes = self.split.needed(k for one in atoms for k in part_reads(one.part))
        others = math.prod(sizes[1:])
        chunk = max(1, BLOCK // others)
        for row in range(0, sizes[0], chunk):
            rows = slice(row, row + chunk)
            some = [replace(one, at=one.at[rows]) for one in angles[:1]] + angles[1:]
            shape = [len(one.at) for one in some]
            words = sweep(self.graph, some, nodes)
            put = self.split.put(atoms, words) << self.shift
            for side, corner in enumerate(self.corners):
                alone = put - of_angles.at(words, corner)
                alone = np.broadcast_to(alone, math.prod(shape)).reshape(shape)
                yield row * others, side, alone, rows

    def _refined(self, cells: WorstCells, sign: int, error: int, of_angles: Corners) -> WorstCell:
        """Return the largest error of all cells, with the rounding of each state in the worst."""
        rounding = (1 << self.scale >> 1) - (1 << self.scale >> (self.drop + 1))
        sizes = [len(one.at) for one in self.angles]

        def cell_of(place: int) -> dict[int, int]:
            at = np.unravel_index(place, sizes) if sizes else ()
            return {one.word: int(one.at[k]) for one, k in zip(self.angles, at, strict=True)}

        def leaf(place: int, side: int) -> int:
            return self._leaf(sign, cell_of(place), self.corners[side], of_angles, rounding)

        largest, place = cells.refined(leaf, rounding)
        found = Fraction(largest + error, 1 << self.scale) + self._fixed(sign)
        return WorstCell(found, cell_of(place))

    def _fixed(self, sign: int) -> Fraction:
        """Return the part of an error in one direction that does not depend on cells."""
        step = Fraction(1, 1 << self.drop)
        middle = Fraction((1 << self.graph.nodes[self.result.node].bits) - 1, 2)
        slack = self.slack + self.split.lost.times(step)
        fixed = sign * (step * (self.split.constant - middle) + self.moved)
        return fixed + Fraction((slack if sign > 0 else -slack).high, ONE)

    def _leaf(
        self,
        sign: int,
        cell: Mapping[int, int],
        corner: Sequence[int],
        of_angles: Corners,
        rounding: int,
    ) -> int:
        """Return the largest error in one cell, with the rounding of each state."""
        angles = [replace(one, at=np.full(1, cell[one.word])) for one in self.angles]
        nodes = [k for k in self.words if not self.split.inputs[k]]
        words = sweep(self.graph, angles, nodes)
        remainders = 1 << (self.drop + self.split.fine)
        put = self.split.put(self.split.atoms.get(None, []), words)
        total = np.full(remainders, NEVER, np.int64)
        total[int(put[0]) & (remainders - 1)] = int(
            (sign * ((put << self.shift) - of_angles.at(words, corner)))[0]
        )
        for group, series in zip(self.groups, self.series, strict=True):
            a = int(series.at(words, corner)[0])
            put = group.put({k: int(words[k][0]) for k in group.observed})
            mine = by_remainder(put, group.least, group.largest, a, sign, self.shift, remainders)
            total = combined(total, mine)
        if not self.split.whole:
            return int(total.max()) + rounding
        rest = (np.arange(remainders) + int(self.split.constant)) & (remainders - 1)
        rounded = (1 << self.scale >> 1) - (2 * rest + 1) * (1 << self.scale >> (self.drop + 1))
        return int(np.where(total > NEVER, total + sign * rounded, NEVER).max())
