"""Reading and writing whole files: a file appears complete under its name, or not at all.

What is not complete yet has a name that ends in `.boolcomp-tmp`, and is locked as long as its
process lives. A killed run leaves such files and folders behind; who writes to the same folder next
takes those away that nobody has locked.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from boolcomp.common.errors import DataError
from boolcomp.common.text import MOST_JSON, parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there, and nothing collected
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".boolcomp-tmp"
_LONGEST = 40  # characters of a file's name in that of its temporary file
_UNNAMED = ("/dev/", "/proc/")  # what lies there is written to as it is, never replaced
_HERE, _EXCHANGE = -100, 2  # of renameat2: AT_FDCWD, RENAME_EXCHANGE
_folders: set[Path] = set()  # where this process has collected
_live: set[Path] = set()  # temporary files and folders of this process
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_live.clear)  # those are its parent's


MOST_BYTES = 1 << 28  # of a text that is read at once
_BINARY = getattr(os, "O_BINARY", 0)  # where systems differ between text and data


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the UTF-8 text of a file; a sentence as `DataError` where it cannot be read.

    What is no regular file (a device, a pipe) or has more than `most` bytes is not read at all.
    """
    data = read_bytes(path, most)
    try:
        # What reading in text mode does to line ends.
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from error


def read_json(path: Path, most: int = MOST_JSON) -> Any:
    """Return what a JSON file says; a `DataError` where it cannot be read, or is none."""
    return parse_json(read_text(path, most), str(path), most)


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file; a sentence as `DataError` as for `read_text`."""
    with regular_file(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        data = b"" if size > most else stream.read(most + 1)
    if max(size, len(data)) > most:
        raise DataError(f"{path}: too large: at most {most} bytes are read")
    return data


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


def is_stream(path: Path) -> bool:
    """Tell whether there is a device or a pipe of this name."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Write a text file atomically, as UTF-8 with plain line ends."""
    with whole_file(path, durable=durable) as stream:
        stream.write(text.encode())


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file atomically."""
    with whole_file(path, durable=durable) as stream:
        stream.write(data)


@contextlib.contextmanager
def whole_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Provide a stream to a temporary file that becomes `path` where the block ends well.

    Where it does not, `path` is as it was and nothing is left. A symbolic link stays one: the file
    that it names is written. A pipe or a device gets the bytes once they are complete. What is not
    `durable` may be damaged by a power failure: caches whose content is checked when it is read.
    """
    try:
        target, mode = _target(path)
        if mode is not None and not stat.S_ISREG(mode):
            with tempfile.TemporaryFile() as stream:
                yield cast("BinaryIO", stream)
                _pour(stream, path)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with _temporary_file(target) as (stream, temporary):
            yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            temporary.replace(target)
        if durable:
            sync_folder(target.parent)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from error


def check_place(path: Path) -> None:
    """Raise a `DataError` where no file can be written, before work that takes long."""
    try:
        _target(path)
        folder = next(one for one in path.absolute().parents if one.exists())
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from error


def _target(path: Path) -> tuple[Path, int | None]:
    """Return the file that is to be replaced, and the mode of what is there (None: nothing).

    What the system keeps under /dev and /proc counts as a device, whatever it is.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path)), None
    if stat.S_ISDIR(mode):
        raise DataError(f"{path}: cannot be written: it is a folder")
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise DataError(f"{path}: cannot be written: neither a file nor a pipe")
    if str(Path(os.path.abspath(path))).startswith(_UNNAMED):  # noqa: PTH100 (links stay)
        return path, stat.S_IFCHR
    return Path(os.path.realpath(path)), mode


def _pour(stream: IO[bytes], path: Path) -> None:
    stream.seek(0)
    with path.open("wb", buffering=0) as sink:
        shutil.copyfileobj(stream, sink)


@contextlib.contextmanager
def _temporary_file(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Provide a new file beside another, locked; gone afterwards unless it got another name."""
    collect(target.parent)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        temporary = target.parent / _unfinished(target.name)
        _live.add(temporary)
        try:
            with os.fdopen(os.open(temporary, flags, 0o666), "w+b") as stream:
                if not _locked(stream.fileno(), wait=True) or _is_at(stream.fileno(), temporary):
                    yield stream, temporary
                    return
        finally:
            temporary.unlink(missing_ok=True)
            _live.discard(temporary)


@contextlib.contextmanager
def temporary_folder(beside: Path | None = None) -> Iterator[Path]:
    """Provide a private folder: beside another that it may become, else where the system has them.

    It is gone afterwards, and taken away by a later run where this one is killed.
    """
    parent = Path(tempfile.gettempdir()) if beside is None else beside.parent
    collect(parent)
    while True:
        folder = parent / _unfinished("boolcomp" if beside is None else beside.name)
        _live.add(folder)
        handle = -1
        try:
            folder.mkdir(mode=0o700)
            if fcntl is None:
                yield folder
                return
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            if not _locked(handle, wait=True) or _is_at(handle, folder):
                yield folder
                return
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if handle >= 0:
                os.close(handle)
            _live.discard(folder)


def remove_unfinished() -> None:
    """Remove the temporary files and folders of this process, where it has to end at once."""
    for path in tuple(_live):
        _remove(path)


def collect(folder: Path) -> None:
    """Remove what killed runs of this user left unfinished in a folder: once a process."""
    if fcntl is None or folder in _folders:
        return
    _folders.add(folder)
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(".") and entry.name.endswith(UNFINISHED):
                with contextlib.suppress(OSError):
                    _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.fstat(handle).st_uid != os.getuid() or not _locked(handle, wait=False):
            return
        # The program that a killed run was about to replace, on a system that cannot exchange.
        if not (path / "old").is_dir() and _is_at(handle, path):
            _remove(path)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def exchange(new: Path, target: Path, old: Path) -> None:
    """Put a folder in the place of another: at once where Linux can, else by way of `old`."""
    try:
        library = ctypes.CDLL(None)
        done = library.renameat2(_HERE, os.fsencode(new), _HERE, os.fsencode(target), _EXCHANGE)
    except (OSError, AttributeError, TypeError):
        done = -1
    if done == 0:
        return
    target.rename(old)
    try:
        new.rename(target)
    except OSError:
        old.rename(target)
        raise


def sync_folder(folder: Path) -> None:
    """See to it that the names in a folder outlast a power failure, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _unfinished(name: str) -> str:
    return f".{name[:_LONGEST]}.{secrets.token_hex(6)}{UNFINISHED}"


def _locked(handle: int, *, wait: bool) -> bool:
    """Lock a file or folder as long as it is open; tell whether that worked."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # somebody else's, or a file system without locks
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Tell whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except OSError:
        return False


def shipped(folder: str) -> Path:
    """Return a folder of shipped data: inside an installed wheel, or beside the package."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "shipped" / folder
    return inside if inside.is_dir() else package.parent / folder
