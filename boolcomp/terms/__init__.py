"""Torques as sums of terms: extracted from the dynamics, evaluated, printed, measured."""

from boolcomp.terms.extract import FORMS, Torques, split_torques
from boolcomp.terms.extrema import Extreme, amplitude, torque_amplitude
from boolcomp.terms.parse import parse_term
from boolcomp.terms.term import Term, evaluate_terms, samples_by_name
from boolcomp.terms.variables import Variable
from boolcomp.terms.waves import Monomial, Wave

__all__ = [
    "FORMS",
    "Extreme",
    "Monomial",
    "Term",
    "Torques",
    "Variable",
    "Wave",
    "amplitude",
    "evaluate_terms",
    "parse_term",
    "samples_by_name",
    "split_torques",
    "torque_amplitude",
]
