"""What a user chooses, as text or as values: one reader for the command line and for Python.

Every function takes the name under which the user knows the choice (`--rms-error`, `rms_error`),
so that both hear the same sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from boolcomp.common.errors import UsageError, shown

Number: TypeAlias = float | str
Reals: TypeAlias = Number | Iterable[Number]
Widths: TypeAlias = int | str | Mapping[str, int | str] | Mapping[str, int]

IN_LSB = "give LSB, such as .5, or one a joint: .4,.6"
MASSES = "give masses in kg, such as 0,1,2.5, or from 0 to 5 in steps: 0:5:0.05"
MOST_MASSES = 1000
BITS = "give bits, such as 10, or q=12,qd=8,qdd=8"
EVERY = "words"  # all input words, where none is named
MOST = 1e6  # LSB, or kg: more than any word has, or any arm


def whole(name: str, given: object) -> int:
    """Return a whole number: 8, `8.0` or `"8"`."""
    value = _value(given)
    if value is None or value != value // 1:
        raise UsageError(f"{name} {shown(given)}: give a whole number")
    return int(given) if isinstance(given, int) else int(value)


def real(name: str, given: object) -> float:
    """Return a number: 30, or `"30"`."""
    value = _value(given)
    if value is None:
        raise UsageError(f"{name} {shown(given)}: give a number")
    return value


def flag(name: str, given: object) -> bool:
    """Return what is true or false, and nothing else."""
    if type(given).__name__ not in {"bool", "bool_"}:  # numpy's too, without importing it
        raise UsageError(f"{name} {shown(given)}: give True or False")
    return bool(given)


def reals(name: str, given: Reals | None, advice: str = IN_LSB) -> tuple[float, ...]:
    """Return numbers: of one, of several, of text such as `.4,.6`; none where none are given."""
    if given is None:
        return ()
    parts: Iterable[object] = [given]
    if isinstance(given, str):
        parts = given.split(",")
    elif isinstance(given, Iterable) and not isinstance(given, Mapping):
        parts = [given] if not getattr(given, "ndim", True) else given
    values = [_value(part) for part in parts]
    known = [value for value in values if value is not None and abs(value) <= MOST]
    if len(known) < len(values):
        raise UsageError(f"{name} {shown(given)}: {advice}; at most {MOST:g}")
    return tuple(known)


def masses(name: str, given: Reals) -> tuple[float, ...]:
    """Return masses: of numbers, or of text such as `0,1,2.5` or `0:5:0.05`, ends included."""
    if not isinstance(given, str) or ":" not in given:
        return reals(name, given, MASSES)
    found: list[float] = []
    for part in given.split(","):
        found += _stepped(name, part, given) if ":" in part else reals(name, part, MASSES)
        if len(found) > MOST_MASSES:
            break
    if len(found) > MOST_MASSES:
        raise UsageError(f"{name} {shown(given)}: more than {MOST_MASSES} masses")
    return tuple(found)


def _stepped(name: str, part: str, given: str) -> list[float]:
    """Return the masses of `low:high:step`, each the double nearest to its decimal."""
    from decimal import Decimal  # noqa: PLC0415 (few commands need it)

    wrong = UsageError(f"{name} {shown(given)}: {MASSES}; at most {MOST:g}")
    try:
        low, high, step = (Decimal(text.strip()) for text in part.split(":"))
    except (ValueError, ArithmeticError):
        raise wrong from None
    finite = all(value.is_finite() and abs(value) <= MOST for value in (low, high, step))
    if not finite or step <= 0 or high < low:
        raise wrong
    count = int(min((high - low) / step, Decimal(MOST_MASSES))) + 1
    return [float(low + k * step) for k in range(count)]


def widths(name: str, given: Widths | None) -> dict[str, int]:
    """Return the bits of input words: of `10`, of `q=12,qd=8`, of a mapping."""
    wrong = UsageError(f"{name} {shown(given)}: {BITS}")
    if given is None:
        return {}
    if isinstance(given, Mapping):
        pairs: list[tuple[object, object]] = list(given.items())
    elif isinstance(given, str) and not given.strip().isdecimal():
        parts = [part.partition("=") for part in given.split(",")]
        pairs = [
            (key.strip(), bits if bits.strip().isdecimal() else None) for key, _, bits in parts
        ]
    else:
        pairs = [(EVERY, given)]
    found = {}
    for key, bits in pairs:
        if str(key) in found:
            raise UsageError(f"{name} {shown(given)}: {shown(str(key))} is given twice")
        try:
            found[str(key)] = whole(name, bits)
        except UsageError:
            raise wrong from None
    return found


def _value(given: object) -> float | None:
    """Return a finite or infinite number; None for what is none, and for NaN."""
    if isinstance(given, bool | bytes) or getattr(given, "ndim", False):
        return None
    try:
        value = float(given)  # type: ignore[arg-type]  # what is no number is refused by float
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(value) else value
