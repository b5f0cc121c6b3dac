"""States in Parquet files: read by groups of rows, columns by their names; results written so.

A field may say in which unit it is (metadata `unit`), as those do that are written.
"""

from __future__ import annotations

import contextlib
import os
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import BoolcompError, DataError, cut
from boolcomp.base.files import regular_file
from boolcomp.scale.batch_parts import (
    Found,
    as_type,
    check_names,
    check_unit,
    engine_type,
    missing_extra,
    opened,
    stamp_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

    from boolcomp.scale.batch_parts import Columns, Part

UNIT = b"unit"
BUFFER = 1 << 20  # bytes of a column that are read at a time


def look(path: Path, columns: Columns) -> Found:
    """Return what a file holds; nothing but its end, which says it all, is read."""
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
            raise DataError(f"{where}: damaged: a group of {min(groups)} rows")
        ends = tuple(accumulate(groups))
        stamp = stamp_of(os.fstat(file.fileno()))
        return Found(ends[-1] if ends else 0, engine_type(where, kinds), stamp, ends)


def read(part: Part, columns: Columns, dtype: str, most: int) -> Iterator[NDArray[Any]]:
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
    table: Any, group: int, row: int, part: Part, columns: Columns, room: NDArray[Any]
) -> Iterator[NDArray[Any]]:
    """Yield those rows of a group that are of the part; it begins with this row."""
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
                    raise DataError(f"{part.path}: {name} of sample {first} is not there (null)")
                values = column.to_numpy(zero_copy_only=False)
                room[k, : len(values)] = as_type(values, str(room.dtype), where)
            yield room[:, low:high].T
        row += batch.num_rows
        if row >= part.stop:
            return
    if row != end:
        raise DataError(f"{where}: damaged: it has {end - row} rows fewer than it says")


def schema(results: Columns, dtype: str) -> Any:
    """Return the schema of results: names, types, units."""
    pa = _pyarrow()
    kind = pa.float32() if dtype == "float32" else pa.float64()
    fields = [
        pa.field(name, kind, nullable=False, metadata={UNIT: unit.encode()} if unit else None)
        for name, unit in zip(results.names, results.units, strict=True)
    ]
    return pa.schema(fields)


@contextlib.contextmanager
def written(stream: BinaryIO, results: Columns, dtype: str) -> Iterator[Any]:
    """Provide a function that takes (rows, columns) results for a file."""
    pa = _pyarrow()
    import pyarrow.parquet as pq  # noqa: PLC0415 (an extra)

    fields = schema(results, dtype)
    with pq.ParquetWriter(stream, fields) as writer:

        def write(values: NDArray[Any]) -> None:
            arrays = [pa.array(np.ascontiguousarray(column)) for column in values.T]
            writer.write_table(pa.Table.from_arrays(arrays, schema=fields))

        yield write


def _kind(where: str, field: Any) -> np.dtype[Any]:
    try:
        kind: np.dtype[Any] = np.dtype(field.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        kind = np.dtype(object)
    if kind.kind not in "fiu":
        raise DataError(f"{where}: {cut(field.name)} holds {cut(str(field.type))}, not numbers")
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
        raise DataError(f"{where}: damaged, or not a Parquet file: {text}") from error
