"""What a word graph errs by against the exact function, and whether its network does as it does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.common.shared import Shared
from boolcomp.common.workers import ALONE
from boolcomp.compact.errors.samples import output_values, states_of
from boolcomp.compact.sketch.poly import quantities
from boolcomp.paper.plan import FEWEST_BITS, Options, make_plan
from boolcomp.paper.quantised import quantised
from boolcomp.words.agreement import agrees, network_words
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.common.workers import Workers
    from boolcomp.compact.errors.samples import States
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Problem
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph
    from boolcomp.words.simulate import Simulated

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]
    Measured = tuple["Sampling", WordGraph, Network | None, bool]

PAPER_SAMPLES = 20_000
BLOCK = 1 << 15  # samples at a time
BLOCKS = 8  # of them, that are measured by one call


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Errors of a graph in steps, one for every output; heaps that wrapped (there must be none).

    `ends` are the largest and the least error of every output, where they are known by sign.
    """

    rms: Floats
    max: Floats
    mean: Floats
    wrapped: tuple[int, ...]
    saturated: int
    samples: int = 0
    ends: Floats | None = None

    def moved(self, by: Floats) -> Errors:
        """Return the errors of words that stand for so much more, in steps."""
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

    States beyond an output's range are left out. Of an output that is `saturating` they count, and
    the exact output is then the nearest value of the range.
    """
    problem = terms.problem
    arrays = problem.draw(PAPER_SAMPLES, seed)
    exact = problem.reference(*arrays)
    low, high = np.array([(one.range.low, one.range.high) for one in problem.outputs]).T
    saturates = np.asarray(saturating or [False] * len(problem.outputs))
    meant = np.where(saturates, np.clip(exact, low, high), exact)
    error = np.zeros_like(exact)
    widths = np.asarray(problem.output_bits(bits))
    for width in sorted(set(widths.tolist())):
        options = Options(bits=max(FEWEST_BITS, width))
        found = quantised(make_plan(terms, options), arrays).values
        steps = np.asarray([one.range.width / (1 << options.bits) for one in problem.outputs])
        error[:, widths == width] = ((found - meant) / steps)[:, widths == width]
    inside = saturates | (np.abs(exact) <= high)  # what saturates is no measure of accuracy
    mean = (error**2 * inside).sum(axis=0) / np.maximum(1, inside.sum(axis=0))
    return np.asarray(np.sqrt(mean))


def deviations(graph: WordGraph, states: States) -> tuple[Floats, tuple[int, ...], int]:
    """Return errors in steps, (samples, outputs); the heaps that wrapped; how often one saturated.

    An output that a word cannot hold counts as the nearest that it can.
    """
    return compared(graph, states, simulate(graph, states.words))


def compared(
    graph: WordGraph, states: States, simulated: Simulated
) -> tuple[Floats, tuple[int, ...], int]:
    """Return what `deviations` does, for words that are known."""
    error = output_values(graph, simulated) - clipped(graph, states.outputs)
    return error, simulated.wrapped, simulated.saturated


def clipped(graph: WordGraph, outputs: Floats) -> Floats:
    """Return exact outputs, in steps, or the nearest that a graph's words can hold."""
    reach = np.asarray([2.0 ** (result.bits - 1) for result in graph.results])
    low = -reach - 0.5 * np.asarray([result.tread for result in graph.results])
    return np.clip(outputs, low, low + 2 * reach)


def network_errors(
    network: Network, graph: WordGraph, states: States
) -> tuple[Floats, tuple[int, ...], int]:
    """Return what `deviations` does of a network that may not be its graph's."""
    return compared(graph, states, network_words(network, graph, states.words))


def measure(graph: WordGraph, states: States) -> Errors:
    """Simulate a graph and compare it with the exact function on the unquantised states."""
    return errors_of(*deviations(graph, states))


