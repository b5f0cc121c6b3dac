"""How much a mass at the tip changes what a function of a robot gives: outputs are affine in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.common.errors import BoolcompError
from boolcomp.problem.dynamics.load import one_kilogram
from boolcomp.problem.functions import is_linear_in_load
from boolcomp.problem.problem import Problem
from boolcomp.problem.sources import load_source, problem_of
from boolcomp.terms.extract import split
from boolcomp.terms.extrema import amplitude

if TYPE_CHECKING:
    from boolcomp.problem.sources import Source

UP = 1 + 1e-9  # coefficients have 13 digits


def per_kilogram(source: Source, of: str) -> tuple[float, ...]:
    """Return what a kilogram at the tip changes every output by, at most, in its unit.

    It is the function of the robot's geometry with nothing that weighs but this kilogram; of it the
    bounds of all terms add up. Empty where the function is not known to be affine in the mass.
    """
    loaded = load_source(source) if isinstance(source, str | Path) else source
    if isinstance(loaded, Problem) or not is_linear_in_load(of):
        return ()
    try:
        terms = split(problem_of(one_kilogram(loaded), of))
    except BoolcompError:  # too many waves, or words of a load: nothing is known
        return ()
    if not terms.outputs:
        return ()
    return tuple(UP * sum(amplitude(term).bound for term in each) for each in terms.outputs)
