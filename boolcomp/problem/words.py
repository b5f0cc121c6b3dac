"""Intervals, the ranges of position words, and formats of words: code, width, range and zero.

A word is mid-rise (`rise`: zero is the border of two cells) or mid-tread (`tread`: zero is the
middle of a cell). Parts that a format does not specify have their defaults.
"""

from __future__ import annotations

import contextlib
import keyword
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias, get_args

from boolcomp.base import errors
from boolcomp.base.errors import (
    LONGEST_NAME,
    UsageError,
    listing,
    number,
    parse_number,
    short,
    shown,
    spelled,
    suggestion,
)
from boolcomp.problem.word_codes import CODE_KINDS, CODES, CodeKind, Step

# --------------------------------------------------------------------------------------------------
# Sines and cosines that are exact at right angles.
# --------------------------------------------------------------------------------------------------

RIGHT = math.pi / 2


def exact_sine(angle: float) -> float:
    """Return sin, exactly 0 or ±1 at the floats nearest to multiples of a right angle."""
    quarter = round(angle / RIGHT)
    return (0.0, 1.0, 0.0, -1.0)[quarter % 4] if angle == quarter * RIGHT else math.sin(angle)


def exact_cosine(angle: float) -> float:
    """Return cos, exactly 0 or ±1 at the floats nearest to multiples of a right angle."""
    quarter = round(angle / RIGHT)
    return (1.0, 0.0, -1.0, 0.0)[quarter % 4] if angle == quarter * RIGHT else math.cos(angle)


# --------------------------------------------------------------------------------------------------
# Closed intervals: the range of a variable, or that of a word.
# --------------------------------------------------------------------------------------------------

SLACK = 1e-9  # by which an interval may exceed one that holds it
MOST_SIZE = 1e12  # of the ends of an output's range
LEAST_WIDTH = 1e-12  # of a range
ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
LEAST_SHARE = 1e-9  # of its larger end: narrower ranges have no cells in double precision


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval `low .. high`; a single value where both are the same."""

    low: float
    high: float

    @property
    def centre(self) -> float:
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def single(self) -> bool:
        return self.low == self.high

    @property
    def magnitude(self) -> float:
        return max(abs(self.low), abs(self.high))

    def holds(self, other: Interval) -> bool:
        return self.low <= other.low + SLACK and other.high <= self.high + SLACK

    def __str__(self) -> str:
        return f"{errors.angle(self.low)} .. {errors.angle(self.high)}"


def width_problem(low: float, high: float) -> str:
    """Return a message if a rising range is too narrow for cells, else an empty text."""
    least = max(LEAST_WIDTH, LEAST_SHARE * max(abs(low), abs(high)))
    return "" if high - low >= least else f"must be at least {short(least)} wide"


def round_above(value: float) -> float:
    """Round up to 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten."""
    if not value:
        return 1.0
    power = math.floor(math.log10(value))
    digits = next(d for d in ROUND if d * 10.0**power >= value or d == ROUND[-1])
    return float(f"{digits:g}e{power}")


# --------------------------------------------------------------------------------------------------
# The ranges of position words.
#
# The word of a revolute joint spans a turn, or the smallest part 2^-k of one that holds the joint's
# range and a margin on either side. Its centre is a multiple of an eighth of a turn. So the words
# of all joints have the same step (times a power of two) and the same directions, and sums of
# angles are plain additions. If the range is a turn or more, the word wraps: 2π + x is x. The word
# of a sliding joint spans its range. The robot file may specify another (`word_range`).
# --------------------------------------------------------------------------------------------------

TURN = 2 * math.pi
MARGIN = 0.02 * TURN  # the logic is valid this far beyond either joint limit
FULL = 1e-9  # a range that is at most this much less than a turn is a turn
SMALLEST_PART = 10  # 2^-10 of a turn


@dataclass(frozen=True, slots=True)
class WordSpan:
    """The range of a word, the part of it in which the logic is valid, and whether it wraps."""

    word: Interval
    reach: Interval
    wraps: bool = False

    @property
    def part(self) -> int | None:
        return part_of(self.word)


def part_of(word: Interval) -> int | None:
    """Return k if an interval is 2^-k of a turn wide, else None."""
    for k in range(SMALLEST_PART + 1):
        if abs(math.ldexp(word.width, k) - TURN) < FULL:
            return k
    return None


def all_around(position: Interval) -> bool:
    return position.width > TURN - FULL


def span_of(position: Interval, word: Interval | None = None, *, revolute: bool) -> WordSpan:
    """Return the span of a position with these limits; `word` is its word's range, if given."""
    whole = revolute and all_around(position)
    if position.single:
        return WordSpan(position, position)
    if word is not None:
        wraps = whole and part_of(word) == 0
        return WordSpan(word, word if wraps else position, wraps=wraps)
    if not revolute:
        return WordSpan(position, position)
    if whole:
        word = _about(position.centre, TURN)
        return WordSpan(word, word, wraps=True)
    reach = Interval(position.low - MARGIN, position.high + MARGIN)
    parts = (
        _about(position.centre, math.ldexp(TURN, -k)) for k in reversed(range(SMALLEST_PART + 1))
    )
    word = next((part for part in parts if part.holds(reach)), _about(position.centre, TURN))
    if not word.holds(position):  # nearly a turn, between the multiples of an eighth
        return WordSpan(word, word, wraps=True)
    return WordSpan(word, Interval(max(reach.low, word.low), min(reach.high, word.high)))


