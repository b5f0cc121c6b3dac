"""Compiled loops that improve a cover as a list of cubes, for many inputs.

The same visits as in `sweep_kernels`: a product is shrunk to what it alone covers (by cofactor
recursion) and grown to a prime towards other products: against the OFF set, or, where that is out
of reach, as long as ON and DC hold it.
"""
# ruff: noqa: PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.function_kernels import (
    BOUND,
    DONE,
    FIND,
    MORE_ROOM,
    PAUSED,
    Walk,
    meets,
    restart,
)
from boolcomp.twolevel.sweep_kernels import has, random

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = np.uint64(1)
FINISHED, STOPPED, NO_ROOM = 0, 1, 2


class Lists(NamedTuple):
    """The cover, then the don't-cares (from number `fixed[0]` on), and what limits growth.

    The limit is the OFF set, or, in functions told `within`, ON and DC. `noise` is the state of the
    random numbers.
    """

    zero: NDArray[np.uint64]
    one: NDArray[np.uint64]
    out: NDArray[np.uint64]
    fixed: NDArray[np.int64]
    limit_zero: NDArray[np.uint64]
    limit_one: NDArray[np.uint64]
    limit_out: NDArray[np.uint64]
    noise: NDArray[np.uint64]


@njit(cache=True, nogil=True)
def alone(s: Lists, w: Walk, c: int, j: int, inputs: int, budget: int) -> int:
    """Set w.bound to the smallest cube around what only product c covers of output j."""
    size = 0
    for i in range(len(s.zero)):
        if i != c and has(s.out[i], j) and meets(s.zero[i], s.one[i], s.zero[c], s.one[c], inputs):
            w.members[size] = i
            size += 1
    w.bound[:] = 0
    w.state[3] += len(s.zero)
    return restart(s.zero, s.one, w, size, s.zero[c], s.one[c], BOUND, budget)


@njit(cache=True, nogil=True)
def shrink(s: Lists, w: Walk, c: int, inputs: int, budget: int) -> int:
    """Shrink product c to what it alone covers; it loses all its outputs where that is nothing."""
    total = np.zeros_like(w.region)
    keep = np.zeros_like(s.out[c])
    for j in range(64 * s.out.shape[1]):
        if not has(s.out[c], j):
            continue
        before = w.state[3]
        status = alone(s, w, c, j, inputs, budget)
        budget -= w.state[3] - before
        if status == MORE_ROOM:
            return NO_ROOM
        if status == PAUSED:
            return STOPPED
        if w.bound.any():
            total |= w.bound
            keep[j >> 6] |= ONE << np.uint64(j & 63)
    s.out[c] = keep
    if keep.any():
        s.zero[c] = total[0]
        s.one[c] = total[1]
    return FINISHED


@njit(cache=True, nogil=True, inline="always")
def _bits(x: np.uint64) -> int:
    n = 0
    while x:
        x &= x - ONE
        n += 1
    return n


@njit(cache=True, nogil=True)
def _blockers(
    s: Lists,
    c: int,
    conflict: NDArray[np.uint64],
    blocked: NDArray[np.uint64],
    outputs_blocked: NDArray[np.uint64],
) -> None:
    """Find which inputs and outputs product c must not be grown in.

    `conflict` holds for every OFF cube the inputs that keep it apart from the product.
    """
    words = s.zero.shape[1]
    blocked[:] = 0
    outputs_blocked[:] = 0
    for r in range(len(s.limit_zero)):
        apart = 0
        for w in range(words):
            apart += _bits(conflict[r, w])
        if apart > 1:
            continue
        if apart == 0:
            outputs_blocked |= s.limit_out[r]
            continue
        for v in range(s.out.shape[1]):
            if s.limit_out[r, v] & s.out[c, v]:
                blocked |= conflict[r]
                break


@njit(cache=True, nogil=True)
def _pull(s: Lists, c: int, blocked: NDArray[np.uint64], gain: NDArray[np.float64]) -> None:
    """Add to each input's gain how much raising it helps to swallow other products."""
    words = s.zero.shape[1]
    need = np.zeros(words, np.uint64)
    for d in range(s.fixed[0]):
        common = False
        for v in range(s.out.shape[1]):
            common = common or (s.out[d, v] & s.out[c, v]) != 0
        if d == c or not common:
            continue
        steps, possible = 0, True
        for w in range(words):
            need[w] = (s.zero[d, w] & ~s.zero[c, w]) | (s.one[d, w] & ~s.one[c, w])
            possible = possible and not need[w] & blocked[w]
            steps += _bits(need[w])
        if possible and steps:
            for i in range(gain.size):
                if has(need, i):
                    gain[i] += 1.0 / (steps * steps)


