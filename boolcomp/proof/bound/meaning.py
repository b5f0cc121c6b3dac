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
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.proof.bound.enclosure import Enclosure
    from boolcomp.words.graph import WordGraph


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
