"""The plain bound over boxes of inputs, which are halved until a claim holds in all of them.

A box is a range of words of every input. Tables by word of the plain bound are limited to the words
of a box. Sums and products are computed as in the plain bound, for many boxes at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.plain import about_zero, added, integers, product_of, row_of
from boolcomp.checker.problem import ClaimedInput, ClaimedTotal, Turns
from boolcomp.checker.spans import PLACES, IntegerSpan, between, exactly
from boolcomp.words.graph import Angles, Bits, Heap, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.plain import CheckedFunction, ClaimedLine, PlainBound
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]
    ByFunction: TypeAlias = dict[int, "BoxEnclosure"]  # by function


# --------------------------------------------------------------------------------------------------
# Arrays of spans in 64-bit fixed-point arithmetic of 2^-scale, and tables of spans by word.
#
# Sums are exact; all other operations round outward. Factors of a product have at most 31 bits.
# --------------------------------------------------------------------------------------------------

BITS = 30  # of the larger factor of a product
FAR = 1 << 61  # limit of an empty span
_LOG = np.array([0, *(k.bit_length() - 1 for k in range(1, 1 << 16))])


@dataclass(frozen=True, slots=True, eq=False)
class SpanArray:
    """Spans from low to high, in units of 2^-scale."""

    low: Words
    high: Words
    scale: int

    def to(self, scale: int) -> SpanArray:
        """Change the unit."""
        gone = self.scale - scale
        if gone <= 0:
            return SpanArray(self.low << -gone, self.high << -gone, scale)
        return SpanArray(self.low >> gone, -(-self.high >> gone), scale)

    def __add__(self, other: SpanArray) -> SpanArray:
        return SpanArray(self.low + other.low, self.high + other.high, self.scale)

    def __sub__(self, other: SpanArray) -> SpanArray:
        return SpanArray(self.low - other.high, self.high - other.low, self.scale)

    def __mul__(self, other: SpanArray) -> SpanArray:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        low, high = np.minimum(ends[0], ends[1]), np.maximum(ends[0], ends[1])
        for end in ends[2:]:
            low, high = np.minimum(low, end), np.maximum(high, end)
        return SpanArray(low, high, self.scale + other.scale)

    def times(self, factor: Fraction, scale: int) -> SpanArray:
        return (self * array_of(factor)).to(scale)

    def meet(self, other: SpanArray) -> SpanArray:
        """Intersect enclosures; where rounding empties an intersection, its lower end remains."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        return SpanArray(low, np.maximum(low, high), self.scale)


