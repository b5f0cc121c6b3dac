"""Writes the claim of a certificate, and what a kilogram changes as the checker confirms it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.checker.claim import per_kilogram, stated
from boolcomp.checker.container import CLAIM, FIRST_LINE, Section
from boolcomp.checker.origin import read_origin
from boolcomp.checker.steps import NotCoveredError
from boolcomp.common.errors import DataError
from boolcomp.program.writing import HEAD, render_program

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.program.program import Program


def head(program: Program, unproved: Sequence[Iterable[int]], exact: Sequence[str] = ()) -> str:
    """Return the first lines of a program's certificate: all that it claims.

    `unproved` are the words of every load that are not shown to have bits enough.
    """
    lines = stated(json.loads(render_program(program)[HEAD]), unproved, exact)
    return "".join(f"{line}\n" for line in (FIRST_LINE, CLAIM, *lines))


def with_confirmed_changes(program: Program, origin: str) -> Program:
    """Return a program that says what a kilogram changes as the checker finds it, if that is more.

    `origin` is the section of a load.
    """
    if not program.per_kilogram:
        return program
    try:
        asked = read_origin(Section(tuple(origin.splitlines()), 1))
        found = per_kilogram(asked, program.returned.members)
    except (NotCoveredError, DataError):
        return program  # the checker says so, too
    return replace(program, per_kilogram=tuple(map(max, program.per_kilogram, found)))
