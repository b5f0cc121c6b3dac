"""All multi-output primes of a function given by cubes, essential primes, and covering rows.

A multi-output implicant is a cube that lies inside ON or DC for all of its outputs. It is prime if
no literal can be dropped and no output added. For few inputs the outputs of all 3ⁿ cubes fit into
one array, from which primes are read. Otherwise the function is split on an input. With the primes
P0, P1 of the halves, the primes are the maximal cubes among `p0 & p1`, `x' & p0` and `x & p1`
(Quine's theorem for one variable).
"""

from __future__ import annotations

import abc
import math
import sys
from dataclasses import dataclass, field
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.twolevel import primes_kernels as kernels
from boolcomp.twolevel.cubes import (
    Clock,
    Cubes,
    GaveUpError,
    Shape,
    literals,
    points,
    serving,
    signatures,
    size_order,
)
from boolcomp.twolevel.function import Function, missed_point, missing
from boolcomp.twolevel.setcover import CoverMatrix, distinct, matrix_of_points

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import I64, U64, Flags, Intp


LEAF_INPUTS = 10  # a part of at most these inputs is solved on the array of all its cubes
MANY_CUBES = 300  # larger parts are solved on that array if it fits: merging takes longer
DENSE_BYTES = 400 * 2**20  # of that array: 3¹⁸ cubes of 8 outputs
SHORT, MOST_KNOWN = 64, 20_000  # cubes of a cached part, and cached parts (150 MB for 32 inputs)
BYTES_PER_SECOND = 5 * 10**8  # least speed of reading primes from that array, per byte and input
PAIRS = 5 * 10**6  # pairs of cubes of at most `USUAL` words compared between checks of the clock
USUAL = 4
FREE = 2  # the digit of an input without a literal


class PrimesTooManyError(Exception):
    """There are more primes than allowed, or the time ended before all were found."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of prime generation: a number of cubes and a clock.

    `known` caches the primes of parts, which recur in wide functions.
    """

    limit: int
    clock: Clock
    known: dict[bytes, U64] = field(default_factory=dict)

    def check(self, count: int) -> None:
        """Raise `PrimesTooManyError` if `count` is above the limit or the time is over."""
        if count > self.limit:
            raise PrimesTooManyError(f"more than {self.limit} primes")
        if self.clock.over:
            raise PrimesTooManyError("time ended before all primes were known")


def all_primes(cubes: U64, shape: Shape, limit: int, clock: Clock) -> U64:
    """Return the packed primes of the union of packed cubes, largest first.

    Raises `PrimesTooManyError` beyond `limit` primes (of the function or of a part of it), or where
    the clock runs out.
    """
    if len(cubes) == 0:
        return shape.none()
    budget = Budget(limit, clock)
    primes = _split(maximal(cubes, budget), shape, budget)
    budget.check(len(primes))
    return primes[size_order(primes)]


def _pairs(cubes: U64) -> int:
    return PAIRS * USUAL // max(USUAL, int(cubes.shape[1]))


