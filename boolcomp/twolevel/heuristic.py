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

from boolcomp.twolevel import sweep_kernels as kernels
from boolcomp.twolevel.cubes import Cubes, pack, words_for
from boolcomp.twolevel.dense import IndexCubes, from_index, points_of, to_index, work
from boolcomp.twolevel.localsearch import SEED
from boolcomp.twolevel.primes import FREE, Budget, PrimesTooManyError, primes_of_points
from boolcomp.twolevel.selection import merged, select

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.clock import Clock
    from boolcomp.twolevel.dense import Dense

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
