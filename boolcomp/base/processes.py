"""Processes of this one: the one place that asks them, and sees to it that they end.

A `Worker` is a Python child that calls functions of this package or runs the `main` of one of its
modules. `Processes` are several workers with the interface of `concurrent.futures`; a `Team` takes
part in every call together. `run_program` supervises a foreign program. A child may crash or exceed
its limits; none outlives this process, and wherever pipes can be polled a worker ends when the one
from its parent is closed.

Not `multiprocessing`: its processes import the caller's main module again, which breaks scripts
without a guard, and notebooks.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, Popen
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from boolcomp.base.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.base.shared_memory import Arena


# --------------------------------------------------------------------------------------------------
# Starting child processes: they end with this process and have limits.
#
# A Python child runs with `-P`, the path of this process without the current folder, and the
# package that started it.
#
# PR_SET_PDEATHSIG of Linux refers to the *thread* that started a child. One thread, which lasts as
# long as this process, therefore starts all children, and none outlives the process, however it
# ends. SIGINT is blocked in children: this process handles Ctrl-C.
# --------------------------------------------------------------------------------------------------


# The environment of one process among several: each computes, none takes another's processor.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

_PACKAGE = Path(__file__).resolve().parent.parent
# The first code of every child; it uses only the standard library. If the parent has already ended,
# the child has another parent.
_TIE = """
import json, os, sys
given = json.loads(sys.argv[1])
if sys.platform == "linux":
    import ctypes
    try:
        ctypes.CDLL(None).prctl(1, 9)
    except (OSError, AttributeError):
        pass
if os.name == "posix" and os.getppid() != given["parent"]:
    os._exit(0)
try:
    import resource
    for name, most in given["limits"].items():
        hard = resource.getrlimit(getattr(resource, name))[1]
        ends = [x if hard == resource.RLIM_INFINITY else min(x, hard) for x in most]
        resource.setrlimit(getattr(resource, name), ends)
except (ImportError, AttributeError, OSError, ValueError):
    pass
"""
_PYTHON = """
sys.path[:] = given["path"]
import importlib.util
spec = importlib.util.spec_from_file_location(
    "boolcomp", given["package"] + "/__init__.py", submodule_search_locations=[given["package"]])
sys.modules["boolcomp"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["boolcomp"])
from boolcomp.base import processes
processes.work(given["entry"], given["arguments"])
"""
_FOREIGN = """
try:
    os.execv(given["command"][0], given["command"])
except OSError as error:
    sys.exit(f"could not be started: {error.strerror}")
"""


class Limits(NamedTuple):
    """Limits of a child: bytes of address space and seconds of processor time (None: no limit)."""

    memory: int
    seconds: int | None = None

    @property
    def given(self) -> dict[str, tuple[int, int]]:
        """The limits by the names that the system has for them; there are no core files."""
        limits = {"RLIMIT_CORE": (0, 0), "RLIMIT_AS": (self.memory, self.memory)}
        if self.seconds is not None:
            limits["RLIMIT_CPU"] = (self.seconds, self.seconds + 1)
        return limits


def start_python(
    entry: str, arguments: Sequence[Any], limits: Limits | None, **options: Any
) -> Popen[bytes]:
    """Start a child that runs a module of this package as a worker; JSON carries the arguments.

    `options` are those of `Popen`.
    """
    given = {"entry": entry, "arguments": arguments, "path": _import_path()}
    return _start(["-P"], _PYTHON, {**given, "package": str(_PACKAGE)}, limits, options)


def start_program(command: Sequence[str], limits: Limits | None, **options: Any) -> Popen[bytes]:
    return _start(["-I", "-S"], _FOREIGN, {"command": list(command)}, limits, options)


def _import_path() -> list[str]:
    """Return this process's path without the current folder, and what depends on it."""
    try:
        here = Path.cwd().resolve()
    except OSError:  # a folder that is gone
        here = None
    return [x for x in sys.path if Path(x).is_absolute() and Path(x).resolve() != here]


