"""The set-covering problem of a minimum cover: reduce it, split it into blocks, solve each.

A row lists the columns (primes) that cover one point; a solution is a set of columns that meets
every row. A lower bound for any set of rows is a lower bound for the function.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.twolevel import setcover_kernels as kernels
from boolcomp.twolevel.cubes import (
    Clock,
    Cubes,
    GaveUpError,
    incidence,
    points_of,
    signatures,
    unpack,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import F64, I32, I64, Dense, Flags, Intp
    from boolcomp.twolevel.solvers import Milp


@dataclass(frozen=True, eq=False)
class CoverMatrix:
    """Rows as lists of column numbers, in CSR form; those of a transposed matrix ascend."""

    starts: I64
    indices: I32
    columns: int

    @property
    def rows(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def transposed(self) -> CoverMatrix:
        """The transposed matrix: columns as lists of row numbers."""
        lists = kernels.transpose(self.starts, self.indices, self.columns)
        other = CoverMatrix(*lists, self.rows)
        other.__dict__["transposed"] = self
        return other

    def keep(self, rows: Flags, columns: Flags | None = None) -> CoverMatrix:
        """Return the matrix of some rows and columns; columns keep their numbers."""
        number = np.where(rows, np.cumsum(rows) - 1, -1).astype(np.int32)
        some = np.ones(self.columns, np.bool_) if columns is None else columns
        lists = kernels.keep(self.transposed.starts, self.transposed.indices, number, some)
        return CoverMatrix(*lists, int(rows.sum())).transposed

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

    `exact` is proved in whole numbers; `bound` may be proved in floating point.
    """

    chosen: I64
    bound: int
    exact: int
    value: int

    @property
    def proved(self) -> bool:
        return self.bound >= self.value


def distinct(numbers: NDArray[np.integer], count: int) -> I64:
    """Return numbers below `count` ascending, without duplicates.

    `np.unique` would load numpy's masked arrays, which takes 9 ms.
    """
    present = np.zeros(count, np.bool_)
    present[numbers] = True
    return np.flatnonzero(present).astype(np.int64)


def reduced(matrix: CoverMatrix, clock: Clock, cost: I64 | None = None) -> tuple[I64, CoverMatrix]:
    """Return columns of some optimum, and the cyclic core that is left.

    Essential columns, row dominance and column dominance alternate until none applies. Without a
    cost all columns cost 0. Raises `GaveUpError` where the clock runs out.
    """
    cost = np.zeros(matrix.columns, np.int64) if cost is None else cost
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
        matrix, holder = without_dominated_rows(matrix, cost, clock)
        matrix = matrix.keep(np.ones(matrix.rows, np.bool_), holder < 0)
        if (matrix.rows, len(matrix.indices)) == before:
            break
    return np.sort(np.concatenate(essential)), matrix


def without_dominated_rows(matrix: CoverMatrix, cost: I64, clock: Clock) -> tuple[CoverMatrix, I32]:
    """Return the matrix without dominated rows, and the column that dominates each column, or -1.

    A column is dominated by a column that covers all its rows at no greater `cost`.
    """
    matrix = matrix.keep(_dominated(matrix, cost, clock, drop_subset=False) < 0)
    return matrix, _dominated(matrix.transposed, cost, clock, drop_subset=True)


def _dominated(matrix: CoverMatrix, cost: I64, clock: Clock, *, drop_subset: bool) -> I32:
    """Return the list that dominates each list, as `kernels.dominated` does."""
    lists = (matrix.starts, matrix.indices, matrix.transposed.starts, matrix.transposed.indices)
    cause = np.full(matrix.rows, -1, np.int32)
    at = 0
    while at < len(cause):
        at = kernels.dominated(*lists, cost, drop_subset, at, cause)
        clock.check()
    return cause


def greedy_columns(matrix: CoverMatrix, prices: F64 | None = None) -> I64:
    """Return an irredundant set of columns that meets every row; short rows weigh more."""
    lists = (matrix.starts, matrix.indices, matrix.transposed.starts, matrix.transposed.indices)
    weights = 1.0 / np.diff(matrix.starts) if prices is None else prices
    return np.flatnonzero(kernels.greedy(*lists, weights, prices is not None))


