"""One program evaluated by several processes at once: `ProcessPool`.

There are three ways to divide the work; all give the results of one process, bit for bit:

- `samples`: every process has the whole program and takes chunks of the batch in turn;
- `terms`: every process evaluates a share of the product terms for all samples, and the last one
  joins the partial results (the paper's Fig. 2a, see `partition`);
- `pipeline`: samples pass through the processes (its Fig. 2b).

Samples, results and the planes between processes are in anonymous shared memory (`shared_memory`);
planes use rings of a few chunks that stay in the processor's cache. Pipes carry only jobs, wake-ups
and chunk numbers. Workers that die are replaced; the new ones continue from the progress table.
"""

from __future__ import annotations

import os
import select
import threading
import weakref
from dataclasses import replace
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import numpy as np

from boolcomp.base.errors import BoolcompError, UsageError, listing, suggestion
from boolcomp.base.processes import Worker, require_shared
from boolcomp.engines.choice import engine_name
from boolcomp.engines.engine import Batch, Evaluation, evaluate, not_codable
from boolcomp.problem.problem import collect_arrays
from boolcomp.scale.partition import make_pipeline, make_shares
from boolcomp.scale.pool_worker import DONE, NUMBER_BYTES, STOP, PoolJob, ProgressTable, Setup, wake
from boolcomp.scale.shared_memory import Arena
from boolcomp.scale.stages import BAD, BLOCK, CLIPPED, LANE_GROUP, OUTSIDE, whole_stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from boolcomp.engines.choice import EngineName
    from boolcomp.program.program import Program
    from boolcomp.scale.stages import Stage


# --------------------------------------------------------------------------------------------------
# The worker processes as the parent sees them: started, told, waited for, replaced, ended.
# --------------------------------------------------------------------------------------------------


MOST_DEATHS = 8  # of one worker, without any progress between them


class WorkerError(BoolcompError):
    """A worker process could not do its work."""


