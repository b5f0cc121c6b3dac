"""Files of states and of results: CSV, .npy and .npz, in constant memory.

Columns are the inputs of a problem, such as q1..qn, qd1..qdn, qdd1..qddn. A CSV file names them in
its first line, in any order; an .npy file has them in that order. An .npz file has an array of
shape (samples, members) for every group, such as q, qd and qdd. Results are named likewise: tau1..
or an array tau. `-`, a device or a pipe is CSV. A CSV file may have a column of times, t or time;
it is copied to the first column of a CSV file of results. Quoted fields may hold commas and doubled
quotes, but no line ends.
"""

from __future__ import annotations

import contextlib
import io
import re
import struct
import sys
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0

from boolcomp.base.errors import (
    DataError,
    cells_of,
    listing,
    other_separator,
    shown,
    suggestion,
    unclosed,
    unknown,
    unquoted,
    warn,
)
from boolcomp.base.files import is_stream, output_file, regular_file, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import IO, BinaryIO, TextIO

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Group

    Floats = NDArray[np.float64]

CHUNK = 1 << 16  # samples in memory at a time
LETTERS = 1 << 22  # of CSV in memory at a time
LONGEST_LINE = 1 << 20
TIMES = ("t", "time")  # in capitals too
SUFFIXES = (".csv", ".npy", ".npz")
STANDARD = Path("-")
NPY_HEADER = 128  # bytes; enough for every shape


def column_names(groups: Sequence[Group]) -> tuple[str, ...]:
    return tuple(name for group in groups for name in group.members)


class Times(NamedTuple):
    """The name of a column of times and its texts."""

    name: str
    texts: list[str]


class StateChunk(NamedTuple):
    """Samples, an array for every group, and their times, if any."""

    arrays: tuple[Floats, ...]
    times: Times | None = None


@contextlib.contextmanager
def read_states(
    path: Path, groups: Sequence[Group]
) -> Iterator[tuple[Iterator[StateChunk], int | None]]:
    """Provide the states in chunks, and their number, if the file states it.

    A value that is NaN or infinite raises a `DataError` that names its sample.
    """
    suffix = _suffix(path)
    if suffix == ".csv":
        with _text_input(path) as stream:
            yield _csv_chunks(stream, str(path), groups), None
        return
    with regular_file(path) as file:
        if suffix == ".npy":
            array = read_npy(file, str(path), len(column_names(groups)))
            yield _array_chunks([array], str(path), groups), array.shape[0]
            return
        with read_npz(file, path, {group.name: group.size for group in groups}) as arrays:
            yield _array_chunks(arrays, str(path), groups), arrays[0].shape[0]


def _suffix(path: Path) -> str:
    if path == STANDARD:
        return ".csv"
    if path.suffix not in SUFFIXES:
        if is_stream(path):
            return ".csv"
        more = "or - for CSV on standard input or output (programs: .zarr and .parquet, too)"
        raise unknown("ending", path.suffix, SUFFIXES, more)
    return path.suffix


