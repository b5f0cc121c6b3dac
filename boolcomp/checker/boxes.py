"""The plain bound over boxes of inputs: halved until what is claimed holds in every one of them.

A box is a range of words of every input. In it all that `plain` says of words by value is met with
the values that there are; sums and products are as there, many boxes at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.plain import about_zero, added, integers, product_of, row_of
from boolcomp.checker.problem import Given, Total, Turns
from boolcomp.checker.spans import PLACES, Span, between, exactly
from boolcomp.words.graph import Angles, Bits, Heap, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.plain import Line, Plain, Seen
    from boolcomp.words.graph import HeapPart

    Words = NDArray[np.int64]
    Known: TypeAlias = dict[int, "InBoxes"]  # by function


# --------------------------------------------------------------------------------------------------
# Spans of many boxes side by side, in 64-bit whole numbers of 2^-scale, and spans by word.
#
# All sums are exact, all else is rounded outward. What is multiplied has at most 31 bits.
# --------------------------------------------------------------------------------------------------


BITS = 30  # of the largest of what is multiplied
FAR = 1 << 61  # of words that there are not
_LOG = np.array([0, *(k.bit_length() - 1 for k in range(1, 1 << 16))])


@dataclass(frozen=True, slots=True, eq=False)
class Many:
    """Spans: all numbers from low to high."""

    low: Words
    high: Words
    scale: int

    def to(self, scale: int) -> Many:
        """Return the same in other units."""
        gone = self.scale - scale
        if gone <= 0:
            return Many(self.low << -gone, self.high << -gone, scale)
        return Many(self.low >> gone, -(-self.high >> gone), scale)

    def __add__(self, other: Many) -> Many:
        return Many(self.low + other.low, self.high + other.high, self.scale)

    def __sub__(self, other: Many) -> Many:
        return Many(self.low - other.high, self.high - other.low, self.scale)

    def __mul__(self, other: Many) -> Many:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        low, high = np.minimum(ends[0], ends[1]), np.maximum(ends[0], ends[1])
        for end in ends[2:]:
            low, high = np.minimum(low, end), np.maximum(high, end)
        return Many(low, high, self.scale + other.scale)

    def times(self, factor: Fraction, scale: int) -> Many:
        """Return a multiple by a number of at most 31 bits, or one near it, in other units."""
        return (self * many_of(factor)).to(scale)

    def meet(self, other: Many) -> Many:
        """Return what both hold; of what rounding alone makes empty, one of both."""
        low, high = np.maximum(self.low, other.low), np.minimum(self.high, other.high)
        return Many(low, np.maximum(low, high), self.scale)


def many_of(value: Fraction) -> Many:
    """Return a number to 31 bits."""
    scale = BITS - size_of(abs(value))
    units = value * Fraction(2) ** scale
    return Many(np.int64(units // 1), np.int64(-(-units // 1)), scale)  # type: ignore[arg-type]


def size_of(value: Fraction) -> int:
    """Return the bits of a number before the point, negative where it is less than a half."""
    return value.numerator.bit_length() - value.denominator.bit_length() + 1


def scale_of(*spans: Span) -> int:
    """Return the units in which the largest of some spans has 31 bits at most."""
    return min(PLACES, BITS - size_of(Fraction(max(1, *(one.size for one in spans)), 1 << PLACES)))


def fixed(span: Span, scale: int) -> Many:
    """Return a span, or spans side by side, in units of many."""
    gone = PLACES - scale
    low, high = np.asarray(span.low, object) >> gone, -(-np.asarray(span.high, object) >> gone)
    return Many(np.asarray(low, np.int64), np.asarray(high, np.int64), scale)


class ByWord:
    """Spans by word: what holds those of all words from one to another; words wrap around."""

    def __init__(self, at: Words, found: Span, count: int, scale: int) -> None:
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

    def over(self, first: Words, last: Words) -> Many:
        """Return what holds the spans of words from first to last."""
        long = np.minimum(last - first + 1, self.count)
        level = _LOG[long]
        one = first & (self.count - 1)
        two = (first + long - (np.int64(1) << level)) & (self.count - 1)
        low = np.minimum(self.lows[level, one], self.lows[level, two])
        high = np.maximum(self.highs[level, one], self.highs[level, two])
        return Many(low, high, self.scale)


# --------------------------------------------------------------------------------------------------
# The plain bound over boxes of inputs: halved until what is claimed holds in every one of them.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    Ranges: TypeAlias = dict[int, tuple[Words, Words]]  # by word


AT_ONCE, TRIED = 1 << 12, 16  # boxes; those that say which input is halved
MOST_BITS = 15  # of a word that is looked at by value


class InBoxes:
    """What a sum is, what its word says and how much more, in many boxes; its sum may overflow."""

    def __init__(self, exact: Many, said: Many, error: Many) -> None:
        self.exact, self.said, self.error = exact, said, error


class Boxes:
    """A sum, and all that it reads, over boxes."""

    def __init__(self, plain: Plain, place: int) -> None:
        self.plain, self.graph, self.claim, self.place = plain, plain.graph, plain.claim, place
        self.functions = self.claim.needed(place)
        self.inputs: list[tuple[int, int, int]] = []  # word, first, last
        self.steps: list[Callable[[Ranges, Known], None]] = []
        for k in self.functions:
            function, seen = self.claim.functions[k], plain.seen[k]
            if isinstance(function, Given) and seen.word is not None and seen.at is not None:
                self.inputs.append((seen.word, int(seen.at[0]), int(seen.at[-1])))
            elif isinstance(function, Turns) and seen.word is not None:
                self.steps.append(self._turns(seen.word))
            elif isinstance(function, Total) and not function.turning:
                self.steps.append(self._total(k, function))
        self.widest = False  # of inputs that promise the same the widest is halved, or the first

    def known(self, low: Words, high: Words) -> InBoxes:
        """Return what is known of the sum in boxes, (inputs, boxes)."""
        ranges = {word: (low[k], high[k]) for k, (word, _, _) in enumerate(self.inputs)}
        found: Known = {}
        for step in self.steps:
            step(ranges, found)
        return found[self.place]

    def _turns(self, word: int) -> Callable[[Ranges, Known], None]:
        node = self.graph.nodes[word]
        if not isinstance(node, Angles):
            raise NotCoveredError("an angle is no sum of angles")
        bits = [self.graph.nodes[turn.node].bits for turn in node.turns]
        inner = {turn.node: turn.read + turn.shift for turn in node.turns}
        if any(isinstance(self.graph.nodes[k], Angles) and top < node.bits
               for k, top in inner.items()):  # fmt: skip
            raise NotCoveredError("a sum of angles reads one that wraps elsewhere")

        def step(ranges: Ranges, _: Known) -> None:
            first = last = np.full(1, node.constant, np.int64)
            for turn, wide in zip(node.turns, bits, strict=True):
                if turn.node not in ranges:
                    return
                low, high = (end >> (wide - turn.read) for end in ranges[turn.node])
                if turn.negative:
                    full = (1 << turn.read) - 1
                    low, high = full - high, full - low
                first, last = first + (low << turn.shift), last + (high << turn.shift)
            ranges[word] = first, last

        return step

    def _by_word(self, seen: Seen, found: Span, scale: int) -> Callable[[Ranges], Many]:
        """Return what holds spans that stand beside the values of a word."""
        hull = fixed(found.hull, scale)
        word = seen.word
        if word is None or seen.at is None or self.graph.nodes[word].bits > MOST_BITS:
            return lambda _: hull
        table = ByWord(seen.at, found, 1 << self.graph.nodes[word].bits, scale)
        return lambda ranges: table.over(*ranges[word]) if word in ranges else hull

    def _total(self, place: int, function: Total) -> Callable[[Ranges, Known], None]:
        seen, stands = self.plain.seen[place], self.claim.places[place]
        scale = scale_of(seen.exact, seen.said, seen.error)
        heap = self.graph.nodes[stands.words[0]] if stands.words else None
        parts: Sequence[HeapPart] = heap.parts if isinstance(heap, Heap) else ()
        exacts, shares = [], []
        for k, (factor, read) in enumerate(function.addends):
            exacts.append(self._exact(read, Fraction(factor), scale))
            if heap is not None:
                mine = [p for p, own in zip(parts, stands.owners, strict=True) if own == k]
                shares.append(self._share(read, mine, Fraction(factor), seen, scale))
        own = (fixed(one, scale) for one in (seen.exact, seen.said, seen.error))
        widest, spoken, missed = own
        constant = exactly(function.constant)
        still = fixed(constant, scale)
        start = exactly(seen.line.start)
        if isinstance(heap, Heap):
            start = exactly(seen.line.start + heap.constant * seen.line.step)
            start = start + self.claim.beside(stands.words[0]).times(seen.line.step)
        put_first, error_first = fixed(start, scale), fixed(start - constant, scale)

        def step(ranges: Ranges, found: Known) -> None:
            exact = still
            for one in exacts:
                exact = exact + one(ranges, found)
            if heap is None:
                exact = exact.meet(widest)
                found[place] = InBoxes(exact, exact, exact - exact)
                return
            put, error = put_first, error_first
            for share in shares:
                more, beside = share(ranges, found)
                put, error = put + more, error + beside
            error = error.meet(missed)
            said = put.meet(exact + error).meet(spoken)
            error = error.meet(said - exact)
            found[place] = InBoxes(exact.meet(said - error).meet(widest), said, error)

        return step

    def _exact(
        self, read: Sequence[int], factor: Fraction, scale: int
    ) -> Callable[[Ranges, Known], Many]:
        """Return factor · product in boxes."""
        one = [self._value(k) for k in read]
        if len(one) == 1:
            k, seen = read[0], self.plain.seen[read[0]]
            if not isinstance(self.claim.functions[k], Total):
                by_word = self._by_word(seen, seen.near.times(factor), scale)
                return lambda ranges, _: by_word(ranges)
            return lambda ranges, found: one[0](ranges, found).times(factor, scale)
        times = many_of(factor)

        def step(ranges: Ranges, found: Known) -> Many:
            product = one[0](ranges, found) * one[1](ranges, found)
            return (product.to(product.scale - 31) * times).to(scale)

        return step

    def _value(self, place: int) -> Callable[[Ranges, Known], Many]:
        """Return an exact function in boxes."""
        if isinstance(self.claim.functions[place], Total):
            return lambda _, found: found[place].exact
        seen = self.plain.seen[place]
        by_word = self._by_word(seen, seen.near, scale_of(seen.near, seen.said))
        return lambda ranges, _: by_word(ranges)

    def _share(
        self,
        read: Sequence[int],
        parts: Sequence[HeapPart],
        factor: Fraction,
        own: Seen,
        scale: int,
    ) -> Callable[[Ranges, Known], tuple[Many, Many]]:
        """Return what the parts of an addend put into a heap, and how much more that is."""
        if not parts:
            exact, nothing = self._exact(read, -factor, scale), fixed(Span(0, 0), scale)
            return lambda ranges, found: (nothing, exact(ranges, found))
        if len(read) > 1:
            return self._product(read, parts[0], factor, own, scale)
        seen = self.plain.seen[read[0]]
        if seen.words is not None and seen.at is not None:
            added_up = sum((added(self.graph, one, seen.words) for one in parts), seen.at * 0)
            put = integers(added_up).times(own.line.step)
            said = self._by_word(seen, put, scale)
            missed = self._by_word(seen, put - seen.near.times(factor), scale)
            return lambda ranges, _: (said(ranges), missed(ranges))
        place, times, beside = read[0], Fraction(0), Span(0, 0)
        rows = [part for part in parts if isinstance(part, Bits)]
        if len(rows) < len(parts):
            raise NotCoveredError("a sum is multiplied by itself")
        for part in rows:
            weight, lost = row_of(self.graph, seen, own.line.step, part)
            times, beside = times + weight, beside + lost
        left, off = fixed(beside, scale), times - factor

        exact, wide = self._exact(read, factor, scale), self.graph.nodes[seen.word or 0].bits

        def step(ranges: Ranges, found: Known) -> tuple[Many, Many]:
            one = found[place]
            error = one.error.times(times, scale) + left
            if off:
                error = error + one.exact.times(off, scale)
            low, high = _words(one.said, seen.line)
            first = last = np.zeros(1, np.int64)
            for part in rows:  # the same in whole numbers
                ends = (low >> part.drop, high >> part.drop)
                if part.negative:
                    full = (1 << (wide - part.drop)) - 1
                    ends = (full - ends[1], full - ends[0])
                first, last = first + (ends[0] << part.column), last + (ends[1] << part.column)
            whole = Many(first, last, -_lsb(own.line)).to(scale)
            put = (one.said.times(times, scale) + left).meet(whole)
            return put, error.meet(put - exact(ranges, found))

        return step

    def _product(
        self, read: Sequence[int], part: HeapPart, factor: Fraction, own: Seen, scale: int
    ) -> Callable[[Ranges, Known], tuple[Many, Many]]:
        """Return a product of two words, as `plain` does."""
        if not isinstance(part, PartialProducts):
            raise NotCoveredError("a product is none")
        one = self._operand(read[0], part.a, part.drop_a)
        two = self._operand(read[1], part.b, part.drop_b)
        times, more = product_of(self.graph, part, own.line.step)
        if times != factor:
            raise NotCoveredError("a product has another factor than its words")
        beside = fixed(more, scale)
        power = abs(times).numerator.bit_length() - abs(times).denominator.bit_length()

        def scaled(x: Many) -> Many:
            x = Many(x.low, x.high, x.scale - power).to(scale)
            return Many(-x.high, -x.low, scale) if times < 0 else x

        def step(ranges: Ranges, found: Known) -> tuple[Many, Many]:
            (a, da, alpha), (b, db, beta) = one(ranges, found), two(ranges, found)
            error = (a * db + beta * da).meet(b * da + alpha * db)
            return scaled(a * b) + beside, scaled(error) + beside

        return step

    def _operand(
        self, place: int, word: int, drop: int
    ) -> Callable[[Ranges, Known], tuple[Many, Many, Many]]:
        """Return what digits above the lowest say, how much more that is, and what is exact."""
        seen = self.plain.seen[place]
        if seen.words is not None:
            said = about_zero(self.graph, word, seen.words[word], drop)
            scale = scale_of(said, seen.near, said - seen.near)
            listed = [self._by_word(seen, x, scale) for x in (said, said - seen.near, seen.near)]
            return lambda ranges, _: (listed[0](ranges), listed[1](ranges), listed[2](ranges))
        half = Fraction((1 << drop) - 1, 2) * seen.line.step
        beside = between(-half, half) - exactly(Fraction(self.graph.scales[word].offset))
        scale = scale_of(seen.exact, seen.said + beside, seen.error + beside)
        more, wide = fixed(beside, scale), self.graph.nodes[word].bits

        def step(_: Ranges, found: Known) -> tuple[Many, Many, Many]:
            one = found[place]
            exact, said = one.exact.to(scale), one.said.to(scale) + more
            low, high = _words(one.said, seen.line)
            first, last = (2 * (end >> drop) + 1 - (1 << (wide - drop)) for end in (low, high))
            said = said.meet(Many(first, last, 1 - drop - _lsb(seen.line)).to(scale))
            return said, (one.error.to(scale) + more).meet(said - exact), exact

        return step

    def fits(self, effort: int) -> int:
        """Show that a heap holds every sum there can be; return how many boxes it took."""
        seen = self.plain.seen[self.place]
        heap = self.graph.nodes[seen.word or 0]
        largest = seen.line.start + seen.line.step * ((1 << heap.bits) - 1)
        half = seen.line.step / 2  # words are whole steps

        def above(one: InBoxes) -> Words:
            scale = one.said.scale
            ends = seen.line.start - half, largest + half
            first, last = (int(end * Fraction(2) ** scale // 1) for end in ends)
            return np.maximum(one.said.high - last, first - one.said.low)

        for self.widest in (False, True):
            looked, where = self.cover(above, effort)
            if not where:
                return looked
        raise DoesNotHoldError(f"w{seen.word} may overflow{_at(where)}")

    def confirm(self, low: Fraction, high: Fraction, effort: int) -> int:
        """Show that the sum errs by no more than that; return how many boxes it took."""

        def above(one: InBoxes) -> Words:
            unit = Fraction(2) ** one.error.scale
            most, least = int(high * unit // 1), -int(-low * unit // 1)
            return np.maximum(one.error.high - most, least - one.error.low)

        looked, where = self.cover(above, effort)
        if where:
            raise NotCoveredError(f"{looked} boxes did not confirm it{_at(where)}")
        return looked

    def cover(self, above: Callable[[InBoxes], Words], effort: int) -> tuple[int, dict[int, int]]:
        """Halve boxes until nothing is above what is claimed; return how many were looked at.

        With it words for which that does not end, if there are any.
        """
        ends = np.array([(first, last) for _, first, last in self.inputs], np.int64)
        waiting, looked = [(ends.reshape(-1, 2)[:, :1], ends.reshape(-1, 2)[:, 1:])], 0
        while waiting:
            low, high = waiting.pop()
            looked += low.shape[1]
            left = np.broadcast_to(above(self.known(low, high)), low.shape[1]) > 0
            low, high = low[:, left], high[:, left]
            if not low.shape[1]:
                continue
            single = (low == high).all(axis=0)
            if single.any() or looked > effort:
                k = int(np.argmax(single)) if single.any() else 0
                return looked, {word: int(low[n, k]) for n, (word, _, _) in enumerate(self.inputs)}
            low, high = _halved(low, high, self._axis(low, high, above))
            some = [slice(k, k + AT_ONCE) for k in range(0, low.shape[1], AT_ONCE)]
            waiting += [(low[:, one], high[:, one]) for one in some]
        return looked, {}

    def _axis(self, low: Words, high: Words, above: Callable[[InBoxes], Words]) -> int:
        """Return the input whose halves leave least above what is claimed."""
        some = np.linspace(0, low.shape[1] - 1, min(low.shape[1], TRIED)).astype(np.int64)
        low, high = low[:, some], high[:, some]
        axes = [k for k in range(len(low)) if (low[k] < high[k]).any()]
        tried = [_halved(low, high, k) for k in axes]
        lows, highs = (np.concatenate([one[side] for one in tried], axis=1) for side in (0, 1))
        found = np.broadcast_to(above(self.known(lows, highs)), lows.shape[1])
        ends = np.cumsum([0, *(one[0].shape[1] for one in tried)])
        sums = [
            float(np.maximum(found[a:b], 0).astype(np.float64).sum()) for a, b in pairwise(ends)
        ]
        own = [last - first + 1 for _, first, last in self.inputs]
        wide = [-int((high[k] - low[k]).sum() << 16) // own[k] for k in axes]  # of what it was
        wide = wide if self.widest else [0] * len(axes)
        return min(zip(sums, wide, axes, strict=True))[2]


def _lsb(line: Line) -> int:
    """Return the power of two that a step is."""
    return line.step.numerator.bit_length() - line.step.denominator.bit_length()


def _words(said: Many, line: Line) -> tuple[Words, Words]:
    """Return the first and the last word that stands for what is said."""
    start, shift = fixed(exactly(line.start), said.scale), said.scale + _lsb(line)
    if shift < 0:
        raise NotCoveredError("a sum is too coarse to be looked at in boxes")
    return -((start.high - said.low) >> shift), (said.high - start.low) >> shift


def _at(where: Mapping[int, int]) -> str:
    return ": where " + ", ".join(f"w{k} = {value}" for k, value in where.items())


def _halved(low: Words, high: Words, axis: int) -> tuple[Words, Words]:
    """Return both halves of boxes along an input; a single word is kept once."""
    middle = (low[axis] + high[axis]) >> 1
    more = middle < high[axis]
    first, last = low[:, more].copy(), high.copy()
    first[axis], last[axis] = middle[more] + 1, middle
    return np.concatenate([low, first], axis=1), np.concatenate([last, high[:, more]], axis=1)
