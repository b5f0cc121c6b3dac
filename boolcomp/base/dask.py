"""Dask `distributed` behind the interface of `concurrent.futures`; imported only where it is used.

Dask sends functions and values as pickles: anyone who can reach a scheduler can run code on its
workers and, through their answers, on the client. An address is therefore trusted like a program.
TLS is configured in Dask (docs/how-to/sweeps-and-clusters.md).

Local schedulers and workers are child processes of this one. `LocalCluster` of Dask is not used:
its `multiprocessing` imports the main module of the caller again.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import math
import socket
import time
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, TypeVar

from boolcomp.base.errors import BoolcompError, DataError, UsageError, cut, warn
from boolcomp.base.files import temporary_folder
from boolcomp.base.processes import MOST_DEATHS, ONE_THREAD, Processes, Worker, WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.base.processes import Channel


# --------------------------------------------------------------------------------------------------
# A scheduler or a worker of Dask's as a child of this process: `--cluster local:4`.
# --------------------------------------------------------------------------------------------------


LOOPBACK = "127.0.0.1"


def main(channel: Channel) -> None:
    """Be a scheduler until the parent hangs up; say the address first."""
    import distributed  # noqa: PLC0415 (an extra)

    async def serve() -> None:
        async with distributed.Scheduler(host=LOOPBACK, port=0, dashboard=False) as scheduler:
            channel.send(("address", scheduler.address))
            await scheduler.finished()

    asyncio.run(serve())


def work(address: str, folder: str) -> None:
    """Be a worker of a scheduler until it ends."""
    import distributed  # noqa: PLC0415 (an extra)

    async def serve() -> None:
        async with distributed.Worker(
            address, host=LOOPBACK, nthreads=1, memory_limit=0, local_directory=folder,
            dashboard=False,
        ) as worker:  # fmt: skip
            await worker.finished()

    asyncio.run(serve())


# --------------------------------------------------------------------------------------------------
# Dask `distributed` behind the interface of `concurrent.futures`; imported only where it is used.
# --------------------------------------------------------------------------------------------------


Result = TypeVar("Result")

PATIENCE = 15  # seconds until a scheduler answers
START = 30.0  # seconds until a scheduler and workers of ours are there
LEAST_AHEAD = 32
SELDOM = 1.0  # seconds between two questions of how many workers there are
TICK = 0.05  # seconds between two looks for workers of ours that have not started
SCHEDULER = "boolcomp.base.dask"
QUIETLY = {  # what Dask does all the time for its dashboard: 1 % of a processor, each process
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}


class Dask(Executor):
    """A Dask client behind the interface of `concurrent.futures`.

    A call whose worker was lost is repeated. `closing` ends the processes of this executor.
    """

    def __init__(self, client: Any, closing: contextlib.ExitStack | None = None) -> None:
        self._client, self._closing = client, closing or contextlib.ExitStack()
        self._pool = client.get_executor(pure=False)
        self._counted, self._threads = -math.inf, 0

    @property
    def workers(self) -> int:
        """The number of calls that run at the same time, updated every few seconds."""
        if time.monotonic() >= self._counted + SELDOM:
            self._threads = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        return max(1, self._threads)

    @property
    def client(self) -> Any:
        return self._client

    @property
    def ahead(self) -> int:
        return max(LEAST_AHEAD, 3 * self.workers)

    def submit(
        self, function: Callable[..., Result], /, *given: Any, **named: Any
    ) -> Future[Result]:
        """Let a worker of the cluster call a function."""
        return handed_on(self._pool.submit(function, *given, **named))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 (as `Executor` has it)
        """Leave the cluster and end the processes that were started for it."""
        with self._closing, contextlib.suppress(Exception):  # it may be gone: nothing is lost
            self._pool.shutdown(wait=wait and not cancel_futures)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(cancel_futures=kind is not None)


def handed_on(inner: Future[Result]) -> Future[Result]:
    """Return a future of the same call, with the errors of `_as_raised`."""
    outer: Future[Result] = Future()
    outer.add_done_callback(lambda done: done.cancelled() and inner.cancel())
    inner.add_done_callback(lambda done: _hand_on(done, outer))
    return outer


def _hand_on(inner: Future[Any], outer: Future[Any]) -> None:
    """Hand on what came of a call, with a sentence where that is the cluster's failure."""
    if not outer.set_running_or_notify_cancel():
        return
    if inner.cancelled():
        outer.set_exception(
            WorkerLostError("the connection to the cluster was lost", "run the same command again")
        )
    elif (error := inner.exception()) is not None:
        outer.set_exception(_as_raised(error))
    else:
        outer.set_result(inner.result())


