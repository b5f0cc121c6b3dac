"""Bounds over boxes of inputs: functions as steps (see `box_loops.py`), and branch and bound.

A box is a range of cells of every input. In a box, every function has enclosures of the value of
its word, of its exact value, and of their difference, the error. They are intersected with those of
the plain bound. The value of a word is that of its digits ±½, without the middle of the word.
Tables have these enclosures word by word.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.checker import box_loops as loops
from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.plain import TIE, about_zero, added, columns, integers, maximum, product_of
from boolcomp.checker.problem import ClaimedInput, ClaimedTotal, ClaimedWaves, Turns
from boolcomp.checker.spans import (
    NOTHING,
    ONE,
    PLACES,
    IntegerSpan,
    between,
    exactly,
    two_pi,
    waves_at,
)
from boolcomp.words.graph import Angles, Bits, Heap, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.plain import CheckedFunction, PlainBound
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]
    Short = NDArray[np.int32]
    Floats = NDArray[np.float64]
    Harmonics = tuple[tuple[int, float, float], ...]


# --------------------------------------------------------------------------------------------------
# Integers of limited length in the unit of a slot, 2^-scale; ends are rounded outward.
# --------------------------------------------------------------------------------------------------

TOP = 29  # bits of the largest number of a slot
MANTISSA = 30  # bits of a factor
WORDS, ERROR = 0, 4  # columns of a slot that are searched
FAR = 1 << 61  # larger than any number of a slot
MOST = (1 << 31) - 1  # in a table
MOST_LISTED_BITS = 20  # limit on the bits of two words whose products are enumerated
GRID = 12  # bits of a turn's grid on which harmonics are tabulated


class StepSlot(NamedTuple):
    """The result of a step, in units of 2^-scale."""

    place: int
    scale: int


def fixed(span: IntegerSpan, scale: int) -> tuple[Words, Words]:
    """Return the ends of a span, or of an array of spans, in units of 2^-scale."""
    more, gone = max(0, scale - PLACES), max(0, PLACES - scale)
    low, high = span.low << more >> gone, -(-span.high << more >> gone)
    return np.asarray(low, np.int64), np.asarray(high, np.int64)


def scale_for(*spans: IntegerSpan) -> int:
    """Return a scale in which these spans have at most `TOP` bits."""
    return TOP + PLACES - (max(1, *(one.size for one in spans)) - 1).bit_length()


def span_of(low: int, high: int, scale: int) -> IntegerSpan:
    """Return the span from low to high in units of 2^-scale."""
    unit = Fraction(2) ** -scale
    return between(low * unit, high * unit)


def size_of(slot: StepSlot) -> Fraction:
    return Fraction(2) ** (TOP + 1 - slot.scale)


def log2_up(value: Fraction) -> int:
    """Return the least k with 2^k ≥ value."""
    k = value.numerator.bit_length() - value.denominator.bit_length() - 1
    while Fraction(2) ** k < value:
        k += 1
    return k


def mantissa(value: Fraction) -> tuple[int, int, int]:
    """Return m, n and k such that a number lies between m·2^-k and n·2^-k."""
    if not value:
        return 0, 0, 0
    shift = MANTISSA - log2_up(abs(value))
    exact = value * Fraction(2) ** shift
    return floor(exact), ceil(exact), shift


def levels(low: Short, high: Short) -> tuple[Short, Short]:
    """Return a table of ranges: entries, then the ranges of 2, 4, 8 … consecutive ones."""
    lows, highs, reach = [low], [high], 1
    while 2 * reach <= len(low):
        low = np.minimum(low, np.append(low[reach:], low[-1:].repeat(reach)))
        high = np.maximum(high, np.append(high[reach:], high[-1:].repeat(reach)))
        lows, highs, reach = [*lows, low], [*highs, high], 2 * reach
    return np.concatenate(lows), np.concatenate(highs)


@lru_cache(maxsize=8)
def lost_sums(a: int, b: int, below: int) -> tuple[IntegerSpan, IntegerSpan]:
    """Return limits of sums of products i·j, i + j < below, of digits ±1 · 2^k.

    They are given by the low bits of the first word, and by those of the second.
    """
    one, two = np.arange(1 << a, dtype=np.int64), np.arange(1 << b, dtype=np.int64)
    total = np.zeros((1 << a, 1 << b), np.int64)
    for i in range(a):
        ones = (1 << min(b, below - i)) - 1
        row = (2 * (two & ones) - ones) << i
        total += np.where((one >> i & 1)[:, None] > 0, row[None, :], -row[None, :])
    first, second = (
        IntegerSpan(total.min(axis=k).astype(object), total.max(axis=k).astype(object))
        for k in (1, 0)
    )
    return first, second


@lru_cache(maxsize=64)
def grid_of(harmonics: Harmonics, tie: Fraction) -> IntegerSpan:
    """Enclose a sum of harmonics between grid points of a turn, and up to `tie` turns beyond."""
    parts = [(k, exactly(a), exactly(b)) for k, a, b in harmonics]
    points = waves_at(parts, np.arange(1 << GRID).astype(object) << (PLACES - GRID))
    found = points.join(IntegerSpan(np.roll(points.low, -1), np.roll(points.high, -1)))
    bent = steep = NOTHING
    for k, a, b in parts:
        often = two_pi().times(Fraction(k))
        slope = (a.around + b.around) * often
        steep, bent = steep + slope, bent + slope * often
    return found + bent.around.times(Fraction(1, 8 << 2 * GRID)) + steep.around.times(tie)


# --------------------------------------------------------------------------------------------------
# The steps of a sum.
# --------------------------------------------------------------------------------------------------


class BoxSteps:
    """The steps of a function of a claim, and of all functions that it depends on."""

    def __init__(self, plain: PlainBound) -> None:
        self.plain, self.graph, self.claim = plain, plain.graph, plain.claim
        self.rows: list[list[int]] = []
        self.args: list[int] = []
        self.limits: list[list[int]] = []
        self.tables = [(np.zeros(1, np.int32), np.zeros(1, np.int32))]
        self.used = 1  # entries of tables
        self.inputs: list[tuple[int, int, int, int]] = []  # function, shift, first, last cell
        self.addends: list[StepSlot] = []  # of the last sum
        self._slots: dict[tuple[object, ...], StepSlot] = {}
        self._grids: dict[tuple[object, ...], StepSlot] = {}

    def _once(self, make: Callable[..., StepSlot], *key: int) -> StepSlot:
        found = (make, *key)
        if found not in self._slots:
            self._slots[found] = make(*key)
        return self._slots[found]

    def _add(
        self, kind: int, scale: int, row: Sequence[int], exact: IntegerSpan | None = None
    ) -> StepSlot:
        full = [kind, *row]
        self.rows.append(full + [0] * (loops.COLUMNS - len(full)))
        self.limits.append([-FAR, FAR] * 3)
        if exact:
            self.limits[-1][2:4] = map(int, fixed(exact, scale))
        return StepSlot(len(self.rows) - 1, scale)

    def _tabulated(self, span: IntegerSpan, scale: int) -> int:
        """Add a table of ranges; return its start."""
        low, high = fixed(span, scale)
        if max(-int(low.min()), int(high.max())) > MOST:
            raise NotCoveredError("a number is too large for boxes")
        start = self.used
        self.tables.append(levels(low.astype(np.int32), high.astype(np.int32)))
        self.used += len(self.tables[-1][0])
        return start

    def sources(self, step: int) -> list[int]:
        """Return the steps that a step reads."""
        kind, first, second, *_ = self.rows[step]
        if kind in {loops.ANGLES, loops.SUM}:
            return self.args[second : second + 2 * first : 2]
        return [] if kind == loops.INPUT else [first, second][: 1 + (kind == loops.PRODUCT)]

    def columns(self) -> tuple[Short, Short]:
        """Return all tables as two columns."""
        if len(self.tables) > 1:
            low, high = (np.concatenate(one) for one in zip(*self.tables, strict=True))
            self.tables = [(low, high)]
        return self.tables[0]

    def function(self, place: int) -> StepSlot:
        """Return the slot of a function; one of its own word is that of its digits."""
        return self._once(self._function, place)

    def _function(self, place: int) -> StepSlot:
        function, seen = self.claim.functions[place], self.plain.seen[place]
        if isinstance(function, ClaimedTotal):
            return self._total(function, seen, self.claim.places[place].owners)
        if isinstance(function, ClaimedInput) and seen.word is not None:
            return self._operand(place, seen.word, 0)
        return self._table(place, Fraction(1))

    # Words and angles by which tables are read.

    def _index(self, place: int) -> StepSlot:
        """Return the range of a function's word; that of an angle includes a range of the grid."""
        return self._once(self._index_of, place)

    def _index_of(self, place: int) -> StepSlot:
        function, seen = self.claim.functions[place], self.plain.seen[place]
        if isinstance(function, ClaimedInput):
            return self._input(place, function, seen)
        if isinstance(function, Turns):
            return self._angles(function, seen)
        source = self.function(place)
        if seen.word is None or not isinstance(function, ClaimedTotal):
            raise NotCoveredError("a table reads no word")
        shift = self.shift(source, seen)
        row = [source.place, self.graph.nodes[seen.word].bits, shift]
        if function.turning:
            row += [1, source.scale + function.turning - GRID]
        return self._add(loops.INDEX, 0, row)

    def shift(self, slot: StepSlot, seen: CheckedFunction) -> int:
        """Return the shift of a word's lowest bit in a slot."""
        shift = slot.scale + log2_up(seen.line.step)
        if shift < 1:
            raise NotCoveredError("the unit of a sum is too coarse for boxes")
        return shift

    def _input(self, place: int, function: ClaimedInput, seen: CheckedFunction) -> StepSlot:
        """Add an input; an angle has cells that are no wider than those of the grid."""
        row, cells, shift = [], (0, 0), 0
        if seen.word is not None and seen.at is not None:
            cells = int(seen.at[0]), int(seen.at[-1])
        if function.angle:
            given = self.claim.inputs[function.name]
            half, whole = 1 << (GRID - 1), 1 << GRID
            ends = (seen.exact.low >> (PLACES - GRID), -(-seen.exact.high >> (PLACES - GRID)))
            if seen.word is None:
                if given.wraps or ends[1] - ends[0] > whole:
                    ends = -half, half
                cells, half = (0, max(0, ends[1] - ends[0] - 1)), -ends[0]
            else:
                shift = GRID + log2_up(seen.line.step)
                if shift >= 0:
                    cells = cells[0] << shift, ((cells[1] + 1) << shift) - 1
                else:
                    cells = cells[0] >> -shift, cells[1] >> -shift
                if given.wraps:
                    ends = cells[0] - half, cells[1] + 1 - half
            row = [*ends, *cells, half]
        if cells[1] >= 1 << 16:
            raise NotCoveredError("an input has too many bits for boxes")
        self.inputs.append((place, shift, *cells))
        return self._add(loops.INPUT, 0, [len(self.inputs) - 1, shift, *row])

    def _angles(self, turns: Turns, seen: CheckedFunction) -> StepSlot:
        items = [(multiple, self._index(item).place) for multiple, item in turns.items]
        args = [number for multiple, source in items for number in (source, multiple)]
        row = [0, 0, 0]
        if seen.word is not None:
            node = self.graph.nodes[seen.word]
            if not isinstance(node, Angles):
                raise NotCoveredError("the word of an angle is no sum of angles")
            read = {
                self.plain.seen[item].word: source
                for (_, item), (_, source) in zip(turns.items, items, strict=True)
            }
            row = [node.bits, node.constant, len(node.turns)]
            for turn in node.turns:
                drop = self.graph.nodes[turn.node].bits - turn.read
                args += [read[turn.node], drop, turn.read, turn.shift, int(turn.negative)]
        start = len(self.args)
        self.args += args
        return self._add(loops.ANGLES, 0, [len(items), start, *row])

    def _tie(self, place: int) -> Fraction:
        """Return how far rounding may put an angle outside of its cell, in turns."""
        function, seen = self.claim.functions[place], self.plain.seen[place]
        if isinstance(function, Turns):
            return sum((abs(k) * self._tie(item) for k, item in function.items), Fraction(0))
        inside = isinstance(function, ClaimedInput) and seen.word is not None
        return seen.line.step * TIE * 2 if inside else Fraction(0)

    # Functions of one word.

    def _table(self, place: int, factor: Fraction, digits: IntegerSpan | None = None) -> StepSlot:
        """Add factor · a function of one word; `digits` are the values of its own words."""
        function, seen = self.claim.functions[place], self.plain.seen[place]
        if isinstance(function, Turns | ClaimedTotal):
            raise NotCoveredError("an angle is added as a number")
        source = place if isinstance(function, ClaimedInput) else function.source
        whole, spans, count = seen.exact.times(factor), [seen.near.times(factor)], 1
        if digits:
            spans += [digits, digits - spans[0]]
        if seen.word is not None and seen.at is not None:
            count = 1 << self.graph.nodes[seen.word].bits
            next_ = np.minimum(np.searchsorted(seen.at, np.arange(count)), len(seen.at) - 1)
            spans = [IntegerSpan(one.low[next_], one.high[next_]) for one in spans]
        grid = [0, 0, 0, 0]
        if isinstance(function, ClaimedWaves):
            del spans[0]
        elif count == 1:
            scale = scale_for(whole)
            low, high = map(int, fixed(whole, scale))
            return self._add(loops.SUM, scale, [0, 0, 0, 0, low, high, -high, -low])
        scale = scale_for(whole, *(one.hull for one in spans))
        if isinstance(function, ClaimedWaves):
            start, unit = self._grid(function, self._tie(source))
            low, high, shift = mantissa(factor)
            grid = [1 << GRID, low, high, shift + unit - scale]
        else:
            start = self._tabulated(spans.pop(0), scale)
        own = [self._tabulated(one, scale) for one in spans] or [-1, -1]
        row = [self._index(source).place, count, start, *own, *grid]
        return self._add(loops.TABLE, scale, row, whole)

    def _grid(self, function: ClaimedWaves, tie: Fraction) -> StepSlot:
        """Return the start of a table of harmonics on the grid of a turn, and its scale."""
        key = function.parts, tie
        if key not in self._grids:
            found = grid_of(*key)
            scale = scale_for(found.hull)
            self._grids[key] = StepSlot(self._tabulated(found, scale), scale)
        return self._grids[key]

    # Sums.

    def _total(
        self, function: ClaimedTotal, seen: CheckedFunction, owners: Sequence[int]
    ) -> StepSlot:
        heap = None if seen.word is None else self.graph.nodes[seen.word]
        parts = heap.parts if isinstance(heap, Heap) else ()
        slots = [
            self._share(seen, read, Fraction(factor), [
                part for part, owner in zip(parts, owners, strict=True) if owner == k
            ])
            for k, (factor, read) in enumerate(function.addends)
        ]  # fmt: skip
        constant, step = exactly(function.constant), seen.line.step
        words, missed, middle = NOTHING, -constant, NOTHING
        if isinstance(heap, Heap):
            weight = sum(maximum(self.graph, part) for part in parts)
            most = (1 << heap.bits) - 1
            words = exactly(step * (Fraction(weight - most, 2) + heap.constant))
            missed = words - constant
            middle = exactly(seen.line.start + step * most / 2)
            if function.turning:
                turn = 1 << function.turning
                missed = missed - exactly(turn * round(sum(missed.ends) / 2 / turn))
                words = constant + missed
        value, error = seen.value - middle, seen.error - middle
        scale = scale_for(seen.exact, value)
        start = len(self.args)
        for slot in slots:
            self.args += [slot.place, slot.scale - scale]
        first = (end for one in (words, constant, missed) for end in fixed(one, scale))
        made = self._add(loops.SUM, scale, [len(slots), start, *map(int, first)])
        if not function.turning:
            self.limits[-1][2:4] = map(int, fixed(seen.exact, scale))
            if isinstance(heap, Heap):
                self.limits[-1][:2] = map(int, fixed(value, scale))
                self.limits[-1][4:] = map(int, fixed(error.meet(value - seen.exact), scale))
        self.addends = slots
        return made

    def _share(
        self, own: CheckedFunction, read: Sequence[int], factor: Fraction, parts: Sequence[HeapPart]
    ) -> StepSlot:
        """Add an addend; its words are parts of a heap."""
        if len(read) > 1:
            return self._product(own, read, factor, parts)
        seen = self.plain.seen[read[0]]
        if isinstance(self.claim.functions[read[0]], ClaimedTotal):
            return self._rows(own, read[0], factor, parts)
        if not parts or seen.words is None or seen.at is None:
            return self._table(read[0], factor)
        twice = seen.at * 0
        for part in parts:
            twice = twice + 2 * added(self.graph, part, seen.words) - maximum(self.graph, part)
        return self._table(read[0], factor, integers(twice).times(own.line.step / 2))

    def _rows(
        self, own: CheckedFunction, place: int, factor: Fraction, parts: Sequence[HeapPart]
    ) -> StepSlot:
        """Add a sum within a sum."""
        source, seen, drop = self.function(place), self.plain.seen[place], 0
        times = lost = Fraction(0)
        if seen.word is not None and parts:
            drop = min((part.drop for part in parts if isinstance(part, Bits)), default=0)
            source = self._once(self._operand, place, seen.word, drop)
        for part in parts:
            if not isinstance(part, Bits):
                raise NotCoveredError("a sum is added by partial products")
            weight = own.line.step * Fraction(2) ** (part.column - part.drop)
            times += weight / seen.line.step * (-1 if part.negative else 1)
            lost += weight * Fraction((1 << part.drop) - (1 << drop), 2)
        size = size_of(source) * (abs(factor) + abs(times)) + lost
        scale = TOP - log2_up(size) if size else TOP
        whole, kept, rest = (mantissa(one) for one in (times, factor, times - factor))
        if whole[0] != whole[1]:
            raise NotCoveredError("a sum is added by too many rows")
        up = source.scale - scale
        row = [source.place, whole[0], whole[2] + up]
        row += [*kept[:2], kept[2] + up, *rest[:2], rest[2] + up]
        return self._add(loops.ROWS, scale, [*row, int(fixed(exactly(lost), scale)[1])])

    def _product(
        self, own: CheckedFunction, read: Sequence[int], factor: Fraction, parts: Sequence[HeapPart]
    ) -> StepSlot:
        """Add a product of two words; each limits its discarded partial products."""
        if not parts:
            one, two = (self.function(k) for k in read)
            scale = TOP - log2_up(size_of(one) * size_of(two) * abs(factor)) if factor else TOP
            low, high, shift = mantissa(factor)
            before = one.scale + two.scale
            row = [one.place, two.place, shift + before - TOP - scale, 0, low, high, TOP]
            return self._add(loops.PRODUCT, scale, row)
        (part,) = parts
        if not isinstance(part, PartialProducts):
            raise NotCoveredError("a product has no partial products")
        if product_of(self.graph, part, own.line.step)[0] != factor:
            raise NotCoveredError("a product has another factor than its words")
        one = self._once(self._operand, read[0], part.a, part.drop_a)
        two = self._once(self._operand, read[1], part.b, part.drop_b)
        gone = sum(n * Fraction(2) ** (c - 1) for c, n in columns(self.graph, part) if c < 0)
        size = gone * own.line.step
        scale = TOP - log2_up(size_of(one) * size_of(two) * abs(factor) + size)
        shift = one.scale + two.scale - scale - log2_up(abs(factor))
        lost = int(fixed(exactly(size), scale)[1])
        row = [one.place, two.place, shift, 1 if factor > 0 else -1, *[0] * 6, lost]
        a = self.graph.nodes[part.a].bits - part.drop_a
        b = self.graph.nodes[part.b].bits - part.drop_b
        below, unit = -part.column, own.line.step * Fraction(2) ** (part.column - 1)
        listed = below > 0 and min(a, below) + min(b, below) <= MOST_LISTED_BITS
        ends = (1, two, part.b, part.drop_b, b), (0, one, part.a, part.drop_a, a)
        for k, slot, word, drop, bits in ends:
            shift = slot.scale + self.graph.scales[word].lsb + drop
            if listed and shift >= 1:
                sums = lost_sums(min(a, below), min(b, below), below)[k]
                span = IntegerSpan(sums.low * ONE, sums.high * ONE).times(unit)
                row += [self._tabulated(span, scale), 1 << min(bits, below), bits, shift]
            else:
                row += [-1, 0, 0, 0]
        return self._add(loops.PRODUCT, scale, row)

    def _operand(self, place: int, word: int, drop: int) -> StepSlot:
        """Return the slot of a function whose word has lost its lowest bits."""
        seen = self.plain.seen[place]
        if seen.words is not None:
            return self._table(
                place, Fraction(1), about_zero(self.graph, word, seen.words[word], drop)
            )
        source = self.function(place)
        if not drop:
            return source
        row = [source.place, self.graph.nodes[word].bits, self.shift(source, seen), drop]
        return self._add(loops.VIEW, source.scale, row)


