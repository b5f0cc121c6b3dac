"""The plain bound, node by node, with sums of heaps, and curves beyond the ends of their tables.

The value of a heap's word is half the weight of all its bits, plus its constant, plus the digits ±½
of its parts (see `words/graph.py`). So the error of a heap consists of errors of its addends, of
their constants, of discarded bits and products, and of one constant, which the graph determines.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.sketch import (
    TURN,
    AngleSum,
    Curve,
    Linear,
    SourceWord,
    WordSum,
)
from boolcomp.proof.bound.balls import ZERO, Enclosure, about, between, exactly
from boolcomp.proof.bound.bounds import Bound, Bounds, Causes
from boolcomp.proof.bound.sketched import WordLine, line_of, step_of
from boolcomp.proof.bound.tables import (
    NONE,
    Enclosures,
    Error,
    Read,
    cells_reached,
    computed_values,
    curve_within,
    input_known,
    looked_up,
    table_known,
    turns_known,
)
from boolcomp.words.graph import Bits, Heap, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch import Addend, Product, Sketch, SketchNode, Table
    from boolcomp.proof.bound.sketched import SketchedGraph
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# The plain bound: enclosures of words, values and errors, node by node.
#
#     error = [value of the word - exact value at the middles of the inputs' cells]
#           + [exact value at the middles - exact value at the inputs]
#
# The first difference depends on words alone. It stems from entries of tables, which are
# enumerated, and from discarded bits. Sums add it up; a product A·B of α + a and β + b has the
# error A·b + B·a - a·b. The second difference is computed likewise, without words. This applies to
# any graph and any function, and takes milliseconds.
# --------------------------------------------------------------------------------------------------


class Forward:
    """Enclosures of all nodes of a sketch, in order, and the heaps that may overflow."""

    def __init__(self, sketched: SketchedGraph) -> None:
        self.sketched, self.graph = sketched, sketched.graph
        self.enclosures: list[Enclosures] = []
        self.entries: dict[int, Words] = {}  # of words of tables
        self.unproved: list[int] = []
        self.outputs = set(sketched.sketch.outputs)
        for place, node in enumerate(sketched.sketch.nodes):
            self.enclosures.append(self._enclosures(place, node))

    def _enclosures(self, place: int, node: SketchNode) -> Enclosures:
        if isinstance(node, SourceWord):
            return input_known(self.sketched.line(place), self.sketched.ranges[place])
        if isinstance(node, AngleSum):
            items = [item for item, _ in node.items]
            lines = {k: found for k in items if (found := self.line(k))}
            turns = {k: self.turns(k) for k in items}
            return turns_known(self.graph, node, self.sketched.word(place), turns, lines)
        if isinstance(node, WordSum):
            return self._sum(place, node)
        return self._table(place, node)

    def line(self, place: int) -> tuple[int, WordLine] | None:
        """Return the word of an input or a sum and its values; those of an angle are in turns."""
        word, line = self.sketched.word(place), self.sketched.line(place)
        if word is None or line is None:
            return None
        if is_turning(self.sketched.sketch.nodes[place]):
            turn = 1 << TURN
            line = WordLine(line.start / turn, line.step / turn, line.count)
        return word, line

    def turns(self, place: int) -> Enclosures:
        """Return the enclosures of a node; those of an angle are in turns."""
        own = self.enclosures[place]
        if not is_turning(self.sketched.sketch.nodes[place]):
            return own
        part = Fraction(1, 1 << TURN)
        return Enclosures(
            own.exact.times(part), own.words.times(part), own.error.times(part),
            own.inputs.times(part),
        )  # fmt: skip

    def _table(self, place: int, table: Table) -> Enclosures:
        source, line = self.turns(table.source), self.line(table.source)
        words = self.sketched.places[place]
        if line is None or not words.words:
            return table_known(table, source)
        read = Read(*line, self.words_reached(table, line[1]))
        both = (*words.words, *(words.product or ()))
        self.entries |= {word: looked_up(self.graph, word, read) for word in both}
        key, known = (place, source, read.words.tobytes()), self.sketched.tables_known
        if key not in known:
            known[key] = table_known(table, source, read, computed_values(self.graph, words, read))
        return known[key]

    def words_reached(self, table: Table, line: WordLine) -> Words:
        """Return the possible words of a table's source."""
        range_ = self.sketched.ranges.get(table.source)
        if range_ is not None:
            first, last = cells_reached(line, range_)
            return np.arange(first, last + 1, dtype=np.int64)
        values = self.turns(table.source).words
        return line.reached(values, Fraction(1) if table.angle else None)

    def _sum(self, place: int, node: WordSum) -> Enclosures:
        exact, inputs = exactly(node.constant), ZERO
        for addend in node.addends:
            value, moved = self._addend(addend)
            exact, inputs = exact + value, inputs + moved
        word = self.sketched.word(place)
        if word is None:
            return Enclosures(exact, exact, NONE, inputs)
        heap = _HeapSum(self, place, node, word)
        found = Enclosures(exact, heap.value, heap.error, inputs).tightened()
        if not heap.fits(found.words):
            self.unproved.append(word)
        return found

    def _addend(self, addend: Addend) -> tuple[Enclosure, Enclosure]:
        """Enclose an addend at the middles of the inputs' cells, and that minus its exact value."""
        factor = Fraction(addend.factor)
        if isinstance(addend, Linear):
            own = self.enclosures[addend.node]
            return own.exact.times(factor), own.inputs.times(factor)
        a, b = self.enclosures[addend.a], self.enclosures[addend.b]
        moved = a.exact * b.inputs + b.exact * a.inputs - a.inputs * b.inputs
        return (a.exact * b.exact).times(factor), moved.times(factor)

    def offset(self, place: int, word: int) -> Enclosure:
        """Return the offset of a word of a node; the decoder of an output ignores it."""
        return ZERO if place in self.outputs else exactly(self.graph.scales[word].offset)

    def lost(self, word: int, drop: int) -> Enclosure:
        """Enclose the value of the lowest `drop` bits of a word."""
        if not drop:
            return ZERO
        step, mask = step_of(self.graph, word), (1 << drop) - 1
        if word not in self.entries:
            return about(exactly(Fraction(mask, 2) * step))
        found = 2 * (self.entries[word] & mask) - mask
        return between(int(found.min()) * step / 2, int(found.max()) * step / 2)


