"""Bounds over boxes of inputs: a graph as steps (see `boxes_kernels.py`), and branch and bound.

A box is a range of cells of every input. Every node has three enclosures in a box. They enclose the
value of its words as digits, the exact value over all inputs in the box, and their difference, the
error. Tables give errors word by word. All enclosures are intersected with those of the plain
bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.plain import added
from boolcomp.compact.sketch import (
    TURN,
    AngleSum,
    Curve,
    Linear,
    Powers,
    SourceWord,
    Table,
    Waves,
    WordSum,
)
from boolcomp.proof.bound import boxes_kernels as kinds
from boolcomp.proof.bound.balls import (
    ONE,
    PLACES,
    ZERO,
    BallColumns,
    Enclosure,
    about,
    between,
    exactly,
    peaks,
    pi,
    waves_at,
    windows,
)
from boolcomp.proof.bound.bounds import BOXES, NotPlainError
from boolcomp.proof.bound.boxes_kernels import sampled, search
from boolcomp.proof.bound.plain import at_rest_too, is_turning, moved, rounding, wrapped
from boolcomp.proof.bound.tables import TIE, Read, beside, cells_reached, curve_within, looked_up
from boolcomp.words.graph import Angles, Bits, Heap, PartialProducts, part_reads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch import Addend, Product
    from boolcomp.proof.bound.plain import Forward
    from boolcomp.proof.bound.sketched import WordLine
    from boolcomp.proof.bound.tables import Enclosures
    from boolcomp.words.graph import Grid, HeapPart

    Whole = NDArray[np.int64]
    Short = NDArray[np.int32]
    Words = NDArray[np.int64]
    Integers = NDArray[np.object_]
    Parts = Sequence[HeapPart]
    View = tuple[int, int] | None
    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Integers of limited length in the unit of a slot; ends are rounded outward.
# --------------------------------------------------------------------------------------------------

TOP = 29  # of the largest number of a slot
MANTISSA = 30  # bits of a factor
FAR = 1 << 61  # larger than any number of a slot


def outward(value: Enclosure, scale: int) -> tuple[int, int]:
    """Return both ends of an enclosure in units of 2^-scale."""
    shift = PLACES - scale
    if shift >= 0:
        return value.low >> shift, -(-value.high >> shift)
    return value.low << -shift, value.high << -shift


def rounded_down(values: Integers, scale: int) -> Integers:
    """Convert numbers of enclosures to units of 2^-scale, rounded down."""
    shift = PLACES - scale
    return np.asarray(values >> shift if shift >= 0 else values << -shift)


def rounded_up(values: Integers, scale: int) -> Integers:
    return -rounded_down(-values, scale)


def ends_of(found: Sequence[Enclosure], scale: int) -> tuple[Integers, Integers]:
    """Return the ends of many enclosures in units of 2^-scale."""
    low = np.array([one.low for one in found], dtype=object)
    high = np.array([one.high for one in found], dtype=object)
    return rounded_down(low, scale), rounded_up(high, scale)


def scale_of(size: Fraction) -> int:
    return TOP - log2_up(size) if size else TOP


def scale_for(units: int) -> int:
    return scale_of(Fraction(max(1, units), ONE))


def log2_up(value: Fraction) -> int:
    """Return the least k with 2^k ≥ value."""
    k = value.numerator.bit_length() - value.denominator.bit_length() - 1
    while Fraction(2) ** k < value:
        k += 1
    return k


def power_of(value: Fraction) -> int:
    """Return k, given 2^k."""
    k = log2_up(value)
    if Fraction(2) ** k != value:
        raise NotPlainError
    return k


def unit_of(power: int) -> int:
    """Return 2^power in units of enclosures."""
    if power < -PLACES:
        raise NotPlainError
    return 1 << (PLACES + power)


def mantissa(value: Fraction) -> tuple[int, int, int]:
    """Return m, n and k such that a number lies between m·2^-k and n·2^-k."""
    if not value:
        return 0, 0, 0
    shift = MANTISSA - log2_up(abs(value))
    exact = value * Fraction(2) ** shift
    low, high = exact.numerator // exact.denominator, -(-exact.numerator // exact.denominator)
    return low, high, shift


# --------------------------------------------------------------------------------------------------
# Discarded partial products, given one of both words.
# --------------------------------------------------------------------------------------------------

MOST_LISTED_BITS = 20  # limit on the bits of two words whose products are enumerated


def discarded(
    store: BallColumns, grid: Grid, own: Fraction, scale: int, *, of_b: bool
) -> tuple[int, int] | None:
    """Tabulate discarded partial products by the low bits of one word; return the start.

    The number of these bits is returned, too. `own` is the step of the heap. None means that
    nothing is discarded, or that the enumeration would take too long.
    """
    below = -grid.column
    if below <= 0:
        return None
    a, b = min(grid.a, below), min(grid.b, below)
    if a + b > MOST_LISTED_BITS:
        return None
    low, high = _sums(a, b, below)[of_b]
    unit = own * Fraction(2) ** (grid.column - 1) * ONE
    low = low * unit.numerator // unit.denominator
    high = -(-high * unit.numerator // unit.denominator)
    start = store.ranges(rounded_down(low, scale), rounded_up(high, scale))
    return start, b if of_b else a


@lru_cache(maxsize=8)
def _sums(
    a: int, b: int, below: int
) -> tuple[tuple[Integers, Integers], tuple[Integers, Integers]]:
    """Return limits of sums of products i·j, i + j < below, of digits ±1 · 2^k.

    They are given by the low bits of the first word, and by those of the second.
    """
    one, two = np.arange(1 << a, dtype=np.int64), np.arange(1 << b, dtype=np.int64)
    total = np.zeros((1 << a, 1 << b), np.int64)
    for i in range(a):
        ones = (1 << min(b, below - i)) - 1
        row = (2 * (two & ones) - ones) << i
        total += np.where((one >> i & 1)[:, None] > 0, row[None, :], -row[None, :])
    return (
        (total.min(axis=1).astype(object), total.max(axis=1).astype(object)),
        (total.min(axis=0).astype(object), total.max(axis=0).astype(object)),
    )


# --------------------------------------------------------------------------------------------------
# Steps over boxes: slots, rows, columns.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepSlot:
    """The result of a step, in units of 2^-scale."""

    place: int
    scale: int


@dataclass(frozen=True, slots=True, eq=False)
class Boxed:
    """An output as steps, with the first and the last cell of every input.

    `limits` are those of slots over all inputs. `output` is the slot of the output's sum, `addends`
    are the slots of its addends.
    """

    steps: Whole
    args: Whole
    low: Short
    high: Short
    limits: Whole
    first: tuple[int, ...]
    last: tuple[int, ...]
    output: StepSlot
    addends: tuple[StepSlot, ...]

    def until(self, slot: StepSlot) -> Boxed:
        """Keep the steps up to a slot."""
        count = slot.place + 1
        return replace(self, steps=self.steps[:count], limits=self.limits[:count], output=slot)

    def readers(self) -> tuple[Whole, Whole]:
        """Return the steps that depend on each input, and where those of each input begin."""
        reads = np.zeros((len(self.steps), len(self.first)), np.bool_)
        for k, row in enumerate(self.steps):
            kind = row[0]
            if kind in {kinds.TURN, kinds.GIVEN}:
                reads[k, row[2]] = True
            elif kind in {kinds.TURNS, kinds.SUM}:
                sources = self.args[row[3] : row[3] + 2 * row[2] : 2]
                reads[k] = reads[sources].any(axis=0)
            else:
                reads[k] = reads[row[2]]
                if kind == kinds.PRODUCT:
                    reads[k] |= reads[row[3]]
        found = [np.flatnonzero(reads[:, dim]) for dim in range(len(self.first))]
        counts = [0, *(len(one) for one in found)]
        listed = np.concatenate([*found, np.zeros(0, np.int64)])
        return listed.astype(np.int64), np.cumsum(counts).astype(np.int64)


class BoxSteps:
    """A growing list of steps, and the inputs that they read."""

    def __init__(self) -> None:
        self.store = BallColumns()
        self.args: list[int] = []
        self.ends: list[tuple[int, int]] = []
        self._rows: list[list[int]] = []
        self._limits: list[list[int]] = []
        self._scales: list[int] = []
        self._slots: dict[tuple[object, ...], StepSlot] = {}

    def once(self, key: tuple[object, ...], make: Callable[[], StepSlot]) -> StepSlot:
        """Return the slot of a key, made at its first use."""
        if key not in self._slots:
            self._slots[key] = make()
        return self._slots[key]

    def found(self, key: tuple[object, ...]) -> StepSlot | None:
        return self._slots.get(key)

    def add(
        self, kind: int, scale: int, row: Sequence[int], limits: Sequence[int] = (), *,
        worded: bool = True,
    ) -> StepSlot:  # fmt: skip
        """Add a step; `row` is the part of its row after the index of its slot."""
        place = len(self._limits)
        full = [kind, place, *row]
        full += [0] * (kinds.COLUMNS - len(full))
        full[kinds.WORDED] = int(worded)
        self._rows.append(full)
        self._scales.append(scale)
        self._limits.append(list(limits) or [-FAR, FAR] * 3)
        return StepSlot(place, scale)

    def input(self, first: int, last: int) -> int:
        """Add an input with cells from first to last; return its number."""
        self.ends.append((first, last))
        return len(self.ends) - 1

    def boxed(self, output: StepSlot) -> Boxed:
        """Return all steps; the last must be a sum."""
        total = self._rows[-1]
        if total[1] != output.place or total[0] != kinds.SUM:
            raise NotPlainError
        added = self.args[total[3] : total[3] + 2 * total[2] : 2]
        return Boxed(
            np.array(self._rows, np.int64), np.array([*self.args, 0], np.int64),
            *self.store.columns, np.array(self._limits, np.int64),
            tuple(one for one, _ in self.ends), tuple(two for _, two in self.ends), output,
            tuple(StepSlot(k, self._scales[k]) for k in added),
        )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Tables of boxes: the values of words of tables and inputs, and their errors, word by word.
#
# Entries count in the unit of a slot, and are rounded outward.
# --------------------------------------------------------------------------------------------------

SQUARE = 3  # number of coefficients of a square
GRID = 12  # bits of a turn's grid on which harmonics are tabulated


@dataclass(frozen=True, slots=True)
class BoxTable:
    """A table's scale, its limits over all inputs, and where its entries begin.

    `words` is the start of the values of words, `errors` that of errors. For harmonics, `values` is
    the start of the values on the grid and of as many `peaks`; between grid points, values deviate
    by at most `slack`.
    """

    scale: int
    limits: list[int]
    words: int | None = None
    errors: int = 0
    count: int = 1
    values: int = 0
    peaks: int = 0
    slack: int = 0
    least: int = 0
    largest: int = 0


class Tabulator:
    """Makes the tables of a graph."""

    def __init__(self, forward: Forward, store: BallColumns) -> None:
        self.forward, self.graph, self.store = forward, forward.graph, store
        self.sketched, self.nodes = forward.sketched, forward.sketched.sketch.nodes

    def line(self, place: int) -> WordLine:
        """Return the values of the word of an input or a sum; NotPlainError without a word."""
        line = self.sketched.line(place)
        if line is None:
            raise NotPlainError
        return line

    def cells(self, place: int) -> list[Enclosure]:
        """Return the range of a linear input for every word."""
        line, range_ = self.line(place), self.sketched.ranges[place]
        near = Fraction(1, 2) + 2 * TIE
        low, high = range_.allowed.ends
        found = []
        for word in range(line.count):
            value = line.value(word)
            if range_.node.exact:
                found.append(exactly(value) + beside(line, range_))
                continue
            one, two = value - line.step * near, value + line.step * near
            one = min(one, low) if word == 0 else one
            two = max(two, high) if word == line.count - 1 else two
            if max(one, low) <= min(two, high):
                one, two = max(one, low), min(two, high)
            found.append(between(one, two))
        return found

    def given(self, place: int, offset: Enclosure, scale: int) -> tuple[int, int, int]:
        """Return the starts of cells and errors of a linear input, and the shift of half a step."""
        line, cells = self.line(place), self.cells(place)
        shift = scale + (line.step.numerator.bit_length() - line.step.denominator.bit_length()) - 1
        if shift < 0:
            raise NotPlainError
        errors = [exactly(line.value(k)) - offset - cell for k, cell in enumerate(cells)]
        start = self.store.plain(*ends_of(cells, scale))
        return start, self.store.ranges(*ends_of(errors, scale)), shift

    def given_table(
        self, place: int, parts: Parts, heap: int | None, factor: Fraction, view: View
    ) -> BoxTable:
        """Return a linear input as a table over its own word."""
        word = self.sketched.word(place)
        if place not in self.sketched.ranges or word is None:
            raise NotPlainError
        cells = self.cells(place)
        words = np.arange(len(cells), dtype=np.int64)
        digits = self._digits({word: words}, parts, heap, view)
        exact = [cell.times(factor) for cell in cells]
        own = self.forward.enclosures[place]
        whole = (own.exact - own.inputs).times(factor)
        first, last = cells_reached(self.line(place), self.sketched.ranges[place])
        return self._made(digits, exact, whole, np.arange(first, last + 1, dtype=np.int64))

    def table(
        self, place: int, table: Table, parts: Parts, heap: int | None, factor: Fraction,
        view: View,
    ) -> BoxTable:  # fmt: skip
        """Tabulate factor · function; its words are parts of a heap, or one with dropped bits."""
        own = self.forward.enclosures[place]
        whole = (own.exact - own.inputs).times(factor)
        digits, words, line = None, np.zeros(0, np.int64), None
        source, found = self.forward.turns(table.source), self.forward.line(table.source)
        if parts or view:
            if found is None:
                raise NotPlainError
            line = found[1]
            words = np.arange(line.count, dtype=np.int64)
            read = Read(found[0], line, words)
            stands = self.sketched.places[place]
            named = (*stands.words, *(stands.product or ()))
            entries = {k: looked_up(self.graph, k, read) for k in named}
            digits = self._digits(entries, parts, heap, view)
        if isinstance(table, Waves):
            return self._waves(table, source, line, digits, factor, whole)
        if digits is None or line is None:
            scale = scale_for(whole.size)
            return BoxTable(scale, [-FAR, FAR, *outward(whole, scale), -FAR, FAR])
        reached = self.forward.words_reached(table, line)
        exact = [ZERO] * line.count
        for word in reached.tolist():
            x = exactly(line.value(word)) - source.error.total - source.inputs
            exact[word] = self._within(table, x).times(factor)
        return self._made(digits, exact, whole, reached)

    def _within(self, table: Table, x: Enclosure) -> Enclosure:
        if isinstance(table, Curve):
            return curve_within(table, x)
        if not isinstance(table, Powers):
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

    def _digits(
        self, entries: Mapping[int, Words], parts: Parts, heap: int | None, view: View
    ) -> Integers:
        """Return the values of parts, or of a word without its lowest bits, in units of 2^-80."""
        scales, nodes = self.graph.scales, self.graph.nodes
        if view is not None:
            word, drop = view
            mask = (1 << (nodes[word].bits - drop)) - 1
            twice = 2 * (entries[word] >> drop).astype(object) - mask
            return twice * unit_of(scales[word].lsb + drop - 1)
        if heap is None:
            raise NotPlainError
        total: Integers = np.zeros(1, dtype=object)
        for part in parts:
            if not set(part_reads(part)) <= set(entries):
                raise NotPlainError
            value = added(self.graph, part, entries)
            total = total + (2 * value.astype(object) - part.layout(nodes).weight)
        return np.asarray(total * unit_of(scales[heap].lsb - 1))

    def _made(
        self, digits: Integers, exact: Sequence[Enclosure], whole: Enclosure, reached: Words
    ) -> BoxTable:
        digits = _nearest(digits, reached)
        low = _nearest(np.array([one.low for one in exact], dtype=object), reached)
        high = _nearest(np.array([one.high for one in exact], dtype=object), reached)
        size = max(abs(int(digits.max())), abs(int(digits.min())), whole.size)
        scale = scale_for(size)
        words = self.store.ranges(rounded_down(digits, scale), rounded_up(digits, scale))
        errors = self.store.ranges(
            rounded_down(digits - high, scale), rounded_up(digits - low, scale)
        )
        limits = [-FAR, FAR, *outward(whole, scale), -FAR, FAR]
        return BoxTable(scale, limits, words, errors, len(digits))

    def _waves(
        self, table: Waves, source: Enclosures, line: WordLine | None, digits: Integers | None,
        factor: Fraction, whole: Enclosure,
    ) -> BoxTable:  # fmt: skip
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
        ends = {
            "values": start, "peaks": len(tops), "slack": slack,
            "least": int(grid.min()) - slack, "largest": int(grid.max()) + slack,
        }  # fmt: skip
        limits = [-FAR, FAR, *outward(whole, scale), -FAR, FAR]
        if digits is None or line is None:
            return BoxTable(scale, limits, **ends)
        starts, count = _places(line, source)
        low, high = windows(grid, starts, count)
        reached = self.forward.words_reached(table, line)
        digits = _nearest(digits, reached)
        below = _nearest(rounded_down(digits, scale) - (high + slack), reached)
        above = _nearest(rounded_up(digits, scale) - (low - slack), reached)
        words = self.store.ranges(rounded_down(digits, scale), rounded_up(digits, scale))
        errors = self.store.ranges(below, above)
        return BoxTable(scale, limits, words, errors, len(digits), **ends)

    def _off(self, table: Waves, factor: Fraction) -> Enclosure:
        """Bound the deviation of harmonics from their grid values, rounding ties included."""
        bent = steep = ZERO
        for k, a, b in table.parts:
            size = exactly((abs(Fraction(a)) + abs(Fraction(b))) * abs(factor))
            turn = pi().times(Fraction(2 * k))
            bent, steep = bent + size * turn * turn, steep + size * turn
        tie = steep.times(self._tie(table.source))
        return bent.times(Fraction(1, 8 << (2 * GRID))) + tie

    def _tie(self, place: int) -> Fraction:
        """Return how far rounding may put an angle outside of its cell, in turns."""
        node, line = self.nodes[place], self.sketched.line(place)
        if isinstance(node, AngleSum):
            return sum((abs(k) * self._tie(item) for item, k in node.items), Fraction(0))
        if isinstance(node, SourceWord) and line is not None:
            return line.step * TIE * 2
        return Fraction(0)


def _places(line: WordLine, source: Enclosures) -> tuple[list[int], int]:
    """Return the first grid point of every word of an angle, and the number of grid points each."""
    off = source.error.total + source.inputs
    whole = 1 << GRID
    least, largest = off.ends
    starts, count = [], 0
    for word in range(line.count):
        value = line.value(word)
        one, two = (value - largest) * whole, (value - least) * whole
        first, last = one.numerator // one.denominator, -(-two.numerator // two.denominator)
        starts.append(first)
        count = max(count, last - first + 1)
    return starts, min(count, whole)


def _nearest(values: Integers, reached: Words) -> Integers:
    """Replace entries of words that do not occur by those of the nearest words that do."""
    if len(values) != 1 and len(reached) != len(values):
        place = np.searchsorted(reached, np.arange(len(values)))
        return np.asarray(values[reached[np.minimum(place, len(reached) - 1)]])
    return values


# --------------------------------------------------------------------------------------------------
# Steps of nodes.
# --------------------------------------------------------------------------------------------------


class Boxing:
    """Makes the steps of one output."""

    def __init__(self, forward: Forward) -> None:
        self.forward, self.graph = forward, forward.graph
        self.sketched, self.nodes = forward.sketched, forward.sketched.sketch.nodes
        self.steps = BoxSteps()
        self.tables = Tabulator(forward, self.steps.store)
        self.inputs: list[int] = []  # nodes of inputs, in the order of a box's cells

    def boxed(self, place: int) -> Boxed:
        return self.steps.boxed(self.node(place))

    def slot(self, place: int) -> StepSlot | None:
        return self.steps.found(("node", place))

    def node(self, place: int) -> StepSlot:
        return self.steps.once(("node", place), partial(self._node, place))

    def _node(self, place: int) -> StepSlot:
        node = self.nodes[place]
        if isinstance(node, SourceWord) and not node.angle:
            return self._given(place)
        if isinstance(node, WordSum):
            return self._total(place, node)
        if isinstance(node, Table):
            return self._table(place, node, (), None, Fraction(1))
        raise NotPlainError

    def _limits(self, place: int, scale: int, *, words: bool) -> list[int]:
        """Return the plain bound's enclosures of a node as limits of a slot."""
        own = self.forward.enclosures[place]
        found = [-FAR, FAR, *outward(own.exact - own.inputs, scale), -FAR, FAR]
        if words:
            offset = self.offset(place)
            found[:2] = outward(own.words - offset, scale)
            found[4:] = outward(own.error.total + own.inputs - offset, scale)
        return found

    def offset(self, place: int) -> Enclosure:
        """Return the value of a node's word minus that of its digits; 0 for outputs."""
        word = self.sketched.word(place)
        return ZERO if word is None else self.forward.offset(place, word)

    def _given(self, place: int) -> StepSlot:
        own = self.forward.enclosures[place]
        scale = scale_for(own.words.size + own.inputs.size + self.offset(place).size)
        if self.sketched.word(place) is None:
            return self.steps.add(
                kinds.SUM, scale,
                [0, 0, 0, 0, *outward(own.exact - own.inputs, scale)],
                self._limits(place, scale, words=False), worded=False,
            )  # fmt: skip
        line = self.tables.line(place)
        first, last = cells_reached(line, self.sketched.ranges[place])
        start, within, shift = self.tables.given(place, self.offset(place), scale)
        dim = self._input(place, first, last)
        row = [dim, start, within, line.count, shift]
        return self.steps.add(kinds.GIVEN, scale, row)

    def _input(self, place: int, first: int, last: int) -> int:
        self.inputs.append(place)
        return self.steps.input(first, last)

    def turns(self, place: int) -> StepSlot:
        return self.steps.once(("turns", place), partial(self._turns, place))

    def _turns(self, place: int) -> StepSlot:
        node, word = self.nodes[place], self.sketched.word(place)
        if isinstance(node, SourceWord) and node.angle:
            return self._turn(place)
        if isinstance(node, AngleSum):
            return self._turn_sum(node, word)
        if is_turning(node) and word is not None:
            source, bits = self.node(place), self.graph.nodes[word].bits
            shift = source.scale + self.graph.scales[word].lsb
            if shift < 1:
                raise NotPlainError
            places = source.scale + TURN - GRID
            return self.steps.add(kinds.ANGLE, 0, [source.place, bits, shift, places])
        raise NotPlainError

    def _turn(self, place: int) -> StepSlot:
        half, whole = 1 << (GRID - 1), 1 << GRID
        range_ = self.sketched.ranges[place]
        low, high = (end * whole for end in range_.allowed.ends)
        lowest, highest = low.numerator // low.denominator, -(-high.numerator // high.denominator)
        if self.sketched.word(place) is None:
            if range_.wraps or highest - lowest > whole:
                lowest, highest = -half, half
            dim = self._input(place, 0, max(0, highest - lowest - 1))
            return self.steps.add(
                kinds.TURN, 0,
                [dim, 0, lowest, highest, 0, self.steps.ends[dim][1], -lowest],
            )  # fmt: skip
        line = self.tables.line(place)
        first, last = cells_reached(line, range_)
        shift = GRID - (line.step.denominator.bit_length() - 1)
        if shift >= 0:
            first, last = first << shift, ((last + 1) << shift) - 1
        else:
            first, last = first >> -shift, last >> -shift
        if range_.wraps:
            lowest, highest = first - half, last + 1 - half
        dim = self._input(place, first, last)
        return self.steps.add(kinds.TURN, 0, [dim, shift, lowest, highest, first, last, half])

    def _turn_sum(self, sum_: AngleSum, word: int | None) -> StepSlot:
        items = [(self.turns(item).place, multiple) for item, multiple in sum_.items]
        read = {self.sketched.word(item): self.turns(item).place for item, _ in sum_.items}
        row, args = [len(items), len(self.steps.args)], [n for item in items for n in item]
        if word is not None:
            node = self.graph.nodes[word]
            if not isinstance(node, Angles):
                raise NotPlainError
            row += [1, node.bits, node.constant, len(node.turns)]
            for turn in node.turns:
                drop = self.graph.nodes[turn.node].bits - turn.read
                args += [read[turn.node], drop, turn.read, turn.shift, int(turn.negative)]
        else:
            row += [0, 0, 0, 0]
        self.steps.args += args
        return self.steps.add(kinds.TURNS, 0, row)

    def _table(
        self, place: int, table: Table, parts: Sequence[HeapPart], heap: int | None,
        factor: Fraction, view: tuple[int, int] | None = None,
    ) -> StepSlot:  # fmt: skip
        """Add a table times a factor; its words are parts of a heap, or one with dropped bits."""
        made = self.tables.table(place, table, parts, heap, factor, view)
        source = table.source
        if isinstance(table, Waves):
            turning = self.turns(source)
            row = [
                turning.place, int(made.words is not None), made.words or 0, made.count,
                made.errors, made.values, 1 << GRID, made.peaks, made.slack, made.least,
                made.largest,
            ]  # fmt: skip
            worded = made.words is not None
            return self.steps.add(kinds.WAVE, made.scale, row, made.limits, worded=worded)
        if made.words is None:
            low, high = made.limits[2:4]
            row = [0, 0, 0, 0, low, high, -high, -low]
            return self.steps.add(kinds.SUM, made.scale, row, made.limits, worded=False)
        if table.angle:
            row = [self.turns(source).place, 1, made.words, made.count, made.errors]
            return self.steps.add(kinds.CURVE, made.scale, row, made.limits)
        slot, word = self.node(source), self.sketched.word(source)
        if word is None:
            raise NotPlainError
        bits, shift = self.graph.nodes[word].bits, slot.scale + self.graph.scales[word].lsb
        if shift < 1:
            raise NotPlainError
        row = [slot.place, 0, made.words, made.count, made.errors, bits, shift]
        return self.steps.add(kinds.CURVE, made.scale, row, made.limits)

    def _given_table(
        self, place: int, parts: Sequence[HeapPart], heap: int | None, factor: Fraction,
        view: tuple[int, int] | None = None,
    ) -> StepSlot:  # fmt: skip
        """Add an input as a table over its own word: without its lowest bits, or as parts."""
        slot, word = self.node(place), self.sketched.word(place)
        if word is None:
            raise NotPlainError
        made = self.tables.given_table(place, parts, heap, factor, view)
        shift = slot.scale + self.graph.scales[word].lsb
        if shift < 1:
            raise NotPlainError
        bits = self.graph.nodes[word].bits
        row = [slot.place, 0, made.words or 0, made.count, made.errors, bits, shift]
        return self.steps.add(kinds.CURVE, made.scale, row, made.limits)

    def _total(self, place: int, total: WordSum) -> StepSlot:
        word = self.sketched.word(place)
        heap = None if word is None else self.graph.nodes[word]
        if heap is not None and not isinstance(heap, Heap):
            raise NotPlainError
        slots = []
        for k, addend in enumerate(total.addends):
            parts: list[HeapPart] = []
            if heap is not None:
                owned = zip(heap.parts, self.sketched.places[place].owners, strict=True)
                parts = [part for part, owner in owned if owner == k]
            slots.append(self._addend(word, addend, parts))
        own = self.forward.enclosures[place]
        size = max((own.exact - own.inputs).size, own.words.size + self.offset(place).size)
        scale = scale_for(size)
        args = len(self.steps.args)
        for slot in slots:
            self.steps.args += [slot.place, slot.scale - scale]
        exact = outward(exactly(total.constant), scale)
        words, missed = (0, 0), (0, 0)
        if heap is not None and word is not None:
            weight = sum(part.layout(self.graph.nodes).weight for part in heap.parts)
            step = Fraction(2) ** self.graph.scales[word].lsb
            middle = Fraction(weight - (1 << heap.bits) + 1, 2) + heap.constant
            digits = exactly(step * middle)
            error = digits - exactly(total.constant)
            if total.angle:
                error = wrapped(error, 1 << TURN)
                digits = exactly(total.constant) + error
            words, missed = outward(digits, scale), outward(error, scale)
        row = [len(slots), args, *words, *exact, *missed]
        held = () if total.angle else self._limits(place, scale, words=heap is not None)
        return self.steps.add(kinds.SUM, scale, row, held, worded=heap is not None)

    def _addend(self, heap: int | None, addend: Addend, parts: Sequence[HeapPart]) -> StepSlot:
        if not isinstance(addend, Linear):
            return self._product(heap, addend, parts)
        factor, node = Fraction(addend.factor), self.nodes[addend.node]
        if isinstance(node, Table):
            return self._table(addend.node, node, parts, heap, factor)
        if parts and isinstance(node, SourceWord) and not node.angle:
            return self._given_table(addend.node, parts, heap, factor)
        return self._rows(heap, addend.node, factor, parts)

    def _rows(
        self, heap: int | None, place: int, factor: Fraction, parts: Sequence[HeapPart]
    ) -> StepSlot:
        """Add a sum within a sum, or an input or a sum that is left out of one."""
        source, word = self.node(place), self.sketched.word(place)
        multiple, lost = Fraction(0), Fraction(0)
        for part in parts:
            if not isinstance(part, Bits) or part.node != word or heap is None:
                raise NotPlainError
            own = Fraction(2) ** self.graph.scales[heap].lsb
            weight = own * Fraction(2) ** (part.column - part.drop) * (-1 if part.negative else 1)
            step = Fraction(2) ** self.graph.scales[part.node].lsb
            multiple += weight / step
            lost += abs(weight) * Fraction((1 << part.drop) - 1, 2)
        size = self.size(source) * (abs(factor) + abs(multiple)) + lost
        scale = scale_of(size)
        kept, rest = mantissa(factor), mantissa(multiple - factor)
        whole = mantissa(multiple)
        if whole[0] != whole[1]:
            raise NotPlainError
        row = [
            source.place, whole[0], whole[2] + source.scale - scale, kept[0], kept[1],
            kept[2] + source.scale - scale, rest[0], rest[1],
            rest[2] + source.scale - scale, outward(exactly(lost), scale)[1], int(bool(parts)),
        ]  # fmt: skip
        return self.steps.add(kinds.ROWS, scale, row, worded=bool(parts))

    def size(self, slot: StepSlot) -> Fraction:
        return Fraction(1 << (TOP + 1)) / Fraction(2) ** slot.scale

    def _product(self, heap: int | None, addend: Product, parts: Sequence[HeapPart]) -> StepSlot:
        factor = Fraction(addend.factor)
        if not parts:
            one, two = self.node(addend.a), self.node(addend.b)
            scale = scale_of(self.size(one) * self.size(two) * abs(factor))
            low, high, shift = mantissa(factor)
            before = one.scale + two.scale
            row = [one.place, two.place, 0, 1, 0, low, high, TOP, shift + before - TOP - scale]
            return self.steps.add(kinds.PRODUCT, scale, row, worded=False)
        (part,) = parts if len(parts) == 1 else (None,)
        if not isinstance(part, PartialProducts) or heap is None:
            raise NotPlainError
        one = self._operand(addend.a, part.a, part.drop_a)
        two = self._operand(addend.b, part.b, part.drop_b)
        nodes, scales = self.graph.nodes, self.graph.scales
        own = Fraction(2) ** scales[heap].lsb
        steps = [Fraction(2) ** scales[k].lsb for k in (part.a, part.b)]
        column = part.column + 1 - part.drop_a - part.drop_b
        if own * Fraction(2) ** column / (steps[0] * steps[1]) != abs(factor) or (
            part.negative != (factor < 0)
        ):
            raise NotPlainError
        power, sign = power_of(abs(factor)), -1 if part.negative else 1
        grid = part.layout(nodes)
        size = own * sum(
            (n * Fraction(2) ** (c - 1) for c, n in grid.diagonals() if c < 0), Fraction(0)
        )
        scale = scale_of(self.size(one) * self.size(two) * abs(factor) + size)
        shift, lost = one.scale + two.scale - scale - power, outward(exactly(size), scale)[1]
        row = [one.place, two.place, shift, sign, 1, 0, 0, 0, 0, 0, 0, lost]
        for slot, place, drop, left in (
            (two, part.b, part.drop_b, True), (one, part.a, part.drop_a, False),
        ):  # fmt: skip
            bits = nodes[place].bits - drop
            shift = slot.scale + scales[place].lsb + drop
            found = discarded(self.steps.store, grid, own, scale, of_b=left) if shift >= 1 else None
            row += [-1, 0, 0, 0] if found is None else [*found, bits, shift]
        return self.steps.add(kinds.PRODUCT, scale, row)

    def _operand(self, place: int, word: int, drop: int) -> StepSlot:
        return self.steps.once(("view", place, drop), partial(self._view, place, word, drop))

    def _view(self, place: int, word: int, drop: int) -> StepSlot:
        node, stands = self.nodes[place], self.sketched.places[place]
        if stands.words != (word,) or stands.product is not None:
            raise NotPlainError
        if isinstance(node, Table):
            return self._table(place, node, (), None, Fraction(1), (word, drop))
        if isinstance(node, SourceWord):
            return self._given_table(place, (), None, Fraction(1), (word, drop))
        source = self.node(place)
        if not drop:
            return source
        shift = source.scale + self.graph.scales[word].lsb
        if shift < 1:
            raise NotPlainError
        return self.steps.add(
            kinds.VIEW, source.scale, [source.place, self.graph.nodes[word].bits, shift, drop]
        )


