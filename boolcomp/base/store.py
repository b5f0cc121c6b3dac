"""Caches and stores of results: files that are complete or absent.

Each kind of result has names for its files, a parser and a verifier (`find`); damaged files are
ignored. Results are stored in places (`places`): named places, the shipped folder, and the user's
cache, a folder that only this user can write to. Files of the cache are trusted, compiled code
among them. Every read checks the owner and permissions of the folder and the file on open
descriptors. If the usual folder is absent or not private, a private one in the temporary folder is
used.

Other users may have written to a named place. Contents that this user wrote or proved are recorded
in the user's cache (`attest`); all other contents are verified before use.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import stat
import tempfile
import threading
import warnings
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar
from urllib.parse import urlsplit

from boolcomp.base import VERSION
from boolcomp.base.errors import (
    BoolcompError,
    DataError,
    DataWarning,
    UsageError,
    cut,
    shown,
    suggestion,
    warn,
)
from boolcomp.base.files import (
    MOST_BYTES,
    collect,
    read_text,
    shipped,
    temporary_folder,
    whole_file,
    write_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


# --------------------------------------------------------------------------------------------------
# The user's cache: files that are complete or absent.
# --------------------------------------------------------------------------------------------------


MOST_ENTRIES = 256  # of native code, mappings or cell counts in a folder
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
    """Tell whether only this user can have written a file or folder."""
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
        raise DataError("belongs to another user, or others may write to it", where=path)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text (byte {error.start})", where=path) from error


def read_private(path: Path) -> bytes | None:
    """Return the content of a file if only this user can have written it (checked while open)."""
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
    """Provide a descriptor of a file in the folder whose owner was checked."""
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


def attest(name: str, text: str) -> None:
    """Record that a text with this name was made or proved by this user."""
    key = _voucher(name, text)
    keep(user_cache("vouched") / key, sealed(key), durable=False)


def is_vouched(name: str, text: str) -> bool:
    """Tell whether a text with this name was made or proved by this user."""
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
            warn(f"{complaint}: {error}")
        return False
    return True


def sealed(body: str) -> str:
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
    """Return the result of `make` for these parts, from the user's cache if it is there."""
    path = entry_path(folder, ending, parts)
    code = read_entry(path)
    if code is None:
        code = make()
        write_entry(path, code)
    return code


def entry_path(folder: str, ending: str, parts: Iterable[str]) -> Path:
    """Return the file of the user's cache for a result of these parts."""
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return user_cache(folder) / f"{key}{ending}"


def installed_as(path: Path) -> str:
    """Return a text for keys of results, which changes if the file of a tool changes."""
    status = path.stat()
    return f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"


def read_entry(path: Path) -> bytes | None:
    """Return the bytes stored under a name, or None if they cannot be trusted."""
    content = read_private(path)
    start = len(MAGIC) + hashlib.sha256().digest_size
    if content is None or content[:start] != _head(path, content[start:]):
        return None
    return content[start:]


def write_entry(path: Path, code: bytes) -> None:
    """Store a result; without a writable folder it is not stored."""
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
    warn(f"{why}: results are kept in {folder}")
    return folder


# --------------------------------------------------------------------------------------------------
# Places of results: folders, and object stores that many machines share.
#
# A place is a small value that can be pickled. Its files are `trusted` if it is the user's cache or
# the shipped folder; readers of a shared place verify every result. Files appear as a whole:
# folders rename, object stores put whole objects. Two writers of one name write equal bytes.
# --------------------------------------------------------------------------------------------------


Value = TypeVar("Value")


class ResultPlace(Protocol):
    """Where files are, by their names."""

    @property
    def trusted(self) -> bool:
        """Whether only this user or the makers of boolcomp can have written there."""

    def names(self, pattern: str) -> list[str]:
        """Return the names of files that a pattern may mean, sorted."""

    def read(self, name: str) -> str:
        """Return a text; a `DataError` where it cannot be read."""

    def write(self, name: str, text: str, stem: str = "", *, durable: bool = True) -> str:
        """Write a text whole or not at all, and return its name.

        Folders put a readable stem before the name; readers search for `*.name`.
        """

    def check(self) -> ResultPlace:
        """Return this; a `DataError` where it is known that nothing can be read or kept there."""