def is_turning(node: SketchNode) -> bool:
    """Return whether a node is an angle in units of 2^-TURN turns."""
    return isinstance(node, WordSum) and node.angle


# --------------------------------------------------------------------------------------------------
# Sums: the digits that a heap adds up, against the sum that it represents.
# --------------------------------------------------------------------------------------------------


class _HeapSum:
    """The value of the word of a sum, and its error.

    The decoder of an inner word adds its `offset`, which is part of the word's value; the decoder
    of an output does not.
    """

    def __init__(self, forward: Forward, place: int, total: WordSum, word: int) -> None:
        heap, owners = forward.graph.nodes[word], forward.sketched.places[place].owners
        if not isinstance(heap, Heap):
            raise ValueError(f"word {word} is no heap")  # noqa: TRY004 (a value of the claim)
        self.forward, self.graph, self.word, self.heap = forward, forward.graph, word, heap
        self.line = forward.sketched.line(place) or line_of(self.graph, word)
        self.value, self.error = ZERO, NONE
        self.offsets = ZERO
        for k, addend in enumerate(total.addends):
            mine = [part for part, owner in zip(heap.parts, owners, strict=True) if owner == k]
            if isinstance(addend, Linear):
                self._linear(addend, mine)
            else:
                self._product(addend, mine)
        self._constant(total)

    def _linear(self, addend: Linear, parts: Sequence[HeapPart]) -> None:
        """Add the parts of factor · node; each word of the node is added for every digit."""
        read = self.forward.sketched.places[addend.node]
        rows = [part for part in parts if isinstance(part, Bits)]
        grids = [part for part in parts if isinstance(part, PartialProducts)]
        found = {word: Counter[Fraction]() for word in read.words}
        for part in rows:
            if part.node not in found:
                raise ValueError(f"heap {self.word} adds word {part.node}, which is not its own")
            shift = part.column - part.drop - self.graph.scales[part.node].lsb
            size = self.line.step * Fraction(2) ** shift
            weight = -size if part.negative else size
            found[part.node][weight] += 1
            self._discard(self.forward.lost(part.node, part.drop).times(-weight))
        weights = Counter[Fraction]()
        for counted in found.values():
            weights |= counted
        multiplied = self._grids(read.product, grids)
        weights |= multiplied
        times = sum(weights.elements(), Fraction(0))
        if read.product is not None:
            a, b = (line_of(self.graph, word) for word in read.product)
            largest = exactly(a.step * (a.count - 1) * b.step * (b.count - 1) / 4)
            for weight in (weights - multiplied).elements():
                self._discard(about(largest).times(-weight))
        for word, counted in found.items():
            line = line_of(self.graph, word)
            whole = exactly(line.step * (line.count - 1) / 2)
            for weight in (weights - counted).elements():  # digits that are dropped altogether
                self._discard(about(whole).times(-weight))
            self.offsets = self.offsets + self.forward.offset(addend.node, word).times(-times)
        own = self.forward.enclosures[addend.node]
        self.value = self.value + own.words.times(times)
        self.error = self.error + own.error.times(times)
        self._add_error(own.exact.times(times - Fraction(addend.factor)))

    def _grids(
        self, words: tuple[int, int] | None, grids: Sequence[PartialProducts]
    ) -> Counter[Fraction]:
        """Return the factors at which the product of two words of a node is added."""
        weights = Counter[Fraction]()
        for part in grids:
            if (part.a, part.b) != words:
                raise ValueError(f"heap {self.word} multiplies words that are not its operands")
            weights[self._times(part)] += 1
            self._discard(self._columns_lost(part))
        return weights

    def _times(self, part: PartialProducts) -> Fraction:
        """Return the factor at which the product of two words is added."""
        a, b = step_of(self.graph, part.a), step_of(self.graph, part.b)
        column = part.column + 1 - part.drop_a - part.drop_b
        size = self.line.step * Fraction(2) ** column / (a * b)
        return -size if part.negative else size

    def _columns_lost(self, part: PartialProducts) -> Enclosure:
        """Bound the value of partial products below column 0."""
        columns = part.layout(self.graph.nodes).diagonals()
        lost = sum((n * Fraction(2) ** (c - 1) for c, n in columns if c < 0), Fraction(0))
        return about(exactly(lost * self.line.step))

    def _product(self, addend: Product, parts: Sequence[HeapPart]) -> None:
        """Add the part of factor · a · b."""
        factor, nodes = Fraction(addend.factor), (addend.a, addend.b)
        if not parts:  # replaced by its mean, in a constant
            a, b = (self.forward.enclosures[k].exact for k in nodes)
            self._add_error(-(a * b).times(factor))
            return
        (part,) = parts
        if not isinstance(part, PartialProducts) or (part.a, part.b) != tuple(
            word for k in nodes for word in self.forward.sketched.places[k].words
        ):
            raise ValueError(f"heap {self.word} multiplies words that are not its operands")
        if self._times(part) != factor:
            raise ValueError(f"heap {self.word} multiplies by another factor")
        errors, words = [], []
        for k, word, drop in zip(nodes, (part.a, part.b), (part.drop_a, part.drop_b), strict=True):
            own = self.forward.enclosures[k]
            lost, offset = self.forward.lost(word, drop), self.forward.offset(k, word)
            errors.append(own.error + Error(ZERO, -(lost + offset)))
            words.append(own.words - lost - offset)
        self.value = self.value + (words[0] * words[1]).times(factor)
        self.error = self.error + _product_error(words, errors).times(factor)
        self._discard(self._columns_lost(part))

    def _discard(self, lost: Enclosure) -> None:
        self.value = self.value + lost
        self._add_error(lost)

    def _add_error(self, more: Enclosure) -> None:
        self.error = self.error + Error(ZERO, more)

    def _constant(self, total: WordSum) -> None:
        """Add the constant and its error, which is zero up to rounding."""
        weight = sum(part.layout(self.graph.nodes).weight for part in self.heap.parts)
        middle = Fraction(weight, 2) + self.heap.constant
        given = exactly(self.line.value(0) + self.line.step * middle) + self.offsets
        self.value = self.value + given
        error = given - exactly(total.constant)
        self._add_error(wrapped(error, 1 << TURN) if total.angle else error)

    def fits(self, value: Enclosure) -> bool:
        """Tell whether the heap's word holds all values of the sum."""
        low, high = value.ends
        return self.heap.wraps or (
            self.line.start <= low and high <= self.line.value(self.line.count - 1)
        )


