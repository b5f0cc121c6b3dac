"""What can be said for sure, or is sought: the worst errors of compiled logic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.proof.bound.checked import claim_of as claim_of
    from boolcomp.proof.bound.graded import graded_bounds as graded_bounds
    from boolcomp.proof.bound.meaning import Explained as Explained
    from boolcomp.proof.bound.meaning import Grade as Grade
    from boolcomp.proof.bound.overflow import Range as Range
    from boolcomp.proof.bound.overflow import Search as Search
    from boolcomp.proof.bound.overflow import WordRanges as WordRanges
    from boolcomp.proof.bound.overflow import without_overflow as without_overflow
    from boolcomp.proof.bound.plain import plain_bounds as plain_bounds
    from boolcomp.proof.certificates.lemmas import refutation as refutation
    from boolcomp.proof.certificates.lemmas import trimmed as trimmed
    from boolcomp.proof.certificates.writer import WRITERS as WRITERS
    from boolcomp.proof.certificates.writer import origin_text as origin_text
    from boolcomp.proof.certificates.writer import sketch_text as sketch_text
    from boolcomp.proof.worst import EVALUATIONS as EVALUATIONS
    from boolcomp.proof.worst import Axis as Axis
    from boolcomp.proof.worst import Climbers as Climbers
    from boolcomp.proof.worst import Subject as Subject
    from boolcomp.proof.worst import axes_of as axes_of
    from boolcomp.proof.worst import find_worst as find_worst
    from boolcomp.proof.worst import subject_of as subject_of
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "bound.checked": "claim_of",
            "bound.graded": "graded_bounds",
            "bound.meaning": "Explained Grade",
            "bound.overflow": "Range Search WordRanges without_overflow",
            "bound.plain": "plain_bounds",
            "certificates.lemmas": "refutation trimmed",
            "certificates.writer": "WRITERS origin_text sketch_text",
            "worst": "Axis Climbers EVALUATIONS Subject axes_of find_worst subject_of",
        },
    )
