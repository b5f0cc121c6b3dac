"""The search for the largest errors of compiled logic by many parallel climbers.

Logic gives one output for a whole cell of input words. Within a cell the exact output is nearly
linear in every input, so errors are mostly largest at corners of cells. A climber is a cell and a
position in it. It moves if the error at the new position is no smaller. A move changes one input or
several. It leads to a neighbouring or random cell, by one bit of the word, to another corner, to
another climber's position, or to a near position in the cell. The last kind of move finds errors at
jumps and cusps, which are not at corners. At intervals, copies of the better half replace the rest.

A position is 0 at the lowest input that has the cell's word, and 1 at the highest
(`SearchedCells`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.workers import ALONE, SharedValue
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
# Climbers.
# --------------------------------------------------------------------------------------------------

ROUNDED = 0.1  # of the tolerance TIE of encoders: exceeds the rounding of inputs
LEAST = 1e-300  # replaces the width of an empty cell
NEAREST = -50.0  # the binary logarithm of the smallest move within a cell
ROWS = 1 << 12  # limit on climbers, and on states evaluated at a time
HALVINGS = 12  # replacements of the worse half during a climb


class FoundError(NamedTuple):
    """The result of a draw or a climb: largest errors, their states, and states to continue from.

    `heights` are the errors at the latter, (output and sign, state).
    """

    best: Floats
    where: Floats
    states: Floats
    heights: Floats
    evaluations: int


class SearchedCells:
    """The cells of inputs, exact to the last digits.

    Encoders assign inputs less than TIE of a cell below a border to the cell above it, so the
    limits of a cell are lower by this amount. The first and the last cell of an input extend to its
    range, unless the word wraps.
    """

    def __init__(self, axes: Sequence[SearchedInput]) -> None:
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
        """Return the lowest and the highest inputs of cells, with inputs along the last axis."""
        lower = self.start + cell * self.step - self.below
        upper = self.start + (cell + 1) * self.step - self.short
        inside = ~self.wraps
        lower = np.where(inside & (cell <= self.first), self.low, lower)
        upper = np.where(inside & (cell >= self.last), self.high, upper)
        return lower, upper

    def states(self, cell: Indices, part: Floats) -> Floats:
        """Return the inputs at positions of cells."""
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
        """Return the cells and positions of inputs."""
        cell = np.floor((states - self.start) / self.step + TIE).astype(np.int64)
        cell = np.clip(cell, self.first, self.last)
        lower, upper = self.ends(cell)
        return cell, np.clip((states - lower) / np.maximum(upper - lower, LEAST), 0.0, 1.0)


class Climbers:
    """Climbers, (output and sign, climber), with cells, positions and errors."""

    def __init__(self, subject: SearchedProgram, rng: np.random.Generator) -> None:
        self.subject, self.rng = subject, rng
        outputs = len(subject.codes)
        self.cells = SearchedCells(subject.axes)
        self.output = np.repeat(np.arange(outputs), 2)
        self.sign = np.tile([1.0, -1.0], outputs)
        self.best = np.full(2 * outputs, -np.inf)
        self.states = np.zeros((2 * outputs, len(subject.axes)))
        self.evaluations = 0

    def found(self, states: Floats, heights: Floats) -> FoundError:
        return FoundError(self.best, self.states, states, heights, self.evaluations)

    def drawn(self, count: int, kept: int, given: Floats | None) -> tuple[Floats, Floats]:
        """Return, for every output and sign, the worst `kept` of `count` random states."""
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
        """Move climbers of some outputs and signs; return states and errors, highest first."""
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
        """Return random moves, which change one or several inputs of every climber."""
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
        """Return errors of climbers with the sign of their target, (output and sign, climber)."""
        targets, rows, axes = states.shape
        errors = self._evaluated(states.reshape(-1, axes)).reshape(targets, rows, -1)
        towards = errors[np.arange(targets), :, self.output[own]]
        return np.asarray(self.sign[own, None] * towards)

    def _evaluated(self, states: Floats) -> Floats:
        """Return errors at states, and record the largest."""
        errors = self.subject.errors(states)
        self.evaluations += len(states)
        towards = errors[:, self.output] * self.sign
        largest = towards.argmax(axis=0)
        for target, row in enumerate(largest):
            if towards[row, target] > self.best[target]:
                self.best[target] = towards[row, target]
                self.states[target] = states[row]
        return errors


def drawn(
    subject: SearchedProgram,
    kind: type[Climbers],
    seed: Seed,
    count: int,
    kept: int,
    given: Floats | None,
) -> FoundError:
    """Draw random states and keep the worst (runs in a worker)."""
    made = kind(subject, np.random.default_rng(seed))
    return made.found(*made.drawn(count, kept, given))


def climbed(
    subject: SearchedProgram,
    kind: type[Climbers],
    seed: Seed,
    own: Indices,
    states: Floats,
    turns: int,
) -> FoundError:
    """Climb from states of some outputs and signs (runs in a worker)."""
    made = kind(subject, np.random.default_rng(seed))
    return made.found(*made.climbed(own, states, turns))


def highest(found: Sequence[FoundError], kept: int) -> Floats:
    """Merge draws: return the highest states of every output and sign, highest first."""
    heights = np.concatenate([one.heights for one in found], axis=1)
    order = np.argsort(-heights, axis=1, kind="stable")[:, :kept, None]
    states = np.concatenate([one.states for one in found], axis=1)
    return np.asarray(np.take_along_axis(states, order, axis=1))


def best_of(found: Sequence[FoundError]) -> tuple[Floats, Floats]:
    """Return the largest error of every output and sign, and its state; the first of equals."""
    every = np.stack([one.best for one in found])
    first, targets = every.argmax(axis=0), np.arange(every.shape[1])
    return every[first, targets], np.stack([one.where for one in found])[first, targets]


# --------------------------------------------------------------------------------------------------
# The search.
#
# Climbers start at the worst states of a large random sample. Draws and climbs have independent
# random numbers, so they may run in parallel; their results are merged in a fixed order. The target
# is the largest error at any double within the ranges of inputs. Words outside of these ranges are
# not considered, but inputs that encoders round across a border are.
# --------------------------------------------------------------------------------------------------

DIGITS = 9  # decimals of errors, to hide differences between sine functions of machines
DRAWN = 1 << 20  # random states
DRAWS = 4  # parallel draws
FEWEST = 64  # climbers
LEAST_TURNS = 500  # of a climber in all climbs, before their number grows up to ROWS
EVALUATIONS = 20_000_000  # of the whole search
RESTARTS = 4
FINALS = 2  # last climbs, each for a part of the outputs and signs


@dataclass(frozen=True, slots=True)
class SearchedInput:
    """The range of an input, and the code of its word, None for an input that is not read."""

    allowed: Interval
    word: Code | None

    @property
    def cells(self) -> tuple[float, float, int, int]:
        """Lowest border, width, and first and last allowed index of cells."""
        if self.word is None:  # the exact output may depend on it
            return self.allowed.low, self.allowed.width or 1.0, 0, 0
        if self.word.wraps:
            return self.word.low, self.word.step, 0, self.word.cells - 1
        ends = self.word.cell([self.allowed.low, self.allowed.high])[0]
        return self.word.low, self.word.step, int(ends[0]), int(ends[1])


@dataclass(frozen=True, slots=True)
class SearchedProgram:
    """The subject of a search: a problem, its inputs in order, logic, and the codes of outputs.

    `logic` maps the arrays of all groups to outputs, (samples, outputs), in their units.
    """

    problem: Problem
    axes: tuple[SearchedInput, ...]
    codes: tuple[Code, ...]
    logic: Callable[..., Floats]

    def errors(self, states: Floats) -> Floats:
        """Return errors in steps, (samples, outputs), at states (samples, inputs).

        Exact outputs beyond the range of their word are clamped to it.
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
    """The largest and the least error found of every output, in steps.

    `states`, (output, sign, inputs), attain these errors. `evaluations` counts states on which
    logic was run. `watched`, (output, states, inputs), are the worst final states of climbers.
    """

    errors: Floats
    states: Floats
    evaluations: int
    watched: Floats

    @property
    def largest(self) -> Floats:
        return np.asarray(np.abs(self.errors).max(axis=1))

    def moved(self, by: Floats) -> Worst:
        return replace(self, errors=self.errors + by[:, None])


