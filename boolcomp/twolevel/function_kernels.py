"""Compiled loops of irredundant sums, and of walks over the points that lists of cubes miss."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.cubes import ALL, LOW_BITS, ONE, has, set_index

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import I32, I64, U64


# --------------------------------------------------------------------------------------------------
# The compiled loop of the irredundant sum of products.
# --------------------------------------------------------------------------------------------------

# ruff: noqa: C901, PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"


ISOP_DONE, ISOP_MORE_ROOM, ISOP_PAUSED = 0, 1, 2


@njit(cache=True, nogil=True, inline="always")
def _halves(plane: U64, w: int, size: int, b: int) -> tuple[np.uint64, np.uint64]:
    """Return word w of both cofactors by index bit b; a low bit is spread over the word."""
    if b >= 6:
        return plane[w], plane[w + size]
    shift = np.uint64(1 << b)
    low, high = plane[w] & ~LOW_BITS[b], plane[w] & LOW_BITS[b]
    return low | low << shift, high | high >> shift


@njit(cache=True, nogil=True)
def _constant_outputs(lower: U64, upper: U64, full: U64) -> tuple[bool, bool]:
    """Mark the outputs allowed everywhere in `full`; tell if one of them, if another is needed."""
    needed, others = False, False
    full[:] = 0
    for j in range(len(lower)):
        required, allowed = False, True
        for w in range(lower.shape[1]):
            required = required or lower[j, w] != 0
            allowed = allowed and upper[j, w] == ALL
        if allowed:
            full[j // 64] |= ONE << np.uint64(j % 64)
        needed = needed or (required and allowed)
        others = others or (required and not allowed)
    return needed, others


@njit(cache=True, nogil=True)
def _subproblem(
    lower: U64, upper: U64, done: U64, b: int, side: int, next_lower: U64, next_upper: U64
) -> None:
    """Set up the subproblem of products with index bit `b` equal to `side`, or (2) without it."""
    size = next_lower.shape[1]
    for j in range(len(lower)):
        for w in range(size):
            l0, l1 = _halves(lower[j], w, size, b)
            u0, u1 = _halves(upper[j], w, size, b)
            if side == 2:
                d0, d1 = _halves(done[j], w, size, b)
                next_lower[j, w] = (l0 & ~d0) | (l1 & ~d1)
                next_upper[j, w] = u0 & u1
            else:
                next_lower[j, w] = l1 & ~u0 if side else l0 & ~u1
                next_upper[j, w] = u1 if side else u0


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
def _views(lower: U64, upper: U64, done: U64, at: I64, k: int, m: int) -> tuple[U64, U64, U64]:
    """Return the parts of level k of three flat arrays, with a row for each of m outputs."""
    first, last, size = at[k], at[k + 1], (at[k + 1] - at[k]) // m
    return (
        lower[first:last].reshape(m, size),
        upper[first:last].reshape(m, size),
        done[first:last].reshape(m, size),
    )


@njit(cache=True, nogil=True)
def _emit(done: U64, lower: U64, full: U64) -> None:
    """Mark the outputs of `full` as covered everywhere."""
    for j in range(len(done)):
        if has(full, j):
            for w in range(done.shape[1]):
                done[j, w] = ALL
                lower[j, w] = 0


@njit(cache=True, nogil=True)
def isop(
    inputs: int, outputs: int, lower: U64, upper: U64, done: U64, at: I64, stage: I64, path: I64,
    state: I64, found: U64, budget: int,
) -> int:  # fmt: skip
    """Run until done, until the array of products is full, or for `budget` words of work.

    Level k splits index bit `inputs - 1 - k`; `lower`, `upper` and `done` hold one problem per
    level from `at[k]` on. `stage` counts the subproblems of a level, `path` holds (value, free) of
    its cube, `state` the current level and the number of products; a call resumes there.
    """
    full = np.zeros(found.shape[1] - 2, np.uint64)
    while state[0] >= 0:
        k = state[0]
        b = inputs - 1 - k
        low, up, got = _views(lower, upper, done, at, k, outputs)
        budget -= got.size
        if budget < 0:
            return ISOP_PAUSED
        if stage[k] == 0:
            if state[1] == len(found):
                return ISOP_MORE_ROOM
            got[:] = 0
            needed, others = _constant_outputs(low, up, full)
            if needed:
                row = found[state[1]]
                set_index(row, inputs, path[2 * k], path[2 * k + 1] | ((1 << (b + 1)) - 1))
                row[2:] = full
                state[1] += 1
                _emit(got, low, full)
            if not others:
                state[0] -= 1
                continue
        next_low, next_up, next_got = _views(lower, upper, done, at, k + 1, outputs)
        side = stage[k]
        if side > 0:
            _collect(got, next_got, b, side - 1)
            if side == 3:
                state[0] -= 1
                continue
        _subproblem(low, up, got, b, side, next_low, next_up)
        path[2 * k + 2] = path[2 * k] | (1 << b if side == 1 else 0)
        path[2 * k + 3] = path[2 * k + 1] | (1 << b if side == 2 else 0)
        stage[k], stage[k + 1] = side + 1, 0
        state[0] = k + 1
    return ISOP_DONE


# --------------------------------------------------------------------------------------------------
# Walks over lists of packed cubes of any number of inputs. `words` are those of an input plane.
# --------------------------------------------------------------------------------------------------

DONE, FOUND, MORE_ROOM, PAUSED = 0, 1, 2, 3
FIND, BOUND, COLLECT = 0, 1, 2
DEPTH, STORED, NEW, WORK, UNDECIDED = 0, 1, 2, 3, 4


class Walk(NamedTuple):
    """Buffers of `explore`: its state and its results. Regions are input planes of packed cubes.

    `regions[d]` is the region at depth d, and `members[start[d]:start[d + 1]]` are the cubes that
    meet it; `split` and `side` are the input split there and the current half. The value of an
    input in `preferred` comes first. `state` is (depth, parts stored, 1 if the node is new, work so
    far, decisions that took too long).
    """

    members: I32
    start: I64
    split: I64
    side: I64
    regions: U64
    state: I64
    bound: U64
    leaves: U64
    tally: I64
    preferred: U64


@njit(cache=True, nogil=True)
def inside(a: U64, i: int, b: U64, k: int, size: int) -> bool:
    """Tell whether the first `size` words of `a[i]` lie in those of `b[k]`."""
    for w in range(size):  # noqa: SIM110 (a generator would not compile)
        if a[i, w] & ~b[k, w]:
            return False
    return True


@njit(cache=True, nogil=True)
def meets(a: U64, i: int, b: U64, k: int, words: int) -> bool:
    """Tell whether two cubes have a point in common, whatever their outputs."""
    for w in range(words):
        zero, one = a[i, w], a[i, words + w]
        if (zero & b[k, w]) | (one & b[k, words + w]) != zero | one:
            return False
    return True


@njit(cache=True, nogil=True)
def conflict(a: U64, i: int, b: U64, k: int, words: int) -> bool:
    """Tell whether two cubes have a point of an output in common."""
    for w in range(2 * words, a.shape[1]):
        if a[i, w] & b[k, w]:
            return meets(a, i, b, k, words)
    return False


@njit(cache=True, nogil=True)
def first_conflict(a: U64, b: U64, words: int, start: int, stop: int) -> tuple[int, int]:
    """Return the first (i, k), start <= i < stop, whose cubes have a point in common."""
    for i in range(start, stop):
        for k in range(len(b)):
            if conflict(a, i, b, k, words):
                return i, k
    return -1, -1


@njit(cache=True, nogil=True)
def drop_contained(a: U64, b: U64, words: int) -> None:
    """Remove from each cube of `a` the outputs for which a single cube of `b` contains it."""
    for i in range(len(a)):
        for k in range(len(b)):
            if inside(a, i, b, k, 2 * words):
                a[i, 2 * words :] &= ~b[k, 2 * words :]


@njit(cache=True, nogil=True)
def _tally(zeros: np.uint64, ones: np.uint64, first: int, counts: I64) -> None:
    at = first
    while zeros | ones:
        counts[at] += np.int64(zeros & ONE)
        counts[at + 1] += np.int64(ones & ONE)
        zeros >>= ONE
        ones >>= ONE
        at += 2


WHOLE, NARROWED = -1, -2


@njit(cache=True, nogil=True)
def _split_input(cover: U64, w: Walk, mode: int) -> int:
    """Return the input to split, binate before unate, most literals first.

    Return `WHOLE` if a cube, or the bound, contains the region. FIND fixes unate inputs so that
    their literals are false, and returns `NARROWED`.
    """
    d, words, count = w.state[DEPTH], len(w.preferred), w.tally
    region = w.regions[d]
    if mode == BOUND and inside(w.regions, d, w.bound, 0, 2 * words):
        return WHOLE
    count[:] = 0
    for at in range(w.start[d], w.start[d + 1]):
        c = w.members[at]
        if inside(w.regions, d, cover, c, 2 * words):
            return WHOLE
        for v in range(words):
            both = region[v] & region[words + v]
            _tally(both & ~cover[c, words + v], both & ~cover[c, v], 128 * v, count)
    best, best_score, narrowed = 0, -1, False
    for i in range(count.size // 2):
        a, b = count[2 * i], count[2 * i + 1]
        score = a + b + (count.size + w.members.size if a and b else 0)
        if mode == FIND and a + b and not (a and b):
            narrowed = True
            region[(0 if a else words) + i // 64] &= ~(ONE << np.uint64(i % 64))
        elif a + b and score > best_score:
            best, best_score = i, score
    return NARROWED if narrowed else best


@njit(cache=True, nogil=True)
def _list_members(cover: U64, w: Walk, first: int, last: int, d: int) -> None:
    """List the members of first:last that meet the region at depth d (see `meets`)."""
    at, words = w.start[d], len(w.preferred)
    zero, one = w.regions[d, :words], w.regions[d, words:]
    for k in range(first, last):
        c = w.members[k]
        for v in range(words):
            if (zero[v] & cover[c, v]) | (one[v] & cover[c, words + v]) != zero[v] | one[v]:
                break
        else:
            w.members[at] = c
            at += 1
    w.start[d + 1] = at


@njit(cache=True, nogil=True)
def _enter(cover: U64, w: Walk) -> None:
    """Enter the half of a region on one side of its split."""
    d, words = w.state[DEPTH], len(w.preferred)
    i = w.split[d]
    one = has(w.preferred, i) != (w.side[d] == 1)
    w.regions[d + 1] = w.regions[d]
    w.regions[d + 1, (0 if one else words) + i // 64] &= ~(ONE << np.uint64(i % 64))
    _list_members(cover, w, w.start[d], w.start[d + 1], d + 1)
    w.state[DEPTH] = d + 1
    w.state[NEW] = 1


@njit(cache=True, nogil=True)
def explore(cover: U64, w: Walk, mode: int, budget: int) -> int:
    """Walk the parts of a region that a list of cubes leaves uncovered.

    FIND stops at the first part, in `w.regions[w.state[DEPTH]]`; BOUND enlarges the cube `w.bound`
    to contain all parts; COLLECT stores them in `w.leaves`. A call after MORE_ROOM or PAUSED
    resumes.
    """
    start, side, state = w.start, w.side, w.state
    while state[DEPTH] >= 0:
        d = state[DEPTH]
        if state[NEW]:
            count = start[d + 1] - start[d]
            budget -= 16 + count
            state[WORK] += 16 + count
            if budget < 0:
                return PAUSED
            if start[d + 1] + count > w.members.size or state[STORED] == len(w.leaves):
                return MORE_ROOM
            if count == 0 and mode == FIND:
                return FOUND
            split = WHOLE if count == 0 else _split_input(cover, w, mode)
            if count == 0 and mode == BOUND:
                w.bound[0] |= w.regions[d]
            elif count == 0:
                w.leaves[state[STORED]] = w.regions[d]
                state[STORED] += 1
            elif split == NARROWED:
                _list_members(cover, w, start[d], start[d + 1], d)
                continue
            state[NEW] = 0
            if split == WHOLE:
                state[DEPTH] -= 1
                continue
            w.split[d], side[d] = split, 0
        elif side[d] == 1:
            state[DEPTH] -= 1
            continue
        else:
            side[d] = 1
        _enter(cover, w)
    return DONE


@njit(cache=True, nogil=True)
def begin(cover: U64, w: Walk, region: U64, output: int, but: int) -> None:
    """Start a walk over a region with the cubes that meet it: of one output, or of any if -1.

    The cube with number `but` is left out.
    """
    words, size = len(w.preferred), 0
    w.regions[0] = region[: 2 * words]
    at, bit = 2 * words + max(output, 0) // 64, ONE << np.uint64(max(output, 0) % 64)
    for k in range(len(cover)):
        if k != but and (output < 0 or cover[k, at] & bit):
            w.members[size] = k
            size += 1
    w.start[0] = 0
    _list_members(cover, w, 0, size, 0)
    w.state[DEPTH] = 0
    w.state[NEW] = 1
    w.state[WORK] += len(cover)


@njit(cache=True, nogil=True)
def first_missed(targets: U64, at: I64, cover: U64, w: Walk, budget: int) -> int:
    """Find a part of a target outside the cover, from number at[0] on; FOUND as in `explore`.

    A call after MORE_ROOM or PAUSED resumes; the first call has 1 in `at[1]`.
    """
    w.state[WORK] = 0
    while at[0] < len(targets):
        if w.state[WORK] > budget:
            return PAUSED
        if at[1]:
            begin(cover, w, targets[at[0]], -1, -1)
            at[1] = 0
        status = explore(cover, w, FIND, budget)
        if status != DONE:
            return status
        at[0] += 1
        at[1] = 1
    return DONE
