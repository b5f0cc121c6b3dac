"""The worker processes as the parent sees them: started, told, waited for, replaced, ended."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from boolcomp.common import children
from boolcomp.common.errors import BoolcompError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.parallel.sharding.worker import Job, Setup

MOST_DEATHS = 8  # of one worker, without any progress between them
_PATIENCE = 5.0  # seconds that a worker has to end by itself


class WorkerError(BoolcompError):
    """A worker process could not do its work."""


class _Worker:
    """One process, and the connection to it."""

    def __init__(self, wakeups: Sequence[int], arena: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = children.start_python(
                "boolcomp.parallel.sharding.worker", theirs.fileno(), arena,
                stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(), arena, *wakeups),
            )  # fmt: skip
        self.connection = Connection(ours.detach())

    def send(self, message: bytes) -> None:
        """Send a pickled message; one that is dead does not get it, and is found out later."""
        with contextlib.suppress(ConnectionError):
            self.connection.send_bytes(message)

    def heard(self) -> tuple[str, Any] | None:
        """Return its next message, or None where it has died."""
        try:
            word, content = self.connection.recv()
        except (EOFError, OSError, UnpicklingError):  # even in the middle of a message
            return None
        return word, content

    def end(self, *, kill: bool) -> int:
        """End the process, by hanging up or by a signal; return its exit code."""
        if kill:
            self.process.kill()
        self.connection.close()
        try:
            return self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class WorkerGroup:
    """Worker processes that are replaced when they die.

    `setups` say what each is; the descriptors they name stay open as long as the group.
    """

    def __init__(self, setups: Sequence[Setup], arena: int) -> None:
        self._setups = [bytes(ForkingPickler.dumps(setup)) for setup in setups]
        self._wakeups = [
            (
                setup.wakeup,
                *setup.wakes,
                *(() if setup.chunk_numbers is None else (setup.chunk_numbers,)),
            )
            for setup in setups
        ]
        self._arena = arena
        self._workers: list[_Worker] = []

    @property
    def processes(self) -> tuple[int, ...]:
        """The process numbers of the workers."""
        return tuple(worker.process.pid for worker in self._workers)

    def start(self) -> None:
        """Start the workers if there are none, and wait until all are ready."""
        if self._workers:
            return
        for wakeups in self._wakeups:  # first all: their starts overlap
            self._workers.append(_Worker(wakeups, self._arena))
        for worker, setup in zip(self._workers, self._setups, strict=True):
            worker.send(setup)
        self._wait(("ready", 0), lambda: 0, lambda _: None)

    def send(self, job: Job) -> None:
        """Give all workers a job."""
        message = bytes(ForkingPickler.dumps(job))
        for worker in self._workers:
            worker.send(message)

    def finish(self, job: Job, progress: Callable[[], int], replaced: Callable[[], None]) -> None:
        """Wait until all workers have done a job.

        One that dies is replaced, its successor is given the job, and `replaced` is called.
        `progress` tells deaths from outside from those that the work itself causes.
        """
        message = bytes(ForkingPickler.dumps(job))

        def again(k: int) -> None:
            self._workers[k].send(message)
            replaced()

        self._wait(("done", job.number), progress, again)

    def _wait(
        self, wanted: tuple[str, int], progress: Callable[[], int], again: Callable[[int], None]
    ) -> None:
        """Wait for a message from everyone; nothing runs here meanwhile."""
        waiting = dict.fromkeys(range(len(self._workers)), (0, -1))  # deaths, progress at the last
        while waiting:
            places: dict[object, int] = {self._workers[k].connection: k for k in waiting}
            for connection in wait([self._workers[k].connection for k in waiting]):
                k = places[connection]
                message = self._workers[k].heard()
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

    def _replace(self, k: int, deaths: int) -> None:
        code = self._workers[k].end(kill=True)
        if deaths >= MOST_DEATHS:
            raise WorkerError(
                f"worker process {k + 1} died {deaths} times without finishing a block of samples "
                f"(exit code {code}; out of memory?)"
            )
        self._workers[k] = _Worker(self._wakeups[k], self._arena)
        self._workers[k].send(self._setups[k])

    def end(self, *, kill: bool = False) -> None:
        """End all workers; they can be started again."""
        workers, self._workers = self._workers, []
        for worker in workers:
            if kill:
                worker.process.kill()
            else:
                worker.connection.close()
        for worker in workers:
            worker.end(kill=kill)
