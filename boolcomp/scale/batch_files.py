"""Files of states: which there are, and rows read from .npy, Parquet, zarr and folders.

Each format inspects a file (`FoundRows`) and reads a `FilePart` of it; files that changed since are
refused. Files are not mapped into memory, so a file that shrinks while it is read gives an error
message and not a signal. Parquet columns and zarr arrays can name their units. A missing zarr chunk
is refused, because a torn copy looks the same as the fill value.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.errors import (
    BoolcompError,
    DataError,
    UsageError,
    cut,
    installing,
    listing,
    shown,
    unknown,
)
from boolcomp.base.files import read_bytes, regular_file
from boolcomp.problem.samples import read_npy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    from boolcomp.program.program import Program


# --------------------------------------------------------------------------------------------------
# Rows of states in files: which there are (`FileSource`), and pieces of them (`FilePart`).
# --------------------------------------------------------------------------------------------------


WORDS = "uint32"  # the type of code words; all others are values
MOST_PIECE = 1 << 23  # bytes of states that are evaluated at a time: about what caches hold
MOST_ROWS, LEAST_ROWS = 1 << 17, 1 << 10


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table, in order, and their units."""

    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def width(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The contents of a file: its number of rows and their type for engines.

    `ends` are the rows after which reading can stop cheaply; the last one is at least `rows`.
    """

    rows: int
    dtype: str
    stamp: str
    ends: Sequence[int]


@dataclass(frozen=True, slots=True)
class FilePart:
    """Rows `start` to `stop` of a file, which has this stamp."""

    form: str
    path: str
    start: int
    stop: int
    stamp: str


@dataclass(frozen=True)
class FileSource:
    """Files, one after the other, as one table; a `folder` of them, or one alone."""

    path: Path
    form: str
    folder: bool
    files: tuple[tuple[str, FoundRows], ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The row with which every file begins, and the number of all rows."""
        ends = [0]
        for _, found in self.files:
            ends.append(ends[-1] + found.rows)
        return tuple(ends)

    @property
    def rows(self) -> int:
        return self.starts[-1]

    @property
    def dtype(self) -> str:
        return self.files[0][1].dtype

    @cached_property
    def identity(self) -> str:
        """A digest of names, rows, sizes and times of the files."""
        text = hashlib.sha256(f"{self.form} {self.dtype}".encode())
        for path, found in self.files:
            text.update(f"\n{found.rows} {found.stamp} {Path(path).name}".encode())
        return text.hexdigest()

    def parts(self, start: int, stop: int) -> tuple[FilePart, ...]:
        """Return where these rows stand."""
        found = []
        place = max(0, bisect_right(self.starts, start) - 1)
        while place < len(self.files) and self.starts[place] < stop:
            first, last = self.starts[place : place + 2]
            path, one = self.files[place]
            low, high = max(start, first) - first, min(stop, last) - first
            if low < high:
                found.append(FilePart(self.form, path, low, high, one.stamp))
            place += 1
        return tuple(found)

    def end_after(self, row: int) -> int:
        """Return the first row from this one on before which reading may well stop."""
        if row >= self.rows:
            return self.rows
        place = bisect_left(self.starts, row) - 1
        first, ends = self.starts[place], self.files[place][1].ends
        return min(first + ends[bisect_left(ends, row - first)], self.starts[place + 1])


def columns_of(program: Program) -> TableColumns:
    """Return the columns of a program's states; what it does not read has no unit."""
    units = {word.name: word.unit for word in program.inputs}
    names = tuple(name for group in program.groups for name in group.members)
    return TableColumns(names, tuple(units.get(name, "") for name in names))


def results_of(program: Program, payload: float | None) -> TableColumns:
    """Return the columns of its results."""
    outputs = program.chosen(payload).outputs
    return TableColumns(program.returned.members, tuple(output.unit for output in outputs))


def engine_type(where: str, kinds: Sequence[np.dtype[Any]]) -> str:
    """Return the type for engines: code words if all columns are unsigned, float32 if all are."""
    unsigned = [kind.kind == "u" for kind in kinds]
    if any(unsigned) and not all(unsigned):
        raise DataError("some columns are unsigned integers, code words, and some not", where=where)
    if unsigned[0]:
        return WORDS
    return "float32" if all(kind == np.float32 for kind in kinds) else "float64"


def as_type(array: NDArray[Any], dtype: str, where: str) -> NDArray[Any]:
    """Return an array in the type that engines take."""
    if dtype == WORDS and array.dtype.itemsize > 4 and array.size and int(array.max()) >> 32:
        raise DataError(f"a word of more than 32 bits, {int(array.max())}", where=where)
    with np.errstate(over="ignore", invalid="ignore"):  # infinite values are reported later
        return array.astype(dtype, copy=False)


def piece_rows(width: int, dtype: str) -> int:
    """Return how many rows are evaluated at a time."""
    rows = MOST_PIECE // max(1, width * np.dtype(dtype).itemsize)
    return max(LEAST_ROWS, min(MOST_ROWS, 1 << max(0, rows.bit_length() - 1)))


def stamp_of(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns}"


@contextlib.contextmanager
def opened(part: FilePart) -> Iterator[BinaryIO]:
    """Open the file of a part, if it is still the one that was looked at."""
    with regular_file(Path(part.path)) as file:
        if stamp_of(os.fstat(file.fileno())) != part.stamp:
            raise changed(part.path)
        yield file


def changed(path: str) -> DataError:
    return DataError("was changed since this run began", where=path)


def missing_extra(what: str, package: str) -> UsageError:
    return UsageError(f"{what} needs {package}", installing(package))


def check_names(where: str, names: Sequence[str], columns: TableColumns) -> None:
    """Refuse a table where a column is missing or there twice; others are not read."""
    missing = [name for name in columns.names if name not in names]
    if missing:
        raise DataError(f"missing columns {listing(missing)}", where=where)
    twice = [name for name in columns.names if list(names).count(name) > 1]
    if twice:
        raise DataError(f"holds {listing(twice)} twice", where=where)


def check_unit(where: str, name: str, given: str, wanted: str) -> None:
    """Raise a DataError for a column that states another unit."""
    if given and wanted and given != wanted:
        raise DataError(f"{name} is in {given}", f"this program takes {wanted}", where=where)


# --------------------------------------------------------------------------------------------------
# States in .npy files: read by ranges of rows into memory that is used again.
# --------------------------------------------------------------------------------------------------


HEADER = 128  # bytes of what we write; long enough for any shape


def look_npy(path: Path, columns: TableColumns) -> FoundRows:
    """Return the contents of a file from its header."""
    with regular_file(path) as file:
        rows = read_npy(file, str(path), columns.width)
        dtype = engine_type(str(path), [rows.kind])
        count = rows.shape[0]
        return FoundRows(count, dtype, stamp_of(os.fstat(file.fileno())), range(1, count + 1))


def npy_rows(
    part: FilePart, columns: TableColumns, dtype: str, most: int
) -> Iterator[NDArray[Any]]:
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
            # Separate columns are tables of one column each.
            table = room[0, :count] if len(places) == 1 else room[:, :count, 0].T
            yield as_type(table, dtype, part.path)


def _fill(file: BinaryIO, rows: NDArray[Any], where: str) -> None:
    left = rows.data.cast("B")
    while left:
        count = file.readinto(left)  # type: ignore[attr-defined]  # a file that was opened has it
        if not count:
            raise DataError("became shorter while it was read, or is damaged", where=where)
        left = left[count:]


def header(rows: int, width: int, dtype: str) -> bytes:
    """Return the first bytes of a file that we write."""
    stream = io.BytesIO()
    kind = np.dtype(dtype).newbyteorder("<").str
    described = {"descr": kind, "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(stream, described)
    assert len(stream.getvalue()) == HEADER  # noqa: S101  # our own mistake otherwise
    return stream.getvalue()


# --------------------------------------------------------------------------------------------------
# States in Parquet files: read by groups of rows, columns by their names; results written so.
# --------------------------------------------------------------------------------------------------


UNIT = b"unit"
BUFFER = 1 << 20  # bytes of a column that are read at a time


def look_parquet(path: Path, columns: TableColumns) -> FoundRows:
    """Return the contents of a file from its footer."""
    where = str(path)
    with regular_file(path) as file, _undamaged(where):
        table = _table(file)
        schema = table.schema_arrow
        check_names(where, schema.names, columns)
        kinds = [_kind(where, schema.field(name)) for name in columns.names]
        for name, unit in zip(columns.names, columns.units, strict=True):
            given = (schema.field(name).metadata or {}).get(UNIT, b"").decode("utf-8", "replace")
            check_unit(where, name, given, unit)
        groups = [table.metadata.row_group(k).num_rows for k in range(table.num_row_groups)]
        if min(groups, default=0) < 0:
            raise DataError(f"damaged: a group of {min(groups)} rows", where=where)
        ends = tuple(accumulate(groups))
        stamp = stamp_of(os.fstat(file.fileno()))
        return FoundRows(ends[-1] if ends else 0, engine_type(where, kinds), stamp, ends)


def parquet_rows(
    part: FilePart, columns: TableColumns, dtype: str, most: int
) -> Iterator[NDArray[Any]]:
    """Yield the rows of a part, at most so many at a time; each time in the same memory."""
    room = np.empty((columns.width, most), dtype)
    with opened(part) as file:
        with _undamaged(part.path):
            table = _table(file)
            groups = [table.metadata.row_group(k).num_rows for k in range(table.num_row_groups)]
        row = 0
        for k, rows in enumerate(groups):
            if row + rows > part.start and row < part.stop:
                yield from _group(table, k, row, part, columns, room)
            row += rows


def _group(
    table: Any, group: int, row: int, part: FilePart, columns: TableColumns, room: NDArray[Any]
) -> Iterator[NDArray[Any]]:
    """Yield the rows of a group that belong to the part; the group begins with `row`."""
    where = f"{part.path}: group {group} of its rows"
    end = row + table.metadata.row_group(group).num_rows
    batches = table.iter_batches(
        batch_size=room.shape[1], row_groups=[group], columns=list(columns.names),
        use_threads=False,
    )  # fmt: skip
    while True:
        with _undamaged(where):
            batch = next(batches, None)
        if batch is None:
            break
        low, high = max(part.start - row, 0), min(part.stop - row, batch.num_rows)
        if low < high:
            for k, name in enumerate(columns.names):
                column = batch.column(batch.schema.get_field_index(name))
                if column.null_count:
                    first = row + int(np.argmax(np.asarray(column.is_null())))
                    raise DataError(f"{name} of sample {first} is missing (null)", where=part.path)
                values = column.to_numpy(zero_copy_only=False)
                room[k, : len(values)] = as_type(values, str(room.dtype), where)
            yield room[:, low:high].T
        row += batch.num_rows
        if row >= part.stop:
            return
    if row != end:
        raise DataError(f"damaged: {end - row} rows are missing", where=where)


def schema(results: TableColumns, dtype: str) -> Any:
    """Return the schema of results: names, types, units."""
    pa = _pyarrow()
    kind = pa.float32() if dtype == "float32" else pa.float64()
    fields = [
        pa.field(name, kind, nullable=False, metadata={UNIT: unit.encode()} if unit else None)
        for name, unit in zip(results.names, results.units, strict=True)
    ]
    return pa.schema(fields)


def write_parquet(
    stream: BinaryIO, results: TableColumns, dtype: str, rows: Iterator[NDArray[Any]]
) -> None:
    """Write results, a group of rows for each piece."""
    pa = _pyarrow()
    import pyarrow.parquet as pq  # noqa: PLC0415 (an extra)

    fields = schema(results, dtype)
    with pq.ParquetWriter(stream, fields) as writer:
        for values in rows:
            arrays = [pa.array(np.ascontiguousarray(column)) for column in values.T]
            writer.write_table(pa.Table.from_arrays(arrays, schema=fields))


def _kind(where: str, field: Any) -> np.dtype[Any]:
    try:
        kind: np.dtype[Any] = np.dtype(field.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        kind = np.dtype(object)
    if kind.kind not in "fiu":
        raise DataError(f"{cut(field.name)} holds {cut(str(field.type))}, not numbers", where=where)
    return kind


def _table(file: BinaryIO) -> Any:
    pa = _pyarrow()
    import pyarrow.parquet as pq  # noqa: PLC0415 (an extra)

    return pq.ParquetFile(pa.PythonFile(file, mode="r"), buffer_size=BUFFER, pre_buffer=False)


def _pyarrow() -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise missing_extra("Parquet", "pyarrow") from error
    return pa


@contextlib.contextmanager
def _undamaged(where: str) -> Iterator[None]:
    pa = _pyarrow()
    try:
        yield
    except BoolcompError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        text = cut(str(error).partition("\n")[0], 200)
        raise DataError(f"damaged, or not a Parquet file: {text}", where=where) from error


# --------------------------------------------------------------------------------------------------
# States in zarr arrays: folders of chunks, read chunk by chunk; results written so.
# --------------------------------------------------------------------------------------------------


HEADS = ("zarr.json", ".zarray")  # of format 3, and of 2
MOST_HEAD = 1 << 24  # bytes
MOST_CHUNK = 1 << 26  # bytes: two or three times as much is in memory while one is decoded
ROWS = 1 << 17  # of a chunk that we write


def is_zarr(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (*HEADS, ".zgroup"))


def look_zarr(path: Path, columns: TableColumns) -> FoundRows:
    """Return the contents of an array, with a stamp of the sizes and times of its chunks."""
    where = str(path)
    array = _open(path, "r")
    if len(array.shape) != 2 or array.shape[1] != columns.width:
        raise DataError(
            f"shape {array.shape}", f"shape (samples, {columns.width}) is needed", where=where
        )
    kind = array.dtype
    if kind.kind not in "fiu":
        raise DataError(f"holds {cut(str(kind))}, not real numbers", where=where)
    _order(where, array.attrs, columns)
    size = int(np.prod([int(k) for k in array.chunks], dtype=object)) * kind.itemsize
    if size > MOST_CHUNK:
        raise DataError(
            f"chunks of {shown(size)} bytes are too large",
            f"write chunks of at most {MOST_CHUNK} bytes, so that workers stay small", where=where,
        )  # fmt: skip
    rows, grain = int(array.shape[0]), int(array.chunks[0])
    ends = range(grain, rows + grain, grain)
    return FoundRows(rows, engine_type(where, [kind]), _stamp(path, array), ends)


def _stamp(path: Path, array: Any) -> str:
    """Return a digest of the head, and of sizes and times of all chunks, which must be there."""
    head = next(name for name in HEADS if (path / name).is_file())
    text = hashlib.sha256(read_bytes(path / head, MOST_HEAD))
    if (path / ".zattrs").is_file():
        text.update(read_bytes(path / ".zattrs", MOST_HEAD))
    for key in _keys(array):
        try:
            status = (path / key).stat()
        except OSError as error:
            raise DataError(
                f"chunk {key} is missing, for which zarr uses its fill value {array.fill_value}",
                "if that value is meant, write the chunk (write_empty_chunks)", where=path
            ) from error  # fmt: skip
        text.update(f"{key} {stamp_of(status)}\n".encode())
    return text.hexdigest()


def _keys(array: Any) -> Iterator[str]:
    """Yield the names of the files of all chunks, which may be shards of several."""
    each = array.shards or array.chunks
    down, across = (-(-size // one) for size, one in zip(array.shape, each, strict=True))
    for row in range(down):  # a head may claim any number of them
        for column in range(across):
            yield array.metadata.encode_chunk_key((row, column))


def zarr_rows(
    part: FilePart, columns: TableColumns, dtype: str, most: int
) -> Iterator[NDArray[Any]]:
    """Yield the rows of a part by whole chunks: as many as there are `most` rows of, but one."""
    path = Path(part.path)
    array = _open(path, "r")
    order = _order(part.path, array.attrs, columns)
    if array.shape[0] < part.stop or array.shape[1] != columns.width:
        raise changed(part.path)
    grain = int(array.chunks[0])
    step = max(grain, most // grain * grain)
    start = part.start
    while start < part.stop:
        stop = min(part.stop, start - start % grain + step)
        table = _rows(array, start, stop, part.path)
        yield as_type(table if order is None else table[:, order], dtype, part.path)
        start = stop


def _rows(array: Any, start: int, stop: int, where: str) -> NDArray[Any]:
    try:
        found: NDArray[Any] = array[start:stop]
    except Exception as error:  # codecs raise whatever they like
        grain = int(array.chunks[0])
        if stop > start - start % grain + grain:  # which of them is it?
            for low in range(start - start % grain, stop, grain):
                _rows(array, max(low, start), min(low + grain, stop), where)
        each = (array.shards or array.chunks)[0]
        key = array.metadata.encode_chunk_key((start // each, 0))
        text = cut(str(error).partition("\n")[0], 200) or type(error).__name__
        raise DataError(
            f"chunk {key} is damaged, or cannot be read: {text}", where=where
        ) from error
    return found


def _order(where: str, attributes: Mapping[str, Any], columns: TableColumns) -> list[int] | None:
    """Return where the columns stand by the array's own names; None where it names none."""
    names = attributes.get("columns")
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError("its attribute columns is no list of names", where=where)
    check_names(where, names, columns)
    order = [names.index(name) for name in columns.names]
    units = attributes.get("units")
    if isinstance(units, list) and len(units) == len(names):
        for name, place, unit in zip(columns.names, order, columns.units, strict=True):
            check_unit(where, name, str(units[place]), unit)
    return None if order == list(range(columns.width)) else order


def create(path: Path, rows: int, results: TableColumns, dtype: str) -> None:
    """Create an array for results: little-endian, not compressed, the same bytes by any worker."""
    zarr = _zarr()
    zarr.create_array(
        str(path), shape=(rows, results.width), dtype=dtype, chunks=(ROWS, results.width),
        compressors=None, filters=None, fill_value=0.0, zarr_format=3,
        attributes={"columns": list(results.names), "units": list(results.units)},
    )  # fmt: skip


def to_write(path: Path) -> Any:
    return _open(path, "r+").with_config({"write_empty_chunks": True})


def _open(path: Path, mode: str) -> Any:
    zarr = _zarr()
    try:
        return zarr.open_array(str(path), mode=mode)
    except Exception as error:  # zarr raises whatever it likes
        text = cut(str(error).partition("\n")[0], 200) or type(error).__name__
        raise DataError(f"not a zarr array: {text}", where=path) from error


def _zarr() -> Any:
    try:
        import zarr  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise missing_extra("zarr", "zarr") from error
    return zarr


# --------------------------------------------------------------------------------------------------
# Which files are meant: one, a zarr array, or a folder of chunks; and how their rows are read.
# --------------------------------------------------------------------------------------------------


class FileFormat(NamedTuple):
    """Functions of a file format."""

    look: Callable[[Path, TableColumns], FoundRows]
    rows: Callable[[FilePart, TableColumns, str, int], Iterator[NDArray[Any]]]


FORMS = {
    ".npy": FileFormat(look_npy, npy_rows),
    ".parquet": FileFormat(look_parquet, parquet_rows),
    ".zarr": FileFormat(look_zarr, zarr_rows),
}
_DIGITS = re.compile(r"(\d+)")


def form_of(path: Path) -> str | None:
    """Return which form a source has by its name, or by what a folder holds; None for others."""
    if path.is_dir():
        if is_zarr(path):
            return ".zarr"
        ends = {Path(name).suffix for name in _names(path)}
        found = [form for form in FORMS if form in ends]
        return found[0] if found else None
    return path.suffix if path.suffix in (".npy", ".parquet") else None


def find_source(path: Path, columns: TableColumns) -> FileSource:
    """Return the source at a path; raise an error with the name of an unsuitable file."""
    form = form_of(path)
    if form is None:
        if path.is_dir():
            raise DataError(
                "neither a zarr array nor a folder of .npy or .parquet files", where=path
            )
        raise unknown("ending", path.suffix, FORMS, "or a folder of such files")
    folder = path.is_dir() and form != ".zarr"
    where = Path(os.path.abspath(path))  # noqa: PTH100 (links are not resolved)
    paths = _chunks(where, form) if folder else [where]
    files = tuple((str(one), FORMS[form].look(one, columns)) for one in paths)
    source = FileSource(path, form, folder, files)
    for name, found in files:
        if found.dtype != source.dtype:
            raise DataError(f"holds {found.dtype}, and {files[0][0]} {source.dtype}", where=name)
    return source


def read_part(
    part: FilePart, columns: TableColumns, dtype: str, most: int
) -> Iterator[NDArray[Any]]:
    yield from FORMS[part.form].rows(part, columns, dtype, most)


def _chunks(folder: Path, form: str) -> list[Path]:
    """Return the files of a folder, by the numbers in their names: 2 comes before 10."""
    names = _names(folder)
    other = [name for name in names if Path(name).suffix != form]
    if other:
        raise DataError(
            f"not a {form} file, as the others of this folder are", where=folder / other[0]
        )
    return [folder / name for name in sorted(names, key=_natural)]


def _names(folder: Path) -> Sequence[str]:
    """Return the names of files; those that begin with . or _ are none of the table."""
    try:
        return sorted(one.name for one in folder.iterdir() if one.name[0] not in "._")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", where=folder) from error


def _natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """Return the sort key of a name: its numbers by value, then its text."""
    parts = _DIGITS.split(name)
    key = [(1, int(x), "") if x.isdigit() else (0, 0, x) for x in parts]
    return key, name
