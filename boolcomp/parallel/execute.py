"""Parallel execution: worker processes run the segments of a schedule on batches.

    with StageRunner(straight, task_of_node, assignment) as runner:
        done = runner.run(columns)   # a column for every input; a row of done.outputs per output

If a worker dies, the run ends with a `DataError`.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from boolcomp.base.errors import DataError, UsageError, require_name
from boolcomp.base.processes import Team, WorkerLostError
from boolcomp.engines.choice import engine_name
from boolcomp.parallel.schedulers import for_batches
from boolcomp.parallel.simulation import StagedProgram, stage
from boolcomp.parallel.stageworker import (
    COUNTER_WORDS,
    StageBatch,
    StageSetup,
    prepare,
    ring_length,
    run_batch,
)
from boolcomp.parallel.taskgraph import Assignment
from boolcomp.problem.printers import LARGEST_ANGLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.base.shared_memory import Arena
    from boolcomp.parallel.taskgraph import TaskGraph
    from boolcomp.problem.tape import Straight


Engine = Literal["auto", "llvm", "numpy"]
BLOCK = 128  # samples: the frames in use fit into the cache


@dataclass(frozen=True, slots=True)
class Executed:
    """The results of a run: a row for every output of the program, and times.

    `seconds` is the time of the whole batch, measured by the parent, without copying of samples.
    `busy` is the time of each worker from its first block to its last, `processor` its processor
    time, which is less on a machine with other load.
    """

    outputs: NDArray[np.float64]
    seconds: float
    busy: tuple[float, ...]
    processor: tuple[float, ...]

    @property
    def samples(self) -> int:
        return int(self.outputs.shape[1])

    def __str__(self) -> str:
        each = 1e9 * self.seconds / self.samples if self.samples else 0.0
        return (
            f"{self.samples} samples by {len(self.busy)} processes in {self.seconds:.4f} s, "
            f"{each:.1f} ns a sample"
        )


class StageRunner:
    """Worker processes that hold a program, one for each processor of the assignment."""

    parts = 1  # into which the points of a batch are distributed

    def __init__(
        self, straight: Straight, task_of_node: Sequence[str], assignment: Assignment, *,
        engine: Engine = "auto", block: int = BLOCK,
    ) -> None:  # fmt: skip
        if block < 8 or block % 8:
            raise UsageError(f"a block has a multiple of 8 samples, not {block}")
        self.straight = straight
        self.staged: StagedProgram = stage(straight, task_of_node, assignment)
        self.block = block
        self.engine = engine_name(engine)
        self.ring = ring_length(self.staged.stages, 8 * block * len(self.staged.slots))
        self._team: Team | None = None

    @property
    def processes(self) -> tuple[int, ...]:
        return self._team.numbers if self._team else ()

    def __enter__(self) -> Self:
        rest = self.block, self.ring, self.engine
        setups = [
            (StageSetup(self.straight, self.staged, k, *rest),)
            for k in range(self.staged.processors)
        ] * self.parts
        count = self.staged.processors
        self._team = Team(prepare, setups, 1, lambda k: f"processor P{k % count}")
        self._team.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._team is not None:
            self._team.close()

    def run(self, columns: Sequence[ArrayLike]) -> Executed:
        """Calculate a batch: a column of equal length for every input of the program."""
        inputs = [np.asarray(column, dtype=np.float64) for column in columns]
        names = self.straight.inputs
        if len(inputs) != len(names) or len({x.shape for x in inputs}) > 1:
            raise UsageError(f"the program needs {len(names)} columns of one length")
        if self._team is None:
            raise UsageError("the workers are not running", "use the runner in a with statement")
        self._check_angles(inputs)
        samples = inputs[0].size if inputs else 0
        cuts = [samples * k // self.parts for k in range(self.parts + 1)]
        batches = [
            self._batch(self._team.memory, [x[start:stop] for x in inputs], stop - start)
            for start, stop in pairwise(cuts)
        ]
        given = [(batch,) for batch in batches for _ in range(self.staged.processors)]
        started = time.perf_counter()
        try:
            spent = self._team.call(run_batch, given)
        except WorkerLostError as error:
            raise DataError(f"{error.what}; the batch has no results", where=error.where) from error
        seconds = time.perf_counter() - started
        made = [
            batch.outputs[:, : b - a] for batch, (a, b) in zip(batches, pairwise(cuts), strict=True)
        ]
        busy, processor = zip(*spent, strict=True)
        return Executed(np.concatenate(made, axis=1), seconds, busy, processor)

    def _batch(self, memory: Arena, inputs: Sequence[NDArray[Any]], samples: int) -> StageBatch:
        """Return whole blocks that begin with given samples, and what workers need to run them."""
        padded = max(1, -(-samples // self.block)) * self.block
        staged = self.staged
        shapes = (
            (len(inputs), padded), (len(self.straight.outputs), padded),
            (self.ring, len(staged.slots), self.block),
            (staged.processors, staged.stages, COUNTER_WORDS),
        )  # fmt: skip
        kinds = (np.float64, np.float64, np.float64, np.int64)
        batch = StageBatch(*(memory.empty(*one) for one in zip(shapes, kinds, strict=True)))
        for row, column in zip(batch.inputs, inputs, strict=True):
            row[:samples], row[samples:] = column, 0.0
        batch.progress[:] = 0
        return batch

    def _check_angles(self, inputs: Sequence[NDArray[np.float64]]) -> None:
        """Raise DataError for angles for which the reduction in the kernels is not exact."""
        if self.engine != "llvm":
            return
        angles = {
            k
            for node in self.straight.nodes if node.kind in ("sin", "cos")
            for k in node.operands
        }  # fmt: skip
        for k in sorted(angles):
            if k < len(inputs) and inputs[k].size and np.abs(inputs[k]).max() > LARGEST_ANGLE:
                raise DataError(
                    f"{self.straight.inputs[k]} is beyond ±{LARGEST_ANGLE:g} rad",
                    "subtract whole turns",
                )


class PointRunner(StageRunner):
    """Worker processes that each hold the whole program and take a part of the points.

    This schedule has no communication. For many points it is the reference for schedules of the
    tasks of one point.
    """

    def __init__(
        self, straight: Straight, task_of_node: Sequence[str], tasks: Sequence[str], processes: int,
        *, engine: Engine = "auto",
    ) -> None:  # fmt: skip
        super().__init__(straight, task_of_node, Assignment((tuple(tasks),)), engine=engine)
        self.parts = processes


# --------------------------------------------------------------------------------------------------
# A schedule measured and compared with other distributions on one machine.
#
# All workers of all kinds are started first, and the kinds take turns, so that other load slows all
# kinds equally; idle workers wait on a socket. The minimum of a kind's times counts.
# --------------------------------------------------------------------------------------------------

ENGINES = ("auto", "numpy", "llvm")
KINDS = {
    "one": "in one process",
    "scheduled": "as scheduled",
    "dealt": "with tasks assigned for batches",
    "points": "with points distributed",
}  # in the order of their turns
ROUNDS, SECONDS = 7, 2.0  # at least: short runs need more rounds
MOST_ROUNDS = 100
AGAIN = 4  # times as long if there is noise
NOISE = 1.03  # times the number of processes: larger speed-ups are noise


@dataclass(frozen=True, slots=True)
class RunTiming:
    """One kind of run: its minimum time and its results.

    `exchanged` is the number of values per sample sent between processes. `relative_error` is the
    largest difference from the expected outputs, relative to the largest output. `noise` is True if
    the speed-up stays above the possible one in longer measurements.
    """

    kind: str
    seconds: float
    speedup: float
    exchanged: int
    relative_error: float
    noise: bool

    def text(self, samples: int) -> str:
        return (
            f"measured {KINDS[self.kind]}: {self.seconds / samples * 1e9:.2f} ns a sample, "
            f"speed-up {self.speedup:.2f}{' (noise)' if self.noise else ''}"
        )


@dataclass(frozen=True, slots=True)
class RealRun:
    """The four kinds of run of one program on the same samples."""

    samples: int
    processes: int
    rounds: int
    timings: tuple[RunTiming, ...]

    @property
    def relative_error(self) -> float:
        return max(timing.relative_error for timing in self.timings)

    def document(self) -> dict[str, Any]:
        return {
            "samples": self.samples,
            "processes": self.processes,
            "rounds": self.rounds,
            "seconds": {x.kind: x.seconds for x in self.timings},
            "ns_per_sample": {x.kind: x.seconds / self.samples * 1e9 for x in self.timings},
            "speedup": {x.kind: x.speedup for x in self.timings},
            "noise": [x.kind for x in self.timings if x.noise],
            "exchanged": {x.kind: x.exchanged for x in self.timings},
            "relative_errors": {x.kind: x.relative_error for x in self.timings},
            "relative_error": self.relative_error,
        }

    def __str__(self) -> str:
        return "\n".join(timing.text(self.samples) for timing in self.timings)


def check_engine(engine: str) -> None:
    """Raise a `UsageError` for an unknown engine."""
    require_name("engine", engine, ENGINES)


def measure_runs(
    program: tuple[Straight, Sequence[str]], graph: TaskGraph, assignment: Assignment,
    columns: Sequence[NDArray[np.float64]], expected: NDArray[np.float64], *,
    engine: Engine = "auto",
) -> RealRun:  # fmt: skip
    """Run a program, with the task of every node, in one process and in three parallel ways.

    `columns` are its inputs, `expected` has a row for every output. Parallel runs have a process
    for every processor of the assignment.
    """
    check_engine(engine)
    processes, tasks = assignment.processors, [task.name for task in graph.tasks]
    dealt = StageRunner(*program, for_batches(program[0], graph, processes), engine=engine)
    scheduled = StageRunner(*program, assignment, engine=engine)
    runners: dict[str, StageRunner] = {
        "one": PointRunner(*program, tasks, 1, engine=engine),
        "scheduled": scheduled,
        "dealt": dealt,
        "points": PointRunner(*program, tasks, processes, engine=engine),
    }
    scale = float(np.abs(expected).max()) or 1.0
    errors = dict.fromkeys(KINDS, 0.0)
    best = dict.fromkeys(KINDS, float("inf"))
    rounds = 0
    with contextlib.ExitStack() as running:
        for runner in runners.values():
            running.enter_context(runner)
        started = time.perf_counter()
        while not _enough(rounds, time.perf_counter() - started, noisy(best, processes)):
            for kind in KINDS:
                done = runners[kind].run(columns)
                best[kind] = min(best[kind], done.seconds)
                error = float(np.abs(done.outputs - expected).max()) / scale
                errors[kind] = max(errors[kind], error)
            rounds += 1
    noise = noisy(best, processes)
    exchanged = {"scheduled": scheduled.staged.exchanged, "dealt": dealt.staged.exchanged}
    timings = [
        RunTiming(
            kind, best[kind], best["one"] / best[kind], exchanged.get(kind, 0), errors[kind],
            kind in noise,
        )
        for kind in KINDS
    ]  # fmt: skip
    return RealRun(len(columns[0]), processes, rounds, tuple(timings))


def _enough(rounds: int, seconds: float, noise: Sequence[str]) -> bool:
    """Tell whether the kinds had enough turns."""
    times = AGAIN if noise else 1
    return rounds >= MOST_ROUNDS or (rounds >= times * ROUNDS and seconds >= times * SECONDS)


def noisy(seconds: Mapping[str, float], processes: int) -> list[str]:
    return [kind for kind, x in seconds.items() if seconds["one"] > NOISE * processes * x]