@contextlib.contextmanager
def _text_input(path: Path) -> Iterator[TextIO]:
    if path == STANDARD:
        if sys.stdin is None:
            raise DataError("standard input is closed", "name a file with -i")
        yield sys.stdin
        return
    try:
        stream = path.open(encoding="utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from error
    with stream:
        yield stream


def _csv_chunks(stream: TextIO, name: str, groups: Sequence[Group]) -> Iterator[StateChunk]:
    line, wanted = 1, column_names(groups)
    try:
        first_line = stream.readline(LONGEST_LINE)
        if not first_line.strip():
            raise DataError("empty", "the first line must name the columns", where=name)
        if len(first_line) == LONGEST_LINE:
            raise _too_long(name, line)
        _check_quotes([first_line], name, line)
        if other := other_separator(first_line):
            raise DataError(f"columns are separated by {other}", "use commas", where=f"{name}:1")
        header = [unquoted(cell) for cell in cells_of(first_line)]
        place = next((k for k, cell in enumerate(header) if _is_time(cell, wanted)), None)
        times = None if place is None else Times(header.pop(place), [])
        order = _order(header, name, wanted)
        line, done = 2, 0
        for lines, quotes in _lines(stream, name, line):
            if quotes:
                _check_quotes(lines, name, line)
            kept = [text for text in lines if text and not text.isspace()]
            if place is not None and times is not None:
                kept, texts = _without_times(kept, place, quotes=quotes)
                times = Times(times.name, texts)
            table = _numbers(kept, len(header))
            if table is None:
                raise _mistake(lines, place, len(header), f"{name}", line)
            table = table[:, order]
            _check_finite(table, name, done, wanted)
            line += len(lines)
            done += len(table)
            yield _state(table, groups, times)
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text, in line {line} or after it", where=name) from error


def _lines(stream: TextIO, name: str, line: int) -> Iterator[tuple[list[str], bool]]:
    """Yield bounded chunks of lines without their ends, and whether they may contain quotes."""
    rest = ""
    while text := stream.read(LETTERS):
        text = rest + text
        quotes = '"' in text
        lines = text.split("\n")
        rest = lines.pop()
        if len(rest) > LONGEST_LINE:
            raise _too_long(name, line + len(lines))
        for start in range(0, len(lines), CHUNK):
            yield lines[start : start + CHUNK], quotes
        line += len(lines)
    if rest:
        yield [rest], '"' in rest


def _too_long(name: str, line: int) -> DataError:
    return DataError(
        f"longer than {LONGEST_LINE} characters", "is this a CSV file?", where=f"{name}:{line}"
    )


def _state(table: Floats, groups: Sequence[Group], times: Times | None = None) -> StateChunk:
    ends = np.cumsum([group.size for group in groups])[:-1]
    return StateChunk(tuple(np.split(table, ends, axis=1)), times)


def _is_time(column: str, wanted: Sequence[str]) -> bool:
    return column.lower() in TIMES and column not in wanted


def _check_quotes(lines: list[str], name: str, first: int) -> None:
    """Refuse a line that ends inside quotes."""
    for row, line in enumerate(lines, first):
        if '"' in line and unclosed(line):
            raise DataError(
                "the line ends inside quotes", "quoted text must end there", where=f"{name}:{row}"
            )


def _order(header: Sequence[str], name: str, wanted: Sequence[str]) -> list[int]:
    """Return the indices of the columns; errors name extra, repeated and missing ones."""
    for column in header:
        if _is_time(column, wanted):
            raise DataError(
                "two columns of times", f"give one of {listing(TIMES)}", where=f"{name}:1"
            )
        if column not in wanted:
            raise DataError(
                f"unknown column {shown(column)}",
                f"{suggestion(column, wanted)}columns are {wanted[0]} .. {wanted[-1]}, and t or "
                "time", where=f"{name}:1",
            )  # fmt: skip
        if header.count(column) > 1:
            raise DataError(f"column {column!r} is given twice", where=f"{name}:1")
    missing = [column for column in wanted if column not in header]
    if missing:
        raise DataError(f"missing columns {listing(missing)}", where=f"{name}:1")
    return [header.index(column) for column in wanted]


def _without_times(lines: list[str], place: int, *, quotes: bool) -> tuple[list[str], list[str]]:
    """Return the lines without the column of times, and that column's texts."""
    if place == 0 and not quotes:
        halves = [line.partition(",") for line in lines]
        return [rest for _, _, rest in halves], [time.strip() for time, _, _ in halves]
    cells = [cells_of(line) if quotes else line.split(",", place + 1) for line in lines]
    texts = [row.pop(place).strip() if len(row) > place else "" for row in cells]
    return [",".join(row) for row in cells], texts


def _numbers(lines: list[str], width: int) -> Floats | None:
    """Return the numbers of CSV lines without blank ones, or None if some are not numbers."""
    if not lines:
        return np.empty((0, width))
    if not all(lines):  # a line with a time only
        return None
    try:
        table = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None)
    except ValueError:
        # The slow way, for quoted cells; _mistake makes the message for other text.
        rows = [[_number(cell) for cell in cells_of(line)] for line in lines]
        if any(len(row) != width or None in row for row in rows):
            return None
        table = np.array(rows, dtype=np.float64)
    return table if table.shape == (len(lines), width) else None


