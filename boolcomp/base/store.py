"""Results that are kept, by what they are the results of: in files, complete or not there.

A kind of results gives the names of its files, and how they are parsed and verified (`find`); what
is damaged is as good as not there. They lie in places (`places`): those that were named, what
ships, and the user's cache, a folder that nobody else can write to. What lies there is believed, or
even run, because only this user can have put it there: every read asks who owns the folder and the
file, and who may write to them, on what it has opened. Where the usual folder is not private, or
there is none, a private one among the temporary files is used.

In places that were named anybody may have written. What this user put there, or has proved, is
remembered by its content in the user's cache (`vouch`); nothing else is believed unproved.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import hashlib
import os
import shutil
import stat
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.files import collect, read_text, temporary_folder, whole_file, write_text
from boolcomp.base.version import VERSION
from boolcomp.common.errors import BoolcompError, DataError, DataWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MOST_ENTRIES = 256  # of native code in a folder
DAMAGE = (  # what parsing an entry of unknown origin may raise
    BoolcompError, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError,
    RecursionError, TypeError, ValueError,
)  # fmt: skip
MAGIC = b"boolcomp object 1\n"
_OTHERS = 0o022  # may write


def user_cache(folder: str) -> Path:
    """Return a private folder of this user: $XDG_CACHE_HOME/boolcomp/… or ~/.cache/boolcomp/….

    It is made if it can be.
    """
    root = _root()
    if root is None:
        return _made_folder(_fallback("there is no home folder") / folder)
    for path in (root, root / folder):
        with contextlib.suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            if not is_ours(path.stat()):
                why = f"{path} belongs to another user, or others may write to it"
                return _made_folder(_fallback(f"{why} (chmod go-w would do)") / folder)
    return root / folder


def is_ours(status: os.stat_result) -> bool:
    """Tell whether nobody but this user can have written a file or folder."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & _OTHERS


def read_kept(path: Path) -> str:
    """Return the text of a stored result; within the user's cache it must be this user's own."""
    root = _root()
    if root is None or not path.is_relative_to(root):
        return read_text(path)  # a folder that was named is trusted; what ships is as the program
    content = read_private(path)
    if content is None:
        raise DataError(f"{path}: belongs to another user, or others may write to it")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from error


def read_private(path: Path) -> bytes | None:
    """Return a file's content if only this user can have written it; asked of what is open."""
    try:
        with _opened(path) as handle:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or not is_ours(status):
                return None
            with open(handle, "rb", closefd=False) as stream:
                return stream.read()
    except OSError:
        return None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Provide a descriptor of a file, found in the very folder that was asked for its owner."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    if os.open not in os.supports_dir_fd:
        handle = os.open(path, flags)
    else:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if not is_ours(os.fstat(folder)):
                raise PermissionError(path.parent)
            handle = os.open(path.name, flags, dir_fd=folder)
        finally:
            os.close(folder)
    try:
        yield handle
    finally:
        os.close(handle)


def vouch(name: str, text: str) -> None:
    """Remember that what a text says under a name was made or proved here."""
    key = _voucher(name, text)
    keep(user_cache("vouched") / key, sealed(key), durable=False)


def is_vouched(name: str, text: str) -> bool:
    """Tell whether what a text says under a name was made or proved here."""
    key = _voucher(name, text)
    content = read_private(user_cache("vouched") / key)
    return content is not None and content == sealed(key).encode()


def _voucher(name: str, text: str) -> str:
    return hashlib.sha256(f"{VERSION}\0{name}\0{text}".encode()).hexdigest()


def keep(path: Path, text: str, complaint: str = "", *, durable: bool = True) -> bool:
    """Write a file of a result whole or not at all; tell whether it could be written."""
    try:
        write_text(path, text, durable=durable)
    except DataError as error:
        if complaint:
            warnings.warn(f"{complaint}: {error}", DataWarning, stacklevel=3)
        return False
    return True


def sealed(body: str) -> str:
    """Return a text that begins with its checksum."""
    return f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}\n"


def unsealed(text: str) -> str:
    """Undo `sealed`; a `DataError` where the checksum is that of another text."""
    seal, _, body = text.partition("\n")
    digest = seal.removeprefix("# sha256 ")  # so earlier versions began networks of covers
    for whole in (body.removesuffix("\n"), body):
        if digest == hashlib.sha256(whole.encode()).hexdigest():
            return whole
    raise DataError("the checksum is wrong")


def native_code(folder: str, ending: str, parts: Iterable[str], make: Callable[[], bytes]) -> bytes:
    """Return what `make` makes of these parts, from the user's cache where it is there."""
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    path = user_cache(folder) / f"{key}{ending}"
    code = read_entry(path)
    if code is None:
        code = make()
        write_entry(path, code)
    return code


def read_entry(path: Path) -> bytes | None:
    """Return native code that was stored under a name, or nothing where it cannot be trusted."""
    content = read_private(path)
    start = len(MAGIC) + hashlib.sha256().digest_size
    if content is None or content[:start] != _head(path, content[start:]):
        return None
    return content[start:]


def write_entry(path: Path, code: bytes) -> None:
    """Store native code; without a writable folder it is not stored."""
    with contextlib.suppress(OSError, DataError):
        with whole_file(path, durable=False) as stream:
            stream.write(_head(path, code) + code)
        path.chmod(0o600)  # whatever the umask: one that others may write is not read
        _prune(path)


def _head(path: Path, code: bytes) -> bytes:
    return MAGIC + hashlib.sha256(path.name.encode() + b"\0" + code).digest()


def _prune(newest: Path) -> None:
    """Remove the oldest entries beyond the most that are kept."""
    found = newest.parent.glob(f"*{newest.suffix}")
    entries = sorted(found, key=lambda path: path.stat().st_mtime)
    for path in entries[: max(0, len(entries) - MOST_ENTRIES)]:
        path.unlink(missing_ok=True)


def load_library(code: bytes) -> ctypes.CDLL:
    """Load a shared object from memory: by way of a file that only this process has."""
    own = user_cache("rivals")  # temporary files may lie where nothing can be run
    with temporary_folder(own / "library" if os.access(own, os.W_OK) else None) as folder:
        path = folder / "library.so"
        path.write_bytes(code)
        return ctypes.CDLL(str(path))


def _root() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        home = Path(base) if Path(base).is_absolute() else Path("~/.cache").expanduser()
    except RuntimeError:  # neither HOME nor an entry for this user
        return None
    return home / "boolcomp"


def _made_folder(path: Path) -> Path:
    with contextlib.suppress(OSError):
        path.mkdir(mode=0o700, exist_ok=True)
    return path


@cache
def _fallback(why: str) -> Path:
    """Return a private folder among the temporary files: the same again where that is safe."""
    parent = Path(tempfile.gettempdir())
    folder = parent / f"boolcomp-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700)
    status = folder.lstat() if folder.exists() else None
    if status is None or not stat.S_ISDIR(status.st_mode) or not is_ours(status):
        folder = Path(tempfile.mkdtemp(prefix="boolcomp-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    collect(folder)
    warnings.warn(f"{why}: results are kept in {folder}", DataWarning, stacklevel=3)
    return folder
