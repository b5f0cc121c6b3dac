"""The tight bound of a function that was asked for as steps: every cell of its inputs is looked at.

In a cell every input is one word, so that the graph's output is one word, too, which the graph says
itself (`words.simulate`), be it right or wrong. The exact function is enclosed over the cell, ties
of the encoder and ends of ranges with it:

- Blocks of cells first. In a block the function is f(m) + Σ slope · (x - m) with slopes that hold
  anywhere in it (`slopes.py`), which says of every cell what the error is at most, and what it is
  at least somewhere.
- Cells that may err by more than the worst so far are halved until they do not, or err by hardly
  more. At jumps, corners and ends that is where both sides are told apart.

Nothing is assumed of how the graph was made. Work is counted: cells, and pieces of cells.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.meaning import GivenWord, given_line
from boolcomp.proof.bound.tables import TIE, beside, cells_reached
from boolcomp.words.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.tape import Operation, Straight
    from boolcomp.proof.bound.meaning import Asked, Explained

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]
    Truths = NDArray[np.bool_]


# --------------------------------------------------------------------------------------------------
# Between which numbers the steps of a calculation and their slopes lie, in many boxes at once.
#
# Ends are floats that are rounded outward after every operation. In a box with a point m a step is
#
#     f(m) + Σ slope · (x - m),    slopes as they are anywhere in the box,
#
# and what its operands say; both hold, so that the narrower of them does. What nothing is known of,
# as where a sum is divided by one that may be zero, is infinite or no number; `Box` counts no
# number as infinite.
# --------------------------------------------------------------------------------------------------


ROUNDING = 2.0**-52  # of a result: what IEEE 754 rounds off is half of it
TINY = 2.0**-1000  # and where it is too small for a float
PI = math.pi, math.pi * (1 + 2.0**-52)  # π lies between


class Span(NamedTuple):
    """low .. high, of every box."""

    low: Floats
    high: Floats

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Where it is above zero."""
        return self.low > 0

    @property
    def negative(self) -> NDArray[np.bool_]:
        """Where it is below zero."""
        return self.high < 0


def exactly(value: float) -> Span:
    """Return a float that is the same in all boxes."""
    return Span(np.asarray(value), np.asarray(value))


ONE = exactly(1.0)


def outward(low: Floats, high: Floats) -> Span:
    """Return both ends after an operation was rounded."""
    return Span(low - (np.abs(low) * ROUNDING + TINY), high + (np.abs(high) * ROUNDING + TINY))


def off(low: Floats, high: Floats) -> Span:
    """Return both ends of what an elementary function says."""
    return Span(low - OFF * (1 + np.abs(low)), high + OFF * (1 + np.abs(high)))


def plus(a: Span, b: Span) -> Span:
    """Return a sum."""
    return outward(a.low + b.low, a.high + b.high)


def minus(a: Span, b: Span) -> Span:
    """Return a difference."""
    return outward(a.low - b.high, a.high - b.low)


def negated(a: Span) -> Span:
    """Return a negative."""
    return Span(-a.high, -a.low)


def times(a: Span, b: Span) -> Span:
    """Return a product; nothing times infinity is nothing."""
    found = [x * y for x in a for y in b]
    low = np.minimum(np.minimum(found[0], found[1]), np.minimum(found[2], found[3]))
    high = np.maximum(np.maximum(found[0], found[1]), np.maximum(found[2], found[3]))
    if np.isnan(low).any():
        found = [np.where((x == 0) | (y == 0), 0.0, x * y) for x in a for y in b]
        low, high = np.minimum.reduce(found), np.maximum.reduce(found)
    return outward(low, high)


def square(a: Span) -> Span:
    """Return a square."""
    low, high = _size(a)
    found = outward(low * low, high * high)
    return Span(np.maximum(found.low, 0.0), found.high)


def over(a: Span, b: Span) -> Span:
    """Return a quotient; of what may be zero anything is."""
    apart = b.positive | b.negative
    found = [x / y for x in a for y in b]
    low, high = np.minimum.reduce(found), np.maximum.reduce(found)
    return outward(np.where(apart, low, -np.inf), np.where(apart, high, np.inf))


def _size(a: Span) -> Span:
    """Return an absolute value."""
    within = ~(a.positive | a.negative)
    one, two = np.abs(a.low), np.abs(a.high)
    return Span(np.where(within, 0.0, np.minimum(one, two)), np.maximum(one, two))


