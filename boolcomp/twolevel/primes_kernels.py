"""Compiled loops over packed cubes for prime generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def inside(a: NDArray[np.uint64], i: int, b: NDArray[np.uint64], k: int) -> bool:
    """Tell whether cube `a[i]` lies in cube `b[k]`."""
    for w in range(a.shape[1]):  # noqa: SIM110 (a generator would not compile)
        if a[i, w] & ~b[k, w]:
            return False
    return True


@njit(cache=True, nogil=True)
def maximal(
    cubes: NDArray[np.uint64], first: int, last: int, kept: NDArray[np.int64], size: int
) -> int:
    """Append to `kept` those indices of `first..last` whose cubes lie in no kept cube.

    The cubes fall in size, so that no later one holds an earlier one. Return the new size.
    """
    for i in range(first, last):
        held = False
        for k in range(size):
            if inside(cubes, i, cubes, kept[k]):
                held = True
                break
        if not held:
            kept[size] = i
            size += 1
    return size


@njit(cache=True, nogil=True)
def contained(small: NDArray[np.uint64], large: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Tell for every cube of `small` whether some cube of `large` holds it."""
    result = np.zeros(len(small), np.bool_)
    for i in range(len(small)):
        for k in range(len(large)):
            if inside(small, i, large, k):
                result[i] = True
                break
    return result


@njit(cache=True, nogil=True)
def products(
    left: NDArray[np.uint64], right: NDArray[np.uint64], words: int, full: NDArray[np.uint64]
) -> NDArray[np.uint64]:
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
                size = _settle(result, start, size)
    return result[:size]


@njit(cache=True, nogil=True)
def _meet(  # noqa: PLR0917 (numba has no keyword-only arguments)
    left: NDArray[np.uint64],
    i: int,
    right: NDArray[np.uint64],
    k: int,
    words: int,
    full: NDArray[np.uint64],
    result: NDArray[np.uint64],
    at: int,
) -> bool:
    """Put the intersection of two cubes at `result[at]`; tell whether it is proper."""
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
def _settle(cubes: NDArray[np.uint64], start: int, size: int) -> int:
    """Keep the cube at `size` if no cube from `start` holds it; drop those it holds."""
    for k in range(start, size):
        if inside(cubes, size, cubes, k):
            return size
    write = start
    for k in range(start, size):
        if not inside(cubes, k, cubes, size):
            if write != k:
                cubes[write] = cubes[k]
            write += 1
    if write != size:
        cubes[write] = cubes[size]
    return write + 1
