"""The plain bound, node by node: what the exact function is, what words say, how much more that is.

Words of inputs and tables are looked at value by value: for each the exact function lies in an
interval (`near`). So what a table adds to a sum, dropped bits included, has what it should beside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.checker.folder import DoesNotHoldError
from boolcomp.checker.graph import all_words
from boolcomp.checker.problem import Curve, Given, Powers, Total, Turns, Waves, is_angle
from boolcomp.checker.spans import (
    NOTHING,
    ONE,
    PLACES,
    Span,
    balls,
    between,
    exactly,
    of_ball,
    two_pi,
    waves_at,
)
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    PartialProducts,
    Turn,
    part_reads,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flint import arb
    from numpy.typing import NDArray

    from boolcomp.checker.graph import Claim, InputCells, OutputSteps, Place
    from boolcomp.words.graph import HeapPart, WordGraph

    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# What a word graph does with whole numbers: exactly, at many values of its words at once.
# --------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """What a word stands for: start + step · word."""

    start: Fraction
    step: Fraction


def line_of(graph: WordGraph, place: int) -> Line:
    """Return what a word that is no angle of an input stands for."""
    scale, bits = graph.scales[place], graph.nodes[place].bits
    step = Fraction(2) ** scale.lsb
    return Line(Fraction(scale.offset) - step * ((1 << bits) - 1) / 2, step)


def added(graph: WordGraph, part: HeapPart | Turn, words: Mapping[int, Words]) -> Words:
    """Return what a part puts into its sum."""
    nodes = graph.nodes
    if isinstance(part, Turn):
        return _row(words[part.node], nodes[part.node].bits, nodes[part.node].bits - part.read,
                    negative=part.negative) << part.shift  # fmt: skip
    if isinstance(part, Bits):
        bits = nodes[part.node].bits
        return _row(words[part.node], bits, part.drop, negative=part.negative) << part.column
    a, b = words[part.a] >> part.drop_a, words[part.b]
    total = np.zeros_like(a)
    for digit in range(nodes[part.a].bits - part.drop_a):
        plain = _row(b, nodes[part.b].bits, part.drop_b, negative=part.negative)
        other = _row(b, nodes[part.b].bits, part.drop_b, negative=not part.negative)
        row, column = np.where(a >> digit & 1, plain, other), part.column + digit
        total = total + (row << column if column >= 0 else row >> -column)
    return total


def _row(word: Words, bits: int, drop: int, *, negative: bool) -> Words:
    """Return the bits of a word above those that are dropped, inverted where it is negative."""
    kept = word >> drop
    return ((1 << (bits - drop)) - 1) - kept if negative else kept


def most(graph: WordGraph, part: HeapPart | Turn) -> int:
    """Return what a part puts into its sum where all its bits are 1."""
    if isinstance(part, Turn):
        return ((1 << part.read) - 1) << part.shift
    if isinstance(part, Bits):
        return ((1 << (graph.nodes[part.node].bits - part.drop)) - 1) << part.column
    return sum(pairs << column for column, pairs in columns(graph, part) if column >= 0)


def columns(graph: WordGraph, part: HeapPart) -> list[tuple[int, int]]:
    """Return how many products of digits stand in every column, those below 0 too."""
    if isinstance(part, Bits):
        return []
    a, b = graph.nodes[part.a].bits - part.drop_a, graph.nodes[part.b].bits - part.drop_b
    return [
        (part.column + k, sum(0 <= k - i < b for i in range(a))) for k in range(a + b - 1)
    ]  # fmt: skip


def entries(graph: WordGraph, place: int, source: int, words: Words) -> Words:
    """Return a table's entries at words of what it reads."""
    node = graph.nodes[place]
    if not isinstance(node, Lookup) or node.source != source:
        raise DoesNotHoldError(f"word w{place} is no table of w{source}")
    read = words >> (graph.nodes[source].bits - node.read)
    index = np.zeros_like(read)
    for count, bit in enumerate(node.picked):
        index |= (read >> bit & 1) << count
    return np.asarray(node.entries, np.int64)[index]


