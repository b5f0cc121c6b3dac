"""A heuristic minimiser: from any cover to a small one, on truth tables or on lists of cubes.

1. Sweeps (`sweep_kernels`): every product is shrunk to the points that only it covers and grown to
   a prime that makes others superfluous, while that helps.
2. A selection (`setcover`) among candidates: all primes if they can be listed, else all primes that
   the sweeps have found. Sweeps with more randomness continue from its result while that helps.
3. Superfluous outputs and literals of products are dropped.

Random numbers have a fixed seed and effort is counted in steps, not in time: results are
reproducible, except at a deadline.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import function as lists
from boolcomp.twolevel import sweep_kernels as kernels
from boolcomp.twolevel.cubes import (
    Clock,
    Cubes,
    IndexCubes,
    from_index,
    pack,
    points_of,
    to_index,
    unpack,
    words_for,
    work,
)
from boolcomp.twolevel.primes import FREE, Budget, PrimesTooManyError, primes_of_points
from boolcomp.twolevel.setcover import SEED, merged, select
from boolcomp.twolevel.unlisted import Pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.twolevel.cubes import I64, Dense, Intp
    from boolcomp.twolevel.function import Function


MOST_POINTS = 1 << 24  # outputs times points: about 300 MB while a cover is improved
FEW_INPUTS = 12  # for a table of all cubes
SOME_INPUTS = 15  # likewise for large covers
MOST_PRIMES = 200_000

_NEVER_SINGLE = 1 << 30
_SECONDS_PER_POINT = 5e-8  # to set up a selection, at most
_CHUNK = 8_000_000  # points between checks of the clock: less than a tenth of a second


def suits(table: Dense) -> bool:
    return (table.outputs << table.inputs) <= MOST_POINTS


def improve(table: Dense, start: Cubes, clock: Clock, effort: float = 1.0) -> tuple[Cubes, int]:
    """Return a cover no larger than `start` and a proved lower bound.

    `effort` scales the search without a gain.
    """
    cubes = to_index(start)
    if not len(cubes.value) or not suits(table):
        return start, 0
    cover = _TableCover(table, cubes)
    if not cover.enter(clock):
        return start, 0
    bound = 0
    # A selection from all primes needs no good start.
    cover.sweep_while_it_helps(clock, rounds=4 if table.inputs <= FEW_INPUTS else 12)
    primes = _all_primes(table, cover.size, clock)
    if primes is not None:
        if table.inputs > FEW_INPUTS:
            cover.choose(cover.pool, clock, effort / 4)
        bound = cover.choose([primes], clock, effort)
    else:
        for _ in range(int(8 * effort)):
            before = cover.size
            cover.choose(cover.pool, clock, effort / 4)
            cover.sweep_while_it_helps(clock, rounds=4, blur=1.0)
            if cover.size == before or clock.over:
                break
    cover.thin(clock)
    return from_index(table.inputs, table.outputs, cover.cubes()), bound


class _TableCover:
    """A cover of a truth table under improvement, and the primes found so far."""

    def __init__(self, table: Dense, cubes: IndexCubes) -> None:
        self.table = table
        self.random = np.random.default_rng(SEED)
        self.noise = np.array([SEED], np.uint64)
        self.work = np.zeros(1, np.int64)
        self.pool: list[IndexCubes] = []
        self.load(cubes)

    def load(self, cubes: IndexCubes) -> None:
        """Replace the cover; `enter` must follow."""
        table = self.table
        shape = (table.outputs, 1 << table.inputs)
        count = np.zeros(shape, np.int32)
        count[points_of(table.dc, table.inputs)] = _NEVER_SINGLE
        self.state = kernels.CoverCounts(
            table.off, cubes.value.copy(), cubes.free.copy(), cubes.out.copy(),
            np.zeros(len(cubes.value), np.int64), count, np.zeros(shape, np.int32),
            self.noise, self.work,
        )  # fmt: skip

    def enter(self, clock: Clock) -> bool:
        """Count the products at every point; False if the clock ran out."""
        at = 0
        while at < len(self.state.value):
            if clock.over:
                return False
            at = kernels.enter_from(self.state, at, _CHUNK)
        return True

    @property
    def alive(self) -> Intp:
        return np.flatnonzero(self.state.out.any(axis=1))

    @property
    def size(self) -> int:
        return len(self.alive)

    def cubes(self) -> IndexCubes:
        """Return the products that are left."""
        alive, s = self.alive, self.state
        return IndexCubes(s.value[alive], s.free[alive], s.out[alive])

    def sweep(self, order: Intp, blur: float, clock: Clock) -> None:
        """Visit the products in an order."""
        at, order = np.zeros(1, np.int64), order.astype(np.int64)
        while not kernels.sweep(self.state, order, at, self.table.inputs, blur, _CHUNK):
            if clock.over:
                return

    def sweep_while_it_helps(self, clock: Clock, rounds: int, blur: float = 0.5) -> None:
        """Sweep until two sweeps have no gain: small products first, then in random order."""
        idle = 0
        for k in range(rounds):
            before = self.size
            alive = self.alive
            if k % 2 == 0:
                order = alive[np.argsort(self.state.single[alive], kind="stable")]
            else:
                order = self.random.permutation(alive)
            self.sweep(order, 0.0 if not self.pool else blur, clock)
            self.pool.append(self.cubes())
            idle = idle + 1 if self.size == before else 0
            if idle == 2 or clock.over:
                return

    def choose(self, candidates: list[IndexCubes], clock: Clock, effort: float) -> int:
        """Replace the cover by a smaller selection from itself and the candidates, if there is one.

        Return a lower bound on the size of any selection.
        """
        table = self.table.outputs << self.table.inputs
        points = sum(work(part, low=0) + table for part in candidates)
        if clock.left < _SECONDS_PER_POINT * points:
            return 0
        cubes, first = merged([self.cubes(), *candidates])
        chosen, bound = select(self.table, cubes, first, clock, effort)
        if len(chosen) < len(first):
            kept = self.state
            self.load(IndexCubes(cubes.value[chosen], cubes.free[chosen], cubes.out[chosen]))
            if not self.enter(clock):
                self.state = kept
        return bound

    def thin(self, clock: Clock) -> None:
        """Drop superfluous outputs and literals of products."""
        order = self.alive[np.argsort(self.state.single[self.alive], kind="stable")]
        # Products of large tables take longer; a chunk is some 10^7 visits to points.
        size = max(1, min(256, _CHUNK // (self.table.outputs + self.table.inputs**2)))
        for chunk in np.array_split(order, -(-len(order) // size) or 1):
            if not clock.over:
                kernels.thin(self.state, chunk.astype(np.int64), self.table.inputs)


def _all_primes(table: Dense, products: int, clock: Clock) -> IndexCubes | None:
    """Return all primes, or None if a list would take too long."""
    inputs, words = table.inputs, words_for(table.outputs)
    cubes = 3**inputs
    worth_it = inputs <= SOME_INPUTS and words * cubes <= 30_000 * products
    if not (inputs <= FEW_INPUTS or worth_it) or clock.left < 1e-7 * cubes * words:
        return None
    allowed = pack(points_of(table.on | table.dc, inputs).T)
    try:
        digits, out = primes_of_points(allowed, table.outputs, Budget(MOST_PRIMES, math.inf))
    except PrimesTooManyError:
        return None
    bits = 1 << np.arange(inputs)[::-1]
    return IndexCubes((digits == 1) @ bits, (digits == FREE) @ bits, out)


# --------------------------------------------------------------------------------------------------
# The heuristic for functions with too many inputs for truth tables.
#
# Sweeps as in `improve` work on lists of cubes. Their results, and primes grown at random, are
# collected in a pool (`unlisted`). A selection of the fewest products of the pool starts the next
# sweeps.
# --------------------------------------------------------------------------------------------------

_BUDGET = 1 << 20  # visits to cubes before a product is skipped
_LIMIT = 1 << 23  # visits to cubes between checks of the clock
_ROUNDS = 40
_SWEEPS = 4  # per round
_MOST_SCATTERED = 5000
_IDLE = 4  # rounds without a gain before the end
_MOST_OFF = 200_000
_SHARE = 0.25  # of the time left, to find the OFF set
_NO_OFF = "seconds in which the off set was not found"  # key in a function's `__dict__`


def improve_lists(function: Function, start: Cubes, clock: Clock, effort: float = 1.0) -> Cubes:
    """Return a cover no larger than `start`."""
    if not len(start) or not function.inputs:
        return start
    off, pool, best, idle, k = _off_set(function, clock), Pool(function), start, 0, 0
    pool.add(start)
    for _ in range(max(1, int(_ROUNDS * effort))):
        work = _ListCover(function, best, off, seed=k)
        for _ in range(_SWEEPS):
            work.sweep(k, clock)
            k += 1
            pool.add(work.cubes())
            if off is not None:
                pool.add(_scattered(function, work, off, k, clock))
        found, pooled = work.cubes(), None if clock.over else pool.fewest(clock)
        if pooled is not None and len(pooled) <= len(found):
            found = pooled
        idle = idle + 1 if len(found) >= len(best) else 0
        best = found if len(found) <= len(best) else best
        if idle == _IDLE or clock.over:
            break
    work = _ListCover(function, best, off)
    work.thin(clock)
    thinned = work.cubes()
    return thinned if len(thinned) <= len(best) else best


def _scattered(function: Function, work: _ListCover, off: Cubes, seed: int, clock: Clock) -> Cubes:
    """Return random primes around the ON cubes and around points that single products cover."""
    seeds = work.shrunk(clock)
    if len(function.on) <= _MOST_SCATTERED:
        seeds = seeds.joined(function.on)
    s = kernels.Lists(
        seeds.zero.copy(), seeds.one.copy(), seeds.out.copy(), np.array([len(seeds)]),
        off.zero, off.one, off.out, np.array([SEED + seed], np.uint64),
    )  # fmt: skip
    at, conflict = np.zeros(1, np.int64), np.zeros_like(off.zero)
    while not kernels.scatter(s, at, seeds.inputs, seeds.outputs, _LIMIT, conflict):
        if clock.over:
            break
    done = np.arange(int(at[0]))
    return Cubes(seeds.inputs, seeds.outputs, s.zero, s.one, s.out).take(done).valid()


def irredundant(function: Function, clock: Clock) -> Cubes:
    """Return an irredundant cover, made of the ON cubes by a single sweep."""
    if not len(function.on) or not function.inputs:
        return function.on
    work = _ListCover(function, function.on, _off_set(function, clock))
    work.sweep(0, clock)
    return work.cubes()


def within_reach(function: Function) -> bool:
    return _NO_OFF not in function.__dict__


def _off_set(function: Function, clock: Clock) -> Cubes | None:
    """Return the OFF set; None if time or memory do not suffice."""
    if "off" not in function.__dict__ and function.given_off is None:
        seconds = _SHARE * clock.left
        share = Clock(None if math.isinf(seconds) else seconds)
        if seconds < 2 * function.__dict__.get(_NO_OFF, 0.0):
            return None
        try:
            allowed = function.on.joined(function.dc)
            # As the cached property `off` does:
            function.__dict__["off"] = lists.complement(allowed, share, _MOST_OFF)
        except lists.GaveUpError:
            function.__dict__[_NO_OFF] = seconds if share.over else math.inf
            return None
        function.__dict__.pop(_NO_OFF, None)
    return function.off if len(function.off) <= _MOST_OFF else None


class _ListCover:
    """A cover of a list of cubes under improvement, against OFF or within ON and DC."""

    def __init__(self, function: Function, start: Cubes, off: Cubes | None, seed: int = 0) -> None:
        self.inputs, self.outputs, self.count = start.inputs, start.outputs, len(start)
        both = start.joined(function.dc)
        self.within = off is None
        limit = function.on.joined(function.dc) if off is None else off
        self.lists = kernels.Lists(
            both.zero.copy(), both.one.copy(), both.out.copy(), np.array([self.count]),
            limit.zero, limit.one, limit.out, np.array([SEED + seed], np.uint64),
        )  # fmt: skip
        self.random = np.random.default_rng(SEED + seed)
        self.conflict = np.zeros_like(limit.zero)
        self.walk = lists.buffers(
            self.inputs, 8 * max(len(both), len(limit) if off is None else 0) + 64
        )

    def cubes(self) -> Cubes:
        """Return the products that are left."""
        s, n = self.lists, self.count
        zero, one, out = (array[:n].copy() for array in (s.zero, s.one, s.out))
        return Cubes(self.inputs, self.outputs, zero, one, out).valid()

    def sweep(self, number: int, clock: Clock) -> None:
        """Visit every product, by size or in random order."""
        s = self.lists
        if number % 2 == 0:
            literals = unpack(s.zero ^ s.one, self.inputs).sum(axis=1)[: self.count]
            order = np.argsort(-literals, kind="stable")
        else:
            order = self.random.permutation(self.count)
        blur = 0.5 if number else 0.0
        self._run(
            lambda at: kernels.sweep_lists(
                s, self.walk, order.astype(np.int64), at, self.inputs, self.outputs, blur,
                self.conflict, _BUDGET, _LIMIT, self.within,
            ),
            clock,
        )  # fmt: skip

    def shrunk(self, clock: Clock) -> Cubes:
        """Return products shrunk to the points that only they cover; the cover is unchanged."""
        kept = [array.copy() for array in (self.lists.zero, self.lists.one, self.lists.out)]
        order = self.random.permutation(self.count).astype(np.int64)
        self._run(
            lambda at: kernels.shrink_all(
                self.lists, self.walk, order, at, self.inputs, _BUDGET, _LIMIT
            ),
            clock,
        )
        found = self.cubes()
        for array, before in zip(self.lists[:3], kept, strict=True):
            array[:] = before
        return found

    def thin(self, clock: Clock) -> None:
        """Drop superfluous outputs and literals of products."""
        order = np.arange(self.count)
        self._run(
            lambda at: kernels.thin_lists(
                self.lists, self.walk, order, at, self.inputs, self.conflict, _BUDGET, _LIMIT,
                self.within,
            ),
            clock,
        )  # fmt: skip

    def _run(self, step: Callable[[I64], int], clock: Clock) -> None:
        at = np.zeros(1, np.int64)
        while not clock.over:
            status = step(at)
            if status == kernels.FINISHED:
                return
            if status == kernels.NO_ROOM:
                self.walk = lists.buffers(self.inputs, 2 * self.walk.members.size)
