"""Where many calls run: in this process, in processes of this machine, or on a Dask cluster.

All three have the interface of `concurrent.futures`, and one text chooses (`executor`). What is
submitted is a function known by its name in a module, of what it is given alone: then results are
the same whichever runs it, and a call that was lost with its worker can be made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import pickle
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from boolcomp.base.errors import DataError, UsageError, shown, suggestion
from boolcomp.base.files import is_file, read_json
from boolcomp.base.processes import Processes, WorkerLostError, cores
from boolcomp.base.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from types import TracebackType


# --------------------------------------------------------------------------------------------------
# Where many calls run: in this process, in processes of this machine, or on a Dask cluster.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Values that many calls are given: pickled once here, unpickled once in every worker.
#
# What a call is given travels with it: a problem is some kilobytes, a program some hundred. What
# costs is what functions make of such a value and keep by it (samples, models, compiled code), so a
# worker that has seen a value gives its calls the very same one.
# --------------------------------------------------------------------------------------------------


KEPT = 6  # values that a worker remembers, those that were asked for last


class Shared:
    """A value that many calls are given."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @cached_property
    def pickled(self) -> tuple[bytes, bytes]:
        """The value's digest, and its bytes."""
        data = pickle.dumps(self.value)
        return hashlib.sha256(data).digest(), data

    def __reduce__(self) -> tuple[Callable[..., Shared], tuple[bytes, bytes]]:
        return _received, self.pickled


class _Known(threading.local):
    """Values by their digests: each thread has its own, for what is kept by them may change."""

    def __init__(self) -> None:
        self.values: OrderedDict[bytes, Shared] = OrderedDict()


_KNOWN = _Known()


def _received(digest: bytes, data: bytes) -> Shared:
    """Return a value that was sent: the same one as before, where it is known."""
    known = _KNOWN.values
    found = known.pop(digest, None)
    if found is None:
        found = Shared(pickle.loads(data))  # noqa: S301 (it came with a pickled call)
        found.pickled = digest, data
    known[digest] = found
    while len(known) > KEPT:
        known.popitem(last=False)
    return found


def called(version: str, function: Callable[..., Result], *given: Any) -> Result:
    """Call a function with the values that are shared, for one who has this version of us."""
    if version != VERSION:
        raise WorkerLostError(
            f"a worker has boolcomp {VERSION}, and it is asked by one of {version}"
        )
    return function(*[one.value if isinstance(one, Shared) else one for one in given])


# --------------------------------------------------------------------------------------------------
# Where the work of a compilation is done, as a value that passes are given.
#
# A text says where (see `executor`), and nothing is started before there are calls for it. In a
# block that is opened once, all calls of all passes go to the same workers.
# --------------------------------------------------------------------------------------------------


MOST_PROCESSES = 256


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
                raise UsageError("processes are of this machine, a cluster is another way: say one")
            return cls(cluster)
        count = 1 if processes is None else processes
        if not 1 <= count <= MOST_PROCESSES:
            raise UsageError(f"processes must be 1 to {MOST_PROCESSES}, not {count}")
        return cls(HERE if count == 1 else f"processes:{count}")

    @property
    def here(self) -> bool:
        """Whether all work is done in this process."""
        where = self.where.where if isinstance(self.where, Late) else self.where
        return isinstance(where, Here) or where == HERE

    @contextlib.contextmanager
    def opened(self) -> Iterator[Self]:
        """Give workers that stay from their first call to the end of the block."""
        if isinstance(self.where, Executor):
            yield self
            return
        with Late(self.where) as pool:
            yield type(self)(pool)

    def completed(
        self, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Result]]:
        """Yield (place, result) of every call as it comes; the first error ends it.

        What many calls are given may be `Shared`.
        """
        with self._for(calls) as pool:
            for place, future in completed(pool, called, _Asked(function, calls)):
                yield place, future.result()

    def in_order(
        self, function: Callable[..., Result], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[Result]:
        """Yield results in the order of the calls."""
        with self._for(calls) as pool:
            yield from in_order(pool, called, _Asked(function, calls))

    def begin(self, function: Callable[..., Result], *given: Any) -> Future[Result]:
        """Let a worker call a function while this process goes on, if workers are there already."""
        pool = self.where if isinstance(self.where, Executor) else Here()
        return pool.submit(called, VERSION, function, *given)

    @contextlib.contextmanager
    def _for(self, calls: Sequence[tuple[Any, ...]]) -> Iterator[Executor]:
        """Give what runs these calls; one alone is done sooner here than sent anywhere."""
        if len(calls) < 2:
            yield Here()
            return
        with self.opened() as open_:
            yield open_.where


class _Asked(Sequence[tuple[Any, ...]]):
    """Calls as workers are asked: made when it is their turn, for there may be millions."""

    def __init__(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> None:
        self.function, self.calls = function, calls

    def __len__(self) -> int:
        return len(self.calls)

    def __getitem__(self, place: Any) -> Any:
        return (VERSION, self.function, *self.calls[place])


class Late(Executor):
    """An executor that is started with its first call."""

    def __init__(self, where: Any) -> None:
        self.where = where
        self._pool: Executor | None = None

    @property
    def ahead(self) -> int:
        """How many calls are to be under way."""
        return getattr(self._started(), "ahead", USUAL_AHEAD)

    def submit(
        self, function: Callable[..., Result], /, *given: Any, **named: Any
    ) -> Future[Result]:
        """Let a worker call a function."""
        return self._started().submit(function, *given, **named)

    @property
    def started(self) -> Executor:
        """What runs the calls, started."""
        return self._started()

    def _started(self) -> Executor:
        if self._pool is None:
            self._pool = executor(self.where)
        return self._pool

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 (as `Executor` has it)
        """End what was started."""
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
    """Return as many processes of this machine as it has cores for us."""
    return Workers.of(min(cores(), MOST_PROCESSES))


ALONE, TWO = Workers(), Workers("processes:2")


# --------------------------------------------------------------------------------------------------
# How much of long work is done: stages with expected work, one fraction that never decreases.
# --------------------------------------------------------------------------------------------------


MOSTLY = 0.9  # of the work that is left is counted before an estimate of the time is worth saying


class Course:
    """Stages in the order in which they run, each with the work that is expected of it.

    Stages may be left out, and may come back: the fraction of all work then waits. What is told of
    a stage that nobody expected changes nothing. Expectations may change on the way (`expect`): the
    fraction then goes on from where it is, at another pace. Work is a guess unless it is `counted`.
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
        """Take counted work, or better guesses, in place of what was expected of some stages."""
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
        """The work that is left, in terms of what is done; infinite while little of it is known."""
        rest = self._rest()
        counted = self._rest(self._counted)
        return rest / self._done if self._done and counted >= MOSTLY * rest else math.inf

    def _rest(self, some: Collection[str] | None = None) -> float:
        """Return the work that is left in all stages, or some."""
        left = {name: self._work[name] for name in self._stages[self._stage :]}
        left[self._stages[self._stage]] *= 1 - self._part
        return sum(work for name, work in left.items() if some is None or name in some)
