"""Measure and search errors of word graphs and their networks against the exact function."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.workers import ALONE, SharedValue
from boolcomp.compact.demand import LEAST_SEARCHED
from boolcomp.compact.network import program_of_graph, word_logic
from boolcomp.compact.sketch import quantities
from boolcomp.paper.plan import FEWEST_BITS, PlanOptions, make_plan
from boolcomp.paper.tables import quantised
from boolcomp.proof.worst import EVALUATIONS, SearchedCells, find_worst, subject_of, worst_of
from boolcomp.words.graph import narrowed
from boolcomp.words.simulation import agrees, network_words, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.base.workers import Workers
    from boolcomp.compact.demand import Demand
    from boolcomp.compact.network import WordEnds
    from boolcomp.compact.sketch import Quantity
    from boolcomp.engines.choice import EngineName
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.words import Input
    from boolcomp.proof.worst import SearchedProgram, Worst
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph
    from boolcomp.words.simulation import Simulated

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]
    Measured = tuple["Sampling", WordGraph, Network | None, bool]


# --------------------------------------------------------------------------------------------------
# Shifts of output codes by the mean error, which cost no logic.
#
# A heap that discards low bits decodes its word at the middle of a cell. If the sums in a cell do
# not fill it evenly (for example because the lowest bit never changes), their mean is up to a
# quarter of a step off. The code's range is moved by this.
# --------------------------------------------------------------------------------------------------

GRAIN = 64  # parts of a step: the accuracy of a million samples, with few digits in a range


def decoder_shifts(errors: Errors, worst: Worst, maximum: Sequence[float]) -> Floats:
    """Return the shifts of the outputs' codes, in steps.

    An output with a largest error beyond `maximum`, before or after its shift, is not shifted.
    """
    shifts = -np.round(errors.mean * GRAIN) / GRAIN
    sampled = np.maximum(errors.max, errors.moved(shifts).max)
    largest = np.maximum(sampled, np.maximum(worst.largest, worst.moved(shifts).largest))
    limits = np.broadcast_to(np.asarray(maximum or (np.inf,)), largest.shape)
    return np.asarray(np.where(largest > limits, 0.0, shifts)) + 0.0


# --------------------------------------------------------------------------------------------------
# Enumeration of all words of a small problem, which gives the largest error for exact words.
#
# Other inputs have states anywhere in a cell; errors of monotonous functions are largest at its
# ends, so states there are used to choose widths.
# --------------------------------------------------------------------------------------------------

MOST_BITS = 16  # of all input words together
EDGE = 1e-6  # of a cell: how near to its end


def is_countable(problem: Problem, bits: Mapping[str, int]) -> bool:
    return sum(word.bits for word in quantities(problem, bits).values()) <= MOST_BITS


def is_exact(problem: Problem, bits: Mapping[str, int]) -> bool:
    return is_countable(problem, bits) and all(one.exact for one in problem.inputs)


def every_state(problem: Problem, bits: Mapping[str, int]) -> tuple[Floats, ...]:
    return _every(problem, tuple(sorted(bits.items())))


@lru_cache(maxsize=2)
def _every(problem: Problem, bits: tuple[tuple[str, int], ...]) -> tuple[Floats, ...]:
    words = quantities(problem, dict(bits))
    axes = [_axis(one, words.get(one.name)) for one in problem.inputs]
    grid = np.meshgrid(*axes, indexing="ij")
    return problem.arrays(np.stack([axis.reshape(-1) for axis in grid], axis=1))


def _axis(one: Input, word: Quantity | None) -> Floats:
    """Return the values of an input at its cells, or near their ends, within its range."""
    if word is None:  # a single value
        return np.array([one.range.low])
    cells = np.arange(1 << word.bits, dtype=np.float64)
    inside = [0.5] if word.exact else [EDGE, 1 - EDGE]
    found = np.concatenate([word.range.low + (cells + part) * word.step for part in inside])
    if word.exact:
        return np.asarray(found[(found >= one.range.low) & (found <= one.range.high)])
    return np.unique(np.clip(found, one.range.low, one.range.high))


# --------------------------------------------------------------------------------------------------
# Seeded states of a problem, as words for graphs and as values for sketches.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Words and values (in units of words) of inputs by name; exact outputs in their steps."""

    words: dict[str, Words]
    values: dict[str, Floats]
    outputs: Floats


