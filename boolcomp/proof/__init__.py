"""Proved error bounds of compiled logic, the search for its largest errors, and certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.proof.bound.graded import claim_of as claim_of
    from boolcomp.proof.bound.graded import graded_bounds as graded_bounds
    from boolcomp.proof.bound.plain import plain_bounds as plain_bounds
    from boolcomp.proof.certificates import origin_text as origin_text
    from boolcomp.proof.certificates import sketch_text as sketch_text
    from boolcomp.proof.worst import Climbers as Climbers
    from boolcomp.proof.worst import SearchedInput as SearchedInput
    from boolcomp.proof.worst import SearchedProgram as SearchedProgram
    from boolcomp.proof.worst import axes_of as axes_of
    from boolcomp.proof.worst import find_worst as find_worst
    from boolcomp.proof.worst import subject_of as subject_of
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "bound.graded": "claim_of graded_bounds",
            "bound.plain": "plain_bounds",
            "certificates": "origin_text sketch_text",
            "worst": "Climbers SearchedInput SearchedProgram axes_of find_worst subject_of",
        },
    )
