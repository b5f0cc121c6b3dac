"""What the words of a graph stand for: the exact function beside it, node by node.

It says nothing of widths and roundings: those a graph has. A meaning is a function of the inputs,
and the words that stand for it are those of one or several nodes, which add up; beside them may
stand the product of two. An angle counts turns, all else the units of its words. An output counts
its own steps from the middle of its range.

Whoever makes a graph says what it means. A bound needs no trust in that: words that are said to
stand for something else than they do make a larger bound, not a wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from boolcomp.base.errors import UsageError, listing, shown, suggestion
from boolcomp.proof.bound.balls import ONE, ZERO, Enclosure
from boolcomp.words.graph import InputWord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.tape import Straight
    from boolcomp.words.graph import WordGraph


# --------------------------------------------------------------------------------------------------
# What the words of a graph stand for: the exact function beside it, node by node.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GivenWord:
    """An input, and where it may be: linear in units of its word, or a turn, or 2^-part of one.

    A linear word has cells about `0`; the cells of an angle divide -½ .. 2^-part - ½ turns, and of
    one that `wraps` a whole turn more is the same. The values of an `exact` one are the middles of
    `cells` cells. `word` is None where the graph does not read it.
    """

    name: str
    word: int | None
    allowed: Enclosure
    cells: int
    angle: bool = False
    part: int = 0
    wraps: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class TurnSum:
    """Σ multiple·angle over (meaning, multiple), in turns, as a whole turn wraps."""

    items: tuple[tuple[int, int], ...]
    word: int | None


@dataclass(frozen=True, slots=True)
class Pieces:
    """Words that add up to a function of one word, and two whose product is added, if any."""

    words: tuple[int, ...] = ()
    product: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class WaveTable:
    """Re Σ c·exp(2πikφ) of one angle φ, over (k, Re c, Im c)."""

    source: int
    parts: tuple[tuple[int, float, float], ...]
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class PowerTable:
    """Σ c_k x^k of one linear word."""

    source: int
    coefficients: tuple[float, ...]
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class CurveTable:
    """factor · f(middle + unit · x) of one word, which stands still beyond low .. high.

    Of an `angle` x is in radians.
    """

    source: int
    function: Straight
    unit: float
    middle: float
    factor: float
    low: float
    high: float
    angle: bool
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class LinearPart:
    """factor · meaning."""

    meaning: int
    factor: float


@dataclass(frozen=True, slots=True)
class ProductPart:
    """factor · a · b."""

    a: int
    b: int
    factor: float


@dataclass(frozen=True, slots=True)
class Total:
    """A constant and addends. `owners` says of every part of the heap to which addend it belongs.

    A `turning` one is an angle in 2^-`turning` turns, and wraps.
    """

    addends: tuple[LinearPart | ProductPart, ...]
    constant: float
    word: int | None
    owners: tuple[int, ...] = ()
    turning: int = 0


TableMeaning: TypeAlias = WaveTable | PowerTable | CurveTable
Meaning: TypeAlias = GivenWord | TurnSum | TableMeaning | Total


@dataclass(frozen=True, slots=True)
class ResultMeaning:
    """An output: the meaning it is, by how many steps its words stand for more than cells say.

    Where all inputs of `rest`, if any, lie in these enclosures its word may be held at zero.
    """

    name: str
    unit: str
    meaning: int
    step: float
    shift: Fraction
    rest: tuple[tuple[str, Enclosure], ...] | None = None


@dataclass(frozen=True, slots=True)
class AskedInput:
    """An input in its own numbers, base + unit · x where a `GivenWord` counts x; its ends."""

    name: str
    base: float
    unit: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Asked:
    """The function that was asked for, as steps of its inputs in their own numbers.

    `outputs` are the middle of each output's range and its step.
    """

    steps: Straight
    inputs: tuple[AskedInput, ...]
    outputs: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A graph, what its words stand for, in an order in which it can be calculated, its outputs.

    By how much heaps are more than they add up, at least and at most, in their steps, is `booked`.
    What meanings approximate is what was `asked`, where that is known as steps.
    """

    graph: WordGraph
    meanings: tuple[Meaning, ...]
    results: tuple[ResultMeaning, ...]
    booked: tuple[tuple[int, int, int], ...] = ()
    asked: Asked | None = None

    def beside(self, word: int | None) -> tuple[int, int]:
        """Return what is booked of a word."""
        return next(((low, high) for place, low, high in self.booked if place == word), (0, 0))

    def restricted(self, allowed: Mapping[str, Enclosure]) -> Explained:
        """Return the same for inputs that may be in fewer places."""
        meanings = tuple(
            replace(one, allowed=allowed[one.name])
            if isinstance(one, GivenWord) and one.name in allowed
            else one
            for one in self.meanings
        )
        return replace(self, meanings=meanings)


