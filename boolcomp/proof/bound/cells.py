"""The tight bound against a function that is specified by steps, over all cells of its inputs.

In a cell, every input is one word, so the output is one word, too, which simulation of the graph
gives (`words.simulate`). The exact function is enclosed over the cell, including ties of the
encoder and the ends of ranges:

- Blocks of cells come first. In a block, the function is f(m) + Σ slope · (x - m), with slopes that
hold in the whole block. This encloses the error of every cell from above, and the largest error in
it from below.
- Cells whose error may exceed the largest found are halved until they do not, or hardly, exceed it.
This also separates both sides of jumps, cusps and ends.

The bound does not depend on how the graph was made. Work is counted in cells and pieces of cells.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.problem.tape import Straight
from boolcomp.proof.bound.balls import (
    FARTHEST,
    FUNCTIONS,
    LARGEST,
    OFF,
    SMALLEST,
    angle_of,
    cosine,
    sine,
)
from boolcomp.proof.bound.bounds import NotPlainError
from boolcomp.proof.bound.tables import TIE, beside, cells_reached
from boolcomp.words.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem
    from boolcomp.problem.tape import Operation
    from boolcomp.problem.words import Input
    from boolcomp.proof.bound.sketched import SketchedGraph

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]
    Truths = NDArray[np.bool_]


# --------------------------------------------------------------------------------------------------
# Enclosures of steps of a function and of their slopes, in many boxes at once.
#
# Ends are floats, rounded outward after every operation. In a box with a point m, a step is
#
#     f(m) + Σ slope · (x - m),    with slopes that hold in the whole box,
#
# and it is also enclosed by interval arithmetic on its operands; the narrower enclosure is used. An
# unknown value, such as a quotient by zero, is infinite or NaN; `Box` treats NaN as infinite.
# --------------------------------------------------------------------------------------------------

ROUNDING = 2.0**-52  # of a result: twice the rounding error of IEEE 754
TINY = 2.0**-1000  # and where the result is subnormal
PI = math.pi, math.pi * (1 + 2.0**-52)  # π lies between


class BoxSpan(NamedTuple):
    """The intervals low .. high of all boxes."""

    low: Floats
    high: Floats

    @property
    def positive(self) -> NDArray[np.bool_]:
        return self.low > 0

    @property
    def negative(self) -> NDArray[np.bool_]:
        return self.high < 0


def exactly(value: float) -> BoxSpan:
    return BoxSpan(np.asarray(value), np.asarray(value))


ONE = exactly(1.0)


def outward(low: Floats, high: Floats) -> BoxSpan:
    return BoxSpan(low - (np.abs(low) * ROUNDING + TINY), high + (np.abs(high) * ROUNDING + TINY))


def off(low: Floats, high: Floats) -> BoxSpan:
    return BoxSpan(low - OFF * (1 + np.abs(low)), high + OFF * (1 + np.abs(high)))


def plus(a: BoxSpan, b: BoxSpan) -> BoxSpan:
    return outward(a.low + b.low, a.high + b.high)


def minus(a: BoxSpan, b: BoxSpan) -> BoxSpan:
    return outward(a.low - b.high, a.high - b.low)


def negated(a: BoxSpan) -> BoxSpan:
    return BoxSpan(-a.high, -a.low)


def times(a: BoxSpan, b: BoxSpan) -> BoxSpan:
    """Return a product, in which 0 · ∞ is 0."""
    found = [x * y for x in a for y in b]
    low = np.minimum(np.minimum(found[0], found[1]), np.minimum(found[2], found[3]))
    high = np.maximum(np.maximum(found[0], found[1]), np.maximum(found[2], found[3]))
    if np.isnan(low).any():
        found = [np.where((x == 0) | (y == 0), 0.0, x * y) for x in a for y in b]
        low, high = np.minimum.reduce(found), np.maximum.reduce(found)
    return outward(low, high)


def square(a: BoxSpan) -> BoxSpan:
    """Return a square."""
    low, high = _size(a)
    found = outward(low * low, high * high)
    return BoxSpan(np.maximum(found.low, 0.0), found.high)


def over(a: BoxSpan, b: BoxSpan) -> BoxSpan:
    """Return a quotient; it is unbounded where the divisor may be zero."""
    apart = b.positive | b.negative
    found = [x / y for x in a for y in b]
    low, high = np.minimum.reduce(found), np.maximum.reduce(found)
    return outward(np.where(apart, low, -np.inf), np.where(apart, high, np.inf))


def _size(a: BoxSpan) -> BoxSpan:
    """Return an absolute value."""
    within = ~(a.positive | a.negative)
    one, two = np.abs(a.low), np.abs(a.high)
    return BoxSpan(np.where(within, 0.0, np.minimum(one, two)), np.maximum(one, two))


def _joined(*found: BoxSpan) -> BoxSpan:
    lows, highs = [one.low for one in found], [one.high for one in found]
    return BoxSpan(np.minimum.reduce(lows), np.maximum.reduce(highs))


def _within(a: BoxSpan, least: float, most: float) -> BoxSpan:
    return BoxSpan(np.clip(a.low, least, most), np.clip(a.high, least, most))


def _known(a: BoxSpan, least: float, most: float) -> BoxSpan:
    """Clip a span to two numbers, which replace unknown ends."""
    low, high = _within(a, least, most)
    return BoxSpan(np.where(np.isnan(low), least, low), np.where(np.isnan(high), most, high))


# functions of one number: their values, and their slopes ------------------------------------------


def _waves(a: BoxSpan, quarter: float, wave: Callable[[Floats], Floats]) -> BoxSpan:
    """Return sines or cosines; peaks are at 2π(k + quarter)."""
    low, high = (np.clip(np.nan_to_num(end), -FARTHEST, FARTHEST) for end in a)
    one, two = wave(low), wave(high)
    found = off(np.minimum(one, two), np.maximum(one, two))
    slack = 1e-12 * (1 + np.maximum(np.abs(low), np.abs(high)))
    turns = [((end + side * slack) / (2 * math.pi)) for end, side in ((low, -1), (high, 1))]
    top = np.floor(turns[1] - quarter) >= np.ceil(turns[0] - quarter)
    bottom = np.floor(turns[1] - quarter - 0.5) >= np.ceil(turns[0] - quarter - 0.5)
    known = (a.low >= -FARTHEST) & (a.high <= FARTHEST)
    return BoxSpan(
        np.where(known & ~bottom, np.maximum(found.low, -1.0), -1.0),
        np.where(known & ~top, np.minimum(found.high, 1.0), 1.0),
    )


def _sine(a: BoxSpan) -> BoxSpan:
    return _waves(a, 0.25, sine)


def _cosine(a: BoxSpan) -> BoxSpan:
    return _waves(a, 0.0, cosine)


def _root(a: BoxSpan) -> BoxSpan:
    a = _within(a, 0.0, np.inf)
    found = outward(np.sqrt(a.low), np.sqrt(a.high))
    return BoxSpan(np.maximum(found.low, 0.0), found.high)


def _exponential(a: BoxSpan) -> BoxSpan:
    low, high = (FUNCTIONS["exp"](np.clip(np.nan_to_num(end), SMALLEST, LARGEST)) for end in a)
    low, high = low * (1 - OFF), high * (1 + OFF)
    return BoxSpan(
        np.where(a.low >= SMALLEST, np.maximum(low, 0.0), 0.0),
        np.where(a.high <= LARGEST, high, np.inf),
    )


def _logarithm(a: BoxSpan) -> BoxSpan:
    normal = [np.where(end > TINY, end, 1.0) for end in a]
    found = off(*(FUNCTIONS["log"](np.where(np.isfinite(end), end, 1.0)) for end in normal))
    least = math.log(TINY) + 1
    high = np.where(np.isfinite(a.high), found.high, np.inf)
    return BoxSpan(
        np.where(a.low > TINY, found.low, -np.inf), np.where(a.high <= TINY, least, high)
    )


def _rising(kind: str, least: float, most: float) -> Callable[[BoxSpan], BoxSpan]:
    def found(a: BoxSpan) -> BoxSpan:
        known = _known(a, least, most)
        return off(FUNCTIONS[kind](known.low), FUNCTIONS[kind](known.high))

    return found


def _arc_cosine(a: BoxSpan) -> BoxSpan:
    known = _known(a, -1.0, 1.0)
    return off(FUNCTIONS["acos"](known.high), FUNCTIONS["acos"](known.low))


def _sign(a: BoxSpan) -> BoxSpan:
    return BoxSpan(np.sign(a.low), np.sign(a.high))


def _step(a: BoxSpan) -> BoxSpan:
    return BoxSpan((a.low > 0).astype(np.float64), (~(a.high <= 0)).astype(np.float64))


def _turns(a: BoxSpan) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the whole turns that `wrap` subtracts, and where all of a box has the same number."""
    one, two = (end / (2 * math.pi) + 0.5 for end in a)
    slack = 1e-12 * (1 + np.maximum(np.abs(one), np.abs(two)))
    below, above = np.floor(one - slack), np.floor(two + slack)
    return below, (below == above) & (np.abs(below) < FARTHEST)


