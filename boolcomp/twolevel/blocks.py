"""One independent block of a covering problem: bounds from below and above until they meet.

Lagrangian prices give a lower bound, local search a cover. Where they differ, columns whose price
shows that no better cover holds them leave, the rest is reduced again and goes to `milp`.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.twolevel.localsearch import LocalSearch
from boolcomp.twolevel.setcover import CoverMatrix, Solution, greedy_columns, independent, reduced
from boolcomp.twolevel.witness import SearchEndedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.milp import Milp

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
    from boolcomp.twolevel import bound_kernels as kernels  # noqa: PLC0415

    lengths = np.bincount(matrix.indices, minlength=matrix.columns)
    upper = len(first)
    prices = 1.0 / np.maximum.reduceat(lengths[matrix.indices], matrix.starts[:-1])
    chunk = max(2, min(500, 2 * 10**7 // len(matrix.indices)))
    ascent = kernels.Ascent(prices, prices.copy(), np.array([0.0, 1.0, 0.0]))
    done = 0
    while done < ITERATIONS and time.monotonic() < end:
        kernels.ascend(matrix.starts, matrix.indices, matrix.columns, upper, chunk, ascent)
        done += chunk
        reached, step = ascent.state[:2]
        if reached > upper - 1 + 1e-6 or step < kernels.SHORTEST:
            break
    costs = np.full(matrix.columns, UNIT)
    parts = np.floor(np.clip(ascent.best, 0, 1) * UNIT).astype(np.int64)
    bound = int(kernels.exact_costs(matrix.starts, matrix.indices, parts, costs))
    turned = matrix.turned
    chosen = kernels.priced_greedy(
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
