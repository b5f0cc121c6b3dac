"""Our own heuristic minimiser on truth tables: from any cover to a small one, without Espresso.

1. Sweeps (`sweep_kernels`): every product is shrunk to what it alone covers and grown to a prime
   that makes others superfluous, again and again while that helps.
2. A choice (`selection`) among candidates: all primes where they can be listed, else all the primes
   that the sweeps have met. From its result the sweeps go on, with more chance, while that helps.
3. Superfluous outputs and literals of the products are dropped.

Random numbers come from a fixed seed and effort is counted in steps, not in time: the result is the
same everywhere, unless the deadline cuts it short.
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
from boolcomp.twolevel.sweep_kernels import scatter
from boolcomp.twolevel.unlisted import Pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import Dense
    from boolcomp.twolevel.function import Function


# --------------------------------------------------------------------------------------------------
# Our own heuristic minimiser on truth tables: from any cover to a small one, without Espresso.
# --------------------------------------------------------------------------------------------------


MOST_POINTS = 1 << 24  # outputs times points: about 300 MB while a cover is improved
FEW_INPUTS = 12  # all cubes are looked at
SOME_INPUTS = 15  # likewise, if the cover is large enough to be worth it
MOST_PRIMES = 200_000

_NEVER_SINGLE = 1 << 30
_SECONDS_PER_POINT = 5e-8  # to set up a choice, at most
_CHUNK = 8_000_000  # points between two looks at the clock: less than a tenth of a second


def suits(table: Dense) -> bool:
    """Tell whether a table is small enough for this module."""
    return (table.outputs << table.inputs) <= MOST_POINTS


def improve(table: Dense, start: Cubes, clock: Clock, effort: float = 1.0) -> tuple[Cubes, int]:
    """Return a cover no larger than `start`, usually much smaller, and a proved lower bound.

    `effort` scales how long the search goes on without a gain.
    """
    cubes = to_index(start)
    if not len(cubes.value) or not suits(table):
        return start, 0
    books = _Books(table, cubes)
    if not books.enter(clock):
        return start, 0
    bound = 0
    # Where the choice will be from all primes in a moment, it needs no polished start.
    books.sweep_while_it_helps(clock, rounds=4 if table.inputs <= FEW_INPUTS else 12)
    primes = _all_primes(table, books.size, clock)
    if primes is not None:
        if table.inputs > FEW_INPUTS:
            books.choose(books.pool, clock, effort / 4)
        bound = books.choose([primes], clock, effort)
    else:
        for _ in range(int(8 * effort)):
            before = books.size
            books.choose(books.pool, clock, effort / 4)
            books.sweep_while_it_helps(clock, rounds=4, wild=1.0)
            if books.size == before or clock.over:
                break
    books.thin(clock)
    return from_index(table.inputs, table.outputs, books.cubes()), bound


class _Books:
    """A cover under improvement, and the primes it has met."""

    def __init__(self, table: Dense, cubes: IndexCubes) -> None:
        self.table = table
        self.random = np.random.default_rng(SEED)
        self.noise = np.array([SEED], np.uint64)
        self.work = np.zeros(1, np.int64)
        self.pool: list[IndexCubes] = []
        self.load(cubes)

    def load(self, cubes: IndexCubes) -> None:
        """Start from another cover; `enter` must follow."""
        table = self.table
        shape = (table.outputs, 1 << table.inputs)
        count = np.zeros(shape, np.int32)
        count[points_of(table.dc, table.inputs)] = _NEVER_SINGLE
        self.state = kernels.State(
            table.off, cubes.value.copy(), cubes.free.copy(), cubes.out.copy(),
            np.zeros(len(cubes.value), np.int64), count, np.zeros(shape, np.int32),
            self.noise, self.work,
        )  # fmt: skip

    def enter(self, clock: Clock) -> bool:
        """Count what covers what; False if the clock ran out."""
        at = 0
        while at < len(self.state.value):
            if clock.over:
                return False
            at = kernels.enter_from(self.state, at, _CHUNK)
        return True

    @property
    def alive(self) -> NDArray[np.intp]:
        """The numbers of the products left."""
        return np.flatnonzero(self.state.out.any(axis=1))

    @property
    def size(self) -> int:
        """How many products are left."""
        return len(self.alive)

    def cubes(self) -> IndexCubes:
        """Return the products left."""
        alive, s = self.alive, self.state
        return IndexCubes(s.value[alive], s.free[alive], s.out[alive])

    def points_in(self, cubes: IndexCubes) -> float:
        """Return how many points cubes cover, each as often as it is covered."""
        return work(cubes, low=0) + (self.table.outputs << self.table.inputs)

    def sweep(self, order: NDArray[np.intp], wild: float, clock: Clock) -> None:
        """Visit the products in that order."""
        at, order = np.zeros(1, np.int64), order.astype(np.int64)
        while not kernels.sweep(self.state, order, at, self.table.inputs, wild, _CHUNK):
            if clock.over:
                return

    def sweep_while_it_helps(self, clock: Clock, rounds: int, wild: float = 0.5) -> None:
        """Sweep until two sweeps have brought nothing: small products first, then at random."""
        idle = 0
        for k in range(rounds):
            before = self.size
            alive = self.alive
            if k % 2 == 0:
                order = alive[np.argsort(self.state.single[alive], kind="stable")]
            else:
                order = self.random.permutation(alive)
            self.sweep(order, 0.0 if not self.pool else wild, clock)
            self.pool.append(self.cubes())
            idle = idle + 1 if self.size == before else 0
            if idle == 2 or clock.over:
                return

    def choose(self, candidates: list[IndexCubes], clock: Clock, effort: float) -> int:
        """Replace the cover by a choice from itself and the candidates, if that is smaller.

        Returns a lower bound on the size of any such choice.
        """
        if clock.left < _SECONDS_PER_POINT * sum(self.points_in(part) for part in candidates):
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
        """Drop outputs and literals that the products do not need."""
        order = self.alive[np.argsort(self.state.single[self.alive], kind="stable")]
        # A product takes longer the more points there are; a chunk is some 10^7 looks at them.
        size = max(1, min(256, _CHUNK // (self.table.outputs + self.table.inputs**2)))
        for chunk in np.array_split(order, -(-len(order) // size) or 1):
            if not clock.over:
                kernels.thin(self.state, chunk.astype(np.int64), self.table.inputs)


def _all_primes(table: Dense, products: int, clock: Clock) -> IndexCubes | None:
    """Return all primes, or None where listing them is not worth it (or not possible)."""
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
# Our own heuristic minimiser for functions of too many inputs for truth tables.
#
# Sweeps as in `improve`, on lists of cubes: see `list_sweep_kernels`. What they leave behind, and
# primes grown at random beside it, goes into a pool, of which the fewest products are chosen
# (`pooled`) for the next sweeps to begin with.
# --------------------------------------------------------------------------------------------------


_BUDGET = 1 << 20  # cubes looked at before a product is left as it is
_LIMIT = 1 << 23  # cubes looked at between two looks at the clock
_ROUNDS = 40
_SWEEPS = 4  # of a round
_MOST_SCATTERED = 5000
_IDLE = 4  # rounds without a gain, before it ends
_MOST_OFF = 200_000
_SHARE = 0.25  # of the time left, to find the OFF set in
_NO_OFF = "seconds in which the off set was not found"  # beside a function's cached properties


def improve_lists(function: Function, start: Cubes, clock: Clock, effort: float = 1.0) -> Cubes:
    """Return a cover no larger than `start`."""
    # Without inputs there is nothing to grow in, and no cube to mark an empty rest with.
    if not len(start) or not function.inputs:
        return start
    off, pool, best, idle, k = _off_set(function, clock), Pool(function), start, 0, 0
    pool.add(start)
    for _ in range(max(1, int(_ROUNDS * effort))):
        work = _Work(function, best, off, seed=k)
        for _ in range(_SWEEPS):
            work.sweep(k, clock)
            k += 1
            pool.add(work.cubes())
            if off is not None:
                pool.add(_scattered(function, work, off, k, clock))
        found = _fewer(work.cubes(), None if clock.over else pool.fewest(clock))
        idle = idle + 1 if len(found) >= len(best) else 0
        best = found if len(found) <= len(best) else best
        if idle == _IDLE or clock.over:
            break
    work = _Work(function, best, off)
    work.thin(clock)
    thinned = work.cubes()
    return thinned if len(thinned) <= len(best) else best


def _scattered(function: Function, work: _Work, off: Cubes, seed: int, clock: Clock) -> Cubes:
    """Return primes around the function's ON cubes and around what products alone cover."""
    begun = work.shrunk(clock)
    if len(function.on) <= _MOST_SCATTERED:
        begun = begun.joined(function.on)
    s = kernels.Lists(
        begun.zero.copy(), begun.one.copy(), begun.out.copy(), np.array([len(begun)]),
        off.zero, off.one, off.out, np.array([SEED + seed], np.uint64),
    )  # fmt: skip
    at, conflict = np.zeros(1, np.int64), np.zeros_like(off.zero)
    while not scatter(s, at, begun.inputs, begun.outputs, _LIMIT, conflict):
        if clock.over:
            break
    done = np.arange(int(at[0]))
    return Cubes(begun.inputs, begun.outputs, s.zero, s.one, s.out).take(done).valid()


