"""Climbers towards the largest errors: where they start, how they move, what they find.

Logic gives one output for a whole cell of input words, and within a cell the exact output is
nearly linear in every input, so errors are largest at corners of cells. A climber is a cell and a
corner; it moves to another if the error there is no smaller: in one word or several, to a
neighbour, by one bit, anywhere, to another corner, to where another climber is. Every so often the
better half takes the place of the worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.worst import Subject

    Floats = NDArray[np.float64]
    Cells = NDArray[np.int64]
    Seed = np.random.SeedSequence | np.random.Generator

EDGE = 1e-6  # of a cell: how near to its border a state is put, to be on the right side of it
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


class Climbers:
    """Climbers, (output and sign, climber): their cells, places within them, and errors."""

    def __init__(self, subject: Subject, rng: np.random.Generator) -> None:
        self.subject, self.rng = subject, rng
        outputs = len(subject.codes)
        cells = [axis.cells for axis in subject.axes]
        self.start, self.step = (np.array([one[k] for one in cells]) for k in (0, 1))
        self.first, self.last = (np.array([one[k] for one in cells]) for k in (2, 3))
        self.bits = np.maximum(1, [int(one[3] - one[2]).bit_length() for one in cells])
        self.low = np.array([axis.allowed.low for axis in subject.axes])
        self.high = np.array([axis.allowed.high for axis in subject.axes])
        self.output = np.repeat(np.arange(outputs), 2)
        self.sign = np.tile([1.0, -1.0], outputs)
        self.best = np.full(2 * outputs, -np.inf)
        self.states = np.zeros((2 * outputs, len(cells)))
        self.evaluations = 0

    def found(self, states: Floats, heights: Floats) -> Found:
        """Return what was found, with states to go on from."""
        return Found(self.best, self.states, states, heights, self.evaluations)

    def drawn(self, count: int, kept: int, given: Floats | None) -> tuple[Floats, Floats]:
        """Return the worst of so many states for every output and sign, and their errors."""
        best = np.full((len(self.best), kept), -np.inf)
        states = np.broadcast_to(self.low, (len(self.best), kept, len(self.low))).copy()
        for place in range(0, count, ROWS):
            drawn = self.rng.uniform(self.low, self.high, (min(ROWS, count - place), len(self.low)))
            if place == 0 and given is not None:
                drawn = np.concatenate([np.clip(given, self.low, self.high), drawn])
            errors = self._evaluated(drawn)
            for target, (output, sign) in enumerate(zip(self.output, self.sign, strict=True)):
                both = np.concatenate([best[target], sign * errors[:, output]])
                order = np.argsort(-both, kind="stable")[:kept]
                best[target] = both[order]
                states[target] = np.concatenate([states[target], drawn])[order]
        return states, best

    def climbed(self, own: Cells, states: Floats, turns: int) -> tuple[Floats, Floats]:
        """Let climbers of some outputs and signs move for so many turns; the highest first."""
        rows = states.shape[1]
        cell, part = self._placed(states)
        height = self.heights(states, own)
        for turn in range(turns):
            new_cell, new_part = self.moved(cell, part)
            there = self.heights(self._state(new_cell, new_part), own)
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
        highest = np.take_along_axis(self._state(cell, part), order[..., None], axis=1)
        return np.asarray(highest), np.take_along_axis(height, order, axis=1)

    def moved(self, cell: Cells, part: Floats) -> tuple[Cells, Floats]:
        """Return other cells and places: of every climber one input or several are changed."""
        rng, (targets, rows, axes) = self.rng, cell.shape
        share = np.array([0.0, 1.0, 2.0])[rng.integers(0, 3, (targets, rows, 1))] / axes
        chosen = rng.random(cell.shape) < share
        forced = rng.integers(0, axes, (targets, rows, 1))
        np.put_along_axis(chosen, forced, values=True, axis=2)
        places = np.nonzero(chosen)
        axis, count = places[2], len(places[0])
        old, within = cell[places], part[places]
        one = np.left_shift(1, rng.integers(0, self.bits[axis]))
        mate = (places[1] + 1 + rng.integers(0, max(1, rows - 1), count)) % rows
        other = (places[0], mate, axis)
        corner = np.where(rng.random(count) < 0.5, EDGE, 1 - EDGE)
        kind = rng.integers(0, 16, count)
        moves = [kind < 4, kind < 6, kind < 9, kind < 10, kind < 12, kind < 15]
        new = np.select(moves, [
            old + np.where(rng.random(count) < 0.5, 1, -1),
            old + np.where(rng.random(count) < 0.5, one, -one),
            self.first[axis] + ((old - self.first[axis]) ^ one),
            rng.integers(self.first[axis], self.last[axis] + 1),
            cell[other], old,
        ], old)  # fmt: skip
        where = np.select(
            [kind < 6, kind < 10, kind < 12, kind < 15],
            [np.where(rng.random(count) < 0.5, within, corner), corner, part[other], 1 - within],
            rng.random(count) * (1 - 2 * EDGE) + EDGE,
        )
        new_cell, new_part = cell.copy(), part.copy()
        new_cell[places] = np.clip(new, self.first[axis], self.last[axis])
        new_part[places] = where
        return new_cell, new_part

    def _placed(self, states: Floats) -> tuple[Cells, Floats]:
        scaled = (states - self.start) / self.step
        cell = np.clip(np.floor(scaled).astype(np.int64), self.first, self.last)
        return cell, np.clip(scaled - cell, EDGE, 1 - EDGE)

    def _state(self, cell: Cells, part: Floats) -> Floats:
        return np.asarray(np.clip(self.start + (cell + part) * self.step, self.low, self.high))

    def heights(self, states: Floats, own: Cells) -> Floats:
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
    own: Cells,
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
