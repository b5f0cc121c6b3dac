"""Reading and writing whole files: a file appears complete under its name, or not at all.

Incomplete files have names that end in `.boolcomp-tmp` and are locked while their process runs. A
killed run leaves such files and folders; the next run that writes to the folder deletes unlocked
ones.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from boolcomp.base.errors import MOST_JSON, DataError, NotFoundError, parse_json, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there, and nothing collected
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".boolcomp-tmp"
_LONGEST = 40  # characters of a file's name in that of its temporary file
PATIENCE, TICK = 30.0, 0.02  # seconds until a pipe has a reader; between two looks
# Devices that take output: descriptors of this process by their names, null and terminals.
_DESCRIPTOR = re.compile(r"/dev/(stdout|stderr)|(?:/dev/fd|/proc/self/fd)/(\d{1,9})")
_STANDARD = {"stdout": 1, "stderr": 2}
_TERMINAL = re.compile(r"/dev/(null|tty\w*|pts/\d+|console)")
_HERE, _EXCHANGE = -100, 2  # of renameat2: AT_FDCWD, RENAME_EXCHANGE
_folders: set[Path] = set()  # where this process has collected
_live: set[Path] = set()  # temporary files and folders of this process
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_live.clear)  # those are its parent's


MOST_NAMES = 1000  # of a folder that are compared with a misspelt one
MOST_BYTES = 1 << 28  # of a text that is read at once
# A link may lead to a file of another user, and a pipe may have no other end.
PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)  # where systems differ between text and data


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Return the UTF-8 text of a file, or raise a `DataError`.

    Only regular files of at most `most` bytes are read (no devices, no pipes).
    """
    data = read_bytes(path, most)
    try:
        # Line ends as in text mode.
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text (byte {error.start})", where=path) from error


def read_json(path: Path, most: int = MOST_JSON) -> Any:
    return parse_json(read_text(path, most), str(path), most)


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file; a sentence as `DataError` as for `read_text`."""
    with regular_file(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        data = b"" if size > most else stream.read(most + 1)
    if max(size, len(data)) > most:
        raise DataError(f"larger than {most} bytes", where=path)
    return data


@contextlib.contextmanager
def regular_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading; raise a `DataError` for other files and read errors."""
    try:
        with os.fdopen(_handle(path), "rb") as stream:
            yield stream
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> DataError:
    """Return the error of a path that cannot be read, with a hint for a misspelt name."""
    if isinstance(error, FileNotFoundError):
        return NotFoundError("no such file or folder", similar_names(path), where=path)
    return DataError(f"cannot be read: {error.strerror or error}", where=path)


def similar_names(path: Path, suffixes: Collection[str] | None = None) -> str:
    """Return a hint with a similar name in the folder of a path, or nothing."""
    try:
        with os.scandir(path.parent) as entries:
            names = sorted(one.name for one in islice(entries, MOST_NAMES))
    except (OSError, ValueError):
        return ""
    near = [
        one for one in names
        if one != path.name and (suffixes is None or Path(one).suffix in suffixes)
    ]  # fmt: skip
    return suggestion(str(path), [str(path.parent / one) for one in near], cutoff=0.75)


def _handle(path: Path) -> int:
    """Return a descriptor of a regular file; other kinds of files are not opened."""
    try:
        _require_regular(path, path.stat().st_mode)
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except ValueError as error:
        raise DataError(f"the file name {str(path)!r} contains a zero byte") from error
    try:
        _require_regular(path, os.fstat(handle).st_mode)  # it may have been exchanged
    except BaseException:
        os.close(handle)
        raise
    return handle


