"""All multi-output primes of a function given by cubes.

A multi-output implicant is a cube with a set of outputs, in all of which it lies inside ON or DC;
it is prime when neither a literal can be dropped nor an output added. Over few inputs the outputs
of all 3ⁿ cubes fit into one array and primes are read off it. Beyond, the function is split on
an input: with P0, P1 the primes of the two halves, the primes of the whole are the maximal cubes
among `p0 & p1`, `x' & p0` and `x & p1` (Quine's theorem for one variable).
"""

from __future__ import annotations

import abc
import math
import sys
import time
from dataclasses import dataclass, field
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.twolevel import primes_kernels
from boolcomp.twolevel import primes_kernels as kernels
from boolcomp.twolevel.cubes import (
    Clock,
    Cubes,
    IndexCubes,
    Shape,
    from_index,
    literals,
    pack,
    packed,
    signatures,
    size_order,
    to_index,
    unpacked,
)
from boolcomp.twolevel.function import (
    Function,
    GaveUpError,
    SearchEndedError,
    missed_part,
    missing,
    point_of,
    serving,
)
from boolcomp.twolevel.setcover import CoverMatrix, distinct, incidence

if TYPE_CHECKING:
    from numpy.typing import NDArray


# --------------------------------------------------------------------------------------------------
# All multi-output primes of a function given by cubes.
# --------------------------------------------------------------------------------------------------


LEAF_INPUTS = 10
"""A part with no more inputs than this is solved on the array of all its cubes."""

MANY_CUBES = 300
"""A part of so many cubes is solved on that array whenever it fits: merging would take longer."""

DENSE_BYTES = 400 * 2**20
"""The largest array of the outputs of all cubes that is made at once: 3¹⁸ cubes of 8 outputs."""

SHORT, MOST_KNOWN = 64, 20_000
"""Parts of so few cubes are remembered, and so many of them (at most 150 MB for 32 inputs)."""

BYTES_PER_SECOND = 5 * 10**8
"""How fast the primes are read off that array, per byte and input; the least to expect."""

PAIRS = 5 * 10**6
"""Pairs of cubes of at most `USUAL` words compared between two looks at the clock."""

USUAL = 4


FREE = 2
"""The digit of an input that a cube leaves open."""


class PrimesTooManyError(Exception):
    """There are more primes than allowed, or the time ended before all were known."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What prime generation may use: a number of cubes and a moment of `time.monotonic`.

    `known` remembers the primes of parts: those of wide functions come again and again.
    """

    limit: int
    end: float
    known: dict[bytes, NDArray[np.uint64]] = field(default_factory=dict)

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.monotonic()

    def check(self, count: int) -> None:
        """Raise `PrimesTooManyError` if so many cubes or the time by now are too much."""
        if count > self.limit:
            raise PrimesTooManyError(f"more than {self.limit} primes")
        if time.monotonic() > self.end:
            raise PrimesTooManyError("time ended before all primes were known")


def all_primes(
    cubes: NDArray[np.uint64], shape: Shape, limit: int, end: float
) -> NDArray[np.uint64]:
    """Return the packed primes of the union of packed cubes, largest first.

    Raises `PrimesTooManyError` beyond `limit` primes (of the function or of a part of it), or when
    `time.monotonic()` passes `end`.
    """
    if len(cubes) == 0:
        return shape.none()
    budget = Budget(limit, end)
    primes = _split(_irredundant(cubes, budget), shape, budget)
    budget.check(len(primes))
    return primes[size_order(primes)]


def _pairs(cubes: NDArray[np.uint64]) -> int:
    """Return the pairs of such cubes to compare between two looks: wide ones take longer."""
    return PAIRS * USUAL // max(USUAL, int(cubes.shape[1]))


