"""Compiled loops that improve a cover: expand, reduce and irredundant, over an oracle of points.

A *visit* takes one product out of the cover, shrinks it to the points that only it covered, and
grows it again to a prime. It prefers points of products that cover few points alone, so that these
products become superfluous. A *sweep* visits every product once. The cover is valid at any time.

There are three oracles. TABLE counts the products at every point of a truth table. In lists of
cubes, walks find the points that only a product covers. With OFF, products may grow as long as they
meet no cube of the OFF set; WITHIN, as long as they stay in the cubes of ON and DC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.cubes import ONE, has, index_of, set_index, word_mask
from boolcomp.twolevel.function_kernels import (
    BOUND,
    DONE,
    FIND,
    MORE_ROOM,
    PAUSED,
    UNDECIDED,
    WORK,
    Walk,
    begin,
    explore,
)

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import F64, I32, I64, U64, Flags


# ruff: noqa: C901, PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"


TABLE, OFF, WITHIN = 0, 1, 2
MANY_OUTPUTS = 1024  # more are added without a comparison with inputs, which is quadratic
OUTPUT_GAIN = 1e-3  # of lists of cubes: outputs precede literals without a gain


class Sweep(NamedTuple):
    """A cover under improvement, its oracle, and the buffers of both.

    `rows` are the products, then (in lists) the don't-cares, from number `products` on. `part` is
    what a growth adds to a product. `noise` is the state of the random numbers. `walk` also counts
    the work, in visits to points or cubes.

    TABLE: `off` are the forbidden points. `hits` counts the products at each point (row j, column
    x: point x of output j); it starts high at don't-cares, so that no product covers them alone.
    `owner` is the exclusive or of the numbers of the products that cover a point: the number of a
    single one. `single` counts the points that only a product covers.

    Lists: `limit` are the cubes of OFF, or of ON and DC; `apart` has for every cube of OFF the
    inputs that separate it from the product that grows.
    """

    rows: U64
    products: int
    inputs: int
    outputs: int
    oracle: int
    part: U64
    noise: U64
    walk: Walk
    off: U64
    hits: I32
    owner: I32
    single: I64
    limit: U64
    apart: U64


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
def random(noise: U64) -> int:
    """Return 31 pseudo-random bits (xorshift)."""
    x = noise[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    noise[0] = x
    return int(x >> np.uint64(33))


# --------------------------------------------------------------------------------------------------
# The oracle of truth tables.
# --------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _count(s: Sweep, c: int, j: int, step: int) -> tuple[int, int]:
    """Add product c to the counts of output j (step 1), or remove it (step -1).

    Return the AND and the OR of the points that no other product covers.
    """
    hits, owner = s.hits[j], s.owner[j]
    base, free = index_of(s.rows[c], s.inputs)
    both: Any = np.int64(-1)
    either: Any = np.int64(0)
    s.walk.state[WORK] += 1 << _ones(free)
    t = np.int64(0)
    while True:
        x = base | t
        others = hits[x] - (step < 0)
        hits[x] += step
        owner[x] ^= c
        if others == 0:
            both &= x
            either |= x
            s.single[c] += step
        elif others == 1:
            s.single[owner[x] ^ c if step > 0 else owner[x]] -= step
        t = (t - free) & free
        if t == 0:
            break
    return both, either


@njit(cache=True, nogil=True)
def count_all(s: Sweep, c: int, step: int) -> None:
    """Add product c to the counts of its outputs, or remove it; nothing for lists."""
    if s.oracle == TABLE:
        for j in range(s.outputs):
            if has(s.rows[c], 128 + j):
                _count(s, c, j, step)


@njit(cache=True, nogil=True)
def enter_from(s: Sweep, first: int, limit: int) -> int:
    """Count the products from `first` on, up to work `limit`; return the next one."""
    s.walk.state[WORK] = 0
    for c in range(first, s.products):
        if s.walk.state[WORK] > limit:
            return c
        count_all(s, c, 1)
    return s.products


@njit(cache=True, nogil=True)
def _allowed(s: Sweep, j: int, base: int, free: int) -> bool:
    """Tell whether a cube has no OFF point of output j."""
    mask = word_mask(base, free, s.inputs)
    row = s.off[j]
    at, high = base >> 6, free >> 6
    t = np.int64(0)
    while True:
        if row[at | t] & mask:
            return False
        t = (t - high) & high
        if t == 0:
            return True


@njit(cache=True, nogil=True)
def _add(s: Sweep, j: int, base: int, free: int, gain: F64, closed: Flags, v: int) -> None:
    """Add the gain of covering a cube's points of output j; close v if one is forbidden."""
    s.walk.state[WORK] += 8 + (1 << max(0, _ones(free) - 3))
    if not _allowed(s, j, base, free):
        closed[v] = True
        return
    s.walk.state[WORK] += 1 << _ones(free)
    hits, owner = s.hits[j], s.owner[j]
    total = 0.0
    t = np.int64(0)
    while True:
        x = base | t
        if hits[x] == 1:
            total += 1.0 / s.single[owner[x]]
        t = (t - free) & free
        if t == 0:
            break
    gain[v] += total


