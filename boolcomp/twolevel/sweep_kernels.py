"""Compiled loops that improve a cover, on truth tables and on lists of cubes.

A *visit* takes one product out of the cover, shrinks it to the points that only it covered, and
grows it again to a prime. It prefers points of products that cover few points alone, so that these
products become superfluous. A *sweep* visits every product once. The cover is valid at any time.
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
    ExploreBuffers,
    meets,
    restart,
)

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import F64, I32, I64, U64, Flags


# ruff: noqa: C901, PLR0912, PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"


ONE = np.uint64(1)
MANY_OUTPUTS = 1024  # more are added without a comparison with inputs, which is quadratic


class CoverCounts(NamedTuple):
    """A cover and its number of products at each point (row j, column x: point x of output j).

    `hits` starts high at don't-cares, so that no product covers them alone. `owner` is the
    exclusive or of the numbers of the products that cover a point: the number of a single one.
    `single` counts the points that only a product covers. `noise` is the state of the random
    numbers, `work` the number of visits to points.
    """

    off: U64
    value: I64
    free: I64
    out: U64
    single: I64
    hits: I32
    owner: I32
    noise: U64
    work: I64


@njit(cache=True, nogil=True, inline="always")
def has(bits: U64, j: int) -> bool:
    return bool(bits[j >> 6] >> np.uint64(j & 63) & ONE)


@njit(cache=True, nogil=True, inline="always")
def _ones(bits: int) -> int:
    n = 0
    while bits:
        bits &= bits - 1
        n += 1
    return n


@njit(cache=True, nogil=True, inline="always")
def _bits(x: np.uint64) -> int:
    n = 0
    while x:
        x &= x - ONE
        n += 1
    return n


@njit(cache=True, nogil=True)
def _owners(s: CoverCounts, c: int) -> int:
    """Return the number of outputs of product c."""
    count = 0
    for w in range(s.out.shape[1]):
        count += _bits(s.out[c, w])
    return count


@njit(cache=True, nogil=True)
def random(noise: U64) -> int:
    """Return 31 pseudo-random bits (xorshift)."""
    x = noise[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    noise[0] = x
    return int(x >> np.uint64(33))


@njit(cache=True, nogil=True)
def enter(s: CoverCounts, c: int, j: int) -> None:
    """Count product c at its points of output j."""
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
def leave(s: CoverCounts, c: int, j: int) -> None:
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
def enter_from(s: CoverCounts, first: int, budget: int) -> int:
    """Count the products from `first` on, within a budget of points; return the next one."""
    for c in range(first, len(s.value)):
        if budget < 0:
            return c
        for j in range(len(s.hits)):
            if has(s.out[c], j):
                enter(s, c, j)
                budget -= 1 << _ones(s.free[c])
    return len(s.value)


@njit(cache=True, nogil=True)
def _shrink(s: CoverCounts, c: int) -> bool:
    """Remove product c from the counts and shrink it to the points that only it covers.

    Return False if there are none. The product stays a valid cube.
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
def _allowed(s: CoverCounts, j: int, base: int, free: int, inputs: int) -> bool:
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
def _gain(s: CoverCounts, j: int, base: int, free: int) -> float:
    """Return the gain of covering a cube's points of output j."""
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
def _look(s: CoverCounts, j: int, base: int, free: int, inputs: int, gain: F64, i: int) -> None:
    """Add the gain of a cube's points of output j to gain[i]; -1 if one is forbidden."""
    if gain[i] < 0:
        return
    s.work[0] += 8 + (1 << max(0, _ones(free) - 3))
    if not _allowed(s, j, base, free, inputs):
        gain[i] = -1.0
        return
    s.work[0] += 1 << _ones(free)
    gain[i] += _gain(s, j, base, free)


@njit(cache=True, nogil=True)
def _best(s: CoverCounts, gain: F64, taken: Flags, blur: float) -> int:
    """Return the direction of highest gain, randomised by `blur`; -1 if none is allowed."""
    best, best_gain = -1, -1.0
    for i in range(len(gain)):
        if taken[i] or gain[i] < 0:
            continue
        chance = random(s.noise) / 2147483648.0
        g = gain[i] * (1.0 + blur * chance) + 1e-6 * chance
        if g > best_gain:
            best, best_gain = i, g
    return best


