"""Writes the section `graph`: which words stand for what of the sketch (see `checker.places`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.compact.graph.parts import realised_places

if TYPE_CHECKING:
    from boolcomp.proof.certificate.known import Known


def graph_section(known: Known) -> str:
    """Return the lines of a section; nodes that nothing needs have none."""
    compact, lines = known.compact, []
    places = realised_places(compact.sketch, compact.widths, compact.graph)
    for k, place in enumerate(places):
        if place.words:
            words = [f"w{word}" for word in place.words]
            words += ["times", *(f"w{word}" for word in place.product)] if place.product else []
            words += ["of", *map(str, place.owners)] if place.owners else []
            lines.append(f"s{k} = {' '.join(words)}")
    for one in known.explained.results:
        rest = "" if one.rest is None else " ".join(["", "rest", *(name for name, _ in one.rest)])
        lines.append(f"{one.name} = shift {float(one.shift)!r}{rest}")
    return "".join(f"{line}\n" for line in lines)
