"""Names of a program as identifiers of another language: legal, and all different."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.program.program import Program

LONGEST = 60
LONGEST_COMMENT = 400
_SPELT = str.maketrans({
    "·": "*", "°": " deg", "²": "^2", "³": "^3", "±": "+-", "π": "pi", "τ": "tau", "µ": "u",
    "μ": "u", "½": "1/2", "×": "x", "−": "-", "–": "-", "\\": "/",
})  # fmt: skip


def why_no_graph(program: Program) -> str:
    """Say what a program is that keeps no word graph."""
    how = program.asked.get("approximate")
    return f"{program.mode} mode{f', approximated: {how}' if how else ''}"


class Names:
    """Gives every thing an identifier that no other has, whatever the language thinks of case.

    Identifiers are ASCII letters, digits and single underscores between them, and begin with a
    letter: so all languages have them. A name that is reserved or taken gets a number.
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self._taken = {word.lower() for word in reserved}

    def new(self, name: str, otherwise: str = "x") -> str:
        """Return an identifier as like a name as can be."""
        text = re.sub("[^A-Za-z0-9]+", "_", name.translate(_SPELT)).strip("_")[:LONGEST].strip("_")
        if not text[:1].isalpha():
            text = f"{otherwise}_{text}" if text else otherwise
        found, count = text, 1
        while found.lower() in self._taken:
            count += 1
            found = f"{text}_{count}"
        self._taken.add(found.lower())
        return found


def comment(text: str) -> str:
    """Return a text as it can stand in a line of comment: printable ASCII, ending none."""
    spelt = text.translate(_SPELT).encode("ascii", "replace").decode()
    spelt = "".join(c if c.isprintable() else " " for c in spelt)[:LONGEST_COMMENT]
    return spelt.replace("*/", "* /").replace("/*", "/ *").rstrip()
