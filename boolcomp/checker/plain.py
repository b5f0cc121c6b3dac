"""The plain bound: enclosures of exact values, word values and errors, node by node.

For every value of an input's or table's word, the exact function lies in an interval (`near`). The
error of a table's contribution to a sum, dropped bits included, is therefore enclosed value by
value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.checker.folder import DoesNotHoldError
from boolcomp.checker.graph import all_words
from boolcomp.checker.problem import (
    ClaimedCurve,
    ClaimedInput,
    ClaimedPowers,
    ClaimedTotal,
    ClaimedWaves,
    Turns,
    is_angle,
)
from boolcomp.checker.spans import (
    NOTHING,
    ONE,
    PLACES,
    IntegerSpan,
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

    from boolcomp.checker.graph import Claim, ClaimedWords, InputCells, OutputSteps
    from boolcomp.words.graph import HeapPart, WordGraph

    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# The integer arithmetic of a word graph: exact, for arrays of word values.
# --------------------------------------------------------------------------------------------------


class ClaimedLine(NamedTuple):
    """The value of a word: start + step · word."""

    start: Fraction
    step: Fraction


def line_of(graph: WordGraph, place: int) -> ClaimedLine:
    """Return the value of a word that is not an angle input."""
    scale, bits = graph.scales[place], graph.nodes[place].bits
    step = Fraction(2) ** scale.lsb
    return ClaimedLine(Fraction(scale.offset) - step * ((1 << bits) - 1) / 2, step)


def added(graph: WordGraph, part: HeapPart | Turn, words: Mapping[int, Words]) -> Words:
    """Return the contribution of a part to its sum."""
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
    """Return the bits of a word that are not dropped, inverted if negative."""
    kept = word >> drop
    return ((1 << (bits - drop)) - 1) - kept if negative else kept


def maximum(graph: WordGraph, part: HeapPart | Turn) -> int:
    """Return the contribution of a part to its sum if all its bits are 1."""
    if isinstance(part, Turn):
        return ((1 << part.read) - 1) << part.shift
    if isinstance(part, Bits):
        return ((1 << (graph.nodes[part.node].bits - part.drop)) - 1) << part.column
    return sum(pairs << column for column, pairs in columns(graph, part) if column >= 0)


def columns(graph: WordGraph, part: HeapPart) -> list[tuple[int, int]]:
    """Return the numbers of digit products by column, columns below 0 included."""
    if isinstance(part, Bits):
        return []
    a, b = graph.nodes[part.a].bits - part.drop_a, graph.nodes[part.b].bits - part.drop_b
    return [
        (part.column + k, sum(0 <= k - i < b for i in range(a))) for k in range(a + b - 1)
    ]  # fmt: skip


def entries(graph: WordGraph, place: int, source: int, words: Words) -> Words:
    """Return the entries of a table for words of its source."""
    node = graph.nodes[place]
    if not isinstance(node, Lookup) or node.source != source:
        raise DoesNotHoldError(f"word w{place} is no table of w{source}")
    if len(words) > 1 << (bits := graph.nodes[source].bits):
        return entries(graph, place, source, np.arange(1 << bits))[words]
    read = words >> (graph.nodes[source].bits - node.read)
    index = np.zeros_like(read)
    for count, bit in enumerate(node.picked):
        index |= (read >> bit & 1) << count
    return np.asarray(node.entries, np.int64)[index]


def word_of(graph: WordGraph, place: int, words: Mapping[int, Words]) -> Words:
    """Compute a word from its operands."""
    node = graph.nodes[place]
    if isinstance(node, InputWord):
        raise DoesNotHoldError(f"word w{place} is an input without a claim")
    if isinstance(node, Lookup):
        return entries(graph, place, node.source, words[node.source])
    total = np.full(1, node.constant, np.int64)
    for part in node.turns if isinstance(node, Angles) else node.parts:
        total = total + added(graph, part, words)
    if isinstance(node, Heap) and not node.wraps:
        return total  # proved not to overflow
    return total & ((1 << node.bits) - 1)


# --------------------------------------------------------------------------------------------------
# Functions over an interval around every word: values at both ends, and curvature.
#
# Between two points, a function deviates from its chord by at most an eighth of their squared
# distance times the maximum of its second derivative.
# --------------------------------------------------------------------------------------------------

MONOTONE = ("exp", "atan", "tanh", "sqrt", "log", "asin", "acos")
DOMAIN = {"sqrt": (0.0, math.inf), "log": (0.0, math.inf), "asin": (-1.0, 1.0),
          "acos": (-1.0, 1.0)}  # fmt: skip


def near_words(
    function: ClaimedWaves | ClaimedPowers | ClaimedCurve, x: IntegerSpan, exact: IntegerSpan
) -> IntegerSpan:
    """Enclose a function over every interval of x; `exact` encloses all values of x together.

    An angle is in turns; its intervals hold modulo a turn.
    """
    if isinstance(function, ClaimedWaves):
        return waves_near(function, x)
    if isinstance(function, ClaimedPowers):
        return _powers_near(function, x)
    found = [_curve_near(function, low, high, exact) for low, high in zip(x.low, x.high,
             strict=True)]  # fmt: skip
    return IntegerSpan(
        *(np.array([getattr(one, end) for one in found], object) for end in ("low", "high"))
    )


def waves_near(function: ClaimedWaves, x: IntegerSpan) -> IntegerSpan:
    """Enclose a sum of harmonics over every interval of an angle."""
    amplitude = curvature = constant = NOTHING
    parts = [(k, exactly(real), exactly(imaginary)) for k, real, imaginary in function.parts]
    for k, a, b in parts:
        size = IntegerSpan(0, math.isqrt(a.size**2 + b.size**2) + 1)
        amplitude, constant = (amplitude + size, constant) if k else (amplitude, constant + a)
        curvature = curvature + size * (two_pi() * two_pi()).times(Fraction(k * k))
    found = _within(waves_at(parts, x.low), waves_at(parts, x.high), curvature, x)
    return found.meet(constant + amplitude.around)


def _within(
    one: IntegerSpan, two: IntegerSpan, curvature: IntegerSpan, x: IntegerSpan
) -> IntegerSpan:
    distance = IntegerSpan(x.high - x.low, x.high - x.low)
    return one.join(two) + (curvature.around * distance * distance).times(Fraction(1, 8))


def _powers_near(function: ClaimedPowers, x: IntegerSpan) -> IntegerSpan:
    c = [exactly(each) for each in function.coefficients]
    curvature = _horner([each.times(Fraction(k * (k - 1))) for k, each in enumerate(c)][2:], x.hull)
    one, two = (_horner(c, IntegerSpan(end, end)) for end in (x.low, x.high))
    return _within(one, two, curvature, x)


def _horner(coefficients: Sequence[IntegerSpan], x: IntegerSpan) -> IntegerSpan:
    total = IntegerSpan(x.low * 0, x.high * 0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def _curve_near(curve: ClaimedCurve, low: int, high: int, exact: IntegerSpan) -> IntegerSpan:
    """Enclose a curve over an interval; for an angle, over all possible intervals modulo a turn."""
    if not curve.angle:
        return _curve(curve, IntegerSpan(low, high))
    found = None
    for turn in range(-((high - exact.low) // ONE), (exact.high - low) // ONE + 1):
        here = IntegerSpan(max(low + turn * ONE, exact.low), min(high + turn * ONE, exact.high))
        if here.low <= here.high:
            value = _curve(curve, here)
            found = found.join(value) if found else value
    return found or _curve(curve, IntegerSpan(low, high))


def _curve(curve: ClaimedCurve, x: IntegerSpan) -> IntegerSpan:
    arb = balls()
    place = [arb(end) * arb(2) ** -PLACES for end in (x.low, x.high)]
    inside = place[0].union(place[1])
    if curve.angle:
        inside = inside * 2 * arb.pi()
    inside = inside * arb(curve.unit) + arb(curve.middle)
    inside = inside.max(arb(curve.low)).min(arb(curve.high))
    return of_ball(_evaluated(curve, inside) * arb(curve.factor))


def _evaluated(curve: ClaimedCurve, x: arb) -> arb:
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
        least, largest = DOMAIN.get(name, (-math.inf, math.inf))  # rounding may leave the domain
        ends = [end.max(arb(least)).min(arb(largest)) for end in ends]
        low, high = (getattr(end, name)() for end in ends)
        return arb(low).union(arb(high))
    if name == "mul" and places[0] == places[1]:
        size = abs(a)
        return (size.lower().max(arb(0)) ** 2).union(size.upper() ** 2)
    if name in ("sign", "step"):
        least = -1 if name == "sign" else 0
        low = 1 if a.lower() > 0 else 0 if a.lower() >= 0 else least
        return arb(low).union(arb(1 if a.upper() > 0 else 0 if a.upper() >= 0 else least))
    if name == "wrap":
        turns = (a / (2 * arb.pi()) + arb(0.5)).floor()
        return a - 2 * arb.pi() * turns if turns.is_exact() else (-arb.pi()).union(arb.pi())
    simple: dict[str, Any] = {
        "add": lambda: a + read[1], "sub": lambda: a - read[1], "mul": lambda: a * read[1],
        "div": lambda: a / read[1], "neg": lambda: -a, "sin": a.sin, "cos": a.cos,
        "abs": lambda: abs(a),
        "atan2": lambda: arb.atan2(a, read[1]),
    }  # fmt: skip
    if name not in simple:
        raise DoesNotHoldError(f"a function has an unknown step {name!r}")
    return simple[name]()  # type: ignore[no-any-return]  # one of the above


# --------------------------------------------------------------------------------------------------
# The plain bound.
# --------------------------------------------------------------------------------------------------

TIE = Fraction(1, 1 << 28)  # of a cell: encoders may round values this near a border either way
UNITS = ClaimedLine(Fraction(0), Fraction(1))
PIECES = 64  # intervals of the argument of a function without words
MOST_VALUES = 1 << 20  # limit on the values of a word that is enumerated


@dataclass(frozen=True, slots=True, eq=False)
class CheckedFunction:
    """Enclosures of a function: its exact value, the value of its words, and their difference.

    If its `word` is enumerated, `at` has the values of the word, and `near` encloses the exact
    function at each. `words` has the values of all words of the function.
    """

    exact: IntegerSpan
    value: IntegerSpan
    error: IntegerSpan
    word: int | None = None
    line: ClaimedLine = UNITS
    at: Words | None = None
    near: IntegerSpan = NOTHING
    words: Mapping[int, Words] | None = None

    def turned(self, by: int) -> CheckedFunction:
        """Change to a unit that is 2^by as large."""
        part = Fraction(1, 1 << by)
        line = ClaimedLine(self.line.start * part, self.line.step * part)
        exact, value, error = (x.times(part) for x in (self.exact, self.value, self.error))
        return replace(self, exact=exact, value=value, error=error, line=line)


class PlainBound:
    """Enclosures of all functions of a claim; `overflow` lists words that sums may overflow."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.graph = claim, claim.graph
        self.overflow: list[int] = []
        self.outputs = {one.node for one in claim.outputs}
        self.seen: list[CheckedFunction] = []
        for place, function in enumerate(claim.functions):
            if isinstance(function, ClaimedInput):
                found = self._given(function, claim.inputs[function.name], claim.places[place])
            elif isinstance(function, Turns):
                found = self._turns(function, claim.places[place])
            elif isinstance(function, ClaimedTotal):
                found = self._sum(place, function, claim.places[place])
            else:
                found = self._table(place)
            self.seen.append(found)

    def error(self, output: OutputSteps, column: int) -> IntegerSpan:
        """Enclose the error of an output's word, in steps."""
        result = self.graph.results[column]
        heap = self.graph.nodes[result.node]
        if self.claim.places[output.node].words != (result.node,) or not isinstance(heap, Heap):
            raise DoesNotHoldError(f"{output.name} is not w{result.node}")
        if self.graph.scales[result.node].lsb != -result.drop:
            raise DoesNotHoldError(f"{output.name}: its word does not count steps")
        found = self.seen[output.node].error + self.rounding(output, column)
        return self.widened(output, column, found)

    def rounding(self, output: OutputSteps, column: int) -> IntegerSpan:
        """Enclose the value of an output's word minus that of its sum."""
        half = Fraction(1, 2) - Fraction(1, 2 << self.graph.results[column].drop)
        moved = self.moved(output, column)
        return between(moved - half, moved + half)

    def moved(self, output: OutputSteps, column: int) -> Fraction:
        return output.shift - (Fraction(1, 2) if self.graph.results[column].tread else 0)

    def widened(self, output: OutputSteps, column: int, found: IntegerSpan) -> IntegerSpan:
        """Extend an output's error by that of saturated words, and of those held at zero."""
        result = self.graph.results[column]
        if result.bits < self.graph.nodes[result.node].bits - result.drop:
            found = found.join(between(Fraction(-1, 2), Fraction(1, 2)))  # beyond the last cell
        if output.rest is not None:
            found = found.join(-PlainBound(self.claim.within(output.rest)).seen[output.node].exact)
        return found

    def _given(
        self, function: ClaimedInput, given: InputCells, place: ClaimedWords
    ) -> CheckedFunction:
        if not place.words:
            x = given.allowed
            return CheckedFunction(x, x, x - x, near=_alone(x))
        (word,) = place.words
        node = self.graph.nodes[word]
        if not isinstance(node, InputWord) or node.name != function.name:
            raise DoesNotHoldError(f"w{word} is not the input {function.name}")
        line, count = line_of(self.graph, word), 1 << node.bits
        unit = Fraction(1)
        if function.angle:
            unit = Fraction(1, given.cells << given.part)
            step = Fraction(1, count << given.part)
            line = ClaimedLine(step / 2 - Fraction(1, 2), step)
        if line.step * count != unit * given.cells:
            raise DoesNotHoldError(f"{function.name} has {given.cells} cells, but w{word} others")
        at, near = cells(given, line, count, unit)
        value = values(line, at)
        exact = near.hull if given.exact and not given.wraps else given.allowed
        return CheckedFunction(
            exact, value.hull, (value - near).hull, word, line, at, near, {word: at}
        )

    def angle(self, place: int) -> CheckedFunction:
        """Return the enclosures of an angle, in turns."""
        turning = getattr(self.claim.functions[place], "turning", 0)
        return self.seen[place].turned(turning) if turning else self.seen[place]

    def by_value(self, place: int, *, angle: bool) -> CheckedFunction:
        """Return the enclosures of a source with its word enumerated."""
        seen = self.angle(place) if angle else self.seen[place]
        if seen.at is not None or seen.word is None:
            return seen
        around = 1 / seen.line.step if angle else None
        count = 1 << self.graph.nodes[seen.word].bits
        low, high = ((end - seen.line.start) / seen.line.step for end in seen.value.ends)
        first, last = -(-low.numerator // low.denominator), high.numerator // high.denominator
        if around is None:
            at = np.arange(max(0, first), min(count - 1, last) + 1, dtype=np.int64)
        elif last - first + 1 >= around:
            at = np.arange(min(count, MOST_VALUES), dtype=np.int64)
        else:
            at = np.unique(np.arange(first, last + 1, dtype=np.int64) % int(around))
            at = at[at < count]
        if not len(at) or count > MOST_VALUES:
            raise DoesNotHoldError(f"w{seen.word} has no values, or more than {MOST_VALUES}")
        near = values(seen.line, at) - seen.error
        return replace(seen, at=at, near=near, words={seen.word: at})

    def _turns(self, turns: Turns, place: ClaimedWords) -> CheckedFunction:
        read = [self.angle(k) for _, k in turns.items]
        exact = error = NOTHING
        for (multiple, _), one in zip(turns.items, read, strict=True):
            exact = exact + one.exact.times(Fraction(multiple))
        if not place.words:
            return CheckedFunction(exact, exact, NOTHING, near=_alone(exact))
        (word,) = place.words
        node = self.graph.nodes[word]
        if not isinstance(node, Angles):
            raise DoesNotHoldError(f"w{word} is no sum of angles")
        line, constant = line_of(self.graph, word), Fraction(node.constant)
        if line.step * (1 << node.bits) != 1:
            raise DoesNotHoldError(f"w{word} does not span a turn")
        if {turn.node for turn in node.turns} - {one.word for one in read}:
            raise DoesNotHoldError(f"w{word} reads angles that its node does not add")
        words = [one.word for one in read if one.word is not None]
        if len(set(words)) < len(words):
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
        return CheckedFunction(exact, exact + error, error, word, line)

    def _table(self, place: int) -> CheckedFunction:
        function, claimed = self.claim.functions[place], self.claim.places[place]
        if isinstance(function, ClaimedInput | Turns | ClaimedTotal):
            raise TypeError("no table")
        angle = is_angle(self.claim.functions[function.source])
        source = self.by_value(function.source, angle=angle)
        if source.word is None or source.at is None:
            exact = near_words(function, _cut(source.exact), source.exact).hull
            return CheckedFunction(exact, exact, NOTHING, near=_alone(exact))
        near = near_words(function, source.near, source.exact)
        if not claimed.words:  # enumerated all the same
            return CheckedFunction(
                near.hull, near.hull, NOTHING, source.word, UNITS, source.at, near
            )
        words = {k: entries(self.graph, k, source.word, source.at) for k in all_words(claimed)}
        value = IntegerSpan(source.at.astype(object) * 0, source.at.astype(object) * 0)
        for k in claimed.words:
            value = value + values(line_of(self.graph, k), words[k])
        if claimed.product:
            a, b = (about_zero(self.graph, k, words[k], 0) for k in claimed.product)
            value = value + a * b
        return CheckedFunction(
            near.hull,
            value.hull,
            (value - near).hull,
            source.word,
            source.line,
            source.at,
            near,
            words,
        )

    def _sum(self, place: int, function: ClaimedTotal, claimed: ClaimedWords) -> CheckedFunction:
        exact = exactly(function.constant)
        for factor, read in function.addends:
            value = self.seen[read[0]].exact
            for one in read[1:]:
                value = value * self.seen[one].exact
            exact = exact + value.times(Fraction(factor))
        if not claimed.words:
            return CheckedFunction(exact, exact, NOTHING, near=_alone(exact))
        (word,) = claimed.words
        heap = self.graph.nodes[word]
        if not isinstance(heap, Heap) or heap.wraps != (function.turning > 0):
            raise DoesNotHoldError(f"w{word} is no sum of this kind")
        line = line_of(self.graph, word)
        if place in self.outputs:  # decoders of outputs ignore the offset
            line = ClaimedLine(line.start - Fraction(self.graph.scales[word].offset), line.step)
        put, error = self._heap(function, claimed, heap, line)
        if function.turning:
            turn = 1 << function.turning
            if line.step * (1 << heap.bits) != turn:
                raise DoesNotHoldError(f"w{word} does not span a turn")
            error = error - exactly(turn * round(sum(error.ends) / 2 / turn))
            return CheckedFunction(exact, exact + error, error, word, line)
        value = put.meet(exact + error)
        largest = line.start + line.step * ((1 << heap.bits) - 1)
        if value.ends[0] < line.start or value.ends[1] > largest:
            self.overflow.append(word)
        return CheckedFunction(exact.meet(value - error), value, error, word, line)

    def _heap(
        self, function: ClaimedTotal, claimed: ClaimedWords, heap: Heap, line: ClaimedLine
    ) -> tuple[IntegerSpan, IntegerSpan]:
        """Enclose the value of a heap's word, and its error."""
        put = exactly(heap.constant * line.step + line.start)
        error = put - exactly(function.constant)
        for share in self._shares(function, claimed, heap, line.step):
            put, error = put + share.put, error + share.missed
        return put, error

    def _shares(
        self, function: ClaimedTotal, claimed: ClaimedWords, heap: Heap, step: Fraction
    ) -> list[_Share]:
        if len(claimed.owners) != len(heap.parts) or not all(
            0 <= k < len(function.addends) for k in claimed.owners
        ):
            raise DoesNotHoldError(f"a part of w{claimed.words[0]} belongs to no addend")
        found = []
        for k, (factor, read) in enumerate(function.addends):
            share = _Share(self, step)
            mine = [p for p, owner in zip(heap.parts, claimed.owners, strict=True) if owner == k]
            if len(read) == 1:
                share.addend(self.claim.places[read[0]], self.seen[read[0]], mine, Fraction(factor))
            else:
                share.product(read, mine, Fraction(factor))
            found.append(share)
        return found

    def missed(self, place: int) -> list[IntegerSpan]:
        """Return the error of every addend of a sum with a word: its contribution minus itself."""
        function, claimed = self.claim.functions[place], self.claim.places[place]
        heap = self.graph.nodes[claimed.words[0]]
        if not isinstance(function, ClaimedTotal) or not isinstance(heap, Heap):
            raise TypeError("no sum")
        shares = self._shares(function, claimed, heap, self.seen[place].line.step)
        return [share.missed for share in shares]


class _Share:
    """The contribution `put` of an addend's parts to a heap, and its error `missed`."""

    def __init__(self, plain: PlainBound, step: Fraction) -> None:
        self.plain, self.graph, self.step = plain, plain.graph, step
        self.put = self.missed = self.lost = NOTHING
        self.times = Fraction(0)

    def addend(
        self,
        claimed: ClaimedWords,
        seen: CheckedFunction,
        parts: Sequence[HeapPart],
        factor: Fraction,
    ) -> None:
        """Add the parts of factor · function."""
        for part in parts:
            grid = isinstance(part, PartialProducts)
            read = part_reads(part)
            if read != claimed.product if grid else read[0] not in claimed.words:
                raise DoesNotHoldError(f"a part of a sum does not read its addend: {part}")
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

    def row(self, seen: CheckedFunction, part: Bits | Turn) -> None:
        """Add a row of a word, whose dropped lowest bits are unknown."""
        weight, rest = row_of(self.graph, seen, self.step, part)
        self.times += weight
        self.lost = self.lost + rest
        self.put = self.put + seen.value.times(weight) + rest

    def error(self, seen: CheckedFunction, factor: Fraction) -> IntegerSpan:
        return self.lost + seen.error.times(self.times) + seen.exact.times(self.times - factor)

    def product(self, read: Sequence[int], parts: Sequence[HeapPart], factor: Fraction) -> None:
        """Add the part of factor · α · β: A·B - α·β = A·(B - β) + β·(A - α), or the converse."""
        seen = [self.plain.seen[k] for k in read]
        alpha, beta = seen[0].exact, seen[1].exact
        if not parts:
            self.missed = -(alpha * beta).times(factor)
            return
        part = parts[0]
        words = tuple(k for one in read for k in all_words(self.plain.claim.places[one]))
        if len(parts) > 1 or not isinstance(part, PartialProducts) or (part.a, part.b) != words:
            raise DoesNotHoldError(f"a product does not multiply the words w{words}: {part}")
        (a, da), (b, db) = (
            self._operand(one, word, drop)
            for one, word, drop in zip(seen, words, (part.drop_a, part.drop_b), strict=True)
        )
        times, rest = product_of(self.graph, part, self.step)
        error = (a * db + beta * da).meet(b * da + alpha * db)
        self.put = (a * b).times(times) + rest
        self.missed = error.times(times) + (alpha * beta).times(times - factor) + rest

    def _operand(
        self, seen: CheckedFunction, word: int, drop: int
    ) -> tuple[IntegerSpan, IntegerSpan]:
        """Enclose the value of a word's digits above the dropped ones, and its error."""
        if seen.words is not None:
            value = about_zero(self.graph, word, seen.words[word], drop)
            return value.hull, (value - seen.near).hull
        half = Fraction((1 << drop) - 1, 2) * seen.line.step
        rest = between(-half, half) - exactly(Fraction(self.graph.scales[word].offset))
        return seen.value + rest, seen.error + rest


def row_of(
    graph: WordGraph, seen: CheckedFunction, step: Fraction, part: Bits | Turn
) -> tuple[Fraction, IntegerSpan]:
    """Return the factor at which a part adds the value of its word, and the rest it adds."""
    if seen.word is None:
        raise DoesNotHoldError("a part of a sum reads a word that does not exist")
    bits = graph.nodes[seen.word].bits
    drop = part.drop if isinstance(part, Bits) else bits - part.read
    column = part.column if isinstance(part, Bits) else part.shift
    sign, size = -1 if part.negative else 1, step * Fraction(2) ** (column - drop)
    weight = sign * size / seen.line.step
    full = step * (((1 << (bits - drop)) - 1) << column) * part.negative
    lost = between(0, size * ((1 << drop) - 1)).times(Fraction(sign))
    return weight, exactly(full - weight * seen.line.start) - lost


def product_of(
    graph: WordGraph, part: PartialProducts, step: Fraction
) -> tuple[Fraction, IntegerSpan]:
    """Return the factor at which a part adds the product of its words, and the rest it adds."""
    column = part.column + 1 - part.drop_a - part.drop_b
    column -= graph.scales[part.a].lsb + graph.scales[part.b].lsb
    times = step * Fraction(2) ** column * (-1 if part.negative else 1)
    gone = sum((n * Fraction(2) ** (c - 1) for c, n in columns(graph, part) if c < 0), Fraction(0))
    return times, between(-gone * step, gone * step) + exactly(step * maximum(graph, part) / 2)


def about_zero(graph: WordGraph, place: int, words: Words, drop: int) -> IntegerSpan:
    """Return the value of a word's digits above the dropped ones, without its offset."""
    line, offset = line_of(graph, place), Fraction(graph.scales[place].offset)
    middle = Fraction((1 << drop) - 1, 2) * line.step - offset
    return values(ClaimedLine(line.start + middle, line.step), words >> drop << drop)


def _cut(span: IntegerSpan) -> IntegerSpan:
    """Split a span into pieces."""
    places = [span.low + (span.high - span.low) * k // PIECES for k in range(PIECES + 1)]
    return IntegerSpan(np.array(places[:-1], object), np.array(places[1:], object))


def _alone(span: IntegerSpan) -> IntegerSpan:
    return IntegerSpan(np.array([span.low], object), np.array([span.high], object))


def integers(words: Words) -> IntegerSpan:
    """Return the spans of integers."""
    units = words.astype(object) * ONE
    return IntegerSpan(units, units)


def values(line: ClaimedLine, words: Words) -> IntegerSpan:
    """Return the values of words."""
    start = exactly(line.start)
    return integers(words).times(line.step) + start


def cells(
    given: InputCells, line: ClaimedLine, count: int, unit: Fraction
) -> tuple[Words, IntegerSpan]:
    """Return the possible values of an input's word, and the cell of each."""
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
    return at, IntegerSpan(np.minimum(lows, highs), np.maximum(lows, highs))
