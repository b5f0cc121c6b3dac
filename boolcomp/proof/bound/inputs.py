"""Inputs: which words they may have, and how far from the middle of a cell they may be."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.proof.bound.enclosure import ZERO, Enclosure, between, exactly
from boolcomp.proof.bound.known import NONE, Known, Line, given_line

if TYPE_CHECKING:
    from boolcomp.proof.bound.meaning import GivenWord
    from boolcomp.words.graph import WordGraph

TIE = Fraction(1, 1 << 28)  # of a cell: what encoders take for on the border, and round to it


def given_known(graph: WordGraph, given: GivenWord) -> Known:
    """Return what is known of an input."""
    if given.word is None:
        return _unread(given)
    line = given_line(graph, given)
    first, last = cells_reached(line, given)
    middles = between(line.value(first), line.value(last))
    return Known(middles, middles, NONE, -beside(line, given))


def _unread(given: GivenWord) -> Known:
    """Return what is known of an input that no word is read of: it is one cell."""
    low, high = given.allowed.ends
    middle, half = exactly((low + high) / 2), (high - low) / 2
    return Known(middle, middle, NONE, between(-half, half))


def cells_reached(line: Line, given: GivenWord) -> tuple[int, int]:
    """Return the first and the last cell in which an input may lie."""
    most = line.count - 1
    if given.wraps:
        return 0, most
    low, high = ((end - line.start) / line.step + Fraction(1, 2) for end in given.allowed.ends)
    first, last = low - TIE, high + TIE
    ends = first.numerator // first.denominator, last.numerator // last.denominator
    return min(max(0, ends[0]), most), min(max(0, ends[1]), most)


def beside(line: Line, given: GivenWord) -> Enclosure:
    """Return how far above the middle of its cell an input may lie; words saturate at the ends."""
    if given.exact:
        half = (line.step - (Fraction(1, given.cells << given.part) if given.angle else 1)) / 2
        return between(-half, half) if half > 0 else ZERO
    half = line.step * (Fraction(1, 2) + TIE)
    if given.wraps:
        return between(-half, half)
    low, high = given.allowed.ends
    below = min(-half, low - line.value(0))
    return between(below, max(half, high - line.value(line.count - 1)))