@njit(cache=True, nogil=True)
def _gains_of_points(s: Sweep, whole: bool, gain: F64, closed: Flags) -> None:  # noqa: FBT001 (numba)
    """Add the gains of all directions from the latest part; close those that are forbidden.

    Outputs are directions if the part is of all outputs of the product (`whole`).
    """
    base, free = index_of(s.part[0], s.inputs)
    for j in range(s.outputs):
        if has(s.part[0], 128 + j):
            for i in range(s.inputs):
                if not closed[i]:
                    _add(s, j, base ^ (1 << (s.inputs - 1 - i)), free, gain, closed, i)
    if whole:
        for j in range(len(gain) - s.inputs):
            if not closed[s.inputs + j]:
                _add(s, j, base, free, gain, closed, s.inputs + j)


# --------------------------------------------------------------------------------------------------
# The oracles of lists of cubes.
# --------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _separate(s: Sweep, c: int) -> None:
    """Set `apart` to the inputs that separate every cube of OFF from product c."""
    words = len(s.walk.preferred)
    for r in range(len(s.limit)):
        for w in range(words):
            zero, one = s.limit[r, w], s.limit[r, words + w]
            either = (s.rows[c, w] & zero) | (s.rows[c, words + w] & one)
            s.apart[r, w] = (zero | one) & ~either


@njit(cache=True, nogil=True)
def _close(s: Sweep, c: int, closed: Flags) -> None:
    """Close the inputs and outputs in which product c would meet the OFF set."""
    words, blocked = len(s.walk.preferred), np.zeros(s.rows.shape[1], np.uint64)
    for r in range(len(s.limit)):
        apart, common = 0, False
        for w in range(words):
            apart += _bits(s.apart[r, w])
        if apart == 0:
            blocked[2 * words :] |= s.limit[r, 2 * words :]
        elif apart == 1:
            for w in range(2 * words, s.rows.shape[1]):
                common = common or s.limit[r, w] & s.rows[c, w] != 0
            if common:
                blocked[:words] |= s.apart[r]
    for v in range(len(closed)):
        if has(blocked, v if v < s.inputs else 128 * words + v - s.inputs):
            closed[v] = True


@njit(cache=True, nogil=True)
def _pull(s: Sweep, c: int, gain: F64, closed: Flags) -> None:
    """Add the benefit of each input to its gain: dropping its literal helps to contain products."""
    words, size = len(s.walk.preferred), s.rows.shape[1]
    need, blocked = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for i in range(s.inputs):
        if closed[i]:
            blocked[i >> 6] |= ONE << np.uint64(i & 63)
    for d in range(s.products):
        common = False
        for w in range(2 * words, size):
            common = common or s.rows[d, w] & s.rows[c, w] != 0
        if d == c or not common:
            continue
        possible = True
        for w in range(words):
            zero, one = s.rows[c, w], s.rows[c, words + w]
            need[w] = (s.rows[d, w] & ~zero) | (s.rows[d, words + w] & ~one)
            possible = possible and not need[w] & blocked[w]
        if possible:
            steps = 0
            for w in range(words):
                steps += _bits(need[w])
            for i in range(s.inputs):
                if need[i >> 6] >> np.uint64(i & 63) & ONE:
                    gain[i] += 1.0 / (steps * steps)


@njit(cache=True, nogil=True)
def _held(s: Sweep, v: int, budget: int) -> int:
    """Check whether the cubes of ON and DC cover `part`, grown in direction v: DONE if so."""
    first, last = (0, s.outputs) if v < s.inputs else (v - s.inputs, v - s.inputs + 1)
    for j in range(first, last):
        if has(s.part[0], 128 * len(s.walk.preferred) + j):
            begin(s.limit, s.walk, s.part[0], j, -1)
            status = explore(s.limit, s.walk, FIND, budget)
            if status != DONE:
                return status
    return DONE