def _product_error(words: Sequence[Enclosure], errors: Sequence[Error]) -> Error:
    """Enclose A·B - α·β, where A is α plus an error, and B is β plus an error."""
    (a, b), (da, db) = words, errors
    tables = a * db.tables + b * da.tables - da.tables * db.tables
    both = a * db.bits + b * da.bits - da.bits * db.bits
    return Error(tables, both - da.tables * db.bits - da.bits * db.tables)


def wrapped(value: Enclosure, turn: int) -> Enclosure:
    """Subtract whole turns to bring a number near zero."""
    middle = sum(value.ends) / 2
    return value - exactly(round(Fraction(middle) / turn) * turn)


# --------------------------------------------------------------------------------------------------
# The bounds of outputs.
# --------------------------------------------------------------------------------------------------


def plain_bounds(sketched: SketchedGraph) -> Bounds:
    """Return the plain bound of every output of a graph."""
    forward, found = Forward(sketched), []
    for column, output in enumerate(sketched.results):
        own = forward.enclosures[sketched.sketch.outputs[column]]
        causes = Causes(own.inputs, own.error.tables, own.error.bits, rounding(sketched, column))
        ends = at_rest_too(sketched, column, causes.total.ends)
        found.append(Bound(output.name, output.unit, output.step, *ends, causes))
    return Bounds(tuple(found), tuple(forward.unproved))


