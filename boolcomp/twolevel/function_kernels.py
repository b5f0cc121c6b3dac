"""Compiled loops over lists of cubes of any number of inputs."""
# ruff: noqa: C901, PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

DONE, FOUND, MORE_ROOM, PAUSED = 0, 1, 2, 3
FIND, BOUND, COLLECT = 0, 1, 2
ONE = np.uint64(1)


class Walk(NamedTuple):
    """Buffers of `explore`: where it stands and what it has found.

    `members[start[d]:start[d + 1]]` are the cubes that meet the region at depth d, `split` and
    `side` say how each depth is split, `state` is (depth, parts stored, 1 if the node at that depth
    is new, work so far). `region` has its zero words in row 0 and its one words in row 1.
    """

    members: NDArray[np.int32]
    start: NDArray[np.int64]
    split: NDArray[np.int64]
    side: NDArray[np.int64]
    region: NDArray[np.uint64]
    state: NDArray[np.int64]
    bound: NDArray[np.uint64]
    leaves: NDArray[np.uint64]
    tally: NDArray[np.int64]


@njit(cache=True, nogil=True)
def meets(
    zero_a: NDArray[np.uint64],
    one_a: NDArray[np.uint64],
    zero_b: NDArray[np.uint64],
    one_b: NDArray[np.uint64],
    inputs: int,
) -> bool:
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
    zero: NDArray[np.uint64],
    one: NDArray[np.uint64],
    out: NDArray[np.uint64],
    zero_b: NDArray[np.uint64],
    one_b: NDArray[np.uint64],
    out_b: NDArray[np.uint64],
    inputs: int,
    start: int,
    stop: int,
) -> tuple[int, int]:
    """Return the first (i, k), start <= i < stop, whose cubes meet in a common output, or -1."""
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
def _inside(
    zero_a: NDArray[np.uint64],
    one_a: NDArray[np.uint64],
    zero_b: NDArray[np.uint64],
    one_b: NDArray[np.uint64],
) -> bool:
    """Tell whether cube a lies in cube b."""
    for w in range(zero_a.size):  # noqa: SIM110 (a generator would not compile)
        if (zero_a[w] & ~zero_b[w]) | (one_a[w] & ~one_b[w]):
            return False
    return True


@njit(cache=True, nogil=True)
def drop_contained(
    zero: NDArray[np.uint64],
    one: NDArray[np.uint64],
    out: NDArray[np.uint64],
    zero_b: NDArray[np.uint64],
    one_b: NDArray[np.uint64],
    out_b: NDArray[np.uint64],
) -> None:
    """Take from each cube, in place, the outputs for which a single cube of b holds it."""
    for i in range(len(zero)):
        for k in range(len(zero_b)):
            if _inside(zero[i], one[i], zero_b[k], one_b[k]):
                for w in range(out.shape[1]):
                    out[i, w] &= ~out_b[k, w]


@njit(cache=True, nogil=True)
def _split_input(
    zero: NDArray[np.uint64],
    one: NDArray[np.uint64],
    members: NDArray[np.int32],
    region: NDArray[np.uint64],
    count: NDArray[np.int64],
) -> int:
    """Choose the input to split: binate before unate, most literals first; -1: a cube is full.

    `region` holds the region's zero words in row 0 and its one words in row 1.
    """
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
    zero: NDArray[np.uint64],
    one: NDArray[np.uint64],
    members: NDArray[np.int32],
    start: NDArray[np.int64],
    depth: int,
    region: NDArray[np.uint64],
    i: int,
    side: int,
) -> None:
    """Restrict the region to one value of input i and list which cubes still meet it."""
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
def explore(
    zero: NDArray[np.uint64],
    one: NDArray[np.uint64],
    w: Walk,
    mode: int,
    budget: int,
) -> int:
    """Walk the parts of a region that a list of cubes leaves uncovered.

    FIND stops at the first such part and leaves it in `w.region`; BOUND enlarges the cube `w.bound`
    to hold them all; COLLECT stores each in `w.leaves`. A call after MORE_ROOM or PAUSED resumes.
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
    zero: NDArray[np.uint64],
    one: NDArray[np.uint64],
    w: Walk,
    size: int,
    region_zero: NDArray[np.uint64],
    region_one: NDArray[np.uint64],
    mode: int,
    budget: int,
) -> int:
    """Walk a region anew, through the first `size` of `w.members`."""
    w.start[0] = 0
    w.start[1] = size
    w.region[0] = region_zero
    w.region[1] = region_one
    w.state[:3] = 0, 0, 1
    return explore(zero, one, w, mode, budget)


@njit(cache=True, nogil=True)
def cover_all(
    target_zero: NDArray[np.uint64],
    target_one: NDArray[np.uint64],
    at: NDArray[np.int64],
    inputs: int,
    zero: NDArray[np.uint64],
    one: NDArray[np.uint64],
    w: Walk,
    budget: int,
) -> int:
    """Check cubes from number at[0] on, each with a walk of its own; FOUND as `explore`.

    A call after MORE_ROOM or PAUSED starts again with the cube at[0].
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
