"""Compiled loops that improve a cover on truth tables.

A *visit* takes one product out of the cover, shrinks it to what only it covered, and grows it again
to a prime, preferring to take over what products with little of their own alone cover, so that
these become superfluous. A *sweep* visits every product once. The cover is right at every moment.
"""
# ruff: noqa: C901, PLR0912, PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.dense_kernels import word_mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = np.uint64(1)
MANY_OUTPUTS = 1024  # so many are not weighed against inputs one by one: that would be quadratic


class State(NamedTuple):
    """A cover and how often each point is covered; row j, column x is point x of output j.

    `hits` starts high at don't-cares, so that they are never covered just once. `owner` is the
    exclusive or of the numbers of the products that cover a point: where that is 1, the only
    one's number. `single` says per product how many points it alone covers. `noise` is the state of
    the random numbers, `work` the number of points looked at.
    """

    off: NDArray[np.uint64]
    value: NDArray[np.int64]
    free: NDArray[np.int64]
    out: NDArray[np.uint64]
    single: NDArray[np.int64]
    hits: NDArray[np.int32]
    owner: NDArray[np.int32]
    noise: NDArray[np.uint64]
    work: NDArray[np.int64]


@njit(cache=True, nogil=True, inline="always")
def has(bits: NDArray[np.uint64], j: int) -> bool:
    """Tell whether bit j of a vector is set."""
    return bool(bits[j >> 6] >> np.uint64(j & 63) & ONE)


@njit(cache=True, nogil=True, inline="always")
def _ones(bits: int) -> int:
    n = 0
    while bits:
        bits &= bits - 1
        n += 1
    return n


@njit(cache=True, nogil=True)
def _owners(s: State, c: int) -> int:
    """Return how many outputs product c serves."""
    count = 0
    for w in range(s.out.shape[1]):
        rest = s.out[c, w]
        while rest:
            rest &= rest - ONE
            count += 1
    return count


