"""Task graphs: what is to be calculated, in which pieces, and what each hands to the next."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.problem.dynamics.operations import Operations


@dataclass(frozen=True, slots=True)
class Task:
    """A piece of work that one processor does without a pause: its name, and what it costs."""

    name: str
    operations: Operations

    def __str__(self) -> str:
        return f"{self.name}: {self.operations}"


@dataclass(frozen=True, slots=True)
class Edge:
    """Task `after` needs so many words (floats) that task `before` has calculated."""

    before: str
    after: str
    words: int

    def __str__(self) -> str:
        return f"{self.before} -> {self.after} ({self.words} words)"


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """Tasks and what they send each other; `check` says whether they can be done at all."""

    name: str
    tasks: tuple[Task, ...]
    edges: tuple[Edge, ...]

    def check(self) -> None:
        """Raise a `DataError` unless names are unique, ends known and no task waits for itself."""
        names = [task.name for task in self.tasks]
        for name, times in Counter(names).items():
            if times > 1:
                raise DataError(f"graph {self.name}: {times} tasks are named {name!r}")
        known = set(names)
        pairs = set()
        for edge in self.edges:
            for end in (edge.before, edge.after):
                if end not in known:
                    raise DataError(
                        f"graph {self.name}: edge {edge} names the unknown task {end!r}"
                        + suggestion(end, names)
                    )
            if edge.words < 0:
                raise DataError(f"graph {self.name}: edge {edge} sends less than nothing")
            if (edge.before, edge.after) in pairs:
                raise DataError(f"graph {self.name}: edge {edge} stands there twice")
            pairs.add((edge.before, edge.after))
        self.order()

    def predecessors(self) -> dict[str, tuple[Edge, ...]]:
        """Return the edges that end in each task."""
        return _grouped(self.tasks, ((edge.after, edge) for edge in self.edges))

    def successors(self) -> dict[str, tuple[Edge, ...]]:
        """Return the edges that begin in each task."""
        return _grouped(self.tasks, ((edge.before, edge) for edge in self.edges))

    def order(self) -> tuple[str, ...]:
        """Return the tasks so that each stands behind all it needs, else as they are listed.

        A `DataError` names the cycle where there is none.
        """
        successors = self.successors()
        missing = Counter(edge.after for edge in self.edges)
        done = [task.name for task in self.tasks if not missing[task.name]]
        for name in done:  # it grows meanwhile
            for edge in successors[name]:
                missing[edge.after] -= 1
                if not missing[edge.after]:
                    done.append(edge.after)
        if len(done) < len(self.tasks):
            cycle = self._cycle(frozenset(done))
            raise DataError(
                f"graph {self.name} has a cycle, so that no task of it can be the first: "
                + " -> ".join(cycle)
            )
        return tuple(done)

    def _cycle(self, done: frozenset[str]) -> list[str]:
        """Return a cycle among the tasks that are not done: each of them waits for another."""
        predecessors = self.predecessors()
        name = next(task.name for task in self.tasks if task.name not in done)
        path: dict[str, None] = {}
        while name not in path:
            path[name] = None
            name = next(edge.before for edge in predecessors[name] if edge.before not in done)
        names = list(path)
        back = [*names[names.index(name) :], name]
        return back[::-1]

    def __str__(self) -> str:
        words = sum(edge.words for edge in self.edges)
        head = f"graph {self.name}: {len(self.tasks)} tasks, {len(self.edges)} edges, {words} words"
        predecessors = self.predecessors()
        lines = [head]
        for task in self.tasks:
            needs = ", ".join(f"{edge.before} ({edge.words})" for edge in predecessors[task.name])
            lines.append(f"  {task}{f'; needs {needs}' if needs else ''}")
        return "\n".join(lines)


def _grouped(
    tasks: Iterable[Task], items: Iterable[tuple[str, Edge]]
) -> dict[str, tuple[Edge, ...]]:
    groups: dict[str, list[Edge]] = {task.name: [] for task in tasks}
    for name, edge in items:
        groups.setdefault(name, []).append(edge)
    return {name: tuple(edges) for name, edges in groups.items()}
