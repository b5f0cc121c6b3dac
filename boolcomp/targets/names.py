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
    """Gives every thing an identifier that no other has.

    Identifiers are ASCII letters, digits and single underscores between them, and begin with a
    letter: so all languages have them. A name that is reserved or taken gets a number. Names that
    differ in case alone are the same, unless `case` says that the language tells them apart.
    """

    def __init__(self, reserved: Iterable[str], *, case: bool = False) -> None:
        self._folded = str if case else str.lower
        self._taken = {self._folded(word) for word in reserved}

    def new(self, name: str, otherwise: str = "x") -> str:
        """Return an identifier as like a name as can be."""
        text = re.sub("[^A-Za-z0-9]+", "_", name.translate(_SPELT)).strip("_")[:LONGEST].strip("_")
        if not text[:1].isalpha():
            text = f"{otherwise}_{text}" if text else otherwise
        found, count = text, 1
        while self._folded(found) in self._taken:
            count += 1
            found = f"{text}_{count}"
        self._taken.add(self._folded(found))
        return found


def word_names(program: Program, keywords: Iterable[str]) -> dict[str, str]:
    """Return the identifiers of a program's inputs and outputs: their names, where these are legal.

    Only keywords of the language, which tells cases apart, force another name.
    """
    names = Names(keywords, case=True)
    found = {one.name: names.new(one.name, "input") for one in program.inputs}
    return found | {one.name: names.new(one.name, "output") for one in program.loads[0].outputs}


def escapes(called: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line on every word whose identifier is not its name, given both."""
    return [
        comment(f"called {identifier} here: {name}, which the language does not allow")
        for name, identifier in called
        if name != identifier
    ]


def comment(text: str) -> str:
    """Return a text as it can stand in a line of comment: printable ASCII, ending none."""
    spelt = text.translate(_SPELT).encode("ascii", "replace").decode()
    spelt = "".join(c if c.isprintable() else " " for c in spelt)[:LONGEST_COMMENT]
    return spelt.replace("*/", "* /").replace("/*", "/ *").rstrip()