# --------------------------------------------------------------------------------------------------
# Reduce, expand and irredundant, over any oracle.
# --------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _alone(s: Sweep, c: int, j: int, budget: int) -> int:
    """Set w.bound to the smallest cube around the points of output j that only product c covers.

    A table counts the product no longer.
    """
    bound = s.walk.bound
    bound[:] = 0
    if s.oracle == TABLE:
        both, either = _count(s, c, j, -1)
        if both >= 0:
            set_index(bound[0], s.inputs, both, either & ~both)
        return DONE
    begin(s.rows, s.walk, s.rows[c], j, c)
    return explore(s.rows, s.walk, BOUND, budget)


@njit(cache=True, nogil=True)
def _reduce(s: Sweep, c: int, budget: int) -> int:
    """Shrink product c to the points that only it covers; without any it loses its outputs."""
    planes, state = s.walk.bound.shape[1], s.walk.state
    row = np.zeros_like(s.rows[c])
    for j in range(s.outputs):
        if has(s.rows[c], 64 * planes + j):
            before = state[WORK]
            status = _alone(s, c, j, budget)
            if status != DONE:
                return status
            budget -= state[WORK] - before
            if s.walk.bound.any():
                row[:planes] |= s.walk.bound[0]
                row[planes + (j >> 6)] |= ONE << np.uint64(j & 63)
    if row.any():
        s.rows[c] = row
    else:
        s.rows[c, planes:] = 0
    return DONE


@njit(cache=True, nogil=True)
def _best(s: Sweep, gain: F64, closed: Flags, blur: float) -> int:
    """Return the direction of highest gain, randomised by `blur`; -1 if none is open."""
    best, best_gain = -1, -1.0
    for k in range(len(gain)):
        v = s.inputs - 1 - k if k < s.inputs else k
        if closed[v]:
            continue
        chance = random(s.noise) / 2147483648.0
        g = gain[v] * (1.0 + blur * chance) + 1e-6 * chance
        if g > best_gain:
            best, best_gain = v, g
    return best


