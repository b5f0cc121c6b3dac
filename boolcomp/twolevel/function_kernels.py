"""Compiled loops of irredundant sums, missed points and walks over lists of cubes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.cubes import ALL, LOW_BITS

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import I32, I64, U64


# --------------------------------------------------------------------------------------------------
# The compiled loop of the irredundant sum of products.
# --------------------------------------------------------------------------------------------------

# ruff: noqa: C901, PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"


ISOP_DONE, ISOP_MORE_ROOM, ISOP_PAUSED = 0, 1, 2


@njit(cache=True, nogil=True, inline="always")
def _halves(word: np.uint64, b: int) -> tuple[np.uint64, np.uint64]:
    """Return both cofactors of a word by a low index bit, spread over the word."""
    mask = LOW_BITS[b]
    shift = np.uint64(1 << b)
    low = word & ~mask
    high = word & mask
    return low | low << shift, high | high >> shift


@njit(cache=True, nogil=True)
def _constant_outputs(lower: U64, upper: U64, full: U64) -> tuple[bool, bool]:
    """Mark the outputs allowed everywhere in `full`; tell if one of them, if another is needed."""
    needed = False
    others = False
    full[:] = 0
    for j in range(len(lower)):
        required = False
        for w in range(lower.shape[1]):
            if lower[j, w]:
                required = True
                break
        allowed = True
        for w in range(lower.shape[1]):
            if upper[j, w] != ALL:
                allowed = False
                break
        if allowed:
            full[j // 64] |= np.uint64(1) << np.uint64(j % 64)
            needed = needed or required
        else:
            others = others or required
    return needed, others


@njit(cache=True, nogil=True)
def _half_problem(
    lower: U64, upper: U64, b: int, side: int, next_lower: U64, next_upper: U64
) -> None:
    """Set up the subproblem of products with index bit `b` equal to `side`."""
    size = next_lower.shape[1]
    for j in range(len(lower)):
        for w in range(size):
            if b >= 6:
                mine = w + side * size
                its = w + (1 - side) * size
                next_lower[j, w] = lower[j, mine] & ~upper[j, its]
                next_upper[j, w] = upper[j, mine]
            else:
                l0, l1 = _halves(lower[j, w], b)
                u0, u1 = _halves(upper[j, w], b)
                next_lower[j, w] = l1 & ~u0 if side else l0 & ~u1
                next_upper[j, w] = u1 if side else u0


@njit(cache=True, nogil=True)
def _rest_problem(
    lower: U64, upper: U64, done: U64, b: int, next_lower: U64, next_upper: U64
) -> None:
    """Set up the subproblem of products without index bit `b`."""
    size = next_lower.shape[1]
    for j in range(len(lower)):
        for w in range(size):
            if b >= 6:
                h = w + size
                next_lower[j, w] = (lower[j, w] & ~done[j, w]) | (lower[j, h] & ~done[j, h])
                next_upper[j, w] = upper[j, w] & upper[j, h]
            else:
                l0, l1 = _halves(lower[j, w] & ~done[j, w], b)
                u0, u1 = _halves(upper[j, w], b)
                next_lower[j, w] = l0 | l1
                next_upper[j, w] = u0 & u1


@njit(cache=True, nogil=True)
def _collect(done: U64, child: U64, b: int, side: int) -> None:
    """Add the points that the products of a subproblem cover (side 2: in both halves)."""
    size = child.shape[1]
    for j in range(len(done)):
        for w in range(size):
            if b >= 6:
                if side != 1:
                    done[j, w] |= child[j, w]
                if side != 0:
                    done[j, w + size] |= child[j, w]
            elif side == 2:
                done[j, w] |= child[j, w]
            else:
                done[j, w] |= child[j, w] & (LOW_BITS[b] if side else ~LOW_BITS[b])


@njit(cache=True, nogil=True)
def _view(flat: U64, at: I64, level: int, m: int):  # type: ignore[no-untyped-def]  # noqa: ANN202
    return flat[at[level] : at[level + 1]].reshape(m, (at[level + 1] - at[level]) // m)


@njit(cache=True, nogil=True)
def _emit(done: U64, lower: U64, full: U64) -> None:
    """Mark the outputs of `full` as covered everywhere."""
    for j in range(len(done)):
        if full[j // 64] >> np.uint64(j % 64) & np.uint64(1):
            for w in range(done.shape[1]):
                done[j, w] = ALL
                lower[j, w] = 0


@njit(cache=True, nogil=True)
def isop(
    inputs: int, outputs: int, lower: U64, upper: U64, done: U64, at: I64, stage: I64, path: I64,
    state: I64, value: I64, free: I64, out: U64, budget: int,
) -> int:  # fmt: skip
    """Run until done, until the arrays of products are full, or for `budget` words of work.

    Level k splits index bit `inputs - 1 - k`; `lower`, `upper` and `done` hold one problem per
    level from `at[k]` on. `stage` counts the subproblems of a level, `path` holds (value, free) of
    its cube, `state` the current level and the number of products; a call resumes there.
    """
    full = np.zeros(out.shape[1], np.uint64)
    while state[0] >= 0:
        k = state[0]
        b = inputs - 1 - k
        low, up = _view(lower, at, k, outputs), _view(upper, at, k, outputs)
        got = _view(done, at, k, outputs)
        budget -= got.size
        if budget < 0:
            return ISOP_PAUSED
        if stage[k] == 0:
            if state[1] == len(value):
                return ISOP_MORE_ROOM
            got[:] = 0
            needed, others = _constant_outputs(low, up, full)
            if needed:
                value[state[1]] = path[2 * k]
                free[state[1]] = path[2 * k + 1] | ((1 << (b + 1)) - 1)
                out[state[1]] = full
                state[1] += 1
                _emit(got, low, full)
            if not others:
                state[0] -= 1
                continue
        else:
            _collect(got, _view(done, at, k + 1, outputs), b, stage[k] - 1)
            if stage[k] == 3:
                state[0] -= 1
                continue
        side = stage[k]
        next_low, next_up = _view(lower, at, k + 1, outputs), _view(upper, at, k + 1, outputs)
        if side == 2:
            _rest_problem(low, up, got, b, next_low, next_up)
        else:
            _half_problem(low, up, b, side, next_low, next_up)
        path[2 * k + 2] = path[2 * k] | (1 << b if side == 1 else 0)
        path[2 * k + 3] = path[2 * k + 1] | (1 << b if side == 2 else 0)
        stage[k], stage[k + 1] = side + 1, 0
        state[0] = k + 1
    return ISOP_DONE


# --------------------------------------------------------------------------------------------------
# A search for a point of a cube that a cover misses.
# --------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def missed(cover: U64, cube: U64, preferred: U64, budget: I64) -> bool:
    """Narrow `cube` to a part that no cube of `cover` meets; tell whether there is one.

    All arrays hold the input planes only (`zero words | one words`). The value of an input in
    `preferred` is tried first. Each step takes 1 from `budget[0]`; if that is negative, the result
    False means undecided.
    """
    words = len(cube) // 2
    depth_limit = 64 * words + 2
    cubes = np.empty((depth_limit, 2 * words), np.uint64)
    other = np.empty((depth_limit, 2 * words), np.uint64)
    lists = np.empty((depth_limit, len(cover)), np.int64)
    lengths = np.zeros(depth_limit, np.int64)
    open_branch = np.zeros(depth_limit, np.bool_)
    cubes[0] = cube
    lengths[0] = _touching(cover, np.arange(len(cover)), len(cover), cubes[0], lists[0])
    depth = 0
    while depth >= 0:
        budget[0] -= 1
        if budget[0] < 0:
            return False
        if lengths[depth] == 0:
            cube[:] = cubes[depth]
            return True
        if lengths[depth] > 0:
            split = _narrow(cover, lists[depth], lengths[depth], cubes[depth])
            if split < 0:  # inputs were fixed without branching: look again
                lengths[depth] = _touching(
                    cover, lists[depth], lengths[depth], cubes[depth], lists[depth]
                )
                continue
            cubes[depth + 1] = cubes[depth]
            other[depth] = cubes[depth]
            bit = np.uint64(1) << np.uint64(split % 64)
            drop = 0 if preferred[split // 64] & bit else words
            cubes[depth + 1, drop + split // 64] &= ~bit
            other[depth, words - drop + split // 64] &= ~bit
            open_branch[depth] = True
        else:
            depth -= 1
            while depth >= 0 and not open_branch[depth]:
                depth -= 1
            if depth < 0:
                return False
            cubes[depth + 1] = other[depth]
            open_branch[depth] = False
        lengths[depth + 1] = _touching(
            cover, lists[depth], lengths[depth], cubes[depth + 1], lists[depth + 1]
        )
        depth += 1
    return False


@njit(cache=True, nogil=True)
def _touching(cover: U64, given: I64, count: int, cube: U64, result: I64) -> int:
    """List the cubes that meet `cube`; return their number, or -1 if one contains it."""
    words = len(cube) // 2
    size = 0
    for at in range(count):
        k = given[at]
        meets, holds = True, True
        for w in range(words):
            zero, one = cube[w] & cover[k, w], cube[words + w] & cover[k, words + w]
            if (zero | one) != (cube[w] | cube[words + w]):
                meets = False
                break
            if zero != cube[w] or one != cube[words + w]:
                holds = False
        if meets:
            if holds:
                return -1
            result[size] = k
            size += 1
    return size


@njit(cache=True, nogil=True)
def _narrow(cover: U64, given: I64, count: int, cube: U64) -> int:
    """Fix inputs that occur in one phase only to the other phase and return -1.

    If there are none, return the input with the most literals.
    """
    words = len(cube) // 2
    positive = np.zeros(64 * words, np.int64)
    negative = np.zeros(64 * words, np.int64)
    for at in range(count):
        k = given[at]
        for w in range(words):
            free = cube[w] & cube[words + w]
            _tally(free & ~cover[k, w], 64 * w, positive)
            _tally(free & ~cover[k, words + w], 64 * w, negative)
    best = -1
    fixed = False
    for i in range(64 * words):
        bit = np.uint64(1) << np.uint64(i % 64)
        if positive[i] and not negative[i]:
            cube[words + i // 64] &= ~bit
            fixed = True
        elif negative[i] and not positive[i]:
            cube[i // 64] &= ~bit
            fixed = True
        elif positive[i] and (
            best < 0 or positive[i] + negative[i] > positive[best] + negative[best]
        ):
            best = i
    return -1 if fixed else best


@njit(cache=True, nogil=True)
def _tally(bits: np.uint64, first: int, counts: I64) -> None:
    i = first
    while bits:
        if bits & np.uint64(1):
            counts[i] += 1
        bits >>= np.uint64(1)
        i += 1


# --------------------------------------------------------------------------------------------------
# Walks over lists of cubes of any number of inputs.
# --------------------------------------------------------------------------------------------------

DONE, FOUND, MORE_ROOM, PAUSED = 0, 1, 2, 3
FIND, BOUND, COLLECT = 0, 1, 2
ONE = np.uint64(1)


class ExploreBuffers(NamedTuple):
    """Buffers of `explore`: its state and its results.

    `members[start[d]:start[d + 1]]` are the cubes that meet the region at depth d; `split` and
    `side` are the input split at each depth and the current half. `state` is (depth, parts stored,
    1 if the node is new, work so far). Row 0 of `region` has its zero words, row 1 its one words.
    """

    members: I32
    start: I64
    split: I64
    side: I64
    region: U64
    state: I64
    bound: U64
    leaves: U64
    tally: I64


@njit(cache=True, nogil=True)
def meets(zero_a: U64, one_a: U64, zero_b: U64, one_b: U64, inputs: int) -> bool:
    """Tell whether two cubes have a point in common."""
    left = inputs
    for w in range(zero_a.size):
        span = min(64, left)
        left -= 64
        either = (zero_a[w] & zero_b[w]) | (one_a[w] & one_b[w])
        full = ~np.uint64(0) if span == 64 else (ONE << np.uint64(max(span, 0))) - ONE
        if either != full:
            return False
    return True


@njit(cache=True, nogil=True)
def first_meeting(
    zero: U64, one: U64, out: U64, zero_b: U64, one_b: U64, out_b: U64, inputs: int, start: int,
    stop: int,
) -> tuple[int, int]:  # fmt: skip
    """Return the first (i, k), start <= i < stop, whose cubes meet in an output, or (-1, -1)."""
    for i in range(start, stop):
        for k in range(len(zero_b)):
            common = False
            for w in range(out.shape[1]):
                if out[i, w] & out_b[k, w]:
                    common = True
                    break
            if common and meets(zero[i], one[i], zero_b[k], one_b[k], inputs):
                return i, k
    return -1, -1


@njit(cache=True, nogil=True)
def _inside(zero_a: U64, one_a: U64, zero_b: U64, one_b: U64) -> bool:
    """Tell whether cube a lies in cube b."""
    for w in range(zero_a.size):  # noqa: SIM110 (a generator would not compile)
        if (zero_a[w] & ~zero_b[w]) | (one_a[w] & ~one_b[w]):
            return False
    return True


@njit(cache=True, nogil=True)
def drop_contained(zero: U64, one: U64, out: U64, zero_b: U64, one_b: U64, out_b: U64) -> None:
    """Remove from each cube, in place, the outputs for which a single cube of b contains it."""
    for i in range(len(zero)):
        for k in range(len(zero_b)):
            if _inside(zero[i], one[i], zero_b[k], one_b[k]):
                for w in range(out.shape[1]):
                    out[i, w] &= ~out_b[k, w]


@njit(cache=True, nogil=True)
def _split_input(zero: U64, one: U64, members: I32, region: U64, count: I64) -> int:
    """Return the input to split, binate before unate, most literals first; -1 if a cube is full."""
    words = zero.shape[1]
    count[:] = 0
    for c in members:
        full = True
        for w in range(words):
            both = region[0, w] & region[1, w]
            for side in range(2):
                missing = both & ~(one[c, w] if side == 0 else zero[c, w])
                base = 64 * w
                while missing:
                    full = False
                    low = missing & (~missing + ONE)
                    bit = 0
                    rest = low >> ONE
                    while rest:
                        bit += 1
                        rest >>= ONE
                    count[2 * (base + bit) + side] += 1
                    missing ^= low
        if full:
            return -1
    best, best_score = 0, -1
    for i in range(count.size // 2):
        a, b = count[2 * i], count[2 * i + 1]
        score = a + b + (len(members) + 1) * (2 if a and b else 0)
        if a + b and score > best_score:
            best, best_score = i, score
    return best


@njit(cache=True, nogil=True)
def _enter(
    zero: U64, one: U64, members: I32, start: I64, depth: int, region: U64, i: int, side: int
) -> None:
    """Restrict the region to one value of input i and list the cubes that meet it."""
    w, bit = i // 64, ONE << np.uint64(i % 64)
    region[0, w] = region[0, w] & ~bit if side else region[0, w] | bit
    region[1, w] = region[1, w] | bit if side else region[1, w] & ~bit
    at = start[depth + 1]
    for k in range(start[depth], start[depth + 1]):
        c = members[k]
        if (one[c, w] if side else zero[c, w]) & bit:
            members[at] = c
            at += 1
    start[depth + 2] = at


@njit(cache=True, nogil=True)
def explore(zero: U64, one: U64, w: ExploreBuffers, mode: int, budget: int) -> int:
    """Walk the parts of a region that a list of cubes leaves uncovered.

    FIND stops at the first part, in `w.region`; BOUND enlarges the cube `w.bound` to contain all
    parts; COLLECT stores them in `w.leaves`. A call after MORE_ROOM or PAUSED resumes.
    """
    members, start, split, side = w.members, w.start, w.split, w.side
    region, state, bound, leaves = w.region, w.state, w.bound, w.leaves
    while state[0] >= 0:
        d = state[0]
        if state[2]:
            here = members[start[d] : start[d + 1]]
            budget -= 16 + len(here)
            state[3] += 16 + len(here)
            if budget < 0:
                return PAUSED
            if start[d + 1] + len(here) > members.size or state[1] == len(leaves):
                return MORE_ROOM
            state[2] = 0
            if mode == BOUND and _inside(region[0], region[1], bound[0], bound[1]):
                state[0] -= 1
                continue
            if len(here) == 0:
                if mode == FIND:
                    return FOUND
                if mode == BOUND:
                    bound |= region
                else:
                    leaves[state[1]] = region
                    state[1] += 1
                state[0] -= 1
                continue
            split[d], side[d] = _split_input(zero, one, here, region, w.tally), 0
            if split[d] < 0:
                state[0] -= 1
                continue
        elif side[d] == 1:
            region[:, split[d] // 64] |= ONE << np.uint64(split[d] % 64)
            state[0] -= 1
            continue
        else:
            side[d] = 1
        _enter(zero, one, members, start, d, region, split[d], side[d])
        state[0] = d + 1
        state[2] = 1
    return DONE


@njit(cache=True, nogil=True)
def restart(
    zero: U64, one: U64, w: ExploreBuffers, size: int, region_zero: U64, region_one: U64, mode: int,
    budget: int,
) -> int:  # fmt: skip
    """Start a walk over a region with the first `size` of `w.members`."""
    w.start[0] = 0
    w.start[1] = size
    w.region[0] = region_zero
    w.region[1] = region_one
    w.state[:3] = 0, 0, 1
    return explore(zero, one, w, mode, budget)


@njit(cache=True, nogil=True)
def cover_all(
    target_zero: U64, target_one: U64, at: I64, inputs: int, zero: U64, one: U64, w: ExploreBuffers,
    budget: int,
) -> int:  # fmt: skip
    """Check cubes from number at[0] on, each with a walk of its own; FOUND as in `explore`.

    A call after MORE_ROOM or PAUSED repeats the cube at[0].
    """
    w.state[3] = 0
    while at[0] < len(target_zero):
        if w.state[3] > budget:
            return PAUSED
        t = at[0]
        size = 0
        single = False
        w.state[3] += len(zero)
        for k in range(len(zero)):
            if meets(zero[k], one[k], target_zero[t], target_one[t], inputs):
                single = _inside(target_zero[t], target_one[t], zero[k], one[k])
                if single:
                    break
                w.members[size] = k
                size += 1
        if not single:
            status = restart(zero, one, w, size, target_zero[t], target_one[t], FIND, budget)
            if status != DONE:
                return status
        at[0] += 1
    return DONE
