"""Codes of words: the steps from the number of a cell to its word, and back in reverse order.

Numbers, gates, engines, exports and pages make and read words by these steps; a code made of them
is a row of `CODES`. The checker has its own table (`checker/tabled.py`).
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

CodeKind = Literal["gray", "natural", "twos", "sign-magnitude"]


class Step(Enum):
    """A map of the words of one width; leading bits depend only on leading bits.

    The exception is a magnitude with a cell at zero. FOLD is undone by x ^ (x >> 1) ^ (x >> 2) …
    """

    FOLD = "x ^ (x >> 1)"
    FLIP = "the first bit inverted"
    MAGNITUDE = "the sign of a cell and its distance from the centre; only a first step"


@dataclass(frozen=True, slots=True)
class WordCode:
    """A code: its name in comments of exports, a cell by its word, its steps, a note on words k.

    In `cell`, {half} is half the number of cells, {below} the first one below the centre.
    """

    title: str
    cell: str
    steps: tuple[Step, ...] = ()
    note: str = ""


CODES: dict[CodeKind, WordCode] = {
    "gray": WordCode("Gray", "the word as natural binary", (Step.FOLD,)),
    "natural": WordCode("natural binary", "the word"),
    "twos": WordCode(
        "two's complement", "the signed word + {half}", (Step.FLIP,),
        "In twos (two's complement) its word is k with the most significant bit inverted.",
    ),
    "sign-magnitude": WordCode(
        "sign and magnitude", "{half} + magnitude, or {below} - magnitude where the sign is 1",
        (Step.MAGNITUDE,),
        "In sign-magnitude the most significant bit is 1 below the centre of the range; the others "
        "count\ncells from it.",
    ),
}  # fmt: skip
CODE_KINDS = tuple(CODES)