def independent(matrix: CoverMatrix) -> int:
    """Return the size of a set of rows without common columns: a lower bound."""
    order = np.argsort(np.diff(matrix.starts), kind="stable")
    used = np.zeros(matrix.columns, np.bool_)
    return int(kernels.independent(matrix.starts, matrix.indices, order, used))


# --------------------------------------------------------------------------------------------------
# Local search for few columns that meet every row, with the same steps on any machine.
# --------------------------------------------------------------------------------------------------

SEED = 0x1234_5678_9ABC_DEF1
CHUNK = 8_000_000  # work between checks of the clock: less than a tenth of a second


class LocalSearch:
    """A search that can be continued; `best` are the fewest columns so far, initially `first`.

    It ends at `lower` columns, a known bound.
    """

    def __init__(self, matrix: CoverMatrix, first: I64, lower: int) -> None:
        self.best = first
        self._lower = max(lower, 1)
        rows, columns = matrix.rows, matrix.columns
        self._buffer = np.zeros(columns, np.int32)
        self._choice = kernels.CoverState(
            matrix.starts, matrix.indices, matrix.transposed.starts, matrix.transposed.indices,
            weight=np.zeros(rows, np.int64), met=np.zeros(rows, np.int32),
            owner=np.zeros(rows, np.int32), score=np.zeros(columns, np.int64),
            moved=np.zeros(columns, np.int64), changed=np.zeros(columns, np.bool_),
            chosen=np.zeros(columns, np.int32), place=np.zeros(columns, np.int32),
            unmet=np.zeros(rows, np.int32), open_at=np.zeros(rows, np.int32),
            sizes=np.zeros(4, np.int64), noise=np.array([SEED], np.uint64),
        )  # fmt: skip
        kernels.start(self._choice, first.astype(np.int32))

    @property
    def unmet(self) -> int:
        return int(self._choice.sizes[kernels.UNMET])

    @property
    def work(self) -> int:
        return int(self._choice.sizes[kernels.WORK_DONE])

    def improve(self, work: int, steps: int = sys.maxsize >> 1) -> None:
        """Search for an amount of work, or for `steps` if they end first."""
        before = len(self.best)
        size = kernels.improve(self._choice, self._buffer, before, self._lower, work, steps)
        if size < before:
            self.best = np.sort(self._buffer[:size]).astype(np.int64)

    def run(self, steps: int, clock: Clock) -> None:
        """Search for `steps`, or until the clock runs out or the bound is reached."""
        last = int(self._choice.sizes[kernels.STEPS]) + steps
        while len(self.best) > self._lower and not clock.over:
            left = last - int(self._choice.sizes[kernels.STEPS])
            if left <= 0:
                return
            self.improve(CHUNK, left)


# --------------------------------------------------------------------------------------------------
# One independent block of a covering problem: bounds from below and above until they meet.
#
# Lagrangian prices give a lower bound, local search a cover. If they differ, columns that by their
# reduced cost are in no better cover are removed; the rest is reduced again and given to `solvers`.
# --------------------------------------------------------------------------------------------------

Known = dict[tuple[bytes, bytes], Solution]
UNIT = 1 << 40  # integer prices are multiples of 1 / UNIT
ITERATIONS = 5000  # of the Lagrangian ascent
WARM_STEPS, LONE_STEPS = 100_000, 20_000  # of local search before a solver, and without one
MILP_ENTRIES = 4_000_000  # of a matrix for a solver: larger ones take hours
PATIENCE = 2.0  # seconds before local search continues in parallel with a solver


class PricedBound(NamedTuple):
    """A lower bound on the number of columns, their reduced costs, and few columns.

    Bound and costs are multiples of 1 / `UNIT`.
    """

    bound: int
    costs: I64
    chosen: I64


