"""One program evaluated by several threads or processes at once: `ProcessPool`.

There are three ways to divide the work; all give the results of one process, bit for bit:

- `samples`: each thread of the native engine, or each process, has the whole program and evaluates
  its part of the batch;
- `terms`: every process evaluates a share of the product terms for all samples, and the last one
  joins the partial results (the paper's Fig. 2a, see `partition`);
- `pipeline`: samples pass through the processes (its Fig. 2b).

Samples, results and the planes between processes are in shared memory; planes use rings of a few
chunks that stay in the processor's cache. Processes wait for each other by looking at the marks of
finished chunks. The worker that replaces a dead one continues from these marks.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import numpy as np

from boolcomp.base.errors import UsageError, listing, require_name
from boolcomp.base.processes import Team, wait_until
from boolcomp.engines.choice import engine_name, make_engine
from boolcomp.engines.engine import Batch, Evaluation, evaluate, not_codable
from boolcomp.problem.problem import collect_arrays
from boolcomp.scale.partition import make_pipeline, make_shares
from boolcomp.scale.stages import (
    BAD,
    BLOCK,
    CLIPPED,
    OUTSIDE,
    make_runner,
    planes_bytes,
    whole_stage,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from boolcomp.engines.choice import EngineName
    from boolcomp.engines.engine import Engine
    from boolcomp.program.program import Program
    from boolcomp.scale.stages import Runner, Stage


# --------------------------------------------------------------------------------------------------
# The part of one worker.
# --------------------------------------------------------------------------------------------------


DONE = 3  # the mark of a chunk, after its counts
SLOTS = 4  # of a ring: more than two, so that small delays do not stop the neighbours


class StagePlace(NamedTuple):
    """The stage that a worker evaluates, and the numbers of the stages before and after it.

    It does the chunks from `first` on in steps of `step`.
    """

    stage: Stage
    engine: str
    number: int
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    first: int = 0
    step: int = 1


class SharedBatch(NamedTuple):
    """A batch in shared memory.

    `marks[s, c]` are the counts of chunk c in stage s, and whether it is done; the last row tells
    which chunks' samples are there. `rings[s]` are the slots of planes that stage s sends.
    """

    arrays: Sequence[NDArray[Any]]
    values: NDArray[Any]
    words: NDArray[np.uint32]
    chunk: int
    marks: NDArray[np.int64]
    rings: Sequence[NDArray[np.uint8]]


_prepared: list[tuple[StagePlace, Runner]] = []  # of this worker


def _prepare(place: StagePlace) -> None:
    _prepared[:] = [(place, make_runner(place.stage, place.engine))]


def _serve(batch: SharedBatch) -> None:
    """Do all chunks of this worker that are not done, each as soon as it can be."""
    ((place, runner),) = _prepared
    marks = batch.marks
    done = [marks[k, :, DONE] for k in (-1, *place.before)]
    taken = [marks[k, :, DONE] for k in place.after]
    for chunk in range(place.first, marks.shape[1], place.step):
        if marks[place.number, chunk, DONE]:  # by one that has died
            continue
        old = chunk - SLOTS
        wait_until(
            lambda c=chunk, o=old: (
                all(row[c] for row in done)  # type: ignore[misc]
                and (o < 0 or all(row[o] for row in taken))
            )
        )
        rows = slice(chunk * batch.chunk, (chunk + 1) * batch.chunk)
        values, slot = batch.values[rows], chunk % SLOTS
        marks[place.number, chunk, :DONE] = runner.run_stage(
            [array[rows] for array in batch.arrays],
            [batch.rings[k][slot] for k in place.before],
            batch.rings[place.number][slot] if place.after else values,
            batch.words[rows],
        )
        marks[place.number, chunk, DONE] = 1


# --------------------------------------------------------------------------------------------------
# A program run by several threads or processes at once, as one would run it: `ProcessPool`.
# --------------------------------------------------------------------------------------------------


Sharding = Literal["samples", "terms", "pipeline"]
SHARDINGS: tuple[Sharding, ...] = get_args(Sharding)
MOST_PROCESSES = 1024
# Chunks of a batch, for each worker where samples are shared, and the most samples of one. More
# chunks leave no worker idle at the ends; larger ones need fewer calls.
CHUNKS = {"llvm": (24, 32 << 10), "numpy": (4, 1 << 16)}


class ProcessPool:
    """Threads or worker processes that evaluate a program, until it is closed.

        with ProcessPool(program, processes=2, shard="samples") as pool:
            tau = pool.evaluate(q, qd, qdd).torques

    It is an `Engine`. Results of processes are in shared memory that is used again when the last
    array of them is gone. One batch runs at a time; threads wait for each other. An interrupt or an
    error in the middle of a batch ends the workers; the next batch starts new ones.
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
        require_name("shard", shard, SHARDINGS)
        if not 1 <= processes <= MOST_PROCESSES:
            raise UsageError(f"a pool has 1 to {MOST_PROCESSES} processes, not {processes}")
        self.wiring = program.wiring(payload)
        self.name = engine_name(engine)
        able = ("llvm", "numpy") if shard != "samples" else ("llvm", "words", "numpy")
        if self.name not in able:
            raise UsageError(f"engine {self.name!r} runs in one process", f"use {listing(able)}")
        self._open, self._lock = True, threading.Lock()
        self._team: Team | None = None
        if shard == "samples" and self.name != "numpy":
            self._engine: Engine = make_engine(self.wiring, engine, processes)
            return
        self.stages = self._dealt(program, processes, shard, payload)
        self._step = processes if shard == "samples" else 1
        self._team = Team(_prepare, [(one,) for one in self._places()])
        try:
            self._team.start()
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _dealt(
        program: Program, processes: int, shard: str, payload: float | None
    ) -> tuple[Stage, ...]:
        """Return the stages, one for every worker."""
        if shard == "terms":
            return make_shares(program, processes, payload)
        if shard == "pipeline":
            return make_pipeline(program, processes, payload)
        return (whole_stage(program.wiring(payload)),) * processes

    def _places(self) -> Iterator[StagePlace]:
        feeds = [tuple(feed.stage for feed in stage.feeds) for stage in self.stages]
        for k, stage in enumerate(self.stages):
            after = tuple(j for j, before in enumerate(feeds) if k in before)
            first = k if self._step > 1 else 0
            yield StagePlace(stage, self.name, k, feeds[k], after, first, self._step)

    @property
    def processes(self) -> tuple[int, ...]:
        """The numbers of the worker processes; there are none where threads work."""
        return self._team.numbers if self._team else ()

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
        empty: Callable[..., NDArray[Any]] = self._team.memory.empty if self._team else np.empty
        return tuple(empty((samples, width), dtype) for width in self.wiring.widths)

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch; a `DataError` for NaN and infinities."""
        with self._lock:
            if not self._open:
                raise UsageError("this pool is closed")
            if self._team is None:
                return self._engine.run(batch)
            return self._shared(self._team, batch)

    def _shared(self, team: Team, batch: Batch) -> Evaluation:
        each, most = CHUNKS[self.name]
        size = min(-(-max(batch.samples, 1) // (each * self._step)), most)
        chunk = -(-size // BLOCK) * BLOCK
        empty, shape = team.memory.empty, (batch.samples, len(self.wiring.results))
        real = np.float32 if batch.dtype == np.float32 else np.float64
        there = [team.memory.place(array) is not None for array in batch.arrays]
        arrays = [
            array if known else empty(array.shape, array.dtype)
            for array, known in zip(batch.arrays, there, strict=True)
        ]
        marks = empty((len(self.stages) + 1, -(-batch.samples // chunk), DONE + 1), np.int64)
        marks[:] = 0
        rings = [
            empty((SLOTS, planes_bytes(len(stage.sent), chunk)), np.uint8) for stage in self.stages
        ]
        values, words = empty(shape, real), empty(shape, np.uint32)
        shared = SharedBatch(arrays, values, words, chunk, marks, rings)

        def copy() -> None:
            for k in range(marks.shape[1]):
                rows = slice(k * chunk, (k + 1) * chunk)
                for array, given, known in zip(arrays, batch.arrays, there, strict=True):
                    if not known:
                        array[rows] = given[rows]
                marks[-1, k, DONE] = 1

        team.call(_serve, [(shared,)] * len(self.stages), copy)
        sums = marks[:-1].sum(axis=1)
        if sums[:, BAD].any():
            raise not_codable(self.wiring, batch)
        outside = sum(row[OUTSIDE] for row, x in zip(sums, self.stages, strict=True) if x.counting)
        return Evaluation(values, words, int(outside), int(sums[:, CLIPPED].sum()))

    def close(self) -> None:
        """End the workers; results stay."""
        self._open = False
        if self._team is not None:
            self._team.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
