"""The worker processes as the parent sees them: started, told, waited for, replaced, ended."""

from __future__ import annotations

import os
from pickle import UnpicklingError
from typing import TYPE_CHECKING

from boolcomp.base.processes import Worker
from boolcomp.common.errors import BoolcompError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.scale.pool_worker import Job, Setup

MOST_DEATHS = 8  # of one worker, without any progress between them


class WorkerError(BoolcompError):
    """A worker process could not do its work."""


class WorkerGroup:
    """Worker processes that are replaced when they die.

    `setups` say what each is; the descriptors they name stay open as long as the group.
    """

    def __init__(self, setups: Sequence[Setup], arena: int) -> None:
        self._setups = tuple(setups)
        self._arena = arena
        self._workers: list[Worker] = []

    @property
    def processes(self) -> tuple[int, ...]:
        """The process numbers of the workers."""
        return tuple(worker.process.pid for worker in self._workers)

    def start(self) -> None:
        """Start the workers if there are none, and wait until all are ready."""
        if self._workers:
            return
        for setup in self._setups:  # first all: their starts overlap
            self._workers.append(self._started(setup))
        for worker, setup in zip(self._workers, self._setups, strict=True):
            worker.send(setup)
        self._wait(("ready", 0), lambda: 0, lambda _: None)

    def _started(self, setup: Setup) -> Worker:
        others = [one for one in (setup.chunk_numbers, setup.go) if one is not None]
        descriptors = (self._arena, setup.wakeup, *setup.wakes, *others)
        entry = "boolcomp.scale.pool_worker"
        return Worker(entry, self._arena, descriptors=descriptors)

    def send(self, job: Job) -> None:
        """Give all workers a job: first it is there for all, then they are woken."""
        for worker in self._workers:
            worker.send(job)
        for setup in self._setups:
            _wake(setup)

    def finish(self, job: Job, progress: Callable[[], int], replaced: Callable[[], None]) -> None:
        """Wait until all workers have done a job.

        One that dies is replaced, its successor is given the job, and `replaced` is called.
        `progress` tells deaths from outside from those that the work itself causes.
        """

        def again(k: int) -> None:
            self._workers[k].send(job)
            _wake(self._setups[k])
            replaced()

        self._wait(("done", job.number), progress, again)

    def _wait(
        self, wanted: tuple[str, int], progress: Callable[[], int], again: Callable[[int], None]
    ) -> None:
        """Wait for a message from everyone; nothing runs here meanwhile."""
        waiting = dict.fromkeys(range(len(self._workers)), (0, -1))  # deaths, progress at the last
        while waiting:
            numbers = [*waiting]
            for place in Worker.ready([self._workers[k] for k in numbers]):
                k = numbers[place]
                message = self._heard(k)
                if message == wanted:
                    del waiting[k]
                elif message is None:
                    deaths, then = waiting[k]
                    now = progress()
                    waiting[k] = (deaths + 1 if now == then else 1, now)
                    self._replace(k, waiting[k][0])
                    again(k)
                elif message[0] == "error":
                    raise WorkerError(f"worker process {k + 1}: {message[1]}")

    def _heard(self, k: int) -> tuple[str, object] | None:
        """Return a worker's next message, or None where it has died, even in the middle of one."""
        try:
            word, content = self._workers[k].receive()
        except (EOFError, OSError, UnpicklingError):
            return None
        return word, content

    def _replace(self, k: int, deaths: int) -> None:
        code = self._workers[k].end()
        if deaths >= MOST_DEATHS:
            raise WorkerError(
                f"worker process {k + 1} died {deaths} times without finishing a block of samples "
                f"(exit code {code}; out of memory?)"
            )
        self._workers[k] = self._started(self._setups[k])
        self._workers[k].send(self._setups[k])

    def end(self) -> None:
        """End all workers; they can be started again."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.end()


def _wake(setup: Setup) -> None:
    """Let a worker look for a job."""
    if setup.go is not None:
        os.eventfd_write(setup.go, 1)
