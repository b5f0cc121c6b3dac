"""Tables: all words of their source are looked at, one by one.

A table's words differ from the function of what its source says by what the entries are, and that
from the function of what the source stands for by a slope times what the source errs by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.curves import curve_known
from boolcomp.proof.bound.enclosure import PLACES, ZERO, Enclosure, about, exactly
from boolcomp.proof.bound.known import NONE, Error, Known, Line, line_of, units
from boolcomp.proof.bound.meaning import CurveTable, PowerTable, WaveTable
from boolcomp.proof.bound.waves import FINEST, Sampled, pi, split_start, turned, waves_at
from boolcomp.words.graph import Lookup
from boolcomp.words.simulate import masked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import Pieces, TableMeaning
    from boolcomp.words.graph import WordGraph

    Words = NDArray[np.int64]
    Whole = NDArray[np.object_]

PLACES_WITHIN = 64  # of an angle that is no word, or one of few: values between are counted


@dataclass(frozen=True, slots=True)
class Read:
    """The word that a table reads: its node, what it stands for, and the values it may have."""

    place: int
    line: Line
    words: Words


def table_known(graph: WordGraph, table: TableMeaning, source: Known, read: Read | None) -> Known:
    """Return what is known of a table; `read` is None where there are no words of it."""
    if isinstance(table, CurveTable):
        found = None if read is None else said(graph, table.pieces, read)
        return curve_known(table, source, read, found)
    beside = about(source.error.total) + about(source.inputs)
    if isinstance(table, WaveTable):
        whole, slope = _waves_within(table, source.exact + beside)
    else:
        whole, slope = _powers_within(table, source.exact + beside)
    if read is None:
        return Known(whole, whole, NONE, source.inputs * slope)
    if isinstance(table, WaveTable):
        function = waves_of(table, read.line, read.words)
        slope = slope.meet(_slopes_near(table, read, beside))
    else:
        function = powers_of(table, read.line, read.words)
    entries = said(graph, table.pieces, read)
    missed = Sampled(entries.values - function.values, entries.slack + function.slack).hull
    passed = source.error * slope
    exact = (function.hull - passed.total).meet(whole)
    error = Error(missed, ZERO) + passed
    return Known(exact, entries.hull, error, source.inputs * slope).tightened()


def said(graph: WordGraph, pieces: Pieces, read: Read) -> Sampled:
    """Return what the words of a table stand for at all words of its source."""
    total, slack = np.zeros(len(read.words), dtype=object), 0
    for place in pieces.words:
        found = piece_said(graph, place, read)
        total, slack = total + found.values, slack + found.slack
    if pieces.product is not None:
        a, b = (piece_exact(graph, place, read) for place in pieces.product)
        step = a[1] * b[1]
        total = total + a[0] * b[0] * units(step)
    return Sampled(total, slack)


def piece_said(graph: WordGraph, place: int, read: Read) -> Sampled:
    """Return what the words of a lookup stand for at all words of its source."""
    line = line_of(graph, place)
    start = exactly(line.start)
    entries = looked_up(graph, place, read).astype(object)
    return Sampled(entries * units(line.step) + start.low, start.high - start.low)


def piece_exact(graph: WordGraph, place: int, read: Read) -> tuple[Whole, Fraction]:
    """Return the entries of a lookup about zero in half steps, and half a step."""
    line = line_of(graph, place)
    if graph.scales[place].offset:
        raise ValueError(f"word {place} is multiplied, and does not lie about zero")
    entries = looked_up(graph, place, read).astype(object)
    return 2 * entries - (line.count - 1), line.step / 2


def looked_up(graph: WordGraph, place: int, read: Read) -> Words:
    """Return the entries of a lookup at all words of its source."""
    node = graph.nodes[place]
    if not isinstance(node, Lookup) or node.source != read.place:
        raise ValueError(f"word {place} is no table of word {read.place}")
    index = masked(read.words >> (graph.nodes[node.source].bits - node.read), node.mask)
    return np.asarray(node.entries, dtype=np.int64)[index]


def waves_of(table: WaveTable, line: Line, words: Words, derivative: int = 0) -> Sampled:
    """Return waves, or their derivative by turns over (2π)^derivative, at words."""
    start, rest = split_start(line.start, line.step)
    parts = table.parts
    for _ in range(derivative):
        parts = tuple((k, -k * b, k * a) for k, a, b in parts if k)
    return waves_at(turned(parts, rest), start, line.step, words.astype(object))


def powers_of(table: PowerTable, line: Line, words: Words) -> Sampled:
    """Return a polynomial at words, by Horner's rule; what is rounded off is counted."""
    start = exactly(line.start)
    x = words.astype(object) * units(line.step) + start.low
    largest, beside = max(abs(int(x[0])), abs(int(x[-1]))) + 1, start.high - start.low
    total, slack = np.zeros(len(words), dtype=object), 0
    for coefficient in reversed(table.coefficients):
        size = max(abs(int(total.max())), abs(int(total.min())))
        c = exactly(coefficient)
        slack = ((slack * (largest + beside) + size * beside) >> PLACES) + 2 + c.high - c.low
        total = (total * x >> PLACES) + c.low
    return Sampled(total, slack)