def _joined(*found: Span) -> Span:
    lows, highs = [one.low for one in found], [one.high for one in found]
    return Span(np.minimum.reduce(lows), np.maximum.reduce(highs))


def _within(a: Span, least: float, most: float) -> Span:
    return Span(np.clip(a.low, least, most), np.clip(a.high, least, most))


def _known(a: Span, least: float, most: float) -> Span:
    """Return what of a span lies between two numbers, which stand for ends that are not known."""
    low, high = _within(a, least, most)
    return Span(np.where(np.isnan(low), least, low), np.where(np.isnan(high), most, high))


# functions of one number: their values, and their slopes ------------------------------------------


def _waves(a: Span, quarter: float, wave: Callable[[Floats], Floats]) -> Span:
    """Return sines or cosines, whose peaks are at 2π(k + quarter)."""
    low, high = (np.clip(np.nan_to_num(end), -FARTHEST, FARTHEST) for end in a)
    one, two = wave(low), wave(high)
    found = off(np.minimum(one, two), np.maximum(one, two))
    slack = 1e-12 * (1 + np.maximum(np.abs(low), np.abs(high)))
    turns = [((end + side * slack) / (2 * math.pi)) for end, side in ((low, -1), (high, 1))]
    top = np.floor(turns[1] - quarter) >= np.ceil(turns[0] - quarter)
    bottom = np.floor(turns[1] - quarter - 0.5) >= np.ceil(turns[0] - quarter - 0.5)
    known = (a.low >= -FARTHEST) & (a.high <= FARTHEST)
    return Span(
        np.where(known & ~bottom, np.maximum(found.low, -1.0), -1.0),
        np.where(known & ~top, np.minimum(found.high, 1.0), 1.0),
    )


def _sine(a: Span) -> Span:
    return _waves(a, 0.25, sine)


def _cosine(a: Span) -> Span:
    return _waves(a, 0.0, cosine)


def _root(a: Span) -> Span:
    a = _within(a, 0.0, np.inf)
    found = outward(np.sqrt(a.low), np.sqrt(a.high))
    return Span(np.maximum(found.low, 0.0), found.high)


def _exponential(a: Span) -> Span:
    low, high = (FUNCTIONS["exp"](np.clip(np.nan_to_num(end), SMALLEST, LARGEST)) for end in a)
    low, high = low * (1 - OFF), high * (1 + OFF)
    return Span(
        np.where(a.low >= SMALLEST, np.maximum(low, 0.0), 0.0),
        np.where(a.high <= LARGEST, high, np.inf),
    )


def _logarithm(a: Span) -> Span:
    normal = [np.where(end > TINY, end, 1.0) for end in a]
    found = off(*(FUNCTIONS["log"](np.where(np.isfinite(end), end, 1.0)) for end in normal))
    least = math.log(TINY) + 1
    high = np.where(np.isfinite(a.high), found.high, np.inf)
    return Span(np.where(a.low > TINY, found.low, -np.inf), np.where(a.high <= TINY, least, high))


def _rising(kind: str, least: float, most: float) -> Callable[[Span], Span]:
    def found(a: Span) -> Span:
        known = _known(a, least, most)
        return off(FUNCTIONS[kind](known.low), FUNCTIONS[kind](known.high))

    return found


def _arc_cosine(a: Span) -> Span:
    known = _known(a, -1.0, 1.0)
    return off(FUNCTIONS["acos"](known.high), FUNCTIONS["acos"](known.low))


def _sign(a: Span) -> Span:
    return Span(np.sign(a.low), np.sign(a.high))


def _step(a: Span) -> Span:
    return Span((a.low > 0).astype(np.float64), (~(a.high <= 0)).astype(np.float64))