def _start(
    flags: list[str], text: str, given: dict[str, Any], limits: Limits | None,
    options: dict[str, Any],
) -> Popen[bytes]:  # fmt: skip
    given = {**given, "parent": os.getpid(), "limits": limits.given if limits else {}}
    command = [sys.executable, *flags, "-c", _TIE + text, json.dumps(given)]
    started: Future[Popen[bytes]] = Future()
    _requests().put((started, command, options))
    try:
        return started.result()
    except BaseException:  # an interrupt: the child has no owner
        started.add_done_callback(_unwanted)
        raise


def _unwanted(started: Future[Popen[bytes]]) -> None:
    if started.exception() is None:
        end(started.result())


@cache
def _requests() -> queue.SimpleQueue[tuple[Future[Popen[bytes]], list[str], dict[str, Any]]]:
    """Return the request queue of the thread that starts all children."""
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_answer, args=(requests,), name="boolcomp-starter", daemon=True).start()
    return requests


if hasattr(os, "register_at_fork"):  # the child of a fork has none of its parent's threads
    os.register_at_fork(after_in_child=_requests.cache_clear)


def _answer(requests: queue.SimpleQueue[Any]) -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    while True:
        started, command, options = requests.get()
        try:
            started.set_result(Popen(command, **options))  # noqa: S603 (see above)
        except Exception as error:  # noqa: BLE001 (whoever waits raises it)
            started.set_exception(error)


def end(process: Popen[bytes]) -> None:
    """Kill a process, take it off the table, and close its pipes."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


# --------------------------------------------------------------------------------------------------
# Processes of this one: the one place that asks them, and sees to it that they end.
# --------------------------------------------------------------------------------------------------


Result = TypeVar("Result")

PATIENCE = 0.5  # seconds for a process to end by itself, before it is killed
TICK = 0.001  # seconds between two calls of `idle`
MOST_DEATHS = 3  # of workers under one call, before it is what kills them
LOOKS, NAP = 200, 1e-4  # at shared memory before a process sleeps, and how long it does: seconds
_HEAD = 8  # bytes of the length before every message


class WorkerLostError(DataError):
    """The worker was lost, not the call refused: the same call may well succeed another time."""


class Ended(NamedTuple):
    """The result of a foreign program: its exit code (None at the deadline) and its output."""

    code: int | None
    printed: bytes


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def require_shared() -> None:
    """Raise a `UsageError` where workers cannot inherit shared memory and descriptors."""
    if os.name != "posix":
        raise UsageError(
            "several processes that share memory need a POSIX system", "use one process"
        )


def run_program(
    command: Sequence[str], deadline: float, *, folder: Path | None = None,
    limits: Limits | None = None,
) -> Ended:  # fmt: skip
    """Run a program that is not ours, by its path, in a process group of which nothing is left.

    Where a system has no limits, it runs without. Its temporary files, which it cannot take away
    when it is killed, lie in `folder`.
    """
    group: dict[str, Any] = {"process_group": 0} if hasattr(os, "killpg") else {}
    scratch = {"TMPDIR": str(folder.resolve())} if folder else {}
    process = start_program(
        command, limits, cwd=folder, env={**os.environ, **scratch},
        stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, **group,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=deadline)
    except subprocess.TimeoutExpired:
        return Ended(None, b"")
    finally:
        if group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        end(process)
    return Ended(process.returncode, printed)


class Channel:
    """Messages, pickled, from one process of ours to another and back."""

    def __init__(
        self, reading: int, writing: int, dumps: Callable[[Any], bytes] = pickle.dumps
    ) -> None:
        self.reading, self.writing, self._dumps = reading, writing, dumps

    def send(self, value: Any) -> None:
        """Send a value; raise a `BrokenPipeError` if the other end is closed."""
        data = self._dumps(value)
        rest = memoryview(len(data).to_bytes(_HEAD, "little") + data)
        while rest:
            rest = rest[os.write(self.writing, rest) :]

    def receive(self, end: float = math.inf, idle: Callable[[], None] | None = None) -> Any:
        """Return the next value; an `EOFError` where the other side is gone.

        After `end` (of `time.monotonic`) it is a `TimeoutError`. While waiting, `idle` is called
        again and again.
        """
        size = int.from_bytes(self._read(_HEAD, end, idle), "little")
        return pickle.loads(self._read(size, end, idle))  # noqa: S301 (from a process of our own)

    def _read(self, size: int, end: float, idle: Callable[[], None] | None) -> bytearray:
        data = bytearray()
        while len(data) < size:
            if idle is not None or end < math.inf:
                self._wait(end, idle)
            more = os.read(self.reading, min(size - len(data), 1 << 20))
            if not more:
                raise EOFError
            data += more
        return data

    def _wait(self, end: float, idle: Callable[[], None] | None) -> None:
        while not _readable(self.reading, TICK if idle else end - time.monotonic()):
            if time.monotonic() >= end:
                raise TimeoutError
            if idle is not None:
                idle()


def _readable(descriptor: int, seconds: float) -> bool:
    """Wait until a descriptor can be read, or its other side is closed."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0, math.ceil(1000 * seconds))))