@dataclass(frozen=True, slots=True)
class StateMaker:
    """Makes states of a problem as words of given quantities, with outputs in given steps."""

    problem: Problem
    words: Mapping[str, Quantity]
    steps: Sequence[float]

    @classmethod
    def of(cls, problem: Problem, input_bits: Mapping[str, int], bits: int) -> StateMaker:
        return cls(problem, quantities(problem, input_bits), problem.steps(bits))

    def at(self, arrays: Sequence[Floats]) -> States:
        """Return given states, an array for each group."""
        words, values = {}, {}
        for name, column in self.problem.columns(arrays).items():
            word = self.words.get(name)
            if word is not None:  # else the input is constant
                words[name] = word.cells(column)
                values[name] = word_value(word, column)
        return States(
            words, values, self.problem.in_steps(self.problem.reference(*arrays), self.steps)
        )

    def draw(self, count: int, seed: int) -> States:
        return self.at(self.problem.draw(count, seed))

    def corners(self, count: int, seed: int) -> States:
        """Return seeded states whose linear inputs are at the ends of their ranges.

        Words other than squares are linear in these inputs, and so largest there. Half of the
        angles are multiples of π/4, where sums of few waves are largest.
        """
        rng = np.random.default_rng(seed)
        arrays = []
        for group in self.problem.groups:
            members = self.problem.members(group)
            reach = [one.reach for one in members]  # the logic is valid beyond stops
            low, high = np.array([r.low for r in reach]), np.array([r.high for r in reach])
            drawn = rng.uniform(low, high, (count, group.size))
            if any(one.angle for one in members):
                grid = np.clip(np.round(drawn / (math.pi / 4)) * (math.pi / 4), low, high)
                drawn = np.where(rng.random(drawn.shape) < 0.5, grid, drawn)
            else:
                drawn = np.where(rng.random(drawn.shape) < 0.5, low, high)
            arrays.append(drawn)
        return self.at(arrays)

    def input_squares(self, count: int, seed: int, reach: Floats | None = None) -> Floats:
        """Return the mean squares, in steps, of output changes from states to middles of cells.

        Beyond its `reach` an output saturates.
        """
        arrays = self.problem.draw(count, seed)
        middles = [array.copy() for array in arrays]
        for group, array in zip(self.problem.groups, middles, strict=True):
            for k, name in enumerate(group.members):
                if (word := self.words.get(name)) is not None:
                    array[:, k] = word.range.low + (word.cells(array[:, k]) + 0.5) * word.step
        before, after = self.problem.reference(*arrays), self.problem.reference(*middles)
        if reach is not None:
            before, after = (
                np.clip(self.problem.in_steps(one, self.steps), -reach, reach) * self.steps
                for one in (before, after)
            )
        moved = (after - before) / np.asarray(self.steps)
        return np.asarray((moved**2).mean(axis=0))


def joined(first: States, second: States) -> States:
    return States(
        {name: np.concatenate([w, second.words[name]]) for name, w in first.words.items()},
        {name: np.concatenate([v, second.values[name]]) for name, v in first.values.items()},
        np.concatenate([first.outputs, second.outputs]),
    )


def word_value(word: Quantity, column: Floats) -> Floats:
    """Return values in units of the word; an angle over part of a turn in radians.

    Angles count from half a turn above the word's lowest border.
    """
    if word.part is not None:
        return column - (word.range.low + math.pi)
    return (column - word.range.centre) / word.step


def in_cells(problem: Problem, outputs: Floats) -> Floats:
    return outputs + 0.5 * np.asarray([one.format.tread for one in problem.outputs])


def output_values(graph: WordGraph, simulated: Simulated) -> Floats:
    """Return the values of output words, in their steps."""
    halves = [2.0 ** (result.bits - 1) - (0.0 if result.tread else 0.5) for result in graph.results]
    return np.asarray(simulated.words - np.asarray(halves))


# --------------------------------------------------------------------------------------------------
# Measurement of errors on random states.
# --------------------------------------------------------------------------------------------------