class Entry(NamedTuple):
    """A file of a place; it is `believed` if the place is trusted, or it was made or proved here.

    As a text it is where it lies.
    """

    place: ResultPlace
    name: str
    believed: bool

    def __str__(self) -> str:
        return f"{self.place}/{self.name}"


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder; one that was named is shared, whoever owns it: its files may come from anywhere."""

    path: Path
    trusted: bool = False

    def names(self, pattern: str) -> list[str]:
        return sorted(path.name for path in self.path.glob(pattern))

    def read(self, name: str) -> str:
        return read_kept(self.path / name)

    def write(self, name: str, text: str, stem: str = "", *, durable: bool = True) -> str:
        """Write a file whole or not at all, and return its name."""
        full = f"{stem}.{name}" if stem else name
        write_text(self.path / full, text, durable=durable)
        return full

    def check(self) -> Folder:
        return self

    def __str__(self) -> str:
        return str(self.path)


Where: TypeAlias = "ResultPlace | Path | str"


def own_place(folder: str) -> Folder:
    return Folder(user_cache(folder), trusted=True)


def shipped_place(folder: str) -> Folder:
    return Folder(shipped(folder), trusted=True)


def place_of(where: Where) -> ResultPlace:
    """Return a place by its text or path: a folder, or an address such as s3://bucket/folder."""
    if not isinstance(where, str | os.PathLike):
        return where
    text = os.fspath(where)
    if "://" in text and isinstance(where, str):
        return bucket(text)
    if not text:
        raise UsageError(
            f"{shown(text)} is no place of results", "give a folder, or s3://BUCKET/PATH"
        )
    return Folder(Path(text))


def everywhere(place: ResultPlace) -> ResultPlace:
    return Folder(place.path.absolute(), place.trusted) if isinstance(place, Folder) else place


def find(
    places: Iterable[ResultPlace | Path],
    name: str,
    parse: Callable[[Entry, str], Value],
    complaint: str = "",
) -> Iterator[Value]:
    """Yield the parsed contents of files of a name (or pattern), place after place.

    Files that cannot be read or parsed are skipped, with the warning `complaint` (a template with
    `{path}` and `{error}`) if one is given.
    """
    for place in map(place_of, places):
        for each in place.names(name):
            entry = Entry(place, each, place.trusted)
            try:
                text = place.read(each)
                if not place.trusted:
                    entry = entry._replace(believed=is_vouched(_known_as(each, name), text))
                value = parse(entry, text)
            except MissingError:
                continue
            except DAMAGE as error:
                if complaint:
                    told = complaint.format(path=entry, error=error)
                    warn(told)
            else:
                yield value


def put(
    place: ResultPlace, name: str, text: str, complaint: str = "", *, stem: str = ""
) -> str | None:
    """Write what was made here to a place; return its name, or None where it cannot be written."""
    try:
        made = place.write(name, text, stem)
    except DataError as error:
        if complaint:
            warn(f"{complaint}: {error}")
        return None
    if not place.trusted:
        attest(name, text)
    return made


def _known_as(name: str, pattern: str) -> str:
    """Return the name without what people read: what it was looked for by."""
    ending = pattern.removeprefix("*.")
    return ending if pattern.startswith("*.") and name.endswith(ending) else name


class MissingError(DataError):
    """There is no such file: nothing to complain about."""


# --------------------------------------------------------------------------------------------------
# Object stores as places of results: s3://, gs://, abfs://, memory://, by fsspec (an extra).
#
# Objects are put as a whole. Each request runs in a thread with a deadline; the thread is abandoned
# when the deadline passes. After several failures in a row a store is not used again by this
# process. Objects are not listed: each has one name.
# --------------------------------------------------------------------------------------------------


DEADLINE = 30.0  # seconds for one object
TICK = 0.2  # seconds between two looks at signals
LONGEST = 300  # characters of an error message of a store
HEAD, FORMAT = "boolcomp-store.txt", "boolcomp store, format 1\n"
TRIES = {"connect_timeout": 5, "read_timeout": 20, "retries": {"max_attempts": 2}}
OPTIONS: dict[str, dict[str, Any]] = {  # of fsspec's file systems, by the address's scheme
    "s3": {"config_kwargs": TRIES, "use_listings_cache": False},
    "s3a": {"config_kwargs": TRIES, "use_listings_cache": False},
}
WHERE = "give a folder, or an address such as s3://bucket/folder"
MOST_FAILURES = 3  # in a row: then it is the store, and not the object
_failures: dict[str, int] = {}  # in a row, by address
_failed: dict[str, str] = {}  # addresses that are not asked again, and why