def _number(cell: str) -> float | None:
    text = unquoted(cell)
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _mistake(lines: list[str], place: int | None, width: int, name: str, first: int) -> DataError:
    """Return an error that describes the first invalid line."""
    for row, line in enumerate(lines, first):
        cells = cells_of(line)
        if not line.strip():
            continue
        columns = width if place is None else width + 1
        if len(cells) != columns:
            other = other_separator(line)
            hint = f"separate values by commas, not by {other}" if other else ""
            return DataError(
                f"{len(cells)} values for {columns} columns", hint, where=f"{name}:{row}"
            )
        for k, cell in enumerate(cells):
            if k != place and _number(cell) is None:
                return DataError(f"{shown(cell.strip())} is not a number", where=f"{name}:{row}")
    return DataError("cannot be read as numbers", where=f"{name}:{first}")


def _array_chunks(
    arrays: Sequence[Rows], name: str, groups: Sequence[Group]
) -> Iterator[StateChunk]:
    done, names = 0, column_names(groups)
    for pieces in zip(*(array.pieces(CHUNK) for array in arrays), strict=True):
        with np.errstate(over="ignore", invalid="ignore"):  # reported by _check_finite
            parts = [piece.astype(np.float64, copy=False) for piece in pieces]
        table = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        _check_finite(table, name, done, names)
        done += len(table)
        yield _state(table, groups)


def _check_finite(table: Floats, name: str, before: int, names: Sequence[str]) -> None:
    """Raise for the first value that is not finite, naming its sample."""
    if np.isfinite(table).all():
        return
    row, column = (int(k) for k in np.argwhere(~np.isfinite(table))[0])
    raise DataError(
        f"{names[column]} of sample {before + row} is {table[row, column]}, not finite", where=name
    )


class Sink(Protocol):
    """A destination of results, which are written chunk by chunk."""

    def write(self, values: Floats, times: Times | None = None) -> None:
        """Write (samples, outputs) results, and their times, which all calls have or none."""


@contextlib.contextmanager
def write_results(path: Path, returned: Group) -> Iterator[Sink]:
    """Provide a sink for results; a file appears only when the block ends without error."""
    suffix, names = _suffix(path), returned.members
    if path == STANDARD:
        if sys.stdout is None:
            raise DataError("standard output is closed", "name a file with -o")
        sink: _CsvSink | _NpySink = _CsvSink(sys.stdout.buffer, names)
        yield sink
        sink.finish()
        return
    with output_file(path) as stream:
        sink = _CsvSink(stream, names) if suffix == ".csv" else _NpySink(stream, returned.size)
        yield sink
        sink.finish()
        if suffix == ".npz":
            stream.seek(0)
            array = np.load(stream)
            packed = io.BytesIO()
            np.savez(packed, **{returned.name: array})
            stream.seek(0)
            stream.truncate()
            stream.write(packed.getbuffer())


class _CsvSink:
    """CSV with nine significant digits: a word of 32 bits has no more."""

    def __init__(self, stream: BinaryIO, names: Sequence[str]) -> None:
        self.stream, self.names, self.started = stream, names, False
        self.line = ",".join(["%.9g"] * len(names)) + "\n"

    def _start(self, times: Times | None) -> None:
        names = self.names if times is None else (times.name, *self.names)
        self.stream.write((",".join(names) + "\n").encode())
        self.started = True

    def write(self, values: Floats, times: Times | None = None) -> None:
        if not self.started:
            self._start(times)
        text = self.line * len(values) % tuple(values.ravel().tolist())
        if times is not None:
            lines = zip(times.texts, text.split("\n"), strict=False)  # the last one is empty
            text = "".join([f"{time},{line}\n" for time, line in lines])
        self.stream.write(text.encode("utf-8", "surrogateescape"))

    def finish(self) -> None:
        if not self.started:
            self._start(None)


