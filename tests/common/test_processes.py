"""Processes: what they answer, how they end; they run no file of the current folder."""

import operator
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from waiting import until, until_gone

import boolcomp as bc
from boolcomp.base import (
    Ended,
    Limits,
    Processes,
    Worker,
    WorkerLostError,
    processes,
    run_program,
    short,
)

HOSTILE = "open('/dev/stderr', 'w').write('executed ' + __file__)\nraise SystemExit(7)\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def hostile(folder: Path) -> Path:
    """Return a folder with modules that nobody is to import."""
    for name in ("pickle", "queue", "numpy", "json", "ctypes", "runpy", "boolcomp"):
        (folder / f"{name}.py").write_text(HOSTILE)
    return folder


def test_a_child_runs_nothing_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile(tmp_path))
    monkeypatch.syspath_prepend("")
    with Processes(1) as pool:
        assert pool.submit(short, 0.5, 3).result() == short(0.5, 3)


def test_a_child_finds_the_package_that_started_it_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "boolcomp").mkdir()
    (tmp_path / "boolcomp" / "__init__.py").write_text(HOSTILE)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    worker = Worker(quiet=True)
    assert worker.call(short, 0.5, 3) == short(0.5, 3)
    worker.end()
    assert worker.last_words == ""


@linux
@pytest.mark.parametrize("kind", ["worker", "program"])
def test_a_child_ends_with_its_parent_whatever_it_is_doing(tmp_path: Path, kind: str) -> None:
    start = {
        "worker": "w = Worker(); w.send((exec, ('import sys; "
        "print(file=sys.stderr, flush=True); sum(range(10**12))',))); print(w.process.pid, "
        "flush=True, file=sys.stderr); signal.pause()",
        "program": "run_program(['/bin/sh', '-c', "
        "'echo $$ > new; mv new number; exec sleep 1000'], 100)",
    }[kind]
    program = (
        "import signal, sys\nfrom boolcomp.base.processes import Worker, run_program\n" + start
    )
    root = str(Path(processes.__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
    ) as parent:  # fmt: skip
        assert parent.stderr is not None
        if kind == "worker":  # the number from the parent, an empty line from the child: it runs
            number = "".join(parent.stderr.readline() for _ in range(2))
        else:
            until(lambda: text_of(tmp_path / "number"))
            number = text_of(tmp_path / "number")
        parent.kill()
    until_gone(int(number))


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


@linux
def test_a_child_outlives_the_thread_that_asked_for_it() -> None:
    found: list[Worker] = []
    thread = threading.Thread(target=lambda: found.append(Worker()))
    thread.start()
    thread.join()
    assert found[0].call(short, 0.5, 3) == short(0.5, 3)
    found[0].end()


@linux
def test_a_child_that_starts_when_its_parent_is_gone_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)  # not the process that it will find
    assert run_program(["/bin/sleep", "1000"], 100) == Ended(0, b"")


def test_a_start_that_is_interrupted_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    class Noted(popen):  # type: ignore[valid-type,misc]
        def __init__(self, *given: object, **more: object) -> None:
            super().__init__(*given, **more)
            started.append(self)

    def interrupted(_: Future[object]) -> None:
        until(lambda: started)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "Popen", Noted)
    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Worker()
    assert started[0].wait() == -signal.SIGKILL


def test_sharing_memory_where_there_is_no_posix_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "name", "nt")
    with pytest.raises(bc.UsageError, match="several processes that share memory need a POSIX"):
        processes.require_shared()


@linux
def test_a_foreign_program_has_the_limits_that_were_asked_for() -> None:
    line = "ulimit -v; ulimit -S -t; ulimit -H -t; ulimit -c"
    ended = run_program(["/bin/sh", "-c", line], 100, limits=Limits(1 << 30, 100))
    assert ended.printed.split() == [b"1048576", b"100", b"101", b"0"]


class Unreadable:
    """What raises an error when a worker unpickles it."""

    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("raise KeyError('x')",)


def test_a_call_that_no_worker_can_read_or_answer_is_a_sentence() -> None:
    for function, given in ((short, (Unreadable(), 1)), (threading.Lock, ())):
        with (
            Processes(1) as pool,
            pytest.raises(bc.DataError, match=r"a worker process failed \("),
        ):
            pool.submit(function, *given).result()


