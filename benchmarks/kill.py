"""Commands that are killed and interrupted at random moments: what is left, and how they end.

    python benchmarks/kill.py [--main 60] [--workers 30] [--interrupts 40] [--seed 0]

Every trial starts one of the commands below with caches and temporary files of its own and, at a
random moment of its run (imports included), sends SIGKILL to it, or SIGKILL to one of its children,
or SIGINT to all of its group as a terminal does. A second later no process that it started may be
there. A run that goes to its end follows; then no temporary file may be left. Needs Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from boolcomp.base.errors import table

LONGEST = 4.0  # seconds: commands that take longer are hit within these
ENDED = 10.0  # seconds that an interrupted command has at most
GRACE = 1.0  # seconds after which nothing may run any more
SAMPLES = 2_000_000
MARK = "BOOLCOMP_KILL_TRIAL"
COMMANDS = {
    "compile": "compile machado-2r --bits 5 --rms-error .47 --seed {seed} --store cache/store",
    "compile, Dask": "compile machado-2r --bits 5 --rms-error .47 --seed {seed} --cluster local:2 "
    "--store cache/store",
    "compile, paper": "compile machado-2r --bits 7 --mode paper --minimizer own --store new/{seed}",
    "evaluate": "evaluate program -i states.npy -o tau.npy --processes 2",
    "minimize exact": "minimize hard.pla --method exact --deadline 20 -o hard.out.pla",
    "minimize espresso": "minimize hard.pla --method espresso -o hard.out.pla",
    "report": "report machado-2r --mode both --bits 5,6 --extra 0 --samples 300000 "
    "--store new/{seed} -o r",
    "schedule": "schedule puma560 --processors 2 --run --samples 2000000 -o schedule",
}


CHILDREN = (
    "compile, Dask",
    "compile, paper",
    "evaluate",
    "minimize espresso",
    "schedule",
)  # always have some


@dataclass
class Tally:
    """What was counted of one command."""

    kills: int = 0
    deaths: int = 0
    interrupts: int = 0
    orphans: int = 0
    left: int = 0
    tracebacks: int = 0
    wrong: int = 0
    slowest: float = 0.0
    started: Counter[str] = field(default_factory=Counter)


def main() -> None:
    """Try, count, print; fail where anything was left or a traceback was shown."""
    options = argparse.ArgumentParser(description="Kill and interrupt commands at random moments.")
    options.add_argument("--main", type=int, default=60, help="SIGKILLs of the command itself")
    options.add_argument("--workers", type=int, default=30, help="SIGKILLs of one of its children")
    options.add_argument("--interrupts", type=int, default=40, help="SIGINTs of all its processes")
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    draw = random.Random(chosen.seed)  # noqa: S311 (moments, not secrets)
    folder = Path(tempfile.mkdtemp(prefix="boolcomp-kill-"))
    try:
        tallies = _tried(folder, draw, (chosen.main, chosen.workers, chosen.interrupts))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    header = [
        "command", "SIGKILL", "of a child", "SIGINT", "orphans", "files left", "tracebacks",
        "wrong end", "slowest s",
    ]  # fmt: skip
    rows = [
        [name, *map(str, (t.kills, t.deaths, t.interrupts, t.orphans, t.left, t.tracebacks)),
         str(t.wrong), f"{t.slowest:.2f}"]
        for name, t in tallies.items()
    ]  # fmt: skip
    print(table(header, rows, left=(0,)))
    if any(t.orphans or t.left or t.tracebacks or t.wrong for t in tallies.values()):
        sys.exit(1)


def _tried(folder: Path, draw: random.Random, counts: tuple[int, int, int]) -> dict[str, Tally]:
    _prepare(folder)
    names = [*COMMANDS]
    tallies = {name: Tally() for name in names}
    spans = {name: _span(folder, name) for name in names}
    print("; ".join(f"{name} {seconds:.1f} s" for name, seconds in spans.items()), file=sys.stderr)
    for number in range(sum(counts)):
        ours = CHILDREN if counts[0] <= number < counts[0] + counts[1] else names
        name = ours[number % len(ours)]
        tally = tallies[name]
        moment = draw.uniform(0.0, spans[name])
        if number < counts[0]:
            _kill(folder, name, moment, tally, number)
        elif number < counts[0] + counts[1]:
            _kill_child(folder, name, moment, tally, draw, number)
        else:
            _interrupt(folder, name, moment, tally, number)
    for name in names:
        process = _started(folder, name, 10**6)
        process.communicate()
    for path in folder.rglob("*.boolcomp-tmp"):
        print(f"left: {path.relative_to(folder)}", file=sys.stderr)
        tallies[names[0]].left += 1
    return tallies


def _prepare(folder: Path) -> None:
    """Make what the commands read: a program, states, a table that takes long to minimise."""
    (folder / "tmp").mkdir()
    state = np.random.default_rng(0).uniform(-1, 1, (SAMPLES, 6))
    np.save(folder / "states.npy", state)
    bits = np.random.default_rng(1).integers(0, 2, (1 << 10, 4))
    lines = [f"{k:010b} {''.join(map(str, row))}" for k, row in enumerate(bits) if row.any()]
    (folder / "hard.pla").write_text("\n".join([".i 10", ".o 4", *lines, ".e", ""]))
    made = _run(folder, "compile machado-2r --bits 8 --mode paper -o program", uuid.uuid4().hex)
    made.communicate()


def _span(folder: Path, name: str) -> float:
    """Return how long a command takes when nobody disturbs it, within limits."""
    start = time.monotonic()
    process = _started(folder, name, 0)
    try:
        process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    time.sleep(GRACE)
    return min(LONGEST, time.monotonic() - start - GRACE)


def _started(folder: Path, name: str, seed: int) -> subprocess.Popen[bytes]:
    return _run(folder, COMMANDS[name].format(seed=seed), f"{name} {seed} {uuid.uuid4().hex}")


def _run(folder: Path, command: str, mark: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ, MARK: mark, "XDG_CACHE_HOME": str(folder / "cache"),
        "TMPDIR": str(folder / "tmp"),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "boolcomp", *command.split()],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    process.mark = mark  # type: ignore[attr-defined]
    return process


def _marked(process: subprocess.Popen[bytes]) -> list[int]:
    """Return the processes that a trial started and that still run."""
    mark = f"{MARK}={process.mark}".encode()  # type: ignore[attr-defined]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0") and _alive(folder):
                found.append(int(folder.name))
        except OSError:
            continue
    return [number for number in found if number != process.pid]


def _alive(folder: Path) -> bool:
    state = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
    return state.split()[0] not in "ZX"


def _wait(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait; tell whether the command still runs."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def _kill(folder: Path, name: str, moment: float, tally: Tally, number: int) -> None:
    process = _started(folder, name, number)
    _wait(process, moment)
    process.kill()
    process.wait()
    tally.kills += 1
    _look(process, tally)
    process.communicate()


def _kill_child(
    folder: Path, name: str, moment: float, tally: Tally, draw: random.Random, number: int
) -> None:
    """Kill one child; the command must go on, or end with a sentence."""
    process = _started(folder, name, number)
    if _wait(process, moment / 2):
        while not (found := _marked(process)) and process.poll() is None:
            time.sleep(0.01)
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(draw.choice(found), signal.SIGKILL)
                tally.deaths += 1
    if _wait(process, LONGEST):
        process.kill()  # it goes on, as it should
    _judge(process, tally, ends=())
    _look(process, tally)


def _interrupt(folder: Path, name: str, moment: float, tally: Tally, number: int) -> None:
    process = _started(folder, name, number)
    if not _wait(process, moment):
        _judge(process, tally, ends=(0, 1))
        return
    os.killpg(process.pid, signal.SIGINT)
    start = time.monotonic()
    if _wait(process, ENDED):
        process.kill()
        tally.wrong += 1
    tally.slowest = max(tally.slowest, time.monotonic() - start)
    tally.interrupts += 1
    # 0: it was done at that moment. -SIGINT: Python itself was not yet there.
    _judge(process, tally, ends=(130, 0, -signal.SIGINT))
    _look(process, tally)


def _judge(process: subprocess.Popen[bytes], tally: Tally, ends: tuple[int, ...]) -> None:
    """Look at what was said, and how the command ended."""
    _, said = process.communicate()
    text = said.decode("utf-8", "replace")
    if "Traceback" in text or "Exception ignored" in text:
        if "boolcomp" not in text:
            return  # Python's own start was interrupted: no line of ours had run
        tally.tracebacks += 1
        print(f"{process.args!r}\n{text}", file=sys.stderr)
    elif ends and process.returncode not in ends:
        tally.wrong += 1
        print(f"{process.args!r}: exit code {process.returncode}\n{text}", file=sys.stderr)


def _look(process: subprocess.Popen[bytes], tally: Tally) -> None:
    """Count what still runs after a second, and end it."""
    end = time.monotonic() + GRACE
    while (left := _marked(process)) and time.monotonic() < end:
        time.sleep(0.02)
    for number in left:
        tally.orphans += 1
        words = Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ")[-300:]
        print(f"orphan: {words.decode('utf-8', 'replace')}", file=sys.stderr)
        os.kill(number, signal.SIGKILL)


if __name__ == "__main__":
    main()