def word_of(graph: WordGraph, place: int, words: Mapping[int, Words]) -> Words:
    """Return a word that is no input, of the words that it reads."""
    node = graph.nodes[place]
    if isinstance(node, InputWord):
        raise DoesNotHoldError(f"word w{place} is an input that nothing was said of")
    if isinstance(node, Lookup):
        return entries(graph, place, node.source, words[node.source])
    total = np.full(1, node.constant, np.int64)
    for part in node.turns if isinstance(node, Angles) else node.parts:
        total = total + added(graph, part, words)
    if isinstance(node, Heap) and not node.wraps:
        return total  # that it does not overflow is proved
    return total & ((1 << node.bits) - 1)


# --------------------------------------------------------------------------------------------------
# Functions over an interval around every word: their values at both ends, and how they bend.
#
# A function lies within the chord between two places, but for its largest second derivative times
# an eighth of their squared distance.
# --------------------------------------------------------------------------------------------------


MONOTONE = ("exp", "atan", "tanh", "sqrt", "log", "asin", "acos")
DOMAIN = {"sqrt": (0.0, math.inf), "log": (0.0, math.inf), "asin": (-1.0, 1.0),
          "acos": (-1.0, 1.0)}  # fmt: skip


def near_words(function: Waves | Powers | Curve, x: Span, exact: Span) -> Span:
    """Return a function over every interval of arrays; what x may be as a whole lies in `exact`.

    An angle is in turns, and may be whole turns more.
    """
    if isinstance(function, Waves):
        return waves_near(function, x)
    if isinstance(function, Powers):
        return _powers_near(function, x)
    found = [_curve_near(function, low, high, exact) for low, high in zip(x.low, x.high,
             strict=True)]  # fmt: skip
    return Span(
        *(np.array([getattr(one, end) for one in found], object) for end in ("low", "high"))
    )


def waves_near(function: Waves, x: Span) -> Span:
    """Return waves over every interval of an angle."""
    tall = bends = still = NOTHING
    parts = [(k, exactly(real), exactly(imaginary)) for k, real, imaginary in function.parts]
    for k, a, b in parts:
        size = Span(0, math.isqrt(a.size**2 + b.size**2) + 1)
        tall, still = (tall + size, still) if k else (tall, still + a)
        bends = bends + size * (two_pi() * two_pi()).times(Fraction(k * k))
    found = _within(waves_at(parts, x.low), waves_at(parts, x.high), bends, x)
    return found.meet(still + tall.around)


def _within(one: Span, two: Span, bends: Span, x: Span) -> Span:
    wide = Span(x.high - x.low, x.high - x.low)
    beside = (bends.around * wide * wide).times(Fraction(1, 8))
    return one.join(two) + beside


def _powers_near(function: Powers, x: Span) -> Span:
    c = [exactly(each) for each in function.coefficients]
    bends = _horner([each.times(Fraction(k * (k - 1))) for k, each in enumerate(c)][2:], x.hull)
    one, two = (_horner(c, Span(end, end)) for end in (x.low, x.high))
    return _within(one, two, bends, x)


