"""Where results are kept: folders, and stores of objects that many machines share.

A place is a small value that can be sent anywhere. It is private (the user's cache, where nobody
else can write), ships, or is shared: then `trusted` is false, and whoever reads there has to prove
what is said. Files appear whole or not at all: folders rename, stores of objects put whole ones.
Two writers of one name write equal bytes, so it does not matter whose are kept.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

from boolcomp.base.files import shipped, write_text
from boolcomp.base.store import DAMAGE, is_vouched, read_kept, user_cache, vouch
from boolcomp.common.errors import DataError, DataWarning, UsageError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Value = TypeVar("Value")


class Place(Protocol):
    """Where files are, by their names."""

    @property
    def trusted(self) -> bool:
        """Whether nobody but this user, or who made boolcomp, can have written there."""

    def names(self, pattern: str) -> list[str]:
        """Return the names of files that a pattern may mean, sorted."""

    def read(self, name: str) -> str:
        """Return a text; a `DataError` where it cannot be read."""

    def write(self, name: str, text: str, stem: str = "", *, durable: bool = True) -> str:
        """Write a text whole or not at all, and return its name.

        Folders put a stem before it, for people; who looks for the file asks for `*.name`.
        """

    def check(self) -> Place:
        """Return this; a `DataError` where it is known that nothing can be read or kept there."""


class Entry(NamedTuple):
    """A file of a place; it is `believed` if the place is trusted, or it was made or proved here.

    As a text it is where it lies.
    """

    place: Place
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
        """Return the names of files that match a pattern, sorted."""
        return sorted(path.name for path in self.path.glob(pattern))

    def read(self, name: str) -> str:
        """Return a text; within the user's cache it must be this user's own."""
        return read_kept(self.path / name)

    def write(self, name: str, text: str, stem: str = "", *, durable: bool = True) -> str:
        """Write a file whole or not at all, and return its name."""
        full = f"{stem}.{name}" if stem else name
        write_text(self.path / full, text, durable=durable)
        return full

    def check(self) -> Folder:
        """Return this: what cannot be written there is said when it is tried."""
        return self

    def __str__(self) -> str:
        return str(self.path)


Where: TypeAlias = "Place | Path | str"


def own_place(folder: str) -> Folder:
    """Return a folder of the user's cache."""
    return Folder(user_cache(folder), trusted=True)


def shipped_place(folder: str) -> Folder:
    """Return a folder of what ships."""
    return Folder(shipped(folder), trusted=True)


def place_of(where: Where) -> Place:
    """Return a place by its text or path: a folder, or an address such as s3://bucket/folder."""
    if not isinstance(where, str | os.PathLike):
        return where
    text = os.fspath(where)
    if "://" in text and isinstance(where, str):
        from boolcomp.common.buckets import bucket  # noqa: PLC0415 (an extra, where it is asked for)

        return bucket(text)
    if not text:
        raise UsageError(f"{shown(text)} is no place of results: give a folder, or s3://…")
    return Folder(Path(text))


def everywhere(place: Place) -> Place:
    """Return a place as workers in other folders call it."""
    return Folder(place.path.absolute(), place.trusted) if isinstance(place, Folder) else place


def find(
    places: Iterable[Place | Path],
    name: str,
    parse: Callable[[Entry, str], Value],
    complaint: str = "",
) -> Iterator[Value]:
    """Yield what files of a name (or pattern) hold, place after place, where `parse` takes it.

    What it, or reading, refuses is passed over, with a complaint, if one is given, about `{path}`
    and `{error}`.
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
                    warnings.warn(told, DataWarning, stacklevel=3)
            else:
                yield value


def put(place: Place, name: str, text: str, complaint: str = "", *, stem: str = "") -> str | None:
    """Write what was made here to a place; return its name, or None where it cannot be written."""
    try:
        made = place.write(name, text, stem)
    except DataError as error:
        if complaint:
            warnings.warn(f"{complaint}: {error}", DataWarning, stacklevel=3)
        return None
    if not place.trusted:
        vouch(name, text)
    return made


def _known_as(name: str, pattern: str) -> str:
    """Return the name without what people read: what it was looked for by."""
    ending = pattern.removeprefix("*.")
    return ending if pattern.startswith("*.") and name.endswith(ending) else name


class MissingError(DataError):
    """There is no such file: nothing to complain about."""
