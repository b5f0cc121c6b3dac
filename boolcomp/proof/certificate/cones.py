"""Writes the sections of a network that is its graph's but for some cones (`checker.cones`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.words.cones import cones_text

if TYPE_CHECKING:
    from boolcomp.proof.certificate.known import Known


def words(known: Known) -> str:
    """Return the word graph, where the program has none because its network is not quite that."""
    return "" if known.compact.demand.keeps_graph else str(known.graph)


def cones_section(known: Known) -> str:
    """Return a line for every cone."""
    return cones_text(known.built.cones)
