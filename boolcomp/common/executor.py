"""Where many calls run: in this process, in processes of this machine, or on a Dask cluster.

All three have the interface of `concurrent.futures`, and one text chooses (`executor`). What is
submitted is a function known by its name in a module, of what it is given alone: then results are
the same whichever runs it, and a call that was lost with its worker can be made again.
"""

from __future__ import annotations

import re
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

from boolcomp.common.errors import DataError, UsageError, shown, suggestion
from boolcomp.common.processes import Processes, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Result = TypeVar("Result")

HERE = "here"
WAYS = "give here, processes:4, local:4 (Dask on this machine), tcp://host:8786 or a scheduler file"
MOST_WORKERS = 256
MOST_DEATHS = 3  # of workers under one call, before it is what kills them
USUAL_AHEAD = 64
TICK = 0.5  # seconds between two looks at a signal: an interrupt is heard at once where waits end
_COUNTED = re.compile(r"(processes|local):(\S*)")


class WorkerLostError(DataError):
    """The worker was lost, not the call refused: the same call may well succeed another time."""


class Here(Executor):
    """Calls in this process, each when it is submitted."""

    ahead = 1

    def submit(
        self, function: Callable[..., Result], /, *given: Any, **named: Any
    ) -> Future[Result]:
        """Call a function, and return what came of it."""
        made: Future[Result] = Future()
        try:
            made.set_result(function(*given, **named))
        except Exception as error:  # noqa: BLE001 (whoever asks for the result raises it)
            made.set_exception(error)
        return made

    def map(  # type: ignore[override]  # one call at a time: no timeout, no chunks
        self, function: Callable[..., Result], *iterables: Iterable[Any], **_: Any
    ) -> Iterator[Result]:
        """Yield results one after another; nothing is called before it is asked for."""
        return map(function, *iterables)


class Local(Processes):
    """Processes of this machine, tied to this one; one that dies is replaced, its call repeated."""

    def __init__(self, processes: int) -> None:
        self.ahead = 2 * processes
        self._closed = False
        super().__init__(processes)

    def _call(
        self, function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        worker = self._idle.get()
        try:
            for _ in range(MOST_DEATHS):
                try:
                    return worker.call(_named, function, given, named)
                except EOFError:
                    if self._closed:
                        break
                    worker = self._replaced(worker)
            raise WorkerLostError(f"{MOST_DEATHS} worker processes died of it (out of memory?)")
        finally:
            self._idle.put(worker)

    def _replaced(self, dead: Worker) -> Worker:
        dead.end()
        new = Worker()
        self._workers[self._workers.index(dead)] = new
        if self._closed:  # in the meantime: nobody else is going to end it
            new.end()
        return new

    def _abandon(self) -> None:
        self._closed = True
        super()._abandon()


def _named(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return function(*given, **named)


def executor(where: Any = HERE) -> Executor:
    """Return what runs calls, by a text (`WAYS` says which); a Dask `Client` is taken as it is.

    It is to be used in a `with` block. What is an executor already is handed back.
    """
    if isinstance(where, Executor):
        return where
    if not isinstance(where, str):
        if hasattr(where, "get_executor"):
            from boolcomp.common.daskcluster import of_client  # noqa: PLC0415 (an extra)

            return of_client(where)
        raise UsageError(f"a {type(where).__name__} runs no calls: {WAYS}")
    if where == HERE:
        return Here()
    counted = _COUNTED.fullmatch(where)
    if counted is None:
        if "://" not in where and "/" not in where and "." not in where:
            hint = suggestion(where, (HERE, "processes:2", "local:2"))
            raise UsageError(f"cluster {shown(where)}{hint}: {WAYS}")
        from boolcomp.common.daskcluster import of_address  # noqa: PLC0415 (an extra)

        return of_address(where)
    kind, count = counted[1], int(counted[2]) if counted[2].isdecimal() else 0
    if not 1 <= count <= MOST_WORKERS:
        raise UsageError(f"cluster {shown(where)}: {kind} are 1 to {MOST_WORKERS}, as in {kind}:2")
    if kind == "processes":
        return Local(count)
    from boolcomp.common.daskcluster import on_this_machine  # noqa: PLC0415 (an extra)

    return on_this_machine(count)


def completed(
    pool: Executor, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Future[Result]]]:
    """Yield (place, future) of every call as it comes to an end.

    No more are submitted than the workers have use for (`ahead`), so that millions of calls do not
    lie in anybody's memory, and those of the first places come first.
    """
    running: dict[Future[Result], int] = {}
    place = 0
    try:
        while running or place < len(calls):
            while place < len(calls) and len(running) < getattr(pool, "ahead", USUAL_AHEAD):
                running[pool.submit(function, *calls[place])] = place
                place += 1
            done = wait(running, TICK, FIRST_COMPLETED).done
            for future in sorted(done, key=running.__getitem__):
                yield running.pop(future), future
    finally:
        for future in running:
            future.cancel()


def in_order(
    pool: Executor, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
) -> Iterator[Result]:
    """Yield results in the order of the calls; the first error, in that order, ends it."""
    held: dict[int, Future[Result]] = {}
    following = 0
    for place, future in completed(pool, function, calls):
        held[place] = future
        while following in held:
            yield held.pop(following).result()
            following += 1
