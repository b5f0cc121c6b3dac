"""Compiled loops that relate primes to points: who covers whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.primes_kernels import inside

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def covering_lists(
    points: NDArray[np.uint64], cubes: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return for every point the rising indices of the cubes that hold it, in CSR form."""
    starts = np.zeros(len(points) + 1, np.int64)
    indices = np.empty(max(1024, 8 * len(points)), np.int32)
    size = 0
    for i in range(len(points)):
        for k in range(len(cubes)):
            if inside(points, i, cubes, k):
                if size == len(indices):
                    larger = np.empty(2 * size, np.int32)
                    larger[:size] = indices
                    indices = larger
                indices[size] = k
                size += 1
        starts[i + 1] = size
    return starts, indices[:size].copy()


@njit(cache=True, nogil=True)
def first_around(points: NDArray[np.uint64], cubes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return for every point or cube the first of the cubes that holds it, or -1."""
    found = np.full(len(points), -1, np.int64)
    for i in range(len(points)):
        for k in range(len(cubes)):
            if inside(points, i, cubes, k):
                found[i] = k
                break
    return found


@njit(cache=True, nogil=True)
def harder(
    points: NDArray[np.uint64],
    primes: NDArray[np.uint64],
    chosen: NDArray[np.bool_],
    dont_care: NDArray[np.uint64],
    inputs: int,
) -> None:
    """Move every point to a neighbour in fewer primes, again and again, in place.

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
def _count(
    points: NDArray[np.uint64], p: int, primes: NDArray[np.uint64], chosen: NDArray[np.bool_]
) -> int:
    """Return how many primes hold the point, or 0 when a chosen one does."""
    count = 0
    for k in range(len(primes)):
        if inside(points, p, primes, k):
            if chosen[k]:
                return 0
            count += 1
    return count


@njit(cache=True, nogil=True)
def _any_holds(points: NDArray[np.uint64], p: int, cubes: NDArray[np.uint64]) -> bool:
    for k in range(len(cubes)):  # noqa: SIM110 (a generator would not compile)
        if inside(points, p, cubes, k):
            return True
    return False