def _as_raised(error: BaseException) -> BaseException:
    if isinstance(error, BoolcompError):
        return error
    name = type(error).__name__
    if name == "KilledWorker":
        return WorkerLostError(
            f"{MOST_DEATHS} or more workers died of one call",
            "give workers more memory, or use fewer processes",
        )
    if name in {"CancelledError", "FutureCancelledError", "FuturesCancelledError"}:
        return WorkerLostError(
            "the connection to the cluster was lost", "run the same command again"
        )
    if isinstance(error, ImportError) or "deserializ" in str(error).lower():
        text = cut(str(error), 200)
        return WorkerLostError(f"a worker has another installation than this process ({text})")
    return error


def of_address(address: str, named: str) -> Dask:
    """Connect to the scheduler of an address, or of a scheduler file that names an address."""
    given = {"address": address}
    if "://" not in address:
        given = {"scheduler_file": address}
    distributed = _distributed()
    _check_certificates(distributed, named)
    with contextlib.ExitStack() as closing:
        client = closing.enter_context(_client(distributed, address, given))
        if not client.nthreads():
            text = f"{address}: the cluster has no workers yet: work begins when one is there"
            warn(text)
        return Dask(client, closing.pop_all())


def on_this_machine(count: int) -> Dask:
    """Start a scheduler and workers as processes tied to this one, on the loopback interface.

    Each computes in one thread: the other processors are other workers'. A worker that dies is
    replaced, as its call is repeated; after too many deaths the client is closed.
    """
    distributed = _distributed()
    _check_loopback()
    with contextlib.ExitStack() as closing:
        folder = str(closing.enter_context(temporary_folder()))
        own = {**ONE_THREAD, **QUIETLY, "DASK_TEMPORARY_DIRECTORY": folder}
        end = time.monotonic() + START
        scheduler = Worker(SCHEDULER, quiet=True, environment=own)
        closing.callback(scheduler.end)
        deaths = MOST_DEATHS * (count + MOST_DEATHS)
        crew = Processes(count, deaths=deaths, quiet=True, environment=own)
        closing.callback(crew.abandon)
        for _ in range(count):  # imports take a second: all at the same time
            crew.submit(importlib.import_module, "distributed")
        address = _heard(scheduler, end)
        calls = [crew.submit(work, address, folder) for _ in range(count)]
        client = closing.enter_context(_client(distributed, address, {"address": address}))
        while len(client.nthreads()) < count:
            ended = [call for call in calls if call.done()]
            if ended:
                raise _not_started(f" ({ended[0].exception()})")
            if time.monotonic() > end:
                raise _not_started()
            time.sleep(TICK)
        for call in calls:
            call.add_done_callback(lambda _: client.close() if client.status == "running" else None)
        return Dask(client, closing.pop_all())


def _heard(child: Worker, end: float) -> str:
    """Return the address of a scheduler or worker that was started, before `end` (monotonic)."""
    try:
        word, text = child.receive(end)
    except TimeoutError:
        child.end()
        raise _not_started() from None
    except EOFError:
        child.end()
        raise _not_started(f" ({child.last_words})") from None
    if word != "address":
        raise _not_started(f" ({text})")
    return str(text)


def _not_started(why: str = "") -> DataError:
    why = why or f" within {START:g} s"
    return DataError(f"Dask did not start on this machine{why}", "use --processes")


def _check_loopback() -> None:
    """Refuse at once where a machine cannot reach itself: Dask would try again and again."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect((LOOPBACK, 9))  # of a datagram's socket: nothing is sent
        except OSError as error:
            text = f"there is no loopback interface ({LOOPBACK}: {error.strerror})"
            raise DataError(
                f"Dask cannot start on this machine ({text})", "use --processes"
            ) from error


def _check_certificates(distributed: Any, address: str) -> None:
    """Refuse TLS without certificates before a client is made, which would go on trying."""
    if not address.startswith("tls:"):
        return
    try:
        known = distributed.Security().get_connection_args("client")["ssl_context"]
    except (OSError, ValueError, TypeError) as error:
        text = cut(str(error), 200)
        raise DataError(
            f"the certificates in Dask's configuration cannot be used ({text})", where=address
        ) from error
    if known is None:
        raise UsageError(
            "TLS needs certificates",
            "set distributed.comm.tls.ca-file, client.cert and client.key in Dask's "
            "configuration (docs/how-to/sweeps-and-clusters.md)", where=address,
        )  # fmt: skip


def _client(distributed: Any, said: str, given: dict[str, str]) -> Any:
    _silence()
    try:
        return distributed.Client(**given, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        text = cut(str(error).partition("\n")[0], 200) or type(error).__name__
        raise DataError(
            f"no Dask scheduler answers: {text}", "start one, or use --processes", where=said
        ) from error


def _silence() -> None:
    """Silence the messages of Dask about lost workers and interrupts; boolcomp prints its own."""
    for name in tuple(logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"distributed", "tornado"}:
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise UsageError(
            "clusters need Dask", "pip install 'boolcomp[cluster]', or use --processes"
        ) from error
    return distributed
