"""The tight bound of an output: all cells of its angles, at all corners.

    error = Σ over groups (what a group adds to the heap - a·P of its inputs) + what angles add

For given cells of the angles groups are independent of each other. Within a cell the error is
linear in every input but for a remainder, so that it is largest at a corner: of the angles' corners
all groups share one. Where the sum of the groups' worst is above what is claimed, the cell is
looked at once more: every state, and how the output's word is rounded there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numba
import numpy as np
from flint import arb

from boolcomp.base.errors import DataError
from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.plain import TIE, added, most, word_of
from boolcomp.checker.problem import Angle, Expansion, Functions, Given
from boolcomp.checker.robot import Variable, precise
from boolcomp.checker.spans import (
    NOTHING,
    ONE,
    PLACES,
    Span,
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
    from boolcomp.checker.plain import Plain
    from boolcomp.checker.problem import Curve, Total
    from boolcomp.checker.robot import Sum
    from boolcomp.words.graph import HeapPart, WordGraph

    Words = NDArray[np.int64]
    Whole = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# An output's heap taken apart: what every group of linear inputs adds to it, and angles alone.
#
# Sums within sums are taken apart where several groups make them; what their dropped bits say may
# then be anything.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of a heap, times a weight in steps of the output's heap."""

    part: HeapPart
    weight: Fraction


