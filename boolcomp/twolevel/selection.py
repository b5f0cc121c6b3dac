"""Few cubes that cover a truth table, chosen from a list of candidates by local search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import matrix_kernels as kernels
from boolcomp.twolevel import select_kernels
from boolcomp.twolevel.dense import IndexCubes, points_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.clock import Clock
    from boolcomp.twolevel.dense import Dense

MOST_ENTRIES = 40_000_000  # of the covering matrix, both ways round: 320 MB
SEED = 0x1234_5678_9ABC_DEF1
_REDUCTIONS = 3
_PATIENCE = 100  # work per entry of the matrix without a gain
_CHUNK = 8_000_000  # work between two looks at the clock: less than a tenth of a second


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
    core, stand_in = whole.reduced()
    first = np.unique(stand_in[first])
    bound = _bound(core)
    choice = search(core, first)
    if choice.sizes[1] or len(first) <= bound:
        return first, bound
    best = np.zeros(len(cubes.value), np.int32)
    best[: len(first)] = first
    size = len(first)
    patience = int(effort * (10_000 * size + _PATIENCE * len(core.row_columns)))
    last_gain = 0
    while not clock.over and size > bound and choice.sizes[3] - last_gain < patience:
        before = size
        step = min(_CHUNK, last_gain + patience - int(choice.sizes[3]))
        size = select_kernels.improve(choice, best, size, step)
        if size < before:
            last_gain = int(choice.sizes[3])
    return np.sort(best[:size]), bound


def _bound(m: Matrix) -> int:
    """Return how many rows, of few columns first, share no column: each needs one of its own."""
    order = np.argsort(np.diff(m.row_start), kind="stable")
    used = np.zeros(len(m.column_start) - 1, np.bool_)
    return int(kernels.independent(m.row_start, m.row_columns, order, used))


@dataclass(frozen=True, slots=True)
class Matrix:
    """A covering matrix both ways round: the rows of each column, the columns of each row."""

    column_start: NDArray[np.int64]
    column_rows: NDArray[np.int32]
    row_start: NDArray[np.int64]
    row_columns: NDArray[np.int32]

    @classmethod
    def of(cls, starts: NDArray[np.int64], rows: NDArray[np.int32], count: int) -> Matrix:
        """Make a matrix of `count` rows from the lists of its columns."""
        row_start, row_columns = np.zeros(count + 1, np.int64), np.zeros(len(rows), np.int32)
        kernels.columns_of(starts, rows, row_start, row_columns)
        return cls(starts, rows, row_start, row_columns)

    def without(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Matrix:
        """Leave rows out, and empty columns."""
        number = np.where(rows, -1, np.cumsum(~rows) - 1).astype(np.int32)
        starts, lists = self.column_start.copy(), self.column_rows.copy()
        entries = kernels.keep(starts, lists, number, columns)
        return Matrix.of(starts, lists[:entries].copy(), int((~rows).sum()))

    def reduced(self) -> tuple[Matrix, NDArray[np.int32]]:
        """Drop rows met whenever another is, columns that meet no more than another.

        Also returns which column to take in the place of each.
        """
        found = self
        stand_in = np.arange(len(self.column_start) - 1, dtype=np.int32)
        for _ in range(_REDUCTIONS):
            needless = np.zeros(len(found.row_start) - 1, np.bool_)
            kernels.containing(
                found.row_start, found.row_columns, found.column_start, found.column_rows, needless
            )
            found = found.without(needless, np.zeros(len(stand_in), np.bool_))
            larger = np.zeros(len(stand_in), np.int32)
            kernels.contained(
                found.column_start, found.column_rows, found.row_start, found.row_columns, larger
            )
            held = larger >= 0
            if not held.any():
                break
            stand_in = np.where(held, larger, np.arange(len(held)))[stand_in].astype(np.int32)
            while held[stand_in].any():
                stand_in = np.where(held, larger, np.arange(len(held)))[stand_in].astype(np.int32)
            found = found.without(np.zeros(len(found.row_start) - 1, np.bool_), held)
        return found, stand_in


def matrix(table: Dense, cubes: IndexCubes) -> Matrix | None:
    """Return the covering matrix of a table; None where it is too large."""
    row, count = _rows(table, cubes)
    starts, none = np.zeros(len(cubes.value) + 1, np.int64), np.zeros(0, np.int32)
    entries = kernels.rows_of(cubes.value, cubes.free, cubes.out, row, starts, none)
    if entries > MOST_ENTRIES:
        return None
    rows = np.zeros(entries, np.int32)
    kernels.rows_of(cubes.value, cubes.free, cubes.out, row, starts, rows)
    return Matrix.of(starts, rows, count)


def search(m: Matrix, first: NDArray[np.int32]) -> select_kernels.Choice:
    """Return the books of a local search that starts with some columns."""
    rows, count = len(m.row_start) - 1, len(m.column_start) - 1
    choice = select_kernels.Choice(
        m.row_start, m.row_columns, m.column_start, m.column_rows,
        weight=np.zeros(rows, np.int64), met=np.zeros(rows, np.int32),
        owner=np.zeros(rows, np.int32), score=np.zeros(count, np.int64),
        moved=np.zeros(count, np.int64), stirred=np.zeros(count, np.bool_),
        chosen=np.zeros(count, np.int32), place=np.zeros(count, np.int32),
        unmet=np.zeros(rows, np.int32), open_at=np.zeros(rows, np.int32),
        sizes=np.zeros(4, np.int64), noise=np.array([SEED], np.uint64),
    )  # fmt: skip
    select_kernels.start(choice, first)
    return choice


def _rows(table: Dense, cubes: IndexCubes) -> tuple[NDArray[np.int32], int]:
    """Give one point for each set of cubes that cover some point a number, all others -1."""
    noise = np.random.default_rng(SEED)
    key = noise.integers(0, 1 << 63, len(cubes.value), dtype=np.uint64)
    sums = np.zeros((table.outputs, 1 << table.inputs), np.uint64)
    kernels.signatures(cubes.value, cubes.free, cubes.out, key, sums)
    required = np.flatnonzero(points_of(table.on, table.inputs).ravel())
    _, stand_ins = np.unique(sums.ravel()[required], return_index=True)
    row = np.full(sums.size, -1, np.int32)
    row[required[stand_ins]] = np.arange(len(stand_ins), dtype=np.int32)
    return row.reshape(sums.shape), len(stand_ins)


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
    first = np.unique(number[: len(parts[0].value)]).astype(np.int32)
    return IndexCubes(value[new], free[new], out[new]), first