def array_of(value: Fraction) -> SpanArray:
    """Enclose a number with 31 bits."""
    scale = BITS - size_of(abs(value))
    units = value * Fraction(2) ** scale
    return SpanArray(np.int64(units // 1), np.int64(-(-units // 1)), scale)  # type: ignore[arg-type]


def size_of(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length() + 1


def scale_of(*spans: IntegerSpan) -> int:
    return min(PLACES, BITS - size_of(Fraction(max(1, *(one.size for one in spans)), 1 << PLACES)))


def fixed(span: IntegerSpan, scale: int) -> SpanArray:
    """Convert a span, or an array of spans, to 64-bit integers."""
    gone = PLACES - scale
    low, high = np.asarray(span.low, object) >> gone, -(-np.asarray(span.high, object) >> gone)
    return SpanArray(np.asarray(low, np.int64), np.asarray(high, np.int64), scale)


class SpanTable:
    """Spans by word, with fast unions over ranges of words, which wrap around."""

    def __init__(self, at: Words, found: IntegerSpan, count: int, scale: int) -> None:
        self.scale, self.count = scale, count
        low, high = np.full(count, FAR), np.full(count, -FAR)
        ends = fixed(found, scale)
        low[at], high[at] = ends.low, ends.high
        lows, highs, reach = [low], [high], 1
        while reach < count:
            lows.append(np.minimum(lows[-1], np.roll(lows[-1], -reach)))
            highs.append(np.maximum(highs[-1], np.roll(highs[-1], -reach)))
            reach *= 2
        self.lows, self.highs = np.stack(lows), np.stack(highs)

    def over(self, first: Words, last: Words) -> SpanArray:
        """Return the union of the spans of words from first to last."""
        long = np.minimum(last - first + 1, self.count)
        level = _LOG[long]
        one = first & (self.count - 1)
        two = (first + long - (np.int64(1) << level)) & (self.count - 1)
        low = np.minimum(self.lows[level, one], self.lows[level, two])
        high = np.maximum(self.highs[level, one], self.highs[level, two])
        return SpanArray(low, high, self.scale)


# --------------------------------------------------------------------------------------------------
# The bound over boxes.
# --------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    Ranges: TypeAlias = dict[int, tuple[Words, Words]]  # by word


AT_ONCE, TRIED = 1 << 12, 16  # boxes at a time; boxes sampled to select the input to halve
MOST_BITS = 15  # of a word whose values are tabulated


class BoxEnclosure:
    """The exact value of a sum, the value of its word and their difference, in many boxes.

    The word itself may overflow.
    """

    def __init__(self, exact: SpanArray, value: SpanArray, error: SpanArray) -> None:
        self.exact, self.value, self.error = exact, value, error


class BoxedSum:
    """A sum, and all functions that it depends on, over boxes."""

    def __init__(self, plain: PlainBound, place: int) -> None:
        self.plain, self.graph, self.claim, self.place = plain, plain.graph, plain.claim, place
        self.functions = self.claim.needed(place)
        self.inputs: list[tuple[int, int, int]] = []  # word, first, last
        self.steps: list[Callable[[Ranges, ByFunction], None]] = []
        for k in self.functions:
            function, seen = self.claim.functions[k], plain.seen[k]
            if isinstance(function, ClaimedInput) and seen.word is not None and seen.at is not None:
                self.inputs.append((seen.word, int(seen.at[0]), int(seen.at[-1])))
            elif isinstance(function, Turns) and seen.word is not None:
                self.steps.append(self._turns(seen.word))
            elif isinstance(function, ClaimedTotal) and not function.turning:
                self.steps.append(self._total(k, function))
        self.widest = False  # among equally good inputs, halve the widest instead of the first

    def enclosure(self, low: Words, high: Words) -> BoxEnclosure:
        """Enclose the sum in boxes, given as arrays (inputs, boxes)."""
        ranges = {word: (low[k], high[k]) for k, (word, _, _) in enumerate(self.inputs)}
        found: ByFunction = {}
        for step in self.steps:
            step(ranges, found)
        return found[self.place]

    def _turns(self, word: int) -> Callable[[Ranges, ByFunction], None]:
        node = self.graph.nodes[word]
        if not isinstance(node, Angles):
            raise NotCoveredError("the word of an angle is no sum of angles")
        bits = [self.graph.nodes[turn.node].bits for turn in node.turns]
        inner = {turn.node: turn.read + turn.shift for turn in node.turns}
        if any(isinstance(self.graph.nodes[k], Angles) and top < node.bits
               for k, top in inner.items()):  # fmt: skip
            raise NotCoveredError("a sum of angles reads a sum that wraps at another bit")

        def step(ranges: Ranges, _: ByFunction) -> None:
            first = last = np.full(1, node.constant, np.int64)
            for turn, width in zip(node.turns, bits, strict=True):
                if turn.node not in ranges:
                    return
                low, high = (end >> (width - turn.read) for end in ranges[turn.node])
                if turn.negative:
                    full = (1 << turn.read) - 1
                    low, high = full - high, full - low
                first, last = first + (low << turn.shift), last + (high << turn.shift)
            ranges[word] = first, last

        return step

    def _by_word(
        self, seen: CheckedFunction, found: IntegerSpan, scale: int
    ) -> Callable[[Ranges], SpanArray]:
        """Return the union of spans that belong to the values of a word, over boxes."""
        hull = fixed(found.hull, scale)
        word = seen.word
        if word is None or seen.at is None or self.graph.nodes[word].bits > MOST_BITS:
            return lambda _: hull
        table = SpanTable(seen.at, found, 1 << self.graph.nodes[word].bits, scale)
        return lambda ranges: table.over(*ranges[word]) if word in ranges else hull

    def _total(self, place: int, function: ClaimedTotal) -> Callable[[Ranges, ByFunction], None]:
        seen, claimed = self.plain.seen[place], self.claim.places[place]
        scale = scale_of(seen.exact, seen.value, seen.error)
        heap = self.graph.nodes[claimed.words[0]] if claimed.words else None
        parts: Sequence[HeapPart] = heap.parts if isinstance(heap, Heap) else ()
        exacts, shares = [], []
        for k, (factor, read) in enumerate(function.addends):
            exacts.append(self._exact(read, Fraction(factor), scale))
            if heap is not None:
                mine = [p for p, own in zip(parts, claimed.owners, strict=True) if own == k]
                shares.append(self._share(read, mine, Fraction(factor), seen, scale))
        whole = (fixed(one, scale) for one in (seen.exact, seen.value, seen.error))
        whole_exact, whole_value, whole_error = whole
        constant = exactly(function.constant)
        exact_first = fixed(constant, scale)
        start = exactly(seen.line.start)
        if isinstance(heap, Heap):
            start = exactly(seen.line.start + heap.constant * seen.line.step)
        put_first, error_first = fixed(start, scale), fixed(start - constant, scale)

        def step(ranges: Ranges, found: ByFunction) -> None:
            exact = exact_first
            for one in exacts:
                exact = exact + one(ranges, found)
            if heap is None:
                exact = exact.meet(whole_exact)
                found[place] = BoxEnclosure(exact, exact, exact - exact)
                return
            put, error = put_first, error_first
            for share in shares:
                part, missed = share(ranges, found)
                put, error = put + part, error + missed
            error = error.meet(whole_error)
            value = put.meet(exact + error).meet(whole_value)
            error = error.meet(value - exact)
            found[place] = BoxEnclosure(exact.meet(value - error).meet(whole_exact), value, error)

        return step

    def _exact(
        self, read: Sequence[int], factor: Fraction, scale: int
    ) -> Callable[[Ranges, ByFunction], SpanArray]:
        """Enclose factor · product of functions in boxes."""
        one = [self._value(k) for k in read]
        if len(one) == 1:
            k, seen = read[0], self.plain.seen[read[0]]
            if not isinstance(self.claim.functions[k], ClaimedTotal):
                by_word = self._by_word(seen, seen.near.times(factor), scale)
                return lambda ranges, _: by_word(ranges)
            return lambda ranges, found: one[0](ranges, found).times(factor, scale)
        times = array_of(factor)

        def step(ranges: Ranges, found: ByFunction) -> SpanArray:
            product = one[0](ranges, found) * one[1](ranges, found)
            return (product.to(product.scale - 31) * times).to(scale)

        return step

    def _value(self, place: int) -> Callable[[Ranges, ByFunction], SpanArray]:
        """Enclose an exact function in boxes."""
        if isinstance(self.claim.functions[place], ClaimedTotal):
            return lambda _, found: found[place].exact
        seen = self.plain.seen[place]
        by_word = self._by_word(seen, seen.near, scale_of(seen.near, seen.value))
        return lambda ranges, _: by_word(ranges)

    def _share(
        self,
        read: Sequence[int],
        parts: Sequence[HeapPart],
        factor: Fraction,
        own: CheckedFunction,
        scale: int,
    ) -> Callable[[Ranges, ByFunction], tuple[SpanArray, SpanArray]]:
        """Enclose the contribution of an addend's parts to a heap, and its error."""
        if not parts:
            exact, nothing = self._exact(read, -factor, scale), fixed(IntegerSpan(0, 0), scale)
            return lambda ranges, found: (nothing, exact(ranges, found))
        if len(read) > 1:
            return self._product(read, parts[0], factor, own, scale)
        seen = self.plain.seen[read[0]]
        if seen.words is not None and seen.at is not None:
            added_up = sum((added(self.graph, one, seen.words) for one in parts), seen.at * 0)
            put = integers(added_up).times(own.line.step)
            value = self._by_word(seen, put, scale)
            missed = self._by_word(seen, put - seen.near.times(factor), scale)
            return lambda ranges, _: (value(ranges), missed(ranges))
        place, times, rest = read[0], Fraction(0), IntegerSpan(0, 0)
        rows = [part for part in parts if isinstance(part, Bits)]
        if len(rows) < len(parts):
            raise NotCoveredError("an addend of one function has partial products")
        for part in rows:
            weight, lost = row_of(self.graph, seen, own.line.step, part)
            times, rest = times + weight, rest + lost
        left, off = fixed(rest, scale), times - factor

        exact, width = self._exact(read, factor, scale), self.graph.nodes[seen.word or 0].bits

        def step(ranges: Ranges, found: ByFunction) -> tuple[SpanArray, SpanArray]:
            one = found[place]
            error = one.error.times(times, scale) + left
            if off:
                error = error + one.exact.times(off, scale)
            low, high = _words(one.value, seen.line)
            first = last = np.zeros(1, np.int64)
            for part in rows:  # the same in integers
                ends = (low >> part.drop, high >> part.drop)
                if part.negative:
                    full = (1 << (width - part.drop)) - 1
                    ends = (full - ends[1], full - ends[0])
                first, last = first + (ends[0] << part.column), last + (ends[1] << part.column)
            whole = SpanArray(first, last, -_lsb(own.line)).to(scale)
            put = (one.value.times(times, scale) + left).meet(whole)
            return put, error.meet(put - exact(ranges, found))

        return step

    def _product(
        self,
        read: Sequence[int],
        part: HeapPart,
        factor: Fraction,
        own: CheckedFunction,
        scale: int,
    ) -> Callable[[Ranges, ByFunction], tuple[SpanArray, SpanArray]]:
        """Enclose the contribution of a product of two words, and its error."""
        if not isinstance(part, PartialProducts):
            raise NotCoveredError("a product has no partial products")
        one = self._operand(read[0], part.a, part.drop_a)
        two = self._operand(read[1], part.b, part.drop_b)
        times, extra = product_of(self.graph, part, own.line.step)
        if times != factor:
            raise NotCoveredError("a product has another factor than its words")
        rest = fixed(extra, scale)
        power = abs(times).numerator.bit_length() - abs(times).denominator.bit_length()

        def scaled(x: SpanArray) -> SpanArray:
            x = SpanArray(x.low, x.high, x.scale - power).to(scale)
            return SpanArray(-x.high, -x.low, scale) if times < 0 else x

        def step(ranges: Ranges, found: ByFunction) -> tuple[SpanArray, SpanArray]:
            (a, da, alpha), (b, db, beta) = one(ranges, found), two(ranges, found)
            error = (a * db + beta * da).meet(b * da + alpha * db)
            return scaled(a * b) + rest, scaled(error) + rest

        return step

    def _operand(
        self, place: int, word: int, drop: int
    ) -> Callable[[Ranges, ByFunction], tuple[SpanArray, SpanArray, SpanArray]]:
        """Enclose the value of digits above the dropped ones, its error, and the exact value."""
        seen = self.plain.seen[place]
        if seen.words is not None:
            value = about_zero(self.graph, word, seen.words[word], drop)
            scale = scale_of(value, seen.near, value - seen.near)
            spans = (value, value - seen.near, seen.near)
            listed = [self._by_word(seen, x, scale) for x in spans]
            return lambda ranges, _: (listed[0](ranges), listed[1](ranges), listed[2](ranges))
        half = Fraction((1 << drop) - 1, 2) * seen.line.step
        rest = between(-half, half) - exactly(Fraction(self.graph.scales[word].offset))
        scale = scale_of(seen.exact, seen.value + rest, seen.error + rest)
        fixed_rest, width = fixed(rest, scale), self.graph.nodes[word].bits

        def step(_: Ranges, found: ByFunction) -> tuple[SpanArray, SpanArray, SpanArray]:
            one = found[place]
            exact, value = one.exact.to(scale), one.value.to(scale) + fixed_rest
            low, high = _words(one.value, seen.line)
            first, last = (2 * (end >> drop) + 1 - (1 << (width - drop)) for end in (low, high))
            value = value.meet(SpanArray(first, last, 1 - drop - _lsb(seen.line)).to(scale))
            return value, (one.error.to(scale) + fixed_rest).meet(value - exact), exact

        return step

    def fits(self, effort: int) -> int:
        """Prove that no sum overflows its heap's word; return the number of boxes."""
        seen = self.plain.seen[self.place]
        heap = self.graph.nodes[seen.word or 0]
        largest = seen.line.start + seen.line.step * ((1 << heap.bits) - 1)
        half = seen.line.step / 2  # words are integer steps

        def excess(one: BoxEnclosure) -> Words:
            scale = one.value.scale
            ends = seen.line.start - half, largest + half
            first, last = (int(end * Fraction(2) ** scale // 1) for end in ends)
            return np.maximum(one.value.high - last, first - one.value.low)

        for self.widest in (False, True):
            count, where = self.cover(excess, effort)
            if not where:
                return count
        raise DoesNotHoldError(f"w{seen.word} may overflow{_at(where)}")

    def confirm(self, low: Fraction, high: Fraction, effort: int) -> int:
        """Prove that the error of the sum lies in low .. high; return the number of boxes."""

        def excess(one: BoxEnclosure) -> Words:
            unit = Fraction(2) ** one.error.scale
            largest, least = int(high * unit // 1), -int(-low * unit // 1)
            return np.maximum(one.error.high - largest, least - one.error.low)

        count, where = self.cover(excess, effort)
        if where:
            raise NotCoveredError(f"{count} boxes did not confirm it{_at(where)}")
        return count

    def cover(
        self, excess: Callable[[BoxEnclosure], Words], effort: int
    ) -> tuple[int, dict[int, int]]:
        """Halve boxes until none exceeds the claim; return the number of boxes checked.

        If a single state, or a box at the end of the effort, still exceeds the claim, its words are
        returned, too.
        """
        ends = np.array([(first, last) for _, first, last in self.inputs], np.int64)
        waiting, count = [(ends.reshape(-1, 2)[:, :1], ends.reshape(-1, 2)[:, 1:])], 0
        while waiting:
            low, high = waiting.pop()
            count += low.shape[1]
            left = np.broadcast_to(excess(self.enclosure(low, high)), low.shape[1]) > 0
            low, high = low[:, left], high[:, left]
            if not low.shape[1]:
                continue
            single = (low == high).all(axis=0)
            if single.any() or count > effort:
                k = int(np.argmax(single)) if single.any() else 0
                return count, {word: int(low[n, k]) for n, (word, _, _) in enumerate(self.inputs)}
            low, high = _halved(low, high, self._axis(low, high, excess))
            some = [slice(k, k + AT_ONCE) for k in range(0, low.shape[1], AT_ONCE)]
            waiting += [(low[:, one], high[:, one]) for one in some]
        return count, {}

    def _axis(self, low: Words, high: Words, excess: Callable[[BoxEnclosure], Words]) -> int:
        """Return the input whose halves have the least total excess, on a sample of boxes."""
        some = np.linspace(0, low.shape[1] - 1, min(low.shape[1], TRIED)).astype(np.int64)
        low, high = low[:, some], high[:, some]
        axes = [k for k in range(len(low)) if (low[k] < high[k]).any()]
        tried = [_halved(low, high, k) for k in axes]
        lows, highs = (np.concatenate([one[side] for one in tried], axis=1) for side in (0, 1))
        found = np.broadcast_to(excess(self.enclosure(lows, highs)), lows.shape[1])
        ends = np.cumsum([0, *(one[0].shape[1] for one in tried)])
        sums = [
            float(np.maximum(found[a:b], 0).astype(np.float64).sum()) for a, b in pairwise(ends)
        ]
        own = [last - first + 1 for _, first, last in self.inputs]
        width = [-int((high[k] - low[k]).sum() << 16) // own[k] for k in axes]  # relative, negated
        width = width if self.widest else [0] * len(axes)
        return min(zip(sums, width, axes, strict=True))[2]


def _lsb(line: ClaimedLine) -> int:
    return line.step.numerator.bit_length() - line.step.denominator.bit_length()


def _words(value: SpanArray, line: ClaimedLine) -> tuple[Words, Words]:
    """Return the first and the last word whose values lie in a span."""
    start, shift = fixed(exactly(line.start), value.scale), value.scale + _lsb(line)
    if shift < 0:
        raise NotCoveredError("the unit of a sum is too coarse for boxes")
    return -((start.high - value.low) >> shift), (value.high - start.low) >> shift


def _at(where: Mapping[int, int]) -> str:
    return ": where " + ", ".join(f"w{k} = {value}" for k, value in where.items())


def _halved(low: Words, high: Words, axis: int) -> tuple[Words, Words]:
    """Halve boxes along an input; a box of a single word stays as it is."""
    middle = (low[axis] + high[axis]) >> 1
    more = middle < high[axis]
    first, last = low[:, more].copy(), high.copy()
    first[axis], last[axis] = middle[more] + 1, middle
    return np.concatenate([low, first], axis=1), np.concatenate([last, high[:, more]], axis=1)
