"""Files of states in, files of results out: CSV, .npy, .npz, in constant memory.

Columns are the inputs of a problem, such as q1..qn, qd1..qdn, qdd1..qddn. A CSV file names them in
its first line, in any order; an .npy file holds them in that order; an .npz file holds an array of
shape (samples, members) for every group, such as q, qd and qdd. Results are named likewise: tau1..
or an array tau. `-` is CSV on standard input or output; a device or a pipe is CSV, too. A CSV file
may have a column of times, t or time, in front or anywhere: it comes first in a CSV file of
results, letter by letter.
Fields may be quoted; what is quoted holds commas and doubled quotes, but no end of a line.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from boolcomp.base.arrayfile import read_npy, read_npz
from boolcomp.base.errors import (
    DataError,
    DataWarning,
    UsageError,
    cells_of,
    listing,
    other_separator,
    shown,
    suggestion,
    unclosed,
    unquoted,
)
from boolcomp.base.files import is_stream, output_file, regular_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO, TextIO

    from numpy.typing import NDArray

    from boolcomp.base.arrayfile import Rows
    from boolcomp.problem.problem import Group

    Floats = NDArray[np.float64]

CHUNK = 1 << 16  # samples in memory at a time
LETTERS = 1 << 22  # of CSV in memory at a time
LONGEST_LINE = 1 << 20
TIMES = ("t", "time")  # in capitals too
SUFFIXES = (".csv", ".npy", ".npz")
STANDARD = Path("-")
NPY_HEADER = 128  # bytes; long enough for any shape we write


def column_names(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return the names of all inputs, in order: q1, q2, qd1 and so on."""
    return tuple(name for group in groups for name in group.members)


class Times(NamedTuple):
    """The texts of a column of times, and what it is called."""

    name: str
    texts: list[str]


class StateChunk(NamedTuple):
    """Samples, an array for every group, and their times where the file has any."""

    arrays: tuple[Floats, ...]
    times: Times | None = None


