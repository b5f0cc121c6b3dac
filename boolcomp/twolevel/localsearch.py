"""Local search for few columns that meet every row of a matrix, the same steps on any machine."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import local_kernels as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.setcover import CoverMatrix

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
        self._choice = kernels.Choice(
            matrix.starts, matrix.indices, matrix.turned.starts, matrix.turned.indices,
            weight=np.zeros(rows, np.int64), met=np.zeros(rows, np.int32),
            owner=np.zeros(rows, np.int32), score=np.zeros(columns, np.int64),
            moved=np.zeros(columns, np.int64), stirred=np.zeros(columns, np.bool_),
            chosen=np.zeros(columns, np.int32), place=np.zeros(columns, np.int32),
            unmet=np.zeros(rows, np.int32), open_at=np.zeros(rows, np.int32),
            sizes=np.zeros(4, np.int64), noise=np.array([SEED], np.uint64),
        )  # fmt: skip
        kernels.start(self._choice, first.astype(np.int32))

    @property
    def unmet(self) -> int:
        """How many rows no column meets that is chosen at the moment."""
        return int(self._choice.sizes[kernels.UNMET])

    @property
    def work(self) -> int:
        """Entries of the matrix looked at so far."""
        return int(self._choice.sizes[kernels.WORK_DONE])

    def improve(self, work: int, steps: int = sys.maxsize >> 1) -> None:
        """Search for that much work, or so many steps where they end first."""
        before = len(self.best)
        size = kernels.improve(self._choice, self._buffer, before, self._lower, work, steps)
        if size < before:
            self.best = np.sort(self._buffer[:size]).astype(np.int64)

    def run(self, steps: int, end: float) -> None:
        """Search that many steps, less if `time.monotonic()` passes `end` or the bound is met."""
        last = int(self._choice.sizes[kernels.STEPS]) + steps
        while len(self.best) > self._lower and time.monotonic() < end:
            left = last - int(self._choice.sizes[kernels.STEPS])
            if left <= 0:
                return
            self.improve(CHUNK, left)
