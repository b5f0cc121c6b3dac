"""Compiled loops over packed cubes: prime generation, and the primes that contain points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.function_kernels import inside

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import I32, I64, U64, Flags


@njit(cache=True, nogil=True)
def maximal(cubes: U64, first: int, last: int, kept: I64, size: int) -> int:
    """Append the indices of `first..last` whose cubes lie in no kept cube; return the new size.

    Cubes are sorted by falling size: none contains an earlier one.
    """
    for i in range(first, last):
        for k in range(size):
            for w in range(cubes.shape[1]):  # see `inside`
                if cubes[i, w] & ~cubes[kept[k], w]:
                    break
            else:
                break
        else:
            kept[size] = i
            size += 1
    return size


@njit(cache=True, nogil=True)
def first_around(small: U64, large: U64) -> I64:
    """Return the first cube of `large` that contains each cube of `small`, or -1."""
    found = np.full(len(small), -1, np.int64)
    for i in range(len(small)):
        for k in range(len(large)):
            if inside(small, i, large, k, small.shape[1]):
                found[i] = k
                break
    return found


@njit(cache=True, nogil=True)
def products(left: U64, right: U64, words: int, full: U64) -> U64:
    """Return the non-empty pairwise intersections that are maximal for their cube of `left`."""
    width = left.shape[1]
    result = np.empty((max(256, len(left) + len(right)), width), np.uint64)
    size = 0
    for i in range(len(left)):
        start = size
        for k in range(len(right)):
            if size == len(result):
                larger = np.empty((2 * size, width), np.uint64)
                larger[:size] = result
                result = larger
            if _meet(left, i, right, k, words, full, result, size):
                size = settle(result, start, size)
    return result[:size]


@njit(cache=True, nogil=True)
def _meet(  # noqa: PLR0917 (numba has no keyword-only arguments)
    left: U64, i: int, right: U64, k: int, words: int, full: U64, result: U64, at: int
) -> bool:
    """Store the intersection of two cubes in `result[at]`; tell whether it is proper."""
    proper = False
    for w in range(2 * words, left.shape[1]):
        result[at, w] = left[i, w] & right[k, w]
        proper = proper or result[at, w] != 0
    for w in range(words):
        if not proper:
            return False
        result[at, w] = left[i, w] & right[k, w]
        result[at, words + w] = left[i, words + w] & right[k, words + w]
        proper = (result[at, w] | result[at, words + w]) == full[w]
    return proper


@njit(cache=True, nogil=True)
def settle(cubes: U64, start: int, size: int) -> int:
    """Keep the cube at `size` if it lies in no cube from `start` on; drop the cubes in it."""
    for k in range(start, size):
        if inside(cubes, size, cubes, k, cubes.shape[1]):
            return size
    write = start
    for k in range(start, size):
        if not inside(cubes, k, cubes, size, cubes.shape[1]):
            if write != k:
                cubes[write] = cubes[k]
            write += 1
    if write != size:
        cubes[write] = cubes[size]
    return write + 1


@njit(cache=True, nogil=True)
def covering_lists(points: U64, cubes: U64) -> tuple[I64, I32]:
    """Return the ascending indices of the cubes that contain each point, in CSR form."""
    starts = np.zeros(len(points) + 1, np.int64)
    indices = np.empty(max(1024, 8 * len(points)), np.int32)
    size = 0
    for i in range(len(points)):
        for k in range(len(cubes)):
            if inside(points, i, cubes, k, points.shape[1]):
                if size == len(indices):
                    larger = np.empty(2 * size, np.int32)
                    larger[:size] = indices
                    indices = larger
                indices[size] = k
                size += 1
        starts[i + 1] = size
    return starts, indices[:size].copy()


@njit(cache=True, nogil=True)
def harder(points: U64, primes: U64, chosen: Flags, dont_care: U64, inputs: int) -> None:
    """Move every point, in place, to neighbours in fewer primes while there are any.

    A neighbour differs in one input, lies in ON outside DC, and in no chosen prime.
    """
    words = (inputs + 63) // 64
    for p in range(len(points)):
        now = _count(points, p, primes, chosen)
        moved = True
        while moved and now > 1:
            moved = False
            for i in range(inputs):
                bit = np.uint64(1) << np.uint64(i % 64)
                points[p, i // 64] ^= bit
                points[p, words + i // 64] ^= bit
                then = _count(points, p, primes, chosen)
                if 0 < then < now and not _any_holds(points, p, dont_care):
                    now = then
                    moved = True
                else:
                    points[p, i // 64] ^= bit
                    points[p, words + i // 64] ^= bit


@njit(cache=True, nogil=True)
def _count(points: U64, p: int, primes: U64, chosen: Flags) -> int:
    """Return the number of primes that contain the point, or 0 if a chosen one does."""
    count = 0
    for k in range(len(primes)):
        if inside(points, p, primes, k, points.shape[1]):
            if chosen[k]:
                return 0
            count += 1
    return count


@njit(cache=True, nogil=True)
def _any_holds(points: U64, p: int, cubes: U64) -> bool:
    for k in range(len(cubes)):  # noqa: SIM110 (a generator would not compile)
        if inside(points, p, cubes, k, points.shape[1]):
            return True
    return False
