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

from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.inputs import TIE, beside, cells_reached
from boolcomp.proof.bound.known import given_line
from boolcomp.proof.bound.meaning import GivenWord
from boolcomp.proof.bound.slopes import (
    TINY,
    Boxes,
    Node,
    Span,
    exactly,
    met,
    minus,
    outward,
    over,
    rounded_off,
    times,
)
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.meaning import Asked, Explained

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]
    Truths = NDArray[np.bool_]

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
