"""Outputs as sums of terms: made of spectra, evaluated, printed, measured."""

from boolcomp.terms.extract import FORMS, Terms, split
from boolcomp.terms.extrema import Extreme, amplitude, output_amplitudes
from boolcomp.terms.term import Term, evaluate_terms
from boolcomp.terms.terms import Monomial, Wave

__all__ = [
    "FORMS",
    "Extreme",
    "Monomial",
    "Term",
    "Terms",
    "Wave",
    "amplitude",
    "evaluate_terms",
    "output_amplitudes",
    "split",
]