def test_a_block_that_an_exception_ends_waits_for_no_call() -> None:
    def fail() -> None:
        with Processes(2) as pool:
            jobs.extend(pool.submit(time.sleep, 1000) for _ in range(4))
            until(lambda: len(pool._workers) == 2)  # noqa: SLF001
            numbers.extend(worker.process.pid for worker in pool._workers)  # noqa: SLF001
            raise KeyError

    jobs: list[Future[None]] = []
    numbers: list[int] = []
    with pytest.raises(KeyError):
        fail()
    assert all(job.done() for job in jobs)
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_a_worker_that_says_nothing_in_time_is_given_up_and_idle_is_called_meanwhile() -> None:
    worker = Worker()
    idle: list[int] = []
    with pytest.raises(TimeoutError):
        worker.call(time.sleep, 1000, end=time.monotonic() + 0.1, idle=lambda: idle.append(1))
    assert worker.end() == -signal.SIGKILL
    assert idle


@linux
def test_a_worker_ends_when_nobody_holds_its_pipe_any_more_even_in_a_long_call() -> None:
    worker = Worker()
    worker.send((time.sleep, (1000,)))
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    assert worker.process.wait() == 0
    worker.end()


def test_arrays_of_the_arena_are_the_same_ones_in_a_worker_and_others_are_copied() -> None:
    team = processes.Team(abs, [])
    arena = team.memory
    shared, own = arena.empty((4, 3), np.float64), np.zeros((4, 3))
    shared[:] = 0.0
    with Processes(1, memory=arena) as pool:
        for array in (shared, own):
            pool.submit(np.copyto, array[1::2, ::-1], np.array([1.0, 2.0, 3.0])).result()
        later = arena.empty((1 << 20,), np.float32)  # the file grows, and is mapped again
        pool.submit(np.copyto, later, 7.0).result()
        pool.submit(np.copyto, shared[0], 5.0).result()
    assert shared.tolist() == [[5, 5, 5], [3, 2, 1], [0, 0, 0], [3, 2, 1]]
    assert not own.any()
    assert (later == 7.0).all()
    team.close()


def test_memory_is_used_again_when_no_view_needs_it() -> None:
    team = processes.Team(abs, [])
    arena = team.memory
    first = arena.empty((1000,), np.float64)
    place, view = arena.place(first), first[10:20]
    del first
    assert arena.place(arena.empty((1000,), np.float64)) != place
    assert arena.place(view) == (place or 0) + 80
    del view
    assert arena.place(arena.empty((1000,), np.float64)) == place
    assert arena.place(np.zeros(3)) is None
    team.close()


def test_every_worker_is_prepared_first_and_so_is_one_that_takes_its_place() -> None:
    with Processes(1, initializer=os.putenv, initargs=("PREPARED", "yes")) as pool:
        with pytest.raises(WorkerLostError):
            pool.submit(os._exit, 3).result()
        assert pool.submit(os.system, 'test "$PREPARED" = yes').result() == 0
    with (
        Processes(1, initializer=operator.truediv, initargs=(1, 0)) as broken,
        pytest.raises(ZeroDivisionError),
    ):
        broken.submit(abs, -1).result()


def test_a_team_answers_in_its_order_and_an_error_of_one_ends_the_call_of_all() -> None:
    team = processes.Team(abs, [(-1,), (-2,)])
    first = team.call(os.getpid, [(), ()])
    assert list(team.numbers) == first
    assert len({*first}) == 2
    done: list[bool] = []
    assert team.call(pow, [(2, 3), (3, 2)], lambda: done.append(True)) == [8, 9]
    assert done == [True]
    start = time.monotonic()
    with pytest.raises(TypeError):
        team.call(time.sleep, [(1000,), ("x",)])
    assert time.monotonic() - start < 60
    until_gone(*first)
    assert team.call(abs, [(-5,), (6,)]) == [5, 6]
    team.close()


def test_a_team_that_is_interrupted_leaves_no_worker() -> None:
    team = processes.Team(abs, [(0,), (0,)])
    numbers = team.call(os.getpid, [(), ()])

    def interrupt() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        team.call(time.sleep, [(1000,), (1000,)], interrupt)
    until_gone(*numbers)
    team.close()


def test_without_processor_masks_the_processors_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert processes.cores() == os.cpu_count()
