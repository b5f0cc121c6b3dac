"""Compiled loops that grow cubes to primes, outputs as readily as inputs."""
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.list_sweep_kernels import ONE, Lists, _blockers
from boolcomp.twolevel.sweep_kernels import has, random

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def _conflicts(s: Lists, c: int, inputs: int, conflict: NDArray[np.uint64]) -> None:
    """Set for every cube of the limit the inputs that keep it apart from cube c."""
    for r in range(len(s.limit_zero)):
        for w in range(s.zero.shape[1]):
            either = (s.zero[c, w] & s.limit_zero[r, w]) | (s.one[c, w] & s.limit_one[r, w])
            span = min(64, inputs - 64 * w)
            full = ~np.uint64(0) if span >= 64 else (ONE << np.uint64(max(0, span))) - ONE
            conflict[r, w] = full & ~either


@njit(cache=True, nogil=True)
def grow_at_random(
    s: Lists, c: int, inputs: int, outputs: int, share: float, conflict: NDArray[np.uint64]
) -> None:
    """Grow cube c to a prime: literals and outputs in a random order, outputs `share` of the time.

    With a share of 1 all outputs come first, with 0 they come last.
    """
    blocked = np.zeros(s.zero.shape[1], np.uint64)
    outputs_blocked = np.zeros(s.out.shape[1], np.uint64)
    _conflicts(s, c, inputs, conflict)
    places = np.zeros(inputs + outputs, np.int64)
    while True:
        _blockers(s, c, conflict, blocked, outputs_blocked)
        literals = 0
        for i in range(inputs):
            if not has(blocked, i) and not (has(s.zero[c], i) and has(s.one[c], i)):
                places[literals] = i
                literals += 1
        size = literals
        for j in range(outputs):
            if not has(outputs_blocked, j) and not has(s.out[c], j):
                places[size] = j
                size += 1
        if size == 0:
            return
        of_outputs = random(s.noise) / 2147483648.0 < share
        if literals == 0 or (of_outputs and size > literals):
            j = places[literals + int(random(s.noise)) % (size - literals)]
            s.out[c, j >> 6] |= ONE << np.uint64(j & 63)
            continue
        i = places[int(random(s.noise)) % literals]
        bit = ONE << np.uint64(i & 63)
        s.zero[c, i >> 6] |= bit
        s.one[c, i >> 6] |= bit
        for r in range(len(conflict)):
            conflict[r, i >> 6] &= ~bit


@njit(cache=True, nogil=True)
def scatter(
    s: Lists, at: NDArray[np.int64], inputs: int, outputs: int, limit: int,
    conflict: NDArray[np.uint64],
) -> bool:  # fmt: skip
    """Grow cubes from place at[0] on, by turns outputs first, last and between; tell if at the end.

    It stops after so many cubes of the limit looked at.
    """
    work = 0
    while at[0] < s.fixed[0]:
        if work > limit:
            return False
        c = at[0]
        grow_at_random(s, c, inputs, outputs, (c % 3) / 2.0, conflict)
        work += (inputs + outputs) * len(conflict)
        at[0] += 1
    return True
