"""A certificate's text: what is claimed, then for every load the sections that show it.

boolcomp certificate 2
= claim
…
== load 0
= graph
…
= lemmas
…

Format 1 has no claim: `boolcomp certificate 1` is followed by the first load.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "certificate.txt"
FIRST_LINE, OLD_LINE = "boolcomp certificate 2", "boolcomp certificate 1"
CLAIM = "= claim"
# A section that is not known is refused: something may rest on it.
SECTIONS = ("words", "origin", "sketch", "graph", "cones", "first", "lemmas", "terms", "bound")
_LOAD = re.compile(r"== load (0|[1-9]\d{0,4})")


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of a section, and the number of the first of them in the file."""

    lines: tuple[str, ...]
    first: int

    @property
    def text(self) -> str:
        """The lines as they stand in the file."""
        return "".join(f"{line}\n" for line in self.lines)

    def where(self, place: int) -> str:
        """Return where a line stands, as messages begin."""
        return f"{NAME}:{self.first + place}"


@dataclass(frozen=True, slots=True)
class Certificate:
    """The lines of the claim, None in format 1, and the sections of every load."""

    claim: Section | None
    loads: tuple[Mapping[str, Section], ...]


def parse(text: str) -> Certificate:
    """Return the sections of every load; a `DataError` names the line that is wrong."""
    lines = text.split("\n")
    if lines[0] not in (FIRST_LINE, OLD_LINE) or lines.pop() != "":
        raise DataError(f"{NAME}:1: a certificate begins {FIRST_LINE!r} and ends with a line end")
    heads = [place for place, line in enumerate(lines) if line.startswith("=")]
    expected = CLAIM if lines[0] == FIRST_LINE else "== load 0"
    if not heads or heads[0] != 1 or lines[1] != expected:
        raise DataError(f"{NAME}:2: {expected!r} follows {lines[0]!r}")
    ends = [*heads[1:], len(lines)]
    claim = None
    if lines[0] == FIRST_LINE:
        heads, claim, ends = heads[1:], Section(tuple(lines[2 : ends[0]]), 3), ends[1:]
    loads: list[dict[str, Section]] = []
    for place, end in zip(heads, ends, strict=True):
        line, name = lines[place], lines[place][2:]
        if load := _LOAD.fullmatch(line):
            good = int(load[1]) == len(loads) and end == place + 1
            loads.append({})
        else:
            good = bool(loads) and line[:2] == "= " and name in SECTIONS and name not in loads[-1]
            if good:
                loads[-1][name] = Section(tuple(lines[place + 1 : end]), place + 2)
        if not good:
            raise DataError(
                f"{NAME}:{place + 1}: {shown(line)} is no head of the next load, nor of a section "
                f"that is known and new: {', '.join(SECTIONS)}"
            )
    return Certificate(claim, tuple(loads))
