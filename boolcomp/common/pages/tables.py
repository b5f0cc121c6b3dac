"""Tables that sort, whose columns say what they are, and whose numbers can be copied."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.errors import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.common.pages.parts import Pen

Cell = str | int | float | None
NOTHING = "–"
MANY = 12  # columns: with more of them they stand closer
LONG = 24  # characters of a text that may take several lines


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, what it says, how its numbers are written (`.3g`), its name in CSV."""

    name: str
    meaning: str = ""
    form: str = ""
    key: str = ""

    def text(self, value: Cell) -> str:
        """Return a cell's text."""
        if value is None:
            return NOTHING
        if isinstance(value, str):
            return value
        return format(value, self.form) if self.form else number(value)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns. The first column names a row; CSV has numbers with all their digits."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def markup(self, pen: Pen) -> str:
        """Return the table, what its columns mean below it."""
        name = pen.fresh("table")
        meanings = [
            (pen.fresh("column") if column.meaning else "", column) for column in self.columns
        ]
        label = html.escape(self.caption or "table")
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        body = "\n".join(self._row(row) for row in self.rows)
        texts = [any(isinstance(row[k], str) for row in self.rows) for k in range(len(meanings))]
        head = "".join(
            _head(column, place, words=words)
            for (place, column), words in zip(meanings, texts, strict=True)
        )
        close = ' class="many"' if len(self.columns) > MANY else ""
        return (
            f'<div class="table"><div class="scrolls" role="group" tabindex="0" '
            f'aria-label="{label}">\n<table id="{name}"{close}>{caption}'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>{_meanings(meanings)}</div>"
        )

    def _row(self, row: Sequence[Cell]) -> str:
        cells = []
        for k, (column, value) in enumerate(zip(self.columns, row, strict=True)):
            text = column.text(value)
            kind = ""
            if isinstance(value, str):
                kind = ' class="words long"' if len(value) > LONG else ' class="words"'
            exact = "" if value is None or isinstance(value, str) else number(value)
            data = f' data-value="{exact}"' if exact and exact != text else ""
            name, scope = ("td", "") if k else ("th", ' scope="row"')
            cells.append(f"<{name}{scope}{kind}{data}>{html.escape(text)}</{name}>")
        return f"<tr>{''.join(cells)}</tr>"


def _head(column: Column, place: str, *, words: bool) -> str:
    """Return a column's head: a button once the script runs, which sorts."""
    tip = f' data-tip="{place}" title="{html.escape(column.meaning)}"' if place else ""
    key = f' data-key="{html.escape(column.key)}"' if column.key else ""
    kind = ' class="words"' if words else ""
    return f'<th scope="col"{kind}{tip}{key}>{html.escape(column.name)}</th>'


def _meanings(columns: Sequence[tuple[str, Column]]) -> str:
    """Return what columns mean as a list that folds."""
    lines = "".join(
        f'<dt>{html.escape(column.name)}</dt><dd id="{place}">{html.escape(column.meaning)}</dd>'
        for place, column in columns
        if place
    )
    if not lines:
        return ""
    return (
        f'\n<details class="meanings"><summary>What the columns say</summary><dl>{lines}</dl>'
        "</details>"
    )
