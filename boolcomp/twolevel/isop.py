"""Irredundant sums of products, fast: the first cover of everything (Minato 1992, Morreale 1970).

    isop(L, U):  L0' = L0 & ~U1    f0 = isop(L0', U0)
                 L1' = L1 & ~U0    f1 = isop(L1', U1)
                 L*  = (L0 & ~f0) | (L1 & ~f1)    f* = isop(L*, U0 & U1)
                 f   = ~x f0 | x f1 | f*

run for all outputs at once: where U is constant 1 for some output with something left to cover, one
product is emitted, shared by every output whose U is constant 1 there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import isop_kernels as kernels
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes, pack, words_for
from boolcomp.twolevel.dense import Dense, IndexCubes, from_index, points_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ISOP_BUDGET = 1 << 20  # words of work between two looks at the clock: a millisecond or two


def isop(table: Dense, clock: Clock | None = None) -> Cubes | None:
    """Return an irredundant cover of a table; None where the clock ran out before the end.

    Every product is needed by the outputs it was made for; products may carry further outputs that
    allow them, so single outputs of a product can be superfluous.
    """
    inputs, outputs = table.inputs, table.outputs
    if outputs == 0:
        return Cubes.empty(inputs, outputs)
    clock = clock or Clock()
    sizes = [outputs * words_for(1 << (inputs - k)) for k in range(inputs + 1)]
    at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lower, upper, done = (np.zeros(at[-1], np.uint64) for _ in range(3))
    lower[: sizes[0]] = _spread(table.on, inputs).ravel()
    upper[: sizes[0]] = _spread(table.on | table.dc, inputs).ravel()
    stage, path = np.zeros(inputs + 1, np.int64), np.zeros(2 * inputs + 2, np.int64)
    state = np.zeros(2, np.int64)
    value, free = np.zeros(1024, np.int64), np.zeros(1024, np.int64)
    out = np.zeros((1024, words_for(outputs)), np.uint64)
    while True:
        status = kernels.isop(
            inputs,
            outputs,
            lower,
            upper,
            done,
            at,
            stage,
            path,
            state,
            value,
            free,
            out,
            _ISOP_BUDGET,
        )
        if status == kernels.ISOP_DONE:
            break
        if status == kernels.ISOP_MORE_ROOM:
            value, free, out = (np.concatenate([a, np.zeros_like(a)]) for a in (value, free, out))
        elif clock.over:
            return None
    count = int(state[1])
    found = IndexCubes(value[:count].copy(), free[:count].copy(), out[:count].copy())
    return from_index(inputs, outputs, found)


def _spread(words: NDArray[np.uint64], inputs: int) -> NDArray[np.uint64]:
    """Repeat a table of fewer than 64 points over its word."""
    for bit in range(inputs, 6):
        words = words | words << np.uint64(1 << bit)
    return words


def minterms(table: Dense) -> Cubes:
    """Return the cover with one product per point, in canonical order: the last resort."""
    union = np.bitwise_or.reduce(table.on, axis=0)[None, :]
    value = np.flatnonzero(points_of(union, table.inputs)).astype(np.int64)
    out = pack(points_of(table.on, table.inputs)[:, value].T)
    return from_index(table.inputs, table.outputs, IndexCubes(value, np.zeros_like(value), out))
