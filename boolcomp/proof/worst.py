"""The largest error of compiled logic against the exact function, sought by climbing: not proved.

Logic gives one output for a whole cell of input words, and within a cell the exact output is
nearly linear in every input, so errors are largest at corners of cells. A climber is a cell and a
corner; it moves to another if the error there is no smaller: in one word or several, to a
neighbour, by one bit, anywhere, to another corner, to where another climber is. Climbers start at
the worst states of a large draw, some for every output and sign; every so often the better half
takes the place of the worse. Only states within the inputs' ranges count, whatever words can say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.engines import EngineName
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program

    Floats = NDArray[np.float64]
    Cells = NDArray[np.int64]

EDGE = 1e-6  # of a cell: how near to its border a state is put, to be on the right side of it
DIGITS = 9  # of an error that count, lest the last bit of a machine's sine decide
DRAWN = 1 << 20  # states that climbing starts from
ROWS, FEWEST = 1 << 12, 64  # climbers
LEAST_TURNS = 1000  # for every climber, of all climbs, before there are more climbers
HALVINGS = 12  # generations in a row after which the better half takes over
EVALUATIONS = 20_000_000  # in all
RESTARTS = 4


@dataclass(frozen=True, slots=True)
class Axis:
    """An input: where it may be, and the cells of its word."""

    allowed: Interval
    word: Code | None

    @property
    def cells(self) -> tuple[float, float, int, int]:
        """Where the first cell begins, how wide cells are, the first and the last allowed."""
        if self.word is None:  # nothing reads it, but the exact output may
            return self.allowed.low, self.allowed.width or 1.0, 0, 0
        if self.word.wraps:
            return self.word.low, self.word.step, 0, self.word.cells - 1
        ends = self.word.cell([self.allowed.low, self.allowed.high])[0]
        return self.word.low, self.word.step, int(ends[0]), int(ends[1])


@dataclass(frozen=True, slots=True)
class Subject:
    """What is searched: a problem, its inputs in order, and logic's outputs with their codes.

    `logic` takes the arrays of all groups and gives outputs, (samples, outputs), in their units.
    """

    problem: Problem
    axes: tuple[Axis, ...]
    codes: tuple[Code, ...]
    logic: Callable[..., Floats]

    def errors(self, states: Floats) -> Floats:
        """Return errors in steps, (samples, outputs), at states (samples, inputs).

        An output that a word cannot hold counts as the nearest that it can.
        """
        arrays = self.problem.arrays(states)
        exact = self.problem.reference(*arrays)
        low = np.array([code.low for code in self.codes])
        high = np.array([code.high for code in self.codes])
        step = np.array([code.step for code in self.codes])
        error = (self.logic(*arrays) - np.clip(exact, low, high)) / step
        return np.asarray(np.round(error, DIGITS))


@dataclass(frozen=True, slots=True, eq=False)
class Worst:
    """The worst that was found, in steps: of every output the largest and the least error.

    `states` are those at which they are, (output, sign, inputs), and `evaluations` at how many
    states the logic was run. `watched` are the worst states that climbing ended at, as many for
    every output, (output, states, inputs).
    """

    errors: Floats
    states: Floats
    evaluations: int
    watched: Floats

    @property
    def most(self) -> Floats:
        """The largest absolute error of every output, in steps."""
        return np.asarray(np.abs(self.errors).max(axis=1))

    def moved(self, by: Floats) -> Worst:
        """Return the worst of outputs that stand for so much more, in steps."""
        return replace(self, errors=self.errors + by[:, None])


def axes_of(problem: Problem, words: Mapping[str, Code]) -> tuple[Axis, ...]:
    """Return the inputs of a problem, with those words that there are.

    Of a word that wraps all cells are allowed, each once.
    """
    axes = []
    for one in problem.inputs:
        word = words.get(one.name)
        axes.append(Axis(word.range if word and word.wraps else one.range, word))
    return tuple(axes)


def subject_of(
    program: Program, problem: Problem, payload: float | None = None, engine: EngineName = "auto"
) -> Subject:
    """Return a program with a payload (kg) as what is searched; the problem has it too."""
    words = {word.name: word.code for word in program.inputs}
    codes = tuple(output.code for output in program.load(payload).outputs)

    def logic(*arrays: Floats) -> Floats:
        return program.evaluate(*arrays, payload=payload, engine=engine).values

    return Subject(problem, axes_of(problem, words), codes, logic)


def find_worst(
    subject: Subject,
    evaluations: int = EVALUATIONS,
    *,
    seed: int = 0,
    start: Floats | None = None,
    watched: int = 0,
) -> Worst:
    """Return the worst errors that climbing finds, with about so many evaluations.

    `start` are states (samples, inputs) to climb from as well. The same arguments give the same
    result on any engine.
    """
    return Climbers(subject, np.random.default_rng(seed)).run(evaluations, start, watched)


def worst_of(subject: Subject, states: Floats) -> Worst:
    """Return the worst errors at given states (samples, inputs)."""
    errors = subject.errors(states)
    places = np.stack([errors.argmax(axis=0), errors.argmin(axis=0)], axis=1)
    found = np.take_along_axis(errors.T, places, axis=1)
    none = np.empty((len(places), 0, states.shape[1]))
    return Worst(found, states[places], len(states), none)


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

    def run(self, evaluations: int, given: Floats | None, watched: int) -> Worst:
        """Climb several times from a draw, then from where that has led."""
        climbers = min(ROWS, max(FEWEST, evaluations // LEAST_TURNS))
        rows = max(RESTARTS, climbers // len(self.best))
        starts = self._drawn(min(DRAWN, evaluations // 4), rows * RESTARTS, given)
        left = evaluations - self.evaluations
        turns = max(1, left // (rows * len(self.best) * (RESTARTS + 1)))
        ends = [self._climb(starts[:, k::RESTARTS], turns) for k in range(RESTARTS)]
        kept = rows // RESTARTS
        final = self._climb(np.concatenate([end[:, :kept] for end in ends], axis=1), turns)
        outputs = len(self.best) // 2
        shape = (outputs, 2, -1)
        most = final[:, : -(-watched // 2)] if watched else final[:, :0]
        return Worst(
            (self.sign * self.best).reshape(outputs, 2), self.states.reshape(shape),
            self.evaluations, most.reshape(outputs, -1, len(self.low)),
        )  # fmt: skip

    def _drawn(self, count: int, kept: int, given: Floats | None) -> Floats:
        """Return the worst of so many states for every output and sign, the worst first."""
        best = np.full((len(self.best), kept), -np.inf)
        states = np.broadcast_to(self.low, (len(self.best), kept, len(self.low))).copy()
        for place in range(0, max(1, count), ROWS):
            shape = (min(ROWS, max(1, count - place)), len(self.low))
            drawn = self.rng.uniform(self.low, self.high, shape)
            if place == 0 and given is not None:
                drawn = np.concatenate([np.clip(given, self.low, self.high), drawn])
            errors = self._evaluated(drawn)
            for target, (output, sign) in enumerate(zip(self.output, self.sign, strict=True)):
                both = np.concatenate([best[target], sign * errors[:, output]])
                order = np.argsort(-both, kind="stable")[:kept]
                best[target] = both[order]
                states[target] = np.concatenate([states[target], drawn])[order]
        return states

    def _climb(self, states: Floats, turns: int) -> Floats:
        """Let climbers move for so many turns from where they are; the highest first."""
        rows = states.shape[1]
        cell, part = self._placed(states)
        height = self.heights(states)
        for turn in range(turns):
            new_cell, new_part = self.moved(cell, part)
            there = self.heights(self._state(new_cell, new_part))
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
        order = np.argsort(-height, axis=1, kind="stable")[..., None]
        return np.asarray(np.take_along_axis(self._state(cell, part), order, axis=1))

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

    def heights(self, states: Floats) -> Floats:
        """Return errors of climbers towards what they seek, (output and sign, climber)."""
        targets, rows, axes = states.shape
        errors = self._evaluated(states.reshape(-1, axes)).reshape(targets, rows, -1)
        return np.asarray(self.sign[:, None] * errors[np.arange(targets), :, self.output])

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
