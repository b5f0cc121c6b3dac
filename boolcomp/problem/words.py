"""How a word is to be given or taken: its code, width, range, and where zero is.

A word is mid-rise (`rise`: cells lie beside zero) or mid-tread (`tread`: zero is the middle of a
cell). What a format leaves open is as usual.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

from boolcomp.base.errors import parse_number
from boolcomp.common.errors import UsageError, listing, shown, suggestion
from boolcomp.problem.interval import Interval, width_problem

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
