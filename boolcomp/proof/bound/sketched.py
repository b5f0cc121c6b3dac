"""A graph whose words represent the nodes of a sketch, and the values of these words.

Widths and roundings are properties of the graph alone. A node of the sketch is a function of the
inputs. The values of its words add up to it, possibly with the product of two further words. An
angle counts turns, or 2^-TURN turns if it is a `WordSum`. Any other node counts the units of its
words. An output counts its own steps from the middle of its range.

Bounds do not depend on a correct sketch: a wrong one increases a bound, but cannot make it wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.compact.sketch import SourceWord, Table
from boolcomp.proof.bound.balls import between
from boolcomp.words.graph import InputWord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.realisation import NodeWords
    from boolcomp.compact.sketch import Sketch
    from boolcomp.problem.problem import Problem
    from boolcomp.proof.bound.balls import Enclosure
    from boolcomp.proof.bound.tables import Enclosures
    from boolcomp.words.graph import WordGraph


@dataclass(frozen=True, slots=True)
class InputRange:
    """An input and its possible values, in the unit of its word or in turns.

    The cells of a linear word are centred on 0; those of an angle divide -½ .. 2^-part - ½ turns.
    A value x is base + unit · x in the input's own unit. The word of an angle that `wraps` has the
    same value a turn farther.
    """

    node: SourceWord
    allowed: Enclosure
    base: float
    unit: float
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class DecodedOutput:
    """An output: its step, and the shift of its value against its cells, in steps.

    Where all inputs of `rest` are within one cell of zero, its word may be held at zero.
    """

    name: str
    unit: str
    step: float
    shift: Fraction
    rest: tuple[str, ...] | None = None


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


def step_of(graph: WordGraph, word: int) -> Fraction:
    return Fraction(2) ** graph.scales[word].lsb


def line_of(graph: WordGraph, word: int) -> WordLine:
    """Return the values of a word, except those of an angle's input, from its scale."""
    bits, step = graph.nodes[word].bits, step_of(graph, word)
    start = Fraction(graph.scales[word].offset) - step * ((1 << bits) - 1) / 2
    return WordLine(start, step, 1 << bits)


@dataclass(frozen=True, slots=True)
class SketchedGraph:
    """A sketch of a problem, its graph, the words of nodes, the ranges of inputs, the outputs."""

    problem: Problem
    sketch: Sketch
    graph: WordGraph
    places: tuple[NodeWords, ...]
    ranges: Mapping[int, InputRange] = field(hash=False)
    results: tuple[DecodedOutput, ...]
    tables_known: dict[Any, Enclosures] = field(  # enclosures of tables; restrictions share them
        default_factory=dict, compare=False, repr=False
    )

    def rest(self, column: int) -> dict[str, Enclosure] | None:
        """Return the enclosures of inputs where the word of an output may be held at zero."""
        names, inputs = self.results[column].rest, {x.node.name: x for x in self.ranges.values()}
        if names is None:
            return None
        zeros = {name: -Fraction(inputs[name].base) / Fraction(inputs[name].unit) for name in names}
        return {name: between(zero - 1, zero + 1) for name, zero in zeros.items()}

    def restricted(self, allowed: Mapping[str, Enclosure]) -> SketchedGraph:
        """Restrict some inputs to smaller enclosures."""
        ranges = {
            place: replace(one, allowed=allowed.get(one.node.name, one.allowed))
            for place, one in self.ranges.items()
        }
        return replace(self, ranges=ranges)

    def word(self, place: int) -> int | None:
        """Return the word of an input or a sum; None without a word."""
        words = self.places[place].words
        return words[0] if words and not isinstance(self.sketch.nodes[place], Table) else None

    def line(self, place: int) -> WordLine | None:
        """Return the values of the word of an input or a sum; the offset of an output is 0."""
        word, node = self.word(place), self.sketch.nodes[place]
        if word is None:
            return None
        found = line_of(self.graph, word)
        if isinstance(node, SourceWord):
            return self._input_line(node, word, found)
        if place in self.sketch.outputs:
            return replace(found, start=found.start - Fraction(self.graph.scales[word].offset))
        return found

    def _input_line(self, node: SourceWord, word: int, found: WordLine) -> WordLine:
        one = self.graph.nodes[word]
        if not isinstance(one, InputWord) or one.name != node.name:
            raise ValueError(f"word {word} is not the input {node.name}")
        if node.angle:
            step = Fraction(1, 1 << (one.bits + node.part))
            return WordLine(step / 2 - Fraction(1, 2), step, 1 << one.bits)
        if found.step * found.count != 1 << node.bits:
            raise ValueError(f"the word of {node.name} does not have {1 << node.bits} cells")
        return found
