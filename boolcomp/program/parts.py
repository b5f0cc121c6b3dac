"""What a program is made of: input words, and the logic of outputs that reads them.

In paper mode an output is a sum of terms, each with a network of its own; in compact mode one
network makes all outputs of a load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.codes import Code
    from boolcomp.problem.interval import Interval
    from boolcomp.words.graph import WordGraph


@dataclass(frozen=True, slots=True)
class CodedInput:
    """A word that is read: the input it codes, and how."""

    name: str
    code: Code
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.code}"


@dataclass(frozen=True, slots=True)
class Slice:
    """What a network reads of an input word: its first `bits`, but not the very first `dropped`."""

    input: int
    bits: int
    dropped: int


@dataclass(frozen=True, slots=True)
class TermUse:
    """A term of an output: its network, the code of its value, and what it reads."""

    name: str
    text: str
    network: int
    code: Code
    words: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class KnownErrors:
    """What was measured of an output, in its unit: on random states, and the worst searched for.

    None of it is proved. Where nobody has sought the worst error, `worst_found` is None.
    """

    rms: float
    sampled_max: float
    worst_found: float | None = None


WIDE = 2.0  # times the worst found: of wider bounds it is said how wide they are


def over_found(bound: float, found: float | None) -> float | None:
    """Return how many times the worst error found a bound is; None where either is not known."""
    return bound / found if found and math.isfinite(bound) else None


NOT_PROVED, NOT_USEFUL = "no bound is proved", "no useful bound"


def bound_note(bound: float, word: Interval) -> str:
    """Return why a bound is not shown: empty where it is.

    Nothing is proved where it is infinite. Wider than the whole word of its output it says nothing.
    """
    if math.isinf(bound):
        return NOT_PROVED
    return NOT_USEFUL if bound > word.width else ""


@dataclass(frozen=True, slots=True)
class CodedOutput:
    """The sum of an output's terms, rounded to its own code; its name is `tau1`, its symbol `T1`.

    `bound` is the proven error in the output's unit, infinite where none is known, and `grade` how
    tight (plain, tables, tight; empty where nobody says); `errors` are those that were measured, if
    any were. Where the words of all inputs in `rest` are zero it is
    exactly zero: its code has a cell there.
    """

    name: str
    symbol: str
    unit: str
    code: Code
    guard_bits: int = 0
    terms: tuple[TermUse, ...] = ()
    left_out: tuple[str, ...] = ()
    bound: float = math.inf
    errors: KnownErrors | None = None
    rest: tuple[str, ...] | None = None
    grade: str = ""

    @property
    def bound_note(self) -> str:
        """Why no bound is shown: empty where one is (see `bound_note`)."""
        return bound_note(self.bound, self.code.range)

    @property
    def useful_bound(self) -> float:
        """The proven error as it is shown: infinite where none is known, or none is useful."""
        return math.inf if self.bound_note else self.bound

    @property
    def step(self) -> float:
        """The least significant bit that all terms share."""
        return self.code.step / (1 << self.guard_bits)


@dataclass(frozen=True, slots=True)
class JointNetwork:
    """One network for all outputs, and what it reads.

    It reads and makes cells, whatever the codes of words. Its outputs are, for every output, the
    bits of its cell, most significant first, and whether it saturated.
    """

    network: int
    words: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """The outputs with one payload (kg) at the tip; `joint` makes them where they have no terms.

    `graph` is the word graph that the joint network was made of, where it is known, and `meanings`
    what every word of it stands for.
    """

    payload: float
    outputs: tuple[CodedOutput, ...]
    joint: JointNetwork | None = None
    graph: WordGraph | None = None
    meanings: tuple[str, ...] = ()
