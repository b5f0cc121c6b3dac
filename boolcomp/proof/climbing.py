"""Climbers towards the largest errors: where they start, how they move, what they find.

Logic gives one output for a whole cell of input words, and within a cell the exact output is
nearly linear in every input, so errors are mostly largest at corners of cells. A climber is a cell
and a place in it; it moves to another if the error there is no smaller: in one word or several, to
a neighbour, by one bit, anywhere, to another corner, to where another climber is, to a place nearby
(of a jump or a cusp within the cell the largest error is not at a corner). Every so often the
better half takes the place of the worse.

A place is 0 at the lowest input that has the cell's word and 1 at the highest (`Cells`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.codes import TIE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.worst import Axis, Subject

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Seed = np.random.SeedSequence | np.random.Generator

ROUNDED = 0.1  # of what the encoder takes for on a border: rounding is less
LEAST = 1e-300  # the width of a cell that has none
NEAREST = -50.0  # the binary logarithm of the smallest move within a cell
ROWS = 1 << 12  # climbers, and states at a time
HALVINGS = 12  # generations in a row after which the better half takes over


class Found(NamedTuple):
    """What a draw or a climb found: errors towards what is sought, where; states to go on from.

    `heights` are the errors of these, (output and sign, state).
    """

    best: Floats
    where: Floats
    states: Floats
    heights: Floats
    evaluations: int


class Cells:
    """The cells of inputs: which inputs have the word of each, to the last digits.

    The encoder takes what is less than TIE of a cell below a border for on it, so that the inputs
    of a cell begin and end so much lower. The first cell begins and the last one ends where the
    input's range does, however wide they are; of a word that wraps they are as all others.
    """

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.low = np.array([axis.allowed.low for axis in axes])
        self.high = np.array([axis.allowed.high for axis in axes])
        cells = [axis.cells for axis in axes]
        self.start, self.step = (np.array([one[k] for one in cells]) for k in (0, 1))
        self.first, self.last = (np.array([one[k] for one in cells]) for k in (2, 3))
        self.bits = np.maximum(1, [int(one[3] - one[2]).bit_length() for one in cells])
        self.wraps = np.array([axis.word is not None and axis.word.wraps for axis in axes])
        coded = np.array([axis.word is not None for axis in axes])
        self.below = np.where(coded, (1 - ROUNDED) * TIE, 0.0) * self.step
        self.short = np.where(coded, (1 + ROUNDED) * TIE, 0.0) * self.step

    def ends(self, cell: Indices) -> tuple[Floats, Floats]:
        """Return the lowest and the highest inputs of cells, inputs along the last axis."""
        lower = self.start + cell * self.step - self.below
        upper = self.start + (cell + 1) * self.step - self.short
        inside = ~self.wraps
        lower = np.where(inside & (cell <= self.first), self.low, lower)
        upper = np.where(inside & (cell >= self.last), self.high, upper)
        return lower, upper

    def states(self, cell: Indices, part: Floats) -> Floats:
        """Return the inputs at places of cells."""
        lower, upper = self.ends(cell)
        found = np.where(part == 1, upper, lower + part * (upper - lower))
        around = found + self.wraps * (found < self.low) * (self.high - self.low)
        return np.asarray(np.clip(around, self.low, self.high))

    def corners(self) -> Floats:
        """Return all corners of all cells, (corners, inputs)."""
        axes = []
        for k, (first, last) in enumerate(zip(self.first, self.last, strict=True)):
            cell = np.repeat(first + np.arange(last - first + 1), 2)[:, None]
            cells = np.broadcast_to(self.first, (len(cell), len(self.first))).copy()
            cells[:, k : k + 1] = cell
            parts = np.broadcast_to(np.arange(len(cell))[:, None] % 2, cells.shape)
            axes.append(self.states(cells, parts.astype(np.float64))[:, k])
        grid = np.meshgrid(*axes, indexing="ij")
        return np.stack([axis.reshape(-1) for axis in grid], axis=1)

    def placed(self, states: Floats) -> tuple[Indices, Floats]:
        """Return the cells of inputs, and their places there."""
        cell = np.floor((states - self.start) / self.step + TIE).astype(np.int64)
        cell = np.clip(cell, self.first, self.last)
        lower, upper = self.ends(cell)
        return cell, np.clip((states - lower) / np.maximum(upper - lower, LEAST), 0.0, 1.0)


class Climbers:
    """Climbers, (output and sign, climber): their cells, places within them, and errors."""

    def __init__(self, subject: Subject, rng: np.random.Generator) -> None:
        self.subject, self.rng = subject, rng
        outputs = len(subject.codes)
        self.cells = Cells(subject.axes)
        self.output = np.repeat(np.arange(outputs), 2)
        self.sign = np.tile([1.0, -1.0], outputs)
        self.best = np.full(2 * outputs, -np.inf)
        self.states = np.zeros((2 * outputs, len(subject.axes)))
        self.evaluations = 0

    def found(self, states: Floats, heights: Floats) -> Found:
        """Return what was found, with states to go on from."""
        return Found(self.best, self.states, states, heights, self.evaluations)

    def drawn(self, count: int, kept: int, given: Floats | None) -> tuple[Floats, Floats]:
        """Return the worst of so many states for every output and sign, and their errors."""
        low, high = self.cells.low, self.cells.high
        best = np.full((len(self.best), kept), -np.inf)
        states = np.broadcast_to(low, (len(self.best), kept, len(low))).copy()
        for place in range(0, count, ROWS):
            drawn = self.rng.uniform(low, high, (min(ROWS, count - place), len(low)))
            if place == 0 and given is not None:
                drawn = np.concatenate([np.clip(given, low, high), drawn])
            errors = self._evaluated(drawn)
            for target, (output, sign) in enumerate(zip(self.output, self.sign, strict=True)):
                both = np.concatenate([best[target], sign * errors[:, output]])
                order = np.argsort(-both, kind="stable")[:kept]
                best[target] = both[order]
                states[target] = np.concatenate([states[target], drawn])[order]
        return states, best

    def climbed(self, own: Indices, states: Floats, turns: int) -> tuple[Floats, Floats]:
        """Let climbers of some outputs and signs move for so many turns; the highest first."""
        rows = states.shape[1]
        cell, part = self.cells.placed(states)
        height = self.heights(states, own)
        for turn in range(turns):
            new_cell, new_part = self.moved(cell, part)
            there = self.heights(self.cells.states(new_cell, new_part), own)
            better = (there >= height)[..., None]
            cell, part = np.where(better, new_cell, cell), np.where(better, new_part, part)
            height = np.maximum(height, there)
            if turn % max(1, turns // (HALVINGS + 1)) == max(1, turns // (HALVINGS + 1)) - 1:
                order = np.argsort(-height, axis=1, kind="stable")
                half = -(-rows // 2)
                order = np.concatenate([order[:, :half], order[:, : rows - half]], axis=1)
                cell = np.take_along_axis(cell, order[..., None], axis=1)
                part = np.take_along_axis(part, order[..., None], axis=1)
                height = np.take_along_axis(height, order, axis=1)
        order = np.argsort(-height, axis=1, kind="stable")
        highest = np.take_along_axis(self.cells.states(cell, part), order[..., None], axis=1)
        return np.asarray(highest), np.take_along_axis(height, order, axis=1)

    def moved(self, cell: Indices, part: Floats) -> tuple[Indices, Floats]:
        """Return other cells and places: of every climber one input or several are changed."""
        rng, (targets, rows, axes) = self.rng, cell.shape
        share = np.array([0.0, 1.0, 2.0])[rng.integers(0, 3, (targets, rows, 1))] / axes
        chosen = rng.random(cell.shape) < share
        forced = rng.integers(0, axes, (targets, rows, 1))
        np.put_along_axis(chosen, forced, values=True, axis=2)
        places = np.nonzero(chosen)
        axis, count = places[2], len(places[0])
        old, within = cell[places], part[places]
        first, last = self.cells.first[axis], self.cells.last[axis]
        one = np.left_shift(1, rng.integers(0, self.cells.bits[axis]))
        mate = (places[1] + 1 + rng.integers(0, max(1, rows - 1), count)) % rows
        other = (places[0], mate, axis)
        corner = np.where(rng.random(count) < 0.5, 0.0, 1.0)
        sign, drawn = np.where(rng.random(count) < 0.5, 1, -1), rng.random(count)
        near = np.clip(within + sign * 2.0 ** (NEAREST * drawn), 0.0, 1.0)
        kind = rng.integers(0, 16, count)
        moves = [kind < 4, kind < 6, kind < 9, kind < 10, kind < 12, kind < 16]
        new = np.select(moves, [
            old + sign,
            old + sign * one,
            first + ((old - first) ^ one),
            rng.integers(first, last + 1),
            cell[other], old,
        ], old)  # fmt: skip
        where = np.select(
            [kind < 6, kind < 10, kind < 12, kind < 14, kind < 15],
            [np.where(rng.random(count) < 0.5, within, corner), corner, part[other], 1 - within,
             near],
            drawn,
        )  # fmt: skip
        new_cell, new_part = cell.copy(), part.copy()
        new_cell[places] = np.clip(new, first, last)
        new_part[places] = where
        return new_cell, new_part

    def heights(self, states: Floats, own: Indices) -> Floats:
        """Return errors of climbers towards what they seek, (output and sign, climber)."""
        targets, rows, axes = states.shape
        errors = self._evaluated(states.reshape(-1, axes)).reshape(targets, rows, -1)
        towards = errors[np.arange(targets), :, self.output[own]]
        return np.asarray(self.sign[own, None] * towards)

    def _evaluated(self, states: Floats) -> Floats:
        """Return errors at states, and note the worst."""
        errors = self.subject.errors(states)
        self.evaluations += len(states)
        towards = errors[:, self.output] * self.sign
        most = towards.argmax(axis=0)
        for target, row in enumerate(most):
            if towards[row, target] > self.best[target]:
                self.best[target] = towards[row, target]
                self.states[target] = states[row]
        return errors


def drawn(
    subject: Subject,
    kind: type[Climbers],
    seed: Seed,
    count: int,
    kept: int,
    given: Floats | None,
) -> Found:
    """Draw states, and keep the worst (what a worker does)."""
    made = kind(subject, np.random.default_rng(seed))
    return made.found(*made.drawn(count, kept, given))


def climbed(
    subject: Subject,
    kind: type[Climbers],
    seed: Seed,
    own: Indices,
    states: Floats,
    turns: int,
) -> Found:
    """Climb from states of some outputs and signs (what a worker does)."""
    made = kind(subject, np.random.default_rng(seed))
    return made.found(*made.climbed(own, states, turns))


def highest(found: Sequence[Found], kept: int) -> Floats:
    """Return the highest states of several draws for every output and sign, the highest first."""
    heights = np.concatenate([one.heights for one in found], axis=1)
    order = np.argsort(-heights, axis=1, kind="stable")[:, :kept, None]
    states = np.concatenate([one.states for one in found], axis=1)
    return np.asarray(np.take_along_axis(states, order, axis=1))


def best_of(found: Sequence[Found]) -> tuple[Floats, Floats]:
    """Return the largest errors towards what is sought, and where they are: the first of equals."""
    every = np.stack([one.best for one in found])
    first, targets = every.argmax(axis=0), np.arange(every.shape[1])
    return every[first, targets], np.stack([one.where for one in found])[first, targets]
