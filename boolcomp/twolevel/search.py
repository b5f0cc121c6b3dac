"""The search for a minimum cover: solve the rows known, look for points missed, and again.

The optimum over some of the rows is a lower bound for all of them, and a cover that misses no point
is an upper bound; once they meet the minimum is proved.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.blocks import solve_block
from boolcomp.twolevel.setcover import greedy_columns, independent, reduced
from boolcomp.twolevel.witness import SearchEndedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.milp import Milp
    from boolcomp.twolevel.points import Demands
    from boolcomp.twolevel.setcover import CoverMatrix, Solution


class MinimumCover:
    """An anytime search: `best` (columns of a whole cover, or None) and `bound` improve as it runs.

    What of the bound is proved in whole numbers is `exact`; the rest is branch and bound's in
    floating point, and so is the least of the literals where they are not `literals_exact`.
    `fewest` looks for the fewest columns, `lightest` then for the least cost among those.
    """

    def __init__(
        self,
        demands: Demands,
        cost: NDArray[np.int64],
        milp: Milp,
        start: NDArray[np.int64] | None = None,
    ) -> None:
        self.best = start
        self.bound = self.exact = 0
        self.literals_exact = True
        self._demands = demands
        self._cost = cost
        self._milp = milp
        self._solved: dict[tuple[bytes, bytes], Solution] = {}

    @property
    def proved(self) -> bool:
        """Whether no cover has fewer columns than `best`."""
        return self.best is not None and self.bound >= len(self.best)

    def fewest(self, end: float) -> bool:
        """Search for the fewest columns until `time.monotonic()` is `end`; tell whether proved."""
        free = np.zeros(len(self._cost), np.int64)
        while not self.proved:
            try:
                essential, core = self._covered(free, end)
                if self.proved:
                    break
                chosen, bound, exact = self._minimum(core, end)
                self.bound = max(self.bound, len(essential) + bound)
                self.exact = max(self.exact, len(essential) + exact)
                whole = not self._demands.add_missed(np.concatenate([essential, chosen]), end)
            except SearchEndedError:
                return False
            if whole:
                self._offer(np.concatenate([essential, chosen]))
                return self.proved
            if time.monotonic() > end:
                return False
        return True

    def lightest(self, end: float) -> bool:
        """After `fewest` proved a minimum: least cost with as many columns; tell if proved."""
        while time.monotonic() < end:
            assert self.best is not None  # noqa: S101 (the caller asked `fewest` first)
            try:
                essential, core = reduced(self._demands.matrix, self._cost, end)
                found = self._light_core(core, len(self.best) - len(essential), end)
                if found is None:
                    return False
                chosen, exact = np.concatenate([essential, found[0]]), found[1]
                whole = not self._demands.add_missed(chosen, end)
            except SearchEndedError:
                return False
            if whole:
                if self._cost[chosen].sum() < self._cost[self.best].sum():
                    self.best = np.sort(chosen)
                return exact
        return False

    def _covered(
        self, cost: NDArray[np.int64], end: float
    ) -> tuple[NDArray[np.int64], CoverMatrix]:
        """Add rows until a greedy cover of them misses no point; return the last reduction."""
        while True:
            essential, core = reduced(self._demands.matrix, cost, end)
            greedy = np.concatenate([essential, greedy_columns(core)])
            self.exact = max(self.exact, len(essential) + independent(core))
            self.bound = max(self.bound, self.exact)
            if not self._demands.add_missed(greedy, end):
                self._offer(greedy)
                return essential, core
            if time.monotonic() > end:
                raise SearchEndedError

    def _offer(self, columns: NDArray[np.int64]) -> None:
        if self.best is None or len(columns) < len(self.best):
            self.best = np.sort(columns)

    def _minimum(self, core: CoverMatrix, end: float) -> tuple[NDArray[np.int64], int, int]:
        """Return columns that meet every row of a core, and proved bounds on their number."""
        chosen, bound, exact = [np.zeros(0, np.int64)], 0, 0
        for block in core.blocks():
            solution = self._block(block, end)
            chosen.append(solution.chosen)
            bound += solution.bound
            exact += solution.exact
        return np.concatenate(chosen), bound, exact

    def _block(self, block: CoverMatrix, end: float) -> Solution:
        """Solve a block; blocks solved before are remembered."""
        key = (block.starts.tobytes(), block.indices.tobytes())
        known = self._solved.get(key)
        if known is not None:
            return known
        solution = solve_block(block, self._milp, end)
        if solution.proved:
            self._solved[key] = solution
        return solution

    def _light_core(
        self, core: CoverMatrix, count: int, end: float
    ) -> tuple[NDArray[np.int64], bool] | None:
        """Return `count` columns of little cost that meet a core, and whether it is the least."""
        blocks = list(core.blocks())
        chosen, exact = [np.zeros(0, np.int64)], True
        for k, block in enumerate(blocks):
            least = count  # what is left for the last and largest block
            if k + 1 < len(blocks):
                solution = self._block(block, end)
                if not solution.proved:
                    return None
                least = solution.value
            columns, local = np.unique(block.indices, return_inverse=True)
            cost = self._cost[columns]
            left = end - time.monotonic()
            hint = None if self.best is None else np.flatnonzero(np.isin(columns, self.best))
            answer = self._milp.solve(block.starts, local, cost, left, least, hint=hint)
            if answer.chosen is None:
                return None
            value = int(cost[answer.chosen].sum())
            exact = exact and answer.bound >= value
            in_doubles = answer.exact < value <= answer.bound
            self.literals_exact = self.literals_exact and not in_doubles
            chosen.append(columns[answer.chosen].astype(np.int64))
            count -= least
        return np.concatenate(chosen), exact