# --------------------------------------------------------------------------------------------------
# A bound: what no error of an output exceeds, for any input in range.
# --------------------------------------------------------------------------------------------------


Grade = Literal["plain", "tables", "tight"]
GRADES: tuple[Grade, ...] = get_args(Grade)
EFFORT = 2000  # of tight bounds: millions of a group's states, or of cells; thousands of boxes
BOXES = 1200  # of inputs, for each of effort
DIGITS = 6  # of a bound as a number, rounded up


def grade_of(name: object) -> Grade:
    """Return the grade of a bound that a user names."""
    for grade in GRADES:
        if name == grade:
            return grade
    raise UsageError(f"proof {shown(name)}{suggestion(name, GRADES)}: one of {listing(GRADES)}")


@dataclass(frozen=True, slots=True)
class Causes:
    """What an error is made of, in steps: each the most that it can be alone.

    `inputs`: a cell stands for all that lies in it. `tables`: entries are whole numbers. `bits`:
    bits and products that are discarded or left out, and constants that are none of theirs.
    `rounding`: an output's word is one of few.
    """

    inputs: Enclosure
    tables: Enclosure
    bits: Enclosure
    rounding: Enclosure

    @property
    def total(self) -> Enclosure:
        """All of them."""
        return self.inputs + self.tables + self.bits + self.rounding

    def __str__(self) -> str:
        names = ("inputs", "tables", "bits", "rounding")
        sizes = (rounded_up(Fraction(getattr(self, name).size, ONE), 3) for name in names)
        return ", ".join(f"{name} {size:g}" for name, size in zip(names, sizes, strict=True))


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of an output: `low` and `high` are of its word less the exact value, in steps.

    Of a tight one `remainder` is what cells that bend may add to the worst of their corners. One
    `of_asked` is of the function that was asked for, whatever the sketch makes of it; its causes
    are not told apart, and all of it counts as that of inputs.
    """

    name: str
    unit: str
    step: float
    low: Fraction
    high: Fraction
    causes: Causes
    grade: Grade = "plain"
    remainder: float = 0.0
    of_asked: bool = False

    @property
    def steps(self) -> float:
        """What no error exceeds, in steps; rounded up."""
        return rounded_up(max(self.high, -self.low))

    @property
    def value(self) -> float:
        """What no error exceeds, in the unit of the output; rounded up."""
        return rounded_up(max(self.high, -self.low) * Fraction(self.step))

    @property
    def rounded(self) -> float:
        """What no error exceeds, in steps, as it is printed."""
        return rounded_up(max(self.high, -self.low), 3)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        value = rounded_up(max(self.high, -self.low) * Fraction(self.step), 3)
        return f"{self.name}: {self.rounded:g} LSB, {value:g}{unit} ({self.causes})"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of all outputs of a graph.

    They hold while none of the words `unproved` leaves its range: those of which enclosures alone
    do not show that they have bits enough. What an output's word cannot say counts as the nearest
    that it can.
    """

    outputs: tuple[Bound, ...]
    unproved: tuple[int, ...] = ()

    @property
    def steps(self) -> tuple[float, ...]:
        """What no error exceeds, in steps, for every output."""
        return tuple(one.steps for one in self.outputs)

    @property
    def values(self) -> tuple[float, ...]:
        """What no error exceeds, in the outputs' units."""
        return tuple(one.value for one in self.outputs)

    def __str__(self) -> str:
        lines = [str(one) for one in self.outputs]
        if self.unproved:
            words = ", ".join(f"w{place}" for place in self.unproved)
            lines.append(f"while none of these overflows, which is not proved: {words}")
        return "\n".join(lines) + "\n"


