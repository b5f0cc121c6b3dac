"""Numbers, angles and tables as text: one way to write each, so that output is stable."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from boolcomp.common.errors import DataError, cut

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_DOTS = 200  # in a line of TOML: keys within keys
MOST_JSON = 1 << 26  # characters
MOST_DEPTH = 64  # of arrays and objects within each other; numpy has no more dimensions
_NESTING = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)  # also cut-off strings
_ANGLE = re.compile(r"([+-]?)(?:(\d+(?:\.\d+)?)\s*\*?\s*)?pi(?:\s*/\s*(\d+(?:\.\d+)?))?")
_FRACTIONS = [
    (k, n) for n in (1, 2, 3, 4, 6, 8) for k in range(1, 2 * n + 1) if math.gcd(k, n) == 1
]


def number(value: float) -> str:
    """Write a number with the fewest digits that read back as the same float."""
    text = repr(float(value))
    return text.removesuffix(".0")


def mass_text(mass: float) -> str:
    """Return a mass as its shortest decimal of twelve digits: 1.8 also where it is 3 * 0.6."""
    return number(float(f"{mass:.12g}"))


def short(value: float, digits: int = 6) -> str:
    """Write a number for people: at most `digits` significant ones, no trailing zeros."""
    return f"{value:.{digits}g}"


def short_above(value: float, digits: int = 6) -> str:
    """Write a number that is not negative for people, no smaller than it is: what is a bound."""
    if not value or math.isinf(value):
        return short(value)
    from decimal import ROUND_CEILING, Decimal  # noqa: PLC0415 (few commands need it)

    exact = Decimal(value)
    place = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
    return short(float(exact.quantize(place, ROUND_CEILING)), digits)


def parse_number(text: str) -> float | None:
    """Read `"pi/2"`, `"2pi"`, `"-2*pi/3"` or a plain number; None where the text is neither.

    A division by zero is no number: NaN.
    """
    match = _ANGLE.fullmatch(text.strip())
    if match is None:
        try:
            return float(text)
        except ValueError:
            return None
    sign, factor, divisor = match.groups()
    below = float(divisor or 1)
    value = math.pi * float(factor or 1) / below if below else math.nan
    return -value if sign == "-" else value


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Read a TOML document; a `DataError` where it is none, or none that can be read."""
    import tomllib  # noqa: PLC0415 (few commands need it)

    text = text.removeprefix("\ufeff")  # some editors begin files with it
    for row, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MOST_DOTS:  # tomllib takes time that grows with their square
            raise DataError(f"{where}:{row}: more than {MOST_DOTS} dots in a line")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise DataError(f"{where}: not read: its arrays or tables are nested too deep") from error
    except ValueError as error:  # also an integer of thousands of digits
        raise DataError(f"{where}: not a TOML file: {cut(str(error), 200)}") from error


def parse_json(text: str, where: str, most: int = MOST_JSON) -> Any:
    """Read a JSON document; a `DataError` where it is none, or none that can be read.

    How long and how deep it is are checked before it is parsed, because the parser recurses.
    """
    import json  # noqa: PLC0415 (few readers of numbers need it)

    if len(text) > most:
        raise DataError(f"{where}: too large: at most {most} characters of JSON are read")
    if _depth(text) > MOST_DEPTH:
        raise DataError(f"{where}: not read: nested deeper than {MOST_DEPTH} arrays or objects")
    try:
        return json.loads(text)
    except ValueError as error:  # also an integer of thousands of digits
        raise DataError(f"{where}: damaged: not JSON ({cut(str(error), 200)})") from error


def _depth(text: str) -> int:
    """Return how deep arrays and objects are nested, or a little beyond the most."""
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return 0
    depth = deepest = 0
    for token in _NESTING.finditer(text):
        character = text[token.start()]
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
            if depth > MOST_DEPTH:
                break
        elif character in "]}":
            depth -= 1
    return deepest


def angle(value: float) -> str:
    """Write a simple fraction of pi as such (`-pi/2`, `2*pi/3`), anything else as a number."""
    for numerator, divisor in _FRACTIONS:
        if abs(value) == math.pi * numerator / divisor:
            factor = "" if numerator == 1 else f"{numerator}*"
            below = "" if divisor == 1 else f"/{divisor}"
            return f"{'-' if value < 0 else ''}{factor}pi{below}"
    return number(value)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Align rows under a header: columns named in `left` to the left, the others to the right."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]
    lines = []
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
