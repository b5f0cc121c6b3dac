"""Our own heuristic minimiser for functions of too many inputs for truth tables.

Sweeps as in `improve`, on lists of cubes: see `list_sweep_kernels`.
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.twolevel.cover import Function

_BUDGET = 1 << 20  # cubes looked at before a product is left as it is
_LIMIT = 1 << 23  # cubes looked at between two looks at the clock
_ROUNDS = 12
_MOST_OFF = 200_000
_SHARE = 0.25  # of the time left, to find the OFF set in
_NO_OFF = "seconds in which the off set was not found"  # beside a function's cached properties


def improve_lists(function: Function, start: Cubes, clock: Clock, effort: float = 1.0) -> Cubes:
    """Return a cover no larger than `start`."""
    # Without inputs there is nothing to grow in, and no cube to mark an empty rest with.
    if not len(start) or not function.inputs:
        return start
    work = _Work(function, start, _off_set(function, clock))
    best = start
    idle = 0
    for k in range(int(_ROUNDS * effort)):
        work.sweep(k, clock)
        found = work.cubes()
        idle = idle + 1 if len(found) >= len(best) else 0
        best = found if len(found) <= len(best) else best
        if idle == 2 or clock.over:
            break
    work.thin(clock)
    thinned = work.cubes()
    return thinned if len(thinned) <= len(best) else best


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

    def __init__(self, function: Function, start: Cubes, off: Cubes | None) -> None:
        self.inputs, self.outputs, self.count = start.inputs, start.outputs, len(start)
        both = start.joined(function.dc)
        self.within = off is None
        limit = function.on.joined(function.dc) if off is None else off
        self.lists = kernels.Lists(
            both.zero.copy(), both.one.copy(), both.out.copy(), np.array([self.count]),
            limit.zero, limit.one, limit.out, np.array([SEED], np.uint64),
        )  # fmt: skip
        self.random = np.random.default_rng(SEED)
        self.conflict = np.zeros_like(limit.zero)
        self.walk = self._walk(8 * max(len(both), len(limit) if off is None else 0) + 64)

    def _walk(self, room: int) -> kernels.Walk:
        words = self.lists.zero.shape[1]
        depth = self.inputs + 3
        return kernels.Walk(
            np.zeros(room, np.int32), np.zeros(depth, np.int64), np.zeros(depth, np.int64),
            np.zeros(depth, np.int64), np.zeros((2, words), np.uint64), np.zeros(4, np.int64),
            np.zeros((2, words), np.uint64), np.zeros((1, 2, words), np.uint64),
            np.zeros(128 * words, np.int64),
        )  # fmt: skip

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
            lambda at: kernels.sweep(
                s, self.walk, order.astype(np.int64), at, self.inputs, self.outputs, wild,
                self.conflict, _BUDGET, _LIMIT, self.within,
            ),
            clock,
        )  # fmt: skip

    def thin(self, clock: Clock) -> None:
        """Drop outputs and literals that the products do not need."""
        order = np.arange(self.count)
        self._run(
            lambda at: kernels.thin(
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
                self.walk = self._walk(2 * self.walk.members.size)
