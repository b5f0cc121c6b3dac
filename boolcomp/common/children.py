"""Child processes: the one place that starts them, and sees to it that they end with this one.

A Python child gets no folder of the user's on its path: it runs with `-P`, this process's own path
without the current folder, and the very package that started it. A foreign program is started
through a small launcher that sets its limits.

Where Linux kills children with their parent (PR_SET_PDEATHSIG) it means the *thread* that started
them. So one thread that lasts as long as this process starts all, and nothing outlives it, whatever
kills it and whatever the children are doing. Other systems have no such call: there a child asks
now and then who its parent is. SIGINT is blocked in children: Ctrl-C is for this process to handle.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

from boolcomp.common.errors import UsageError

_PACKAGE = Path(__file__).resolve().parent.parent
# What every child does first; it needs nothing but the standard library. Its parent may have died
# before: then it has another one now.
_TIE = """
import json, os, sys
given = json.loads(sys.argv[1])
def tie():
    if sys.platform == "linux":
        import ctypes
        try:
            ctypes.CDLL(None).prctl(1, 9)
        except (OSError, AttributeError):
            pass
    elif os.name == "posix" and "path" in given:
        import threading, time
        def ask():
            while os.getppid() == given["parent"]:
                time.sleep(0.3)
            os._exit(0)
        threading.Thread(target=ask, daemon=True).start()
    if os.name == "posix" and os.getppid() != given["parent"]:
        os._exit(0)
tie()
"""
_PYTHON = """
sys.path[:] = given["path"]
import importlib.util
spec = importlib.util.spec_from_file_location(
    "boolcomp", given["package"] + "/__init__.py", submodule_search_locations=[given["package"]])
sys.modules["boolcomp"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["boolcomp"])
entry = given["entry"]
if "script" in given:
    import runpy
    sys.argv[:] = [entry, *map(str, given["arguments"])]
    runpy.run_path(entry, run_name="__main__")
else:
    getattr(importlib.import_module(entry), "main")(*given["arguments"])
"""
_FOREIGN = """
try:
    import resource
    for name, most in given["limits"].items():
        hard = resource.getrlimit(getattr(resource, name))[1]
        ends = [x if hard == resource.RLIM_INFINITY else min(x, hard) for x in most]
        resource.setrlimit(getattr(resource, name), ends)
except (ImportError, AttributeError, OSError, ValueError):
    pass
try:
    os.execv(given["command"][0], given["command"])
except OSError as error:
    sys.exit(f"could not be started: {error.strerror}")
"""


class Limits(NamedTuple):
    """What a foreign program may use: bytes of address space, seconds of processor time."""

    memory: int
    seconds: int


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def require_shared() -> None:
    """Raise a `UsageError` where workers cannot inherit shared memory and descriptors."""
    if os.name != "posix":
        raise UsageError(
            "several processes that share memory need Linux or another POSIX system: use one"
        )


def start_python(entry: str, *arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
    """Start a child that calls `main(*arguments)` of a module of this package; JSON carries them.

    `options` are those of `subprocess.Popen`.
    """
    return _start(_python(entry=entry, arguments=arguments), options)


def start_script(path: Path, *arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
    """Start a child that runs a file of ours as a script: it imports nothing of this package."""
    return _start(_python(entry=str(path), arguments=arguments, script=True), options)


def start_foreign(command: list[str], limits: Limits, **options: Any) -> subprocess.Popen[bytes]:
    """Start a program that is not ours within limits; where a system has none, without."""
    seconds = limits.seconds
    given = {
        "command": command,
        "limits": {
            "RLIMIT_CORE": (0, 0),
            "RLIMIT_AS": (limits.memory, limits.memory),
            "RLIMIT_CPU": (seconds, seconds + 1),
        },
    }
    return _start(_command(["-I", "-S"], _FOREIGN, given), options)


def hang_up(descriptor: int) -> None:
    """End this process, whatever it is doing, once the other side of a socket is closed."""

    def wait() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)  # no events asked for: only the hang-up
        poll.poll()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def _python(**given: Any) -> list[str]:
    """Return the command of a Python child, with the path it is to have."""
    try:
        here = Path.cwd().resolve()
    except OSError:  # a folder that is gone
        here = None
    path = [x for x in sys.path if Path(x).is_absolute() and Path(x).resolve() != here]
    return _command(["-P"], _PYTHON, {**given, "path": path, "package": str(_PACKAGE)})


def _command(flags: list[str], text: str, given: dict[str, Any]) -> list[str]:
    document = json.dumps({**given, "parent": os.getpid()})
    return [sys.executable, *flags, "-c", _TIE + text, document]


class _Request:
    """A process that is asked for, and that somebody waits for, or no longer."""

    def __init__(self, command: list[str], options: dict[str, Any]) -> None:
        self.command, self.options = command, options
        self.answered = threading.Event()
        self.lock = threading.Lock()
        self.wanted = True
        self.process: subprocess.Popen[bytes] | None = None
        self.error: Exception | None = None

    def answer(self) -> None:
        """Start the process, and end it again where nobody waits for it any more."""
        process = None
        try:
            process = subprocess.Popen(self.command, **self.options)  # noqa: S603 (see above)
        except Exception as error:  # noqa: BLE001 (whoever waits raises it)
            self.error = error
        with self.lock:
            self.process = process
            if process is not None and not self.wanted:
                end(process)
        self.answered.set()

    def wait(self) -> subprocess.Popen[bytes]:
        """Return the process; where the wait is interrupted, there will be none."""
        try:
            self.answered.wait()
        except BaseException:
            with self.lock:
                self.wanted = False
                if self.process is not None:
                    end(self.process)
            raise
        if self.process is None:
            assert self.error is not None  # noqa: S101 (one of both is there)
            raise self.error
        return self.process


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, take it off the table, and close its pipes."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


class _Starter:
    """The thread that starts all children of this process."""

    def __init__(self) -> None:
        self.forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Begin anew: the child of a fork has none of its parent's threads."""
        self.lock = threading.Lock()
        self.requests: queue.SimpleQueue[_Request] | None = None

    def put(self, request: _Request) -> None:
        with self.lock:
            if self.requests is None:
                self.requests = queue.SimpleQueue()
                threading.Thread(
                    target=self.work, args=(self.requests,), name="boolcomp-starter", daemon=True
                ).start()
            self.requests.put(request)

    @staticmethod
    def work(requests: queue.SimpleQueue[_Request]) -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        while True:
            requests.get().answer()


_STARTER = _Starter()


def _start(command: list[str], options: dict[str, Any]) -> subprocess.Popen[bytes]:
    request = _Request(command, options)
    _STARTER.put(request)
    return request.wait()
