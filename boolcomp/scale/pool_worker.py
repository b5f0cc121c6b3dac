"""The code of a worker process of a pool; `main` is its entry point.

A worker receives its stage once and then one job for each batch over a pipe. Samples, results,
slots of planes and the `ProgressTable` of a job are in shared memory. A worker that waits reads
from its wakeup pipe, to which other workers write when they make progress. A worker that replaces a
dead one continues from the table; a chunk that was begun is repeated.

It ends when the parent closes the pipe or ends (`processes`).
"""

from __future__ import annotations

import contextlib
import os
import select
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.scale.shared_memory import SharedView
from boolcomp.scale.stages import ChunkSlot, Work, make_runner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from boolcomp.base.processes import Channel
    from boolcomp.scale.stages import Runner, Stage

LINE = 8  # numbers of 64 bits a cache line: what one process writes shares a line with no other's
COUNTS = 4  # outside, bad, clipped; done
DONE = 3
NUMBER_BYTES = 4  # bytes
MOST_STATES = 4  # that are kept
_NAP = 0.01  # seconds
STOP = 0xFFFF_FFFF  # the chunk number after which there are none


@dataclass(frozen=True, slots=True)
class Setup:
    """The configuration of a worker; descriptors are inherited.

    `before` are the stages that feed it, `after` those that it feeds. It sleeps on `wakeup` and
    wakes others through `wakes`. Without `chunk_numbers` it does all chunks in order, otherwise
    those whose numbers it draws from that pipe. It waits for jobs on the event counter `go` where
    the system has one: Linux places the reader of a pipe on the writer's processor, where it delays
    the writer.
    """

    stage: Stage
    engine: str
    index: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    wakeup: int
    wakes: tuple[int, ...]
    chunk_numbers: int | None
    go: int | None = None