@contextlib.contextmanager
def read_states(
    path: Path, groups: Sequence[Group]
) -> Iterator[tuple[Iterator[StateChunk], int | None]]:
    """Provide the states in chunks, and their number where the file tells it beforehand.

    A value that is NaN or infinite is a `DataError` that names its sample.
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
        raise UsageError(
            f"{path}: unknown kind of file{suggestion(path.suffix, SUFFIXES)}: "
            f"kinds are {listing(SUFFIXES)}, or - for CSV on standard input or output; programs "
            "take .zarr, .parquet and folders of chunks, too"
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


def _csv_chunks(stream: TextIO, name: str, groups: Sequence[Group]) -> Iterator[StateChunk]:
    line, wanted = 1, column_names(groups)
    try:
        first_line = stream.readline(LONGEST_LINE)
        if not first_line.strip():
            raise DataError(f"{name}: empty: the first line must name the columns")
        if len(first_line) == LONGEST_LINE:
            raise _too_long(name, line)
        _check_quotes([first_line], name, line)
        if other := other_separator(first_line):
            raise DataError(f"{name}:1: columns are separated by commas here, not by {other}")
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
        raise DataError(f"{name}: not UTF-8 text, in line {line} or after it") from error


def _lines(stream: TextIO, name: str, line: int) -> Iterator[tuple[list[str], bool]]:
    """Yield lines without their ends, as many at a time as a bounded number of letters has.

    With them comes whether there are quotes in them or near.
    """
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
    return DataError(f"{name}:{line}: longer than {LONGEST_LINE} letters: is this a CSV file?")


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
                f"{name}:{row}: the line ends inside quotes: what is quoted is read within one line"
            )


def _order(header: Sequence[str], name: str, wanted: Sequence[str]) -> list[int]:
    """Return where the columns stand; errors name the extra, repeated and missing ones."""
    for column in header:
        if _is_time(column, wanted):
            raise DataError(f"{name}:1: two columns of times: give one of {listing(TIMES)}")
        if column not in wanted:
            raise DataError(
                f"{name}:1: unknown column {shown(column)}{suggestion(column, wanted)}: "
                f"columns are {wanted[0]} .. {wanted[-1]}, and t or time"
            )
        if header.count(column) > 1:
            raise DataError(f"{name}:1: column {column!r} is given twice")
    missing = [column for column in wanted if column not in header]
    if missing:
        raise DataError(f"{name}:1: missing columns: {listing(missing)}")
    return [header.index(column) for column in wanted]


def _without_times(lines: list[str], place: int, *, quotes: bool) -> tuple[list[str], list[str]]:
    """Return the lines without the column of times, and that column as it stands."""
    if place == 0 and not quotes:
        parted = [line.partition(",") for line in lines]
        return [rest for _, _, rest in parted], [time.strip() for time, _, _ in parted]
    cells = [cells_of(line) if quotes else line.split(",", place + 1) for line in lines]
    texts = [row.pop(place).strip() if len(row) > place else "" for row in cells]
    return [",".join(row) for row in cells], texts


def _numbers(lines: list[str], width: int) -> Floats | None:
    """Return the numbers of CSV lines that are not blank; None where they are not all numbers."""
    if not lines:
        return np.empty((0, width))
    if not all(lines):  # a time, and nothing else
        return None
    try:
        table = np.loadtxt(lines, delimiter=",", ndmin=2, comments=None)
    except ValueError:
        # The slow way, for quoted cells; and _mistake says what cannot be read.
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
    """Return what is wrong with the first wrong line."""
    for row, line in enumerate(lines, first):
        cells = cells_of(line)
        if not line.strip():
            continue
        columns = width if place is None else width + 1
        if len(cells) != columns:
            other = other_separator(line)
            hint = f": values are separated by commas here, not by {other}" if other else ""
            return DataError(f"{name}:{row}: {len(cells)} values for {columns} columns{hint}")
        for k, cell in enumerate(cells):
            if k != place and _number(cell) is None:
                return DataError(f"{name}:{row}: {shown(cell.strip())} is not a number")
    return DataError(f"{name}:{first}: cannot be read as numbers")


def _array_chunks(
    arrays: Sequence[Rows], name: str, groups: Sequence[Group]
) -> Iterator[StateChunk]:
    done, names = 0, column_names(groups)
    for pieces in zip(*(array.pieces(CHUNK) for array in arrays), strict=True):
        with np.errstate(over="ignore", invalid="ignore"):  # _check_finite tells of it
            parts = [piece.astype(np.float64, copy=False) for piece in pieces]
        table = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        _check_finite(table, name, done, names)
        done += len(table)
        yield _state(table, groups)


def _check_finite(table: Floats, name: str, before: int, names: Sequence[str]) -> None:
    """Name the first value that is not finite, after so many samples."""
    if np.isfinite(table).all():
        return
    row, column = (int(k) for k in np.argwhere(~np.isfinite(table))[0])
    raise DataError(
        f"{name}: {names[column]} of sample {before + row} is {table[row, column]}: "
        "not a finite number"
    )


class Sink(Protocol):
    """Where results go, chunk by chunk."""

    def write(self, values: Floats, times: Times | None = None) -> None:
        """Take (samples, outputs) results, and their times: those of the first call, or never."""


@contextlib.contextmanager
def write_results(path: Path, returned: Group) -> Iterator[Sink]:
    """Provide a sink for results; the file appears whole when the block ends well.

    Nothing is written to standard output before the first results are.
    """
    suffix, names = _suffix(path), returned.members
    if path == STANDARD:
        if sys.stdout is None:
            raise DataError("standard output is closed: name a file with -o")
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
    """One float64 array; its header, which says how long it is, comes last."""

    def __init__(self, stream: BinaryIO, outputs: int) -> None:
        self.stream, self.outputs, self.count = stream, outputs, 0
        stream.write(bytes(NPY_HEADER))

    def write(self, values: Floats, times: Times | None = None) -> None:
        if times is not None and not self.count:
            text = f"the column {times.name} is left out: only CSV keeps it"
            warnings.warn(text, DataWarning, stacklevel=2)
        self.count += len(values)
        self.stream.write(np.ascontiguousarray(values, dtype="<f8").tobytes())

    def finish(self) -> None:
        header = io.BytesIO()
        shape = (self.count, self.outputs)
        described = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, described)
        assert len(header.getvalue()) == NPY_HEADER  # noqa: S101  # our own mistake otherwise
        self.stream.seek(0)
        self.stream.write(header.getvalue())
        self.stream.seek(0, io.SEEK_END)
