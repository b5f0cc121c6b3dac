"""Certificates as text: a section for everything that is claimed (see `checker.container`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.proof.certificate import bound, claim, cones, first, graph, lemmas, origin, sketch
from boolcomp.proof.certificate.known import Known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.compact.result.built import Built
    from boolcomp.program.program import Program

WRITERS = {
    "words": cones.words,
    "origin": origin.origin_section,
    "sketch": sketch.sketch_section,
    "graph": graph.graph_section,
    "cones": cones.cones_section,
    "first": first.first_section,
    "lemmas": lemmas.lemmas_section,
    "bound": bound.bound_section,
}


def certificate(program: Program, built: Sequence[Built]) -> str:
    """Return the certificate of a program; `built` are the compilations of its loads."""
    bounds = [one.bounds for one in built]
    unproved = [() if one is None else one.unproved for one in bounds]
    exact = [one.name for one in built[0].compact.problem.inputs if one.exact]
    lines = [claim.head(program, unproved, exact)]
    for place, one in enumerate(built):
        known = Known(one, program, place)
        lines.append(f"== load {place}\n")
        for name, write in WRITERS.items():
            if text := write(known):
                lines.append(f"= {name}\n{text}")
    return "".join(lines)
