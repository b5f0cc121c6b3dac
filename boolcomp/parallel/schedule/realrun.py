"""A schedule really run, beside what it has to be compared with, side by side on one machine.

All workers of all kinds are started first and the kinds take turns, so that whatever else the
machine does slows each of them alike; idle workers wait on a socket and take no time. The least of
a kind's times counts.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.parallel.schedule.batching import for_batches
from boolcomp.parallel.schedule.execute import StageRunner
from boolcomp.parallel.schedule.pointwise import PointRunner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.parallel.schedule.execute import Engine
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.placed import Assignment
    from boolcomp.problem.expressions.straight import Straight

ENGINES = ("auto", "numpy", "llvm")
KINDS = {
    "one": "in one process",
    "scheduled": "as scheduled",
    "dealt": "with tasks dealt for batches",
    "points": "with points dealt out",
}  # in the order in which they take turns
ROUNDS, SECONDS = 7, 2.0  # of measuring, at least: short runs need more rounds
MOST_ROUNDS = 100
AGAIN = 4  # times as long if there is noise
NOISE = 1.03  # speed-ups beyond so many times the processes are no result


@dataclass(frozen=True, slots=True)
class Taken:
    """One kind of run: its least time, and what came out of it.

    `exchanged` values a sample go from process to process. `relative_error` is the largest
    difference from the expected outputs, in their largest. `noise`: the speed-up is beyond what
    that many processes can give, and stayed so when it was measured again.
    """

    kind: str
    seconds: float
    speedup: float
    exchanged: int
    relative_error: float
    noise: bool

    def text(self, samples: int) -> str:
        """Return a line about it."""
        return (
            f"really run {KINDS[self.kind]}: {self.seconds / samples * 1e9:.2f} ns a sample, "
            f"speed-up {self.speedup:.2f}{' (noise)' if self.noise else ''}"
        )


@dataclass(frozen=True, slots=True)
class RealRun:
    """The four kinds of run of one program on the same samples."""

    samples: int
    processes: int
    rounds: int
    timings: tuple[Taken, ...]

    @property
    def relative_error(self) -> float:
        """The largest of all kinds."""
        return max(timing.relative_error for timing in self.timings)

    def document(self) -> dict[str, Any]:
        """Return what is printed as JSON: numbers by kind."""
        return {
            "samples": self.samples,
            "processes": self.processes,
            "rounds": self.rounds,
            "seconds": {x.kind: x.seconds for x in self.timings},
            "ns_per_sample": {x.kind: x.seconds / self.samples * 1e9 for x in self.timings},
            "speedup": {x.kind: x.speedup for x in self.timings},
            "noise": [x.kind for x in self.timings if x.noise],
            "exchanged": {x.kind: x.exchanged for x in self.timings},
            "relative_errors": {x.kind: x.relative_error for x in self.timings},
            "relative_error": self.relative_error,
        }

    def __str__(self) -> str:
        return "\n".join(timing.text(self.samples) for timing in self.timings)


def check_engine(engine: str) -> None:
    """Raise a `UsageError` unless there is this engine."""
    if engine not in ENGINES:
        raise UsageError(
            f"unknown engine {engine!r}{suggestion(engine, ENGINES)}; there are {listing(ENGINES)}"
        )


def run_really(
    program: tuple[Straight, Sequence[str]],
    graph: TaskGraph,
    assignment: Assignment,
    columns: Sequence[NDArray[np.float64]],
    expected: NDArray[np.float64],
    *,
    engine: Engine = "auto",
) -> RealRun:
    """Run a program, with the task of every node, on one process and in three parallel ways.

    `columns` are its inputs, `expected` has a row for every output. The processes of the parallel
    ways are as many as the assignment has processors.
    """
    check_engine(engine)
    processes, tasks = assignment.processors, [task.name for task in graph.tasks]
    dealt = StageRunner(*program, for_batches(program[0], graph, processes), engine=engine)
    scheduled = StageRunner(*program, assignment, engine=engine)
    runners: dict[str, StageRunner | PointRunner] = {
        "one": PointRunner(*program, tasks, 1, engine=engine),
        "scheduled": scheduled,
        "dealt": dealt,
        "points": PointRunner(*program, tasks, processes, engine=engine),
    }
    scale = float(np.abs(expected).max()) or 1.0
    errors = dict.fromkeys(KINDS, 0.0)
    best = dict.fromkeys(KINDS, float("inf"))
    rounds = 0
    with contextlib.ExitStack() as running:
        for runner in runners.values():
            running.enter_context(runner)
        started = time.perf_counter()
        while not _enough(rounds, time.perf_counter() - started, noisy(best, processes)):
            for kind in KINDS:
                done = runners[kind].run(columns)
                best[kind] = min(best[kind], done.seconds)
                error = float(np.abs(done.outputs - expected).max()) / scale
                errors[kind] = max(errors[kind], error)
            rounds += 1
    noise = noisy(best, processes)
    exchanged = {"scheduled": scheduled.staged.exchanged, "dealt": dealt.staged.exchanged}
    timings = [
        Taken(
            kind, best[kind], best["one"] / best[kind], exchanged.get(kind, 0), errors[kind],
            kind in noise,
        )
        for kind in KINDS
    ]  # fmt: skip
    return RealRun(len(columns[0]), processes, rounds, tuple(timings))


def _enough(rounds: int, seconds: float, noise: Sequence[str]) -> bool:
    """Tell whether all kinds had their turn often enough."""
    times = AGAIN if noise else 1
    return rounds >= MOST_ROUNDS or (rounds >= times * ROUNDS and seconds >= times * SECONDS)


def noisy(seconds: Mapping[str, float], processes: int) -> list[str]:
    """Return the kinds that seem to be quicker than so many processes can make them."""
    return [kind for kind, x in seconds.items() if seconds["one"] > NOISE * processes * x]
