"""Exports as files on disk, each whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.files import is_file, is_stream, outputs
from boolcomp.common.errors import UsageError, listing, require_name, spelled
from boolcomp.targets import LEVELS, WRITERS, Options, writer
from boolcomp.targets import export_texts as texts_of

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets import Files


@spelled
def export(
    program: Program,
    target: str,
    path: str | Path,
    *,
    load: float | None = None,
    level: Any = None,
    pipeline: int = 0,
    luts: int = 0,
    test_bench: bool = False,
    cocotb: bool = False,
) -> list[Path]:
    """Write a program for other tools, and return the files that were written.

    `path` is a file where it has the target's ending, else a folder; the other choices are those of
    the command `boolcomp export`.
    """
    options = Options(checked_level(level), pipeline, test_bench, luts, cocotb)
    return write_files(texts_of(program, target, load, options), Path(path), writer(target).ending)


def checked_level(level: Any) -> Any:
    """Return a level, or None; what is none is a `UsageError`."""
    if level is not None:
        require_name("level", str(level), LEVELS)
    return level


def write_files(files: Files, output: Path, ending: str) -> list[Path]:
    """Write files to their places, and return where they are."""
    places = {name: output / name for name in files}
    others = {one.ending for one in WRITERS.values()} - {ending}
    if output.suffix in others:
        raise UsageError(f"{output.name} is named as another target's file: give one in {ending}")
    a_file = output.suffix == ending or is_file(output) or is_stream(output)
    if len(files) == 1 and a_file:
        places = dict.fromkeys(files, output)
    elif output.suffix == ending and not is_stream(output):  # the first is meant, others go beside
        places = {name: output.parent / name for name in files}
        places[next(iter(files))] = output
        if len(set(places.values())) < len(places):
            raise UsageError(f"{output.name} is the name of another file of these: give another")
    elif a_file:
        raise UsageError(f"there are several files ({listing(files)}): give a folder")
    with outputs() as put:
        for name, content in files.items():
            put(places[name], content)
    return list(places.values())
