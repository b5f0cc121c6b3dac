"""Which chunks of a run are done: a sealed line each, in the order in which they were done.

The first line says what run it is. Whatever ends a run, the lines that are whole are true: a line
is written when its chunk's results are on the disk. A torn or damaged line, or one that a power
failure took, is as good as none: its chunk is done again. One process at a time has the journal.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any, Self

from boolcomp.base.errors import parse_json
from boolcomp.base.files import PLAIN, sync_folder
from boolcomp.common.errors import DataError, listing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there
    fcntl = None  # type: ignore[assignment]

MOST_LINE = 1 << 16
SEAL = 16  # digits of a digest


class Journal:
    """The journal of a run; `done` are the records of chunks, by their numbers."""

    def __init__(self, path: Path, run: Mapping[str, Any]) -> None:
        self.path, self.run = path, dict(run)
        self.done: dict[int, dict[str, Any]] = {}
        self._key = ""
        self._handle = -1

    def __enter__(self) -> Self:
        try:
            self._require_plain()
            self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | PLAIN, 0o644)
            self._require_file(os.fstat(self._handle).st_mode)
            self._lock()
            self._read()
        except OSError as error:
            self.close()
            raise DataError(f"{self.path}: cannot be written: {error.strerror}") from error
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_plain(self) -> None:
        """Refuse what is no file before it is opened: a pipe's reader would take notice."""
        with contextlib.suppress(FileNotFoundError):
            self._require_file(self.path.lstat().st_mode)

    def _require_file(self, mode: int) -> None:
        """Refuse what is no file, and a folder that lies elsewhere: it is to be removed."""
        if self.path.parent.is_symlink() or not stat.S_ISREG(mode):
            raise DataError(f"{self.path.parent}: holds no journal of a run: take it away")

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"{self.path.parent}: another run is at it: wait for its end, or end it"
            raise DataError(text) from None

    def _read(self) -> None:
        """Read what is there; what follows the last whole line is cut off."""
        head, end = _line(self.run, ""), 0
        self._key = head[:SEAL]
        with open(self._handle, "rb", closefd=False) as stream:
            for k, line in enumerate(iter(lambda: stream.readline(MOST_LINE), b"")):
                text = line.decode("utf-8", "replace")
                if k == 0:
                    self._check(text, head)
                else:
                    self._note(text)
                end = stream.tell() if text.endswith("\n") else end
        os.ftruncate(self._handle, end)
        os.lseek(self._handle, end, os.SEEK_SET)
        if end == 0:
            self._write(head)
            sync_folder(self.path.parent)

    def _check(self, text: str, head: str) -> None:
        if text == head or not text.endswith("\n"):
            return
        found = _parsed(text, "") or {}
        other = [name for name in self.run if found.get(name) != self.run[name]]
        what = f"other {listing(other)}" if found else "it cannot be read"
        raise DataError(
            f"{self.path.parent}: is of another run ({what}): take it away, or give the command "
            "that it is of"
        )

    def _note(self, text: str) -> None:
        record = _parsed(text, self._key)
        if record is not None:
            self.done[int(record["chunk"])] = record

    def add(self, record: dict[str, Any]) -> None:
        """Write down that a chunk is done."""
        self._write(_line(record, self._key))
        self.done[int(record["chunk"])] = record

    def restart(self) -> None:
        """Forget all chunks."""
        self.done.clear()
        os.ftruncate(self._handle, 0)
        os.lseek(self._handle, 0, os.SEEK_SET)
        self._write(_line(self.run, ""))

    @staticmethod
    def begun(path: Path) -> bool:
        """Tell whether a journal that nobody has says anything beyond its first line.

        What is no journal of ours is not known to say nothing.
        """
        try:
            handle = os.open(path, os.O_RDONLY | PLAIN)
        except FileNotFoundError:
            return False
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return True
            if fcntl is not None:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            head, more = stream.readline(MOST_LINE), stream.readline(1)
            return bool(more or (head and _parsed(head.decode("utf-8", "replace"), "") is None))

    def _write(self, line: str) -> None:
        try:
            left = line.encode()
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Let go of it."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _line(record: Mapping[str, Any], key: str) -> str:
    body = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return f"{hashlib.sha256(f'{key}{body}'.encode()).hexdigest()[:SEAL]} {body}\n"


def _parsed(line: str, key: str) -> dict[str, Any] | None:
    """Return what a line says; None where it is not whole, or of another run."""
    seal, _, body = line.partition(" ")
    if hashlib.sha256(f"{key}{body[:-1]}".encode()).hexdigest()[:SEAL] != seal:
        return None
    try:
        record = parse_json(body, "")
    except DataError:
        return None
    return record if isinstance(record, dict) else None