def _irredundant(cubes: NDArray[np.uint64], budget: Budget) -> NDArray[np.uint64]:
    """Return the cubes that lie in no other, largest first."""
    ordered, pairs = cubes[size_order(cubes)], _pairs(cubes)
    kept = np.empty(len(ordered), np.int64)
    size = at = 0
    while at < len(ordered):
        # The cubes of a step are compared among themselves too, so a first step must be short.
        step = min(len(ordered) - at, 1 + pairs // (size + 1), 1 + isqrt(pairs))
        size = primes_kernels.maximal(ordered, at, at + step, kept, size)
        at += step
        budget.check(size // 2)
    return ordered[kept[:size]]


def _inside_any(
    small: NDArray[np.uint64], large: NDArray[np.uint64], budget: Budget
) -> NDArray[np.bool_]:
    """Tell for every cube of `small` whether some cube of `large` holds it."""
    step = 1 + _pairs(small) // (len(large) + 1)
    parts = [np.zeros(0, np.bool_)]
    for at in range(0, len(small), step):
        parts.append(primes_kernels.contained(small[at : at + step], large))
        budget.check(0)
    return np.concatenate(parts)


def _products(
    low: NDArray[np.uint64], high: NDArray[np.uint64], shape: Shape, budget: Budget
) -> NDArray[np.uint64]:
    """Return pairwise intersections; those in a larger one of the same `low` cube are left out."""
    step = 1 + _pairs(low) // (len(high) + 1)
    parts = [shape.none()]
    size = 0
    for at in range(0, len(low), step):
        parts.append(
            primes_kernels.products(low[at : at + step], high, shape.words, shape.everything())
        )
        size += len(parts[-1])
        budget.check(size // 20)  # most of these are not maximal
    return np.concatenate(parts)


def _literal_counts(
    cubes: NDArray[np.uint64], shape: Shape
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many cubes exclude 0, and how many exclude 1, at every input."""
    counts = []
    for plane in (0, shape.words):
        words = cubes[:, plane : plane + shape.words]
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        counts.append(len(cubes) - bits[:, : shape.inputs].sum(axis=0, dtype=np.int64))
    return counts[0], counts[1]


def _split(cubes: NDArray[np.uint64], shape: Shape, budget: Budget) -> NDArray[np.uint64]:
    """Return the primes of irredundant cubes."""
    budget.check(0)
    key = cubes.tobytes() if len(cubes) <= SHORT else b""
    known = budget.known.get(key)
    if known is not None:
        return known
    primes = _primes_of_part(cubes, shape, budget)
    if key and len(primes) <= 4 * SHORT and len(budget.known) < MOST_KNOWN:
        budget.known[key] = primes
    return primes


def _primes_of_part(cubes: NDArray[np.uint64], shape: Shape, budget: Budget) -> NDArray[np.uint64]:
    """Return the same, on the array of all cubes or from the two halves."""
    positive, negative = _literal_counts(cubes, shape)
    active = np.flatnonzero(positive + negative)
    size = 3 ** len(active) * _lane(shape.outputs).itemsize * (shape.width - shape.out_at)
    few = len(active) <= (LEAF_INPUTS if len(cubes) < MANY_CUBES else 20)
    if few and size <= DENSE_BYTES and size * len(active) < BYTES_PER_SECOND * budget.left:
        return _dense(cubes, active, shape, budget)
    choice = np.minimum(positive, negative) * (len(cubes) + 1) + positive + negative
    best = int(choice.argmax())
    word, bit = best // 64, np.uint64(1 << (best % 64))
    halves = []
    for plane in (0, shape.words):
        half = cubes[(cubes[:, plane + word] & bit) != 0]
        half[:, word] |= bit
        half[:, shape.words + word] |= bit
        halves.append(
            _split(_irredundant(half, budget), shape, budget) if len(half) else shape.none()
        )
    budget.check(max(len(half) for half in halves))
    return merged(halves[0], halves[1], best, shape, budget)


def merged(
    low: NDArray[np.uint64], high: NDArray[np.uint64], split: int, shape: Shape, budget: Budget
) -> NDArray[np.uint64]:
    """Return the primes of `x'·low + x·high` for the primes of the two halves."""
    low_in, high_in = _inside_any(low, high, budget), _inside_any(high, low, budget)
    both = _products(low[~low_in], high[~high_in], shape, budget)
    both = _irredundant(np.concatenate([low[low_in], high[high_in], both]), budget)
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
    """Return the type that holds a set of outputs (or 64 of them)."""
    return np.min_scalar_type((1 << min(outputs, 64)) - 1)


def _dense(
    cubes: NDArray[np.uint64], active: NDArray[np.intp], shape: Shape, budget: Budget
) -> NDArray[np.uint64]:
    """Return the primes through the array of all cubes over the active inputs."""
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


def primes_of_points(
    allowed: NDArray[np.uint64], outputs: int, budget: Budget
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the digits (0, 1, `FREE`; a column an input) and outputs of all primes.

    `allowed` holds the outputs that allow each point, one row a point, the first input foremost.
    """
    inputs, words, lane = (len(allowed) - 1).bit_length(), allowed.shape[1], _lane(outputs)
    table = allowed.astype(lane)
    for i in range(inputs):
        # Inputs 0..i are ternary already: one more axis grows from (0, 1) to (0, 1, both).
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
# Primes that every prime cover has, found from one cover, without a list of all primes.
#
# A prime of a cover is essential where the consensus of the other cubes (and the don't-cares) with
# it leaves a part of it uncovered that is no don't-care: no other prime holds that part (Brayton,
# Hachtel, McMullen, Sangiovanni-Vincentelli, 1984, theorem 4.4).
# --------------------------------------------------------------------------------------------------


def primes_around(function: Function, cover: Cubes, clock: Clock | None = None) -> Cubes:
    """Return a cover's cubes, each grown to a prime: literals go, then outputs come, in order.

    Raises `lists.GaveUpError` where the clock runs out.
    """
    allowed = function.on.joined(function.dc)
    grown = [_grown(allowed, cover.take(np.array([k])), clock) for k in range(len(cover))]
    if not grown:
        return cover
    zero, one, out = (
        np.concatenate([getattr(cube, plane) for cube in grown]) for plane in ("zero", "one", "out")
    )
    return Cubes(cover.inputs, cover.outputs, zero, one, out).canonical()


def _grown(allowed: Cubes, cube: Cubes, clock: Clock | None) -> Cubes:
    for k in range(cube.inputs):
        bit = pack(np.eye(1, cube.inputs, k, np.bool_))
        if (cube.zero & cube.one & bit).any():
            continue
        wider = Cubes(cube.inputs, cube.outputs, cube.zero | bit, cube.one | bit, cube.out)
        cube = wider if _inside(wider, allowed, clock) else cube
    for j in range(cube.outputs):
        bit = pack(np.eye(1, cube.outputs, j, np.bool_))
        more = Cubes(cube.inputs, cube.outputs, cube.zero, cube.one, cube.out | bit)
        if not (cube.out & bit).any() and _inside(more, allowed, clock):
            cube = more
    return cube


def _inside(cube: Cubes, space: Cubes, clock: Clock | None) -> bool:
    """Tell whether a cube lies in a union of cubes, for all its outputs."""
    target = Function.from_cubes(cube)
    return missing(target, space, clock) is None


def essential(
    function: Function, primes: Cubes, clock: Clock | None = None, each: float = math.inf
) -> NDArray[np.bool_]:
    """Tell which primes of a cover are essential.

    `primes` cover the function, and each is a prime of it. Of one that takes more than `each`
    seconds it is not told. Raises `lists.GaveUpError` where the clock runs out.
    """
    clock = clock or Clock()
    shape = Shape(primes.inputs, primes.outputs)
    own, free = packed(primes), packed(function.dc)
    found = np.zeros(len(own), np.bool_)
    for k, prime in enumerate(own):
        others = np.concatenate([own[:k], own[k + 1 :], free])
        reached = unpacked(consensus_within(others, prime, shape), shape)
        target = Function.from_cubes(primes.take(np.array([k])), function.dc)
        try:
            found[k] = missing(target, reached, Clock(min(each, clock.left))) is not None
        except GaveUpError:
            if clock.over:
                raise
    return found


def consensus_within(
    cubes: NDArray[np.uint64], prime: NDArray[np.uint64], shape: Shape
) -> NDArray[np.uint64]:
    """Return what of a prime other primes hold, as far as the consensus of cubes with it tells.

    A cube that conflicts with it in one variable covers their common part with that variable as in
    the prime. One that conflicts in none covers the common part, for all outputs of the prime where
    it has one more. The outputs are one variable.
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
    parts.append(common[(count == 0) & ~more])  # of one within the prime: a don't-care
    return np.unique(np.concatenate(parts), axis=0)


def _mask(variable: int, shape: Shape) -> NDArray[np.uint64]:
    """Return the bits of an input's two values, or, for the last variable, of all outputs."""
    mask = np.zeros(shape.width, np.uint64)
    if variable == shape.inputs:
        mask[shape.out_at :] = shape.everything()[shape.out_at :]
    else:
        bit = np.uint64(1 << (variable % 64))
        mask[variable // 64] = mask[shape.words + variable // 64] = bit
    return mask


def lightest_first(cubes: Cubes) -> Cubes:
    """Return cubes in the order of their literals, as lists of primes are read."""
    shape = Shape(cubes.inputs, cubes.outputs)
    return cubes.take(np.argsort(literals(packed(cubes), shape), kind="stable"))


# --------------------------------------------------------------------------------------------------
# Rows of the covering problem: points of ON, each with the list of primes that hold it.
#
# Points in the same primes make one row. Functions of few inputs have all their points in a table,
# and every class of points becomes a row at once. Others start without rows; `add_missed` searches
# points that a proposed cover misses, moves them to where few primes are, and adds them. When it
# finds none the proposal covers the function: that search is complete in both cases.
# --------------------------------------------------------------------------------------------------


TABLE_POINTS = 2**23
"""The most points times outputs that are held as a table (67 MB a plane)."""

TABLE_WORK = 3 * 10**9
"""The most steps that marking all points of all primes may take (about 5 s)."""

WORK_PER_SECOND = 2 * 10**7
"""Likewise for every second of the deadline: marking is done four times, within a fifth of it."""

ROW_ENTRIES = 2 * 10**7
"""The most entries of the first matrix; further points join it when they are missed."""

SEED = 20_240_229


class Demands(abc.ABC):
    """The points to cover, as far as they are rows yet."""

    def __init__(
        self,
        on: NDArray[np.uint64],
        dont_care: NDArray[np.uint64],
        primes: NDArray[np.uint64],
        shape: Shape,
    ) -> None:
        self.on = on
        self.dont_care = dont_care
        self.primes = primes
        self.shape = shape
        self.matrix = CoverMatrix(np.zeros(1, np.int64), np.zeros(0, np.int32), len(primes))
        self._seen: set[bytes] = set()

    @abc.abstractmethod
    def add_missed(self, chosen: NDArray[np.int64], end: float) -> int:
        """Add rows for ON points in none of the chosen primes; return how many points were found.

        0 means that there is no such point. Raises `SearchEndedError` when the time is over.
        """

    def primes_around(self, cubes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return a prime around every implicant, each once; ValueError if one is no implicant."""
        found = kernels.first_around(cubes, self.primes)
        if (found < 0).any():
            raise ValueError("a cube of the start covers a point of the OFF set")
        return distinct(found, len(self.primes))

    def _add_points(self, points: NDArray[np.uint64]) -> int:
        """Add the rows of some points, once each."""
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
    """All points in a table of outputs by points, in the order of `dense`."""

    def __init__(
        self,
        on: NDArray[np.uint64],
        dont_care: NDArray[np.uint64],
        primes: NDArray[np.uint64],
        shape: Shape,
    ) -> None:
        super().__init__(on, dont_care, primes, shape)
        self._wanted = self._marked(on) & ~self._marked(dont_care)
        # Sums of random numbers tell classes apart; a clash only delays a row until it is missed.
        self._weights = np.random.default_rng(SEED).integers(1, 2**64, len(primes), dtype=np.uint64)
        self._class = self._sums(primes, self._weights)
        self._fill()

    @staticmethod
    def fits(primes: NDArray[np.uint64], shape: Shape, seconds: float) -> bool:
        """Tell whether the table is small enough, and marking the primes takes a small part."""
        if shape.inputs > 40 or shape.outputs << shape.inputs > TABLE_POINTS:
            return False
        free = shape.inputs - literals(primes, shape)
        owners = np.bitwise_count(primes[:, shape.out_at :]).sum(axis=1)
        return float((2.0**free * owners).sum()) < min(TABLE_WORK, WORK_PER_SECOND * seconds)

    def add_missed(self, chosen: NDArray[np.int64], end: float) -> int:
        """Add one row for every class of missed points, at most 2000, few primes first."""
        del end
        missed = self._wanted & ~self._marked(self.primes[chosen])
        outputs, points = self._classes(missed)
        if not len(points):
            return 0
        if len(points) > 2000:
            step = len(points) // 2000 + 1
            outputs, points = outputs[::step], points[::step]
        return self._add_points(self._packed(outputs, points))

    def _fill(self) -> None:
        """Make the first matrix: essential primes as rows of one, then all other classes."""
        outputs, points = self._classes(self._wanted)
        single = np.isin(self._class[outputs, points], self._weights)
        self._add_points(self._packed(outputs[single], points[single]))
        lengths = np.diff(self.matrix.starts)
        only = self.matrix.indices[self.matrix.starts[:-1][lengths == 1]]
        essential = distinct(only, self.matrix.columns)
        outputs, points = self._classes(self._wanted & ~self._marked(self.primes[essential]))
        ones = np.ones(len(self.primes), np.uint64)
        counts = self._sums(self.primes, ones)[outputs, points].astype(np.int64)
        order = np.argsort(counts, kind="stable")
        order = order[np.cumsum(counts[order]) <= ROW_ENTRIES]
        outputs, points, counts = outputs[order], points[order], counts[order]
        places = outputs * self._wanted.shape[1] + points
        rest = incidence(self._index(self.primes), self._wanted.shape, places, sys.maxsize)
        assert rest is not None  # noqa: S101 (there is no limit)
        self.matrix = self.matrix.stacked(rest)

    def _index(self, cubes: NDArray[np.uint64]) -> IndexCubes:
        return to_index(unpacked(cubes, self.shape))

    def _sums(self, cubes: NDArray[np.uint64], weights: NDArray[np.uint64]) -> NDArray[np.uint64]:
        sums = np.zeros((self.shape.outputs, 1 << self.shape.inputs), np.uint64)
        index = self._index(cubes)
        signatures(index.value, index.free, index.out, weights, sums)
        return sums

    def _marked(self, cubes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self._sums(cubes, np.ones(len(cubes), np.uint64)) != 0
        return mask

    def _classes(self, where: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return one (output, point) of every class that has a point there."""
        outputs, points = np.nonzero(where)
        _, first = np.unique(self._class[outputs, points], return_index=True)
        return outputs[first], points[first]

    def _packed(self, outputs: NDArray[np.intp], points: NDArray[np.intp]) -> NDArray[np.uint64]:
        out = pack(outputs[:, None] == np.arange(self.shape.outputs))
        index = IndexCubes(points, np.zeros_like(points), out)
        return packed(from_index(self.shape.inputs, self.shape.outputs, index))


class SearchedDemands(Demands):
    """Points found when a proposed cover misses them, for functions too wide for a table."""

    def __init__(
        self,
        on: NDArray[np.uint64],
        dont_care: NDArray[np.uint64],
        primes: NDArray[np.uint64],
        shape: Shape,
    ) -> None:
        super().__init__(on, dont_care, primes, shape)
        self._random = np.random.default_rng(SEED)

    def add_missed(self, chosen: NDArray[np.int64], end: float) -> int:
        """Add a row for at most one missed point of every ON cube and output."""
        mask = np.zeros(len(self.primes), np.bool_)
        mask[chosen] = True
        added = 0
        for output in range(self.shape.outputs):
            points = self._missed_of(output, mask, end)
            if len(points):
                added += self._add_points(self._moved(points, output, mask, end))
        return added

    def _missed_of(self, output: int, mask: NDArray[np.bool_], end: float) -> NDArray[np.uint64]:
        """Return missed points of one output."""
        shape, planes = self.shape, self.shape.out_at
        own = [
            self.primes[mask & serving(self.primes, output, shape), :planes],
            self.dont_care[serving(self.dont_care, output, shape), :planes],
        ]
        cover = np.concatenate(own)
        found = []
        for cube in self.on[serving(self.on, output, shape), :planes]:
            taste = self._random.integers(0, 2**64, shape.words, dtype=np.uint64)
            part = missed_part(cover, cube, taste, end)
            if part is not None:
                found.append(point_of(part, taste, output, shape))
        return np.array(found, np.uint64).reshape(len(found), shape.width)

    def _moved(
        self, points: NDArray[np.uint64], output: int, mask: NDArray[np.bool_], end: float
    ) -> NDArray[np.uint64]:
        """Return missed points in fewer primes, as near as single steps lead to them.

        Where there are so many primes that this takes long, only some of the points.
        """
        own = serving(self.primes, output, self.shape)
        dont_care = self.dont_care[serving(self.dont_care, output, self.shape)]
        step = max(1, 10**8 // (1 + self.shape.inputs * int(own.sum())))
        if len(points) > max(20, 10 * step):
            points = points[:: len(points) // max(20, 10 * step) + 1].copy()
        for at in range(0, len(points), step):
            part = points[at : at + step]
            kernels.harder(part, self.primes[own], mask[own], dont_care, self.shape.inputs)
            if time.monotonic() > end:
                raise SearchEndedError
        return np.unique(points, axis=0)
