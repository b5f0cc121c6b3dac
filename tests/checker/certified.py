"""A small program with a certificate, and folders in which it is damaged and sealed anew."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from boolcomp.checker.chain import check_program
from boolcomp.checker.folder import read_program
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.pipeline import compile_compact
from boolcomp.program import writing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from boolcomp.checker.steps import Step
    from boolcomp.program.program import Program


@cache
def certified(bits: int = 4, name: str = "machado-2r") -> Program:
    """Return the paper's arm, from the results that ship, with its certificate."""
    return compile_compact(
        name, CompactChoices(usual_demand(bits), proof="plain", certify=True)
    ).program


def changed(folder: Path, file: str, change: Callable[[str], str]) -> None:
    """Change a text of a saved program; all its checksums are right again."""
    path = folder / file
    text = path.read_text("utf-8")
    new = change(text)
    assert new != text
    path.write_text(new, "utf-8")
    sealed(folder)


def sealed(folder: Path) -> None:
    """Write the checksums of the files that are there."""
    head = folder / writing.HEAD
    document = json.loads(head.read_text("utf-8"))
    files = {name: (folder / name).read_text("utf-8") for name in document["files"]}
    head.write_text(writing.sealed(document, files), "utf-8")


def steps(folder: Path) -> dict[str, Step]:
    """Return the steps of a folder's certificate by the first word of their names."""
    return {one.name.partition(":")[0]: one for one in check_program(read_program(folder))}