def errors_of(
    error: Floats, wrapped: tuple[int, ...], saturated: int, counted: int | None = None
) -> Errors:
    """Return the statistics of errors; only the first `counted` states count for the means."""
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
    """Seeded states of a problem: the widths of words, the bits of outputs, how many, the seed.

    Without widths words are as wide as those of the graph.
    """

    problem: Problem
    widths: Mapping[str, int]
    bits: int
    samples: int
    seed: int

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return max(1, -(-self.samples // BLOCK))

    def blocks(
        self, graph: WordGraph, first: int = 0, end: int | None = None
    ) -> Iterator[tuple[list[Floats], States]]:
        """Yield states, and as words of a graph's widths, a block at a time, some or all."""
        own = {node.name: node.bits for node in graph.inputs}  # leading bits of words asked for
        words, steps = quantities(self.problem, self.widths or own), self.problem.steps(self.bits)
        words = {name: replace(x, bits=own.get(name, x.bits)) for name, x in words.items()}
        seeds = np.random.SeedSequence(self.seed).generate_state(self.count, np.uint64)
        for k, one in list(enumerate(seeds))[first:end]:
            arrays = self.problem.draw(min(BLOCK, self.samples - k * BLOCK), int(one))
            yield arrays, states_of(self.problem, words, steps, arrays)


def measure_many(
    sampling: Sampling,
    graph: WordGraph,
    network: Network | None = None,
    *,
    alone: bool = False,
    workers: Workers = ALONE,
) -> Errors:
    """Return what `measure` does for many states; a network must give the same words throughout.

    Of a network `alone` the errors are its own: it need not be its graph's.
    """
    return _measured((sampling, graph, network, alone), 0, workers).errors()


def measure_worst(
    sampling: Sampling, graph: WordGraph, kept: int, workers: Workers = ALONE
) -> tuple[Errors, list[Floats]]:
    """Return errors, and about `kept` states an output at which they are largest."""
    block = -(-kept * BLOCK // max(BLOCK, sampling.samples))
    found = _measured((sampling, graph, None, False), block, workers)
    return found.errors(), found.worst_states()


class Block(NamedTuple):
    """Sums over the errors of a block, their ends, and the worst states, by group and output."""

    square: Floats
    mean: Floats
    ends: Floats
    wrapped: tuple[int, ...]
    saturated: int
    samples: int
    worst: list[list[Floats]]


def _measured(measured: Measured, kept: int, workers: Workers) -> _Accumulator:
    """Return the statistics of all blocks, taken in in their order, whoever measures them."""
    sampling, given = measured[0], Shared(measured)
    calls = [(given, kept, first) for first in range(0, sampling.count, BLOCKS)]
    found = _Accumulator(len(sampling.problem.outputs))
    for blocks in workers.in_order(_blocks, calls):
        for block in blocks:
            found.add(block)
    return found


def _blocks(given: Measured, kept: int, first: int) -> list[Block]:
    """Measure some blocks (what a worker does)."""
    sampling, graph, network, alone = given
    made = []
    for arrays, states in sampling.blocks(graph, first, first + BLOCKS):
        if alone and network is not None:
            error, wrapped, saturated = network_errors(network, graph, states)
        else:
            error, wrapped, saturated = deviations(graph, states)
        made.append(
            Block(
                (error**2).sum(axis=0), error.sum(axis=0),
                np.stack([error.max(axis=0), error.min(axis=0)], axis=1),
                wrapped, saturated, len(error), _worst(arrays, error, kept) if kept else [],
            )
        )  # fmt: skip
        if network is not None and not alone and not agrees(network, graph, states.words):
            raise AssertionError("a network differs from its word graph")  # our own mistake
    return made


def _worst(arrays: list[Floats], error: Floats, kept: int) -> list[list[Floats]]:
    """Return the states at which errors are largest, by group and output."""
    places = [largest(column, kept) for column in np.abs(error).T]
    return [[array[rows] for rows in places] for array in arrays]


def largest(sizes: Floats, count: int) -> NDArray[np.intp]:
    """Return where the largest of some sizes are, the first of equal ones first."""
    if count >= len(sizes):
        return np.argsort(-sizes, kind="stable")
    least = np.partition(sizes, len(sizes) - count)[len(sizes) - count]
    places = np.flatnonzero(sizes >= least)
    return places[np.argsort(-sizes[places], kind="stable")][:count]


class _Accumulator:
    """Statistics of errors, block by block."""

    def __init__(self, outputs: int) -> None:
        self.square, self.mean = np.zeros(outputs), np.zeros(outputs)
        self.ends = np.stack([np.full(outputs, -np.inf), np.full(outputs, np.inf)], axis=1)
        self.wrapped: set[int] = set()
        self.saturated, self.samples = 0, 0
        self.worst: list[list[list[Floats]]] = []

    def add(self, block: Block) -> None:
        """Take a block in."""
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
        arrays = range(len(self.worst[0]))
        outputs = range(len(self.worst[0][0]))
        return [
            np.concatenate([block[k][place] for place in outputs for block in self.worst])
            for k in arrays
        ]

    def errors(self) -> Errors:
        """Return the statistics so far."""
        rms, mean = np.sqrt(self.square / self.samples), self.mean / self.samples
        wrapped = tuple(sorted(self.wrapped))
        most = np.asarray(np.abs(self.ends).max(axis=1))
        return Errors(rms, most, mean, wrapped, self.saturated, self.samples, self.ends)
