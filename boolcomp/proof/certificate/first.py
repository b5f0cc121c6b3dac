"""Writes the section `first`: how tables were folded and sums added up (`checker.first`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic.network import FALSE
from boolcomp.words.folding import fold
from boolcomp.words.graph import InputWord, Lookup

if TYPE_CHECKING:
    from boolcomp.compact.graph.heaps import Addition
    from boolcomp.proof.certificate.known import Known


def section(known: Known) -> str:
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
    """Return the places in columns that were added, column by column.

    What was left out as it is always 0 is added in the end: the checker does not know that it is.
    """
    columns = [list(said.columns.get(c, ())) for c in range(said.bits)] + [[]]
    texts = []
    for c in range(said.bits):
        column, groups = columns[c], []
        free = list(range(len(column)))
        for taken, left, carry in said.steps.get(c, ()):
            group = []
            for literal in taken:
                group.append(next(place for place in free if column[place] == literal))
                free.remove(group[-1])
            groups.append(group)
            free.append(len(column))
            column.append(left)
            columns[c + 1].append(carry)
        while len(free) > 1:
            group, free = free[:3], [*free[3:], len(column)]
            groups.append(group)
            column.append(max(column[place] for place in group))
            columns[c + 1].append(2 * FALSE)
        texts.append(", ".join(" ".join(map(str, group)) for group in groups))
    return " / ".join(texts).rstrip()
