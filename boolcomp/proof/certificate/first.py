"""Writes the section `first`: how tables were folded and sums added up (`checker.first`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.words.folding import fold
from boolcomp.words.graph import InputWord, Lookup

if TYPE_CHECKING:
    from boolcomp.compact.graph.heaps import Addition
    from boolcomp.proof.certificate.known import Known


def first_section(known: Known) -> str:
    """Return a line for every table and every sum."""
    lines, additions = [], iter(known.additions)
    for place, node in enumerate(known.graph.nodes):
        if isinstance(node, Lookup):
            folded = fold(node.entries, node.bits)
            masks = "".join(f" {mask:x}" for mask in folded.inputs)
            lines.append(f"w{place} folds{masks} flip {folded.flip:x}\n")
        elif not isinstance(node, InputWord):
            lines.append(f"w{place} adds {_adds(next(additions))}\n")
    return "".join(lines)


def _adds(said: Addition) -> str:
    """Return the places in columns that were added, column by column."""
    columns = (", ".join(" ".join(map(str, group)) for group in c) for c in said.groups())
    return " / ".join(columns).rstrip()
