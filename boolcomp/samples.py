"""Files of states in, files of torques out: CSV, .npy, .npz, in constant memory.

Columns are q1..qn, qd1..qdn, qdd1..qddn. A CSV file names them in its first line, in any order; an
.npy file holds them in that order; an .npz file holds arrays q, qd and qdd of shape (samples, n).
Torques are tau1..taun. `-` is CSV on standard input or output.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.errors import DataError, UsageError, listing, suggestion
from boolcomp.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO, TextIO

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    State = tuple[Floats, Floats, Floats]

CHUNK = 1 << 16  # samples in memory at a time
SUFFIXES = (".csv", ".npy", ".npz")
STANDARD = Path("-")
NPY_HEADER = 128  # bytes; long enough for any shape we write


def column_names(joints: int) -> tuple[str, ...]:
    """Return q1..qn, qd1..qdn, qdd1..qddn."""
    return tuple(f"{kind}{k}" for kind in ("q", "qd", "qdd") for k in range(1, joints + 1))


@contextlib.contextmanager
def read_states(path: Path, joints: int) -> Iterator[tuple[Iterator[State], int | None]]:
    """Provide the states in chunks, and their number where the file tells it beforehand."""
    suffix = _suffix(path)
    if suffix == ".csv":
        with _text_input(path) as stream:
            yield _csv_chunks(stream, str(path), joints), None
        return
    arrays = _npy(path, joints) if suffix == ".npy" else _npz(path, joints)
    count = len(arrays[0])
    yield _array_chunks(arrays, count), count


def _suffix(path: Path) -> str:
    if path == STANDARD:
        return ".csv"
    if path.suffix not in SUFFIXES:
        raise UsageError(
            f"{path}: unknown kind of file{suggestion(path.suffix, SUFFIXES)}: "
            f"kinds are {listing(SUFFIXES)}, or - for CSV on standard input or output"
        )
    return path.suffix


@contextlib.contextmanager
def _text_input(path: Path) -> Iterator[TextIO]:
    if path == STANDARD:
        if sys.stdin is None:
            raise DataError("standard input is closed: name a file with -i")
        yield sys.stdin
        return
    try:
        stream = path.open(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    with stream:
        yield stream


def _csv_chunks(stream: TextIO, name: str, joints: int) -> Iterator[State]:
    try:
        first_line = stream.readline()
        if not first_line.strip():
            raise DataError(f"{name}: empty: the first line must name the columns")
        header = [cell.strip().strip('"') for cell in first_line.split(",")]
        order = _order(header, name, joints)
        first = 2
        while lines := list(itertools.islice(stream, CHUNK)):
            table = _numbers(lines, len(header), name, first)[:, order]
            first += len(lines)
            if len(table):
                yield table[:, :joints], table[:, joints : 2 * joints], table[:, 2 * joints :]
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: not UTF-8 text (byte {error.start})") from error


def _order(header: Sequence[str], name: str, joints: int) -> list[int]:
    """Return where the columns stand; errors name the extra, repeated and missing ones."""
    wanted = column_names(joints)
    for column in header:
        if column not in wanted:
            raise DataError(
                f"{name}:1: unknown column {column[:40]!r}{suggestion(column[:40], wanted)}: "
                f"columns are {wanted[0]} .. {wanted[-1]}"
            )
        if header.count(column) > 1:
            raise DataError(f"{name}:1: column {column!r} is given twice")
    missing = [column for column in wanted if column not in header]
    if missing:
        raise DataError(f"{name}:1: missing columns: {listing(missing)}")
    return [header.index(column) for column in wanted]


def _numbers(lines: list[str], width: int, name: str, first: int) -> Floats:
    """Return the numbers of CSV lines; blank lines are passed over."""
    kept = [line for line in lines if not line.isspace()]
    if not kept:
        return np.empty((0, width))
    try:
        table = np.loadtxt(kept, delimiter=",", ndmin=2, comments=None)
        if table.shape == (len(kept), width):
            return table
    except ValueError:
        pass
    for row, line in enumerate(lines, first):  # the slow way, to say which line is wrong
        cells = line.split(",")
        if line.isspace():
            continue
        if len(cells) != width:
            raise DataError(f"{name}:{row}: {len(cells)} values for {width} columns")
        for cell in cells:
            try:
                float(cell)
            except ValueError:
                raise DataError(f"{name}:{row}: {cell.strip()[:40]!r} is not a number") from None
    raise DataError(f"{name}:{first}: cannot be read as numbers")


def _load(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        if error.strerror:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from error
        raise DataError(f"{path}: not a numpy file: {error}") from error
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a numpy file: {error}") from error


def _npy(path: Path, joints: int) -> list[Any]:
    array = _load(path)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.shape[1] != 3 * joints:
        shape = getattr(array, "shape", "several arrays")
        raise DataError(f"{path}: shape {shape}: (samples, {3 * joints}) is needed")
    _check_kind(path, array)
    return [array[:, k * joints : (k + 1) * joints] for k in range(3)]


def _npz(path: Path, joints: int) -> list[Any]:
    archive = _load(path)
    if isinstance(archive, np.ndarray):
        raise DataError(f"{path}: one array; an .npz file with q, qd and qdd is needed")
    with archive, _whole_archive(path):
        wanted = ("q", "qd", "qdd")
        for key in archive.files:
            if key not in wanted:
                hint = suggestion(key, wanted)
                raise DataError(f"{path}: unknown array {key!r}{hint}: arrays are q, qd, qdd")
        missing = [key for key in wanted if key not in archive.files]
        if missing:
            raise DataError(f"{path}: missing arrays: {listing(missing)}")
        arrays = [archive[key] for key in wanted]
    for key, array in zip(wanted, arrays, strict=True):
        if array.ndim != 2 or array.shape != (len(arrays[0]), joints):
            raise DataError(
                f"{path}: {key} has shape {array.shape}: ({len(arrays[0])}, {joints}) is needed"
            )
        _check_kind(path, array)
    return arrays


@contextlib.contextmanager
def _whole_archive(path: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError) as error:
        raise DataError(f"{path}: the archive is damaged: {error}") from error


def _check_kind(path: Path, array: NDArray[Any]) -> None:
    if array.dtype.kind not in "fiu":
        raise DataError(f"{path}: holds {array.dtype}, not real numbers")


def _array_chunks(arrays: Sequence[Any], count: int) -> Iterator[State]:
    for start in range(0, count, CHUNK):
        q, qd, qdd = (np.asarray(a[start : start + CHUNK], dtype=np.float64) for a in arrays)
        yield q, qd, qdd


class Sink(Protocol):
    """Where torques go, chunk by chunk."""

    def write(self, torques: Floats) -> None:
        """Take (samples, joints) torques."""


@contextlib.contextmanager
def write_torques(path: Path, joints: int) -> Iterator[Sink]:
    """Provide a sink for torques; the file appears whole when the block ends well."""
    suffix = _suffix(path)
    names = [f"tau{k}" for k in range(1, joints + 1)]
    if path == STANDARD:
        if sys.stdout is None:
            raise DataError("standard output is closed: name a file with -o")
        yield _CsvSink(sys.stdout.buffer, names)
        return
    with whole_file(path) as stream:
        if suffix == ".csv":
            yield _CsvSink(stream, names)
            return
        sink = _NpySink(stream, joints)
        yield sink
        sink.finish()
        if suffix == ".npz":
            stream.seek(0)
            array = np.load(stream)
            packed = io.BytesIO()
            np.savez(packed, tau=array)
            stream.seek(0)
            stream.truncate()
            stream.write(packed.getbuffer())


class _CsvSink:
    """CSV with nine significant digits: a word of 32 bits has no more."""

    def __init__(self, stream: BinaryIO, names: Sequence[str]) -> None:
        self.stream = stream
        self.line = ",".join(["%.9g"] * len(names)) + "\n"
        stream.write((",".join(names) + "\n").encode())

    def write(self, torques: Floats) -> None:
        text = self.line * len(torques) % tuple(torques.ravel().tolist())
        self.stream.write(text.encode())


class _NpySink:
    """One float64 array; its header, which says how long it is, comes last."""

    def __init__(self, stream: BinaryIO, joints: int) -> None:
        self.stream, self.joints, self.count = stream, joints, 0
        stream.write(bytes(NPY_HEADER))

    def write(self, torques: Floats) -> None:
        self.count += len(torques)
        self.stream.write(np.ascontiguousarray(torques, dtype="<f8").tobytes())

    def finish(self) -> None:
        header = io.BytesIO()
        shape = (self.count, self.joints)
        described = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, described)
        assert len(header.getvalue()) == NPY_HEADER  # noqa: S101  # our own mistake otherwise
        self.stream.seek(0)
        self.stream.write(header.getvalue())
        self.stream.seek(0, io.SEEK_END)