def _turns(a: Span) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the whole turns that `wrap` takes off, and where they are the same in all of a box."""
    one, two = (end / (2 * math.pi) + 0.5 for end in a)
    slack = 1e-12 * (1 + np.maximum(np.abs(one), np.abs(two)))
    below, above = np.floor(one - slack), np.floor(two + slack)
    return below, (below == above) & (np.abs(below) < FARTHEST)


def _wrapped(a: Span) -> Span:
    turns, same = _turns(a)
    whole = Span(np.full_like(turns, 2 * PI[0]), np.full_like(turns, 2 * PI[1]))
    moved = minus(a, times(Span(turns, turns), whole))
    return Span(
        np.where(same, np.maximum(moved.low, -PI[1]), -PI[1]),
        np.where(same, np.minimum(moved.high, PI[1]), PI[1]),
    )


VALUES: dict[str, Callable[[Span], Span]] = {
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


def _jump(same: NDArray[np.bool_]) -> Span:
    return Span(np.zeros(same.shape), np.where(same, 0.0, np.inf))


def _arc_slope(a: Span) -> Span:
    size = _size(_within(a, -1.0, 1.0))
    room = [(1 - end) * (1 + end) for end in size]
    low, high = (1 / np.sqrt(np.maximum(one * (1 - 4 * ROUNDING), 0.0)) for one in room)
    return outward(low * (1 - 8 * ROUNDING), high)


def _hyperbolic_slope(a: Span) -> Span:
    tangent = VALUES["tanh"](a)
    found = minus(ONE, square(tangent))
    return Span(np.maximum(found.low, 0.0), found.high)


SLOPES: dict[str, Callable[[Span, Span], Span]] = {  # of an operand, and of the value there
    "abs": lambda a, _: Span(np.where(a.low >= 0, 1.0, -1.0), np.where(a.high <= 0, -1.0, 1.0)),
    "sqrt": lambda _, y: _over_positive(Span(2 * y.low, 2 * y.high)),
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


def _over_positive(a: Span) -> Span:
    """Return 1/a of what is not below zero."""
    low, high = np.maximum(a.low, 0.0), np.maximum(a.high, 0.0)
    found = outward(1 / high, 1 / low)
    return Span(np.maximum(found.low, 0.0), found.high)


def _wrap_slope(a: Span) -> Span:
    _, same = _turns(a)
    return Span(np.where(same, 1.0, -np.inf), np.where(same, 1.0, np.inf))


def _angle(y: Span, x: Span) -> tuple[Span, Span, Span]:
    """Return the angle of a point, and its slopes along y and x."""
    corners = [angle_of(a, b) for a in y for b in x]
    found = off(np.minimum.reduce(corners), np.maximum.reduce(corners))
    cut = (x.low <= 0) & (y.low <= 0) & (y.high >= 0)  # from the centre to the left it jumps
    value = Span(np.where(cut, -PI[1], found.low), np.where(cut, PI[1], found.high))
    length = plus(square(y), square(x))
    by_y, by_x = over(x, length), negated(over(y, length))
    slopes = [
        Span(np.where(cut, -np.inf, one.low), np.where(cut, np.inf, one.high))
        for one in (by_y, by_x)
    ]
    return value, slopes[0], slopes[1]


# steps --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Node:
    """A step in every box: its values, its value at the box's point, its slopes by input."""

    value: Span
    point: Span
    slopes: dict[int, Span] = field(default_factory=dict)


