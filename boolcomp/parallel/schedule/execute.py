"""Really parallel execution: worker processes run the segments of a schedule on batches.

    with Runner(straight, task_of_node, assignment) as runner:
        done = runner.run(columns)          # a column a program input; done.outputs a row each

Workers share one anonymous file; nothing is left behind, whatever ends the processes. A worker
that dies ends the run with a `DataError` at once.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from boolcomp.base.processes import Worker, require_shared
from boolcomp.common.errors import DataError, UsageError
from boolcomp.engines import engine_name
from boolcomp.parallel.schedule.stageworker import StageBatch, StageSetup, ring_length
from boolcomp.parallel.schedule.staging import Staged, stage
from boolcomp.parallel.schedule.vectorcode import COUNTER_WORDS, LARGEST_ANGLE
from boolcomp.scale.shared_memory import Arena

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.parallel.schedule.placed import Assignment
    from boolcomp.problem.expressions.straight import Straight

Engine = Literal["auto", "llvm", "numpy"]
BLOCK = 128  # samples: short enough for the frames on their way to stay in the cache
_START = 60.0  # seconds a worker has to compile
_PATIENCE = 0.5  # seconds that a dead worker has to leave its exit code


@dataclass(frozen=True, slots=True)
class Executed:
    """What a run gave: a row for every output of the program, and the seconds it took.

    `seconds` are of the whole batch as the parent saw it, without copying the samples in and out;
    `busy` those that each worker took from its first block to its last, `processor` those of them
    in which it had a processor: on a machine with other work, these are fewer.
    """

    outputs: NDArray[np.float64]
    seconds: float
    busy: tuple[float, ...]
    processor: tuple[float, ...]
    started: float = 0.0  # when the samples had been copied in, on the clock of `perf_counter`

    @property
    def samples(self) -> int:
        """The number of samples."""
        return int(self.outputs.shape[1])

    def __str__(self) -> str:
        each = 1e9 * self.seconds / self.samples if self.samples else 0.0
        return (
            f"{self.samples} samples by {len(self.busy)} processes in {self.seconds:.4f} s, "
            f"{each:.1f} ns a sample"
        )


class StageRunner:
    """Worker processes that hold a program, one a processor of the assignment."""

    def __init__(
        self,
        straight: Straight,
        task_of_node: Sequence[str],
        assignment: Assignment,
        *,
        engine: Engine = "auto",
        block: int = BLOCK,
    ) -> None:
        if block < 8 or block % 8:
            raise UsageError(f"a block has a multiple of 8 samples, not {block}")
        require_shared()
        self.straight = straight
        self.staged: Staged = stage(straight, task_of_node, assignment)
        self.block = block
        self.engine = engine_name(engine)
        self.ring = ring_length(self.staged.stages, 8 * block * len(self.staged.slots))
        self.arena = Arena()
        self._workers: list[Worker] = []

    @property
    def processes(self) -> tuple[int, ...]:
        """The process numbers of the workers."""
        return tuple(worker.process.pid for worker in self._workers)

    def __enter__(self) -> Self:
        try:
            for _ in range(self.staged.processors):  # first all: their starts overlap
                entry, file = "boolcomp.parallel.schedule.stageworker", self.arena.file
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
        """End the workers and let go of the memory."""
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
        """Refuse angles for which the reduction in the kernels is not exact."""
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
                    f"{self.straight.inputs[k]} is beyond ±{LARGEST_ANGLE:g} rad: take whole "
                    "turns off it, or use the numpy engine"
                )

    def _answers(self, wanted: str, seconds: float) -> list[Any]:
        """Wait for a message from every worker; one that has died ends everything."""
        answers: dict[int, Any] = {}
        while waiting := [k for k in range(len(self._workers)) if k not in answers]:
            ready = Worker.ready([self._workers[k] for k in waiting], seconds)
            if not ready:
                self.close()
                raise DataError(f"the workers of a parallel run are not ready after {seconds:g} s")
            for place in ready:
                answers[waiting[place]] = self._answer(waiting[place], wanted)
        return [answers[k] for k in sorted(answers)]

    def _answer(self, k: int, wanted: str) -> Any:
        try:
            word, content = self._workers[k].receive()
        except (EOFError, OSError):
            code = self._workers[k].end(_PATIENCE)
            self.close()
            how = f"killed by signal {-code}" if code < 0 else "gone"
            raise DataError(
                f"worker P{k} of a parallel run died ({how}); nothing of the batch is kept"
            ) from None
        if word != wanted:
            self.close()
            raise DataError(f"worker P{k} of a parallel run failed: {content}")
        return content


def execute(
    straight: Straight,
    task_of_node: Sequence[str],
    assignment: Assignment,
    columns: Sequence[ArrayLike],
    *,
    engine: Engine = "auto",
) -> Executed:
    """Run one batch: start the workers, calculate, end them."""
    with StageRunner(straight, task_of_node, assignment, engine=engine) as runner:
        return runner.run(columns)
