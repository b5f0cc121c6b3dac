"""The fewest products out of a pool of implicants, for functions too wide to list all primes.

Sweeps in changing orders leave many implicants behind. Which of them to take together is a covering
problem of its own, whose rows are points found when a choice misses them. Work is counted, so that
the same pool gives the same choice.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.localsearch import LocalSearch
from boolcomp.twolevel.packed import Shape, packed, size_order, unpacked
from boolcomp.twolevel.points import SearchedDemands
from boolcomp.twolevel.setcover import greedy_columns, independent, reduced
from boolcomp.twolevel.witness import SearchEndedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.clock import Clock
    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.function import Function
    from boolcomp.twolevel.setcover import CoverMatrix

POOLED_STEPS = 30_000
"""Steps of local search for a block."""

ROUNDS = 40
"""Choices made at most until one misses no point."""

LONGEST = 1e7
"""Seconds that stand for no deadline."""


class Pool:
    """Implicants of a function, each once, those in others left out; the points known so far."""

    def __init__(self, function: Function) -> None:
        self._shape = Shape(function.inputs, function.outputs)
        self._on, self._free = packed(function.on), packed(function.dc)
        self._rows = self._shape.none()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, cubes: Cubes) -> int:
        """Add implicants; return how many are new."""
        before = len(self._rows)
        joined = np.unique(np.concatenate([self._rows, packed(cubes)]), axis=0)
        self._rows = joined
        return len(joined) - before

    def fewest(self, clock: Clock) -> Cubes | None:
        """Return few of the implicants that cover the function, None where time ends before.

        All of ON must lie in the implicants and the don't-cares.
        """
        end = time.monotonic() + min(clock.left, LONGEST)
        rows = _maximal(self._rows, end)
        if rows is None:
            return None
        demands = SearchedDemands(self._on, self._free, rows, self._shape)
        try:
            for _ in range(ROUNDS):
                chosen = _chosen(demands.matrix, end)
                if not demands.add_missed(chosen, end):
                    return unpacked(rows[np.sort(chosen)], self._shape)
        except SearchEndedError:
            pass
        return None


def _maximal(rows: NDArray[np.uint64], end: float) -> NDArray[np.uint64] | None:
    """Return the implicants that lie in no other, largest first."""
    from boolcomp.twolevel.primes_kernels import maximal  # noqa: PLC0415 (compiles when needed)

    ordered = rows[size_order(rows)]
    kept = np.empty(len(ordered), np.int64)
    size = maximal(ordered, 0, len(ordered), kept, 0)
    return ordered[kept[:size]] if time.monotonic() < end else None


def _chosen(matrix: CoverMatrix, end: float) -> NDArray[np.int64]:
    """Return few columns that meet every row."""
    essential, core = reduced(matrix, np.zeros(matrix.columns, np.int64), end)
    parts = [essential]
    for block in core.blocks():
        search = LocalSearch(block, greedy_columns(block), independent(block))
        search.run(POOLED_STEPS, end)
        parts.append(search.best)
    return np.concatenate(parts)
