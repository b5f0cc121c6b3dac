"""Where results of very many states go: a file, a zarr array, or a folder of files.

They grow in a folder of their own, `OUT.unfinished`, and appear under their name when all are
there. Workers write ranges of rows that no other worker writes. What is written is on the disk
before a chunk counts as done.
"""

from __future__ import annotations

import contextlib
import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from boolcomp.base.files import PLAIN, sync_folder, whole_file
from boolcomp.common.errors import DataError, UsageError, listing, suggestion
from boolcomp.scale import npyfiles, parquetfiles, zarrays
from boolcomp.scale.npyfiles import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    from boolcomp.scale.batch_parts import Columns

NPY, ZARR, NPY_FOLDER, PARQUET = "npy", "zarr", "folder of npy", "folder of parquet"
SUFFIXES = {".npy": NPY, ".zarr": ZARR, ".parquet": PARQUET}
ENDINGS = {NPY_FOLDER: ".npy", PARQUET: ".parquet"}
_NO_ROOM_KEPT = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)  # by systems that cannot


@dataclass(frozen=True, slots=True)
class Target:
    """What grows at `place`, and is to be called `name` in messages; `dtype` is that of results."""

    form: str
    place: str
    name: str
    rows: int
    dtype: str
    results: Columns

    @property
    def row_bytes(self) -> int:
        """How many bytes a row takes."""
        return self.results.width * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class OutFile:
    """A file of a folder: its name without ending, and its rows."""

    name: str
    start: int
    stop: int


class Writer(Protocol):
    """Takes the results of one chunk, row after row."""

    def write(self, row: int, values: NDArray[Any]) -> None:
        """Take results, of which this is the first row's number."""


def form_for(path: Path, source: str) -> str:
    """Return the form of results by their name; a folder without an ending is like the source."""
    if path.suffix in SUFFIXES:
        return SUFFIXES[path.suffix]
    if path.suffix:
        raise UsageError(
            f"{path}: unknown kind of file{suggestion(path.suffix, SUFFIXES)}: kinds are "
            f"{listing(SUFFIXES)}, and without an ending a folder of chunks"
        )
    return PARQUET if source == ".parquet" else NPY_FOLDER


def create(target: Target) -> None:
    """Make what workers write to; a disk that is too small is heard of here, by .npy files."""
    place = Path(target.place)
    with telling(target):
        if target.form == ZARR:
            zarrays.create(place, target.rows, target.results, target.dtype)
        elif target.form != NPY:
            place.mkdir()
        else:
            with place.open("xb") as file:
                file.write(npyfiles.header(target.rows, target.results.width, target.dtype))
                file.flush()
                _take(file.fileno(), HEADER + target.rows * target.row_bytes)
                os.fsync(file.fileno())


def _take(handle: int, size: int) -> None:
    """Make a file so long; on a disk that has room for it, where the system can say so."""
    if hasattr(os, "posix_fallocate") and size > HEADER:
        try:
            os.posix_fallocate(handle, 0, size)
        except OSError as error:
            if error.errno not in _NO_ROOM_KEPT:
                raise
        else:
            return
    os.ftruncate(handle, size)


def is_there(target: Target) -> bool:
    """Tell whether what workers write to is there, as far as one sees."""
    place = Path(target.place)
    if target.form == NPY:
        size = HEADER + target.rows * target.row_bytes
        return place.is_file() and place.stat().st_size == size
    if target.form == ZARR:
        return (place / zarrays.HEADS[0]).is_file()
    return place.is_dir()


def has(target: Target, file: OutFile) -> bool:
    """Tell whether a file of a folder is there."""
    return (Path(target.place) / f"{file.name}{ENDINGS[target.form]}").is_file()


