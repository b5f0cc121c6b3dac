"""Stores of objects as places of results: s3://, gs://, abfs://, memory://, by fsspec (an extra).

An object is put whole under its name, so a reader sees one or none. A store is asked in a thread
that may be left behind: whatever hangs, hangs no longer than a deadline, and who does not answer,
or says no several times in a row, is not asked again by this process. Objects are not listed: what
is looked for has one name.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from boolcomp.base.files import MOST_BYTES
from boolcomp.common.errors import DataError, DataWarning, UsageError, cut, shown, suggestion
from boolcomp.common.places import Folder, MissingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.common.places import Place

Value = TypeVar("Value")

DEADLINE = 30.0  # seconds for one object
TICK = 0.2  # seconds between two looks at signals
LONGEST = 300  # characters of what a store says
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
    """A store of objects under an address: anybody may have written there."""

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
            raise DataError(f"{path}: too large: at most {MOST_BYTES} bytes are read")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from error

    def write(self, name: str, text: str, stem: str = "", *, durable: bool = True) -> str:
        """Put an object; its name is without the stem, so that it can be asked for."""
        del stem, durable
        if self.address in _failed:
            raise DataError(f"{self.address}: {_failed[self.address]}")
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
            raise DataError(f"--store {error}") from error
        if found != FORMAT:
            raise DataError(f"--store {self.address}: its {HEAD} says {shown(found)}")
        return self

    def _head(self) -> str:
        try:
            return self.read(HEAD)
        except MissingError:
            self.write(HEAD, FORMAT)
            return FORMAT

    def _asked(self, ask: Callable[[], Value]) -> Value:
        """Return what a store answers; a `DataError` where it does not, or says no."""
        try:
            answer = _within(DEADLINE, ask)
        except FileNotFoundError as error:
            raise MissingError(f"{self.address}: there is no such object, or bucket") from error
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
            warnings.warn(f"{self.address}: {why}: it is not used", DataWarning, stacklevel=5)
            raise MissingError(f"{self.address}: {why}")
        raise DataError(f"{self.address}: {why}")

    def __str__(self) -> str:
        return self.address


def bucket(address: str) -> Place:
    """Return the place of an address; what is none is a `UsageError`. `file://` is a folder."""
    scheme = urlsplit(address).scheme
    if "::" in address or not address.isprintable():
        raise UsageError(f"{shown(address)} is no place of results: {WHERE}")
    if scheme in ("file", "local"):
        from pathlib import Path  # noqa: PLC0415 (of this branch alone)

        return Folder(Path(address.split("://", 1)[1] or "/"))
    try:
        from fsspec import available_protocols, registry  # noqa: PLC0415 (an extra)
    except ImportError:
        raise UsageError(
            f"{shown(address)} needs fsspec, and for s3:// s3fs: pip install 'boolcomp[cluster]'"
        ) from None
    known = {*available_protocols(), *registry}
    if scheme not in known:
        hint = suggestion(scheme, sorted(known))
        raise UsageError(f"{shown(address)}: no kind of store is called {shown(scheme)}{hint}")
    if not address.split("://", 1)[1].strip("/"):
        raise UsageError(f"{shown(address)} names no bucket: {WHERE}")
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
    """Return what a call returns within so many seconds, or leave it behind: a `TimeoutError`."""
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
        thread.join(min(TICK, left))  # Ctrl-C is heard in between
        left -= TICK
    if errors:
        raise errors[0]
    if not answers:
        raise TimeoutError
    return answers[0]
