"""Where many calls run: in this process, in processes of this machine, or on a Dask cluster.

All three have the interface of `concurrent.futures`; a text selects one (`executor`). Submitted
functions must be importable by name and depend only on their arguments: results are the same on
every executor, and the call of a lost worker can be repeated.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import pickle
import re
import threading
from collections import OrderedDict
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from boolcomp.base import VERSION
from boolcomp.base.errors import DataError, UsageError, shown, suggestion
from boolcomp.base.files import is_file, read_json
from boolcomp.base.processes import Processes, WorkerLostError, cores

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from types import TracebackType


# --------------------------------------------------------------------------------------------------
# Where many calls run: in this process, in processes of this machine, or on a Dask cluster.
# --------------------------------------------------------------------------------------------------


Result = TypeVar("Result")

HERE = "here"
WAYS = "give here, processes:4, local:4 (Dask on this machine), tcp://host:8786 or a scheduler file"
MOST_PROCESSES = 256
USUAL_AHEAD = 64
TICK = 0.5  # seconds between two checks of a signal, so that an interrupt ends a wait
_COUNTED = re.compile(r"(processes|local):(\S*)")


class InlineExecutor(Executor):
    """Calls in this process, each when it is submitted."""

    ahead = 1

    def submit(
        self, function: Callable[..., Result], /, *given: Any, **named: Any
    ) -> Future[Result]:
        """Call a function at once and return a finished future."""
        made: Future[Result] = Future()
        try:
            made.set_result(function(*given, **named))
        except Exception as error:  # noqa: BLE001 (whoever asks for the result raises it)
            made.set_exception(error)
        return made

    def map(  # type: ignore[override]  # one call at a time: no timeout, no chunks
        self, function: Callable[..., Result], *iterables: Iterable[Any], **_: Any
    ) -> Iterator[Result]:
        return map(function, *iterables)


def executor(where: Any = HERE) -> Executor:
    """Return the executor that a text selects (see `WAYS`), or wrap a Dask `Client`.

    Use it in a `with` block.
    """
    kind, count = way(where)
    if kind == "executor":
        return where  # type: ignore[no-any-return]
    if kind == HERE:
        return InlineExecutor()
    if kind == "processes":
        return Processes(count)
    from boolcomp.base import dask  # noqa: PLC0415 (an extra)

    if kind == "client":
        return dask.Dask(where)  # the client stays open
    if kind == "local":
        return dask.on_this_machine(count)
    return dask.of_address(where, where if "://" in where else scheduler_address(where))


def way(where: Any) -> tuple[str, int]:
    """Return of which kind a place is where calls run, and how many workers are started for it.

    Other texts raise a `UsageError`; of a cluster only the scheduler file is checked.
    """
    if isinstance(where, Executor):
        return "executor", 0
    if not isinstance(where, str):
        if hasattr(where, "get_executor"):
            return "client", 0
        raise UsageError(f"a {type(where).__name__} cannot run calls", WAYS)
    if where == HERE:
        return HERE, 0
    counted = _COUNTED.fullmatch(where)
    if counted is None:
        if "://" not in where and "/" not in where and "." not in where:
            hint = suggestion(where, (HERE, "processes:2", "local:2"))
            raise UsageError(f"unknown cluster {shown(where)}", f"{hint}{WAYS}")
        if "://" not in where:
            scheduler_address(where)
        return "address", 0
    kind, count = counted[1], int(counted[2]) if counted[2].isdecimal() else 0
    if not 1 <= count <= MOST_PROCESSES:
        of = "processes" if kind == "processes" else "workers of local"
        raise UsageError(
            f"cluster {shown(where)} has a wrong number of {of}", f"use 1 to {MOST_PROCESSES}"
        )
    return kind, count


def scheduler_address(path: str) -> str:
    """Return the address in a scheduler file; Dask would wait for a missing one."""
    if not is_file(Path(path)):
        raise UsageError("no such scheduler file", "give a file, or tcp://host:8786", where=path)
    document = read_json(Path(path))
    if not isinstance(document, dict) or not isinstance(document.get("address"), str):
        raise DataError("not a scheduler file of Dask: it names no address", where=path)
    return str(document["address"])


def completed(
    pool: Executor, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[int, Future[Result]]]:
    """Yield (place, future) of every call as it comes to an end.

    At most `ahead` calls per worker are submitted in advance: millions of calls then need little
    memory, and calls are done about in order.
    """
    running: dict[Future[Result], int] = {}
    left = enumerate(calls)
    try:
        while True:
            room = getattr(pool, "ahead", USUAL_AHEAD) - len(running)
            for place, call in islice(left, max(0, room)):
                running[pool.submit(function, *call)] = place
            if not running:
                return
            done = wait(running, TICK, FIRST_COMPLETED).done
            for future in sorted(done, key=running.__getitem__):
                yield running.pop(future), future
    finally:
        for future in running:
            future.cancel()


# --------------------------------------------------------------------------------------------------
# Arguments shared by many calls: pickled once here, unpickled once in every worker.
#
# The value itself is small (a problem is some kilobytes, a program some hundred), but functions
# cache results by it (samples, models, compiled code). A worker therefore passes the same object to
# all calls that share a value.
# --------------------------------------------------------------------------------------------------


KEPT = 6  # most recently used values that a worker keeps


class SharedValue:
    """A value that many calls are given."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @cached_property
    def pickled(self) -> tuple[bytes, bytes]:
        """The value's digest, and its bytes."""
        data = pickle.dumps(self.value)
        return hashlib.sha256(data).digest(), data

    def __reduce__(self) -> tuple[Callable[..., SharedValue], tuple[bytes, bytes]]:
        return _received, self.pickled


