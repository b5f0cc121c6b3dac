"""Compiled local search for covering problems of unit cost. Imports numba, so import it late.

Whenever all rows are met a column leaves; then columns are swapped, and rows left unmet gain weight
until they are met (row weighting local search: Gao, Weise and Li 2015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.common.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


class State(NamedTuple):
    """The arrays of one search; the first four are the matrix and its transpose in CSR form."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int64]
    turned: NDArray[np.int64]
    members: NDArray[np.int64]
    times: NDArray[np.int64]  # how many chosen columns meet a row
    weight: NDArray[np.int64]  # of a row
    score: NDArray[np.int64]  # weight won by taking a column; minus that lost by dropping it
    chosen: NDArray[np.bool_]
    fresh: NDArray[np.bool_]  # a neighbour changed since the column was dropped
    stamp: NDArray[np.int64]  # when a column last changed
    solution: NDArray[np.int64]
    unmet: NDArray[np.int64]
    place: NDArray[np.int64]  # of a row in `unmet`
    number: NDArray[np.int64]  # SIZE, LEFT, LAST, NOW
    random: NDArray[np.uint64]


SIZE, LEFT, LAST, NOW = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def _flip(state: State, k: int, sign: int) -> None:
    """Take column `k` in (`sign` 1) or out (-1); keep times, scores and unmet rows true."""
    own = -state.score[k]
    state.chosen[k] = sign > 0
    for at in range(state.turned[k], state.turned[k + 1]):
        r = state.members[at]
        before = state.times[r]
        state.times[r] += sign
        both = before + state.times[r]
        for j in range(state.starts[r], state.starts[r + 1]):
            c = state.indices[j]
            state.fresh[c] = True
            # 0 and 1: all others gain or lose the row. 1 and 2: the other owner does.
            if both == 1:
                state.score[c] -= sign * state.weight[r]
            elif both == 3 and state.chosen[c] and c != k:
                state.score[c] += sign * state.weight[r]
        if both == 1:
            _mark(state, r, sign)
    state.score[k] = own
    state.stamp[k] = state.number[NOW]


@njit(cache=True, nogil=True)
def _mark(state: State, r: int, sign: int) -> None:
    """Note that a row is met now (`sign` 1) or unmet (-1)."""
    if sign < 0:
        state.place[r] = state.number[LEFT]
        state.unmet[state.number[LEFT]] = r
        state.number[LEFT] += 1
    else:
        state.number[LEFT] -= 1
        moved = state.unmet[state.number[LEFT]]
        state.unmet[state.place[r]] = moved
        state.place[moved] = state.place[r]


@njit(cache=True, nogil=True)
def _better(state: State, k: int, than: int) -> bool:
    if state.score[k] != state.score[than]:
        return bool(state.score[k] > state.score[than])
    return bool(state.stamp[k] < state.stamp[than])


@njit(cache=True, nogil=True)
def take(state: State, k: int) -> None:
    """Choose a column."""
    _flip(state, k, 1)
    state.solution[state.number[SIZE]] = k
    state.number[SIZE] += 1


@njit(cache=True, nogil=True)
def _drop(state: State) -> None:
    """Drop the column that costs least, but not the last one taken."""
    at = -1
    for i in range(state.number[SIZE]):
        k = state.solution[i]
        if k != state.number[LAST] and (at < 0 or _better(state, k, state.solution[at])):
            at = i
    if at < 0:
        return
    k = state.solution[at]
    state.number[SIZE] -= 1
    state.solution[at] = state.solution[state.number[SIZE]]
    _flip(state, k, -1)
    state.fresh[k] = False


@njit(cache=True, nogil=True)
def _fill(state: State) -> None:
    """Take the best column for some unmet row; all rows still unmet gain weight."""
    state.random[0] = state.random[0] * np.uint64(6364136223846793005) + np.uint64(
        1442695040888963407
    )
    r = state.unmet[np.int64(state.random[0] >> np.uint64(33)) % state.number[LEFT]]
    pick = -1
    for at in range(state.starts[r], state.starts[r + 1]):
        k = state.indices[at]
        if state.fresh[k] and (pick < 0 or _better(state, k, pick)):
            pick = k
    if pick >= 0:
        take(state, pick)
        state.number[LAST] = pick
    for i in range(state.number[LEFT]):
        r = state.unmet[i]
        state.weight[r] += 1
        for at in range(state.starts[r], state.starts[r + 1]):
            state.score[state.indices[at]] += 1


@njit(cache=True, nogil=True)
def search(state: State, lower: int, steps: int, best: NDArray[np.int64]) -> int:
    """Search for some steps; put the smallest cover met into `best` and return its size or -1."""
    found = -1
    for _ in range(steps):
        state.number[NOW] += 1
        while state.number[LEFT] == 0:
            found = state.number[SIZE]
            best[:found] = state.solution[:found]
            if found <= max(lower, 1):
                return int(found)
            _drop(state)
        _drop(state)
        _fill(state)
    return int(found)