def _wrapped(a: BoxSpan) -> BoxSpan:
    turns, same = _turns(a)
    whole = BoxSpan(np.full_like(turns, 2 * PI[0]), np.full_like(turns, 2 * PI[1]))
    moved = minus(a, times(BoxSpan(turns, turns), whole))
    return BoxSpan(
        np.where(same, np.maximum(moved.low, -PI[1]), -PI[1]),
        np.where(same, np.minimum(moved.high, PI[1]), PI[1]),
    )


VALUES: dict[str, Callable[[BoxSpan], BoxSpan]] = {
    "neg": negated,
    "abs": _size,
    "sqrt": _root,
    "sin": _sine,
    "cos": _cosine,
    "exp": _exponential,
    "log": _logarithm,
    "atan": _rising("atan", -np.inf, np.inf),
    "asin": _rising("asin", -1.0, 1.0),
    "acos": _arc_cosine,
    "tanh": _rising("tanh", -np.inf, np.inf),
    "sign": _sign,
    "step": _step,
    "wrap": _wrapped,
}


def _jump(same: NDArray[np.bool_]) -> BoxSpan:
    return BoxSpan(np.zeros(same.shape), np.where(same, 0.0, np.inf))


def _arc_slope(a: BoxSpan) -> BoxSpan:
    size = _size(_within(a, -1.0, 1.0))
    room = [(1 - end) * (1 + end) for end in size]
    low, high = (1 / np.sqrt(np.maximum(one * (1 - 4 * ROUNDING), 0.0)) for one in room)
    return outward(low * (1 - 8 * ROUNDING), high)


