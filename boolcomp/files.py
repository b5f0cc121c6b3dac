"""Reading and writing whole files: a file appears complete under its name, or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from boolcomp.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_text(path: Path) -> str:
    """Return the UTF-8 text of a file; a sentence as `DataError` where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


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
