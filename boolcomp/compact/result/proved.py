"""The bound of a compiled graph, if there is one."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from boolcomp.base.processes import WorkerLostError
from boolcomp.common.errors import DataError, DataWarning
from boolcomp.common.packages import is_there, needed
from boolcomp.common.workers import ALONE
from boolcomp.compact.result.explained import explained
from boolcomp.proof.bound.result import EFFORT

if TYPE_CHECKING:
    from boolcomp.common.workers import Workers
    from boolcomp.compact.assembly import Ends
    from boolcomp.compact.result.booked import Booked
    from boolcomp.compact.result.compact import Compact
    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.proof.bound.result import Bounds, Grade


def proved(
    compact: Compact,
    ends: Ends,
    booked: Booked,
    grade: Grade | None,
    effort: int | None,
    workers: Workers = ALONE,
) -> Bounds | None:
    """Return what no error exceeds; None where a function has no bound near some words, or beyond.

    It is None, with a warning, where python-flint is not installed, which proofs need.

    Every output has the tighter of this bound and the checker's plain one (`proof.bound.checked`).
    Where bounds of a `grade` cannot be had they are of the one before; `effort` is of tight ones,
    and without a grade asks for them. Without both, bounds are tight where that takes little
    counted work (see `proof.bound.usual`). Where words are moved by cones (`booked`) bounds are
    plain.
    """
    if not is_there("python-flint"):
        warnings.warn(
            f"no bounds are proved here: {needed('python-flint')}", DataWarning, stacklevel=2
        )
        return None
    from boolcomp.proof.bound.checked import met_with_checker  # noqa: PLC0415 (as below)

    said = explained(compact, ends, booked)
    if booked:
        grade = "plain"
    if grade is None and effort is None:
        from boolcomp.proof.bound.usual import USUAL, usual_grade  # noqa: PLC0415 (as below)

        grade, effort = usual_grade(said), USUAL
    found = bounds_of(said, grade or "tight", effort or EFFORT, workers)
    try:
        return None if found is None else met_with_checker(said, found)
    except DataError:
        return None


@lru_cache(maxsize=4)  # of what a search proves, the last is asked for again when it is over
def bounds_of(
    said: Explained, grade: Grade, effort: int, workers: Workers = ALONE
) -> Bounds | None:
    """Return what no error of a graph exceeds, as above."""
    from boolcomp.proof.bound.ends import beyond_ends  # noqa: PLC0415 (balls take their time)
    from boolcomp.proof.bound.overflow import (  # noqa: PLC0415 (with bounds alone)
        HEAPS,
        USUAL,
        without_overflow,
    )
    from boolcomp.proof.bound.plain import plain_bounds  # noqa: PLC0415 (balls take their time)

    try:
        if grade == "plain":
            return without_overflow(said, beyond_ends(said, plain_bounds(said)))
        from boolcomp.proof.bound.graded import graded_bounds  # noqa: PLC0415 (compiled loops)

        found = graded_bounds(said, grade, effort, workers)
        heaps = max(USUAL, -(-effort // HEAPS))
        return without_overflow(said, beyond_ends(said, found), heaps)
    except WorkerLostError:  # that says nothing of the graph
        raise
    except DataError:
        return None