def rounded_up(value: Fraction, digits: int = DIGITS) -> float:
    """Return a number that is no smaller, of a few digits after the point."""
    scaled = value * 10**digits
    return float(Fraction(-(-scaled.numerator // scaled.denominator), 10**digits))


# --------------------------------------------------------------------------------------------------
# What is known of a meaning and the words that stand for it.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Error:
    """What words err by, by its cause: entries of tables, bits that are discarded or not read."""

    tables: Enclosure = ZERO
    bits: Enclosure = ZERO

    def __add__(self, other: Error) -> Error:
        return Error(self.tables + other.tables, self.bits + other.bits)

    def __mul__(self, factor: Enclosure) -> Error:
        return Error(self.tables * factor, self.bits * factor)

    def times(self, factor: Fraction) -> Error:
        """Return a multiple by an exact number."""
        return Error(self.tables.times(factor), self.bits.times(factor))

    @property
    def total(self) -> Enclosure:
        """Both together."""
        return self.tables + self.bits


NONE = Error()


@dataclass(frozen=True, slots=True)
class Known:
    """Enclosures of a meaning: its value at the middles of the inputs' cells, and what differs.

    `words` is what its words say, `error` how much more that is than the value at the middles, and
    `inputs` how much more that is than the value where the inputs are.
    """

    exact: Enclosure
    words: Enclosure
    error: Error
    inputs: Enclosure

    def tightened(self) -> Known:
        """Return the same where each of words and value says what the other may be."""
        words = self.words.meet(self.exact + self.error.total)
        return replace(self, words=words, exact=self.exact.meet(words - self.error.total))


@dataclass(frozen=True, slots=True)
class Line:
    """What the words of a node stand for: start + step · word."""

    start: Fraction
    step: Fraction
    count: int

    def value(self, word: int) -> Fraction:
        """Return what a word stands for."""
        return self.start + self.step * word

    def reached(self, values: Enclosure, turn: Fraction | None = None) -> NDArray[np.int64]:
        """Return the words that stand for values; with a whole `turn` more they are the same."""
        low, high = ((end - self.start) / self.step for end in values.ends)
        first, last = -(-low.numerator // low.denominator), high.numerator // high.denominator
        if turn is None:
            return np.arange(max(0, first), min(self.count - 1, last) + 1, dtype=np.int64)
        around = int(turn / self.step)
        if last - first + 1 >= around:
            return np.arange(self.count, dtype=np.int64)
        found = np.arange(first, last + 1, dtype=np.int64) % around
        return np.unique(found[found < self.count])


def line_of(graph: WordGraph, place: int) -> Line:
    """Return what the words of a node stand for, from its scale; an angle's input has its own."""
    bits, scale = graph.nodes[place].bits, graph.scales[place]
    step = Fraction(2) ** scale.lsb
    start = Fraction(scale.offset) - step * ((1 << bits) - 1) / 2
    return Line(start, step, 1 << bits)


def given_line(graph: WordGraph, given: GivenWord) -> Line:
    """Return what an input's words stand for."""
    if given.word is None:
        raise ValueError(f"no word stands for {given.name}")
    node = graph.nodes[given.word]
    if not isinstance(node, InputWord) or node.name != given.name:
        raise ValueError(f"word {given.word} is not the input {given.name}")
    if not given.angle:
        found = line_of(graph, given.word)
        if found.step * found.count != given.cells:
            raise ValueError(f"the word of {given.name} has not as many cells as is said")
        return found
    step = Fraction(1, given.cells << given.part)
    step *= Fraction(given.cells, 1 << node.bits)
    return Line(step / 2 - Fraction(1, 2), step, 1 << node.bits)


def units(value: Fraction) -> int:
    """Return an exact number in units of enclosures; a `ValueError` where it is no multiple."""
    scaled = value * ONE
    if scaled.denominator != 1:
        raise ValueError(f"{float(value)} is finer than what is calculated with")
    return scaled.numerator