@dataclass(frozen=True, slots=True)
class PoolJob:
    """One batch: the places of its parts in shared memory.

    With `there` all samples are there from the start. `rings[s]` is the beginning of the slots of
    stage s, and `sizes[s]` the number of bytes of each.
    """

    number: int
    samples: int
    chunk: int
    widths: tuple[int, ...]
    outputs: int
    dtype: str
    arena: int
    arrays: tuple[int, ...]
    values: int
    words: int
    table: int
    stages: int
    slots: int
    there: bool
    rings: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def chunks(self) -> int:
        return -(-self.samples // self.chunk)

    @property
    def rows(self) -> int:
        return -(-self.samples // 64) * 64

    @property
    def real(self) -> str:
        return "float32" if self.dtype == "float32" else "float64"

    @property
    def table_shape(self) -> tuple[int, int]:
        return (self.stages + 1 + -(-self.stages * self.chunks * COUNTS // LINE), LINE)


class ProgressTable:
    """How far a job has come.

    `progress[s]` chunks have left stage s; the last entry counts those whose samples are there.
    `waiting[s]` is set while stage s waits for its wakeup: others need not write otherwise.
    `counts[s, c]` are the counts of chunk c in stage s, and whether it is done.
    """

    def __init__(self, job: PoolJob, lines: NDArray[np.int64]) -> None:
        # The last line's second number counts the chunks that were drawn (`stageloop.draw`).
        self.progress = lines[: job.stages + 1, 0]
        self.waiting = lines[: job.stages, 1]  # set by a stage before it sleeps
        numbers = lines[job.stages + 1 :].reshape(-1)[: job.stages * job.chunks * COUNTS]
        self.counts = numbers.reshape(job.stages, job.chunks, COUNTS)


class WorkerState:
    """A job as one worker has it."""

    def __init__(self, setup: Setup, job: PoolJob, view: SharedView) -> None:
        view.reach(job.arena)
        self.setup = setup
        self.job = job
        self.view = view
        self.table = ProgressTable(job, view.array(job.table, job.table_shape, np.int64))
        shape = (job.rows, job.outputs)
        places = (*job.arrays, job.values, job.words)
        self.work = Work(
            job.samples,
            job.chunk,
            tuple(
                view.array(start, (job.rows, width), job.dtype)
                for start, width in zip(job.arrays, job.widths, strict=True)
            ),
            view.array(job.values, shape, job.real),
            view.array(job.words, shape, np.uint32),
            tuple(view.address + place for place in places),
        )
        stages = (*setup.before, setup.index)
        self.slots = {s: [self._slot(s, k) for k in range(job.slots)] for s in stages}

    def _slot(self, stage: int, place: int) -> ChunkSlot:
        size = self.job.sizes[stage]
        start = self.job.rings[stage] + place * size
        return ChunkSlot(self.view.address + start, self.view.array(start, (size,), np.uint8))

    def do(self, runner: Runner, chunk: int) -> None:
        """Do one chunk and enter it in the table."""
        here = self.setup.index
        place = chunk % self.job.slots
        handed = [self.slots[stage][place] for stage in self.setup.before]
        sent = self.slots[here][place] if self.setup.after else None
        counts = self.table.counts[here, chunk]
        runner.run_chunk(self.work, chunk, handed, sent, counts)
        counts[DONE] = 1

    def ready(self, chunk: int) -> bool:
        """Tell whether a chunk's samples and planes are there, and a slot for its own."""
        progress = self.table.progress
        return (
            progress[self.job.stages] > chunk
            and all(progress[stage] > chunk for stage in self.setup.before)
            and all(progress[stage] + self.job.slots > chunk for stage in self.setup.after)
        )


def main(channel: Channel, arena: int) -> None:
    """Do jobs until the parent hangs up; `arena` is an inherited descriptor."""
    view = SharedView(arena)
    setup: Setup = channel.receive()
    runner = make_runner(setup.stage, setup.engine)
    channel.send(("ready", 0))
    states: dict[PoolJob, WorkerState] = {}  # one batch is often where the one before it was
    while True:
        if setup.go is not None:
            _wait_for(setup.go)
        job: PoolJob = channel.receive()
        place = replace(job, number=0)
        if place not in states:
            if len(states) == MOST_STATES:
                states.clear()
            states[place] = WorkerState(setup, job, view)
        state = states[place]
        if setup.chunk_numbers is None:
            _do_in_order(state, runner)
        else:
            _do_drawn(state, runner, setup.chunk_numbers)
        channel.send(("done", job.number))


def _wait_for(go: int) -> None:
    os.eventfd_read(go)


def _do_drawn(state: WorkerState, runner: Runner, chunk_numbers: int) -> None:
    """Do the chunks whose numbers this worker draws, until it draws `STOP`.

    Where all samples are there from the start it draws from the progress table first.
    """
    if state.job.there:
        runner.run_drawn(state)
    while (chunk := int.from_bytes(os.read(chunk_numbers, NUMBER_BYTES), "little")) != STOP:
        state.do(runner, chunk)


def _do_in_order(state: WorkerState, runner: Runner) -> None:
    """Do all chunks that the progress table does not show as done, each as soon as it can be."""
    setup = state.setup
    wake(setup.wakes)  # who was here before may have died before it did
    chunk = int(state.table.progress[setup.index])
    state.table.waiting[setup.index] = 0
    while chunk < state.job.chunks:
        done = runner.run_ready(state, chunk)
        if done > chunk:
            wake(setup.wakes)
            chunk = done
        else:
            _wait(state, chunk)


def _wait(state: WorkerState, chunk: int) -> None:
    """Sleep until another process wakes this one, unless the chunk can be done by now."""
    waiting = state.table.waiting
    waiting[state.setup.index] = 1
    # Processes that read the mark before it was set do not wake this one: check again, repeatedly.
    if not state.ready(chunk) and select.select([state.setup.wakeup], [], [], _NAP)[0]:
        os.read(state.setup.wakeup, 4096)
    waiting[state.setup.index] = 0


def wake(wakeups: Iterable[int]) -> None:
    """Wake the processes that sleep on these pipes, or keep them from falling asleep."""
    for wakeup in wakeups:
        with contextlib.suppress(BlockingIOError):  # it is woken already, thousands of times
            os.write(wakeup, b"!")