class WorkerGroup:
    """Worker processes that are replaced when they die.

    `setups` describe the workers; their descriptors stay open as long as the group.
    """

    def __init__(self, setups: Sequence[Setup], arena: int) -> None:
        self._setups = tuple(setups)
        self._arena = arena
        self._workers: list[Worker] = []

    @property
    def processes(self) -> tuple[int, ...]:
        return tuple(worker.process.pid for worker in self._workers)

    def start(self) -> None:
        """Start the workers if there are none, and wait until all are ready."""
        if self._workers:
            return
        for setup in self._setups:  # first all: their starts overlap
            self._workers.append(self._started(setup))
        for worker, setup in zip(self._workers, self._setups, strict=True):
            worker.send(setup)
        self._wait(("ready", 0), lambda: 0, lambda _: None)

    def _started(self, setup: Setup) -> Worker:
        others = [one for one in (setup.chunk_numbers, setup.go) if one is not None]
        descriptors = (self._arena, setup.wakeup, *setup.wakes, *others)
        entry = "boolcomp.scale.pool_worker"
        return Worker(entry, self._arena, descriptors=descriptors)

    def send(self, job: PoolJob) -> None:
        """Give all workers a job: first it is there for all, then they are woken."""
        for worker in self._workers:
            worker.send(job)
        for setup in self._setups:
            _wake(setup)

    def finish(
        self, job: PoolJob, progress: Callable[[], int], replaced: Callable[[], None]
    ) -> None:
        """Wait until all workers have done a job.

        One that dies is replaced, its successor is given the job, and `replaced` is called.
        `progress` tells deaths from outside from those that the work itself causes.
        """

        def again(k: int) -> None:
            self._workers[k].send(job)
            _wake(self._setups[k])
            replaced()

        self._wait(("done", job.number), progress, again)

    def _wait(
        self, wanted: tuple[str, int], progress: Callable[[], int], again: Callable[[int], None]
    ) -> None:
        """Wait for a message from everyone; nothing runs here meanwhile."""
        waiting = dict.fromkeys(range(len(self._workers)), (0, -1))  # deaths, progress at the last
        while waiting:
            numbers = [*waiting]
            for place in Worker.ready([self._workers[k] for k in numbers]):
                k = numbers[place]
                message = self._heard(k)
                if message == wanted:
                    del waiting[k]
                elif message is None:
                    deaths, then = waiting[k]
                    now = progress()
                    waiting[k] = (deaths + 1 if now == then else 1, now)
                    self._replace(k, waiting[k][0])
                    again(k)
                elif message[0] == "error":
                    raise WorkerError(f"worker process {k + 1}: {message[1]}")

    def _heard(self, k: int) -> tuple[str, object] | None:
        """Return a worker's next message, or None where it has died, even in the middle of one."""
        try:
            word, content = self._workers[k].receive()
        except (EOFError, OSError, UnpicklingError):
            return None
        return word, content

    def _replace(self, k: int, deaths: int) -> None:
        code = self._workers[k].end()
        if deaths >= MOST_DEATHS:
            raise WorkerError(
                f"worker process {k + 1} died {deaths} times without finishing a block of samples "
                f"(exit code {code}; out of memory?)"
            )
        self._workers[k] = self._started(self._setups[k])
        self._workers[k].send(self._setups[k])

    def end(self) -> None:
        """End all workers; they can be started again."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.end()


def _wake(setup: Setup) -> None:
    """Let a worker look for a job."""
    if setup.go is not None:
        os.eventfd_write(setup.go, 1)


# --------------------------------------------------------------------------------------------------
# A program run by several processes at once, as one would run it: `ProcessPool`.
# --------------------------------------------------------------------------------------------------


Sharding = Literal["samples", "terms", "pipeline"]
SHARDINGS: tuple[Sharding, ...] = get_args(Sharding)
MOST_PROCESSES = 1024
# Chunks of a batch for each worker, and the largest number of samples of a chunk. More chunks leave
# no worker idle at the end; larger ones need fewer calls (numpy needs one for each node).
CHUNKS = {"llvm": (24, 24 << 10), "numpy": (4, 1 << 16)}
DRAWN = 64  # where a worker draws their numbers by itself, which costs next to nothing
MOST_CHUNKS = 1 << 9  # half of what the smallest pipe holds: writing them never waits
SLOTS = 4  # of a ring: more than two, so that small delays do not stop the neighbours


class _Room(NamedTuple):
    """An array in shared memory, where it begins, and whether its samples are there already."""

    array: NDArray[Any]
    start: int
    there: bool


class ProcessPool:
    """Worker processes that evaluate a program, until it is closed.

        with ProcessPool(program, processes=2, shard="samples") as pool:
            tau = pool.evaluate(q, qd, qdd).torques

    It is an `Engine`. Results are in shared memory that is used again when the last array of them
    is gone. One batch runs at a time; threads wait for each other. An interrupt or an error in the
    middle of a batch ends the workers; the next batch starts new ones.
    """

    def __init__(
        self,
        program: Program,
        processes: int = 2,
        *,
        shard: Sharding = "samples",
        engine: EngineName = "auto",
        payload: float | None = None,
    ) -> None:
        require_shared()
        self.wiring = program.wiring(payload)
        if engine == "words":
            raise UsageError(
                "engine 'words' runs in one process: take threads, or engine 'llvm' for more"
            )
        self.name = engine_name(engine)
        if self.name == "bdd":
            raise UsageError("engine 'bdd' walks in one process: take engine 'llvm' or 'numpy'")
        self.stages = self._dealt(program, processes, shard, payload)
        self.shard: Sharding = shard
        self._owner, self._lock = os.getpid(), threading.Lock()
        self._arena = Arena()
        self._pipes: list[tuple[int, int]] = []
        self._counters: list[int] = []
        self._number = 0
        chunk_numbers = None  # a pipe from which workers draw what to do next
        workers = len(self.stages)
        if shard == "samples":
            workers = processes
            chunk_numbers = self._pipe()
        self._chunk_numbers = chunk_numbers
        wakeups = [self._pipe() for _ in range(workers)]
        for _, writing in self._pipes:
            os.set_blocking(writing, False)
        self._wakeups = [writing for _, writing in wakeups]
        setups = [self._setup(k, wakeups) for k in range(workers)]
        self._workers = WorkerGroup(setups, self._arena.file)
        self._finalizer = weakref.finalize(
            self, _closed, self._workers, self._arena, self._pipes, self._counters, self._owner
        )
        try:
            self._workers.start()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _dealt(
        program: Program, processes: int, shard: str, payload: float | None
    ) -> tuple[Stage, ...]:
        """Return the stages: of each worker its own, or the one that all run."""
        if shard not in SHARDINGS:
            raise UsageError(f"shard {shard!r}{suggestion(shard, SHARDINGS)}: {listing(SHARDINGS)}")
        if not 1 <= processes <= MOST_PROCESSES:
            raise UsageError(f"a pool has 1 to {MOST_PROCESSES} processes, not {processes}")
        if shard == "terms":
            return make_shares(program, processes, payload)
        if shard == "pipeline":
            return make_pipeline(program, processes, payload)
        return (whole_stage(program.wiring(payload)),)

    def _pipe(self) -> tuple[int, int]:
        pipe = os.pipe()
        self._pipes.append(pipe)
        return pipe

    def _counter(self) -> int | None:
        """Return a counter on which a worker waits for jobs, where the system has such."""
        if not hasattr(os, "eventfd"):
            return None
        self._counters.append(os.eventfd(0, os.EFD_CLOEXEC))
        return self._counters[-1]

    def _setup(self, k: int, wakeups: Sequence[tuple[int, int]]) -> Setup:
        go = self._counter()
        if self._chunk_numbers is not None:
            reading = self._chunk_numbers[0]
            return Setup(self.stages[0], self.name, 0, (), (), wakeups[k][0], (), reading, go)
        before = tuple(feed.stage for feed in self.stages[k].feeds)
        after = tuple(
            j for j, stage in enumerate(self.stages) if any(f.stage == k for f in stage.feeds)
        )
        wakes = tuple(wakeups[j][1] for j in (*before, *after))
        return Setup(self.stages[k], self.name, k, before, after, wakeups[k][0], wakes, None, go)

    @property
    def processes(self) -> tuple[int, ...]:
        return self._workers.processes

    def evaluate(self, *arrays: ArrayLike, **named: ArrayLike) -> Evaluation:
        return evaluate(self, self._gathered(arrays, named), coded=False)

    def evaluate_words(self, *arrays: ArrayLike, **named: ArrayLike) -> Evaluation:
        return evaluate(self, self._gathered(arrays, named), coded=True)

    def torques(self, *arrays: ArrayLike, **named: ArrayLike) -> NDArray[Any]:
        return self.evaluate(*arrays, **named).values

    def _gathered(
        self, arrays: Sequence[ArrayLike], named: Mapping[str, ArrayLike]
    ) -> list[ArrayLike]:
        return collect_arrays(self.wiring.groups, arrays, named, "this program")

    def arrays(self, samples: int, dtype: DTypeLike = np.float64) -> tuple[NDArray[Any], ...]:
        """Return a new array for every group that the workers see: they need not be copied."""
        rows = -(-samples // LANE_GROUP) * LANE_GROUP
        lent = [self._arena.lent((rows, width), dtype) for width in self.wiring.widths]
        for array in lent:
            self._arena.label(array, samples)
        return tuple(array[:samples] for array in lent)

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch; a `DataError` for NaN and infinities."""
        if os.getpid() != self._owner:
            raise UsageError(
                "this pool is of the process that was forked: make one in this process"
            )
        shape = (batch.samples, len(self.wiring.results))
        real = np.float32 if batch.dtype == np.float32 else np.float64
        if not batch.samples:
            return Evaluation(np.empty(shape, real), np.empty(shape, np.uint32), 0, 0)
        with self._lock:
            if not self._finalizer.alive:
                raise UsageError("this pool is closed")
            try:
                self._workers.start()
                found = self._evaluated(batch, np.dtype(real))
            except BaseException:
                self._abandon()
                raise
        if found is None:
            raise not_codable(self.wiring, batch)
        return found

    def _abandon(self) -> None:
        """End the workers in the middle of a batch, so that nothing of it is left."""
        self._workers.end()
        for reading, _ in self._pipes:
            _drain(reading)

    def _evaluated(self, batch: Batch, real: np.dtype[Any]) -> Evaluation | None:
        """Return the results of a batch; None where there are NaN or infinities in it."""
        rows = -(-batch.samples // LANE_GROUP) * LANE_GROUP
        values = self._arena.lent((rows, len(self.wiring.results)), real)
        words = self._arena.lent((rows, len(self.wiring.results)), np.uint32)
        with self._arena.borrowed() as take:
            inputs = [self._input(k, array, rows, take) for k, array in enumerate(batch.arrays)]
            places = [room.start for room in inputs]
            places += [self._arena.place(values) or 0, self._arena.place(words) or 0]
            copies = [
                (array, room.array)
                for array, room in zip(batch.arrays, inputs, strict=True)
                if not room.there
            ]
            job = self._job(batch, places, take, there=not copies)
            lines = self._arena.array(job.table, job.table_shape, np.int64)
            lines[:] = 0
            table = ProgressTable(job, lines)
            self._workers.send(job)
            self._provide(copies, job, table)
            self._finish(job, table)
            sums = table.counts.sum(axis=1, dtype=np.int64)
        if sums[:, BAD].any():
            return None
        counting = [stage.counting for stage in self.stages]
        return Evaluation(
            values[: batch.samples],
            words[: batch.samples],
            int(sums[counting, OUTSIDE].sum()),
            int(sums[:, CLIPPED].sum()),
        )

    def _input(self, k: int, array: NDArray[Any], rows: int, take: Callable[[int], int]) -> _Room:
        """Return shared memory for one of the arrays: its own where it is one of `arrays`.

        The rows that fill the last group up hold values in range.
        """
        samples, width = array.shape
        shape = (rows, width)
        start = self._arena.place(array)
        there = start is not None and self._arena.labels.get(start) == samples
        if start is None or not there:
            start = take(rows * width * array.itemsize)
        room = self._arena.array(start, shape, array.dtype)
        room[samples:] = 0
        if array.dtype != np.uint32:
            for port in self.wiring.ports:
                if port.array == k:
                    room[samples:, port.column] = port.code.range.centre
        return _Room(room, start, there)

    def _job(
        self,
        batch: Batch,
        places: Sequence[int],
        take: Callable[[int], int],
        *,
        there: bool,
    ) -> PoolJob:
        each, most = CHUNKS[self.name]
        if there and self.name == "llvm":
            each = DRAWN
        if self._chunk_numbers is not None:
            wanted = max(each * len(self._wakeups), 1)
            least = -(-batch.samples // MOST_CHUNKS)
            size = max(min(-(-batch.samples // wanted), most), least)
        else:
            size = min(-(-batch.samples // each), most)
        *arrays, values, words = places
        chunk = -(-size // BLOCK) * BLOCK
        sizes = tuple(len(stage.sent) * chunk // 8 for stage in self.stages)
        self._number += 1
        job = PoolJob(
            number=self._number,
            samples=batch.samples,
            chunk=chunk,
            widths=self.wiring.widths,
            outputs=len(self.wiring.results),
            dtype=batch.dtype.name,
            arena=0,
            arrays=tuple(arrays),
            values=values,
            words=words,
            table=0,
            stages=len(self.stages),
            slots=SLOTS,
            there=there,
            rings=tuple(take(SLOTS * size) for size in sizes),
            sizes=sizes,
        )
        lines, numbers = job.table_shape
        table = take(8 * lines * numbers)
        return replace(job, table=table, arena=self._arena.size)

    def _provide(
        self,
        copies: Sequence[tuple[NDArray[Any], NDArray[Any]]],
        job: PoolJob,
        table: ProgressTable,
    ) -> None:
        """Copy the samples into shared memory, and let the workers at them as they come."""
        if job.there:
            table.progress[job.stages] = job.chunks
            drawn = self.name == "llvm"  # then only what the dead leave behind is announced
            self._announce([] if drawn else range(job.chunks), end=True)
            return
        for chunk in range(job.chunks):
            rows = slice(chunk * job.chunk, min((chunk + 1) * job.chunk, job.samples))
            for array, room in copies:
                room[rows] = array[rows]
            table.progress[job.stages] = chunk + 1
            self._announce([chunk])
        self._announce([], end=True)

    def _announce(self, chunks: Iterable[int], *, end: bool = False) -> None:
        """Tell the workers that chunks can be done; at the end, that no others will come."""
        if self._chunk_numbers is None:
            wake(self._wakeups)
            return
        numbers = [*chunks, *([STOP] * len(self._wakeups) if end else [])]
        written = b"".join(number.to_bytes(NUMBER_BYTES, "little") for number in numbers)
        os.write(self._chunk_numbers[1], written)

    def _finish(self, job: PoolJob, table: ProgressTable) -> None:
        """Wait until all chunks are done; those of dead workers are done again."""

        def progress() -> int:
            return int(table.counts[:, :, DONE].sum())

        def replaced() -> None:
            if self._chunk_numbers is not None:  # the dead may have drawn the successor's STOP
                os.write(self._chunk_numbers[1], STOP.to_bytes(NUMBER_BYTES, "little"))

        self._workers.finish(job, progress, replaced)
        while self._chunk_numbers is not None:
            _drain(self._chunk_numbers[0])
            missing = np.flatnonzero(table.counts[0, :, DONE] == 0)
            if not len(missing):
                break
            self._workers.send(job)
            self._announce(missing.tolist(), end=True)
            self._workers.finish(job, progress, replaced)

    def close(self) -> None:
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _closed(
    workers: WorkerGroup,
    arena: Arena,
    pipes: Sequence[tuple[int, int]],
    counters: Sequence[int],
    owner: int,
) -> None:
    """End a pool; not in a process that was forked from its owner."""
    if os.getpid() == owner:
        workers.end()
    arena.close()
    for end in (*(end for pipe in pipes for end in pipe), *counters):
        os.close(end)


def _drain(reading: int) -> None:
    """Empty a pipe that has no other readers now."""
    while select.select([reading], [], [], 0)[0]:
        os.read(reading, 1 << 16)
