"""Where the work of a compilation is done, as a value that passes are given.

A text says where (see `executor`), and nothing is started before there are calls for it. In a block
that is opened once, all calls of all passes go to the same workers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

from boolcomp.base.processes import cores
from boolcomp.base.version import VERSION
from boolcomp.base.workers import HERE, USUAL_AHEAD, Here, completed, executor, in_order, way
from boolcomp.common.errors import UsageError
from boolcomp.common.shared import called

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

Result = TypeVar("Result")

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
