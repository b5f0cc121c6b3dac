"""Reading and writing whole files: a file appears complete under its name, or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from boolcomp.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator


MOST_BYTES = 1 << 28  # of a text that is read at once
_BINARY = getattr(os, "O_BINARY", 0)  # where systems differ between text and data


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the UTF-8 text of a file; a sentence as `DataError` where it cannot be read.

    What is no regular file (a device, a pipe) or has more than `most` bytes is not read at all.
    """
    with regular_file(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        data = b"" if size > most else stream.read(most + 1)
    if max(size, len(data)) > most:
        raise DataError(f"{path}: too large: at most {most} bytes are read")
    try:
        # What reading in text mode does to line ends.
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from error


@contextlib.contextmanager
def regular_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading; a `DataError` for what is none, and for errors while it is read."""
    try:
        with os.fdopen(_handle(path), "rb") as stream:
            yield stream
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error


def _handle(path: Path) -> int:
    """Return a descriptor of a regular file; no pipe without a writer is waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except ValueError as error:
        raise DataError(f"a file's name cannot hold a zero byte: {str(path)!r}") from error
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return handle
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise DataError(f"{path}: cannot be read: not a regular file")


def is_file(path: Path) -> bool:
    """Tell whether there is such a file; not where no file can have this name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Tell whether there is such a folder; not where no folder can have this name."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def user_cache(folder: str) -> Path:
    """Return a folder of the user's cache: $XDG_CACHE_HOME/boolcomp/… or ~/.cache/boolcomp/…."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path("~/.cache").expanduser()
    return root / "boolcomp" / folder


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, as UTF-8 with plain line ends."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    with whole_file(path) as stream:
        stream.write(data)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Provide a stream to a temporary file that becomes `path` where the block ends well.

    Where it does not, `path` is as it was and nothing is left.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        with os.fdopen(handle, "w+b") as stream:
            yield stream
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    # The mask can only be read by setting it; mkstemp made the file private, a result is not.
    mask = os.umask(0)
    os.umask(mask)
    return mask
