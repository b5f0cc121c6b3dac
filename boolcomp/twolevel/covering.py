"""The set-covering problem of a minimum cover: reduce it, split it into blocks, solve each.

A row lists the columns (primes) that cover one point; a solution is a set of columns that meets
every row. Every row is a true demand, so a lower bound for any set of rows holds for the function.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.witness import SearchEndedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Rows as lists of rising column numbers, in CSR form."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int64]
    columns: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    def transposed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the columns as lists of rising row numbers."""
        from boolcomp.twolevel.cover_kernels import transpose  # noqa: PLC0415 (imports numba)

        return transpose(self.starts, self.indices, self.columns)

    def keep(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_] | None = None) -> Matrix:
        """Return the matrix of some rows and columns; columns keep their numbers."""
        lengths = np.diff(self.starts)
        entries = np.repeat(rows, lengths)
        if columns is not None:
            entries &= columns[self.indices]
        counts = (
            np.add.reduceat(entries, self.starts[:-1], dtype=np.int64) if self.rows else lengths
        )
        starts = np.concatenate([[0], np.cumsum(counts[rows])]).astype(np.int64)
        return Matrix(starts, self.indices[entries], self.columns)

    def stacked(self, other: Matrix) -> Matrix:
        """Return the rows of both."""
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        return Matrix(starts, np.concatenate([self.indices, other.indices]), self.columns)

    def blocks(self) -> Iterator[Matrix]:
        """Yield the independent blocks, smallest first."""
        from boolcomp.twolevel.cover_kernels import components  # noqa: PLC0415

        labels = components(self.starts, self.indices, self.columns)
        sizes = np.bincount(labels)
        order = np.lexsort([labels, sizes[labels]])
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.repeat(self.starts[:-1][order] - starts[:-1], lengths)
        indices = self.indices[entries + np.arange(len(entries))]
        at = 0
        for size in np.sort(sizes, kind="stable"):
            rows = starts[at : at + size + 1]
            yield Matrix(rows - rows[0], indices[rows[0] : rows[-1]], self.columns)
            at += int(size)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Columns that meet every row, and a proved lower bound on the objective."""

    chosen: NDArray[np.int64]
    bound: int
    value: int

    @property
    def proved(self) -> bool:
        """Whether no solution is better."""
        return self.bound >= self.value


def reduced(
    matrix: Matrix, cost: NDArray[np.int64], end: float
) -> tuple[NDArray[np.int64], Matrix]:
    """Return the columns that some optimum holds, and the cyclic core that is left.

    Essential columns, row dominance and column dominance alternate until none applies. A column
    is dominated by one that covers all its rows at no greater `cost`. Raises `SearchEndedError`
    when `time.monotonic()` passes `end`.
    """
    essential: list[NDArray[np.int64]] = []
    while matrix.rows:
        before = (matrix.rows, len(matrix.indices))
        single = np.unique(matrix.indices[matrix.starts[:-1][np.diff(matrix.starts) == 1]])
        if len(single):
            essential.append(single)
            matrix = _without(matrix, single)
        turned, members = matrix.transposed()
        lists = (matrix.starts, matrix.indices, turned, members)
        matrix = matrix.keep(~_dominated(*lists, cost, drop_subset=False, end=end))
        turned, members = matrix.transposed()
        lists = (turned, members, matrix.starts, matrix.indices)
        gone = _dominated(*lists, cost, drop_subset=True, end=end)
        matrix = matrix.keep(np.ones(matrix.rows, np.bool_), ~gone)
        if (matrix.rows, len(matrix.indices)) == before:
            break
    found = np.concatenate([np.zeros(0, np.int64), *essential])
    return np.sort(found), matrix


def _dominated(
    starts: NDArray[np.int64],
    indices: NDArray[np.int64],
    turned: NDArray[np.int64],
    members: NDArray[np.int64],
    cost: NDArray[np.int64],
    *,
    drop_subset: bool,
    end: float,
) -> NDArray[np.bool_]:
    """Return which lists `cover_kernels.dominated` marks."""
    from boolcomp.twolevel.cover_kernels import dominated  # noqa: PLC0415 (imports numba)

    gone = np.zeros(len(starts) - 1, np.bool_)
    at = 0
    while at < len(gone):
        at = dominated(starts, indices, turned, members, cost, drop_subset, at, gone)
        if time.monotonic() > end:
            raise SearchEndedError
    return gone


def _without(matrix: Matrix, chosen: NDArray[np.int64]) -> Matrix:
    """Return the rows that the chosen columns do not meet."""
    taken = np.zeros(matrix.columns, np.bool_)
    taken[chosen] = True
    if not matrix.rows:
        return matrix
    met = np.logical_or.reduceat(taken[matrix.indices], matrix.starts[:-1])
    return matrix.keep(~met)


def greedy_columns(matrix: Matrix) -> NDArray[np.int64]:
    """Return columns that meet every row, none superfluous."""
    from boolcomp.twolevel.cover_kernels import greedy  # noqa: PLC0415

    return greedy(matrix.starts, matrix.indices, *matrix.transposed())


def independent(matrix: Matrix) -> int:
    """Return the size of a set of rows of which no two share a column: a lower bound."""
    used = np.zeros(matrix.columns, np.bool_)
    count = 0
    for r in np.argsort(np.diff(matrix.starts), kind="stable"):
        row = matrix.indices[matrix.starts[r] : matrix.starts[r + 1]]
        if not used[row].any():
            used[row] = True
            count += 1
    return count