def _about(centre: float, width: float) -> Interval:
    """Return an interval whose centre is the nearest multiple of an eighth of a turn."""
    middle = round(centre / (TURN / 8)) * (TURN / 8)
    return Interval(middle - width / 2, middle + width / 2)


# --------------------------------------------------------------------------------------------------
# Formats of words: code, width, range and zero.
# --------------------------------------------------------------------------------------------------

Zero = Literal["rise", "tread"]
ZEROS: tuple[Zero, ...] = get_args(Zero)
LEAST_BITS, MOST_BITS = 2, 16
WIDTHS = range(LEAST_BITS, MOST_BITS + 1)
NEARLY = 1e-9  # of a width
EXAMPLE = "such as gray:12:0..2pi or twos:10:tread"


@dataclass(frozen=True, slots=True)
class WordFormat:
    """The format of a word that a user specified; None is the default."""

    code: CodeKind | None = None
    bits: int | None = None
    range: Interval | None = None
    zero: Zero | None = None

    @property
    def tread(self) -> bool:
        return self.zero == "tread"

    def over(self, other: WordFormat) -> WordFormat:
        """Return this format, with unspecified parts taken from the other."""
        pairs = ((getattr(self, x.name), getattr(other, x.name)) for x in fields(self))
        return WordFormat(*(other if own is None else own for own, other in pairs))

    def __bool__(self) -> bool:
        return self != USUAL_FORMAT

    def __str__(self) -> str:
        ends = self.range and f"{self.range.low!r}..{self.range.high!r}"
        parts = (self.code, self.bits and str(self.bits), ends, self.zero)
        return ":".join(part for part in parts if part)


USUAL_FORMAT = WordFormat()
Formats: TypeAlias = str | Iterable[str] | Mapping[str, str | WordFormat]


def parse_format(text: str, where: str) -> WordFormat:
    """Parse a format such as `gray:12:0..2pi`; its parts may have any order."""
    found: dict[str, object] = {}
    for part in text.split(":"):
        key, value = _part(part.strip(), where, text)
        if key in found:
            raise UsageError(f"{where} {shown(text)} has its {key} twice")
        found[key] = value
    return WordFormat(**found)  # type: ignore[arg-type]  # every key has the value of its kind