class _NpySink:
    """One float64 array; its header, which contains the length, is written last."""

    def __init__(self, stream: BinaryIO, outputs: int) -> None:
        self.stream, self.outputs, self.count = stream, outputs, 0
        stream.write(bytes(NPY_HEADER))

    def write(self, values: Floats, times: Times | None = None) -> None:
        if times is not None and not self.count:
            text = f"the column {times.name} is left out: only CSV keeps it"
            warn(text)
        self.count += len(values)
        self.stream.write(np.ascontiguousarray(values, dtype="<f8").tobytes())

    def finish(self) -> None:
        header = io.BytesIO()
        shape = (self.count, self.outputs)
        described = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, described)
        assert len(header.getvalue()) == NPY_HEADER  # noqa: S101  # an invariant
        self.stream.seek(0)
        self.stream.write(header.getvalue())
        self.stream.seek(0, io.SEEK_END)


# --------------------------------------------------------------------------------------------------
# Arrays of .npy files and .npz archives, read row by row without memory maps and pickle.
#
# Only the rows of a piece are allocated, whatever a header states. A file that becomes shorter
# while it is read raises a DataError.
# --------------------------------------------------------------------------------------------------

MAGIC, ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"
MOST_HEADER = 10_000  # characters, the limit of numpy
_LONG = re.compile(rb"(?<=\d)L\b")  # numbers as Python 2 wrote them, which numpy warns about
MOST_MEMBERS = 1000  # of an archive, which needs three
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, KeyError, IndexError,
    NotImplementedError, RuntimeError, OverflowError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rows:
    """A two-dimensional array in a file, which is read from its first row to its last.

    Each part is a stream and the offset of its first row: one part in row-major order, one part
    per column in column-major order.
    """

    where: str
    kind: np.dtype[Any]
    shape: tuple[int, ...]
    parts: tuple[tuple[IO[bytes], int], ...]

    def pieces(self, rows: int) -> Iterator[NDArray[Any]]:
        """Yield the array in pieces of `rows` rows; the last may have fewer."""
        width = self.shape[1] if len(self.parts) == 1 else 1
        places = [place for _, place in self.parts]
        for start in range(0, self.shape[0], rows):
            count = min(rows, self.shape[0] - start) * width
            columns = []
            for k, (stream, _) in enumerate(self.parts):
                stream.seek(places[k])
                columns.append(self._read(stream, count))
                places[k] += count * self.kind.itemsize
            if start + rows >= self.shape[0]:
                with _undamaged(self.where):
                    self.parts[-1][0].read(1)  # the end of an archive's member checks its checksum
            yield columns[0].reshape(-1, width) if len(columns) == 1 else np.stack(columns, axis=1)

    def _read(self, stream: IO[bytes], count: int) -> NDArray[Any]:
        size = count * self.kind.itemsize
        with _undamaged(self.where):
            data = stream.read(size)
        if len(data) != size:
            raise DataError("became shorter while it was read, or is damaged", where=self.where)
        return np.frombuffer(data, self.kind)


def read_npy(stream: BinaryIO, where: str, width: int) -> Rows:
    """Return the array of an .npy file, which must have `width` columns."""
    size = stream.seek(0, 2)
    stream.seek(0)
    rows, start = _header(stream, where, size, width)
    return replace(rows, parts=tuple((stream, place) for place in _places(rows, start)))


@contextlib.contextmanager
def read_npz(stream: BinaryIO, path: Path, widths: Mapping[str, int]) -> Iterator[list[Rows]]:
    """Provide the arrays of an .npz file with these names and widths, and no others.

    All arrays must have the same number of rows.
    """
    names = list(widths)
    head = stream.read(200)
    if head.startswith(MAGIC):
        raise DataError(
            "there is one array only", f"an .npz file with {listing(names)} is needed", where=path
        )
    if not head.startswith(ARCHIVE[:2]):
        raise DataError("not a numpy file", _looks_like(head), where=path)
    with contextlib.ExitStack() as opened:
        with _undamaged(str(path)):
            archive = opened.enter_context(zipfile.ZipFile(stream))
        members = _members(archive, path, names)
        arrays = []
        for name, width in widths.items():
            arrays.append(_member(opened, archive, members[name], f"{path}: {name}", width))
            needed = (arrays[0].shape[0], width)
            if arrays[-1].shape != needed:
                shapes = f"{_shape(arrays[-1].shape)}: {_shape(needed)}"
                raise DataError(
                    f"{name} has shape {shapes} is needed, as {names[0]} has", where=path
                )
        yield arrays


