"""Parallel execution: worker processes run the segments of a schedule on batches.

    with StageRunner(straight, task_of_node, assignment) as runner:
        done = runner.run(columns)   # a column for every input; a row of done.outputs per output

Workers share one anonymous file, which ends with the processes. If a worker dies, the run ends with
a `DataError`.
"""

from __future__ import annotations

import contextlib
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing, suggestion
from boolcomp.base.processes import Worker, require_shared
from boolcomp.engines.choice import engine_name
from boolcomp.parallel.schedulers import for_batches
from boolcomp.parallel.simulation import StagedProgram, stage
from boolcomp.parallel.stageworker import (
    COUNTER_WORDS,
    LARGEST_ANGLE,
    StageBatch,
    StageSetup,
    ring_length,
)
from boolcomp.parallel.taskgraph import Assignment
from boolcomp.scale.shared_memory import Arena

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.parallel.taskgraph import TaskGraph
    from boolcomp.problem.tape import Straight


Engine = Literal["auto", "llvm", "numpy"]
BLOCK = 128  # samples: the frames in use fit into the cache
_START = 60.0  # seconds a worker has to compile
_PATIENCE = 0.5  # seconds that a dead worker has to leave its exit code


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
    started: float = 0.0  # after the samples were copied, by `perf_counter`

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

    def __init__(
        self, straight: Straight, task_of_node: Sequence[str], assignment: Assignment, *,
        engine: Engine = "auto", block: int = BLOCK,
    ) -> None:  # fmt: skip
        if block < 8 or block % 8:
            raise UsageError(f"a block has a multiple of 8 samples, not {block}")
        require_shared()
        self.straight = straight
        self.staged: StagedProgram = stage(straight, task_of_node, assignment)
        self.block = block
        self.engine = engine_name(engine)
        self.ring = ring_length(self.staged.stages, 8 * block * len(self.staged.slots))
        self.arena = Arena()
        self._workers: list[Worker] = []

    @property
    def processes(self) -> tuple[int, ...]:
        return tuple(worker.process.pid for worker in self._workers)

    def __enter__(self) -> Self:
        try:
            for _ in range(self.staged.processors):  # all start before any is set up
                entry, file = "boolcomp.parallel.stageworker", self.arena.file
                self._workers.append(Worker(entry, file, descriptors=(file,)))
            for k, worker in enumerate(self._workers):
                worker.send(
                    StageSetup(self.straight, self.staged, k, self.block, self.ring, self.engine)
                )
            self._answers("ready", _START)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers and release the memory."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        self.arena.close()

    def run(self, columns: Sequence[ArrayLike]) -> Executed:
        """Calculate a batch: a column of equal length for every input of the program."""
        inputs = [np.asarray(column, dtype=np.float64) for column in columns]
        names = self.straight.inputs
        if len(inputs) != len(names) or len({x.shape for x in inputs}) > 1:
            raise UsageError(f"the program needs {len(names)} columns of one length")
        if not self._workers:
            raise UsageError("the workers are not running: use the runner in a with statement")
        self._check_angles(inputs)
        samples = inputs[0].size if inputs else 0
        blocks = max(1, math.ceil(samples / self.block))
        padded = blocks * self.block
        shapes = (
            (len(names), padded),
            (len(self.straight.outputs), padded),
            (self.ring, len(self.staged.slots), self.block),
            (self.staged.processors, self.staged.stages, COUNTER_WORDS),
        )
        with self.arena.borrowed() as take:
            places = [take(8 * max(1, math.prod(shape))) for shape in shapes]
            given = self.arena.array(places[0], shapes[0], np.float64)
            for row, column in zip(given, inputs, strict=True):
                row[:samples] = column
                row[samples:] = 0.0
            self.arena.array(places[3], shapes[3], np.int64)[:] = 0
            batch = StageBatch(blocks, self.arena.size, *places)
            started = time.perf_counter()
            for worker in self._workers:
                worker.send(batch)
            spent = self._answers("done", math.inf)
            seconds = time.perf_counter() - started
            outputs = self.arena.array(places[1], shapes[1], np.float64)[:, :samples].copy()
        busy, processor = zip(*spent, strict=True)
        return Executed(outputs, seconds, busy, processor, started)

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
                    f"{self.straight.inputs[k]} is beyond ±{LARGEST_ANGLE:g} rad: subtract whole "
                    "turns, or use the numpy engine"
                )

    def _answers(self, expected: str, seconds: float) -> list[Any]:
        """Wait for a message from every worker; DataError if one has died."""
        answers: dict[int, Any] = {}
        while waiting := [k for k in range(len(self._workers)) if k not in answers]:
            ready = Worker.ready([self._workers[k] for k in waiting], seconds)
            if not ready:
                self.close()
                raise DataError(f"the workers of a parallel run are not ready after {seconds:g} s")
            for place in ready:
                answers[waiting[place]] = self._answer(waiting[place], expected)
        return [answers[k] for k in sorted(answers)]

    def _answer(self, k: int, expected: str) -> Any:
        try:
            word, content = self._workers[k].receive()
        except (EOFError, OSError):
            code = self._workers[k].end(_PATIENCE)
            self.close()
            how = f"killed by signal {-code}" if code < 0 else "gone"
            raise DataError(
                f"worker P{k} of a parallel run died ({how}); the batch has no results"
            ) from None
        if word != expected:
            self.close()
            raise DataError(f"worker P{k} of a parallel run failed: {content}")
        return content


# --------------------------------------------------------------------------------------------------
# A batch distributed by points: every process does all tasks of its part of the trajectory.
#
# This schedule has no communication. For many points it is the reference for schedules of the tasks
# of one point.
# --------------------------------------------------------------------------------------------------


class PointRunner:
    """Worker processes that each hold the whole program."""

    def __init__(
        self, straight: Straight, task_of_node: Sequence[str], tasks: Sequence[str], processes: int,
        *, engine: Engine = "auto",
    ) -> None:  # fmt: skip
        alone = Assignment((tuple(tasks),))
        self._runners = [
            StageRunner(straight, task_of_node, alone, engine=engine) for _ in range(processes)
        ]
        self._stack = contextlib.ExitStack()
        self._threads = ThreadPoolExecutor(processes)

    def __enter__(self) -> Self:
        self._stack.enter_context(self._threads)
        with contextlib.ExitStack() as started:
            for runner in self._runners:
                started.enter_context(runner)
            self._stack.push(started.pop_all())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, columns: Sequence[ArrayLike]) -> Executed:
        """Calculate a batch: a column of equal length for every input of the program."""
        arrays = [np.asarray(column, dtype=np.float64) for column in columns]
        parts = zip(*(np.array_split(array, len(self._runners)) for array in arrays), strict=True)
        done = list(self._threads.map(StageRunner.run, self._runners, parts))
        started = min(x.started for x in done)
        return Executed(
            np.concatenate([x.outputs for x in done], axis=1),
            max(x.started + x.seconds for x in done) - started,
            tuple(x.busy[0] for x in done),
            tuple(x.processor[0] for x in done),
            started,
        )


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
    if engine not in ENGINES:
        raise UsageError(
            f"unknown engine {engine!r}{suggestion(engine, ENGINES)}; allowed: {listing(ENGINES)}"
        )


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
    runners: dict[str, StageRunner | PointRunner] = {
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