def _fewer(first: Cubes, second: Cubes | None) -> Cubes:
    return first if second is None or len(first) < len(second) else second


def irredundant(function: Function, clock: Clock) -> Cubes:
    """Return an irredundant cover made of the function's ON cubes by a single sweep."""
    if not len(function.on) or not function.inputs:
        return function.on
    work = _Work(function, function.on, _off_set(function, clock))
    work.sweep(0, clock)
    return work.cubes()


def within_reach(function: Function) -> bool:
    """Tell whether the OFF set was found when it was last looked for."""
    return _NO_OFF not in function.__dict__


def _off_set(function: Function, clock: Clock) -> Cubes | None:
    """Return the OFF set; None where the clock or the memory does not reach for it."""
    if "off" not in function.__dict__ and function.given_off is None:
        seconds = _SHARE * clock.left
        share = Clock(None if math.isinf(seconds) else seconds)
        if seconds < 2 * function.__dict__.get(_NO_OFF, 0.0):
            return None
        try:
            allowed = function.on.joined(function.dc)
            # Kept where the cached property `off` would keep it.
            function.__dict__["off"] = lists.complement(allowed, share, _MOST_OFF)
        except lists.GaveUpError:
            function.__dict__[_NO_OFF] = seconds if share.over else math.inf
            return None
        function.__dict__.pop(_NO_OFF, None)
    return function.off if len(function.off) <= _MOST_OFF else None


