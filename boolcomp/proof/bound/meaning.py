"""The functions that the words of a graph represent, and bounds and enclosures of their errors.

Widths and roundings are properties of the graph alone. A meaning is a function of the inputs. The
words of one or several nodes represent it: their values add up, possibly with the product of two
further words. An angle counts turns, every other meaning the units of its words, an output its own
steps from the middle of its range.

Bounds do not depend on correct meanings: a wrong meaning increases a bound, but cannot make it
wrong.
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

    from boolcomp.problem.tape import Straight
    from boolcomp.words.graph import WordGraph


# --------------------------------------------------------------------------------------------------
# Meanings.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GivenWord:
    """An input and its possible values: linear in units of its word, or a turn or 2^-part of one.

    The cells of a linear word are centred on `0`; those of an angle divide -½ .. 2^-part - ½ turns.
    The word of an angle that `wraps` has the same value a turn farther. An `exact` input takes the
    middles of `cells` cells. `word` is None if the graph does not read the input.
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
    """Σ multiple·angle over (meaning, multiple), in turns; it wraps at a turn."""

    items: tuple[tuple[int, int], ...]
    word: int | None


@dataclass(frozen=True, slots=True)
class WordPieces:
    """Words that add up to a function of one word, and a pair whose product is added, or None."""

    words: tuple[int, ...] = ()
    product: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class WaveTable:
    """Re Σ c·exp(2πikφ) of one angle φ, over (k, Re c, Im c)."""

    source: int
    parts: tuple[tuple[int, float, float], ...]
    pieces: WordPieces


@dataclass(frozen=True, slots=True)
class PowerTable:
    """Σ c_k x^k of one linear word."""

    source: int
    coefficients: tuple[float, ...]
    pieces: WordPieces


@dataclass(frozen=True, slots=True)
class CurveTable:
    """factor · f(middle + unit · x) of one word, f's argument clamped; an angle x is in radians."""

    source: int
    function: Straight
    unit: float
    middle: float
    factor: float
    low: float
    high: float
    angle: bool
    pieces: WordPieces


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
class AddendSum:
    """A constant plus addends; `owners` has the addend of every part of the heap.

    A `turning` sum is an angle in units of 2^-turning turns, and wraps.
    """

    addends: tuple[LinearPart | ProductPart, ...]
    constant: float
    word: int | None
    owners: tuple[int, ...] = ()
    turning: int = 0


TableMeaning: TypeAlias = WaveTable | PowerTable | CurveTable
Meaning: TypeAlias = GivenWord | TurnSum | TableMeaning | AddendSum


@dataclass(frozen=True, slots=True)
class ResultMeaning:
    """An output: its meaning, its step, and the shift of its value against its cells, in steps.

    Where all inputs of `rest` lie in these enclosures, its word may be held at zero.
    """

    name: str
    unit: str
    meaning: int
    step: float
    shift: Fraction
    rest: tuple[tuple[str, Enclosure], ...] | None = None


@dataclass(frozen=True, slots=True)
class SpecifiedInput:
    """An input and its limits in its own unit: base + unit · x, where a `GivenWord` counts x."""

    name: str
    base: float
    unit: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SpecifiedFunction:
    """The specified function, as steps over its inputs in their own units.

    `outputs` has the middle of each output's range and its step.
    """

    steps: Straight
    inputs: tuple[SpecifiedInput, ...]
    outputs: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A graph, its meanings, each after its operands, and its outputs.

    Meanings approximate the `specified` function, if its steps are known.
    """

    graph: WordGraph
    meanings: tuple[Meaning, ...]
    results: tuple[ResultMeaning, ...]
    specified: SpecifiedFunction | None = None

    def restricted(self, allowed: Mapping[str, Enclosure]) -> Explained:
        """Restrict some inputs to smaller enclosures."""
        meanings = tuple(
            replace(one, allowed=allowed[one.name])
            if isinstance(one, GivenWord) and one.name in allowed
            else one
            for one in self.meanings
        )
        return replace(self, meanings=meanings)


# --------------------------------------------------------------------------------------------------
# Bounds on the errors of outputs over all inputs in range.
# --------------------------------------------------------------------------------------------------


class NotPlainError(Exception):
    """A bound of some kind does not apply to an output."""


Grade = Literal["plain", "tables", "tight"]
GRADES: tuple[Grade, ...] = get_args(Grade)
EFFORT = 2000  # of tight bounds: millions of states of a group or of cells; thousands of boxes
BOXES = 1200  # boxes of inputs per unit of effort
DIGITS = 6  # decimals of a bound as a number, rounded up


def grade_of(name: object) -> Grade:
    """Return the grade that a user names."""
    for grade in GRADES:
        if name == grade:
            return grade
    raise UsageError(f"proof {shown(name)}{suggestion(name, GRADES)}: one of {listing(GRADES)}")


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of an error, in steps, each with its limits.

    `inputs`: a cell represents all its values. `tables`: entries are integers. `bits`: discarded
    bits, products left out, and rounded constants. `rounding`: an output's word has few bits.
    """

    inputs: Enclosure
    tables: Enclosure
    bits: Enclosure
    rounding: Enclosure

    @property
    def total(self) -> Enclosure:
        return self.inputs + self.tables + self.bits + self.rounding

    def __str__(self) -> str:
        names = ("inputs", "tables", "bits", "rounding")
        sizes = (rounded_up(Fraction(getattr(self, name).size, ONE), 3) for name in names)
        return ", ".join(f"{name} {size:g}" for name, size in zip(names, sizes, strict=True))


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of an output: limits of its word minus the exact value, in steps.

    `remainder` is the part of a tight bound that curvature within cells adds to their corners. A
    bound `of_specification` applies to the specified function instead of the sketch; its causes are
    not distinguished, and all of it is attributed to inputs.
    """

    name: str
    unit: str
    step: float
    low: Fraction
    high: Fraction
    causes: Causes
    grade: Grade = "plain"
    remainder: float = 0.0
    of_specification: bool = False

    @property
    def steps(self) -> float:
        return rounded_up(max(self.high, -self.low))

    @property
    def value(self) -> float:
        return rounded_up(max(self.high, -self.low) * Fraction(self.step))

    @property
    def rounded(self) -> float:
        return rounded_up(max(self.high, -self.low), 3)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        value = rounded_up(max(self.high, -self.low) * Fraction(self.step), 3)
        return f"{self.name}: {self.rounded:g} LSB, {value:g}{unit} ({self.causes})"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of all outputs of a graph.

    They hold unless a word overflows that is listed in `unproved`, because enclosures do not show
    that it is wide enough. Exact values beyond the range of an output's word are clamped to it.
    """

    outputs: tuple[Bound, ...]
    unproved: tuple[int, ...] = ()

    @property
    def steps(self) -> tuple[float, ...]:
        return tuple(one.steps for one in self.outputs)

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(one.value for one in self.outputs)

    def __str__(self) -> str:
        lines = [str(one) for one in self.outputs]
        if self.unproved:
            words = ", ".join(f"w{place}" for place in self.unproved)
            lines.append(f"unless one of these words overflows, which is not excluded: {words}")
        return "\n".join(lines) + "\n"


