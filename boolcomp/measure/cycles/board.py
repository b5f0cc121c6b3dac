"""Boards: what builds and runs designs, and what it needs."""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.files import temporary_folder, write_text
from boolcomp.base.processes import run_program
from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from boolcomp.measure.cycles.design import Design, Measured

TRIED = 10  # rows on which options are tried
DEADLINE = 120.0  # seconds that a compiler or a simulator may take
OPTIMISED = ("-O2", "-Os", "-O1")  # what an engineer tries; the fastest counts
TOLD = re.compile(rb"(\d+) (\d+) (\d+) (\d+) (\d+) \.")


@dataclass(frozen=True, slots=True)
class Board:
    """A machine: what it is, the tools that it takes, the packages of Debian that have them.

    `measure(design, folder, deadline, optimised)` builds and runs a design in a folder; `timed` is
    what of its result is to be small.
    """

    name: str
    about: str
    tools: tuple[str, ...]
    packages: str
    measure: Callable[[Design, Path, float, str], Measured]
    timed: str

    def missing(self) -> str:
        """Return what is not installed, as a sentence; nothing where all is there."""
        lacks = [tool for tool in self.tools if shutil.which(tool) is None]
        if not lacks:
            return ""
        need = "is" if len(lacks) == 1 else "are"
        return f"{', '.join(lacks)} {need} not installed: apt-get install {self.packages}"


def fastest(board: Board, design: Design, deadline: float) -> tuple[Measured, str]:
    """Return what a design takes with the best of compilers' usual options, and that option.

    The options are tried on a few rows. What is mostly a library's gains nothing by them.
    """
    tried = OPTIMISED if design.element != "float" else OPTIMISED[:1]
    best = tried[0]
    if len(tried) > 1:
        few = design.first(TRIED)
        best = min(tried, key=lambda option: _taken(board, few, deadline, option))
    with temporary_folder() as folder:
        return board.measure(design, folder, deadline, best), best


def _taken(board: Board, design: Design, deadline: float, option: str) -> float:
    with temporary_folder() as folder:
        found = getattr(board.measure(design, folder, deadline, option), board.timed)
    return math.inf if found is None else float(found)


def run(command: Sequence[str], folder: Path, deadline: float) -> bytes:
    """Run a tool in a folder, and return what it prints; a `DataError` where it fails."""
    path = shutil.which(command[0])
    if path is None:
        raise DataError(f"{command[0]} is not installed")
    ended = run_program([path, *command[1:]], deadline, folder=folder)
    if ended.code is None:
        raise DataError(f"{command[0]} did not finish in {deadline:g} s")
    if ended.code:
        said = ended.printed.decode("utf-8", "replace").strip()[-400:]
        raise DataError(f"{command[0]} failed: {said}")
    return ended.printed


def compiled(
    compiler: Sequence[str], design: Design, main: str, folder: Path, deadline: float
) -> list[str]:
    """Write and compile a design's files and a main program; return its objects, `main.o` last."""
    for name, text in (*design.files.items(), ("main.c", main)):
        write_text(folder / name, text, durable=False)
    objects = []
    for name in (*design.sources, "main.c"):
        objects.append(f"{name.removesuffix('.c')}.o")
        run([*compiler, "-I.", "-c", "-o", objects[-1], name], folder, deadline)
    return objects


def sizes(tool: str, objects: Sequence[str], folder: Path, deadline: float) -> tuple[int, int]:
    """Return the bytes of code and constants, and those of memory, in a design's objects."""
    lines = run([tool, *objects], folder, deadline).decode().splitlines()[1:]
    rows = [[int(number) for number in line.split()[:3]] for line in lines]
    return sum(text + data for text, data, _ in rows), sum(data + bss for _, data, bss in rows)


def told(printed: bytes, design: Design) -> tuple[int, int, int, int]:
    """Return the wrong rows, the sum of all cycles, those of an empty call, the deepest stack.

    One row more than the design's own is wrong on purpose, the last. A simulator that does not
    find that compares nothing.
    """
    found = TOLD.search(printed)
    if found is None:
        said = printed.decode("utf-8", "replace").strip()[-200:]
        raise DataError(f"{design.name}: the simulator printed no result: {said or 'nothing'}")
    wrong, last, cycles, empty, deepest = (int(number) for number in found.groups())
    if not wrong or last != len(design.rows) - 1:
        raise DataError(f"{design.name}: a word that is wrong on purpose was not found")
    return wrong - 1, cycles, empty, deepest