class Boxes:
    """Boxes of inputs, by their ends: what steps are in them."""

    def __init__(self, ends: Mapping[str, Span]) -> None:
        self.names = list(ends)
        self.ends = list(ends.values())
        self.points = [_middle(one) for one in self.ends]
        self.beside = [
            outward(one.low - m, one.high - m)
            for one, m in zip(self.ends, self.points, strict=True)
        ]

    def outputs(self, steps: Straight) -> list[Node]:
        """Return the outputs of some steps."""
        found: list[Node] = []
        with np.errstate(all="ignore"):
            for step in steps.nodes:
                found.append(self._node(step, [found[k] for k in step.operands]))
        return [found[one.node] for one in steps.outputs]

    def _node(self, step: Operation, read: Sequence[Node]) -> Node:
        if step.kind == "input":
            k = self.names.index(step.name)
            point = self.points[k]
            return Node(self.ends[k], Span(point, point), {k: ONE})
        if step.kind == "constant":
            return Node(exactly(step.value), exactly(step.value))
        if len(read) == 1:
            return self._function(step.kind, read[0])
        return self._tangent(self._of_two(step, *read))

    def _function(self, kind: str, a: Node) -> Node:
        value, point = VALUES[kind](a.value), VALUES[kind](a.point)
        if kind == "neg":
            return Node(value, point, {k: negated(one) for k, one in a.slopes.items()})
        slope = SLOPES[kind](a.value, value)
        return Node(value, point, {k: times(slope, one) for k, one in a.slopes.items()})

    def _of_two(self, step: Operation, a: Node, b: Node) -> Node:
        kind = step.kind
        if kind in ("add", "sub"):
            join = plus if kind == "add" else minus
            slopes = dict(a.slopes)
            for k, one in b.slopes.items():
                own = one if kind == "add" else negated(one)
                slopes[k] = plus(slopes[k], own) if k in slopes else own
            return Node(join(a.value, b.value), join(a.point, b.point), slopes)
        if kind == "mul" and step.operands[0] == step.operands[1]:
            twice = Span(2 * a.value.low, 2 * a.value.high)
            slopes = {k: times(twice, one) for k, one in a.slopes.items()}
            return Node(square(a.value), square(a.point), slopes)
        if kind == "mul":
            value, point = times(a.value, b.value), times(a.point, b.point)
            return Node(value, point, _both(a, b.value, b, a.value))
        if kind == "div":
            value, point = over(a.value, b.value), over(a.point, b.point)
            inverse = over(ONE, b.value)
            return Node(value, point, _both(a, inverse, b, negated(times(value, inverse))))
        value, by_a, by_b = _angle(a.value, b.value)
        return Node(value, _angle(a.point, b.point)[0], _both(a, by_a, b, by_b))

    def _tangent(self, node: Node) -> Node:
        """Return a step that is no wider than its tangents in a box say."""
        low, high = node.point
        for k, slope in node.slopes.items():
            beside = times(slope, self.beside[k])
            low, high = low + beside.low, high + beside.high
        slack = rounded_off(low, high, node)
        node.value = met(node.value, Span(low - slack, high + slack))
        return node


def rounded_off(low: Floats, high: Floats, node: Node) -> Floats:
    """Return what sums that lead from a step's point to two ends may have rounded off."""
    size = np.maximum(np.abs(low), np.abs(high))
    size = size + np.maximum(np.abs(node.point.low), np.abs(node.point.high))
    return (len(node.slopes) + 1) * (4 * ROUNDING * size) + TINY


def met(one: Span, two: Span) -> Span:
    """Return what both say; what is no number says nothing."""
    return Span(np.fmax(one.low, two.low), np.fmin(one.high, two.high))


def _both(a: Node, by_a: Span, b: Node, by_b: Span) -> dict[int, Span]:
    """Return slopes of a function of two, by its slopes along either."""
    slopes = {k: times(one, by_a) for k, one in a.slopes.items()}
    for k, one in b.slopes.items():
        own = times(one, by_b)
        slopes[k] = plus(slopes[k], own) if k in slopes else own
    return slopes


def _middle(ends: Span) -> Floats:
    return np.clip(ends.low + (ends.high - ends.low) / 2, ends.low, ends.high)


# --------------------------------------------------------------------------------------------------
# The tight bound of a function that was asked for as steps: every cell of its inputs is looked at.
# --------------------------------------------------------------------------------------------------


CELLS, FIRST = 33600, 1 << 18  # of all cells, for each of effort; for each of the first of it
LITTLE = 1 << 23  # cells: so many are the first
PART = 8  # so many cells are worth a piece of a cell
SIDES = {1: 32, 2: 8, 3: 4}  # cells along a side of a block, by how many inputs there are
LEAST = 2  # of more inputs
TOGETHER = 1 << 16  # cells at a time
HARDLY = 1 / 2048  # of the worst found: less than that more is let be
ENDS = 2.0**-50  # of an end of a cell: what floats round off
KEPT = 1 << 20  # pieces that are kept at a time
CORNERED = 64  # of these, the worst, corners are looked at
ONCE = 1 << 13  # pieces that are halved at once
MOST_INPUTS = 12
STEEP = 1e30  # counts for an infinite slope


class Axis(NamedTuple):
    """An input: its first word and the ends of all cells; without a word it is one cell."""

    name: str
    first: int | None
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Looked:
    """The least and the largest error of every output, in steps; cells and pieces looked at."""

    ends: tuple[tuple[Fraction, Fraction], ...]
    found: tuple[float, ...]
    work: int


def cells_of(explained: Explained) -> int:
    """Return how many cells there are; a `NotPlainError` of what was not asked for as steps."""
    return _count(_axes(explained))