def rounded_up(value: Fraction, digits: int = DIGITS) -> float:
    """Round a number up to a few decimals."""
    scaled = value * 10**digits
    return float(Fraction(-(-scaled.numerator // scaled.denominator), 10**digits))


# --------------------------------------------------------------------------------------------------
# Enclosures of meanings and of the words that represent them.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Error:
    """The error of words by cause: rounding of tables, and discarded or unread bits."""

    tables: Enclosure = ZERO
    bits: Enclosure = ZERO

    def __add__(self, other: Error) -> Error:
        return Error(self.tables + other.tables, self.bits + other.bits)

    def __mul__(self, factor: Enclosure) -> Error:
        return Error(self.tables * factor, self.bits * factor)

    def times(self, factor: Fraction) -> Error:
        return Error(self.tables.times(factor), self.bits.times(factor))

    @property
    def total(self) -> Enclosure:
        return self.tables + self.bits


NONE = Error()


@dataclass(frozen=True, slots=True)
class Enclosures:
    """Enclosures of a meaning: its value at the middles of the inputs' cells, and differences.

    `words` is the value of its words, `error` that minus the value at the middles, and `inputs` the
    value at the middles minus the value at the inputs.
    """

    exact: Enclosure
    words: Enclosure
    error: Error
    inputs: Enclosure

    def tightened(self) -> Enclosures:
        """Intersect words and value with each other, given the error."""
        words = self.words.meet(self.exact + self.error.total)
        return replace(self, words=words, exact=self.exact.meet(words - self.error.total))


@dataclass(frozen=True, slots=True)
class WordLine:
    """The values of the words of a node: start + step · word."""

    start: Fraction
    step: Fraction
    count: int

    def value(self, word: int) -> Fraction:
        return self.start + self.step * word

    def reached(self, values: Enclosure, turn: Fraction | None = None) -> NDArray[np.int64]:
        """Return the words for these values, if `turn` is given, modulo a turn."""
        low, high = ((end - self.start) / self.step for end in values.ends)
        first, last = -(-low.numerator // low.denominator), high.numerator // high.denominator
        if turn is None:
            return np.arange(max(0, first), min(self.count - 1, last) + 1, dtype=np.int64)
        around = int(turn / self.step)
        if last - first + 1 >= around:
            return np.arange(self.count, dtype=np.int64)
        found = np.arange(first, last + 1, dtype=np.int64) % around
        return np.unique(found[found < self.count])


def line_of(graph: WordGraph, place: int) -> WordLine:
    """Return the values of a node's words, except those of an angle's input, from its scale."""
    bits, scale = graph.nodes[place].bits, graph.scales[place]
    step = Fraction(2) ** scale.lsb
    start = Fraction(scale.offset) - step * ((1 << bits) - 1) / 2
    return WordLine(start, step, 1 << bits)


def given_line(graph: WordGraph, given: GivenWord) -> WordLine:
    """Return the values of an input's words."""
    if given.word is None:
        raise ValueError(f"{given.name} has no word")
    node = graph.nodes[given.word]
    if not isinstance(node, InputWord) or node.name != given.name:
        raise ValueError(f"word {given.word} is not the input {given.name}")
    if not given.angle:
        found = line_of(graph, given.word)
        if found.step * found.count != given.cells:
            raise ValueError(f"the word of {given.name} does not have {given.cells} cells")
        return found
    step = Fraction(1, given.cells << given.part)
    step *= Fraction(given.cells, 1 << node.bits)
    return WordLine(step / 2 - Fraction(1, 2), step, 1 << node.bits)


def units(value: Fraction) -> int:
    """Return an exact number in units of enclosures; a fraction of a unit is a `ValueError`."""
    scaled = value * ONE
    if scaled.denominator != 1:
        raise ValueError(f"{float(value)} is no multiple of the unit of enclosures")
    return scaled.numerator
