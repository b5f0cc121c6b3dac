"""Data classes as JSON documents, written and read by the names, types and defaults of fields."""

from __future__ import annotations

import typing
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from math import isfinite
from types import UnionType
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.base.errors import DataError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

MOST_VALUE = 1e15  # of a number: no sum of them overflows


def written(
    value: Any, forms: Mapping[type, Callable[[Any], Any]], optional: Collection[str] = ()
) -> Any:
    """Return a value as a document; `forms` convert values that are no document as they are.

    Fields named in `optional` are left out at their defaults. An infinite number is null.
    """
    if type(value) in forms:
        return written(forms[type(value)](value), forms, optional)
    if is_dataclass(value):
        values = ((one, getattr(value, one.name)) for one in fields(value))
        return {
            one.name: written(own, forms, optional)
            for one, own in values
            if one.name not in optional or own != one.default
        }
    if isinstance(value, dict):
        return {key: written(own, forms, optional) for key, own in value.items()}
    if isinstance(value, tuple):
        return [written(own, forms, optional) for own in value]
    return None if isinstance(value, float) and not isfinite(value) else value


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """Reads documents of a file; error messages name the file and the path of the key.

    `forms` has the types that documents have in place of classes, and functions to make the values.
    """

    where: str
    forms: Mapping[type, tuple[Any, Callable[[Any], Any]]]

    def fail(self, problem: str, hint: str = "") -> NoReturn:
        raise DataError(problem, hint, where=self.where)

    def read(self, kind: Any, given: Any, path: str) -> Any:
        """Return the value of a type that a document states; `path` is that of its key."""
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if kind in self.forms:
            form, make = self.forms[kind]
            return make(self.read(form, given, path))
        if origin in {typing.Union, UnionType}:
            return self.read(parts[0], given, path)
        if origin is typing.Literal:
            if given not in parts:
                self.fail(f"{path} {shown(given)} is not known", suggestion(given, parts))
            return given
        if origin is tuple:
            return self._items(parts, given, path)
        read = self._section if is_dataclass(kind) else self._one
        return read(kind, given, path)

    def _one(self, kind: Any, given: Any, path: str) -> Any:
        if kind is float and isinstance(given, int) and not isinstance(given, bool):
            given = float(max(-MOST_VALUE - 1, min(MOST_VALUE + 1, given)))
        if not isinstance(given, kind) or (isinstance(given, bool) and kind is not bool):
            self.fail(f"{path!r} is {shown(given)}, not of type {kind.__name__}")
        if isinstance(given, float) and not abs(given) <= MOST_VALUE:
            self.fail(f"{path!r} is not from -{MOST_VALUE:g} to {MOST_VALUE:g}")
        return given

    def _items(self, parts: tuple[Any, ...], given: Any, path: str) -> tuple[Any, ...]:
        items = self._one(list, given, path)
        kinds = parts[:1] * len(items) if parts[-1] is ... else parts
        if len(items) != len(kinds):
            self.fail(f"{path!r} is {shown(given)}, not {len(kinds)} values")
        pairs = enumerate(zip(kinds, items, strict=True))
        return tuple(self.read(kind, item, f"{path}[{k}]") for k, (kind, item) in pairs)

    def _section(self, kind: Any, given: Any, path: str) -> Any:
        """Return a data class; a key may be missing or null if its field has a default."""
        section, found = self._one(dict, given, path), {}
        for name, hint, needed in _fields_of(kind):
            inner = f"{path}.{name}" if path else name
            if section.get(name) is not None or (needed and name in section):
                found[name] = self.read(hint, section[name], inner)
            elif needed:
                others = [key for key in section if key not in kind.__dataclass_fields__]
                self.fail(f"{inner!r} is missing", suggestion(name, others))
        return kind(**found)


@lru_cache(maxsize=64)
def _fields_of(kind: Any) -> list[tuple[str, Any, bool]]:
    """Return the name, the type and the need of every field of a data class."""
    hints = typing.get_type_hints(kind)
    return [(one.name, hints[one.name], one.default is MISSING) for one in fields(kind)]