# --------------------------------------------------------------------------------------------------
# Branch and bound over boxes, for any output.
#
# In a small box, words and values that depend on its angles are nearly known; linear ones may have
# any value. The worst box is split at the input where a split helps most. At any time, the error in
# the worst of all boxes is a bound.
# --------------------------------------------------------------------------------------------------

SAMPLES = 256  # cells, the worst of which decide the worth of splits
KEPT = 24
TURNS = 6  # of climbing towards these cells
SEED = 15
WIDEST = 17  # bits of a word, plus one
ADDEND = 400_000  # steps over all boxes, for a single addend
ROOM = 1 << 22  # limit on stored boxes


@dataclass(frozen=True, slots=True)
class Searched:
    """Limits of an error, the number of boxes used, and whether no split could tighten them."""

    ends: tuple[Fraction, Fraction]
    boxes: int
    done: bool


def box_bound(forward: Forward, column: int, effort: int) -> Searched:
    """Bound the error of an output by its worst box; NotPlainError if boxes do not apply.

    Effort is a number of boxes, so that the same effort gives the same bound anywhere.
    """
    boxed = Boxing(forward).boxed(forward.sketched.sketch.outputs[column])
    search_ = BoxSearch(boxed, boxed.output, last_of(forward, column, boxed.output))
    found, done, seen = search_.run(effort * BOXES)
    return Searched(at_rest_too(forward.sketched, column, found), seen, done)