def maximal(cubes: U64, budget: Budget) -> U64:
    """Return the maximal cubes, largest first."""
    ordered, pairs = cubes[size_order(cubes)], _pairs(cubes)
    kept = np.empty(len(ordered), np.int64)
    size = at = 0
    while at < len(ordered):
        # The cubes of a step are also compared with each other, so a first step must be short.
        step = min(len(ordered) - at, 1 + pairs // (size + 1), 1 + isqrt(pairs))
        size = kernels.maximal(ordered, at, at + step, kept, size)
        at += step
        budget.check(size // 2)
    return ordered[kept[:size]]


def _inside_any(small: U64, large: U64, budget: Budget) -> Flags:
    """Tell for every cube of `small` whether it lies in a cube of `large`."""
    step = 1 + _pairs(small) // (len(large) + 1)
    parts = [np.zeros(0, np.bool_)]
    for at in range(0, len(small), step):
        parts.append(kernels.first_around(small[at : at + step], large) >= 0)
        budget.check(0)
    return np.concatenate(parts)


def _products(low: U64, high: U64, shape: Shape, budget: Budget) -> U64:
    """Return pairwise intersections that are maximal for their `low` cube."""
    step = 1 + _pairs(low) // (len(high) + 1)
    parts = [shape.none()]
    size = 0
    for at in range(0, len(low), step):
        parts.append(kernels.products(low[at : at + step], high, shape.words, shape.everything()))
        size += len(parts[-1])
        budget.check(size // 20)  # few of these are maximal
    return np.concatenate(parts)


def _literal_counts(cubes: U64, shape: Shape) -> tuple[I64, I64]:
    """Return the numbers of cubes that exclude 0, and 1, at every input."""
    counts = []
    for plane in (0, shape.words):
        words = cubes[:, plane : plane + shape.words]
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        counts.append(len(cubes) - bits[:, : shape.inputs].sum(axis=0, dtype=np.int64))
    return counts[0], counts[1]


def _split(cubes: U64, shape: Shape, budget: Budget) -> U64:
    """Return the primes of irredundant cubes, with a cache."""
    budget.check(0)
    key = cubes.tobytes() if len(cubes) <= SHORT else b""
    known = budget.known.get(key)
    if known is not None:
        return known
    primes = _primes_of_part(cubes, shape, budget)
    if key and len(primes) <= 4 * SHORT and len(budget.known) < MOST_KNOWN:
        budget.known[key] = primes
    return primes


def _primes_of_part(cubes: U64, shape: Shape, budget: Budget) -> U64:
    """Return the primes of irredundant cubes, from the array of all cubes or from two halves."""
    positive, negative = _literal_counts(cubes, shape)
    active = np.flatnonzero(positive + negative)
    size = 3 ** len(active) * _lane(shape.outputs).itemsize * (shape.width - shape.out_at)
    few = len(active) <= (LEAF_INPUTS if len(cubes) < MANY_CUBES else 20)
    if few and size <= DENSE_BYTES and size * len(active) < BYTES_PER_SECOND * budget.clock.left:
        return _dense(cubes, active, shape, budget)
    choice = np.minimum(positive, negative) * (len(cubes) + 1) + positive + negative
    best = int(choice.argmax())
    word, bit = best // 64, np.uint64(1 << (best % 64))
    halves = []
    for plane in (0, shape.words):
        half = cubes[(cubes[:, plane + word] & bit) != 0]
        half[:, word] |= bit
        half[:, shape.words + word] |= bit
        halves.append(_split(maximal(half, budget), shape, budget) if len(half) else shape.none())
    budget.check(max(len(half) for half in halves))
    return merged(halves[0], halves[1], best, shape, budget)


def merged(low: U64, high: U64, split: int, shape: Shape, budget: Budget) -> U64:
    """Return the primes of `x'·low + x·high` for the primes of the two halves."""
    low_in, high_in = _inside_any(low, high, budget), _inside_any(high, low, budget)
    both = _products(low[~low_in], high[~high_in], shape, budget)
    both = maximal(np.concatenate([low[low_in], high[high_in], both]), budget)
    budget.check(len(both))
    word, bit = split // 64, np.uint64(1 << (split % 64))
    parts = [both]
    for half, known, plane in ((low, low_in, shape.words), (high, high_in, 0)):
        rest = half[~known]
        rest = rest[~_inside_any(rest, both, budget)]
        rest[:, plane + word] &= ~bit
        parts.append(rest)
    return np.concatenate(parts)


def _lane(outputs: int) -> np.dtype[np.unsignedinteger[Any]]:
    return np.min_scalar_type((1 << min(outputs, 64)) - 1)


def _dense(cubes: U64, active: Intp, shape: Shape, budget: Budget) -> U64:
    """Return the primes from the array of all cubes over the active inputs."""
    count, words = len(active), shape.width - shape.out_at
    masks = np.zeros((2,) * count + (words,), np.uint64)
    for cube in cubes:
        where: list[int | slice] = []
        for i in active:
            bit = np.uint64(1 << int(i % 64))
            zero, one = cube[i // 64] & bit, cube[shape.words + i // 64] & bit
            where.append(slice(None) if zero and one else int(one != 0))
        masks[tuple(where)] |= cube[shape.out_at :]
    digits, out = primes_of_points(masks.reshape(-1, words), shape.outputs, budget)
    primes = np.broadcast_to(shape.everything(), (len(out), shape.width)).copy()
    for column, i in enumerate(active):
        bit = np.uint64(1 << int(i % 64))
        primes[digits[:, column] == 1, i // 64] &= ~bit
        primes[digits[:, column] == 0, shape.words + i // 64] &= ~bit
    primes[:, shape.out_at :] = out
    return primes


def primes_of_points(allowed: U64, outputs: int, budget: Budget) -> tuple[I64, U64]:
    """Return the digits (0, 1, `FREE`; one column per input) and outputs of all primes.

    `allowed` has one row per point, its allowed outputs; the first input is the most significant.
    """
    inputs, words, lane = (len(allowed) - 1).bit_length(), allowed.shape[1], _lane(outputs)
    table = allowed.astype(lane)
    for i in range(inputs):
        # Inputs below i are ternary already; axis i grows from (0, 1) to (0, 1, both).
        pair = table.reshape(3**i, 2, -1)
        table = np.empty((3**i, 3, pair.shape[2]), lane)
        table[:, :2] = pair
        np.bitwise_and(pair[:, 0], pair[:, 1], out=table[:, 2])
    table = table.reshape(-1, words)
    keep = (table != 0).any(axis=1)
    for i in range(inputs):
        cell = table.reshape(3**i, 3, -1, words)
        flags = keep.reshape(3**i, 3, -1)
        for digit in (0, 1):
            flags[:, digit] &= (cell[:, digit] != cell[:, 2]).any(axis=-1)
    found = np.flatnonzero(keep)
    budget.check(len(found))
    digits = found[:, None] // 3 ** np.arange(inputs)[::-1] % 3
    return digits, table[found].astype(np.uint64)


# --------------------------------------------------------------------------------------------------
# Essential primes, found from one cover, without a list of all primes.
#
# A prime of a cover is essential if the consensus of the other cubes (and the don't-cares) with it
# leaves a part of it uncovered that is no don't-care. This is theorem 4.4 of Brayton, Hachtel,
# McMullen and Sangiovanni-Vincentelli, 1984.
# --------------------------------------------------------------------------------------------------


def essential(
    function: Function, primes: Cubes, clock: Clock | None = None, each: float = math.inf
) -> Flags:
    """Return a mask of the essential primes of a prime cover.

    A prime that takes more than `each` seconds is not marked. Raises `GaveUpError` where the clock
    runs out.
    """
    clock, shape = clock or Clock(), primes.shape
    own, free = primes.valid_rows(), function.dc.packed
    found = np.zeros(len(own), np.bool_)
    for k, prime in enumerate(own):
        others = np.concatenate([own[:k], own[k + 1 :], free])
        reached = shape.cubes(consensus_within(others, prime, shape))
        target = Function.from_cubes(primes.take(np.array([k])), function.dc)
        try:
            found[k] = missing(target, reached, Clock(min(each, clock.left))) is not None
        except GaveUpError:
            if clock.over:
                raise
    return found


def consensus_within(cubes: U64, prime: U64, shape: Shape) -> U64:
    """Return parts of a prime that lie in other primes, by the consensus of cubes with it.

    A cube that conflicts with the prime in one variable covers their common part, extended in that
    variable. A cube without a conflict covers the common part, for all outputs of the prime if the
    cube has another output. The outputs are one variable.
    """
    common = cubes & prime
    masks = [_mask(variable, shape) for variable in range(shape.inputs + 1)]
    conflicts = np.stack([~(common & mask).any(axis=1) for mask in masks], axis=1)
    count = conflicts.sum(axis=1)
    parts = [shape.none()]
    for variable, mask in enumerate(masks):
        parts.append(common[(count == 1) & conflicts[:, variable]] & ~mask | prime & mask)
    more = (cubes & ~prime & masks[-1]).any(axis=1)
    parts.append(common[(count == 0) & more] & ~masks[-1] | prime & masks[-1])
    parts.append(common[(count == 0) & ~more])  # don't-cares within the prime
    return np.unique(np.concatenate(parts), axis=0)


def _mask(variable: int, shape: Shape) -> U64:
    """Return the bits of an input's two values or, for the last variable, of all outputs."""
    mask = np.zeros(shape.width, np.uint64)
    if variable == shape.inputs:
        mask[shape.out_at :] = shape.everything()[shape.out_at :]
    else:
        bit = np.uint64(1 << (variable % 64))
        mask[variable // 64] = mask[shape.words + variable // 64] = bit
    return mask


def lightest_first(cubes: Cubes) -> Cubes:
    """Return cubes in the order of their numbers of literals."""
    return cubes.take(np.argsort(literals(cubes.packed, cubes.shape), kind="stable"))


# --------------------------------------------------------------------------------------------------
# Rows of the covering problem: points of ON, each with the list of primes that contain it.
#
# Points in the same primes make one row. Functions of few inputs have all points in a table; every
# class of points becomes a row at once. Other functions start without rows. `add_missed` searches
# points that a proposed cover misses, moves them to points in fewer primes, and adds them. If there
# are none, the proposal covers the function: both searches are complete.
# --------------------------------------------------------------------------------------------------

TABLE_POINTS = 2**23  # points times outputs of a table, at most (67 MB per plane)
TABLE_WORK = 3 * 10**9  # steps to mark all points of all primes, at most (about 5 s)
WORK_PER_SECOND = 2 * 10**7  # likewise per second of the deadline, for four runs in a fifth of it
ROW_ENTRIES = 2 * 10**7  # entries of the first matrix, at most; missed points are added later
SEED = 20_240_229


@dataclass(eq=False)
class Demands(abc.ABC):
    """Points to cover: `matrix` has the rows found so far."""

    on: U64
    dont_care: U64
    primes: U64
    shape: Shape

    def __post_init__(self) -> None:
        self.matrix = CoverMatrix(np.zeros(1, np.int64), np.zeros(0, np.int32), len(self.primes))
        self._seen: set[bytes] = set()

    @abc.abstractmethod
    def add_missed(self, chosen: I64, clock: Clock) -> int:
        """Add rows for ON points in none of the chosen primes; return the number of points found.

        0 means that the primes cover the function. Raises `GaveUpError` when the time is over.
        """

    def primes_around(self, cubes: U64) -> I64:
        """Return the primes around cubes, each once; ValueError if a cube is no implicant."""
        found = kernels.first_around(cubes, self.primes)
        if (found < 0).any():
            raise ValueError("a cube of the start covers a point of the OFF set")
        return distinct(found, len(self.primes))

    def _add_points(self, points: U64) -> int:
        """Add the rows of points, without duplicates."""
        starts, indices = kernels.covering_lists(points, self.primes)
        fresh = np.zeros(len(points), np.bool_)
        for k in range(len(points)):
            row = indices[starts[k] : starts[k + 1]].tobytes()
            fresh[k] = row not in self._seen
            self._seen.add(row)
        new = CoverMatrix(starts, indices, self.matrix.columns).keep(fresh)
        self.matrix = self.matrix.stacked(new)
        return len(points)


class TableDemands(Demands):
    """All points in a table of outputs by points, in the order of `Dense`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._required = self._marked(self.on) & ~self._marked(self.dont_care)
        # Sums of random numbers distinguish classes; a clash only delays a row until it is missed.
        random, count = np.random.default_rng(SEED), len(self.primes)
        self._weights = random.integers(1, 2**64, count, dtype=np.uint64)
        self._class = self._sums(self.primes, self._weights)
        self._fill()

    @staticmethod
    def fits(primes: U64, shape: Shape, seconds: float) -> bool:
        """Tell whether the table is small enough, and marking the primes takes little time."""
        if shape.inputs > 40 or shape.outputs << shape.inputs > TABLE_POINTS:
            return False
        free = shape.inputs - literals(primes, shape)
        owners = np.bitwise_count(primes[:, shape.out_at :]).sum(axis=1)
        return float((2.0**free * owners).sum()) < min(TABLE_WORK, WORK_PER_SECOND * seconds)

    def add_missed(self, chosen: I64, clock: Clock) -> int:
        """Add one row for every class of missed points, at most 2000."""
        del clock
        missed = self._required & ~self._marked(self.primes[chosen])
        outputs, places = self._classes(missed)
        if not len(places):
            return 0
        if len(places) > 2000:
            step = len(places) // 2000 + 1
            outputs, places = outputs[::step], places[::step]
        return self._add_points(self._packed(outputs, places))

    def _fill(self) -> None:
        """Make the first matrix: rows of one essential prime, then all other classes."""
        outputs, places = self._classes(self._required)
        single = np.isin(self._class[outputs, places], self._weights)
        self._add_points(self._packed(outputs[single], places[single]))
        lengths = np.diff(self.matrix.starts)
        only = self.matrix.indices[self.matrix.starts[:-1][lengths == 1]]
        essential = distinct(only, self.matrix.columns)
        outputs, places = self._classes(self._required & ~self._marked(self.primes[essential]))
        ones = np.ones(len(self.primes), np.uint64)
        counts = self._sums(self.primes, ones)[outputs, places].astype(np.int64)
        order = np.argsort(counts, kind="stable")
        order = order[np.cumsum(counts[order]) <= ROW_ENTRIES]
        outputs, places, counts = outputs[order], places[order], counts[order]
        places = outputs * self._required.shape[1] + places
        rest = matrix_of_points(self.shape.cubes(self.primes), places, sys.maxsize)
        assert rest is not None  # noqa: S101 (there is no limit)
        self.matrix = self.matrix.stacked(rest)

    def _sums(self, cubes: U64, weights: U64) -> U64:
        sums = np.zeros((self.shape.outputs, 1 << self.shape.inputs), np.uint64)
        signatures(self.shape.cubes(cubes).packed, self.shape.inputs, weights, sums)
        return sums

    def _marked(self, cubes: U64) -> Flags:
        mask: Flags = self._sums(cubes, np.ones(len(cubes), np.uint64)) != 0
        return mask

    def _classes(self, where: Flags) -> tuple[Intp, Intp]:
        """Return one (output, point) of every class with a marked point."""
        outputs, places = np.nonzero(where)
        _, first = np.unique(self._class[outputs, places], return_index=True)
        return outputs[first], places[first]

    def _packed(self, outputs: Intp, places: Intp) -> U64:
        owners = outputs[:, None] == np.arange(self.shape.outputs)
        return points(self.shape.inputs, places, owners).valid_rows()


class SearchedDemands(Demands):
    """Points that proposed covers miss, for functions too wide for a table."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._random = np.random.default_rng(SEED)

    def add_missed(self, chosen: I64, clock: Clock) -> int:
        """Add a row for at most one missed point of every ON cube and output."""
        mask = np.zeros(len(self.primes), np.bool_)
        mask[chosen] = True
        added = 0
        for output in range(self.shape.outputs):
            found = self._missed_of(output, mask, clock)
            if len(found):
                added += self._add_points(self._moved(found, output, mask, clock))
        return added

    def _missed_of(self, output: int, mask: Flags, clock: Clock) -> U64:
        """Return missed points of one output, at most one per ON cube."""
        shape = self.shape
        free = self.dont_care[serving(self.dont_care, output, shape)]
        cover = np.concatenate([self.primes[mask & serving(self.primes, output, shape)], free])
        found = []
        for cube in self.on[serving(self.on, output, shape)]:
            clock.check()
            preferred = self._random.integers(0, 2**64, shape.words, dtype=np.uint64)
            missed = missed_point(cover, cube, output, shape, clock, preferred)
            if missed is not None:
                found.append(missed)
        return np.array(found, np.uint64).reshape(len(found), shape.width)

    def _moved(self, found: U64, output: int, mask: Flags, clock: Clock) -> U64:
        """Return missed points moved to points in fewer primes; for many primes, only some."""
        own = serving(self.primes, output, self.shape)
        dont_care = self.dont_care[serving(self.dont_care, output, self.shape)]
        step = max(1, 10**8 // (1 + self.shape.inputs * int(own.sum())))
        if len(found) > max(20, 10 * step):
            found = found[:: len(found) // max(20, 10 * step) + 1].copy()
        for at in range(0, len(found), step):
            part = found[at : at + step]
            kernels.harder(part, self.primes[own], mask[own], dont_care, self.shape.inputs)
            clock.check()
        return np.unique(found, axis=0)