@njit(cache=True, nogil=True)
def _grow(s: CoverCounts, c: int, inputs: int, blur: float, outputs: int) -> None:
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
        # The latest growth is (base, free) in the product's outputs, or in its new one.
        for j in range(len(s.hits)):
            if has(s.out[c], j) and (new_output < 0 or j == new_output):
                for i in range(inputs):
                    if not taken[i]:
                        _look(s, j, base ^ (1 << i), free, inputs, gain, i)
        if new_output < 0:
            for j in range(outputs):
                if not taken[inputs + j]:
                    _look(s, j, base, free, inputs, gain, inputs + j)
        best = _best(s, gain, taken, blur)
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
def _spread(s: CoverCounts, c: int, inputs: int) -> None:
    """Add to product c every output that allows it."""
    for j in range(len(s.hits)):
        if not has(s.out[c], j) and _allowed(s, j, s.value[c], s.free[c], inputs):
            s.out[c, j >> 6] |= ONE << np.uint64(j & 63)


@njit(cache=True, nogil=True)
def sweep(s: CoverCounts, order: I64, state: I64, inputs: int, blur: float, budget: int) -> bool:
    """Visit the products of `order` from place state[0] on; False if the work ran out first.

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
                _grow(s, c, inputs, blur, 0)
                _spread(s, c, inputs)
            else:
                _grow(s, c, inputs, blur, outputs)
            s.work[0] += _owners(s, c) << _ones(s.free[c])
            for j in range(len(s.hits)):
                if has(s.out[c], j):
                    enter(s, c, j)
        else:
            s.out[c, :] = 0
    return True


@njit(cache=True, nogil=True)
def thin(s: CoverCounts, order: I64, inputs: int) -> None:
    """Drop superfluous outputs of products, then superfluous literals."""
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
# Lists of cubes, for many inputs: products are shrunk by cofactor recursion, and grown against the
# OFF set or, if that is unknown, within ON and DC.
# --------------------------------------------------------------------------------------------------

FINISHED, STOPPED, NO_ROOM = 0, 1, 2


class Lists(NamedTuple):
    """The cover, then the don't-cares (from number `fixed[0]` on), and the limit of growth.

    The limit is the OFF set or, in functions with `within`, ON and DC. `noise` is the state of the
    random numbers.
    """

    zero: U64
    one: U64
    out: U64
    fixed: I64
    limit_zero: U64
    limit_one: U64
    limit_out: U64
    noise: U64


@njit(cache=True, nogil=True)
def alone(s: Lists, w: ExploreBuffers, c: int, j: int, inputs: int, budget: int) -> int:
    """Set w.bound to the smallest cube around the points of output j that only product c covers."""
    size = 0
    for i in range(len(s.zero)):
        if i != c and has(s.out[i], j) and meets(s.zero[i], s.one[i], s.zero[c], s.one[c], inputs):
            w.members[size] = i
            size += 1
    w.bound[:] = 0
    w.state[3] += len(s.zero)
    return restart(s.zero, s.one, w, size, s.zero[c], s.one[c], BOUND, budget)


@njit(cache=True, nogil=True)
def shrink(s: Lists, w: ExploreBuffers, c: int, inputs: int, budget: int) -> int:
    """Shrink product c to the points that only it covers; without any it loses its outputs."""
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


@njit(cache=True, nogil=True)
def _blockers(s: Lists, c: int, conflict: U64, blocked: U64, outputs_blocked: U64) -> None:
    """Find the inputs and outputs in which product c must not grow.

    `conflict` holds for every OFF cube the inputs that separate it from the product.
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
def _pull(s: Lists, c: int, blocked: U64, gain: F64) -> None:
    """Add the benefit of each input to its gain: dropping its literal helps to contain products."""
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
def _best_literal(s: Lists, c: int, blocked: U64, gain: F64, blur: float) -> tuple[int, float]:
    """Return the literal of highest gain, randomised by `blur`, that may go; -1 if none may."""
    best, best_gain = -1, -1.0
    for i in range(gain.size):
        if has(blocked, i) or (has(s.zero[c], i) and has(s.one[c], i)):
            continue
        chance = random(s.noise) / 2147483648.0
        g = gain[i] * (1.0 + blur * chance) + 1e-6 * chance
        if g > best_gain:
            best, best_gain = i, g
    return best, best_gain


