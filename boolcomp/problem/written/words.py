"""What a user says of an input or an output of a function: its range, its bits, its unit."""

from __future__ import annotations

import keyword
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.errors import number, short
from boolcomp.common.errors import LONGEST_NAME, UsageError, shown, spelled
from boolcomp.problem.interval import MOST_SIZE, Interval, width_problem
from boolcomp.problem.problem import Input
from boolcomp.problem.span import Span, span_of

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_BITS, MOST_BITS = 2, 16
MOST_TURNS = 1000.0  # rad: an angle beyond was meant otherwise
# Names of columns of times, of options of a program, and of all words at once.
RESERVED = {"t", "time", "payload", "engine", "threads", "words", "pi"}
_NAME = re.compile(rf"[A-Za-z](?:[A-Za-z0-9_]{{0,{LONGEST_NAME - 2}}}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Word:
    """A range with a unit and the bits of its word; what is None is found.

    An `angle` is in rad: it stands in sums of whole multiples of angles, inside sin, cos or wrap,
    and one over a whole turn wraps.
    """

    range: Interval | None = None
    bits: int | None = None
    unit: str = ""
    angle: bool = False

    def __post_init__(self) -> None:
        if self.bits is not None and not LEAST_BITS <= self.bits <= MOST_BITS:
            raise UsageError(f"a word has {LEAST_BITS} to {MOST_BITS} bits, not {self.bits}")
        if self.range is None:
            return
        low, high = self.range.low, self.range.high
        if not math.isfinite(low) or not math.isfinite(high):
            raise UsageError(f"a range has finite ends, not {low} .. {high}")
        if low > high:
            raise UsageError(f"a range must rise, not go from {number(low)} to {number(high)}")
        most = MOST_TURNS if self.angle else MOST_SIZE
        if self.range.magnitude > most:
            raise UsageError(f"a range ends within ±{short(most)}, not at {number(high)}")
        if low < high and (problem := width_problem(low, high)):
            raise UsageError(f"the range {number(low)} .. {number(high)} {problem}")

    def input(self, name: str) -> Input:
        """Return the input of this name that the word says."""
        if self.range is None:
            raise UsageError(f"input {name} has no range: say which values it may have")
        if not self.angle:
            return Input(name, self.range, self.unit, self.range, self.range)
        span = span_of(self.range, revolute=True)
        if self.range.single:
            span = Span(self.range, self.range)
        unit = self.unit or "rad"
        return Input(name, self.range, unit, span.word, span.reach, angle=True, wraps=span.wraps)


@spelled
def word(
    low: float | None = None,
    high: float | None = None,
    *,
    bits: int | None = None,
    unit: str = "",
    angle: bool = False,
) -> Word:
    """Return a word for `boolcomp.compile`: a range, how many bits, a unit, whether an angle.

    Bits that are left out are the usual ones; of an output the range may be left out, too, and is
    found. One number alone is the end of a range about zero.
    """
    ends = [None if end is None else _real(end) for end in (low, high)]
    if ends[1] is None and ends[0] is not None:
        ends = [-abs(ends[0]), abs(ends[0])]
    if bits is not None and (isinstance(bits, bool) or int(bits) != bits):
        raise UsageError(f"bits {shown(bits)}: give a whole number")
    first, last = ends
    if first is None and last is not None:
        raise UsageError("a range has two ends: word(low, high)")
    span = None if first is None or last is None else Interval(first, last)
    return Word(span, None if bits is None else int(bits), str(unit), bool(angle))


@spelled
def angle(
    low: float = -math.pi, high: float = math.pi, *, bits: int | None = None, unit: str = "rad"
) -> Word:
    """Return the word of an angle: over a whole turn, where it wraps, or between two stops."""
    return word(low, high, bits=bits, unit=unit, angle=True)


def name_problem(name: str, others: Iterable[str] = ()) -> str:
    """Return what is wrong with the name of an input, an output or a value; nothing if it is fit.

    `others` are names that stand for something already.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return (
            f"{shown(name)} is no name: a letter, then letters, digits and _, no _ at the end, "
            f"at most {LONGEST_NAME}"
        )
    if keyword.iskeyword(name):
        return f"{name!r} is a word of Python's: take another name"
    if name in RESERVED:
        return f"{name!r} means something already: take another name"
    if name in others:
        return f"{name!r} is there already: take another name"
    return ""


def _real(end: object) -> float:
    wrong = UsageError(f"a range ends at numbers, not at {shown(end)}")
    if isinstance(end, (str, bytes, bool)):
        raise wrong
    try:
        return float(end)  # type: ignore[arg-type]  # what is no number is refused by float
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
