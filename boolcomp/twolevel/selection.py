"""Few cubes that cover a truth table, chosen from a list of candidates by local search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import dense_kernels as kernels
from boolcomp.twolevel.dense import IndexCubes, points_of
from boolcomp.twolevel.localsearch import CHUNK, SEED, LocalSearch
from boolcomp.twolevel.setcover import CoverMatrix, distinct, independent, without_dominated_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.clock import Clock
    from boolcomp.twolevel.dense import Dense

MOST_ENTRIES = 40_000_000  # of the covering matrix, both ways round: 320 MB
_REDUCTIONS = 3
_PATIENCE = 100  # work per entry of the matrix without a gain


def select(
    table: Dense, cubes: IndexCubes, first: NDArray[np.int32], clock: Clock, effort: float
) -> tuple[NDArray[np.int32], int]:
    """Return indices of few of the cubes that cover the table, and a lower bound on their number.

    `first` is such a choice. Stops when work in proportion to `effort` has brought nothing, at the
    bound, or at the deadline.
    """
    whole = matrix(table, cubes)
    if whole is None or clock.over:
        return first, 0
    core, stand_in = without_idle(whole)
    first = distinct(stand_in[first], len(stand_in)).astype(np.int32)
    bound = independent(core)
    search = LocalSearch(core, first.astype(np.int64), bound)
    patience = int(effort * (10_000 * len(first) + _PATIENCE * len(core.indices)))
    last_gain = 0
    if search.unmet:
        return first, bound
    while not clock.over and len(search.best) > bound and search.work - last_gain < patience:
        before = len(search.best)
        search.improve(min(CHUNK, last_gain + patience - search.work))
        if len(search.best) < before:
            last_gain = search.work
    return search.best.astype(np.int32), bound


def without_idle(whole: CoverMatrix) -> tuple[CoverMatrix, NDArray[np.int32]]:
    """Drop rows met whenever another is, columns that meet no more than another.

    Also returns which column to take in the place of each.
    """
    found, cost = whole, np.zeros(whole.columns, np.int64)
    stand_in = np.arange(whole.columns, dtype=np.int32)
    for _ in range(_REDUCTIONS):
        found, holder = without_dominated_rows(found, cost)
        held = holder >= 0
        if not held.any():
            break
        better = np.where(held, holder, np.arange(len(held), dtype=np.int32))
        stand_in = better[stand_in]
        while held[stand_in].any():
            stand_in = better[stand_in]
        found = found.keep(np.ones(found.rows, np.bool_), ~held)
    return found, stand_in


def matrix(table: Dense, cubes: IndexCubes) -> CoverMatrix | None:
    """Return the covering matrix of a table; None where it is too large."""
    noise = np.random.default_rng(SEED)
    key = noise.integers(0, 1 << 63, len(cubes.value), dtype=np.uint64)
    sums = np.zeros((table.outputs, 1 << table.inputs), np.uint64)
    kernels.signatures(cubes.value, cubes.free, cubes.out, key, sums)
    required = np.flatnonzero(points_of(table.on, table.inputs).ravel())
    # One point stands for all that the same cubes cover.
    _, stand_ins = np.unique(sums.ravel()[required], return_index=True)
    return incidence(cubes, sums.shape, required[stand_ins], MOST_ENTRIES)


def incidence(
    cubes: IndexCubes, shape: tuple[int, ...], points: NDArray[np.intp], most: int
) -> CoverMatrix | None:
    """Return the matrix of points (places in a table of that shape); None where it is too large."""
    row = np.full(shape, -1, np.int32)
    row.ravel()[points] = np.arange(len(points), dtype=np.int32)
    starts, none = np.zeros(len(cubes.value) + 1, np.int64), np.zeros(0, np.int32)
    entries = kernels.rows_of(cubes.value, cubes.free, cubes.out, row, starts, none)
    if entries > most:
        return None
    rows = np.zeros(entries, np.int32)
    kernels.rows_of(cubes.value, cubes.free, cubes.out, row, starts, rows)
    return CoverMatrix(starts, rows, len(points)).turned


def merged(parts: list[IndexCubes]) -> tuple[IndexCubes, NDArray[np.int32]]:
    """Return the different cubes of several lists, and where those of the first list are now."""
    value = np.concatenate([part.value for part in parts])
    free = np.concatenate([part.free for part in parts])
    out = np.concatenate([part.out for part in parts])
    order = np.lexsort([*out.T, free, value])
    value, free, out = value[order], free[order], out[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (
        (value[1:] != value[:-1]) | (free[1:] != free[:-1]) | (out[1:] != out[:-1]).any(axis=1)
    )
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new) - 1
    first = distinct(number[: len(parts[0].value)], len(number)).astype(np.int32)
    return IndexCubes(value[new], free[new], out[new]), first
