"""All multi-output primes of a small truth table, from all its 3^n cubes; imports numba."""
# ruff: noqa: C901, PLR0912 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def allowed_outputs(allowed: NDArray[np.uint64], masks: NDArray[np.uint64], inputs: int) -> None:
    """Fill in, for each cube, the outputs that allow all its points.

    Cube number t has digit 0, 1 or 2 (free) at place b for index bit b, in base 3. `masks` comes
    with one row per output and `allowed` is 3^inputs rows of words.
    """
    place = np.ones(inputs + 1, np.int64)
    for b in range(inputs):
        place[b + 1] = 3 * place[b]
    digits = np.zeros(inputs, np.int64)
    for t in range(place[inputs]):
        x, free = 0, -1
        for b in range(inputs):
            if digits[b] == 2:
                free = b
                break
            x |= digits[b] << b
        if free >= 0:
            a, b2 = t - 2 * place[free], t - place[free]
            for w in range(allowed.shape[1]):
                allowed[t, w] = allowed[a, w] & allowed[b2, w]
        else:
            for j in range(len(masks)):
                if masks[j, x >> 6] >> np.uint64(x & 63) & np.uint64(1):
                    allowed[t, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
        for b in range(inputs):
            digits[b] += 1
            if digits[b] < 3:
                break
            digits[b] = 0


@njit(cache=True, nogil=True)
def primes(
    allowed: NDArray[np.uint64],
    inputs: int,
    value: NDArray[np.int64],
    free: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> int:
    """List the cubes that no larger cube with the same outputs holds; return how many there are.

    Only as many as the arrays hold are stored.
    """
    place = np.ones(inputs + 1, np.int64)
    for b in range(inputs):
        place[b + 1] = 3 * place[b]
    digits = np.zeros(inputs, np.int64)
    count = 0
    for t in range(place[inputs]):
        prime = False
        for w in range(allowed.shape[1]):
            prime = prime or allowed[t, w] != 0
        b = 0
        while prime and b < inputs:
            if digits[b] != 2:
                larger = t + (2 - digits[b]) * place[b]
                same = True
                for w in range(allowed.shape[1]):
                    same = same and allowed[t, w] == allowed[larger, w]
                prime = not same
            b += 1
        if prime:
            if count < len(value):
                value[count] = 0
                free[count] = 0
                for b in range(inputs):
                    if digits[b] == 2:
                        free[count] |= 1 << b
                    else:
                        value[count] |= digits[b] << b
                out[count] = allowed[t]
            count += 1
        for b in range(inputs):
            digits[b] += 1
            if digits[b] < 3:
                break
            digits[b] = 0
    return count