def rounding(sketched: SketchedGraph, column: int) -> Enclosure:
    """Enclose the value of an output's word minus the sum in its heap."""
    output = sketched.graph.results[column]
    lsb = sketched.graph.scales[output.node].lsb
    if sketched.word(sketched.sketch.outputs[column]) != output.node or output.drop != -lsb:
        raise ValueError(f"the word of {sketched.results[column].name} is not that of its sum")
    half = Fraction(1, 2) - Fraction(1, 2 << output.drop)
    return about(exactly(half)) + moved(sketched, column)


def moved(sketched: SketchedGraph, column: int) -> Enclosure:
    """Return the shift of an output against its cells, less half a step if zero has a cell."""
    half = Fraction(int(sketched.graph.results[column].tread), 2)
    return exactly(sketched.results[column].shift - half)


def at_rest_too(
    sketched: SketchedGraph, column: int, ends: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    """Extend limits of an error by those where the word of an output is held at zero."""
    rest = sketched.rest(column)
    if rest is None:
        return ends
    own = Forward(sketched.restricted(rest)).enclosures[sketched.sketch.outputs[column]]
    low, high = (own.inputs - own.exact).ends
    return min(ends[0], low), max(ends[1], high)


# --------------------------------------------------------------------------------------------------
# Curves of sums beyond the ends of their tables.
#
# A sketch tabulates a curve of a sum over a range that samples of the sum reached, with a margin,
# and clamps arguments beyond. If the sum is not proved to stay in this range, the sketch may differ
# from the specified function. This difference is enclosed node by node, as the plain bound is, and
# added to a bound of any grade.
# --------------------------------------------------------------------------------------------------

PIECES = 64  # of an interval beyond an end; a curve is enclosed in each


def beyond_ends(sketched: SketchedGraph, bounds: Bounds) -> Bounds:
    """Return bounds against the specified function, given bounds against the sketch.

    An unbounded curve beyond an end is a `DataError`.
    """
    if all(bound.of_specification for bound in bounds.outputs):
        return bounds
    sketch = sketched.sketch
    if not any(_has_ends(sketch, node) for node in sketch.nodes):
        return bounds
    more = _Excess(Forward(sketched)).found
    pairs = zip(bounds.outputs, sketch.outputs, strict=True)
    return replace(bounds, outputs=tuple(_moved(bound, more[place]) for bound, place in pairs))


def _has_ends(sketch: Sketch, node: SketchNode) -> bool:
    """Tell whether a node is a curve with ends; ends of curves of inputs are those of inputs."""
    if not isinstance(node, Curve) or isinstance(sketch.nodes[node.source], SourceWord):
        return False
    return math.isfinite(node.low) or math.isfinite(node.high)


def _moved(bound: Bound, by: Enclosure) -> Bound:
    low, high = by.ends
    causes = replace(bound.causes, inputs=bound.causes.inputs + by)
    return replace(bound, low=bound.low + low, high=bound.high + high, causes=causes)


class _Excess:
    """The sketch's function minus the specified function, for every node."""

    def __init__(self, forward: Forward) -> None:
        self.forward, self.sketch = forward, forward.sketched.sketch
        self.found: list[Enclosure] = []
        for node in self.sketch.nodes:
            if isinstance(node, SourceWord):
                self.found.append(ZERO)
            elif isinstance(node, AngleSum):
                parts = (self._turns(k).times(Fraction(multiple)) for k, multiple in node.items)
                self.found.append(sum(parts, ZERO))
            elif isinstance(node, WordSum):
                self.found.append(self._total(node))
            else:
                self.found.append(self._table(node))

    def _values(self, place: int) -> Enclosure:
        """Enclose the sketch's function over all inputs."""
        own = self.forward.enclosures[place]
        return own.exact - own.inputs

    def _turns(self, place: int) -> Enclosure:
        """Return the difference of an angle, in turns."""
        turning = TURN if is_turning(self.sketch.nodes[place]) else 0
        return self.found[place].times(Fraction(1, 1 << turning))

    def _total(self, total: WordSum) -> Enclosure:
        more = ZERO
        for addend in total.addends:
            factor = Fraction(addend.factor)
            if isinstance(addend, Linear):
                more = more + self.found[addend.node].times(factor)
                continue
            a, b = self._values(addend.a), self._values(addend.b)
            by_a, by_b = self.found[addend.a], self.found[addend.b]
            more = more + (a * by_b + b * by_a - by_a * by_b).times(factor)
        return more

    def _table(self, table: Table) -> Enclosure:
        by = self._turns(table.source)
        if not isinstance(table, Curve):
            if by == ZERO:
                return ZERO
            # the specified function is evaluated at inputs, the sketch at the middles of cells
            values = self._values(table.source)
            source = Enclosures(values, values, NONE, by)
            return table_known(table, source).inputs
        free = replace(table, low=-math.inf, high=math.inf)
        if by != ZERO:
            values = self._values(table.source)
            return curve_within(table, values) - _within(free, values - by)
        if not _has_ends(self.sketch, table):
            return ZERO
        return _beyond(table, free, self._values(table.source))


def _beyond(table: Curve, free: Curve, values: Enclosure) -> Enclosure:
    """Enclose a curve with ends minus the curve without, over values of its source."""
    more = ZERO
    low, high = values.ends
    middle, unit = Fraction(table.middle), Fraction(table.unit)
    for end in (table.low, table.high):
        if not math.isfinite(end):
            continue
        at = (Fraction(end) - middle) / unit
        lower = (end == table.low) == (unit > 0)
        first, last = (low, min(at, high)) if lower else (max(at, low), high)
        if first < last:
            clamped = curve_within(table, between(at, at))
            more = more.join(clamped - _within(free, between(first, last)))
    return more


def _within(table: Curve, values: Enclosure) -> Enclosure:
    """Enclose a curve over values, piece by piece."""
    low, high = values.ends
    borders = [low + (high - low) * k / PIECES for k in range(PIECES + 1)]
    found = [curve_within(table, between(*pair)) for pair in pairwise(borders)]
    return Enclosure(min(one.low for one in found), max(one.high for one in found))