def _hyperbolic_slope(a: BoxSpan) -> BoxSpan:
    tangent = VALUES["tanh"](a)
    found = minus(ONE, square(tangent))
    return BoxSpan(np.maximum(found.low, 0.0), found.high)


SLOPES: dict[
    str, Callable[[BoxSpan, BoxSpan], BoxSpan]
] = {  # of an operand, and of the value there
    "abs": lambda a, _: BoxSpan(np.where(a.low >= 0, 1.0, -1.0), np.where(a.high <= 0, -1.0, 1.0)),
    "sqrt": lambda _, y: _over_positive(BoxSpan(2 * y.low, 2 * y.high)),
    "sin": lambda a, _: _cosine(a),
    "cos": lambda a, _: negated(_sine(a)),
    "exp": lambda _, y: y,
    "log": lambda a, _: _over_positive(a),
    "atan": lambda a, _: over(ONE, plus(ONE, square(a))),
    "asin": lambda a, _: _arc_slope(a),
    "acos": lambda a, _: negated(_arc_slope(a)),
    "tanh": lambda a, _: _hyperbolic_slope(a),
    "sign": lambda a, _: _jump(a.positive | a.negative),
    "step": lambda a, _: _jump(a.positive | (a.high <= 0)),
    "wrap": lambda a, _: _wrap_slope(a),
}


def _over_positive(a: BoxSpan) -> BoxSpan:
    """Return 1/a for a ≥ 0."""
    low, high = np.maximum(a.low, 0.0), np.maximum(a.high, 0.0)
    found = outward(1 / high, 1 / low)
    return BoxSpan(np.maximum(found.low, 0.0), found.high)


def _wrap_slope(a: BoxSpan) -> BoxSpan:
    _, same = _turns(a)
    return BoxSpan(np.where(same, 1.0, -np.inf), np.where(same, 1.0, np.inf))


def _angle(y: BoxSpan, x: BoxSpan) -> tuple[BoxSpan, BoxSpan, BoxSpan]:
    """Return the angle of a point, and its slopes by y and x."""
    corners = [angle_of(a, b) for a in y for b in x]
    found = off(np.minimum.reduce(corners), np.maximum.reduce(corners))
    cut = (x.low <= 0) & (y.low <= 0) & (y.high >= 0)  # jump along the negative axis
    value = BoxSpan(np.where(cut, -PI[1], found.low), np.where(cut, PI[1], found.high))
    length = plus(square(y), square(x))
    by_y, by_x = over(x, length), negated(over(y, length))
    slopes = [
        BoxSpan(np.where(cut, -np.inf, one.low), np.where(cut, np.inf, one.high))
        for one in (by_y, by_x)
    ]
    return value, slopes[0], slopes[1]


