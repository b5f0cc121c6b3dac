"""A batch dealt out by points: every process does all tasks of its own part of the trajectory.

Of all schedules of a trajectory's points this one sends nothing between processors. It is what the
schedules of one point's tasks have to be compared with, where there are many points.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

import numpy as np

from boolcomp.parallel.schedule.execute import Engine, Executed, StageRunner
from boolcomp.parallel.schedule.placed import Assignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from boolcomp.problem.expressions.straight import Straight


class PointRunner:
    """Worker processes that each hold the whole program."""

    def __init__(
        self,
        straight: Straight,
        task_of_node: Sequence[str],
        tasks: Sequence[str],
        processes: int,
        *,
        engine: Engine = "auto",
    ) -> None:
        alone = Assignment((tuple(tasks),))
        self._runners = [
            StageRunner(straight, task_of_node, alone, engine=engine) for _ in range(processes)
        ]
        self._stack = contextlib.ExitStack()
        self._threads = ThreadPoolExecutor(processes)

    def __enter__(self) -> Self:
        self._stack.enter_context(self._threads)
        with contextlib.ExitStack() as started:
            for runner in self._runners:
                started.enter_context(runner)
            self._stack.push(started.pop_all())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, columns: Sequence[ArrayLike]) -> Executed:
        """Calculate a batch: a column of equal length for every input of the program."""
        arrays = [np.asarray(column, dtype=np.float64) for column in columns]
        parts = zip(*(np.array_split(array, len(self._runners)) for array in arrays), strict=True)
        done = list(self._threads.map(StageRunner.run, self._runners, parts))
        started = min(x.started for x in done)
        return Executed(
            np.concatenate([x.outputs for x in done], axis=1),
            max(x.started + x.seconds for x in done) - started,
            tuple(x.busy[0] for x in done),
            tuple(x.processor[0] for x in done),
            started,
        )