@njit(cache=True, nogil=True)
def _extend(s: Sweep, c: int, v: int) -> None:
    """Set `part` to what product c gains by the loss of literal v, or by output v - inputs."""
    planes = s.walk.bound.shape[1]
    s.part[0] = s.rows[c]
    if v < s.inputs:
        for w in (v >> 6, planes // 2 + (v >> 6)):
            s.part[0, w] ^= ONE << np.uint64(v & 63)
    else:
        j = v - s.inputs
        s.part[0, planes:] = 0
        s.part[0, planes + (j >> 6)] = ONE << np.uint64(j & 63)


@njit(cache=True, nogil=True)
def _take(s: Sweep, c: int, v: int, budget: int) -> int:
    """Grow product c in a direction if the oracle allows it."""
    _extend(s, c, v)
    status = _held(s, v, budget) if s.oracle == WITHIN else DONE
    s.walk.state[UNDECIDED] += status == PAUSED
    if status == DONE:
        s.rows[c] |= s.part[0]
    return status


@njit(cache=True, nogil=True)
def expand(
    s: Sweep, c: int, outputs: int, blur: float, weight: float, budget: int, limit: int
) -> int:
    """Grow product c to a prime in the inputs and the first `outputs` outputs.

    `weight` 0 takes gains from the oracle; otherwise it is the gain of an output, and every literal
    has a gain of 1. WITHIN ends beyond work `limit`.
    """
    planes, stop = s.walk.bound.shape[1], s.walk.state[WORK] + limit
    gain, closed = np.zeros(s.inputs + outputs), np.zeros(s.inputs + outputs, np.bool_)
    for v in range(s.inputs):
        both = s.rows[c, v >> 6] & s.rows[c, planes // 2 + (v >> 6)]
        closed[v] = both >> np.uint64(v & 63) & ONE
    for j in range(outputs):
        closed[s.inputs + j] = has(s.rows[c], 64 * planes + j)
    s.part[0] = s.rows[c]
    if s.oracle == OFF:
        _separate(s, c)
    whole = True
    while True:
        if s.oracle == TABLE:
            _gains_of_points(s, whole, gain, closed)
        else:
            if s.oracle == OFF:
                _close(s, c, closed)
            gain[: s.inputs] = 1.0 if weight else 0.0
            gain[s.inputs :] = weight or OUTPUT_GAIN
            if not weight:
                _pull(s, c, gain, closed)
            s.walk.state[WORK] += s.products + len(s.apart)
        v = _best(s, gain, closed, blur)
        if v < 0 or (s.oracle == WITHIN and s.walk.state[WORK] > stop):
            return DONE
        # In lists, outputs come all at once, because they do not change the gains of each other.
        together = v >= s.inputs and s.oracle != TABLE and not weight
        for u in range(s.inputs if together else v, len(closed) if together else v + 1):
            if not closed[u] and _take(s, c, u, budget) == MORE_ROOM:
                return MORE_ROOM
            closed[u] = True
        whole = v < s.inputs
        if s.oracle == OFF and whole:
            s.apart[:, v >> 6] &= ~(ONE << np.uint64(v & 63))


@njit(cache=True, nogil=True)
def _spread(s: Sweep, c: int) -> None:
    """Add to product c every output whose table allows it."""
    base, free = index_of(s.rows[c], s.inputs)
    for j in range(s.outputs):
        if not has(s.rows[c], 128 + j) and _allowed(s, j, base, free):
            s.rows[c, 2 + (j >> 6)] |= ONE << np.uint64(j & 63)


@njit(cache=True, nogil=True)
def sweep(
    s: Sweep, order: I64, at: I64, blur: float, growing: bool, budget: int, limit: int  # noqa: FBT001 (numba)
) -> int:  # fmt: skip
    """Visit products from place at[0] of the order on, up to work `limit`; DONE after the last.

    `budget` limits the work on one output of a product; beyond it the product is unchanged.
    Superfluous products lose all their outputs. Without `growing` products are only reduced.
    """
    planes, state = s.walk.bound.shape[1], s.walk.state
    many = s.oracle == TABLE and s.outputs > MANY_OUTPUTS
    state[WORK] = 0
    while at[0] < len(order):
        if state[WORK] > limit:
            return PAUSED
        c = order[at[0]]
        state[WORK] += 64
        if s.rows[c, planes:].any():
            status = _reduce(s, c, budget)
            if status == DONE and growing and s.rows[c, planes:].any():
                status = expand(s, c, 0 if many else s.outputs, blur, 0.0, budget, limit)
                if many:
                    _spread(s, c)
            if status == MORE_ROOM:
                return status
            count_all(s, c, 1)
        at[0] += 1
    return DONE


@njit(cache=True, nogil=True)
def irredundant(s: Sweep, order: I64, at: I64, budget: int, limit: int) -> int:
    """Drop superfluous outputs of products, then superfluous literals; otherwise as `sweep`.

    Places beyond the order are those of literals.
    """
    planes, state = s.walk.bound.shape[1], s.walk.state
    state[WORK] = 0
    while at[0] < 2 * len(order):
        if state[WORK] > limit:
            return PAUSED
        c = order[at[0] % len(order)]
        status = DONE
        if at[0] >= len(order):
            count_all(s, c, -1)
            status = expand(s, c, 0, 0.0, 0.0, budget, limit)
            count_all(s, c, 1)
        else:
            for j in range(s.outputs):
                if status != MORE_ROOM and has(s.rows[c], 64 * planes + j):
                    status = _alone(s, c, j, budget)
                    if status == DONE and not s.walk.bound.any():
                        s.rows[c, planes + (j >> 6)] &= ~(ONE << np.uint64(j & 63))
                    elif s.oracle == TABLE:
                        _count(s, c, j, 1)
        if status == MORE_ROOM:
            return status
        at[0] += 1
    return DONE


@njit(cache=True, nogil=True)
def scatter(s: Sweep, weights: F64, at: I64, budget: int, limit: int) -> int:
    """Grow products at random from place at[0] on; `weights` as in `expand`, one per product."""
    s.walk.state[WORK] = 0
    while at[0] < s.products:
        if s.walk.state[WORK] > limit:
            return PAUSED
        if expand(s, at[0], s.outputs, 1e9, weights[at[0]], budget, limit) == MORE_ROOM:
            return MORE_ROOM
        at[0] += 1
    return DONE
