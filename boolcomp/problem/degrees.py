"""Whether states look as if their angles were in degrees: counted while they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.problem.span import TURN

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import ArrayLike

    from boolcomp.problem.problem import Group

MOST = 2 * TURN  # rad: no joint is told to go further
MANY = 0.01  # of the samples beyond stops
ASKED = "are the angles in degrees?"


class Degrees:
    """Looks at the angles of states, chunk by chunk, and remembers the largest."""

    def __init__(self, groups: Sequence[Group], angles: Collection[str]) -> None:
        """Take the groups of all inputs, and the names of those that are angles."""
        self.columns = [[name in angles for name in group.members] for group in groups]
        self.most = 0.0

    def look(self, arrays: Sequence[ArrayLike]) -> None:
        """Look at some states, an array for every group."""
        for array, columns in zip(arrays, self.columns, strict=True):
            if any(columns) and np.size(array):
                given = np.abs(np.asarray(array))
                same = given.ndim and given.shape[-1] == len(columns)
                largest = (given[..., columns] if same else given).max()
                self.most = max(self.most, float(largest))

    def question(self, samples: int, beyond: int) -> str:
        """Return a question where states look like degrees; `beyond` is counted by engines."""
        if self.most > MOST:
            return f"an angle of {self.most:.4g} rad is beyond two turns: {ASKED}"
        if beyond > MANY * samples:
            return f"{beyond} input values of {samples} samples lie beyond stops: {ASKED}"
        return ""
