"""Minimum covers and bounds for functions with too many primes to list.

For some points of ON, list the maximal sets that one product can contain (no cube of OFF meets the
smallest cube around them). These sets are the columns of a covering problem with the points as
rows; its optimum is a lower bound. If its products, grown to primes, miss points, some of these
points become rows, until the bound meets the best cover or no point is missed. Most primes differ
in irrelevant points, so there are few sets even for very many primes.

McGeer, Sanghavi, Brayton and Sangiovanni-Vincentelli, 1993, use signature cubes for this.
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import unlisted_kernels as kernels
from boolcomp.twolevel.cubes import Clock, Shape, packed, size_order, unpack, unpacked
from boolcomp.twolevel.function import (
    Cover,
    GaveUpError,
    SearchEndedError,
    complement,
    missed_part,
    missing,
    point_of,
    serving,
)
from boolcomp.twolevel.primes import SearchedDemands, essential, primes_around
from boolcomp.twolevel.primes_kernels import maximal
from boolcomp.twolevel.setcover import (
    CoverMatrix,
    LocalSearch,
    greedy_columns,
    independent,
    reduced,
    solve_block,
)
from boolcomp.twolevel.solvers import MEMORY, Milp

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import I64, U64, Cubes
    from boolcomp.twolevel.function import Function


MOST_TRIED = 2000  # points of `independent_points`


def independent_points(on: U64, dont_care: U64, allowed: U64, shape: Shape, end: float) -> int:
    """Return a number of points of ON that need a product each: a bound, improved until `end`.

    Two points can share a product only if the smallest cube around both lies in ON or DC for the
    outputs of both. `allowed` are cubes of ON and DC.
    """
    planes = shape.out_at
    random = np.random.default_rng(1)

    @cache  # for drawn outputs only: there may be very many
    def space(output: int) -> U64:
        return allowed[serving(allowed, output, shape), :planes]

    kept: list[tuple[int, U64]] = []
    try:
        for at in random.permutation(len(on))[:MOST_TRIED]:
            serves = np.flatnonzero(unpack(on[at : at + 1, planes:], shape.outputs)[0])
            output = int(random.choice(serves))
            free = dont_care[serving(dont_care, output, shape), :planes]
            preferred = random.integers(0, 2**64, shape.words, dtype=np.uint64)
            part = missed_part(free, on[at, :planes], preferred, end)
            if part is None:
                continue
            point = point_of(part, preferred, output, shape)[:planes]
            if not any(
                missed_part(space(output), point | other, preferred, end) is None
                and missed_part(space(place), point | other, preferred, end) is None
                for place, other in kept
            ):
                kept.append((output, point))
    except SearchEndedError:
        pass
    return len(kept)


# --------------------------------------------------------------------------------------------------
# The covering problem of points and maximal sets of them.
# --------------------------------------------------------------------------------------------------

SEED = 1
LEAST_ROOM, MOST_ROOM = 1 << 12, 1 << 20  # for sets of a list, at first and at last
LOOKS = 10**7  # visits to cubes of OFF between checks of the clock
FRESH = 40  # points that become rows at once, at least; or an eighth of the rows


class TooManySetsError(Exception):
    """There are too many maximal sets of points."""


class Gathering:
    """Points as rows; as columns the maximal sets of them that one product can contain."""

    def __init__(self, off: U64, shape: Shape) -> None:
        self.rows = shape.none()
        self.sets = np.zeros((0, 0), np.uint64)
        self._off, self._shape = off, shape

    def add(self, points: U64, end: float) -> None:
        """Add rows and the columns that contain them.

        Raises `SearchEndedError` at the end of the time, `TooManySetsError` for too many columns.
        """
        first = len(self.rows)
        rows = np.concatenate([self.rows, points])
        known = self._points(rows)
        size = known.ones.shape[1]
        found = [np.zeros((0, size), np.uint64)]
        before = np.zeros((len(self.sets), size), np.uint64)
        before[:, : self.sets.shape[1]] = self.sets
        found.append(before)
        found += [self._around(known, row, end) for row in range(first, len(rows))]
        every = np.unique(np.concatenate(found), axis=0)
        every = every[size_order(every)]
        kept = np.empty(len(every), np.int64)
        self.sets = every[kept[: maximal(every, 0, len(every), kept, 0)]]
        self.rows = rows

    def _points(self, rows: U64) -> kernels.PackedPoints:
        """Return the rows, and the sets of rows with each input at 1, and with each output."""
        shape, size = self._shape, (len(rows) + 63) // 64
        planes = []
        for first, last, bits in (
            (shape.words, shape.out_at, shape.inputs), (shape.out_at, shape.width, shape.outputs),
        ):  # fmt: skip
            has = unpack(np.ascontiguousarray(rows[:, first:last]), bits)
            padded = np.zeros((64 * size, (last - first) * 64), np.bool_)
            padded[: len(rows), :bits] = has
            sets = np.packbits(np.ascontiguousarray(padded.T), axis=1, bitorder="little")
            planes.append(sets.view(np.uint64))
        return kernels.PackedPoints(rows, *planes)

    def _around(self, known: kernels.PackedPoints, row: int, end: float) -> U64:
        """Return the maximal sets around one row."""
        size, branches = known.ones.shape[1], 64 * self._shape.words + 2
        room = LEAST_ROOM
        while room <= MOST_ROOM:
            leaves, seen = kernels.new_sets(room, size), kernels.new_sets(room, size)
            stack, height = np.zeros((room + 2 * branches, size), np.uint64), np.ones(1, np.int64)
            # Without rows that share no set with it, the search has far fewer nodes.
            kernels.compatible_points(known.rows, self._off, row, self._shape.words, stack[0])
            nodes = 1 + LOOKS // (1 + len(self._off))
            while kernels.gathered(
                known, self._off, row, self._shape.words, leaves, seen, stack, height, nodes
            ):
                if not height[0]:
                    return leaves.sets[: leaves.size[0]]
                if time.monotonic() > end:
                    raise SearchEndedError
            room *= 8
        raise TooManySetsError

    @property
    def matrix(self) -> CoverMatrix:
        """The covering problem."""
        holds = unpack(self.sets, len(self.rows))
        starts = np.concatenate([[0], np.cumsum(holds.sum(axis=1))]).astype(np.int64)
        indices = np.nonzero(holds)[1].astype(np.int32)
        return CoverMatrix(starts, indices, len(self.rows)).transposed

    def primes(self, columns: I64, seed: int, end: float) -> U64:
        """Return a prime around each column; `SearchEndedError` at the end of the time."""
        cubes = np.zeros((len(columns), self._shape.width), np.uint64)
        for cube, column in zip(cubes, columns, strict=True):
            kernels.around(self.rows, self.sets[column], cube)
        return grown(cubes, self._off, self._shape, end, seed)


def grown(cubes: U64, off: U64, shape: Shape, end: float, seed: int | None = None) -> U64:
    """Return a prime around each implicant; literals are dropped before outputs are added.

    The order is random if a seed is given. Raises `SearchEndedError` when `time.monotonic()` passes
    `end`.
    """
    variables = np.arange(shape.inputs + shape.outputs)
    order = np.tile(variables, (len(cubes), 1))
    if seed is not None:
        random = np.random.default_rng(seed)
        for part in (order[:, : shape.inputs], order[:, shape.inputs :]):
            random.permuted(part, axis=1, out=part)
    cubes = cubes.copy()
    step = 1 + LOOKS // (1 + len(off) * len(variables))
    for at in range(0, len(cubes), step):
        kernels.grow(cubes[at : at + step], off, order[at : at + step], shape.inputs)
        if time.monotonic() > end:
            raise SearchEndedError
    return cubes


class Gatherer:
    """A search for the fewest products that cover the points of `left` outside `free`.

    All cubes are packed; no point of `off` may be covered. `best` are the fewest products so far,
    `bound` is proved. A search can be continued.
    """

    def __init__(self, left: U64, free: U64, off: U64, shape: Shape) -> None:
        self.best, self.bound = left, min(1, len(left))
        self._left, self._free, self._shape = left, free, shape
        self._gathering = Gathering(off, shape)
        self._random = np.random.default_rng(SEED)
        self._fresh: U64 | None = None
        self._rounds = 0

    @property
    def proved(self) -> bool:
        return self.bound >= len(self.best)

    def search(self, end: float) -> bool:
        """Search until `time.monotonic()` is `end` or solvers make no progress; tell if proved.

        Raises `TooManySetsError` if there are too many sets.
        """
        try:
            with Milp(MEMORY) as milp:
                while not self.proved and (self._fresh is None or len(self._fresh)):
                    self._round(milp, end)
        except SearchEndedError:
            pass
        return self.proved

    def _round(self, milp: Milp, end: float) -> None:
        """Add rows and choose columns that meet all rows.

        A solver runs only if the columns of local search miss no point.
        """
        fresh = self._alone(end) if self._fresh is None else self._fresh
        self._gathering.add(fresh, end)
        cubes = self._chosen(None, end)
        limit = max(FRESH, len(self._gathering.rows) // 8)
        self._fresh = self._missed(np.concatenate([cubes, self._free]), self._left, limit, end)
        if not len(self._fresh) and not self.proved:
            cubes = self._chosen(milp, end)
            self._fresh = self._missed(np.concatenate([cubes, self._free]), self._left, limit, end)
        if not len(self._fresh) and len(cubes) < len(self.best):
            self.best = cubes
        if time.monotonic() > end:
            raise SearchEndedError

    def _chosen(self, milp: Milp | None, end: float) -> U64:
        """Return primes around columns that meet all rows, and update the bound."""
        matrix = self._gathering.matrix
        essential, core = reduced(matrix, np.zeros(matrix.columns, np.int64), end)
        chosen, bound = [essential], len(essential)
        for block in core.blocks():
            solution = solve_block(block, milp, end)
            chosen.append(solution.chosen)
            bound += solution.exact
        self.bound = max(self.bound, min(bound, len(self.best)))
        self._rounds += 1
        return self._gathering.primes(np.concatenate(chosen), self._rounds, end)

    def _alone(self, end: float) -> U64:
        """Return a point of every product that no other product covers."""
        found = [self._shape.none()]
        for k in range(len(self._left)):
            others = np.concatenate([self._left[:k], self._left[k + 1 :], self._free])
            found.append(self._missed(others, self._left[k : k + 1], 1, end))
        return np.concatenate(found)

    def _missed(self, cover: U64, parts: U64, limit: int, end: float) -> U64:
        """Return points of parts that a cover misses, at most `limit`."""
        shape, found = self._shape, []
        owned = np.argwhere(unpack(np.ascontiguousarray(parts[:, shape.out_at :]), shape.outputs))
        spaces: dict[int, U64] = {}
        for k, output in self._random.permutation(owned).tolist():
            if output not in spaces:
                spaces[output] = cover[serving(cover, output, shape), : shape.out_at]
            preferred = self._random.integers(0, 2**64, shape.words, dtype=np.uint64)
            part = missed_part(spaces[output], parts[k, : shape.out_at], preferred, end)
            if part is not None:
                found.append(point_of(part, preferred, output, shape))
                if len(found) == limit:
                    break
        return np.unique(np.array(found, np.uint64).reshape(len(found), shape.width), axis=0)


# --------------------------------------------------------------------------------------------------
# A proof for a function with too many primes to list: essential primes, and the fewest products for
# the rest (`Gatherer`). If the OFF set is unknown, points that need a product each are a bound.
# --------------------------------------------------------------------------------------------------

MOST_OFF = 200_000  # cubes of the OFF set
LONGEST = 1e7  # seconds, for no deadline (four months)
UNPROVED = "the literals were not proved minimal"


class Unlisted:
    """A cover and a bound from packed cubes of ON, DC and both; a proof can be continued."""

    def __init__(self, function: Function, first: U64, sets: tuple[U64, U64, U64]) -> None:
        self._function = function
        self._shape = Shape(function.inputs, function.outputs)
        self._cubes, self._method, self._sets = unpacked(first, self._shape), "given", sets
        self._off: U64 | None = None
        self._needed: Cubes | None = None
        self._gatherer: Gatherer | None = None

    def needed(self, clock: Clock) -> Cover:
        """Find the essential primes; return them if they are a cover.

        They are in every minimum cover of primes; points outside them need one more product.
        """
        half = Clock(min(clock.left, LONGEST) / 2)
        try:
            self._off = self._off_set(half)
            primes = self._primes(half)
            chosen = essential(self._function, primes, half, half.left / (10 + len(primes)))
            needed = primes.take(np.flatnonzero(chosen))
            if missing(self._function, needed, half) is None:
                return Cover(needed, "exact", proved=True, lower_bound=len(needed))
        except (GaveUpError, SearchEndedError):
            return Cover(self._cubes, "given")
        self._cubes = primes if len(primes) < len(self._cubes) else self._cubes
        self._needed = needed
        left = packed(primes.take(np.flatnonzero(~chosen)))
        if self._off is not None:
            free = np.concatenate([self._sets[1], packed(needed)])
            self._gatherer = Gatherer(left, free, self._off, self._shape)
        return self._cover(len(needed) + 1)

    def prove(self, clock: Clock) -> Cover:
        """Continue until the cover is proved or the clock ends."""
        end = time.monotonic() + min(clock.left, LONGEST)
        if self._needed is None:
            known = self.needed(clock)
            if known.proved:
                return known
        needed = self._shape.none() if self._needed is None else packed(self._needed)
        bound, gatherer = len(needed), self._gatherer
        if gatherer is not None:
            try:
                gatherer.search(end)
                bound = len(needed) + gatherer.bound
                if len(needed) + len(gatherer.best) < len(self._cubes):
                    self._cubes = unpacked(np.concatenate([needed, gatherer.best]), self._shape)
                    self._method = "exact"
                return self._cover(bound)
            except TooManySetsError:
                bound = len(needed) + gatherer.bound
        on, dont_care, allowed = self._sets
        free = np.concatenate([dont_care, needed])
        apart = independent_points(_each_output(on, self._shape), free, allowed, self._shape, end)
        return self._cover(max(bound, len(needed) + apart))

    def _cover(self, bound: int) -> Cover:
        proved = len(self._cubes) <= bound
        return Cover(self._cubes, self._method, proved, bound, note=UNPROVED if proved else "")

    def _off_set(self, clock: Clock) -> U64 | None:
        """Return the cubes of OFF, or None if there are too many."""
        given = self._function.given_off
        try:
            allowed = unpacked(self._sets[2], self._shape)
            return packed(complement(allowed, clock, MOST_OFF) if given is None else given)
        except GaveUpError:
            return None

    def _primes(self, clock: Clock) -> Cubes:
        """Return a prime around each of the cover's cubes."""
        if self._off is None:
            return primes_around(self._function, self._cubes, clock)
        end = time.monotonic() + clock.left
        rows = grown(packed(self._cubes), self._off, self._shape, end)
        return unpacked(np.unique(rows, axis=0), self._shape).canonical()