def last_of(forward: Forward, column: int, slot: StepSlot) -> tuple[int, ...]:
    """Return the offset and rounding applied after an output's sum (see `rounded`)."""
    output = forward.graph.results[column]
    drop, shift = output.drop, slot.scale - output.drop
    if drop and shift >= 1:
        offset = outward(moved(forward.sketched, column), slot.scale)
        return *offset, forward.graph.nodes[output.node].bits, shift, drop
    return *outward(rounding(forward.sketched, column), slot.scale), 0, 0, 0


def table_bound(forward: Forward, column: int) -> tuple[Fraction, Fraction]:
    """Bound the error of an output by the sum of the worst errors of its addends."""
    boxed = Boxing(forward).boxed(forward.sketched.sketch.outputs[column])
    rest = rounding(forward.sketched, column)
    unit = Fraction(2) ** -boxed.output.scale
    total = boxed.steps[boxed.output.place]
    low, high = int(total[8]) * unit, int(total[9]) * unit
    for addend in boxed.addends:
        part = boxed.until(addend)
        found, _, _ = BoxSearch(part, addend, (0,) * 5).run(ADDEND // len(part.steps))
        low, high = low + found[0], high + found[1]
    return at_rest_too(forward.sketched, column, (low + rest.ends[0], high + rest.ends[1]))


class BoxSearch:
    """A search for the worst box of a slot; `last` is applied after it (see `rounded`)."""

    def __init__(self, boxed: Boxed, slot: StepSlot, last: tuple[int, ...]) -> None:
        self.boxed, self.place = boxed, slot.place
        self.unit = Fraction(2) ** -slot.scale
        self.follows = np.array(last, np.int64)
        self.first = np.array(boxed.first, np.int64)
        self.last = np.array(boxed.last, np.int64)
        self.bits = [int(k).bit_length() for k in self.first ^ self.last]

    def run(self, budget: int) -> tuple[tuple[Fraction, Fraction], bool, int]:
        """Return limits of the error, whether no split could tighten them, and the boxes used."""
        boxed = self.boxed
        budget = budget if self.bits else 1  # without inputs there is a single box
        room = min(ROOM, max(2, budget // 2 + 2))
        worth = self.worth() if budget > 1 else np.zeros((len(self.bits), WIDEST))
        firsts = np.zeros((room, len(boxed.first)), np.uint16)
        lasts = np.zeros_like(firsts)
        firsts[0], lasts[0] = boxed.first, boxed.last
        result = np.zeros(4, np.int64)
        search(
            boxed.steps, boxed.args, boxed.low, boxed.high, boxed.limits, *boxed.readers(), firsts,
            lasts, worth, self.place, self.follows, budget, result,
        )  # fmt: skip
        low, high, seen, done = (int(k) for k in result)
        return (low * self.unit, high * self.unit), bool(done), seen

    def keys(self, first: Whole, last: Whole) -> Whole:
        """Return the largest errors in boxes, with the largest possible rounding error.

        The actual rounding is omitted, because it does not indicate the worth of splits.
        """
        boxed, found = self.boxed, np.zeros(len(first), np.int64)
        follows = self.follows * (1, 1, 0, 0, 0)
        if self.follows[4]:
            half = ((1 << self.follows[4]) - 1) << (self.follows[3] - 1)
            follows[:2] += (-half, half)
        sampled(
            boxed.steps, boxed.args, boxed.low, boxed.high, boxed.limits, first.astype(np.uint16),
            last.astype(np.uint16), self.place, follows, found,
        )  # fmt: skip
        return found

    def worth(self) -> Floats:
        """Return the worth of a split, by input and by its number of open bits.

        It is the mean reduction of a small box's error per known bit of the input.
        """
        cells = self._cells()
        alone = self.keys(cells, cells)
        worth = np.zeros((len(self.bits), WIDEST))
        for dim, bits in enumerate(self.bits):
            gain = np.zeros(bits + 1)
            for k in range(1, bits + 1):
                first, last = cells.copy(), cells.copy()
                first[:, dim] = np.maximum(self.first[dim], cells[:, dim] >> k << k)
                last[:, dim] = np.minimum(self.last[dim], (cells[:, dim] >> k << k) + (1 << k) - 1)
                mean = float((self.keys(first, last) - alone).mean())
                gain[k] = max(mean, gain[k - 1])
                worth[dim, k] = max((gain[k] - gain[j]) / (k - j) for j in range(k))
        return worth

    def _cells(self) -> Whole:
        """Return single cells with large errors."""
        rng = np.random.default_rng(SEED)
        size = (SAMPLES, len(self.bits))
        cells = rng.integers(self.first, self.last + 1, size)
        keys = self.keys(cells, cells)
        for _ in range(TURNS):
            order = np.argsort(-keys, kind="stable")[: SAMPLES // 2]
            cells, keys = np.tile(cells[order], (2, 1)), np.tile(keys[order], 2)
            flip = np.left_shift(1, rng.integers(0, np.maximum(1, self.bits), size))
            other = np.where(rng.random(size) < 2 / len(self.bits), cells ^ flip, cells)
            other = np.clip(other, self.first, self.last)
            found = self.keys(other, other)
            better = found > keys
            cells, keys = np.where(better[:, None], other, cells), np.where(better, found, keys)
        return np.asarray(cells[np.argsort(-keys, kind="stable")[:KEPT]], np.int64)
