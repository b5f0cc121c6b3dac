"""How a word is to be given or taken: its code, width, range, and where zero is.

A word is mid-rise (`rise`: cells lie beside zero) or mid-tread (`tread`: zero is the middle of a
cell). What a format leaves open is as usual.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from boolcomp.base.errors import UsageError, angle, listing, parse_number, short, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator


# --------------------------------------------------------------------------------------------------
# Sines and cosines that are exact at right angles.
# --------------------------------------------------------------------------------------------------


RIGHT = math.pi / 2


def exact_sine(angle: float) -> float:
    """Return sin, exactly 0 or ±1 at the floats nearest to multiples of a right angle."""
    quarter = round(angle / (math.pi / 2))
    if angle == quarter * (math.pi / 2):
        return (0.0, 1.0, 0.0, -1.0)[quarter % 4]
    return math.sin(angle)


def exact_cosine(angle: float) -> float:
    """Return cos, exactly 0 or ±1 at the floats nearest to multiples of a right angle."""
    quarter = round(angle / (math.pi / 2))
    if angle == quarter * (math.pi / 2):
        return (1.0, 0.0, -1.0, 0.0)[quarter % 4]
    return math.cos(angle)


# --------------------------------------------------------------------------------------------------
# A closed interval: where a joint variable may be, or what a word spans.
# --------------------------------------------------------------------------------------------------


SLACK = 1e-9  # how far an interval may stick out of one that holds it
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
        """The middle of the interval."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """How wide it is."""
        return self.high - self.low

    @property
    def single(self) -> bool:
        """Whether it is a single value."""
        return self.low == self.high

    @property
    def magnitude(self) -> float:
        """The largest absolute value in the interval."""
        return max(abs(self.low), abs(self.high))

    def holds(self, other: Interval) -> bool:
        """Tell whether another interval lies in this one, but for rounding."""
        return self.low <= other.low + SLACK and other.high <= self.high + SLACK

    def __str__(self) -> str:
        return f"{angle(self.low)} .. {angle(self.high)}"


def width_problem(low: float, high: float) -> str:
    """Return what is wrong with a range that rises, where it is too narrow to be cut in cells."""
    least = max(LEAST_WIDTH, LEAST_SHARE * max(abs(low), abs(high)))
    return "" if high - low >= least else f"must be at least {short(least)} wide"


def round_above(value: float) -> float:
    """Return the least round number that is not below: 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8."""
    if not value:
        return 1.0
    power = math.floor(math.log10(value))
    digits = next(d for d in ROUND if d * 10.0**power >= value or d == ROUND[-1])
    return float(f"{digits:g}e{power}")


# --------------------------------------------------------------------------------------------------
# What a position's word spans: an encoder counts turns, stops say where a joint may go.
#
# The word of a revolute joint spans a turn, or the smallest part 2^-k of one, about a multiple of
# an eighth of a turn, that holds the joint's range and a margin on either side. So words of all
# joints count the same steps (times a power of two) from the same directions, and sums of angles
# are plain additions. Where the range is a turn or more the word wraps: 2π + x is x. A sliding
# joint's word spans its range, as does any other that the robot file asks for (`word_range`).
# --------------------------------------------------------------------------------------------------


TURN = 2 * math.pi
MARGIN = 0.02 * TURN  # beyond either stop the logic still holds
FULL = 1e-9  # a range that is this little short of a turn is one
SMALLEST_PART = 10  # 2^-10 of a turn


@dataclass(frozen=True, slots=True)
class Span:
    """What a word covers, where in it states may be for the logic to hold, whether it wraps."""

    word: Interval
    reach: Interval
    wraps: bool = False

    @property
    def part(self) -> int | None:
        """The k of a word that spans 2^-k of a turn; None where it spans anything else."""
        return part_of(self.word)


def part_of(word: Interval) -> int | None:
    """Return the k of an interval that is 2^-k of a turn wide, or None."""
    for k in range(SMALLEST_PART + 1):
        if abs(math.ldexp(word.width, k) - TURN) < FULL:
            return k
    return None


def all_around(position: Interval) -> bool:
    """Tell whether a turning joint that may go so far has no stops that matter."""
    return position.width > TURN - FULL


def span_of(position: Interval, asked: Interval | None = None, *, revolute: bool) -> Span:
    """Return the span of a position whose joint may go so far; `asked` is what its word spans."""
    whole = revolute and all_around(position)
    if position.single:
        return Span(position, position)
    if asked is not None:
        wraps = whole and part_of(asked) == 0
        return Span(asked, asked if wraps else position, wraps=wraps)
    if not revolute:
        return Span(position, position)
    if whole:
        word = _about(position.centre, TURN)
        return Span(word, word, wraps=True)
    wanted = Interval(position.low - MARGIN, position.high + MARGIN)
    word = next((w for w in _parts(position) if w.holds(wanted)), _about(position.centre, TURN))
    if not word.holds(position):  # nearly a turn, about none of the eighths
        return Span(word, word, wraps=True)
    return Span(word, Interval(max(wanted.low, word.low), min(wanted.high, word.high)))


def _parts(position: Interval) -> Iterator[Interval]:
    """Yield the parts of a turn about the joint's range, the smallest first."""
    for k in reversed(range(SMALLEST_PART + 1)):
        yield _about(position.centre, math.ldexp(TURN, -k))