class Worker:
    """A Python child that runs `main(channel, *arguments)` of a module of this package.

    The default module calls functions for this process. Arguments are passed as JSON. A `quiet`
    worker has no stderr, except that its last line is kept as `last_words`. Arrays in `memory` are
    sent as their places.
    """

    def __init__(
        self,
        entry: str = __name__,
        *arguments: Any,
        limits: Limits | None = None,
        memory: Arena | None = None,
        environment: Mapping[str, str] | None = None,
        quiet: bool = False,
    ) -> None:
        self._stderr = tempfile.TemporaryFile() if quiet else None  # noqa: SIM115 (closed at the end)
        self.process = start_python(
            entry, arguments, limits,
            stdin=PIPE, stdout=PIPE, stderr=self._stderr, bufsize=0,
            pass_fds=(memory.file,) if memory else (), env={**os.environ, **(environment or {})},
        )  # fmt: skip
        assert self.process.stdin is not None  # noqa: S101 (both are pipes)
        assert self.process.stdout is not None  # noqa: S101 (likewise)
        self.last_words = ""
        pipes = self.process.stdout.fileno(), self.process.stdin.fileno()
        self._channel = Channel(*pipes, memory.dumps if memory else pickle.dumps)
        self.receive = self._channel.receive

    def send(self, value: Any) -> None:
        """Send a value; if the worker has died, the next `receive` reports it."""
        with contextlib.suppress(ConnectionError):
            self._channel.send(value)

    def call(
        self,
        function: Callable[..., Result],
        *given: Any,
        end: float = math.inf,
        idle: Callable[[], None] | None = None,
    ) -> Result:
        """Return the result of a function in the worker, or raise its exception."""
        self.send((function, given))
        word, answer = self.receive(end, idle)
        if word == "done":
            return answer  # type: ignore[no-any-return]
        raise answer if word == "raised" else DataError(f"a worker process failed ({answer})")

    def kill(self) -> None:
        self.process.kill()

    def end(self, patience: float = 0.0) -> int:
        """End the process, if it does not end by itself; return its exit code."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if patience:
                self.process.wait(patience)
        end(self.process)
        if self._stderr is not None and not self._stderr.closed:
            with self._stderr:
                self._stderr.seek(-min(1000, self._stderr.seek(0, os.SEEK_END)), os.SEEK_END)
                lines = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
            self.last_words = lines[-1][:200] if lines else ""
        return self.process.returncode


class Processes(Executor):
    """Workers behind the interface of `concurrent.futures`.

    Functions must be importable by name. Workers are started when there are calls; each calls the
    `initializer` first. A worker that dies is replaced and its call repeated, until `deaths` have
    died of it. If a `with` block ends by an exception, running calls are not waited for.
    """

    def __init__(
        self,
        processes: int,
        *,
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
        deaths: int = MOST_DEATHS,
        label: str = "",
        **options: Any,
    ) -> None:
        """Take the number of workers, and options of each `Worker`; `label` is for messages."""
        self.ahead = 2 * processes
        self._prepared = initializer, initargs
        self._options = {"environment": ONE_THREAD, **options}
        self._closed, self._owner = False, os.getpid()
        self._most, self._deaths, self._lock = processes, deaths, threading.Lock()
        self._label, self._ended = label, 0
        self._workers: list[Worker] = []
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(processes)
        weakref.finalize(self, _forgotten, self._workers, self._owner)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The process numbers of the workers."""
        return tuple(worker.process.pid for worker in self._workers)

    def submit(
        self, function: Callable[..., Result], /, *given: Any, **named: Any
    ) -> Future[Result]:
        """Let the next worker that has nothing to do call a function."""
        _require_owner(self._owner)
        return self._threads.submit(self._call, function, given, named)

    def _call(
        self, function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        for _ in range(self._deaths):
            with contextlib.suppress(EOFError), self._lent() as worker:
                return worker.call(_called, function, given, named)
            if self._closed:
                break
        count = f"{self._deaths} worker processes" if self._deaths > 1 else "a worker process"
        raise WorkerLostError(
            f"{count} died of one call{how_it_ended(self._ended)}",
            "run the same command again: it continues from the finished work", where=self._label,
        )  # fmt: skip

    @contextlib.contextmanager
    def _lent(self) -> Iterator[Worker]:
        """Lend a worker that has nothing to do; one is started where all are busy."""
        worker = None
        with contextlib.suppress(queue.Empty):
            worker = self._idle.get_nowait()
        if worker is None:
            worker = self._started() if len(self._workers) < self._most else self._idle.get()
        try:
            yield worker
        except EOFError:  # it has died
            self._drop(worker, PATIENCE)
            raise
        finally:
            if worker in self._workers:
                self._idle.put(worker)

    def _started(self) -> Worker:
        new = Worker(**self._options)
        with self._lock:
            self._workers.append(new)
        if self._closed:  # in the meantime: this thread has to end it
            self._drop(new)
            raise EOFError
        initializer, initargs = self._prepared
        if initializer is not None:
            try:
                new.call(initializer, *initargs)
            except BaseException:
                self._drop(new)
                raise
        return new

    def _drop(self, worker: Worker, patience: float = 0.0) -> None:
        with self._lock:
            self._workers.remove(worker)
        self._ended = worker.end(patience)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 (as `Executor` has it)
        """End the workers after the submitted calls; a forked child does nothing."""
        if os.getpid() != self._owner:
            return
        self._threads.shutdown(wait=False, cancel_futures=cancel_futures)
        if not wait:
            threading.Thread(target=self.shutdown).start()
            return
        self._threads.shutdown()
        _forgotten(self._workers, self._owner)

    def abandon(self) -> None:
        """End the workers in the middle of their calls."""
        if os.getpid() != self._owner:
            return
        self._closed = True
        with self._lock:
            started = list(self._workers)
        for worker in started:
            worker.kill()  # whoever waits for it finds that out
        self.shutdown(cancel_futures=True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.shutdown()
        else:
            self.abandon()


def _require_owner(owner: int) -> None:
    if os.getpid() != owner:
        raise UsageError("these workers are of the process that was forked", "start others")


def _forgotten(workers: list[Worker], owner: int) -> None:
    """End workers that have nothing to do, unless this is the child of a fork."""
    while workers and os.getpid() == owner:
        workers.pop().end()


def how_it_ended(code: int) -> str:
    """Return the exit code of a process, or the name of its signal, in brackets for messages."""
    if code >= 0:
        return f" (exit code {code})" if code else ""
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f" ({name}{', perhaps for lack of memory' if name == 'SIGKILL' else ''})"


class Team:
    """Workers that take part in every call together; worker k is prepared with `setups[k]`.

    An error of one, or an interrupt, ends them all; the next call starts others. Arrays of `memory`
    are the same ones for all.
    """

    def __init__(
        self, prepare: Callable[..., object], setups: Sequence[tuple[Any, ...]],
        deaths: int = MOST_DEATHS, label: Callable[[int], str] = "worker {}".format,
    ) -> None:  # fmt: skip
        from boolcomp.base.shared_memory import Arena  # noqa: PLC0415 (imports numpy)

        require_shared()
        self.memory, self._owner = Arena(), os.getpid()
        self._prepare, self._setups, self._deaths, self._label = prepare, setups, deaths, label
        self._members: list[Processes] = []
        weakref.finalize(self, self.memory.close)

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(number for member in self._members for number in member.numbers)

    def start(self) -> None:
        """Start the workers that are missing; return when all are prepared."""
        self.call(os.getpid, [()] * len(self._setups))

    def call(
        self, function: Callable[..., Result], given: Sequence[tuple[Any, ...]],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> list[Result]:  # fmt: skip
        """Let worker k call a function with `given[k]`, all at the same time; return the results.

        `meanwhile` runs here when all calls are submitted.
        """
        _require_owner(self._owner)
        if not self._members:
            self._members = [
                Processes(
                    1, memory=self.memory, initializer=self._prepare, initargs=setup,
                    deaths=self._deaths, label=self._label(k),
                )
                for k, setup in enumerate(self._setups)
            ]  # fmt: skip
        calls: list[Future[Result]] = []
        try:
            for member, some in zip(self._members, given, strict=True):
                calls.append(member.submit(function, *some))
            meanwhile()
            wait(calls, return_when=FIRST_EXCEPTION)
            return list(map(Future.result, sorted(calls, key=lambda call: not call.done())))
        except BaseException:
            self.end()
            raise
        finally:
            calls.clear()  # an exception that holds this frame does not hold itself

    def end(self) -> None:
        """End the workers in the middle of their calls."""
        members, self._members = self._members, []
        for member in members:
            member.abandon()

    def close(self) -> None:
        """End the workers and let go of the memory, unless this is the child of a fork."""
        if os.getpid() == self._owner:
            self.end()
            self.memory.close()


_yielded = getattr(os, "sched_yield", lambda: time.sleep(0))


def wait_until(ready: Callable[[], bool]) -> None:
    """Return when another process has made something true in shared memory."""
    for _ in range(LOOKS):
        if ready():
            return
        _yielded()
    while not ready():
        time.sleep(NAP)


def _called(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return function(*given, **named)


def work(entry: str, arguments: Sequence[Any]) -> None:
    """Be a worker: run `main` of a module with a channel to the parent, which hears of errors.

    Output goes to stderr. The worker ends when the parent ends or closes the pipe.
    """
    try:
        os.fstat(2)
    except OSError:  # it is closed: nothing else is to get its number
        os.open(os.devnull, os.O_WRONLY)
    channel = Channel(os.dup(0), os.dup(1))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if hasattr(select, "poll"):
        threading.Thread(target=_hang_up, args=(channel.reading,), daemon=True).start()
    with contextlib.suppress(EOFError, ConnectionError):
        try:
            importlib.import_module(entry).main(channel, *arguments)
        except (EOFError, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001 (the parent reports every exception)
            channel.send(("error", f"{type(error).__name__}: {error}".rstrip(": ")))
            channel.receive()  # the parent ends this process


def _hang_up(descriptor: int) -> None:
    """End this process, whatever it is doing, once the other side of a pipe is closed."""
    poll = select.poll()
    poll.register(descriptor, 0)  # no events, only the hang-up
    poll.poll()
    os._exit(0)


def main(channel: Channel) -> None:
    """Call functions until the parent hangs up."""
    while True:
        function, given = channel.receive()
        try:
            answer = ("done", function(*given))
        except Exception as error:  # noqa: BLE001 (it is raised again by whoever asked)
            answer = ("raised", error)
        channel.send(answer)