def _require_regular(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise DataError("cannot be read: not a regular file", where=path)


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
    write_bytes(path, text.encode(), durable=durable)


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file atomically."""
    with whole_file(path, durable=durable) as stream:
        stream.write(data)


@contextlib.contextmanager
def whole_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Provide a stream to a temporary file that becomes `path` if the block ends without exception.

    Otherwise `path` is unchanged and the temporary file is deleted. A folder is refused; a link, a
    pipe, a socket or a device is replaced and never opened. A file that is not `durable` can be
    damaged by a power failure (for caches whose contents are verified).
    """
    with telling(path):
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            mode = None
        with _replaced(path, mode, durable=durable) as stream:
            yield stream


@contextlib.contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Provide a stream to a file that a user named, which appears whole as `whole_file` has it.

    A symbolic link stays one: the file that it names is written. A pipe or a device gets the bytes
    once they are complete.
    """
    with telling(path):
        mode = _output_mode(path)
        if mode is None or stat.S_ISREG(mode):
            with _replaced(Path(os.path.realpath(path)), mode, durable=True) as stream:
                yield stream
            return
        import shutil  # noqa: PLC0415 (a pipe or a device is rare)
        import tempfile  # noqa: PLC0415 (likewise)

        with tempfile.TemporaryFile() as stream:
            yield cast("BinaryIO", stream)
            stream.seek(0)
            with os.fdopen(_sink(path), "wb") as sink:
                shutil.copyfileobj(stream, sink)


def write_output(path: Path, content: str | bytes) -> None:
    """Write a file that a user named, as `output_file` has it."""
    with output_file(path) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def outputs() -> Iterator[Callable[[Path, str | bytes], None]]:
    """Provide what writes the files of one result, each as `write_output` does.

    Where the block fails, files and folders that were not there before are taken away.
    """
    new: list[Path] = []

    def put(path: Path, content: str | bytes) -> None:
        new.extend(_missing_folders(path))
        if not os.path.lexists(path):
            new.append(path)
        write_output(path, content)

    with _taken_back(new):
        yield put


@contextlib.contextmanager
def folder_of(path: Path) -> Iterator[None]:
    """Make the folder of a file; where the block fails, folders that were made are taken away."""
    with _taken_back(_missing_folders(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        yield


def _missing_folders(path: Path) -> list[Path]:
    return [one for one in reversed(path.absolute().parents) if not os.path.lexists(one)]


@contextlib.contextmanager
def _taken_back(new: Sequence[Path]) -> Iterator[None]:
    """Remove files and empty folders where the block fails, the last first."""
    try:
        yield
    except BaseException:
        for path in reversed(new):
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    path.unlink()
        raise


@contextlib.contextmanager
def telling(path: object) -> Iterator[None]:
    """Make a sentence of what a system says about writing."""
    try:
        yield
    except OSError as error:
        text = error.strerror or type(error).__name__
        raise DataError(f"cannot be written: {text}", where=path) from error
    except ValueError as error:
        if "\0" not in str(path):
            raise
        raise DataError(f"the file name {str(path)!r} contains a zero byte") from error


@contextlib.contextmanager
def _replaced(target: Path, mode: int | None, *, durable: bool) -> Iterator[BinaryIO]:
    """Provide a stream for a new file; `mode` is that of the existing file (None: no file)."""
    if mode is not None and stat.S_ISDIR(mode):
        raise DataError(
            "cannot be written: it is a folder", "give the name of a file", where=target
        )
    with folder_of(target):
        with _temporary_file(target) as (stream, temporary):
            yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
            if mode is not None and stat.S_ISREG(mode):
                temporary.chmod(stat.S_IMODE(mode))
            temporary.replace(target)
        if durable:
            sync_folder(target.parent)


def check_place(path: Path) -> None:
    """Raise a `DataError` where no output can be written, before work that takes long."""
    with telling(path):
        mode = _output_mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            return
        folder = next(one for one in path.absolute().parents if one.exists())
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        import tempfile  # noqa: PLC0415 (few commands need it)

        with tempfile.TemporaryFile(dir=folder):  # rights alone do not tell, as of root in /proc
            pass


def _output_mode(path: Path) -> int | None:
    """Return the mode of an output path (None: no file); refuse paths that cannot be written."""
    if _DESCRIPTOR.fullmatch(_plain(path)):
        return stat.S_IFIFO
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise DataError("cannot be written: it is a folder", "give the name of a file", where=path)
    if stat.S_ISREG(mode) or stat.S_ISFIFO(mode):
        return mode
    if stat.S_ISCHR(mode) and _TERMINAL.fullmatch(os.path.realpath(path)):
        return mode
    raise DataError(
        "cannot be written: neither a file nor a pipe",
        "of devices, use /dev/null, /dev/stdout, /dev/stderr, /dev/fd/N or a terminal", where=path,
    )  # fmt: skip


def _plain(path: Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100 (links stay)


def _sink(path: Path) -> int:
    """Return a descriptor that takes the bytes of an output: of a pipe, once it has a reader."""
    found = _DESCRIPTOR.fullmatch(_plain(path))
    if found is not None:
        return os.dup(_STANDARD[found[1]] if found[1] else int(found[2]))
    flags = os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | _BINARY
    end = time.monotonic() + PATIENCE
    while True:
        try:
            handle = os.open(path, flags)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() >= end:
                text = f"nobody has read from this pipe for {PATIENCE:g} s"
                raise DataError(f"cannot be written: {text}", where=path) from error
            time.sleep(TICK)
        else:
            os.set_blocking(handle, True)
            return handle


@contextlib.contextmanager
def _temporary_file(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Provide a new locked file in the folder of another; it is deleted unless it is renamed."""
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
    """Provide a private folder: next to the folder that it may become, or in the temporary folder.

    It is deleted afterwards; if this process is killed, a later run deletes it.
    """
    import tempfile  # noqa: PLC0415 (few commands need it)

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
            _remove_folder(folder)
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
        _remove_folder(path)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _remove_folder(folder: Path) -> None:
    import shutil  # noqa: PLC0415 (few commands need it)

    shutil.rmtree(folder, ignore_errors=True)


def exchange(new: Path, target: Path, old: Path) -> None:
    """Put a folder in the place of another: at once where Linux can, else by way of `old`."""
    import ctypes  # noqa: PLC0415 (few commands need it)

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
    return f".{name[:_LONGEST]}.{os.urandom(6).hex()}{UNFINISHED}"


def _locked(handle: int, *, wait: bool) -> bool:
    """Lock a file or folder as long as it is open; tell whether that worked."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # a file of another user, or a file system without locks
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Tell whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except OSError:
        return False


def shipped(folder: str) -> Path:
    """Return a folder of shipped data: inside an installed wheel, or next to the package."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "shipped" / folder
    return inside if inside.is_dir() else package.parent / folder
