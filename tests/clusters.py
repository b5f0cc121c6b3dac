"""Dask clusters of tests: a scheduler and workers, started as users start them."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pytest
from waiting import until

ROOT = Path(__file__).parents[1]


def loopback() -> bool:
    """Tell whether this machine can connect to itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        try:
            socket.create_connection(server.getsockname()).close()
        except OSError:
            return False
    return True


NO_LOOPBACK = "there is no loopback interface"
needs_loopback = pytest.mark.skipif(not loopback(), reason=NO_LOOPBACK)


class Cluster:
    """A scheduler and workers on the loopback interface; all end with the block."""

    def __init__(
        self, folder: Path, workers: int, environment: Mapping[str, str] | None = None,
        options: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.file, self.folder = folder / "scheduler.json", folder
        self._environment, self._options = environment or {}, options
        self.processes = [self._started("scheduler", "--host", "127.0.0.1", "--port", "0")]
        self.workers = [self.worker() for _ in range(workers)]

    def _started(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
        own = {"PYTHONPATH": path, "DASK_TEMPORARY_DIRECTORY": str(self.folder)}
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "dask", kind, *arguments, *self._options,
             "--no-dashboard", "--scheduler-file", str(self.file)],
            env={**os.environ, **own, **self._environment}, cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker; it joins when it has imported Dask."""
        started = self._started(
            "worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder)
        )
        self.processes.append(started)
        return started

    def __enter__(self) -> Self:
        try:
            until(self.file.exists)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
