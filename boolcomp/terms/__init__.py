"""Outputs as sums of terms: extraction, evaluation, extrema and printed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.terms.extract import FORMS as FORMS
    from boolcomp.terms.extract import Terms as Terms
    from boolcomp.terms.extract import Verdict as Verdict
    from boolcomp.terms.extract import judge_outputs as judge_outputs
    from boolcomp.terms.extract import per_kilogram as per_kilogram
    from boolcomp.terms.extract import split as split
    from boolcomp.terms.extrema import output_amplitudes as output_amplitudes
    from boolcomp.terms.terms import Term as Term
    from boolcomp.terms.terms import collect as collect
    from boolcomp.terms.terms import evaluate_terms as evaluate_terms
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "extract": "FORMS Terms Verdict judge_outputs per_kilogram split",
            "extrema": "output_amplitudes",
            "terms": "Term collect evaluate_terms",
        },
    )
