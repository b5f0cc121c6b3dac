"""Compiled loops that list sets of points (as bits of words) that one product can contain."""
# ruff: noqa: PLR0917 (a compiled loop takes its arrays one by one)

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.cubes import ONE, has
from boolcomp.twolevel.function_kernels import conflict, first_conflict, inside
from boolcomp.twolevel.primes_kernels import settle

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import I32, I64, U64

LOOKED_AT = 24  # OFF cubes that a set meets, at most, compared for the fewest branches


class PackedPoints(NamedTuple):
    """Packed points, and the sets of points with each input at 1, and with each output."""

    rows: U64
    ones: U64
    outs: U64


class Sets(NamedTuple):
    """A list of `size[0]` distinct sets with a hash table."""

    sets: U64
    table: I32
    size: I64


@njit(cache=True, nogil=True)
def new_sets(room: int, words: int) -> Sets:
    """Return an empty list of at most `room` sets."""
    size = 16
    while size < 4 * room:
        size *= 2
    return Sets(
        np.zeros((room, words), np.uint64), np.full(size, -1, np.int32), np.zeros(1, np.int64)
    )


@njit(cache=True, nogil=True)
def enter(s: Sets, one: U64) -> bool:
    """Add a set, for which there must be room; tell whether it is new."""
    key = np.uint64(0x9E3779B97F4A7C15)
    for w in range(len(one)):
        key = (key ^ one[w]) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    at = np.int64(key & np.uint64(len(s.table) - 1))
    while s.table[at] >= 0:
        if (s.sets[s.table[at]] == one).all():
            return False
        at = (at + 1) & (len(s.table) - 1)
    s.table[at] = s.size[0]
    s.sets[s.size[0]] = one
    s.size[0] += 1
    return True


@njit(cache=True, nogil=True)
def around(rows: U64, some: U64, cube: U64) -> None:
    """Set `cube` (of one row) to the smallest cube around a set of points."""
    cube[:] = 0
    for k in range(len(rows)):
        if has(some, k):
            cube[0] |= rows[k]


@njit(cache=True, nogil=True)
def _ways_out(p: PackedPoints, off: U64, o: int, r: int, some: U64, words: int, ways: U64) -> int:
    """Fill `ways` with the maximal subsets around point `r` whose cubes do not meet `off[o]`.

    There is one for every input that separates the point from the cube, and one for its outputs.
    """
    count = 0
    row = p.rows[r]
    for w in range(words):
        apart = (row[w] & ~off[o, w]) | (row[words + w] & ~off[o, words + w])
        i = 64 * w
        while apart:
            if apart & ONE:
                one = (row[words + w] >> np.uint64(i - 64 * w)) & ONE
                for k in range(len(some)):
                    side = p.ones[i, k]
                    ways[count, k] = some[k] & (side if one else ~side)
                count = settle(ways, 0, count)
            apart >>= ONE
            i += 1
    common = False
    for w in range(2 * words, len(row)):
        common = common or (row[w] & off[o, w]) != 0
    if not common:
        ways[count] = some
        for j in range(len(p.outs)):
            if has(off[o], 128 * words + j):
                for k in range(len(some)):
                    ways[count, k] &= ~p.outs[j, k]
        count = settle(ways, 0, count)
    return count


@njit(cache=True, nogil=True)
def _narrowest(
    p: PackedPoints, off: U64, r: int, some: U64, words: int, cube: U64, ways: U64, best: U64
) -> int:
    """Set `best` to the subsets that avoid an OFF cube; return their number, or -1.

    The OFF cube is the one with the fewest subsets; -1 means that the set meets no OFF cube.
    """
    fewest, looked_at = -1, 0
    around(p.rows, some, cube)
    for o in range(len(off)):
        if not conflict(cube, 0, off, o, words):
            continue
        count = _ways_out(p, off, o, r, some, words, ways)
        if fewest < 0 or count < fewest:
            fewest = count
            best[:count] = ways[:count]
        looked_at += 1
        if fewest <= 1 or looked_at == LOOKED_AT:
            break
    return fewest


@njit(cache=True, nogil=True)
def compatible_points(rows: U64, off: U64, r: int, words: int, some: U64) -> None:
    """Set `some` to the points that can share a product with point `r`."""
    some[:] = 0
    cube = np.zeros((1, rows.shape[1]), np.uint64)
    for k in range(len(rows)):
        cube[0] = rows[r] | rows[k]
        if first_conflict(cube, off, words, 0, 1)[0] < 0:
            some[k // 64] |= ONE << np.uint64(k % 64)


@njit(cache=True, nogil=True)
def gathered(
    p: PackedPoints, off: U64, r: int, words: int, leaves: Sets, seen: Sets, stack: U64,
    height: I64, nodes: int,
) -> bool:  # fmt: skip
    """Add the maximal sets of points that can share a product with point `r` to `leaves`.

    Some added sets are not maximal. `stack` has `height[0]` sets to visit, at first the result of
    `compatible_points`; at most `nodes` are visited. Return False if a list is full.
    """
    size = seen.sets.shape[1]
    branches = 64 * words + 2
    ways, best = np.zeros((branches, size), np.uint64), np.zeros((branches, size), np.uint64)
    cube = np.zeros((1, p.rows.shape[1]), np.uint64)
    while height[0] and nodes > 0:
        full = len(leaves.sets) - leaves.size[0] < 2 or len(seen.sets) - seen.size[0] < 2
        if full or height[0] + branches > len(stack):
            return False
        height[0] -= 1
        some = stack[height[0]].copy()
        if _known(leaves, r, stack, height[0]) or not enter(seen, some):
            continue
        nodes -= 1
        count = _narrowest(p, off, r, some, words, cube, ways, best)
        if count < 0:
            enter(leaves, some)
        for k in range(count):
            stack[height[0]] = best[k]
            height[0] += 1
    return True


@njit(cache=True, nogil=True)
def _known(leaves: Sets, r: int, stack: U64, at: int) -> bool:
    """Tell whether the set `stack[at]`, around point `r`, is a subset of a listed one."""
    for k in range(leaves.size[0]):
        if has(leaves.sets[k], r) and inside(stack, at, leaves.sets, k, stack.shape[1]):
            return True
    return False