def lagrangian(matrix: CoverMatrix, first: I64, clock: Clock) -> PricedBound:
    """Return the bound that prices of rows prove, and `first` or fewer columns chosen by prices.

    Bound and costs are exact: any prices prove a bound, so those of the ascent, in floating point,
    are rounded to multiples of 1 / `UNIT`.
    """
    lengths = np.bincount(matrix.indices, minlength=matrix.columns)
    upper = len(first)
    prices = 1.0 / np.maximum.reduceat(lengths[matrix.indices], matrix.starts[:-1])
    chunk = max(2, min(500, 2 * 10**7 // len(matrix.indices)))
    ascent = kernels.Ascent(prices, prices.copy(), np.array([0.0, 1.0, 0.0]))
    done = 0
    while done < ITERATIONS and not clock.over:
        kernels.ascend(matrix.starts, matrix.indices, matrix.columns, upper, chunk, ascent)
        done += chunk
        reached, step = ascent.state[:2]
        if reached > upper - 1 + 1e-6 or step < kernels.SHORTEST:
            break
    costs = np.empty(matrix.columns, np.int64)
    parts = np.floor(np.clip(ascent.best, 0, 1) * UNIT).astype(np.int64)
    bound = int(kernels.reduced_costs(matrix.starts, matrix.indices, parts, costs, UNIT))
    chosen = greedy_columns(matrix, ascent.best)
    return PricedBound(bound, costs, first if len(chosen) >= upper else chosen)


def solved(
    essential: I64, core: CoverMatrix, milp: Milp | None, clock: Clock, known: Known | None = None
) -> Solution:
    """Return essential columns, few that meet every row of a core, and bounds on their number."""
    parts = [solve_block(block, milp, clock, known) for block in core.blocks()]
    chosen = np.concatenate([essential, *(part.chosen for part in parts)])
    bound, exact = sum(part.bound for part in parts), sum(part.exact for part in parts)
    return Solution(chosen, len(essential) + bound, len(essential) + exact, len(chosen))


def solve_block(
    block: CoverMatrix, milp: Milp | None, clock: Clock, known: Known | None = None
) -> Solution:
    """Return few columns that meet every row of a block, and proved bounds on their number.

    `known` caches proved solutions.
    """
    key = (block.starts.tobytes(), block.indices.tobytes())
    if known is not None and key in known:
        return known[key]
    solution = _searched(block, milp, clock)
    if known is not None and solution.proved:
        known[key] = solution
    return solution


def _searched(block: CoverMatrix, milp: Milp | None, clock: Clock) -> Solution:
    columns, local = np.unique(block.indices, return_inverse=True)
    matrix = CoverMatrix(block.starts, local.astype(np.int32), len(columns))
    best, bound = greedy_columns(matrix), independent(matrix)
    exact = bound
    if bound < len(best):
        value, costs, best = lagrangian(matrix, best, clock)
        exact = bound = max(bound, -(-value // UNIT))
        search = LocalSearch(matrix, best, bound)
        search.run(LONE_STEPS if milp is None else WARM_STEPS, clock)
        if milp is not None and bound < len(search.best):
            claimed, proved = _proved(matrix, value, costs, search, milp, clock)
            bound, exact = max(bound, claimed), max(exact, proved)
        best = search.best
    return Solution(columns[best].astype(np.int64), bound, exact, len(best))


def _proved(
    matrix: CoverMatrix, value: int, costs: I64, search: LocalSearch, milp: Milp, clock: Clock
) -> tuple[int, int]:
    """Give a block to a solver, and improve the search's best; return bounds as in `Solution`."""
    known = len(search.best)
    keep = value + costs <= (known - 1) * UNIT
    if not np.logical_or.reduceat(keep[matrix.indices], matrix.starts[:-1]).all():
        return known, known  # fewer columns leave a row unmet
    kept = matrix.keep(np.ones(matrix.rows, np.bool_), keep)
    try:
        essential, core = reduced(kept, clock)
    except GaveUpError:
        return 0, 0
    if not core.rows:
        if len(essential) < known:
            search.best = essential
        return min(known, len(essential)), min(known, len(essential))
    if len(core.indices) > MILP_ENTRIES:
        search.run(sys.maxsize >> 1, clock)
        return 0, 0
    columns, local = np.unique(core.indices, return_inverse=True)
    start = time.monotonic()

    def idle() -> None:
        if time.monotonic() > start + PATIENCE:
            search.run(2000, clock)
        else:
            time.sleep(0.002)

    ones = np.ones(len(columns), np.int64)
    hint = np.flatnonzero(np.isin(columns, search.best))
    answer = milp.solve(core.starts, local, ones, clock.left, idle=idle, hint=hint)
    if answer.chosen is not None:
        found = np.concatenate([essential, columns[answer.chosen]])
        # A solver's answer is preferred to an equally good one of the search: it is reproducible.
        if len(found) <= len(search.best) and len(found) < known:
            search.best = np.sort(found)
    base = len(essential)
    return min(known, base + answer.bound), min(known, base + answer.exact)


# --------------------------------------------------------------------------------------------------
# Few cubes that cover a truth table, selected from a list of candidates by local search.
# --------------------------------------------------------------------------------------------------

MOST_ENTRIES = 40_000_000  # of the covering matrix and its transpose: 320 MB
_REDUCTIONS = 3
_PATIENCE = 100  # work per entry of the matrix without a gain


def select(table: Dense, cubes: Cubes, first: I32, clock: Clock, effort: float) -> tuple[I32, int]:
    """Return indices of few cubes that cover the table, and a lower bound on their number.

    `first` is such a selection. Stops after work in proportion to `effort` without a gain, at the
    bound, or at the deadline.
    """
    whole = matrix(table, cubes)
    if whole is None or clock.over:
        return first, 0
    core, substitute = without_dominated(whole)
    first = distinct(substitute[first], len(substitute)).astype(np.int32)
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


def without_dominated(whole: CoverMatrix) -> tuple[CoverMatrix, I32]:
    """Remove dominated rows and columns; also return the column that replaces each column."""
    found, cost = whole, np.zeros(whole.columns, np.int64)
    substitute = np.arange(whole.columns, dtype=np.int32)
    for _ in range(_REDUCTIONS):
        found, holder = without_dominated_rows(found, cost, Clock())
        held = holder >= 0
        if not held.any():
            break
        better = np.where(held, holder, np.arange(len(held), dtype=np.int32))
        substitute = better[substitute]
        while held[substitute].any():
            substitute = better[substitute]
        found = found.keep(np.ones(found.rows, np.bool_), ~held)
    return found, substitute


def matrix(table: Dense, cubes: Cubes) -> CoverMatrix | None:
    """Return the covering matrix of a table; None where it is too large."""
    noise = np.random.default_rng(SEED)
    key = noise.integers(0, 1 << 63, len(cubes), dtype=np.uint64)
    sums = np.zeros((table.outputs, 1 << table.inputs), np.uint64)
    signatures(cubes.packed, cubes.inputs, key, sums)
    required = np.flatnonzero(points_of(table.on, table.inputs).ravel())
    # Points that the same cubes cover make one row.
    _, representatives = np.unique(sums.ravel()[required], return_index=True)
    return matrix_of_points(cubes, required[representatives], MOST_ENTRIES)


def matrix_of_points(cubes: Cubes, points: Intp, limit: int) -> CoverMatrix | None:
    """Return the matrix of points (indices of a table); None beyond `limit` entries."""
    number = np.full((cubes.outputs, 1 << cubes.inputs), -1, np.int32)
    number.ravel()[points] = np.arange(len(points), dtype=np.int32)
    starts, none = np.zeros(len(cubes) + 1, np.int64), np.zeros(0, np.int32)
    entries = incidence(cubes.packed, cubes.inputs, number, starts, none)
    if entries > limit:
        return None
    rows = np.zeros(entries, np.int32)
    incidence(cubes.packed, cubes.inputs, number, starts, rows)
    return CoverMatrix(starts, rows, len(points)).transposed


def merged(parts: list[Cubes]) -> tuple[Cubes, I32]:
    """Return the distinct cubes of several lists, and the indices of those of the first list."""
    shape, packed = parts[0].shape, np.concatenate([part.packed for part in parts])
    place = 1 << np.arange(shape.inputs)[::-1]
    free, one = (
        unpack(plane, shape.inputs) @ place
        for plane in (packed[:, :1] & packed[:, 1:2], packed[:, 1:2] & ~packed[:, :1])
    )
    order = np.lexsort([*packed[:, shape.out_at :].T, free, one])
    packed = packed[order]
    new = np.append([True], (packed[1:] != packed[:-1]).any(axis=1))
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new) - 1
    first = distinct(number[: len(parts[0])], int(new.sum())).astype(np.int32)
    return shape.cubes(packed[new]), first
