"""What is known of a meaning and the words that stand for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.enclosure import ONE, ZERO, Enclosure
from boolcomp.words.graph import InputWord

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import GivenWord
    from boolcomp.words.graph import WordGraph


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
