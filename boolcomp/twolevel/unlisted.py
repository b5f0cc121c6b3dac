"""Minimum covers and bounds for functions with too many primes to list.

For some points of ON, list the maximal sets that one product can contain (no cube of OFF meets the
smallest cube around them). These sets are the columns of a covering problem with the points as
rows; its optimum is a lower bound. If its products, grown to primes, miss points, some of these
points become rows, until the bound meets the best cover or no point is missed. Most primes differ
in irrelevant points, so there are few sets even for very many primes.

McGeer, Sanghavi, Brayton and Sangiovanni-Vincentelli, 1993, use signature cubes for this.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import unlisted_kernels as kernels
from boolcomp.twolevel.cubes import Clock, GaveUpError, Shape, pack, serving, unpack
from boolcomp.twolevel.function import Cover, complement, missed_part, missed_point, missing
from boolcomp.twolevel.heuristic import primes_around
from boolcomp.twolevel.primes import Budget, essential, maximal
from boolcomp.twolevel.setcover import CoverMatrix, reduced, solved
from boolcomp.twolevel.solvers import Milp

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import I64, U64, Cubes
    from boolcomp.twolevel.function import Function


MOST_TRIED = 2000  # points of `independent_points`


def independent_points(on: U64, dont_care: U64, allowed: U64, shape: Shape, clock: Clock) -> int:
    """Return a number of points of ON that need a product each: a bound, improved while time lasts.

    Two points can share a product only if the smallest cube around both lies in ON or DC for the
    outputs of both. `allowed` are cubes of ON and DC.
    """
    random = np.random.default_rng(1)

    @cache  # for drawn outputs only: there may be very many
    def space(output: int) -> U64:
        return allowed[serving(allowed, output, shape)]

    kept: list[tuple[int, U64]] = []
    try:
        for at in random.permutation(len(on))[:MOST_TRIED]:
            clock.check()
            serves = np.flatnonzero(unpack(on[at : at + 1, shape.out_at :], shape.outputs)[0])
            output = int(random.choice(serves))
            free = dont_care[serving(dont_care, output, shape)]
            preferred = random.integers(0, 2**64, shape.words, dtype=np.uint64)
            point = missed_point(free, on[at], output, shape, clock, preferred)
            if point is not None and not any(
                missed_part(space(output), point[None] | other, shape, clock) is None
                and missed_part(space(place), point[None] | other, shape, clock) is None
                for place, other in kept
            ):
                kept.append((output, point))
    except GaveUpError:
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

    def add(self, points: U64, clock: Clock) -> None:
        """Add rows and the columns that contain them.

        Raises `GaveUpError` at the end of the time, `TooManySetsError` for too many columns.
        """
        first = len(self.rows)
        rows = np.concatenate([self.rows, points])
        known = self._points(rows)
        before = np.zeros((len(self.sets), known.ones.shape[1]), np.uint64)
        before[:, : self.sets.shape[1]] = self.sets
        found = [before]
        found += [self._around(known, row, clock) for row in range(first, len(rows))]
        every = np.unique(np.concatenate(found), axis=0)
        self.sets = maximal(every, Budget(len(every), Clock()))
        self.rows = rows

    def _points(self, rows: U64) -> kernels.PackedPoints:
        """Return the rows, and the sets of rows with each input at 1, and with each output."""
        shape = self._shape
        ones = unpack(rows[:, shape.words : shape.out_at], shape.inputs)
        outs = unpack(rows[:, shape.out_at :], shape.outputs)
        return kernels.PackedPoints(rows, pack(ones.T), pack(outs.T))

    def _around(self, known: kernels.PackedPoints, row: int, clock: Clock) -> U64:
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
                clock.check()
            room *= 8
        raise TooManySetsError

    @property
    def matrix(self) -> CoverMatrix:
        """The covering problem."""
        holds = unpack(self.sets, len(self.rows))
        starts = np.concatenate([[0], np.cumsum(holds.sum(axis=1))]).astype(np.int64)
        indices = np.nonzero(holds)[1].astype(np.int32)
        return CoverMatrix(starts, indices, len(self.rows)).transposed

    def primes(self, columns: I64, seed: int, clock: Clock) -> U64:
        """Return a prime around each column; `GaveUpError` at the end of the time."""
        cubes = np.zeros((len(columns), 1, self._shape.width), np.uint64)
        for cube, column in zip(cubes, columns, strict=True):
            kernels.around(self.rows, self.sets[column], cube)
        found, off = (self._shape.cubes(rows) for rows in (cubes[:, 0], self._off))
        return primes_around(found, off, clock, within=False, seed=seed).valid_rows()


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

    def search(self, clock: Clock) -> bool:
        """Search while time lasts, until solvers make no progress; tell if proved.

        Raises `TooManySetsError` if there are too many sets.
        """
        try:
            with Milp() as milp:
                while not self.proved and (self._fresh is None or len(self._fresh)):
                    self._round(milp, clock)
        except GaveUpError:
            pass
        return self.proved

    def _round(self, milp: Milp, clock: Clock) -> None:
        """Add rows and choose columns that meet all rows.

        A solver runs only if the columns of local search miss no point.
        """
        if self._fresh is None:  # a point of every product that no other product covers
            alone = (
                self._missed(np.delete(self._left, k, axis=0), product[None], 1, clock)
                for k, product in enumerate(self._left)
            )
            self._fresh = np.concatenate([self._shape.none(), *alone])
        self._gathering.add(self._fresh, clock)
        limit = max(FRESH, len(self._gathering.rows) // 8)
        for solver in (None, milp):
            cubes = self._chosen(solver, clock)
            self._fresh = self._missed(cubes, self._left, limit, clock)
            if len(self._fresh) or self.proved:
                break
        if not len(self._fresh) and len(cubes) < len(self.best):
            self.best = cubes
        clock.check()

    def _chosen(self, milp: Milp | None, clock: Clock) -> U64:
        """Return primes around columns that meet all rows, and update the bound."""
        solution = solved(*reduced(self._gathering.matrix, clock), milp, clock)
        self.bound = max(self.bound, min(solution.exact, len(self.best)))
        self._rounds += 1
        return self._gathering.primes(solution.chosen, self._rounds, clock)

    def _missed(self, cover: U64, parts: U64, limit: int, clock: Clock) -> U64:
        """Return points of parts that a cover and `free` miss, at most `limit`."""
        shape, found, cover = self._shape, [], np.concatenate([cover, self._free])
        owned = np.argwhere(unpack(parts[:, shape.out_at :], shape.outputs))
        spaces: dict[int, U64] = {}
        for k, output in self._random.permutation(owned).tolist():
            clock.check()
            if output not in spaces:
                spaces[output] = cover[serving(cover, output, shape)]
            preferred = self._random.integers(0, 2**64, shape.words, dtype=np.uint64)
            point = missed_point(spaces[output], parts[k], output, shape, clock, preferred)
            if point is not None:
                found.append(point)
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
    """A cover and a bound from a first cover, and packed ON, DC and both; a proof can continue."""

    def __init__(self, function: Function, first: Cubes, sets: tuple[U64, U64, U64]) -> None:
        self._function, self._shape = function, first.shape
        self._cubes, self._method, self._sets = first, "given", sets
        self._off: Cubes | None = None
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
        except GaveUpError:
            return Cover(self._cubes, "given")
        self._cubes = primes if len(primes) < len(self._cubes) else self._cubes
        self._needed = needed
        if self._off is not None:
            free = np.concatenate([self._sets[1], needed.packed])
            left = primes.take(np.flatnonzero(~chosen)).valid_rows()
            self._gatherer = Gatherer(left, free, self._off.valid_rows(), self._shape)
        return self._cover(len(needed) + 1)

    def prove(self, clock: Clock) -> Cover:
        """Continue until the cover is proved or the clock ends."""
        clock = Clock(min(clock.left, LONGEST))
        if self._needed is None:
            known = self.needed(clock)
            if known.proved:
                return known
        needed = self._shape.none() if self._needed is None else self._needed.valid_rows()
        bound, gatherer = len(needed), self._gatherer
        if gatherer is not None:
            try:
                gatherer.search(clock)
                bound = len(needed) + gatherer.bound
                if len(needed) + len(gatherer.best) < len(self._cubes):
                    self._cubes = self._shape.cubes(np.concatenate([needed, gatherer.best]))
                    self._method = "exact"
                return self._cover(bound)
            except TooManySetsError:
                bound = len(needed) + gatherer.bound
        on, dont_care, allowed = self._sets
        free = np.concatenate([dont_care, needed])
        apart = independent_points(_each_output(on, self._shape), free, allowed, self._shape, clock)
        return self._cover(max(bound, len(needed) + apart))

    def _cover(self, bound: int) -> Cover:
        proved = len(self._cubes) <= bound
        return Cover(self._cubes, self._method, proved, bound, note=UNPROVED if proved else "")

    def _off_set(self, clock: Clock) -> Cubes | None:
        """Return the cubes of OFF, or None if there are too many."""
        if self._function.given_off is not None:
            return self._function.given_off
        try:
            return complement(self._shape.cubes(self._sets[2]), clock, MOST_OFF)
        except GaveUpError:
            return None

    def _primes(self, clock: Clock) -> Cubes:
        """Return a prime around each of the cover's cubes."""
        limit = self._shape.cubes(self._sets[2]) if self._off is None else self._off
        return primes_around(self._cubes, limit, clock, within=self._off is None).canonical()


def _each_output(cubes: U64, shape: Shape) -> U64:
    """Return every cube once for each of its outputs."""
    owners, output = np.nonzero(unpack(cubes[:, shape.out_at :], shape.outputs))
    found = cubes[owners]
    found[:, shape.out_at :] = pack(output[:, None] == np.arange(shape.outputs))
    return found