@dataclass(frozen=True, slots=True)
class Bucket:
    """An object store at an address; other users may have written there."""

    address: str
    trusted: ClassVar[bool] = False

    def names(self, pattern: str) -> list[str]:
        """Return the one name that an object has for a pattern; none of a store out of use."""
        if self.address in _failed:
            return []
        return [re.sub(r"\[([*?[])\]", r"\1", pattern.removeprefix("*."))]

    def read(self, name: str) -> str:
        """Return a text, of at most so many bytes as of a file."""
        path = f"{self.address}/{name}"
        data: bytes = self._asked(lambda: _system(self.address).cat_file(path, end=MOST_BYTES + 1))
        if len(data) > MOST_BYTES:
            raise DataError(f"larger than {MOST_BYTES} bytes", where=path)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"not UTF-8 text (byte {error.start})", where=path) from error

    def write(self, name: str, text: str, stem: str = "", *, durable: bool = True) -> str:
        """Put an object; its name has no stem, so that readers know it."""
        del stem, durable
        if self.address in _failed:
            raise DataError(_failed[self.address], where=self.address)
        path = f"{self.address}/{name}"
        self._asked(lambda: _system(self.address).pipe_file(path, text.encode()))
        return name

    def check(self) -> Bucket:
        """Return this if it can be used: it has an object that says so, or takes one."""
        forget(self.address)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # it is an error here
                found = self._head()
        except DataError as error:
            raise DataError.around(error, "--store") from error
        if found != FORMAT:
            raise DataError(
                f"no store of boolcomp: its {HEAD} contains {shown(found)}", "use another --store"
            )
        return self

    def _head(self) -> str:
        try:
            return self.read(HEAD)
        except MissingError:
            self.write(HEAD, FORMAT)
            return FORMAT

    def _asked(self, ask: Callable[[], Value]) -> Value:
        """Return the answer of a store; raise a `DataError` for a failure or no answer."""
        try:
            answer = _within(DEADLINE, ask)
        except FileNotFoundError as error:
            raise MissingError("there is no such object, or bucket", where=self.address) from error
        except TimeoutError:
            why, failures = f"no answer within {DEADLINE:g} s", MOST_FAILURES
        except Exception as error:  # noqa: BLE001 (whatever a store and its library say)
            said = " ".join(str(error).split()) or type(error).__name__
            why, failures = cut(said, LONGEST), _failures.get(self.address, 0) + 1
        else:
            _failures.pop(self.address, None)
            return answer
        _failures[self.address] = failures
        if failures >= MOST_FAILURES and self.address not in _failed:
            _failed[self.address] = why
            warn(f"{self.address}: {why}: it is not used")
            raise MissingError(why, where=self.address)
        raise DataError(why, where=self.address)

    def __str__(self) -> str:
        return self.address


def bucket(address: str) -> ResultPlace:
    """Return the place of an address or raise a `UsageError`. `file://` is a folder."""
    scheme = urlsplit(address).scheme
    if "::" in address or not address.isprintable():
        raise UsageError(f"{shown(address)} is no place of results", WHERE)
    if scheme in ("file", "local"):
        return Folder(Path(address.split("://", 1)[1] or "/"))
    try:
        from fsspec import available_protocols, registry  # noqa: PLC0415 (an extra)
    except ImportError:
        raise UsageError(
            f"{shown(address)} needs fsspec, and for s3:// s3fs", "pip install 'boolcomp[cluster]'"
        ) from None
    known = {*available_protocols(), *registry}
    if scheme not in known:
        hint = suggestion(scheme, sorted(known), 0.5)
        raise UsageError(f"no kind of store is called {shown(scheme)}", hint, where=shown(address))
    if not address.split("://", 1)[1].strip("/"):
        raise UsageError(f"{shown(address)} names no bucket", WHERE)
    return Bucket(address.rstrip("/"))


def forget(address: str) -> None:
    """Ask a store again that did not answer."""
    _failed.pop(address, None)
    _failures.pop(address, None)


def _system(address: str) -> Any:
    return _file_system(address, os.getpid())


@lru_cache(maxsize=16)
def _file_system(address: str, _: int) -> Any:
    """Return the file system of an address, one a process: its threads do not outlive a fork."""
    from fsspec.core import url_to_fs  # noqa: PLC0415 (an extra)

    scheme = urlsplit(address).scheme
    return url_to_fs(address, **OPTIONS.get(scheme, {}))[0]


def _within(seconds: float, ask: Callable[[], Value]) -> Value:
    """Return the result of a call, or raise a `TimeoutError` after some seconds and abandon it."""
    answers: list[Value] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(ask())
        except BaseException as error:  # noqa: BLE001 (whoever waits raises it)
            errors.append(error)

    thread = threading.Thread(target=run, name="store", daemon=True)
    thread.start()
    left = seconds
    while thread.is_alive() and left > 0:
        thread.join(min(TICK, left))  # Ctrl-C is handled in between
        left -= TICK
    if errors:
        raise errors[0]
    if not answers:
        raise TimeoutError
    return answers[0]