# --------------------------------------------------------------------------------------------------
# Branch and bound over boxes.
#
# In a small box, words and values that depend on its angles are nearly known; linear ones may have
# any value. The box that exceeds a claim most is split at the input where a split helps most.
# --------------------------------------------------------------------------------------------------

SAMPLES, KEPT = 64, 32  # cells, and the worst of them, which decide the worth of splits
CLIMBS = 24  # steps towards a larger error
SEED = 15
AT_ONCE, TRIED = 1 << 13, 16  # boxes halved at a time; of which some decide the input
SOON = 8_000  # boxes of a heap, split by their worth
LEAST = 1.0  # worth of splitting an input that is read, per open bit
WIDEST = 17  # bits of a word, plus one
ROOM = 1 << 22  # limit on stored boxes
ADDEND = 400_000  # steps over all boxes, for a single addend


class BoxSearch:
    """A search over boxes in the unit of a step, which is the last; see `asked` for its goal."""

    def __init__(self, steps: BoxSteps, slot: StepSlot, goal: Sequence[int]) -> None:
        self.steps, self.scale, self.goal = steps, slot.scale, np.array(goal, np.int64)
        self.first = np.array([one[2] for one in steps.inputs], np.int64)
        self.last = np.array([one[3] for one in steps.inputs], np.int64)
        self.bits = [int(k).bit_length() for k in self.first ^ self.last]
        needed, readers, begin = self._readers(slot.place)
        self.readers, self.read = (readers, begin), np.flatnonzero(np.diff(begin)).tolist()
        self.tables = (
            np.array(steps.rows, np.int64), np.array([*steps.args, 0], np.int64),
            *steps.columns(), np.array(steps.limits, np.int64), needed,
        )  # fmt: skip
        self.needed = len(needed)

    def run(self, budget: int) -> tuple[list[int], Words]:
        """Return the result (see `search`) and the cells of the box that exceeds the goal most."""
        budget = budget if self.bits else 1  # without inputs there is a single box
        room = min(ROOM, max(2, budget // 2 + 2))
        firsts = np.zeros((room, len(self.bits)), np.uint16)
        lasts = np.zeros_like(firsts)
        firsts[0], lasts[0] = self.first, self.last
        result, alone = np.zeros(5, np.int64), np.zeros((len(self.bits), WIDEST))
        loops.search(*self.tables, *self.readers, firsts, lasts, alone, self.goal, 1, result)
        if result[4] > 0 and budget > 1:
            worth = self._worth()
            loops.search(
                *self.tables, *self.readers, firsts, lasts, worth, self.goal, budget, result
            )
        return result.tolist(), np.stack([firsts[result[3]], lasts[result[3]]]).astype(np.int64)

    def ends(self, budget: int) -> IntegerSpan:
        """Return the limits over all boxes."""
        low, high = self.run(budget)[0][:2]
        return span_of(low, high, self.scale)

    def cover(self, budget: int) -> tuple[int, Words]:
        """Halve boxes until none exceeds the goal; return their number, and a cell if one may.

        Many boxes are halved at a time, at the input whose halves exceed the goal least.
        """
        waiting, count = [(self.first[None], self.last[None])], 0
        while waiting:
            first, last = waiting.pop()
            count += len(first)
            left = self._keys(first, last) > 0
            first, last = first[left], last[left]
            if not len(first):
                continue
            single = (first == last)[:, self.read].all(axis=1)
            if single.any() or count > budget:
                return count, first[int(np.argmax(single))]
            first, last = _halved(first, last, self._axis(first, last))
            places = range(0, len(first), AT_ONCE)
            waiting += [(first[k : k + AT_ONCE], last[k : k + AT_ONCE]) for k in places]
        return count, self.first[:0]

    def _axis(self, first: Words, last: Words) -> int:
        """Return the input whose halves have the least excess, of several the widest."""
        some = np.linspace(0, len(first) - 1, min(len(first), TRIED)).astype(np.int64)
        first, last, found = first[some], last[some], []
        for axis in self.read:
            wide = int((last[:, axis] - first[:, axis]).max())
            if wide:
                excess = np.maximum(self._keys(*_halved(first, last, axis)), 0)
                found.append((int(excess.sum()), -wide / (1 << self.bits[axis]), axis))
        return min(found)[2]

    def words(self, cells: Words) -> str:
        """Name the words of a cell of every input."""
        return ", ".join(
            f"w{word} = {cell >> shift if shift >= 0 else cell << -shift}"
            for (place, shift, *_), cell in zip(self.steps.inputs, cells.tolist(), strict=True)
            if (word := self.steps.plain.seen[place].word) is not None
        )

    def _readers(self, last: int) -> tuple[Words, Words, Words]:
        """Return the steps that the last needs, those of each input, and where these begin."""
        reads, needed = np.zeros((last + 1, len(self.bits)), np.bool_), {last}
        sources = [self.steps.sources(k) for k in range(last + 1)]
        for k in range(last, -1, -1):
            needed.update(sources[k] if k in needed else ())
        for k in sorted(needed):
            reads[k] = reads[sources[k]].any(axis=0)
            if self.steps.rows[k][0] == loops.INPUT:
                reads[k, self.steps.rows[k][1]] = True
        found = [np.flatnonzero(one) for one in reads.T]
        listed = np.concatenate([np.zeros(0, np.int64), *found])
        return np.array(sorted(needed)), listed, np.cumsum([0, *map(len, found)])

    def _keys(self, first: Words, last: Words) -> Words:
        """Return by how much boxes exceed the goal, with the largest possible rounding error.

        The actual rounding is omitted, because it does not indicate the worth of splits.
        """
        goal, found = self.goal.copy(), np.zeros(len(first), np.int64)
        if goal[4]:
            half = ((1 << goal[4]) - 1) << (goal[3] - 1)
            goal[:5] = goal[0] - half, goal[1] + half, 0, 0, 0
        places = first.astype(np.uint16), last.astype(np.uint16)
        loops.sampled(*self.tables, *places, goal, found)
        return found

    def _worth(self) -> Floats:
        """Return the worth of a split, by input and by its number of open bits.

        It is the mean reduction of a small box's error per known bit of the input.
        """
        cells = self._cells()
        alone = self._keys(cells, cells)
        worth = np.zeros((len(self.bits), WIDEST))
        for dim in self.read:
            bits = self.bits[dim]
            gain = np.zeros(bits + 1)
            for k in range(1, bits + 1):
                first, last = cells.copy(), cells.copy()
                first[:, dim] = np.maximum(self.first[dim], cells[:, dim] >> k << k)
                last[:, dim] = np.minimum(self.last[dim], (cells[:, dim] >> k << k) + (1 << k) - 1)
                mean = float((self._keys(first, last) - alone).mean())
                gain[k] = max(mean, gain[k - 1])
                mean = max((gain[k] - gain[j]) / (k - j) for j in range(k))
                worth[dim, k] = max(LEAST * k, mean)
        return worth

    def _cells(self) -> Words:
        """Return single cells with large errors, each found by climbing from a random cell."""
        rng, size = np.random.default_rng(SEED), (SAMPLES, len(self.bits))
        cells = rng.integers(self.first, self.last + 1, size)
        keys = self._keys(cells, cells)
        for _ in range(CLIMBS):
            flip = np.left_shift(1, rng.integers(0, np.maximum(1, self.bits), size))
            other = np.where(rng.random(size) < 2 / len(self.bits), cells ^ flip, cells)
            other = np.clip(other, self.first, self.last)
            found = self._keys(other, other)
            better = found > keys
            cells, keys = np.where(better[:, None], other, cells), np.where(better, found, keys)
        return np.asarray(cells[np.argsort(-keys, kind="stable")[:KEPT]], np.int64)


def _halved(first: Words, last: Words, axis: int) -> tuple[Words, Words]:
    """Halve boxes along an input; a single cell stays as it is."""
    wide = first[:, axis] < last[:, axis]
    middle = (first[:, axis] + last[:, axis] + 1) >> 1
    upper, lower = first[wide].copy(), last.copy()
    upper[:, axis], lower[wide, axis] = middle[wide], middle[wide] - 1
    return np.concatenate([first, upper]), np.concatenate([lower, last[wide]])


class BoxedOutput:
    """The error of an output over boxes."""

    def __init__(self, plain: PlainBound, column: int) -> None:
        self.plain, self.column = plain, column
        self.output, result = plain.claim.outputs[column], plain.graph.results[column]
        self.steps = BoxSteps(plain)
        self.slot = self.steps.function(self.output.node)
        last, drop = plain.rounding(self.output, column), [0, 0, 0]
        shift = self.slot.scale - result.drop
        if result.drop and shift >= 1:
            last = exactly(plain.moved(self.output, column))
            drop = [plain.graph.nodes[result.node].bits, shift, result.drop]
        self.goal = [*map(int, fixed(last, self.slot.scale)), *drop, ERROR]

    def bound(self, effort: int) -> IntegerSpan:
        """Enclose the error by `effort` boxes; equal effort gives equal bounds anywhere."""
        search = BoxSearch(self.steps, self.slot, [*self.goal, 0, 0])
        return self.plain.widened(self.output, self.column, search.ends(effort))

    def by_addends(self) -> IntegerSpan:
        """Enclose the error by the sum of the errors of all addends, each in its worst box."""
        row = self.steps.rows[self.slot.place]
        found = self.plain.rounding(self.output, self.column)
        found = found + span_of(row[7], row[8], self.slot.scale)
        for one in self.steps.addends:
            search = BoxSearch(self.steps, one, [0, 0, 0, 0, 0, ERROR, 0, 0])
            found = found + search.ends(ADDEND // search.needed)
        return self.plain.widened(self.output, self.column, found)

    def confirm(self, low: Fraction, high: Fraction, effort: int) -> int:
        """Prove that the error lies in low .. high; return the number of boxes."""
        unit = Fraction(2) ** self.slot.scale
        goal = [*self.goal, ceil(low * unit), floor(high * unit)]
        search = BoxSearch(self.steps, self.slot, goal)
        (_, _, count, _, excess), (cells, _) = search.run(effort)
        if excess > 0:
            where = search.words(cells)
            raise NotCoveredError(f"{count} boxes did not confirm it: where {where}")
        return count


def heap_fits(steps: BoxSteps, word: int, effort: int) -> int:
    """Prove that no sum overflows the word of a heap; return the number of boxes.

    Where splitting the worst box does not prove it soon, boxes are halved by their own excess, with
    an `effort` that is a number of steps over all boxes.
    """
    plain = steps.plain
    place = next(k for k, one in enumerate(plain.claim.places) if one.words == (word,))
    seen = plain.seen[place]
    slot = steps.function(place)
    beyond = ((1 << plain.graph.nodes[word].bits) + 1) << (steps.shift(slot, seen) - 1)
    goal = [0, 0, 0, 0, 0, WORDS, 1 - beyond, beyond - 1]  # less than a step beyond the ends
    search = BoxSearch(steps, slot, goal)
    (_, _, count, _, excess), (cells, _) = search.run(SOON)
    if excess > 0 and effort:
        more, cells = search.cover(effort // search.needed)
        count, excess = count + more, len(cells)
    if excess > 0:
        raise DoesNotHoldError(f"w{word} may overflow: where {search.words(cells)}")
    return count