PAPER_SAMPLES = 20_000
BLOCK = 1 << 15  # samples at a time
BLOCKS = 8  # blocks a call


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Errors of a graph in steps, one for every output; heaps that wrapped (there must be none).

    `ends` are the largest and the least signed error of every output, if known.
    """

    rms: Floats
    max: Floats
    mean: Floats
    wrapped: tuple[int, ...]
    saturated: int
    samples: int = 0
    ends: Floats | None = None

    def moved(self, by: Floats) -> Errors:
        """Return the errors after shifts of the output codes, in steps."""
        if self.ends is None:
            raise ValueError("errors without their signs cannot be moved")
        ends = self.ends + by[:, None]
        return replace(
            self,
            rms=np.sqrt(np.maximum(0.0, self.rms**2 + (2 * self.mean + by) * by)),
            max=np.asarray(np.abs(ends).max(axis=1)),
            mean=self.mean + by,
            ends=ends,
        )

    def __str__(self) -> str:
        rows = []
        for name, values in (("rms", self.rms), ("max", self.max)):
            rows.append(f"{name} {' '.join(f'{x:.3f}' for x in values)}")
        return ", ".join(rows)


def sampled_outputs(problem: Problem, bits: int, seed: int = 0) -> Floats:
    """Return the exact outputs, in steps, of some seeded states."""
    exact = problem.reference(*problem.draw(PAPER_SAMPLES, seed))
    return problem.in_steps(exact, problem.steps(bits))


def paper_rms(terms: Terms, bits: int, seed: int = 0, saturating: Sequence[bool] = ()) -> Floats:
    """Return the rms error, in steps, of the paper's tables at these bits (arithmetic only).

    States beyond an output's range are left out. For a `saturating` output they count, and the
    nearest value of the range replaces the exact one.
    """
    problem = terms.problem
    arrays = problem.draw(PAPER_SAMPLES, seed)
    exact = problem.reference(*arrays)
    low, high = np.array([(one.range.low, one.range.high) for one in problem.outputs]).T
    saturates = np.asarray(saturating or [False] * len(problem.outputs))
    target = np.where(saturates, np.clip(exact, low, high), exact)
    error = np.zeros_like(exact)
    widths = np.asarray(problem.output_bits(bits))
    for width in sorted(set(widths.tolist())):
        options = PlanOptions(bits=max(FEWEST_BITS, width))
        found = quantised(make_plan(terms, options), arrays).values
        steps = np.asarray([one.range.width / (1 << options.bits) for one in problem.outputs])
        error[:, widths == width] = ((found - target) / steps)[:, widths == width]
    inside = saturates | (np.abs(exact) <= high)  # saturated outputs do not measure accuracy
    mean = (error**2 * inside).sum(axis=0) / np.maximum(1, inside.sum(axis=0))
    return np.asarray(np.sqrt(mean))


def deviations(graph: WordGraph, states: States) -> tuple[Floats, tuple[int, ...], int]:
    """Return errors in steps, (samples, outputs); heaps that wrapped; the number of saturations.

    An exact output outside the range of its word is replaced by the nearest value of the range.
    """
    return compared(graph, states, simulate(graph, states.words))


def compared(
    graph: WordGraph, states: States, simulated: Simulated
) -> tuple[Floats, tuple[int, ...], int]:
    """Return the deviations of given words."""
    error = output_values(graph, simulated) - clipped(graph, states.outputs)
    return error, simulated.wrapped, simulated.saturated


def clipped(graph: WordGraph, outputs: Floats) -> Floats:
    """Clip exact outputs, in steps, to the ranges of a graph's words."""
    reach = np.asarray([2.0 ** (result.bits - 1) for result in graph.results])
    low = -reach - 0.5 * np.asarray([result.tread for result in graph.results])
    return np.clip(outputs, low, low + 2 * reach)


def network_errors(
    network: Network, graph: WordGraph, states: States
) -> tuple[Floats, tuple[int, ...], int]:
    return compared(graph, states, network_words(network, graph, states.words))


def measure(graph: WordGraph, states: States) -> Errors:
    return errors_of(*deviations(graph, states))


def errors_of(
    error: Floats, wrapped: tuple[int, ...], saturated: int, counted: int | None = None
) -> Errors:
    """Return the statistics of errors; only the first `counted` states enter the means."""
    drawn = error[:counted]
    return Errors(
        np.sqrt((drawn**2).mean(axis=0)),
        np.abs(error).max(axis=0),
        drawn.mean(axis=0),
        wrapped,
        saturated,
        len(drawn),
    )


