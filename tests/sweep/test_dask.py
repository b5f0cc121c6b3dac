"""Sweeps on Dask: real schedulers and workers on the loopback interface, some killed.

They run where the extra `cluster` is installed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sweepcells
from sweepcells import contents, spec

from boolcomp.common.errors import DataError, UsageError
from boolcomp.common.executor import WorkerLostError, executor, in_order
from boolcomp.common.text import short
from boolcomp.sweep import run as runs
from boolcomp.sweep.folder import Folder
from boolcomp.sweep.run import run, state_of
from boolcomp.sweep.spec import read_spec
from boolcomp.sweep.tables import write_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")

BITS = [4, 5, 6, 7, 8, 9, 10, 11]
ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "tests" / "sweepcells.py")


class Cluster:
    """A scheduler and workers, started as users start them."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.processes = [self._started("scheduler", "--host", "127.0.0.1", "--port", "0")]
        self.workers = [self.worker(), self.worker()]

    def _started(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
        own = {"PYTHONPATH": path, "DASK_TEMPORARY_DIRECTORY": str(self.folder)}
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "dask", kind, *arguments, "--no-dashboard",
             "--scheduler-file", str(self.file)],
            env={**os.environ, **own}, cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def worker(self) -> subprocess.Popen[bytes]:
        """Start one more worker."""
        started = self._started(
            "worker", "--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder)
        )
        self.processes.append(started)
        return started


@pytest.fixture(name="cluster")
def real_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a scheduler and two workers, and end them."""
    found = Cluster(tmp_path)
    try:
        end = time.monotonic() + 60
        while not found.file.exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        yield found
    finally:
        for process in found.processes:
            process.kill()
            process.wait()


def alone(path: Path, folder: Path) -> dict[str, bytes]:
    """Return what a sweep gives in this process."""
    found, kept = read_spec(path), Folder(folder)
    state = state_of(found.cells, kept)
    with pytest.MonkeyPatch.context() as patch, executor("here") as pool:
        patch.setattr(runs, "compute", sweepcells.quick)
        run(found.cells, kept, pool, state)
    write_tables(found, state, folder)
    return contents(folder)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_and_gets_another_gives_the_same_bytes(
    cluster: Cluster, tmp_path: Path
) -> None:
    path, out = spec(tmp_path, bits=BITS), tmp_path / "out"
    command = subprocess.Popen(
        [sys.executable, SCRIPT, "sweep", str(path), "-o", str(out), "--cluster", str(cluster.file),
         "--json"],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    end = time.monotonic() + 90
    while not list((out / "cells").glob("*.json")):
        assert time.monotonic() < end
        time.sleep(0.01)
    cluster.workers[0].kill()
    cluster.worker()
    said, _ = command.communicate(timeout=90)
    assert json.loads(said)["made"] == len(BITS)
    assert contents(out) == alone(path, tmp_path / "alone")


@pytest.mark.slow
def test_a_client_that_was_interrupted_goes_on_and_gives_the_same_bytes(
    cluster: Cluster, tmp_path: Path
) -> None:
    path, out = spec(tmp_path, bits=BITS), tmp_path / "out"
    arguments = [sys.executable, SCRIPT, "sweep", str(path), "-o", str(out)]
    arguments += ["--cluster", str(cluster.file), "--json"]
    command = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    end = time.monotonic() + 90
    while not list((out / "cells").glob("*.json")):
        assert time.monotonic() < end
        time.sleep(0.01)
    os.kill(command.pid, signal.SIGINT)
    _, said = command.communicate(timeout=30)
    assert (command.returncode, said) == (130, b"boolcomp: interrupted\n")
    kept = len(list((out / "cells").glob("*.json")))
    again = subprocess.run(arguments, capture_output=True, check=True)
    assert json.loads(again.stdout)["made"] == len(BITS) - kept > 0
    assert contents(out) == alone(path, tmp_path / "alone")


@pytest.mark.slow
def test_workers_on_this_machine_answer_in_order_and_a_deadly_call_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with executor("local:2") as pool:
        calls = [(k / 7, 3) for k in range(40)]
        assert list(in_order(pool, short, calls)) == [f"{k / 7:.3g}" for k in range(40)]
        with pytest.raises(UsageError, match="did you mean 'local:2'"):
            pool.submit(executor, "locl:2").result()
        deadly = pool.submit(os._exit, 3)
        with pytest.raises(WorkerLostError, match="workers died of it"):
            deadly.result(120)
        assert pool.submit(abs, -7).result(60) == 7
    assert not list(tmp_path.iterdir())


def test_a_scheduler_that_is_not_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.common.daskcluster.PATIENCE", 0.5)
    with pytest.raises(DataError, match=r"tcp://127.0.0.1:9: no Dask scheduler answers"):
        executor("tcp://127.0.0.1:9")
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    with pytest.raises(DataError, match="not a scheduler file"):
        executor(str(wrong))
    with pytest.raises(DataError, match="nonsense"):
        executor("nonsense://127.0.0.1:9")
