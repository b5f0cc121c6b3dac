"""States in zarr arrays: folders of chunks, read chunk by chunk; results written so.

The array is (samples, columns). Its attributes may name the columns, in any order, and say their
units (`columns`, `units`), as those do that are written. By zarr's rules a chunk that is not there
holds the fill value, zero as a rule; as a torn copy looks the same, it is refused.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import DataError, cut, shown
from boolcomp.base.files import read_bytes
from boolcomp.scale.batch_parts import (
    Found,
    as_type,
    changed,
    check_names,
    check_unit,
    engine_type,
    missing_extra,
    stamp_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from boolcomp.scale.batch_parts import Columns, Part

HEADS = ("zarr.json", ".zarray")  # of format 3, and of 2
MOST_HEAD = 1 << 24  # bytes
MOST_CHUNK = 1 << 26  # bytes: two or three times as much is in memory while one is decoded
ROWS = 1 << 17  # of a chunk that we write


def is_zarr(folder: Path) -> bool:
    """Tell whether a folder is an array, or another thing of zarr's."""
    return any((folder / name).is_file() for name in (*HEADS, ".zgroup"))


def look(path: Path, columns: Columns) -> Found:
    """Return what an array holds; of every chunk its size and time are looked at."""
    where = str(path)
    array = _open(path, "r")
    if len(array.shape) != 2 or array.shape[1] != columns.width:
        raise DataError(f"{where}: shape {array.shape}: (samples, {columns.width}) is needed")
    kind = array.dtype
    if kind.kind not in "fiu":
        raise DataError(f"{where}: holds {cut(str(kind))}, not real numbers")
    _order(where, array.attrs, columns)
    size = int(np.prod([int(k) for k in array.chunks], dtype=object)) * kind.itemsize
    if size > MOST_CHUNK:
        raise DataError(
            f"{where}: chunks of {shown(size)} bytes: at most {MOST_CHUNK} are taken, so that "
            "workers stay small: write it in smaller ones"
        )
    rows, grain = int(array.shape[0]), int(array.chunks[0])
    ends = range(grain, rows + grain, grain)
    return Found(rows, engine_type(where, [kind]), _stamp(path, array), ends)


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
                f"{path}: chunk {key} is not there: zarr would take its fill value "
                f"{array.fill_value}; if that is meant, write it (write_empty_chunks)"
            ) from error
        text.update(f"{key} {stamp_of(status)}\n".encode())
    return text.hexdigest()


def _keys(array: Any) -> Iterator[str]:
    """Yield the names of the files of all chunks, which may be shards of several."""
    each = array.shards or array.chunks
    down, across = (-(-size // one) for size, one in zip(array.shape, each, strict=True))
    for row in range(down):  # a head may claim any number of them
        for column in range(across):
            yield array.metadata.encode_chunk_key((row, column))


def read(part: Part, columns: Columns, dtype: str, most: int) -> Iterator[NDArray[Any]]:
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
        raise DataError(f"{where}: chunk {key}: damaged, or cannot be read: {text}") from error
    return found


def _order(where: str, attributes: Mapping[str, Any], columns: Columns) -> list[int] | None:
    """Return where the columns stand by the array's own names; None where it names none."""
    names = attributes.get("columns")
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"{where}: its attribute columns is no list of names")
    check_names(where, names, columns)
    order = [names.index(name) for name in columns.names]
    units = attributes.get("units")
    if isinstance(units, list) and len(units) == len(names):
        for name, place, unit in zip(columns.names, order, columns.units, strict=True):
            check_unit(where, name, str(units[place]), unit)
    return None if order == list(range(columns.width)) else order


def create(path: Path, rows: int, results: Columns, dtype: str) -> None:
    """Create an array for results: little-endian, not compressed, the same bytes by any worker."""
    zarr = _zarr()
    zarr.create_array(
        str(path), shape=(rows, results.width), dtype=dtype, chunks=(ROWS, results.width),
        compressors=None, filters=None, fill_value=0.0, zarr_format=3,
        attributes={"columns": list(results.names), "units": list(results.units)},
    )  # fmt: skip


def to_write(path: Path) -> Any:
    """Return an array whose rows can be set; chunks of zeros are written, too."""
    return _open(path, "r+").with_config({"write_empty_chunks": True})


def _open(path: Path, mode: str) -> Any:
    zarr = _zarr()
    try:
        return zarr.open_array(str(path), mode=mode)
    except Exception as error:  # zarr raises whatever it likes
        text = cut(str(error).partition("\n")[0], 200) or type(error).__name__
        raise DataError(f"{path}: not a zarr array: {text}") from error


def _zarr() -> Any:
    try:
        import zarr  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise missing_extra("zarr", "zarr") from error
    return zarr
