"""What boxes look up: of tables and inputs, word by word, what is said and by how much it misses.

Entries count in the unit of a slot (see `boxes.py`) and are rounded outward.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.curves import curve_within
from boolcomp.proof.bound.enclosure import ONE, PLACES, ZERO, Enclosure, about, between, exactly
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.fixed import (
    FAR,
    ends_of,
    outward,
    rounded_down,
    rounded_up,
    scale_for,
    unit_of,
)
from boolcomp.proof.bound.flat import Atom
from boolcomp.proof.bound.inputs import TIE, beside, cells_reached
from boolcomp.proof.bound.known import Known, Line, given_line
from boolcomp.proof.bound.meaning import (
    CurveTable,
    GivenWord,
    PowerTable,
    Total,
    TurnSum,
    WaveTable,
)
from boolcomp.proof.bound.ranges import peaks, windows
from boolcomp.proof.bound.tables import Read, looked_up
from boolcomp.proof.bound.waves import pi, waves_at
from boolcomp.words.graph import part_reads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import TableMeaning
    from boolcomp.proof.bound.plain import Forward
    from boolcomp.proof.bound.ranges import Store
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]
    Integers = NDArray[np.object_]
    Parts = Sequence[HeapPart]
    View = tuple[int, int] | None

SQUARE = 3  # coefficients of a square
GRID = 12  # bits of places in a turn at which waves are known


@dataclass(frozen=True, slots=True)
class Made:
    """A table's scale, where its entries begin, and what is known of it everywhere.

    `said` is where words' entries begin, `missed` where errors do; of waves `values` is where those
    at all places begin, with as many `peaks`; what lies between places is `slack` off at most.
    """

    scale: int
    known: list[int]
    said: int | None = None
    missed: int = 0
    count: int = 1
    values: int = 0
    peaks: int = 0
    slack: int = 0
    least: int = 0
    most: int = 0


class Tabulator:
    """Makes the tables of a graph."""

    def __init__(self, forward: Forward, store: Store) -> None:
        self.forward, self.graph, self.store = forward, forward.graph, store
        self.meanings = forward.explained.meanings

    # inputs

    def turn_line(self, given: GivenWord) -> Line:
        """Return what an angle's words stand for, in turns."""
        return given_line(self.graph, given)

    def cells(self, given: GivenWord) -> list[Enclosure]:
        """Return where a linear input is, for every word."""
        line = given_line(self.graph, given)
        near = Fraction(1, 2) + 2 * TIE
        low, high = given.allowed.ends
        found = []
        for word in range(line.count):
            value = line.value(word)
            if given.exact:
                found.append(exactly(value) + beside(line, given))
                continue
            one, two = value - line.step * near, value + line.step * near
            one = min(one, low) if word == 0 else one
            two = max(two, high) if word == line.count - 1 else two
            if max(one, low) <= min(two, high):
                one, two = max(one, low), min(two, high)
            found.append(between(one, two))
        return found

    def given(self, given: GivenWord, offset: Enclosure, scale: int) -> tuple[int, int, int]:
        """Return where cells and errors of a linear input begin, and the shift of half a step."""
        line, cells = given_line(self.graph, given), self.cells(given)
        shift = scale + (line.step.numerator.bit_length() - line.step.denominator.bit_length()) - 1
        if shift < 0:
            raise NotPlainError
        errors = [exactly(line.value(k)) - offset - cell for k, cell in enumerate(cells)]
        start = self.store.plain(*ends_of(cells, scale))
        return start, self.store.ranges(*ends_of(errors, scale)), shift

    def given_table(
        self, place: int, parts: Parts, heap: int | None, factor: Fraction, view: View
    ) -> Made:
        """Return a linear input as a table over its own word."""
        given = self.meanings[place]
        if not isinstance(given, GivenWord) or given.word is None:
            raise NotPlainError
        cells = self.cells(given)
        words = np.arange(len(cells), dtype=np.int64)
        digits = self._digits({given.word: words}, parts, heap, view)
        exact = [cell.times(factor) for cell in cells]
        known = self.forward.known[place]
        whole = (known.exact - known.inputs).times(factor)
        reached = np.arange(*self._ends(given), dtype=np.int64)
        return self._made(digits, exact, whole, reached)

    def _ends(self, given: GivenWord) -> tuple[int, int]:
        first, last = cells_reached(given_line(self.graph, given), given)
        return first, last + 1

    # tables

    def table(
        self, place: int, table: TableMeaning, parts: Parts, heap: int | None, factor: Fraction,
        view: View,
    ) -> Made:  # fmt: skip
        """Return a table times a factor: what parts of a heap, or a word, say of it."""
        known = self.forward.known[place]
        whole = (known.exact - known.inputs).times(factor)
        digits, words, line = None, np.zeros(0, np.int64), None
        source, found = self.turned(table.source), self.forward.line(table.source)
        if parts or view:
            if found is None:
                raise NotPlainError
            line = found[1]
            words = np.arange(line.count, dtype=np.int64)
            read = Read(found[0], line, words)
            named = (*table.pieces.words, *(table.pieces.product or ()))
            entries = {k: looked_up(self.graph, k, read) for k in named}
            digits = self._digits(entries, parts, heap, view)
        if isinstance(table, WaveTable):
            return self._waves(table, source, line, digits, factor, whole)
        if digits is None or line is None:
            scale = scale_for(whole.size)
            return Made(scale, [-FAR, FAR, *outward(whole, scale), -FAR, FAR])
        reached = self._reached(table, source, line)
        exact = [ZERO] * line.count
        for word in reached.tolist():
            x = exactly(line.value(word)) - source.error.total - source.inputs
            exact[word] = self._within(table, x).times(factor)
        return self._made(digits, exact, whole, reached)

    def _within(self, table: TableMeaning, x: Enclosure) -> Enclosure:
        if isinstance(table, CurveTable):
            return curve_within(table, x)
        if not isinstance(table, PowerTable):
            raise NotPlainError
        total = ZERO
        for c in reversed(table.coefficients):
            total = total * x + exactly(c)
        size = about(x).high
        if table.coefficients[:2] == (0.0, 0.0) and len(table.coefficients) == SQUARE:
            small = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
            square = Enclosure(small * small >> PLACES, -(-size * size >> PLACES))
            total = total.meet(square.times(Fraction(table.coefficients[2])))
        return total

    def turned(self, place: int) -> Known:
        """Return what is known of a meaning, an angle's in turns."""
        meaning, known = self.meanings[place], self.forward.known[place]
        if not isinstance(meaning, Total) or not meaning.turning:
            return known
        part = Fraction(1, 1 << meaning.turning)
        return Known(
            known.exact.times(part), known.words.times(part), known.error.times(part),
            known.inputs.times(part),
        )  # fmt: skip

    def _reached(self, table: TableMeaning, source: Known, line: Line) -> Words:
        given = self.meanings[table.source]
        if isinstance(given, GivenWord):
            return np.arange(*self._ends(given), dtype=np.int64)
        turning = isinstance(table, WaveTable) or (isinstance(table, CurveTable) and table.angle)
        return line.reached(source.words, Fraction(1) if turning else None)

    def _digits(
        self, entries: Mapping[int, Words], parts: Parts, heap: int | None, view: View
    ) -> Integers:
        """Return what parts say, or a word above its lowest bits, as digits, in units of 2^-80."""
        scales, nodes = self.graph.scales, self.graph.nodes
        if view is not None:
            word, drop = view
            most = (1 << (nodes[word].bits - drop)) - 1
            twice = 2 * (entries[word] >> drop).astype(object) - most
            return twice * unit_of(scales[word].lsb + drop - 1)
        if heap is None:
            raise NotPlainError
        total: Integers = np.zeros(1, dtype=object)
        none = np.zeros(0, np.int64)
        listed = [entries.get(k, none) for k in range(len(nodes))]
        for part in parts:
            if not set(part_reads(part)) <= set(entries):
                raise NotPlainError
            said = Atom(part, Fraction(1)).value(nodes, listed)
            total = total + (2 * said.astype(object) - part.layout(nodes).weight)
        return np.asarray(total * unit_of(scales[heap].lsb - 1))

    def _made(
        self, digits: Integers, exact: Sequence[Enclosure], whole: Enclosure, reached: Words
    ) -> Made:
        digits = _nearest(digits, reached)
        low = _nearest(np.array([one.low for one in exact], dtype=object), reached)
        high = _nearest(np.array([one.high for one in exact], dtype=object), reached)
        size = max(abs(int(digits.max())), abs(int(digits.min())), whole.size)
        scale = scale_for(size)
        said = self.store.ranges(rounded_down(digits, scale), rounded_up(digits, scale))
        missed = self.store.ranges(
            rounded_down(digits - high, scale), rounded_up(digits - low, scale)
        )
        known = [-FAR, FAR, *outward(whole, scale), -FAR, FAR]
        return Made(scale, known, said, missed, len(digits))

    def _waves(
        self, table: WaveTable, source: Known, line: Line | None, digits: Integers | None,
        factor: Fraction, whole: Enclosure,
    ) -> Made:  # fmt: skip
        places = 1 << GRID
        parts = [(k, exactly(a), exactly(b)) for k, a, b in table.parts]
        found = waves_at(parts, Fraction(0), Fraction(1, places), np.arange(places, dtype=object))
        values = found.values * factor.numerator // factor.denominator
        size = max(abs(int(values.max())), abs(int(values.min())), whole.size)
        if digits is not None:
            size = max(size, abs(int(digits.max())), abs(int(digits.min())))
        scale = scale_for(size)
        grid = rounded_down(values, scale)
        off = exactly(found.slack * abs(factor) / ONE) + self._off(table, factor)
        slack = outward(off, scale)[1] + 3
        tops = peaks(grid)
        listed = np.concatenate([grid, np.array([*tops, 0], dtype=object)])
        start = self.store.plain(listed, listed)
        least, most = int(grid.min()) - slack, int(grid.max()) + slack
        known = [-FAR, FAR, *outward(whole, scale), -FAR, FAR]
        ends = {"values": start, "peaks": len(tops), "slack": slack, "least": least, "most": most}
        if digits is None or line is None:
            return Made(scale, known, **ends)
        starts, count = _places(line, source)
        low, high = windows(grid, starts, count)
        reached = self._reached(table, source, line)
        digits = _nearest(digits, reached)
        below = _nearest(rounded_down(digits, scale) - (high + slack), reached)
        above = _nearest(rounded_up(digits, scale) - (low - slack), reached)
        said = self.store.ranges(rounded_down(digits, scale), rounded_up(digits, scale))
        missed = self.store.ranges(below, above)
        return Made(scale, known, said, missed, len(digits), **ends)

    def _off(self, table: WaveTable, factor: Fraction) -> Enclosure:
        """Return how far a wave is from its values at the places beside, and what ties add."""
        bent = steep = ZERO
        for k, a, b in table.parts:
            size = exactly((abs(Fraction(a)) + abs(Fraction(b))) * abs(factor))
            turn = pi().times(Fraction(2 * k))
            bent, steep = bent + size * turn * turn, steep + size * turn
        tie = steep.times(self._tie(table.source))
        return bent.times(Fraction(1, 8 << (2 * GRID))) + tie

    def _tie(self, place: int) -> Fraction:
        """Return how far an angle may be outside of its cell, in turns."""
        meaning = self.meanings[place]
        if isinstance(meaning, TurnSum):
            return sum((abs(k) * self._tie(item) for item, k in meaning.items), Fraction(0))
        if isinstance(meaning, GivenWord) and meaning.word is not None:
            return given_line(self.graph, meaning).step * TIE * 2
        return Fraction(0)


def _places(line: Line, source: Known) -> tuple[list[int], int]:
    """Return, for every word of an angle, the first place where it may be, and how many follow."""
    off = source.error.total + source.inputs
    whole = 1 << GRID
    least, most = off.ends
    starts, count = [], 0
    for word in range(line.count):
        value = line.value(word)
        one, two = (value - most) * whole, (value - least) * whole
        first, last = one.numerator // one.denominator, -(-two.numerator // two.denominator)
        starts.append(first)
        count = max(count, last - first + 1)
    return starts, min(count, whole)


def _nearest(values: Integers, reached: Words) -> Integers:
    """Return entries where those of words that never occur are as at the nearest that do."""
    if len(values) != 1 and len(reached) != len(values):
        place = np.searchsorted(reached, np.arange(len(values)))
        return np.asarray(values[reached[np.minimum(place, len(reached) - 1)]])
    return values


def wrapped_constant(value: Enclosure, turn: int) -> Enclosure:
    """Return a number less the whole turns nearest to it."""
    middle = sum(value.ends) / 2
    return value - exactly(round(Fraction(middle) / turn) * turn)
