"""TOML documents: parsed to tables whose values are checked; messages name file, line and key."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Self

from boolcomp.base.errors import (
    DataError,
    cut,
    listing,
    parse_toml,
    shown,
    suggestion,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


_HEADER = re.compile(r"\s*\[(\[?)\s*([A-Za-z0-9_.\"'\s-]+?)\s*\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_\"'-]+(?:\s*\.\s*[A-Za-z0-9_\"'-]+)*)\s*=")


def lines_of(text: str) -> dict[str, int]:
    """Return the lines of all tables and keys by their paths, such as `joint[2].mass`."""
    found: dict[str, int] = {}
    table, counts = "", Counter[str]()
    for row, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _plain(header[2])
            if header[1]:
                found.setdefault(table, row)
                counts[table] += 1
                table = f"{table}[{counts[table]}]"
            found.setdefault(table, row)
        elif key := _KEY.match(line):
            name = _plain(key[1])
            for one in (name.partition(".")[0], name):  # a.b = 1 defines a, too
                found.setdefault(f"{table}.{one}".lstrip("."), row)
    return found


def _plain(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of a file with its place."""

    where: str
    text: str
    path: str
    table: Mapping[str, Any]

    @classmethod
    def read(cls, text: str, where: str) -> Self:
        return cls(where, text, "", parse_toml(text, where))

    def inner(self, path: str, table: Mapping[str, Any]) -> Self:
        return type(self)(self.where, self.text, f"{self.path}{path}.", table)

    def section(self, key: str, allowed: Collection[str] | None = None) -> Self:
        """Return the table of a key, empty if it is missing, after checking its keys."""
        table = self.table.get(key, {})
        if not isinstance(table, dict):
            self.fail(key, f"must be a table, [{self.path}{key}], not {shown(table)}")
        found = self.inner(key, table)
        if allowed is not None:
            found.check_keys(allowed)
        return found

    def fail(self, key: str, problem: str, hint: str = "") -> NoReturn:
        """Raise a `DataError` that names the key and its line."""
        label = f"{self.path}{cut(key)}: " if self.path or key else ""
        raise DataError(f"{label}{problem}", hint, where=self.line(key))

    def warn(self, key: str, problem: str) -> None:
        warn(f"{self.at(key)}: {problem}")

    def at(self, key: str) -> str:
        return f"{self.line(key)}: {self.path}{cut(key)}"

    def line(self, key: str) -> str:
        """Return file and line, that of the key or else of its table, if known."""
        path, lines = f"{self.path}{key}", lines_of(self.text)
        line = lines.get(path) or lines.get(path.rpartition(".")[0])
        return f"{self.where}:{line}" if line else self.where

    def check_keys(self, allowed: Collection[str]) -> None:
        """Raise a DataError for a key that is not allowed."""
        for key in self.table:
            if key not in allowed:
                near = suggestion(key, allowed) or f"keys are {listing(allowed)}"
                self.fail(key, "unknown key", near)

    def value(self, key: str, default: Any = None) -> Any:
        """Return a key's value; a missing key without a default is an error."""
        if key in self.table:
            return self.table[key]
        if default is None:
            self.fail(key, "missing")
        return default

    def string(self, key: str, *, required: bool = False, kind: str = "text") -> str:
        """Return a text, empty if it is missing."""
        value = self.value(key, None if required else "")
        if not isinstance(value, str):
            self.fail(key, f"must be {kind}, not {shown(value)}")
        return str(value)

    def choice(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Return one of the allowed texts."""
        value = self.value(key, default)
        if value not in allowed:
            self.fail(key, f"unknown {key} {shown(value)}", f"use {listing(allowed)}")
        return str(value)

    def truth(self, key: str, *, default: bool | None = None) -> bool:
        """Return true or false."""
        value = self.value(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"must be true or false, not {shown(value)}")
        return bool(value)

    def whole(self, key: str, most: int) -> int:
        """Return a whole number from 1."""
        value = self.value(key)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            self.fail(key, f"must be a whole number from 1 to {most}, not {shown(value)}")
        return int(value)