class _Work:
    """A cover under improvement."""

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
        """Return the products left."""
        s, n = self.lists, self.count
        zero, one, out = (array[:n].copy() for array in (s.zero, s.one, s.out))
        return Cubes(self.inputs, self.outputs, zero, one, out).valid()

    def sweep(self, number: int, clock: Clock) -> None:
        """Visit every product: by size first, then at random."""
        s = self.lists
        if number % 2 == 0:
            literals = unpack(s.zero ^ s.one, self.inputs).sum(axis=1)[: self.count]
            order = np.argsort(-literals, kind="stable")
        else:
            order = self.random.permutation(self.count)
        wild = 0.5 if number else 0.0
        self._run(
            lambda at: kernels.sweep_lists(
                s, self.walk, order.astype(np.int64), at, self.inputs, self.outputs, wild,
                self.conflict, _BUDGET, _LIMIT, self.within,
            ),
            clock,
        )  # fmt: skip

    def shrunk(self, clock: Clock) -> Cubes:
        """Return what products alone cover, in the order of a sweep, and leave them as they are."""
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
        """Drop outputs and literals that the products do not need."""
        order = np.arange(self.count)
        self._run(
            lambda at: kernels.thin_lists(
                self.lists, self.walk, order, at, self.inputs, self.conflict, _BUDGET, _LIMIT,
                self.within,
            ),
            clock,
        )  # fmt: skip

    def _run(self, step: Callable[[NDArray[np.int64]], int], clock: Clock) -> None:
        at = np.zeros(1, np.int64)
        while not clock.over:
            status = step(at)
            if status == kernels.FINISHED:
                return
            if status == kernels.NO_ROOM:
                self.walk = lists.buffers(self.inputs, 2 * self.walk.members.size)
