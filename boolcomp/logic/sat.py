"""Satisfiability, asked of Glucose (python-sat) a few conflicts at a time: Ctrl-C is never far.

A variable is a number from 0; its literals are twice the number, plus one where it is negated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pysat.solvers import Glucose4

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.twolevel.clock import Clock

SLICE = 200  # conflicts between two looks at the clock: a fraction of a second, however hard it is


class Solver:
    """Clauses that grow; `solve` asks whether they hold together with assumptions."""

    def __init__(self) -> None:
        self._solver = Glucose4()
        self._variables = 0

    def variable(self) -> int:
        """Return a new variable."""
        self._variables += 1
        return self._variables - 1

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause."""
        self._solver.add_clause([_signed(literal) for literal in clause])

    def solve(self, assumptions: Sequence[int], conflicts: int, clock: Clock) -> bool | None:
        """Tell whether all clauses can hold under assumptions; None where the limit was met."""
        assumed = [_signed(literal) for literal in assumptions]
        for done in range(0, conflicts, SLICE):
            if clock.over:
                return None
            self._solver.conf_budget(min(SLICE, conflicts - done))
            # Said to be interrupted, it leaves signals to Python and lets other threads run.
            answer: bool | None = self._solver.solve_limited(assumed, expect_interrupt=True)
            if answer is not None:
                return answer
        return None

    def model(self, literals: Sequence[int]) -> tuple[int, ...]:
        """Return the values of literals where the last answer was True; 0 where any will do."""
        true = set(self._solver.get_model() or ())
        return tuple(int(_signed(literal) in true) for literal in literals)


def _signed(literal: int) -> int:
    """Return a literal as python-sat counts: from 1, negative where it is negated."""
    return -(literal >> 1) - 1 if literal & 1 else (literal >> 1) + 1
