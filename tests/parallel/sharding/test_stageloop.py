"""The native loop of a stage: many chunks a call, until it has to wait or to wake somebody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from small_programs import stages as program_stages

from boolcomp.engines import evaluate
from boolcomp.engines.planes import NumpyEngine
from boolcomp.parallel.sharding.arena import Arena, View
from boolcomp.parallel.sharding.runners import make_runner
from boolcomp.parallel.sharding.shares import make_shares
from boolcomp.parallel.sharding.stages import Stage, whole_stage
from boolcomp.parallel.sharding.worker import DONE, Job, Setup, WorkerState

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = program_stages(4)[2]
CHUNK, SAMPLES = 512, 3000


def job_for(stages: tuple[Stage, ...], arena: Arena) -> Job:
    """Return a batch of six chunks in an arena; its samples are already there."""
    rows = -(-SAMPLES // 64) * 64
    rng = np.random.default_rng(0)
    places = []
    for kind in (np.float64, np.float64, np.float64, np.float64, np.uint32):
        region = arena.take(rows * 2 * np.dtype(kind).itemsize)
        arena.array(region.start, (rows, 2), kind)[:] = rng.uniform(-1, 1, (rows, 2))
        places.append(region.start)
    sizes = tuple(len(stage.sent) * CHUNK // 8 for stage in stages)
    rings = tuple(arena.take(4 * size).start for size in sizes)
    q, qd, qdd, torques, words = places
    table = arena.take(1 << 14).start
    job = Job(
        1, SAMPLES, CHUNK, (2, 2, 2), 2, "float64", arena.size, (q, qd, qdd), torques, words, table,
        len(stages), 4, there=True, rings=rings, sizes=sizes,
    )  # fmt: skip
    lines = arena.array(table, job.table_shape, np.int64)
    lines[:] = 0
    lines[len(stages), 0] = job.chunks
    return job


def state_of(stages: tuple[Stage, ...], index: int, job: Job, view: View) -> WorkerState:
    before = tuple(feed.stage for feed in stages[index].feeds)
    after = tuple(j for j, s in enumerate(stages) if any(f.stage == index for f in s.feeds))
    return WorkerState(Setup(stages[index], "llvm", index, before, after, -1, (), None), job, view)


@pytest.fixture
def arena() -> Iterator[Arena]:
    opened = Arena()
    yield opened
    opened.close()


def test_two_stages_take_turns_and_make_the_torques_of_one_process(arena: Arena) -> None:
    stages = make_shares(PROGRAM, 2)
    job = job_for(stages, arena)
    view = View(arena.file)
    first, last = (state_of(stages, k, job, view) for k in range(2))
    one, two = (make_runner(stage, "llvm") for stage in stages)
    assert two.run_ready(last, 0) == 0  # nothing is handed to it yet
    assert one.run_ready(first, 0) == 4  # then its slots are full
    assert list(first.table.progress) == [4, 0, 6]
    first.table.waiting[0] = 1  # the first stage sleeps now
    assert two.run_ready(last, 0) == 1  # so that it is woken as soon as there is a slot
    first.table.waiting[0] = 0
    assert one.run_ready(first, 4) == 5
    assert two.run_ready(last, 1) == 5
    assert one.run_ready(first, 5) == 6
    assert two.run_ready(last, 5) == 6
    assert (last.table.counts[:, :, DONE] == 1).all()
    states = [x[:SAMPLES] for x in last.work.arrays]
    wanted = evaluate(NumpyEngine(PROGRAM.wiring()), states, coded=False)
    assert (last.work.values[:SAMPLES] == wanted.values).all()
    assert (last.work.words[:SAMPLES] == wanted.words).all()
    assert last.table.counts[1, :, 2].sum() == wanted.saturated_outputs


def test_chunks_are_drawn_by_one_worker_each_and_only_while_there_are_some(arena: Arena) -> None:
    stages = (whole_stage(PROGRAM.wiring()),)
    job = job_for(stages, arena)
    state = state_of(stages, 0, job, View(arena.file))
    runner = make_runner(stages[0], "llvm")
    lines = arena.array(job.table, job.table_shape, np.int64)
    lines[1, 1] = 2  # another worker has drawn two of six
    runner.run_drawn(state)
    assert state.table.counts[0, :, DONE].tolist() == [0, 0, 1, 1, 1, 1]
    states = [x[:SAMPLES] for x in state.work.arrays]
    wanted = evaluate(NumpyEngine(PROGRAM.wiring()), states, coded=False)
    assert (state.work.values[2 * CHUNK : SAMPLES] == wanted.values[2 * CHUNK :]).all()
    runner.run_drawn(state)  # there are none left: nothing changes
    assert state.table.counts[0, :2, DONE].tolist() == [0, 0]
