"""What scheduling decides (`Assignment`) and what comes of it (`Schedule`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.errors import short, table
from boolcomp.common.errors import DataError, suggestion

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph


@dataclass(frozen=True, slots=True)
class Assignment:
    """For every processor the tasks that it does, in their order."""

    lists: tuple[tuple[str, ...], ...]

    @property
    def processors(self) -> int:
        """The number of processors, those without tasks included."""
        return len(self.lists)

    def places(self) -> dict[str, int]:
        """Return the processor of every task."""
        return {name: place for place, names in enumerate(self.lists) for name in names}

    def check(self, graph: TaskGraph) -> None:
        """Raise a `DataError` unless every task of the graph stands there exactly once."""
        counts = Counter(name for names in self.lists for name in names)
        known = [task.name for task in graph.tasks]
        unknown = [name for name in counts if name not in set(known)]
        if unknown:
            hint = suggestion(unknown[0], known)
            raise DataError(f"graph {graph.name} has no task {unknown[0]!r}{hint}")
        for name in known:
            if counts[name] != 1:
                often = "on no processor" if not counts[name] else f"there {counts[name]} times"
                raise DataError(f"task {name!r} of graph {graph.name} is {often}")

    def __str__(self) -> str:
        return "\n".join(f"P{k}: {' '.join(names)}" for k, names in enumerate(self.lists))


@dataclass(frozen=True, slots=True)
class Placement:
    """A task on a processor, from when to when (µs)."""

    task: str
    processor: int
    start_us: float
    end_us: float

    def __str__(self) -> str:
        return f"P{self.processor} {short(self.start_us)}-{short(self.end_us)} {self.task}"


@dataclass(frozen=True, slots=True)
class Transfer:
    """Words that a task has calculated go from one processor to a neighbour (µs)."""

    task: str
    source: int
    target: int
    words: int
    start_us: float
    end_us: float

    def __str__(self) -> str:
        return (
            f"P{self.source}->P{self.target} {short(self.start_us)}-{short(self.end_us)} "
            f"{self.words} words of {self.task}"
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """A graph on a machine: when and where everything happens.

    A placement is the task's calculation alone: dispatch, locks and copying keep the processor
    busy before and after it. `sequential_us` is the calculation on one processor without any of
    that, `critical_path_us` the longest chain of it.
    """

    graph: str
    machine: str
    scheduler: str
    processors: int
    placements: tuple[Placement, ...]
    transfers: tuple[Transfer, ...]
    makespan_us: float
    sequential_us: float
    critical_path_us: float

    @property
    def speedup(self) -> float:
        """How many times faster than one processor without overhead."""
        return self.sequential_us / self.makespan_us if self.makespan_us else 1.0

    @property
    def utilisation(self) -> tuple[float, ...]:
        """For every processor the part of the time in which it calculates."""
        busy = [0.0] * self.processors
        for placement in self.placements:
            busy[placement.processor] += placement.end_us - placement.start_us
        return tuple(time / self.makespan_us if self.makespan_us else 0.0 for time in busy)

    @property
    def assignment(self) -> Assignment:
        """The tasks of every processor in the order in which they were done."""
        lists: list[list[str]] = [[] for _ in range(self.processors)]
        for placement in self.placements:
            lists[placement.processor].append(placement.task)
        return Assignment(tuple(tuple(names) for names in lists))

    def __str__(self) -> str:
        words = sum(transfer.words for transfer in self.transfers)
        head = (
            f"{self.graph} by {self.scheduler} on {self.processors} × {self.machine}: "
            f"{short(self.makespan_us)} µs, one processor {short(self.sequential_us)} µs, "
            f"speed-up {short(self.speedup, 4)}, critical path {short(self.critical_path_us)} µs, "
            f"{len(self.transfers)} transfers of {words} words"
        )
        used = ", ".join(f"P{k} {share:.2f}" for k, share in enumerate(self.utilisation))
        rows = [
            (x.task, f"P{x.processor}", f"{x.start_us:.2f}", f"{x.end_us:.2f}")
            for x in self.placements
        ]
        lines = table(("task", "processor", "start µs", "end µs"), rows)
        return f"{head}\nutilisation: {used}\n{lines}"


def sorted_placements(placements: list[Placement]) -> tuple[Placement, ...]:
    """Put placements in the order of a schedule: by start, end and processor.

    Tasks that take no time stay in the order in which they were done.
    """
    return tuple(sorted(placements, key=lambda x: (x.start_us, x.end_us, x.processor)))
