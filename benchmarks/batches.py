"""Very large batches: what workers lose against processes that share nothing; files; terms.

    python benchmarks/batches.py [--states 1e9] [--rounds 3]

All ratios are of one run, with two workers, and results are compared by digests that do not depend
on who made them.

1. The logic of so many states of the 2R, drawn in the workers by a counter-based generator: two
   processes that share nothing, each with its half in one call, against local processes and Dask
   workers that are sent chunks. Starting, loading and compiling are done before.
2. Batches of a million states whose arrays are in shared memory (`ProcessPool`, by samples),
   against two processes that have half of it each and share nothing.
3. Files: reading and decoding, logic, writing to the disk, apart; in the page cache as far as they
   fit.
4. Product terms dealt to Dask workers (the paper's Fig. 2a) beside samples: bytes that go over
   the network, time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from drawnstates import PIECE, Drawn, evaluate_again, evaluate_drawn, peak, values
from processes import two_r

import boolcomp
from boolcomp.base.processes import Worker
from boolcomp.base.workers import Workers, completed, executor
from boolcomp.scale.batches import evaluate_files
from boolcomp.scale.pool import ProcessPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CALLS = 16  # into which all states are dealt: calls of tens of milliseconds, as files make them
WANTED = 0.95  # of what processes that share nothing reach
MEMORY = 500  # MB, of the client and of each worker
TIMES = 5  # batches in a row
BATCH = 1_000_000


def summed(parts: Iterable[Drawn]) -> tuple[int, float, float, float]:
    """Return the digest, the seconds of drawing and logic, and the largest memory."""
    found = list(parts)
    return (
        sum(one.digest for one in found), sum(one.drawing for one in found),
        sum(one.logic for one in found), max(one.peak for one in found),
    )  # fmt: skip


def logic(folder: str, states: int, rounds: int) -> None:
    """Measure the logic of many states."""
    size = -(-states // (CALLS * PIECE)) * PIECE  # whole pieces: the same states however dealt
    chunks = [(folder, k, min(size, states - k)) for k in range(0, states, size)]
    half = len(chunks) // 2 * size
    halves = [(folder, 0, half), (folder, half, states - half)]
    with ExitStack() as stack:
        alone = [Worker(), Worker()]
        for worker in alone:
            stack.callback(worker.end)
        threads = stack.enter_context(ThreadPoolExecutor(2))
        pools = {name: stack.enter_context(executor(name)) for name in ("processes:2", "local:2")}

        def nothing_shared() -> list[Drawn]:
            jobs = [
                threads.submit(lambda w=worker, g=given: w.call(evaluate_drawn, *g))  # type: ignore[misc]
                for worker, given in zip(alone, halves, strict=True)
            ]
            return [job.result() for job in jobs]

        def through(pool: Any) -> list[Drawn]:
            return [future.result() for _, future in completed(pool, evaluate_drawn, chunks)]

        runs: dict[str, Callable[[], list[Drawn]]] = {
            "one process": lambda: [alone[0].call(evaluate_drawn, folder, 0, states)],
            "two that share nothing": nothing_shared,
            **{name: lambda pool=pool: through(pool) for name, pool in pools.items()},  # type: ignore[misc]
        }
        for pool in pools.values():  # load and compile
            warm = [(folder, k * size, 1 << 18) for k in range(8)]
            list(completed(pool, evaluate_drawn, warm))
        for worker in alone:
            worker.call(evaluate_drawn, folder, 0, 1 << 18)
        times, found = timed(runs, rounds)
    digests = {name: summed(parts)[0] for name, parts in found.items()}
    if len({*digests.values()}) > 1:
        sys.exit(f"the results differ: {digests}")
    print(f"{states:.0e} states of the 2R, chunks of {size}; {rounds} rounds, the least time\n")
    print(f"{'':24}{'ns/state':>9}{'logic':>8}{'drawing':>9}{'ratio':>7}{'MB':>6}")
    best = min(times["two that share nothing"])
    for name, row in times.items():
        _, drawing, own, memory = summed(found[name])
        print(
            f"{name:24}{min(row) / states * 1e9:9.2f}{own / states * 1e9:8.2f}"
            f"{drawing / states * 1e9:9.2f}{best / min(row):7.3f}{memory:6.0f}"
        )
        if name in pools:
            said(f"{name}, of sharing nothing", best / min(row), WANTED)
            said(f"{name}, memory of a worker in MB", -memory, -MEMORY)
    said("memory of the client in MB", -peak(), -MEMORY)


def timed(runs: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, list[float]], Any]:
    """Return the seconds of every run in every round, one after the other, and what they gave."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    found: dict[str, Any] = {}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            found[name] = run()
            times[name].append(time.perf_counter() - start)
    return times, found


def said(what: str, value: float, least: float) -> None:
    """Print whether something is as large as wanted; what is negative is to be small."""
    holds = "holds" if value >= least else "FAILS (is the machine quiet?)"
    wanted = f"at least {least:g}" if least > 0 else f"at most {-least:g}"
    print(f"    {what}: {abs(value):.3g}, {wanted} wanted: {holds}")


