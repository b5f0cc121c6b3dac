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

from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.workers import ALONE, Shared
from boolcomp.codes import TIE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.base.workers import Workers
    from boolcomp.codes import Code
    from boolcomp.engines.choice import EngineName
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.words import Interval
    from boolcomp.program.program import Program

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Seed = np.random.SeedSequence | np.random.Generator


# --------------------------------------------------------------------------------------------------
# Climbers towards the largest errors: where they start, how they move, what they find.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# The largest error of compiled logic against the exact function, sought by climbing: not proved.
#
# Climbers (`climbing`) start at the worst states of a large draw, some for every output and sign.
# The draws and climbs have random numbers of their own and know nothing of each other: they run
# wherever there are workers, and what they find is put together in one order. Sought is the largest
# error at any double within the inputs' ranges: other words that there are do not count, and what
# the encoder takes for on a border does.
# --------------------------------------------------------------------------------------------------


DIGITS = 9  # of an error that count, lest the last bit of a machine's sine decide
DRAWN = 1 << 20  # states that climbing starts from
DRAWS = 4  # of them: so many draws, each of a part
FEWEST = 64  # climbers; ROWS are the most
LEAST_TURNS = 500  # for every climber, of all climbs, before there are more climbers
EVALUATIONS = 20_000_000  # in all
RESTARTS = 4
FINALS = 2  # last climbs: each of a part of what is sought


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
    logic = ProgramLogic(program, payload, engine)
    return Subject(problem, axes_of(problem, words), codes, logic)


@dataclass(frozen=True, slots=True, eq=False)
class ProgramLogic:
    """What a program gives, as the logic of a subject."""

    program: Program
    payload: float | None
    engine: EngineName

    def __call__(self, *arrays: Floats) -> Floats:
        """Return outputs in their units."""
        return self.program.evaluate(*arrays, payload=self.payload, engine=self.engine).values


def find_worst(
    subject: Subject,
    evaluations: int = EVALUATIONS,
    *,
    seed: int = 0,
    start: Floats | None = None,
    watched: int = 0,
    workers: Workers = ALONE,
    kind: type[Climbers] = Climbers,
    one_after_another: bool = False,
    told: Callable[[float], None] = lambda _: None,
) -> Worst:
    """Return the worst errors that climbing finds, with about so many evaluations.

    `start` are states (samples, inputs) to climb from as well; `kind` are the climbers. The same
    arguments give the same result on any engine, whoever does the work. Those that go one after
    another take their random numbers from one sequence, here. `told` is which part of the work is
    done, as calls end.
    """
    done = 0

    def each(results: Iterable[Found]) -> list[Found]:
        nonlocal done
        ended = []
        for one in results:
            ended.append(one)
            done += one.evaluations
            told(min(1.0, done / max(1, evaluations)))
        return ended

    given = Shared(subject), kind
    outputs, axes = len(subject.codes), len(subject.axes)
    seeds: Iterator[Seed]
    if one_after_another:
        seeds, workers, draws_, finals = repeat(np.random.default_rng(seed)), ALONE, 1, 1
    else:
        draws_, finals = DRAWS, FINALS
        seeds = iter(np.random.SeedSequence(seed).spawn(draws_ + RESTARTS + finals))
    rows = max(RESTARTS, min(ROWS, max(FEWEST, evaluations // LEAST_TURNS)) // (2 * outputs))
    count = max(1, min(DRAWN, evaluations // 4))
    parts = [one for one in _parts(count, draws_) if one]
    draws = [
        (*given, next(seeds), part, rows * RESTARTS, start if k == 0 else None)
        for k, part in enumerate(parts)
    ]
    found = each(workers.in_order(drawn, draws))
    starts = highest(found, rows * RESTARTS)
    turns = max(1, (evaluations - done) // (rows * 2 * outputs * (RESTARTS + 1)))
    every = np.arange(2 * outputs)
    climbs = [(*given, next(seeds), every, starts[:, k::RESTARTS], turns) for k in range(RESTARTS)]
    ends = each(workers.in_order(climbed, climbs))
    best = np.concatenate([one.states[:, : rows // RESTARTS] for one in ends], axis=1)
    groups = [one for one in np.array_split(every, finals) if len(one)]
    final = [(*given, next(seeds), own, best[own], turns) for own in groups]
    last = each(workers.in_order(climbed, final))
    most, where = best_of([*found, *ends, *last])
    top = np.concatenate([one.states[:, : -(-watched // 2)] for one in last])
    return Worst(
        (np.tile([1.0, -1.0], outputs) * most).reshape(outputs, 2),
        where.reshape(outputs, 2, axes),
        done,
        top.reshape(outputs, -1, axes),
    )


def _parts(count: int, parts: int) -> list[int]:
    """Return a number as a sum of nearly equal ones."""
    return [(k + 1) * count // parts - k * count // parts for k in range(parts)]


def worst_of(subject: Subject, states: Floats) -> Worst:
    """Return the worst errors at given states (samples, inputs)."""
    errors = subject.errors(states)
    places = np.stack([errors.argmax(axis=0), errors.argmin(axis=0)], axis=1)
    found = np.take_along_axis(errors.T, places, axis=1)
    none = np.empty((len(places), 0, states.shape[1]))
    return Worst(found, states[places], len(states), none)