def most_cells(effort: int) -> int:
    """Return how many cells are looked at with some effort."""
    return max(effort * CELLS, min(effort * FIRST, LITTLE))


def _count(axes: Sequence[Axis]) -> int:
    return math.prod(len(axis.low) for axis in axes)


def cell_bounds(explained: Explained, effort: int) -> Looked:
    """Return what every output errs by in the worst of all cells.

    A `NotPlainError` where there are more than `effort` allows. The same effort gives the same
    bound anywhere.
    """
    asked, axes = explained.asked, _axes(explained)
    if asked is None or _count(axes) > most_cells(effort):
        raise NotPlainError
    with np.errstate(all="ignore"):  # what is infinite, or no number, is known to be so
        return Search(explained, asked, axes, most_cells(effort) // PART).run()


def _axes(explained: Explained) -> list[Axis]:
    """Return all inputs; a `NotPlainError` where words are no function of cells alone."""
    asked = explained.asked
    if asked is None or len(asked.inputs) > MOST_INPUTS or explained.booked:
        raise NotPlainError
    if any(result.rest is not None for result in explained.results):
        raise NotPlainError
    given = {
        one.name: one
        for one in explained.meanings
        if isinstance(one, GivenWord) and one.word is not None
    }
    if {one.name for one in explained.graph.inputs} != set(given):
        raise NotPlainError
    axes = []
    for one in asked.inputs:
        if one.name in given:
            axes.append(_axis(explained, given[one.name], one.base, one.unit))
        else:
            axes.append(Axis(one.name, None, np.array([one.low]), np.array([one.high])))
    if not set(given) <= {axis.name for axis in axes}:
        raise NotPlainError
    return axes


def _axis(explained: Explained, given: GivenWord, base: float, unit: float) -> Axis:
    """Return the cells of an input, in its own numbers; ties lie in both cells."""
    line = given_line(explained.graph, given)
    first, last = cells_reached(line, given)
    words = np.arange(first, last + 1)
    start, step = float(line.start), float(line.step)
    if Fraction(start) != line.start or Fraction(step) != line.step:
        raise NotPlainError
    near = line.step * (Fraction(1, 2) + TIE)
    half = float(beside(line, given).ends[1] if given.exact else near)
    low, high = start + step * words - half, start + step * words + half
    if not given.wraps and not given.exact:
        least, most = (float(end) for end in given.allowed.ends)
        low[0] = least if first == 0 else max(low[0], least)
        high[-1] = most if last == line.count - 1 else min(high[-1], most)
        low[0], high[-1] = min(low[0], high[0]), max(low[-1], high[-1])
    low, high = base + unit * low, base + unit * high
    slack = ENDS * (abs(base) + np.maximum(np.abs(low), np.abs(high)))
    return Axis(given.name, first, low - slack, high + slack)


class Pieces(NamedTuple):
    """Parts of cells: their ends by input, the word, the error at most, where to cut."""

    low: Floats
    high: Floats
    said: Floats
    most: Floats
    cut: Words

    def chosen(self, which: Truths | Words) -> Pieces:
        """Return some of them."""
        low, high, said, most, cut = self
        return Pieces(low[which], high[which], said[which], most[which], cut[which])

    def halves(self) -> Pieces:
        """Return both halves of each."""
        low, high = np.tile(self.low, (2, 1)), np.tile(self.high, (2, 1))
        rows = np.arange(len(self.said))
        middle = self.low[rows, self.cut]
        middle = middle + (self.high[rows, self.cut] - middle) / 2
        high[rows, self.cut] = low[rows + len(rows), self.cut] = middle
        said, most, cut = np.tile(self.said, 2), np.tile(self.most, 2), np.tile(self.cut, 2)
        return Pieces(low, high, said, most, cut)


@dataclass(slots=True)
class Open:
    """What is known of an output in one direction.

    There is a state with the error `found`, nearly. What is closed errs by no more than `closed`,
    and all else lies in pieces.
    """

    found: float = -math.inf
    closed: float = -math.inf
    pieces: list[Pieces] = field(default_factory=list)

    def matters(self, most: Floats) -> Truths:
        """Tell what may err by more than is known; nothing is known of what is no number."""
        enough = self.found + HARDLY * abs(self.found)
        which = ~(most <= max(self.closed, enough))
        self.closed = max(self.closed, float(most[~which].max(initial=-np.inf)))
        return np.asarray(which)

    def gathered(self) -> Pieces | None:
        """Return all pieces that matter, the worst first, at most as many as are kept."""
        if not self.pieces:
            return None
        every = Pieces(*(np.concatenate(column) for column in zip(*self.pieces, strict=True)))
        every = every.chosen(self.matters(every.most))
        every = every.chosen(np.argsort(-every.most, kind="stable"))
        if len(every.most) > KEPT:
            self.closed = max(self.closed, float(every.most[KEPT]))
            every = every.chosen(np.arange(KEPT))
        self.pieces = [every]
        return every


class Search:
    """A search for the worst error of every output, in either direction."""

    def __init__(self, explained: Explained, asked: Asked, axes: Sequence[Axis], left: int) -> None:
        self.explained, self.axes, self.asked = explained, axes, asked
        self.left, self.work = left, 0
        self.limits = [self._limits(k) for k in range(len(explained.results))]
        self.open = [(Open(), Open()) for _ in self.limits]
        self.widths = np.array([float((axis.high - axis.low).max()) for axis in axes])

    def _limits(self, column: int) -> tuple[float, float]:
        """Return what an output's word can say, in steps from the middle of its range."""
        output, result = self.explained.graph.results[column], self.explained.results[column]
        half, moved = 1 << output.bits >> 1, float(result.shift) - output.tread / 2
        return moved - half, moved + half

    def run(self) -> Looked:
        """Look at all cells, block by block, and then at parts of those that matter."""
        for firsts in self._chunks():
            self._blocks(firsts)
        share = self.left // (2 * len(self.open))
        ends = []
        for column, (up, down) in enumerate(self.open):
            for sign, one in ((1, up), (-1, down)):
                self._refine(column, sign, one, share)
            ends.append((-Fraction(down.closed), Fraction(up.closed)))
        return Looked(tuple(ends), tuple(max(a.found, b.found) for a, b in self.open), self.work)

    # blocks of cells ------------------------------------------------------------------------------

    def _side(self) -> int:
        return SIDES.get(sum(len(axis.low) > 1 for axis in self.axes), LEAST)

    def _chunks(self) -> Iterator[list[Words]]:
        """Yield some blocks: by input the first cell of each."""
        side = self._side()
        counts = [-(-len(axis.low) // side) for axis in self.axes]
        whole = math.prod(min(side, len(axis.low)) for axis in self.axes)
        total, together = math.prod(counts), max(1, TOGETHER // whole)
        for first in range(0, total, together):
            numbers = np.arange(first, min(total, first + together))
            yield [np.asarray(one) * side for one in np.unravel_index(numbers, counts)]

    def _blocks(self, firsts: Sequence[Words]) -> None:
        """Look at some blocks: what the function is in each, then every cell."""
        side, count = self._side(), len(self.axes)
        shape = (-1, *[1] * count)
        ends, cells, words = {}, [], {}
        for k, (axis, first) in enumerate(zip(self.axes, firsts, strict=True)):
            most = len(axis.low) - 1
            ends[axis.name] = Span(axis.low[first], axis.high[np.minimum(first + side - 1, most)])
            along = [1] * (count + 1)
            along[k + 1] = min(side, len(axis.low))
            at = first.reshape(shape) + np.arange(along[k + 1]).reshape(along)
            at = np.minimum(at, most)  # of a block that is cut short the last cell comes again
            cells.append(Span(axis.low[at], axis.high[at]))
            words[axis.name] = at + (axis.first or 0)
        full = np.broadcast_shapes(*(one.low.shape for one in cells))
        said = self._said({
            axis.name: np.broadcast_to(words[axis.name], full).reshape(-1)
            for axis in self.axes
            if axis.first is not None
        })  # fmt: skip
        self.work += math.prod(full)
        boxes = Boxes(ends)
        points = [one.reshape(shape) for one in boxes.points]
        for column, found in enumerate(boxes.outputs(self.asked.steps)):
            own = np.broadcast_to(said[:, column], math.prod(full)).reshape(full)
            self._offer(column, _shaped(found, len(firsts[0]), shape), points, cells, own)

    def _said(self, words: dict[str, Words]) -> Floats:
        """Return what outputs' words stand for, in steps from the middles of their ranges."""
        found = simulate(self.explained.graph, words).words
        return np.asarray(found + (np.array([low for low, _ in self.limits]) + 0.5))

    def _offer(
        self, column: int, node: Node, points: Sequence[Floats], cells: Sequence[Span], said: Floats
    ) -> None:
        """Take of some cells those that may be the worst."""
        found = self._errors(column, node, points, cells, said)
        full = said.shape
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
            one.pieces.append(Pieces(low, high, said[which], most[which], cut))
            if sum(len(part.said) for part in one.pieces) > 2 * KEPT:
                one.gathered()

    # errors ---------------------------------------------------------------------------------------

    def _errors(
        self, column: int, node: Node, points: Sequence[Floats], cells: Sequence[Span], said: Floats
    ) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Return the errors upwards and downwards in cells: at most, and at least somewhere."""
        low, high = node.point
        least, most = node.point.high, node.point.low  # at the corners where it is so
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
        value = self._in_steps(column, met(node.value, Span(low - slack, high + slack)))
        corner = self._in_steps(column, Span(most, least))
        return (
            (said - value.low, np.minimum(said - corner.high, said - value.low)),
            (value.high - said, np.minimum(corner.low - said, value.high - said)),
        )

    def _in_steps(self, column: int, value: Span) -> Span:
        """Return an output in steps from the middle of its range, the nearest that its word says.

        What is no number may be anything.
        """
        (centre, step), (least, most) = self.asked.outputs[column], self.limits[column]
        low, high = over(minus(value, exactly(centre)), exactly(step))
        return Span(
            np.clip(np.where(np.isnan(low), least, low), least, most),
            np.clip(np.where(np.isnan(high), most, high), least, most),
        )

    def _cut(self, node: Node, low: Floats, high: Floats, which: Truths) -> Words:
        """Return the inputs along which pieces are to be halved: where slopes differ most."""
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
        """Halve what matters until nothing does, or so many pieces have been looked at."""
        while (every := one.gathered()) is not None and len(every.said):
            count = min(ONCE, left // 2)
            if not count:
                one.closed = max(one.closed, float(every.most[0]))
                break
            halves = every.chosen(np.arange(len(every.said)) < count).halves()
            left, self.work = left - len(halves.said), self.work + len(halves.said)
            one.pieces = [every.chosen(np.arange(len(every.said)) >= count)]
            self._look(column, sign, one, halves)
        one.pieces = []

    def _look(self, column: int, sign: int, one: Open, pieces: Pieces) -> None:
        cells = [Span(pieces.low[:, k], pieces.high[:, k]) for k in range(len(self.axes))]
        boxes = Boxes({axis.name: cell for axis, cell in zip(self.axes, cells, strict=True)})
        node = boxes.outputs(self.asked.steps)[column]
        found = self._errors(column, node, boxes.points, cells, pieces.said)
        most, least = found[sign < 0]
        most = np.fmin(most, pieces.most)
        one.found = max(one.found, float(np.nan_to_num(least, nan=-np.inf).max()))
        worst = pieces.chosen(np.argsort(-most, kind="stable")[:CORNERED])
        one.found = max(one.found, self._at_corners(column, sign, worst))
        every = np.ones(len(most), np.bool_)
        pieces = pieces._replace(most=most, cut=self._cut(node, pieces.low, pieces.high, every))
        one.pieces.append(pieces.chosen(one.matters(most)))

    def _at_corners(self, column: int, sign: int, pieces: Pieces) -> float:
        """Return the largest error at corners of some pieces: at a jump one side is at a corner."""
        found = -math.inf
        for side in itertools.product(*([False, True] if w else [False] for w in self.widths)):
            at = np.where(side, pieces.high, pieces.low).T
            boxes = Boxes({axis.name: Span(x, x) for axis, x in zip(self.axes, at, strict=True)})
            value = self._in_steps(column, boxes.outputs(self.asked.steps)[column].point)
            error = pieces.said - value.high if sign > 0 else value.low - pieces.said
            found = max(found, float(error.max(initial=-np.inf)))
        return found


def _shaped(node: Node, count: int, shape: tuple[int, ...]) -> Node:
    """Return a step of which every box has a row of its own."""

    def rows(one: Span) -> Span:
        return Span(*(np.broadcast_to(end, (count,)).reshape(shape) for end in one))

    slopes = {k: rows(one) for k, one in node.slopes.items()}
    return Node(rows(node.value), rows(node.point), slopes)
