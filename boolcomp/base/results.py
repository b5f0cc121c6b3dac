"""Results as rows and columns: one list of columns for JSON, text tables, CSV and pages."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from boolcomp.base.errors import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from boolcomp.base.pages import Table


class ResultColumn(NamedTuple):
    """A column: its key in JSON and CSV, and its header in text; without one it is not there.

    Without `json` the key is that of the page alone. `value` is a function of a row or a path of
    attributes and keys of mappings (None where one of them is None); the default is the key. `text`
    is a format such as `.2f`, or a function, which pages do not use. `left` aligns to the left.
    A `unit` follows the header, in text as `max/rad`, on pages as `max, rad`.
    """

    key: str = ""
    header: str = ""
    value: str | Callable[[Any], Any] = ""
    text: str | Callable[[Any], str] = ""
    left: bool = False
    meaning: str = ""
    json: bool = True
    unit: str = ""

    def of(self, row: Any) -> Any:
        """Return the value of a row."""
        read = self.value or self.key
        if not isinstance(read, str):
            return read(row)
        for name in read.split("."):
            if row is not None:
                row = row[name] if isinstance(row, Mapping) else getattr(row, name)
        return row

    def title(self, before_unit: str) -> str:
        return f"{self.header}{before_unit}{self.unit}" if self.unit else self.header

    def cell(self, row: Any, nothing: str) -> str:
        """Return the text of a row."""
        value = self.of(row)
        if value is None:
            return nothing
        if isinstance(self.text, str):
            return format(value, self.text) if self.text else str(value)
        return self.text(value)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a small table of HTML, for notebooks."""
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


@dataclass(frozen=True, slots=True, repr=False)
class Results:
    """Rows under columns; `nothing` is the text of None. `print` and notebooks show the table."""

    columns: Sequence[ResultColumn]
    rows: Sequence[Any]
    nothing: str = ""

    def brief(self, titles: str) -> Results:
        """Return few columns: `titles` are their headers, or new ones as in `rms=rms/LSB`.

        Columns without any text are left out.
        """
        known = {one.header: one for one in self.columns if one.header}
        pairs = [(title, header or title) for title, _, header in
                 (one.partition("=") for one in titles.split(", "))]  # fmt: skip
        chosen = [
            known[header]._replace(header=title) for title, header in pairs if header in known
        ]
        kept = [one for one in chosen if any(one.cell(row, "") for row in self.rows)]
        return Results(kept, self.rows, self.nothing)

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The rows as JSON objects."""
        keyed = [one for one in self.columns if one.key and one.json]
        return [{one.key: one.of(row) for one in keyed} for row in self.rows]

    def text(self, before: Iterable[Sequence[str]] = ()) -> str:
        """Return a text table, with other rows of cells first."""
        shown, cells = self._cells()
        left = [place for place, one in enumerate(shown) if one.left]
        return table([one.title("/") for one in shown], [*before, *cells], left)

    def _cells(self) -> tuple[list[ResultColumn], list[list[str]]]:
        shown = [one for one in self.columns if one.header]
        return shown, [[one.cell(row, self.nothing) for one in shown] for row in self.rows]

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown, cells = self._cells()
        return html_table([one.title("/") for one in shown], cells)

    @property
    def csv(self) -> str:
        """The rows as CSV, under the keys of JSON."""
        stream = io.StringIO()
        keys = [one.key for one in self.columns if one.key and one.json]
        writer = csv.DictWriter(stream, keys, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.documents)
        return stream.getvalue()

    def page(self, caption: str = "") -> Table:
        """Return a table of a page."""
        from boolcomp.base.pages import Column, Table  # noqa: PLC0415 (pages are rarely written)

        shown = [one for one in self.columns if one.header]
        forms = [one.text if isinstance(one.text, str) else "" for one in shown]
        columns = [
            Column(one.title(", "), one.meaning, form, one.key)
            for one, form in zip(shown, forms, strict=True)
        ]
        return Table(columns, [[one.of(row) for one in shown] for row in self.rows], caption)


def pivoted(
    rows: Sequence[Any], name: Callable[[Any], object], place: Callable[[Any], object]
) -> list[dict[str, Any]]:
    """Return a mapping for every `name`, with each of its rows, or None, under its `place`."""
    absent = dict.fromkeys(str(place(row)) for row in rows)
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        title = str(name(row))
        found.setdefault(title, {"name": title, **absent})[str(place(row))] = row
    return list(found.values())


def yes(value: object) -> str:
    return "yes" if value else "no"
