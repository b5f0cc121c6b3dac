"""The plain bound: node by node, between which numbers words, values and errors lie.

    error = [what the word says - the value at the middles of the inputs' cells]
          + [that value - the value where the inputs are]

The first depends on words alone. It is that of entries of tables, which are looked at one by one,
and of bits that are discarded; sums add it, products A·B of α + a and β + b make A·b + B·a - a·b of
it. The second is the same calculation without words. Any graph, any function; milliseconds.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.proof.bound.enclosure import about, exactly
from boolcomp.proof.bound.heaps import Operand, total_known
from boolcomp.proof.bound.inputs import cells_reached, given_known
from boolcomp.proof.bound.known import Known, Line, given_line, line_of
from boolcomp.proof.bound.meaning import (
    CurveTable,
    GivenWord,
    LinearPart,
    Pieces,
    PowerTable,
    ProductPart,
    Total,
    TurnSum,
    WaveTable,
)
from boolcomp.proof.bound.result import Bound, Bounds, Causes
from boolcomp.proof.bound.tables import Read, looked_up, table_known
from boolcomp.proof.bound.turns import turns_known

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.proof.bound.enclosure import Enclosure
    from boolcomp.proof.bound.meaning import Explained, Meaning, ResultMeaning, TableMeaning

    Words = NDArray[np.int64]

TABLES = (WaveTable, PowerTable, CurveTable)


class Forward:
    """What is known of every meaning, in their order, and which heaps may overflow."""

    def __init__(self, explained: Explained) -> None:
        self.graph, self.explained = explained.graph, explained
        self.known: list[Known] = []
        self.entries: dict[int, Words] = {}
        self.unproved: list[int] = []
        self.outputs = {result.meaning for result in explained.results}
        for place, meaning in enumerate(explained.meanings):
            self.known.append(self._known(place, meaning))

    def _known(self, place: int, meaning: Meaning) -> Known:
        if isinstance(meaning, GivenWord):
            return given_known(self.graph, meaning)
        if isinstance(meaning, TurnSum):
            items = [item for item, _ in meaning.items]
            lines = {k: found for k in items if (found := self.line(k))}
            return turns_known(self.graph, meaning, {k: self._turns(k) for k in items}, lines)
        if isinstance(meaning, TABLES):
            return self._table(meaning)
        operands = [tuple(self._operand(k) for k in _reads(addend)) for addend in meaning.addends]
        booked = self.explained.beside(meaning.word)
        total = total_known(self.graph, meaning, operands, booked, output=place in self.outputs)
        if not total.fits and meaning.word is not None:
            self.unproved.append(meaning.word)
        return total.known

    def operands(self, addend: LinearPart | ProductPart) -> tuple[Operand, ...]:
        """Return what an addend reads."""
        return tuple(self._operand(k) for k in _reads(addend))

    def _operand(self, place: int) -> Operand:
        pieces = pieces_of(self.explained.meanings[place])
        entries = {k: self.entries[k] for k in pieces.words if k in self.entries}
        return Operand(self.known[place], pieces, entries, output=place in self.outputs)

    def line(self, place: int) -> tuple[int, Line] | None:
        """Return the node of a meaning's word and what it stands for, an angle's in turns."""
        meaning = self.explained.meanings[place]
        if isinstance(meaning, GivenWord):
            return None if meaning.word is None else (meaning.word, given_line(self.graph, meaning))
        if not isinstance(meaning, TurnSum | Total) or meaning.word is None:
            return None
        found = line_of(self.graph, meaning.word)
        if place in self.outputs:
            found = replace(
                found, start=found.start - Fraction(self.graph.scales[meaning.word].offset)
            )
        if isinstance(meaning, Total) and meaning.turning:
            turn = 1 << meaning.turning
            found = Line(found.start / turn, found.step / turn, found.count)
        return meaning.word, found

    def _turns(self, place: int) -> Known:
        """Return what is known of a meaning, an angle in turns."""
        meaning, known = self.explained.meanings[place], self.known[place]
        if not isinstance(meaning, Total) or not meaning.turning:
            return known
        part = Fraction(1, 1 << meaning.turning)
        return Known(
            known.exact.times(part), known.words.times(part), known.error.times(part),
            known.inputs.times(part),
        )  # fmt: skip

    def _table(self, table: TableMeaning) -> Known:
        source, line = self._turns(table.source), self.line(table.source)
        if line is None or not table.pieces.words:
            return table_known(self.graph, table, source, None)
        angle = isinstance(table, WaveTable) or (isinstance(table, CurveTable) and table.angle)
        words = self._words(table.source, source, line[1], angle=angle)
        read = Read(line[0], line[1], words)
        both = (*table.pieces.words, *(table.pieces.product or ()))
        self.entries |= {place: looked_up(self.graph, place, read) for place in both}
        return table_known(self.graph, table, source, read)

    def _words(self, place: int, source: Known, line: Line, *, angle: bool) -> Words:
        """Return the words that a meaning may have."""
        import numpy as np  # noqa: PLC0415

        given = self.explained.meanings[place]
        if isinstance(given, GivenWord):
            first, last = cells_reached(line, given)
            return np.arange(first, last + 1, dtype=np.int64)
        return line.reached(source.words, Fraction(1) if angle else None)


def _reads(addend: LinearPart | ProductPart) -> tuple[int, ...]:
    return (addend.meaning,) if isinstance(addend, LinearPart) else (addend.a, addend.b)


def pieces_of(meaning: Meaning) -> Pieces:
    """Return the words that stand for a meaning."""
    if isinstance(meaning, TABLES):
        return meaning.pieces
    return Pieces(() if meaning.word is None else (meaning.word,))


def plain_bounds(explained: Explained) -> Bounds:
    """Return the plain bound of every output of a graph."""
    forward = Forward(explained)
    found = [
        _bound(explained, result, column, forward)
        for column, result in enumerate(explained.results)
    ]
    return Bounds(tuple(found), tuple(forward.unproved))


def _bound(explained: Explained, result: ResultMeaning, column: int, forward: Forward) -> Bound:
    known = forward.known[result.meaning]
    causes = Causes(
        known.inputs, known.error.tables, known.error.bits, rounding(explained, column, result)
    )
    low, high = causes.total.ends
    if result.rest is not None:
        resting = -at_rest(explained, result)
        low, high = min(low, resting.ends[0]), max(high, resting.ends[1])
    return Bound(result.name, result.unit, result.step, low, high, causes)


def rounding(explained: Explained, column: int, result: ResultMeaning) -> Enclosure:
    """Return what an output's word stands for beside the sum in its heap."""
    output = explained.graph.results[column]
    lsb = explained.graph.scales[output.node].lsb
    total = explained.meanings[result.meaning]
    if not isinstance(total, Total) or total.word != output.node or output.drop != -lsb:
        raise ValueError(f"{result.name} is not the sum that it is said to be")
    half = Fraction(1, 2) - Fraction(1, 2 << output.drop)
    return about(exactly(half)) + moved(explained, column, result)


def moved(explained: Explained, column: int, result: ResultMeaning) -> Enclosure:
    """Return what an output's word stands for beside the middle of its cell."""
    return exactly(result.shift - (Fraction(1, 2) if explained.graph.results[column].tread else 0))


def at_rest(explained: Explained, result: ResultMeaning) -> Enclosure:
    """Return between which numbers an output is where its word is held at zero."""
    known = Forward(explained.restricted(dict(result.rest or ()))).known[result.meaning]
    return known.exact - known.inputs