@njit(cache=True, nogil=True)
def _best_literal(
    s: Lists, c: int, blocked: NDArray[np.uint64], gain: NDArray[np.float64], wild: float
) -> tuple[int, float]:
    """Return the literal of highest gain (blurred by `wild`) that may go, -1 if none may."""
    best, best_gain = -1, -1.0
    for i in range(gain.size):
        if has(blocked, i) or (has(s.zero[c], i) and has(s.one[c], i)):
            continue
        blur = random(s.noise) / 2147483648.0
        g = gain[i] * (1.0 + wild * blur) + 1e-6 * blur
        if g > best_gain:
            best, best_gain = i, g
    return best, best_gain


@njit(cache=True, nogil=True)
def grow(
    s: Lists, c: int, inputs: int, outputs: int, wild: float, conflict: NDArray[np.uint64]
) -> None:
    """Grow product c to a prime; `outputs` is 0 to leave its outputs alone."""
    words = s.zero.shape[1]
    blocked = np.zeros(words, np.uint64)
    outputs_blocked = np.zeros(s.out.shape[1], np.uint64)
    gain = np.zeros(inputs)
    for r in range(len(s.limit_zero)):
        for w in range(words):
            either = (s.zero[c, w] & s.limit_zero[r, w]) | (s.one[c, w] & s.limit_one[r, w])
            span = min(64, inputs - 64 * w)
            full = ~np.uint64(0) if span >= 64 else (ONE << np.uint64(max(0, span))) - ONE
            conflict[r, w] = full & ~either
    while True:
        _blockers(s, c, conflict, blocked, outputs_blocked)
        gain[:] = 0
        _pull(s, c, blocked, gain)
        best, best_gain = _best_literal(s, c, blocked, gain, wild)
        # Outputs come before inputs that swallow nothing: they shut no way that still leads on.
        if best_gain < 1e-3:
            for j in range(outputs):
                if not has(s.out[c], j) and not has(outputs_blocked, j):
                    s.out[c, j >> 6] |= ONE << np.uint64(j & 63)
                    _blockers(s, c, conflict, blocked, outputs_blocked)
            if best >= 0 and has(blocked, best):
                continue
        if best < 0:
            return
        bit = ONE << np.uint64(best & 63)
        s.zero[c, best >> 6] |= bit
        s.one[c, best >> 6] |= bit
        for r in range(len(conflict)):
            conflict[r, best >> 6] &= ~bit


@njit(cache=True, nogil=True)
def _held(s: Lists, w: Walk, j: int, inputs: int, budget: int) -> int:
    """Look whether the cubes of the limit hold w.region for output j: FINISHED where they do."""
    size = 0
    for r in range(len(s.limit_zero)):
        if has(s.limit_out[r], j) and meets(
            s.limit_zero[r], s.limit_one[r], w.region[0], w.region[1], inputs
        ):
            w.members[size] = r
            size += 1
    w.state[3] += len(s.limit_zero)
    region = w.region
    status = restart(s.limit_zero, s.limit_one, w, size, region[0], region[1], FIND, budget)
    if status == MORE_ROOM:
        return NO_ROOM
    return FINISHED if status == DONE else STOPPED


@njit(cache=True, nogil=True)
def _may_grow(s: Lists, w: Walk, c: int, i: int, inputs: int, budget: int) -> int:
    """Look whether product c may lose its literal of input i: FINISHED where it may."""
    v, bit = i >> 6, ONE << np.uint64(i & 63)
    for j in range(64 * s.out.shape[1]):
        if has(s.out[c], j):
            w.region[0] = s.zero[c]
            w.region[1] = s.one[c]
            w.region[0, v] ^= bit
            w.region[1, v] ^= bit
            status = _held(s, w, j, inputs, budget)
            if status != FINISHED:
                return status
    return FINISHED