def _horner(coefficients: Sequence[Span], x: Span) -> Span:
    total = Span(x.low * 0, x.high * 0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def _curve_near(curve: Curve, low: int, high: int, exact: Span) -> Span:
    """Return a curve over an interval; of an angle, over those whole turns away that may be."""
    if not curve.angle:
        return _curve(curve, Span(low, high))
    found = None
    for turn in range(-((high - exact.low) // ONE), (exact.high - low) // ONE + 1):
        here = Span(max(low + turn * ONE, exact.low), min(high + turn * ONE, exact.high))
        if here.low <= here.high:
            value = _curve(curve, here)
            found = found.join(value) if found else value
    return found or _curve(curve, Span(low, high))


def _curve(curve: Curve, x: Span) -> Span:
    arb = balls()
    place = [arb(end) * arb(2) ** -PLACES for end in (x.low, x.high)]
    inside = place[0].union(place[1])
    if curve.angle:
        inside = inside * 2 * arb.pi()
    inside = inside * arb(curve.unit) + arb(curve.middle)
    inside = inside.max(arb(curve.low)).min(arb(curve.high))
    return of_ball(_evaluated(curve, inside) * arb(curve.factor))


def _evaluated(curve: Curve, x: arb) -> arb:
    values: list[arb] = []
    for step in curve.steps:
        if step.kind == "constant":
            values.append(balls()(step.value))
        elif step.kind == "x":
            values.append(x)
        else:
            values.append(_operation(step.kind, step.operands, [values[k] for k in step.operands]))
    return values[-1]


def _operation(name: str, places: Sequence[int], read: Sequence[arb]) -> arb:
    a, arb = read[0], balls()
    if name in MONOTONE:
        ends = [a.lower(), a.upper()]
        least, largest = DOMAIN.get(name, (-math.inf, math.inf))  # rounding may put it beside
        ends = [end.max(arb(least)).min(arb(largest)) for end in ends]
        return _ends(*(getattr(end, name)() for end in ends))
    if name == "mul" and places[0] == places[1]:
        size = abs(a)
        return _ends(size.lower().max(arb(0)) ** 2, size.upper() ** 2)
    if name in ("sign", "step"):
        least = -1 if name == "sign" else 0
        low = 1 if a.lower() > 0 else 0 if a.lower() >= 0 else least
        return _ends(arb(low), arb(1 if a.upper() > 0 else 0 if a.upper() >= 0 else least))
    if name == "wrap":
        turns = (a / (2 * arb.pi()) + arb(0.5)).floor()
        return a - 2 * arb.pi() * turns if turns.is_exact() else _ends(-arb.pi(), arb.pi())
    simple: dict[str, Any] = {
        "add": lambda: a + read[1], "sub": lambda: a - read[1], "mul": lambda: a * read[1],
        "div": lambda: a / read[1], "neg": lambda: -a, "sin": a.sin, "cos": a.cos,
        "abs": lambda: abs(a),
        "atan2": lambda: arb.atan2(a, read[1]),
    }  # fmt: skip
    if name not in simple:
        raise DoesNotHoldError(f"a function has a step {name!r}, which is not known")
    return simple[name]()  # type: ignore[no-any-return]  # one of the above


def _ends(low: arb, high: arb) -> arb:
    return low.union(high)


# --------------------------------------------------------------------------------------------------
# The plain bound, node by node: what the exact function is, what words say, how much more that is.
# --------------------------------------------------------------------------------------------------


TIE = Fraction(1, 1 << 28)  # of a cell: how far beside a border encoders may round
UNITS = Line(Fraction(0), Fraction(1))
PIECES = 64  # of what a function that no word stands for may read
MOST_VALUES = 1 << 20  # of a word that is looked at value by value


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What is known of a function: its exact value, what its words say, how much more that is.

    `word` is the word whose values `at` are looked at, `near` the exact function at each, `words`
    all of its words there; of a sum they are made when they are asked for.
    """

    exact: Span
    said: Span
    error: Span
    word: int | None = None
    line: Line = UNITS
    at: Words | None = None
    near: Span = NOTHING
    words: Mapping[int, Words] | None = None

    def turned(self, by: int) -> Seen:
        """Return the same in units that are 2^by as large."""
        part = Fraction(1, 1 << by)
        line = Line(self.line.start * part, self.line.step * part)
        exact, said, error = (x.times(part) for x in (self.exact, self.said, self.error))
        return replace(self, exact=exact, said=said, error=error, line=line)


class Plain:
    """Goes through a claim; `overflow` are the heaps of which that is not ruled out."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.graph = claim, claim.graph
        self.overflow: list[int] = []
        self.outputs = {one.node for one in claim.outputs}
        self.seen: list[Seen] = []
        for place, function in enumerate(claim.functions):
            if isinstance(function, Given):
                found = self._given(function, claim.inputs[function.name], claim.places[place])
            elif isinstance(function, Turns):
                found = self._turns(function, claim.places[place])
            elif isinstance(function, Total):
                found = self._sum(place, function, claim.places[place])
            else:
                found = self._table(place)
            self.seen.append(found)

    def error(self, output: OutputSteps, column: int) -> Span:
        """Return how much more an output's word says than what is exact, in steps."""
        result = self.graph.results[column]
        heap = self.graph.nodes[result.node]
        if self.claim.places[output.node].words != (result.node,) or not isinstance(heap, Heap):
            raise DoesNotHoldError(f"{output.name} is not w{result.node}")
        if self.graph.scales[result.node].lsb != -result.drop:
            raise DoesNotHoldError(f"{output.name}: its word does not count steps")
        half = Fraction(1, 2) - Fraction(1, 2 << result.drop)
        moved = self.moved(output, column)
        found = self.seen[output.node].error + between(moved - half, moved + half)
        if result.bits < heap.bits - result.drop:  # it may saturate: half a step beyond the last
            found = found.join(between(Fraction(-1, 2), Fraction(1, 2)))
        if output.rest is not None:  # where it is held at zero
            found = found.join(-Plain(self.claim.within(output.rest)).seen[output.node].exact)
        return found

    def moved(self, output: OutputSteps, column: int) -> Fraction:
        """Return by how many steps an output's decoder says more than the middles of cells."""
        return output.shift - (Fraction(1, 2) if self.graph.results[column].tread else 0)

    def _given(self, function: Given, given: InputCells, place: Place) -> Seen:
        if not place.words:
            ends = given.allowed.low, given.allowed.high
            near = Span(*(np.array([end], object) for end in ends))
            return Seen(given.allowed, given.allowed, given.allowed - given.allowed, near=near)
        (word,) = place.words
        node = self.graph.nodes[word]
        if not isinstance(node, InputWord) or node.name != function.name:
            raise DoesNotHoldError(f"w{word} is not the input {function.name}")
        line, count = line_of(self.graph, word), 1 << node.bits
        unit = Fraction(1)
        if function.angle:
            unit = Fraction(1, given.cells << given.part)
            step = Fraction(1, count << given.part)
            line = Line(step / 2 - Fraction(1, 2), step)
        if line.step * count != unit * given.cells:
            raise DoesNotHoldError(f"{function.name} has {given.cells} cells, and w{word} others")
        at, near = cells(given, line, count, unit)
        said = values(line, at)
        exact = near.hull if given.exact and not given.wraps else given.allowed
        return Seen(exact, said.hull, (said - near).hull, word, line, at, near, {word: at})

    def angle(self, place: int) -> Seen:
        """Return what is known of an angle in turns."""
        turning = getattr(self.claim.functions[place], "turning", 0)
        return self.seen[place].turned(turning) if turning else self.seen[place]

    def by_value(self, place: int, *, angle: bool) -> Seen:
        """Return what is known of a source, value by value of its word."""
        seen = self.angle(place) if angle else self.seen[place]
        if seen.at is not None or seen.word is None:
            return seen
        around = 1 / seen.line.step if angle else None
        count = 1 << self.graph.nodes[seen.word].bits
        low, high = ((end - seen.line.start) / seen.line.step for end in seen.said.ends)
        first, last = -(-low.numerator // low.denominator), high.numerator // high.denominator
        if around is None:
            at = np.arange(max(0, first), min(count - 1, last) + 1, dtype=np.int64)
        elif last - first + 1 >= around:
            at = np.arange(min(count, MOST_VALUES), dtype=np.int64)
        else:
            at = np.unique(np.arange(first, last + 1, dtype=np.int64) % int(around))
            at = at[at < count]
        if not len(at) or count > MOST_VALUES:
            raise DoesNotHoldError(f"w{seen.word} has no values, or too many to look at")
        near = values(seen.line, at) - seen.error
        return replace(seen, at=at, near=near, words={seen.word: at})

    def _turns(self, turns: Turns, place: Place) -> Seen:
        read = [self.angle(k) for _, k in turns.items]
        exact = error = NOTHING
        for (multiple, _), one in zip(turns.items, read, strict=True):
            exact = exact + one.exact.times(Fraction(multiple))
        if not place.words:
            return Seen(exact, exact, NOTHING, near=_alone(exact))
        (word,) = place.words
        node = self.graph.nodes[word]
        if not isinstance(node, Angles):
            raise DoesNotHoldError(f"w{word} is no sum of angles")
        line, constant = line_of(self.graph, word), Fraction(node.constant)
        if line.step * (1 << node.bits) != 1:
            raise DoesNotHoldError(f"w{word} does not span a turn")
        if {turn.node for turn in node.turns} - {one.word for one in read}:
            raise DoesNotHoldError(f"w{word} reads other angles than it is said to add")
        if len({one.word for one in read if one.word is not None}) < len(
            [one for one in read if one.word is not None]
        ):
            raise DoesNotHoldError(f"w{word} adds an angle twice")
        for (multiple, _), one in zip(turns.items, read, strict=True):
            mine = [turn for turn in node.turns if turn.node == one.word]
            factor = Fraction(multiple)
            if one.at is not None and one.words is not None:
                put = sum((added(self.graph, turn, one.words) for turn in mine), one.at * 0)
                error = error + (integers(put).times(line.step) - one.near.times(factor)).hull
                continue
            share = _Share(self, line.step)
            for turn in mine:
                share.row(one, turn)
            error = error + share.error(one, factor)
        error = error + exactly(line.start + constant * line.step)
        error = error - exactly(round(sum(error.ends) / 2))
        return Seen(exact, exact + error, error, word, line)

    def _table(self, place: int) -> Seen:
        function, stands = self.claim.functions[place], self.claim.places[place]
        if isinstance(function, Given | Turns | Total):
            raise TypeError("no table")
        angle = is_angle(self.claim.functions[function.source])
        source = self.by_value(function.source, angle=angle)
        if source.word is None or source.at is None:
            exact = near_words(function, _cut(source.exact), source.exact).hull
            return Seen(exact, exact, NOTHING, near=_alone(exact))
        near = near_words(function, source.near, source.exact)
        if not stands.words:  # known by value all the same
            return Seen(near.hull, near.hull, NOTHING, source.word, UNITS, source.at, near)
        words = {k: entries(self.graph, k, source.word, source.at) for k in all_words(stands)}
        said = Span(source.at.astype(object) * 0, source.at.astype(object) * 0)
        for k in stands.words:
            said = said + values(line_of(self.graph, k), words[k])
        if stands.product:
            a, b = (about_zero(self.graph, k, words[k], 0) for k in stands.product)
            said = said + a * b
        return Seen(near.hull, said.hull, (said - near).hull, source.word, source.line, source.at,
                    near, words)  # fmt: skip

    def _sum(self, place: int, function: Total, stands: Place) -> Seen:
        exact = exactly(function.constant)
        for factor, read in function.addends:
            value = self.seen[read[0]].exact
            for one in read[1:]:
                value = value * self.seen[one].exact
            exact = exact + value.times(Fraction(factor))
        if not stands.words:
            return Seen(exact, exact, NOTHING, near=_alone(exact))
        (word,) = stands.words
        heap = self.graph.nodes[word]
        if not isinstance(heap, Heap) or heap.wraps != (function.turning > 0):
            raise DoesNotHoldError(f"w{word} is no such sum")
        line = line_of(self.graph, word)
        if place in self.outputs:  # what its decoder says knows of no offset
            line = Line(line.start - Fraction(self.graph.scales[word].offset), line.step)
        put, error = self._heap(function, stands, heap, line)
        if function.turning:
            turn = 1 << function.turning
            if line.step * (1 << heap.bits) != turn:
                raise DoesNotHoldError(f"w{word} does not span a turn")
            error = error - exactly(turn * round(sum(error.ends) / 2 / turn))
            return Seen(exact, exact + error, error, word, line)
        said = put.meet(exact + error)
        largest = line.start + line.step * ((1 << heap.bits) - 1)
        if said.ends[0] < line.start or said.ends[1] > largest:
            self.overflow.append(word)
        return Seen(exact.meet(said - error), said, error, word, line)

    def _heap(self, function: Total, stands: Place, heap: Heap, line: Line) -> tuple[Span, Span]:
        """Return what a heap's word says, and how much more that is than what it stands for."""
        if len(stands.owners) != len(heap.parts) or not all(
            0 <= k < len(function.addends) for k in stands.owners
        ):
            raise DoesNotHoldError(f"parts of w{stands.words[0]} are those of no addend")
        put = exactly(heap.constant * line.step + line.start)
        error = put - exactly(function.constant)
        for k, (factor, read) in enumerate(function.addends):
            share = _Share(self, line.step)
            mine = [p for p, owner in zip(heap.parts, stands.owners, strict=True) if owner == k]
            if len(read) == 1:
                share.addend(self.claim.places[read[0]], self.seen[read[0]], mine, Fraction(factor))
            else:
                share.product(read, mine, Fraction(factor))
            put, error = put + share.put, error + share.missed
        beside = self.claim.beside(stands.words[0]).times(line.step)
        return put + beside, error + beside


class _Share:
    """What the parts of an addend put into a heap, and how much more that is than the addend."""

    def __init__(self, plain: Plain, step: Fraction) -> None:
        self.plain, self.graph, self.step = plain, plain.graph, step
        self.put = self.missed = self.lost = NOTHING
        self.times = Fraction(0)

    def addend(
        self, stands: Place, seen: Seen, parts: Sequence[HeapPart], factor: Fraction
    ) -> None:
        """Take the parts of factor · function."""
        for part in parts:
            grid = isinstance(part, PartialProducts)
            read = part_reads(part)
            if read != stands.product if grid else read[0] not in stands.words:
                raise DoesNotHoldError(f"a part of a sum is not its addend's: {part}")
        if not parts:
            self.missed = -seen.exact.times(factor)
        elif seen.words is not None and seen.at is not None:
            put = sum((added(self.graph, part, seen.words) for part in parts), seen.at * 0)
            self.put = integers(put).times(self.step).hull
            self.missed = (integers(put).times(self.step) - seen.near.times(factor)).hull
        else:
            for part in parts:
                if isinstance(part, Bits):
                    self.row(seen, part)
            self.missed = self.error(seen, factor)

    def row(self, seen: Seen, part: Bits | Turn) -> None:
        """Take a word above its lowest bits, of which nothing is known."""
        weight, beside = row_of(self.graph, seen, self.step, part)
        self.times += weight
        self.lost = self.lost + beside
        self.put = self.put + seen.said.times(weight) + beside

    def error(self, seen: Seen, factor: Fraction) -> Span:
        """Return how much more rows say than factor · function."""
        return self.lost + seen.error.times(self.times) + seen.exact.times(self.times - factor)

    def product(self, read: Sequence[int], parts: Sequence[HeapPart], factor: Fraction) -> None:
        """Take the part of factor · α · β: A·B - α·β = A·(B - β) + β·(A - α), or the other way."""
        seen = [self.plain.seen[k] for k in read]
        alpha, beta = seen[0].exact, seen[1].exact
        if not parts:
            self.missed = -(alpha * beta).times(factor)
            return
        part = parts[0]
        words = tuple(k for one in read for k in all_words(self.plain.claim.places[one]))
        if len(parts) > 1 or not isinstance(part, PartialProducts) or (part.a, part.b) != words:
            raise DoesNotHoldError(f"a product multiplies other words than w{words}: {part}")
        (a, da), (b, db) = (
            self._operand(one, word, drop)
            for one, word, drop in zip(seen, words, (part.drop_a, part.drop_b), strict=True)
        )
        times, beside = product_of(self.graph, part, self.step)
        error = (a * db + beta * da).meet(b * da + alpha * db)
        self.put = (a * b).times(times) + beside
        self.missed = error.times(times) + (alpha * beta).times(times - factor) + beside

    def _operand(self, seen: Seen, word: int, drop: int) -> tuple[Span, Span]:
        """Return what digits above the lowest say, and how much more that is than what is exact."""
        if seen.words is not None:
            said = about_zero(self.graph, word, seen.words[word], drop)
            return said.hull, (said - seen.near).hull
        half = Fraction((1 << drop) - 1, 2) * seen.line.step
        beside = between(-half, half) - exactly(Fraction(self.graph.scales[word].offset))
        return seen.said + beside, seen.error + beside


def row_of(
    graph: WordGraph, seen: Seen, step: Fraction, part: Bits | Turn
) -> tuple[Fraction, Span]:
    """Return how often a part adds what its word says, and what it puts there beside that."""
    if seen.word is None:
        raise DoesNotHoldError("a part of a sum reads a word that is not there")
    bits = graph.nodes[seen.word].bits
    drop = part.drop if isinstance(part, Bits) else bits - part.read
    column = part.column if isinstance(part, Bits) else part.shift
    sign, size = -1 if part.negative else 1, step * Fraction(2) ** (column - drop)
    weight = sign * size / seen.line.step
    full = step * (((1 << (bits - drop)) - 1) << column) * part.negative
    lost = between(0, size * ((1 << drop) - 1)).times(Fraction(sign))
    return weight, exactly(full - weight * seen.line.start) - lost


def product_of(graph: WordGraph, part: PartialProducts, step: Fraction) -> tuple[Fraction, Span]:
    """Return how often a part adds the product of its words, and what it puts there beside that."""
    column = part.column + 1 - part.drop_a - part.drop_b
    column -= graph.scales[part.a].lsb + graph.scales[part.b].lsb
    times = step * Fraction(2) ** column * (-1 if part.negative else 1)
    gone = sum((n * Fraction(2) ** (c - 1) for c, n in columns(graph, part) if c < 0), Fraction(0))
    return times, between(-gone * step, gone * step) + exactly(step * most(graph, part) / 2)


def about_zero(graph: WordGraph, place: int, words: Words, drop: int) -> Span:
    """Return what the digits of a word say above the lowest, but for its offset."""
    line, offset = line_of(graph, place), Fraction(graph.scales[place].offset)
    middle = Fraction((1 << drop) - 1, 2) * line.step - offset
    return values(Line(line.start + middle, line.step), words >> drop << drop)


def _cut(span: Span) -> Span:
    """Return a span in pieces."""
    places = [span.low + (span.high - span.low) * k // PIECES for k in range(PIECES + 1)]
    return Span(np.array(places[:-1], object), np.array(places[1:], object))


def _alone(span: Span) -> Span:
    return Span(np.array([span.low], object), np.array([span.high], object))


def integers(words: Words) -> Span:
    """Return whole numbers."""
    units = words.astype(object) * ONE
    return Span(units, units)


def values(line: Line, words: Words) -> Span:
    """Return what words stand for."""
    start = exactly(line.start)
    return integers(words).times(line.step) + start


def cells(given: InputCells, line: Line, count: int, unit: Fraction) -> tuple[Words, Span]:
    """Return the values that an input's word may have, and the cell of each."""
    low, high = given.allowed.ends
    first, last = 0, count - 1
    if not given.wraps:
        ends = (low - line.start) / line.step - TIE, (high - line.start) / line.step + TIE
        first, last = (min(max(0, (end + Fraction(1, 2)).__floor__()), count - 1) for end in ends)
    at = np.arange(first, last + 1, dtype=np.int64)
    half = (line.step - unit) / 2 if given.exact else line.step * (Fraction(1, 2) + TIE)
    near = values(line, at) + between(-half, half)
    if given.exact or given.wraps:
        return at, near
    lows, highs = near.low, near.high
    if first == 0:
        lows[0] = min(lows[0], given.allowed.low)
    if last == count - 1:
        highs[-1] = max(highs[-1], given.allowed.high)
    lows, highs = np.maximum(lows, given.allowed.low), np.minimum(highs, given.allowed.high)
    return at, Span(np.minimum(lows, highs), np.maximum(lows, highs))