# steps --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class CellNode:
    """A step in every box: its values, its value at the box's point, and its slopes by input."""

    value: BoxSpan
    point: BoxSpan
    slopes: dict[int, BoxSpan] = field(default_factory=dict)


class InputBoxes:
    """Boxes of inputs, given by their ends, and the evaluation of steps in them."""

    def __init__(self, ends: Mapping[str, BoxSpan]) -> None:
        self.names = list(ends)
        self.ends = list(ends.values())
        self.points = [_middle(one) for one in self.ends]
        self.beside = [
            outward(one.low - m, one.high - m)
            for one, m in zip(self.ends, self.points, strict=True)
        ]

    def outputs(self, steps: Straight) -> list[CellNode]:
        """Return the outputs of some steps."""
        found: list[CellNode] = []
        with np.errstate(all="ignore"):
            for step in steps.nodes:
                found.append(self._node(step, [found[k] for k in step.operands]))
        return [found[one.node] for one in steps.outputs]

    def _node(self, step: Operation, read: Sequence[CellNode]) -> CellNode:
        if step.kind == "input":
            k = self.names.index(step.name)
            point = self.points[k]
            return CellNode(self.ends[k], BoxSpan(point, point), {k: ONE})
        if step.kind == "constant":
            return CellNode(exactly(step.value), exactly(step.value))
        if len(read) == 1:
            return self._function(step.kind, read[0])
        return self._tangent(self._of_two(step, *read))

    def _function(self, kind: str, a: CellNode) -> CellNode:
        value, point = VALUES[kind](a.value), VALUES[kind](a.point)
        if kind == "neg":
            return CellNode(value, point, {k: negated(one) for k, one in a.slopes.items()})
        slope = SLOPES[kind](a.value, value)
        return CellNode(value, point, {k: times(slope, one) for k, one in a.slopes.items()})

    def _of_two(self, step: Operation, a: CellNode, b: CellNode) -> CellNode:
        kind = step.kind
        if kind in ("add", "sub"):
            join = plus if kind == "add" else minus
            slopes = dict(a.slopes)
            for k, one in b.slopes.items():
                own = one if kind == "add" else negated(one)
                slopes[k] = plus(slopes[k], own) if k in slopes else own
            return CellNode(join(a.value, b.value), join(a.point, b.point), slopes)
        if kind == "mul" and step.operands[0] == step.operands[1]:
            twice = BoxSpan(2 * a.value.low, 2 * a.value.high)
            slopes = {k: times(twice, one) for k, one in a.slopes.items()}
            return CellNode(square(a.value), square(a.point), slopes)
        if kind == "mul":
            value, point = times(a.value, b.value), times(a.point, b.point)
            return CellNode(value, point, _both(a, b.value, b, a.value))
        if kind == "div":
            value, point = over(a.value, b.value), over(a.point, b.point)
            inverse = over(ONE, b.value)
            return CellNode(value, point, _both(a, inverse, b, negated(times(value, inverse))))
        value, by_a, by_b = _angle(a.value, b.value)
        return CellNode(value, _angle(a.point, b.point)[0], _both(a, by_a, b, by_b))

    def _tangent(self, node: CellNode) -> CellNode:
        """Return a step that is no wider than its tangents allow."""
        low, high = node.point
        for k, slope in node.slopes.items():
            beside = times(slope, self.beside[k])
            low, high = low + beside.low, high + beside.high
        slack = rounded_off(low, high, node)
        node.value = met(node.value, BoxSpan(low - slack, high + slack))
        return node


def rounded_off(low: Floats, high: Floats, node: CellNode) -> Floats:
    """Return the rounding error of a linear function between a step's point and two ends."""
    size = np.maximum(np.abs(low), np.abs(high))
    size = size + np.maximum(np.abs(node.point.low), np.abs(node.point.high))
    return (len(node.slopes) + 1) * (4 * ROUNDING * size) + TINY


def met(one: BoxSpan, two: BoxSpan) -> BoxSpan:
    return BoxSpan(np.fmax(one.low, two.low), np.fmin(one.high, two.high))


