"""Bounds as the checker confirms them: a certificate claims nothing that it would not find.

The checker is simpler than what finds bounds. What it does not confirm is claimed a little wider,
at last as its own plain bound.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.checker.bound import FITTING, Bounded, closer
from boolcomp.checker.boxes import Boxes
from boolcomp.checker.claims.stands import claim_of
from boolcomp.checker.container import Section
from boolcomp.checker.folder import LoadFiles
from boolcomp.checker.plain import Plain
from boolcomp.checker.steps import DoesNotHoldError, NotCoveredError
from boolcomp.common.errors import DataError
from boolcomp.proof.certificate import cones, first, graph, origin, sketch
from boolcomp.proof.certificate.bound import groups_of
from boolcomp.proof.certificate.known import Known

if TYPE_CHECKING:
    from boolcomp.compact.result.built import Built
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.result import Bound, Bounds

CLAIMED = {
    "origin": origin.origin_section,
    "sketch": sketch.sketch_section,
    "graph": graph.graph_section,
    "first": first.first_section,
    "cones": cones.cones_section,
}
TRIES = 3  # halvings of what lies between what was proved and the checker's plain bound


def with_confirmed_bounds(program: Program, built: list[Built]) -> list[Built]:
    """Return compilations whose bounds the checker confirms."""
    listed = enumerate(built)
    return [replace(one, bounds=_confirmed(Known(one, program, k))) for k, one in listed]


def _confirmed(known: Known) -> Bounds | None:
    bounds = known.built.bounds
    if bounds is None:
        return None
    texts = {name: write(known) for name, write in CLAIMED.items()}
    sections = {name: Section(tuple(text.splitlines()), 1) for name, text in texts.items() if text}
    try:
        plain = Plain(claim_of(LoadFiles(known.place, {}, {}, known.graph, None, sections)))
    except (DataError, NotCoveredError):
        return None  # nothing is said that the checker would follow
    outputs = [_confirmed_bound(known, plain, k, one) for k, one in enumerate(bounds.outputs)]
    unproved = {k for k in plain.overflow if k in bounds.unproved or not _fits(plain, k)}
    return replace(bounds, outputs=tuple(outputs), unproved=tuple(sorted(unproved)))


def _fits(plain: Plain, word: int) -> bool:
    places = [k for k, one in enumerate(plain.claim.places) if one.words == (word,)]
    try:
        return Boxes(plain, places[0]).fits(FITTING) > 0
    except (DoesNotHoldError, NotCoveredError):
        return False


def _confirmed_bound(known: Known, plain: Plain, column: int, one: Bound) -> Bound:
    """Return the bound of an output, at most as wide as the checker's own plain bound."""
    low, high = plain.error(plain.claim.outputs[column], column).ends
    if one.low <= low and high <= one.high:
        return one
    if one.grade == "plain":  # the checker looks no closer where no more is claimed
        return replace(one, low=min(low, one.low), high=max(high, one.high), of_asked=False)
    groups = tuple(tuple(names.split()) for names in groups_of(known, column).split("|"))

    def holds(ends: tuple[Fraction, Fraction]) -> bool:
        try:
            closer(plain, column, Bounded(one.name, one.grade, *ends, groups))
        except (DoesNotHoldError, NotCoveredError):
            return False
        return True

    beside = Fraction(one.remainder)
    for ends in ((one.low, one.high), (one.low - beside, one.high + beside)):
        if holds(ends):
            return replace(one, low=ends[0], high=ends[1])
    least, most = min(low, one.low), max(high, one.high)
    found, refused, wide = None, Fraction(0), Fraction(1)
    for _ in range(TRIES):
        part = (refused + wide) / 2
        ends = one.low + (least - one.low) * part, one.high + (most - one.high) * part
        if holds(ends):
            found, wide = ends, part
        else:
            refused = part
    if found:
        return replace(one, low=found[0], high=found[1])
    return replace(one, low=least, high=most, grade="plain", of_asked=False)
