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
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.twolevel import function as lists
from boolcomp.twolevel import function_kernels as walks
from boolcomp.twolevel import sweep_kernels as kernels
from boolcomp.twolevel.cubes import (
    Clock,
    Cubes,
    GaveUpError,
    literals,
    pack,
    points_of,
    words_for,
    work,
)
from boolcomp.twolevel.primes import (
    Budget,
    PrimesTooManyError,
    SearchedDemands,
    maximal,
    primes_of_points,
)
from boolcomp.twolevel.setcover import SEED, merged, reduced, select, solved

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.twolevel.cubes import F64, I64, U64, Dense, Intp
    from boolcomp.twolevel.function import Function


MOST_POINTS = 1 << 24  # outputs times points: about 300 MB while a cover is improved
FEW_INPUTS = 12  # for a table of all cubes
SOME_INPUTS = 15  # likewise for large covers
MOST_PRIMES = 200_000

_NEVER_SINGLE = 1 << 30
_SECONDS_PER_POINT = 5e-8  # to set up a selection, at most
_BUDGET = 1 << 20  # visits to cubes before a product is skipped
_PATIENT = 1 << 26  # likewise where a product must become a prime
_LIMIT = 8_000_000  # visits to points or cubes between checks of the clock: less than 0.1 s


class Sweeps:
    """A cover under improvement: by default a list of cubes that may not meet `limit` (OFF).

    With `within` products may grow in the cubes of `limit` (ON and DC).
    """

    def __init__(
        self, cubes: Cubes, free: U64, limit: U64, *, within: bool = False, seed: int = 0
    ) -> None:
        """Start with a cover; `free` are cubes of DC."""
        shape, rows = cubes.shape, np.concatenate([cubes.packed, free])
        none = np.zeros((0, 1), np.int32)
        self.shape = shape
        self.random = np.random.default_rng(SEED + seed)
        self.state = kernels.Sweep(
            rows=rows, products=len(cubes), inputs=shape.inputs, outputs=shape.outputs,
            oracle=kernels.WITHIN if within else kernels.OFF,
            part=np.zeros((1, shape.width), np.uint64), noise=np.array([SEED + seed], np.uint64),
            walk=lists.walk_over(shape, max(len(rows), len(limit))),
            off=shape.none(), hits=none, owner=none, single=np.zeros(len(rows), np.int64),
            limit=limit.copy(),
            apart=np.zeros((0 if within else len(limit), shape.words), np.uint64),
        )  # fmt: skip

    @property
    def alive(self) -> Intp:
        """The products that still have outputs."""
        rows = self.state.rows[: self.state.products]
        return np.flatnonzero(rows[:, self.shape.out_at :].any(axis=1))

    @property
    def size(self) -> int:
        return len(self.alive)

    def cubes(self) -> Cubes:
        """Return the products that are left."""
        return self.shape.cubes(self.state.rows[self.alive])

    def run(self, loop: Callable[..., int], given: I64 | F64, clock: Clock, *more: Any) -> int:
        """Repeat a loop until it is done or the clock ends; return its place."""
        at = np.zeros(1, np.int64)
        while not clock.over:
            status = loop(self.state, given, at, *more, _LIMIT)
            if status == walks.DONE:
                break
            if status == walks.MORE_ROOM:
                walk = lists.walk_over(self.shape, self.state.walk.members.size)
                self.state = self.state._replace(walk=walk)
        return int(at[0])

    def sweep(self, order: Intp, blur: float, clock: Clock, *, growing: bool = True) -> None:
        """Visit the products in an order; only reduce them if they are not `growing`."""
        self.run(kernels.sweep, order, clock, blur, growing, _BUDGET)

    def visit(self, number: int, clock: Clock) -> None:
        """Sweep in the order of size, or in random order, by the number of the sweep."""
        products = self.state.products
        order = np.argsort(-literals(self.state.rows[:products], self.shape), kind="stable")
        if number % 2:
            order = self.random.permutation(products)
        self.sweep(order, 0.5 if number else 0.0, clock)

    def shrunk(self, clock: Clock) -> Cubes:
        """Return products shrunk to the points that only they cover; the cover is unchanged."""
        kept = self.state.rows.copy()
        self.sweep(self.random.permutation(self.state.products), 0.0, clock, growing=False)
        found = self.cubes()
        self.state.rows[:] = kept
        return found

    def scatter(self, weights: F64, clock: Clock, budget: int = _BUDGET) -> Cubes:
        """Grow the products at random, with `weights` of outputs; return the products in time."""
        done = self.run(kernels.scatter, weights, clock, budget)
        return self.shape.cubes(self.state.rows[:done]).valid()

    def thin(self, order: Intp, clock: Clock) -> None:
        """Drop superfluous outputs and literals of products."""
        if not self.shape.inputs:  # the bound of a single point has no bits
            return
        # Products of large tables take longer; a chunk is some 10^7 visits to points.
        size = max(1, min(256, _LIMIT // (self.shape.outputs + self.shape.inputs**2)))
        for chunk in np.array_split(order, -(-len(order) // size) or 1):
            self.run(kernels.irredundant, chunk, clock, _BUDGET)


def primes_around(
    cubes: Cubes, limit: Cubes, clock: Clock, *, within: bool = True, seed: int = 0
) -> Cubes:
    """Return a prime around each implicant; literals are dropped, then outputs are added.

    Raises `GaveUpError` where the clock runs out.
    """
    work = Sweeps(cubes.valid(), cubes.shape.none(), limit.packed, within=within, seed=seed)
    grown = work.scatter(np.full(len(cubes), _LITERALS), clock, _PATIENT)
    if len(grown) < work.state.products or work.state.walk.state[walks.UNDECIDED]:
        raise GaveUpError
    return grown


# --------------------------------------------------------------------------------------------------
# The heuristic for truth tables.
# --------------------------------------------------------------------------------------------------


def suits(table: Dense) -> bool:
    return (table.outputs << table.inputs) <= MOST_POINTS


def improve(table: Dense, start: Cubes, clock: Clock, effort: float = 1.0) -> tuple[Cubes, int]:
    """Return a cover no larger than `start` and a proved lower bound.

    `effort` scales the search without a gain.
    """
    if not len(start) or not table.inputs or not suits(table):
        return start, 0
    cover = _TableSweeps(table, start)
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
    cover.thin(cover.by_points(), clock)
    return cover.cubes(), bound


class _TableSweeps(Sweeps):
    """A cover of a truth table under improvement, and the primes found so far."""

    def __init__(self, table: Dense, cubes: Cubes) -> None:
        super().__init__(cubes, cubes.shape.none(), cubes.shape.none())
        self.table = table
        self.pool: list[Cubes] = []
        self.load(cubes)

    def load(self, cubes: Cubes) -> None:
        """Replace the cover; `enter` must follow."""
        table = self.table
        hits = np.zeros((table.outputs, 1 << table.inputs), np.int32)
        hits[points_of(table.dc, table.inputs)] = _NEVER_SINGLE
        self.state = self.state._replace(
            rows=cubes.valid_rows(), products=len(cubes), oracle=kernels.TABLE, off=table.off,
            hits=hits, owner=np.zeros_like(hits), single=np.zeros(len(cubes), np.int64),
        )  # fmt: skip

    def enter(self, clock: Clock) -> bool:
        """Count the products at every point; False if the clock ran out."""
        at = 0
        while at < self.state.products:
            if clock.over:
                return False
            at = kernels.enter_from(self.state, at, _LIMIT)
        return True

    def by_points(self) -> Intp:
        """Return the products in the order of the points that only they cover."""
        return self.alive[np.argsort(self.state.single[self.alive], kind="stable")]

    def sweep_while_it_helps(self, clock: Clock, rounds: int, blur: float = 0.5) -> None:
        """Sweep until two sweeps have no gain: small products first, then in random order."""
        idle = 0
        for k in range(rounds):
            before = self.size
            order = self.by_points() if k % 2 == 0 else self.random.permutation(self.alive)
            self.sweep(order, 0.0 if not self.pool else blur, clock)
            self.pool.append(self.cubes())
            idle = idle + 1 if self.size == before else 0
            if idle == 2 or clock.over:
                return

    def choose(self, candidates: list[Cubes], clock: Clock, effort: float) -> int:
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
            self.load(cubes.take(chosen))
            if not self.enter(clock):
                self.state = kept
        return bound


def _all_primes(table: Dense, products: int, clock: Clock) -> Cubes | None:
    """Return all primes, or None if a list would take too long."""
    inputs, words = table.inputs, words_for(table.outputs)
    cubes = 3**inputs
    worth_it = inputs <= SOME_INPUTS and words * cubes <= 30_000 * products
    if not (inputs <= FEW_INPUTS or worth_it) or clock.left < 1e-7 * cubes * words:
        return None
    allowed = pack(points_of(table.on | table.dc, inputs).T)
    try:
        digits, out = primes_of_points(allowed, table.outputs, Budget(MOST_PRIMES, Clock()))
    except PrimesTooManyError:
        return None
    packed = np.concatenate([pack(digits != 1), pack(digits != 0), out], axis=1)
    return Cubes(inputs, table.outputs, packed)


# --------------------------------------------------------------------------------------------------
# The heuristic for functions with too many inputs for truth tables.
#
# Sweeps as in `improve` work on lists of cubes. Their results, and primes grown at random, are
# collected in a pool. A selection of the fewest products of the pool starts the next sweeps.
# --------------------------------------------------------------------------------------------------

_ROUNDS = 40
_SWEEPS = 4  # per round
_MOST_SCATTERED = 5000
_IDLE = 4  # rounds without a gain before the end
_MOST_OFF = 200_000
_SHARE = 0.25  # of the time left, to find the OFF set
_NO_OFF = "seconds in which the off set was not found"  # key in a function's `__dict__`
_LITERALS, _MIXED, _OUTPUTS = 1e-9, 1.0, 1e9  # weights of outputs: literals first, mixed, last


def improve_lists(function: Function, start: Cubes, clock: Clock, effort: float = 1.0) -> Cubes:
    """Return a cover no larger than `start`."""
    if not len(start) or not function.inputs:
        return start
    off, pool, best, idle, k = _off_set(function, clock), Pool(function), start, 0, 0
    pool.add(start)
    for _ in range(max(1, int(_ROUNDS * effort))):
        work = _sweeps_of(function, best, off, seed=k)
        for _ in range(_SWEEPS):
            work.visit(k, clock)
            k += 1
            pool.add(work.cubes())
            if off is not None:
                pool.add(_scattered(function, work.shrunk(clock), off, k, clock))
        found, pooled = work.cubes(), None if clock.over else pool.fewest(clock)
        if pooled is not None and len(pooled) <= len(found):
            found = pooled
        idle = idle + 1 if len(found) >= len(best) else 0
        best = found if len(found) <= len(best) else best
        if idle == _IDLE or clock.over:
            break
    work = _sweeps_of(function, best, off)
    work.thin(work.alive, clock)
    thinned = work.cubes()
    return thinned if len(thinned) <= len(best) else best


def _sweeps_of(function: Function, start: Cubes, off: Cubes | None, seed: int = 0) -> Sweeps:
    limit = function.on.joined(function.dc) if off is None else off
    return Sweeps(start, function.dc.packed, limit.packed, within=off is None, seed=seed)


def _scattered(function: Function, seeds: Cubes, off: Cubes, seed: int, clock: Clock) -> Cubes:
    """Return random primes around the ON cubes and around points that single products cover."""
    if len(function.on) <= _MOST_SCATTERED:
        seeds = seeds.joined(function.on)
    weights = np.array([_LITERALS, _MIXED, _OUTPUTS])[np.arange(len(seeds)) % 3]
    return Sweeps(seeds, seeds.shape.none(), off.packed, seed=seed).scatter(weights, clock)


def irredundant(function: Function, clock: Clock) -> Cubes:
    """Return an irredundant cover, made of the ON cubes by a single sweep."""
    if not len(function.on) or not function.inputs:
        return function.on
    work = _sweeps_of(function, function.on, _off_set(function, clock))
    work.visit(0, clock)
    return work.cubes()


def within_reach(function: Function) -> bool:
    return _NO_OFF not in function.__dict__


def _off_set(function: Function, clock: Clock) -> Cubes | None:
    """Return the OFF set; None if time or memory do not suffice."""
    if "off" not in function.__dict__ and function.given_off is None:
        seconds = _SHARE * clock.left
        share = Clock(seconds)
        if seconds < 2 * function.__dict__.get(_NO_OFF, 0.0):
            return None
        try:
            allowed = function.on.joined(function.dc)
            # As the cached property `off` does:
            function.__dict__["off"] = lists.complement(allowed, share, _MOST_OFF)
        except GaveUpError:
            function.__dict__[_NO_OFF] = seconds if share.over else math.inf
            return None
        function.__dict__.pop(_NO_OFF, None)
    return function.off if len(function.off) <= _MOST_OFF else None


ROUNDS = 40  # selections, at most, until one misses no point


class Pool:
    """Implicants of a function, without duplicates.

    The rows of the covering problem are points that earlier selections missed. Work is counted, so
    results are reproducible.
    """

    def __init__(self, function: Function) -> None:
        self._shape = function.on.shape
        self._on, self._free = function.on.valid_rows(), function.dc.valid_rows()
        self._rows = self._shape.none()

    def add(self, cubes: Cubes) -> None:
        """Add implicants."""
        self._rows = np.unique(np.concatenate([self._rows, cubes.valid_rows()]), axis=0)

    def fewest(self, clock: Clock) -> Cubes | None:
        """Return few implicants that cover the function, or None if the time ends first.

        ON must lie in the implicants and the don't-cares.
        """
        try:
            rows = maximal(self._rows, Budget(len(self._rows), clock))
            demands = SearchedDemands(self._on, self._free, rows, self._shape)
            for _ in range(ROUNDS):
                clock.check()
                chosen = solved(*reduced(demands.matrix, clock), None, clock).chosen
                if not demands.add_missed(chosen, clock):
                    return self._shape.cubes(rows[np.sort(chosen)])
        except (GaveUpError, PrimesTooManyError):
            pass
        return None
