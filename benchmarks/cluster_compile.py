"""One compilation from nothing: in this process, on two local processes, on Dask with two workers.

    python benchmarks/cluster_compile.py [--rounds 1] [--arm puma560] [--effort 0] [--small]

Rows are the paper's 2R at 8 bits with the usual effort and a tight bound, and an arm of six joints
with another effort. Every run is a command of its own with stores and caches of its own; the ways
take turns, and of several rounds the shortest counts. Ratios are of seconds on the clock against
those of two processes; that of Dask is to be at most 1.1 for the arm of six joints (of the 2R,
where starting Dask weighs more, it is printed). The saved programs must be the same bytes,
whichever way. What is compiled when code is first run is warmed by a small run before.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from boolcomp.base.errors import table

WAYS = {
    "here": ("--processes", "1"),
    "2 processes": ("--processes", "2"),
    "Dask local:2": ("--cluster", "local:2"),
}
SEED = "16"  # what ships has another one
MOST = 1.1  # times two processes
SMALL = ("machado-2r", "--bits", "4", "--rms-error", ".6", "--effort", ".2")


@dataclass(frozen=True, slots=True)
class Run:
    """What a command took: seconds on the clock and of processors; the digest of its program."""

    wall: float
    cpu: float
    program: str


def main() -> None:
    """Compile each row in every way, compare, print; fail where bytes differ or Dask is slow."""
    options = argparse.ArgumentParser(description="One compilation on several workers.")
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--arm", default="puma560")
    options.add_argument("--effort", default="0", help="of the larger arm")
    options.add_argument("--small", action="store_true", help="a small arm alone: a minute")
    given = options.parse_args()
    rows = {
        "2R, 8 bits": ("machado-2r", "--bits", "8", "--seed", SEED, "--proof", "tight"),
        f"{given.arm}, 8 bits, effort {given.effort}": (
            given.arm, "--bits", "8", "--seed", SEED, "--effort", given.effort,
        ),
    }  # fmt: skip
    if given.small:
        rows = {"2R, 4 bits": SMALL}
    folder = Path(tempfile.mkdtemp(prefix="boolcomp-cluster-"))
    try:
        compiled(folder, SMALL, WAYS["2 processes"])
        missed = [name for name, row in rows.items() if not judged(name, row, folder, given.rounds)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


def judged(name: str, row: tuple[str, ...], folder: Path, rounds: int) -> bool:
    """Compile a row in all ways, print what that took, and tell whether it is as it is to be."""
    found: dict[str, list[Run]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, where in WAYS.items():
            found[way].append(compiled(folder, row, where))
    best = {way: min(runs, key=lambda run: run.wall) for way, runs in found.items()}
    two = best["2 processes"].wall
    print(
        table(
            (name, "seconds", "of two processes", "processor seconds"),
            [[way, f"{x.wall:.1f}", f"{x.wall / two:.2f}", f"{x.cpu:.1f}"]
             for way, x in best.items()],
        )
    )  # fmt: skip
    same = len({run.program for runs in found.values() for run in runs}) == 1
    print(f"the same bytes: {'yes' if same else 'NO'}\n", flush=True)
    return same and ("2R" in name or best["Dask local:2"].wall <= MOST * two)


def compiled(folder: Path, row: tuple[str, ...], where: tuple[str, ...]) -> Run:
    """Compile from nothing with a command of its own."""
    own = Path(tempfile.mkdtemp(dir=folder))
    before = cpu_seconds()
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-P", "-m", "boolcomp", "compile", *row, *where,
         "--store", str(own / "store"), "-o", str(own / "program")],
        env={**os.environ, "XDG_CACHE_HOME": str(own / "cache")},
        stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    wall = time.perf_counter() - start
    digest = hashlib.sha256()
    for path in sorted((own / "program").rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(own)).encode() + path.read_bytes())
    return Run(wall, cpu_seconds() - before, digest.hexdigest())


def cpu_seconds() -> float:
    """Return the processor time of all commands that have ended, their children's included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
