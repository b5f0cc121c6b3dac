"""Feed boolcomp what strangers may feed it, and count: a result or a sentence, nothing else.

    python benchmarks/fuzz.py [--scale 1] [--seed 0] [--only robots,pla] [--workers 2]

Robot files, URDF, MJCF and SDF, PLA texts, program folders (damaged, or forged under right
checksums), files of states (.npy, .npz, CSV) and command lines; and random functions for the
minimisers, checked by brute force. Case k of a kind is the same on every machine: `--seed` is the
first, `--scale` says how many of the usual number run. Cases run in worker processes with a limit
of memory, and each with a limit of time; command lines run as processes of their own. What went
wrong is printed with its seed, and then a table; the exit code is 1 where anything did.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fuzzcases import CASES, run_case  # noqa: E402 (it stands with the tests)

COUNTS = {
    "robots": 100_000, "descriptions": 10_000, "pla": 100_000, "programs": 10_000,
    "samples": 10_000, "lines": 1_000, "functions": 1_000, "written": 20_000,
    "batches": 1_000, "ways": 10_000,
}  # fmt: skip
BLOCK = {"lines": 50, "functions": 250}  # cases a worker process; the others have many
CASES_A_BLOCK = 5_000
MEMORY = 2 << 30  # bytes of data that a worker process may have
SECONDS = 30  # of one case in a worker
OUTER = 120  # of one case that cannot even be interrupted, or that runs a command line


class Hang(BaseException):
    """A case that takes too long."""


def hang(_signal: int, _frame: object) -> None:
    """End a case."""
    raise Hang


def work(kind: str, start: int, stop: int, progress: Path) -> None:
    """Run a block of cases, and print what went wrong, and the counts, as lines of JSON."""
    limited = (resource.RLIM_INFINITY if kind == "lines" else MEMORY,) * 2
    resource.setrlimit(resource.RLIMIT_DATA, limited)
    signal.signal(signal.SIGALRM, hang)
    counts: Counter[str] = Counter()
    printed = os.fdopen(os.dup(1), "w", buffering=1)
    folder = progress.with_suffix(".d")
    folder.mkdir()
    for seed in range(start, stop):
        progress.write_text(str(seed))
        faulthandler.dump_traceback_later(OUTER, exit=True)
        signal.setitimer(signal.ITIMER_REAL, 0 if kind == "lines" else SECONDS)
        try:
            outcome = "accepted" if run_case(kind, seed, folder) else "refused"
        except (Hang, TimeoutError) as error:
            outcome, text = "hangs", str(error)
        except Exception:  # noqa: BLE001 (whatever it is, it is a finding)
            outcome, text = "tracebacks", traceback.format_exc(limit=-4)
        signal.setitimer(signal.ITIMER_REAL, 0)
        counts[outcome] += 1
        if outcome in ("hangs", "tracebacks"):
            print(json.dumps({"seed": seed, "text": f"{outcome}: {text}"}), file=printed)
    faulthandler.cancel_dump_traceback_later()
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    memory = max(usage.ru_maxrss for usage in usages)
    print(json.dumps({"counts": counts, "memory": memory}), file=printed)


def block(kind: str, start: int, stop: int, folder: Path) -> dict[str, Any]:
    """Run a block in worker processes: another one goes on where one died."""
    counts: Counter[str] = Counter()
    memory = 0
    while start < stop:
        progress = folder / f"{kind}-{start}"
        line = [sys.executable, __file__, "--worker", kind, str(start), str(stop), str(progress)]
        found = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=False)
        shutil.rmtree(progress.with_suffix(".d"), ignore_errors=True)
        for text in found.stdout.splitlines():
            entry = json.loads(text)
            if "seed" in entry:
                print(f"{kind} {entry['seed']}: {entry['text']}", flush=True)
            else:
                counts.update(entry["counts"])
                memory = max(memory, entry["memory"])
                return {"counts": counts, "memory": memory}
        died = int(progress.read_text()) if progress.exists() else start
        print(f"{kind} {died}: died with {found.returncode}: {found.stderr[-2000:]}", flush=True)
        counts.update({"hangs" if "Timeout" in found.stderr else "tracebacks": 1})
        start = died + 1
    return {"counts": counts, "memory": memory}


def main() -> None:
    """Fuzz, and print the counts."""
    parser = argparse.ArgumentParser(description="fuzz everything that reads what users write")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="part of the usual number of cases"
    )
    parser.add_argument("--seed", type=int, default=0, help="the first case")
    parser.add_argument("--only", default=",".join(COUNTS), help=f"of {', '.join(CASES)}")
    parser.add_argument("--workers", type=int, default=2, help="processes side by side")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        kind, start, stop, progress = arguments.worker
        work(kind, int(start), int(stop), Path(progress))
        return
    print(f"{'':10} {'cases':>7} {'refused':>8} {'accepted':>9} tracebacks hangs  peak MB")
    bad = 0
    with (
        tempfile.TemporaryDirectory(prefix="boolcomp-fuzz-") as folder,
        ThreadPoolExecutor(arguments.workers) as pool,
    ):
        for kind in arguments.only.split(","):
            end = arguments.seed + max(1, round(COUNTS[kind] * arguments.scale))
            size = BLOCK.get(kind, CASES_A_BLOCK)
            starts = range(arguments.seed, end, size)
            parts = [pool.submit(block, kind, k, min(k + size, end), Path(folder)) for k in starts]
            found = [part.result() for part in parts]
            counts = sum((part["counts"] for part in found), Counter[str]())
            memory = max(part["memory"] for part in found) / 1024
            bad += counts["tracebacks"] + counts["hangs"] + (memory > MEMORY >> 20)
            print(
                f"{kind:10} {counts.total():7} {counts['refused']:8} {counts['accepted']:9} "
                f"{counts['tracebacks']:10} {counts['hangs']:5} {memory:8.0f}",
                flush=True,
            )
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
