"""States in .npy files: read by ranges of rows into memory that is used again.

Nothing is mapped: a file that becomes shorter while it is read is then a sentence, not a signal,
and a copy from the page cache costs little: 1.4 ns a state of six words on a busy machine. Rows
lie one after the other, or columns do.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.arrayfile import read_npy
from boolcomp.base.errors import DataError
from boolcomp.base.files import regular_file
from boolcomp.scale.batch_parts import Found, as_type, engine_type, opened, stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

    from boolcomp.scale.batch_parts import Columns, Part

HEADER = 128  # bytes of what we write; long enough for any shape


def look(path: Path, columns: Columns) -> Found:
    """Return what a file holds; nothing but its header is read."""
    with regular_file(path) as file:
        rows = read_npy(file, str(path), columns.width)
        dtype = engine_type(str(path), [rows.kind])
        count = rows.shape[0]
        return Found(count, dtype, stamp_of(os.fstat(file.fileno())), range(1, count + 1))


def read(part: Part, columns: Columns, dtype: str, most: int) -> Iterator[NDArray[Any]]:
    """Yield the rows of a part, at most so many at a time; each time in the same memory."""
    width = columns.width
    with opened(part) as file:
        rows = read_npy(file, part.path, width)
        places = [place for _, place in rows.parts]
        across = width // len(places)  # numbers that lie side by side
        size = across * rows.kind.itemsize
        room = np.empty((len(places), most, across), rows.kind)
        for start in range(part.start, part.stop, most):
            count = min(most, part.stop - start)
            for k, place in enumerate(places):
                file.seek(place + start * size)
                _fill(file, room[k, :count], part.path)
            # Of columns that lie apart each is a table of one column.
            table = room[0, :count] if len(places) == 1 else room[:, :count, 0].T
            yield as_type(table, dtype, part.path)


def _fill(file: BinaryIO, rows: NDArray[Any], where: str) -> None:
    left = rows.data.cast("B")
    while left:
        count = file.readinto(left)  # type: ignore[attr-defined]  # a file that was opened has it
        if not count:
            raise DataError(f"{where}: became shorter while it was read, or is damaged")
        left = left[count:]


def header(rows: int, width: int, dtype: str) -> bytes:
    """Return the first bytes of a file that we write."""
    stream = io.BytesIO()
    kind = np.dtype(dtype).newbyteorder("<").str
    described = {"descr": kind, "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(stream, described)
    assert len(stream.getvalue()) == HEADER  # noqa: S101  # our own mistake otherwise
    return stream.getvalue()