def _horner(coefficients: Sequence[float], x: Enclosure) -> Enclosure:
    total = ZERO
    for c in reversed(coefficients):
        total = total * x + exactly(c)
    return total


def _waves_within(table: WaveTable, turns: Enclosure) -> tuple[Enclosure, Enclosure]:
    """Return what waves are and how steep they are within an enclosure of an angle."""
    values = slopes = bends = ZERO
    for k, a, b in table.parts:
        amplitude, often = _amplitude(a, b), pi().times(Fraction(2 * k))
        values = values + (about(amplitude) if k else exactly(a))
        slopes = slopes + about(amplitude * often)
        bends = bends + about(amplitude * often * often)
    low, high = turns.ends
    if high - low >= 1:
        return values, slopes
    finest = min(FINEST, math.ceil(PLACES_WITHIN / max(high - low, Fraction(1, FINEST))))
    step = Fraction(1, 1 << (finest - 1).bit_length())
    first, last = math.floor(low / step), math.ceil(high / step)
    line, gap = Line(Fraction(0), step, FINEST), about(exactly(step / 2))
    places = np.arange(first, last + 1, dtype=np.int64)
    near = waves_of(table, line, places).hull + gap * slopes
    steep = waves_of(table, line, places, 1).hull * pi().times(Fraction(2)) + gap * bends
    return near.meet(values), steep.meet(slopes)


def _amplitude(a: float, b: float) -> Enclosure:
    """Return the height of a wave, rounded up."""
    if not a or not b:
        return exactly(abs(a) + abs(b))
    square = Fraction(a) ** 2 + Fraction(b) ** 2
    size = exactly(Fraction(float(square) ** 0.5).limit_denominator(1 << 40))
    while size.ends[1] ** 2 < square:
        size = Enclosure(size.low, size.high + (size.high >> 30) + 1)
    return Enclosure(size.high, size.high)


def _slopes_near(table: WaveTable, read: Read, beside: Enclosure) -> Enclosure:
    """Return how steep waves are near words of an angle, so far beside at most."""
    twice = pi().times(Fraction(2))
    bend = sum((about(_amplitude(a, b).times(Fraction(k * k))) for k, a, b in table.parts), ZERO)
    at_words = waves_of(table, read.line, read.words, 1).hull * twice
    return at_words + bend * twice * twice * about(beside)


def _powers_within(table: PowerTable, x: Enclosure) -> tuple[Enclosure, Enclosure]:
    """Return what a polynomial is and how steep it is within an enclosure."""
    slopes = [k * c for k, c in enumerate(table.coefficients)][1:]
    return _horner(table.coefficients, x), _horner(slopes, x)