def batches(folder: str, rounds: int) -> None:
    """Measure batches in shared memory."""
    program = boolcomp.load_program(folder)
    state = values(BATCH)
    wanted = program.evaluate(*state)
    with ExitStack() as stack:
        alone = [Worker(), Worker()]
        for worker in alone:
            stack.callback(worker.end)
        threads = stack.enter_context(ThreadPoolExecutor(2))
        pool = stack.enter_context(ProcessPool(program, 2))
        arrays = pool.arrays(BATCH)
        for array, own in zip(arrays, state, strict=True):
            array[:] = own
        found = pool.evaluate(*arrays)
        if not np.array_equal(found.values, wanted.values):
            sys.exit("by samples: the results are not those of one process")

        def nothing_shared() -> float:
            jobs = [
                threads.submit(worker.call, evaluate_again, folder, BATCH // 2, TIMES)
                for worker in alone
            ]
            return max(job.result() for job in jobs)

        def shared() -> float:
            start = time.perf_counter()
            for _ in range(TIMES):
                pool.evaluate(*arrays)
            return time.perf_counter() - start

        nothing_shared()
        rows = [(evaluate_again(folder, BATCH, TIMES), nothing_shared(), shared())
                for _ in range(rounds)]  # fmt: skip
    one, apart, together = (min(column) / TIMES / BATCH * 1e9 for column in zip(*rows, strict=True))
    print(f"\nbatches of {BATCH} values, two-level 2R, ns a state; {rounds} rounds of {TIMES}\n")
    print(
        f"one process {one:.2f}, two that share nothing {apart:.2f} ({one / apart:.2f} times one)"
    )
    print(f"by samples, in shared memory {together:.2f} ({one / together:.2f} times one)")
    said("by samples, of sharing nothing", apart / together, WANTED)


def files(folder: str, states: int) -> None:
    """Measure files apart: reading, logic, writing."""
    print(f"\nfiles of {states} states of six float64, one worker; ns a state\n")
    print(f"{'':10}{'reading':>9}{'logic':>8}{'writing':>9}")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        table = np.concatenate(values(states), axis=1)
        np.save(place / "s.npy", table)
        kept = None
        for form in ("npy", "zarr", "parquet"):
            source = place / f"s.{form}"
            if form != "npy":
                converted(source, table)
            evaluate_files(folder, source, place / f"warm.{form}")
            found = evaluate_files(folder, source, place / f"t.{form}")
            each = [seconds / states * 1e9 for seconds in found.seconds]
            print(f"{form:10}{each[0]:9.2f}{each[1]:8.2f}{each[2]:9.2f}")
            results = evaluate_files(folder, source, place / f"same-{form}.npy")
            data = (place / f"same-{form}.npy").read_bytes()
            if kept not in (None, data) or results.samples != states:
                sys.exit(f"{form}: other results")
            kept = data
    print("(writing ends when all is on the disk)")


def converted(path: Path, table: Any) -> None:
    """Write states as zarr or Parquet."""
    if path.suffix == ".zarr":
        import zarr  # noqa: PLC0415 (an extra)

        zarr.create_array(str(path), data=table, chunks=(1 << 17, 6))
        return
    import pyarrow as pa  # noqa: PLC0415 (an extra)
    import pyarrow.parquet as pq  # noqa: PLC0415

    names = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")
    pq.write_table(pa.table(dict(zip(names, table.T, strict=True))), path, row_group_size=1 << 17)


def terms(folder: str, states: int, rounds: int) -> None:
    """Measure product terms dealt to workers of a cluster, beside samples."""
    with tempfile.TemporaryDirectory() as name, Workers("local:2").opened() as workers:
        place = Path(name)
        np.save(place / "s.npy", np.concatenate(values(states), axis=1))
        seconds: dict[Any, list[float]] = {"samples": [], "terms": []}
        sent = 0
        for turn in range(rounds + 1):
            for shard, row in seconds.items():
                start = time.perf_counter()
                found = evaluate_files(
                    folder, place / "s.npy", place / f"{shard}.npy", workers=workers,
                    shard=shard, chunk=1 << 20,
                )  # fmt: skip
                sent = max(sent, found.sent)
                if turn:  # the first starts workers and compiles
                    row.append(time.perf_counter() - start)
        if (place / "samples.npy").read_bytes() != (place / "terms.npy").read_bytes():
            sys.exit("by terms: the results are not those by samples")
    best = {shard: min(row) / states * 1e9 for shard, row in seconds.items()}
    print(f"\n{states} states of the two-level 2R from a file, two Dask workers, ns a state\n")
    print(f"by samples {best['samples']:.2f}; by terms {best['terms']:.2f}, "
          f"{best['terms'] / best['samples']:.2f} times as long")  # fmt: skip
    print(
        f"by terms {sent / states:.2f} bytes a state go from worker to worker, and both read all "
        "states;\nby samples none go, and each reads its own"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Very large batches.")
    parser.add_argument("--states", type=float, default=1e9)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--files", type=float, default=4e6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        compact, paper = str(Path(name) / "compact"), str(Path(name) / "paper")
        boolcomp.compile("machado-2r", bits=8).save(compact)
        two_r().save(paper)
        logic(compact, int(options.states), options.rounds)
        batches(paper, 5 * options.rounds)
        files(compact, int(options.files))
        terms(paper, int(options.files), options.rounds)


if __name__ == "__main__":
    main()
