"""Compiled loops that list which points products can hold together.

Sets of points are bits of words.
"""
# ruff: noqa: PLR0917 (a compiled loop takes its arrays one by one)

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = np.uint64(1)
LOOKED_AT = 24
"""OFF cubes in the way that are looked at, for one that leaves the fewest ways out."""


class Points(NamedTuple):
    """Packed points, and the sets of those that have each input at 1, or each output."""

    rows: NDArray[np.uint64]
    ones: NDArray[np.uint64]
    outs: NDArray[np.uint64]


class Sets(NamedTuple):
    """A growing list of sets, each once: `size[0]` of `sets`, found through `table`."""

    sets: NDArray[np.uint64]
    table: NDArray[np.int32]
    size: NDArray[np.int64]


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
def enter(s: Sets, one: NDArray[np.uint64]) -> bool:
    """Add a set; tell whether it is new. There must be room."""
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
def subset(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> bool:
    """Tell whether set `a` lies in set `b`."""
    for w in range(len(a)):  # noqa: SIM110 (a generator would not compile)
        if a[w] & ~b[w]:
            return False
    return True


@njit(cache=True, nogil=True)
def around(rows: NDArray[np.uint64], some: NDArray[np.uint64], cube: NDArray[np.uint64]) -> None:
    """Make `cube` the smallest around a set of points."""
    cube[:] = 0
    for k in range(len(rows)):
        if some[k // 64] >> np.uint64(k % 64) & ONE:
            cube |= rows[k]


@njit(cache=True, nogil=True)
def meets(cube: NDArray[np.uint64], off: NDArray[np.uint64], o: int, words: int) -> bool:
    """Tell whether a cube around points meets cube `off[o]`, in an output too."""
    common = False
    for w in range(2 * words, len(cube)):
        common = common or (cube[w] & off[o, w]) != 0
    if not common:
        return False
    for w in range(words):
        # The inputs that the cube has at all are those of a point: all of them.
        whole = cube[w] | cube[words + w]
        if (cube[w] & off[o, w]) | (cube[words + w] & off[o, words + w]) != whole:
            return False
    return True


@njit(cache=True, nogil=True)
def _ways_out(
    p: Points,
    off: NDArray[np.uint64],
    o: int,
    r: int,
    some: NDArray[np.uint64],
    words: int,
    ways: NDArray[np.uint64],
) -> int:
    """Fill `ways` with the largest parts of a set around point `r` that stay clear of `off[o]`.

    One for every input in which the point is apart from the cube, and one for its outputs.
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
                count = _settled(ways, count)
            apart >>= ONE
            i += 1
    common = False
    for w in range(2 * words, len(row)):
        common = common or (row[w] & off[o, w]) != 0
    if not common:
        ways[count] = some
        for j in range(len(p.outs)):
            if off[o, 2 * words + j // 64] >> np.uint64(j % 64) & ONE:
                for k in range(len(some)):
                    ways[count, k] &= ~p.outs[j, k]
        count = _settled(ways, count)
    return count


@njit(cache=True, nogil=True)
def _settled(ways: NDArray[np.uint64], count: int) -> int:
    """Keep the set at `count` if no earlier one holds it, and drop those it holds."""
    for k in range(count):
        if subset(ways[count], ways[k]):
            return count
    write = 0
    for k in range(count):
        if not subset(ways[k], ways[count]):
            if write != k:
                ways[write] = ways[k]
            write += 1
    if write != count:
        ways[write] = ways[count]
    return write + 1


@njit(cache=True, nogil=True)
def _narrowest(
    p: Points,
    off: NDArray[np.uint64],
    r: int,
    some: NDArray[np.uint64],
    words: int,
    cube: NDArray[np.uint64],
    ways: NDArray[np.uint64],
    best: NDArray[np.uint64],
) -> int:
    """Put the ways out of an OFF cube that a set meets into `best`; return their number, or -1.

    -1 says that the set meets none. Of those looked at it is the cube with the fewest ways out.
    """
    fewest, looked_at = -1, 0
    around(p.rows, some, cube)
    for o in range(len(off)):
        if not meets(cube, off, o, words):
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
def friends(
    rows: NDArray[np.uint64],
    off: NDArray[np.uint64],
    r: int,
    words: int,
    some: NDArray[np.uint64],
) -> None:
    """Make `some` the set of the points that a product can hold together with point `r`."""
    some[:] = 0
    cube = np.zeros(rows.shape[1], np.uint64)
    for k in range(len(rows)):
        cube[:] = rows[r] | rows[k]
        free = True
        for o in range(len(off)):
            if meets(cube, off, o, words):
                free = False
                break
        if free:
            some[k // 64] |= ONE << np.uint64(k % 64)


@njit(cache=True, nogil=True)
def gathered(
    p: Points,
    off: NDArray[np.uint64],
    r: int,
    words: int,
    leaves: Sets,
    seen: Sets,
    stack: NDArray[np.uint64],
    height: NDArray[np.int64],
    nodes: int,
) -> bool:
    """Add to `leaves` the largest sets of points that a product can hold together with point `r`.

    And some that are not the largest. `stack` are the sets still to look at, `height[0]` of them,
    at first the point's friends; at most so many `nodes` are looked at. False where there was no
    room in the lists.
    """
    size = seen.sets.shape[1]
    most = 64 * words + 2
    ways, best = np.zeros((most, size), np.uint64), np.zeros((most, size), np.uint64)
    cube = np.zeros(p.rows.shape[1], np.uint64)
    while height[0] and nodes > 0:
        full = len(leaves.sets) - leaves.size[0] < 2 or len(seen.sets) - seen.size[0] < 2
        if full or height[0] + most > len(stack):
            return False
        height[0] -= 1
        some = stack[height[0]].copy()
        if _known(leaves, r, some) or not enter(seen, some):
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
def _known(leaves: Sets, r: int, some: NDArray[np.uint64]) -> bool:
    """Tell whether a set around point `r` lies in one that is in the list."""
    word, bit = r // 64, ONE << np.uint64(r % 64)
    for k in range(leaves.size[0]):
        if leaves.sets[k, word] & bit and subset(some, leaves.sets[k]):
            return True
    return False


@njit(cache=True, nogil=True)
def grow(
    cubes: NDArray[np.uint64], off: NDArray[np.uint64], order: NDArray[np.int64], inputs: int
) -> None:
    """Grow every cube to a prime, in place: inputs and outputs are freed in the `order` given.

    A row of it for each cube; inputs are 0 and on, outputs follow them.
    """
    words = (inputs + 63) // 64
    bigger = np.zeros(cubes.shape[1], np.uint64)
    for k in range(len(cubes)):
        for v in order[k]:
            bigger[:] = cubes[k]
            if v < inputs:
                bit = ONE << np.uint64(v % 64)
                bigger[v // 64] |= bit
                bigger[words + v // 64] |= bit
            else:
                bigger[2 * words + (v - inputs) // 64] |= ONE << np.uint64((v - inputs) % 64)
            free = True
            for o in range(len(off)):
                if meets(bigger, off, o, words):
                    free = False
                    break
            if free:
                cubes[k] = bigger