def formats(name: str, given: Formats | None) -> dict[str, WordFormat]:
    """Return formats by the names of words, from texts such as `q1=gray:12` or a mapping."""
    if given is None:
        return {}
    if isinstance(given, str):
        given = [given]
    pairs: list[tuple[str, str | WordFormat]] = []
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        for text in given:
            key, equals, rest = text.partition("=")
            if not equals:
                raise UsageError(
                    f"{name} {shown(text)} is no NAME=FORMAT", "give, for example, q1=gray:12"
                )
            pairs.append((key.strip(), rest))
    found: dict[str, WordFormat] = {}
    for key, value in pairs:
        if key in found:
            raise UsageError(f"{name} {shown(key)} is given twice")
        if not isinstance(value, str | WordFormat):
            raise UsageError(f"{name} {key} is {shown(value)}, not a text", f"give text, {EXAMPLE}")
        found[key] = parse_format(value, f"{name} {key}") if isinstance(value, str) else value
    return found


def _part(part: str, where: str, text: str) -> tuple[str, object]:
    def error(what: str, hint: str = "") -> UsageError:
        return UsageError(what, hint, where=f"{where} {shown(text)}")

    if part in CODE_KINDS:
        return "code", part
    if part in ZEROS:
        return "zero", part
    if part.isdecimal():
        if len(part) > 3 or not LEAST_BITS <= int(part) <= MOST_BITS:
            raise error(f"a word has {LEAST_BITS} to {MOST_BITS} bits, not {shown(part)}")
        return "bits", int(part)
    if ".." in part:
        low, high = (parse_number(end) for end in part.split("..", 1))
        if low is None or high is None or not math.isfinite(low + high):
            raise error(f"{shown(part)} is no range", "give low..high, such as 0..2pi or -1.5..1.5")
        if not low < high or width_problem(low, high):
            raise error(f"the range {shown(part)} must rise")
        return "range", Interval(low, high)
    known = [*CODE_KINDS, *ZEROS]
    raise error(
        f"{shown(part)} is no code, width, range or place of zero",
        f"{suggestion(part, known)}give {listing(known)}, bits, or low..high, {EXAMPLE}",
    )


def word_problem(word: Interval, given: WordFormat, *, wraps: bool) -> str:
    """Return a message if a format does not fit a word of this range, else an empty text."""
    steps = CODES[given.code].steps if given.code else ()
    if {Step.FLIP, Step.MAGNITUDE} & {*steps} and abs(word.centre) > NEARLY * word.width:
        return f"a word of {word} has no sign: {given.code} is for ranges symmetric about zero"
    if word.single:
        return ""  # a constant
    quarters = 4 * word.low / word.width
    if given.tread and abs(quarters - round(quarters)) > NEARLY:
        return f"a word of {word} has no cell at zero: its range must begin at whole cells from it"
    if given.tread and wraps and Step.MAGNITUDE in steps:
        return f"a whole turn in {given.code} with a cell at zero lacks half a turn: take twos"
    return ""


@dataclass(frozen=True, slots=True)
class Input:
    """An input: errors are measured within `range`, the logic is valid within `reach`.

    Its word spans `word`. An angle (rad) that `wraps` is periodic: 2π + x is x. The values of an
    `exact` input are the middles of its word's cells. `format` holds the user's word format.
    """

    name: str
    range: Interval
    unit: str
    word: Interval
    reach: Interval
    angle: bool = False
    wraps: bool = False
    exact: bool = False
    format: WordFormat = USUAL_FORMAT

    @property
    def limited(self) -> bool:
        """Whether the word covers more than the input's range; always true for a single value."""
        if self.range.single:
            return True
        return not all_around(self.range) if self.angle else self.range != self.word

    def __str__(self) -> str:
        return f"{self.name} in {self.range} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Output:
    """An output: its name in files (`tau1`), in formulas (`T1`) and in sentences (`torque 1`).

    Its word spans `range`; `format` holds the user's word format. Names of its terms begin with
    `stem`, by default the symbol: T1 has the term T11.
    """

    name: str
    symbol: str
    range: Interval
    unit: str
    title: str = ""
    format: WordFormat = USUAL_FORMAT
    stem: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stem", self.stem or self.symbol)
        object.__setattr__(self, "title", self.title or self.name)

    @property
    def noun(self) -> str:
        """The title without its number: `torque`."""
        return self.title.rstrip(" 0123456789")

    def __str__(self) -> str:
        return f"{self.name} in {self.range} {self.unit}".rstrip()