def _both(a: CellNode, by_a: BoxSpan, b: CellNode, by_b: BoxSpan) -> dict[int, BoxSpan]:
    """Return the slopes of a function of two operands, given its slopes by each."""
    slopes = {k: times(one, by_a) for k, one in a.slopes.items()}
    for k, one in b.slopes.items():
        own = times(one, by_b)
        slopes[k] = plus(slopes[k], own) if k in slopes else own
    return slopes


def _middle(ends: BoxSpan) -> Floats:
    return np.clip(ends.low + (ends.high - ends.low) / 2, ends.low, ends.high)


# --------------------------------------------------------------------------------------------------
# The search over all cells.
# --------------------------------------------------------------------------------------------------

CELLS, FIRST = 33600, 1 << 18  # cells per unit of effort; for the first unit
LITTLE = 1 << 23  # cells for the first unit of effort
PART = 8  # cells that take as long as a piece of a cell
SIDES = {1: 32, 2: 8, 3: 4}  # cells along a side of a block, by the number of inputs
LEAST = 2  # with more inputs
TOGETHER = 1 << 16  # cells at a time
HARDLY = 1 / 2048  # of the largest error found: a smaller excess is tolerated
ENDS = 2.0**-50  # of an end of a cell: rounding of floats
KEPT = 1 << 20  # limit on stored pieces
CORNERED = 64  # the worst pieces, whose corners are evaluated
ONCE = 1 << 13  # pieces that are halved at a time
MOST_INPUTS, MOST_BITS = 12, 40  # of a graph, and of all its input words
STEEP = 1e30  # replaces an infinite slope


class CellAxis(NamedTuple):
    """An input: its first word and the ends of all cells; an input without a word is one cell."""

    name: str
    first: int | None
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class CellErrors:
    """The least and the largest error of every output, in steps, and the cells and pieces used."""

    ends: tuple[tuple[Fraction, Fraction], ...]
    found: tuple[float, ...]
    work: int


def cells_of(sketched: SketchedGraph) -> int:
    return _count(_axes(sketched))


def most_cells(effort: int) -> int:
    return max(effort * CELLS, min(effort * FIRST, LITTLE))


def _count(axes: Sequence[CellAxis]) -> int:
    return math.prod(len(axis.low) for axis in axes)


