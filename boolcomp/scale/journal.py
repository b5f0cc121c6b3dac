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
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing, parse_json, suggestion
from boolcomp.base.files import PLAIN, sync_folder, whole_file
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


class Journal:
    """The journal of a run; `done` are the records of chunks, by their numbers."""

    def __init__(self, path: Path, run: Mapping[str, Any]) -> None:
        self.path, self.run = path, dict(run)
        self.done: dict[int, dict[str, Any]] = {}
        self._key = ""
        self._handle = -1

    def __enter__(self) -> Self:
        try:
            self._require_plain()
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | PLAIN, 0o644)
            self._require_file(os.fstat(self._handle).st_mode)
            self._lock()
            self._read()
        except OSError as error:
            self.close()
            raise DataError(f"{self.path}: cannot be written: {error.strerror}") from error
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_plain(self) -> None:
        """Refuse other kinds of files before they are opened (a pipe's reader would be woken)."""
        with contextlib.suppress(FileNotFoundError):
            self._require_file(self.path.lstat().st_mode)

    def _require_file(self, mode: int) -> None:
        """Refuse anything but a file, and links to folders, before removal."""
        if self.path.parent.is_symlink() or not stat.S_ISREG(mode):
            raise DataError(f"{self.path.parent}: holds no journal of a run: take it away")

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"{self.path.parent}: another run is at it: wait for its end, or end it"
            raise DataError(text) from None

    def _read(self) -> None:
        """Read what is there; what follows the last whole line is cut off."""
        head, end = _line(self.run, ""), 0
        self._key = head[:SEAL]
        with open(self._handle, "rb", closefd=False) as stream:
            for k, line in enumerate(iter(lambda: stream.readline(MOST_LINE), b"")):
                text = line.decode("utf-8", "replace")
                if k == 0:
                    self._check(text, head)
                else:
                    self._note(text)
                end = stream.tell() if text.endswith("\n") else end
        os.ftruncate(self._handle, end)
        os.lseek(self._handle, end, os.SEEK_SET)
        if end == 0:
            self._write(head)
            sync_folder(self.path.parent)

    def _check(self, text: str, head: str) -> None:
        if text == head or not text.endswith("\n"):
            return
        found = _parsed(text, "") or {}
        other = [name for name in self.run if found.get(name) != self.run[name]]
        what = f"other {listing(other)}" if found else "it cannot be read"
        raise DataError(
            f"{self.path.parent}: is of another run ({what}): take it away, or give the command "
            "that it is of"
        )

    def _note(self, text: str) -> None:
        record = _parsed(text, self._key)
        if record is not None:
            self.done[int(record["chunk"])] = record

    def add(self, record: dict[str, Any]) -> None:
        """Write down that a chunk is done."""
        self._write(_line(record, self._key))
        self.done[int(record["chunk"])] = record

    def restart(self) -> None:
        """Forget all chunks."""
        self.done.clear()
        os.ftruncate(self._handle, 0)
        os.lseek(self._handle, 0, os.SEEK_SET)
        self._write(_line(self.run, ""))

    @staticmethod
    def begun(path: Path) -> bool:
        """Tell whether an unlocked journal has finished chunks; True for unknown files."""
        try:
            handle = os.open(path, os.O_RDONLY | PLAIN)
        except FileNotFoundError:
            return False
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return True
            if fcntl is not None:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            head, more = stream.readline(MOST_LINE), stream.readline(1)
            return bool(more or (head and _parsed(head.decode("utf-8", "replace"), "") is None))

    def _write(self, line: str) -> None:
        try:
            left = line.encode()
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Let go of it."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


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


def create(target: ResultTarget) -> None:
    """Make the files that workers write to; .npy files reserve their space here."""
    place = Path(target.place)
    with telling(target):
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


@contextlib.contextmanager
def written(target: ResultTarget, files: Sequence[OutFile]) -> Iterator[Writer]:
    """Provide the writer of a chunk; its results are on the disk when the block ends.

    `files` are those of the chunk in a folder.
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
            rows = _Chunks(batch_files.to_write(Path(target.place)), target)
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

    def __init__(self, array: Any, target: ResultTarget) -> None:
        self.array, self.all = array, target.rows
        self.room = np.empty((batch_files.ROWS, target.results.width), target.dtype)
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

    def __init__(self, target: ResultTarget, files: Sequence[OutFile]) -> None:
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
        if not path.parent.is_dir():  # it was deleted: do not make it again
            raise DataError(f"{path.parent}: is not there any more")
        with whole_file(path) as stream:
            if target.form == PARQUET:
                with batch_files.written(stream, target.results, target.dtype) as write:
                    yield write
            else:
                yield self._npy(stream, file)

    def _npy(self, stream: BinaryIO, file: OutFile) -> Any:
        target = self.target
        rows = file.stop - file.start
        stream.write(batch_files.header(rows, target.results.width, target.dtype))
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
def telling(target: ResultTarget) -> Iterator[None]:
    """Make a sentence of what a system says about writing."""
    try:
        yield
    except OSError as error:
        text = error.strerror or type(error).__name__
        raise DataError(f"{target.name}: cannot be written: {text}") from error
