"""Compiled loops that improve a cover as a list of cubes, for many inputs.

The same visits as in `sweep_kernels`: a product is shrunk to what it alone covers (by cofactor
recursion) and grown to a prime towards other products: against the OFF set, or, where that is out
of reach, as long as ON and DC hold it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.cubes import word_mask
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

if TYPE_CHECKING:
    from numpy.typing import NDArray


# --------------------------------------------------------------------------------------------------
# Compiled loops that improve a cover on truth tables.
#
# A *visit* takes one product out of the cover, shrinks it to what only it covered, and grows it
# again to a prime, preferring to take over what products with little of their own alone cover, so
# that these become superfluous. A *sweep* visits every product once. The cover is right at every
# moment.
# --------------------------------------------------------------------------------------------------


# ruff: noqa: C901, PLR0912, PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"


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


# --------------------------------------------------------------------------------------------------
# Compiled loops that improve a cover as a list of cubes, for many inputs.
# --------------------------------------------------------------------------------------------------


# ruff: noqa: PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"


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


# --------------------------------------------------------------------------------------------------
# Compiled loops that grow cubes to primes, outputs as readily as inputs.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


@njit(cache=True, nogil=True)
def _conflicts(s: Lists, c: int, inputs: int, conflict: NDArray[np.uint64]) -> None:
    """Set for every cube of the limit the inputs that keep it apart from cube c."""
    for r in range(len(s.limit_zero)):
        for w in range(s.zero.shape[1]):
            either = (s.zero[c, w] & s.limit_zero[r, w]) | (s.one[c, w] & s.limit_one[r, w])
            span = min(64, inputs - 64 * w)
            full = ~np.uint64(0) if span >= 64 else (ONE << np.uint64(max(0, span))) - ONE
            conflict[r, w] = full & ~either


@njit(cache=True, nogil=True)
def grow_at_random(
    s: Lists, c: int, inputs: int, outputs: int, share: float, conflict: NDArray[np.uint64]
) -> None:
    """Grow cube c to a prime: literals and outputs in a random order, outputs `share` of the time.

    With a share of 1 all outputs come first, with 0 they come last.
    """
    blocked = np.zeros(s.zero.shape[1], np.uint64)
    outputs_blocked = np.zeros(s.out.shape[1], np.uint64)
    _conflicts(s, c, inputs, conflict)
    places = np.zeros(inputs + outputs, np.int64)
    while True:
        _blockers(s, c, conflict, blocked, outputs_blocked)
        literals = 0
        for i in range(inputs):
            if not has(blocked, i) and not (has(s.zero[c], i) and has(s.one[c], i)):
                places[literals] = i
                literals += 1
        size = literals
        for j in range(outputs):
            if not has(outputs_blocked, j) and not has(s.out[c], j):
                places[size] = j
                size += 1
        if size == 0:
            return
        of_outputs = random(s.noise) / 2147483648.0 < share
        if literals == 0 or (of_outputs and size > literals):
            j = places[literals + int(random(s.noise)) % (size - literals)]
            s.out[c, j >> 6] |= ONE << np.uint64(j & 63)
            continue
        i = places[int(random(s.noise)) % literals]
        bit = ONE << np.uint64(i & 63)
        s.zero[c, i >> 6] |= bit
        s.one[c, i >> 6] |= bit
        for r in range(len(conflict)):
            conflict[r, i >> 6] &= ~bit


@njit(cache=True, nogil=True)
def scatter(
    s: Lists, at: NDArray[np.int64], inputs: int, outputs: int, limit: int,
    conflict: NDArray[np.uint64],
) -> bool:  # fmt: skip
    """Grow cubes from place at[0] on, by turns outputs first, last and between; tell if at the end.

    It stops after so many cubes of the limit looked at.
    """
    work = 0
    while at[0] < s.fixed[0]:
        if work > limit:
            return False
        c = at[0]
        grow_at_random(s, c, inputs, outputs, (c % 3) / 2.0, conflict)
        work += (inputs + outputs) * len(conflict)
        at[0] += 1
    return True
