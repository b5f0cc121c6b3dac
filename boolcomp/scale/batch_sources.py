"""Which files are meant: one, a zarr array, or a folder of chunks; and how their rows are read."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import DataError, UsageError, listing, suggestion
from boolcomp.scale import npyfiles, parquetfiles, zarrays
from boolcomp.scale.batch_parts import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.scale.batch_parts import Columns, Part

FORMS = {".npy": npyfiles, ".parquet": parquetfiles, ".zarr": zarrays}
_DIGITS = re.compile(r"(\d+)")


def form_of(path: Path) -> str | None:
    """Return which form a source has by its name, or by what a folder holds; None for others."""
    if path.is_dir():
        if zarrays.is_zarr(path):
            return ".zarr"
        ends = {Path(name).suffix for name in _names(path)}
        found = [form for form in FORMS if form in ends]
        return found[0] if found else None
    return path.suffix if path.suffix in (".npy", ".parquet") else None


def find_source(path: Path, columns: Columns) -> Source:
    """Return what there is to be read; what no part of it can be is a sentence with its name."""
    form = form_of(path)
    if form is None:
        if path.is_dir():
            raise DataError(f"{path}: neither a zarr array nor a folder of .npy or .parquet files")
        raise UsageError(
            f"{path}: unknown kind of file{suggestion(path.suffix, FORMS)}: kinds are "
            f"{listing(FORMS)}, or a folder of such"
        )
    folder = path.is_dir() and form != ".zarr"
    where = Path(os.path.abspath(path))  # noqa: PTH100 (links stay: a name is told from a file)
    paths = _chunks(where, form) if folder else [where]
    files = tuple((str(one), FORMS[form].look(one, columns)) for one in paths)
    source = Source(path, form, folder, files)
    for name, found in files:
        if found.dtype != source.dtype:
            raise DataError(f"{name}: holds {found.dtype}, and {files[0][0]} {source.dtype}")
    return source


def read_part(part: Part, columns: Columns, dtype: str, most: int) -> Iterator[NDArray[Any]]:
    """Yield the rows of a part, in pieces of about so many at most, in memory used again."""
    form: Any = FORMS[part.form]  # a module
    yield from form.read(part, columns, dtype, most)


def _chunks(folder: Path, form: str) -> list[Path]:
    """Return the files of a folder, by the numbers in their names: 2 comes before 10."""
    names = _names(folder)
    other = [name for name in names if Path(name).suffix != form]
    if other:
        raise DataError(f"{folder / other[0]}: not a {form} file, as the others of this folder are")
    return [folder / name for name in sorted(names, key=_natural)]


def _names(folder: Path) -> Sequence[str]:
    """Return the names of files; those that begin with . or _ are none of the table."""
    try:
        return sorted(one.name for one in folder.iterdir() if one.name[0] not in "._")
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror}") from error


def _natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """Return what names are ordered by; equal numbers written otherwise do not change it."""
    parts = _DIGITS.split(name)
    key = [(1, int(x), "") if x.isdigit() else (0, 0, x) for x in parts]
    return key, name