class Apart:
    """A heap as atoms by group (None: of angles alone), a constant, and bits that may be any."""

    def __init__(self, claim: Claim, word: int, groups: Sequence[Sequence[str]]) -> None:
        self.graph = claim.graph
        self.group_of = {name: k for k, names in enumerate(groups) for name in names}
        self.inputs = _linear_inputs(claim)
        self.atoms: dict[int | None, list[Atom]] = {}
        self.constant, self.lost = Fraction(0), NOTHING
        self._take(word, Fraction(1))
        self.fine = math.lcm(1, *(atom.weight.denominator for atom in self.all)).bit_length() - 1

    @property
    def all(self) -> list[Atom]:
        """All atoms."""
        return [atom for atoms in self.atoms.values() for atom in atoms]

    @property
    def size(self) -> Fraction:
        """What all that is added makes at most, either way."""
        found = (abs(one.weight) * most(self.graph, one.part) for one in self.all)
        return sum(found, Fraction(0)) + abs(self.constant)

    @property
    def whole(self) -> bool:
        """Whether the heap's word is known from what is added, to the last bit."""
        return self.lost == NOTHING and not self.fine and self.constant.denominator == 1

    def group(self, names: Collection[str]) -> int | None:
        """Return the one group of some linear inputs; None of none."""
        groups = {self.group_of.get(name, -1) for name in names}
        if len(groups) > 1 or -1 in groups:
            raise NotCoveredError("several groups of inputs are multiplied")
        return groups.pop() if groups else None

    def _take(self, word: int, weight: Fraction) -> None:
        heap = self.graph.nodes[word]
        if not isinstance(heap, Heap) or heap.wraps:
            raise NotCoveredError("an output is no plain sum")
        self.constant += weight * heap.constant
        for part in heap.parts:
            names = frozenset[str]().union(*(self.inputs[k] for k in part_reads(part)))
            several = len({self.group_of.get(name) for name in names}) > 1
            if not several or not isinstance(part, Bits):
                self.atoms.setdefault(self.group(names), []).append(Atom(part, weight))
                continue
            size = weight * Fraction(2) ** (part.column - part.drop)
            size = -size if part.negative else size
            gone = size * ((1 << part.drop) - 1)
            self.constant += weight * most(self.graph, part) * part.negative
            self.lost = self.lost - (between(0, gone) if gone > 0 else between(gone, 0))
            self._take(part.node, size)

    def put(self, atoms: Iterable[Atom], words: Mapping[int, Words]) -> Words:
        """Return what atoms add, in 2^-fine steps of the heap."""
        total = np.zeros(1, np.int64)
        for one in atoms:
            total = total + int(one.weight * (1 << self.fine)) * added(self.graph, one.part, words)
        return total

    def needed(self, words: Iterable[int]) -> list[int]:
        """Return words and all that they read, in their order."""
        waiting, found = list(words), set[int]()
        while waiting:
            k = waiting.pop()
            if k not in found:
                found.add(k)
                waiting += reads(self.graph.nodes[k])
        return sorted(found)

    def seen(self, atoms: Sequence[Atom]) -> tuple[list[int], dict[int, int]]:
        """Return words of linear inputs that atoms need, and the words of angles read by these.

        Of the latter, how many of their lowest bits nothing reads.
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
    """Return on which linear inputs every word depends."""
    of = {
        place.words[0]: function.name
        for function, place in zip(claim.functions, claim.places, strict=True)
        if isinstance(function, Given) and not function.angle and place.words
    }
    found: list[frozenset[str]] = []
    for k, node in enumerate(claim.graph.nodes):
        own = frozenset([of[k]]) if k in of else frozenset[str]()
        found.append(own.union(*(found[n] for n in reads(node))))
    return found


# --------------------------------------------------------------------------------------------------
# All cells of some angles: words there, and waves at their corners.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class AngleWord:
    """An angle: its word, the values that it may have, and 2^places cells in a turn."""

    name: str
    word: int
    at: Words
    places: int


def sweep(graph: WordGraph, angles: Sequence[AngleWord], nodes: Iterable[int]) -> dict[int, Words]:
    """Return words at all cells of some angles, side by side."""
    grid = np.meshgrid(*(one.at for one in angles), indexing="ij")
    words = {one.word: axis.reshape(-1) for one, axis in zip(angles, grid, strict=True)}
    for k in nodes:
        if k not in words:
            words[k] = word_of(graph, k, words)
    return words


class Corners:
    """A series times a number at corners of cells, in 2^-scale: at most `error` too low."""

    def __init__(
        self, series: Series, factor: Fraction, angles: Sequence[AngleWord], scale: int
    ) -> None:
        self.angles, self.places = angles, max([3, *(one.places for one in angles)])
        gone = PLACES - self.places
        at = np.array([k << gone for k in range(1 << self.places)], object)
        self.tables: list[tuple[list[int], Words]] = []
        self.error = 0
        for turned, (a, b) in series.items():
            if turned and turned[0][1] < 0:
                continue  # its conjugate counts twice
            often, times = dict(turned), factor * (2 if turned else 1)
            if set(often) - {one.name for one in angles}:
                raise NotCoveredError("an angle has no word")
            found = waves_at([(1 if turned else 0, a.times(times), b.times(times))], at)
            low = found.low >> (PLACES - scale)
            self.error += int(np.max((found.high >> (PLACES - scale)) + 1 - low))
            self.tables.append(([often.get(one.name, 0) for one in angles], low.astype(np.int64)))

    def at(self, words: Mapping[int, Words], corner: Sequence[int]) -> Words:
        """Return the values at a corner of every cell."""
        total, mask = np.zeros(1, np.int64), (1 << self.places) - 1
        for often, table in self.tables:
            index = np.zeros(1, np.int64)
            for one, side, k in zip(self.angles, corner, often, strict=True):
                place = (words[one.word] + side) << (self.places - one.places)
                index = index + k * (place - (1 << self.places >> 1))
            total = total + table[index & mask]
        return total


# --------------------------------------------------------------------------------------------------
# An output as a polynomial: monomials of linear inputs times waves of the angles.
#
# Waves are kept as Σ c·exp(2πi Σ k·angle), both conjugates. Angles count turns, other inputs cells.
# --------------------------------------------------------------------------------------------------


Exponents: TypeAlias = tuple[tuple[str, int], ...]  # (input, how often), sorted; none of 0
Complex: TypeAlias = tuple[Span, Span]
Series: TypeAlias = dict[Exponents, Complex]  # by multiples of angles
Poly: TypeAlias = dict[Exponents, Series]  # by powers of linear inputs


class InCells(Expansion):
    """The same as for the section `sketch`, of inputs as words count them; curves are refused."""

    def given(self, node: Given) -> Sum | Angle:
        """Return an input as its words count it."""
        return Angle({node.name: 1}, arb(0)) if node.angle else self.space.value(node.name)

    def curve(self, node: Curve) -> Sum:
        """Refuse a curve."""
        raise NotCoveredError(f"an output holds a curve of s{node.source}")

    def turning(self, found: Sum, node: Total) -> Angle:
        """Refuse a sum that counts parts of a turn."""
        del found, node
        raise NotCoveredError("an output holds an angle that is a sum of numbers")


def expanded(claim: Claim, place: int) -> Poly:
    """Return a function that is no angle as a polynomial."""
    given = [one for one in claim.functions if isinstance(one, Given)]
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
    except DataError as error:  # too large
        raise NotCoveredError(str(error)) from error
    return total


def slope(
    poly: Mapping[Exponents, Series], name: str, times: int, reach: Mapping[str, Span]
) -> Span:
    """Return what no derivative of this order by an input exceeds, where inputs are in reach."""
    total = NOTHING
    for powers, series in poly.items():
        for turned, (a, b) in series.items():
            size, often = a.around + b.around, dict(powers).get(name, 0)
            k = abs(dict(turned).get(name, 0))
            for one in range(times):
                size = size * (two_pi().times(Fraction(k)) if k else exactly(max(0, often - one)))
            for other, degree in powers:
                for _ in range(degree if other != name or k else max(0, degree - times)):
                    size = size * reach[other].around
            total = total + size.around
    return total


# --------------------------------------------------------------------------------------------------
# Compiled loops of tight bounds: all numbers are whole.
# --------------------------------------------------------------------------------------------------


Loop = TypeVar("Loop")


def compiled(loop: Loop) -> Loop:
    """Return a loop that runs compiled."""
    made: Any = numba.njit(loop)
    return made  # type: ignore[no-any-return]  # numba has no types


NEVER = -(1 << 62)  # of what does not occur


PARTS = 12  # bits of a place between two points


@compiled
def spread(which: Whole, a: Whole, first: Whole, last: Whole) -> None:
    """Widen, for every row, what its a may be."""
    for k in range(len(a)):
        first[which[k]] = min(first[which[k]], a[k])
        last[which[k]] = max(last[which[k]], a[k])


@compiled
def worst_at(
    put: Whole, least: Whole, largest: Whole, grid: Whole, shift: int, ends: Whole
) -> None:
    """Find, for every a of a grid, the largest of put - a·m, and of a·m - put, over all states."""
    for j in range(len(grid)):
        up = down = NEVER
        for k in range(len(put)):
            one, two = grid[j] * least[k], grid[j] * largest[k]
            here = put[k] << shift
            up, down = max(up, here - min(one, two)), max(down, max(one, two) - here)
        ends[0, j], ends[1, j] = up, down


@compiled
def below_chords(
    total: Whole, which: Whole, a: Whole, first: Whole, step: Whole, ends: Whole
) -> None:
    """Set the largest error at every a: it is convex, and so below the chord of its neighbours."""
    for k in range(len(a)):
        row = which[k]
        beside = a[k] - first[row]
        place = min(beside // step[row], ends.shape[1] - 2)
        part = ((beside - place * step[row]) << PARTS) // step[row]
        one, two = ends[row, place], ends[row, place + 1]
        there = one + (((two - one) >> PARTS) + 1) * part
        after = one + (((two - one) >> PARTS) + 1) * (part + 1)
        total[k] = max(there, after)


@compiled
def by_rest(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    put: Whole, least: Whole, largest: Whole, a: int, sign: int, shift: int, rests: int
) -> Whole:
    """Return the largest error of states in one direction, by what they leave of a step."""
    found = np.full(rests, NEVER, np.int64)
    for k in range(len(put)):
        error = sign * (put[k] << shift) + max(-sign * a * least[k], -sign * a * largest[k])
        found[put[k] & (rests - 1)] = max(found[put[k] & (rests - 1)], error)
    return found


@compiled
def together(one: Whole, two: Whole) -> Whole:
    """Return the largest sums of two errors, by what both leave of a step."""
    rests = len(one)
    found = np.full(rests, NEVER, np.int64)
    for j in range(rests):
        for k in range(rests):
            if one[j] > NEVER and two[k] > NEVER:
                place = (j + k) & (rests - 1)
                found[place] = max(found[place], one[j] + two[k])
    return found


# --------------------------------------------------------------------------------------------------
# Groups of linear inputs: what they add to the heap less a·P, the worst of it for given angles.
#
# A group sees the angles through words (a row for all that occur together) and through one exact
# function a of them. Of a row the worst is convex in a, so that it lies below chords between
# points.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# The tight bound of an output: all cells of its angles, at all corners.
# --------------------------------------------------------------------------------------------------


BITS = 60  # of all that is added
MOST_DROPPED, MOST_LEAVES = 12, 4000
MOST_CELLS = 1 << 27  # with their corners
BLOCK = 1 << 18  # cells at a time


class Tight:
    """One output: its groups, its angles, and what is the same everywhere."""

    def __init__(self, plain: Plain, column: int, groups: Sequence[Sequence[str]]) -> None:
        self.plain, self.graph, self.claim = plain, plain.graph, plain.claim
        self.result, output = self.graph.results[column], self.claim.outputs[column]
        if output.rest is not None:
            raise NotCoveredError("an output is held at zero")
        self.moved = plain.moved(output, column)
        self.places = {
            one.name: k for k, one in enumerate(self.claim.functions) if isinstance(one, Given)
        }
        self.reach = {name: plain.seen[k].near.hull for name, k in self.places.items()}
        self.apart = Apart(self.claim, self.result.node, groups)
        self.poly = expanded(self.claim, output.node)
        polys: dict[int | None, Poly] = {}
        for powers, series in self.poly.items():
            polys.setdefault(self.apart.group([name for name, _ in powers]), {})[powers] = series
        if self.apart.atoms.keys() - polys.keys() - {None}:
            raise NotCoveredError("a group of inputs stands for nothing")
        self.still = polys.pop(None, {}).get((), {})
        used = {k for one in self.apart.all for k in part_reads(one.part)}
        self.words = self.apart.needed(used)
        self.angles, self.slack = self._angles(), self._bent()
        self.groups = []
        for k, poly in polys.items():
            exact = common(poly, self.reach)
            self.slack = self.slack + exact.left
            inputs = {name: self._ends(name) for name in groups[k or 0]}
            self.groups.append(Group(self.apart, self.apart.atoms.get(k, []), exact, inputs))
        self.drop = self.result.drop
        size = (
            int(self.apart.size / (1 << self.drop))
            + slope(self.poly, "", 0, self.reach).size // ONE
        )
        self.scale = BITS - (size + 4).bit_length()  # all sums fit in 64 bits
        self.shift = self.scale - self.drop - self.apart.fine
        if self.drop + self.apart.fine > MOST_DROPPED or self.shift < 0:
            raise NotCoveredError("an output drops too many bits")
        self.series = [
            Corners(one.exact.series, one.exact.factor, self.angles, self.scale)
            for one in self.groups
        ]

    def _ends(self, name: str) -> Ends:
        """Return a linear input's cells; of one that nothing reads they are those of its word."""
        place, given = self.places[name], self.claim.inputs[name]
        words, line = self.claim.places[place].words, self.plain.seen[place].line
        at = self.plain.seen[place].at
        step, start = Fraction(2), Fraction(-given.cells)
        if words:
            step, start = 2 * line.step, 2 * line.start - line.step
        if given.exact or given.allowed.size > (Fraction(given.cells, 2) + step * TIE) * ONE:
            raise NotCoveredError(f"{name} may lie beyond its word, or is exact")
        if start.denominator != 1 or step.denominator != 1:
            raise NotCoveredError(f"{name} has no cells of whole units")
        at = np.arange(given.cells) if at is None else at
        lows = int(start) + int(step) * at
        return Ends(words[0] if words else None, at, lows, lows + int(step))

    def _angles(self) -> list[AngleWord]:
        """Return the angles that the output or its heap depends on."""
        names = {name for series in self.poly.values() for turned in series for name, _ in turned}
        found = []
        for name, k in sorted(self.places.items()):
            function, given, seen = (
                self.claim.functions[k],
                self.claim.inputs[name],
                self.plain.seen[k],
            )
            if not isinstance(function, Given) or not function.angle:
                continue
            if name not in names and seen.word not in self.words:
                continue
            low, high = (end + Fraction(1, 2) for end in given.allowed.ends)
            beside, end = TIE * seen.line.step, Fraction(1, 1 << given.part)
            inside = given.wraps or (-beside <= low and high <= end + beside)
            if seen.word is None or seen.at is None or given.exact or not inside:
                raise NotCoveredError(f"{name} may lie beyond its word, or is exact")
            places = self.graph.nodes[seen.word].bits + given.part
            found.append(AngleWord(name, seen.word, seen.at, places))
        if math.prod(len(one.at) * 2 for one in found) > MOST_CELLS:
            raise NotCoveredError("an output has too many cells of its angles")
        return found

    def _bent(self) -> Span:
        """Return what the error may be beside that at corners of cells."""
        total = NOTHING
        for name, k in self.places.items():
            step = self.plain.seen[k].line.step  # 1 of what nothing reads
            total = total + slope(self.poly, name, 2, self.reach).times(step * step / 8)
            total = total + slope(self.poly, name, 1, self.reach).times(step * TIE)
        return total.around

    def confirm(self, low: Fraction, high: Fraction) -> int:
        """Hold what is claimed against all cells and corners; return how many there are."""
        if max(low, -high) > Fraction(-1, 2):  # words that saturate are half a step beside ranges
            raise NotCoveredError("less than half a step is claimed")
        profiles = [group.profile(self.angles, self.scale, self.shift) for group in self.groups]
        self._confirm(1, high, profiles)
        self._confirm(-1, -low, profiles)
        return math.prod(len(one.at) * 2 for one in self.angles)

    def _left(self, sign: int, end: Fraction) -> int:
        """Return what is left of a claim for all that differs from cell to cell."""
        step = Fraction(1, 1 << self.drop)
        middle = Fraction((1 << self.graph.nodes[self.result.node].bits) - 1, 2)
        beside = self.slack + self.apart.lost.times(step)
        fixed = sign * (step * (self.apart.constant - middle) + self.moved)
        fixed += Fraction((beside if sign > 0 else -beside).high, ONE)
        return math.floor((end - fixed) * (1 << self.scale))

    def _confirm(self, sign: int, end: Fraction, profiles: Sequence[Profile]) -> None:
        angles, sizes = self.angles, [len(one.at) for one in self.angles] or [1]
        still, atoms = (
            Corners(self.still, Fraction(1), angles, self.scale),
            self.apart.atoms.get(None, []),
        )
        left = self._left(sign, end) - still.error - sum(one.error for one in profiles)
        rounding = (1 << self.scale >> 1) - (1 << self.scale >> (self.drop + 1))
        nodes = self.apart.needed(k for one in atoms for k in part_reads(one.part))
        chunk, looked = max(1, BLOCK // math.prod(sizes[1:])), 0
        for row in range(0, sizes[0], chunk):
            rows = slice(row, row + chunk)
            some = [replace(one, at=one.at[rows]) for one in angles[:1]] + angles[1:]
            shape = [len(one.at) for one in some]
            words = sweep(self.graph, some, nodes)
            put = sign * (self.apart.put(atoms, words) << self.shift)
            for corner in product((0, 1), repeat=len(angles)):
                alone = put - sign * still.at(words, corner)
                total = np.broadcast_to(alone, math.prod(shape)).reshape(shape)
                for one in profiles:
                    total = total + one.part(angles, corner, int(sign < 0), rows)
                above = np.argwhere(total > left - rounding)
                looked += len(above)
                for place in above[: MOST_LEAVES + 1]:
                    cell = {one.word: int(one.at[k]) for one, k in zip(some, place, strict=True)}
                    most = int(total[tuple(place)]) + rounding
                    if looked <= MOST_LEAVES:
                        most = min(most, self._leaf(sign, cell, corner, still, rounding))
                    if most > left:
                        raise self._missed(sign, end, most - left, cell)

    def _missed(
        self, sign: int, end: Fraction, above: int, cell: Mapping[int, int]
    ) -> DoesNotHoldError:
        claimed, confirmed = (
            float(sign * end),
            float(sign * (end + Fraction(above, 1 << self.scale))),
        )
        where = ", ".join(f"w{k} = {value}" for k, value in cell.items())
        return DoesNotHoldError(
            f"{claimed:.6f} is claimed, and {confirmed:.6f} confirmed where {where}"
        )

    def _leaf(
        self,
        sign: int,
        cell: Mapping[int, int],
        corner: Sequence[int],
        still: Corners,
        rounding: int,
    ) -> int:
        """Return the largest error in one cell, with its rounding as it is there."""
        angles = [replace(one, at=np.full(1, cell[one.word])) for one in self.angles]
        nodes = [k for k in self.words if not self.apart.inputs[k]]
        words = sweep(self.graph, angles, nodes)
        rests = 1 << (self.drop + self.apart.fine)
        put = self.apart.put(self.apart.atoms.get(None, []), words)
        total = np.full(rests, NEVER, np.int64)
        total[int(put[0]) & (rests - 1)] = int(
            (sign * ((put << self.shift) - still.at(words, corner)))[0]
        )
        for group, series in zip(self.groups, self.series, strict=True):
            a = int(series.at(words, corner)[0])
            put = group.put({k: int(words[k][0]) for k in group.seen})
            mine = by_rest(put, group.least, group.largest, a, sign, self.shift, rests)
            total = together(total, mine)
        if not self.apart.whole:
            return int(total.max()) + rounding
        rest = (np.arange(rests) + int(self.apart.constant)) & (rests - 1)
        rounded = (1 << self.scale >> 1) - (2 * rest + 1) * (1 << self.scale >> (self.drop + 1))
        return int(np.where(total > NEVER, total + sign * rounded, NEVER).max())