def axes_of(problem: Problem, words: Mapping[str, Code]) -> tuple[SearchedInput, ...]:
    """Return the inputs of a problem with their words; of a word that wraps, all cells."""
    axes = []
    for one in problem.inputs:
        word = words.get(one.name)
        axes.append(SearchedInput(word.range if word and word.wraps else one.range, word))
    return tuple(axes)


def subject_of(
    program: Program, problem: Problem, payload: float | None = None, engine: EngineName = "auto"
) -> SearchedProgram:
    """Return a program with a payload (kg) as a subject; the problem must have the payload, too."""
    words = {word.name: word.code for word in program.inputs}
    codes = tuple(output.code for output in program.load(payload).outputs)
    logic = ProgramLogic(program, payload, engine)
    return SearchedProgram(problem, axes_of(problem, words), codes, logic)


@dataclass(frozen=True, slots=True, eq=False)
class ProgramLogic:
    """The `logic` of a subject, evaluated by a program."""

    program: Program
    payload: float | None
    engine: EngineName

    def __call__(self, *arrays: Floats) -> Floats:
        return self.program.evaluate(*arrays, payload=self.payload, engine=self.engine).values


def find_worst(
    subject: SearchedProgram,
    evaluations: int = EVALUATIONS,
    *,
    seed: int = 0,
    start: Floats | None = None,
    watched: int = 0,
    workers: Workers = ALONE,
    kind: type[Climbers] = Climbers,
    sequential: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> Worst:
    """Return the largest errors that climbers find with about `evaluations` evaluations.

    `start` are additional states (samples, inputs) to climb from. Equal arguments give equal
    results on any engine and with any workers. A `sequential` search runs here, with one sequence
    of random numbers. `progress` is called with the completed fraction of the work.
    """
    done = 0

    def each(results: Iterable[FoundError]) -> list[FoundError]:
        nonlocal done
        ended = []
        for one in results:
            ended.append(one)
            done += one.evaluations
            progress(min(1.0, done / max(1, evaluations)))
        return ended

    given = SharedValue(subject), kind
    outputs, axes = len(subject.codes), len(subject.axes)
    seeds: Iterator[Seed]
    if sequential:
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
    largest, where = best_of([*found, *ends, *last])
    top = np.concatenate([one.states[:, : -(-watched // 2)] for one in last])
    return Worst(
        (np.tile([1.0, -1.0], outputs) * largest).reshape(outputs, 2),
        where.reshape(outputs, 2, axes),
        done,
        top.reshape(outputs, -1, axes),
    )


def _parts(count: int, parts: int) -> list[int]:
    return [(k + 1) * count // parts - k * count // parts for k in range(parts)]


def worst_of(subject: SearchedProgram, states: Floats) -> Worst:
    """Return the largest and least errors at given states (samples, inputs)."""
    errors = subject.errors(states)
    places = np.stack([errors.argmax(axis=0), errors.argmin(axis=0)], axis=1)
    found = np.take_along_axis(errors.T, places, axis=1)
    none = np.empty((len(places), 0, states.shape[1]))
    return Worst(found, states[places], len(states), none)
