"""The Encore of Zeng & Egan 1991: queues, counters and task records behind one bus.

Everything that their text keeps in shared memory passes over the bus, which processors share
equally while several want it: a task's record (`record` µs, half of it when the task is taken),
the counter of every successor under its lock (`lock`), what is put into a queue or taken out under
its lock (`queue`). Calculation and the loop around a task (`around`) are a processor's own. An
idle processor goes round that loop: it looks into its queue, or with lists at the counter of its
next task, and so holds up the others.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.parallel.schedule.graph import TaskGraph

_LEAST = 1e-9  # µs that are rounding


@dataclass(frozen=True, slots=True)
class Encore:
    """What things take, in µs."""

    operation: float
    record: float
    around: float
    queue: float
    lock: float

    def __str__(self) -> str:
        return (
            f"{self.operation:.2f} µs an operation, {self.around:.1f} a task around it, "
            f"{self.record:.1f} its record, {self.queue:.1f} for the queue, "
            f"{self.lock:.2f} a successor"
        )


class Contended:
    """A run: `us` is its time, `lists` are the tasks of every processor in the order it took them.

    Without `places` all share one queue; with them every processor has a queue, into which a task
    is put when it is ready, by whoever made it so. Not `queued`, the lists are followed as they
    are, and there is no queue.
    """

    def __init__(
        self,
        graph: TaskGraph,
        encore: Encore,
        processors: int,
        places: Sequence[Sequence[str]] | None = None,
        *,
        queued: bool = True,
    ) -> None:
        self.encore, self.hold = encore, encore.queue if queued else 0.0
        self.order = None if queued else places
        self.work = {t.name: t.operations.total * encore.operation for t in graph.tasks}
        self.after = {
            name: [edge.after for edge in edges] for name, edges in graph.successors().items()
        }
        self.missing = {name: len(edges) for name, edges in graph.predecessors().items()}
        self.place = {name: p for p, names in enumerate(places or ()) for name in names}
        self.queues: list[deque[str]] = [deque() for _ in range(processors)]
        self.lists: list[list[str]] = [[] for _ in range(processors)]
        for name, count in self.missing.items():
            if not count:
                self.put(name)
        self.left = len(self.work)
        self.us = self._share([self.processor(p) for p in range(processors)])

    def put(self, task: str) -> None:
        """Let whoever is to do a task find it."""
        self.queues[self.place.get(task, 0)].append(task)

    def taken(self, here: int) -> str | None:
        """Return the task that a processor finds when it looks, if any."""
        queue = self.queues[here if self.place else 0]
        if self.order is None:
            return queue.popleft() if queue else None
        next_one = self.order[here][len(self.lists[here])]
        return next_one if next_one in queue else None

    def processor(self, here: int) -> Iterator[tuple[bool, float]]:
        """Yield what a processor does: whether it is over the bus, and how many µs of it."""
        encore = self.encore
        own = len(self.work) if self.order is None else len(self.order[here])
        while self.left and len(self.lists[here]) < own:
            yield True, self.hold
            task = self.taken(here)
            if task is None:
                yield True, 0.0 if self.order is None else encore.lock
                yield False, encore.around
                continue
            self.lists[here].append(task)
            yield True, encore.record / 2
            yield False, self.work[task] + encore.around
            yield True, encore.record / 2
            for after in self.after[task]:
                yield True, encore.lock
                self.missing[after] -= 1
                if not self.missing[after]:
                    yield True, self.hold
                    self.put(after)
            self.left -= 1

    def _share(self, programs: Sequence[Iterator[tuple[bool, float]]]) -> float:
        """Return the µs until the last task is done, the bus being shared equally."""
        now = 0.0
        doing = {program: next(program, None) for program in programs}
        while self.left:
            active = {program: step for program, step in doing.items() if step is not None}
            users = sum(over for over, _ in active.values())
            passed = min(us * (users if over else 1) for over, us in active.values())
            now += passed
            for program, (over, us) in active.items():
                rest = us - passed / (users if over else 1)
                doing[program] = (over, rest) if rest > _LEAST else next(program, None)
        return now
