"""Targets of batch results (a file, a zarr array or a folder of files) and the journal of a run.

Results grow in the folder `OUT.unfinished` and are renamed when they are complete. Each worker
writes its own ranges of rows. Data are on the disk before their chunk counts as done.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from boolcomp.base.errors import DataError, listing, parse_json, unknown
from boolcomp.base.files import PLAIN, sync_folder, telling, whole_file
from boolcomp.scale import batch_files
from boolcomp.scale.batch_files import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    from boolcomp.scale.batch_files import TableColumns


# --------------------------------------------------------------------------------------------------
# The journal: a line with a checksum for each finished chunk.
#
# The first line identifies the run. A line is written when the results of its chunk are on the
# disk, so every complete line is true. Chunks of incomplete or damaged lines are repeated. One
# process at a time holds the lock of the journal.
# --------------------------------------------------------------------------------------------------


try:
    import fcntl
except ImportError:  # Windows: nothing is locked there
    fcntl = None  # type: ignore[assignment]

MOST_LINE = 1 << 16
SEAL = 16  # digits of a digest
OURS = {"journal", "output", "program"}  # files of a run


class Journal:
    """The journal of a run, in its folder; `done` are the records of chunks, by their numbers.

    The folder of a run that has done nothing is removed: there is nothing to go on with.
    """

    def __init__(self, path: Path, run: Mapping[str, Any]) -> None:
        self.path, self.done = path, dict[int, dict[str, Any]]()
        self._run = dict(run)
        self._head = _line(run, "")
        self._key, self._handle = self._head[:SEAL], -1

    def __enter__(self) -> Self:
        try:
            with telling(self.path):
                self._open()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        folder = self.path.parent
        with contextlib.suppress(OSError):
            if not self.done and {one.name for one in folder.iterdir()} <= OURS:
                shutil.rmtree(folder, ignore_errors=True)
        self._close()

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    def _open(self) -> None:
        with contextlib.suppress(FileNotFoundError):  # opening would wake a pipe's reader
            self._check_kind(self.path.lstat().st_mode)
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | PLAIN, 0o644)
        self._check_kind(os.fstat(self._handle).st_mode)
        try:
            if fcntl is not None:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = "another run uses this folder"
            raise DataError(text, "wait for its end, or end it", where=self.path.parent) from None
        with open(self._handle, "rb", closefd=False) as stream:
            first = stream.readline(MOST_LINE).decode("utf-8", "replace")
            if first == self._head:
                self._read(stream)
            elif not first.endswith("\n") or (_parsed(first, "") and not stream.read(1)):
                self.restart()  # of a run that was killed before its first chunk
            else:
                raise self._other(_parsed(first, ""))

    def _check_kind(self, mode: int) -> None:
        """Refuse anything but a file, and links to folders, before removal."""
        if self.path.parent.is_symlink() or not stat.S_ISREG(mode):
            raise DataError(
                "the folder holds no journal of a run", "remove it", where=self.path.parent
            )

    def _read(self, stream: BinaryIO) -> None:
        """Read the records; the text after the last whole line is cut off."""
        end = stream.tell()
        for line in iter(lambda: stream.readline(MOST_LINE), b""):
            record = _parsed(line.decode("utf-8", "replace"), self._key)
            if record is not None:
                self.done[int(record["chunk"])] = record
            end = stream.tell() if line.endswith(b"\n") else end
        os.ftruncate(self._handle, end)
        os.lseek(self._handle, end, os.SEEK_SET)

    def _other(self, found: Mapping[str, Any] | None) -> DataError:
        """Return the error for the journal of another run, or of none."""
        other = [name for name in self._run if found and found.get(name) != self._run[name]]
        what = f"other {listing(other)}" if found else "it cannot be read"
        return DataError(
            f"the folder belongs to another run ({what})",
            "remove it, or give the command that made it", where=self.path.parent,
        )  # fmt: skip

    def add(self, record: dict[str, Any]) -> None:
        """Write down that a chunk is done."""
        self._write(_line(record, self._key))
        self.done[int(record["chunk"])] = record

    def restart(self) -> None:
        """Forget all chunks."""
        self.done.clear()
        os.ftruncate(self._handle, 0)
        os.lseek(self._handle, 0, os.SEEK_SET)
        self._write(self._head)
        sync_folder(self.path.parent)

    def _write(self, line: str) -> None:
        left = line.encode()
        with telling(self.path):
            while left:
                left = left[os.write(self._handle, left) :]


def _line(record: Mapping[str, Any], key: str) -> str:
    body = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return f"{hashlib.sha256(f'{key}{body}'.encode()).hexdigest()[:SEAL]} {body}\n"


def _parsed(line: str, key: str) -> dict[str, Any] | None:
    """Return the chunk of a line; None if the line is damaged or of another run."""
    seal, _, body = line.partition(" ")
    if hashlib.sha256(f"{key}{body[:-1]}".encode()).hexdigest()[:SEAL] != seal:
        return None
    try:
        record = parse_json(body, "")
    except DataError:
        return None
    return record if isinstance(record, dict) else None


# --------------------------------------------------------------------------------------------------
# Where results of very many states go: a file, a zarr array, or a folder of files.
# --------------------------------------------------------------------------------------------------


NPY, ZARR, NPY_FOLDER, PARQUET = "npy", "zarr", "folder of npy", "folder of parquet"
SUFFIXES = {".npy": NPY, ".zarr": ZARR, ".parquet": PARQUET}
ENDINGS = {NPY_FOLDER: ".npy", PARQUET: ".parquet"}
_NO_ROOM_KEPT = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)  # by systems that cannot


@dataclass(frozen=True, slots=True)
class ResultTarget:
    """Results that grow at `place`, called `name` in messages, of type `dtype`."""

    form: str
    place: str
    name: str
    rows: int
    dtype: str
    results: TableColumns

    @property
    def row_bytes(self) -> int:
        return self.results.width * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class OutFile:
    """A file of a folder: its name without ending, and its rows."""

    name: str
    start: int
    stop: int


def form_for(path: Path, source: str) -> str:
    """Return the form of results by their name; a folder without an ending is like the source."""
    if path.suffix in SUFFIXES:
        return SUFFIXES[path.suffix]
    if path.suffix:
        raise unknown("ending", path.suffix, SUFFIXES, "or none for a folder of chunks")
    return PARQUET if source == ".parquet" else NPY_FOLDER


def create(target: ResultTarget) -> None:
    """Make the files that workers write to; .npy files reserve their space here."""
    place = Path(target.place)
    with telling(target.name):
        if target.form == ZARR:
            batch_files.create(place, target.rows, target.results, target.dtype)
        elif target.form != NPY:
            place.mkdir()
        else:
            with place.open("xb") as file:
                file.write(batch_files.header(target.rows, target.results.width, target.dtype))
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


def is_there(target: ResultTarget) -> bool:
    """Tell whether what workers write to is there, as far as one sees."""
    place = Path(target.place)
    if target.form == NPY:
        size = HEADER + target.rows * target.row_bytes
        return place.is_file() and place.stat().st_size == size
    if target.form == ZARR:
        return (place / batch_files.HEADS[0]).is_file()
    return place.is_dir()


def has(target: ResultTarget, file: OutFile) -> bool:
    return (Path(target.place) / f"{file.name}{ENDINGS[target.form]}").is_file()


def write_rows(
    target: ResultTarget, files: Sequence[OutFile], start: int, stop: int,
    results: Iterator[NDArray[Any]],
) -> None:  # fmt: skip
    """Write rows of a target, which are on the disk when this returns.

    `files` are those of the rows in a folder, each of which is whole or not there.
    """
    place, rows = Path(target.place), _Rows(results)
    with telling(target.name):
        if target.form == NPY:
            with os.fdopen(os.open(place, os.O_WRONLY | PLAIN), "wb") as stream:
                stream.seek(HEADER + start * target.row_bytes)
                _write(stream, target, rows.take(stop - start))
                stream.flush()
                os.fdatasync(stream.fileno())
        elif target.form == ZARR:
            array = batch_files.to_write(place)
            for first in range(start, stop, batch_files.ROWS):
                last = min(stop, first + batch_files.ROWS)
                array[first:last] = np.concatenate([*rows.take(last - first)])
        else:
            for file in files:
                _write_file(target, file, rows.take(file.stop - file.start))
            sync_folder(place)
        rows.end()


class _Rows:
    """Results in pieces, taken in other numbers of rows."""

    def __init__(self, results: Iterator[NDArray[Any]]) -> None:
        self._results, self._rest = results, np.empty((0, 0))

    def take(self, rows: int) -> Iterator[NDArray[Any]]:
        while rows:
            if not len(self._rest):
                self._rest = next(self._results)
            some, self._rest = self._rest[:rows], self._rest[rows:]
            rows -= len(some)
            yield some

    def end(self) -> None:
        """Let the results be checked to the last row."""
        next(self._results, None)


def _write(stream: BinaryIO, target: ResultTarget, rows: Iterator[NDArray[Any]]) -> None:
    kind = np.dtype(target.dtype).newbyteorder("<")
    stream.writelines(np.ascontiguousarray(values, kind).data for values in rows)


def _write_file(target: ResultTarget, file: OutFile, rows: Iterator[NDArray[Any]]) -> None:
    path = Path(target.place) / f"{file.name}{ENDINGS[target.form]}"
    if not path.parent.is_dir():  # it was deleted: do not make it again
        raise DataError("the folder does not exist any more", where=path.parent)
    with whole_file(path) as stream:
        if target.form == PARQUET:
            batch_files.write_parquet(stream, target.results, target.dtype, rows)
        else:
            count = file.stop - file.start
            stream.write(batch_files.header(count, target.results.width, target.dtype))
            _write(stream, target, rows)
