"""Helper processes that call one of our functions at a time, for scripts as for the command line.

Not `multiprocessing`: its processes import the caller's main module again, which breaks scripts
without a guard, and notebooks. These (see `children`) read pickled calls from standard input and
write pickled results, and end when their input does, or this process.
"""

from __future__ import annotations

import contextlib
import importlib
import pickle
import queue
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from subprocess import PIPE
from typing import IO, TYPE_CHECKING, Any

from boolcomp.common import children
from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence

SIZE = 8  # bytes of the length before every message


def call_all(
    function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], processes: int
) -> Iterator[tuple[int, Any]]:
    """Yield (place, result) of every call as it comes; the function is found by its name.

    An exception in a call is raised here; a process that dies is a `DataError`. However the block
    is left, the processes are gone.
    """
    name = (function.__module__, function.__qualname__)
    with contextlib.ExitStack() as stack:
        idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        for _ in range(processes):
            idle.put(stack.enter_context(_process()))
        threads = ThreadPoolExecutor(processes)
        stack.callback(threads.shutdown, wait=False, cancel_futures=True)

        def call(given: tuple[Any, ...]) -> Any:
            process = idle.get()
            try:
                return _ask(process, (*name, given))
            finally:
                idle.put(process)

        jobs = {threads.submit(call, given): place for place, given in enumerate(arguments)}
        for job in as_completed(jobs):
            yield jobs[job], job.result()


@contextlib.contextmanager
def _process() -> Iterator[subprocess.Popen[bytes]]:
    process = children.start_python("boolcomp.common.workers", stdin=PIPE, stdout=PIPE)
    try:
        yield process
    finally:
        children.end(process)


def _ask(process: subprocess.Popen[bytes], question: Any) -> Any:
    assert process.stdin is not None  # noqa: S101  # both are pipes
    assert process.stdout is not None  # noqa: S101  # likewise
    try:
        _send(process.stdin, question)
        good, answer = _receive(process.stdout)
    except (EOFError, OSError) as error:
        raise DataError(
            "a worker process died (out of memory?); what is finished so far is in the store: run "
            "the same command again"
        ) from error
    if not good:
        raise answer
    return answer


def _send(stream: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value)
    stream.write(len(data).to_bytes(SIZE, "little") + data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    head = stream.read(SIZE)
    if len(head) < SIZE:
        raise EOFError
    data = stream.read(int.from_bytes(head, "little"))
    return pickle.loads(data)  # noqa: S301  # from our own process, over our own pipe


def _serve(source: IO[bytes], target: IO[bytes]) -> None:
    """Answer calls until the input ends."""
    while True:
        try:
            module, name, given = _receive(source)
        except EOFError:
            return
        try:
            answer = (True, getattr(importlib.import_module(module), name)(*given))
        except Exception as error:  # noqa: BLE001  # it is raised again by whoever asked
            answer = (False, error)
        _send(target, answer)


def main() -> None:
    """Live as a worker."""
    with contextlib.suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, sys.stdout.buffer)
