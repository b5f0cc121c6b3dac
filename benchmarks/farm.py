"""How far a sweep scales on a Dask cluster: a model of measured costs, checked where it can be.

Measured here, in processor time, so that other work on the machine matters little: what a task
costs the client, the scheduler and the worker that has it; what a worker costs the scheduler that
joins it, and its signs of life (as many as Dask asks for); what a megabyte of results costs; what
the client takes to keep a cell. A simulation runs a sweep with these: client and scheduler do one
thing at a time, workers one task each, and batches are those of `boolcomp sweep` itself. Networks
are not in it.

It is held against sweeps of tasks that only sleep, on 1, 2 and 4 workers here.

    python benchmarks/farm.py [--tasks N]
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import operator
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from distributed.scheduler import heartbeat_interval

from boolcomp.base import dask
from boolcomp.base.workers import completed, executor
from boolcomp.scale.sweep import CellQueue, CellTimes, SweepFolder
from boolcomp.scale.sweep_spec import CellOutcome, parse_spec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from boolcomp.scale.sweep_spec import SweepCell

SMALL, LARGE = 2_000, 500_000  # bytes of results: a cell without exports, one with many
CELLS = 10_000
SECONDS = (0.1, 0.6, 10.0)  # of a cell; gravity, inverse dynamics of the 2R without effort
WORKERS = (1, 2, 4, 10, 25, 50, 100, 200, 400, 700, 1000)
NAP = 0.05  # seconds of a task that is measured whole
MOST, IDLE = 4, 10.0  # workers that do nothing, for so many seconds


@dataclass(frozen=True)
class Measured:
    """Seconds of a processor; of a megabyte all three together count as the scheduler's."""

    client: float
    scheduler: float
    worker: float
    megabyte: float
    joining: float
    beat: float  # a worker's sign of life, at the scheduler
    keeping: float  # of a cell, by the client


@dataclass(frozen=True)
class Predicted:
    """How long a sweep takes, and which part of that client and scheduler are busy."""

    seconds: float
    tasks: int
    client: float
    scheduler: float


def processor_times() -> dict[int, float]:
    """Return what this process's children have used, the oldest first: the scheduler's first."""
    found = {}
    for tasks in Path("/proc/self/task").glob("*/children"):
        for child in tasks.read_text(encoding="utf-8").split():
            threads = Path(f"/proc/{child}/task").glob("*/schedstat")
            found[int(child)] = sum(float(one.read_text().split()[0]) for one in threads) / 1e9
    return dict(sorted(found.items()))


def of_scheduler() -> float:
    """Return what the scheduler has used."""
    return next(iter(processor_times().values()))


def echoes(pool: Executor, count: int, size: int) -> tuple[float, float, float]:
    """Return what so many tasks with results of so many bytes cost client, scheduler, worker."""
    before, own = processor_times(), time.process_time()
    wanted = b"x" * size
    for _, future in completed(pool, operator.mul, [(wanted, 1)] * count):
        if future.result() != wanted:
            sys.exit("a task gave back other bytes")
    used = [after - before[k] for k, after in processor_times().items()]
    return (time.process_time() - own) / count, used[0] / count, sum(used[1:]) / count


