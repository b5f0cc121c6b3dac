"""A certificate's text: what begins with `==` is a load's, what begins with `=` a section of it.

boolcomp certificate 1
== load 0
= graph
…
= lemmas
…
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "certificate.txt"
FIRST_LINE = "boolcomp certificate 1"
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


def parse(text: str) -> tuple[Mapping[str, Section], ...]:
    """Return the sections of every load; a `DataError` names the line that is wrong."""
    lines = text.split("\n")
    if lines[0] != FIRST_LINE or lines.pop() != "":
        raise DataError(f"{NAME}:1: a certificate begins {FIRST_LINE!r} and ends with a line end")
    heads = [place for place, line in enumerate(lines) if line.startswith("=")]
    if (heads or [len(lines)])[0] != 1:
        raise DataError(f"{NAME}:2: a load begins '== load 0'")
    loads: list[dict[str, Section]] = []
    for place, end in zip(heads, [*heads[1:], len(lines)], strict=True):
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
    return tuple(loads)
