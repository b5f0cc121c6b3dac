"""Sweeps on Dask: real schedulers and workers on the loopback interface, some killed.

They run where the extra `cluster` is installed.
"""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sweepcells
from clusters import Cluster, needs_loopback
from sweepcells import contents, spec
from waiting import PATIENCE, until

import boolcomp as bc
from boolcomp.base import WorkerLostError, executor

pytest.importorskip("distributed", reason="the extra cluster (Dask) is not installed")

SCRIPT = str(Path(sweepcells.__file__))


def sixty(folder: Path) -> Path:
    """Write a sweep of 60 cells; those of 4 bits are compiled, the others cost nothing but time."""
    path = spec(folder, bits=list(range(4, 14)))
    path.write_text(path.read_text() + "payloads = [0, 1, 2, 3, 4, 5]\n")
    return path


def done(folder: Path) -> int:
    return len(list((folder / "cells").glob("*.json")))


def children_of(parent: int) -> list[int]:
    """Return the processes that one started."""
    found = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(child) for tasks in found for child in tasks.read_text().split()]


def alone(path: Path, folder: Path) -> dict[str, bytes]:
    """Return what a sweep gives in one process."""
    line = [sys.executable, SCRIPT, "mixed", "sweep", str(path), "-o", str(folder)]
    subprocess.run(line, capture_output=True, check=True)
    return contents(folder)


@needs_loopback
@pytest.mark.check
def test_a_sweep_outlives_lost_workers_and_an_interrupted_client_and_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four workers, two killed in the middle, one late; the client is interrupted, and goes on."""
    path, out, scratch = sixty(tmp_path), tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    arguments = [sys.executable, SCRIPT, "mixed", "sweep", str(path), "-o", str(out), "--json"]
    with Cluster(tmp_path, workers=4) as cluster:
        arguments += ["--cluster", str(cluster.file)]
        command = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until(lambda: done(out) >= 5)
        for worker in cluster.workers[:2]:
            worker.kill()
        cluster.worker()
        until(lambda: done(out) >= 15)
        os.kill(command.pid, signal.SIGINT)
        _, said = command.communicate(timeout=PATIENCE)
        *progress, last = said.decode().splitlines()
        assert (command.returncode, last) == (130, "boolcomp: interrupted")
        assert all(line.startswith("sweeping: ") for line in progress)  # where that takes long
        kept = done(out)
        found = json.loads(subprocess.run(arguments, capture_output=True, check=False).stdout)
        assert (found["made"], found["failed"]) == (60 - kept, [])
        assert kept < 60
        pool: Any = executor(str(cluster.file))
        with pool:
            until(lambda: pool.workers == 3)  # the late one is among them
    assert (done(out), len(list((out / "costs").iterdir()))) == (60, 60)
    assert contents(out) == alone(path, tmp_path / "alone")
    unfinished = [one for one in out.rglob("*") if "unfinished" in one.name]
    assert (unfinished, list(scratch.iterdir())) == ([], [])


@needs_loopback
@pytest.mark.check
def test_workers_on_this_machine_answer_in_order_and_a_deadly_call_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with executor("local:2") as pool:
        assert list(pool.map(pow, range(40), [2] * 40)) == [k * k for k in range(40)]
        with pytest.raises(bc.UsageError, match="did you mean 'local:2'"):
            pool.submit(executor, "locl:2").result()
        deadly = pool.submit(os._exit, 3)
        with pytest.raises(WorkerLostError, match="workers died of one call"):
            deadly.result(120)
        assert pool.submit(abs, -7).result(60) == 7
    assert not list(tmp_path.iterdir())


def test_a_machine_that_cannot_reach_itself_is_a_sentence_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[object] = []
    monkeypatch.setattr("boolcomp.base.dask.Worker", lambda *_, **__: started.append(_))

    def unreachable(*_: object) -> None:
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

    monkeypatch.setattr("socket.socket.connect", unreachable)
    said = r"Dask cannot start on this machine \(there is no loopback"
    with pytest.raises(bc.DataError, match=said):
        executor("local:2")
    assert started == []


def test_a_scheduler_that_is_not_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.base.dask.PATIENCE", 0.5)
    with pytest.raises(bc.DataError, match=r"tcp://127.0.0.1:9: no Dask scheduler answers"):
        executor("tcp://127.0.0.1:9")
    with pytest.raises(
        bc.UsageError, match=r"TLS needs certificates; set distributed\.comm\.tls\.ca-f"
    ):
        executor("tls://127.0.0.1:9")
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    with pytest.raises(bc.DataError, match="not a scheduler file"):
        executor(str(wrong))
    with pytest.raises(bc.DataError, match="nonsense"):
        executor("nonsense://127.0.0.1:9")


@needs_loopback
@pytest.mark.slow
def test_a_start_that_does_not_end_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("boolcomp.base.dask.START", 0.01)
    with pytest.raises(bc.DataError, match=r"Dask did not start on this machine within 0.01 s"):
        executor("local:2")
    until(lambda: not children_of(os.getpid()))
    assert not list(tmp_path.iterdir())
