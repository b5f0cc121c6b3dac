"""Outputs as sums of terms: made of spectra, evaluated, printed, measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.terms.extract import FORMS as FORMS
    from boolcomp.terms.extract import Terms as Terms
    from boolcomp.terms.extract import Verdict as Verdict
    from boolcomp.terms.extract import dust_of as dust_of
    from boolcomp.terms.extract import judge_outputs as judge_outputs
    from boolcomp.terms.extract import per_kilogram as per_kilogram
    from boolcomp.terms.extract import split as split
    from boolcomp.terms.extrema import output_amplitudes as output_amplitudes
    from boolcomp.terms.terms import Exponents as Exponents
    from boolcomp.terms.terms import Term as Term
    from boolcomp.terms.terms import Wave as Wave
    from boolcomp.terms.terms import collect as collect
    from boolcomp.terms.terms import evaluate_terms as evaluate_terms
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "extract": "FORMS Terms Verdict dust_of judge_outputs per_kilogram split",
            "extrema": "output_amplitudes",
            "terms": "Exponents Term Wave collect evaluate_terms",
        },
    )
