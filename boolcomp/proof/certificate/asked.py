"""The bounds of a certified program: of what was asked, and not of the sketch of it.

A sketch has its coefficients in eleven digits. By how much that is another function the checker
finds (see `checker.sketch`); it is added to what no error exceeds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.checker.container import Section
from boolcomp.checker.problem import differences
from boolcomp.checker.steps import NotCoveredError
from boolcomp.common.errors import DataError
from boolcomp.proof.bound.result import rounded_up
from boolcomp.proof.certificate import origin, sketch
from boolcomp.proof.certificate.known import Known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.result.built import Built
    from boolcomp.program.program import Program


def with_asked_bounds(program: Program, built: Sequence[Built]) -> Program:
    """Return a program whose bounds are of what was asked, where it is known what a sketch adds."""
    loads = []
    for place, (load, one) in enumerate(zip(program.loads, built, strict=True)):
        beside = _beside(Known(one, program, place))
        if one.bounds is None:
            loads.append(load)
            continue
        bounds = {bound.name: bound for bound in one.bounds.outputs}
        outputs = []
        for output in load.outputs:
            bound = bounds[output.name]
            most = max(bound.high, -bound.low) + beside.get(output.name, 0)
            value = math.inf if one.bounds.unproved else rounded_up(most * Fraction(bound.step))
            known = replace(output, bound=value, grade=bound.grade)
            outputs.append(known if math.isfinite(output.bound) else output)
        loads.append(replace(load, outputs=tuple(outputs)))
    return replace(program, loads=tuple(loads))


def _beside(known: Known) -> dict[str, Fraction]:
    """Return by how many steps a sketch may differ from what was asked; nothing if not known."""
    texts = (origin.origin_section(known), sketch.sketch_section(known))
    try:
        found = differences(*(Section(tuple(text.splitlines()), 1) for text in texts))
    except (NotCoveredError, DataError):
        return {}
    return {one.name: Fraction(one.steps) for one in found}