def _members(
    archive: zipfile.ZipFile, path: Path, names: Sequence[str]
) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name; each name must occur once, and no others."""
    found: dict[str, zipfile.ZipInfo] = {}
    if len(archive.infolist()) > MOST_MEMBERS:
        raise DataError(
            f"{len(archive.infolist())} arrays", f"arrays are {listing(names)}", where=path
        )
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in names:
            hint = suggestion(name, names)
            raise DataError(
                f"unknown array {shown(name)}", f"{hint}arrays are {', '.join(names)}", where=path
            )
        if name in found:
            raise DataError(f"holds {name} twice", where=path)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"{name} is compressed in a way that numpy does not write", where=path)
        found[name] = member
    missing = [name for name in names if name not in found]
    if missing:
        raise DataError(f"missing arrays {listing(missing)}", where=path)
    return found


def _member(
    opened: contextlib.ExitStack,
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    where: str,
    width: int,
) -> Rows:
    """Return the array of a member, with a stream for each part."""

    def stream() -> IO[bytes]:
        with _undamaged(where):
            return opened.enter_context(archive.open(member))

    first = stream()
    with _undamaged(where):
        rows, start = _header(first, where, member.file_size, width)
    places = _places(rows, start)
    return replace(rows, parts=((first, places[0]), *((stream(), at) for at in places[1:])))


def _header(stream: IO[bytes], where: str, size: int, width: int) -> tuple[Rows, int]:
    """Return an array's kind and shape, and the offset of its numbers in a file of `size` bytes."""
    head = stream.read(8)
    if head[:6] != MAGIC or head[6:7] not in (b"\1", b"\2", b"\3"):
        raise DataError("not a numpy file", _looks_like(head + stream.read(200)), where=where)
    digits, read = (2, read_array_header_1_0) if head[6] == 1 else (4, read_array_header_2_0)
    text = stream.read(digits)
    length = int.from_bytes(text, "little")
    if length <= MOST_HEADER:
        text += stream.read(length)
    try:
        shape, fortran, kind = read(io.BytesIO(_LONG.sub(b" ", text)))
        damaged = not all(type(k) is int and k >= 0 for k in shape)
    except Exception:  # noqa: BLE001 (numpy's readers raise errors of many types)
        damaged = True
    if damaged:
        raise DataError("not a numpy file, or its header is damaged", where=where)
    if kind.kind not in "fiu":
        name = "objects or records" if kind.kind in "OV" else kind.name
        raise DataError(f"holds {name}, not real numbers", where=where)
    if len(shape) != 2 or shape[1] != width:
        raise DataError(
            f"shape {_shape(shape)}", f"shape (samples, {width}) is needed", where=where
        )
    start = len(head) + len(text)
    needed, left = shape[0] * width * kind.itemsize, size - start
    if needed > left:
        raise DataError(
            f"damaged, because shape {_shape(shape)} takes {shown(needed)} bytes, and there are "
            f"{left}", where=where,
        )  # fmt: skip
    return Rows(where, kind, shape, ((stream, 0),) * (width if fortran else 1)), start


def _places(rows: Rows, start: int) -> list[int]:
    return [start + k * rows.shape[0] * rows.kind.itemsize for k in range(len(rows.parts))]


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(shown(k) for k in shape[:4])}{', …' if len(shape) > 4 else ''})"


def _looks_like(head: bytes) -> str:
    """Return a hint about the format of an unsupported file, or an empty text."""
    if head.startswith(ARCHIVE):
        return "it looks like an archive: name it .npz"
    first = head.split(b"\n")[0].removeprefix(b"\xef\xbb\xbf").strip()
    if b"," in first and all(32 <= letter < 127 for letter in first):
        return "it looks like CSV: name it .csv"
    return "" if head else "it is empty"


@contextlib.contextmanager
def _undamaged(where: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise DataError(f"damaged, or not a numpy file: {error}", where=where) from error