def _about(centre: float, width: float) -> Interval:
    """Return an interval about the nearest multiple of an eighth of a turn."""
    middle = round(centre / (TURN / 8)) * (TURN / 8)
    return Interval(middle - width / 2, middle + width / 2)


# --------------------------------------------------------------------------------------------------
# How a word is to be given or taken: its code, width, range, and where zero is.
# --------------------------------------------------------------------------------------------------


CodeKind = Literal["gray", "natural", "twos", "sign-magnitude"]
CODE_KINDS: tuple[CodeKind, ...] = get_args(CodeKind)
Zero = Literal["rise", "tread"]
ZEROS: tuple[Zero, ...] = get_args(Zero)
LEAST_BITS, MOST_BITS = 2, 16
WIDTHS = range(LEAST_BITS, MOST_BITS + 1)
SIGNED = ("twos", "sign-magnitude")
NEARLY = 1e-9  # of a width
EXAMPLE = "such as gray:12:0..2pi or twos:10:tread"


@dataclass(frozen=True, slots=True)
class WordFormat:
    """What is asked of a word; None stands for the usual."""

    code: CodeKind | None = None
    bits: int | None = None
    range: Interval | None = None
    zero: Zero | None = None

    @property
    def tread(self) -> bool:
        """Whether zero is to be the middle of a cell."""
        return self.zero == "tread"

    def over(self, other: WordFormat) -> WordFormat:
        """Return this, and of the other what this leaves open."""
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
    """Return the format that a text such as `gray:12:0..2pi` asks for; parts come in any order."""
    found: dict[str, object] = {}
    for part in text.split(":"):
        key, value = _part(part.strip(), where, text)
        if key in found:
            raise UsageError(f"{where} {shown(text)}: two parts say its {key}")
        found[key] = value
    return WordFormat(**found)  # type: ignore[arg-type]  # every key has the value of its kind


def formats(name: str, given: Formats | None) -> dict[str, WordFormat]:
    """Return formats by the names of words: of texts such as `q1=gray:12`, or of a mapping."""
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
                raise UsageError(f"{name} {shown(text)}: give NAME=FORMAT, such as q1=gray:12")
            pairs.append((key.strip(), rest))
    found: dict[str, WordFormat] = {}
    for key, value in pairs:
        if key in found:
            raise UsageError(f"{name} {shown(key)} is given twice")
        if not isinstance(value, str | WordFormat):
            raise UsageError(f"{name} {key}: give text, {EXAMPLE}, not {shown(value)}")
        found[key] = parse_format(value, f"{name} {key}") if isinstance(value, str) else value
    return found


def _part(part: str, where: str, text: str) -> tuple[str, object]:
    def wrong(what: str) -> UsageError:
        return UsageError(f"{where} {shown(text)}: {what}")

    if part in CODE_KINDS:
        return "code", part
    if part in ZEROS:
        return "zero", part
    if part.isdecimal():
        if len(part) > 3 or not LEAST_BITS <= int(part) <= MOST_BITS:
            raise wrong(f"a word has {LEAST_BITS} to {MOST_BITS} bits, not {shown(part)}")
        return "bits", int(part)
    if ".." in part:
        low, high = (parse_number(end) for end in part.split("..", 1))
        if low is None or high is None or not math.isfinite(low + high):
            raise wrong(f"{shown(part)} is no range: give low..high, such as 0..2pi or -1.5..1.5")
        if not low < high or width_problem(low, high):
            raise wrong(f"the range {shown(part)} must rise")
        return "range", Interval(low, high)
    known = [*CODE_KINDS, *ZEROS]
    hint = suggestion(part, known)
    raise wrong(
        f"{shown(part)} is no code, width, range or place of zero{hint}: give "
        f"{listing(known)}, bits, or low..high, {EXAMPLE}"
    )


def word_problem(word: Interval, asked: WordFormat, *, wraps: bool) -> str:
    """Return what is wrong with a format for a word that spans this; nothing where it fits."""
    beside = abs(word.centre) > NEARLY * word.width
    if asked.code in SIGNED and beside:
        return f"a word of {word} has no sign: {asked.code} is for ranges symmetric about zero"
    if word.single:
        return ""  # a value, and no word
    quarters = 4 * word.low / word.width
    if asked.tread and abs(quarters - round(quarters)) > NEARLY:
        return f"a word of {word} has no cell at zero: its range must begin at whole cells from it"
    if asked.tread and wraps and asked.code == "sign-magnitude":
        return "a whole turn in sign-magnitude with a cell at zero lacks half a turn: take twos"
    return ""
