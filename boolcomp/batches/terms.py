"""Product terms dealt to the workers of a Dask cluster (the paper's Fig. 2a), chunk by chunk.

Every worker evaluates its terms for all samples of a chunk, which it reads itself; the planes of
partial results go from worker to worker, and the last joins them and makes the outputs, as
`parallel.sharding.shares` has it for the processes of one machine. Only Dask hands results from
worker to worker; so there is no other way than that.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.workers import TICK, executor
from boolcomp.batches.chunk import (
    Clock,
    Counting,
    arrays_of,
    evaluated,
    naming,
    pieces,
    program_for,
)
from boolcomp.common.errors import BoolcompError, UsageError
from boolcomp.common.workers import Late
from boolcomp.engines import engine_name
from boolcomp.engines.engine import Batch, Evaluation, batch_of, not_codable
from boolcomp.scale.batch_parts import WORDS
from boolcomp.scale.journal import written
from boolcomp.scale.partition import make_shares
from boolcomp.scale.stages import BAD, BLOCK, CLIPPED, LANE_GROUP, OUTSIDE, Slot, Work, make_runner

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.batches.chunk import Job, Tally, Task
    from boolcomp.common.workers import Workers
    from boolcomp.engines.wiring import Wiring
    from boolcomp.parallel.sharding.stages import Stage
    from boolcomp.scale.stages import Runner

AHEAD = 3  # chunks under way at a time, each at another worker


class Share:
    """An engine for one share: it makes planes, or takes those of the others and makes outputs."""

    name = "llvm"

    def __init__(self, stage: Stage, wiring: Wiring, engine: str) -> None:
        self.stage, self.wiring = stage, wiring
        self.runner: Runner = make_runner(stage, engine)
        self.handed: list[NDArray[np.uint8]] = []
        self.sent = np.empty(0, np.uint8)

    def run(self, batch: Batch) -> Evaluation:
        """Do what the share does for a batch; without outputs there are no results."""
        size = -(-batch.samples // BLOCK) * BLOCK
        arrays = [self._padded(k, array, size) for k, array in enumerate(batch.arrays)]
        real = np.float32 if batch.dtype == np.float32 else np.float64
        outputs = len(self.stage.results)
        values, words = np.empty((size, outputs), real), np.empty((size, outputs), np.uint32)
        addresses = tuple(room.ctypes.data for room in (*arrays, values, words))
        work = Work(batch.samples, size, tuple(arrays), values, words, addresses)
        self.sent = _aligned(len(self.stage.sent) * size // 8)
        counts = np.zeros(4, np.int64)
        sent = None if outputs else Slot(self.sent.ctypes.data, self.sent)
        slots = [Slot(planes.ctypes.data, planes) for planes in self.handed]
        self.runner.run_chunk(work, 0, slots, sent, counts)
        if counts[BAD]:
            raise not_codable(self.wiring, batch)
        count = batch.samples
        outside = int(counts[OUTSIDE]) if self.stage.counting else 0
        return Evaluation(values[:count], words[:count], outside, int(counts[CLIPPED]))

    def _padded(self, k: int, array: NDArray[Any], rows: int) -> NDArray[Any]:
        """Return whole blocks of samples; those that fill the last one up hold values in range."""
        room = np.zeros((rows, array.shape[1]), array.dtype)
        room[: len(array)] = array
        if array.dtype != np.uint32:
            for port in self.wiring.ports:
                if port.array == k:
                    room[len(array) :, port.column] = port.code.range.centre
        return room


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return so many bytes that begin at a cache line."""
    room = np.empty(size + LANE_GROUP, np.uint8)
    start = -room.ctypes.data % LANE_GROUP
    return room[start : start + size]


def share_of(job: Job, k: int, count: int) -> Share:
    """Return the share of a worker, dealt and compiled once a thread of it."""
    return _share_of(job, k, count, threading.get_ident())


@lru_cache(maxsize=8)
def _share_of(job: Job, k: int, count: int, thread: int) -> Share:
    del thread  # a share has memory of its own
    program = program_for(job)
    load = program.chosen(job.payload).loads[0].payload
    stages = make_shares(program, count, load)
    return Share(stages[k], program.wiring(load), engine_name(job.engine))


def partial(job: Job, task: Task, k: int, count: int) -> list[NDArray[np.uint8]]:
    """Return the planes of a share that is not the last, for all rows of a chunk, by pieces."""
    share = share_of(job, k, count)
    made = []
    for _, part, first, table in pieces(job, task):
        arrays = arrays_of(table, share.wiring.groups)
        with naming(share.wiring, arrays, job, part, first):
            share.run(batch_of(share.wiring, arrays, coded=job.dtype == WORDS)[0])
        made.append(share.sent)
    return made


def joined(job: Job, task: Task, count: int, *others: list[NDArray[np.uint8]]) -> Tally:
    """Do the last share of a chunk, join what the others made, and write the results."""
    program = program_for(job)
    share = share_of(job, count - 1, count)
    counting, clock = Counting(job, program), Clock()
    with written(job.target, task.files) as sink:
        for place, (row, part, first, table) in enumerate(pieces(job, task, clock)):
            share.handed = [_at_a_line(planes[place]) for planes in others]
            found = evaluated(share, table, job, part, first)
            counting.add(table, found)
            clock.lap(1)
            sink.write(row, found.values)
            clock.lap(2)
    clock.lap(2)
    sent = sum(planes.nbytes for other in others for planes in other)
    return counting.tally(clock.seconds)._replace(sent=sent)


def _at_a_line(planes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return planes that came over the network where native code can take them."""
    if planes.ctypes.data % LANE_GROUP == 0:
        return planes
    room = _aligned(planes.size)
    room[:] = planes
    return room


def completed(
    workers: Workers, job: Job, plan: Sequence[Task], numbers: Sequence[int]
) -> Iterator[tuple[int, Tally]]:
    """Yield (place, tally) of every chunk of these numbers as it comes, made by all workers."""
    with _dask(workers) as pool:
        client = pool.client
        names = [*client.scheduler_info(n_workers=-1)["workers"]]
        if not names:
            raise UsageError("--shard terms deals to workers, and the cluster has none yet")
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        under_way: dict[Any, int] = {}
        place = 0
        while place < len(numbers) or under_way:
            while place < len(numbers) and len(under_way) < AHEAD:
                future = _submitted(client, names, job, plan[numbers[place]])
                future.add_done_callback(ended.put)
                under_way[future.key] = place
                place += 1
            try:
                future = ended.get(timeout=TICK)
            except queue.Empty:
                continue
            error = future.exception()
            if error is not None:
                raise error if isinstance(error, BoolcompError) else pool.said(error)
            yield under_way.pop(future.key), future.result()


def _submitted(client: Any, names: Sequence[str], job: Job, task: Task) -> Any:
    """Submit a chunk: a share to every worker, and the last one is fed by the others."""
    count = len(names)

    def at(k: int) -> dict[str, Any]:
        return {"workers": [names[k]], "allow_other_workers": True, "pure": False}

    made = [client.submit(partial, job, task, k, count, **at(k)) for k in range(count - 1)]
    return client.submit(joined, job, task, count, *made, **at(count - 1))


@contextlib.contextmanager
def _dask(workers: Workers) -> Iterator[Any]:
    """Provide a cluster; what others opened stays open."""
    where = workers.where
    with contextlib.ExitStack() as stack:
        opened = isinstance(where, Late)
        pool: Any = where.started if opened else stack.enter_context(executor(where))
        if not hasattr(pool, "client"):
            raise UsageError(
                "--shard terms hands planes from worker to worker, which a --cluster does; give one"
            )
        yield pool