@contextlib.contextmanager
def written(target: Target, files: Sequence[OutFile]) -> Iterator[Writer]:
    """Provide what takes the results of a chunk, which are on the disk when the block has ended.

    Of a folder these `files` are the chunk's.
    """
    with telling(target):
        if target.form == NPY:
            handle = os.open(target.place, os.O_WRONLY | PLAIN)
            try:
                yield _Range(handle, target.row_bytes, target.dtype)
                os.fdatasync(handle)
            finally:
                os.close(handle)
        elif target.form == ZARR:
            rows = _Chunks(zarrays.to_write(Path(target.place)), target)
            yield rows
            rows.finish()
        else:
            with _Files(target, files) as sink:
                yield sink


class _Range:
    """Rows of an .npy file that has its length already."""

    def __init__(self, handle: int, row_bytes: int, dtype: str) -> None:
        self.handle, self.row_bytes = handle, row_bytes
        self.kind = np.dtype(dtype).newbyteorder("<")

    def write(self, row: int, values: NDArray[Any]) -> None:
        left = np.ascontiguousarray(values, self.kind).data.cast("B")
        place = HEADER + row * self.row_bytes
        while left:
            count = os.pwrite(self.handle, left, place)
            left, place = left[count:], place + count


class _Chunks:
    """Rows of a zarr array, set by whole chunks of it."""

    def __init__(self, array: Any, target: Target) -> None:
        self.array, self.all = array, target.rows
        self.room = np.empty((zarrays.ROWS, target.results.width), target.dtype)
        self.start = self.count = 0

    def write(self, row: int, values: NDArray[Any]) -> None:
        while len(values):
            if not self.count:
                self.start = row
            taken = min(len(values), len(self.room) - self.count)
            self.room[self.count : self.count + taken] = values[:taken]
            self.count += taken
            row, values = row + taken, values[taken:]
            if self.count == len(self.room):
                self.finish()

    def finish(self) -> None:
        if self.count:
            self.array[self.start : self.start + self.count] = self.room[: self.count]
            self.count = 0


class _Files:
    """Files of a folder, one after the other, each whole or not there."""

    def __init__(self, target: Target, files: Sequence[OutFile]) -> None:
        self.target, self.left = target, list(files)
        self.kind = np.dtype(target.dtype).newbyteorder("<")
        self.opened = contextlib.ExitStack()
        self.take: Any = None

    def __enter__(self) -> Self:
        self._next()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:  # noqa: PYI036 (handed on)
        self.opened.__exit__(kind, *rest)
        if kind is None:
            sync_folder(Path(self.target.place))

    def _next(self) -> None:
        """Begin the first of the files that are left; those without rows are at once whole."""
        self.opened.close()
        while self.left:
            file = self.left[0]
            self.take = self.opened.enter_context(self._file(file))
            if file.start < file.stop:
                return
            self.opened.close()
            del self.left[0]

    @contextlib.contextmanager
    def _file(self, file: OutFile) -> Iterator[Any]:
        target = self.target
        path = Path(target.place) / f"{file.name}{ENDINGS[target.form]}"
        if not path.parent.is_dir():  # somebody took it away: it is not to come again
            raise DataError(f"{path.parent}: is not there any more")
        with whole_file(path) as stream:
            if target.form == PARQUET:
                with parquetfiles.written(stream, target.results, target.dtype) as write:
                    yield write
            else:
                yield self._npy(stream, file)

    def _npy(self, stream: BinaryIO, file: OutFile) -> Any:
        target = self.target
        rows = file.stop - file.start
        stream.write(npyfiles.header(rows, target.results.width, target.dtype))
        return lambda values: stream.write(np.ascontiguousarray(values, self.kind).data)

    def write(self, row: int, values: NDArray[Any]) -> None:
        while len(values):
            file = self.left[0]
            count = min(len(values), file.stop - row)
            self.take(values[:count])
            row, values = row + count, values[count:]
            if row == file.stop:
                del self.left[0]
                self._next()


@contextlib.contextmanager
def telling(target: Target) -> Iterator[None]:
    """Make a sentence of what a system says about writing."""
    try:
        yield
    except OSError as error:
        text = error.strerror or type(error).__name__
        raise DataError(f"{target.name}: cannot be written: {text}") from error