@dataclass(frozen=True, slots=True)
class Sampling:
    """Seeded states of a problem, with widths of inputs and bits of outputs.

    The default widths are those of the graph.
    """

    problem: Problem
    widths: Mapping[str, int]
    bits: int
    samples: int
    seed: int

    @property
    def count(self) -> int:
        return max(1, -(-self.samples // BLOCK))

    def blocks(
        self, graph: WordGraph, first: int = 0, end: int | None = None
    ) -> Iterator[tuple[list[Floats], States]]:
        """Yield blocks of states, as arrays and as words of a graph's widths."""
        own = {node.name: node.bits for node in graph.inputs}  # leading bits of specified words
        words = quantities(self.problem, self.widths or own)
        words = {name: replace(x, bits=own.get(name, x.bits)) for name, x in words.items()}
        maker = StateMaker(self.problem, words, self.problem.steps(self.bits))
        seeds = np.random.SeedSequence(self.seed).generate_state(self.count, np.uint64)
        for k, one in list(enumerate(seeds))[first:end]:
            arrays = self.problem.draw(min(BLOCK, self.samples - k * BLOCK), int(one))
            yield arrays, maker.at(arrays)


def measure_many(
    sampling: Sampling,
    graph: WordGraph,
    network: Network | None = None,
    *,
    alone: bool = False,
    workers: Workers = ALONE,
) -> Errors:
    """Measure errors at many states; a network must compute the same words as its graph.

    With `alone` the errors are the network's, which may differ from the graph.
    """
    return _measured((sampling, graph, network, alone), 0, workers).errors()


def measure_worst(
    sampling: Sampling, graph: WordGraph, kept: int, workers: Workers = ALONE
) -> tuple[Errors, list[Floats]]:
    """Return errors, and about `kept` states of the largest errors for each output."""
    block = -(-kept * BLOCK // max(BLOCK, sampling.samples))
    found = _measured((sampling, graph, None, False), block, workers)
    return found.errors(), found.worst_states()


class ErrorSums(NamedTuple):
    """Sums over the errors of a block, their ends, and the worst states, by group and output."""

    square: Floats
    mean: Floats
    ends: Floats
    wrapped: tuple[int, ...]
    saturated: int
    samples: int
    worst: list[list[Floats]]


def _measured(measured: Measured, kept: int, workers: Workers) -> _Accumulator:
    """Return the statistics of all blocks, added in their order."""
    sampling, given = measured[0], SharedValue(measured)
    calls = [(given, kept, first) for first in range(0, sampling.count, BLOCKS)]
    found = _Accumulator(len(sampling.problem.outputs))
    for blocks in workers.in_order(_blocks, calls):
        for block in blocks:
            found.add(block)
    return found


def _blocks(given: Measured, kept: int, first: int) -> list[ErrorSums]:
    """Measure some blocks, in a worker."""
    sampling, graph, network, alone = given
    made = []
    for arrays, states in sampling.blocks(graph, first, first + BLOCKS):
        if alone and network is not None:
            error, wrapped, saturated = network_errors(network, graph, states)
        else:
            error, wrapped, saturated = deviations(graph, states)
        made.append(
            ErrorSums(
                (error**2).sum(axis=0), error.sum(axis=0),
                np.stack([error.max(axis=0), error.min(axis=0)], axis=1),
                wrapped, saturated, len(error), _worst(arrays, error, kept) if kept else [],
            )
        )  # fmt: skip
        if network is not None and not alone and not agrees(network, graph, states.words):
            raise AssertionError("a network differs from its word graph")  # a bug
    return made


def _worst(arrays: list[Floats], error: Floats, kept: int) -> list[list[Floats]]:
    """Return the states with the largest errors, by group and output."""
    places = [largest(column, kept) for column in np.abs(error).T]
    return [[array[rows] for rows in places] for array in arrays]


def largest(sizes: Floats, count: int) -> NDArray[np.intp]:
    """Return the places of the largest sizes in falling order; equal ones keep their order."""
    if count >= len(sizes):
        return np.argsort(-sizes, kind="stable")
    least = np.partition(sizes, len(sizes) - count)[len(sizes) - count]
    places = np.flatnonzero(sizes >= least)
    return places[np.argsort(-sizes[places], kind="stable")][:count]


class _Accumulator:
    """Sums of errors over blocks."""

    def __init__(self, outputs: int) -> None:
        self.square, self.mean = np.zeros(outputs), np.zeros(outputs)
        self.ends = np.stack([np.full(outputs, -np.inf), np.full(outputs, np.inf)], axis=1)
        self.wrapped: set[int] = set()
        self.saturated, self.samples = 0, 0
        self.worst: list[list[list[Floats]]] = []

    def add(self, block: ErrorSums) -> None:
        self.square += block.square
        self.mean += block.mean
        self.ends[:, 0] = np.maximum(self.ends[:, 0], block.ends[:, 0])
        self.ends[:, 1] = np.minimum(self.ends[:, 1], block.ends[:, 1])
        self.wrapped.update(block.wrapped)
        self.saturated += block.saturated
        self.samples += block.samples
        self.worst.append(block.worst)

    def worst_states(self) -> list[Floats]:
        """Return the groups' arrays of the worst states, those of the first output first."""
        outputs = range(len(self.worst[0][0]))
        return [
            np.concatenate([block[k][place] for place in outputs for block in self.worst])
            for k in range(len(self.worst[0]))
        ]

    def errors(self) -> Errors:
        """Return the statistics so far."""
        rms, mean = np.sqrt(self.square / self.samples), self.mean / self.samples
        wrapped = tuple(sorted(self.wrapped))
        largest = np.asarray(np.abs(self.ends).max(axis=1))
        return Errors(rms, largest, mean, wrapped, self.saturated, self.samples, self.ends)


# --------------------------------------------------------------------------------------------------
# The search for the largest error of a word graph or its network (see `proof.worst`).
# --------------------------------------------------------------------------------------------------

CHECKED, CHECK_SEED = 60_000, 0x3015E  # evaluations that check a stored error
MOST_COUNTED = 4  # inputs with which all corners of all cells are evaluated
SAME = 1e-6  # steps: sines of machines differ in their last bits


def graph_worst(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    evaluations: int,
    start: Floats | None = None,
    watched: int = 0,
) -> Worst:
    """Search the largest errors of an intermediate graph, without compiling an engine."""
    small = narrowed(graph)
    subject = _subject(problem, demand, small, word_logic(small), "numpy")
    return find_worst(
        subject, evaluations, seed=demand.seed, start=start, watched=watched,
        sequential=True,  # a change needs a new SEARCH_VERSION
    )  # fmt: skip


def network_worst(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    network: Network,
    ends: WordEnds | None = None,
    workers: Workers = ALONE,
    *,
    callback: Callable[[float], None] = lambda _: None,
) -> Worst:
    """Return the largest errors of a graph's final network, known for few exact words, else found.

    With few words of other kinds a search begins at all corners of all cells. `callback` is called
    with the part of the search that is done.
    """
    subject = _subject(problem, demand, graph, network, "auto", ends)
    if is_exact(problem, demand.input_bits):
        return worst_of(subject, np.concatenate(every_state(problem, demand.input_bits), axis=1))
    start = SearchedCells(subject.axes).corners() if has_few_corners(problem, demand) else None
    return find_worst(
        subject, searched(problem, demand), seed=demand.seed, start=start, workers=workers,
        progress=callback,
    )  # fmt: skip


def searched(problem: Problem, demand: Demand) -> int:
    """Return the number of evaluations of the error search for a final network."""
    evaluations = demand.evaluations(EVALUATIONS)
    return min(evaluations, LEAST_SEARCHED) if has_few_corners(problem, demand) else evaluations


def has_few_corners(problem: Problem, demand: Demand) -> bool:
    """Return whether all corners of all cells can be evaluated."""
    few = len(problem.inputs) <= MOST_COUNTED
    return few and is_countable(problem, demand.input_bits)


def is_worst(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    network: Network,
    worst: Worst,
    ends: WordEnds | None = None,
    *,
    maximum: Floats | None = None,
) -> bool:
    """Return whether `worst` has the true errors of its states, and a maximum seems to hold.

    A search from these and other states must find no error above the demanded maximum, or above
    `maximum` if given.
    """
    subject = _subject(problem, demand, graph, network, "numpy", ends)
    outputs, signs, inputs = worst.states.shape
    states = worst.states.reshape(-1, inputs)
    found = subject.errors(states).reshape(outputs, signs, outputs)
    known = found[np.arange(outputs), :, np.arange(outputs)]
    if not np.allclose(known, worst.errors, rtol=0, atol=SAME):
        return False
    allowed = np.asarray(demand.max) if maximum is None else maximum
    if not allowed.size:
        return True
    if is_exact(problem, demand.input_bits):
        every = np.concatenate(every_state(problem, demand.input_bits), axis=1)
        again = worst_of(subject, every)
    else:
        if has_few_corners(problem, demand):
            states = np.concatenate([states, SearchedCells(subject.axes).corners()])
        again = find_worst(subject, CHECKED, seed=CHECK_SEED, start=states)
    return bool((again.largest <= allowed + SAME).all())


def _subject(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    network: Network,
    engine: EngineName,
    ends: WordEnds | None = None,
) -> SearchedProgram:
    program = program_of_graph(problem, demand, graph, network, ends)
    return subject_of(program, problem, engine=engine)
