"""The compiled loop of the irredundant sum of products."""
# ruff: noqa: PLR0917 (a compiled loop takes its arrays one by one)
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.twolevel.dense_kernels import ALL, LOW_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

ISOP_DONE, ISOP_MORE_ROOM, ISOP_PAUSED = 0, 1, 2


@njit(cache=True, nogil=True, inline="always")
def _halves(word: np.uint64, b: int) -> tuple[np.uint64, np.uint64]:
    """Return both cofactors of a word by a low index bit, each spread over the whole word."""
    mask = LOW_BITS[b]
    shift = np.uint64(1 << b)
    low = word & ~mask
    high = word & mask
    return low | low << shift, high | high >> shift


@njit(cache=True, nogil=True)
def _constant_outputs(
    lower: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    full: NDArray[np.uint64],
) -> tuple[bool, bool]:
    """Mark in `full` the outputs allowed everywhere; tell if one is needed, if others are."""
    needed = False
    others = False
    full[:] = 0
    for j in range(len(lower)):
        wanted = False
        for w in range(lower.shape[1]):
            if lower[j, w]:
                wanted = True
                break
        allowed = True
        for w in range(lower.shape[1]):
            if upper[j, w] != ALL:
                allowed = False
                break
        if allowed:
            full[j // 64] |= np.uint64(1) << np.uint64(j % 64)
            needed = needed or wanted
        else:
            others = others or wanted
    return needed, others


@njit(cache=True, nogil=True)
def _half_problem(
    lower: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    b: int,
    side: int,
    next_lower: NDArray[np.uint64],
    next_upper: NDArray[np.uint64],
) -> None:
    """Pose what must be covered by products with index bit `b` equal to `side`."""
    size = next_lower.shape[1]
    for j in range(len(lower)):
        for w in range(size):
            if b >= 6:
                mine = w + side * size
                its = w + (1 - side) * size
                next_lower[j, w] = lower[j, mine] & ~upper[j, its]
                next_upper[j, w] = upper[j, mine]
            else:
                l0, l1 = _halves(lower[j, w], b)
                u0, u1 = _halves(upper[j, w], b)
                next_lower[j, w] = l1 & ~u0 if side else l0 & ~u1
                next_upper[j, w] = u1 if side else u0


@njit(cache=True, nogil=True)
def _rest_problem(
    lower: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    done: NDArray[np.uint64],
    b: int,
    next_lower: NDArray[np.uint64],
    next_upper: NDArray[np.uint64],
) -> None:
    """Pose what products without index bit `b` must cover."""
    size = next_lower.shape[1]
    for j in range(len(lower)):
        for w in range(size):
            if b >= 6:
                h = w + size
                next_lower[j, w] = (lower[j, w] & ~done[j, w]) | (lower[j, h] & ~done[j, h])
                next_upper[j, w] = upper[j, w] & upper[j, h]
            else:
                l0, l1 = _halves(lower[j, w] & ~done[j, w], b)
                u0, u1 = _halves(upper[j, w], b)
                next_lower[j, w] = l0 | l1
                next_upper[j, w] = u0 & u1


@njit(cache=True, nogil=True)
def _collect(done: NDArray[np.uint64], child: NDArray[np.uint64], b: int, side: int) -> None:
    """Enter what the products of a subproblem cover (side 2: of both halves)."""
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
def _view(flat: NDArray[np.uint64], at: NDArray[np.int64], level: int, m: int):  # type: ignore[no-untyped-def]  # noqa: ANN202
    return flat[at[level] : at[level + 1]].reshape(m, (at[level + 1] - at[level]) // m)


@njit(cache=True, nogil=True)
def _emit(
    done: NDArray[np.uint64],
    lower: NDArray[np.uint64],
    full: NDArray[np.uint64],
) -> None:
    """Book that a product covers the outputs of `full` everywhere."""
    for j in range(len(done)):
        if full[j // 64] >> np.uint64(j % 64) & np.uint64(1):
            for w in range(done.shape[1]):
                done[j, w] = ALL
                lower[j, w] = 0


@njit(cache=True, nogil=True)
def isop(
    inputs: int,
    outputs: int,
    lower: NDArray[np.uint64],
    upper: NDArray[np.uint64],
    done: NDArray[np.uint64],
    at: NDArray[np.int64],
    stage: NDArray[np.int64],
    path: NDArray[np.int64],
    state: NDArray[np.int64],
    value: NDArray[np.int64],
    free: NDArray[np.int64],
    out: NDArray[np.uint64],
    budget: int,
) -> int:
    """Run until done, until the arrays of products are full, or for `budget` words of work.

    Level k splits index bit `inputs - 1 - k`; `lower`, `upper` and `done` hold one problem a level
    from `at[k]` on. `stage` counts the subproblems a level has posed, `path` holds (value, free) of
    the level's cube, `state` the current level and the number of products: a call resumes there.
    """
    full = np.zeros(out.shape[1], np.uint64)
    while state[0] >= 0:
        k = state[0]
        b = inputs - 1 - k
        low, up = _view(lower, at, k, outputs), _view(upper, at, k, outputs)
        got = _view(done, at, k, outputs)
        budget -= got.size
        if budget < 0:
            return ISOP_PAUSED
        if stage[k] == 0:
            if state[1] == len(value):
                return ISOP_MORE_ROOM
            got[:] = 0
            needed, others = _constant_outputs(low, up, full)
            if needed:
                value[state[1]] = path[2 * k]
                free[state[1]] = path[2 * k + 1] | ((1 << (b + 1)) - 1)
                out[state[1]] = full
                state[1] += 1
                _emit(got, low, full)
            if not others:
                state[0] -= 1
                continue
        else:
            _collect(got, _view(done, at, k + 1, outputs), b, stage[k] - 1)
            if stage[k] == 3:
                state[0] -= 1
                continue
        side = stage[k]
        next_low, next_up = _view(lower, at, k + 1, outputs), _view(upper, at, k + 1, outputs)
        if side == 2:
            _rest_problem(low, up, got, b, next_low, next_up)
        else:
            _half_problem(low, up, b, side, next_low, next_up)
        path[2 * k + 2] = path[2 * k] | (1 << b if side == 1 else 0)
        path[2 * k + 3] = path[2 * k + 1] | (1 << b if side == 2 else 0)
        stage[k], stage[k + 1] = side + 1, 0
        state[0] = k + 1
    return ISOP_DONE