def _each_output(cubes: U64, shape: Shape) -> U64:
    """Return every cube once for each of its outputs."""
    parts = [shape.none()]
    for output in range(shape.outputs):
        own = cubes[serving(cubes, output, shape)].copy()
        own[:, shape.out_at :] = 0
        own[:, shape.out_at + output // 64] = np.uint64(1 << (output % 64))
        parts.append(own)
    return np.concatenate(parts)


# --------------------------------------------------------------------------------------------------
# The fewest products from a pool of implicants, for functions too wide to list all primes.
#
# Sweeps in different orders produce many implicants. Their selection is a covering problem whose
# rows are points that earlier selections missed. Work is counted, so results are reproducible.
# --------------------------------------------------------------------------------------------------

POOLED_STEPS = 30_000  # of local search for a block
ROUNDS = 40  # selections, at most, until one misses no point


class Pool:
    """Implicants of a function, without duplicates."""

    def __init__(self, function: Function) -> None:
        self._shape = Shape(function.inputs, function.outputs)
        self._on, self._free = packed(function.on), packed(function.dc)
        self._rows = self._shape.none()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, cubes: Cubes) -> int:
        """Add implicants; return the number of new ones."""
        before = len(self._rows)
        joined = np.unique(np.concatenate([self._rows, packed(cubes)]), axis=0)
        self._rows = joined
        return len(joined) - before

    def fewest(self, clock: Clock) -> Cubes | None:
        """Return few implicants that cover the function, or None if the time ends first.

        ON must lie in the implicants and the don't-cares.
        """
        end = time.monotonic() + min(clock.left, LONGEST)
        rows = self._rows[size_order(self._rows)]
        kept = np.empty(len(rows), np.int64)
        rows = rows[kept[: maximal(rows, 0, len(rows), kept, 0)]]
        if time.monotonic() >= end:
            return None
        demands = SearchedDemands(self._on, self._free, rows, self._shape)
        try:
            for _ in range(ROUNDS):
                chosen = _chosen(demands.matrix, end)
                if not demands.add_missed(chosen, end):
                    return unpacked(rows[np.sort(chosen)], self._shape)
        except SearchEndedError:
            pass
        return None


def _chosen(matrix: CoverMatrix, end: float) -> I64:
    """Return few columns that meet every row."""
    essential, core = reduced(matrix, np.zeros(matrix.columns, np.int64), end)
    parts = [essential]
    for block in core.blocks():
        search = LocalSearch(block, greedy_columns(block), independent(block))
        search.run(POOLED_STEPS, end)
        parts.append(search.best)
    return np.concatenate(parts)
