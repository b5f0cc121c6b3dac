"""Our own heuristic minimiser for functions of too many inputs for truth tables.

Sweeps as in `improve`, on lists of cubes: see `list_sweep_kernels`. What they leave behind, and
primes grown at random beside it, goes into a pool, of which the fewest products are chosen
(`pooled`) for the next sweeps to begin with.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import list_sweep_kernels as kernels
from boolcomp.twolevel import lists
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes, unpack
from boolcomp.twolevel.localsearch import SEED
from boolcomp.twolevel.pooled import Pool
from boolcomp.twolevel.scatter_kernels import scatter

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.twolevel.function import Function

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
