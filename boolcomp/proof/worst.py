"""The largest error of compiled logic against the exact function, sought by climbing: not proved.

Climbers (`climbing`) start at the worst states of a large draw, some for every output and sign. The
draws and climbs have random numbers of their own and know nothing of each other: they run wherever
there are workers, and what they find is put together in one order. Sought is the largest error at
any double within the inputs' ranges: other words that there are do not count, and what the encoder
takes for on a border does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.shared import Shared
from boolcomp.common.workers import ALONE
from boolcomp.proof.climbing import ROWS, Climbers, best_of, climbed, drawn, highest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.common.workers import Workers
    from boolcomp.engines import EngineName
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program
    from boolcomp.proof.climbing import Found

    Floats = NDArray[np.float64]
    Seed = np.random.SeedSequence | np.random.Generator

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