# --------------------------------------------------------------------------------------------------
# Words of inputs and outputs of user-written functions: range, bits, unit.
# --------------------------------------------------------------------------------------------------

MOST_TURNS = 1000.0  # rad: larger angles are probably mistakes
# Names of columns of times, of options of a program, and of all words together.
RESERVED = {"t", "time", "payload", "engine", "threads", "words", "pi"}
_NAME = re.compile(rf"[A-Za-z](?:[A-Za-z0-9_]{{0,{LONGEST_NAME - 2}}}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Word:
    """A range with a unit and the bits of its word; None selects them automatically.

    An `angle` is in rad and may occur in sums of whole multiples of angles, inside sin, cos or
    wrap. An angle over a whole turn wraps.
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
        limit = MOST_TURNS if self.angle else MOST_SIZE
        if self.range.magnitude > limit:
            raise UsageError(f"a range ends within ±{short(limit)}, not at {number(high)}")
        if low < high and (problem := width_problem(low, high)):
            raise UsageError(f"the range {number(low)} .. {number(high)} {problem}")

    def input(self, name: str) -> Input:
        """Return an input with this word."""
        if self.range is None:
            raise UsageError(f"input {name} has no range")
        if not self.angle:
            return Input(name, self.range, self.unit, self.range, self.range)
        span = span_of(self.range, revolute=True)
        if self.range.single:
            span = WordSpan(self.range, self.range)
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
    """Return a word for `boolcomp.compile`: a range, bits, a unit, and whether it is an angle.

    Bits have a default, and the range of an output may be left out; it is then found. A single
    number is the end of a range about zero.
    """
    ends = [None if end is None else _real(end) for end in (low, high)]
    if ends[1] is None and ends[0] is not None:
        ends = [-abs(ends[0]), abs(ends[0])]
    if bits is not None and (isinstance(bits, bool) or int(bits) != bits):
        raise UsageError(
            f"bits {shown(bits)} is not a whole number", "give a whole number, such as 8"
        )
    first, last = ends
    if first is None and last is not None:
        raise UsageError("a range has two ends", "give both: word(low, high)")
    span = None if first is None or last is None else Interval(first, last)
    return Word(span, None if bits is None else int(bits), str(unit), bool(angle))


@spelled
def angle(
    low: float = -math.pi, high: float = math.pi, *, bits: int | None = None, unit: str = "rad"
) -> Word:
    """Return the word of an angle, which wraps over a whole turn, or is between two limits."""
    return word(low, high, bits=bits, unit=unit, angle=True)


def name_problem(name: str, others: Iterable[str] = ()) -> str:
    """Return a message if the name of an input, an output or a value is invalid, else "".

    `others` are names in use.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return (
            f"{shown(name)} is no name: a letter, then letters, digits and _, no _ at the end, "
            f"at most {LONGEST_NAME}"
        )
    if keyword.iskeyword(name):
        return f"{name!r} is a keyword of Python: choose another name"
    if name in RESERVED:
        return f"{name!r} is reserved: choose another name"
    if name in others:
        return f"{name!r} is already used: choose another name"
    return ""


def _real(end: object) -> float:
    if not isinstance(end, (str, bytes, bool)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return float(end)  # type: ignore[arg-type]  # which raises for other types
    raise UsageError(f"a range ends at numbers, not at {shown(end)}")
