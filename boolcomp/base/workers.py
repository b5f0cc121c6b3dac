"""Where many calls run: in this process, in processes of this machine, or on a Dask cluster.

All three have the interface of `concurrent.futures`, and one text chooses (`executor`). What is
submitted is a function known by its name in a module, of what it is given alone: then results are
the same whichever runs it, and a call that was lost with its worker can be made again.
"""

from __future__ import annotations

import re
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from boolcomp.base.files import is_file, read_json
from boolcomp.base.processes import MOST_DEATHS, Processes, WorkerLostError
from boolcomp.common.errors import DataError, UsageError, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["MOST_DEATHS", "Here", "WorkerLostError", "completed", "executor", "in_order"]

Result = TypeVar("Result")

HERE = "here"
WAYS = "give here, processes:4, local:4 (Dask on this machine), tcp://host:8786 or a scheduler file"
MOST_WORKERS = 256
USUAL_AHEAD = 64
TICK = 0.5  # seconds between two looks at a signal: an interrupt is heard at once where waits end
_COUNTED = re.compile(r"(processes|local):(\S*)")


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


def executor(where: Any = HERE) -> Executor:
    """Return what runs calls, by a text (`WAYS` says which); a Dask `Client` is taken as it is.

    It is to be used in a `with` block. What is an executor already is handed back.
    """
    kind, count = way(where)
    if kind == "executor":
        return where  # type: ignore[no-any-return]
    if kind == HERE:
        return Here()
    if kind == "processes":
        return Processes(count)
    from boolcomp.base import dask  # noqa: PLC0415 (an extra)

    if kind == "client":
        return dask.of_client(where)
    return dask.on_this_machine(count) if kind == "local" else dask.of_address(where)


def way(where: Any) -> tuple[str, int]:
    """Return of which kind a place is where calls run, and how many workers are started for it.

    What is none is a `UsageError`; of a cluster only its scheduler file is looked at.
    """
    if isinstance(where, Executor):
        return "executor", 0
    if not isinstance(where, str):
        if hasattr(where, "get_executor"):
            return "client", 0
        raise UsageError(f"a {type(where).__name__} runs no calls: {WAYS}")
    if where == HERE:
        return HERE, 0
    counted = _COUNTED.fullmatch(where)
    if counted is None:
        if "://" not in where and "/" not in where and "." not in where:
            hint = suggestion(where, (HERE, "processes:2", "local:2"))
            raise UsageError(f"cluster {shown(where)}{hint}: {WAYS}")
        if "://" not in where:
            scheduler_address(where)
        return "address", 0
    kind, count = counted[1], int(counted[2]) if counted[2].isdecimal() else 0
    if not 1 <= count <= MOST_WORKERS:
        of = "processes" if kind == "processes" else "workers of local"
        raise UsageError(f"cluster {shown(where)}: {of} are 1 to {MOST_WORKERS}, as in {kind}:2")
    return kind, count


def scheduler_address(path: str) -> str:
    """Return the address in a scheduler file; for what is none Dask would wait."""
    if not is_file(Path(path)):
        raise UsageError(f"{path}: no such scheduler file, and no address such as tcp://host:8786")
    document = read_json(Path(path))
    if not isinstance(document, dict) or not isinstance(document.get("address"), str):
        raise DataError(f"{path}: not a scheduler file of Dask's: it names no address")
    return str(document["address"])


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
