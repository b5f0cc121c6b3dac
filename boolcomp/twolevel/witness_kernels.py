"""A compiled search for a point of a cube that a cover misses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def missed(
    cover: NDArray[np.uint64],
    cube: NDArray[np.uint64],
    taste: NDArray[np.uint64],
    budget: NDArray[np.int64],
) -> bool:
    """Narrow `cube` to a part that no cube of `cover` touches; tell whether there is one.

    All arrays hold the input planes only (`zero words | one words`). Where both values do, the
    one in `taste` (a vector of input values) is tried first. Each step takes 1 from `budget[0]`;
    once that is negative the answer False says nothing.
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
            drop = 0 if taste[split // 64] & bit else words
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
def _touching(
    cover: NDArray[np.uint64],
    given: NDArray[np.int64],
    count: int,
    cube: NDArray[np.uint64],
    result: NDArray[np.int64],
) -> int:
    """List the cubes that meet `cube`; return their number, or -1 when one holds it all."""
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
def _narrow(
    cover: NDArray[np.uint64], given: NDArray[np.int64], count: int, cube: NDArray[np.uint64]
) -> int:
    """Fix inputs that occur in one phase only to the other phase and return -1.

    When there is none, return the input with the most literals.
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
def _tally(bits: np.uint64, first: int, counts: NDArray[np.int64]) -> None:
    i = first
    while bits:
        if bits & np.uint64(1):
            counts[i] += 1
        bits >>= np.uint64(1)
        i += 1
