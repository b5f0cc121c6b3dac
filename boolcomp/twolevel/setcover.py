"""The set-covering problem of a minimum cover: reduce it, split it into blocks, solve each.

A row lists the columns (primes) that cover one point; a solution is a set of columns that meets
every row. Every row is a true demand, so a lower bound for any set of rows holds for the function.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import setcover_kernels as kernels
from boolcomp.twolevel.witness import SearchEndedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class CoverMatrix:
    """Rows as lists of column numbers, in CSR form; those of a matrix turned round rise."""

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    columns: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    @cached_property
    def turned(self) -> CoverMatrix:
        """The columns as lists of row numbers; turned twice it is the same matrix again."""
        lists = kernels.transpose(self.starts, self.indices, self.columns)
        other = CoverMatrix(*lists, self.rows)
        other.__dict__["turned"] = self
        return other

    def keep(
        self, rows: NDArray[np.bool_], columns: NDArray[np.bool_] | None = None
    ) -> CoverMatrix:
        """Return the matrix of some rows and columns; columns keep their numbers."""
        number = np.where(rows, np.cumsum(rows) - 1, -1).astype(np.int32)
        some = np.ones(self.columns, np.bool_) if columns is None else columns
        lists = kernels.keep(self.turned.starts, self.turned.indices, number, some)
        return CoverMatrix(*lists, int(rows.sum())).turned

    def stacked(self, other: CoverMatrix) -> CoverMatrix:
        """Return the rows of both."""
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        return CoverMatrix(starts, np.concatenate([self.indices, other.indices]), self.columns)

    def blocks(self) -> Iterator[CoverMatrix]:
        """Yield the independent blocks, smallest first."""
        labels = kernels.components(self.starts, self.indices, self.columns)
        sizes = np.bincount(labels)
        order = np.lexsort([labels, sizes[labels]])
        lengths = np.diff(self.starts)[order]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.repeat(self.starts[:-1][order] - starts[:-1], lengths)
        indices = self.indices[entries + np.arange(len(entries))]
        at = 0
        for size in np.sort(sizes, kind="stable"):
            rows = starts[at : at + size + 1]
            yield CoverMatrix(rows - rows[0], indices[rows[0] : rows[-1]], self.columns)
            at += int(size)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Columns that meet every row, and a proved lower bound on the objective.

    All of the `exact` bound is proved in whole numbers, of `bound` some perhaps in floating point.
    """

    chosen: NDArray[np.int64]
    bound: int
    exact: int
    value: int

    @property
    def proved(self) -> bool:
        """Whether no solution is better."""
        return self.bound >= self.value


def distinct(numbers: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Return the different ones of numbers below `count`, ascending.

    `np.unique` would load numpy's masked arrays, which takes 9 ms.
    """
    there = np.zeros(count, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there).astype(np.int64)


def reduced(
    matrix: CoverMatrix, cost: NDArray[np.int64], end: float
) -> tuple[NDArray[np.int64], CoverMatrix]:
    """Return the columns that some optimum holds, and the cyclic core that is left.

    Essential columns, row dominance and column dominance alternate until none applies. Raises
    `SearchEndedError` when `time.monotonic()` passes `end`.
    """
    essential = [np.zeros(0, np.int64)]
    while matrix.rows:
        before = (matrix.rows, len(matrix.indices))
        single = distinct(
            matrix.indices[matrix.starts[:-1][np.diff(matrix.starts) == 1]], matrix.columns
        )
        if len(single):
            essential.append(single)
            taken = np.zeros(matrix.columns, np.bool_)
            taken[single] = True
            met = np.logical_or.reduceat(taken[matrix.indices], matrix.starts[:-1])
            matrix = matrix.keep(~met)
        matrix, holder = without_dominated_rows(matrix, cost, end)
        matrix = matrix.keep(np.ones(matrix.rows, np.bool_), holder < 0)
        if (matrix.rows, len(matrix.indices)) == before:
            break
    return np.sort(np.concatenate(essential)), matrix


def without_dominated_rows(
    matrix: CoverMatrix, cost: NDArray[np.int64], end: float = math.inf
) -> tuple[CoverMatrix, NDArray[np.int32]]:
    """Drop rows met whenever another is; return what is left, and what dominates each column.

    A column is dominated by one that covers all its rows at no greater `cost`; -1 stands for none.
    """
    matrix = matrix.keep(_dominated(matrix, cost, end, drop_subset=False) < 0)
    return matrix, _dominated(matrix.turned, cost, end, drop_subset=True)


def _dominated(
    matrix: CoverMatrix, cost: NDArray[np.int64], end: float, *, drop_subset: bool
) -> NDArray[np.int32]:
    """Return which list makes each one superfluous, as `covering_kernels.dominated` has it."""
    lists = (matrix.starts, matrix.indices, matrix.turned.starts, matrix.turned.indices)
    cause = np.full(matrix.rows, -1, np.int32)
    at = 0
    while at < len(cause):
        at = kernels.dominated(*lists, cost, drop_subset, at, cause)
        if time.monotonic() > end:
            raise SearchEndedError
    return cause


def greedy_columns(matrix: CoverMatrix) -> NDArray[np.int64]:
    """Return columns that meet every row, none superfluous."""
    turned = matrix.turned
    chosen: NDArray[np.int64] = kernels.greedy(
        matrix.starts, matrix.indices, turned.starts, turned.indices
    )
    return chosen


def independent(matrix: CoverMatrix) -> int:
    """Return the size of a set of rows of which no two share a column: a lower bound."""
    order = np.argsort(np.diff(matrix.starts), kind="stable")
    used = np.zeros(matrix.columns, np.bool_)
    return int(kernels.independent(matrix.starts, matrix.indices, order, used))