class _Known(threading.local):
    """Values by digest, for each thread, because caches that depend on them may change."""

    def __init__(self) -> None:
        self.values: OrderedDict[bytes, SharedValue] = OrderedDict()


_KNOWN = _Known()


def _received(digest: bytes, data: bytes) -> SharedValue:
    """Return a value that was sent: the same one as before, where it is known."""
    known = _KNOWN.values
    found = known.pop(digest, None)
    if found is None:
        found = SharedValue(pickle.loads(data))  # noqa: S301 (it came with a pickled call)
        found.pickled = digest, data
    known[digest] = found
    while len(known) > KEPT:
        known.popitem(last=False)
    return found


def called(version: str, function: Callable[..., Result], *given: Any) -> Result:
    """Call a function with the values that are shared, for one who has this version of us."""
    if version != VERSION:
        raise WorkerLostError(f"a worker has boolcomp {VERSION}, and the caller has {version}")
    return function(*[one.value if isinstance(one, SharedValue) else one for one in given])


# --------------------------------------------------------------------------------------------------
# The executor of a compilation, as a value that passes receive.
#
# A text selects it (see `executor`); workers start with the first calls. Within one `with` block
# all calls of all passes use the same workers.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Workers:
    """Where calls run: a text (here, processes:4, local:4, an address), a Dask client, an executor.

    All are equal: what comes of work never depends on where it is done.
    """

    where: Any = field(default=HERE, compare=False)

    def __post_init__(self) -> None:
        way(self.where)

    @classmethod
    def of(cls, processes: int | None = None, cluster: Any = None) -> Self:
        """Return so many processes of this machine, or a cluster: one of them is given."""
        if cluster is not None:
            if processes is not None:
                raise UsageError("processes and a cluster exclude each other", "give one of them")
            return cls(cluster)
        count = 1 if processes is None else processes
        if not 1 <= count <= MOST_PROCESSES:
            raise UsageError(f"processes must be 1 to {MOST_PROCESSES}, not {count}")
        return cls(HERE if count == 1 else f"processes:{count}")

    @property
    def here(self) -> bool:
        """Whether all work is done in this process."""
        where = self.where.where if isinstance(self.where, LazyExecutor) else self.where
        return isinstance(where, InlineExecutor) or where == HERE

    @contextlib.contextmanager
    def opened(self) -> Iterator[Self]:
        """Give workers that stay from their first call to the end of the block."""
        if isinstance(self.where, Executor):
            yield self
            return
        with LazyExecutor(self.where) as pool:
            yield type(self)(pool)

    def completed(
        self, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Result]]:
        """Yield (place, result) of every call as it comes; the first error ends it.

        Arguments of many calls can be a `SharedValue`.
        """
        for place, future in self._futures(function, calls):
            yield place, future.result()

    def in_order(
        self, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Yield results in the order of the calls; the first error, in that order, ends it."""
        held: dict[int, Future[Result]] = {}
        following = 0
        for place, future in self._futures(function, calls):
            held[place] = future
            while following in held:
                yield held.pop(following).result()
                following += 1

    def _futures(
        self, function: Callable[..., Result], calls: Iterable[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Future[Result]]]:
        """Call a function with shared values; one call alone is done sooner here than elsewhere."""
        left = iter(calls)
        first = list(islice(left, 2))
        with Workers().opened() if len(first) < 2 else self.opened() as open_:
            each = ((VERSION, function, *call) for call in chain(first, left))
            yield from completed(open_.where, called, each)

    def begin(self, function: Callable[..., Result], *given: Any) -> Future[Result]:
        """Let a worker call a function while this process goes on, if workers are there already."""
        pool = self.where if isinstance(self.where, Executor) else InlineExecutor()
        return pool.submit(called, VERSION, function, *given)


class LazyExecutor(Executor):
    """An executor that is started with its first call."""

    def __init__(self, where: Any) -> None:
        self.where = where
        self._pool: Executor | None = None

    @property
    def started(self) -> Executor:
        """The executor, which the first use starts."""
        if self._pool is None:
            self._pool = executor(self.where)
        return self._pool

    @property
    def ahead(self) -> int:
        return getattr(self.started, "ahead", USUAL_AHEAD)

    def submit(
        self, function: Callable[..., Result], /, *given: Any, **named: Any
    ) -> Future[Result]:
        return self.started.submit(function, *given, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 (as `Executor` has it)
        """End the workers that were started."""
        if self._pool is not None:
            self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.__exit__(kind, error, trace)


def all_cores() -> Workers:
    return Workers.of(min(cores(), MOST_PROCESSES))


ALONE, TWO = Workers(), Workers("processes:2")


# --------------------------------------------------------------------------------------------------
# How much of long work is done: stages with expected work, one fraction that never decreases.
# --------------------------------------------------------------------------------------------------


MOSTLY = 0.9  # of the work that is left is counted before an estimate of the time is worth saying


class Course:
    """Stages in the order in which they run, each with the work that is expected of it.

    Stages may be skipped or repeated: the fraction of all work then waits. Reports of unexpected
    stages are ignored. Expectations may change (`expect`): the fraction continues from its present
    value at another rate. Work is an estimate unless it is `counted`.
    """

    def __init__(
        self, expected: Mapping[str, float], counted: Collection[str] | None = None
    ) -> None:
        self._work = dict(expected)
        self._counted = set(self._work if counted is None else counted)
        self._stages = list(self._work)
        self._stage, self._part = 0, 0.0
        self._done = 0.0  # work of stages that have run
        self.fraction = 0.0

    def expect(self, work: Mapping[str, float], guessed: Collection[str] = ()) -> None:
        """Replace the expected work of some stages by counted work or better estimates."""
        known = {name: one for name, one in work.items() if name in self._work}
        self._work.update(known)
        self._counted.update(known.keys() - set(guessed))

    def at(self, stage: str, part: float) -> float:
        """Return the fraction of all work that is done where a part of a stage is done."""
        place = self._stages.index(stage) if stage in self._work else -1
        part = min(1.0, max(0.0, part))
        if (place, part) <= (self._stage, self._part):
            return self.fraction
        gained = part * self._work[stage]
        if place > self._stage:  # the one before is over, and those between were left out
            gained += (1 - self._part) * self._work[self._stages[self._stage]]
        else:
            gained -= self._part * self._work[stage]
        self._stage, self._part = place, part
        self._done += gained
        rest = self._rest()
        self.fraction = 1 - (1 - self.fraction) * (rest / (rest + gained) if rest else 0.0)
        return self.fraction

    @property
    def left(self) -> float:
        """The remaining work relative to the completed work; infinite while little is known."""
        rest = self._rest()
        counted = self._rest(self._counted)
        return rest / self._done if self._done and counted >= MOSTLY * rest else math.inf

    def _rest(self, some: Collection[str] | None = None) -> float:
        """Return the work that is left in all stages, or some."""
        left = {name: self._work[name] for name in self._stages[self._stage :]}
        left[self._stages[self._stage]] *= 1 - self._part
        return sum(work for name, work in left.items() if some is None or name in some)
