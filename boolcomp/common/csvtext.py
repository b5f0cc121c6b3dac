"""Cells of a line of CSV, between commas; in quotes where they hold one, or a quote (doubled)."""

from __future__ import annotations

import re

# What is quoted goes on to its closing quote (`*+`: none before that is tried), or to the end.
_CELL = re.compile(r'(\s*"(?:[^"]|"")*+"[^,]*|\s*".*|[^,]*)(,|\Z)', re.DOTALL)
_OPEN = re.compile(r'\s*"(?:[^"]|"")*+')
_OTHERS = {";": "semicolons", "\t": "tabs"}


def cells_of(line: str) -> list[str]:
    """Return the cells as they stand, quotes and all."""
    if '"' not in line:
        return line.split(",")
    found = []
    for match in _CELL.finditer(line):
        found.append(match[1])
        if not match[2]:
            break
    return found


def unquoted(cell: str) -> str:
    """Return a cell's text without its quotes and the space around it."""
    text = cell.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"').strip()
    return text


def unclosed(line: str) -> bool:
    """Tell whether a line ends inside quotes."""
    return _OPEN.fullmatch(cells_of(line)[-1]) is not None


def other_separator(line: str) -> str:
    """Return what separates cells where no comma does: `semicolons`, `tabs`, or nothing."""
    if "," in line:
        return ""
    return next((name for one, name in _OTHERS.items() if one in line.strip()), "")
