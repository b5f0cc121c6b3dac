"""How a child process is started, whatever it is: tied to this one, within limits.

A Python child gets no folder of the user's on its path: it runs with `-P`, this process's own path
without the current folder, and the very package that started it.

Where Linux kills children with their parent (PR_SET_PDEATHSIG) it means the *thread* that started
them. So one thread that lasts as long as this process starts all, and nothing outlives it, whatever
kills it and whatever the children are doing. SIGINT is blocked in children: Ctrl-C is for this
process to handle.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# The environment of one process among several: each computes, none takes another's processor.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

_PACKAGE = Path(__file__).resolve().parent.parent
# What every child does first; it needs nothing but the standard library. Its parent may have died
# before: then it has another one now.
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
    """What a child may use: bytes of address space, seconds of processor time (None: any)."""

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
    """Start a program that is not ours; where a system has no limits, without."""
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
    except BaseException:  # an interrupt: nobody is to have it
        started.add_done_callback(_unwanted)
        raise


def _unwanted(started: Future[Popen[bytes]]) -> None:
    if started.exception() is None:
        end(started.result())


@cache
def _requests() -> queue.SimpleQueue[tuple[Future[Popen[bytes]], list[str], dict[str, Any]]]:
    """Return what the thread that starts all children is asked by."""
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