def measure(count: int) -> Measured:
    """Measure what tasks and workers cost."""
    joined, idle = {}, {}
    for workers in (1, MOST):
        with executor(f"local:{workers}") as pool:
            joined[workers] = of_scheduler()
            pool.submit(time.sleep, 1).result()
            before = of_scheduler()
            pool.submit(time.sleep, IDLE).result()
            idle[workers] = (of_scheduler() - before) / IDLE
            if workers == 1:
                list(completed(pool, abs, [(k,) for k in range(100)]))
                client, scheduler, worker = echoes(pool, count, SMALL)
                large = sum(echoes(pool, count // 10, LARGE))
    beat = max(0.0, idle[MOST] - idle[1]) / (MOST - 1) * heartbeat_interval(MOST)
    joining = max(0.0, joined[MOST] - joined[1]) / (MOST - 1)
    megabyte = (large - client - scheduler - worker) / ((LARGE - SMALL) / 1e6)
    return Measured(client, scheduler, worker, max(0.0, megabyte), joining, beat, keeping())


def keeping() -> float:
    """Return the processor time in which the client keeps a cell."""
    some = cells(200)
    output = {
        "payload": 0.0, "name": "G1", "unit": "N·m", "bits": 8, "lsb": 0.5, "rms": 0.1,
        "sampled_max": 0.25, "worst_found": 0.5, "bound": 0.7,
    }  # fmt: skip
    result = {"program": "x", "nodes": 1, "lut6": 1, "depth": 1, "input_bits": {"q1": 8},
              "outputs": [output] * 2, "files": {}}  # fmt: skip
    with tempfile.TemporaryDirectory() as path:
        folder, start = SweepFolder(Path(path)), time.process_time()
        for cell in some:
            folder.put(cell, CellOutcome(result, {}, 1.0))
        return (time.process_time() - start) / len(some)


def cells(count: int) -> tuple[SweepCell, ...]:
    """Return cells that differ in their loads."""
    masses = [k / 1000 for k in range(count)]
    document = {"robots": "machado-2r", "functions": "gravity", "bits": 4, "effort": 0}
    return parse_spec({**document, "payloads": masses}).cells


def batched(some: Sequence[SweepCell], seconds: float, workers: int) -> list[int]:
    """Return how many cells each task has, as `boolcomp sweep` deals them."""
    known = CellTimes()
    known.learn(some[0], seconds)
    batches, found = CellQueue(some, range(len(some)), known), []
    while batches:
        found.append(len(batches.take(workers)))
    return found


def simulate(own: Measured, tasks: Sequence[int], seconds: float, workers: int) -> Predicted:
    """Run tasks of so many cells each; half of what a task costs comes before it, half after.

    Whatever comes to the client or the scheduler waits there for what came before.
    """
    ahead, under_way, left = max(dask.LEAST_AHEAD, 3 * workers), 0, deque(tasks)
    busy = own.beat * workers / heartbeat_interval(workers)  # a part of the scheduler's time
    slower = 1 / max(0.05, 1 - busy)
    free = [own.joining * slower * (k + 1) for k in range(workers)]
    client = scheduler = client_used = scheduler_used = 0.0
    events = [(0.0, 0, "submit", 0)]
    number = itertools.count(1)
    while events:
        now, _, what, count = heapq.heappop(events)
        following: list[tuple[float, str]] = []
        if what == "submit" and left and under_way < ahead:
            client, count, under_way = (
                max(client, now) + own.client / 2,
                left.popleft(),
                under_way + 1,
            )
            client_used += own.client / 2
            following = [(client, "assign"), (client, "submit")]
        elif what in {"assign", "finished"}:
            cost = own.scheduler / 2
            cost += count * SMALL / 1e6 * own.megabyte if what == "finished" else 0.0
            scheduler = max(scheduler, now) + cost * slower
            scheduler_used += cost
            following = [(scheduler, "begin" if what == "assign" else "heard")]
        elif what == "begin":
            end = max(now, heapq.heappop(free)) + own.worker + count * seconds
            heapq.heappush(free, end)
            following = [(end, "finished")]
        elif what == "heard":
            cost = own.client / 2 + count * own.keeping
            client, under_way = max(client, now) + cost, under_way - 1
            client_used += cost
            following = [(client, "submit")]
        for time_, next_ in following:
            heapq.heappush(events, (time_, next(number), next_, count))
    part = scheduler_used / client + busy
    return Predicted(client, len(tasks), client_used / client, min(1.0, part))


def curves(own: Measured) -> None:
    """Print what a sweep of many cells is predicted to gain from workers."""
    some = cells(CELLS)
    for seconds in SECONDS:
        print(
            f"\n{CELLS} cells of {seconds:g} s: speed-up (part of proportional), and which part of "
            "the time\nclient and scheduler are busy\n"
        )
        print(f"{'workers':>8}{'a task each':>22}{'client':>8}{'sched.':>8}"
              f"{'in batches':>22}{'client':>8}{'sched.':>8}{'tasks':>8}")  # fmt: skip
        one = CELLS * seconds
        for workers in WORKERS:
            text = f"{workers:8}"
            for tasks in ([1] * CELLS, batched(some, seconds, workers)):
                found = simulate(own, tasks, seconds, workers)
                gain = one / found.seconds
                text += f"{gain:14.1f} ({gain / workers:4.0%})"
                text += f"{found.client:8.0%}{found.scheduler:8.0%}"
            print(f"{text}{found.tasks:8}")


def check(own: Measured, count: int) -> None:
    """Hold the model against sleeping tasks on this machine."""
    print(f"\n{count} tasks that sleep {NAP:g} s, seconds: predicted, measured here, and the ratio")
    for workers in (1, 2, 4):
        model = replace(own, keeping=0.0, joining=0.0)
        wanted = simulate(model, [1] * count, NAP, workers).seconds
        with executor(f"local:{workers}") as pool:
            list(completed(pool, abs, [(k,) for k in range(100)]))
            start = time.perf_counter()
            done = sum(1 for _ in completed(pool, time.sleep, [(NAP,)] * count))
            took = time.perf_counter() - start
        assert done == count  # noqa: S101 (a benchmark checks what it measures)
        print(f"{workers:8} workers{wanted:9.2f}{took:9.2f}{took / wanted:9.2f}")


def main() -> None:
    """Measure, check, predict."""
    parser = argparse.ArgumentParser(description="How far a sweep scales.")
    parser.add_argument("--tasks", type=int, default=2000)
    options = parser.parse_args()
    own = measure(options.tasks)
    print(
        f"a task costs the client {own.client * 1e6:.0f} µs, the scheduler "
        f"{own.scheduler * 1e6:.0f} µs, its worker {own.worker * 1e6:.0f} µs;\na megabyte of "
        f"results {own.megabyte * 1e3:.1f} ms; a cell that is kept {own.keeping * 1e6:.0f} µs of "
        f"the client;\na worker costs the scheduler {own.joining * 1e3:.1f} ms when it joins, and "
        f"{own.beat * 1e6:.0f} µs at every sign of life"
    )
    check(own, options.tasks // 5)
    curves(own)


if __name__ == "__main__":
    main()