def cell_bounds(sketched: SketchedGraph, effort: int) -> CellErrors:
    """Enclose the error of every output by the worst of all cells.

    A `NotPlainError` is raised if there are more cells than `effort` allows. Equal effort gives
    equal bounds anywhere.
    """
    axes, steps = _axes(sketched), _steps(sketched.problem)
    if steps is None or _count(axes) > most_cells(effort):
        raise NotPlainError
    with np.errstate(all="ignore"):  # infinite and NaN results are handled
        return CellSearch(sketched, steps, axes, most_cells(effort) // PART).run()


@lru_cache(maxsize=4)  # for many graphs of a problem
def _steps(problem: Problem) -> Straight | None:
    """Return a problem's function as steps, unless it is a sum of terms."""
    steps = problem.form()
    return steps if isinstance(steps, Straight) else None


def _axes(sketched: SketchedGraph) -> list[CellAxis]:
    """Return all inputs; NotPlainError if words are no function of cells alone."""
    asked = sketched.problem.inputs
    bits = sum(node.bits for node in sketched.graph.inputs)
    if bits > MOST_BITS or len(asked) > MOST_INPUTS or _steps(sketched.problem) is None:
        raise NotPlainError
    places = {
        one.node.name: place
        for place, one in sketched.ranges.items()
        if sketched.word(place) is not None
    }
    read = {one.name for one in sketched.graph.inputs}
    if read != set(places) or not read <= {one.name for one in asked}:
        raise NotPlainError
    if any(result.rest is not None for result in sketched.results):
        raise NotPlainError
    return [_axis(sketched, places.get(one.name), one) for one in asked]


def _axis(sketched: SketchedGraph, place: int | None, one: Input) -> CellAxis:
    """Return the cells of an input, in its own unit; ties belong to both cells."""
    line = None if place is None else sketched.line(place)
    if place is None or line is None:
        return CellAxis(one.name, None, np.array([one.range.low]), np.array([one.range.high]))
    range_ = sketched.ranges[place]
    first, last = cells_reached(line, range_)
    words = np.arange(first, last + 1)
    start, step = float(line.start), float(line.step)
    if Fraction(start) != line.start or Fraction(step) != line.step:
        raise NotPlainError
    exact = range_.node.exact
    half = float(beside(line, range_).ends[1] if exact else line.step * (Fraction(1, 2) + TIE))
    low, high = start + step * words - half, start + step * words + half
    if not range_.wraps and not exact:
        least, most = (float(end) for end in range_.allowed.ends)
        low[0] = least if first == 0 else max(low[0], least)
        high[-1] = most if last == line.count - 1 else min(high[-1], most)
        low[0], high[-1] = min(low[0], high[0]), max(low[-1], high[-1])
    base, unit = range_.base, range_.unit
    low, high = base + unit * low, base + unit * high
    slack = ENDS * (abs(base) + np.maximum(np.abs(low), np.abs(high)))
    return CellAxis(one.name, first, low - slack, high + slack)


class CellPieces(NamedTuple):
    """Parts of cells: their ends by input, the word, the largest possible error, the next cut."""

    low: Floats
    high: Floats
    computed: Floats
    most: Floats
    cut: Words

    def chosen(self, which: Truths | Words) -> CellPieces:
        """Select some pieces."""
        low, high, computed, most, cut = self
        return CellPieces(low[which], high[which], computed[which], most[which], cut[which])

    def halves(self) -> CellPieces:
        """Halve every piece."""
        low, high = np.tile(self.low, (2, 1)), np.tile(self.high, (2, 1))
        rows = np.arange(len(self.computed))
        middle = self.low[rows, self.cut]
        middle = middle + (self.high[rows, self.cut] - middle) / 2
        high[rows, self.cut] = low[rows + len(rows), self.cut] = middle
        computed, most, cut = np.tile(self.computed, 2), np.tile(self.most, 2), np.tile(self.cut, 2)
        return CellPieces(low, high, computed, most, cut)


@dataclass(slots=True)
class Open:
    """The state of the search for an output in one direction.

    Some state has nearly the error `found`. Closed parts have errors of at most `closed`; all other
    parts are in `pieces`.
    """

    found: float = -math.inf
    closed: float = -math.inf
    pieces: list[CellPieces] = field(default_factory=list)

    def matters(self, most: Floats) -> Truths:
        """Tell which pieces may exceed the known error; NaN means that an error is unknown."""
        enough = self.found + HARDLY * abs(self.found)
        which = ~(most <= max(self.closed, enough))
        self.closed = max(self.closed, float(most[~which].max(initial=-np.inf)))
        return np.asarray(which)

    def gathered(self) -> CellPieces | None:
        """Return all relevant pieces, the worst first, up to the limit."""
        if not self.pieces:
            return None
        every = CellPieces(*(np.concatenate(column) for column in zip(*self.pieces, strict=True)))
        every = every.chosen(self.matters(every.most))
        every = every.chosen(np.argsort(-every.most, kind="stable"))
        if len(every.most) > KEPT:
            self.closed = max(self.closed, float(every.most[KEPT]))
            every = every.chosen(np.arange(KEPT))
        self.pieces = [every]
        return every


class CellSearch:
    """A search for the largest errors of every output, in both directions."""

    def __init__(
        self, sketched: SketchedGraph, steps: Straight, axes: Sequence[CellAxis], left: int
    ) -> None:
        self.sketched, self.axes, self.steps = sketched, axes, steps
        self.left, self.work = left, 0
        self.limits = [self._limits(k) for k in range(len(sketched.results))]
        self.open = [(Open(), Open()) for _ in self.limits]
        self.widths = np.array([float((axis.high - axis.low).max()) for axis in axes])

    def _limits(self, column: int) -> tuple[float, float]:
        """Return the range of an output's word, in steps from the middle of its range."""
        output, result = self.sketched.graph.results[column], self.sketched.results[column]
        half, moved = 1 << output.bits >> 1, float(result.shift) - output.tread / 2
        return moved - half, moved + half

    def run(self) -> CellErrors:
        """Evaluate all cells, block by block, and then parts of the relevant ones."""
        for firsts in self._chunks():
            self._blocks(firsts)
        share = self.left // (2 * len(self.open))
        ends = []
        for column, (up, down) in enumerate(self.open):
            for sign, one in ((1, up), (-1, down)):
                self._refine(column, sign, one, share)
            ends.append((-Fraction(down.closed), Fraction(up.closed)))
        return CellErrors(
            tuple(ends), tuple(max(a.found, b.found) for a, b in self.open), self.work
        )

    # blocks of cells ------------------------------------------------------------------------------

    def _side(self) -> int:
        return SIDES.get(sum(len(axis.low) > 1 for axis in self.axes), LEAST)

    def _chunks(self) -> Iterator[list[Words]]:
        """Yield blocks as the first cell of each by input."""
        side = self._side()
        counts = [-(-len(axis.low) // side) for axis in self.axes]
        whole = math.prod(min(side, len(axis.low)) for axis in self.axes)
        total, together = math.prod(counts), max(1, TOGETHER // whole)
        for first in range(0, total, together):
            numbers = np.arange(first, min(total, first + together))
            yield [np.asarray(one) * side for one in np.unravel_index(numbers, counts)]

    def _blocks(self, firsts: Sequence[Words]) -> None:
        """Evaluate the function in blocks, then in every cell."""
        side, count = self._side(), len(self.axes)
        shape = (-1, *[1] * count)
        ends, cells, words = {}, [], {}
        for k, (axis, first) in enumerate(zip(self.axes, firsts, strict=True)):
            most = len(axis.low) - 1
            ends[axis.name] = BoxSpan(
                axis.low[first], axis.high[np.minimum(first + side - 1, most)]
            )
            along = [1] * (count + 1)
            along[k + 1] = min(side, len(axis.low))
            at = first.reshape(shape) + np.arange(along[k + 1]).reshape(along)
            at = np.minimum(at, most)  # a block that is cut short repeats its last cell
            cells.append(BoxSpan(axis.low[at], axis.high[at]))
            words[axis.name] = at + (axis.first or 0)
        full = np.broadcast_shapes(*(one.low.shape for one in cells))
        computed = self._computed({
            axis.name: np.broadcast_to(words[axis.name], full).reshape(-1)
            for axis in self.axes
            if axis.first is not None
        })  # fmt: skip
        self.work += math.prod(full)
        boxes = InputBoxes(ends)
        points = [one.reshape(shape) for one in boxes.points]
        for column, found in enumerate(boxes.outputs(self.steps)):
            own = np.broadcast_to(computed[:, column], math.prod(full)).reshape(full)
            self._offer(column, _shaped(found, len(firsts[0]), shape), points, cells, own)

    def _computed(self, words: dict[str, Words]) -> Floats:
        """Return the values of outputs' words, in steps from the middles of their ranges."""
        found = simulate(self.sketched.graph, words).words
        return np.asarray(found + (np.array([low for low, _ in self.limits]) + 0.5))

    def _offer(
        self,
        column: int,
        node: CellNode,
        points: Sequence[Floats],
        cells: Sequence[BoxSpan],
        computed: Floats,
    ) -> None:
        """Add the cells that may be the worst."""
        found = self._errors(column, node, points, cells, computed)
        full = computed.shape
        for one, (most, least) in zip(self.open[column], found, strict=True):
            one.found = max(one.found, float(np.nan_to_num(least, nan=-np.inf).max()))
            which = one.matters(most)
            if not which.any():
                continue
            low, high = (
                np.stack([np.broadcast_to(cell[end], full)[which] for cell in cells], axis=1)
                for end in (0, 1)
            )
            cut = self._cut(node, low, high, which)
            one.pieces.append(CellPieces(low, high, computed[which], most[which], cut))
            if sum(len(part.computed) for part in one.pieces) > 2 * KEPT:
                one.gathered()

    # errors ---------------------------------------------------------------------------------------

    def _errors(
        self,
        column: int,
        node: CellNode,
        points: Sequence[Floats],
        cells: Sequence[BoxSpan],
        computed: Floats,
    ) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Return upper bounds of errors in both directions, and lower bounds of their maxima."""
        low, high = node.point
        least, most = node.point.high, node.point.low  # at the corners that attain it
        for k, slope in node.slopes.items():
            beside = outward(cells[k].low - points[k], cells[k].high - points[k])
            by = times(slope, beside)
            low, high = low + by.low, high + by.high
            rising = slope.low + slope.high > 0
            one = np.where(rising, beside.low, beside.high)
            two = np.where(rising, beside.high, beside.low)
            least = least + np.maximum(slope.low * one, slope.high * one)
            most = most + np.minimum(slope.low * two, slope.high * two)
        slack = rounded_off(low, high, node)
        value = self._in_steps(column, met(node.value, BoxSpan(low - slack, high + slack)))
        corner = self._in_steps(column, BoxSpan(most, least))
        return (
            (computed - value.low, np.minimum(computed - corner.high, computed - value.low)),
            (value.high - computed, np.minimum(corner.low - computed, value.high - computed)),
        )

    def _in_steps(self, column: int, value: BoxSpan) -> BoxSpan:
        """Return an output in steps from the middle of its range, clamped to the range of its word.

        NaN means that the value is unknown.
        """
        centre = self.sketched.problem.outputs[column].range.centre
        step, (least, most) = self.sketched.results[column].step, self.limits[column]
        low, high = over(minus(value, exactly(centre)), exactly(step))
        return BoxSpan(
            np.clip(np.where(np.isnan(low), least, low), least, most),
            np.clip(np.where(np.isnan(high), most, high), least, most),
        )

    def _cut(self, node: CellNode, low: Floats, high: Floats, which: Truths) -> Words:
        """Return the inputs along which pieces are to be halved: those with the largest slopes."""
        worth = np.zeros(low.shape)
        for k, slope in node.slopes.items():
            wide = slope.high - slope.low
            wide = np.where(np.isfinite(wide), wide, STEEP)
            wide = np.broadcast_to(wide, which.shape)[which]
            length = high[:, k] - low[:, k]
            relative = length / max(float(self.widths[k]), TINY)
            worth[:, k] = wide * np.where(wide >= STEEP, relative, length)
        return np.asarray(worth.argmax(axis=1))

    # parts of cells -------------------------------------------------------------------------------

    def _refine(self, column: int, sign: int, one: Open, left: int) -> None:
        """Halve relevant pieces until there are none, or until the limit of pieces."""
        while (every := one.gathered()) is not None and len(every.computed):
            count = min(ONCE, left // 2)
            if not count:
                one.closed = max(one.closed, float(every.most[0]))
                break
            halves = every.chosen(np.arange(len(every.computed)) < count).halves()
            left, self.work = left - len(halves.computed), self.work + len(halves.computed)
            one.pieces = [every.chosen(np.arange(len(every.computed)) >= count)]
            self._look(column, sign, one, halves)
        one.pieces = []

    def _look(self, column: int, sign: int, one: Open, pieces: CellPieces) -> None:
        cells = [BoxSpan(pieces.low[:, k], pieces.high[:, k]) for k in range(len(self.axes))]
        boxes = InputBoxes({axis.name: cell for axis, cell in zip(self.axes, cells, strict=True)})
        node = boxes.outputs(self.steps)[column]
        found = self._errors(column, node, boxes.points, cells, pieces.computed)
        most, least = found[sign < 0]
        most = np.fmin(most, pieces.most)
        one.found = max(one.found, float(np.nan_to_num(least, nan=-np.inf).max()))
        worst = pieces.chosen(np.argsort(-most, kind="stable")[:CORNERED])
        one.found = max(one.found, self._at_corners(column, sign, worst))
        every = np.ones(len(most), np.bool_)
        pieces = pieces._replace(most=most, cut=self._cut(node, pieces.low, pieces.high, every))
        one.pieces.append(pieces.chosen(one.matters(most)))

    def _at_corners(self, column: int, sign: int, pieces: CellPieces) -> float:
        """Return the largest error at corners of some pieces, which attain one side of a jump."""
        found = -math.inf
        for side in itertools.product(*([False, True] if w else [False] for w in self.widths)):
            at = np.where(side, pieces.high, pieces.low).T
            boxes = InputBoxes(
                {axis.name: BoxSpan(x, x) for axis, x in zip(self.axes, at, strict=True)}
            )
            value = self._in_steps(column, boxes.outputs(self.steps)[column].point)
            error = pieces.computed - value.high if sign > 0 else value.low - pieces.computed
            found = max(found, float(error.max(initial=-np.inf)))
        return found


def _shaped(node: CellNode, count: int, shape: tuple[int, ...]) -> CellNode:
    """Return a step with a row for every box."""

    def rows(one: BoxSpan) -> BoxSpan:
        return BoxSpan(*(np.broadcast_to(end, (count,)).reshape(shape) for end in one))

    slopes = {k: rows(one) for k, one in node.slopes.items()}
    return CellNode(rows(node.value), rows(node.point), slopes)
