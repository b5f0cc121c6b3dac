"""A sweep on two workers, against two processes that share nothing: time, work, memory.

One run measures in turn: half of the cells by one process alone; both halves by two commands at
once that share nothing but the machine; all cells by `--processes 2`, and by `--cluster local:2`.
Every way has an empty folder and an empty cache of its own, and what they wrote is compared byte
for byte. What a way takes is its whole command: Python, imports, starting workers, writing tables.

`rate` is cells a second against the two that share nothing; `work` is the processor time of all its
processes against theirs: on a machine that does other things that one is worth more.

    python benchmarks/sweeps.py [--loads N] [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

BITS = [4, 5, 6]
WAYS = {"processes:2": ["--processes", "2"], "Dask local:2": ["--cluster", "local:2"]}
LEAST = 0.95  # of the rate of processes that share nothing
MOST_MEMORY = 500  # MB, of the client and of each worker
TICK = 0.2  # seconds between two looks at memory


@dataclass(frozen=True)
class Run:
    """What a way took, in seconds, and the peaks of its processes in MB: clients, then others."""

    seconds: float
    work: float
    clients: float
    workers: float


def write_spec(path: Path, loads: list[float]) -> None:
    """Write a sweep of gravity torques of the 2R: every load a program of its own."""
    path.write_text(
        f'robots = ["machado-2r"]\nfunctions = ["gravity"]\nbits = {BITS}\neffort = 0\n'
        f'payloads = {loads}\nexports = ["c"]\n'
    )


def measured(commands: list[tuple[list[str], Path]]) -> Run:
    """Run commands at once, each with a cache of its own; return what all took."""
    before, start = _work(), time.perf_counter()
    running = []
    for arguments, cache in commands:
        own = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        running.append(subprocess.Popen(
            [sys.executable, "-P", "-m", "boolcomp", "sweep", *arguments],
            env=own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ))  # fmt: skip
    clients = {process.pid for process in running}
    peaks: dict[int, float] = {}
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(clients, peaks, over))
    watcher.start()
    said = [process.communicate()[1] for process in running]
    seconds = time.perf_counter() - start
    over.set()
    watcher.join()
    for process, text in zip(running, said, strict=True):
        if process.returncode:
            sys.exit(text.decode())
    own_peak = max(peaks[pid] for pid in clients)
    others = max((peak for pid, peak in peaks.items() if pid not in clients), default=0.0)
    return Run(seconds, _work() - before, own_peak, others)


def _work() -> float:
    """Return the processor time of all children that came to their end, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watch(clients: set[int], peaks: dict[int, float], over: threading.Event) -> None:
    """Note the largest memory of processes and of all that they started."""
    while not over.wait(TICK):
        parents, found = {}, {}
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                lines = dict(
                    line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines()
                )
                pid = int(status.parent.name)
                parents[pid] = int(lines["PPid"])
                found[pid] = int(lines["VmHWM"].split()[0]) / 1024
            except (OSError, KeyError, ValueError):
                continue  # it ended, or belongs to the system
        for pid, peak in found.items():
            above = pid
            while above in parents and above not in clients:
                above = parents[above]
            if above in clients:
                peaks[pid] = max(peak, peaks.get(pid, 0.0))


def cells_of(folders: list[Path]) -> dict[str, bytes]:
    """Return what sweeps found and exported, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for folder in folders
        for kind in ("cells", "exports")
        for path in sorted((folder / kind).rglob("*"))
        if path.is_file()
    }


def one_round(folder: Path, loads: int) -> dict[str, Run]:
    """Measure all ways once; end where they do not agree."""
    masses = [k / 100 for k in range(loads)]
    halves = [folder / "first.toml", folder / "second.toml"]
    for path, own in zip(halves, (masses[::2], masses[1::2]), strict=True):
        write_spec(path, own)
    whole = folder / "whole.toml"
    write_spec(whole, masses)

    def command(spec: Path, name: str, options: list[str]) -> tuple[list[str], Path]:
        return [str(spec), "-o", str(folder / name), *options], folder / f"cache-{name}"

    runs = {"one, half of it": measured([command(halves[0], "alone", [])])}
    pair = ["pair0", "pair1"]
    runs["two alone"] = measured([
        command(spec, name, []) for spec, name in zip(halves, pair, strict=True)
    ])  # fmt: skip
    wanted = cells_of([folder / name for name in pair])
    if len(wanted) != 2 * loads * len(BITS) + sum(name.endswith(".h") for name in wanted):
        sys.exit(f"{len(wanted)} files are not those of {loads * len(BITS)} cells")
    for k, (name, options) in enumerate(WAYS.items()):
        runs[name] = measured([command(whole, f"way{k}", options)])
        if cells_of([folder / f"way{k}"]) != wanted:
            sys.exit(f"{name}: not the bytes of processes that share nothing")
    return runs


def report(rounds: list[dict[str, Run]], loads: int) -> bool:
    """Print the medians of all rounds; tell whether what is asked for holds."""
    count = loads * len(BITS)
    print(f"{count} cells, {len(rounds)} rounds (medians); all wrote the same bytes\n")
    titles = {"seconds": 9, "cells/s": 9, "rate": 7, "CPU s": 8, "work": 7}
    titles |= {"client MB": 11, "worker MB": 11}
    print(" " * 18 + "".join(f"{name:>{width}}" for name, width in titles.items()))
    middle = {name: _median([one[name] for one in rounds]) for name in rounds[0]}
    pair = middle["two alone"]
    for name, run in middle.items():
        cells = count / 2 if name.startswith("one") else count
        rate = cells / run.seconds / (count / pair.seconds)
        work = run.work / pair.work * (count / cells)
        print(
            f"{name:18}{run.seconds:9.1f}{cells / run.seconds:9.2f}{rate:7.2f}"
            f"{run.work:8.1f}{work:7.2f}"
            f"{run.clients:11.0f}{run.workers:11.0f}"
        )
    alone = middle["one, half of it"]
    print(f"\ntwo that share nothing are {2 * alone.seconds / pair.seconds:.2f} times one")
    fine = True
    for name in WAYS:
        rates = [one["two alone"].seconds / one[name].seconds for one in rounds]
        rate = pair.seconds / middle[name].seconds
        peak = max(middle[name].clients, middle[name].workers)
        good = rate >= LEAST and peak < MOST_MEMORY
        fine = fine and good
        print(
            f"{name}: {rate:.2f} of that ({min(rates):.2f} to {max(rates):.2f}; at least {LEAST} "
            f"is asked), peak {peak:.0f} MB: {'holds' if good else 'FAILS (is the machine quiet?)'}"
        )
    return fine


def _median(runs: list[Run]) -> Run:
    return sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="A sweep on two workers.")
    parser.add_argument("--loads", type=int, default=28, help="programs of each of three widths")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    rounds = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            rounds.append(one_round(Path(folder), options.loads))
    report(rounds, options.loads)


if __name__ == "__main__":
    main()