@njit(cache=True, nogil=True)
def grow(s: Lists, c: int, inputs: int, outputs: int, blur: float, conflict: U64) -> None:
    """Grow product c to a prime; with `outputs` 0 its outputs are unchanged."""
    blocked = np.zeros(s.zero.shape[1], np.uint64)
    outputs_blocked = np.zeros(s.out.shape[1], np.uint64)
    gain = np.zeros(inputs)
    _conflicts(s, c, inputs, conflict)
    while True:
        _blockers(s, c, conflict, blocked, outputs_blocked)
        gain[:] = 0
        _pull(s, c, blocked, gain)
        best, best_gain = _best_literal(s, c, blocked, gain, blur)
        # Outputs precede inputs without a gain.
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
def _held(s: Lists, w: ExploreBuffers, j: int, inputs: int, budget: int) -> int:
    """Check whether the cubes of the limit cover w.region for output j: FINISHED if so."""
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
def _may_grow(s: Lists, w: ExploreBuffers, c: int, i: int, inputs: int, budget: int) -> int:
    """Check whether product c may lose its literal of input i: FINISHED if so."""
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
    s: Lists,
    w: ExploreBuffers,
    c: int,
    inputs: int,
    outputs: int,
    blur: float,
    budget: int,
    limit: int,
) -> int:
    """Grow product c within ON and DC, up to work `limit`; `outputs` as in `grow`.

    A literal that may not be dropped now may not be dropped later: each is tried once.
    """
    blocked = np.zeros(s.zero.shape[1], np.uint64)
    gain = np.zeros(inputs)
    stop = w.state[3] + limit
    while w.state[3] < stop:
        gain[:] = 0
        _pull(s, c, blocked, gain)
        w.state[3] += s.fixed[0]
        best, _ = _best_literal(s, c, blocked, gain, blur)
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
    w: ExploreBuffers,
    c: int,
    inputs: int,
    outputs: int,
    blur: float,
    conflict: U64,
    budget: int,
    limit: int,
    within: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
) -> int:
    """Grow product c to a prime, by either kind of limit."""
    if within:
        return grow_within(s, w, c, inputs, outputs, blur, budget >> 4, limit)
    grow(s, c, inputs, outputs, blur, conflict)
    w.state[3] += inputs * (len(s.zero) + len(conflict))
    return FINISHED


@njit(cache=True, nogil=True)
def sweep_lists(
    s: Lists,
    w: ExploreBuffers,
    order: I64,
    at: I64,
    inputs: int,
    outputs: int,
    blur: float,
    conflict: U64,
    budget: int,
    limit: int,
    within: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
) -> int:
    """Visit products from place at[0] of the order on, up to work `limit`; FINISHED after the last.

    `budget` limits the work on one output of a product; beyond it the product is unchanged.
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
                status = _grown(s, w, c, inputs, outputs, blur, conflict, budget, limit, within)
                if status == NO_ROOM:
                    return status
        at[0] += 1
    return FINISHED


@njit(cache=True, nogil=True)
def shrink_all(
    s: Lists, w: ExploreBuffers, order: I64, at: I64, inputs: int, budget: int, limit: int
) -> int:
    """Shrink products in turn to the points that only they cover; otherwise as `sweep_lists`."""
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
    w: ExploreBuffers,
    order: I64,
    at: I64,
    inputs: int,
    conflict: U64,
    budget: int,
    limit: int,
    within: bool,  # noqa: FBT001 (numba has no keyword-only arguments)
) -> int:
    """Drop superfluous outputs of products, then superfluous literals."""
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


@njit(cache=True, nogil=True)
def _conflicts(s: Lists, c: int, inputs: int, conflict: U64) -> None:
    """Set `conflict` to the inputs that separate every cube of the limit from cube c."""
    for r in range(len(s.limit_zero)):
        for w in range(s.zero.shape[1]):
            either = (s.zero[c, w] & s.limit_zero[r, w]) | (s.one[c, w] & s.limit_one[r, w])
            span = min(64, inputs - 64 * w)
            full = ~np.uint64(0) if span >= 64 else (ONE << np.uint64(max(0, span))) - ONE
            conflict[r, w] = full & ~either


@njit(cache=True, nogil=True)
def grow_at_random(
    s: Lists, c: int, inputs: int, outputs: int, share: float, conflict: U64
) -> None:
    """Grow cube c to a prime, in literals and outputs in random order.

    `share` is the probability of an output: with 1 all outputs come first, with 0 last.
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
    s: Lists, at: I64, inputs: int, outputs: int, limit: int,
    conflict: U64,
) -> bool:  # fmt: skip
    """Grow cubes from place at[0] on, outputs first, last or mixed in turn; tell if at the end.

    `limit` is a number of visits to cubes of the limit.
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