@njit(cache=True, nogil=True)
def random(noise: NDArray[np.uint64]) -> int:
    """Return 31 pseudo-random bits (xorshift)."""
    x = noise[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    noise[0] = x
    return int(x >> np.uint64(33))


@njit(cache=True, nogil=True)
def enter(s: State, c: int, j: int) -> None:
    """Book that product c covers its points of output j."""
    hits, owner = s.hits[j], s.owner[j]
    base, free = s.value[c], s.free[c]
    t = 0
    while True:
        x = base | t
        k = hits[x]
        if k == 0:
            s.single[c] += 1
        elif k == 1:
            s.single[owner[x]] -= 1
        hits[x] = k + 1
        owner[x] ^= c
        t = (t - free) & free
        if t == 0:
            break


@njit(cache=True, nogil=True)
def leave(s: State, c: int, j: int) -> None:
    """Undo `enter`."""
    hits, owner = s.hits[j], s.owner[j]
    base, free = s.value[c], s.free[c]
    t = 0
    while True:
        x = base | t
        k = hits[x] - 1
        hits[x] = k
        owner[x] ^= c
        if k == 0:
            s.single[c] -= 1
        elif k == 1:
            s.single[owner[x]] += 1
        t = (t - free) & free
        if t == 0:
            break


@njit(cache=True, nogil=True)
def enter_from(s: State, first: int, budget: int) -> int:
    """Book the products from number `first` on, up to a budget of points; return the next one."""
    for c in range(first, len(s.value)):
        if budget < 0:
            return c
        for j in range(len(s.hits)):
            if has(s.out[c], j):
                enter(s, c, j)
                budget -= 1 << _ones(s.free[c])
    return len(s.value)


@njit(cache=True, nogil=True)
def _shrink(s: State, c: int) -> bool:
    """Take product c out of the books and shrink it to what nothing else covers; False if nothing.

    It stays a legal cube, but is not in the books.
    """
    both, either = np.int64(-1), np.int64(0)
    alone = False
    for j in range(len(s.hits)):
        if not has(s.out[c], j):
            continue
        needed = False
        hits, owner = s.hits[j], s.owner[j]
        base, free = s.value[c], s.free[c]
        t = 0
        while True:
            x = base | t
            k = hits[x] - 1
            hits[x] = k
            owner[x] ^= c
            if k == 0:
                both &= x
                either |= x
                needed = True
            elif k == 1:
                s.single[owner[x]] += 1
            t = (t - free) & free
            if t == 0:
                break
        if needed:
            alone = True
        else:
            s.out[c, j >> 6] &= ~(ONE << np.uint64(j & 63))
    s.single[c] = 0
    if alone:
        s.free[c] = either & ~both
        s.value[c] = both
    return alone


@njit(cache=True, nogil=True)
def _allowed(s: State, j: int, base: int, free: int, inputs: int) -> bool:
    """Tell whether a cube has no OFF point of output j."""
    mask = word_mask(base, free, inputs)
    row = s.off[j]
    at, high = base >> 6, free >> 6
    t = 0
    while True:
        if row[at | t] & mask:
            return False
        t = (t - high) & high
        if t == 0:
            return True


@njit(cache=True, nogil=True)
def _gain(s: State, j: int, base: int, free: int) -> float:
    """Return what taking over a cube's points of output j promises."""
    hits, owner = s.hits[j], s.owner[j]
    total = 0.0
    t = 0
    while True:
        x = base | t
        if hits[x] == 1:
            total += 1.0 / s.single[owner[x]]
        t = (t - free) & free
        if t == 0:
            break
    return total


@njit(cache=True, nogil=True)
def _look(
    s: State, j: int, base: int, free: int, inputs: int, gain: NDArray[np.float64], i: int
) -> None:
    """Add to gain[i] what a cube's points of output j promise; -1 where one is forbidden."""
    if gain[i] < 0:
        return
    s.work[0] += 8 + (1 << max(0, _ones(free) - 3))
    if not _allowed(s, j, base, free, inputs):
        gain[i] = -1.0
        return
    s.work[0] += 1 << _ones(free)
    gain[i] += _gain(s, j, base, free)


@njit(cache=True, nogil=True)
def _best(s: State, gain: NDArray[np.float64], taken: NDArray[np.bool_], wild: float) -> int:
    """Return the direction of highest gain (blurred by `wild`), -1 if none is allowed."""
    best, best_gain = -1, -1.0
    for i in range(len(gain)):
        if taken[i] or gain[i] < 0:
            continue
        blur = random(s.noise) / 2147483648.0
        g = gain[i] * (1.0 + wild * blur) + 1e-6 * blur
        if g > best_gain:
            best, best_gain = i, g
    return best


@njit(cache=True, nogil=True)
def _grow(s: State, c: int, inputs: int, wild: float, outputs: int) -> None:
    """Grow product c to a prime in the inputs and the first `outputs` outputs."""
    gain = np.zeros(inputs + outputs)
    taken = np.zeros(inputs + outputs, np.bool_)
    for i in range(inputs):
        taken[i] = s.free[c] >> i & 1
    for j in range(outputs):
        taken[inputs + j] = has(s.out[c], j)
    base, free = s.value[c], s.free[c]
    new_output = -1
    while True:
        # The part (base, free) in the product's outputs, or in its new one, is the latest growth.
        for j in range(len(s.hits)):
            if has(s.out[c], j) and (new_output < 0 or j == new_output):
                for i in range(inputs):
                    if not taken[i]:
                        _look(s, j, base ^ (1 << i), free, inputs, gain, i)
        if new_output < 0:
            for j in range(outputs):
                if not taken[inputs + j]:
                    _look(s, j, base, free, inputs, gain, inputs + j)
        best = _best(s, gain, taken, wild)
        if best < 0:
            return
        taken[best] = True
        if best < inputs:
            base, free, new_output = s.value[c] ^ (1 << best), s.free[c], -1
            s.free[c] |= 1 << best
            s.value[c] &= ~(1 << best)
        else:
            new_output = best - inputs
            s.out[c, new_output >> 6] |= ONE << np.uint64(new_output & 63)
            base, free = s.value[c], s.free[c]


@njit(cache=True, nogil=True)
def _spread(s: State, c: int, inputs: int) -> None:
    """Add to product c every output that allows it."""
    for j in range(len(s.hits)):
        if not has(s.out[c], j) and _allowed(s, j, s.value[c], s.free[c], inputs):
            s.out[c, j >> 6] |= ONE << np.uint64(j & 63)


@njit(cache=True, nogil=True)
def sweep(
    s: State,
    order: NDArray[np.int64],
    state: NDArray[np.int64],
    inputs: int,
    wild: float,
    budget: int,
) -> bool:
    """Visit the products in that order from number state[0] on; False where work ran out first.

    Superfluous products lose all their outputs.
    """
    outputs = len(s.hits)
    stop = s.work[0] + budget
    while state[0] < len(order):
        if s.work[0] > stop:
            return False
        c = order[state[0]]
        state[0] += 1
        s.work[0] += 64 + outputs * (inputs + 32) + (_owners(s, c) << _ones(s.free[c]))
        if _shrink(s, c):
            if outputs > MANY_OUTPUTS:
                _grow(s, c, inputs, wild, 0)
                _spread(s, c, inputs)
            else:
                _grow(s, c, inputs, wild, outputs)
            s.work[0] += _owners(s, c) << _ones(s.free[c])
            for j in range(len(s.hits)):
                if has(s.out[c], j):
                    enter(s, c, j)
        else:
            s.out[c, :] = 0
    return True


@njit(cache=True, nogil=True)
def thin(s: State, order: NDArray[np.int64], inputs: int) -> None:
    """Drop outputs that a product alone does not serve, then literals that can go."""
    for c in order:
        for j in range(len(s.hits)):
            if has(s.out[c], j):
                before = s.single[c]
                leave(s, c, j)
                if s.single[c] < before:
                    enter(s, c, j)
                else:
                    s.out[c, j >> 6] &= ~(ONE << np.uint64(j & 63))
    for c in order:
        for j in range(len(s.hits)):
            if has(s.out[c], j):
                leave(s, c, j)
        _grow(s, c, inputs, 0.0, 0)
        for j in range(len(s.hits)):
            if has(s.out[c], j):
                enter(s, c, j)
