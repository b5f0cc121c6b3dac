"""Arrays of .npy files and .npz archives, read row by row: nothing is mapped, nothing unpickled.

A header is believed only as far as the file is long, and no more than the rows asked for is ever
allocated. A file that becomes shorter while it is read is a sentence, not a signal.
"""

from __future__ import annotations

import ast
import contextlib
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import DataError, listing, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO, BinaryIO

    from numpy.typing import NDArray

MAGIC, ARCHIVE = b"\x93NUMPY", b"PK\x03\x04"
MOST_HEADER = 10_000  # characters, as numpy itself has it
MOST_MEMBERS = 1000  # of an archive that holds three
_DESCRIPTION = re.compile(r"[<>|=]?[a-zA-Z]\d{0,4}")
_SHAPE_LONG = re.compile(r"(?<=\d)L\b")  # how Python 2 wrote a number of the shape
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ValueError, EOFError, KeyError, IndexError,
    NotImplementedError, RuntimeError, OverflowError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rows:
    """A two-dimensional array in a file, to be read from its first row to its last.

    Each part is a stream and the place in it of the next row: one part where rows lie one after
    another, one a column where columns do.
    """

    where: str
    kind: np.dtype[Any]
    shape: tuple[int, ...]
    parts: tuple[tuple[IO[bytes], int], ...]

    def pieces(self, rows: int) -> Iterator[NDArray[Any]]:
        """Yield the array in pieces of so many rows; the last may have fewer."""
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
                    self.parts[-1][0].read(1)  # an archive's checksum is looked at where it ends
            yield columns[0].reshape(-1, width) if len(columns) == 1 else np.stack(columns, axis=1)

    def _read(self, stream: IO[bytes], count: int) -> NDArray[Any]:
        size = count * self.kind.itemsize
        with _undamaged(self.where):
            data = stream.read(size)
        if len(data) != size:
            raise DataError(f"{self.where}: became shorter while it was read, or is damaged")
        return np.frombuffer(data, self.kind)


def read_npy(stream: BinaryIO, where: str, width: int) -> Rows:
    """Return the array of an .npy file, which must have so many columns."""
    size = stream.seek(0, 2)
    stream.seek(0)
    rows, start = _header(stream, where, size, width)
    return replace(rows, parts=tuple((stream, place) for place in _places(rows, start)))


@contextlib.contextmanager
def read_npz(stream: BinaryIO, path: Path, widths: Mapping[str, int]) -> Iterator[list[Rows]]:
    """Provide the named arrays of an .npz file, which must hold them and no others.

    They have as many rows each, and so many columns as stands beside their names.
    """
    names = list(widths)
    head = stream.read(200)
    if head.startswith(MAGIC):
        raise DataError(f"{path}: one array; an .npz file with {listing(names)} is needed")
    if not head.startswith(ARCHIVE[:2]):
        raise DataError(f"{path}: not a numpy file{_looks_like(head)}")
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
                raise DataError(f"{path}: {name} has shape {shapes} is needed, as {names[0]} has")
        yield arrays


def _members(
    archive: zipfile.ZipFile, path: Path, names: Sequence[str]
) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name, after checking that each wanted one is there once."""
    found: dict[str, zipfile.ZipInfo] = {}
    if len(archive.infolist()) > MOST_MEMBERS:
        raise DataError(f"{path}: {len(archive.infolist())} arrays: arrays are {listing(names)}")
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in names:
            hint = suggestion(name, names)
            raise DataError(
                f"{path}: unknown array {shown(name)}{hint}: arrays are {', '.join(names)}"
            )
        if name in found:
            raise DataError(f"{path}: holds {name} twice")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"{path}: {name} is compressed in a way that numpy does not write")
        found[name] = member
    missing = [name for name in names if name not in found]
    if missing:
        raise DataError(f"{path}: missing arrays: {listing(missing)}")
    return found


def _member(
    opened: contextlib.ExitStack,
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    where: str,
    width: int,
) -> Rows:
    """Return the array of a member: as many streams of it as it needs."""

    def stream() -> IO[bytes]:
        with _undamaged(where):
            return opened.enter_context(archive.open(member))

    first = stream()
    with _undamaged(where):
        rows, start = _header(first, where, member.file_size, width)
    places = _places(rows, start)
    return replace(rows, parts=((first, places[0]), *((stream(), at) for at in places[1:])))


def _header(stream: IO[bytes], where: str, size: int, width: int) -> tuple[Rows, int]:
    """Return an array's kind and shape, and where its numbers begin in so many bytes."""
    head = stream.read(8)
    if head[:6] != MAGIC or head[6:7] not in (b"\1", b"\2", b"\3"):
        raise DataError(f"{where}: not a numpy file{_looks_like(head + stream.read(200))}")
    digits = 2 if head[6] == 1 else 4
    length = int.from_bytes(stream.read(digits), "little")
    text = stream.read(length) if length <= MOST_HEADER else b""
    described = _described(text.decode("latin-1"))
    if len(text) != length or described is None:
        raise DataError(f"{where}: not a numpy file: its header is damaged")
    kind, shape, fortran = described
    if kind is None or kind.kind not in "fiu":
        name = "objects or records" if kind is None or kind.kind in "OV" else kind.name
        raise DataError(f"{where}: holds {name}, not real numbers")
    if len(shape) != 2 or shape[1] != width:
        raise DataError(f"{where}: shape {_shape(shape)}: (samples, {width}) is needed")
    start = len(head) + digits + length
    needed, held = shape[0] * width * kind.itemsize, size - start
    if needed > held:
        raise DataError(
            f"{where}: damaged: shape {_shape(shape)} takes {shown(needed)} bytes, and there are "
            f"{held}"
        )
    return Rows(where, kind, shape, ((stream, 0),) * (width if fortran else 1)), start


def _places(rows: Rows, start: int) -> list[int]:
    return [start + k * rows.shape[0] * rows.kind.itemsize for k in range(len(rows.parts))]


def _described(text: str) -> tuple[np.dtype[Any] | None, tuple[int, ...], bool] | None:
    """Return what a header says: kind of numbers (None: no plain ones), shape, order of columns."""
    try:
        header = ast.literal_eval(_SHAPE_LONG.sub("", text.strip()))
        if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
            return None
        description, shape = header["descr"], header["shape"]
        if not isinstance(shape, tuple) or not isinstance(header["fortran_order"], bool):
            return None
        if not all(isinstance(k, int) and not isinstance(k, bool) and k >= 0 for k in shape):
            return None
        plain = isinstance(description, str) and _DESCRIPTION.fullmatch(description)
        return np.dtype(description) if plain else None, shape, header["fortran_order"]
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(shown(k) for k in shape[:4])}{', …' if len(shape) > 4 else ''})"


def _looks_like(head: bytes) -> str:
    """Say what a file that is none of ours seems to be."""
    if head.startswith(ARCHIVE):
        return " of one array: it looks like an archive, so name it .npz"
    first = head.split(b"\n")[0].removeprefix(b"\xef\xbb\xbf").strip()
    if b"," in first and all(32 <= letter < 127 for letter in first):
        return ": it looks like CSV, so name it .csv"
    return "" if head else ": empty"


@contextlib.contextmanager
def _undamaged(where: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise DataError(f"{where}: damaged, or not a numpy file: {error}") from error