@njit(cache=True, nogil=True)
def grow_within(
    s: Lists, w: Walk, c: int, inputs: int, outputs: int, wild: float, budget: int, limit: int
) -> int:
    """Grow product c while ON and DC hold it, with so much work; `outputs` as in `grow`.

    A literal that may not go now may not go later either, so each is tried once.
    """
    blocked = np.zeros(s.zero.shape[1], np.uint64)
    gain = np.zeros(inputs)
    stop = w.state[3] + limit
    while w.state[3] < stop:
        gain[:] = 0
        _pull(s, c, blocked, gain)
        w.state[3] += s.fixed[0]
        best, _ = _best_literal(s, c, blocked, gain, wild)
        if best < 0:
            break
        status = _may_grow(s, w, c, best, inputs, budget)
        if status == NO_ROOM:
            return status
        bit = ONE << np.uint64(best & 63)
        if status == FINISHED:
            s.zero[c, best >> 6] |= bit
            s.one[c, best >> 6] |= bit
        else:
            blocked[best >> 6] |= bit
    for j in range(outputs):
        if w.state[3] < stop and not has(s.out[c], j):
            w.region[0] = s.zero[c]
            w.region[1] = s.one[c]
            status = _held(s, w, j, inputs, budget)
            if status == NO_ROOM:
                return status
            if status == FINISHED:
                s.out[c, j >> 6] |= ONE << np.uint64(j & 63)
    return FINISHED


@njit(cache=True, nogil=True)
def _grown(
    s: Lists,
    w: Walk,
    c: int,
    inputs: int,
    outputs: int,
    wild: float,
    conflict: NDArray[np.uint64],
    budget: int,
    limit: int,
    within: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
) -> int:
    """Grow product c to a prime by the limit there is."""
    if within:
        return grow_within(s, w, c, inputs, outputs, wild, budget >> 4, limit)
    grow(s, c, inputs, outputs, wild, conflict)
    w.state[3] += inputs * (len(s.zero) + len(conflict))
    return FINISHED


@njit(cache=True, nogil=True)
def sweep_lists(
    s: Lists,
    w: Walk,
    order: NDArray[np.int64],
    at: NDArray[np.int64],
    inputs: int,
    outputs: int,
    wild: float,
    conflict: NDArray[np.uint64],
    budget: int,
    limit: int,
    within: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
) -> int:
    """Visit products from place at[0] of the order on, until work `limit`; FINISHED after the last.

    `budget` limits the work on one output of a product, which else is left as it is.
    """
    w.state[3] = 0
    while at[0] < len(order):
        if w.state[3] > limit:
            return STOPPED
        c = order[at[0]]
        if s.out[c].any():
            status = shrink(s, w, c, inputs, budget)
            if status == NO_ROOM:
                return status
            if status == FINISHED and s.out[c].any():
                status = _grown(s, w, c, inputs, outputs, wild, conflict, budget, limit, within)
                if status == NO_ROOM:
                    return status
        at[0] += 1
    return FINISHED


@njit(cache=True, nogil=True)
def shrink_all(
    s: Lists,
    w: Walk,
    order: NDArray[np.int64],
    at: NDArray[np.int64],
    inputs: int,
    budget: int,
    limit: int,
) -> int:
    """Shrink products one after the other to what they alone cover; else as `sweep`."""
    w.state[3] = 0
    while at[0] < len(order):
        if w.state[3] > limit:
            return STOPPED
        c = order[at[0]]
        if s.out[c].any() and shrink(s, w, c, inputs, budget) == NO_ROOM:
            return NO_ROOM
        at[0] += 1
    return FINISHED


@njit(cache=True, nogil=True)
def thin_lists(
    s: Lists,
    w: Walk,
    order: NDArray[np.int64],
    at: NDArray[np.int64],
    inputs: int,
    conflict: NDArray[np.uint64],
    budget: int,
    limit: int,
    within: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
) -> int:
    """Drop outputs that a product alone does not serve, then literals that can go."""
    w.state[3] = 0
    while at[0] < len(order):
        if w.state[3] > limit:
            return STOPPED
        c = order[at[0]]
        for j in range(64 * s.out.shape[1]):
            if has(s.out[c], j):
                status = alone(s, w, c, j, inputs, budget)
                if status == MORE_ROOM:
                    return NO_ROOM
                if status != PAUSED and not w.bound.any():
                    s.out[c, j >> 6] &= ~(ONE << np.uint64(j & 63))
        if s.out[c].any():
            status = _grown(s, w, c, inputs, 0, 0.0, conflict, budget, limit, within)
            if status == NO_ROOM:
                return NO_ROOM
        at[0] += 1
    return FINISHED
