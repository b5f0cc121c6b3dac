"""Between which numbers the steps of a calculation and their slopes lie, in many boxes at once.

Ends are floats that are rounded outward after every operation. In a box with a point m a step is

    f(m) + Σ slope · (x - m),    slopes as they are anywhere in the box,

and what its operands say; both hold, so that the narrower of them does. What nothing is known of,
as where a sum is divided by one that may be zero, is infinite or no number; `Box` counts no number
as infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Operation, Straight

    Floats = NDArray[np.float64]

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
