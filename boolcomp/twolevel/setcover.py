"""The set-covering problem of a minimum cover: reduce it, split it into blocks, solve each.

A row lists the columns (primes) that cover one point; a solution is a set of columns that meets
every row. Every row is a true demand, so a lower bound for any set of rows holds for the function.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.twolevel import cubes as twolevel_cubes
from boolcomp.twolevel import setcover_kernels
from boolcomp.twolevel import setcover_kernels as kernels
from boolcomp.twolevel.cubes import IndexCubes, points_of
from boolcomp.twolevel.function import SearchEndedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import Clock, Dense
    from boolcomp.twolevel.solvers import Milp


# --------------------------------------------------------------------------------------------------
# The set-covering problem of a minimum cover: reduce it, split it into blocks, solve each.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Local search for few columns that meet every row of a matrix, the same steps on any machine.
# --------------------------------------------------------------------------------------------------


SEED = 0x1234_5678_9ABC_DEF1
CHUNK = 8_000_000  # work between two looks at the clock: less than a tenth of a second


class LocalSearch:
    """A search that can be continued; `best` are the fewest columns met so far, at first `first`.

    It ends at `lower` columns, a bound that the caller knows.
    """

    def __init__(self, matrix: CoverMatrix, first: NDArray[np.int64], lower: int) -> None:
        self.best = first
        self._lower = max(lower, 1)
        rows, columns = matrix.rows, matrix.columns
        self._buffer = np.zeros(columns, np.int32)
        self._choice = setcover_kernels.Choice(
            matrix.starts, matrix.indices, matrix.turned.starts, matrix.turned.indices,
            weight=np.zeros(rows, np.int64), met=np.zeros(rows, np.int32),
            owner=np.zeros(rows, np.int32), score=np.zeros(columns, np.int64),
            moved=np.zeros(columns, np.int64), stirred=np.zeros(columns, np.bool_),
            chosen=np.zeros(columns, np.int32), place=np.zeros(columns, np.int32),
            unmet=np.zeros(rows, np.int32), open_at=np.zeros(rows, np.int32),
            sizes=np.zeros(4, np.int64), noise=np.array([SEED], np.uint64),
        )  # fmt: skip
        setcover_kernels.start(self._choice, first.astype(np.int32))

    @property
    def unmet(self) -> int:
        """How many rows no column meets that is chosen at the moment."""
        return int(self._choice.sizes[setcover_kernels.UNMET])

    @property
    def work(self) -> int:
        """Entries of the matrix looked at so far."""
        return int(self._choice.sizes[setcover_kernels.WORK_DONE])

    def improve(self, work: int, steps: int = sys.maxsize >> 1) -> None:
        """Search for that much work, or so many steps where they end first."""
        before = len(self.best)
        size = setcover_kernels.improve(
            self._choice, self._buffer, before, self._lower, work, steps
        )
        if size < before:
            self.best = np.sort(self._buffer[:size]).astype(np.int64)

    def run(self, steps: int, end: float) -> None:
        """Search that many steps, less if `time.monotonic()` passes `end` or the bound is met."""
        last = int(self._choice.sizes[setcover_kernels.STEPS]) + steps
        while len(self.best) > self._lower and time.monotonic() < end:
            left = last - int(self._choice.sizes[setcover_kernels.STEPS])
            if left <= 0:
                return
            self.improve(CHUNK, left)


# --------------------------------------------------------------------------------------------------
# One independent block of a covering problem: bounds from below and above until they meet.
#
# Lagrangian prices give a lower bound, local search a cover. Where they differ, columns whose price
# shows that no better cover holds them leave, the rest is reduced again and goes to `milp`.
# --------------------------------------------------------------------------------------------------


UNIT = 1 << 40
"""Parts of a column in which prices are counted exactly."""

ITERATIONS = 5000
"""Steps of the Lagrangian ascent."""

WARM_STEPS = 100_000
"""Steps of local search before HiGHS starts."""

MILP_ENTRIES = 4_000_000
"""The largest matrix that HiGHS is asked about; it would take hours anyway."""

PATIENCE = 2.0
"""Seconds after which local search goes on beside HiGHS."""


class Priced(NamedTuple):
    """A lower bound on the number of columns, their reduced costs with it, and few columns.

    The first two count in parts of 1 / `UNIT`.
    """

    bound: int
    costs: NDArray[np.int64]
    chosen: NDArray[np.int64]


def lagrangian(matrix: CoverMatrix, first: NDArray[np.int64], end: float) -> Priced:
    """Return what prices of the rows prove, and the fewer of `first` and the columns they choose.

    Bound and costs are exact: the ascent is in floating point, but any prices prove a bound, so
    they are rounded to parts of 1 / `UNIT`.
    """
    lengths = np.bincount(matrix.indices, minlength=matrix.columns)
    upper = len(first)
    prices = 1.0 / np.maximum.reduceat(lengths[matrix.indices], matrix.starts[:-1])
    chunk = max(2, min(500, 2 * 10**7 // len(matrix.indices)))
    ascent = setcover_kernels.Ascent(prices, prices.copy(), np.array([0.0, 1.0, 0.0]))
    done = 0
    while done < ITERATIONS and time.monotonic() < end:
        setcover_kernels.ascend(matrix.starts, matrix.indices, matrix.columns, upper, chunk, ascent)
        done += chunk
        reached, step = ascent.state[:2]
        if reached > upper - 1 + 1e-6 or step < setcover_kernels.SHORTEST:
            break
    costs = np.full(matrix.columns, UNIT)
    parts = np.floor(np.clip(ascent.best, 0, 1) * UNIT).astype(np.int64)
    bound = int(setcover_kernels.exact_costs(matrix.starts, matrix.indices, parts, costs))
    turned = matrix.turned
    chosen = setcover_kernels.priced_greedy(
        matrix.starts, matrix.indices, turned.starts, turned.indices, ascent.best
    )
    return Priced(bound, costs, first if chosen.sum() >= upper else np.flatnonzero(chosen))


def solve_block(block: CoverMatrix, milp: Milp, end: float) -> Solution:
    """Return columns that meet every row of a block, few, and a proved bound on their number."""
    columns, local = np.unique(block.indices, return_inverse=True)
    matrix = CoverMatrix(block.starts, local.astype(np.int32), len(columns))
    best, bound = greedy_columns(matrix), independent(matrix)
    exact = bound
    if bound < len(best):
        value, costs, best = lagrangian(matrix, best, end)
        exact = bound = max(bound, -(-value // UNIT))
        search = LocalSearch(matrix, best, bound)
        search.run(WARM_STEPS, end)
        if bound < len(search.best):
            said, sure = _proved(matrix, value, costs, search, milp, end)
            bound, exact = max(bound, said), max(exact, sure)
        best = search.best
    return Solution(columns[best].astype(np.int64), bound, exact, len(best))


def _proved(
    matrix: CoverMatrix,
    value: int,
    costs: NDArray[np.int64],
    search: LocalSearch,
    milp: Milp,
    end: float,
) -> tuple[int, int]:
    """Give a block to a solver: return the bound proved, with the search's best improved.

    The second is what whole numbers prove of it.
    """
    known = len(search.best)
    keep = value + costs <= (known - 1) * UNIT
    if not np.logical_or.reduceat(keep[matrix.indices], matrix.starts[:-1]).all():
        return known, known  # a cover of fewer columns would leave a row unmet
    kept = matrix.keep(np.ones(matrix.rows, np.bool_), keep)
    try:
        essential, core = reduced(kept, np.zeros(matrix.columns, np.int64), end)
    except SearchEndedError:
        return 0, 0
    if not core.rows:
        if len(essential) < known:
            search.best = essential
        return min(known, len(essential)), min(known, len(essential))
    if len(core.indices) > MILP_ENTRIES:
        search.run(sys.maxsize >> 1, end)
        return 0, 0
    columns, local = np.unique(core.indices, return_inverse=True)
    start = time.monotonic()

    def idle() -> None:
        if time.monotonic() > start + PATIENCE:
            search.run(2000, end)
        else:
            time.sleep(0.002)

    ones = np.ones(len(columns), np.int64)
    hint = np.flatnonzero(np.isin(columns, search.best))
    answer = milp.solve(core.starts, local, ones, end - start, idle=idle, hint=hint)
    if answer.chosen is not None:
        found = np.concatenate([essential, columns[answer.chosen]])
        # A solver's answer counts even where the search beside it was as good: it is repeatable.
        if len(found) <= len(search.best) and len(found) < known:
            search.best = np.sort(found)
    found_bounds = (len(essential) + one for one in (answer.bound, answer.exact))
    said, sure = (min(known, one) for one in found_bounds)
    return said, sure


# --------------------------------------------------------------------------------------------------
# Few cubes that cover a truth table, chosen from a list of candidates by local search.
# --------------------------------------------------------------------------------------------------


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
    twolevel_cubes.signatures(cubes.value, cubes.free, cubes.out, key, sums)
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
    entries = twolevel_cubes.rows_of(cubes.value, cubes.free, cubes.out, row, starts, none)
    if entries > most:
        return None
    rows = np.zeros(entries, np.int32)
    twolevel_cubes.rows_of(cubes.value, cubes.free, cubes.out, row, starts, rows)
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
